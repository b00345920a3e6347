"""The messages of performances: training, commands, settings, scripts, takes, status, crowds, and the game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from understudy.studio.messages.message import Event, Range, Request
from understudy.studio.messages.shell import Id, Name, Seconds

Word = Literal["move", "idle", "transition", "play", "mix", "look", "go", "turn"]
Text = Annotated[str, Range(longest=200_000)]
Unit = Annotated[float, Range(least=0.0, most=1.0)]
Names = Annotated[tuple[Name, ...], Range(longest=100)]
MAX_CROWD_SIZE = 400


@dataclass(frozen=True)
class LearningStarted:
    """The training job; the document has the model when it is done."""

    job: str


@dataclass(frozen=True)
class Learn(Request):
    """Train a model of a character from its clips, of all labels or of the named ones."""

    kind: ClassVar[str] = "learn"
    result: ClassVar[Any] = LearningStarted
    character: Id
    labels: Names = ()
    name: Name = ""


@dataclass(frozen=True)
class Perform(Request):
    """Put a model's character on stage, performing live."""

    kind: ClassVar[str] = "perform"
    model: Id


@dataclass(frozen=True)
class GiveCommand(Request):
    """A command for the character on stage, which takes over at once; fields that it does not use stay None."""

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
    speed: Annotated[float, Range(least=0.0, most=1000.0)] | None = None  # metres a second
    heading: Annotated[float, Range(least=-360.0, most=360.0)] | None = None  # degrees about +Y from +Z


@dataclass(frozen=True)
class SetLiveSettings(Request):
    """Set liveliness, stillness and gaze; None leaves a value as it is."""

    kind: ClassVar[str] = "dial"
    liveliness: Annotated[float, Range(least=0.0, most=4.0)] | None = None
    stillness: Unit | None = None
    gaze: Unit | None = None


@dataclass(frozen=True)
class ScriptCheck:
    """The first error of a script, as a sentence and a line; empty and 0 if there is none."""

    sentence: str
    line: int
    steps: int
    lines: tuple[int, ...]  # of each step `do 1`, `do 2`, ..., from 1


@dataclass(frozen=True)
class CheckScript(Request):
    """Check a script against a model."""

    kind: ClassVar[str] = "checkScript"
    result: ClassVar[Any] = ScriptCheck
    model: Id
    text: Text


@dataclass(frozen=True)
class RunScript(Request):
    """Perform a script on stage, starting now."""

    kind: ClassVar[str] = "runScript"
    text: Text
    name: Name = "script"


@dataclass(frozen=True)
class StopScript(Request):
    """Stop the running script."""

    kind: ClassVar[str] = "stopScript"


@dataclass(frozen=True)
class KeptScript:
    """The id of a stored script."""

    script: str


@dataclass(frozen=True)
class KeepScript(Request):
    """Store a script in the project: a new one, or a new text for an existing one."""

    kind: ClassVar[str] = "keepScript"
    result: ClassVar[Any] = KeptScript
    name: Name
    text: Text
    model: Id = ""
    script: Id | None = None


@dataclass(frozen=True)
class TakeRecorded:
    """The id of the recorded take; empty if the recording has only begun or was discarded."""

    take: str


@dataclass(frozen=True)
class Record(Request):
    """Begin or end a recording. The take is stored in the project, unless it is discarded."""

    kind: ClassVar[str] = "record"
    result: ClassVar[Any] = TakeRecorded
    recording: bool
    discard: bool = False
    name: Name = ""


@dataclass(frozen=True)
class LatentPlace:
    """The position of a blend source in the latent space of its label, and its weight."""

    label: str
    x: tuple[float, ...]
    weight: float


@dataclass(frozen=True)
class PerformanceLogEntry:
    """An event of the performance: a command, a crossed bridge, the start of a clip."""

    seconds: float
    what: str
    about: str
    label: str


@dataclass(frozen=True)
class PerformanceStatus(Event):
    """The state of the performance, 20 times a second."""

    kind: ClassVar[str] = "performing"
    model: str
    time: float
    label: str
    doing: str
    done: bool
    voices: tuple[LatentPlace, ...]
    ms: float  # milliseconds a frame, without drawing
    recorded: float | None  # seconds of the running recording
    step: str  # the place in the running script, `do 3`; empty without a script
    step_number: int  # of the step in the script, from 1; 0 inside a set, before the first step, or without a script
    step_seconds: float  # the script's own time
    liveliness: float
    stillness: float
    gaze: float | None  # None if the character has neither eyes nor a head to look with
    speed: float  # metres a second over the ground
    max_speed: float | None  # metres a second that `go` reaches; None if no clip walks, or it is not known yet
    events: tuple[PerformanceLogEntry, ...]


@dataclass(frozen=True)
class CrowdStarted:
    """Where the page fetches the description (`address`, then `/texture/N` below it), and the size of the crowd."""

    address: str
    count: int
    vertices: int  # of one character
    low: tuple[float, ...]  # corners of the bounding box of the crowd, metres
    high: tuple[float, ...]


@dataclass(frozen=True)
class StartCrowd(Request):
    """Put many characters of a model on stage; a second request resizes the same crowd.

    Another seed gives other performances. `vertices` is the number of vertices of each character.
    """

    kind: ClassVar[str] = "crowd"
    result: ClassVar[Any] = CrowdStarted
    model: Annotated[str, Range(longest=64)]
    count: Annotated[int, Range(least=1, most=MAX_CROWD_SIZE)] = 100
    seed: Annotated[int, Range(least=0, most=2**31)] = 1
    vertices: Annotated[int, Range(least=300, most=100_000)] = 2500


@dataclass(frozen=True)
class CrowdLook(Request):
    """All characters look at a point of the world, metres; None is straight ahead."""

    kind: ClassVar[str] = "crowdLook"
    point: tuple[float, float, float] | None


@dataclass(frozen=True)
class EndCrowd(Request):
    """Remove the crowd."""

    kind: ClassVar[str] = "endCrowd"


@dataclass(frozen=True)
class CrowdStats(Event):
    """The cost of the crowd, once a second."""

    kind: ClassVar[str] = "crowdStats"
    count: int
    fps: float  # frames made in the last second
    ms: float  # processor time of one frame, milliseconds
    share: float  # of a core
    bytes: int  # of one frame


Mark = Literal["", "claw", "ember"]
Result = Literal["", "won", "lost", "draw"]
StrengthName = Literal["hatchling", "fledgling", "drake", "elder"]
Pace = Annotated[float, Range(least=0.05, most=1.0)]
Place = tuple[float, float, float]


@dataclass(frozen=True)
class GameStrength:
    """A strength at which the character can play."""

    name: StrengthName
    title: str
    about: str


@dataclass(frozen=True)
class GameTable:
    """The placement of the board: its centre, its width, its tilt (`lean`, radians); metres.

    `ground` is the height of the floor, `tall` the height of the character behind the board.
    """

    centre: Place
    width: float
    lean: float
    ground: float
    tall: float


@dataclass(frozen=True)
class Game(Event):
    """The state of a game. `result` is the player's; `line` has the winning squares; `last` is the last move."""

    kind: ClassVar[str] = "game"
    character: str
    board: tuple[Mark, ...]
    turn: Mark
    phase: str
    mood: str
    result: Result
    line: tuple[int, ...]
    last: int | None
    strength: StrengthName
    pace: float
    round: int
    player: int
    opponent: int
    draws: int


@dataclass(frozen=True)
class GameEntered:
    """The placement of the board, and the state of the game."""

    game: Game
    table: GameTable
    strengths: tuple[GameStrength, ...]


@dataclass(frozen=True)
class EnterGame(Request):
    """Play with the character on stage; a running game continues. `seed` None: another game each time."""

    kind: ClassVar[str] = "enterGame"
    result: ClassVar[Any] = GameEntered
    strength: StrengthName | None = None
    pace: Pace | None = None
    seed: Annotated[int, Range(least=0, most=2**31 - 1)] | None = None


@dataclass(frozen=True)
class LeaveGame(Request):
    """The page has left the mode; the game is paused."""

    kind: ClassVar[str] = "leaveGame"


@dataclass(frozen=True)
class NewGame(Request):
    """Start another round; None keeps the strength."""

    kind: ClassVar[str] = "newGame"
    strength: StrengthName | None = None


@dataclass(frozen=True)
class PaceGame(Request):
    """The duration of thinking and reacting: 1 is the default, smaller is faster."""

    kind: ClassVar[str] = "paceGame"
    pace: Pace


@dataclass(frozen=True)
class PlaceMark(Request):
    """Take a square, 0 to 8 row by row. If that is not allowed, the character reacts too."""

    kind: ClassVar[str] = "placeMark"
    square: Annotated[int, Range(least=0, most=8)]


@dataclass(frozen=True)
class PointAt(Request):
    """The player's pointer in the world, metres; None if it has left the stage."""

    kind: ClassVar[str] = "pointAt"
    place: Place | None = None
