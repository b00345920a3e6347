"""How well the opponent plays, and that its mistakes are mistakes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.studio.game.rules import (
    CLAW,
    EMBER,
    EMPTY_BOARD,
    STRENGTHS,
    Board,
    best_squares,
    board_value,
    choose_move,
    completing_squares,
    free_squares,
    is_over,
    other_mark,
    place_mark,
    strength_of,
    winner,
)


@cache
def outcome(board: Board, mark: str) -> int:
    """The slow oracle: 1 where `mark`, to move, can force a win, 0 a draw, -1 where it loses."""
    if winner(board):
        return -1
    if is_over(board):
        return 0
    return max(-outcome(place_mark(board, square, mark), other_mark(mark)) for square in free_squares(board))


def positions() -> list[tuple[Board, str]]:
    """Every board that can be reached and is not decided, with whose move it is."""
    found: dict[Board, str] = {}
    waiting = [(EMPTY_BOARD, CLAW)]
    while waiting:
        board, mark = waiting.pop()
        if board in found or is_over(board):
            continue
        found[board] = mark
        waiting += [(place_mark(board, square, mark), other_mark(mark)) for square in free_squares(board)]
    return list(found.items())


def test_values_have_the_sign_of_the_oracle_everywhere() -> None:
    for board, mark in positions():
        assert np.sign(board_value(board, mark)) == outcome(board, mark)


def test_best_moves_keep_what_can_be_had_and_win_at_once_where_they_can() -> None:
    for board, mark in positions():
        chosen = best_squares(board, mark)
        kept = [
            square
            for square in free_squares(board)
            if -outcome(place_mark(board, square, mark), other_mark(mark)) == outcome(board, mark)
        ]
        assert set(chosen) <= set(kept)
        wins = completing_squares(board, mark)
        if wins:
            assert set(chosen) == set(wins)


def test_the_elder_never_loses_whatever_it_draws_and_whoever_begins() -> None:
    """Against every sequence of moves of the player, over every choice that the elder might make."""
    seen: set[tuple[Board, str]] = set()

    def follow(board: Board, mark: str) -> None:
        if (board, mark) in seen:
            return
        seen.add((board, mark))
        assert winner(board) != CLAW
        if is_over(board):
            return
        elder = strength_of("elder")
        if mark == EMBER:
            options = {choose_move(board, EMBER, elder, np.random.default_rng(seed)).square for seed in range(6)}
            assert options <= set(best_squares(board, EMBER)) | set(completing_squares(board, CLAW))
            moves = set(best_squares(board, EMBER))
        else:
            moves = set(free_squares(board))
        for square in moves:
            follow(place_mark(board, square, mark), other_mark(mark))

    follow(EMPTY_BOARD, CLAW)
    follow(EMPTY_BOARD, EMBER)


def played(strength: str, seed: int) -> str:
    """Who wins when the player never errs and begins."""
    generator = np.random.default_rng(seed)
    board, mark = EMPTY_BOARD, CLAW
    while not is_over(board):
        if mark == CLAW:
            square = int(generator.choice(best_squares(board, CLAW)))
        else:
            square = choose_move(board, EMBER, strength_of(strength), generator).square
        board, mark = place_mark(board, square, mark), other_mark(mark)
    return winner(board)


def test_weaker_ones_lose_more() -> None:
    lost = [sum(played(strength.name, seed) == CLAW for seed in range(80)) for strength in STRENGTHS]
    assert lost == sorted(lost, reverse=True)
    assert lost[-1] == 0
    assert lost[0] > 50


@pytest.mark.parametrize("strength", STRENGTHS, ids=lambda each: each.name)
def test_a_seed_repeats_a_choice_and_choices_are_legal(strength: object) -> None:
    board = (CLAW, "", "", "", EMBER, "", "", "", CLAW)
    for seed in range(20):
        first, again = (choose_move(board, EMBER, strength, np.random.default_rng(seed)) for _ in range(2))  # type: ignore[arg-type]
        assert first == again
        assert first.square in free_squares(board)
        assert first.glances[-1] == first.square
        assert len(set(first.glances)) == len(first.glances) and set(first.glances) <= set(free_squares(board))


def test_an_oversight_is_a_line_left_open_that_could_have_been_blocked() -> None:
    threat = (CLAW, CLAW, "", "", EMBER, "", "", "", "")  # 2 has to be blocked
    missed = 0
    for seed in range(60):
        choice = choose_move(threat, EMBER, strength_of("hatchling"), np.random.default_rng(seed))
        assert choice.overlooked == (() if choice.square == 2 else (2,))
        missed += choice.square != 2
    assert 0 < missed < 60
    fork = (CLAW, CLAW, "", CLAW, EMBER, "", "", "", EMBER)  # 2 and 6: only one of them can be blocked
    for seed in range(20):
        choice = choose_move(fork, EMBER, strength_of("elder"), np.random.default_rng(seed))
        assert choice.square in (2, 6) and choice.overlooked == ()
    winning = (EMBER, EMBER, "", CLAW, CLAW, "", "", "", "")
    choice = choose_move(winning, EMBER, strength_of("elder"), np.random.default_rng(0))
    assert choice.square == 2 and choice.overlooked == ()


def test_unknown_strengths_and_ended_games_are_refused() -> None:
    with pytest.raises(InvalidInput, match="hatchling"):
        strength_of("egg")
    with pytest.raises(InvalidInput, match="over"):
        choose_move((CLAW,) * 3 + ("",) * 6, EMBER, strength_of("elder"), np.random.default_rng(0))
