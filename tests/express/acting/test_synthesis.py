from __future__ import annotations

import numpy as np
import pytest
from benchmarks.measures import express
from tests.express.acting.small import REGIONS
from tests.reference import express as reference

from understudy.errors import InvalidInput
from understudy.express.acting import ExpressionTake, act, recover_take, synthesis, transition
from understudy.express.acting.graph_paths import prepare_actor
from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.express.sequence import ExpressionSequence

LABELS = ["fear", "anger", "happiness"]
EXACT = {"path_noise": (0.0, 1), "length_noise": 0.0, "smoothing": 0.0, "coupling": None}


def same(a: ExpressionTake, b: ExpressionTake) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("points", "peaks", "blink", "gaze", "head")
    )


def test_the_same_seed_is_the_same_performance(graph: ExpressionGraph) -> None:
    assert same(act(graph, LABELS, seed=5), act(graph, LABELS, seed=5))
    assert not same(act(graph, LABELS, seed=5), act(graph, LABELS, seed=6))


def test_with_slow_oracles_the_same_comes_out(merged: ExpressionGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["fear", {"happiness": 0.6, "surprise": 0.4}]
    fast = act(merged, asked, seed=3, path_noise=(0.5, 2))
    monkeypatch.setattr(transition, "region_path", reference.region_path)
    monkeypatch.setattr(synthesis, "smooth_curves", reference.smooth_curves)
    monkeypatch.setattr(synthesis, "_add_transition", reference.add_transition)
    slow = act(merged, asked, seed=3, path_noise=(0.5, 2))
    assert np.allclose(fast.points, slow.points, atol=1e-7) and np.array_equal(fast.peaks, slow.peaks)


def test_it_begins_and_ends_in_neutral_and_shows_the_peaks(graph: ExpressionGraph) -> None:
    done = act(graph, LABELS, seed=1, **EXACT)
    assert np.allclose(done.points[[0, -1]], graph.base, atol=1e-9)
    for label, frame in zip(LABELS, done.peaks):
        for region in graph.regions:
            shown = done.displacements[frame, region.members]
            peaks = region.displacements[region.peaks_of(graph.label_index(label))]
            nearest = np.linalg.norm(peaks - shown, axis=2).sum(axis=1).min()
            assert nearest < 0.08 * np.linalg.norm(shown, axis=1).sum()


def test_without_back_it_ends_in_the_last_expression(graph: ExpressionGraph) -> None:
    done = act(graph, ["fear"], back=False, **EXACT)
    assert np.linalg.norm(done.displacements[-1]) > 0.8 * np.linalg.norm(done.displacements, axis=(1, 2)).max()
    assert len(done.legs) == 2


def test_a_take_comes_back_out_of_a_graph_with_a_node_a_pose(
    graph: ExpressionGraph, takes: list[ExpressionSequence]
) -> None:
    for take in takes[::3]:
        sinks = []
        for region in graph.regions:
            peaks = np.flatnonzero(region.peaks.any(axis=1))
            gaps = np.linalg.norm(region.displacements[peaks] - take.displacements[take.peak, region.members], axis=2)
            sinks.append(int(peaks[gaps.sum(axis=1).argmin()]))
        found = recover_take(graph, np.array(sinks), smoothing=0.0)
        assert len(found) == take.peak + 1
        assert np.allclose(found, take.displacements[: take.peak + 1], atol=1e-9)
        back = recover_take(
            graph, np.zeros(len(sinks), int), np.array(sinks), smoothing=0.0, frames=len(take) - take.peak
        )
        assert np.allclose(back, take.displacements[take.peak :], atol=1e-9)


def test_coupled_fully_the_regions_arrive_as_in_a_take(graph: ExpressionGraph, takes: list[ExpressionSequence]) -> None:
    wanted = np.mean([express.arrivals(t.displacements[: t.peak + 1], REGIONS, t.rate) for t in takes], axis=0)
    found = []
    for coupling in (0.0, 1.0):
        faces = [
            act(graph, [label], seed=s, coupling=coupling, smoothing=0.0) for label in graph.labels for s in range(8)
        ]
        times = [express.arrivals(face.displacements[: face.legs[1]], REGIONS, face.rate) for face in faces]
        found.append(np.abs(np.mean(times, axis=0) - wanted).max())
        spread = np.std([time - time.mean() for time in times], axis=0).mean()
        found.append(spread)
    assert found[2] < 0.05 and found[3] < 0.5 * found[1]


def test_coupled_fully_the_regions_come_from_one_take(graph: ExpressionGraph, takes: list[ExpressionSequence]) -> None:
    actor, rng = prepare_actor(graph), np.random.default_rng(0)
    here = np.zeros(len(REGIONS), np.int64)
    for take, sequence in enumerate(takes):
        sinks = actor.draw_sinks(sequence.label, take, 1.0, here, rng)
        for region, sink in zip(graph.regions, sinks):
            apex = sequence.displacements[sequence.peak, region.members]
            assert np.allclose(region.displacements[sink], apex, atol=1e-9)


def test_uncoupled_every_peak_is_as_likely(graph: ExpressionGraph) -> None:
    actor, rng = prepare_actor(graph), np.random.default_rng(0)
    here = np.zeros(len(REGIONS), np.int64)
    drawn = np.array([actor.draw_sinks("fear", 0, 0.0, here, rng) for _ in range(400)])
    _, counts = np.unique(drawn[:, 0], return_counts=True)
    assert len(counts) == 4 and counts.min() > 60


def test_a_label_asked_for_twice_moves_on(graph: ExpressionGraph) -> None:
    done = act(graph, ["fear", "fear"], coupling=0.0)
    first, second = done.displacements[done.peaks]
    assert np.linalg.norm(first - second) > 1e-3


def test_intensity_scales_the_displacements(graph: ExpressionGraph) -> None:
    whole, half = (act(graph, LABELS, intensity=i, **EXACT) for i in (0.4, 0.2))
    assert np.allclose(half.displacements, 0.5 * whole.displacements)
    faint = act(graph, [{"fear": 0.5}], **EXACT)
    assert np.allclose(faint.displacements, 0.5 * act(graph, ["fear"], **EXACT).displacements)


def test_mixed_labels_lie_between_them(graph: ExpressionGraph) -> None:
    done = act(graph, [{"fear": 0.5, "anger": 0.5}], coupling=1.0, length_noise=0.0, smoothing=0.0)
    shown = done.displacements[done.peaks[0]].ravel()
    means = {
        label: np.concatenate(
            [r.displacements[r.peaks_of(graph.label_index(label))].mean(axis=0) for r in graph.regions]
        ).ravel()
        for label in LABELS
    }
    near = {label: shown @ mean / (np.linalg.norm(shown) * np.linalg.norm(mean)) for label, mean in means.items()}
    assert min(near["fear"], near["anger"]) > near["happiness"]


def test_a_thousandth_of_many_all_differ_and_stay_within_the_data(merged: ExpressionGraph) -> None:
    faces = [act(merged, ["fear", "surprise", "happiness"], seed=seed) for seed in range(60)]
    assert express.distances(faces).min() > 0.05
    worst = express.bounds(merged, faces)
    assert worst.fastest <= 1.0 + 1e-6 and worst.outside <= 1e-6


def test_hasty_and_strong_performances_stay_within_the_data(merged: ExpressionGraph) -> None:
    faces = [act(merged, ["fear", "surprise"], seed=s, pace=5.0, hold=0.0, intensity=2.0) for s in range(5)]
    worst = express.bounds(merged, faces)
    assert worst.fastest <= 1.0 + 1e-6 and worst.outside <= 0.05 + 1e-6


@pytest.mark.parametrize("rate", [12.0, 24.0, 60.0])
def test_the_rate_changes_the_frames_and_not_the_time(graph: ExpressionGraph, rate: float) -> None:
    own, other = act(graph, LABELS, seed=2), act(graph, LABELS, seed=2, rate=rate)
    assert other.rate == rate
    assert other.duration == pytest.approx(own.duration, abs=0.3)
    assert other.peaks / rate == pytest.approx(own.peaks / own.rate, abs=0.2)


def test_a_graph_without_coupling_acts(graph: ExpressionGraph) -> None:
    from dataclasses import replace

    bare = replace(graph, coupling=None)
    done = act(bare, LABELS, seed=1)
    assert np.isfinite(done.points).all() and np.linalg.norm(done.displacements) > 0


@pytest.mark.parametrize("coupling", [None, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("hold", [0.0, 1.0])
def test_nothing_jumps_at_the_joints_of_legs(merged: ExpressionGraph, coupling: float | None, hold: float) -> None:
    done = act(merged, ["fear", "happiness", "neutral", "surprise"], seed=4, coupling=coupling, hold=hold)
    steps = np.linalg.norm(np.diff(done.points, axis=0), axis=2).max(axis=1)
    assert steps[np.clip(done.legs[1:-1], 0, len(steps) - 1)].max() <= np.quantile(steps, 0.9)


def test_unknown_labels_are_refused_with_those_that_there_are(graph: ExpressionGraph) -> None:
    with pytest.raises(InvalidInput, match="no label 'zest'; available: 'anger', 'fear', 'happiness', 'neutral'"):
        act(graph, ["zest"])
    with pytest.raises(InvalidInput, match="at least one label"):
        act(graph, [])
    with pytest.raises(InvalidInput, match="share of 'fear'"):
        act(graph, [{"fear": float("nan")}])


@pytest.mark.parametrize(
    "dial",
    [{"coupling": 1.5}, {"smoothing": -0.1}, {"intensity": 3}, {"hold": float("nan")}, {"rate": 0.0}, {"pace": 0}],
)
def test_dials_have_ends(graph: ExpressionGraph, dial: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(dial))} should be from"):
        act(graph, LABELS, **dial)


def test_a_performance_lasts_as_long_as_the_takes(graph: ExpressionGraph, takes: list[ExpressionSequence]) -> None:
    """Whatever the coupling; a hold is added to that."""
    mean = float(np.mean([(len(take.points) - 1) / take.rate for take in takes]))
    for coupling in (0.0, 0.5, 1.0):
        done = [act(graph, [t.label], seed=s, coupling=coupling, hold=0.0).duration for s in range(4) for t in takes]
        assert float(np.mean(done)) == pytest.approx(mean, rel=0.1), coupling
    held = [act(graph, [t.label], seed=s, hold=1.0).duration for s in range(4) for t in takes]
    assert 0.7 < float(np.mean(held)) - mean < 1.4
