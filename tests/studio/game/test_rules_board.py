"""Rules, by what must hold of them on every board."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.errors import InvalidInput
from understudy.studio.game.rules import (
    CLAW,
    EMBER,
    EMPTY_BOARD,
    FREE,
    WINNING_LINES,
    Board,
    completing_squares,
    free_squares,
    is_over,
    other_mark,
    place_mark,
    winner,
    winning_line,
)

# The square that each square goes to when the board is turned by a quarter, and when it is mirrored.
QUARTER = (2, 5, 8, 1, 4, 7, 0, 3, 6)
MIRROR = (2, 1, 0, 5, 4, 3, 8, 7, 6)


def moved(board: Board, where: tuple[int, ...]) -> Board:
    result = list(EMPTY_BOARD)
    for square, mark in enumerate(board):
        result[where[square]] = mark
    return tuple(result)


@st.composite
def games(draw: st.DrawFn) -> Board:
    """A board that some game leads to."""
    board, mark = EMPTY_BOARD, CLAW
    for square in draw(st.permutations(range(9)))[: draw(st.integers(0, 9))]:
        if is_over(board):
            break
        board, mark = place_mark(board, square, mark), other_mark(mark)
    return board


@settings(max_examples=60, deadline=None)
@given(games(), st.sampled_from((QUARTER, MIRROR)))
def test_rules_do_not_know_which_way_the_board_lies(board: Board, where: tuple[int, ...]) -> None:
    turned = moved(board, where)
    assert winner(turned) == winner(board)
    assert is_over(turned) == is_over(board)
    for mark in (CLAW, EMBER):
        assert sorted(completing_squares(turned, mark)) == sorted(
            where[square] for square in completing_squares(board, mark)
        )


@settings(max_examples=60, deadline=None)
@given(games(), st.sampled_from((CLAW, EMBER)))
def test_completing_squares_are_those_that_win_at_once(board: Board, mark: str) -> None:
    winning = [
        square
        for square in free_squares(board)
        if not is_over(board) and winner(place_mark(board, square, mark)) == mark
    ]
    assert list(completing_squares(board, mark)) == winning


@settings(max_examples=60, deadline=None)
@given(games(), st.integers(0, 8), st.sampled_from((CLAW, EMBER)))
def test_a_move_changes_one_free_square(board: Board, square: int, mark: str) -> None:
    if is_over(board) or board[square] != FREE:
        with pytest.raises(InvalidInput):
            place_mark(board, square, mark)
        return
    after = place_mark(board, square, mark)
    assert [k for k in range(9) if after[k] != board[k]] == [square]
    assert after[square] == mark
    assert len(free_squares(after)) == len(free_squares(board)) - 1


@pytest.mark.parametrize("line", WINNING_LINES)
@pytest.mark.parametrize("mark", [CLAW, EMBER])
def test_three_in_a_line_win(line: tuple[int, int, int], mark: str) -> None:
    board = tuple(mark if square in line else FREE for square in range(9))
    assert winner(board) == mark and winning_line(board) == line and is_over(board)


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
    assert set(WINNING_LINES) == found


def test_a_full_board_without_a_line_is_a_draw() -> None:
    board = tuple(CLAW if square in (0, 1, 5, 6, 7) else EMBER for square in range(9))
    assert is_over(board) and winner(board) == FREE and winning_line(board) is None and free_squares(board) == ()


@pytest.mark.parametrize("square", [-1, 9])
def test_squares_beside_the_board_are_refused(square: int) -> None:
    with pytest.raises(InvalidInput, match="0 to 8"):
        place_mark(EMPTY_BOARD, square, CLAW)
