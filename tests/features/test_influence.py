"""Laws of the influence of controls on the mesh."""

from __future__ import annotations

import numpy as np

from understudy.features import influence


def linear_rig(rng: np.random.Generator, controls: int = 5, vertices: int = 7):
    directions = rng.normal(size=(controls, vertices, 3))
    return directions, lambda rows: np.einsum("fc,cvi->fvi", rows, directions)


def test_of_a_linear_rig_is_the_norm_of_its_derivative():
    rng = np.random.default_rng(1)
    directions, rig = linear_rig(rng)
    found = influence(rig, rng.normal(size=5), rng.uniform(0.1, 3.0, 5))
    np.testing.assert_allclose(found, np.sqrt(np.square(directions).sum(axis=(1, 2))), rtol=1e-12)


def test_solves_the_least_squares_problem_of_a_bent_rig():
    rng = np.random.default_rng(2)
    directions, _ = linear_rig(rng, 3)

    def rig(rows):
        return np.einsum("fc,cvi->fvi", np.sin(rows) + 0.3 * rows**2, directions)

    mean, deviation = rng.normal(size=3), rng.uniform(0.2, 1.0, 3)
    found = influence(rig, mean, deviation)
    for i in range(3):
        steps = np.arange(-2, 3)
        rows = mean + steps[:, None] * np.where(np.arange(3) == i, deviation, 0.0)
        distance = np.sqrt(np.square(rig(rows) - rig(mean[None])).sum(axis=(1, 2)))
        weight, *_ = np.linalg.lstsq((np.abs(steps) * deviation[i])[:, None], distance, rcond=None)
        np.testing.assert_allclose(found[i], weight[0], rtol=1e-10)


def test_is_zero_where_a_control_never_moves():
    rng = np.random.default_rng(3)
    _, rig = linear_rig(rng)
    deviation = np.array([1.0, 0.0, 0.5, 0.0, 2.0])
    found = influence(rig, np.zeros(5), deviation)
    assert ((found > 0) == (deviation > 0)).all()


def test_makes_units_irrelevant():
    """The same rig in degrees and in radians: scaled by their influence, both give the same features."""
    rng = np.random.default_rng(4)
    _, rig = linear_rig(rng)
    rows = rng.normal(size=(50, 5))
    unit = np.array([1.0, 180 / np.pi, 1000.0, 0.01, 3.0])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    plain = influence(rig, mean, deviation) * (rows - mean)
    other = influence(lambda q: rig(q / unit), mean * unit, deviation * unit) * (rows - mean) * unit
    np.testing.assert_allclose(plain, other, rtol=1e-9)
