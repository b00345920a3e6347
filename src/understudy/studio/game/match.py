"""A match: a game as a live character acts it out. It connects the director to the performance.

About thirty times a second the match tells the director how much time has passed, and the character the commands of the
director's scripts. The time is that of the performance, so a paused match waits.
"""

from __future__ import annotations

from collections.abc import Callable

from understudy.perform.commands import CAMERA, LookAt
from understudy.perform.script import OneOf
from understudy.perform.script_run import Schedule, ScheduledStep
from understudy.studio.game.director import (
    Director,
    DirectorResult,
    GameEvent,
    GameStarted,
    LookAtSquare,
    MovePlayed,
    PaceChanged,
    PlayScript,
    TimePassed,
)
from understudy.studio.game.mood_scripts import MoodScripts, scripts_for_model
from understudy.studio.game.state import BoardPlacement, GameState, Place, Score
from understudy.studio.perform.live_source import LiveSource

CENTRE_SQUARE = 4


class Match:
    """One player, one character. `changed` is called after every event that changes the visible game."""

    def __init__(
        self,
        source: LiveSource,
        table: BoardPlacement,
        changed: Callable[[GameState], None],
        seed: int = 0,
        strength: str = "fledgling",
        pace: float = 1.0,
        score: Score | None = None,
        rounds: int = 0,
    ) -> None:
        self.table, self.changed = table, changed
        self.pointer: Place | None = None  # the player's pointer in the world
        self.looking = ""  # name of the target of its gaze
        self._join(source)
        self.state, cues = self._director.init(seed, strength, pace, score, rounds)
        self._follow((self.state, cues))

    @property
    def scripts(self) -> MoodScripts:
        """The scripts of the model that plays."""
        return self._scripts

    def _join(self, source: LiveSource) -> None:
        self.source = source
        self._time = source.time
        self._scripts = scripts_for_model(source.opened.model)
        self._director = Director(self._scripts.scripts)
        self._schedule, self._began = Schedule(()), source.time

    def rejoin(self, source: LiveSource) -> None:
        """Continue the game with another performance on stage."""
        if source is not self.source:
            self._join(source)

    def new_game(self, strength: str | None = None) -> None:
        """Start another round."""
        self._handle_event(GameStarted(strength))

    def pace(self, pace: float) -> None:
        """Set the pace of the character."""
        self._handle_event(PaceChanged(pace))

    def play(self, square: int) -> None:
        """The player's move."""
        self._handle_event(MovePlayed(square))

    def point(self, place: Place | None) -> None:
        """Set the player's pointer; None if it has left the stage."""
        self.pointer = place
        if self.looking == "player":
            self._look("player")

    def advance(self) -> None:
        """Advance the game to the time of the performance."""
        seconds, self._time = self.source.time - self._time, self.source.time
        if seconds <= 0:
            return
        done = self.source.is_done
        self._schedule, fallen = self._schedule.due(self._time - self._began, not done)
        self._tell(fallen)
        self._handle_event(TimePassed(seconds, self._schedule.is_finished and not fallen and done))

    def _handle_event(self, event: GameEvent) -> None:
        before = self.state
        self._follow(self._director.step(before, event))
        seen = (before.board, before.phase, before.mood, before.turn, before.round, before.strength, before.pace)
        now = self.state
        if seen != (now.board, now.phase, now.mood, now.turn, now.round, now.strength, now.pace):
            self.changed(now)

    def _follow(self, result: DirectorResult) -> None:
        self.state, cues = result
        for cue in cues:
            if isinstance(cue, LookAtSquare):
                self._look(cue.at)
            elif isinstance(cue, PlayScript):
                self._begin(cue)

    def _begin(self, act: PlayScript) -> None:
        """Begin a script: its first command interrupts the running one."""
        self._began = self.source.time
        schedule = Schedule(tuple(ScheduledStep(step) for step in act.variant.steps))
        self._schedule, fallen = schedule.due(0.0, busy=False)
        self._tell(fallen)

    def _tell(self, cues: tuple[ScheduledStep, ...]) -> None:
        for cue in cues:
            action = cue.step.action
            assert not isinstance(action, OneOf)  # a variant cannot call another set
            if isinstance(action, LookAt):
                self._look(
                    self._scripts.names.get(action.at, "") if isinstance(action.at, tuple) else action.at, action
                )
            else:
                self.source.tell(action)

    def _look(self, name: str, written: LookAt | None = None) -> None:
        """Look at a named target; an unknown name is the point that the script gives."""
        self.looking = name
        if not self.source.has_gaze:
            return
        if name == "player":
            self.source.look(CAMERA if self.pointer is None else self.pointer)
            return
        square = self._square(name)
        if square is not None:
            self.source.look(self.table.square(square))
        elif written is not None:
            self.source.look(written.at)

    def _square(self, name: str) -> int | None:
        """The square that a name in the scripts stands for now."""
        state, considered = self.state, self.state.glances
        if name == "board":
            return state.line[1] if state.line else CENTRE_SQUARE
        if name == "first":
            return considered[0] if considered else CENTRE_SQUARE
        if name == "second":
            return considered[min(1, len(considered) - 1)] if considered else CENTRE_SQUARE
        if name == "chosen":
            return state.choice.square if state.choice is not None else CENTRE_SQUARE
        if name == "last":
            return CENTRE_SQUARE if state.last is None else state.last
        return None
