"""The director: every mood has its moment, every game comes to its end, and the same events give the same game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from understudy.perform.commands import Idle
from understudy.perform.script import ScriptStep, Variant
from understudy.studio.game.director import (
    PHASE_SECONDS,
    Director,
    GameStarted,
    LookAtSquare,
    MovePlayed,
    PaceChanged,
    PlayScript,
    TimePassed,
    refusal,
)
from understudy.studio.game.rules import CLAW, EMBER, EMPTY_BOARD, FREE, best_squares, free_squares, is_over, winner
from understudy.studio.game.state import MOODS, GameState, Mood, Phase

TICK = 0.1
MOOD_NAMES: tuple[Mood, ...] = get_args(Mood)


def numbered(mood: str, count: int) -> tuple[Variant, ...]:
    return tuple(Variant((ScriptStep(f"{mood} {number}", Idle(seconds=1.0)),)) for number in range(count))


DIRECTOR = Director({mood: numbered(mood, 3) for mood in MOOD_NAMES})
Player = Callable[[GameState, np.random.Generator], int]


def careful(state: GameState, generator: np.random.Generator) -> int:
    return int(generator.choice(best_squares(state.board, CLAW)))


def careless(state: GameState, generator: np.random.Generator) -> int:
    return int(generator.choice(free_squares(state.board)))


class Stage:
    """A game that is played in steps of a tenth of a second; every script takes `seconds`."""

    def __init__(self, seed: int, strength: str, seconds: float = 2.0, pace: float = 1.0) -> None:
        self.acts: list[PlayScript] = []
        self.glances: list[LookAtSquare] = []
        self.phases: list[Phase] = []
        self.clock, self.ends, self.seconds = 0.0, 0.0, seconds
        self.generator = np.random.default_rng(seed)
        self.state, cues = DIRECTOR.init(seed, strength, pace)
        self.take(cues)

    def take(self, cues: tuple[PlayScript | LookAtSquare, ...]) -> None:
        for cue in cues:
            if isinstance(cue, PlayScript):
                self.acts.append(cue)
                self.ends = self.clock + self.seconds
            else:
                self.glances.append(cue)
        if not self.phases or self.phases[-1] != self.state.phase:
            self.phases.append(self.state.phase)

    def tell(self, event: GameStarted | PaceChanged | MovePlayed | TimePassed) -> None:
        self.state, cues = DIRECTOR.step(self.state, event)
        self.take(cues)

    def tick(self) -> None:
        self.clock += TICK
        self.tell(TimePassed(TICK, self.clock >= self.ends))

    def play(self, player: Player) -> GameState:
        while self.state.phase not in ("won", "lost", "draw"):
            if self.state.turn == CLAW and self.state.phase == "waiting":
                self.tell(MovePlayed(player(self.state, self.generator)))
            self.tick()
            assert self.clock < 300
        return self.state

    @property
    def moods(self) -> list[str]:
        return [act.mood for act in self.acts]


def game(end: Phase, strength: str, player: Player) -> Stage:
    """The first seed that leads to an end."""
    for seed in range(60):
        stage = Stage(seed, strength)
        if stage.play(player).phase == end:
            return stage
    raise AssertionError(f"no game ended with {end}")


def test_a_whole_game_is_lost_by_the_character() -> None:
    stage = game("lost", "hatchling", careful)
    assert winner(stage.state.board) == CLAW
    assert stage.state.score.player == 1 and stage.state.score.character == 0
    assert stage.moods[-1] == "lost"
    assert len(stage.state.line) == 3


def test_a_whole_game_is_won_by_the_character() -> None:
    stage = game("won", "elder", careless)
    assert winner(stage.state.board) == EMBER
    assert stage.state.score.character == 1
    assert stage.moods[-1] == "won"


def test_a_whole_game_ends_in_a_draw() -> None:
    stage = game("draw", "elder", careful)
    assert is_over(stage.state.board) and winner(stage.state.board) == FREE
    assert stage.state.score.draws == 1
    assert stage.moods[-1] == "draw"


def test_every_mood_and_every_phase_is_reached() -> None:
    moods: set[str] = set()
    phases: set[str] = set()
    for seed in range(40):
        for strength, player in (("hatchling", careful), ("hatchling", careless), ("elder", careless)):
            stage = Stage(seed, strength)
            stage.play(player)
            for _ in range(25):
                stage.tick()
            moods |= set(stage.moods)
            phases |= set(stage.phases)
    waiting = Stage(0, "drake")
    while waiting.state.phase != "waiting":
        waiting.tick()
    waiting.state = replace(waiting.state, board=(EMBER, *waiting.state.board[1:]))
    waiting.tell(MovePlayed(0))
    for _ in range(400):
        waiting.tick()
    moods |= set(waiting.moods)
    assert moods == set(MOODS)
    assert phases == set(get_args(Phase))


def test_it_is_surprised_only_by_a_line_that_it_left_open() -> None:
    surprised = 0
    for seed in range(60):
        stage = Stage(seed, "hatchling")
        stage.play(careful)
        state = stage.state
        if state.phase != "lost":
            assert "surprised" not in stage.phases
            continue
        assert state.choice is not None
        missed = state.last in state.choice.overlooked
        assert ("surprised" in stage.phases) == missed
        surprised += missed
        if missed:
            assert stage.phases[-2:] == ["surprised", "lost"]
    assert surprised > 5


def test_it_ponders_for_two_to_four_seconds_and_looks_at_its_square_before_it_moves() -> None:
    lasted = []
    for seed in range(10):
        stage = Stage(seed, "drake", seconds=0.5)
        began = None
        while stage.state.phase not in ("won", "lost", "draw"):
            if stage.state.turn == CLAW and stage.state.phase == "waiting":
                stage.tell(MovePlayed(careful(stage.state, stage.generator)))
            before = stage.state
            stage.tick()
            if stage.state.phase == "pondering" and began is None:
                began, glances = stage.clock, len(stage.glances)
            if before.phase == "pondering" and stage.state.phase != "pondering":
                assert began is not None
                lasted.append(stage.clock - began)
                assert stage.glances[glances:] == [LookAtSquare("chosen")]
                assert stage.state.last == stage.state.choice.square  # type: ignore[union-attr]
                began = None
    least, most = PHASE_SECONDS["pondering"]
    assert min(lasted) >= least - TICK and max(lasted) <= most + 2 * TICK
    assert max(lasted) - min(lasted) > 0.8


def test_a_quick_one_thinks_shorter() -> None:
    slow, quick = (Stage(3, "elder", pace=pace) for pace in (1.0, 0.25))
    slow.play(careful)
    quick.play(careful)
    assert quick.clock < 0.6 * slow.clock


def test_no_script_is_drawn_twice_running() -> None:
    stage = Stage(5, "drake")
    stage.play(careful)
    for _ in range(1000):
        stage.tick()
    last: dict[str, int] = {}
    for act in stage.acts:
        assert last.get(act.mood) != act.number
        last[act.mood] = act.number
    assert len({act.number for act in stage.acts if act.mood == "again"}) == 3


def test_the_same_events_give_the_same_game() -> None:
    first, again = (Stage(11, "fledgling") for _ in range(2))
    assert first.play(careful) == again.play(careful)
    assert first.acts == again.acts
    other = Stage(12, "fledgling")
    other.play(careful)
    assert other.acts != first.acts


def test_the_same_moves_are_answered_alike_however_long_the_player_thinks() -> None:
    quick, slow = Stage(9, "fledgling"), Stage(9, "fledgling")
    for _ in range(500):
        slow.tick()
    assert quick.play(careful).board == slow.play(careful).board
    assert quick.state.chances != slow.state.chances


def test_who_did_not_begin_begins_the_next_game() -> None:
    stage = Stage(2, "elder")
    assert stage.state.turn == CLAW
    stage.tell(GameStarted())
    assert stage.state.turn == CLAW and stage.state.round == 0  # nobody had moved
    stage.play(careful)
    stage.tell(GameStarted(strength="hatchling"))
    board = stage.state.board
    stage.tell(PaceChanged(0.5))
    assert stage.state.board == board
    assert stage.state.turn == EMBER and stage.state.board == EMPTY_BOARD
    assert (stage.state.strength, stage.state.pace, stage.state.score.draws) == ("hatchling", 0.5, 1)
    while stage.state.turn == EMBER:
        stage.tick()
    assert stage.state.board.count(EMBER) == 1


def test_moves_out_of_turn_change_nothing_and_taken_squares_make_it_shake_its_head() -> None:
    stage = Stage(4, "drake")
    while stage.state.phase != "waiting":
        stage.tick()
    stage.tell(MovePlayed(4))
    held = stage.state
    assert refusal(held, 0) == "It is not your turn."
    stage.tell(MovePlayed(0))
    assert stage.state == held
    while stage.state.phase != "waiting":
        stage.tick()
    board = stage.state.board
    assert refusal(stage.state, 4) == "That square is taken."
    assert refusal(stage.state, 9) == "There is no such square."
    stage.tell(MovePlayed(4))
    assert stage.state.board == board and stage.state.mood == "refusing" and stage.state.turn == CLAW
    stage.tell(MovePlayed(9))
    assert stage.state.board == board
    stage.play(careful)
    assert (
        refusal(stage.state, free_squares(stage.state.board)[0] if free_squares(stage.state.board) else 0)
        == "The game is over."
    )


def test_a_player_may_move_before_the_greeting_is_over() -> None:
    stage = Stage(6, "drake")
    assert stage.state.phase == "greeting"
    stage.tell(MovePlayed(4))
    assert stage.state.board[4] == CLAW and stage.state.phase == "pondering"


@pytest.mark.parametrize("waits", [0.0, 40.0])
def test_it_scowls_on_while_the_player_thinks(waits: float) -> None:
    stage = Stage(8, "drake")
    while stage.state.phase != "waiting":
        stage.tick()
    for _ in range(int(waits / TICK)):
        stage.tick()
    assert stage.state.phase == "waiting" and stage.state.board == EMPTY_BOARD
    assert ("impatient" in stage.moods) == (waits > 0)
    assert stage.moods.count("waiting") >= stage.moods.count("impatient")
