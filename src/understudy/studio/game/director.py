"""The director: which script the character plays at which moment of a game, and when it makes its move.

    director = Director(scripts)                          # mood -> its scripts
    state, cues = director.init(seed=7, strength="drake")
    state, cues = director.step(state, MovePlayed(4))     # the player's move
    state, cues = director.step(state, TimePassed(1 / 60, done=False))

A pure state machine: an event goes in with the state, the next state comes out with the scripts to play. All chance
comes from the seed, so the same events give the same game. Choosing a move takes no time; pondering for seconds is
acting [Bailey 2016, section 6].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from understudy.perform.script import Variant
from understudy.perform.script_run import draw_variant
from understudy.studio.game import rules
from understudy.studio.game.rules import CLAW, EMBER, EMPTY_BOARD, choose_move, strength_of
from understudy.studio.game.state import GameState, Mood, Phase, Score

# Seconds of a phase, least and most: it ends with its script within these limits.
PHASE_SECONDS: dict[Phase, tuple[float, float]] = {
    "greeting": (1.2, 3.5),
    "reacting": (0.8, 2.2),
    "pondering": (2.0, 4.0),  # drawn between the two
    "placing": (0.6, 1.4),
    "surprised": (1.2, 2.4),
}
LOOK_BEFORE_MOVE_SECONDS = 0.5  # seconds that it looks at the square before its move
IMPATIENT_AFTER_SECONDS = 16.0  # seconds of the player's turn before it shows impatience
# Probability of a reaction to a move of the player.
REACTION_PROBABILITY: dict[Mood, float] = {"cornered": 1.0, "amused": 1.0, "blocked": 0.75, "threatened": 0.6}


@dataclass(frozen=True)
class GameStarted:
    """A game begins; None keeps the strength."""

    strength: str | None = None


@dataclass(frozen=True)
class PaceChanged:
    """Scale the durations of thinking and reacting, from the next phase on."""

    pace: float


@dataclass(frozen=True)
class MovePlayed:
    """The player chooses a square."""

    square: int


@dataclass(frozen=True)
class TimePassed:
    """Time has passed; `done` says that the script has ended."""

    seconds: float
    done: bool = False


@dataclass(frozen=True)
class PlayScript:
    """Play script `number` of a mood."""

    mood: Mood
    number: int
    variant: Variant


@dataclass(frozen=True)
class LookAtSquare:
    """Look at a point beside the script, by its name in the scripts."""

    at: str


GameEvent = GameStarted | PaceChanged | MovePlayed | TimePassed
DirectorResult = tuple[GameState, tuple[PlayScript | LookAtSquare, ...]]


def refusal(state: GameState, square: int) -> str:
    """Why the player may not take a square now, as a sentence; empty if it is allowed."""
    if state.is_over:
        return "The game is over."
    if state.turn != CLAW:
        return "It is not your turn."
    if not 0 <= square < len(state.board):
        return "There is no such square."
    return "That square is taken." if state.board[square] else ""


@dataclass(frozen=True)
class Director:
    """Chooses scripts from `scripts`, which has a set for each mood."""

    scripts: Mapping[Mood, tuple[Variant, ...]]

    def init(
        self,
        seed: int = 0,
        strength: str = "fledgling",
        pace: float = 1.0,
        score: Score | None = None,
        rounds: int = 0,
    ) -> DirectorResult:
        """Begin the first game, or the next one of an existing score."""
        return self._greet(GameState(seed, strength_of(strength).name, pace, score=score or Score(), round=rounds))

    def step(self, state: GameState, event: GameEvent) -> DirectorResult:
        """The next state and cues after an event."""
        if isinstance(event, GameStarted):
            return self._next_game(state, event)
        if isinstance(event, PaceChanged):
            return replace(state, pace=event.pace), ()
        if isinstance(event, MovePlayed):
            return self._handle_move(state, event.square)
        return self._handle_time(state, event)

    def _next_game(self, state: GameState, event: GameStarted) -> DirectorResult:
        """The sides begin alternately; a game without moves does not count."""
        strength = state.strength if event.strength is None else strength_of(event.strength).name
        count = state.round + (state.board != EMPTY_BOARD)
        fresh = GameState(state.seed, strength, state.pace, score=state.score, round=count)
        return self._greet(replace(fresh, chances=state.chances, drawn=state.drawn))

    def _greet(self, state: GameState) -> DirectorResult:
        return self._enter(replace(state, turn=EMBER if state.round % 2 else CLAW), "greeting", "greeting")

    def _handle_move(self, state: GameState, square: int) -> DirectorResult:
        reason = refusal(state, square)
        if reason:
            taken = not state.is_over and state.turn == CLAW and 0 <= square < len(state.board)
            return self._act(state, "refusing") if taken else (state, ())
        before = state.board
        state = replace(state, board=rules.place_mark(before, square, CLAW), last=square, turn=EMBER, waited=0.0)
        if rules.winner(state.board):
            state = replace(state, score=replace(state.score, player=state.score.player + 1))
            missed = state.choice is not None and square in state.choice.overlooked
            return self._enter(state, "surprised", "surprised") if missed else self._enter(state, "lost", "lost")
        if rules.is_over(state.board):
            return self._end_in_draw(state)
        mood = self._opinion(before, state, square)
        if mood is not None:
            shown = state.generator().random() < REACTION_PROBABILITY[mood]
            state = replace(state, chances=state.chances + 1)
            if shown:
                return self._enter(state, "reacting", mood)
        return self._ponder(state)

    def _opinion(self, before: rules.Board, state: GameState, square: int) -> Mood | None:
        """The mood after the player's move; None for no reaction."""
        threats = rules.completing_squares(state.board, CLAW)
        if len(threats) > 1 and not rules.completing_squares(state.board, EMBER):
            return "cornered"
        if rules.completing_squares(before, CLAW):
            return "amused"
        if square in rules.completing_squares(before, EMBER):
            return "blocked"
        return "threatened" if threats else None

    def _ponder(self, state: GameState) -> DirectorResult:
        choice = choose_move(state.board, EMBER, strength_of(state.strength), state.move_generator())
        state = replace(state, choice=choice, decided=False)
        return self._enter(state, "pondering", "pondering")

    def _handle_time(self, state: GameState, event: TimePassed) -> DirectorResult:
        state = replace(state, since=state.since + max(event.seconds, 0.0))
        if state.phase in ("won", "lost", "draw"):
            return self._act(state, "again") if event.done else (state, ())
        if state.phase == "waiting":
            return self._waits(state, event)
        finished = event.done and state.phase != "pondering"
        if state.since >= state.until and (finished or state.since >= state.most):
            return self._after(state)
        if (
            state.phase == "pondering"
            and not state.decided
            and state.since >= state.until - state.pace * LOOK_BEFORE_MOVE_SECONDS
        ):
            return replace(state, decided=True), (LookAtSquare("chosen"),)
        return state, ()

    def _waits(self, state: GameState, event: TimePassed) -> DirectorResult:
        """In the player's turn it plays one script after the other, and becomes impatient once."""
        state = replace(state, waited=state.waited + max(event.seconds, 0.0))
        if not event.done:
            return state, ()
        bored = state.waited > IMPATIENT_AFTER_SECONDS and state.mood != "impatient"
        return self._act(state, "impatient" if bored else "waiting")

    def _after(self, state: GameState) -> DirectorResult:
        """The phase after the current one."""
        if state.phase == "pondering":
            return self._place(state)
        if state.phase == "surprised":
            return self._enter(state, "lost", "lost")
        if state.phase == "reacting" or (state.phase == "greeting" and state.turn == EMBER):
            return self._ponder(state)
        return self._enter(state, "waiting", "waiting")

    def _place(self, state: GameState) -> DirectorResult:
        assert state.choice is not None
        square = state.choice.square
        state = replace(state, board=rules.place_mark(state.board, square, EMBER), last=square, turn=CLAW, waited=0.0)
        if rules.winner(state.board):
            score = replace(state.score, character=state.score.character + 1)
            return self._enter(replace(state, score=score), "won", "won")
        if rules.is_over(state.board):
            return self._end_in_draw(state)
        return self._enter(state, "placing", "placing")

    def _end_in_draw(self, state: GameState) -> DirectorResult:
        score = replace(state.score, draws=state.score.draws + 1)
        return self._enter(replace(state, score=score), "draw", "draw")

    def _enter(self, state: GameState, phase: Phase, mood: Mood) -> DirectorResult:
        """Enter a phase with its mood, and choose its duration."""
        least, most = (state.pace * each for each in PHASE_SECONDS.get(phase, (0.0, 0.0)))
        if phase == "pondering":
            least = most = least + (most - least) * state.generator().random()
            state = replace(state, chances=state.chances + 1)
        return self._act(replace(state, phase=phase, until=least, most=most), mood)

    def _act(self, state: GameState, mood: Mood) -> DirectorResult:
        """Choose a script of a mood, other than the last one if there is another."""
        known = dict(state.drawn)
        number = draw_variant(self.scripts[mood], known.get(mood), state.generator())
        known[mood] = number
        state = replace(state, mood=mood, since=0.0, chances=state.chances + 1, drawn=tuple(sorted(known.items())))
        return state, (PlayScript(mood, number, self.scripts[mood][number]),)
