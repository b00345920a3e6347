from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.express.graph.made_takes import LABELS, takes
from tests.reference import express as reference

from understudy.errors import InvalidInput
from understudy.express.graph import (
    add_take,
    build,
    build_with_trace,
    dead_ends,
    graph_builder,
    raw_bytes,
    region_builder,
)
from understudy.express.graph.expression_graph import load, save
from understudy.express.graph.graph_builder import CompressionTarget, _merge_take, _StageTargets
from understudy.express.graph.region_builder import RegionBuilder
from understudy.express.sequence import ExpressionSequence

PAPER = {"compression": 0.7, "tolerance": 0.1, "merge_compression": 0.7, "merge_tolerance": 0.2}


@pytest.fixture(scope="module")
def made():
    return takes(3)


@pytest.fixture(scope="module")
def whole(made):
    return build_with_trace(made, **PAPER)


def test_from_every_node_every_label_in_every_region(whole):
    for region in whole.graph.regions:
        assert dead_ends(region).tolist() == []
        assert region.peaks.any(axis=0).all()


def test_takes_that_end_at_their_peak_are_led_back(made):
    cut = [take.with_fields(points=take.points[: take.peak + 1]) for take in made[:8]]
    for region in build(cut, **PAPER).regions:
        assert dead_ends(region).tolist() == []


def test_peaks_of_different_labels_are_apart_and_none_is_the_base_pose(made):
    for options in (PAPER, {"compression": 0.9, "merge_compression": 0.95, "tolerance": 0.05}):
        for region in build(made, **options).regions:
            assert region.peaks.sum(axis=1).max() == 1
            assert not region.peaks[0].any()


def test_what_nodes_tell_is_what_takes_did(made, whole):
    for number, region in enumerate(whole.graph.regions):
        visits = [nodes[number] for nodes in whole.nodes]
        every = np.concatenate(visits)
        np.testing.assert_array_equal(region.merged, np.bincount(every, minlength=region.nodes))
        assert region.merged.sum() == sum(map(len, made))
        entries = np.zeros(region.nodes)
        steps = set()
        onsets: dict[int, list[int]] = {}
        for take, nodes in zip(made, visits):
            changed = np.append(True, np.diff(nodes) != 0)
            changed[take.peak + 1] = True  # a stay at the apex counts as two, one each way
            np.add.at(entries, nodes[changed], 1)
            steps |= {(int(a), int(b)) for a, b in itertools.pairwise(nodes) if a != b}
            onsets.setdefault(int(nodes[take.peak]), []).append(take.peak)
            label = whole.graph.labels.index(take.label)
            assert region.labels[nodes, label].all()
            assert region.peaks[nodes[take.peak], label]
            assert nodes[0] == nodes[-1] == 0
        np.testing.assert_allclose(region.runs, region.merged / entries, rtol=1e-6)
        assert sorted(steps) == list(zip(region.sources.tolist(), region.targets.tolist()))
        assert set(onsets) == set(np.flatnonzero(np.isfinite(region.onset)).tolist())
        for node, frames in onsets.items():
            assert region.onset[node] == pytest.approx(np.mean(frames))
            assert region.onset_deviation[node] == pytest.approx(np.std(frames), abs=1e-9)
        assert (region.displacements[0] == 0).all()
        assert (region.costs > 0).all()


def test_displacements_are_means(made, whole):
    for number, region in enumerate(whole.graph.regions):
        poses = np.concatenate([take.displacements[:, region.members] for take in made])
        every = np.concatenate([nodes[number] for nodes in whole.nodes])
        plain = np.flatnonzero(region.arrivals == 0)[1:]
        for node in plain:
            np.testing.assert_allclose(region.displacements[node], poses[every == node].mean(axis=0), atol=1e-9)
        peaks = [(nodes[number][take.peak], take) for take, nodes in zip(made, whole.nodes)]
        for node in np.flatnonzero(region.arrivals):
            mine = [take.displacements[take.peak][region.members] for where, take in peaks if where == node]
            assert len(mine) == region.arrivals[node]
            np.testing.assert_allclose(region.displacements[node], np.mean(mine, axis=0), atol=1e-9)


def test_the_same_takes_and_seed_make_the_same_bytes(made, tmp_path):
    for name in ("one", "two"):
        save(build(made, seed=5, **PAPER), tmp_path / name)
    save(build(made, seed=6, **PAPER), tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").read_bytes() != (tmp_path / "other").read_bytes()


def test_with_slow_oracles_the_graph_is_the_same(made, monkeypatch):
    few = made[:5]
    fast = build(few, **PAPER)
    monkeypatch.setattr(region_builder, "edge_costs", reference.edge_costs)
    monkeypatch.setattr(graph_builder, "merge_nodes", reference.merge_nodes)
    slow = build(few, **PAPER)
    for one, two in zip(fast.regions, slow.regions):
        np.testing.assert_array_equal(one.sources, two.sources)
        np.testing.assert_allclose(one.displacements, two.displacements, atol=1e-9)
        np.testing.assert_allclose(one.costs, two.costs, atol=1e-9)


def test_more_compression_leaves_less(made):
    sizes = [build(made, compression=c, merge_compression=c).bytes for c in (0.2, 0.5, 0.8)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_bytes_are_saved_as_asked(made):
    few = made[:10]
    saved = 1 - build(few, compression=0.6).bytes / raw_bytes(few)
    assert 0.6 <= saved <= 0.66


def test_one_more_take_without_a_rebuild(made):
    order = np.random.default_rng(0).permutation(len(made))
    last = made[order[-1]]
    whole = build(made, **PAPER)
    part = build([made[i] for i in sorted(order[:-1])], **PAPER)
    grown = add_take(part, last)
    assert grown.takes == whole.takes == len(made)
    np.testing.assert_allclose(grown.base, whole.base)
    assert grown.labels == whole.labels
    for before, region in zip(part.regions, grown.regions):
        assert dead_ends(region).tolist() == []
        assert region.merged.sum() == before.merged.sum() + len(last)
        assert region.arrivals.sum() == before.arrivals.sum() + 1
        assert (region.peaks.sum(axis=1) <= 1).all()
        # nodes that the take did not come to are as they were
        same = np.flatnonzero(region.merged[: before.nodes] == before.merged)
        np.testing.assert_array_equal(region.displacements[same], before.displacements[same])
        np.testing.assert_allclose(region.runs[same], before.runs[same])


def test_adding_takes_one_by_one_is_building(made):
    few = made[:6]
    order = np.random.default_rng(0).permutation(len(few))
    whole = build(few, **PAPER)
    grown = build([few[order[0]]], **PAPER)
    # the unit of thresholds is that of the takes a graph begins with: given the same, the same comes out
    unit = {region.name: region.spread for region in whole.regions}
    first = [RegionBuilder(r.name, r.members, whole.base[r.members], 1, unit[r.name]) for r in grown.regions]
    grown = replace(grown, regions=tuple(_with(each, few[order[0]], grown) for each in first), base=whole.base)
    for number in order[1:]:
        grown = replace(add_take(grown, few[number]), base=whole.base)
    assert grown.takes == len(few)
    assert grown.labels == whole.labels
    for one, two in zip(whole.regions, grown.regions):
        np.testing.assert_array_equal(one.targets, two.targets)
        np.testing.assert_array_equal(one.peaks, two.peaks)
        np.testing.assert_array_equal(one.merged, two.merged)
        for name in ("displacements", "velocities", "runs", "onset", "offset_deviation", "costs"):
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-5, atol=1e-6)


def _with(growing, take, graph):
    """A region's graph of one take."""
    _merge_take(
        growing, take, 0, _StageTargets(CompressionTarget(*graph.asked[:2]), CompressionTarget(*graph.asked[2:]), False)
    )
    return growing.to_graph()


def test_a_new_label_comes_in_its_place(made):
    known = [take for take in made if take.label != "disgust"]
    new = next(take for take in made if take.label == "disgust")
    grown = add_take(build(known, **PAPER), new)
    assert grown.labels == LABELS
    for region in grown.regions:
        assert region.peaks[:, LABELS.index("disgust")].sum() == 1
        assert dead_ends(region).tolist() == []


def test_weights_and_space(made):
    rng = np.random.default_rng(2)
    names = ("mouthSmileLeft", "mouthSmileRight", "jawOpen", "browInnerUp", "browDownLeft")
    rise = np.sin(np.linspace(0, np.pi, 21))[:, None, None]
    weights = [
        ExpressionSequence(f"w{i}", ("joy", "awe")[i % 2], rise * rng.random((1, 5, 1)), 30.0, 10, names)
        for i in range(6)
    ]
    for graph in (build(weights, **PAPER, align=True), build(takes(1, dimensions=3), **PAPER, align=True)):
        for region in graph.regions:
            assert dead_ends(region).tolist() == []
    assert build(weights, **PAPER).base.shape == (5, 1)


def test_a_region_that_never_moves_has_the_base_pose_and_the_peaks(made):
    members = list(range(36, 48))
    still = []
    for take in made[:7]:
        points = np.array(take.points)
        points[:, members] = points[:1, members]
        still.append(take.with_fields(points=points))
    eyes = build(still, **PAPER).region("eyes")
    assert eyes.nodes == 1 + 7
    assert (eyes.displacements == 0).all()


def test_one_take_alone(made):
    graph = build(made[:1], **PAPER)
    assert graph.labels == (made[0].label,)
    assert all(dead_ends(region).tolist() == [] for region in graph.regions)


def test_regions_of_ones_own(made):
    graph = build(made[:7], regions={"upper": ["lm1*", "lm2*"], "lower": ["lm5*"]}, **PAPER)
    assert [region.name for region in graph.regions] == ["upper", "lower"]


def test_what_does_not_fit_is_refused(made, whole, tmp_path):
    with pytest.raises(InvalidInput, match="at least one sequence"):
        build([], **PAPER)
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        build(made, compression=3.0)
    with pytest.raises(InvalidInput, match="should have the 68 points of the graph"):
        add_take(whole.graph, takes(1, dimensions=3)[0])
    with pytest.raises(InvalidInput, match="30 frames a second, but has 24"):
        add_take(whole.graph, made[0].with_fields(rate=24.0))
    with pytest.raises(InvalidInput, match="there is no label 'joy'; available: 'anger'"):
        whole.graph.label_index("joy")
    with pytest.raises(InvalidInput, match="there is no region 'ears'; available: 'eyes'"):
        whole.graph.region("ears")
    save(whole.graph, tmp_path / "graph")
    assert load(tmp_path / "graph").labels == whole.graph.labels
