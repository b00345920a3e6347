"""Perform a script: frame by frame (`frames`), or as a whole with a report of its events and its cost (`run`).

**Sets.** For each mood a game keeps a set of scripts and picks one of them at random [Bailey 2016, section 6]. Which
list of a set is played follows from the seed. A set never plays the same list twice running, where it has another.

**Schedule.** Steps follow each other as the commands end, or start at their own times and interrupt the running
command. A step whose time comes while earlier steps still wait overtakes them: they are skipped, and the report lists
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from understudy import checks, files
from understudy.character import Asset, Character, Clip
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.perform.commands import Command, Go, LookAt, TurnTo
from understudy.perform.features.root_motion import remove_travel
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_model import clip_of_rows
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import (
    BRIDGE_EVENT,
    ENTER_EVENT,
    CrossBridge,
    EnterMotion,
    PerformanceEvent,
    PerformerState,
)
from understudy.perform.script import (
    MAX_SCRIPT_BYTES,
    MAX_SCRIPT_SECONDS,
    OneOf,
    Place,
    Script,
    ScriptStep,
    Variant,
    parse_script,
)

if TYPE_CHECKING:
    from understudy.perform.pose_model import PoseModel

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
    "run_script",
]

UNNAMED_SCRIPTS = ("commands", "script", "standard input")  # paths of scripts that no file gives a name
SET_SEED_STREAM = 0x5E7  # second word of the seed, so that other uses of the seed draw other numbers
TIME_EPSILON_SECONDS = 1e-9  # frame times are sums of fractions
EXPECTED_COMMAND_SECONDS = 1.5  # guessed length of a command, for the progress bar alone

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ScriptEvent:
    """An event at a frame: a command of the script, a seam (a motion entered, a bridge crossed), or one of the motion
    (`act_end`, `cycle`, `foot`).

    `about` is a clip or a joint, `route` are the labels that a command leads through, `gap` the metres that a seam had
    to blend away.
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
    """One frame of a performance: the row (C,) of the rig, the performer's state, and the events."""

    row: Array
    state: PerformerState
    events: tuple[ScriptEvent, ...]
    milliseconds: float
    skipped: tuple[str, ...]  # places of the steps skipped so far


@dataclass(frozen=True, eq=False)
class Performance:
    """The performance of a script: the poses, the events, and a report ready for JSON."""

    rows: Array  # (F, C) of the rig
    rate: float  # frames a second
    events: tuple[ScriptEvent, ...]
    rig: PosedRig
    name: str = "performance"
    report: dict[str, Any] = field(default_factory=dict)
    grounds: Array | None = None  # (F, 3) x, z and heading of the ground under each frame

    def in_place(self) -> Performance:
        """The same performance without its way over the ground: for programs that move the character themselves."""
        skeleton = getattr(self.rig.character, "skeleton", None)
        if self.grounds is None or skeleton is None or not self.grounds.any():
            return self
        rows = remove_travel(skeleton, self.rig.channels, self.rows, self.grounds)
        return replace(self, rows=checks.freeze(rows), grounds=None)

    @property
    def seconds(self) -> float:
        """Length of the performance."""
        return len(self.rows) / self.rate

    @property
    def character(self) -> Character:
        """The character that performed."""
        return self.rig.character

    @cached_property
    def clip(self) -> Clip:
        """The performance as a clip of the character; channels that stay at rest are left out."""
        labels = dict.fromkeys(event.label for event in self.events)
        return clip_of_rows(self.rig, self.name, self.rows, self.rate, labels)

    @property
    def asset(self) -> Asset:
        """The character with the clip."""
        return Asset([self.character], [self.clip])


def run_script(
    model: PoseModel | PerformanceModel,
    script: str | Path | Script | Sequence[Command],
    *,
    label: str | None = None,
    rate: float | None = None,
    layers: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> Performance:
    """Perform a script from its first frame to its last.

    Args:
        model: A fitted `PoseModel`, or a `PerformanceModel`.
        script: A script file (TOML), a `Script`, or commands that follow each other. Commands that go on until the
            next one, such as `Idle`, need `seconds` here.
        label: The label to begin in; None takes that of the script, else the first of the model.
        rate: Frames a second; None takes that of the script, or that of the model for commands.
        layers: Whether breath, feet, gaze and blinks are laid over the motion, where the character has controls.
        seed: Seed of everything random; another seed gives another take.
        progress: Called with the frames done and a guess of their number.

    Returns:
        The performance: `rows` (F, C) of the rig, the `clip`, the `events`, and a `report`.

    Raises:
        BadFile: If the script is damaged, or names what the model does not have.
        InvalidInput: If a command never ends.
        NotFitted: If the model was not fitted.

    Example:
        >>> done = us.run_script(us.load("lamp.understudy"), [us.Idle(seconds=0.5), us.PlayClip("hop", 3, 4)])
        >>> [event.what for event in done.events if event.place]
        ['idle', 'play']
        >>> done.clip.rate, done.rows.shape[1] == done.rig.channels.width
        (24.0, True)
    """
    learnt = model if isinstance(model, PerformanceModel) else model.model_
    read = _read_script(script, learnt.rate)
    read = replace(read, rate=rate or read.rate, label=label or read.label).check(learnt)
    return run(read, Performer(model, rate=read.rate, layers=layers), progress, seed)


def _read_script(script: str | Path | Script | Sequence[Command], rate: float) -> Script:
    if isinstance(script, Script):
        return script
    if isinstance(script, str | Path):
        return parse_script(files.read_text(script, 4 * MAX_SCRIPT_BYTES), str(script))
    for number, command in enumerate(script, 1):
        if not isinstance(command, Command):
            raise InvalidInput(f"command {number} should be a command, but is {type(command).__name__}")
        if command.is_endless:
            raise InvalidInput(f"command {number}, {command.word}, goes on until the next one: give it `seconds`")
    if not len(script):
        raise InvalidInput("a script should have at least one command, but has none")
    steps = [ScriptStep(f"command {number}", command) for number, command in enumerate(script, 1)]
    return Script("commands", tuple(steps), rate)


def run(
    script: Script,
    performer: Performer,
    progress: Progress | None = None,
    seed: int = 0,
    watch: Callable[[PerformedFrame], object] | None = None,
) -> Performance:
    """The whole performance of a script; `progress(done, total)` is called with frames, of which the total is a guess.

    `watch` is called with every frame before the next one is made; a caller that sends it on in real time waits there.
    """
    rows: list[Array] = []
    events: list[ScriptEvent] = []
    times, labels = [], []
    grounds = [performer.init(script.label, script.pose, seed).ground]
    skipped: tuple[str, ...] = ()
    guess = _estimate_frames(script)
    for frame in frames(script, performer, seed):
        rows.append(frame.row)
        events += frame.events
        times.append(frame.milliseconds)
        labels.append(frame.state.label)
        grounds.append(frame.state.ground)
        skipped = frame.skipped
        if watch is not None:
            watch(frame)
        if progress is not None:
            progress(len(rows), max(guess, len(rows)))
    if not rows:
        raise InvalidInput(f"{script.path}: the script ends before its first frame")
    if progress is not None:
        progress(len(rows), len(rows))
    report = {"script": script.path, "seed": seed} | _report(script.rate, tuple(events), times, labels, skipped)
    name = performer.rig.character.name if script.path in UNNAMED_SCRIPTS else Path(script.path).stem
    under = np.array([(ground.x, ground.z, ground.heading) for ground in grounds[:-1]])
    return Performance(checks.freeze(np.stack(rows)), script.rate, tuple(events), performer.rig, name, report, under)


def frames(script: Script, performer: Performer, seed: int = 0) -> Iterator[PerformedFrame]:
    """The frames of a script, one after the other, as fast as they are consumed. Another seed gives another take."""
    if not np.isclose(performer.rate, script.rate):
        raise InvalidInput(
            f"the script is for {script.rate:g} frames a second, but the performer for {performer.rate:g}"
        )
    state = performer.init(script.label, script.pose, seed)
    schedule, until = Schedule(schedule_steps(script, seed)), 0
    names = {place: name for name, place in script.points.items()}
    most = round((MAX_SCRIPT_SECONDS if script.seconds is None else script.seconds) * script.rate)
    while state.frame < most:
        schedule, started = schedule.due(state.frame / script.rate, not performer.is_done(state))
        if schedule.is_finished and not started and script.seconds is None and _is_over(performer, state, until):
            return
        began, events = perf_counter(), []
        for scheduled in started:
            state, command_event = _apply_command(performer, state, scheduled, names)
            events.append(command_event)
            if isinstance(scheduled.step.action, LookAt):
                until = max(until, state.frame + round((scheduled.step.action.seconds or 0.0) * script.rate))
        state, row = performer.step(state)
        for event in state.event:
            if not any(event.what == other.what for other in events):  # commands are above, with more detail
                events.append(event_of(event, script.rate))
        yield PerformedFrame(row, state, tuple(events), 1e3 * (perf_counter() - began), schedule.skipped)


def event_of(event: PerformanceEvent, rate: float) -> ScriptEvent:
    """An event of the performer at `rate` frames a second, for a list of events."""
    seam = event.what in (BRIDGE_EVENT, ENTER_EVENT)
    about = event.clip or event.joint
    return ScriptEvent(
        event.frame, event.frame / rate, event.what, event.label, about=about, gap=event.gap if seam else None
    )


def _is_over(performer: Performer, state: PerformerState, until: int) -> bool:
    return state.frame > 0 and state.frame >= until and performer.is_done(state)


def _apply_command(
    performer: Performer, state: PerformerState, scheduled: ScheduledStep, names: Mapping[Place, str]
) -> tuple[PerformerState, ScriptEvent]:
    """The state with the step's command, and its event."""
    action, seconds = scheduled.step.action, state.frame / performer.rate
    if isinstance(action, OneOf):
        drawn = f"{action.set}, list {scheduled.choice}"
        return state, ScriptEvent(state.frame, seconds, "one_of", state.label, scheduled.step.place, drawn)
    state = performer.command(state, action)
    plan = () if isinstance(action, LookAt) else state.main_source.plan
    crossed = tuple(segment.label for segment in plan if isinstance(segment, CrossBridge))
    route = (state.label, *crossed) if crossed else ()
    entered = (segment.label for segment in plan if isinstance(segment, EnterMotion))
    label = route[-1] if route else next(entered, state.label)
    return state, ScriptEvent(
        state.frame, seconds, action.word, label, scheduled.step.place, describe_command(action, names), route
    )


def describe_command(command: Command, names: Mapping[Place, str] | None = None) -> str:
    """The names in a command, for a list of events."""
    if isinstance(command, LookAt):
        at = command.at
        return at if isinstance(at, str) else (names or {}).get(at) or ", ".join(f"{x:g}" for x in at)
    if isinstance(command, Go | TurnTo):
        parts = [f"{command.speed:g} m/s"] if isinstance(command, Go) else []
        parts += [] if command.heading is None else [f"{command.heading:g} degrees"]
        if isinstance(command, TurnTo) and command.point is not None:
            parts = ["to " + ", ".join(f"{x:g}" for x in command.point)]
        return ", ".join(parts)
    for name in ("clip", "pose", "poses", "labels"):
        value = getattr(command, name, None)
        if value:
            words = value if isinstance(value, str) else ", ".join(value)
            weight = getattr(command, "weight", None)
            return words if weight is None else f"{words} at {weight:g}"
    return ""


@dataclass(frozen=True)
class ScheduledStep:
    """A step as it will be played. The times of steps `inside` a set count from the call of the set.

    `choice` is the number, from 1, of the list that a call of a set has drawn.
    """

    step: ScriptStep
    inside: bool = False
    choice: int | None = None


@dataclass(frozen=True)
class Schedule:
    """The steps, the index of the next one, and the time at which the current set was called."""

    steps: tuple[ScheduledStep, ...]
    next_index: int = 0
    set_start_seconds: float = 0.0
    skipped: tuple[str, ...] = ()  # places of steps

    @property
    def is_finished(self) -> bool:
        """Whether no step is left."""
        return self.next_index >= len(self.steps)

    def due(self, now: float, busy: bool) -> tuple[Schedule, tuple[ScheduledStep, ...]]:
        """The schedule after the frame at `now` seconds, and the steps that start in it, in their order.

        `busy` says that a command is still running. Looks and calls of a set take no time: the step after them starts
        in the same frame.
        """
        state, started = self, []
        while not state.is_finished:
            number = state._next_due(now, busy)
            if number is None:
                break
            scheduled = state.steps[number]
            passed = tuple(other.step.place for other in state.steps[state.next_index : number])
            calls = isinstance(scheduled.step.action, OneOf)
            called = now if calls else state.set_start_seconds
            state = replace(state, next_index=number + 1, set_start_seconds=called, skipped=(*state.skipped, *passed))
            started.append(scheduled)
            busy = (busy and scheduled.step.at is None) or not isinstance(scheduled.step.action, (LookAt, OneOf))
        return state, tuple(started)

    def _next_due(self, now: float, busy: bool) -> int | None:
        """The index of the step that starts now: the next one, or a later one whose time has come."""
        first = self.steps[self.next_index]
        if first.step.at is None:
            if not busy:
                return self.next_index
        elif self._time(first) <= now + TIME_EPSILON_SECONDS:
            return self.next_index
        inside = first.inside
        for number in range(self.next_index + 1, len(self.steps)):
            scheduled = self.steps[number]
            inside = inside and scheduled.inside  # times of a set that is not called yet are not known
            if (
                scheduled.step.at is not None
                and (inside or not scheduled.inside)
                and self._time(scheduled) <= now + TIME_EPSILON_SECONDS
            ):
                return number
        return None

    def _time(self, scheduled: ScheduledStep) -> float:
        at = scheduled.step.at or 0.0
        return self.set_start_seconds + at if scheduled.inside else at


def schedule_steps(script: Script, seed: int = 0) -> tuple[ScheduledStep, ...]:
    """All steps in their order, each call of a set followed by the steps of its drawn list."""
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
    """The index of a list, drawn by the lists' weights; not the previous one where there is another."""
    weights = np.array([variant.weight for variant in variants])
    if previous is not None and len(variants) > 1:
        weights[previous] = 0.0
    return int(random.choice(len(variants), p=weights / weights.sum()))


def _estimate_frames(script: Script) -> int:
    """A guess of the number of frames."""
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
    commands = [event.what for event in events if event.place]
    gaps = [event.gap for event in events if event.gap is not None]
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
        "bridges_crossed": sum(event.what == "bridge" for event in events),
        "seams": {
            "count": len(gaps),
            "mean_gap_metres": round(mean(gaps), 6) if gaps else 0.0,
            "largest_gap_metres": round(max(gaps), 6) if gaps else 0.0,
        },
        "steps_without_a_turn": list(skipped),
        "events": [_to_json(event) for event in events],
    }


def _to_json(event: ScriptEvent) -> dict[str, Any]:
    """An event for JSON, without its empty fields."""
    row = {key: value for key, value in asdict(event).items() if value not in ("", (), None)}
    row["seconds"] = round(event.seconds, 6)
    if event.gap is not None:
        row["gap"] = round(event.gap, 6)
    return row
