"""The dragon acts from its own clips, with its own regions."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.measures import express

from understudy import cast
from understudy.character import Asset, rig
from understudy.express.acting import act, clip_of
from understudy.express.from_clips import lid_columns, sequences_of, units_of
from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.express.graph.graph_builder import build

CLIPS = ("surprise_gasp", "surprise_snap", "roar_full", "roar_small")


@pytest.fixture(scope="module")
def dragon() -> Asset:
    return cast.load("dragon")


@pytest.fixture(scope="module")
def graph(dragon: Asset) -> ExpressionGraph:
    takes = sequences_of(rig.rig_of(dragon.character()), [dragon.animation(name) for name in CLIPS], rate=12.0)
    return build(takes, compression=0.3, tolerance=0.3, merge_compression=0.3, merge_tolerance=0.3)


def test_its_takes_are_shares_of_the_ranges_of_its_controls(dragon: Asset) -> None:
    found = rig.rig_of(dragon.character())
    clip = dragon.animation("surprise_snap")
    take = sequences_of(found, [clip])[0]
    jaw = take.names.index("jaw.open")
    column = [channel.target for channel in found.channels].index("jaw.open")
    opened = found.pose(clip)[:, column].max() - found.rest[column]
    assert units_of(found, take.names)[jaw] * take.displacements[take.peak, jaw, 0] == pytest.approx(opened, abs=8.0)
    assert np.abs(take.displacements).max() <= 1.5 and take.peak / take.rate <= 1.2
    assert len(lid_columns(found.channels)) == 2


def test_it_has_regions_of_its_own(graph: ExpressionGraph) -> None:
    assert {"eyes", "brows", "mouth", "ears", "head", "lattice"} <= {region.name for region in graph.regions}
    assert graph.labels == ("roar", "surprise")


def test_it_acts_within_its_clips(dragon: Asset, graph: ExpressionGraph) -> None:
    done = act(graph, ["surprise", "roar"], seed=1)
    worst = express.bounds(graph, [done])
    assert worst.fastest <= 1.0 + 1e-6 and worst.outside <= 1e-6
    clip = clip_of(done, dragon.character())
    found = rig.rig_of(dragon.character())
    rows = found.pose(clip)
    controls = dragon.character().layers.controls
    assert (rows >= controls.low - 1e-9).all() and (rows <= controls.high + 1e-9).all()
    jaw = [channel.target for channel in clip.channels].index("jaw.open")
    wide = clip.values[:, jaw]
    assert wide[done.peaks[1]] > 15.0 and abs(wide[0]) < 1.0 and abs(wide[-1]) < 2.0  # degrees


def test_blinks_shut_its_lids(dragon: Asset, graph: ExpressionGraph) -> None:
    done = next(
        each for each in (act(graph, ["surprise"], seed=s, hold=4.0) for s in range(20)) if each.blink.max() > 0.8
    )
    clip = clip_of(done, dragon.character())
    lid = clip.get("lids.blink.L", "controls")
    assert lid is not None and np.max(lid) > 0.8
