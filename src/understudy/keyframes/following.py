"""Goal after goal of one gesture, at pointer rate.

Each search starts from where the last one came to, or from the curves before the gesture where those are nearer. The
cost of a change counts from the curves before the gesture all the while, so that the result depends on where the
pointer is and hardly on how it came there. A goal that gets out of reach is looked for from both starts, and the nearer
place is taken. After that the place only follows, in a few short steps for each goal, since the nearest place is
another one from each start, and what is seen would jump to and fro; when goals have gone far, both are tried again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.keyframes.problem import Problem
from understudy.keyframes.requests import Requests, compared, gaps, measure
from understudy.keyframes.solve import Found, Settings, search, settled

GROWN = 3.0  # times as many samples of what is held as at first: beyond that a search starts with few again
BRIEF = 4  # steps of other searches that start from the last goals, or anew in between
STEPS = 2  # at most for a goal that comes after one out of reach: what is left is for the next
LONGER = 4.0  # times the way that goals go from one to the next: what the first of these steps aims at, at most
HALF = 0.5  # of the merit: a step that leaves more is the last
HARD = 30.0  # times the usual pull: they have no time to find out
STIFF = 10.0  # times the damping of other searches: they keep to where they are
NEXT = 0.02  # sizes and radians that goals go from one event to the next, mostly: one step gets there if any does
JUMP = 0.05  # the same, beyond which there is nothing to follow
AFRESH = 0.15  # the same in all, while they are out of reach, beyond which a search begins at the start again


class Following:
    """The searches of one gesture; `v` (N,) is where the last one came to, `back` whether that was not its goal."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem, self.settings = problem, settings
        self.v: Array = np.zeros(problem.tangents.count)
        self.back = False
        self._held: Requests | None = None
        self._last: Requests | None = None  # the goals before
        self._afresh = problem.moves  # those for which a search began at the start the last time
        self._pull = 1.0

    def to(self, asked: Requests) -> Found:
        """The search for other goals."""
        problem, start = self.problem, self._start(asked)
        settings, afresh = self.settings, self._from(self._afresh, asked) > AFRESH
        if start.any():
            settings = self._short(self._from(self._last, asked))
        held = self._held if start.any() else None
        found = settled(problem, search(problem, asked, start, settings, held))
        if not found.reached and (afresh or not start.any()):
            self._afresh = asked
            if start.any():
                brief = replace(self.settings, iterations=BRIEF, programs=2 * BRIEF)
                other = settled(problem, search(problem, asked, np.zeros_like(start), brief))
                found = other if other.moves.far < found.moves.far else found
        few = len(found.held) <= GROWN * max(len(problem.held), 1)
        self.v, self.back, self._held = found.v, not found.reached, found.held if few else None
        self._last, self._pull = asked, found.pull
        return found

    def data(self) -> dict[str, Any]:
        """What the next search depends on, but for the samples of what is held, as plain data."""
        goals = {"places": self._afresh.place.tolist(), "turns": self._afresh.turn.tolist()}
        return {"v": self.v.tolist(), "pull": self._pull, **goals}

    def resume(self, data: Mapping[str, Any], reached: bool) -> None:
        """Go on from such data; the goals before are those of the problem itself."""
        moves = self.problem.moves
        self.v = np.array(checks.array(data.get("v", []), "variables of the gesture", self.v.shape))
        self.back, self._last, self._pull = not reached, moves, checks.positive(data.get("pull", 1.0), "pull")
        place = checks.array(data.get("places", moves.place), "places of the gesture", moves.place.shape)
        turn = checks.array(data.get("turns", moves.turn), "turns of the gesture", moves.turn.shape)
        self._afresh = replace(moves, place=np.array(place), turn=np.array(turn))

    def _short(self, way: float) -> Settings:
        """How to search for goals that have gone so far, from where the last were, or how near they came."""
        s, harder = self.settings, self._pull
        if not self.back:
            return s if way > NEXT else replace(s, iterations=BRIEF, pull=harder, stalled=HALF, failures=1)
        stride = float(np.clip(LONGER * way, s.stride / 64, s.stride))
        stiff = replace(s, damping=STIFF * s.damping, undamped=0, stalled=HALF, failures=1)
        return replace(stiff, iterations=STEPS, stride=stride, harder=1, pull=max(harder, HARD))

    def _from(self, before: Requests | None, asked: Requests) -> float:
        """The largest way or turn from goals before to these; endless where there were none."""
        if before is None:
            return np.inf
        return float(np.abs(gaps(asked, before.place, before.turn, self.problem.size)).max(initial=0.0))

    def _start(self, asked: Requests) -> Array:
        """The variables to start from: those of the last goals, or none where that is nearer or goals have jumped."""
        problem, zero = self.problem, np.zeros_like(self.v)
        if not self.v.any() or (self.back and self._from(self._last, asked) > JUMP):
            return zero
        warm = measure(problem.states, problem.tangents, asked, self.v, problem.size, slopes=False)
        cold = compared(asked, *problem.origin, problem.size, len(zero))
        away = max(cold.distance, cold.angle) > self.settings.tolerance
        return self.v if warm.far < cold.far and away else zero
