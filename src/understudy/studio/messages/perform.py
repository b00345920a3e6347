"""The messages of the perform mode: learning, commands, dials, scripts, takes, and how the performance goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from understudy.studio.messages.message import Event, Range, Request
from understudy.studio.messages.shell import Id, Name, Seconds

Word = Literal["move", "idle", "transition", "play", "mix", "look"]
Text = Annotated[str, Range(longest=200_000)]
Unit = Annotated[float, Range(least=0.0, most=1.0)]
Names = Annotated[tuple[Name, ...], Range(longest=100)]


@dataclass(frozen=True)
class LearningStarted:
    """The job that learns; the model's id comes with the document when it is done."""

    job: str


@dataclass(frozen=True)
class Learn(Request):
    """Learn a character from its clips; of some labels only, where any is named."""

    kind: ClassVar[str] = "learn"
    result: ClassVar[Any] = LearningStarted
    character: Id
    labels: Names = ()
    name: Name = ""


@dataclass(frozen=True)
class Perform(Request):
    """Put a model's character on stage, live."""

    kind: ClassVar[str] = "perform"
    model: Id


@dataclass(frozen=True)
class GiveCommand(Request):
    """A command for the character on stage, which takes over at once; what it has no use for stays None."""

    kind: ClassVar[str] = "tell"
    command: Word
    label: Name | None = None
    pose: Name | None = None
    poses: Names | None = None
    clip: Name | None = None
    labels: Names | None = None
    weight: Unit | None = None
    start: Seconds | None = None
    stop: Seconds | None = None
    seconds: Seconds | None = None
    hover: Seconds | None = None
    path: Literal["graph", "straight"] | None = None
    at: Name | tuple[float, float, float] | None = None


@dataclass(frozen=True)
class SetLiveSettings(Request):
    """How lively, how still, and how far the eyes follow; what is None stays."""

    kind: ClassVar[str] = "dial"
    liveliness: Annotated[float, Range(least=0.0, most=4.0)] | None = None
    stillness: Unit | None = None
    gaze: Unit | None = None


@dataclass(frozen=True)
class ScriptCheck:
    """What is wrong with a script, in one sentence, and at which line; empty and 0 where nothing is."""

    sentence: str
    line: int
    steps: int
    lines: tuple[int, ...]  # of each step `do 1`, `do 2`, ..., from 1


@dataclass(frozen=True)
class CheckScript(Request):
    """Read a script and hold it against a model."""

    kind: ClassVar[str] = "checkScript"
    result: ClassVar[Any] = ScriptCheck
    model: Id
    text: Text


@dataclass(frozen=True)
class RunScript(Request):
    """Perform a script on stage from now on."""

    kind: ClassVar[str] = "runScript"
    text: Text
    name: Name = "script"


@dataclass(frozen=True)
class StopScript(Request):
    """Leave the script that runs."""

    kind: ClassVar[str] = "stopScript"


@dataclass(frozen=True)
class KeptScript:
    """The id under which a script is kept."""

    script: str


@dataclass(frozen=True)
class KeepScript(Request):
    """Keep a script in the project: a new one, or another text for one that there is."""

    kind: ClassVar[str] = "keepScript"
    result: ClassVar[Any] = KeptScript
    name: Name
    text: Text
    model: Id = ""
    script: Id | None = None


@dataclass(frozen=True)
class TakeRecorded:
    """The take that was recorded; empty where the recording has only begun, or was thrown away."""

    take: str


@dataclass(frozen=True)
class Record(Request):
    """Begin to record what is shown, or end it: the take is kept in the project, unless it is thrown away."""

    kind: ClassVar[str] = "record"
    result: ClassVar[Any] = TakeRecorded
    recording: bool
    discard: bool = False
    name: Name = ""


@dataclass(frozen=True)
class LatentPlace:
    """Where a voice is in the latent space of its label, and how much it counts."""

    label: str
    x: tuple[float, ...]
    weight: float


@dataclass(frozen=True)
class PerformanceLogEntry:
    """Something that happened: a command, a bridge that was crossed, a clip that began."""

    seconds: float
    what: str
    about: str
    label: str


@dataclass(frozen=True)
class PerformanceStatus(Event):
    """How the performance goes, 20 times a second."""

    kind: ClassVar[str] = "performing"
    model: str
    time: float
    label: str
    doing: str
    done: bool
    voices: tuple[LatentPlace, ...]
    ms: float  # what a frame costs, without drawing
    recorded: float | None  # seconds of the take that is being recorded
    step: str  # the place in the script that runs, `do 3`; empty where none does
    step_seconds: float  # the script's own time
    liveliness: float
    stillness: float
    gaze: float | None  # None where the character has no eyes that are found
    events: tuple[PerformanceLogEntry, ...]
