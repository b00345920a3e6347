"""How far each control moves the mesh, so that principal components are about what is seen [Bailey 2016, section 4.1].

Controls come in degrees, metres and weights; a brow that moves the face by a millimetre and a neck that moves it by a
hand's breadth may vary by the same number. Scaled by its influence w, a unit of a control is a unit of the mesh.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy.checks import Array

STEPS = np.array([-2.0, -1.0, 1.0, 2.0])  # of the standard deviation; at 0 both sides of eq. 3 are zero
BLOCK = 64  # rows evaluated at once: 17 MB for a mesh of 22,000 vertices


def influence(vertices: Callable[[Array], Array], mean: Array, deviation: Array) -> Array:
    """(C,) the norm of the mesh's derivative with respect to each control, about the mean pose [Bailey 2016, eq. 3].

        w_i = argmin_w  sum_n ( |e(p) - e(p + n s_i)| - w |n s_i| )^2  =  sum_n |n| d_n / (s_i sum_n n^2)

    with d_n the distance of the two meshes and n = -2 ... 2. `vertices` maps rows (F, C) to meshes (F, V, 3), `mean`
    (C,) and `deviation` (C,) are those of the animation. A control that never moves has no influence, 0; the printed
    equation is 0 / 0 there.
    """
    result = np.zeros(len(mean))
    moving = np.flatnonzero(deviation > 0)
    centre = np.asarray(vertices(mean[None])[0], np.float64)
    controls = np.repeat(moving, len(STEPS))
    offsets = np.tile(STEPS, len(moving)) * deviation[controls]
    distance = np.empty(len(controls))
    for start in range(0, len(controls), BLOCK):
        chosen = slice(start, start + BLOCK)
        rows = np.tile(mean, (len(controls[chosen]), 1))
        rows[np.arange(len(rows)), controls[chosen]] += offsets[chosen]
        distance[chosen] = np.sqrt(np.square(vertices(rows) - centre).sum(axis=(1, 2)))
    weighted = (np.abs(STEPS) * distance.reshape(-1, len(STEPS))).sum(axis=1)
    result[moving] = weighted / (deviation[moving] * np.square(STEPS).sum())
    return result
