"""`LiveSource`: a model that performs on stage. It takes commands while it runs, and never ends.

    source = LiveSource(opened)
    source.tell(Transition("happy"))      # interrupts the running command
    row = source.advance(1 / 60)          # the row for the stage

The performer steps at a fixed rate, so a take is exact: the shown rows are the recorded rows. The stage's clock is less
even; each call makes the nearest whole number of steps, and lost time (a busy machine, a page in the background) is
dropped rather than caught up with. `PerformanceReporter` sends the state to the page 20 times a second.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import hypot
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.perform.commands import COMMAND_KINDS, Command, Idle, LookAt
from understudy.perform.layers.gaze import Gaze
from understudy.perform.layers.head import HeadLook
from understudy.perform.pose_model import ModelWithCharacter
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import CYCLE_EVENT, FOOT_EVENT, PerformerState
from understudy.perform.script import ModelVocabulary, OneOf, Place, Script, ScriptStep, parse_script
from understudy.perform.script_run import ScriptEvent, describe_command, event_of
from understudy.studio.messages.perform import LatentPlace, PerformanceLogEntry, PerformanceStatus
from understudy.studio.messages.shell import Notice
from understudy.studio.perform.recording import MAX_TAKE_SECONDS, RecordedTake, TakeRecorder
from understudy.studio.perform.script_runner import ScriptRunner

if TYPE_CHECKING:
    from understudy.studio.session import Session

LIVE_RATE_HZ = 60.0
MAX_STEPS_PER_CALL = 6  # a tenth of a second; more would be a visible jump
COST_WINDOW_FRAMES = 60  # frames of the median cost
MAX_KEPT_EVENTS = 256
REPORT_INTERVAL_FRAMES = 3  # 20 reports a second; the page interpolates
LATENT_DIGITS = 4  # decimals of a latent position; the map is drawn far coarser


@dataclass(frozen=True)
class LatentParticle:
    """The position of a blend source in the latent space of its label, and its weight."""

    label: str
    x: tuple[float, ...]
    weight: float


class LiveSource:
    """A source that performs live. The seed varies idling. Commands and frames may come from different threads."""

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
        self.doing = ""  # description of the last command
        self.watch: Callable[[LiveSource], None] | None = None  # called after every step
        self.gaze = 1.0  # 0: straight ahead, 1: at the target of `look`
        self.max_speed: float | None = None  # metres a second that `go` reaches; known when it is prepared
        self._pointer: str | Place | None = None
        self._runs, self._left = 0, 0.0
        self._costs: deque[float] = deque(maxlen=COST_WINDOW_FRAMES)
        self._lock = threading.RLock()
        self.state, self._row = self.performer.step(self.state)

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self.state.frame / self.rate

    @property
    def label(self) -> str:
        """The current label."""
        return self.state.label

    @property
    def is_done(self) -> bool:
        """Whether the last command has ended and no script runs."""
        return self.script is None and self.performer.is_done(self.state)

    @property
    def milliseconds(self) -> float:
        """Milliseconds a frame, the median of the last second."""
        return float(np.median(self._costs)) if self._costs else 0.0

    @property
    def particles(self) -> tuple[LatentParticle, ...]:
        """The positions of the blend sources in their latent spaces."""
        state = self.state
        return tuple(
            LatentParticle(voice.label, tuple(map(float, voice.x)), voice.weight(state.frame, self.rate))
            for voice in state.sources
        )

    @property
    def has_gaze(self) -> bool:
        """Whether the character has eyes, or else a head, to look with."""
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
        """Prepare the performer for all commands. It takes seconds: call it in a thread."""
        self.performer.prepare()
        try:
            self.max_speed = self.performer.planner.locomotion.max_speed
        except InvalidInput:  # no clip walks
            self.max_speed = None

    def take_over(self, opened: ModelWithCharacter, performer: Performer) -> None:
        """Go on with another model of the same clips, without a jump: the learned one, after its draft."""
        performer.prepare()
        with self._lock:
            self.state = performer.take_over(self.state)
            self.opened, self.performer = opened, performer
            self.repertoire = ModelVocabulary.from_model(opened.model)

    def seek(self, time: float) -> None:
        """Ignored: a performance cannot be scrubbed."""

    def tell(self, command: Command) -> None:
        """Give a command. It interrupts the running one and ends a script, except a look. Unknown names raise."""
        with self._lock:
            command = self.check_command(command)
            if not isinstance(command, LookAt):
                self.script = None
            self._tell(command)

    def look(self, point: Sequence[float] | str | None) -> None:
        """Look at a point (x, y, z) of the world in metres, at the camera, or (None) freely."""
        at = None if point is None else LookAt(point if isinstance(point, str) else _place(point)).at
        with self._lock:
            self._pointer = at
            self.state = replace(self.state, look=self._aim(at), look_until=None)

    def set_live_settings(
        self, liveliness: float | None = None, stillness: float | None = None, gaze: float | None = None
    ) -> None:
        """Set liveliness, stillness and gaze; None leaves a value as it is. The running command continues."""
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
        """Perform a script, starting now; an error in it raises `BadFile` with its place, and nothing changes."""
        script = parse_script(text, path).check(self.repertoire)
        with self._lock:
            self.script = ScriptRunner(script, self.seed + self._runs, self.rate)
            self._runs += 1
        return script

    def stop_script(self) -> None:
        """Stop the script; the running command continues to its end."""
        with self._lock:
            self.script = None

    def start_recording(self) -> None:
        """Record rows from the next frame on; a running recording starts again."""
        with self._lock:
            self.recording = TakeRecorder(len(self._row), self.rate)

    def stop_recording(self) -> RecordedTake:
        """End the recording and return the take."""
        with self._lock:
            recording, self.recording = self.recording, None
        if recording is None or recording.frames < 2:
            raise InvalidInput("nothing was recorded: a take needs two frames or more")
        return recording.to_take()

    def take_events(self) -> list[ScriptEvent]:
        """The events since the last call."""
        with self._lock:
            events = list(self.events)
            self.events.clear()
        return events

    def check_command(self, command: Command) -> Command:
        """The command with the model's spelling of names; an unknown name raises `InvalidInput`."""
        try:
            action = Script("", (ScriptStep("", command),)).check(self.repertoire).steps[0].action
        except BadFile as error:
            raise InvalidInput(error.reason) from error
        assert isinstance(action, Command)
        return action

    def _aim(self, point: Place | str | None) -> Place | str | None:
        """The target of the eyes: the point itself, or a part of the way to it from straight ahead."""
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
        """One frame: follow the script, step the performer, record the row."""
        began = perf_counter()
        self._follow_script()
        self.state, self._row = self.performer.step(self.state)
        for event in self.state.event:
            # commands are logged by `_tell`, with more detail; every step of a walk would fill the log
            if event.what not in (*COMMAND_KINDS, CYCLE_EVENT, FOOT_EVENT):
                self.events.append(event_of(event, self.rate))
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


class PerformanceReporter:
    """Reports a source to the pages of a session. It is called after every frame."""

    def __init__(self, session: Session, model: str) -> None:
        self.model = model
        self._session = session
        self._full: TakeRecorder | None = None  # the recording that was reported as full

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
    """The state of a performance; each event is reported once."""
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
        step_number=0 if script is None else script.step_number,
        step_seconds=0.0 if script is None else round(script.seconds(source.state.frame), 2),
        liveliness=dials.liveliness_to,
        stillness=dials.stillness_to,
        gaze=source.gaze if source.has_gaze else None,
        speed=round(hypot(*source.state.travel[:2]), 3),
        max_speed=source.max_speed if source.max_speed is None else round(source.max_speed, 3),
        events=tuple(_log_entry(beat) for beat in source.take_events()),
    )


def _log_entry(beat: ScriptEvent) -> PerformanceLogEntry:
    return PerformanceLogEntry(round(beat.seconds, 3), beat.what, beat.about, beat.label)
