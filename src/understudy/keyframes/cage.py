"""The lattice of a layered rig about a point of its skin, with derivatives.

    y = L (u + d(u, o)),        u = L^-1 x,        L = world_from_joint joint_from_rest of the lattice's joint

x is the point as shapes and joints have it, d the free-form deformation of `deform.lattice`, o = gain (c - rest) what
the controls do to the lattice's points. With A the linear part of L and z(w) a point fixed to the joint at w,

    dy = A (1 + dd/du) A^-1 (dx - dz(u)) + dz(u + d) + A (dd/do) do.

`bent` is the NumPy form, and what `layered_kernels.bend` is tested against.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.deform import lattice
from understudy.keyframes import skeletal
from understudy.keyframes.layered_rules import Rules
from understudy.keyframes.skeletal import Bones, Frames
from understudy.rig import LayeredRig

MARGIN = 1.0  # cells beyond what a control reaches at rest: less than that do other layers move a point


class Cage(NamedTuple):
    """The N animated controls of a lattice; none where it does nothing."""

    bone: int  # that of its joint, among the bones
    joint_from_rest: Array  # (3, 4)
    low: Array  # (3,) of the box, in the world at rest
    cell: Array  # (3,) its cells' size
    counts: Array  # (3,) int, its points
    point: Array  # (N, 3) int, the point that each moves
    axis: Array  # (N,) int
    column: Array  # (N,) int
    gain: Array  # (N,)
    inside: Array  # (P,) bool, of the character's points those that it bends: vertices


def animated(rig: LayeredRig, columns: Mapping[int, int]) -> list[int]:
    """The controls of a rig's lattice that an animation moves."""
    known = rig.layers.lattice
    return [] if known is None else [int(c) for c in np.unique(known.control) if int(c) in columns]


def cage_of(rig: LayeredRig, number: Mapping[int, int], bone: int, inside: Array) -> Cage:
    """The lattice with its controls by column: `number` has those that are animated."""
    known = rig.layers.lattice
    if known is None or not inside.any():
        none = np.zeros(0, np.int64)
        empty = np.zeros((0, 3), np.int64), none, none, np.zeros(0)
        return Cage(-1, np.eye(4)[:3], np.zeros(3), np.ones(3), np.ones(3, np.int64), *empty, inside)
    used = np.array([int(c) in number for c in known.control], bool)
    origin, joint_from_rest = rig.at_rest(known.joint)
    return Cage(
        bone,
        joint_from_rest[:3].copy(),
        origin + known.low,
        lattice.cell_size(known.low, known.high, known.counts),
        np.array(known.counts, np.int64),
        np.stack(np.unravel_index(known.point[used], known.counts), axis=1).astype(np.int64),
        known.axis[used].copy(),
        np.array([number[int(c)] for c in known.control[used]], np.int64),
        known.gain[used].copy(),
        inside,
    )


def touches(cage: Cage, rest: Array, columns: int) -> Array:
    """(n,) bool: the columns whose lattice points can reach a vertex that is at `rest` (3,)."""
    result = np.zeros(columns, bool)
    t = (rest - cage.low) / cage.cell - cage.point
    result[cage.column[((t > -MARGIN) & (t < 3 + MARGIN)).all(axis=1)]] = True
    return result


def bent(
    cage: Cage, rules: Rules, bones: Bones, at: Frames, values: Array, x: Array, by_q: Array
) -> tuple[Array, Array, Array]:
    """Of points x (M, 3) with derivatives (M, 3, Q): y, its derivatives, and those by the lattice's columns (M, 3, n).

    `at` and the columns' values (M, n) are of the M points.
    """
    linear, origin = at.linear[:, cage.bone], at.origin[:, cage.bone]
    j = cage.joint_from_rest
    a = linear @ j[:, :3]
    inverse = np.linalg.inv(a)
    u = np.einsum("mab,mb->ma", inverse, x - origin - linear @ j[:, 3])
    weight, slope = _weights((u - cage.low) / cage.cell, cage)
    offset = (np.clip(values, rules.low, rules.high) - rules.rest)[:, cage.column] * cage.gain  # (M, N)
    unit = np.eye(3)[cage.axis]  # (N, 3)
    d = np.einsum("mk,mk,ka->ma", offset, weight, unit)
    grown = np.eye(3) + np.einsum("mk,ka,mkb->mab", offset, unit, slope)
    still, moved = (skeletal.climbed(bones, at, cage.bone, w @ j[:, :3].T + j[:, 3], by_q.shape[2]) for w in (u, u + d))
    by_columns = np.zeros((len(x), 3, values.shape[1]))
    free = (values >= rules.low) & (values <= rules.high)
    for k, column in enumerate(cage.column):
        by_columns[:, :, column] += (weight[:, k] * cage.gain[k] * free[:, column])[:, None] * a[:, :, cage.axis[k]]
    position = x + np.einsum("mab,mb->ma", a, d)
    return position, a @ grown @ inverse @ (by_q - still) + moved, by_columns


def _weights(cells: Array, cage: Cage) -> tuple[Array, Array]:
    """(M, N) how much each control's point moves what is at `cells` (M, 3), and the derivatives (M, N, 3) by metres."""
    t = cells[:, None] - cage.point
    value = np.select([(t >= 0) & (t < 1), (t >= 1) & (t < 2), (t >= 2) & (t < 3)], _spline(t), 0.0)
    slope = np.select([(t >= 0) & (t < 1), (t >= 1) & (t < 2), (t >= 2) & (t < 3)], [t, 3 - 2 * t, t - 3], 0.0)
    others = [value[..., 1] * value[..., 2], value[..., 0] * value[..., 2], value[..., 0] * value[..., 1]]
    return value.prod(axis=2), slope * np.stack(others, axis=-1) / cage.cell


def _spline(t: Array) -> list[Array]:
    return [t * t / 2, (-2 * t * t + 6 * t - 3) / 2, (3 - t) ** 2 / 2]
