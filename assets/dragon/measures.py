"""The dragon's measures, its joints, and how the skin hangs on them.

It is sculpted in head lengths (HL: back of the skull to the nose tip), x to its left, y up, z forward, the origin near
the middle of the skull, and shipped in metres with the plinth's underside on the ground. Only the left half is ever
described; the right one is its mirror image.

All joints have the axes of the world at rest, except the lids: their +X is the axis through the corners of the eye, and
a positive turn about it closes an upper lid, on both sides. `Corner` joints carry the corners of the mouth softly; they
hang on the head, so a rig that opens the jaw should turn them by half of its angle about the hinge.

The neck bends as one smooth curve, the jaw opens, the mouth's corners can be led:

    w_jaw(p) = S(-1 .. 1, (m - y) / b) S(-.22 -> .09, z) S(-.47 -> -.33, y)

m is the lips' sheet, b how abruptly the jaw takes over: at once between the lips, softly behind the corner. Smoothing
over the mesh then evens it out; lips in front of the corner are held, and since they are not connected there, upper and
lower stay apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assets.sculpting import clay
from assets.sculpting.fields import ramp, smoothed
from understudy.character import Skeleton
from understudy.checks import Array
from understudy.maths import quaternion

SCALE = 0.4  # metres a head length
LIFT = 1.06  # HL from the plinth's underside to the origin

EYE = (0.182, 0.040, 0.220)  # centre of the left eyeball
EYE_RADIUS = 0.145
EYE_YAW, EYE_PITCH = 18.0, 2.0  # degrees: where the socket looks, outwards and up
TOE_IN = 6.0  # degrees that the eyeballs look further inwards than their sockets, or the dragon looks wall-eyed

HINGE = (0.0, -0.10, -0.10)  # of the jaw, about x
CORNER_Z = 0.070  # the mouth's slit ends here
CORNER = (0.374, -0.094, 0.070)  # the left corner of the mouth, on the skin
EAR_ROOT = (0.325, 0.075, -0.17)
FIN_OUT = (0.80, 0.10, -0.60)  # where the left fin points

# joint: (parent, place in HL); the side's joints are listed for the left
JOINTS: dict[str, tuple[str, tuple[float, float, float]]] = {
    "Root": ("", (0.0, -LIFT, -0.115)),
    "Neck1": ("Root", (0.0, -0.92, -0.160)),
    "Neck2": ("Neck1", (0.0, -0.68, -0.225)),
    "Neck3": ("Neck2", (0.0, -0.44, -0.250)),
    "Head": ("Neck3", (0.0, -0.19, -0.215)),
    "Jaw": ("Head", HINGE),
    "Tongue1": ("Jaw", (0.0, -0.190, 0.050)),
    "Tongue2": ("Tongue1", (0.0, -0.186, 0.155)),
    "Tongue3": ("Tongue2", (0.0, -0.190, 0.250)),
    "Tongue4": ("Tongue3", (0.0, -0.192, 0.335)),
    "Eye": ("Head", EYE),
    "LidUpper": ("Head", EYE),
    "LidLower": ("Head", EYE),
    "Ear": ("Head", EAR_ROOT),
    "EarMid": ("Ear", (0.436, 0.092, -0.253)),
    "EarTip": ("EarMid", (0.540, 0.107, -0.331)),
    "Corner": ("Head", CORNER),
}
SIDED = ("Eye", "LidUpper", "LidLower", "Ear", "EarMid", "EarTip", "Corner")


def metres(points: ArrayLike) -> Array:
    """Shipped places (..., 3) in metres of sculpted ones (..., 3) in HL."""
    return (np.asarray(points, dtype=float) + np.array([0.0, LIFT, 0.0])) * SCALE


def head_lengths(points: ArrayLike) -> Array:
    """Sculpted places (..., 3) in HL of shipped ones (..., 3) in metres: the inverse of `metres`."""
    return np.asarray(points, dtype=float) / SCALE - np.array([0.0, LIFT, 0.0])


def eye_frame() -> Array:
    """(3, 3) rows: the left socket's outer corner axis, its up, and where it looks; right-handed."""
    return clay.eye_frame(EYE_YAW, EYE_PITCH)


def lid_axes(side: str) -> Array:
    """(3, 3) world_from_lid at rest; columns: the corner axis towards the character's left, up, gaze."""
    corner, up, gaze = eye_frame()
    if side == "R":
        flip = np.array([-1.0, 1.0, 1.0])
        corner, up, gaze = -corner * flip, up * flip, gaze * flip
    return np.stack([corner, up, gaze], axis=1)


def joint_places() -> dict[str, tuple[str, Array]]:
    """Joint -> parent and world place (3,) in metres, parents first."""
    result: dict[str, tuple[str, Array]] = {}
    for name, (parent, place) in JOINTS.items():
        if name not in SIDED:
            result[name] = (parent, metres(place))
            continue
        for side, sign in (("L", 1.0), ("R", -1.0)):
            above = f"{parent}.{side}" if parent in SIDED else parent
            result[f"{name}.{side}"] = (above, metres(np.array(place) * [sign, 1.0, 1.0]))
    return result


def skeleton() -> Skeleton:
    """The joints with their rest."""
    joints = joint_places()
    names = tuple(joints)
    parents = [names.index(parent) if parent else -1 for parent, _ in joints.values()]
    world = np.array([place for _, place in joints.values()])
    offsets = world - np.where(np.array(parents)[:, None] < 0, 0.0, world[parents])
    rotations = quaternion.identity((len(names),))
    for number, name in enumerate(names):
        if name.startswith("Lid"):
            rotations[number] = quaternion.from_matrix(lid_axes(name[-1]))
    return Skeleton(names, parents, offsets, rotations)


NECK_CHAIN = ("Root", "Neck1", "Neck2", "Neck3", "Head")
MOST_JOINTS = 4  # joints a vertex: what every viewer of glTF must support
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
    taken = np.ones((len(vertices), len(NECK_CHAIN) + 1))
    taken[:, -1] = 0.0
    for number, joint in enumerate(NECK_CHAIN[1:], 1):
        middle = JOINTS[joint][1][1]
        taken[:, number] = ramp(middle - 0.20, middle + 0.20, y)
    front = ramp(-0.10, 0.06, z) * ramp(-0.42, -0.30, y)
    taken[:, 1:-1] = taken[:, 1:-1] + (1 - taken[:, 1:-1]) * front[:, None]
    taken = smoothed(np.minimum.accumulate(taken, axis=1), mean, 40)
    return -np.diff(taken, axis=1)


def corner_weights(vertices: Array) -> Array:
    """(V,) of the left corner's joint."""
    return CORNER_SHARE * ramp(1.0, 0.0, np.linalg.norm((vertices - CORNER) / CORNER_REACH, axis=1))


def skin_weights(
    vertices: Array, depth: Array, sheet: Array, mirror: Array, mean: Any
) -> tuple[dict[str, Array], Array]:
    """Joint -> (V,) weights that sum to one, at most MOST a vertex; (V,) the jaw's own before corners take theirs."""
    jaw = jaw_weights(vertices, depth, sheet, mean)
    left = smoothed(corner_weights(vertices), mean, 6)
    chain = chain_weights(vertices, mean)
    rest = 1 - left - left[mirror]
    dense = {"Corner.L": left, "Corner.R": left[mirror], "Jaw": rest * jaw}
    dense |= {joint: rest * (1 - jaw) * chain[:, number] for number, joint in enumerate(NECK_CHAIN)}
    table = np.stack(list(dense.values()), axis=1)
    table = 0.5 * (table + _sides_swapped(table, list(dense))[mirror])  # the same sums in the same order on both sides
    least = np.sort(table, axis=1)[:, -MOST_JOINTS][:, None]
    table = np.where((table >= least) & (table > 1e-4), table, 0.0)
    table /= table.sum(axis=1, keepdims=True)
    return {joint: table[:, number] for number, joint in enumerate(dense)}, jaw


def _sides_swapped(table: Array, joints: list[str]) -> Array:
    """The table's columns with left and right exchanged."""
    other = {"L": "R", "R": "L"}
    twin = [joints.index(j[:-1] + other[j[-1]]) if j[-2:] in (".L", ".R") else k for k, j in enumerate(joints)]
    return table[:, twin]
