"""Suggestions for a blocked drag: computed in the background when the pointer rests or is released."""

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
POINTER_REST_SECONDS = 0.35  # seconds without a goal after which the pointer counts as resting


@dataclass(frozen=True, eq=False)
class BlockedDrag:
    """An edit that did not reach its goal: the curves before it, the edit, its result, and the event that was sent."""

    rig: PosedRig
    before: Curves
    edit: Edit
    outcome: EditResult
    event: EditOutcome


class SuggestionWorker:
    """The suggestions for the last blocked drag of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._task: asyncio.Task[None] | None = None
        self.blocked: BlockedDrag | None = None
        self.suggestions: tuple[Suggestion, ...] | None = None  # None until they are computed

    def clear(self) -> None:
        """Drop the blocked drag and its suggestions."""
        if self._task is not None:
            self._task.cancel()
        self._task = self.blocked = self.suggestions = None

    def rest(self, blocked: BlockedDrag) -> None:
        """Set the newest blocked drag; suggestions follow if the pointer stays there."""
        self.clear()
        self.blocked = blocked
        self._task = asyncio.get_running_loop().create_task(self._compute(blocked, POINTER_REST_SECONDS))

    def compute_now(self) -> None:
        """The pointer was released: compute the suggestions now, unless they are known."""
        blocked = self.blocked
        if blocked is None or self.suggestions is not None:
            return
        if self._task is not None:
            self._task.cancel()
        self._task = asyncio.get_running_loop().create_task(self._compute(blocked, 0.0))

    async def _compute(self, blocked: BlockedDrag, after: float) -> None:
        await asyncio.sleep(after)
        self._session.emit(replace(blocked.event, pending=True))
        try:
            suggestions = await asyncio.to_thread(suggest, blocked.rig, blocked.before, blocked.edit, blocked.outcome)
        except UnderstudyError:  # the solver refuses the edit: there are none
            suggestions = ()
        if self.blocked is not blocked:
            return  # the pointer has moved meanwhile
        self.suggestions = suggestions
        entries = tuple(suggestion_entry(number, suggestion) for number, suggestion in enumerate(suggestions))
        self._session.emit(replace(blocked.event, offers=entries, pending=False))

    def get_suggestion(self, which: int) -> tuple[BlockedDrag, Suggestion]:
        """The blocked drag and one of its suggestions."""
        if self.blocked is None or not self.suggestions:
            raise InvalidInput("there are no suggestions to accept any more")
        if which >= len(self.suggestions):
            raise InvalidInput(f"the number of a suggestion should be below {len(self.suggestions)}, but is {which}")
        return self.blocked, self.suggestions[which]


def suggestion_entry(number: int, suggestion: Suggestion) -> SuggestionEntry:
    """A suggestion as the browser client gets it."""
    outcome = suggestion.outcome
    return SuggestionEntry(
        which=number,
        way=cast(SuggestionKind, suggestion.kind),
        sentence=suggestion.sentence,
        reached=outcome.reached,
        keys=suggestion.keys,
        reached_m=outcome.start_distance - outcome.distance,
        required_m=outcome.start_distance,
        reached_rad=outcome.start_angle - outcome.angle,
        required_rad=outcome.start_angle,
        slip_m=outcome.drift,
    )
