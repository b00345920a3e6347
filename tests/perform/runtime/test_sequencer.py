"""What happens between two frames: no joint changes its velocity more suddenly than in some clip."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.walker import RATE, posed, stance, steps, walker

from understudy.character import Asset, Clip
from understudy.character.rig import DirectRig
from understudy.perform.commands import Idle, PlayClip, Transition
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.performer import Performer
from understudy.perform.training import FitSettings, fit_library

Walker = tuple[DirectRig, PerformanceModel]
CLIPS = {"narrow": stance(0.12), "wide": stance(0.32), "march": steps()}


@pytest.fixture(scope="module")
def learned() -> Walker:
    rig = walker(False)
    moved = {
        name: posed(rig, feet, np.outer(0.012 * np.sin(np.arange(len(feet)) / 6) - 0.04, [0, 1, 0]))
        for name, feet in CLIPS.items()
    }
    animations = [Clip(name, rig.channels, rows, RATE) for name, rows in moved.items()]
    return rig, fit_library(
        ClipLibrary.from_asset(Asset([rig.character], animations), RATE), FitSettings(iterations=20), workers=1
    )


def turns(rig: DirectRig, rows: np.ndarray) -> float:
    """Metres a second squared, the largest change of any joint's velocity."""
    places = rig.joints(rows)[..., :3, 3]
    return float(np.linalg.norm(np.diff(places, 2, axis=0), axis=-1).max()) * RATE**2


def most_in_clips(learned: Walker) -> float:
    rig, model = learned
    rows = [model.encoder.decode(s.features[p.start : p.stop]) for s in model.spaces.values() for p in s.segments]
    return max(turns(rig, clip) for clip in rows)


@pytest.mark.parametrize("seed", range(3))
def test_interrupted_at_any_moment_nothing_turns_more_suddenly(learned: Walker, seed: int) -> None:
    rig, model = learned
    performer, random = Performer(model, rig, RATE, layers=False), np.random.default_rng(seed)
    state, rows = performer.init("narrow", seed=seed), []
    labels = list(CLIPS)
    for _ in range(25):
        label = labels[random.integers(3)]
        command = (Transition(label), Idle(label=label), PlayClip(label))[random.integers(3)]
        for frame in range(int(random.integers(2, 14))):
            state, row = performer.step(state, command if frame == 0 else None)
            rows.append(row)
    # predicted by looks and not enforced joint by joint: a quarter more is not seen as a pop
    assert turns(rig, np.array(rows)) <= 1.0001 * most_in_clips(learned)
