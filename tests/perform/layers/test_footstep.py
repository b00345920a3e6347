"""What a foot does: it is held, it steps, it is let go, and none of that is a jump."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.perform.layers.footstep import (
    FOOT_DOWN,
    FOOT_FREE,
    FOOT_UP,
    SETTINGS,
    FootObservation,
    FootState,
    step,
)

RATE = 24.0
FLOOR = 0.0


def walked(places: np.ndarray, lowest: np.ndarray, stands: np.ndarray, held: bool = True, lift: bool = True) -> tuple:
    """Feet (F,) and where they are shown (F, 3): x, the height of the lowest point, z."""
    foot, feet, shown = FootState(), [], []
    for frame, (place, low, stand) in enumerate(zip(places, lowest, stands)):
        seen = FootObservation(tuple(place.tolist()), float(low), float(stand), 0.0, 0.0, 0.0, held)
        foot, moved = step(foot, seen, FLOOR, 1.0, lift, frame / RATE, 1 / RATE)
        feet.append(foot)
        shown.append((place[0] + moved[0], low + moved[1], place[1] + moved[2]))
    return feet, np.array(shown)


def slide(way: float, seconds: float = 1.0, still: float = 1.0) -> np.ndarray:
    """(F, 2) a foot that is drawn along the floor, with rest before and after."""
    u = np.clip((np.arange(int((seconds + 2 * still) * RATE)) / RATE - still) / seconds, 0, 1)
    return np.stack([way * u * u * u * (10 - u * (15 - 6 * u)), 0 * u], axis=1)


def test_a_foot_that_stands_keeps_its_place() -> None:
    rng = np.random.default_rng(3)
    sway = 0.006 * np.sin(np.arange(200)[:, None] / 9 + rng.uniform(0, 6, 2))
    feet, shown = walked(sway, np.zeros(200), np.ones(200))
    assert all(foot.mode == FOOT_DOWN for foot in feet)
    assert np.abs(shown - shown[0]).max() < 1e-12


def test_what_is_drawn_along_makes_a_step() -> None:
    places = slide(0.3)
    feet, shown = walked(places, np.zeros(len(places)), np.ones(len(places)))
    assert {foot.mode for foot in feet} == {FOOT_DOWN, FOOT_UP} and feet[-1].mode == FOOT_DOWN
    speed = np.abs(np.diff(shown[:, 0])) * RATE
    low = shown[1:, 1] < 0.02
    # what moves is off the floor, but for the moments of lifting and of coming down
    assert speed[low].max() < 0.25 and (np.abs(np.diff(places[:, 0])) * RATE).max() > 0.5
    assert abs(shown[-1, 0] - 0.3) < 0.021 and shown[:, 1].max() <= SETTINGS.max_lift_ratio + 1e-9


def test_while_the_other_is_up_it_waits() -> None:
    places = slide(0.1)
    feet, _ = walked(places, np.zeros(len(places)), np.ones(len(places)), lift=False)
    assert all(foot.mode == FOOT_DOWN for foot in feet)
    places = slide(0.3)
    feet, _ = walked(places, np.zeros(len(places)), np.ones(len(places)), lift=False)
    assert any(foot.mode == FOOT_UP for foot in feet)  # too far to stand on


def test_where_it_does_not_stand_it_is_left_alone() -> None:
    places = slide(0.3)
    feet, shown = walked(places, np.full(len(places), 0.1), np.zeros(len(places)))
    assert all(foot.mode == FOOT_FREE for foot in feet)
    assert np.array_equal(shown[:, [0, 2]], places) and np.array_equal(shown[:, 1], np.full(len(places), 0.1))


def test_a_clip_that_is_played_is_as_it_was() -> None:
    places = slide(0.3)
    _, shown = walked(places, np.full(len(places), -0.05), np.ones(len(places)), held=False)
    assert np.array_equal(shown[:, [0, 2]], places) and np.abs(shown[:, 1] + 0.05).max() == 0


def test_it_does_not_sink() -> None:
    dive = -0.1 * np.sin(np.linspace(0, np.pi, 48)) + 0.02
    _, shown = walked(np.zeros((48, 2)), dive, np.zeros(48))
    assert shown[1:, 1].min() > -1e-9 and shown[-1, 1] == pytest.approx(0.02, abs=0.01)


@pytest.mark.parametrize("seed", range(12))
def test_no_switch_is_a_jump(seed: int) -> None:
    """A pose that wanders, and clips that change their mind at any moment: velocity goes on."""
    rng = np.random.default_rng(seed)
    times = np.arange(600) / RATE
    waves = [np.sin(np.outer(times, rng.uniform(0.5, 5, 4)) + rng.uniform(0, 6, 4)) @ rng.normal(size=4) for _ in "xyz"]
    places, lowest = 0.08 * np.stack(waves[:2], axis=1), np.maximum(0.02 * waves[2], -0.03)
    stands = np.repeat(rng.uniform(0, 1, 60).round(), 10)
    feet, shown = walked(places, lowest, stands)
    jumps = np.linalg.norm(np.diff(shown, 2, axis=0), axis=1) * RATE
    own = np.linalg.norm(np.diff(places, 2, axis=0), axis=1).max() * RATE
    assert len({foot.mode for foot in feet}) == 3
    assert jumps.max() < 2.0 * own + 0.8  # a step is lifted within a tenth of a second
    again, same = walked(places, lowest, stands)
    assert np.array_equal(shown, same) and again == feet


def test_a_jump_that_is_left_in_the_air_lands_on_the_ground() -> None:
    """Half of what is seen is still in the air, half stands: the ground is where the latter does."""
    foot, shown = FootState(), []
    for frame in range(40):
        flies = np.clip(1 - frame / 24, 0, 1)  # how much of the jump is still seen
        low = max(0.3 * np.sin(np.pi * min(frame, 12) / 12), 0.0)
        seen = FootObservation((0.0, 0.0), low, float(1 - flies), 0.0, float(0.4 * flies), FLOOR, True)
        foot, moved = step(foot, seen, FLOOR, 1.0, True, frame / RATE, 1 / RATE)
        shown.append(low + moved[1])
    assert max(shown) > 0.25 and np.abs(shown[14:]).max() < 0.01
