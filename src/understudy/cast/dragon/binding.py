"""How the skin hangs on the joints: the neck bends as one smooth curve, the jaw opens, the mouth's corners can be led.

    w_jaw(p) = S(-1 .. 1, (m - y) / b) S(-.22 -> .09, z) S(-.47 -> -.33, y)

m is the lips' sheet, b how abruptly the jaw takes over: at once between the lips, softly behind the corner. Smoothing
over the mesh then evens it out; lips in front of the corner are held, and since they are not connected there, upper and
lower stay apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.cast.dragon.measures import CORNER, CORNER_Z, JOINTS
from understudy.cast.sculpting.ramps import ramp
from understudy.cast.sculpting.smoothing import smoothed
from understudy.checks import Array

CHAIN = ("Root", "Neck1", "Neck2", "Neck3", "Head")
MOST = 4  # joints a vertex: what every viewer of glTF must support
CORNER_SHARE = 0.45
CORNER_REACH = (0.17, 0.13, 0.19)  # HL


def jaw_weights(vertices: Array, depth: Array, sheet: Array, mean: Any) -> Array:
    """(V,) for unsealed vertices (V, 3) in HL, their depth under the closed skin (negative) and the lips' sheet."""
    y, z = vertices[:, 1], vertices[:, 2]
    width = 0.006 + 0.55 * np.clip(CORNER_Z + 0.01 - z, 0, 1)  # lips are at least this far from the sheet
    inside = 0.040 * ramp(-0.02, -0.05, depth) * ramp(CORNER_Z + 0.06, CORNER_Z - 0.02, z)
    share = ramp(-1, 1, (sheet - y) / np.maximum(width, inside))
    share = share * ramp(-0.22, CORNER_Z + 0.02, z) * ramp(-0.47, -0.33, y)
    return smoothed(share, mean, 25, z > CORNER_Z + 0.04)


def chain_weights(vertices: Array, mean: Any) -> Array:
    """(V, 5) of CHAIN, by the height along the neck; the face in front of it belongs to the head."""
    y, z = vertices[:, 1], vertices[:, 2]
    taken = np.ones((len(vertices), len(CHAIN) + 1))
    taken[:, -1] = 0.0
    for number, joint in enumerate(CHAIN[1:], 1):
        middle = JOINTS[joint][1][1]
        taken[:, number] = ramp(middle - 0.20, middle + 0.20, y)
    front = ramp(-0.10, 0.06, z) * ramp(-0.42, -0.30, y)
    taken[:, 1:-1] = taken[:, 1:-1] + (1 - taken[:, 1:-1]) * front[:, None]
    taken = smoothed(np.minimum.accumulate(taken, axis=1), mean, 40)
    return -np.diff(taken, axis=1)


def corner_weights(vertices: Array) -> Array:
    """(V,) of the left corner's joint."""
    return CORNER_SHARE * ramp(1.0, 0.0, np.linalg.norm((vertices - CORNER) / CORNER_REACH, axis=1))


def hold(vertices: Array, depth: Array, sheet: Array, mirror: Array, mean: Any) -> tuple[dict[str, Array], Array]:
    """Joint -> (V,) weights that sum to one, at most MOST a vertex; (V,) the jaw's own before corners take theirs."""
    jaw = jaw_weights(vertices, depth, sheet, mean)
    left = smoothed(corner_weights(vertices), mean, 6)
    chain = chain_weights(vertices, mean)
    rest = 1 - left - left[mirror]
    dense = {"Corner.L": left, "Corner.R": left[mirror], "Jaw": rest * jaw}
    dense |= {joint: rest * (1 - jaw) * chain[:, number] for number, joint in enumerate(CHAIN)}
    table = np.stack(list(dense.values()), axis=1)
    table = 0.5 * (table + _swapped(table, list(dense))[mirror])  # the same sums in the same order on both sides
    least = np.sort(table, axis=1)[:, -MOST][:, None]
    table = np.where((table >= least) & (table > 1e-4), table, 0.0)
    table /= table.sum(axis=1, keepdims=True)
    return {joint: table[:, number] for number, joint in enumerate(dense)}, jaw


def _swapped(table: Array, joints: list[str]) -> Array:
    """The table's columns with left and right exchanged."""
    other = {"L": "R", "R": "L"}
    twin = [joints.index(j[:-1] + other[j[-1]]) if j[-2:] in (".L", ".R") else k for k, j in enumerate(joints)]
    return table[:, twin]
