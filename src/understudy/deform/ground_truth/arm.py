"""The arm: upper arm, forearm and hand, with a biceps that shortens and bulges, a triceps that is stretched, and flesh
that keeps its volume.

It lies along +X with the biceps up (+Y). The elbow bends about +Z to 150 degrees, the wrist twists about +X to 180.
The flesh is solved as an elastic body (see `elastic`): bones are rigid, the forearm's core is free to twist, the tip of
the elbow belongs to the forearm, and upper arm and forearm may press against each other in the crease, where the plane
that halves the elbow's angle keeps them apart. The length of a muscle follows from its attachments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.deform.examples import Examples
from understudy.deform.ground_truth import elastic
from understudy.deform.ground_truth.elastic import Tube, tube
from understudy.deform.ground_truth.relax import relax_body
from understudy.maths.jit import one_blas_thread

UPPER_ARM_BONE, FOREARM_BONE, HAND_BONE = 0, 1, 2
BONE_NAMES = ("upper arm", "forearm", "hand")
ELBOW_METRES = np.array([0.0, 0.006, 0.0])  # the axis lies in front of the shaft
WRIST_METRES = np.array([0.24, 0.0, 0.0])
SHOULDER_METRES = np.array([-0.28, 0.0, 0.0])
SHEAR_MODULUS_PA = 5e3  # of passive flesh
MUSCLE_STIFFNESS_RATIO = 6.0  # shear modulus of muscle, of that of flesh
TENDON_STIFFNESS_RATIO = 6.0  # of the forearm at the wrist, where it becomes tendons
SKIN_STIFFNESS_RATIO = 2.5  # of skin: without it the crease is unstable

# Bulk over shear modulus: Poisson's ratio 0.455, as near to incompressible as keeps the solve quick.
BULK_TO_SHEAR_RATIO = 10.0
CONTACT_STIFFNESS_PA_PER_M = 3e7  # upper arm and forearm press into each other by about a millimetre

# x, and the distance of the skin from the axis in front (biceps), behind and at the sides, metres
ARM_PROFILE_METRES = np.array(
    [
        [-0.280, 0.048, 0.046, 0.043],
        [-0.220, 0.050, 0.047, 0.043],
        [-0.150, 0.049, 0.045, 0.041],
        [-0.080, 0.041, 0.040, 0.039],
        [-0.030, 0.035, 0.036, 0.041],
        [0.000, 0.033, 0.036, 0.043],
        [0.030, 0.035, 0.036, 0.044],
        [0.080, 0.038, 0.036, 0.043],
        [0.150, 0.032, 0.031, 0.037],
        [0.250, 0.022, 0.022, 0.029],
    ]
)
RING_RADIUS_RATIOS = np.array([0.25, 0.5, 0.77, 1.0])


@dataclass(frozen=True)
class Resolution:
    """Resolution of a limb, and accuracy of its solution."""

    around: int = 20  # nodes of a ring
    stations: int = 43
    steps: int = 6  # from rest to the pose
    short: int = 12  # iterations in each step
    long: int = 80  # iterations in the last
    tolerance: float = 2e-5  # metres, of the last iteration


def poses() -> Array:
    """(P, 2) bend and twist of the usual set, radians: bends, twists and both together, the extremes among them."""
    bends = np.radians(np.concatenate([np.arange(0.0, 151.0, 12.5), [6.0, 31.0, 81.0, 131.0]]))
    twists = np.radians([-90.0, -45.0, 45.0, 90.0, 135.0, 180.0])
    both = np.radians([[30, 60], [60, -60], [60, 120], [90, 90], [90, 180], [120, -45], [120, 90], [150, 180]])
    alone = np.concatenate([np.stack([bends, 0 * bends], axis=1), np.stack([0 * twists, twists], axis=1)])
    return np.concatenate([alone, both])


def solve_arm(angles: ArrayLike | None = None, fineness: Resolution | None = None) -> Examples:
    """Examples of the arm in the poses `angles` (P, 2): bend at the elbow and twist at the wrist, radians."""
    given = checks.array(poses() if angles is None else angles, "angles of the arm", ("P", 2))
    fine = fineness or Resolution()
    shape = _shape(fine)
    solid = _body(shape)

    def bones_at(t: float) -> Array:
        return transforms(t * given) @ _inverse_binds()

    def load_at(t: float) -> elastic.ElasticLoad:
        half = 0.5 * t * given[:, 0]
        normals = np.stack([np.cos(half), np.sin(half), 0 * half])
        return elastic.ElasticLoad(
            muscle_lengths(t * given[:, 0]), normals, np.repeat(ELBOW_METRES[:, None], len(given), 1)
        )

    with one_blas_thread():
        x, _ = relax_body(solid, bones_at, load_at, fine.steps, fine.short, fine.long, fine.tolerance)
    return examples_of(shape, x, transforms(given), _inverse_binds(), (0.03, 0.022), BONE_NAMES)


def examples_of(
    shape: Tube,
    x: Array,
    bones: Array,
    inverse_binds: Array,
    bulges: tuple[float, float],
    names: tuple[str, ...],
) -> Examples:
    """Examples from solved nodes x (N, 3, P) of a chain of bones (P, B, 4, 4), whose first and last carry the caps."""
    rest = elastic.refine_ring(shape.nodes[shape.surface][None])[0]
    posed = elastic.refine_ring(x[shape.surface].transpose(3, 0, 1, 2))
    moved = bones @ inverse_binds
    vertices, meshes = elastic.close_with_caps(rest, posed, moved[:, 0], moved[:, -1], bulges)
    faces = elastic.tube_triangles(rest.shape[0] + 2 * elastic.CAP_ROW_COUNT, rest.shape[1])
    parents = np.arange(len(inverse_binds)) - 1
    return Examples(vertices, faces, inverse_binds, bones, meshes, parents, names=names)


def transforms(angles: Array) -> Array:
    """(P, 3, 4, 4) world_from_joint of upper arm, forearm and hand, of bend and twist (P, 2)."""
    out = np.zeros((len(angles), 3, 4, 4))
    out[:] = np.eye(4)
    out[:, UPPER_ARM_BONE, :3, 3] = SHOULDER_METRES
    c, s = np.cos(angles[:, 0]), np.sin(angles[:, 0])
    forearm = out[:, FOREARM_BONE]
    forearm[:, 0, 0], forearm[:, 0, 1], forearm[:, 1, 0], forearm[:, 1, 1] = c, -s, s, c
    forearm[:, :3, 3] = ELBOW_METRES
    hand = np.zeros((len(angles), 4, 4))
    hand[:] = np.eye(4)
    c, s = np.cos(angles[:, 1]), np.sin(angles[:, 1])
    hand[:, 1, 1], hand[:, 1, 2], hand[:, 2, 1], hand[:, 2, 2] = c, -s, s, c
    hand[:, :3, 3] = WRIST_METRES - ELBOW_METRES
    out[:, HAND_BONE] = out[:, FOREARM_BONE] @ hand
    return out


def _inverse_binds() -> Array:
    return np.linalg.inv(transforms(np.zeros((1, 2)))[0])


def muscle_lengths(bend: Array) -> Array:
    """(2, P) lengths of biceps and triceps as a part of their lengths at rest.

    Each runs from the shoulder to a point of the forearm, the biceps in front of the elbow's axis and the triceps
    around the back of it; tendons are 35 % of the path at rest and do not change.
    """
    origin = np.array([-0.24, 0.02]) - ELBOW_METRES[:2]
    insertion = np.array([0.045, -0.004])
    c, s = np.cos(bend), np.sin(bend)
    path = np.hypot(
        origin[0] - (c * insertion[0] - s * insertion[1]), origin[1] - (s * insertion[0] + c * insertion[1])
    )
    rest = np.hypot(*(origin - insertion))
    lever, back = 0.022, 0.25  # the triceps winds around the back of the elbow
    biceps, triceps = (path / rest - 0.35) / 0.65, 1 + lever * bend / (0.65 * back)
    return np.stack([biceps, np.minimum(triceps, 1.4)])


def _shape(fine: Resolution) -> Tube:
    from scipy.interpolate import PchipInterpolator

    # stations three times as dense at the elbow as at the ends
    even = np.linspace(-1.0, 1.0, fine.stations)
    spread = np.sign(even) * (0.4 * np.abs(even) + 0.6 * np.abs(even) ** 2.2)
    along = np.where(spread < 0, -SHOULDER_METRES[0] * spread, 0.255 * spread)
    front, back, side = PchipInterpolator(ARM_PROFILE_METRES[:, 0], ARM_PROFILE_METRES[:, 1:], extrapolate=True)(
        along
    ).T
    angle = 2 * np.pi * np.arange(fine.around) / fine.around
    up, out = np.cos(angle), np.sin(angle)
    half = np.where(up >= 0, front[:, None], back[:, None])
    radii = 1.0 / np.sqrt((up / half) ** 2 + (out / side[:, None]) ** 2)
    return tube(along, radii, RING_RADIUS_RATIOS)


def _body(shape: Tube) -> elastic.ElasticBody:
    nodes = shape.nodes
    middle = nodes[shape.elements()].mean(axis=1)
    muscles = (
        _spindle(middle, (-0.145, 0.024, 0.0), (0.1, 0.027, 0.033)),
        _spindle(middle, (-0.15, -0.022, 0.0), (0.12, 0.02, 0.034)),
    )
    t = np.clip((middle[:, 0] - 0.08) / (WRIST_METRES[0] - 0.08), 0.0, 1.0)
    ring = np.tile(np.repeat(np.arange(shape.rings), shape.around), shape.stations - 1)
    shear = SHEAR_MODULUS_PA * (
        1
        + (SKIN_STIFFNESS_RATIO - 1) * (ring == shape.rings - 1)
        + (MUSCLE_STIFFNESS_RATIO - 1) * np.sum(muscles, axis=0)
        + (TENDON_STIFFNESS_RATIO - 1) * t * t * (3 - 2 * t)
    )
    return elastic.build_body(
        shape, _bones(shape), shear, BULK_TO_SHEAR_RATIO * shear, *_sides(shape), muscles, CONTACT_STIFFNESS_PA_PER_M
    )


def _spindle(points: Array, centre: tuple[float, ...], half: tuple[float, ...]) -> Array:
    """(E,) how much of each point is muscle: 1 inside an ellipsoid, fading to 0 over its outer third."""
    far = np.sqrt(np.sum(((points - centre) / np.array(half)) ** 2, axis=1))
    return np.clip((1.15 - far) / 0.4, 0.0, 1.0)


def _bones(shape: Tube) -> Array:
    """(N,) the bone of each node: shafts that taper to the elbow, its tip, the ulna, the forearm's axis, the ends."""
    bone = np.full(len(shape.nodes), -1)
    x = shape.nodes[:, 0]
    centre, ring = shape.grid()
    core = np.zeros(len(shape.nodes), bool)
    core[ring[:, 0]] = True
    axis = np.zeros(len(shape.nodes), bool)
    axis[centre] = True
    bone[(axis & (x < -0.012)) | (core & (x < -0.035))] = UPPER_ARM_BONE
    bone[(axis & (x > 0.012) & (x < 0.23)) | (core & (x > 0.035) & (x < 0.07))] = FOREARM_BONE
    behind = shape.nodes[:, 1] < -0.8 * np.hypot(shape.nodes[:, 1], shape.nodes[:, 2])
    second = np.zeros(len(shape.nodes), bool)
    second[ring[:, 1]] = True
    bone[second & behind & (x > -0.016) & (x < 0.012)] = FOREARM_BONE
    bone[second & (shape.nodes[:, 1] < -0.008) & (x > 0.02) & (x < 0.09)] = FOREARM_BONE
    bone[x <= x.min() + 1e-9] = UPPER_ARM_BONE
    bone[x >= 0.24] = HAND_BONE
    return bone


def _sides(shape: Tube) -> tuple[Array, Array]:
    """(N,) on which side of the crease's plane the skin in front has to stay, and (N,) whether on the plane itself."""
    side, crease = np.zeros(len(shape.nodes)), np.zeros(len(shape.nodes), bool)
    skin = shape.surface.ravel()
    node = shape.nodes[skin]
    front = node[:, 1] > 0.1 * np.hypot(node[:, 1], node[:, 2])
    side[skin] = np.where(front, np.sign(np.round(node[:, 0], 6)), 0.0)
    crease[skin] = front & (side[skin] == 0)
    return side, crease
