"""The state of a game and of whoever plays it: plain frozen data, handed to the director and handed back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from understudy.studio.game import board as rules
from understudy.studio.game.board import CLAW, EMPTY, FREE, Board
from understudy.studio.game.moods import Mood
from understudy.studio.game.opponent import Choice

Phase = Literal["greeting", "waiting", "reacting", "pondering", "placing", "surprised", "won", "lost", "draw"]

STRATEGY = 0x7AC  # keeps draws of moves apart from those of scripts
OVER: tuple[Phase, ...] = ("surprised", "won", "lost", "draw")  # nobody can move any more


@dataclass(frozen=True)
class Score:
    """Games that the player, the character, and nobody has won."""

    player: int = 0
    character: int = 0
    draws: int = 0


@dataclass(frozen=True)
class State:
    """One moment of a game. Times are seconds; `since` counts from the beginning of the phase's present mood."""

    seed: int
    strength: str
    pace: float = 1.0  # of the character: below 1 it thinks and reacts for a shorter while
    board: Board = EMPTY
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
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.phase in OVER

    @property
    def considered(self) -> tuple[int, ...]:
        """The squares that it looks at while it ponders, in order; the last is the one it takes."""
        return self.choice.considered if self.choice is not None else ()

    @property
    def line(self) -> tuple[int, ...]:
        """The three squares that have decided the game."""
        return rules.line_of(self.board) or ()

    def generator(self) -> np.random.Generator:
        """A random generator of this state's own, for acting: the same state draws the same."""
        return np.random.default_rng([self.seed, self.chances])

    def strategist(self) -> np.random.Generator:
        """A random generator for moves: the same moves are answered alike, however long the player thinks."""
        return np.random.default_rng([self.seed, STRATEGY, self.round, sum(mark != FREE for mark in self.board)])
