"""Takes of a made-up face: landmarks of the 68 that are moved by known displacements, heads and people."""

from __future__ import annotations

import numpy as np

from understudy.express.sequence import ExpressionSequence, landmark_names


def neutral_face(dimensions: int = 3) -> np.ndarray:
    """(68, D) a face in millimetres, roughly human: 140 wide, 180 high, x to the right of the picture, y up."""
    jaw = np.linspace(np.pi, 2 * np.pi, 17)
    points = [(70 * np.cos(a), 110 * np.sin(a) + 30, 20 - 60 * abs(np.cos(a))) for a in jaw]
    points += [
        (side * x, 55 + 6 * np.sin(x / 12), 55 - x / 4)
        for side, xs in ((-1, (60, 51, 41, 31, 20)), (1, (20, 31, 41, 51, 60)))
        for x in xs
    ]
    points += [(0, 35 - 12 * i, 65 + 6 * i) for i in range(4)]
    points += [(x, -8, 70 - abs(x) / 2) for x in (-16, -8, 0, 8, 16)]
    for side in (-1, 1):
        ring = [(18, 0), (8, 6), (-8, 6), (-18, 0), (-8, -6), (8, -6)]
        ring = ring if side < 0 else [(18, 0), (8, 6), (-8, 6), (-18, 0), (-8, -6), (8, -6)]
        points += [(side * 35 - x, 35 + y, 50) for x, y in ring]
    points += [
        (28 * -np.cos(a), -35 + 10 * np.sin(a), 62 - 10 * abs(np.cos(a))) for a in np.linspace(0, 2 * np.pi, 13)[:12]
    ]
    points += [(18 * -np.cos(a), -35 + 3 * np.sin(a), 60) for a in np.linspace(0, 2 * np.pi, 9)[:8]]
    return np.array(points)[:, :dimensions]


def way(frames: int, peak: int) -> np.ndarray:
    """(F,) from 0 to 1 at the peak and back, along cosines."""
    up = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, peak + 1))
    down = 0.5 + 0.5 * np.cos(np.linspace(0, np.pi, frames - peak))
    return np.concatenate([up, down[1:]])


def smile(
    dimensions: int = 3, frames: int = 24, peak: int = 10, size: float = 8.0, name: str = "smile"
) -> ExpressionSequence:
    """Corners of the mouth up and out, brows up a little; back to neutral where `peak` is not the last frame."""
    face = neutral_face(dimensions)
    moves = np.zeros_like(face)
    moves[48] = moves[60] = [-size, size, 0][:dimensions]
    moves[54] = moves[64] = [size, size, 0][:dimensions]
    moves[17:27, 1] = 0.3 * size
    points = face + way(frames, peak)[:, None, None] * moves
    return ExpressionSequence(name, "happiness", points, 30.0, peak, landmark_names())


def turned(angle: float, dimensions: int, axis: int = 1) -> np.ndarray:
    """(D, D) a rotation; in the plane where D is 2, else about an axis."""
    c, s = np.cos(angle), np.sin(angle)
    if dimensions == 2:
        return np.array([[c, -s], [s, c]])
    result = np.eye(3)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    result[i, i] = result[j, j] = c
    result[i, j], result[j, i] = -s, s
    return result
