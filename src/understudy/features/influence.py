"""How far each control moves the mesh, so that principal components are about what is seen [Bailey 2016, section 4.1].

Controls come in degrees, metres and weights; a brow that moves the face by a millimetre and a neck that moves it by a
hand's breadth may vary by the same number. Scaled by its influence w, a unit of a control is a unit of the mesh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.features.encoder import TRAVEL, Encoder

STEPS = np.array([-2.0, -1.0, 1.0, 2.0])  # of the standard deviation; at 0 both sides of eq. 3 are zero
BLOCK = 64  # rows evaluated at once: 17 MB for a mesh of 22,000 vertices

TRAVEL_TIME = 0.2
"""Seconds. A velocity of the root moves nothing by itself: it counts as what it does to the mesh in this time, in which
a step is felt but not finished. At walking speed that is 0.25 m, as much as a foot swings from the hip."""


def influence(vertices: Callable[[Array], Array], mean: Array, deviation: Array) -> Array:
    """(C,) the norm of the mesh's derivative with respect to each control, about the mean pose [Bailey 2016, eq. 3].

        w_i = argmin_w  sum_n ( |e(p) - e(p + n s_i)| - w |n s_i| )^2  =  sum_n |n| d_n / (s_i sum_n n^2)

    with d_n the distance of the two meshes and n = -2 ... 2. `vertices` maps rows (F, C) to meshes (F, V, 3), `mean`
    (C,) and `deviation` (C,) are those of the animation. A control that never moves has no influence, 0; the printed
    equation is 0 / 0 there.
    """
    result = np.zeros(len(mean))
    moving = np.flatnonzero(deviation > 0)
    centre = vertices(mean[None])[0]
    controls = np.repeat(moving, len(STEPS))
    offsets = np.tile(STEPS, len(moving)) * deviation[controls]
    distance = np.empty(len(controls))
    for start in range(0, len(controls), BLOCK):
        chosen = slice(start, start + BLOCK)
        rows = np.tile(mean, (len(controls[chosen]), 1))
        rows[np.arange(len(rows)), controls[chosen]] += offsets[chosen]
        apart = (vertices(rows) - centre).reshape(len(rows), -1)
        # in the vertices' own precision: float32 is off by 3e-6 here, and float64 takes as long as the rig itself
        distance[chosen] = np.sqrt(np.einsum("fi,fi->f", apart, apart))
    weighted = (np.abs(STEPS) * distance.reshape(-1, len(STEPS))).sum(axis=1)
    result[moving] = weighted / (deviation[moving] * np.square(STEPS).sum())
    return result


def feature_influence(encoder: Encoder, rig: Any, features: Array) -> tuple[Array, int]:
    """(E,) the influence of each feature on the mesh, and of how many points that is; 0 for what is kept apart.

    About the mean of features (N, E) of all labels at once: eq. 3 once a label would take eight times as long and
    differs little, since both the mean and the deviations of eq. 3 are only where the slope is looked at. `rig` has
    `vertices`; that of a skeleton without meshes has `joints`, whose places are taken instead. Divided by the square
    root of the number of points it is metres of root mean square for each unit of a feature.
    """
    points = points_of(rig)
    mean = features.mean(axis=0)
    deviation = np.where(encoder.learned, features.std(axis=0), 0.0)
    travel = [i for i, name in enumerate(encoder.names) if name in TRAVEL]
    entries = [TRAVEL.index(encoder.names[i]) for i in travel]

    def seen(rows: Array) -> Array:
        grounds = np.zeros((len(rows), len(TRAVEL)))
        grounds[:, entries] = (rows[:, travel] - mean[travel]) * TRAVEL_TIME
        return points(encoder.place(rows, grounds))

    count = points(encoder.place(mean[None], np.zeros((1, len(TRAVEL))))).shape[1]
    return influence(seen, mean, deviation), count


def points_of(rig: Any) -> Callable[[Array], Array]:
    """What is seen of a rig: its vertices (F, V, 3), or the places of its joints (F, J, 3) where it has no mesh."""
    character = getattr(rig, "character", None)
    if character is None or character.vertex_count:
        vertices: Callable[[Array], Array] = rig.vertices
        return vertices
    return lambda rows: np.asarray(rig.joints(rows)[..., :3, 3])
