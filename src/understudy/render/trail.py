"""Trails: the path of a point of the character through the world, with a dot for each frame and the keys that shape it.

A trail is measured once for a whole take and drawn in every picture of it. Between frames the path is the animation's
own, not a chord: a fast arc stays round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Clip, Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Point, check_point, point_by_name
from understudy.errors import InvalidInput
from understudy.maths import transform
from understudy.render.take import RenderTake

LINE_POINTS_PER_FRAME = 4  # points of the path from frame to frame
BAKED_KEY_SHARE = 0.6  # of the frames: a curve with keys at more of them counts as baked
BLOCK_VERTICES = 8_000_000  # computed at once, to find one of them in each frame


@dataclass(frozen=True, eq=False)
class Trail:
    """The path of one point: F frames, L points of the line through them, K keys. Metres in the world, seconds.

    axes (F, 3, 3): the directions of the point's own x, y and z, as columns.
    """

    name: str
    times: Array  # (F,)
    positions: Array  # (F, 3)
    axes: Array  # (F, 3, 3)
    line_times: Array  # (L,)
    line: Array  # (L, 3)
    key_times: Array  # (K,)
    keys: Array  # (K, 3)

    def position_at(self, time: float) -> Array:
        """(3,) the position at a time, on the line."""
        return np.array([np.interp(time, self.line_times, column) for column in self.line.T])

    @property
    def speed(self) -> Array:
        """(L,) speed along the line, metres a second."""
        if len(self.line) < 2:
            return np.zeros(len(self.line))
        return np.linalg.norm(np.gradient(self.line, self.line_times, axis=0), axis=1)


def trail_of_animation(
    rig: PosedRig, animation: Clip | Curves, point: Point, times: Array | None = None, name: str | None = None
) -> Trail:
    """The trail of a point while an animation plays, with a dot at each of `times` (F,), or at its own frames."""
    point = check_point(rig.character, point)
    frames = animation.frame_times() if times is None else checks.array(times, "times", ("F",))
    keys = key_times(rig, animation, point)
    line = np.unique(np.concatenate([_line_times(frames, rig, point), keys[(keys > frames[0]) & (keys < frames[-1])]]))

    def frames_at(when: Array) -> tuple[Array, Array]:
        return (
            point_frames(rig, rig.pose(animation, when), point)
            if len(when)
            else (np.zeros((0, 3)), np.zeros((0, 3, 3)))
        )

    positions, axes = frames_at(frames)
    called = name if name is not None else point.joint or point.name
    return Trail(called, frames, positions, axes, line, frames_at(line)[0], keys, frames_at(keys)[0])


def trail_of_take(take: RenderTake, point: Point | str) -> Trail:
    """The trail of a point of the first character in a take that has it; a name may also be that of a marker."""
    refused: InvalidInput | None = None
    for player in take.players:
        if player.rig is None or player.rows is None:
            continue
        try:
            found = point_by_name(player.rig.character, point) if isinstance(point, str) else point
            found = check_point(player.rig.character, found)
        except InvalidInput as error:
            refused = refused or error
            continue
        name = point if isinstance(point, str) else None
        if take.animation is not None and player.rig.is_moved_by(take.animation):
            return trail_of_animation(player.rig, take.animation, found, take.times, name)
        return _trail_of_rows(player.rig, player.rows, found, take.times, name)
    if refused is not None:
        raise refused
    return _trail_of_marker(take, point)


def _trail_of_rows(rig: PosedRig, rows: Array, point: Point, times: Array, name: str | None) -> Trail:
    positions, axes = point_frames(rig, rows, point)
    called = name if name is not None else point.joint or point.name
    return Trail(called, times, positions, axes, times, positions, np.zeros(0), np.zeros((0, 3)))


def _trail_of_marker(take: RenderTake, name: Point | str) -> Trail:
    animation = take.animation
    columns = None
    if animation is not None and isinstance(name, str):
        checks.one_of(name, "marker", (c.target for c in animation.channels if c.kind == "marker"))
        columns = animation.channels.slice(name, "marker")
    if animation is None or columns is None:
        raise InvalidInput("a trail needs a character with joints, or a marker by its name")
    positions = animation.sample(take.times)[:, columns]
    seen = np.isfinite(positions).all(axis=1)
    if not seen.any():
        raise InvalidInput(f"marker {name!r} is not seen in any frame of {animation.name!r}")
    times, positions = take.times[seen], positions[seen]
    axes = np.tile(np.eye(3), (len(times), 1, 1))
    return Trail(str(name), times, positions, axes, times, positions, np.zeros(0), np.zeros((0, 3)))


def point_frames(rig: PosedRig, rows: Array, point: Point) -> tuple[Array, Array]:
    """Positions (F, 3) and axes (F, 3, 3) of a point in rows (F, C) of a rig. A vertex has the world's own axes."""
    if point.vertex is None:
        world_from_joint = rig.joints(rows)[:, rig.character.skeleton.index(point.joint)]
        axes = world_from_joint[:, :3, :3]
        axes = axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1e-12)
        return transform.apply(world_from_joint, np.asarray(point.offset)), axes
    block = max(1, BLOCK_VERTICES // max(rig.character.vertex_count, 1))
    starts = range(0, len(rows), block)
    found = [rig.vertices(rows[start : start + block])[:, point.vertex].astype(np.float64) for start in starts]
    return np.concatenate(found), np.tile(np.eye(3), (len(rows), 1, 1))


def key_times(rig: PosedRig, animation: Clip | Curves, point: Point) -> Array:
    """(K,) the times of the keys that move a point: those of its joint and its ancestors.

    Empty for baked frames, also where a format without free tangents has keys on nearly all frames.
    """
    if not isinstance(animation, Curves):
        return np.zeros(0)
    curves = animation.curves
    if point.vertex is None and rig.character.layers is None:
        above = _chain(rig, point.joint)
        curves = tuple(curve for curve in curves if curve.channel.target in above)
    most = BAKED_KEY_SHARE * max(animation.frame_count, 4)
    moving = [curve.times for curve in curves if 1 < len(curve) <= most and np.ptp(curve.values, axis=0).max() > 1e-9]
    found = np.unique(np.round(np.concatenate([np.zeros(0), *moving]), 6))
    return found if len(found) <= most else np.zeros(0)


def _chain(rig: PosedRig, joint: str) -> set[str]:
    """A joint and its ancestors, by name."""
    skeleton = rig.character.skeleton
    found, at = set(), skeleton.index(joint)
    while at >= 0:
        found.add(skeleton.names[at])
        at = int(skeleton.parents[at])
    return found


def _line_times(frames: Array, rig: PosedRig, point: Point) -> Array:
    """Times of the line through frames (F,); only the frames, if a vertex of a large mesh would cost too much."""
    costly = (
        point.vertex is not None and len(frames) * LINE_POINTS_PER_FRAME * rig.character.vertex_count > BLOCK_VERTICES
    )
    if len(frames) < 2 or costly:
        return frames
    steps = np.arange((len(frames) - 1) * LINE_POINTS_PER_FRAME + 1) / LINE_POINTS_PER_FRAME
    return np.interp(steps, np.arange(len(frames)), frames)
