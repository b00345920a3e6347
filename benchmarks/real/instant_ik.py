"""Whether any pose meets goals at one instant: damped inverse kinematics on the columns of an animation.

Independent of the solver under test: derivatives are central differences of the rig itself, so that it works for any
rig and any kind of column. Each step solves

    dy = J' (J J' + mu I)^-1 r

with r the distances to the goals, in character sizes and radians, and y the columns in their units; mu follows
Levenberg and Marquardt. Several starts, since a straight limb has a singular Jacobian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from benchmarks.measures.drag_motion import carriers, frames_of_rows, point_frames
from benchmarks.real.reduced_clips import character_size

from understudy.character import Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Contact, Edit, Limit, MovePoint, Point
from understudy.edit.solver.free_columns import column_units, control_ranges
from understudy.maths import quaternion

MET_SIZES, MET_RAD = 2e-4, 2e-3  # of a pose that counts as found: a third of what drags have to meet
DIFFERENCE = 1e-5  # units of a column
STARTS, ITERATIONS = 3, 100
START_SPREAD_RAD = 0.15  # of the second start; the third has twice as much
MAX_STEP = 0.4  # units of any column in one step
LIMB_BONES, MIN_BONE_SIZES = 2, 0.04  # of a limb; shorter bones are helpers
MIN_TRANSLATION_RANGE = 1e-3  # sizes: an animation that moves a joint by less does not use its translation


@dataclass(frozen=True)
class InstantGoal:
    """Where a point should be, and how it should be turned; None leaves either free."""

    point: Point
    place: Array | None  # (3,) metres
    turn: Array | None  # (3, 3)


@dataclass(frozen=True)
class InstantPose:
    """The best pose that was found."""

    values: Array  # (n,) columns of the animation
    met: bool
    distance: float  # sizes, the largest of the goals
    angle: float  # radians


def movable_columns(rig: PosedRig, curves: Curves) -> Array:
    """(C,) bool: columns with at least two keys; of translations those that the animation uses, no scales or shapes."""
    unit = column_units(rig, curves.channels, character_size(rig))
    free = np.zeros(curves.channels.width, bool)
    for curve, a, b in zip(curves.curves, curves.channels.offsets[:-1], curves.channels.offsets[1:]):
        if len(curve) < 2 or curve.channel.kind in ("scale", "weights", "marker"):
            continue
        used = np.ptp(curve.values, axis=0).max() > MIN_TRANSLATION_RANGE * unit[a]
        free[a:b] = curve.channel.kind != "translation" or used
    return free


def chain_columns(rig: PosedRig, curves: Curves, points: Sequence[Point]) -> Array:
    """(C,) bool: columns of joints above the points, and of everything that is no joint."""
    skeleton = rig.character.skeleton
    above = {skeleton.names[a] for point in points for j in _joints_of(rig, point) for a in skeleton.ancestors(j)}
    named = [c.channel.target in above or c.channel.target not in skeleton.names for c in curves.curves]
    return np.repeat(named, [len(c.channel) for c in curves.curves])


def limb_columns(rig: PosedRig, curves: Curves, point: Point, time: float, turns: bool = False) -> Array:
    """(C,) bool: columns of the nearest joints above a point that carry two bones of some length.

    The point's own joint is one of them where the goal `turns`; it does not move its own origin.
    """
    skeleton, size = rig.character.skeleton, character_size(rig)
    places = rig.joints(rig.pose(curves, [time]))[0, :, :3, 3]
    (joint,) = _joints_of(rig, point)[:1]
    chain = skeleton.ancestors(joint)
    chosen = {skeleton.names[joint]} if turns or point.vertex is not None else set()
    long_bones = 0
    for child, parent in pairwise(chain):
        chosen.add(skeleton.names[parent])
        long_bones += bool(np.linalg.norm(places[child] - places[parent]) > MIN_BONE_SIZES * size)
        if long_bones == LIMB_BONES:
            break
    named = [c.channel.target in chosen and c.channel.kind in ("euler", "rotation") for c in curves.curves]
    return np.repeat(named, [len(c.channel) for c in curves.curves])


def goals_at(rig: PosedRig, curves: Curves, edit: Edit, time: float) -> list[InstantGoal]:
    """The goals of an edit at a time: its moves there, and the pins and contacts that are active."""
    goals = []
    for move in edit.moves:
        if abs(move.time - time) < 1e-6:
            goals.append(InstantGoal(move.point, goal_place(rig, curves, move), goal_turn(move)))
    for held in (*edit.pins, *edit.contacts):
        low = -np.inf if held.start is None else held.start
        if not low <= time <= (np.inf if held.stop is None else held.stop):
            continue
        place, turn = point_frames(rig, curves, held.point, [held.start if isinstance(held, Contact) else time])
        goals.append(
            InstantGoal(held.point, place[0] if held.position else None, turn[0] if held.orientation else None)
        )
    return goals


def goal_place(rig: PosedRig, curves: Curves, move: MovePoint) -> Array | None:
    """(3,) metres; None for a turn alone."""
    if move.to is not None:
        return np.array(move.to)
    if move.by is None:
        return None
    return np.asarray(point_frames(rig, curves, move.point, [move.time])[0][0] + move.by)


def goal_turn(move: MovePoint) -> Array | None:
    """(3, 3); None for a place alone."""
    return None if move.turn_to is None else np.asarray(quaternion.to_matrix(np.array(move.turn_to)))


def solve_instant(
    rig: PosedRig,
    curves: Curves,
    time: float,
    goals: Sequence[InstantGoal],
    free: Array,
    limits: Sequence[Limit] = (),
    seed: int = 0,
    starts: int = STARTS,
) -> InstantPose:
    """The nearest pose to the goals that the columns `free` (C,) bool give at a time, from several starts."""
    search = _Search(rig, curves, time, goals, np.flatnonzero(free), limits)
    rng, best = np.random.default_rng(seed), None
    for start in range(starts):
        y = rng.normal(size=len(search.free)) * START_SPREAD_RAD * start
        pose = search.run(y)
        if pose.met:
            return pose
        if best is None or pose.distance + pose.angle < best.distance + best.angle:
            best = pose
    assert best is not None
    return best


class _Search:
    """Levenberg-Marquardt on the free columns of one instant."""

    def __init__(
        self,
        rig: PosedRig,
        curves: Curves,
        time: float,
        goals: Sequence[InstantGoal],
        free: Array,
        limits: Sequence[Limit],
    ) -> None:
        self.rig, self.channels, self.goals, self.free = rig, curves.channels, goals, free
        self.size = character_size(rig)
        self.base = curves.sample([time])[0]
        self.unit = column_units(rig, curves.channels, self.size)[free]
        low, high = np.full(len(self.base), -np.inf), np.full(len(self.base), np.inf)
        for number, (least, most) in control_ranges(rig, curves.channels).items():
            low[number], high[number] = min(least, self.base[number]), max(most, self.base[number])
        names = {name: number for number, name in enumerate(curves.channels.names)}
        for limit in limits:
            number = names.get(f"{limit.target}.euler.{limit.column}")
            if number is not None:
                low[number], high[number] = limit.low, limit.high
        self.low, self.high = ((bound[free] - self.base[free]) / self.unit for bound in (low, high))

    def values(self, y: Array) -> Array:
        """(M, C) columns for variables (M, N)."""
        rows = np.tile(self.base, (len(y), 1))
        rows[:, self.free] += self.unit * y
        return rows

    def residuals(self, y: Array) -> Array:
        """(M, Q, 6) distances to the goals in sizes and turns in radians, zero where a goal asks for neither."""
        values = self.values(y)
        for channel, a, b in zip(self.channels, self.channels.offsets[:-1], self.channels.offsets[1:]):
            if channel.kind == "rotation":
                values[:, a:b] = quaternion.normalise(values[:, a:b])
        rows = self.rig.apply_channels(self.channels, values)
        world = self.rig.joints(rows)
        result = np.zeros((len(y), len(self.goals), 6))
        for q, goal in enumerate(self.goals):
            place, turn = frames_of_rows(self.rig, rows, world, goal.point)
            if goal.place is not None:
                result[:, q, :3] = (goal.place - place) / self.size
            if goal.turn is not None:
                between = goal.turn @ np.swapaxes(turn, 1, 2)
                result[:, q, 3:] = quaternion.to_rotation_vector(
                    quaternion.positive_hemisphere(quaternion.from_matrix(between))
                )
        return result

    def run(self, y: Array) -> InstantPose:
        """Search from one start."""
        count, mu, last = len(y), 1e-3, np.inf
        y = np.clip(y, self.low, self.high)
        best: tuple[float, Array, Array] | None = None
        steps = DIFFERENCE * np.eye(count)
        for _ in range(ITERATIONS):
            every = self.residuals(np.concatenate([y[None], y + steps, y - steps]))
            r = every[0]
            error = float(np.square(r).sum())
            if best is None or error < best[0]:
                best = error, y, r
            if _distance(r) < MET_SIZES and _angle(r) < MET_RAD:
                break
            mu = float(np.clip(0.5 * mu if error < last else 4 * mu, 1e-8, 10.0))
            last = min(last, error)
            jacobian = -(every[1 : count + 1] - every[count + 1 :]).reshape(count, -1).T / (2 * DIFFERENCE)
            square = jacobian @ jacobian.T + mu * np.eye(len(jacobian))
            step = jacobian.T @ np.linalg.solve(square, r.reshape(-1))
            step *= min(1.0, MAX_STEP / max(float(np.abs(step).max(initial=0.0)), 1e-9))
            y = np.clip(y + step, self.low, self.high)
        assert best is not None
        _, y, r = best
        distance, angle = _distance(r), _angle(r)
        return InstantPose(self.values(y[None])[0], distance < MET_SIZES and angle < MET_RAD, distance, angle)


def _distance(residual: Array) -> float:
    return float(np.linalg.norm(residual[:, :3], axis=1).max(initial=0.0))


def _angle(residual: Array) -> float:
    return float(np.linalg.norm(residual[:, 3:], axis=1).max(initial=0.0))


def _joints_of(rig: PosedRig, point: Point) -> list[int]:
    """The joints that carry a point, the one with the largest weight first."""
    if point.vertex is None:
        return [rig.character.skeleton.index(point.joint)]
    return [joint for joint, _, _ in carriers(rig, point.vertex)]
