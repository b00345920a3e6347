"""Suggestions for a blocked drag: computed in the background when the pointer rests or is released."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

from understudy.character import Curves
from understudy.character.rig import PosedRig
from understudy.edit.goals import Contact, Edit, Hold, Pin
from understudy.edit.outcome import EditResult, Suggestion
from understudy.edit.solver.suggestions import suggest
from understudy.errors import InvalidInput, UnderstudyError
from understudy.studio.messages.edit import EditOutcome, SuggestionEntry

if TYPE_CHECKING:
    from understudy.studio.session import Session

SuggestionKind = Literal["release", "widen", "insert"]
ConstraintKind = Literal["", "pin", "contact", "hold", "foot"]
POINTER_REST_SECONDS = 0.35  # seconds without a goal after which the pointer counts as resting


@dataclass(frozen=True, eq=False)
class BlockedDrag:
    """An edit that did not reach its goal: the curves before it, the edit, its result, and the event that was sent."""

    rig: PosedRig
    before: Curves
    edit: Edit
    outcome: EditResult
    event: EditOutcome
    feet: tuple[Pin, ...] = ()  # of the edit's pins, those of feet that stand
    origin: float = 0.0  # seconds, the beginning of the clip on the file's clock


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

    def adopt(self, blocked: BlockedDrag | None) -> None:
        """Set the blocked drag as it was released; None where the release has reached its goal.

        Suggestions that are known for the same result stay, and are sent with it.
        """
        known = self.suggestions
        same = blocked is not None and self.blocked is not None and self.blocked.outcome is blocked.outcome
        self.clear()
        self.blocked = blocked
        if blocked is not None and same and known is not None:
            self.suggestions = known
            self._session.emit(replace(blocked.event, offers=_entries(known, blocked)))

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
        self._session.emit(replace(blocked.event, offers=_entries(suggestions, blocked), pending=False))

    def get_suggestion(self, which: int) -> tuple[BlockedDrag, Suggestion]:
        """The blocked drag and one of its suggestions."""
        if self.blocked is None or not self.suggestions:
            raise InvalidInput("there are no suggestions to accept any more")
        if which >= len(self.suggestions):
            raise InvalidInput(f"the number of a suggestion should be below {len(self.suggestions)}, but is {which}")
        return self.blocked, self.suggestions[which]


def _entries(suggestions: Sequence[Suggestion], blocked: BlockedDrag) -> tuple[SuggestionEntry, ...]:
    return tuple(suggestion_entry(number, one, blocked) for number, one in enumerate(suggestions))


def suggestion_entry(number: int, suggestion: Suggestion, blocked: BlockedDrag) -> SuggestionEntry:
    """A suggestion as the browser client gets it."""
    outcome, before, after = suggestion.outcome, blocked.edit, suggestion.edit
    kinds: list[tuple[ConstraintKind, Sequence[Pin | Contact | Hold], Sequence[Pin | Contact | Hold]]] = [
        ("pin", before.pins, after.pins),
        ("contact", before.contacts, after.contacts),
        ("hold", before.holds, after.holds),
    ]
    gone = [(name, goal) for name, old, new in kinds for goal in old if goal not in new]
    kind: ConstraintKind = ""
    start, stop, what = None, None, suggestion.what
    if suggestion.kind == "release" and gone:
        kind, goal = gone[0]
        start, stop = (goal.time, goal.time) if isinstance(goal, Hold) else (goal.start, goal.stop)
        kind = "foot" if goal in blocked.feet else kind
        what = (goal.point.joint or goal.point.name,)
    return SuggestionEntry(
        which=number,
        way=cast(SuggestionKind, suggestion.kind),
        what=what,
        constraint=kind,
        start=None if start is None else start - blocked.origin,
        stop=None if stop is None else stop - blocked.origin,
        falloff=after.falloff if suggestion.what == ("falloff",) else None,
        sentence=suggestion.sentence,
        reached=outcome.reached,
        keys=suggestion.keys,
        reached_m=outcome.start_distance - outcome.distance,
        required_m=outcome.start_distance,
        reached_rad=outcome.start_angle - outcome.angle,
        required_rad=outcome.start_angle,
        slip_m=outcome.drift,
    )
