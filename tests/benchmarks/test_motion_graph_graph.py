"""The whole graph on motions whose crossings are known."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.baselines.motion_graph import MotionGraph, seams_of
from tests.benchmarks.circles import RATE, circle, crossing_circles

from understudy.errors import InvalidInput
from understudy.maths import quaternion


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    clips, labels = crossing_circles()
    return MotionGraph.fit(clips, labels, RATE)


def test_circles_that_touch_are_joined_where_they_touch(graph: MotionGraph) -> None:
    assert graph.reach().labels == 1.0
    everything = np.concatenate(graph.clips)
    best = np.argmin(graph.distance)
    middle = graph.window // 2
    assert np.linalg.norm(everything[graph.leave[best] + middle] - everything[graph.enter[best] - middle]) < 0.1


def test_the_threshold_for_reach_is_the_smallest(graph: MotionGraph) -> None:
    below = graph.with_threshold(np.nextafter(graph.threshold, 0))
    assert below.reach().labels < 1.0
    assert below.reach().missing
    assert graph.distance.max() <= graph.threshold


def test_every_kept_frame_goes_on_for_ever(graph: MotionGraph) -> None:
    for prune in ("labels", "whole"):
        kept = graph.with_threshold(graph.threshold, prune).kept
        inside = np.flatnonzero(kept)
        onward = graph.graph[inside][:, inside]
        assert len(inside) and (onward.sum(axis=1) > 0).all() and (onward.sum(axis=0) > 0).all()


def test_walks_end_in_the_label_at_the_time_that_was_promised(graph: MotionGraph) -> None:
    starts = np.flatnonzero(np.isfinite(graph.time_to("right")) & graph.frames_of("left"))
    for frame in starts[::7]:
        pieces = graph.walk_to(int(frame), "right")
        motion = graph.synthesise(pieces)
        assert (len(motion) - 1) / RATE == pytest.approx(graph.time_to("right")[frame])
        everything = np.concatenate(graph.clips)
        assert np.allclose(motion[0], everything[frame])
        ends = np.flatnonzero(np.isclose(everything, motion[-1]).all(axis=1))
        assert (graph.frames_of("right") & graph.kept)[ends].any()
        assert len(seams_of(pieces)) >= 1


def test_within_a_label_a_walk_is_its_own_frame(graph: MotionGraph) -> None:
    frame = int(np.flatnonzero(graph.kept & graph.frames_of("left"))[0])
    assert graph.synthesise(graph.walk_to(frame, "left")).shape == (1, 2)


def test_no_way_is_an_empty_walk() -> None:
    apart = MotionGraph.fit([circle(0.0), circle(10.0)], ["left", "right"], RATE, threshold=0.5)
    assert apart.walk_to(30, "right") == []
    assert apart.synthesise([]).shape == (0, 2)
    assert set(apart.reach().missing) == {("left", "right"), ("right", "left")}
    assert apart.reach().labels == 0.0


def test_random_walks_repeat_with_their_seed_and_never_jump(graph: MotionGraph) -> None:
    walk = graph.random_walk(30.0, seed=5)
    assert walk == graph.random_walk(30.0, seed=5) != graph.random_walk(30.0, seed=6)
    motion = graph.synthesise(walk)
    assert 30 * RATE <= len(motion) <= 30 * RATE + graph.window
    step = np.linalg.norm(np.diff(np.concatenate(graph.clips[:1]), axis=0), axis=1).max()
    assert np.linalg.norm(np.diff(motion, axis=0), axis=1).max() < 1.5 * step + graph.threshold / 4


def test_random_walks_stay_within_a_label(graph: MotionGraph) -> None:
    walk = graph.random_walk(10.0, seed=1, label="left")
    assert {"left"} == {label for piece in walk for label in graph.labels[piece.clip]}


def test_quantiles_and_thresholds_are_what_was_asked_for() -> None:
    clips, labels = crossing_circles()
    every = MotionGraph.fit(clips, labels, RATE, threshold=np.inf)
    tenth = MotionGraph.fit(clips, labels, RATE, quantile=0.1)
    assert len(tenth.leave) == pytest.approx(0.1 * len(every.leave), abs=2)
    assert MotionGraph.fit(clips, labels, RATE, threshold=0.25).threshold == 0.25


def test_scale_and_compared_change_what_is_alike_and_not_what_is_played() -> None:
    clips, labels = crossing_circles()
    scaled = MotionGraph.fit(clips, labels, RATE, scale=[2.0, 2.0])
    plain = MotionGraph.fit(clips, labels, RATE)
    other = MotionGraph.fit(clips, labels, RATE, compared=[2 * clip for clip in clips])
    assert scaled.threshold == pytest.approx(2 * plain.threshold) == pytest.approx(other.threshold)
    assert np.array_equal(scaled.leave, plain.leave) and np.array_equal(other.enter, plain.enter)
    assert np.array_equal(scaled.clips[0], clips[0])


def test_a_clip_of_two_labels_counts_for_both() -> None:
    clips, labels = crossing_circles()
    graph = MotionGraph.fit(clips, [(label, "both") for label in labels], RATE)
    assert graph.all_labels == ("left", "both", "right")
    assert graph.frames_of("both").all()


def test_rotations_are_blended_by_slerp() -> None:
    angle = np.linspace(0, 4 * np.pi, 120)
    turns = quaternion.unroll(quaternion.from_axis_angle([0, 0, 1], 0.3 * np.sin(angle)))
    graph = MotionGraph.fit([turns, turns[::-1]], ["a", "b"], RATE, rotations=[0])
    motion = graph.synthesise(graph.random_walk(10.0, seed=0))
    assert np.allclose(np.linalg.norm(motion, axis=1), 1)


@pytest.mark.parametrize(
    ("clips", "labels", "settings", "said"),
    [
        ([], [], {}, "at least one clip"),
        ([np.zeros((20, 2))], ["a", "b"], {}, "one entry a clip"),
        ([np.zeros((20, 2)), np.zeros((20, 3))], ["a", "b"], {}, "clip 1"),
        ([np.full((20, 2), np.nan)], ["a"], {}, "finite"),
        ([np.zeros((20, 2))], ["a"], {"window": 1}, "window"),
        ([np.zeros((20, 2))], ["a"], {"prune": "none"}, "way to prune"),
        ([np.zeros((20, 2))], ["a"], {"compared": [np.zeros((19, 2))]}, "compared"),
    ],
)
def test_bad_input_is_one_sentence(clips, labels, settings, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        MotionGraph.fit(clips, labels, RATE, **settings)


def test_unknown_labels_and_frames_are_refused(graph: MotionGraph) -> None:
    with pytest.raises(InvalidInput, match="'left', 'right'"):
        graph.walk_to(0, "up")
    with pytest.raises(InvalidInput, match="frame"):
        graph.walk_to(10_000, "left")
    with pytest.raises(InvalidInput, match="not among"):
        graph.random_walk(1.0, seed=0, start=0)
