"""How a sculpture's skin hangs on joints, from the tags of its solids.

With d_j the distance to the nearest solid of joint j and b_j the width of its border,

    w_j = S(1 - (d_j - min d) / b_j),   S the smoothstep,

which is then diffused over the mesh, so that nothing leaks across air. At most four joints hold a vertex: the fifth
largest weight is taken off all, which stays continuous; cutting it off would draw wrinkles.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.cast.joints import twin
from understudy.cast.sculpting.clay import Clay
from understudy.cast.sculpting.meshing import Skinned
from understudy.cast.sculpting.ramps import ramp
from understudy.cast.sculpting.smoothing import average
from understudy.checks import Array

MOST = 4  # joints a vertex: what every viewer of glTF must support
KEPT = 0.4  # of a vertex's own weights in each round of diffusion


def borders(clay: Clay, points: Array, widths: Mapping[str, float], usual: float) -> dict[str, Array]:
    """Joint -> (M,) weights of points (M, 3) before diffusion, not yet of sum one; `widths` are metres by joint."""
    left = points[:, 0] >= 0
    away: dict[str, Array] = {}
    for tag in clay.tags:
        d = clay.near(points, tag)
        if twin(tag) == tag:
            away[tag] = d
        else:
            away[tag], away[twin(tag)] = np.where(left, d, 9.0), np.where(left, 9.0, d)
    nearest = np.min(list(away.values()), axis=0)
    return {
        joint: ramp(0.0, 1.0, 1 - (d - nearest) / widths.get(joint, widths.get(_left(joint), usual)))
        for joint, d in away.items()
    }


def _left(joint: str) -> str:
    return joint.replace("Right", "Left", 1) if joint.startswith("Right") else joint.replace("RThumb", "LThumb")


def hold(
    clay: Clay, mesh: Skinned, usual: float, widths: Mapping[str, float] | None = None, rounds: int = 12
) -> dict[str, Array]:
    """Joint -> (V,) weights of the skin, at most MOST a vertex, summing to one, the same on both sides."""
    dense = borders(clay, mesh.vertices, widths or {}, usual)
    joints = list(dense)
    table = np.stack(list(dense.values()), axis=1)
    mean = average(mesh.triangles, len(table))
    for _ in range(rounds):
        table = KEPT * table + (1 - KEPT) * (mean @ table)
    if (mesh.mirror != np.arange(len(table))).any():
        other = [joints.index(_other(joint)) for joint in joints]
        table = 0.5 * (table + table[:, other][mesh.mirror])  # the same sums in the same order on both sides
    return {joint: share for joint, share in zip(joints, fewest(table).T) if share.any()}


def _other(joint: str) -> str:
    return twin(joint) if twin(joint) != joint else _left(joint)


def fewest(table: Array) -> Array:
    """Weights (V, J) with at most MOST a row, of sum one, in steps of 1/1024 that keep the file small."""
    if table.shape[1] > MOST:
        table = np.maximum(table - np.sort(table, axis=1)[:, [-MOST - 1]], 0.0)
    table = np.round(1024 * table / table.sum(axis=1, keepdims=True))
    row = np.arange(len(table))
    table[row, table.argmax(axis=1)] += 1024 - table.sum(axis=1)
    return table / 1024
