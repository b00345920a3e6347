"""A script performed: frame by frame (`frames`), or as a whole with a report of what happened and its cost (`run`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from statistics import mean, median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.live.commands import Command, Look
from understudy.live.legs import Cross
from understudy.live.performer import Performer
from understudy.live.schedule import Schedule
from understudy.live.script_sets import Cue, cues
from understudy.live.script_steps import LONGEST, OneOf, Place, Script
from understudy.live.state import State

Progress = Callable[[int, int], None]

USUAL = 1.5  # seconds that a command is thought to take before it has, for the progress bar alone


@dataclass(frozen=True)
class Beat:
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


class Frame(NamedTuple):
    """One frame of a performance: the row (C,) of the rig, the performer's state, and what happened."""

    row: Array
    state: State
    beats: tuple[Beat, ...]
    milliseconds: float
    skipped: tuple[str, ...]  # places of steps that had no turn until now


@dataclass(frozen=True, eq=False)
class Performance:
    """A script as it was performed: rows (F, C) of the rig at `rate`, what happened, and a report ready for JSON."""

    rows: Array
    rate: float
    events: tuple[Beat, ...]
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long it takes to play."""
        return len(self.rows) / self.rate


def frames(script: Script, performer: Performer, seed: int = 0) -> Iterator[Frame]:
    """The frames of a script, one after the other, as fast as they are asked for. Another seed is another take."""
    if not np.isclose(performer.rate, script.rate):
        raise InvalidInput(
            f"the script is for {script.rate:g} frames a second, but the performer for {performer.rate:g}"
        )
    state = performer.init(script.label, script.pose, seed)
    schedule, until = Schedule(cues(script, seed)), 0
    names = {place: name for name, place in script.points.items()}
    most = round((LONGEST if script.seconds is None else script.seconds) * script.rate)
    while state.frame < most:
        schedule, fallen = schedule.due(state.frame / script.rate, not performer.done(state))
        if schedule.finished and not fallen and script.seconds is None and _over(performer, state, until):
            return
        began, beats = perf_counter(), []
        for cue in fallen:
            state, beat = _told(performer, state, cue, names)
            beats.append(beat)
            if isinstance(cue.step.action, Look):
                until = max(until, state.frame + round((cue.step.action.seconds or 0.0) * script.rate))
        state, row = performer.step(state)
        for event in state.event:
            if not any(event.what == beat.what for beat in beats):  # commands are told above, with more words
                beats.append(Beat(event.frame, event.frame / script.rate, event.what, event.label, gap=event.gap))
        yield Frame(row, state, tuple(beats), 1e3 * (perf_counter() - began), schedule.skipped)


def run(
    script: Script,
    performer: Performer,
    progress: Progress | None = None,
    seed: int = 0,
    watch: Callable[[Frame], object] | None = None,
) -> Performance:
    """The whole performance of a script; `progress(done, total)` is told frames, of which the total is a guess.

    `watch` sees every frame as soon as it is made, before the next one is: who sends it on in real time waits there.
    """
    rows: list[Array] = []
    events: list[Beat] = []
    times, labels = [], []
    skipped: tuple[str, ...] = ()
    guess = _guess(script)
    for frame in frames(script, performer, seed):
        rows.append(frame.row)
        events += frame.beats
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


def _over(performer: Performer, state: State, until: int) -> bool:
    return state.frame > 0 and state.frame >= until and performer.done(state)


def _told(performer: Performer, state: State, cue: Cue, names: Mapping[Place, str]) -> tuple[State, Beat]:
    """The state with the cue's command, and the beat that says so."""
    action, seconds = cue.step.action, state.frame / performer.rate
    if isinstance(action, OneOf):
        drawn = f"{action.set}, list {cue.choice}"
        return state, Beat(state.frame, seconds, "one_of", state.label, cue.step.place, drawn)
    state = performer.tell(state, action)
    crossed = () if isinstance(action, Look) else tuple(x.label for x in state.voice.legs if isinstance(x, Cross))
    route = (state.label, *crossed) if crossed else ()
    label = route[-1] if route else state.label
    return state, Beat(state.frame, seconds, action.word, label, cue.step.place, said(action, names), route)


def said(command: Command, names: Mapping[Place, str] | None = None) -> str:
    """A command's own words, as a person would say them in a list."""
    if isinstance(command, Look):
        at = command.at
        return at if isinstance(at, str) else (names or {}).get(at) or ", ".join(f"{x:g}" for x in at)
    for name in ("clip", "pose", "poses", "labels"):
        value = getattr(command, name, None)
        if value:
            words = value if isinstance(value, str) else ", ".join(value)
            weight = getattr(command, "weight", None)
            return words if weight is None else f"{words} at {weight:g}"
    return ""


def _guess(script: Script) -> int:
    """Frames that the whole will take, roughly."""
    if script.seconds is not None:
        return round(script.seconds * script.rate)
    seconds = 0.0
    for step in script.steps:
        takes = getattr(step.action, "seconds", None) or (0.0 if isinstance(step.action, Look) else USUAL)
        seconds = (seconds if step.at is None else step.at) + takes
    return max(1, round(seconds * script.rate))


def _report(
    rate: float, events: tuple[Beat, ...], times: list[float], labels: list[str], skipped: tuple[str, ...]
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
        "events": [_plain(beat) for beat in events],
    }


def _plain(beat: Beat) -> dict[str, Any]:
    """For JSON: what says nothing is left out."""
    row = {key: value for key, value in asdict(beat).items() if value not in ("", (), None)}
    row["seconds"] = round(beat.seconds, 6)
    if beat.gap is not None:
        row["gap"] = round(beat.gap, 6)
    return row
