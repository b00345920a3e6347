"""The actor's solids, in metres: a long-legged figure with a big head, big hands and big shoes.

Cuffs, collar and the ends of the trousers are rings, so that borders of colour sit on geometry.
"""

from __future__ import annotations

import numpy as np

from understudy.cast.actor.skeleton import JOINTS
from understudy.cast.sculpting.clay import Clay, Solid, above, bar, below, chain, ellipsoid, lopsided, ring
from understudy.cast.sculpting.patches import bezier
from understudy.checks import Array

PLACES: dict[str, Array] = {name: np.array(place) for name, (_, place) in JOINTS.items()}
FINGERS = ((0.048, 0.178, 0.0), (0.017, 0.198, 0.003), (-0.014, 0.190, 0.002), (-0.043, 0.166, -0.002))  # z, x, y


def between(a: str, b: str, share: float, offset: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> list[float]:
    """A place on the way from one joint to another, moved by an offset."""
    found: list[float] = (PLACES[a] + share * (PLACES[b] - PLACES[a]) + offset).tolist()
    return found


def at(joint: str, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> list[float]:
    """A place beside a joint."""
    found: list[float] = (PLACES[joint] + [x, y, z]).tolist()
    return found


def _trunk() -> list[Solid]:
    return [
        ellipsoid("Hips", (0, 1.145, 0.012), (0.182, 0.120, 0.142)),
        ellipsoid("LowerBack", (0, 1.255, 0.004), (0.168, 0.115, 0.130), 0.10),
        ellipsoid("Spine", (0, 1.360, -0.002), (0.178, 0.120, 0.135), 0.10),
        ellipsoid("Spine1", (0, 1.450, -0.012), (0.192, 0.105, 0.132), 0.10),
        bar("LeftShoulder", (0.08, 1.482, -0.018), (0.200, 1.506, -0.020), 0.088, 0.078, 0.09),
        bar("Neck", (0, 1.49, -0.01), (0, 1.575, 0.0), 0.070, 0.066, 0.05),
        bar("Neck1", (0, 1.575, 0), (0, 1.68, 0.008), 0.064, 0.062, 0.04),
        ring("Neck", (0, 1.568, -0.004), 0.064, 0.022, 0.018, (8, 0, 0)),
    ]


def _arm() -> list[Solid]:
    return [
        bar("LeftArm", at("LeftArm"), at("LeftForeArm"), 0.079, 0.066, 0.07),
        bar("LeftForeArm", at("LeftForeArm"), at("LeftHand", -0.02), 0.066, 0.054, 0.012),
        ring("LeftForeArm", at("LeftHand", -0.035), 0.047, 0.021, 0.014, (0, 0, 90)),
        ellipsoid("LeftHand", at("LeftHand", 0.062, -0.004, 0.004), (0.070, 0.034, 0.058), 0.02),
        *(bar("LeftHandIndex1", *finger, 0.0225, 0.0195, 0.012) for finger in _fingers()),
        bar("LThumb", at("LeftHand", 0.030, -0.006, 0.048), at("LeftHand", 0.092, -0.016, 0.108), 0.027, 0.0215, 0.018),
    ]


def _fingers() -> list[tuple[list[float], list[float]]]:
    """From where each begins in the palm to its tip."""
    return [(at("LeftHand", 0.095, y - 0.004, z), at("LeftHand", x, y - 0.012, 1.12 * z)) for z, x, y in FINGERS]


def _leg() -> list[Solid]:
    thigh = between("LeftUpLeg", "LeftLeg", 0.20, (0, 0, -0.030))
    calf = between("LeftLeg", "LeftFoot", 0.32, (0, 0, -0.020))
    return [
        bar("LeftUpLeg", at("LeftUpLeg", 0, 0.02), at("LeftLeg"), 0.126, 0.086, 0.07),
        ellipsoid("LeftUpLeg", thigh, (0.118, 0.16, 0.115), 0.06, (0, 0, 20)),
        bar("LeftLeg", at("LeftLeg"), between("LeftFoot", "LeftLeg", 0.14), 0.086, 0.064, 0.014),
        ellipsoid("LeftLeg", calf, (0.076, 0.16, 0.080), 0.05, (0, 0, 20)),
        ring("LeftLeg", between("LeftFoot", "LeftLeg", 0.17), 0.058, 0.026, 0.014, (0, 0, 20)),
        bar("LeftFoot", at("LeftFoot", 0, 0.015, -0.01), at("LeftFoot", 0.004, -0.010, 0.02), 0.058, 0.066, 0.03),
        ellipsoid("LeftFoot", at("LeftFoot", 0.008, -0.024, 0.060), (0.076, 0.064, 0.140), 0.03),
        ellipsoid("LeftToeBase", at("LeftToeBase", 0.004, 0.022, 0.040), (0.082, 0.062, 0.105), 0.05),
    ]


def _head() -> list[Solid]:
    return [
        ellipsoid("Head", (0, 1.830, 0.010), (0.180, 0.195, 0.190), 0.03),
        ellipsoid("Head", (0, 1.740, 0.050), (0.135, 0.100, 0.122), 0.09),  # jaw
        ellipsoid("Head", (0.092, 1.750, 0.092), (0.070, 0.062, 0.068), 0.06),  # cheek
        ellipsoid("Head", (0, 1.783, 0.205), (0.027, 0.024, 0.030), 0.03),  # nose
        ellipsoid("Head", (0.0662, 1.8200, 0.1340), (0.0582, 0.0582, 0.0582), 0.016),  # what the eye lies in
        ellipsoid("Head", (0.180, 1.795, -0.002), (0.022, 0.046, 0.034), 0.02, (0, -20, -8)),  # ear
    ]


BODY = Clay((*_trunk(), *_arm(), *_leg(), *_head(), above(0.004, 0.010)))

LOCKS = (
    ((0.06, 2.015, 0.06), (0.02, 2.045, 0.15), (-0.07, 2.01, 0.19), (-0.150, 1.915, 0.150)),
    ((0.06, 2.015, 0.04), (-0.04, 2.07, 0.10), (-0.155, 2.00, 0.10), (-0.195, 1.865, 0.075)),
    ((0.06, 2.01, 0.06), (0.105, 2.015, 0.145), (0.155, 1.97, 0.130), (0.172, 1.885, 0.110)),
    ((0.04, 2.01, 0.0), (0.0, 2.09, -0.06), (-0.03, 2.115, -0.12), (-0.02, 2.115, -0.17)),
)


def _hair() -> list[Solid]:
    """A cap that is open over the face and below the nape, and four locks."""
    t = np.linspace(0.0, 1.0, 48)
    radii = 0.9 * 0.064 * (1 - t**1.6) + 0.006
    cap = [
        ellipsoid("Head", (0, 1.852, -0.010), (0.196, 0.192, 0.198)),
        ellipsoid("", (0, 1.765, 0.185), (0.176, 0.152, 0.160), 0.03, way="carve"),
        below((0, 1.795, -0.03), 0.03, (156.0, 0, 0)),
    ]
    return lopsided([*cap, *(solid for lock in LOCKS for solid in chain("Head", bezier(lock, t), radii, 0.03))])


HAIR = Clay(tuple(_hair()))
