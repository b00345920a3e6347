"""Turned frames: of primitives, and of eyes that look a little outwards."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def turn(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Array:
    """(3, 3) Ry Rx Rz of degrees."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(np.radians([x, y, z])), np.sin(np.radians([x, y, z]))
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return np.asarray(about_y @ about_x @ about_z)


def eye_frame(yaw: float, pitch: float) -> Array:
    """(3, 3) rows: a left eye's outer corner axis, its up, and where it looks, for degrees outwards and up."""
    a, b = np.radians(yaw), np.radians(pitch)
    gaze = np.array([np.sin(a) * np.cos(b), np.sin(b), np.cos(a) * np.cos(b)])
    corner = np.array([np.cos(a), 0.0, -np.sin(a)])
    return np.stack([corner, np.cross(gaze, corner), gaze])
