"""Proportions: how large the regions of one face are beside those of another, so that a shut eye is a shut eye.

A person's eye opens by 10 mm, a stylised character's by 25: moved by the same millimetres, the character would never
blink. Each eye is compared across and up, since how far it opens is what a lid can move; of other regions the size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.checks import Array
from understudy.expression.preparing.procrustes import alignment_groups
from understudy.expression.regions import landmark_number

LIMITS = (0.4, 2.5)  # beyond, landmarks lie wrong rather than faces differ


def proportions(of: Array, beside: Array, names: Sequence[str]) -> Array:
    """(L, D) by which a movement of the landmarks `beside` (L, D) becomes one of the landmarks `of` (L, D).

    Both neutral, laid onto each other. Names other than "lm00" to "lm67" leave movements as they are.
    """
    result = np.ones(of.shape)
    if any(landmark_number(name) is None for name in names):
        return result
    for group, rows in alignment_groups(tuple(names)).items():
        if len(rows) < 2:
            continue
        ours, theirs = _spread(of[rows]), _spread(beside[rows])
        if group.startswith("eye_"):
            # depth hardly differs within an eye, and says nothing
            ratio = np.ones(of.shape[1])
            ratio[:2] = _ratio(ours[:2], theirs[:2])
        else:
            ratio = np.full(of.shape[1], _ratio(np.hypot.reduce(ours), np.hypot.reduce(theirs)))
        result[rows] = ratio
    return result


def _spread(points: Array) -> Array:
    """(D,) standard deviations."""
    return np.asarray(points.std(axis=0))


def _ratio(ours: Array, theirs: Array) -> Array:
    return np.clip(ours / np.maximum(theirs, 1e-12), *LIMITS)
