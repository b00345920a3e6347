"""LiveSource: a learned character that acts on stage. It is told things while it goes on, and never stops.

    source = LiveSource(opened)
    source.tell(Transition("happy"))      # takes over at once, whatever runs
    row = source.advance(1 / 60)          # what the stage shows

The performer steps at a fixed rate, so a take is exact: the rows that are shown are the rows that are recorded. The
stage's clock is not as even; each call takes the nearest whole number of steps, and time that was lost (a busy machine,
a page in the background) is dropped rather than caught up with.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.live.commands import KINDS, Command, Idle, Look
from understudy.live.layers.gaze import Gaze
from understudy.live.layers.head_look import HeadLook
from understudy.live.performer import Performer
from understudy.live.script import Beat, OneOf, Script, Step, parse
from understudy.live.script_check import Repertoire
from understudy.live.script_run import said
from understudy.live.script_steps import Place
from understudy.live.state import State
from understudy.opening import Opened
from understudy.studio.perform.recording import Recorded, Recording
from understudy.studio.perform.running_script import RunningScript

RATE = 60.0  # frames a second of the stage
MOST_STEPS = 6  # of one call: a tenth of a second; more would be seen as a jump in time
MEASURED = 60  # frames over which the cost of one is a median
KEPT_EVENTS = 256


@dataclass(frozen=True)
class Particle:
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
        opened: Opened,
        rate: float = RATE,
        seed: int = 0,
        label: str | None = None,
        performer: Performer | None = None,
    ) -> None:
        if performer is not None and performer.rate != rate:
            raise InvalidInput(f"the performer should have the rate {rate:g}, but has {performer.rate:g}")
        self.opened, self.rate, self.seed = opened, rate, seed
        self.performer = opened.performer(rate) if performer is None else performer
        self.repertoire = Repertoire.of(opened.model)
        self.state: State = self.performer.init(label, seed=seed)
        self.events: deque[Beat] = deque(maxlen=KEPT_EVENTS)
        self.recording: Recording | None = None
        self.script: RunningScript | None = None
        self.doing = ""  # the words of the last command
        self.watch: Callable[[LiveSource], None] | None = None  # called after every step
        self.gaze = 1.0  # how far the eyes go from straight ahead to what `look` says
        self._pointer: str | Place | None = None
        self._runs, self._left = 0, 0.0
        self._costs: deque[float] = deque(maxlen=MEASURED)
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
    def done(self) -> bool:
        """Whether the last command, and the script if one runs, is over."""
        return self.script is None and self.performer.done(self.state)

    @property
    def milliseconds(self) -> float:
        """What a frame costs, the median of the last second."""
        return float(np.median(self._costs)) if self._costs else 0.0

    @property
    def particles(self) -> tuple[Particle, ...]:
        """Where it is in the spaces of its labels."""
        state = self.state
        return tuple(
            Particle(voice.label, tuple(map(float, voice.x)), voice.weight(state.frame, self.rate))
            for voice in state.voices
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
            self._left = min(self._left + max(seconds, 0.0), MOST_STEPS / self.rate)
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
            command = self.checked(command)
            if not isinstance(command, Look):
                self.script = None
            self._tell(command)

    def look(self, point: Sequence[float] | str | None) -> None:
        """Look at a point (x, y, z) in metres of the world, at the camera, or (None) wherever the eyes wander to."""
        at = None if point is None else Look(point if isinstance(point, str) else _place(point)).at
        with self._lock:
            self._pointer = at
            self.state = replace(self.state, look=self._aim(at), look_until=None)

    def dial(self, liveliness: float | None = None, stillness: float | None = None, gaze: float | None = None) -> None:
        """Set the dials; what is None stays. Nothing else changes: what runs goes on."""
        checked = Idle(liveliness=liveliness, stillness=stillness)
        with self._lock:
            dials = self.state.dials
            lively = dials.liveliness_to if checked.liveliness is None else checked.liveliness
            still = dials.stillness_to if checked.stillness is None else checked.stillness
            self.state = replace(self.state, dials=replace(dials, liveliness_to=lively, stillness_to=still))
            if gaze is not None:
                self.gaze = min(max(gaze, 0.0), 1.0)
                self.look(self._pointer)

    def run_script(self, text: str, path: str = "script") -> Script:
        """Perform a script from here on; a mistake in it is refused with its place, and nothing changes."""
        script = parse(text, path).check(self.repertoire)
        with self._lock:
            self.script = RunningScript(script, self.seed + self._runs, self.rate)
            self._runs += 1
        return script

    def stop_script(self) -> None:
        """Leave the script; the command that runs goes on to its end."""
        with self._lock:
            self.script = None

    def start_recording(self) -> None:
        """From the next frame on, rows are kept; a recording that runs begins anew."""
        with self._lock:
            self.recording = Recording(len(self._row), self.rate)

    def stop_recording(self) -> Recorded:
        """What was shown since the recording began."""
        with self._lock:
            recording, self.recording = self.recording, None
        if recording is None or recording.frames < 2:
            raise InvalidInput("nothing was recorded: a take needs two frames or more")
        return recording.finished()

    def take_events(self) -> list[Beat]:
        """What happened since this was last asked."""
        with self._lock:
            found = list(self.events)
            self.events.clear()
        return found

    def checked(self, command: Command) -> Command:
        """The command with every name as the model writes it; the first that the model lacks is refused."""
        try:
            action = Script("", (Step("", command),)).check(self.repertoire).steps[0].action
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
        self.state = self.performer.tell(self.state, command)
        words = said(command)
        if not isinstance(command, Look):
            label = getattr(command, "label", None)
            self.doing = f"{command.word} {words or label or ''}".rstrip()
        self.events.append(Beat(self.state.frame, self.time, command.word, self.label, place, words))

    def _step(self) -> None:
        """One frame: what the script says falls, the performer goes on, and what is shown is recorded."""
        began = perf_counter()
        self._follow_script()
        self.state, self._row = self.performer.step(self.state)
        for event in self.state.event:
            if event.what not in KINDS:  # commands were told of already, with more words
                self.events.append(Beat(event.frame, event.frame / self.rate, event.what, event.label, gap=event.gap))
        self._costs.append(1e3 * (perf_counter() - began))
        if self.recording is not None:
            self.recording.add(self._row, self.label)
        if self.watch is not None:
            self.watch(self)

    def _follow_script(self) -> None:
        running = self.script
        if running is None:
            return
        frame, done = self.state.frame, self.performer.done(self.state)
        if running.over(frame, done):
            self.script = None
            self.events.append(Beat(frame, self.time, "script over", self.label))
            return
        for cue in running.due(frame, done, self.label):
            if isinstance(cue, Command):
                self._tell(cue, running.place)
            elif isinstance(cue.step.action, OneOf):
                drawn = f"{cue.step.action.set}, list {cue.choice}"
                self.events.append(Beat(frame, self.time, "one_of", self.label, cue.step.place, drawn))
            else:
                self._tell(cue.step.action, cue.step.place)


def _place(point: Sequence[float]) -> Place:
    x, y, z = checks.array(point, "a point to look at", (3,))
    return float(x), float(y), float(z)
