"""Rules, by what must hold of them on every board."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.errors import InvalidInput
from understudy.studio.game.board import (
    CLAW,
    EMBER,
    EMPTY,
    FREE,
    LINES,
    Board,
    completing,
    free,
    line_of,
    other,
    over,
    placed,
    winner,
)

# The square that each square goes to when the board is turned by a quarter, and when it is mirrored.
QUARTER = (2, 5, 8, 1, 4, 7, 0, 3, 6)
MIRROR = (2, 1, 0, 5, 4, 3, 8, 7, 6)


def moved(board: Board, where: tuple[int, ...]) -> Board:
    result = list(EMPTY)
    for square, mark in enumerate(board):
        result[where[square]] = mark
    return tuple(result)


@st.composite
def games(draw: st.DrawFn) -> Board:
    """A board that some game leads to."""
    board, mark = EMPTY, CLAW
    for square in draw(st.permutations(range(9)))[: draw(st.integers(0, 9))]:
        if over(board):
            break
        board, mark = placed(board, square, mark), other(mark)
    return board


@settings(max_examples=60, deadline=None)
@given(games(), st.sampled_from((QUARTER, MIRROR)))
def test_rules_do_not_know_which_way_the_board_lies(board: Board, where: tuple[int, ...]) -> None:
    turned = moved(board, where)
    assert winner(turned) == winner(board)
    assert over(turned) == over(board)
    for mark in (CLAW, EMBER):
        assert sorted(completing(turned, mark)) == sorted(where[square] for square in completing(board, mark))


@settings(max_examples=60, deadline=None)
@given(games(), st.sampled_from((CLAW, EMBER)))
def test_completing_squares_are_those_that_win_at_once(board: Board, mark: str) -> None:
    winning = [square for square in free(board) if not over(board) and winner(placed(board, square, mark)) == mark]
    assert list(completing(board, mark)) == winning


@settings(max_examples=60, deadline=None)
@given(games(), st.integers(0, 8), st.sampled_from((CLAW, EMBER)))
def test_a_move_changes_one_free_square(board: Board, square: int, mark: str) -> None:
    if over(board) or board[square] != FREE:
        with pytest.raises(InvalidInput):
            placed(board, square, mark)
        return
    after = placed(board, square, mark)
    assert [k for k in range(9) if after[k] != board[k]] == [square]
    assert after[square] == mark
    assert len(free(after)) == len(free(board)) - 1


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("mark", [CLAW, EMBER])
def test_three_in_a_line_win(line: tuple[int, int, int], mark: str) -> None:
    board = tuple(mark if square in line else FREE for square in range(9))
    assert winner(board) == mark and line_of(board) == line and over(board)


def test_lines_are_the_eight_there_are() -> None:
    """Three squares are in a line where their coordinates step evenly."""
    found = set()
    for a in range(9):
        for c in range(a + 1, 9):
            b, odd = divmod(a + c, 2)
            (ar, ac), (br, bc), (cr, cc) = (divmod(square, 3) for square in (a, b, c))
            steps = {(br - ar, bc - ac), (cr - br, cc - bc)}
            if not odd and len(steps) == 1 and max(map(abs, steps.pop())) == 1:
                found.add((a, b, c))
    assert set(LINES) == found


def test_a_full_board_without_a_line_is_a_draw() -> None:
    board = tuple(CLAW if square in (0, 1, 5, 6, 7) else EMBER for square in range(9))
    assert over(board) and winner(board) == FREE and line_of(board) is None and free(board) == ()


@pytest.mark.parametrize("square", [-1, 9])
def test_squares_beside_the_board_are_refused(square: int) -> None:
    with pytest.raises(InvalidInput, match="0 to 8"):
        placed(EMPTY, square, CLAW)
