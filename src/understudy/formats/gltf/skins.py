"""Skins: joints and inverse bind matrices, and the influences and weights of the vertices that hang on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Skin
from understudy.checks import Array
from understudy.formats.gltf.accessors import Accessors
from understudy.formats.gltf.document import Document
from understudy.formats.gltf.entry import Entry

UNSIGNED = (5121, 5123)
WEIGHTS = (5126, 5121, 5123)
# Sums this close to 1 are float32 rounding: such rows are kept bit by bit, through any number of round trips.
ROUNDING = 5e-7


@dataclass
class Binding:
    """Influences and weights of one primitive, as stored: (V, K) int, (V, K) float64 whose rows need not sum to one."""

    influences: Array
    weights: Array


def skin_joints(document: Document) -> list[list[int]]:
    """The nodes that each skin of the file names as its joints."""
    result = []
    for entry in document.list("skins"):
        joints = entry.indices("joints", len(document.list("nodes")))
        if not joints:
            raise entry.bad("joints", "is missing or empty, but a skin needs at least one joint")
        if len(set(joints)) < len(joints):
            twice = next(joint for joint in joints if joints.count(joint) > 1)
            raise entry.bad("joints", f"should be distinct, but hold node {twice} twice")
        result.append(joints)
    return result


def inverse_binds(document: Document, accessors: Accessors, index: int, count: int) -> Array:
    """(B, 4, 4) joint_from_mesh of the B joints of a skin; the identity where the file gives none."""
    entry = document.list("skins")[index]
    number = document.reference(entry, "inverseBindMatrices", "accessors")
    if number is None:
        return np.tile(np.eye(4), (count, 1, 1))
    place = (*entry.place, "inverseBindMatrices")
    flat = accessors.floats(number, ("MAT4",), place, dtype=np.float64)
    if len(flat) < count:
        raise entry.bad("inverseBindMatrices", f"holds {len(flat)} matrices, but there are {count} joints")
    matrices = flat[:count].reshape(-1, 4, 4).swapaxes(1, 2)
    # 1e-5: float32 products of exporters; a larger last row would be a projection, which a skin cannot be
    if np.abs(matrices[:, 3] - (0, 0, 0, 1)).max() > 1e-5:
        document.note("inverse bind matrices with a last row other than 0 0 0 1 were made affine")
    matrices[:, 3] = (0, 0, 0, 1)
    return matrices


def read_binding(document: Document, accessors: Accessors, attributes: Entry, vertices: int) -> Binding | None:
    """All JOINTS_n and WEIGHTS_n of a primitive, or None where it has none."""
    sets: list[tuple[Array, Array]] = []
    while f"JOINTS_{len(sets)}" in attributes and f"WEIGHTS_{len(sets)}" in attributes:
        n = len(sets)
        joints_at = document.reference(attributes, f"JOINTS_{n}", "accessors")
        weights_at = document.reference(attributes, f"WEIGHTS_{n}", "accessors")
        assert joints_at is not None and weights_at is not None  # both were just found there
        joints, _ = accessors.raw(joints_at, ("VEC4",), UNSIGNED, (*attributes.place, f"JOINTS_{n}"))
        place = (*attributes.place, f"WEIGHTS_{n}")
        weights = accessors.floats(weights_at, ("VEC4",), place, WEIGHTS, np.float64)
        for key, found in ((f"JOINTS_{n}", joints), (f"WEIGHTS_{n}", weights)):
            if len(found) != vertices:
                raise attributes.bad(key, f"has {len(found)} elements, but POSITION has {vertices}")
        sets.append((joints, weights))
    if not sets:
        return None
    document.take(48 * vertices * len(sets), attributes.place)
    influences = np.concatenate([joints for joints, _ in sets], axis=1).astype(np.int64)
    weights = np.concatenate([weights for _, weights in sets], axis=1)
    if weights.min() < 0:
        document.count("negative skin weights were set to zero ({})", int(np.sum(weights < 0)))
        weights = np.maximum(weights, 0)
    influences[weights == 0] = 0
    used = np.flatnonzero((weights > 0).any(axis=0))
    needed = int(used[-1]) + 1 if used.size else 1
    return Binding(influences[:, :needed], weights[:, :needed])


def make_skin(
    document: Document, binding: Binding, joints: Array, binds: Array, attributes: Entry
) -> tuple[Skin, int, float]:
    """A skin on skeleton joints (B,), how many vertices had to be normalised, and the largest sum of weights."""
    if binding.influences.max() >= len(joints):
        vertex = int(np.argmax((binding.influences >= len(joints)).any(axis=1)))
        worst = int(binding.influences[vertex].max())
        raise attributes.bad(
            "JOINTS_0", f"of vertex {vertex} holds joint {worst}, but its skin has {len(joints)} joints"
        )
    weights, changed = Skin.normalise(binding.weights)
    total = binding.weights.sum(axis=1)
    rounded = np.abs(total - 1) <= ROUNDING
    weights[rounded] = binding.weights[rounded]
    document.take(2 * weights.nbytes + 2 * binds.nbytes, attributes.place)
    return Skin(joints, binds, binding.influences, weights), changed, float(total.max())
