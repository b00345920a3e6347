"""The cylinder: two bones in a round bar of flesh, for the twist that collapses linear blending, and a plain bend.

It lies along +X, the joint in its middle. The second bone twists about +X to 180 degrees and bends about +Z to 75,
where it begins to touch itself. The bones end a radius before the joint; the flesh between them is solved, not
prescribed (see `elastic`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.deform.examples import Examples
from understudy.deform.ground_truth import elastic
from understudy.deform.ground_truth.arm import Resolution, examples_of
from understudy.deform.ground_truth.elastic import Tube, tube
from understudy.deform.ground_truth.relax import relax_body
from understudy.maths.jit import one_blas_thread

RADIUS_METRES, HALF_LENGTH_METRES = 0.05, 0.3
SHEAR_MODULUS_PA, BULK_TO_SHEAR_RATIO = 5e3, 10.0
RING_RADIUS_RATIOS = np.array([0.3, 0.65, 1.0])
FIRST_BONE, SECOND_BONE = 0, 1


def poses() -> Array:
    """(P, 2) bend and twist, radians: twists every 15 degrees to 180, bends to 75, and some of both."""
    twists = np.radians(np.arange(0.0, 181.0, 15.0))
    bends = np.radians([15.0, 30.0, 45.0, 60.0, 75.0])
    both = np.radians([[30, 60], [45, 120], [60, 90], [75, 45]])
    return np.concatenate([np.stack([0 * twists, twists], axis=1), np.stack([bends, 0 * bends], axis=1), both])


def solve_cylinder(angles: ArrayLike | None = None, fineness: Resolution | None = None) -> Examples:
    """Examples of the cylinder in the poses `angles` (P, 2): bend and twist of the second bone, radians."""
    given = checks.array(poses() if angles is None else angles, "angles of the cylinder", ("P", 2))
    fine = fineness or Resolution(stations=41, steps=4, long=60)
    shape = _shape(fine)
    solid = _body(shape)
    binds = np.linalg.inv(transforms(np.zeros((1, 2)))[0])

    def bones_at(t: float) -> Array:
        return transforms(t * given) @ binds

    def load_at(t: float) -> elastic.ElasticLoad:
        still = np.zeros((3, len(given)))
        return elastic.ElasticLoad(np.zeros((0, len(given))), still, still)

    with one_blas_thread():
        x, _ = relax_body(solid, bones_at, load_at, fine.steps, fine.short, fine.long, fine.tolerance)
    return examples_of(shape, x, transforms(given), binds, (0.03, 0.03), ("first", "second"))


def transforms(angles: Array) -> Array:
    """(P, 2, 4, 4) world_from_joint, of bend and twist (P, 2): the second bone twists, then bends."""
    out = np.zeros((len(angles), 2, 4, 4))
    out[:] = np.eye(4)
    out[:, FIRST_BONE, 0, 3] = -HALF_LENGTH_METRES
    c, s = np.cos(angles[:, 0]), np.sin(angles[:, 0])
    bend = np.zeros((len(angles), 3, 3))
    bend[:, 0, 0], bend[:, 0, 1], bend[:, 1, 0], bend[:, 1, 1], bend[:, 2, 2] = c, -s, s, c, 1.0
    c, s = np.cos(angles[:, 1]), np.sin(angles[:, 1])
    twist = np.zeros((len(angles), 3, 3))
    twist[:, 0, 0], twist[:, 1, 1], twist[:, 1, 2], twist[:, 2, 1], twist[:, 2, 2] = 1.0, c, -s, s, c
    out[:, SECOND_BONE, :3, :3] = bend @ twist
    return out


def _shape(fine: Resolution) -> Tube:
    even = np.linspace(-1.0, 1.0, fine.stations)
    along = HALF_LENGTH_METRES * (0.5 * even + 0.5 * np.sign(even) * np.abs(even) ** 2)
    return tube(along, np.full((fine.stations, fine.around), RADIUS_METRES), RING_RADIUS_RATIOS)


def _body(shape: Tube) -> elastic.ElasticBody:
    x = shape.nodes[:, 0]
    centre, ring = shape.grid()
    core = np.zeros(len(x), bool)
    core[centre], core[ring[:, 0]] = True, True
    inside = core & (np.abs(x) > RADIUS_METRES) | (np.abs(x) > HALF_LENGTH_METRES - 1e-9)
    bone = np.where(inside, np.where(x < 0, FIRST_BONE, SECOND_BONE), -1)
    count = len(shape.elements())
    nowhere = np.zeros(len(x))
    shear = np.full(count, SHEAR_MODULUS_PA)
    return elastic.build_body(shape, bone, shear, BULK_TO_SHEAR_RATIO * shear, nowhere, nowhere.astype(bool))
