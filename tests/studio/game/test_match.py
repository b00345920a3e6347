"""A match on a live character: time is the performance's, scripts are told to it, looks go where the game is."""

from __future__ import annotations

import pytest

from understudy.perform.commands import CAMERA
from understudy.perform.pose_model import ModelWithCharacter
from understudy.studio.game.match import Match
from understudy.studio.game.rules import CLAW, EMPTY_BOARD, best_squares
from understudy.studio.game.state import BoardPlacement, GameState
from understudy.studio.perform.live_source import LiveSource

TABLE = BoardPlacement((0.0, 0.1, 0.5), 0.3)


class Watched(LiveSource):
    """A source that has eyes, and remembers what it was told to look at."""

    looks: list[object]

    @property
    def has_gaze(self) -> bool:
        return True

    def look(self, point: object) -> None:
        self.__dict__.setdefault("looks", []).append(point)


@pytest.fixture
def source(lamp: ModelWithCharacter) -> Watched:
    return Watched(lamp, rate=24, seed=1)


def begun(source: LiveSource, strength: str = "hatchling", seed: int = 0) -> tuple[Match, list[GameState]]:
    states: list[GameState] = []
    return Match(source, TABLE, states.append, seed, strength, pace=0.05), states


def go(match: Match, seconds: float) -> None:
    for _ in range(round(seconds * 24)):
        match.source.advance(1 / 24)
        match.advance()


def test_a_whole_game_is_acted_out(source: Watched) -> None:
    match, states = begun(source)
    for _ in range(40):
        if match.state.is_over:
            break
        if match.state.turn == CLAW:
            match.play(best_squares(match.state.board, CLAW)[0])
        go(match, 0.25)
    assert match.state.is_over
    assert [state.board for state in states if state.board != EMPTY_BOARD][-1] == match.state.board
    played = {event.what for event in source.events}
    assert {"play", "transition"} <= played


def test_a_paused_performance_holds_the_game(source: Watched) -> None:
    match, _ = begun(source, "elder")
    match.play(4)
    before = match.state
    for _ in range(200):
        match.advance()
    assert match.state == before
    go(match, 1.0)
    assert match.state.board != before.board


def test_it_looks_at_the_squares_it_considers_and_at_the_one_it_takes(source: Watched) -> None:
    match, _ = begun(source, "elder")
    match.play(4)
    source.looks.clear()
    while match.state.phase == "pondering":
        go(match, 1 / 24)
    assert match.state.choice is not None
    assert TABLE.square(match.state.choice.square) in source.looks


def test_in_the_players_turn_it_follows_the_pointer(source: Watched) -> None:
    match, _ = begun(source)
    assert match.looking == "player"  # it greets
    assert source.looks[-1] == CAMERA
    match.point((0.1, 0.2, 0.6))
    assert source.looks[-1] == (0.1, 0.2, 0.6)
    match.point(None)
    assert source.looks[-1] == CAMERA
    match.play(4)
    match.looking = "board"
    count = len(source.looks)
    match.point((0.3, 0.2, 0.6))
    assert len(source.looks) == count, "while it looks at the board the pointer does not distract it"


def test_the_game_goes_on_in_another_performance(source: Watched, lamp: ModelWithCharacter) -> None:
    match, _ = begun(source, "elder")
    match.play(0)
    board = match.state.board
    match.rejoin(LiveSource(lamp, rate=24, seed=2))
    assert match.state.board == board
    go(match, 1.0)
    assert match.state.board.count("ember") == 1
