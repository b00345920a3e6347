"""Schedules and sets: cues in turn, at their times, passed over, drawn by chance but repeatably."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from understudy.perform.script import ScriptStep, Variant, parse_script
from understudy.perform.script_run import Schedule, draw_variant, schedule_steps

SETS = """
[[do]]
command = "one_of"
set = "a"
[[do]]
command = "one_of"
set = "a"
[[do]]
command = "one_of"
set = "a"
[[set.a]]
weight = 8
do = [{command = "play", clip = "p"}]
[[set.a]]
do = [{command = "play", clip = "q"}]
[[set.a]]
do = [{command = "play", clip = "r"}]
"""


def played(text: str, lasts: dict[str, int], frames: int = 40, seed: int = 0) -> list[tuple[int, str]]:
    """(frame, place) of every cue at one frame a second; a command lasts as many frames as `lasts` says."""
    schedule, left, found = Schedule(schedule_steps(parse_script(text), seed)), 0, []
    for frame in range(frames):
        schedule, fallen = schedule.due(float(frame), left > 0)
        for cue in fallen:
            found.append((frame, cue.step.place))
            left = lasts.get(cue.step.place, left)
        left = max(0, left - 1)
    assert schedule.is_finished
    return found


def line(at: float | None = None, command: str = "play", **words: str) -> str:
    words = words or {"clip": '"p"'}
    timed = f"\nat = {at}" if at is not None else ""
    return f'\n[[do]]\ncommand = "{command}"{timed}\n' + "\n".join(f"{key} = {value}" for key, value in words.items())


def test_untimed_cues_follow_when_the_one_before_ends() -> None:
    assert played(line() * 3, {"do 1": 3, "do 2": 2}) == [(0, "do 1"), (3, "do 2"), (5, "do 3")]


def test_a_timed_cue_interrupts() -> None:
    assert played(line() + line(2), {"do 1": 9}) == [(0, "do 1"), (2, "do 2")]


def test_a_timed_cue_waits_for_its_time() -> None:
    assert played(line() + line(7) + line(), {"do 1": 2, "do 2": 4}) == [(0, "do 1"), (7, "do 2"), (11, "do 3")]


def test_a_timed_cue_passes_over_those_that_still_wait() -> None:
    text = line() + line() + line(4)
    assert played(text, {"do 1": 9}) == [(0, "do 1"), (4, "do 3")]
    schedule = Schedule(schedule_steps(parse_script(text)))
    schedule, _ = schedule.due(0.0, False)
    schedule, _ = schedule.due(4.0, True)
    assert schedule.skipped == ("do 2",)


def test_looks_take_no_time() -> None:
    text = line(command="look", target='"camera"') + line() + line(command="look", target='"forward"') + line()
    assert played(text, {"do 2": 3}) == [(0, "do 1"), (0, "do 2"), (3, "do 3"), (3, "do 4")]


def test_two_cues_of_the_same_time_both_fall() -> None:
    text = line() + line(3, "look", target='"camera"') + line(3)
    assert played(text, {"do 1": 9}) == [(0, "do 1"), (3, "do 2"), (3, "do 3")]


def test_times_in_a_set_count_from_its_call() -> None:
    text = line() + line(command="one_of", set='"a"') + line()
    text += '\n[[set.a]]\ndo = [{command = "play", clip = "p"}, {command = "play", clip = "q", at = 2}]'
    lasts = {"do 1": 5, "set a 1, do 1": 9, "set a 1, do 2": 3}
    assert played(text, lasts) == [
        (0, "do 1"),
        (5, "do 2"),
        (5, "set a 1, do 1"),
        (7, "set a 1, do 2"),
        (10, "do 3"),
    ]


def test_a_timed_cue_cuts_a_set_short() -> None:
    text = line(command="one_of", set='"a"') + line(3)
    text += '\n[[set.a]]\ndo = [{command = "play", clip = "p"}, {command = "play", clip = "q", at = 9}]'
    assert played(text, {"set a 1, do 1": 2}) == [(0, "do 1"), (0, "set a 1, do 1"), (3, "do 2")]


def test_a_set_that_waits_for_its_turn_does_not_fall_by_its_inner_times() -> None:
    text = line() + line(command="one_of", set='"a"')
    text += '\n[[set.a]]\ndo = [{command = "play", clip = "q", at = 1}]'
    assert played(text, {"do 1": 6}) == [(0, "do 1"), (6, "do 2"), (7, "set a 1, do 1")]


def test_the_same_seed_draws_the_same_and_never_twice_running() -> None:
    script = parse_script(SETS)
    draws = [tuple(cue.choice for cue in schedule_steps(script, seed) if cue.choice) for seed in range(60)]
    assert draws == [tuple(cue.choice for cue in schedule_steps(script, seed) if cue.choice) for seed in range(60)]
    assert len(set(draws)) > 5
    assert all(a != b for drawn in draws for a, b in pairwise(drawn))


def test_weights_say_how_often() -> None:
    counts = Counter(schedule_steps(parse_script(SETS), seed)[0].choice for seed in range(500))
    assert counts[1] == pytest.approx(400, abs=45)  # binomial, sigma 9: five of them
    assert counts[2] > 0 and counts[3] > 0


def test_a_set_of_one_repeats_itself() -> None:
    only = (Variant((ScriptStep("x", parse_script(SETS).sets["a"][0].steps[0].action),)),)
    assert draw_variant(only, 0, np.random.default_rng(0)) == 0
