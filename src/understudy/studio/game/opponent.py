"""The opponent: how well it plays, and what it looks at on the way to its move.

The value of a board for the side to move is that of perfect play on both sides (negamax),

    v(b) = max over free squares s of  −γ v(b after s),        v = −1 where the other side has just won, 0 where full,

with γ a little below 1, so that a win soon is better than a win late, and a loss late better than a loss soon. There
are 5,478 positions; all values take a tenth of a second, once (`prepare`).

A strength is three chances: to see that it can win, to see that it must block, and else to think it through. What it
does not see it plays by whim: a child likes the middle and the corners. All chance comes from a generator that is
handed in, so a game can be played again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from understudy.errors import InvalidInput
from understudy.studio.game.board import CLAW, EMBER, EMPTY, Board, completing, free, other, placed, winner

PATIENCE = 0.9  # γ; any number in (0, 1) orders wins by their length
WHIM = (3, 2, 3, 2, 4, 2, 3, 2, 3)  # how much a whim likes each square
GLANCES = 2  # squares that are considered beside the one that is chosen


@dataclass(frozen=True)
class Strength:
    """How well it plays: chances to see a win, to see a block, and to think through what is neither."""

    name: str
    title: str
    about: str
    wins: float
    blocks: float
    plans: float


STRENGTHS = (
    Strength("hatchling", "Hatchling", "plays like a child: it often overlooks your line", 0.6, 0.35, 0.0),
    Strength("fledgling", "Fledgling", "sees most lines, plans little", 0.9, 0.75, 0.2),
    Strength("drake", "Drake", "rarely errs", 1.0, 0.96, 0.75),
    Strength("elder", "Elder", "perfect: a draw is the best you can get", 1.0, 1.0, 1.0),
)


@dataclass(frozen=True)
class Choice:
    """A move: the square, those looked at before it in their order, and the lines of the other side left open."""

    square: int
    considered: tuple[int, ...]
    overlooked: tuple[int, ...] = ()


def strength_of(name: str) -> Strength:
    """The strength of a name."""
    for strength in STRENGTHS:
        if strength.name == name:
            return strength
    known = ", ".join(repr(strength.name) for strength in STRENGTHS)
    raise InvalidInput(f"there is no strength {name!r}; there are {known}")


@cache
def value(board: Board, mark: str) -> float:
    """What the board is worth to `mark`, whose move it is: above 0 it can win, at 0 nobody can, below it loses."""
    if winner(board):
        return -1.0
    moves = free(board)
    if not moves:
        return 0.0
    return max(-PATIENCE * value(placed(board, square, mark), other(mark)) for square in moves)


def prepare() -> None:
    """Value every board, whoever begins, so that no move has to wait for it."""
    for mark in (CLAW, EMBER):
        value(EMPTY, mark)


def best(board: Board, mark: str) -> tuple[int, ...]:
    """All squares that are as good as any, under perfect play."""
    worth = {square: -value(placed(board, square, mark), other(mark)) for square in free(board)}
    most = max(worth.values())
    return tuple(square for square, each in worth.items() if each >= most - 1e-9)


def choose(board: Board, mark: str, strength: Strength, generator: np.random.Generator) -> Choice:
    """The move of `mark` at a strength."""
    moves = free(board)
    if not moves or winner(board):
        raise InvalidInput("there is no move: the game is over")
    wins, blocks = completing(board, mark), completing(board, other(mark))
    sees_win, sees_block, plans = generator.random(3)
    if wins and sees_win < strength.wins:
        options = wins
    elif blocks and sees_block < strength.blocks:
        options = blocks
    elif plans < strength.plans:
        options = best(board, mark)
    else:
        options = moves
    square = _liked(options, generator)
    overlooked = () if square in wins else tuple(each for each in blocks if each != square)
    missed = overlooked if square not in blocks else ()  # a fork cannot be blocked: that is no oversight
    return Choice(square, _considered(board, mark, square, generator), missed)


def _liked(options: tuple[int, ...], generator: np.random.Generator) -> int:
    weights = np.array([WHIM[square] for square in options], float)
    return int(generator.choice(options, p=weights / weights.sum()))


def _considered(board: Board, mark: str, square: int, generator: np.random.Generator) -> tuple[int, ...]:
    """Where it looks before it moves: other squares that tempt it, then the one it takes."""
    others = [each for each in free(board) if each != square]
    if not others:
        return (square,)
    tempting = {*completing(board, mark), *completing(board, other(mark))}
    weights = np.array([WHIM[each] + 6 * (each in tempting) for each in others], float)
    count = min(GLANCES, len(others))
    glances = generator.choice(others, size=count, replace=False, p=weights / weights.sum())
    return (*(int(each) for each in glances), square)
