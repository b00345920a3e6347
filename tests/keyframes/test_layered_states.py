"""Joints of layered rigs: the same states as the rig itself gives, and derivatives that differences agree with."""

from __future__ import annotations

import numpy as np
import pytest

from understudy import cast, rig
from understudy.character import Curves
from understudy.character.layers import COMPONENTS
from understudy.keyframes.goals import Point
from understudy.keyframes.layered_states import ORDER
from understudy.keyframes.states import LayeredStates, SampledStates, states_of
from understudy.rig import LayeredRig

POINTS = (Point("Head", (0.0, 0.1, 0.05)), Point("EarTip.L"), Point("Jaw"), Point("LidUpper.L", (0.01, 0.0, 0.02)))


@pytest.fixture(scope="module")
def dragon() -> tuple[LayeredRig, Curves]:
    asset = cast.load("dragon")
    found = rig.of(asset.characters[0])
    assert isinstance(found, LayeredRig)
    return found, asset.curves[0]


def test_every_component_of_a_joint_has_its_place() -> None:
    assert sorted(ORDER) == sorted(COMPONENTS)


def test_states_are_those_of_the_rig_and_slopes_those_of_differences(dragon: tuple[LayeredRig, Curves]) -> None:
    own, curves = dragon
    exact, slow = states_of(own, curves.channels, POINTS), SampledStates(own, curves.channels, POINTS)
    assert isinstance(exact, LayeredStates) and exact.analytic
    rng = np.random.default_rng(3)
    middle = (own.controls.low + own.controls.high) / 2
    span = own.controls.high - own.controls.low
    rows = middle + rng.uniform(-0.45, 0.45, (6, len(middle))) * np.where(np.isfinite(span), span, 0.0)
    named = [own.controls.index(channel.target) for channel in curves.channels]
    values = rows[:, named]
    sample, point = np.tile(np.arange(6), len(POINTS)), np.repeat(np.arange(len(POINTS)), 6)
    place, turn, slopes = exact.evaluate(np.ascontiguousarray(values[:, exact.columns]), sample, point)
    wanted_place, wanted_turn, wanted = slow.evaluate(values, sample, point)
    assert np.allclose(place, wanted_place, atol=1e-12) and np.allclose(turn, wanted_turn, atol=1e-12)
    all_slopes = np.zeros_like(wanted)
    all_slopes[:, :, exact.columns] = slopes
    assert np.abs(wanted).max() > 0.1
    assert np.abs(all_slopes - wanted).max() < 1e-7


def test_what_moves_a_point_is_found_by_the_rules(dragon: tuple[LayeredRig, Curves]) -> None:
    own, curves = dragon
    exact, slow = states_of(own, curves.channels, POINTS), SampledStates(own, curves.channels, POINTS)
    assert np.array_equal(exact.moved_by, slow.moved_by[:, :, exact.columns])
    assert slow.moved_by.sum() == exact.moved_by.sum()
