"""Changes of bodies are judged by their joints."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.layers.walker import RATE, posed, stance, steps, walker

from understudy.character import Asset, Clip
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.perform.behaviours import CYCLE, Behaviour
from understudy.perform.commands import Transition
from understudy.perform.library import ClipLibrary
from understudy.perform.runtime.changes import SHORTLISTED_CHANGES, Change, ChangeLimits, find_changes
from understudy.perform.runtime.entries import CALM_JOINT_RATIO
from understudy.perform.runtime.performer import Performer
from understudy.perform.training import FitSettings, fit_library

CLIPS = {"narrow": stance(0.12), "march": steps()}


@pytest.fixture(scope="module")
def performer() -> Performer:
    rig = walker(False)
    moved = {
        name: posed(rig, feet, np.outer(0.012 * np.sin(np.arange(len(feet)) / 6) - 0.04, [0, 1, 0]))
        for name, feet in CLIPS.items()
    }
    asset = Asset([rig.character], [Clip(name, rig.channels, rows, RATE) for name, rows in moved.items()])
    kinds = {name: Behaviour(CYCLE) for name in CLIPS}
    library = ClipLibrary.from_asset(asset, RATE)
    model = fit_library(library, FitSettings(iterations=0), workers=1)
    object.__setattr__(model, "behaviours", kinds)
    return Performer(model, rig, RATE, layers=False)


def joint_accelerations(rig: DirectRig, rows: Array) -> Array:
    """(J,) the largest of each joint, metres a second squared."""
    places = rig.joints(rows)[..., :3, 3][:, rig.character.joints]
    return np.linalg.norm(np.diff(places, 2, axis=0), axis=-1).max(axis=0) * RATE**2


def chosen_change(performer: Performer, frames: int) -> tuple[Change, list[Change], Array, Array]:
    """The change from standing to marching after some frames, the shortlist, shown rows, and allowed accelerations."""
    planner, rows = performer.planner, []
    state = performer.init("narrow", seed=3)
    for _ in range(frames):
        state, row = performer.step(state)
        rows.append(row)
    limits = ChangeLimits.of_urgency(1.0)
    segment = planner.steady_segment("march")
    change, entries = planner.find_change(state, "march", segment, limits)
    looks, still = planner.entries.looks, np.zeros(1)
    poses, rates = looks.of(state.features[None]), looks.rates_of(state.rate[None])
    _, _, _, own, left = planner._departures(state, 0.0)
    shortlist = find_changes(looks, poses, rates, still, own, entries.motion, limits)
    judge = planner.judge
    assert judge is not None and left is not None
    allowed = np.maximum(judge.own_accelerations(left), judge.own_accelerations(entries.pieces[0]))
    allowed = np.maximum(allowed, CALM_JOINT_RATIO * allowed.max())
    rows = rows[-2:]
    for number in range(round(change.seconds * RATE)):
        state, row = performer.step(state, Transition("march", urgency=1.0) if number == 0 else None)
        rows.append(row)
    return change, shortlist, np.array(rows), allowed


@pytest.mark.parametrize("frames", [12, 31])
def test_the_judged_peak_is_what_the_joints_show(performer: Performer, frames: int) -> None:
    change, _, rows, allowed = chosen_change(performer, frames)
    shown = (joint_accelerations(performer.rig, rows) / allowed).max()
    # the cycle adds its variation, which no judge can know
    assert shown <= 1.1 * change.peak + 0.05


@pytest.mark.parametrize("frames", [12, 31])
def test_the_joints_choose_from_the_shortlist(performer: Performer, frames: int) -> None:
    change, shortlist, _, _ = chosen_change(performer, frames)
    assert 1 < len(shortlist) <= SHORTLISTED_CHANGES
    assert change.frame in {other.frame for other in shortlist}
    assert change.cost >= min(other.cost for other in shortlist) - 1e-9
