"""Tic-tac-toe: the board, its rules, and the opponent.

A board is a tuple of nine marks, row by row from the upper left as the player sees it; `""` is a free square. The
player's mark is the claw, the character's the ember.

The value of a board for the side to move is that of perfect play on both sides (negamax),

    v(b) = max over free squares s of  −γ v(b after s),        v = −1 where the other side has just won, 0 where full,

with γ a little below 1, so that an early win is better than a late one, and a late loss better than an early one. There
are 5,478 positions; computing all values takes a tenth of a second, once (`evaluate_all_boards`).

A strength is three probabilities: to see a win, to see a block, and else to plan. What it does not see it plays at
random, with a preference for the middle and the corners. All chance comes from a generator that the caller gives, so a
game can be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from understudy.errors import InvalidInput

Board = tuple[str, ...]
Line = tuple[int, int, int]

CLAW, EMBER, FREE = "claw", "ember", ""
EMPTY_BOARD: Board = (FREE,) * 9

WINNING_LINES: tuple[Line, ...] = (
    (0, 1, 2),
    (3, 4, 5),
    (6, 7, 8),
    (0, 3, 6),
    (1, 4, 7),
    (2, 5, 8),
    (0, 4, 8),
    (2, 4, 6),
)
WIN_DISCOUNT = 0.9  # γ; any value in (0, 1) orders wins by their length
SQUARE_WEIGHTS = (3, 2, 3, 2, 4, 2, 3, 2, 3)  # relative probability of each square in a random move
GLANCE_COUNT = 2  # squares that it looks at before the chosen one


def other_mark(mark: str) -> str:
    """The opponent's mark."""
    return EMBER if mark == CLAW else CLAW


def free_squares(board: Board) -> tuple[int, ...]:
    """The free squares."""
    return tuple(square for square, mark in enumerate(board) if mark == FREE)


def place_mark(board: Board, square: int, mark: str) -> Board:
    """The board with one more mark; raises `InvalidInput` if the square is taken or unknown, or the game is over."""
    if not 0 <= square < len(board):
        raise InvalidInput(f"square should be a number from 0 to 8, but is {square}")
    if board[square] != FREE:
        raise InvalidInput(f"square {square + 1} is taken")
    if is_over(board):
        raise InvalidInput("the game is over")
    return (*board[:square], mark, *board[square + 1 :])


def winning_line(board: Board) -> Line | None:
    """The three squares of the winning line; None if neither side has won."""
    for a, b, c in WINNING_LINES:
        if board[a] != FREE and board[a] == board[b] == board[c]:
            return a, b, c
    return None


def winner(board: Board) -> str:
    """The mark that has won, or `""`."""
    line = winning_line(board)
    return FREE if line is None else board[line[0]]


def is_over(board: Board) -> bool:
    """Whether a side has won or no square is free."""
    return FREE not in board or winning_line(board) is not None


def completing_squares(board: Board, mark: str) -> tuple[int, ...]:
    """The free squares that would complete a line of `mark`."""
    if is_over(board):
        return ()
    return tuple(
        square
        for square in free_squares(board)
        if any(square in line and sum(board[each] == mark for each in line) == 2 for line in WINNING_LINES)
    )


@dataclass(frozen=True)
class Strength:
    """How well the opponent plays: probabilities to see a win, to see a block, and else to plan."""

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
    """A move: the square, the squares that it looks at before, and the winning squares that it leaves to the player."""

    square: int
    glances: tuple[int, ...]
    overlooked: tuple[int, ...] = ()


def strength_of(name: str) -> Strength:
    """The strength of a name."""
    for strength in STRENGTHS:
        if strength.name == name:
            return strength
    known = ", ".join(repr(strength.name) for strength in STRENGTHS)
    raise InvalidInput(f"there is no strength {name!r}; there are {known}")


@cache
def board_value(board: Board, mark: str) -> float:
    """The value of the board for `mark`, which is to move: positive is a win, 0 a draw, negative a loss."""
    if winner(board):
        return -1.0
    moves = free_squares(board)
    if not moves:
        return 0.0
    return max(-WIN_DISCOUNT * board_value(place_mark(board, square, mark), other_mark(mark)) for square in moves)


def evaluate_all_boards() -> None:
    """Compute the values of all boards, so that no move has to wait for them."""
    for mark in (CLAW, EMBER):
        board_value(EMPTY_BOARD, mark)


def best_squares(board: Board, mark: str) -> tuple[int, ...]:
    """All best squares under perfect play."""
    worth = {square: -board_value(place_mark(board, square, mark), other_mark(mark)) for square in free_squares(board)}
    most = max(worth.values())
    return tuple(square for square, each in worth.items() if each >= most - 1e-9)


def choose_move(board: Board, mark: str, strength: Strength, generator: np.random.Generator) -> Choice:
    """The move of `mark` at a strength."""
    moves = free_squares(board)
    if not moves or winner(board):
        raise InvalidInput("there is no move: the game is over")
    wins, blocks = completing_squares(board, mark), completing_squares(board, other_mark(mark))
    sees_win, sees_block, plans = generator.random(3)
    if wins and sees_win < strength.wins:
        options = wins
    elif blocks and sees_block < strength.blocks:
        options = blocks
    elif plans < strength.plans:
        options = best_squares(board, mark)
    else:
        options = moves
    square = _pick_weighted(options, generator)
    overlooked = () if square in wins else tuple(each for each in blocks if each != square)
    missed = overlooked if square not in blocks else ()  # after a block, the other threat of a fork is no oversight
    return Choice(square, _glance_squares(board, mark, square, generator), missed)


def _pick_weighted(options: tuple[int, ...], generator: np.random.Generator) -> int:
    weights = np.array([SQUARE_WEIGHTS[square] for square in options], float)
    return int(generator.choice(options, p=weights / weights.sum()))


def _glance_squares(board: Board, mark: str, square: int, generator: np.random.Generator) -> tuple[int, ...]:
    """The squares that it looks at: other free squares, preferring those that complete a line, then its move."""
    others = [each for each in free_squares(board) if each != square]
    if not others:
        return (square,)
    tempting = {*completing_squares(board, mark), *completing_squares(board, other_mark(mark))}
    weights = np.array([SQUARE_WEIGHTS[each] + 6 * (each in tempting) for each in others], float)
    count = min(GLANCE_COUNT, len(others))
    glances = generator.choice(others, size=count, replace=False, p=weights / weights.sum())
    return (*(int(each) for each in glances), square)
