"""When each cue of a script falls: one by one as the commands end, or at their own times, whatever runs then.

A cue with a time that comes while earlier cues still wait for their turn passes them over: they are skipped, and said
to be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from understudy.live.commands import Look
from understudy.live.script_sets import Cue
from understudy.live.script_steps import OneOf

SOON = 1e-9  # seconds; frame times are sums of fractions


@dataclass(frozen=True)
class Schedule:
    """The cues, which one is `following`, and when the set that is being played was called."""

    cues: tuple[Cue, ...]
    following: int = 0
    called: float = 0.0  # seconds
    skipped: tuple[str, ...] = ()  # places

    @property
    def finished(self) -> bool:
        """Whether no cue is left."""
        return self.following >= len(self.cues)

    def due(self, now: float, busy: bool) -> tuple[Schedule, tuple[Cue, ...]]:
        """The schedule after the frame at `now` seconds, and the cues that fall into it, in their order.

        `busy` says that a command is still running. Looks and calls of a set take no time: what follows them falls
        into the same frame.
        """
        state, fallen = self, []
        while not state.finished:
            number = state._next_to_fall(now, busy)
            if number is None:
                break
            cue = state.cues[number]
            passed = tuple(each.step.place for each in state.cues[state.following : number])
            calls = isinstance(cue.step.action, OneOf)
            called = now if calls else state.called
            state = replace(state, following=number + 1, called=called, skipped=(*state.skipped, *passed))
            fallen.append(cue)
            busy = (busy and cue.step.at is None) or not isinstance(cue.step.action, (Look, OneOf))
        return state, tuple(fallen)

    def _next_to_fall(self, now: float, busy: bool) -> int | None:
        """The number of the cue that falls now: the first in turn, or one behind it whose time has come."""
        first = self.cues[self.following]
        if first.step.at is None:
            if not busy:
                return self.following
        elif self._time(first) <= now + SOON:
            return self.following
        inside = first.inside
        for number in range(self.following + 1, len(self.cues)):
            cue = self.cues[number]
            inside = inside and cue.inside  # times of a set that is not called yet are not known
            if cue.step.at is not None and (inside or not cue.inside) and self._time(cue) <= now + SOON:
                return number
        return None

    def _time(self, cue: Cue) -> float:
        at = cue.step.at or 0.0
        return self.called + at if cue.inside else at
