"""The dragon's measures: scale, landmarks and joints.

It is sculpted in head lengths (HL: back of the skull to the nose tip), x to its left, y up, z forward, the origin near
the middle of the skull, and shipped in metres with the plinth's underside on the ground. Only the left half is ever
described; the right one is its mirror image.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.sculpting import frames
from understudy.checks import Array

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
    return frames.eye_frame(EYE_YAW, EYE_PITCH)
