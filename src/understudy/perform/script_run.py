"""Sets of little scripts: which list of a set is played is drawn by chance, and the same seed draws the same.

For each mood a game keeps a set of scripts and picks one of them at random [Bailey 2016, section 6]. Here a set never
plays the same list twice running, where it has another.

When each cue of a script falls: one by one as the commands end, or at their own times, whatever runs then.

A cue with a time that comes while earlier cues still wait for their turn passes them over: they are skipped, and said
to be.

A script performed: frame by frame (`frames`), or as a whole with a report of what happened and its cost (`run`).

Scripts: what a character does and when, as a text that a person writes [Bailey 2016, sections 5.3 and 6].

    rate = 24                       # frames a second
    label = "neutral"               # where it begins

    [[do]]
    command = "transition"          # move, idle, transition, play, mix, look
    label = "happy"
    seconds = 1.0

    [[do]]
    command = "idle"
    pose = "happy_laugh@1.25"       # a moment of a clip, or the name of a pose
    at = 3.0                        # interrupts what runs then; without, it follows when the one before it ends
    seconds = 2.0
    liveliness = 1.2

    [[do]]
    command = "one_of"              # a list out of a set, drawn by chance
    set = "goodbye"

    [[set.goodbye]]
    do = [{command = "play", clip = "shake_gentle"}]

    [[set.goodbye]]
    do = [{command = "transition", label = "bored"}, {command = "idle", seconds = 2}]

`parse` reads it, `Script.check` holds it against a model, `run` performs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from statistics import mean, median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.perform.commands import Command, LookAt
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import CrossBridge, PerformerState
from understudy.perform.script import MAX_SCRIPT_SECONDS, OneOf, Place, Script, ScriptStep, Variant, parse_script

SET_SEED_STREAM = 0x5E7  # keeps the draws apart from other uses of the same seed


@dataclass(frozen=True)
class ScheduledStep:
    """A step as it will be played. `inside` steps of a set count their time from the call of the set.

    `choice` is the number, from 1, of the list that a call of a set has drawn.
    """

    step: ScriptStep
    inside: bool = False
    choice: int | None = None


def schedule_steps(script: Script, seed: int = 0) -> tuple[ScheduledStep, ...]:
    """All steps in their order, each call of a set followed by the steps of the list that was drawn."""
    return tuple(_draw_steps(script, np.random.default_rng([seed, SET_SEED_STREAM])))


def _draw_steps(script: Script, random: np.random.Generator) -> Iterator[ScheduledStep]:
    last: dict[str, int] = {}
    for step in script.steps:
        if not isinstance(step.action, OneOf):
            yield ScheduledStep(step)
            continue
        name = step.action.set
        drawn = last[name] = draw_variant(script.sets[name], last.get(name), random)
        yield ScheduledStep(step, choice=drawn + 1)
        for inner in script.sets[name][drawn].steps:
            yield ScheduledStep(inner, inside=True)


def draw_variant(variants: tuple[Variant, ...], previous: int | None, random: np.random.Generator) -> int:
    """The number of a list, by the lists' weights; not the previous one where there is another."""
    weights = np.array([variant.weight for variant in variants])
    if previous is not None and len(variants) > 1:
        weights[previous] = 0.0
    return int(random.choice(len(variants), p=weights / weights.sum()))


TIME_EPSILON_SECONDS = 1e-9  # seconds; frame times are sums of fractions


@dataclass(frozen=True)
class Schedule:
    """The cues, which one is `following`, and when the set that is being played was called."""

    steps: tuple[ScheduledStep, ...]
    next_index: int = 0
    set_start_seconds: float = 0.0  # seconds
    skipped: tuple[str, ...] = ()  # places

    @property
    def is_finished(self) -> bool:
        """Whether no cue is left."""
        return self.next_index >= len(self.steps)

    def due(self, now: float, busy: bool) -> tuple[Schedule, tuple[ScheduledStep, ...]]:
        """The schedule after the frame at `now` seconds, and the cues that fall into it, in their order.

        `busy` says that a command is still running. Looks and calls of a set take no time: what follows them falls
        into the same frame.
        """
        state, fallen = self, []
        while not state.is_finished:
            number = state._next_due(now, busy)
            if number is None:
                break
            cue = state.steps[number]
            passed = tuple(each.step.place for each in state.steps[state.next_index : number])
            calls = isinstance(cue.step.action, OneOf)
            called = now if calls else state.set_start_seconds
            state = replace(state, next_index=number + 1, set_start_seconds=called, skipped=(*state.skipped, *passed))
            fallen.append(cue)
            busy = (busy and cue.step.at is None) or not isinstance(cue.step.action, (LookAt, OneOf))
        return state, tuple(fallen)

    def _next_due(self, now: float, busy: bool) -> int | None:
        """The number of the cue that falls now: the first in turn, or one behind it whose time has come."""
        first = self.steps[self.next_index]
        if first.step.at is None:
            if not busy:
                return self.next_index
        elif self._time(first) <= now + TIME_EPSILON_SECONDS:
            return self.next_index
        inside = first.inside
        for number in range(self.next_index + 1, len(self.steps)):
            cue = self.steps[number]
            inside = inside and cue.inside  # times of a set that is not called yet are not known
            if cue.step.at is not None and (inside or not cue.inside) and self._time(cue) <= now + TIME_EPSILON_SECONDS:
                return number
        return None

    def _time(self, cue: ScheduledStep) -> float:
        at = cue.step.at or 0.0
        return self.set_start_seconds + at if cue.inside else at


Progress = Callable[[int, int], None]

EXPECTED_COMMAND_SECONDS = 1.5  # seconds that a command is thought to take before it has, for the progress bar alone


@dataclass(frozen=True)
class ScriptEvent:
    """Something that happened at a frame: a command of the script, or a seam (a bridge crossed, a clip begun or left).

    `route` are the labels that a command leads through, `gap` the metres that a seam had to blend away.
    """

    frame: int
    seconds: float
    what: str
    label: str
    place: str = ""
    about: str = ""
    route: tuple[str, ...] = ()
    gap: float | None = None


class PerformedFrame(NamedTuple):
    """One frame of a performance: the row (C,) of the rig, the performer's state, and what happened."""

    row: Array
    state: PerformerState
    events: tuple[ScriptEvent, ...]
    milliseconds: float
    skipped: tuple[str, ...]  # places of steps that had no turn until now


@dataclass(frozen=True, eq=False)
class Performance:
    """A script as it was performed: rows (F, C) of the rig at `rate`, what happened, and a report ready for JSON."""

    rows: Array
    rate: float
    events: tuple[ScriptEvent, ...]
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long it takes to play."""
        return len(self.rows) / self.rate


def frames(script: Script, performer: Performer, seed: int = 0) -> Iterator[PerformedFrame]:
    """The frames of a script, one after the other, as fast as they are asked for. Another seed is another take."""
    if not np.isclose(performer.rate, script.rate):
        raise InvalidInput(
            f"the script is for {script.rate:g} frames a second, but the performer for {performer.rate:g}"
        )
    state = performer.init(script.label, script.pose, seed)
    schedule, until = Schedule(schedule_steps(script, seed)), 0
    names = {place: name for name, place in script.points.items()}
    most = round((MAX_SCRIPT_SECONDS if script.seconds is None else script.seconds) * script.rate)
    while state.frame < most:
        schedule, fallen = schedule.due(state.frame / script.rate, not performer.is_done(state))
        if schedule.is_finished and not fallen and script.seconds is None and _is_over(performer, state, until):
            return
        began, beats = perf_counter(), []
        for cue in fallen:
            state, beat = _apply_command(performer, state, cue, names)
            beats.append(beat)
            if isinstance(cue.step.action, LookAt):
                until = max(until, state.frame + round((cue.step.action.seconds or 0.0) * script.rate))
        state, row = performer.step(state)
        for event in state.event:
            if not any(event.what == beat.what for beat in beats):  # commands are told above, with more words
                beats.append(
                    ScriptEvent(event.frame, event.frame / script.rate, event.what, event.label, gap=event.gap)
                )
        yield PerformedFrame(row, state, tuple(beats), 1e3 * (perf_counter() - began), schedule.skipped)


def run(
    script: Script,
    performer: Performer,
    progress: Progress | None = None,
    seed: int = 0,
    watch: Callable[[PerformedFrame], object] | None = None,
) -> Performance:
    """The whole performance of a script; `progress(done, total)` is told frames, of which the total is a guess.

    `watch` sees every frame as soon as it is made, before the next one is: who sends it on in real time waits there.
    """
    rows: list[Array] = []
    events: list[ScriptEvent] = []
    times, labels = [], []
    skipped: tuple[str, ...] = ()
    guess = _estimate_frames(script)
    for frame in frames(script, performer, seed):
        rows.append(frame.row)
        events += frame.events
        times.append(frame.milliseconds)
        labels.append(frame.state.label)
        skipped = frame.skipped
        if watch is not None:
            watch(frame)
        if progress is not None:
            progress(len(rows), max(guess, len(rows)))
    if not rows:
        raise InvalidInput(f"{script.path}: the script ends before its first frame")
    if progress is not None:
        progress(len(rows), len(rows))
    told = tuple(events)
    report = {"script": script.path, "seed": seed} | _report(script.rate, told, times, labels, skipped)
    return Performance(checks.freeze(np.stack(rows)), script.rate, told, report)


def _is_over(performer: Performer, state: PerformerState, until: int) -> bool:
    return state.frame > 0 and state.frame >= until and performer.is_done(state)


def _apply_command(
    performer: Performer, state: PerformerState, cue: ScheduledStep, names: Mapping[Place, str]
) -> tuple[PerformerState, ScriptEvent]:
    """The state with the cue's command, and the beat that says so."""
    action, seconds = cue.step.action, state.frame / performer.rate
    if isinstance(action, OneOf):
        drawn = f"{action.set}, list {cue.choice}"
        return state, ScriptEvent(state.frame, seconds, "one_of", state.label, cue.step.place, drawn)
    state = performer.command(state, action)
    crossed = (
        ()
        if isinstance(action, LookAt)
        else tuple(x.label for x in state.main_source.plan if isinstance(x, CrossBridge))
    )
    route = (state.label, *crossed) if crossed else ()
    label = route[-1] if route else state.label
    return state, ScriptEvent(
        state.frame, seconds, action.word, label, cue.step.place, describe_command(action, names), route
    )


def describe_command(command: Command, names: Mapping[Place, str] | None = None) -> str:
    """A command's own words, as a person would say them in a list."""
    if isinstance(command, LookAt):
        at = command.at
        return at if isinstance(at, str) else (names or {}).get(at) or ", ".join(f"{x:g}" for x in at)
    for name in ("clip", "pose", "poses", "labels"):
        value = getattr(command, name, None)
        if value:
            words = value if isinstance(value, str) else ", ".join(value)
            weight = getattr(command, "weight", None)
            return words if weight is None else f"{words} at {weight:g}"
    return ""


def _estimate_frames(script: Script) -> int:
    """Frames that the whole will take, roughly."""
    if script.seconds is not None:
        return round(script.seconds * script.rate)
    seconds = 0.0
    for step in script.steps:
        takes = getattr(step.action, "seconds", None) or (
            0.0 if isinstance(step.action, LookAt) else EXPECTED_COMMAND_SECONDS
        )
        seconds = (seconds if step.at is None else step.at) + takes
    return max(1, round(seconds * script.rate))


def _report(
    rate: float, events: tuple[ScriptEvent, ...], times: list[float], labels: list[str], skipped: tuple[str, ...]
) -> dict[str, Any]:
    commands = [beat.what for beat in events if beat.place]
    gaps = [beat.gap for beat in events if beat.gap is not None]
    return {
        "rate": rate,
        "frames": len(times),
        "seconds": round(len(times) / rate, 6),
        # the first frame compiles and prepares what the others use
        "milliseconds_a_frame": {
            "first": round(times[0], 4),
            "mean": round(mean(times[1:] or times), 4),
            "median": round(median(times[1:] or times), 4),
            "worst": round(max(times[1:] or times), 4),
        },
        "commands": {word: commands.count(word) for word in dict.fromkeys(commands)},
        "seconds_by_label": {name: round(labels.count(name) / rate, 3) for name in dict.fromkeys(labels)},
        "bridges_crossed": sum(beat.what == "bridge" for beat in events),
        "seams": {
            "count": len(gaps),
            "mean_gap_metres": round(mean(gaps), 6) if gaps else 0.0,
            "largest_gap_metres": round(max(gaps), 6) if gaps else 0.0,
        },
        "steps_without_a_turn": list(skipped),
        "events": [_to_json(beat) for beat in events],
    }


def _to_json(beat: ScriptEvent) -> dict[str, Any]:
    """For JSON: what says nothing is left out."""
    row = {key: value for key, value in asdict(beat).items() if value not in ("", (), None)}
    row["seconds"] = round(beat.seconds, 6)
    if beat.gap is not None:
        row["gap"] = round(beat.gap, 6)
    return row


__all__ = [
    "OneOf",
    "Performance",
    "PerformedFrame",
    "Script",
    "ScriptEvent",
    "ScriptStep",
    "Variant",
    "frames",
    "parse_script",
    "run",
]
