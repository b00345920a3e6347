"""Procrustes alignment in two stages: first the head's own movement is removed, then the person's proportions.

    min over s, R, t of  sum_i |s R a_i + t - b_i|^2        R a rotation, no mirror; s = 1 where it is rigid

[Serra 2018, section 4] aligns every pose with the first of its sequence by landmarks that no expression moves, and then
each region of the first pose with the average neutral, the same transform for all poses of the sequence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput, listed
from understudy.expression import regions as face
from understudy.expression.sequence import Sequence as Take
from understudy.expression.sequence import alike

# Bridge and tip of the nose, and the corners of the eyes: what an expression moves least.
ANCHORS = ("lm27", "lm28", "lm29", "lm30", "lm33", "lm36", "lm39", "lm42", "lm45")

# A region of one or two landmarks, or on a line, leaves a rotation open: so much of the sum pulls towards none.
# Anchors are seldom so; they need no more than what decides between turns that are equally good.
RESTRAINT = 1e-3
ANCHORED = 1e-9

ROUNDS = 5  # of aligning with the mean and averaging again; the mean moves by less than 1e-6 of its size after three


def transforms(points: Array, onto: Array, scaled: bool = False, restraint: float = 0.0) -> tuple[Array, Array, Array]:
    """s (...,), R (..., D, D) and t (..., D) that lay points (..., L, D) onto (L, D) by least squares.

    R maximises trace(R M) with M = sum a_i b_i' about the means; `restraint` adds so much of M's size times identity.
    """
    a_mean, b_mean = points.mean(axis=-2), onto.mean(axis=-2)
    a, b = points - a_mean[..., None, :], onto - b_mean
    m = np.einsum("...li,lj->...ij", a, b)
    size = np.linalg.norm(m, axis=(-2, -1))
    m = m + (restraint * size)[..., None, None] * np.eye(m.shape[-1])
    u, _, vt = np.linalg.svd(m)
    handed = np.ones(m.shape[:-1])
    handed[..., -1] = np.sign(np.linalg.det(u) * np.linalg.det(vt))  # the least axis turns, so that nothing is mirrored
    rotation = np.einsum("...ki,...k,...jk->...ij", vt, handed, u)
    scale = np.ones(m.shape[:-2])
    if scaled:
        along = np.einsum("...ij,...lj,li->...", rotation, a, b)
        spread = np.einsum("...li,...li->...", a, a)
        scale = np.where(spread > 0, along / np.where(spread > 0, spread, 1), 1.0)
    shift = b_mean - scale[..., None] * np.einsum("...ij,...j->...i", rotation, a_mean)
    return scale, rotation, shift


def moved(points: Array, scale: Array, rotation: Array, shift: Array) -> Array:
    """s R p + t of points (..., L, D)."""
    turned = np.einsum("...ij,...lj->...li", rotation, points)
    return scale[..., None, None] * turned + shift[..., None, :]


def steadied(sequence: Take, anchors: Sequence[str] | None = None, scaled: bool | None = None) -> Take:
    """Every pose rigidly aligned with the first by its `anchors`, so that only the expression is left.

    In a picture (D = 2) a head that comes nearer grows, so there the size is aligned too, unless `scaled` says other.
    Weights (D = 1) have no head to remove.
    """
    if sequence.dimensions == 1:
        return sequence
    rows = _anchor_rows(sequence, anchors)
    scaled = sequence.dimensions == 2 if scaled is None else scaled
    found = transforms(sequence.points[:, rows], sequence.points[0, rows], scaled, ANCHORED)
    return sequence.changed(points=moved(sequence.points, *found))


def _anchor_rows(sequence: Take, anchors: Sequence[str] | None) -> list[int]:
    what = f"sequence {sequence.name!r}"
    given = ANCHORS if anchors is None else tuple(anchors)
    rows = [sequence.names.index(name) for name in given if name in sequence.names]
    missing = [name for name in given if name not in sequence.names]
    if anchors is not None and missing:
        raise InvalidInput(f"{what} lacks the anchors {listed(missing)}; there are {listed(sequence.names)}")
    if len(rows) < min(sequence.dimensions, 2):
        raise InvalidInput(
            f"{what} has none of the landmarks that hold still ({listed(ANCHORS)}): name some as anchors, or align not"
        )
    return rows


def likened(sequences: Sequence[Take], groups: Mapping[str, Array] | None = None) -> list[Take]:
    """Each region of each sequence aligned as its first pose is with the average first pose, size included.

    `groups` are those of `alignment_groups` unless given; landmarks in none of them follow the whole face.
    """
    sequences = alike(sequences)
    if sequences[0].dimensions == 1:
        return sequences
    groups = alignment_groups(sequences[0].names) if groups is None else groups
    firsts = np.stack([sequence.points[0] for sequence in sequences])
    mean = mean_shape(firsts)
    whole = transforms(firsts, mean, scaled=True)
    laid = moved(firsts, *whole)
    parts = [
        (rows, transforms(laid[:, rows], mean[rows], scaled=len(rows) > 1, restraint=RESTRAINT))
        for rows in groups.values()
    ]
    result = []
    for number, sequence in enumerate(sequences):
        points = moved(sequence.points, *(each[number] for each in whole))
        for rows, found in parts:
            points[:, rows] = moved(points[:, rows], *(each[number] for each in found))
        result.append(sequence.changed(points=points))
    return result


def mean_shape(shapes: Array) -> Array:
    """(L, D) the mean of shapes (N, L, D) after each was laid onto it, size included; placed and sized as they are.

    It stands as the first shape does, so that the order of sequences decides no more than that.
    """
    centred = shapes - shapes.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=(1, 2))
    if sizes.min() <= 0:
        raise InvalidInput("the landmarks of a first pose should not all lie in one place, but do")
    mean = centred[0] / sizes[0]
    for _ in range(ROUNDS):
        laid = moved(centred / sizes[:, None, None], *transforms(centred / sizes[:, None, None], mean))
        # laid back onto the first, or the mean would turn a little every round
        mean = laid.mean(axis=0)
        mean = moved(mean, *transforms(mean, centred[0] / sizes[0]))
        mean /= np.linalg.norm(mean - mean.mean(axis=0))
    return mean * sizes.mean() + shapes.mean(axis=(0, 1))


def alignment_groups(names: Sequence[str], wanted: Mapping[str, Sequence[str]] | None = None) -> dict[str, Array]:
    """The regions of the face, each eye by itself: which landmarks are aligned together [Serra 2018, fig. 3]."""
    groups = face.regions_of(names, wanted)
    if wanted is not None or "eyes" not in groups:
        return groups
    eyes = groups.pop("eyes")
    for side, first in (("eye_right", 36), ("eye_left", 42)):
        rows = [row for row in eyes if first <= (face.landmark_number(names[row]) or 0) < first + 6]
        if rows:
            groups[side] = np.array(rows)
    return groups
