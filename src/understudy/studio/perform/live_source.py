"""LiveSource: a learned character that acts on stage. It is told things while it goes on, and never stops.

    source = LiveSource(opened)
    source.tell(Transition("happy"))      # takes over at once, whatever runs
    row = source.advance(1 / 60)          # what the stage shows

The performer steps at a fixed rate, so a take is exact: the rows that are shown are the rows that are recorded. The
stage's clock is not as even; each call takes the nearest whole number of steps, and time that was lost (a busy machine,
a page in the background) is dropped rather than caught up with.

Report: 20 times a second the page hears how the performance goes; frames of the character go their own way.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.perform.commands import COMMAND_KINDS, Command, Idle, LookAt
from understudy.perform.layers.gaze import Gaze
from understudy.perform.layers.head import HeadLook
from understudy.perform.model_character import ModelWithCharacter
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState
from understudy.perform.script import ModelVocabulary, OneOf, Place, Script, ScriptStep, parse_script
from understudy.perform.script_run import ScriptEvent, describe_command
from understudy.studio.messages.perform import LatentPlace, PerformanceLogEntry, PerformanceStatus
from understudy.studio.messages.shell import Notice
from understudy.studio.perform.recording import MAX_TAKE_SECONDS, RecordedTake, TakeRecorder
from understudy.studio.perform.script_runner import ScriptRunner

if TYPE_CHECKING:
    from understudy.studio.session import Session

LIVE_RATE_HZ = 60.0  # frames a second of the stage
MAX_STEPS_PER_CALL = 6  # of one call: a tenth of a second; more would be seen as a jump in time
COST_WINDOW_FRAMES = 60  # frames over which the cost of one is a median
MAX_KEPT_EVENTS = 256


@dataclass(frozen=True)
class LatentParticle:
    """Where a voice is in the space of its label, and how much it counts."""

    label: str
    x: tuple[float, ...]
    weight: float


class LiveSource:
    """A source that performs. Another seed idles differently. Commands may come from another thread than frames."""

    live = True
    duration: float | None = None

    def __init__(
        self,
        opened: ModelWithCharacter,
        rate: float = LIVE_RATE_HZ,
        seed: int = 0,
        label: str | None = None,
        performer: Performer | None = None,
    ) -> None:
        if performer is not None and performer.rate != rate:
            raise InvalidInput(f"the performer should have the rate {rate:g}, but has {performer.rate:g}")
        self.opened, self.rate, self.seed = opened, rate, seed
        self.performer = opened.performer(rate) if performer is None else performer
        self.repertoire = ModelVocabulary.from_model(opened.model)
        self.state: PerformerState = self.performer.init(label, seed=seed)
        self.events: deque[ScriptEvent] = deque(maxlen=MAX_KEPT_EVENTS)
        self.recording: TakeRecorder | None = None
        self.script: ScriptRunner | None = None
        self.doing = ""  # the words of the last command
        self.watch: Callable[[LiveSource], None] | None = None  # called after every step
        self.gaze = 1.0  # how far the eyes go from straight ahead to what `look` says
        self._pointer: str | Place | None = None
        self._runs, self._left = 0, 0.0
        self._costs: deque[float] = deque(maxlen=COST_WINDOW_FRAMES)
        self._lock = threading.RLock()
        self.state, self._row = self.performer.step(self.state)

    @property
    def time(self) -> float:
        """Seconds since it began."""
        return self.state.frame / self.rate

    @property
    def label(self) -> str:
        """The label that it is in."""
        return self.state.label

    @property
    def is_done(self) -> bool:
        """Whether the last command, and the script if one runs, is over."""
        return self.script is None and self.performer.is_done(self.state)

    @property
    def milliseconds(self) -> float:
        """What a frame costs, the median of the last second."""
        return float(np.median(self._costs)) if self._costs else 0.0

    @property
    def particles(self) -> tuple[LatentParticle, ...]:
        """Where it is in the spaces of its labels."""
        state = self.state
        return tuple(
            LatentParticle(voice.label, tuple(map(float, voice.x)), voice.weight(state.frame, self.rate))
            for voice in state.sources
        )

    @property
    def has_gaze(self) -> bool:
        """Whether the character has eyes that can be turned, or else a head."""
        return self._eyes is not None

    @property
    def _eyes(self) -> Gaze | HeadLook | None:
        return next((layer for layer in self.performer.layers if isinstance(layer, Gaze | HeadLook)), None)

    def advance(self, seconds: float) -> Array:
        """The row (C,) after that many seconds more; 0 gives the row of now."""
        with self._lock:
            self._left = min(self._left + max(seconds, 0.0), MAX_STEPS_PER_CALL / self.rate)
            steps = round(self._left * self.rate)
            self._left -= steps / self.rate
            for _ in range(steps):
                self._step()
            return self._row

    def prepare(self) -> None:
        """Make what commands need; it takes seconds, in a thread beside the frames."""
        self.performer.prepare()

    def seek(self, time: float) -> None:
        """A performance has no other time than now: it stays where it is."""

    def tell(self, command: Command) -> None:
        """A command, which takes over at once and ends a script; a look runs beside both. Unknown names are refused."""
        with self._lock:
            command = self.check_command(command)
            if not isinstance(command, LookAt):
                self.script = None
            self._tell(command)

    def look(self, point: Sequence[float] | str | None) -> None:
        """Look at a point (x, y, z) in metres of the world, at the camera, or (None) wherever the eyes wander to."""
        at = None if point is None else LookAt(point if isinstance(point, str) else _place(point)).at
        with self._lock:
            self._pointer = at
            self.state = replace(self.state, look=self._aim(at), look_until=None)

    def set_live_settings(
        self, liveliness: float | None = None, stillness: float | None = None, gaze: float | None = None
    ) -> None:
        """Set the dials; what is None stays. Nothing else changes: what runs goes on."""
        checked = Idle(liveliness=liveliness, stillness=stillness)
        with self._lock:
            dials = self.state.live_settings
            lively = dials.liveliness_to if checked.liveliness is None else checked.liveliness
            still = dials.stillness_to if checked.stillness is None else checked.stillness
            self.state = replace(self.state, live_settings=replace(dials, liveliness_to=lively, stillness_to=still))
            if gaze is not None:
                self.gaze = min(max(gaze, 0.0), 1.0)
                self.look(self._pointer)

    def run_script(self, text: str, path: str = "script") -> Script:
        """Perform a script from here on; a mistake in it is refused with its place, and nothing changes."""
        script = parse_script(text, path).check(self.repertoire)
        with self._lock:
            self.script = ScriptRunner(script, self.seed + self._runs, self.rate)
            self._runs += 1
        return script

    def stop_script(self) -> None:
        """Leave the script; the command that runs goes on to its end."""
        with self._lock:
            self.script = None

    def start_recording(self) -> None:
        """From the next frame on, rows are kept; a recording that runs begins anew."""
        with self._lock:
            self.recording = TakeRecorder(len(self._row), self.rate)

    def stop_recording(self) -> RecordedTake:
        """What was shown since the recording began."""
        with self._lock:
            recording, self.recording = self.recording, None
        if recording is None or recording.frames < 2:
            raise InvalidInput("nothing was recorded: a take needs two frames or more")
        return recording.to_take()

    def take_events(self) -> list[ScriptEvent]:
        """What happened since this was last asked."""
        with self._lock:
            found = list(self.events)
            self.events.clear()
        return found

    def check_command(self, command: Command) -> Command:
        """The command with every name as the model writes it; the first that the model lacks is refused."""
        try:
            action = Script("", (ScriptStep("", command),)).check(self.repertoire).steps[0].action
        except BadFile as error:
            raise InvalidInput(error.reason) from error
        assert isinstance(action, Command)
        return action

    def _aim(self, point: Place | str | None) -> Place | str | None:
        """What the eyes are told: the point itself, or a part of the way to it from straight ahead."""
        eyes = self._eyes
        if isinstance(point, str) or point is None or eyes is None or self.gaze >= 1.0:
            return point
        if self.gaze <= 0.0:
            return None
        x, y, z = (float(ahead + self.gaze * (to - ahead)) for ahead, to in zip(eyes.points["camera"], point))
        return x, y, z

    def _tell(self, command: Command, place: str = "") -> None:
        self.state = self.performer.command(self.state, command)
        words = describe_command(command)
        if not isinstance(command, LookAt):
            label = getattr(command, "label", None)
            self.doing = f"{command.word} {words or label or ''}".rstrip()
        self.events.append(ScriptEvent(self.state.frame, self.time, command.word, self.label, place, words))

    def _step(self) -> None:
        """One frame: what the script says falls, the performer goes on, and what is shown is recorded."""
        began = perf_counter()
        self._follow_script()
        self.state, self._row = self.performer.step(self.state)
        for event in self.state.event:
            if event.what not in COMMAND_KINDS:  # commands were told of already, with more words
                self.events.append(
                    ScriptEvent(event.frame, event.frame / self.rate, event.what, event.label, gap=event.gap)
                )
        self._costs.append(1e3 * (perf_counter() - began))
        if self.recording is not None:
            self.recording.add(self._row, self.label)
        if self.watch is not None:
            self.watch(self)

    def _follow_script(self) -> None:
        running = self.script
        if running is None:
            return
        frame, done = self.state.frame, self.performer.is_done(self.state)
        if running.is_finished(frame, done):
            self.script = None
            self.events.append(ScriptEvent(frame, self.time, "script over", self.label))
            return
        for cue in running.due(frame, done, self.label):
            if isinstance(cue, Command):
                self._tell(cue, running.place)
            elif isinstance(cue.step.action, OneOf):
                drawn = f"{cue.step.action.set}, list {cue.choice}"
                self.events.append(ScriptEvent(frame, self.time, "one_of", self.label, cue.step.place, drawn))
            else:
                self._tell(cue.step.action, cue.step.place)


def _place(point: Sequence[float]) -> Place:
    x, y, z = checks.array(point, "a point to look at", (3,))
    return float(x), float(y), float(z)


REPORT_INTERVAL_FRAMES = 3  # frames of 60 a second: the page draws the particle between two reports
LATENT_DIGITS = 4  # of a latent place; the map is drawn a thousand times coarser


class PerformanceReporter:
    """Watches a source of one session. It is called after every frame."""

    def __init__(self, session: Session, model: str) -> None:
        self.model = model
        self._session = session
        self._full: TakeRecorder | None = None  # the recording of which it was said that it is full

    def __call__(self, source: LiveSource) -> None:
        if source.state.frame % REPORT_INTERVAL_FRAMES == 0:
            self._session.emit(performance_report(source, self.model))
        recording = source.recording
        if recording is not None and recording.full and recording is not self._full:
            self._full = recording
            self._session.emit(
                Notice("warning", f"A take has at most {MAX_TAKE_SECONDS / 60:g} minutes.", "Stop and keep it.")
            )


def performance_report(source: LiveSource, model: str) -> PerformanceStatus:
    """How a performance goes just now; what has happened is told once."""
    script, recording, dials = source.script, source.recording, source.state.live_settings
    return PerformanceStatus(
        model=model,
        time=round(source.time, 4),
        label=source.label,
        doing=source.doing,
        done=source.is_done,
        voices=tuple(
            LatentPlace(each.label, tuple(round(x, LATENT_DIGITS) for x in each.x), round(each.weight, 3))
            for each in source.particles
        ),
        ms=round(source.milliseconds, 3),
        recorded=None if recording is None else round(recording.seconds, 2),
        step="" if script is None else script.place,
        step_seconds=0.0 if script is None else round(script.seconds(source.state.frame), 2),
        liveliness=dials.liveliness_to,
        stillness=dials.stillness_to,
        gaze=source.gaze if source.has_gaze else None,
        events=tuple(_log_entry(beat) for beat in source.take_events()),
    )


def _log_entry(beat: ScriptEvent) -> PerformanceLogEntry:
    return PerformanceLogEntry(round(beat.seconds, 3), beat.what, beat.about, beat.label)
