"""Chance: replayable, independent, of the distributions that it says."""

from __future__ import annotations

import numpy as np

from understudy.perform.layers import layer

N = 4000


def test_a_draw_is_a_function_of_seed_and_number() -> None:
    drawn = [layer.uniform(7, n) for n in range(50)]
    assert drawn == [layer.uniform(7, n) for n in reversed(range(50))][::-1]
    assert len(set(drawn)) == 50
    assert drawn != [layer.uniform(8, n) for n in range(50)]


def test_uniform() -> None:
    drawn = np.array([layer.uniform(1, n) for n in range(N)])
    assert drawn.min() > 0 and drawn.max() < 1
    # five deviations of the mean of N uniform draws, 1 / sqrt(12 N) each
    assert abs(drawn.mean() - 0.5) < 5 / np.sqrt(12 * N)
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 5 / np.sqrt(N)


def test_normal_and_its_kin() -> None:
    drawn = np.array([layer.normal(2, n) for n in range(N)])
    assert abs(drawn.mean()) < 5 / np.sqrt(N) and abs(drawn.std() - 1) < 5 / np.sqrt(2 * N)
    positive = np.array([layer.log_normal(3, n, 2.0, 0.5) for n in range(N)])
    assert positive.min() > 0 and abs(np.median(positive) - 2.0) < 0.1
    sided = np.array([layer.laplace(4, n, 3.0) for n in range(N)])
    assert abs(np.median(sided)) < 0.2 and abs(np.abs(sided).mean() - 3.0) < 0.25


def test_streams_of_one_seed_differ_and_negative_seeds_serve() -> None:
    seeds = {layer.derive_seed(seed, name) for seed in (-1, 0, 1) for name in ("gaze", "blinks", "breathing")}
    assert len(seeds) == 9
    assert 0 < layer.uniform(layer.derive_seed(-5, "gaze"), 0) < 1
