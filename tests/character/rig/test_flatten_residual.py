"""Few shapes for many frames: within the tolerance at every vertex of every frame, and as few as the frames need."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character.rig.flatten import Residual, longest_displacements


def frames_of_rank(rank: int, frames: int = 150, vertices: int = 40, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.einsum("fr,rvc->fvc", rng.normal(size=(frames, rank)), rng.normal(size=(rank, vertices, 3)))


@pytest.mark.parametrize("tolerance", [1e-3, 0.1, 2.0])
def test_every_vertex_of_every_frame_is_within_the_tolerance(tolerance: float) -> None:
    moves = frames_of_rank(60) * np.linspace(1, 0.01, 150)[:, None, None]
    residual = Residual(40, tolerance)
    for first in range(0, 150, 32):
        residual.add(moves[first : first + 32])
    shapes, weights = residual.shapes()
    found = np.einsum("fk,kvc->fvc", weights, shapes)
    assert longest_displacements((found - moves).reshape(150, -1)).max() <= tolerance
    assert len(shapes) <= len(residual) <= 64


def test_no_more_shapes_than_the_frames_need() -> None:
    residual = Residual(40, 1e-3)
    residual.add(frames_of_rank(5)[:75])
    residual.add(frames_of_rank(5)[75:])
    shapes, weights = residual.shapes()
    assert len(shapes) == 5
    np.testing.assert_allclose(np.abs(weights).max(axis=0), 1, rtol=1e-5)
    np.testing.assert_allclose(weights.max(axis=0), 1, rtol=1e-5)


def test_frames_at_rest_cost_nothing() -> None:
    residual = Residual(40, 1e-3)
    residual.add(np.zeros((9, 40, 3)))
    assert (residual.shapes()[0].shape, residual.shapes()[1].shape) == ((0, 40, 3), (9, 0))
    residual.add(frames_of_rank(1))
    shapes, weights = residual.shapes()
    assert (len(shapes), weights.shape) == (1, (159, 1)) and not weights[:9].any()


def test_a_wider_tolerance_takes_fewer() -> None:
    counts = []
    for tolerance in (0.01, 1.0, 4.0, 1e3):
        residual = Residual(40, tolerance)
        residual.add(frames_of_rank(30) * 0.3)
        counts.append(len(residual.shapes()[0]))
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1] == 0
