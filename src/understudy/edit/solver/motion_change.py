"""How an edit changes the motion as a whole: measured on the finished curves, whatever solved for them.

An edit whose goal is met may still be useless: the point flies past its goal, a limb whirls, the head is thrown. These
are the reasons for which a result is not `reached` (`path_obstacles`).
"""

from __future__ import annotations

import numpy as np

from understudy.character import Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.outcome import MotionChange, Obstacle, unit_for
from understudy.edit.points.states import main_joint
from understudy.edit.solver.problem import EditProblem
from understudy.edit.solver.segments import span_of
from understudy.maths import quaternion

SAMPLES_PER_S, MAX_SAMPLES = 60.0, 480
VISIBLE_SHARE = 0.02  # of the way that was asked for: a smaller move is not counted as reach in time
VISIBLE_SIZE_RATIO = 1e-3  # of the character's size: the same for edits that ask for no way

# Beyond these a result is not reached. Fair drags of real clips stay below half of each.
MAX_OVERSHOOT = 2.5
MAX_TANGENT_OVERSHOOT = 6.0  # where poses of a person stay: a slope next to one swings the other way behind it
MIN_OVERSHOOT_SIZE_RATIO = 0.02  # of the size: a smaller excess is invisible
MAX_EXTRA_TURNS = 1.0
MAX_ACCELERATION_RATIO = 12.0  # over the larger of that before the edit and that of a smooth bump of the same size


def measure_change(problem: EditProblem, before: Curves, after: Curves, goals: Array) -> MotionChange:
    """The change of the motion by an edit of `before`, with the moved points asked to be at `goals` (R, 3), metres."""
    rig, moves = problem.cache.rig, problem.moves
    asked = float(np.linalg.norm(goals - problem.origin[0], axis=1).max(initial=0.0))
    low, high = _changed_span(before, after)
    if not low < high:
        at = float(moves.time[0]) if len(moves) else before.start
        return MotionChange(asked, 0.0, at, at, 0.0, "", 1.0, 1.0, 0.0)
    times = np.linspace(low, high, int(np.clip((high - low) * SAMPLES_PER_S, 24, MAX_SAMPLES)))
    old, new = (rig.pose(curves, times) for curves in (before, after))
    old_joints, new_joints = rig.joints(old), rig.joints(new)
    moved = np.linalg.norm(new_joints[..., :3, 3] - old_joints[..., :3, 3], axis=-1)  # (T, J)
    old_paths, new_paths = (
        _point_paths(rig, problem, joints, pose) for joints, pose in ((old_joints, old), (new_joints, new))
    )
    step = times[1] - times[0]
    furthest = float(np.linalg.norm(new_paths - old_paths, axis=-1).max(initial=0.0))
    visible = max(VISIBLE_SHARE * asked, VISIBLE_SIZE_RATIO * problem.size)
    seen = np.flatnonzero((moved > visible).any(axis=1))
    span = times[seen[[0, -1]]] if len(seen) else np.array([low, low])
    others = np.where(_limb_mask(rig, problem), 0.0, moved.max(axis=0))
    worst = int(np.argmax(others))
    bump = asked * (np.pi / max((high - low) / 2, step)) ** 2 / 2
    return MotionChange(
        asked,
        furthest,
        float(span[0]),
        float(span[1]),
        float(others[worst]),
        rig.character.skeleton.names[worst] if others[worst] > 0 else "",
        _peak_ratio(old_paths, new_paths, step, 1, asked * np.pi / max(high - low, step)),
        _peak_ratio(old_paths, new_paths, step, 2, bump),
        _extra_turns(old_joints, new_joints, rig),
    )


def path_obstacles(problem: EditProblem, change: MotionChange) -> list[Obstacle]:
    """Why a result is not to be called reached although its goals are met."""
    names = ", ".join(dict.fromkeys(move.point.name for move in problem.edit.moves)) or "the path"
    unit, scale = unit_for(change.furthest_m)
    found = []
    most = MAX_TANGENT_OVERSHOOT if problem.window is None else MAX_OVERSHOOT
    turns = any(move.turn_to is not None for move in problem.edit.moves)  # and terms ask for more than a way
    thrown = change.furthest_m - change.asked_m > MIN_OVERSHOOT_SIZE_RATIO * problem.size
    if change.asked_m > 0 and thrown and change.overshoot > most and not (turns or problem.edit.terms):
        found.append(
            f"{names} would fly {scale * change.furthest_m:.3g} {unit} off its path to reach a goal "
            f"{scale * change.asked_m:.3g} {unit} away"
        )
    if change.extra_turns > MAX_EXTRA_TURNS:
        found.append(f"a joint would make {change.extra_turns:.2g} turns that it did not make before")
    if problem.window is not None and change.acceleration_ratio > MAX_ACCELERATION_RATIO:
        found.append(f"{names} would be {change.acceleration_ratio:.2g} times as jerky as before")
    return [Obstacle("path", names, 1.0 / len(found), sentence) for sentence in found]


def _changed_span(before: Curves, after: Curves) -> tuple[float, float]:
    """The span of time in which two animations with the same channels differ, within the clip."""
    spans = [span_of(a, b) for a, b in zip(before.curves, after.curves) if a is not b]
    low = min((a for a, _ in spans), default=np.inf)
    high = max((b for _, b in spans), default=-np.inf)
    return max(low, before.start), min(high, before.end)


def _point_paths(rig: PosedRig, problem: EditProblem, joints: Array, poses: Array) -> Array:
    """(T, P, 3) metres: the paths of the moved points, and of the points of objective terms."""
    points = [move.point for move in problem.edit.moves]
    points += [point for term in problem.edit.terms for point in term.points(rig)][:1]
    points = points or [contact.point for contact in problem.edit.contacts]
    vertices = rig.vertices(poses) if any(point.vertex is not None for point in points) else None
    paths = []
    for point in dict.fromkeys(points):
        if point.vertex is not None and vertices is not None:
            paths.append(vertices[:, point.vertex].astype(float))
        else:
            frame = joints[:, rig.character.skeleton.index(point.joint)]
            paths.append(frame[:, :3, :3] @ np.array(point.offset) + frame[:, :3, 3])
    return np.stack(paths, axis=1)


def _limb_mask(rig: PosedRig, problem: EditProblem) -> Array:
    """(J,) bool: the joints of the dragged limbs."""
    skeleton, limb = rig.character.skeleton, problem.cache.limb
    roots = set()
    points = [move.point for move in problem.edit.moves] + [contact.point for contact in problem.edit.contacts]
    points += [point for term in problem.edit.terms for point in term.points(rig)]
    for point in points:
        roots.add(int(limb[main_joint(rig, point)]))
    mask = np.zeros(len(skeleton), bool)
    for j, parent in enumerate(skeleton.parents):  # parents come first
        mask[j] = j in roots or (parent >= 0 and mask[parent])
    return mask


def _peak_ratio(old: Array, new: Array, step: float, order: int, least: float) -> float:
    """The peak of a derivative of paths (T, P, 3) over the larger of the same before and `least`."""
    peaks = [float(np.linalg.norm(np.diff(path, order, axis=0), axis=-1).max() / step**order) for path in (old, new)]
    return peaks[1] / max(peaks[0], float(least), 1e-9)


def _extra_turns(old: Array, new: Array, rig: PosedRig) -> float:
    """The turns that a joint makes about its parent more than before, by the length of its path of rotations."""
    lengths = []
    for joints in (old, new):
        turns = quaternion.from_matrix(
            joints[..., :3, :3] / np.cbrt(np.linalg.det(joints[..., :3, :3]))[..., None, None]
        )
        parents = rig.character.skeleton.parents
        local = turns.copy()
        inner = np.flatnonzero(parents >= 0)
        local[:, inner] = quaternion.multiply(quaternion.inverse(turns[:, parents[inner]]), turns[:, inner])
        lengths.append(quaternion.angle_between(local[1:], local[:-1]).sum(axis=0))
    return float(((lengths[1] - lengths[0]) / (2 * np.pi)).max(initial=0.0))
