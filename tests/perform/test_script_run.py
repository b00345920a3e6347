"""Running a script: what is told when, how long it lasts, what the report says; with a stand-in for the performer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.perform.commands import Command, LookAt
from understudy.perform.features.root_motion import GroundFrame
from understudy.perform.runtime.state import CrossBridge, PerformanceEvent
from understudy.perform.script import parse_script
from understudy.perform.script_run import frames, run


@dataclass(frozen=True)
class StandInState:
    """A frame number, and how many frames the command under way still takes."""

    frame: int = 0
    seed: int = 0
    left: int = 0
    label: str = "calm"
    main_source: Any = field(default_factory=lambda: SimpleNamespace(plan=()))
    event: tuple[Any, ...] = ()
    ground: GroundFrame = field(default_factory=GroundFrame)


class StandIn:
    """Takes as long for a command as its `seconds` say, or six frames, and shows its frame number."""

    rate = 10.0
    rig = SimpleNamespace(character=SimpleNamespace(name="stand-in"))

    def __init__(self) -> None:
        self.told: list[tuple[int, str]] = []

    def init(self, label: str | None, pose: str | None, seed: int) -> StandInState:
        return StandInState(seed=seed, label=label or "calm")

    def command(self, state: StandInState, command: Command) -> StandInState:
        self.told.append((state.frame, command.word))
        event = PerformanceEvent(frame=state.frame, what=command.word, label=state.label, gap=0.0)
        state = replace(state, event=(*state.event, event))
        if isinstance(command, LookAt):
            return state
        legs: tuple[Any, ...] = ()
        if command.word == "transition":
            legs = (CrossBridge("between", np.zeros(3), 0.1), CrossBridge(command.label, np.zeros(3), 0.2))  # type: ignore[attr-defined]
            event = PerformanceEvent(frame=state.frame, what="bridge", label="between", gap=0.25)
            state = replace(state, event=(*state.event, event))
        seconds = getattr(command, "seconds", None)
        left = 6 if seconds is None else round(seconds * self.rate)
        return replace(state, left=left, main_source=SimpleNamespace(plan=legs))

    def step(self, state: StandInState) -> tuple[StandInState, np.ndarray]:
        events = tuple(event for event in state.event if event.frame == state.frame)
        label = state.main_source.plan[-1].label if state.main_source.plan else state.label
        after = replace(state, frame=state.frame + 1, left=max(0, state.left - 1), event=events, label=label)
        return after, np.array([float(state.frame), state.seed])

    def is_done(self, state: StandInState) -> bool:
        return state.left == 0


def perform(text: str, seed: int = 0, **named: Any):
    player = StandIn()
    done = run(parse_script(f"rate = 10\n{text}", "s.toml"), player, seed=seed, **named)  # type: ignore[arg-type]
    return done, player


IDLE = '[[do]]\ncommand = "idle"\nseconds = 1\n'
PLAY = '[[do]]\ncommand = "play"\nclip = "a"\n'


def test_it_ends_when_the_last_command_does() -> None:
    done, player = perform(IDLE + PLAY)
    assert player.told == [(0, "idle"), (10, "play")]
    assert len(done.rows) == 16 and done.seconds == pytest.approx(1.6)
    assert done.rows[:, 0].tolist() == list(range(16))


@pytest.mark.parametrize("seconds", [0.5, 3.0])
def test_the_whole_may_be_cut_or_held(seconds: float) -> None:
    done, _ = perform(f"seconds = {seconds}\n" + IDLE)
    assert len(done.rows) == round(10 * seconds)


def test_a_look_at_the_end_takes_its_time_and_before_takes_none() -> None:
    look = '[[do]]\ncommand = "look"\ntarget = "camera"\n'
    done, player = perform(look + PLAY + look + "seconds = 2\n")
    assert player.told == [(0, "look"), (0, "play"), (6, "look")]
    assert len(done.rows) == 26
    done, _ = perform(look)
    assert len(done.rows) == 1  # a look alone is still a frame


def test_events_tell_what_happened_where() -> None:
    done, _ = perform(
        '[[do]]\ncommand = "transition"\nlabel = "glad"\n' + '[[do]]\ncommand = "one_of"\nset = "x"\n' + SET
    )
    told = [(beat.frame, beat.place, beat.what, beat.label, beat.about) for beat in done.events]
    assert told[0] == (0, "do 1", "transition", "glad", "")
    assert done.events[0].route == ("calm", "between", "glad")
    assert told[1] == (0, "", "bridge", "between", "") and done.events[1].gap == 0.25
    assert told[2] == (6, "do 2", "one_of", "glad", "x, list 1")
    assert told[3] == (6, "set x 1, do 1", "play", "glad", "a")
    assert done.report["bridges_crossed"] == 1
    assert done.report["seams"] == {"count": 1, "mean_gap_metres": 0.25, "largest_gap_metres": 0.25}
    assert done.report["commands"] == {"transition": 1, "one_of": 1, "play": 1}
    assert done.report["seconds_by_label"] == {"glad": 1.2}


SET = '[[set.x]]\ndo = [{command = "play", clip = "a"}]\n'


def test_looks_at_points_are_told_by_name() -> None:
    text = "[points]\nball = [1, 2, 3]\n"
    for target in ('"ball"', '"camera"', "[3, 2, 0.5]"):
        text += f'[[do]]\ncommand = "look"\ntarget = {target}\n'
    assert [beat.about for beat in perform(text)[0].events] == ["ball", "camera", "3, 2, 0.5"]


def test_steps_that_never_had_their_turn_are_named() -> None:
    done, player = perform(IDLE + PLAY + PLAY + "at = 0.5\n")
    assert player.told == [(0, "idle"), (5, "play")]
    assert done.report["steps_without_a_turn"] == ["do 2"]


def test_progress_ends_at_its_total() -> None:
    seen: list[tuple[int, int]] = []
    perform(IDLE + PLAY, progress=lambda *now: seen.append(now))
    assert [now for now, _ in seen[:-1]] == list(range(1, 17))
    assert all(now <= total for now, total in seen) and seen[-1] == (16, 16)


def test_the_seed_goes_to_the_performer() -> None:
    assert set(perform(IDLE, seed=7)[0].rows[:, 1]) == {7.0}
    assert perform(IDLE, seed=7)[0].report["seed"] == 7


def test_a_performer_of_another_rate_is_refused() -> None:
    with pytest.raises(InvalidInput, match="24 frames a second, but the performer for 10"):
        next(frames(parse_script(f"rate = 24\n{IDLE}"), StandIn()))  # type: ignore[arg-type]
