"""The board and its rules: nine squares, two marks, three in a line.

A board is a tuple of nine marks, row by row from the upper left as the player sees it; `""` is a free square. The
player scratches claws, the character leaves embers.
"""

from __future__ import annotations

from understudy.errors import InvalidInput

Board = tuple[str, ...]
Line = tuple[int, int, int]

CLAW, EMBER, FREE = "claw", "ember", ""
EMPTY: Board = (FREE,) * 9

LINES: tuple[Line, ...] = (
    (0, 1, 2),
    (3, 4, 5),
    (6, 7, 8),
    (0, 3, 6),
    (1, 4, 7),
    (2, 5, 8),
    (0, 4, 8),
    (2, 4, 6),
)


def other(mark: str) -> str:
    """The opponent's mark."""
    return EMBER if mark == CLAW else CLAW


def free(board: Board) -> tuple[int, ...]:
    """The squares that nobody has taken."""
    return tuple(square for square, mark in enumerate(board) if mark == FREE)


def placed(board: Board, square: int, mark: str) -> Board:
    """The board with a mark more; refused where the square is taken, is none, or the game is over."""
    if not 0 <= square < len(board):
        raise InvalidInput(f"square should be a number from 0 to 8, but is {square}")
    if board[square] != FREE:
        raise InvalidInput(f"square {square + 1} is taken")
    if over(board):
        raise InvalidInput("the game is over")
    return (*board[:square], mark, *board[square + 1 :])


def line_of(board: Board) -> Line | None:
    """The three squares in a line that decide the game; None where nobody has won."""
    for a, b, c in LINES:
        if board[a] != FREE and board[a] == board[b] == board[c]:
            return a, b, c
    return None


def winner(board: Board) -> str:
    """The mark that has won, or `""`."""
    line = line_of(board)
    return FREE if line is None else board[line[0]]


def over(board: Board) -> bool:
    """Whether somebody has won or no square is left."""
    return FREE not in board or line_of(board) is not None


def completing(board: Board, mark: str) -> tuple[int, ...]:
    """The free squares that would complete a line of `mark`: what it threatens, and the other side should block."""
    if over(board):
        return ()
    return tuple(
        square
        for square in free(board)
        if any(square in line and sum(board[each] == mark for each in line) == 2 for line in LINES)
    )
