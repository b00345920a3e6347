"""The squirrel's solids, in metres: body, head with ears, limbs, and a tail as large as all the rest together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.cast import geometry
from understudy.cast.sculpting.clay import Clay, Solid, above, bar, chain, ellipsoid, lopsided
from understudy.cast.squirrel.skeleton import JOINTS
from understudy.checks import Array

TRUNK = (
    ellipsoid("Hips", (0, 0.25, -0.01), (0.152, 0.128, 0.140)),
    ellipsoid("Spine", (0, 0.355, 0), (0.138, 0.115, 0.125), 0.10),
    ellipsoid("Chest", (0, 0.465, 0), (0.122, 0.105, 0.110), 0.10),
    bar("Neck", (0, 0.53, 0), (0, 0.61, 0.01), 0.078, 0.080, 0.06),
)

EAR_HOLLOW = ellipsoid("", (0.123, 0.902, 0.036), (0.036, 0.048, 0.030), 0.014, (-4, 0, -18), "carve")
HEAD = (
    ellipsoid("Head", (0, 0.755, 0.010), (0.190, 0.168, 0.172), 0.07),
    ellipsoid("Head", (0.112, 0.690, 0.070), (0.112, 0.096, 0.100), 0.08),  # cheek
    ellipsoid("Head", (0, 0.692, 0.142), (0.080, 0.056, 0.062), 0.06),  # muzzle
    ellipsoid("Head", (0.030, 0.684, 0.190), (0.042, 0.035, 0.036), 0.03),  # whisker pad
    ellipsoid("Head", (0.0832, 0.7815, 0.1135), (0.0665, 0.0665, 0.0665), 0.025),  # what the eye lies in
    ellipsoid("Jaw", (0, 0.632, 0.158), (0.054, 0.034, 0.048), 0.025),
    bar("Head", (0.175, 0.690, 0.040), (0.258, 0.646, 0.004), 0.058, 0.007, 0.05),  # the tuft of the cheek
    ellipsoid("LeftEar", (0.120, 0.892, -0.005), (0.060, 0.072, 0.038), 0.035, (0, 0, -18)),
    bar("LeftEar", (0.134, 0.930, -0.008), (0.160, 1.010, -0.020), 0.032, 0.006, 0.03),  # its tuft
    EAR_HOLLOW,
)

ARM = (
    ellipsoid("LeftShoulder", (0.080, 0.505, 0), (0.062, 0.055, 0.060), 0.06),
    bar("LeftArm", (0.120, 0.515, 0), (0.232, 0.432, 0.01), 0.050, 0.043, 0.05),
    bar("LeftForeArm", (0.232, 0.432, 0.01), (0.322, 0.366, 0.03), 0.043, 0.036, 0.03),
    ellipsoid("LeftHand", (0.345, 0.350, 0.036), (0.042, 0.036, 0.042), 0.03),
    *(
        bar("LeftHand", (0.348, 0.348, 0.04), tip, 0.022, 0.016, 0.012)
        for tip in ((0.392, 0.322, 0.030), (0.384, 0.318, 0.062), (0.366, 0.322, 0.086))
    ),
    bar("LeftHand", (0.335, 0.360, 0.05), (0.318, 0.352, 0.092), 0.020, 0.015, 0.012),
)

LEG = (
    ellipsoid("LeftUpLeg", (0.112, 0.200, 0.022), (0.086, 0.100, 0.100), 0.06),
    bar("LeftLeg", (0.128, 0.150, 0.035), (0.132, 0.052, -0.01), 0.058, 0.042, 0.05),
    bar("LeftFoot", (0.132, 0.044, -0.022), (0.137, 0.036, 0.085), 0.042, 0.040, 0.03),
    *(bar("LeftToe", (0.137, 0.034, 0.085), (x, 0.026, 0.150), 0.034, 0.026, 0.016) for x in (0.100, 0.137, 0.174)),
)

# the tail's middle line and radii: the joints, then the tip that curls back
TAIL_LINE = np.array(
    [
        *((0.0, 0.19, -0.10), (0.0, 0.185, -0.24), (0.0, 0.275, -0.375), (0.0, 0.445, -0.440)),
        *((0.0, 0.640, -0.418), (0.0, 0.830, -0.425), (0.0, 0.965, -0.520), (0.0, 0.955, -0.640)),
    ]
)
TAIL_RADII = np.array([0.045, 0.080, 0.118, 0.148, 0.172, 0.168, 0.128, 0.055])
# stations on the fine line, and degrees from the middle of the back to the side
TUFTS = ((12, 0), (17, 0), (22, 0), (27, 0), (14, 64), (19, 68), (24, 68), (29, 64))
TAIL_JOINTS = np.array([JOINTS[f"Tail{number}"][1] for number in range(1, 7)])


def _tail() -> tuple[Array, Array]:
    """(N, 3) and (N,) the smooth middle line and its radii."""
    fine = geometry.smooth(np.column_stack([TAIL_LINE, TAIL_RADII]), 40)
    return fine[:, :3], fine[:, 3]


def tail_joint(points: Array) -> Array:
    """(M,) the number, 1 to 6, of the tail's joint above each of points on the middle line."""
    line, _ = _tail()
    at = [int(np.argmin(np.linalg.norm(line - joint, axis=1))) for joint in TAIL_JOINTS]
    own = np.argmin(np.linalg.norm(points[:, None] - line, axis=2), axis=1)
    return np.clip(np.searchsorted(at, own, side="right"), 1, 6)


def _tufts() -> list[tuple[tuple[float, float, float], tuple[float, float, float], float]]:
    """Locks that break the tail's outline: along its back and its sides, all combed towards the tip."""
    line, radii = _tail()
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    out = np.stack([np.zeros(len(line)), along[:, 2], -along[:, 1]], axis=1)  # away from the back, in its own plane
    locks = []
    for station, swing in TUFTS:
        a = np.radians(swing)
        side = np.cos(a) * out[station] + np.sin(a) * np.array([1.0, 0.0, 0.0])
        r = radii[station]
        root = line[station] + 0.30 * r * side
        tip = line[station] + 0.80 * r * side + 0.62 * r * along[station]
        locks.append((tuple(root.tolist()), tuple(tip.tolist()), 0.62 * r))
    return locks


def _tail_solids() -> list[Solid]:
    line, radii = _tail()
    numbers = tail_joint(line)
    solids: list[Solid] = []
    for number in range(1, 7):
        own = np.flatnonzero(numbers == number)
        if own[-1] + 1 < len(line):
            own = np.append(own, own[-1] + 1)  # on to where the next begins
        solids += chain(f"Tail{number}", line[own], radii[own], 0.06)
    for root, tip, thick in _tufts():
        joint = int(tail_joint(np.array([root]))[0])
        solids.append(bar(f"Tail{joint}", root, tip, thick, 0.42 * thick, 0.04))
    return solids


TAIL = tuple(_tail_solids())
BODY = Clay((*TRUNK, *HEAD, *ARM, *LEG, *TAIL, above(0.002, 0.012)))
EAR_INSIDE = Clay((replace(EAR_HOLLOW, way="add"),))
LOCKS = (
    ((0.030, 0.880, 0.080), (0.020, 0.935, 0.080), (-0.025, 0.965, 0.085)),
    ((-0.010, 0.885, 0.080), (-0.035, 0.930, 0.075), (-0.075, 0.945, 0.075)),
    ((0.040, 0.880, 0.060), (0.055, 0.925, 0.050), (0.045, 0.965, 0.045)),
)
FRINGE = Clay(tuple(lopsided(solid for lock in LOCKS for solid in chain("Head", lock, (0.036, 0.023, 0.004)))))
