"""What a drag did to a motion, measured on the finished curves by the rig, without the code of the solver.

Both animations are sampled at 120 Hz. With p the path of the dragged point, asked = |goal - p_before(t)| and a window
of radius R around the moment t:

    furthest      max_t |p_after - p_before| / asked          1 is a clean bulge, 2 an overshoot by the whole way
    acceleration  max_t |p_after''| / max_t |p_before''|
    local         max |p_after''| / (max |p_before''| + asked (pi / R)^2 / 2), within the window; the last term is
                  the peak of a raised cosine to the goal, so 1 is the motion as it was and a plain bulge
    head, others  max_t |q_after - q_before| / asked          of the head; mean over the ends of the other limbs
    beyond        max over all joints and |time - t| > R of |q_after - q_before| / asked
    turns         whole turns that a joint makes and did not make before

Distances of goals and of what is held are told in millimetres for a character of 1.7 m. A turn of something held
counts as the way at a tenth of the size from it, about the length of a hand.

Goals that turn a point count in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from understudy.character import Curves
from understudy.character.rig import LayeredRig, PosedRig
from understudy.checks import Array
from understudy.edit.goals import Contact, Edit, Limit, Pin, Point

RATE_HZ = 120.0
HUMAN_SIZE_MM = 1700.0
TURN_LEVER_SIZES = 0.1
MIN_PEAK_SIZES_S2 = 0.2  # a point whose acceleration never exceeds this stands still: see `acceleration_ratio`


@dataclass(frozen=True, eq=False)
class Motion:
    """An animation at 120 Hz: rows of the rig and world_from_joint."""

    rig: PosedRig
    curves: Curves
    times: Array  # (F,)
    rows: Array  # (F, C)
    world: Array  # (F, J, 4, 4)

    @property
    def places(self) -> Array:
        """(F, J, 3) metres."""
        return self.world[..., :3, 3]

    def path(self, point: Point) -> Array:
        """(F, 3) the path of a point, metres."""
        return frames_of_rows(self.rig, self.rows, self.world, point)[0]

    @cached_property
    def turned_angles(self) -> Array:
        """(J,) radians that each joint turns in its parent's frame, summed over all samples."""
        turns = rotations(self.world[..., :3, :3])
        parents = self.rig.character.skeleton.parents
        above = np.where((parents >= 0)[:, None, None], turns[:, np.maximum(parents, 0)], np.eye(3))
        local = np.swapaxes(above, -1, -2) @ turns
        return np.asarray(np.sum(angle_between(local[1:], local[:-1]), axis=0))


@dataclass(frozen=True)
class DragMeasure:
    """One drag; lengths in mm for a character of 1.7 m, ratios over the asked way."""

    goal_mm: float  # turns as the way at a tenth of the size, here and below
    held_mm: float  # pins and contacts
    furthest: float
    acceleration: float
    local_acceleration: float  # within the window, over its own there and that of a plain bulge together
    head: float  # nan where the head is dragged
    others: float  # nan where there are none
    worst_other: float
    beyond: float
    turns: float
    keys_same: bool
    limit_excess: float  # radians or metres beyond a limit at any time
    seam: float  # how far the last pose moved against the first
    radius: float  # seconds


def sample_motion(rig: PosedRig, curves: Curves, times: Array | None = None) -> Motion:
    """The motion of curves from their first key to their last."""
    if times is None:
        count = max(int(np.ceil(curves.duration * RATE_HZ)), 1) + 1
        times = np.linspace(curves.start, curves.end, count)
    rows = rig.pose(curves, times)
    return Motion(rig, curves, times, rows, rig.joints(rows))


def point_frames(rig: PosedRig, curves: Curves, point: Point, times: Sequence[float] | Array) -> tuple[Array, Array]:
    """Places (M, 3) and orientations (M, 3, 3) of a point at times."""
    rows = rig.pose(curves, np.asarray(times, float))
    return frames_of_rows(rig, rows, rig.joints(rows), point)


def frames_of_rows(rig: PosedRig, rows: Array, world: Array, point: Point) -> tuple[Array, Array]:
    """Places and orientations of a point for rows (M, C) of the rig with joints world (M, J, 4, 4)."""
    skeleton = rig.character.skeleton
    if point.vertex is None:
        own = world[:, skeleton.index(point.joint)]
        return own[:, :3, :3] @ np.array(point.offset) + own[:, :3, 3], rotations(own[:, :3, :3])
    carried = carriers(rig, point.vertex)
    turn = rotations(world[:, carried[0][0], :3, :3])
    if isinstance(rig, LayeredRig):
        return rig.points(rows, [point.vertex])[:, 0].astype(float), turn
    place = sum(weight * (world[:, joint, :3, :3] @ local + world[:, joint, :3, 3]) for joint, weight, local in carried)
    return np.asarray(place), turn


@cache
def carriers(rig: PosedRig, vertex: int) -> list[tuple[int, float, Array]]:
    """Joint, weight and local position (3,) of a linearly skinned vertex, the heaviest first; shapes are left out."""
    for part in rig.character.parts:
        count = len(part.mesh.vertices)
        if vertex < count:
            skin, own = part.skin, np.append(np.asarray(part.mesh.vertices[vertex], float), 1.0)
            pairs = zip(skin.influences[vertex], skin.weights[vertex])
            found = [
                (int(skin.joints[i]), float(w), (np.asarray(skin.inverse_binds[i], float) @ own)[:3])
                for i, w in pairs
                if w > 0
            ]
            return sorted(found, key=lambda carrier: -carrier[1])
        vertex -= count
    raise IndexError(vertex)


def rotations(matrices: Array) -> Array:
    """(..., 3, 3) the rotations of matrices that may scale along their own axes, as joints of a file do."""
    return np.asarray(matrices / np.linalg.norm(matrices, axis=-2, keepdims=True))


def measure_drag(
    before: Motion,
    after: Motion,
    edit: Edit,
    goals: Sequence[tuple[Array | None, Array | None]],
    size: float,
    head: str,
    extremities: Iterable[str],
    radius: float,
    loops: bool = False,
) -> DragMeasure:
    """Measure a drag from `before` to `after`, both at the same times.

    Args:
        before: The motion that was dragged.
        after: The result.
        edit: The goals and what is held.
        goals: Place (3,) and orientation (3, 3) of each move of the edit, None where it asks for neither.
        size: Metres, of the character.
        head: Name of the head's joint.
        extremities: Names of the ends of other limbs; those on the chain of a dragged point are left out.
        radius: Seconds around the moves within which the edit may show.
        loops: Whether the animation repeats: times are then compared around the seam.

    Returns:
        All measures.
    """
    rig, mm, lever = before.rig, HUMAN_SIZE_MM / size, TURN_LEVER_SIZES * size
    distance = asked = furthest = peak = local = 0.0
    for move, (place, turn) in zip(edit.moves, goals):
        (old_place, old_turn), (new_place, new_turn) = (
            tuple(each[0] for each in point_frames(rig, curves, move.point, [move.time]))
            for curves in (before.curves, after.curves)
        )
        way = 0.0
        if turn is not None:
            distance = max(distance, lever * float(angle_between(new_turn, turn)))
            way = lever * float(angle_between(old_turn, turn))
        asked = max(asked, way)
        if place is not None:  # of a goal that moves and turns, the path of the point is looked at
            distance, way = max(distance, _norm(new_place - place)), _norm(place - old_place)
            asked = max(asked, way)
            old, new = before.path(move.point), after.path(move.point)
            moved = np.linalg.norm(new - old, axis=1).max()
            floor = MIN_PEAK_SIZES_S2 * size
        else:
            turned = [frames_of_rows(rig, m.rows, m.world, move.point)[1] for m in (before, after)]
            old, new = (lever * turns[:, :, 0] for turns in turned)
            moved = lever * angle_between(*turned).max()
            floor = MIN_PEAK_SIZES_S2 * lever
        furthest = max(furthest, float(moved) / max(way, 1e-9))
        peak = max(peak, acceleration_ratio(old, new, floor))
        near = np.abs(before.times - move.time) <= radius
        own, made = peak_acceleration(old[near]), peak_acceleration(new[near])
        local = max(local, made / (own + 0.5 * way * (np.pi / radius) ** 2))
    shift = np.linalg.norm(after.places - before.places, axis=2)  # (F, J)
    others = _other_extremities(rig, edit, extremities)
    moved_ends = [float(shift[:, rig.character.skeleton.index(name)].max()) / asked for name in others]
    chained = _on_chain(rig, edit, head)
    outside = outside_window(before.times, edit, radius, loops)
    return DragMeasure(
        goal_mm=mm * distance,
        held_mm=mm * held_error(before, after, edit, size),
        furthest=furthest,
        acceleration=peak,
        local_acceleration=local,
        head=np.nan if chained else float(shift[:, rig.character.skeleton.index(head)].max()) / asked,
        others=float(np.mean(moved_ends)) if moved_ends else np.nan,
        worst_other=max(moved_ends, default=np.nan),
        beyond=float(shift[outside].max(initial=0.0)) / asked,
        turns=extra_turns(before, after),
        keys_same=same_key_times(before.curves, after.curves),
        limit_excess=limit_excess(after, edit.limits),
        seam=seam_opening(before, after) / asked,
        radius=radius,
    )


def acceleration_ratio(old: Array, new: Array, floor: float) -> float:
    """Peak acceleration of a path (F, 3) over that of the path before; of the latter at least `floor`."""
    return peak_acceleration(new) / max(peak_acceleration(old), floor)


def peak_acceleration(path: Array) -> float:
    """Per second squared, of a path (F, 3) at 120 Hz."""
    return float(np.linalg.norm(np.diff(path, 2, axis=0), axis=1).max(initial=0.0)) * RATE_HZ**2


def outside_window(times: Array, edit: Edit, radius: float, loops: bool) -> Array:
    """(F,) bool: times beyond the window of every move and outside of contacts, which ask for a change of their own."""
    length, outside = times[-1] - times[0], np.ones(len(times), bool)
    for move in edit.moves:
        away = np.abs(times - move.time)
        outside &= (np.minimum(away, length - away) if loops else away) > radius + 1e-9
    for contact in edit.contacts:
        outside &= (times < contact.start) | (times > contact.stop)
    return outside


def held_error(before: Motion, after: Motion, edit: Edit, size: float) -> float:
    """Metres: how far pins and contacts are off at most, their turns counted at a tenth of the size."""
    worst = 0.0
    for held in (*edit.pins, *edit.contacts):
        if not (held.position or held.orientation):
            continue
        inside = _within(before.times, held)
        if not inside.any():
            continue
        place, turn = frames_of_rows(after.rig, after.rows[inside], after.world[inside], held.point)
        if isinstance(held, Contact):
            wanted_place, wanted_turn = point_frames(before.rig, before.curves, held.point, [held.start])
        else:
            wanted_place, wanted_turn = frames_of_rows(
                before.rig, before.rows[inside], before.world[inside], held.point
            )
        if held.position:
            worst = max(worst, float(np.linalg.norm(place - wanted_place, axis=1).max()))
        if held.orientation:
            wanted_turn = np.broadcast_to(wanted_turn, turn.shape)
            worst = max(worst, TURN_LEVER_SIZES * size * float(angle_between(turn, wanted_turn).max()))
    return worst


def _within(times: Array, held: Pin | Contact) -> Array:
    low = -np.inf if held.start is None else held.start
    high = np.inf if held.stop is None else held.stop
    return np.asarray((times >= low) & (times <= high))


def extra_turns(before: Motion, after: Motion) -> float:
    """Whole turns made more than before, the most of any joint.

    Two things count: how much further a joint turns in all, from sample to sample, and how far an angle of its curve is
    from what it was, beyond the half turn that leads to every orientation.
    """
    travel = [before.turned_angles, after.turned_angles]
    whirl = float(np.max(travel[1] - travel[0], initial=0.0)) / (2 * np.pi)
    columns = before.curves.channels.columns_of("euler")
    wound = 0.0
    if len(columns):
        change = np.abs(after.curves.sample(after.times)[:, columns] - before.curves.sample(before.times)[:, columns])
        wound = float(change.max()) / (2 * np.pi)
    return float(max(np.floor(whirl), np.floor(wound + 0.5)))


def limit_excess(motion: Motion, limits: Iterable[Limit]) -> float:
    """How far any limited column is beyond its limit at any time, in its own unit."""
    values, worst = motion.curves.sample(motion.times), 0.0
    names = {name: number for number, name in enumerate(motion.curves.channels.names)}
    for limit in limits:
        column = values[:, names[f"{limit.target}.euler.{limit.column}"]]
        worst = max(worst, float(limit.low - column.min()), float(column.max() - limit.high))
    return worst


def seam_opening(before: Motion, after: Motion) -> float:
    """Metres: how far any joint of the last pose has moved against that of the first."""
    gaps = [motion.places[-1] - motion.places[0] for motion in (before, after)]
    return float(np.linalg.norm(gaps[1] - gaps[0], axis=1).max())


def angle_between(one: Array, other: Array) -> Array:
    """Radians between orientations (..., 3, 3); by sine and cosine, which small angles need."""
    between = np.swapaxes(one, -1, -2) @ other
    axis = np.stack(
        [
            between[..., 2, 1] - between[..., 1, 2],
            between[..., 0, 2] - between[..., 2, 0],
            between[..., 1, 0] - between[..., 0, 1],
        ],
        axis=-1,
    )
    return np.arctan2(np.linalg.norm(axis, axis=-1), np.trace(between, axis1=-2, axis2=-1) - 1)


def same_key_times(before: Curves, after: Curves) -> bool:
    """Whether every curve has the same keys in time."""
    return len(before) == len(after) and all(
        a.channel == b.channel and np.array_equal(a.times, b.times) for a, b in zip(before.curves, after.curves)
    )


def largest_difference(one: Motion, other: Motion) -> float:
    """Metres: the largest distance between the same joint in two motions."""
    return float(np.linalg.norm(one.places - other.places, axis=2).max())


def _other_extremities(rig: PosedRig, edit: Edit, extremities: Iterable[str]) -> list[str]:
    return [name for name in extremities if not _on_chain(rig, edit, name)]


def _on_chain(rig: PosedRig, edit: Edit, name: str) -> bool:
    """Whether a joint is above or below a dragged one, and so moves with it."""
    skeleton = rig.character.skeleton
    joint = skeleton.index(name)
    for move in edit.moves:
        own = skeleton.index(move.point.joint) if move.point.vertex is None else carriers(rig, move.point.vertex)[0][0]
        if own in skeleton.ancestors(joint) or joint in skeleton.ancestors(own):
            return True
    return False


def _norm(vector: Array) -> float:
    return float(np.linalg.norm(vector))
