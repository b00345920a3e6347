"""Markers that were not seen: what frames and markers are of use, and what fills the gaps of these.

A marker that is hidden for long was not on a straight line meanwhile. The other markers tell where it was: seen from
the body, the motion of all markers has few principal components [Federolf 2013], and those of the markers that are
always seen tell the others. What they tell is shifted to meet what was seen at the two ends of a gap.

Bare markers as a source: the unit guessed, and a root with front and up found in the cloud.

Marker sets name their points by custom: LASI, RFWT, C7. Where waist markers are known the root is their middle, its
right-to-left axis theirs; where only sides are known (names that begin with L and R) the whole cloud serves; where
nothing is, the heading is that of the turn about the vertical that fits the cloud best to its first frame.
"""

from __future__ import annotations

import re

import numpy as np

from understudy.character.body import poses
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.formats import conventions
from understudy.maths import vector

MIN_SEEN_FRAME_RATIO = 0.5  # of the frames: markers that are seen less are left out
MIN_MARKERS = 3
MOTION_VARIANCE_RATIO = 0.995  # of the variance: the components that are taken for motion, the others for noise


def frames_in_view(unseen: Array) -> slice:
    """The frames from the first to the last in which half of the markers are seen that ever are, unseen (F, P)."""
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
            f"a motion of markers should have {MIN_MARKERS} that are seen in half of its frames, but has {int(kept.sum())}"
        )
    if not kept.all():
        lost = [name for name, keep in zip(names, kept) if not keep]
        notes.append(f"markers seen in less than half of the frames were left out: {join_names(lost)}")
    names = tuple(name for name, keep in zip(names, kept) if keep)
    points, unseen = np.array(points[:, kept]), unseen[:, kept]
    if unseen.any():
        _bridge(points, unseen)
        _fill_by_components(points, unseen)
        notes.append(
            f"gaps of {int(unseen.any(axis=0).sum())} markers, the longest of {_longest_gap(unseen)} frames, were filled "
            "from the other markers"
        )
    return names, points


def _bridge(points: Array, unseen: Array) -> None:
    """Straight lines over the gaps, in place; held at the ends."""
    frames = np.arange(len(points))
    for marker in np.flatnonzero(unseen.any(axis=0)):
        seen = ~unseen[:, marker]
        for axis in range(3):
            points[~seen, marker, axis] = np.interp(frames[~seen], frames[seen], points[seen, marker, axis])


def _fill_by_components(points: Array, unseen: Array) -> None:
    """The gaps told by the principal components of the steady markers, as seen from the body, in place."""
    frames = np.arange(len(points))
    always = np.asarray(~unseen.any(axis=0))
    steady = always if always.sum() >= MIN_MARKERS else np.ones(len(always), bool)
    middle, turn = fit_body_heading(points[:, steady])
    local = np.einsum("fji,fpj->fpi", turn, points - middle[:, None])
    for marker in np.flatnonzero(unseen.any(axis=0)):
        gap, seen = unseen[:, marker], ~unseen[:, marker]
        others = steady.copy()
        others[marker] = False
        told = _predict_marker(local[:, others].reshape(len(points), -1), local[:, marker], seen)
        told = np.einsum("fij,fj->fi", turn, told) + middle
        for axis in range(3):
            off = points[seen, marker, axis] - told[seen, axis]
            points[gap, marker, axis] = told[gap, axis] + np.interp(frames[gap], frames[seen], off)


def _predict_marker(others: Array, own: Array, seen: Array) -> Array:
    """(F, 3) where a marker should be by the others (F, n), learned from the frames in which it is seen."""
    mean = others[seen].mean(axis=0)
    _, s, vt = np.linalg.svd(others[seen] - mean, full_matrices=False)
    share = np.cumsum(s**2) / max((s**2).sum(), 1e-300)
    keep = vt[: min(int(np.searchsorted(share, MOTION_VARIANCE_RATIO)) + 1, len(s), int(seen.sum()) // 4 + 1)]
    columns = np.column_stack([np.ones(len(others)), (others - mean) @ keep.T])
    fitted, *_ = np.linalg.lstsq(columns[seen], own[seen], rcond=1e-6)
    told: Array = columns @ fitted
    return told


def fit_body_heading(points: Array) -> tuple[Array, Array]:
    """The middle (F, 3) of markers, and their turn (F, 3, 3) about the vertical since the first frame, as fits best."""
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


def _longest_gap(unseen: Array) -> int:
    """The frames of the longest gap."""
    longest = run = np.zeros(unseen.shape[1], np.int64)
    for row in unseen:
        run = np.where(row, run + 1, 0)
        longest = np.maximum(longest, run)
    return int(longest.max(initial=0))


USUAL_CLOUD_HEIGHTS_M = (0.3, 4.0)  # metres from the lowest to the highest marker, in any frame
WAIST_MARKER_PATTERN = re.compile(
    r"^[lr]?(asi|asis|psi|psis|fwt|bwt|bwaist|fwaist|sacr|waist|hip|wst|pv|pelvis)", re.IGNORECASE
)


def guess_unit(points: Array, notes: list[str]) -> float:
    """Metres to a unit of a cloud (F, P, 3): 1 where a person would be of that size."""
    with np.errstate(all="ignore"):
        seen = points[~np.isnan(points).any(axis=(1, 2))]
        seen = points if not len(seen) else seen
        height = float(np.nanmax(np.nanmax(seen, axis=1) - np.nanmin(seen, axis=1), initial=0.0))
    if USUAL_CLOUD_HEIGHTS_M[0] <= height <= USUAL_CLOUD_HEIGHTS_M[1] or not height > 0:
        return 1.0
    unit = conventions.unit_of_length(height)
    notes.append(f"lengths were taken to be {unit.name}: the markers span {height:.3g} units")
    return unit.metres


def frames_of(names: tuple[str, ...], points: Array, notes: list[str]) -> Array:
    """world_from_local (F, 4, 4) of a cloud without gaps."""
    waist = [i for i, name in enumerate(names) if WAIST_MARKER_PATTERN.match(name)]
    chosen = waist if _sides(names, waist) else list(range(len(names)))
    sides = _sides(names, chosen)
    origins = points[:, chosen].mean(axis=1)
    ups = np.broadcast_to(poses.UP, origins.shape)
    if not sides:
        notes.append("no marker's name tells left from right: the heading is that of the cloud, +Z at the first frame")
        return poses.frames_of(origins, fit_body_heading(points)[1][:, :, 2], ups)
    left, right = (np.array(side) for side in zip(*sides))
    across = (points[:, left] - points[:, right]).mean(axis=1)
    across[:, 1] = 0.0
    return poses.frames_of(origins, np.cross(vector.normalise(across, (1.0, 0.0, 0.0)), poses.UP), ups)


def _sides(names: tuple[str, ...], among: list[int]) -> list[tuple[int, int]]:
    """Pairs (left, right) of markers."""
    by_name = {names[i].lower(): i for i in among}
    found = []
    for name, left in by_name.items():
        for pattern, other in ((r"^l(?=[a-z])", "r"), ("left", "right"), (r"_l$", "_r"), (r"\.l$", ".r")):
            right = by_name.get(re.sub(pattern, other, name, count=1))
            if right is not None and right != left:
                found.append((left, right))
                break
    return found
