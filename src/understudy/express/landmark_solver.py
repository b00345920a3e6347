"""Landmark solver: the blend-shape weights whose landmarks move as given ones do [Lewis and Anjyo 2010].

    min over w of  |B w - m|^2 + alpha |w|^2,   0 <= w <= 1          [Serra 2018, eq. 5, with bounds]
    w = (B'B + alpha I)^-1 B'm                                       [Serra 2018, eq. 6, where no bound is met]

m (3L,) is the displacement of the landmarks from neutral, laid onto the model by the similarity that lays neutral onto
the model's own landmarks at rest; column s of B (3L, S) is the displacement of those by shape s. alpha is a share of
the mean of B'B's diagonal, so that it means the same in metres and in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Channel, Character, Clip
from understudy.character.rig import rig_of
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.landmark_filters import apply_transform, procrustes_transforms, proportions
from understudy.maths import solvers

RIDGE_WEIGHT = 1e-3  # alpha

# Of the widest landmark movement of any shape: landmarks do not determine a shape that moves them less.
MIN_SHAPE_MOVEMENT_RATIO = 1e-3


@dataclass(frozen=True, eq=False)
class LandmarkBasis:
    """How the S shapes of a character move L of its vertices."""

    names: tuple[str, ...]  # (S,) shapes that move the landmarks, as the character spells them
    unseen: tuple[str, ...]  # shapes that move none of the landmarks
    rest: Array  # (L, 3) metres
    deltas: Array  # (S, L, 3) at weight 1


def weights_of(
    character: Character,
    points: Any,
    vertices: Any,
    rate: float,
    *,
    neutral: Any = None,
    names: Sequence[str] | None = None,
    shapes: Sequence[str] | None = None,
    alpha: float = RIDGE_WEIGHT,
    highest: float = 1.0,
    name: str = "express",
) -> Clip:
    """The landmarks points (F, L, D) as a clip of the character's shape weights, at `rate` frames a second.

    `vertices` (L,) are the character's own landmarks. `neutral` (L, D) is the first frame unless given. With the
    `names` (L,) of the landmarks, "lm00" to "lm67", movements are also scaled to the character's proportions, region
    by region. In 2 dimensions the points are taken as seen from the front, x to the character's left and y up.
    `highest` is the upper bound of the weights; shapes that move no landmark are 0, and are left out of the clip.
    """
    basis = basis_of(character, vertices, shapes)
    points = checks.array(points, "points", ("F", len(basis.rest), None))
    weights = solve(basis, points, neutral, names, alpha, highest)
    return Clip(name, [Channel("", "weights", basis.names)], weights, checks.positive(rate, "rate"))


def basis_of(character: Character, vertices: Any, shapes: Sequence[str] | None = None) -> LandmarkBasis:
    """The basis of a character at its landmark `vertices` (L,); `shapes` are those that may be used, or all."""
    vertices = checks.array(vertices, "landmark vertices", ("L",), np.int64)
    checks.indices(vertices, "landmark vertices", character.vertex_count)
    known = list(dict.fromkeys(name for names in character.shapes.values() for name in names))
    if not known:
        raise InvalidInput(f"character {character.name!r} should have blend shapes, but has none")
    for name in shapes or ():
        checks.one_of(name, "shape", known)
    names = [name for name in known if shapes is None or name in shapes]
    rig = rig_of(character)
    weights = np.concatenate([np.zeros((1, len(names))), np.eye(len(names))])
    defaults = Clip("basis", [Channel("", "weights", tuple(names))], weights, 1.0)
    points = np.asarray(rig.points(rig.pose(defaults), [int(v) for v in vertices]), np.float64)
    deltas = points[1:] - points[0]
    moves = np.linalg.norm(deltas, axis=2).max(axis=1)
    seen = moves > MIN_SHAPE_MOVEMENT_RATIO * moves.max(initial=0.0)
    if not seen.any():
        raise InvalidInput(f"no shape of character {character.name!r} moves any of the landmarks")
    kept = tuple(name for name, is_seen in zip(names, seen) if is_seen)
    return LandmarkBasis(kept, tuple(name for name in names if name not in kept), points[0], deltas[seen])


def solve(
    basis: LandmarkBasis,
    points: Array,
    neutral: Any = None,
    names: Sequence[str] | None = None,
    alpha: float = RIDGE_WEIGHT,
    highest: float = 1.0,
) -> Array:
    """(F, S) weights for landmarks (F, L, D)."""
    dimensions = points.shape[2]
    if dimensions not in (2, 3):
        raise InvalidInput(f"points should have 2 or 3 dimensions, but have {dimensions}")
    if not len(points):
        raise InvalidInput("points should have at least one frame, but have none")
    checks.positive(alpha, "alpha")
    checks.positive(highest, "highest")
    base = points[0] if neutral is None else checks.array(neutral, "neutral", points.shape[1:])
    m = displacements_on_model(points - base, base, basis.rest[:, :dimensions], names)
    b = basis.deltas[:, :, :dimensions].reshape(len(basis.names), -1)  # (S, D L), the rows of B'
    h = b @ b.T
    h += alpha * np.trace(h) / len(h) * np.eye(len(h))
    low, high = np.zeros(len(h)), np.full(len(h), float(highest))
    return solvers.solve_box_qp(h, m.reshape(len(m), -1) @ b.T, low, high)


def displacements_on_model(
    displacements: Array, neutral: Array, rest: Array, names: Sequence[str] | None = None
) -> Array:
    """(F, L, D) displacements rotated and scaled by the similarity that lays neutral (L, D) onto rest (L, D).

    With `names` (L,) they are also scaled to the proportions of rest, region by region.
    """
    if np.ptp(neutral, axis=0).max() <= 0:
        raise InvalidInput("the landmarks of the neutral pose should not all lie in one place, but do")
    similarity = procrustes_transforms(neutral, rest, scaled=True)
    moves = similarity[0] * np.einsum("ij,flj->fli", similarity[1], displacements)
    if names is None:
        return moves
    if len(names) != len(rest):
        raise InvalidInput(f"names should be as many as landmarks, {len(rest)}, but are {len(names)}")
    return moves * proportions(rest, apply_transform(neutral, *similarity), names)
