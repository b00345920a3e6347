"""Bare markers as a source: the unit guessed, gaps filled, and a root with front and up found in the cloud.

Gaps. A marker that is hidden for long does not move on a straight line meanwhile. The other markers predict where it
is: in the frame of the body, the motion of all markers has few principal components [Federolf 2013], and those of the
markers that are always seen predict the others. The prediction is shifted to meet the marker at the two ends of a gap.

Root. Marker sets name their points by custom: LASI, RFWT, C7. Where waist markers are known the root is their middle,
its right-to-left axis theirs; where only sides are known (names that begin with L and R) the whole cloud serves; where
neither is, the heading is the rotation about the vertical that fits the cloud best to its first frame.
"""

from __future__ import annotations

import re

import numpy as np

from understudy.character.body import poses
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.formats import conventions
from understudy.maths import vector

MIN_SEEN_FRAME_RATIO = 0.5  # of the frames: markers seen in fewer are left out
MIN_MARKERS = 3
MOTION_VARIANCE_RATIO = 0.995  # of the variance: components that are motion, the others are noise
USUAL_CLOUD_HEIGHTS_M = (0.3, 4.0)  # least and greatest extent of a cloud in metres
WAIST_MARKER_PATTERN = re.compile(
    r"^[lr]?(asi|asis|psi|psis|fwt|bwt|bwaist|fwaist|sacr|waist|hip|wst|pv|pelvis)", re.IGNORECASE
)


def guess_unit(points: Array, notes: list[str]) -> float:
    """Metres to a unit of a cloud (F, P, 3): 1 where the cloud has the size of a person."""
    with np.errstate(all="ignore"):
        seen = points[~np.isnan(points).any(axis=(1, 2))]
        seen = points if not len(seen) else seen
        height = float(np.nanmax(np.nanmax(seen, axis=1) - np.nanmin(seen, axis=1), initial=0.0))
    if USUAL_CLOUD_HEIGHTS_M[0] <= height <= USUAL_CLOUD_HEIGHTS_M[1] or not height > 0:
        return 1.0
    unit = conventions.unit_of_length(height)
    notes.append(f"lengths were taken to be {unit.name}: the markers span {height:.3g} units")
    return unit.metres


def frames_in_view(unseen: Array) -> slice:
    """From the first to the last frame in which half of the markers that are ever seen are seen; unseen (F, P)."""
    ever = ~unseen.all(axis=0)
    count = (~unseen[:, ever]).sum(axis=1)
    enough = np.flatnonzero(count >= MIN_SEEN_FRAME_RATIO * max(int(count.max(initial=0)), 1))
    return slice(int(enough[0]), int(enough[-1]) + 1) if enough.size else slice(0, 0)


def fill_gaps(names: tuple[str, ...], points: Array, notes: list[str]) -> tuple[tuple[str, ...], Array]:
    """The markers that are seen often enough, names (P,) and points (F, P, 3), with their gaps filled."""
    unseen = np.asarray(np.isnan(points).any(axis=2))
    kept = unseen.mean(axis=0) <= 1 - MIN_SEEN_FRAME_RATIO
    if kept.sum() < MIN_MARKERS:
        raise InvalidInput(
            f"a motion of markers should have {MIN_MARKERS} that are seen in half of its frames, "
            f"but has {int(kept.sum())}"
        )
    if not kept.all():
        lost = [name for name, keep in zip(names, kept) if not keep]
        notes.append(f"markers seen in less than half of the frames were left out: {join_names(lost)}")
    names = tuple(name for name, keep in zip(names, kept) if keep)
    points, unseen = np.array(points[:, kept]), unseen[:, kept]
    if unseen.any():
        _interpolate_gaps(points, unseen)
        _fill_by_components(points, unseen)
        notes.append(
            f"gaps of {int(unseen.any(axis=0).sum())} markers, the longest of {_longest_gap(unseen)} frames, "
            "were filled from the other markers"
        )
    return names, points


def _interpolate_gaps(points: Array, unseen: Array) -> None:
    """Straight lines over the gaps, constant at the ends, in place."""
    frames = np.arange(len(points))
    for marker in np.flatnonzero(unseen.any(axis=0)):
        seen = ~unseen[:, marker]
        for axis in range(3):
            points[~seen, marker, axis] = np.interp(frames[~seen], frames[seen], points[seen, marker, axis])


def _fill_by_components(points: Array, unseen: Array) -> None:
    """Fill the gaps by the principal components of the steady markers, in the frame of the body, in place."""
    frames = np.arange(len(points))
    always = np.asarray(~unseen.any(axis=0))
    steady = always if always.sum() >= MIN_MARKERS else np.ones(len(always), bool)
    middle, turn = fit_body_heading(points[:, steady])
    local = np.einsum("fji,fpj->fpi", turn, points - middle[:, None])
    for marker in np.flatnonzero(unseen.any(axis=0)):
        gap, seen = unseen[:, marker], ~unseen[:, marker]
        others = steady.copy()
        others[marker] = False
        predicted = _predict_marker(local[:, others].reshape(len(points), -1), local[:, marker], seen)
        predicted = np.einsum("fij,fj->fi", turn, predicted) + middle
        for axis in range(3):
            error = points[seen, marker, axis] - predicted[seen, axis]
            points[gap, marker, axis] = predicted[gap, axis] + np.interp(frames[gap], frames[seen], error)


def _predict_marker(others: Array, marker: Array, seen: Array) -> Array:
    """(F, 3) a marker (F, 3) predicted from the others (F, n), fitted to the frames in which it is seen."""
    mean = others[seen].mean(axis=0)
    _, s, vt = np.linalg.svd(others[seen] - mean, full_matrices=False)
    share = np.cumsum(s**2) / max((s**2).sum(), 1e-300)
    keep = vt[: min(int(np.searchsorted(share, MOTION_VARIANCE_RATIO)) + 1, len(s), int(seen.sum()) // 4 + 1)]
    columns = np.column_stack([np.ones(len(others)), (others - mean) @ keep.T])
    fitted, *_ = np.linalg.lstsq(columns[seen], marker[seen], rcond=1e-6)
    predicted: Array = columns @ fitted
    return predicted


def _longest_gap(unseen: Array) -> int:
    """Length of the longest gap, frames."""
    longest = run = np.zeros(unseen.shape[1], np.int64)
    for row in unseen:
        run = np.where(row, run + 1, 0)
        longest = np.maximum(longest, run)
    return int(longest.max(initial=0))


def frames_of(names: tuple[str, ...], points: Array, notes: list[str]) -> Array:
    """world_from_local (F, 4, 4) of a cloud without gaps."""
    waist = [i for i, name in enumerate(names) if WAIST_MARKER_PATTERN.match(name)]
    chosen = waist if _side_pairs(names, waist) else list(range(len(names)))
    sides = _side_pairs(names, chosen)
    origins = points[:, chosen].mean(axis=1)
    ups = np.broadcast_to(poses.UP, origins.shape)
    if not sides:
        notes.append("no marker's name tells left from right: the heading is that of the cloud, +Z at the first frame")
        return poses.frames_of(origins, fit_body_heading(points)[1][:, :, 2], ups)
    left, right = (np.array(side) for side in zip(*sides))
    across = (points[:, left] - points[:, right]).mean(axis=1)
    across[:, 1] = 0.0
    return poses.frames_of(origins, np.cross(vector.normalise(across, (1.0, 0.0, 0.0)), poses.UP), ups)


def fit_body_heading(points: Array) -> tuple[Array, Array]:
    """The middle (F, 3) of markers, and the rotation (F, 3, 3) about the vertical that fits the first frame to each."""
    middle = points.mean(axis=1)
    flat = points[..., [0, 2]] - middle[:, None, [0, 2]]
    cross = np.einsum("p,fp->f", flat[0, :, 1], flat[..., 0]) - np.einsum("p,fp->f", flat[0, :, 0], flat[..., 1])
    angle = np.arctan2(cross, np.einsum("pi,fpi->f", flat[0], flat))
    turn = np.zeros((len(points), 3, 3))
    turn[:, 0, 0] = turn[:, 2, 2] = np.cos(angle)
    turn[:, 0, 2] = np.sin(angle)
    turn[:, 2, 0] = -np.sin(angle)
    turn[:, 1, 1] = 1.0
    return middle, turn


def _side_pairs(names: tuple[str, ...], among: list[int]) -> list[tuple[int, int]]:
    """Pairs (left, right) of markers, by name."""
    by_name = {names[i].lower(): i for i in among}
    sides = []
    for name, left in by_name.items():
        for pattern, other in ((r"^l(?=[a-z])", "r"), ("left", "right"), (r"_l$", "_r"), (r"\.l$", ".r")):
            right = by_name.get(re.sub(pattern, other, name, count=1))
            if right is not None and right != left:
                sides.append((left, right))
                break
    return sides
