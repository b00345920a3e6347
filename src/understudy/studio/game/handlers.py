"""Handlers of the play mode: one match for each session, which pages may leave and enter again."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from understudy.errors import InvalidInput
from understudy.studio.document import GameRecord
from understudy.studio.game.director import refusal
from understudy.studio.game.match import Match
from understudy.studio.game.rules import EMPTY_BOARD, FREE, STRENGTHS, evaluate_all_boards
from understudy.studio.game.state import GameState, Score, place_board
from understudy.studio.messages import perform as messages
from understudy.studio.perform.live_source import LiveSource
from understudy.studio.registry import handles_request

if TYPE_CHECKING:
    from understudy.studio.document import Document, ModelEntry
    from understudy.studio.session import Session

MODE = "play"
POLL_SECONDS = 1 / 30  # seconds between two steps of the match
STRENGTH_NAMES = tuple(each.name for each in STRENGTHS)
# The last phase of the character -> the result of the player.
PLAYER_RESULTS = {"won": "lost", "lost": "won", "surprised": "won", "draw": "draw"}
_PLAYING: WeakKeyDictionary[Session, GameSession] = WeakKeyDictionary()


class GameSession:
    """The match of a session, and the task that advances it."""

    def __init__(self) -> None:
        self.match: Match | None = None
        self.model = ""  # id of the model that plays
        self.task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Pause the game; it can be continued."""
        if self.task is not None:
            self.task.cancel()
            self.task = None


@handles_request(messages.EnterGame)
async def enter(session: Session, request: messages.EnterGame) -> messages.GameEntered:
    """Play with the character on stage, or else with one that has a model."""
    await session.wait_until_staged()
    entry = find_playing_model(session.document)
    if entry is None:
        raise InvalidInput("No character has a trained model; learn a character first")
    stage = session.document.stage
    if stage.driver != "model" or stage.drives != entry.id or not stage.playing:
        await session.show(entry.character, "model", entry.id)
    source = _live(session)
    playing = _PLAYING.setdefault(session, GameSession())
    if playing.match is None or playing.model != entry.id or request.seed is not None:
        playing.model = entry.id
        playing.match = await _match(session, source, request)
    else:
        playing.match.rejoin(source)
        if request.strength not in (None, playing.match.state.strength):
            playing.match.new_game(request.strength)
        if request.pace is not None:
            playing.match.pace(request.pace)
    if playing.task is None or playing.task.done():
        playing.task = asyncio.get_running_loop().create_task(_run_game(session, playing))
    table = playing.match.table
    return messages.GameEntered(
        game=describe_game(session, playing.match.state),
        table=messages.GameTable(table.centre, table.width, table.lean, table.ground, table.tall),
        strengths=tuple(messages.GameStrength(each.name, each.title, each.about) for each in STRENGTHS),  # type: ignore[arg-type]
    )


@handles_request(messages.LeaveGame)
async def leave(session: Session, request: messages.LeaveGame) -> None:
    """Pause the game."""
    playing = _PLAYING.get(session)
    if playing is not None:
        playing.stop()
        if isinstance(session.source, LiveSource):
            session.source.look(None)


@handles_request(messages.NewGame)
async def new_game(session: Session, request: messages.NewGame) -> None:
    """Start another round."""
    _match_of(session).new_game(request.strength)


@handles_request(messages.PaceGame)
async def pace(session: Session, request: messages.PaceGame) -> None:
    """Set the pace of the character."""
    _match_of(session).pace(request.pace)


@handles_request(messages.PlaceMark)
async def place_mark(session: Session, request: messages.PlaceMark) -> None:
    """The player's move. The character acts out a refusal; the answer gives the reason as text."""
    match = _match_of(session)
    reason = refusal(match.state, request.square)
    match.play(request.square)
    if reason:
        raise InvalidInput(reason)


@handles_request(messages.PointAt)
async def point(session: Session, request: messages.PointAt) -> None:
    """Set the player's pointer."""
    playing = _PLAYING.get(session)
    if playing is not None and playing.match is not None:
        playing.match.point(request.place)


def find_playing_model(document: Document) -> ModelEntry | None:
    """The model that plays: the one on stage, else one of the character on stage, else the newest."""
    stage = document.stage
    if stage.driver == "model" and (entry := document.model(stage.drives)) is not None:
        return entry
    own = [entry for entry in document.models if entry.character == stage.character] or list(document.models)
    return own[-1] if own else None


def describe_game(session: Session, state: GameState) -> messages.Game:
    """The event that describes a game."""
    entry = session.document.character(session.document.stage.character)
    return messages.Game(
        character=entry.name if entry is not None else "",
        board=state.board,  # type: ignore[arg-type]
        turn=FREE if state.is_over else state.turn,  # type: ignore[arg-type]
        phase=state.phase,
        mood=state.mood,
        result=PLAYER_RESULTS.get(state.phase, ""),  # type: ignore[arg-type]
        line=state.line,
        last=state.last,
        strength=state.strength,  # type: ignore[arg-type]
        pace=state.pace,
        round=state.round,
        player=state.score.player,
        opponent=state.score.character,
        draws=state.score.draws,
    )


async def _match(session: Session, source: LiveSource, request: messages.EnterGame) -> Match:
    table = await asyncio.to_thread(place_board, source.opened.rig)
    await asyncio.to_thread(evaluate_all_boards)  # in a thread: at the first move it would stop the stage
    # with a seed the game is the same each time, and does not count
    record = GameRecord() if request.seed is not None else session.document.game
    seed = secrets.randbits(31) if request.seed is None else request.seed

    def changed(state: GameState) -> None:
        session.emit(describe_game(session, state))
        if request.seed is None:
            _remember(session, state)

    strength = request.strength or (record.strength if record.strength in STRENGTH_NAMES else "fledgling")
    score = Score(record.player, record.character, record.draws)
    return Match(source, table, changed, seed, strength, request.pace or record.pace, score, record.rounds)


def _remember(session: Session, state: GameState) -> None:
    """Store the record of the games in the project; a new score is saved at once."""
    score, before = state.score, session.document.game
    rounds = state.round + (state.board != EMPTY_BOARD)
    record = GameRecord(score.player, score.character, score.draws, rounds, state.strength, state.pace)
    session.adjust(replace(session.document, game=record))
    if (record.player, record.character, record.draws) != (before.player, before.character, before.draws):
        session.save()


async def _run_game(session: Session, playing: GameSession) -> None:
    """Advance the match thirty times a second."""
    while playing.match is not None:
        if isinstance(session.source, LiveSource) and session.document.stage.drives == playing.model:
            playing.match.rejoin(session.source)
            playing.match.advance()
        await asyncio.sleep(POLL_SECONDS)


def _match_of(session: Session) -> Match:
    playing = _PLAYING.get(session)
    if playing is None or playing.match is None:
        raise InvalidInput("No game has begun; enter the play mode first")
    return playing.match


def _live(session: Session) -> LiveSource:
    if not isinstance(session.source, LiveSource):
        raise InvalidInput("The character on stage cannot play; choose a learned one")
    return session.source
