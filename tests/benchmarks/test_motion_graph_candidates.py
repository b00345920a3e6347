"""Candidates are the local minima, in both directions, and never a clip's own continuation."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.baselines import motion_graph
from benchmarks.baselines.motion_graph import window_weights
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays


def test_minima_of_a_bowl_and_a_wave() -> None:
    x = np.linspace(-1, 1, 21)
    assert motion_graph.local_minima(np.add.outer(x**2, (x - 0.2) ** 2)).tolist() == [[10, 12]]
    x = np.linspace(-1, 1, 41)  # on which both waves have their minima
    wave = np.add.outer(np.cos(4 * np.pi * x), np.cos(2 * np.pi * x))
    assert [wave[i, j] for i, j in motion_graph.local_minima(wave)] == pytest.approx([-2] * 8)


def test_of_a_flat_stretch_the_first() -> None:
    assert motion_graph.local_minima(np.zeros((4, 5))).tolist() == [[0, 0]]


@settings(max_examples=50, deadline=None)
@given(arrays.arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(1, 8)), elements=st.integers(0, 4)))
def test_no_neighbour_undercuts_and_the_lowest_is_found(values) -> None:
    places = motion_graph.local_minima(values.astype(float))
    for i, j in places:
        around = values[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
        assert values[i, j] == around.min()
    assert values.min() in [values[i, j] for i, j in places]


def test_candidates_come_in_both_directions() -> None:
    rng = np.random.default_rng(3)
    clips = [np.cumsum(rng.normal(size=(40, 4)), axis=0) for _ in range(3)]
    found = motion_graph.find_candidates(clips, window_weights(5))
    pairs = set(zip(found.first.tolist(), found.second.tolist()))
    assert len(pairs) == len(found.first) > 0
    assert pairs == {(b, a) for a, b in pairs}
    near = found.filter_by_threshold(float(np.median(found.distance)))
    assert 0 < len(near.first) < len(found.first)
    assert near.distance.max() <= np.median(found.distance)


def test_windows_stay_within_clips_and_do_not_overlap_themselves() -> None:
    rng = np.random.default_rng(4)
    clips, k = [rng.normal(size=(frames, 3)) for frames in (25, 9, 4)], 6
    found = motion_graph.find_candidates(clips, window_weights(k))
    starts = np.array([0, 25, 34, 38])
    for begin in (found.first, found.second):
        clip = np.searchsorted(starts, begin, side="right") - 1
        assert (begin + k <= starts[clip + 1]).all()
    same = np.searchsorted(starts, found.first, side="right") == np.searchsorted(starts, found.second, side="right")
    assert (np.abs(found.first - found.second)[same] >= k).all()


def test_clips_shorter_than_the_window_have_none() -> None:
    assert len(motion_graph.find_candidates([np.zeros((3, 2)), np.ones((2, 2))], window_weights(6)).first) == 0
