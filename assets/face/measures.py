"""The face's measures: scale, eyes, mouth and joints.

It is sculpted in units of about a head's height (chin -.44, crown .50), x to its left, y up, z forward, the origin
between the ears, and shipped in metres with the shirt's hem on the ground. Only the left half is described; the right
one is its mirror image.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from assets.sculpting import clay
from assets.sculpting.clay import turn
from understudy.checks import Array

SCALE = 0.25  # metres a unit: 23.5 cm from chin to crown
LIFT = 1.06  # units from the shirt's hem to the origin

EYE = (0.158, -0.002, 0.222)  # centre of the left eyeball
EYE_RADIUS = 0.130
EYE_YAW, EYE_PITCH = 9.0, -1.0  # degrees: where the socket looks, outwards and up
TOE_IN = 3.0  # degrees that the eyeball looks further inwards than its socket

CORNER_X, LIP_Y = 0.118, -0.256  # the mouth's corner, and the height of its line in the middle
HINGE = (0.0, -0.10, -0.03)  # of the jaw, about x
JAW = 23.0  # degrees of a mouth wide open

# joint: (parent, place)
JOINTS: dict[str, tuple[str, tuple[float, float, float]]] = {
    "Root": ("", (0.0, -LIFT, -0.13)),
    "Neck": ("Root", (0.0, -0.62, -0.13)),
    "Head": ("Neck", (0.0, -0.34, -0.10)),
    "Jaw": ("Head", HINGE),
    "Eye.L": ("Head", EYE),
    "Eye.R": ("Head", (-EYE[0], EYE[1], EYE[2])),
}


def metres(points: ArrayLike) -> Array:
    """Shipped places (..., 3) in metres of sculpted ones (..., 3)."""
    return (np.asarray(points, dtype=float) + np.array([0.0, LIFT, 0.0])) * SCALE


def units(points: ArrayLike) -> Array:
    """Sculpted places (..., 3) of shipped ones (..., 3) in metres: the inverse of `metres`."""
    return np.asarray(points, dtype=float) / SCALE - np.array([0.0, LIFT, 0.0])


def eye_frame() -> Array:
    """(3, 3) rows: the left socket's outer corner axis, its up, and where it looks; right-handed."""
    return clay.eye_frame(EYE_YAW, EYE_PITCH)


def jaw_opened(points: Array, degrees: float = JAW) -> Array:
    """(M, 3) points turned about the jaw's hinge."""
    return np.asarray((points - HINGE) @ turn(x=degrees).T + HINGE)
