"""The state of a game as plain frozen data: moods, phases, score, and the placement of the board.

A mood is a set of scripts, `scripts/<mood>.toml`; the played one is chosen at random [Bailey 2016, section 6].

The board stands before the character and leans towards the player, like a lectern: its upper row is the far one. A
square's middle, with the row r and the column c counted from the middle (-1, 0, 1), the size s of a square and the lean
a, is

    p = centre + s (c x + r (cos a z − sin a y)).

The player sits opposite, so the player's left is -x, the character's right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from understudy.character.rig import PosedRig
from understudy.studio.game import rules
from understudy.studio.game.rules import CLAW, EMPTY_BOARD, FREE, Board, Choice

Mood = Literal[
    "greeting",
    "waiting",
    "impatient",
    "refusing",
    "threatened",
    "blocked",
    "cornered",
    "amused",
    "pondering",
    "placing",
    "surprised",
    "won",
    "lost",
    "draw",
    "again",
]

MOODS: dict[Mood, str] = {
    "greeting": "a game begins",
    "waiting": "the player's turn: it squints and scowls, as if that could frighten anybody",
    "impatient": "the player's turn has lasted long",
    "refusing": "the player wants a square that is taken: it shakes its head",
    "threatened": "the player has two in a line",
    "blocked": "the player has blocked its line",
    "cornered": "the player threatens two lines at once: it shakes its head",
    "amused": "the player could have won, and has not seen it",
    "pondering": "its own turn: it thinks, for longer than it needs",
    "placing": "it has moved",
    "surprised": "the player has won by a line that it had overlooked",
    "won": "it has won",
    "lost": "it has lost: it roars",
    "draw": "it is a draw",
    "again": "the game is over: would you like another?",
}


Phase = Literal["greeting", "waiting", "reacting", "pondering", "placing", "surprised", "won", "lost", "draw"]

MOVE_SEED_STREAM = 0x7AC  # separates the random numbers of moves from those of scripts
FINAL_PHASES: tuple[Phase, ...] = ("surprised", "won", "lost", "draw")  # the game is over
Place = tuple[float, float, float]
BOARD_LEAN_RAD = math.radians(15.0)
BOARD_WIDTH_RATIO = 0.7  # of the character's height
BOARD_GAP_RATIO = 0.13  # between character and board, of the character's height
BOARD_FOOT_RATIO = 0.06  # height of the board's near edge, of its width
MIN_HEIGHT_M = 1e-3  # of the character


@dataclass(frozen=True)
class Score:
    """Games won by the player and by the character, and draws."""

    player: int = 0
    character: int = 0
    draws: int = 0


@dataclass(frozen=True)
class GameState:
    """The state of a game. Times are seconds; `since` counts from the start of the current mood."""

    seed: int
    strength: str
    pace: float = 1.0  # scale of the durations of thinking and reacting
    board: Board = EMPTY_BOARD
    turn: str = CLAW
    phase: Phase = "greeting"
    mood: Mood = "greeting"
    since: float = 0.0
    until: float = 0.0  # least duration of the phase
    most: float = 0.0  # largest duration of the phase
    waited: float = 0.0  # duration of the player's turn
    last: int | None = None  # the square that was played last
    choice: Choice | None = None  # the character's next or last move
    decided: bool = False  # it looks at the square of its move
    score: Score = field(default_factory=Score)
    round: int = 0
    chances: int = 0  # number of random choices
    drawn: tuple[tuple[Mood, int], ...] = ()  # the last script of each mood

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.phase in FINAL_PHASES

    @property
    def glances(self) -> tuple[int, ...]:
        """The squares that it looks at while it ponders, in order; the last is its move."""
        return self.choice.glances if self.choice is not None else ()

    @property
    def line(self) -> tuple[int, ...]:
        """The squares of the winning line; empty if there is none."""
        return rules.winning_line(self.board) or ()

    def generator(self) -> np.random.Generator:
        """The random generator of this state for acting; equal states give equal numbers."""
        return np.random.default_rng([self.seed, self.chances])

    def move_generator(self) -> np.random.Generator:
        """The random generator for moves; it does not depend on how long the player thinks."""
        return np.random.default_rng(
            [self.seed, MOVE_SEED_STREAM, self.round, sum(mark != FREE for mark in self.board)]
        )


@dataclass(frozen=True)
class BoardPlacement:
    """The centre of the board, its width, its lean (radians); metres.

    `ground` is the height of the floor, `tall` the height of the character behind the board.
    """

    centre: Place
    width: float
    lean: float = BOARD_LEAN_RAD
    ground: float = 0.0
    tall: float = 1.0

    def square(self, number: int) -> Place:
        """The centre of a square."""
        if not 0 <= number < 9:
            raise IndexError(f"a board has squares 0 to 8, not {number}")
        row, column = divmod(number, 3)
        size, r, c = self.width / 3, row - 1, column - 1
        x, y, z = self.centre
        return x + size * c, y - size * r * math.sin(self.lean), z + size * r * math.cos(self.lean)


def place_board(rig: PosedRig) -> BoardPlacement:
    """The placement before a character in its rest pose, which faces +z."""
    points = rig.vertices(rig.rest[None])[0]
    if not len(points):
        points = rig.joints(rig.rest[None])[0, :, :3, 3]
    low, high = points.min(axis=0), points.max(axis=0)
    height = max(float(high[1] - low[1]), MIN_HEIGHT_M)
    width = BOARD_WIDTH_RATIO * height
    half = 0.5 * width
    middle = float(low[0] + high[0]) / 2
    y = float(low[1]) + BOARD_FOOT_RATIO * width + half * math.sin(BOARD_LEAN_RAD)
    z = float(high[2]) + BOARD_GAP_RATIO * height + half * math.cos(BOARD_LEAN_RAD)
    return BoardPlacement((middle, y, z), width, BOARD_LEAN_RAD, float(low[1]), height)
