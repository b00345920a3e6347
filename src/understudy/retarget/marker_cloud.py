"""Bare markers as a source: the unit guessed, and a root with front and up found in the cloud.

Marker sets name their points by custom: LASI, RFWT, C7. Where waist markers are known the root is their middle, its
right-to-left axis theirs; where only sides are known (names that begin with L and R) the whole cloud serves; where
nothing is, the heading is that of the turn about the vertical that fits the cloud best to its first frame.
"""

from __future__ import annotations

import re

import numpy as np

from understudy.checks import Array
from understudy.formats import guesses
from understudy.maths import linear
from understudy.retarget import gaps, local_frame

USUAL_CLOUD = (0.3, 4.0)  # metres from the lowest to the highest marker, in any frame
WAIST = re.compile(r"^[lr]?(asi|asis|psi|psis|fwt|bwt|bwaist|fwaist|sacr|waist|hip|wst|pv|pelvis)", re.IGNORECASE)


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


def frames_of(names: tuple[str, ...], points: Array, notes: list[str]) -> Array:
    """world_from_local (F, 4, 4) of a cloud without gaps."""
    waist = [i for i, name in enumerate(names) if WAIST.match(name)]
    chosen = waist if _sides(names, waist) else list(range(len(names)))
    sides = _sides(names, chosen)
    origins = points[:, chosen].mean(axis=1)
    ups = np.broadcast_to(local_frame.UP, origins.shape)
    if not sides:
        notes.append("no marker's name tells left from right: the heading is that of the cloud, +Z at the first frame")
        return local_frame.frames_of(origins, gaps.turned_body(points)[1][:, :, 2], ups)
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
