"""Locomotion: the speed and the heading that are asked for, on feet that stand still."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.perform.gait_clips import RUN_M_S, WALK_M_S, gait_asset
from tests.perform.layers.walker import NAMES

import understudy as us
from understudy.errors import InvalidInput
from understudy.maths.springs import step_scalar
from understudy.perform.gaits import FootPlan
from understudy.perform.layers.footstep import LockState, step_lock
from understudy.perform.library import ClipLibrary
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState
from understudy.perform.script import parse_script
from understudy.perform.script_run import run
from understudy.perform.training import FitSettings, fit_library

RATE = 60.0
SOLES = [NAMES.index("sole_a"), NAMES.index("sole_b")]


@cache
def performer() -> Performer:
    library = ClipLibrary.from_asset(gait_asset(eased=True))
    return Performer(fit_library(library, FitSettings(iterations=5), workers=1), library.rig, RATE)


def perform(*told: tuple[us.Go | us.TurnTo | None, float], seed: int = 0) -> tuple[np.ndarray, list[PerformerState]]:
    """The positions (F, J, 3) of the joints and the states while commands are followed for some seconds each."""
    own = performer()
    state, rows, states = own.init("Idle", seed=seed), [], []
    for command, seconds in told:
        for frame in range(round(seconds * RATE)):
            state, row = own.step(state, command if frame == 0 else None)  # type: ignore[arg-type]
            rows.append(row)
            states.append(state)
    return own.rig.joints(np.array(rows))[..., :3, 3], states


def slides(joints: np.ndarray) -> np.ndarray:
    """Metres a second, over the ground, of soles that are within 1 % of the height of the floor."""
    soles = joints[:, SOLES]
    low = soles[..., 1] < 0.03 + 0.017
    speeds = np.linalg.norm(np.diff(soles[..., [0, 2]], axis=0), axis=-1) * RATE
    return np.asarray(speeds[low[1:] & low[:-1]])


@pytest.mark.parametrize("speed", [0.5 * WALK_M_S, WALK_M_S, 2.0, RUN_M_S])
def test_the_speed_is_reached_within_a_second_and_feet_stand(speed: float) -> None:
    joints, states = perform((None, 0.2), (us.Go(speed, 0), 4.0))
    gone = np.array([state.ground.z for state in states])
    after = np.diff(gone)[round(1.2 * RATE) :] * RATE
    assert np.abs(after - speed).max() < 0.1 * speed
    found = slides(joints[round(1.2 * RATE) :])
    assert np.median(found) < 0.05 and np.quantile(found, 0.9) < 0.2
    assert len(found) > 60  # and they do stand


def test_a_turn_ends_at_its_heading_on_feet_that_stand() -> None:
    joints, states = perform((us.Go(WALK_M_S, 0), 2.0), (us.Go(WALK_M_S, 90), 3.0), (us.Go(0), 2.0))
    heading = states[round(4.9 * RATE)].ground.heading
    assert np.degrees(heading) == pytest.approx(90, abs=2)
    found = slides(joints[round(2 * RATE) : round(5 * RATE)])
    assert np.median(found) < 0.1 and np.quantile(found, 0.9) < 0.4


def test_turning_on_the_spot_stays_there() -> None:
    joints, states = perform((us.TurnTo(120), 3.0), (us.TurnTo(point=(0, 0, -5)), 2.5))
    assert np.degrees(states[round(2.9 * RATE)].ground.heading) == pytest.approx(120, abs=3)
    assert abs(np.degrees(states[-1].ground.heading)) == pytest.approx(180, abs=3)
    assert max(abs(state.ground.x) + abs(state.ground.z) for state in states) < 1e-9
    assert np.quantile(slides(joints), 0.9) < 0.4


def test_no_speed_is_the_idle_clip() -> None:
    own = performer()
    idle = own.planner.locomotion.gaits.idle
    assert idle is not None
    _, states = perform((us.Go(0), 2.5))
    clips = idle.features_at(np.arange(480) / 480)
    for state in states[round(2 * RATE) :]:  # the blend from the idling particle is over
        assert np.abs(clips - state.features).max(axis=1).min() < 1e-3


def test_a_stop_ends_at_rest_with_both_feet_down() -> None:
    joints, states = perform((us.Go(WALK_M_S, 0), 2.3), (us.Go(0), 2.5))
    late = joints[-round(0.5 * RATE) :, SOLES]
    assert np.abs(late - late[0])[..., [0, 2]].max() < 1e-3
    assert late[..., 1].max() < 0.05
    assert not any(states[-1].travel)


def test_the_same_seed_takes_the_same_path() -> None:
    told = ((us.Go(WALK_M_S, 30), 1.5), (us.Go(RUN_M_S, -40), 1.5))
    first, second = perform(*told, seed=3)[0], perform(*told, seed=3)[0]
    assert np.array_equal(first, second)


def test_a_locked_point_does_not_move() -> None:
    """However the body moves and turns over it: shown = planned + offset is the same point in every frame."""
    rng = np.random.default_rng(0)
    lock, shown = LockState(stands=True), []
    sole = np.zeros((1, 3))
    for frame in range(50):
        joints = np.array([[0.1 * np.sin(0.1 * frame), 0.02 * frame]]) + 0.01 * rng.normal(size=(1, 2))
        plan = FootPlan(
            joints, np.zeros(1), np.ones(1, bool), np.ones(1), np.zeros((1, 2)), 0.0, 0.0, 0.01 * frame, 0.0, False
        )
        pose = np.array([rng.normal(), 0.1, rng.normal()])
        lock, shift, turn = step_lock(lock, plan, 0, pose, pose + sole, 5.0, 1 / RATE)
        shown.append(pose + shift)
        assert turn + plan.heading == pytest.approx(0.0, abs=1e-12)
    assert np.ptp(np.array(shown)[1:, [0, 2]], axis=0).max() < 1e-9


def test_other_commands_bring_it_to_rest_where_it_is() -> None:
    _, states = perform((us.Go(WALK_M_S, 0), 2.0), (us.Transition("Idle"), 2.0))  # type: ignore[arg-type]
    gone = np.array([state.ground.z for state in states])
    assert np.diff(gone).min() >= -1e-9  # not back to where it began
    assert gone[-1] - gone[round(2 * RATE)] < 0.5 and not any(states[-1].travel)


def test_a_character_without_a_gait_says_so() -> None:
    asset = gait_asset()
    library = ClipLibrary.from_asset(asset, labels={"Idle": ["Idle"]})
    own = Performer(fit_library(library, FitSettings(iterations=5), workers=1), library.rig, RATE)
    with pytest.raises(InvalidInput, match="cannot go anywhere"):
        own.step(own.init(), us.Go(1.0))


def test_a_scalar_spring_is_exact() -> None:
    value, rate = step_scalar(1.0, -2.0, 0.3, 0.2, 0.1)
    half = step_scalar(*step_scalar(1.0, -2.0, 0.3, 0.2, 0.05), 0.3, 0.2, 0.05)
    assert half == pytest.approx((value, rate), rel=1e-12)


def test_a_script_goes_and_can_stay_in_place() -> None:
    text = """
        rate = 60
        label = "Idle"
        [[do]]
        command = "go"
        speed = 1.2
        heading = 90
        seconds = 3
        [[do]]
        command = "turn"
        heading = 0
        """
    own = performer()
    done = run(parse_script(text).check(own.model), own)
    assert done.grounds is not None and done.grounds[-1, 0] > 1.5
    assert np.degrees(done.grounds[-1, 2]) == pytest.approx(0, abs=8)
    assert [event.what for event in done.events if event.place] == ["go", "turn"]
    kept = done.in_place()
    there, here = (own.rig.joints(rows)[..., :3, 3] for rows in (done.rows, kept.rows))
    hips = NAMES.index("hips")
    assert np.abs(here[:, hips, [0, 2]]).max() < 0.05 < there[-1, hips, 0]
    assert np.allclose(
        np.linalg.norm(here[:, hips] - here[:, 8], axis=1), np.linalg.norm(there[:, hips] - there[:, 8], axis=1)
    )
    with pytest.raises(InvalidInput, match="go, goes on until the next one"):
        us.run_script(own.model, [us.Go(1.0)])
