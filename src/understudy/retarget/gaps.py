"""Markers that were not seen: what frames and markers are of use, and what fills the gaps of these.

A marker that is hidden for long was not on a straight line meanwhile. The other markers tell where it was: seen from
the body, the motion of all markers has few principal components [Federolf 2013]. Gaps begin as straight lines, are
replaced by what the components make of the frame, and so on; each is shifted to meet what was seen at its two ends.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput, listed

SEEN = 0.5  # of the frames: markers that are seen less are left out
FEWEST = 3
KEPT = 0.995  # of the variance: the components that are taken for motion, the others for noise and gaps
ROUNDS = 8


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
    """The gaps by principal components of the markers as seen from the body, in place."""
    frames = np.arange(len(points))
    truth = points.copy()
    seen_by_all = ~unseen.any(axis=0)
    steady = np.flatnonzero(seen_by_all if seen_by_all.sum() >= FEWEST else np.ones(len(seen_by_all), bool))
    for _ in range(ROUNDS):
        middle, turn = turned_body(points[:, steady])
        local = np.einsum("fji,fpj->fpi", turn, points - middle[:, None]).reshape(len(points), -1)
        mean = local.mean(axis=0)
        u, s, vt = np.linalg.svd(local - mean, full_matrices=False)
        share = np.cumsum(s**2) / max((s**2).sum(), 1e-300)
        keep = int(np.searchsorted(share, KEPT)) + 1
        model = (mean + (u[:, :keep] * s[:keep]) @ vt[:keep]).reshape(len(points), -1, 3)
        model = np.einsum("fij,fpj->fpi", turn, model) + middle[:, None]
        for marker in np.flatnonzero(unseen.any(axis=0)):
            gap, seen = unseen[:, marker], ~unseen[:, marker]
            for axis in range(3):
                off = truth[seen, marker, axis] - model[seen, marker, axis]
                points[gap, marker, axis] = model[gap, marker, axis] + np.interp(frames[gap], frames[seen], off)


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
