"""What labels do: cycles go on without repeating themselves, acts return, changes are where the cost says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.learned import lamp_model, lamp_rig
from tests.reference import changes as reference

from understudy.errors import InvalidInput
from understudy.perform.behaviours import ACT, CYCLE, POSE, Behaviour
from understudy.perform.commands import Idle, Mix, PlayClip, Transition
from understudy.perform.runtime import changes, particle_kernels
from understudy.perform.runtime.changes import ChangeLimits, EnteredMotion, LookSpace, find_changes
from understudy.perform.runtime.live import LivePerformer
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState, RideCycle, StillPose

RATE = 24.0


@pytest.fixture(scope="module")
def performer() -> Performer:
    """The lamp, with its hop and its curiosity as cycles and its joy as an act."""
    model = lamp_model()
    kinds = {
        "hop": Behaviour(CYCLE),
        "curious": Behaviour(CYCLE),
        "happy": Behaviour(ACT),
        "sad": Behaviour(ACT, stays=True),
    }
    return Performer(replace(model, behaviours=kinds), lamp_rig(), RATE, layers=False)


def play(
    performer: Performer, state: PerformerState, frames: int, *commands: object
) -> tuple[PerformerState, np.ndarray, list[tuple[str, str]]]:
    features, events = [], []
    for frame in range(frames):
        state, _ = performer.step(state, commands[frame] if frame < len(commands) else None)  # type: ignore[arg-type]
        features.append(state.features)
        events += [(event.what, event.clip) for event in state.event]
    return state, np.array(features), events


def cycle_frames(performer: Performer, clip: str) -> int:
    return round(performer.planner.cycle(clip).period * RATE)


def test_a_cycle_goes_on_and_never_repeats_itself(performer: Performer) -> None:
    count = cycle_frames(performer, "hop")
    state, features, events = play(performer, performer.init("hop", seed=2), 4 * count)
    assert isinstance(state.main_source.current_segment, RideCycle)
    assert [what for what, _ in events].count("cycle") >= 3
    moved = performer.model.difference(features[1:], features[:-1]).sum()
    own = performer.model.space("hop").features.astype(float)
    assert moved > 2 * performer.model.difference(own[1:], own[:-1]).sum(), "it moves as its clip does"
    first, later = features[count : 2 * count], features[2 * count : 3 * count]
    away = performer.model.difference(first[:, None], later[None]).min(axis=1)
    assert away.min() > 0, "no frame comes again"


def test_still_it_is_the_clip_itself(performer: Performer) -> None:
    settings = replace(performer.init("hop").live_settings, stillness=1.0, stillness_to=1.0)
    state = replace(performer.init("hop"), live_settings=settings)
    cycle = performer.planner.cycle("hop")
    for frame in range(1, 2 * cycle_frames(performer, "hop")):
        state, _ = performer.step(state)
        expected = cycle.features_at(np.array([frame / (cycle.period * RATE)]))[0]
        np.testing.assert_allclose(state.main_source.features, expected, atol=1e-9)


def test_the_seam_has_no_step(performer: Performer) -> None:
    cycle = performer.planner.cycle("hop")
    before, after = cycle.features_at(np.array([1 - 1e-6, 1e-6]))
    np.testing.assert_allclose(before, after, atol=1e-3)


def test_an_act_returns_to_the_cycle_that_it_came_from(performer: Performer) -> None:
    state, _, _ = play(performer, performer.init("hop", seed=1), 20)
    length = len(performer.model.space("happy"))
    state, _, events = play(performer, state, length + 40, Transition("happy"))
    assert state.label == "hop" and isinstance(state.main_source.current_segment, RideCycle)
    assert performer.is_done(state)
    assert ("act_end", "happy") in events


def test_a_command_is_not_done_while_it_waits_to_begin(performer: Performer) -> None:
    """The cycle goes on until the best moment to leave it, for an act, a loop or a pose."""
    waited = 0
    for command, label in ((Transition("happy"), "happy"), (PlayClip("curious", loop=True), "curious")):
        for start in range(cycle_frames(performer, "hop")):
            state, _, _ = play(performer, performer.init("hop", seed=start), 8 + start)
            state, _ = performer.step(state, command)
            while state.label != label:
                assert not performer.is_done(state), f"{command.word} told {start} frames into the cycle"
                state, _ = performer.step(state)
                waited += 1
            assert not performer.is_done(state)
    assert waited


def test_a_change_that_waits_is_taken_back(performer: Performer) -> None:
    for start in range(cycle_frames(performer, "hop")):
        state, _, _ = play(performer, performer.init("hop", seed=start), 8 + start)
        state, _ = performer.step(state, Transition("happy"))
        if state.label == "hop":
            phase = state.main_source.memory.phase
            state, _ = performer.step(state, Transition("hop"))
            assert len(state.main_source.plan) == 1 and not state.blending
            assert 0 < (state.main_source.memory.phase - phase) % 1.0 < 0.2, "it goes on without a jump"
            return
    raise AssertionError("no change waited")


def test_a_clip_that_is_ridden_is_played_from_where_its_cycle_begins(performer: Performer) -> None:
    cycle = performer.planner.cycle("hop")
    before = cycle_frames(performer, "hop") - round(0.8 * RATE)  # longer than a change waits otherwise
    state, _, _ = play(performer, performer.init("hop", seed=2), before)
    phase = state.main_source.memory.phase % 1.0
    state, _ = performer.step(state, PlayClip("hop"))
    while isinstance(state.main_source.current_segment, RideCycle):
        phase = state.main_source.memory.phase % 1.0
        state, _ = performer.step(state)
    one_frame = cycle.speed / (cycle.period * RATE)
    assert min(phase, 1.0 - phase) <= 2.0 * one_frame


def test_an_act_that_stays_holds_its_last_pose(performer: Performer) -> None:
    length = len(performer.model.space("sad"))
    state, features, _ = play(performer, performer.init("hop"), length + 40, Transition("sad"))
    assert state.label == "sad" and isinstance(state.main_source.current_segment, StillPose)
    np.testing.assert_array_equal(features[-1], features[-2])


def test_an_act_does_not_return_to_the_end_of_another(performer: Performer) -> None:
    state, _, _ = play(performer, performer.init("hop"), len(performer.model.space("sad")) + 40, Transition("sad"))
    state, _, _ = play(performer, state, len(performer.model.space("happy")) + 40, Transition("happy"))
    assert state.label == "curious" and isinstance(state.main_source.current_segment, RideCycle)


def test_an_act_can_be_left_at_once(performer: Performer) -> None:
    state, _, _ = play(performer, performer.init("hop"), 30, Transition("happy"))
    state, _, _ = play(performer, state, 20, Idle())
    assert state.label == "hop"


def test_play_loops_at_a_speed(performer: Performer) -> None:
    count = cycle_frames(performer, "hop")
    _, _, events = play(performer, performer.init("curious"), 2 * count, PlayClip("hop", loop=True, speed=2.0))
    assert 3 <= [what for what, _ in events].count("cycle") <= 5
    piece = PlayClip("happy", 0.0, 0.5, loop=True)
    state, _, events = play(performer, performer.init("hop"), 60, piece)
    assert [what for what, _ in events].count("enter") >= 3 and state.label == "happy"


def test_a_mask_moves_its_joints_alone(performer: Performer) -> None:
    names = lamp_rig().character.skeleton.names
    start = performer.init("hop", seed=3)
    _, alone, _ = play(performer, start, 30)
    state, masked, _ = play(performer, start, 30, PlayClip("happy", mask=(names[-1],)))
    targets = np.array([target == names[-1] for target in performer.model.encoder.targets])
    assert targets.any(), "the last joint moves in the clips"
    np.testing.assert_allclose(masked[:, ~targets], alone[:, ~targets], atol=1e-12)
    assert np.abs(masked - alone)[:, targets].max() > 1e-3
    assert state.label == "hop"
    with pytest.raises(InvalidInput, match="mask names a joint 'wing'"):
        performer.step(start, PlayClip("happy", mask=("wing",)))


def test_three_labels_are_mixed_and_cycles_keep_step(performer: Performer) -> None:
    state, _, _ = play(performer, performer.init("hop"), 100, Mix(("hop", "curious", "happy"), (2, 1, 1)))
    weights = {source.label: source.weight(state.frame, RATE) for source in state.sources}
    assert weights == pytest.approx({"hop": 0.5, "curious": 0.25, "happy": 0.25})
    phases = []
    for _ in range(40):
        state, _ = performer.step(state)
        rides = [s for s in state.sources if isinstance(s.current_segment, RideCycle)]
        phases.append((rides[0].memory.phase - rides[1].memory.phase) % 1.0)
    turns = np.exp(2j * np.pi * np.array(phases))
    assert np.abs(turns - turns[0]).max() < 1e-6


def test_a_pose_is_held_exactly() -> None:
    model = lamp_model()
    still = Performer(replace(model, behaviours={"sad": Behaviour(POSE)}), lamp_rig(), RATE, layers=False)
    _, features, _ = play(still, still.init("happy"), 60, Transition("sad"))
    np.testing.assert_array_equal(features[-1], features[-10])


def test_urgency_is_sooner(performer: Performer) -> None:
    def frames(urgency: float) -> int:
        state, count = performer.init("hop", seed=5), 0
        state, _ = performer.step(state, Transition("curious", urgency=urgency))
        while not performer.is_done(state):
            state, _ = performer.step(state)
            count += 1
        return count

    assert frames(1.0) <= 0.3 * RATE < frames(0.0)


def test_the_kernel_finds_what_the_oracle_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    model = lamp_model()
    looks = LookSpace.from_model(model)
    space = model.space("happy")
    motion, _ = EnteredMotion.from_pieces(looks, [space.features.astype(float)], [np.arange(len(space))])
    source = looks.of(model.space("sad").features.astype(float))
    waits = np.array([0.0, 0.2, 0.4])
    for frame in (3, 20, 41):
        poses = source[frame : frame + 3]
        rates = (source[frame : frame + 3] - source[frame - 1 : frame + 2]) * looks.rate
        arguments = (looks, poses, rates, waits, 0.1, motion, ChangeLimits.of_urgency(0.5))
        fast = find_changes(*arguments)
        with monkeypatch.context() as patch:
            patch.setattr(particle_kernels, "search_changes", reference.search_changes)
            slow = find_changes(*arguments)
        assert [change.cost for change in fast] == pytest.approx([change.cost for change in slow])
        assert len(fast) > 1 and (fast[0].frame, fast[0].seconds) == (slow[0].frame, slow[0].seconds)


def test_the_predicted_peak_is_what_is_shown() -> None:
    """The change of a motion into itself elsewhere, blended by hand."""
    model = lamp_model()
    looks = LookSpace.from_model(model)
    values = looks.of(model.space("happy").features.astype(float))
    motion, _ = EnteredMotion.from_pieces(looks, [model.space("happy").features.astype(float)], [np.array([30])])
    pose, rate = values[10:11], (values[10:11] - values[9:10]) * looks.rate
    limits = ChangeLimits(1.0, (0.5,), 0.0)
    change = find_changes(looks, pose, rate, np.zeros(1), 0.0, motion, limits)[0]
    count = round(0.5 * looks.rate) + 2
    times = np.arange(1, count + 1) / looks.rate
    h0, h1 = changes.decay_shapes(times / 0.5)
    entered = values[30 : 31 + count]
    shown = (
        entered[1:]
        + np.outer(h0, pose[0] - entered[0])
        + np.outer(0.5 * h1, rate[0] - (entered[1] - entered[0]) * looks.rate)
    )
    whole = np.concatenate([values[9:11], shown])
    peak = np.linalg.norm(np.diff(whole, 2, axis=0), axis=1).max() * looks.rate**2
    usual = max(motion.own_acceleration, changes.MIN_LIBRARY_RATIO * looks.usual)
    assert change.peak == pytest.approx(peak / usual, rel=1e-6)


def test_a_live_character_shows_the_same_at_any_rate(performer: Performer) -> None:
    def rows(dt: float, seconds: float) -> np.ndarray:
        live = LivePerformer(performer, "hop", seed=4)
        live.tell(Transition("curious"))
        return np.array([live.step(dt) for _ in range(round(seconds / dt))])

    fine, coarse = rows(1 / 96, 2.0), rows(1 / 12, 2.0)
    np.testing.assert_allclose(fine[7::8], coarse, atol=1e-9)
    with pytest.raises(InvalidInput, match="dt should be a time"):
        LivePerformer(performer, "hop").step(-1.0)
