"""The messages of the game: its table, moves, strength and pace."""

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
