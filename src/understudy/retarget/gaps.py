"""Markers that were not seen: what frames and markers are of use, and what fills the gaps of these.

A marker that is hidden for long was not on a straight line meanwhile. The other markers tell where it was: seen from
the body, the motion of all markers has few principal components [Federolf 2013], and those of the markers that are
always seen tell the others. What they tell is shifted to meet what was seen at the two ends of a gap.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput, listed

SEEN = 0.5  # of the frames: markers that are seen less are left out
FEWEST = 3
KEPT = 0.995  # of the variance: the components that are taken for motion, the others for noise


def in_view(unseen: Array) -> slice:
    """The frames from the first to the last in which half of the markers are seen that ever are, unseen (F, P)."""
    ever = ~unseen.all(axis=0)
    count = (~unseen[:, ever]).sum(axis=1)
    enough = np.flatnonzero(count >= SEEN * max(int(count.max(initial=0)), 1))
    return slice(int(enough[0]), int(enough[-1]) + 1) if enough.size else slice(0, 0)


def filled(names: tuple[str, ...], points: Array, notes: list[str]) -> tuple[tuple[str, ...], Array]:
    """The markers that are seen often enough, names (P,) and points (F, P, 3), with their gaps filled."""
    unseen = np.asarray(np.isnan(points).any(axis=2))
    kept = unseen.mean(axis=0) <= 1 - SEEN
    if kept.sum() < FEWEST:
        raise InvalidInput(
            f"a motion of markers should have {FEWEST} that are seen in half of its frames, but has {int(kept.sum())}"
        )
    if not kept.all():
        lost = [name for name, keep in zip(names, kept) if not keep]
        notes.append(f"markers seen in less than half of the frames were left out: {listed(lost)}")
    names = tuple(name for name, keep in zip(names, kept) if keep)
    points, unseen = np.array(points[:, kept]), unseen[:, kept]
    if unseen.any():
        _bridge(points, unseen)
        _by_components(points, unseen)
        notes.append(
            f"gaps of {int(unseen.any(axis=0).sum())} markers, the longest of {_longest(unseen)} frames, were filled "
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


def _by_components(points: Array, unseen: Array) -> None:
    """The gaps told by the principal components of the steady markers, as seen from the body, in place."""
    frames = np.arange(len(points))
    always = np.asarray(~unseen.any(axis=0))
    steady = always if always.sum() >= FEWEST else np.ones(len(always), bool)
    middle, turn = turned_body(points[:, steady])
    local = np.einsum("fji,fpj->fpi", turn, points - middle[:, None])
    for marker in np.flatnonzero(unseen.any(axis=0)):
        gap, seen = unseen[:, marker], ~unseen[:, marker]
        others = steady.copy()
        others[marker] = False
        told = _told(local[:, others].reshape(len(points), -1), local[:, marker], seen)
        told = np.einsum("fij,fj->fi", turn, told) + middle
        for axis in range(3):
            off = points[seen, marker, axis] - told[seen, axis]
            points[gap, marker, axis] = told[gap, axis] + np.interp(frames[gap], frames[seen], off)


def _told(others: Array, own: Array, seen: Array) -> Array:
    """(F, 3) where a marker should be by the others (F, n), learned from the frames in which it is seen."""
    mean = others[seen].mean(axis=0)
    _, s, vt = np.linalg.svd(others[seen] - mean, full_matrices=False)
    share = np.cumsum(s**2) / max((s**2).sum(), 1e-300)
    keep = vt[: min(int(np.searchsorted(share, KEPT)) + 1, len(s), int(seen.sum()) // 4 + 1)]
    columns = np.column_stack([np.ones(len(others)), (others - mean) @ keep.T])
    fitted, *_ = np.linalg.lstsq(columns[seen], own[seen], rcond=1e-6)
    told: Array = columns @ fitted
    return told


def turned_body(points: Array) -> tuple[Array, Array]:
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


def _longest(unseen: Array) -> int:
    """The frames of the longest gap."""
    longest = run = np.zeros(unseen.shape[1], np.int64)
    for row in unseen:
        run = np.where(row, run + 1, 0)
        longest = np.maximum(longest, run)
    return int(longest.max(initial=0))
