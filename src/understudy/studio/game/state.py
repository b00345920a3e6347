"""What a character may feel in a game, and when.

A mood is a set of scripts, `scripts/<mood>.toml`; which of them is played is drawn by chance [Bailey 2016, section 6].

The state of a game and of whoever plays it: plain frozen data, handed to the director and handed back.

The table: where the board stands before a character, so that both sides can see it.

The board leans towards the player, like a lectern: its upper row is the far one. A square's middle, with the row r and
the column c counted from the middle (-1, 0, 1), the size s of a square and the lean a, is

    p = centre + s (c x + r (cos a z − sin a y)).

The player sits across, so the player's left is -x, the character's right.
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
    "draw": "nobody has won",
    "again": "the game is over: would you like another?",
}


Phase = Literal["greeting", "waiting", "reacting", "pondering", "placing", "surprised", "won", "lost", "draw"]

MOVE_SEED_STREAM = 0x7AC  # keeps draws of moves apart from those of scripts
FINAL_PHASES: tuple[Phase, ...] = ("surprised", "won", "lost", "draw")  # nobody can move any more


@dataclass(frozen=True)
class Score:
    """Games that the player, the character, and nobody has won."""

    player: int = 0
    character: int = 0
    draws: int = 0


@dataclass(frozen=True)
class GameState:
    """One moment of a game. Times are seconds; `since` counts from the beginning of the phase's present mood."""

    seed: int
    strength: str
    pace: float = 1.0  # of the character: below 1 it thinks and reacts for a shorter while
    board: Board = EMPTY_BOARD
    turn: str = CLAW
    phase: Phase = "greeting"
    mood: Mood = "greeting"
    since: float = 0.0
    until: float = 0.0  # how long the phase lasts at the least
    most: float = 0.0  # and at the most
    waited: float = 0.0  # how long the player has been thinking
    last: int | None = None  # the square that was played last
    choice: Choice | None = None  # what it ponders, or has played
    decided: bool = False  # its eyes are on the square that it will take
    score: Score = field(default_factory=Score)
    round: int = 0
    chances: int = 0  # how often something was drawn
    drawn: tuple[tuple[Mood, int], ...] = ()  # the script that each mood drew last

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.phase in FINAL_PHASES

    @property
    def glances(self) -> tuple[int, ...]:
        """The squares that it looks at while it ponders, in order; the last is the one it takes."""
        return self.choice.glances if self.choice is not None else ()

    @property
    def line(self) -> tuple[int, ...]:
        """The three squares that have decided the game."""
        return rules.winning_line(self.board) or ()

    def generator(self) -> np.random.Generator:
        """A random generator of this state's own, for acting: the same state draws the same."""
        return np.random.default_rng([self.seed, self.chances])

    def move_generator(self) -> np.random.Generator:
        """A random generator for moves: the same moves are answered alike, however long the player thinks."""
        return np.random.default_rng(
            [self.seed, MOVE_SEED_STREAM, self.round, sum(mark != FREE for mark in self.board)]
        )


Place = tuple[float, float, float]

BOARD_LEAN_RAD = math.radians(15.0)
BOARD_WIDTH_RATIO = 0.7  # of the character's height
BOARD_GAP_RATIO = 0.13  # of its height, between it and the board
BOARD_FOOT_RATIO = 0.06  # of the board's width: its near edge stands that high
MIN_HEIGHT_M = 1e-3  # metres


@dataclass(frozen=True)
class BoardPlacement:
    """The middle of the board, the width of its nine squares together, how far it leans (radians); metres.

    `ground` is the height that it stands on, `tall` how tall the character is that sits behind it.
    """

    centre: Place
    width: float
    lean: float = BOARD_LEAN_RAD
    ground: float = 0.0
    tall: float = 1.0

    def square(self, number: int) -> Place:
        """The middle of a square."""
        if not 0 <= number < 9:
            raise IndexError(f"a board has squares 0 to 8, not {number}")
        row, column = divmod(number, 3)
        size, r, c = self.width / 3, row - 1, column - 1
        x, y, z = self.centre
        return x + size * c, y - size * r * math.sin(self.lean), z + size * r * math.cos(self.lean)


def place_board(rig: PosedRig) -> BoardPlacement:
    """A table before a character as it rests, on the ground that it stands on; it faces +z."""
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
