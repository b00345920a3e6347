"""The compiled twin of `requests.measured_slowly`, for skeletons and for layered rigs: all steps of one sample, then
those of the next.

One call instead of five, and nothing larger than a sample in memory: a drag measures fifty times.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.keyframes.cage import Cage
from understudy.keyframes.gap_kernels import gap
from understudy.keyframes.layered_kernels import components, one
from understudy.keyframes.layered_rules import Rules
from understudy.keyframes.pieces import Grid, Pieces
from understudy.keyframes.pieces_kernels import row_one, sample_one
from understudy.keyframes.skeletal import Anchors, Bones, Frames
from understudy.keyframes.skeletal_kernels import frame, state
from understudy.maths.accelerate import compiled


@compiled(nogil=True)
def moved(start: Array, variable: Array, factor: Array, v: Array) -> Array:
    """(G, 4) the handles for variables v (N,): `Tangents.handles`."""
    handles = start.copy()
    for g in range(start.shape[0]):
        for c in range(4):
            if variable[g, c] >= 0:
                handles[g, c] += factor[g, c] * v[variable[g, c]]
    return handles


@compiled(nogil=True)
def put(own: Array, first_row: Array, residual: Array) -> None:
    """The gap (6,) of one request among the residuals (M,)."""
    for part in range(2):
        row = first_row[part]
        if row >= 0:
            for a in range(3):
                residual[row + a] = own[3 * part + a]


@compiled(nogil=True)
def measured(
    bones: Bones,
    anchors: Anchors,
    pieces: Pieces,
    grid: Grid,
    start: Array,
    variable: Array,
    factor: Array,
    v: Array,
    order: Array,
    first: Array,
    point: Array,
    parts: Array,
    place: Array,
    turn: Array,
    first_row: Array,
    size: float,
    gaps: Array,
    residual: Array,
    matrix: Array,
) -> None:
    """Gaps (R, 6), residual (M,) and, unless it is empty, a zeroed matrix (M, N), for variables v (N,).

    The requests of sample k are order[first[k] : first[k + 1]].
    """
    handles = moved(start, variable, factor, v)
    joints, columns, slopes = bones.parents.size, grid.fixed.shape[1], matrix.size > 0
    values, by_handle = np.empty(columns), np.empty((columns, 4))
    three, nine = np.empty((3, 1, joints, 3)), np.empty((3, 1, joints, 3, 3))
    at = Frames(three[0], nine[0], three[1], np.empty((1, joints, 4, 3)), nine[1], three[2], nine[2])
    y, position, orientation = np.empty(3), np.empty((1, 3)), np.empty((1, 3, 3))
    jacobian, scale = np.empty((1, 6, columns)), np.array([1.0 / size, 1.0])
    for k in range(grid.times.size):
        if first[k] == first[k + 1]:
            continue
        sample_one(pieces, handles, grid, k, slopes, values, by_handle)
        frame(bones, values, 0, at)
        for n in range(first[k], first[k + 1]):
            r = order[n]
            position[:] = 0.0
            if slopes:
                jacobian[:] = 0.0
            state(bones, anchors, at, values, 0, point[r], y, position, orientation, slopes, jacobian, 0)
            gap(parts[r], place[r], turn[r], position[0], orientation[0], size, gaps[r])
            put(gaps[r], first_row[r], residual)
            if slopes:
                row_one(jacobian[0], by_handle, grid.piece[k], variable, factor, first_row[r], scale, matrix)


@compiled(nogil=True)
def measured_layers(
    rules: Rules,
    cage: Cage,
    bones: Bones,
    anchors: Anchors,
    pieces: Pieces,
    grid: Grid,
    start: Array,
    variable: Array,
    factor: Array,
    v: Array,
    order: Array,
    first: Array,
    point: Array,
    parts: Array,
    place: Array,
    turn: Array,
    first_row: Array,
    size: float,
    gaps: Array,
    residual: Array,
    matrix: Array,
) -> None:
    """The same of a layered rig."""
    handles = moved(start, variable, factor, v)
    joints, columns, sloping = bones.parents.size, grid.fixed.shape[1], matrix.size > 0
    values, by_handle = np.empty(columns), np.empty((columns, 4))
    three, nine = np.empty((3, 1, joints, 3)), np.empty((3, 1, joints, 3, 3))
    at = Frames(three[0], nine[0], three[1], np.empty((1, joints, 4, 3)), nine[1], three[2], nine[2])
    q, p, slopes = np.empty(rules.start.size), np.empty(rules.place.size), np.empty(rules.column.size)
    y, position, orientation = np.empty(3), np.empty((1, 3)), np.empty((1, 3, 3))
    by_q, jacobian, scale = np.empty((1, 6, q.size)), np.empty((6, columns)), np.array([1.0 / size, 1.0])
    for k in range(grid.times.size):
        if first[k] == first[k + 1]:
            continue
        sample_one(pieces, handles, grid, k, sloping, values, by_handle)
        components(rules, values, p, q, slopes)
        frame(bones, q, 0, at)
        for n in range(first[k], first[k + 1]):
            r, own = order[n], point[order[n]]
            if sloping:
                jacobian[:] = 0.0
            one(
                rules,
                cage,
                bones,
                anchors,
                at,
                values,
                q,
                slopes,
                own,
                y,
                position,
                orientation,
                sloping,
                by_q,
                jacobian,
            )
            gap(parts[r], place[r], turn[r], position[0], orientation[0], size, gaps[r])
            put(gaps[r], first_row[r], residual)
            if sloping:
                row_one(jacobian, by_handle, grid.piece[k], variable, factor, first_row[r], scale, matrix)
