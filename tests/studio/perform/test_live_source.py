"""LiveSource: commands take over at once and without a jolt, scripts run live, what is shown is what is recorded."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.perform.gait_clips import RUN_M_S, gait_asset

from understudy.errors import BadFile, InvalidInput
from understudy.perform.commands import Command, Go, GoTo, Idle, LookAt, Mix, PlayClip, Transition
from understudy.perform.library import ClipLibrary
from understudy.perform.pose_model import ModelWithCharacter
from understudy.perform.runtime.performer import Performer
from understudy.perform.training import FitSettings, fit_library
from understudy.studio.perform.live_source import LIVE_RATE_HZ, MAX_STEPS_PER_CALL, LiveSource, performance_report
from understudy.studio.source import PlaybackSource

TICK = 1 / LIVE_RATE_HZ
GREETING = """
[[do]]
command = "transition"
label = "sad"
[[do]]
command = "look"
target = "forward"
[[do]]
command = "idle"
seconds = 0.5
"""


def watch(source: LiveSource, seconds: float) -> np.ndarray:
    return np.array([source.advance(TICK) for _ in range(round(seconds * LIVE_RATE_HZ))])


def watch_out(source: LiveSource) -> None:
    """Until the script is over."""
    for _ in range(round(30 * LIVE_RATE_HZ)):
        if source.script is None:
            return
        source.advance(TICK)
    raise AssertionError("the script does not end")


def random_command(source: LiveSource, random: np.random.Generator) -> Command:
    labels, clips = source.repertoire.labels, source.repertoire.clips
    label, other = (str(name) for name in random.choice(labels, 2, replace=False))
    pose = f"{label}@{random.uniform(0, 0.9) * clips[label]:.2f}"
    return [
        lambda: GoTo(pose),
        lambda: GoTo(pose, path="straight", seconds=float(random.uniform(0.4, 2))),
        lambda: Idle((pose,)),
        lambda: Transition(label),
        lambda: PlayClip(label, start=float(random.uniform(0, 0.5) * clips[label])),
        lambda: Mix((label, other), float(random.uniform(0.2, 0.8))),
        lambda: Idle(liveliness=float(random.uniform(0, 2)), stillness=float(random.uniform(0, 1))),
    ][random.integers(7)]()


def test_it_is_a_source(source: LiveSource) -> None:
    assert isinstance(source, PlaybackSource)
    assert source.live and source.duration is None
    before = source.time
    source.seek(100.0)
    np.testing.assert_array_equal(source.advance(0.0), source.advance(0.0))
    assert source.time == before
    assert source.advance(TICK).shape == (source.opened.rig.channels.width,)


def test_a_performer_of_another_rate_is_refused(lamp: ModelWithCharacter, lamp_performer: Performer) -> None:
    with pytest.raises(InvalidInput, match="should have the rate 30, but has 60"):
        LiveSource(lamp, 30.0, performer=lamp_performer)


def test_an_uneven_clock_takes_a_step_a_tick_and_lost_time_is_dropped(source: LiveSource) -> None:
    random = np.random.default_rng(0)
    for _ in range(60):
        before = source.state.frame
        ticks = TICK * (1 + random.uniform(-0.3, 0.3)) - source._left  # a clock that is right on average
        source.advance(ticks)
        assert source.state.frame == before + 1
    before = source.state.frame
    source.advance(5.0)
    assert source.state.frame == before + MAX_STEPS_PER_CALL


def test_the_same_seed_and_commands_perform_the_same(lamp: ModelWithCharacter, lamp_performer: Performer) -> None:
    def take(seed: int) -> np.ndarray:
        source = LiveSource(lamp, seed=seed, performer=lamp_performer)
        source.tell(Transition("happy"))
        return watch(source, 1.0)

    np.testing.assert_array_equal(take(1), take(1))
    assert np.abs(take(1) - take(2)).max() > 1e-6


def test_random_commands_at_random_moments_make_no_jolt(source: LiveSource) -> None:
    """No change of velocity from frame to frame is larger than the largest in any clip, which has 24 frames a second
    and so two and a half times as long for it."""
    model, random = source.opened.model, np.random.default_rng(7)
    most = 0.0
    for space in model.spaces.values():
        for segment in space.segments:
            velocity = np.diff(space.features[segment.start : segment.stop].astype(float), axis=0) * space.rate
            most = max(most, float(model.difference(velocity[1:], velocity[:-1]).max()))
    features = [source.state.features]
    while len(features) < 12 * LIVE_RATE_HZ:
        source.tell(random_command(source, random))
        for _ in range(random.integers(1, 120)):
            source.advance(TICK)
            features.append(source.state.features)
    velocity = np.diff(np.array(features), axis=0) * LIVE_RATE_HZ
    jumps = model.difference(velocity[1:], velocity[:-1])
    assert jumps.max() < most
    assert jumps.max() > 0.01 * most  # it did move


def test_sixty_frames_a_second_play_a_clip_as_long_as_it_is(source: LiveSource) -> None:
    """The rate of the stage is not that of the model; a clip still takes its own time, and passes its own frames."""
    source.tell(PlayClip("happy"))
    while not source.state.main_source.is_replaying:
        source.advance(TICK)
    began, shown = source.time, []
    while source.state.main_source.is_replaying and not source.state.main_source.is_segment_over:
        source.advance(TICK)
        shown.append(source.state.main_source.features)
    assert source.time - began == pytest.approx(source.repertoire.clips["happy"], abs=2 * TICK)
    space = source.opened.model.spaces["happy"]
    distance = [np.abs(np.array(shown) - frame).max(axis=1).min() for frame in space.features[2:-2:9].astype(float)]
    assert max(distance) < 0.1  # within half a frame of every frame of the clip


def test_what_is_shown_is_recorded(source: LiveSource) -> None:
    watch(source, 0.1)
    source.start_recording()
    source.tell(Transition("sad"))
    shown = watch(source, 1.5)
    recorded = source.stop_recording()
    np.testing.assert_array_equal(recorded.rows, shown.astype(np.float32))
    assert (recorded.rate, recorded.labels) == (LIVE_RATE_HZ, ("sad",))  # entered at once
    with pytest.raises(InvalidInput, match="nothing was recorded"):
        source.stop_recording()


def test_a_script_runs_from_where_it_is(source: LiveSource) -> None:
    source.tell(PlayClip("hop"))
    watch(source, 0.4)
    source.run_script(GREETING)
    assert not source.is_done
    watch_out(source)
    assert source.is_done and source.script is None and source.label == "sad"
    told = [(beat.what, beat.place) for beat in source.take_events() if beat.place]
    assert told == [("transition", "do 1"), ("look", "do 2"), ("idle", "do 3")]
    assert source.take_events() == []


def test_a_script_that_says_where_it_begins_goes_there_first(source: LiveSource) -> None:
    source.run_script('label = "happy"\n' + GREETING)
    watch_out(source)
    places = [beat.place for beat in source.take_events() if beat.place]
    assert places == ["beginning", "do 1", "do 2", "do 3"]


def test_a_command_ends_a_script_and_a_look_does_not(source: LiveSource) -> None:
    source.run_script(GREETING)
    source.advance(TICK)
    source.tell(LookAt((0.0, 1.0, 2.0)))
    assert source.script is not None
    source.tell(Transition("happy"))
    assert source.script is None
    watch(source, 4.0)
    assert source.label == "happy"
    source.run_script(GREETING)
    source.stop_script()
    assert source.script is None


def test_mistakes_are_sentences_and_change_nothing(source: LiveSource) -> None:
    source.run_script(GREETING)
    running, state = source.script, source.state
    for wrong in (GoTo("nope@1"), Transition("hapy"), PlayClip("hop", start=99.0), Idle(("nobody",))):
        with pytest.raises(InvalidInput, match=r"hapy|nope|hop|nobody"):
            source.tell(wrong)
    with pytest.raises(BadFile, match="script, do 1: there is no command 'mov'"):
        source.run_script('[[do]]\ncommand = "mov"')
    with pytest.raises(InvalidInput, match="a point to look at"):
        source.look((0.0, 1.0))
    assert (source.script, source.state) == (running, state)


def test_dials_turn_while_something_runs(source: LiveSource) -> None:
    source.tell(Transition("sad"))
    source.advance(TICK)
    legs = source.state.main_source.plan
    source.set_live_settings(liveliness=2.0, stillness=0.5)
    assert source.state.main_source.plan == legs
    watch(source, 1.0)
    assert (source.state.live_settings.liveliness, source.state.live_settings.stillness) == (2.0, 0.5)
    with pytest.raises(InvalidInput, match="stillness"):
        source.set_live_settings(stillness=2.0)


def test_the_gaze_dial_is_how_far_the_eyes_go() -> None:
    camera, point = (0.0, 1.0, 4.0), (3.0, 2.0, 1.0)

    class OnlyEyes(LiveSource):
        def __init__(self) -> None:
            self.gaze = 0.5

        @property
        def _eyes(self) -> object:  # type: ignore[override]
            return SimpleNamespace(points={"camera": camera})

    source = OnlyEyes()
    np.testing.assert_allclose(source._aim(point), (np.array(camera) + point) / 2)
    source.gaze = 0.0
    assert source._aim(point) is None
    source.gaze = 1.0
    assert source._aim(point) == point
    assert source._aim("camera") == "camera"


def test_a_character_that_walks_is_steered() -> None:
    library = ClipLibrary.from_asset(gait_asset(eased=True))
    model = fit_library(library, FitSettings(iterations=0), workers=1)
    source = LiveSource(ModelWithCharacter("walker", model, library.rig), label="Idle")
    assert performance_report(source, "m").max_speed is None  # it is not prepared yet
    source.prepare()
    source.tell(Go(1.0, heading=90))
    watch(source, 2.0)
    report, ground = performance_report(source, "m"), source.state.ground
    assert report.max_speed is not None and report.max_speed > RUN_M_S
    assert report.speed == pytest.approx(1.0, rel=0.05) and ground.x > 1.0 > abs(ground.z)
    source.tell(Go(0.0))
    watch(source, 1.5)
    assert performance_report(source, "m").speed == 0.0


def test_what_cannot_walk_has_no_speed(source: LiveSource) -> None:
    source.prepare()
    assert performance_report(source, "m").max_speed is None
    with pytest.raises(InvalidInput, match="cannot go"):
        source.tell(Go(1.0))


def test_a_learned_model_takes_over_from_its_draft(lamp: ModelWithCharacter, lamp_performer: Performer) -> None:
    source = LiveSource(lamp, seed=2)
    source.tell(Transition("happy"))
    before = watch(source, 1.0)
    source.take_over(lamp, lamp_performer)
    after = watch(source, 0.5)
    assert source.performer is lamp_performer and source.label == "happy"
    steps = np.abs(np.diff(np.concatenate([before[-30:], after]), axis=0)).max(axis=1)
    assert steps[29] <= 1.5 * steps[:29].max() + 1e-6
