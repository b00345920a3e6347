"""A synthetic take of the shipped face: known weights and a known head before a known camera."""

from __future__ import annotations

from functools import cache

import numpy as np

from understudy import cast
from understudy.express.face_fit import PinholeCamera
from understudy.express.landmark_solver import LandmarkBasis, basis_of
from understudy.maths import quaternion

CAMERA = PinholeCamera.of_picture(640, 480)
MOVING = ("jawOpen", "mouthSmileLeft", "mouthSmileRight", "browInnerUp", "browDownLeft", "eyeBlinkLeft", "mouthFunnel")


@cache
def face_basis() -> LandmarkBasis:
    return basis_of(cast.load("face").characters[0], cast.FACE_LANDMARKS)


def take(frames: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(F, S) weights that begin in neutral, (F, 3, 3) rotations of the head, and (F, 68, 2) its landmarks in pixels."""
    basis = face_basis()
    seconds = np.arange(frames) / 30
    weights = np.zeros((frames, len(basis.names)))
    for number, name in enumerate(MOVING):
        weights[:, basis.names.index(name)] = 0.8 * np.clip(
            np.sin(2 * seconds * (1 + 0.2 * number) - 0.3 * number), 0, 1
        )
    turns = np.stack([0.15 * np.sin(seconds), 0.4 * np.sin(2 * seconds), 0.1 * np.sin(3 * seconds)], axis=1)
    rotations = quaternion.to_matrix(quaternion.exp(turns))
    shifts = np.stack([0.05 * np.sin(seconds), 0.02 * seconds, -0.6 + 0.1 * seconds], axis=1)
    shapes = basis.rest + np.einsum("fs,sld->fld", weights, basis.deltas)
    places = np.einsum("fij,flj->fli", rotations, shapes - basis.rest.mean(axis=0)) + shifts[:, None]
    return weights, rotations, CAMERA.project(places)
