"""Bare markers as a source: gaps filled, the unit guessed, a root with front and up found in the cloud.

Marker sets name their points by custom: LASI, RFWT, C7. Where waist markers are known the root is their middle, its
right-to-left axis theirs; where only sides are known (names that begin with L and R) the whole cloud serves; where
nothing is, the heading is that of the turn about the vertical that fits the cloud best to its first frame.
"""

from __future__ import annotations

import re

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput, listed
from understudy.formats import guesses
from understudy.maths import linear
from understudy.retarget import local_frame

LONGEST_GAP = 0.5  # seconds a marker may be unseen; a limb swings there and back in less than a second
SEEN = 0.5  # of the frames: markers that are seen less are left out
USUAL_CLOUD = (0.3, 4.0)  # metres from the lowest to the highest marker, in any frame
WAIST = re.compile(r"^[lr]?(asi|asis|psi|psis|fwt|bwt|bwaist|fwaist|sacr|waist|hip|wst)", re.IGNORECASE)


def guessed_unit(points: Array, notes: list[str]) -> float:
    """Metres to a unit of a cloud (F, P, 3): 1 where a person would be of that size."""
    with np.errstate(all="ignore"):
        seen = points[~np.isnan(points).any(axis=(1, 2))]
        seen = points if not len(seen) else seen
        height = float(np.nanmax(np.nanmax(seen, axis=1) - np.nanmin(seen, axis=1), initial=0.0))
    if USUAL_CLOUD[0] <= height <= USUAL_CLOUD[1] or not height > 0:
        return 1.0
    unit = guesses.unit_of_length(height)
    notes.append(f"lengths were taken to be {unit.name}: the markers span {height:.3g} units")
    return unit.metres


def filled(names: tuple[str, ...], points: Array, rate: float, notes: list[str]) -> tuple[tuple[str, ...], Array]:
    """The markers that are seen often enough, with their gaps filled by straight lines: names (P,), (F, P, 3)."""
    unseen = np.asarray(np.isnan(points).any(axis=2))
    kept = unseen.mean(axis=0) < 1 - SEEN
    if kept.sum() < 3:
        raise InvalidInput(
            f"a motion of markers should have three that are seen in half of its frames, but has {int(kept.sum())}"
        )
    if not kept.all():
        lost = [name for name, keep in zip(names, kept) if not keep]
        notes.append(f"markers seen in less than half of the frames were left out: {listed(lost)}")
    names = tuple(name for name, keep in zip(names, kept) if keep)
    points, unseen = np.array(points[:, kept]), unseen[:, kept]
    if unseen.any():
        frames = np.arange(len(points))
        for marker in np.flatnonzero(unseen.any(axis=0)):
            seen = ~unseen[:, marker]
            for axis in range(3):
                points[~seen, marker, axis] = np.interp(frames[~seen], frames[seen], points[seen, marker, axis])
        notes.append(f"gaps of {int(unseen.any(axis=0).sum())} markers were filled")
    return names, points


def frames_of(names: tuple[str, ...], points: Array, notes: list[str]) -> Array:
    """world_from_local (F, 4, 4) of a cloud without gaps."""
    waist = [i for i, name in enumerate(names) if WAIST.match(name)]
    chosen = waist if _sides(names, waist) else list(range(len(names)))
    sides = _sides(names, chosen)
    origins = points[:, chosen].mean(axis=1)
    ups = np.broadcast_to(local_frame.UP, origins.shape)
    if not sides:
        notes.append("no marker's name tells left from right: the heading is that of the cloud, +Z at the first frame")
        return local_frame.frames_of(origins, _turned(points), ups)
    left, right = (np.array(side) for side in zip(*sides))
    across = (points[:, left] - points[:, right]).mean(axis=1)
    across[:, 1] = 0.0
    return local_frame.frames_of(origins, np.cross(linear.normalise(across, (1.0, 0.0, 0.0)), local_frame.UP), ups)


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


def _turned(points: Array) -> Array:
    """(F, 3) the direction that was +Z at the first frame, turned as the cloud has turned about the vertical."""
    flat = points[..., [0, 2]] - points[..., [0, 2]].mean(axis=1, keepdims=True)
    cross = np.einsum("p,fp->f", flat[0, :, 1], flat[..., 0]) - np.einsum("p,fp->f", flat[0, :, 0], flat[..., 1])
    dot = np.einsum("pi,fpi->f", flat[0], flat)
    angle = np.arctan2(cross, dot)
    return np.stack([np.sin(angle), np.zeros(len(angle)), np.cos(angle)], axis=1)
