"""Offers for a blocked edit: worked out beside everything else, when the pointer rests or has let go."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

from understudy.character import Curves
from understudy.character.rig import PosedRig
from understudy.edit.goals import Edit
from understudy.edit.outcome import EditResult, Suggestion
from understudy.edit.solver.suggestions import suggest
from understudy.errors import InvalidInput, UnderstudyError
from understudy.studio.messages.edit import EditOutcome, SuggestionEntry

if TYPE_CHECKING:
    from understudy.studio.session import Session

SuggestionKind = Literal["release", "widen", "insert"]
POINTER_REST_SECONDS = 0.35  # seconds that a pointer stays before it is said to rest


@dataclass(frozen=True, eq=False)
class BlockedDrag:
    """An edit that did not get there: of which curves, what was asked for, and what came of it."""

    rig: PosedRig
    before: Curves
    edit: Edit
    outcome: EditResult
    told: EditOutcome


class SuggestionWorker:
    """The offers of the last blocked edit of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._task: asyncio.Task[None] | None = None
        self.blocked: BlockedDrag | None = None
        self.offers: tuple[Suggestion, ...] | None = None  # None as long as they are not worked out

    def clear(self) -> None:
        """Nothing is blocked any more."""
        if self._task is not None:
            self._task.cancel()
        self._task = self.blocked = self.offers = None

    def rest(self, blocked: BlockedDrag) -> None:
        """The newest blocked edit; offers follow if the pointer stays there."""
        self.clear()
        self.blocked = blocked
        self._task = asyncio.get_running_loop().create_task(self._work_out(blocked, POINTER_REST_SECONDS))

    def compute_now(self) -> None:
        """The pointer has let go: offers are worked out now, unless they are already."""
        blocked = self.blocked
        if blocked is None or self.offers is not None:
            return
        if self._task is not None:
            self._task.cancel()
        self._task = asyncio.get_running_loop().create_task(self._work_out(blocked, 0.0))

    async def _work_out(self, blocked: BlockedDrag, after: float) -> None:
        await asyncio.sleep(after)
        self._session.emit(replace(blocked.told, pending=True))
        try:
            found = await asyncio.to_thread(suggest, blocked.rig, blocked.before, blocked.edit, blocked.outcome)
        except UnderstudyError:  # an edit that is at the edge of what can be solved has none
            found = ()
        if self.blocked is not blocked:
            return  # the pointer has gone on meanwhile
        self.offers = found
        told = tuple(
            SuggestionEntry(i, cast(SuggestionKind, each.kind), each.sentence, each.outcome.reached, each.keys)
            for i, each in enumerate(found)
        )
        self._session.emit(replace(blocked.told, offers=told, pending=False))

    def get_suggestion(self, which: int) -> tuple[BlockedDrag, Suggestion]:
        """One of the offers."""
        if self.blocked is None or not self.offers:
            raise InvalidInput("there are no offers to accept any more")
        if which >= len(self.offers):
            raise InvalidInput(f"there are {len(self.offers)} offers, so there is none with the number {which}")
        return self.blocked, self.offers[which]
