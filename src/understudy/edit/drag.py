"""Goal after goal of one gesture, at pointer rate.

Each search starts from where the last one came to, or from the curves before the gesture where those are nearer. The
cost of a change counts from the curves before the gesture all the while, so that the result depends on where the
pointer is and hardly on how it came there. A goal that gets out of reach is looked for from both starts, and the nearer
place is taken. After that the place only follows, in a few short steps for each goal, since the nearest place is
another one from each start, and what is seen would jump to and fro; when goals have gone far, both are tried again.

A session of editing, for interactive use: drag, see, commit or cancel, undo.

    session = Session(rig, curves)
    session.begin(Edit([Move(Point("hand.R"), 1.2, by=(0, 0, 0))], pins=[Pin(Point("foot.L"))]))
    outcome = session.update(to=(0.4, 1.1, 0.3))     # at pointer rate, as often as wanted
    session.commit()                                 # one step of undo, or cancel()

What stays the same during a gesture is prepared once, and each update starts from the last one (`following`). The
result depends on where the pointer is and hardly on how it came there: the point itself is at its goal, other joints
are within a few thousandths of the character's size of where a fresh solution has them, within a few hundredths where
pins leave little room; at the start the very same curves come back. There are no threads here and no files; `state` is
plain data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit import serialise
from understudy.edit.goals import Edit, MovePoint, Quaternion, Triple
from understudy.edit.outcome import EditResult
from understudy.edit.serialise import curves_data, curves_from_data, edit_data, edit_from_data
from understudy.edit.solver.free_columns import RigCache
from understudy.edit.solver.problem import EditProblem, parts_of, prepare_problem
from understudy.edit.solver.sqp import SearchResult, SolverSettings, accept_search, search, targets_of_moves, to_result
from understudy.edit.solver.targets import PointTargets, compare_states, gaps, measure_targets
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.maths.threads import one_thread

MAX_SAMPLE_GROWTH = 3.0  # times as many samples of what is held as at first: beyond that a search starts with few again
BRIEF_SEARCH_STEPS = 4  # steps of other searches that start from the last goals, or anew in between
UNREACHED_SEARCH_STEPS = 2  # at most for a goal that comes after one out of reach: what is left is for the next
STRIDE_PER_GOAL_DISTANCE = (
    4.0  # times the way that goals go from one to the next: what the first of these steps aims at, at most
)
STALLED_MERIT_RATIO = 0.5  # of the merit: a step that leaves more is the last
UNREACHED_PULL_FACTOR = 30.0  # times the usual pull: they have no time to find out
UNREACHED_DAMPING_FACTOR = 10.0  # times the damping of other searches: they keep to where they are
USUAL_GOAL_DISTANCE = (
    0.02  # sizes and radians that goals go from one event to the next, mostly: one step gets there if any does
)
JUMP_GOAL_DISTANCE = 0.05  # the same, beyond which there is nothing to follow
RESTART_GOAL_DISTANCE = (
    0.15  # the same in all, while they are out of reach, beyond which a search begins at the start again
)


class WarmStart:
    """The searches of one gesture; `v` (N,) is where the last one came to, `back` whether that was not its goal."""

    def __init__(self, problem: EditProblem, settings: SolverSettings) -> None:
        self.problem, self.settings = problem, settings
        self.v: Array = np.zeros(problem.tangents.count)
        self.back = False
        self._held: PointTargets | None = None
        self._last: PointTargets | None = None  # the goals before
        self._afresh = problem.moves  # those for which a search began at the start the last time
        self._pull = 1.0

    def search_goals(self, asked: PointTargets) -> SearchResult:
        """The search for other goals."""
        problem, start = self.problem, self._start(asked)
        settings, afresh = self.settings, self._goal_distance(self._afresh, asked) > RESTART_GOAL_DISTANCE
        if start.any():
            settings = self._warm_settings(self._goal_distance(self._last, asked))
        held = self._held if start.any() else None
        found = accept_search(problem, search(problem, asked, start, settings, held))
        if not found.reached and (afresh or not start.any()):
            self._afresh = asked
            if start.any():
                brief = replace(self.settings, iterations=BRIEF_SEARCH_STEPS, programs=2 * BRIEF_SEARCH_STEPS)
                other = accept_search(problem, search(problem, asked, np.zeros_like(start), brief))
                found = other if other.moves.far < found.moves.far else found
        few = len(found.held) <= MAX_SAMPLE_GROWTH * max(len(problem.held), 1)
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

    def _warm_settings(self, way: float) -> SolverSettings:
        """How to search for goals that have gone so far, from where the last were, or how near they came."""
        s, harder = self.settings, self._pull
        if not self.back:
            return (
                s
                if way > USUAL_GOAL_DISTANCE
                else replace(s, iterations=BRIEF_SEARCH_STEPS, pull=harder, stalled=STALLED_MERIT_RATIO, failures=1)
            )
        stride = float(np.clip(STRIDE_PER_GOAL_DISTANCE * way, s.stride / 64, s.stride))
        stiff = replace(
            s, damping=UNREACHED_DAMPING_FACTOR * s.damping, undamped=0, stalled=STALLED_MERIT_RATIO, failures=1
        )
        return replace(
            stiff, iterations=UNREACHED_SEARCH_STEPS, stride=stride, harder=1, pull=max(harder, UNREACHED_PULL_FACTOR)
        )

    def _goal_distance(self, before: PointTargets | None, asked: PointTargets) -> float:
        """The largest way or turn from goals before to these; endless where there were none."""
        if before is None:
            return np.inf
        return float(np.abs(gaps(asked, before.place, before.turn, self.problem.size)).max(initial=0.0))

    def _start(self, asked: PointTargets) -> Array:
        """The variables to start from: those of the last goals, or none where that is nearer or goals have jumped."""
        problem, zero = self.problem, np.zeros_like(self.v)
        if not self.v.any() or (self.back and self._goal_distance(self._last, asked) > JUMP_GOAL_DISTANCE):
            return zero
        warm = measure_targets(problem.states, problem.tangents, asked, self.v, problem.size, slopes=False)
        cold = compare_states(asked, *problem.origin, problem.size, len(zero))
        away = max(cold.distance, cold.angle) > self.settings.tolerance
        return self.v if warm.far < cold.far and away else zero


STATE_VERSION = 1
MAX_UNDO_STEPS = 100  # steps of undo; each keeps only the curves that it changed


@dataclass(frozen=True)
class Drag:
    """What is being done: the edit with its goals of the moment, and where its points were before."""

    edit: Edit
    places: tuple[Triple, ...]
    turns: tuple[Quaternion, ...]
    outcome: EditResult | None = None  # of the last update


class DragSession:
    """Curves of one character, with one gesture at a time and a bounded history."""

    def __init__(
        self,
        rig: PosedRig,
        curves: Curves,
        history: int = MAX_UNDO_STEPS,
        settings: SolverSettings | None = None,
        ground: RigCache | None = None,
    ) -> None:
        if not (isinstance(history, int) and history >= 0):
            raise InvalidInput(f"history should be a number of steps, zero or more, but is {history}")
        self.rig, self.settings = rig, settings or SolverSettings()
        self._ground = ground or RigCache(rig)
        self._curves = curves
        self._undo: deque[Curves] = deque(maxlen=history)
        self._redo: deque[Curves] = deque(maxlen=history)
        self._gesture: Drag | None = None
        self._following: WarmStart | None = None

    @property
    def curves(self) -> Curves:
        """The animation as it is seen: with the gesture, where there is one."""
        gesture = self._gesture
        return self._curves if gesture is None or gesture.outcome is None else gesture.outcome.curves

    @property
    def committed_curves(self) -> Curves:
        """The animation without the gesture."""
        return self._curves

    @property
    def gesture(self) -> Drag | None:
        """The gesture that goes on, or None."""
        return self._gesture

    @property
    def steps(self) -> tuple[int, int]:
        """How many steps can be undone, and redone."""
        return len(self._undo), len(self._redo)

    def begin(self, edit: Edit) -> Drag:
        """Start a gesture. Its moves say which points go when; where to is said by each `update`."""
        self._idle("begin another gesture")
        problem = prepare_problem(self.rig, self._curves, edit, self._ground)
        places, turns = problem.origin
        self._gesture = Drag(
            edit,
            tuple((float(x), float(y), float(z)) for x, y, z in places),
            tuple((float(x), float(y), float(z), float(w)) for x, y, z, w in quaternion.from_matrix(turns)),
        )
        self._following = WarmStart(problem, self.settings)
        return self._gesture

    def update(
        self,
        moves: Sequence[MovePoint] | None = None,
        *,
        to: Any = None,
        by: Any = None,
        turn_to: Any = None,
    ) -> EditResult:
        """New goals: `moves` as many as the gesture has, or the goal of its only move. Nothing is kept of bad ones."""
        gesture, following = self._going("update")
        problem, new = following.problem, self._goals(gesture.edit, moves, to, by, turn_to)
        with one_thread():
            result = to_result(problem, following.search_goals(targets_of_moves(problem, new)))
        self._gesture = replace(gesture, edit=replace(gesture.edit, moves=tuple(new)), outcome=result)
        return result

    def commit(self) -> Curves:
        """End the gesture and keep what it came to, as one step of undo; one that changed nothing leaves none."""
        gesture, _ = self._going("commit")
        self._end()
        if gesture.outcome is not None and not serialise.same_curves(gesture.outcome.curves, self._curves):
            self.put(gesture.outcome.curves)
        return self._curves

    def cancel(self) -> Curves:
        """End the gesture, and leave everything as it was before it."""
        self._going("cancel")
        self._end()
        return self._curves

    def put(self, curves: Curves) -> Curves:
        """Other curves as one step of undo: an offer that was accepted, a key that was set."""
        self._idle("put other curves")
        self._undo.append(self._curves)
        self._redo.clear()
        self._curves = curves
        return curves

    def undo(self) -> Curves:
        """Take back the last step."""
        return self._step("undo", self._undo, self._redo)

    def redo(self) -> Curves:
        """Take back the last undo."""
        return self._step("redo", self._redo, self._undo)

    def state(self) -> dict[str, Any]:
        """All of it but the rig, as plain data for JSON: see `from_state`."""
        gesture, following, going = self._gesture, self._following, None
        if gesture is not None and following is not None:
            seen = None if gesture.outcome is None else serialise.outcome_data(self._curves, gesture.outcome)
            going = {"edit": edit_data(gesture.edit), "outcome": seen, **following.data()}
        return {
            "version": STATE_VERSION,
            "history": self._undo.maxlen,
            "curves": curves_data(self._curves),
            "undo": serialise.diff_versions(self._curves, list(self._undo)[::-1]),
            "redo": serialise.diff_versions(self._curves, list(self._redo)[::-1]),
            "gesture": going,
        }

    @classmethod
    def from_state(cls, rig: PosedRig, state: Any, settings: SolverSettings | None = None) -> DragSession:
        """The session of a `state`, with the same curves to the last bit, the same history and the same gesture."""
        if not isinstance(state, dict) or state.get("version") != STATE_VERSION:
            found = state.get("version") if isinstance(state, dict) else type(state).__name__
            raise InvalidInput(f"a session's state should be of version {STATE_VERSION}, but is {found}")
        missing = [name for name in ("history", "curves", "undo", "redo") if name not in state]
        if missing:
            raise InvalidInput(f"a session's state should have {', '.join(missing)}, but has not")
        session = cls(rig, curves_from_data(state["curves"]), state["history"], settings)
        session._undo.extend(serialise.apply_diff(session._curves, state["undo"])[::-1])
        session._redo.extend(serialise.apply_diff(session._curves, state["redo"])[::-1])
        if state.get("gesture") is not None:
            session._resume(state["gesture"])
        return session

    def _resume(self, going: Any) -> None:
        if not isinstance(going, dict) or "edit" not in going:
            raise InvalidInput("a gesture of a session's state should have an edit, but has none")
        gesture = self.begin(edit_from_data(going["edit"]))
        _, following = self._going("resume")
        if going.get("outcome") is not None:
            gesture = self._gesture = replace(
                gesture, outcome=serialise.outcome_from_data(self._curves, going["outcome"])
            )
        following.resume(going, gesture.outcome is None or gesture.outcome.reached)

    @staticmethod
    def _goals(edit: Edit, moves: Sequence[MovePoint] | None, to: Any, by: Any, turn_to: Any) -> list[MovePoint]:
        """New moves, with the points, times and kinds of the edit's."""
        if moves is None:
            if len(edit.moves) != 1:
                raise InvalidInput(f"the gesture has {len(edit.moves)} moves, so that each has to be given anew")
            old = edit.moves[0]
            moves = [MovePoint(old.point, old.time, to, by, old.turn_to if turn_to is None else turn_to)]
        elif to is not None or by is not None or turn_to is not None:
            raise InvalidInput("an update should give moves, or the goal of the only move, but gives both")
        new = list(moves)
        if len(new) != len(edit.moves):
            raise InvalidInput(f"the gesture has {len(edit.moves)} moves, but {len(new)} are given")
        for old, move in zip(edit.moves, new):
            if (move.point, move.time, parts_of(move)) != (old.point, old.time, parts_of(old)):
                what = " and ".join(n for n, yes in zip(("its place", "its orientation"), parts_of(old)) if yes)
                raise InvalidInput(
                    f"the gesture moves {old.point.name} at {old.time:.4g} s by {what}, an update has to do the same"
                )
        return new

    def _going(self, what: str) -> tuple[Drag, WarmStart]:
        if self._gesture is None or self._following is None:
            raise InvalidInput(f"there is no gesture to {what}; begin one first")
        return self._gesture, self._following

    def _idle(self, what: str) -> None:
        if self._gesture is not None:
            raise InvalidInput(f"a gesture goes on; commit or cancel it before you {what}")

    def _end(self) -> None:
        self._gesture = self._following = None

    def _step(self, what: str, source: deque[Curves], target: deque[Curves]) -> Curves:
        self._idle(what)
        if not source:
            raise InvalidInput(f"there is nothing to {what}")
        target.append(self._curves)
        self._curves = source.pop()
        return self._curves
