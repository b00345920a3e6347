"""The messages of the game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from understudy.studio.messages.message import Event, Range, Request

Mark = Literal["", "claw", "ember"]
Result = Literal["", "won", "lost", "draw"]
StrengthName = Literal["hatchling", "fledgling", "drake", "elder"]
Pace = Annotated[float, Range(least=0.05, most=1.0)]
Place = tuple[float, float, float]


@dataclass(frozen=True)
class GameStrength:
    """How well the character may play."""

    name: StrengthName
    title: str
    about: str


@dataclass(frozen=True)
class GameTable:
    """Where the board stands: its middle, the width of its nine squares together, its lean (radians); metres.

    `ground` is the height that it stands on, `tall` how tall the character is that sits behind it.
    """

    centre: Place
    width: float
    lean: float
    ground: float
    tall: float


@dataclass(frozen=True)
class Game(Event):
    """How a game stands. `result` is the player's; `line` the squares that decided it; `last` was played last."""

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
    """What the page needs to draw the board, and how the game stands."""

    game: Game
    table: GameTable
    strengths: tuple[GameStrength, ...]


@dataclass(frozen=True)
class EnterGame(Request):
    """Play with the character on stage; a game that runs goes on. `seed` None: another game each time."""

    kind: ClassVar[str] = "enterGame"
    result: ClassVar[Any] = GameEntered
    strength: StrengthName | None = None
    pace: Pace | None = None
    seed: Annotated[int, Range(least=0, most=2**31 - 1)] | None = None


@dataclass(frozen=True)
class LeaveGame(Request):
    """The page has turned to something else; the game waits."""

    kind: ClassVar[str] = "leaveGame"


@dataclass(frozen=True)
class NewGame(Request):
    """Another round; the strength stays where it is None."""

    kind: ClassVar[str] = "newGame"
    strength: StrengthName | None = None


@dataclass(frozen=True)
class PaceGame(Request):
    """How long the character thinks and reacts: 1 as it likes to, below that shorter. The game goes on."""

    kind: ClassVar[str] = "paceGame"
    pace: Pace


@dataclass(frozen=True)
class PlaceMark(Request):
    """Take a square, 0 to 8 row by row. Where that is not allowed, the character says so in its own way."""

    kind: ClassVar[str] = "placeMark"
    square: Annotated[int, Range(least=0, most=8)]


@dataclass(frozen=True)
class PointAt(Request):
    """Where the player points, in the world (metres); None where the pointer has left."""

    kind: ClassVar[str] = "pointAt"
    place: Place | None = None
