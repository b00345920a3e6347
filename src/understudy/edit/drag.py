"""An interactive editing session: drag, look, commit or cancel, undo.

    session = DragSession(rig, curves)
    session.begin(Edit([MovePoint(Point("hand.R"), 1.2, by=(0, 0, 0))], pins=[Pin(Point("foot.L"))]))
    result = session.update(to=(0.4, 1.1, 0.3))      # at pointer rate, as often as needed
    session.commit()                                 # one step of undo, or cancel()

Everything that stays the same during a drag is prepared once in `begin`. There are no threads and no files; `state`
is plain data.

Warm starts (`WarmStart`). Each search starts from the last solution, or from the curves before the drag where those
are nearer to the goal. The cost of a change always counts from the curves before the drag, so the result depends on
the pointer's position and hardly on the path of the pointer: the dragged point is at its goal, other joints are within
a few thousandths of the character's size of a fresh solution, within a few hundredths where pins leave little room,
and a pointer back at the start gives back the same curves.

Goals out of reach. The first such goal is searched for from both starts, and the nearer solution is taken. Later goals
only follow it, in a few short steps each: the nearest solution differs from one start to the other, and switching
between them would be visible as a jump. Both starts are tried again once the goals have moved far.
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
from understudy.edit.outcome import EditResult, remaining_share
from understudy.edit.serialise import curves_data, curves_from_data, edit_data, edit_from_data
from understudy.edit.solver.free_columns import RigCache
from understudy.edit.solver.problem import DRAG_DRIFT_SAMPLES_PER_S, EditProblem, parts_of, prepare_problem
from understudy.edit.solver.sqp import (
    SCRIPT_SETTINGS,
    SearchResult,
    SolverSettings,
    accept_search,
    edit_result,
    search,
    targets_of_moves,
    to_result,
)
from understudy.edit.solver.targets import PointTargets, compare_states, gaps, measure_targets
from understudy.edit.solver.window_search import WindowSearch
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.maths.jit import one_blas_thread

STATE_VERSION = 1  # of the data of `DragSession.state`
MAX_UNDO_STEPS = 100  # each keeps only the curves that it changed
MAX_SAMPLE_GROWTH = 3.0  # constraint samples, as a multiple of the first ones: beyond, the next search starts with few
BRIEF_SEARCH_STEPS = 4  # steps of a search from the last solution for a near goal, or of a second search from zero
UNREACHED_SEARCH_STEPS = 2  # steps for a goal that follows an unreached one: the next update continues
STRIDE_PER_GOAL_DISTANCE = 4.0  # longest first step of those, as a multiple of the distance between the goals
STALLED_MERIT_RATIO = 0.5  # remaining share of the merit: a warm-started step that leaves more is the last
UNREACHED_PULL_FACTOR = 30.0  # smallest pull of the goals after an unreached one: two steps cannot find it
UNREACHED_DAMPING_FACTOR = 10.0  # multiple of the usual damping after an unreached goal: stay near the last solution
# Distances between goals, in character sizes and radians.
USUAL_GOAL_DISTANCE = 0.02  # from one pointer event to the next, usually: a brief search is enough
JUMP_GOAL_DISTANCE = 0.05  # after an unreached goal: beyond, the last solution is no start
RESTART_GOAL_DISTANCE = 0.15  # since the last search from zero, while goals are out of reach: beyond, try zero again


@dataclass(frozen=True)
class Drag:
    """A drag in progress: the edit with its current goals, and where its points were before."""

    edit: Edit
    places: tuple[Triple, ...]  # metres, of the moved points before the drag
    turns: tuple[Quaternion, ...]
    outcome: EditResult | None = None  # of the last update


class DragSession:
    """The curves of one character, with one drag at a time and a bounded history.

    `history` is the number of undo steps, `ground` a cache of the rig that other sessions may share.
    """

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
        self._drag: Drag | None = None
        self._warm_start: WarmStart | None = None
        self.last_result: EditResult | None = None  # of the last drag that was committed

    @property
    def curves(self) -> Curves:
        """The animation as shown: with the drag in progress, if there is one."""
        drag = self._drag
        return self._curves if drag is None or drag.outcome is None else drag.outcome.curves

    @property
    def committed_curves(self) -> Curves:
        """The animation without the drag in progress."""
        return self._curves

    @property
    def drag(self) -> Drag | None:
        """The drag in progress, or None."""
        return self._drag

    @property
    def steps(self) -> tuple[int, int]:
        """The numbers of steps that can be undone and redone."""
        return len(self._undo), len(self._redo)

    def begin(self, edit: Edit) -> Drag:
        """Start a drag. The moves of the edit name the points and times; each `update` gives the goals."""
        self._check_idle("begin another drag")
        problem = prepare_problem(self.rig, self._curves, edit, self._ground, DRAG_DRIFT_SAMPLES_PER_S)
        places, turns = problem.origin
        self._drag = Drag(
            edit,
            tuple((float(x), float(y), float(z)) for x, y, z in places),
            tuple((float(x), float(y), float(z), float(w)) for x, y, z, w in quaternion.from_matrix(turns)),
        )
        self._warm_start = WarmStart(problem, self.settings)
        return self._drag

    def update(
        self,
        moves: Sequence[MovePoint] | None = None,
        *,
        to: Any = None,
        by: Any = None,
        turn_to: Any = None,
    ) -> EditResult:
        """Solve for new goals: `moves`, as many as the drag has, or the goal of its only move.

        `to` and `by` are metres in the world, `turn_to` a quaternion x, y, z, w. Invalid goals leave the session
        unchanged.
        """
        drag, warm_start = self._current("update")
        problem, goals = warm_start.problem, self._new_moves(drag.edit, moves, to, by, turn_to)
        with one_blas_thread():
            found = warm_start.search_goals(targets_of_moves(problem, goals))
            # The reasons of a drag within a window take longer than the search; the release states them.
            result = to_result(problem, found, explain=problem.window is None)
        self._drag = replace(drag, edit=replace(drag.edit, moves=tuple(goals)), outcome=result)
        return result

    def commit(self) -> Curves:
        """End the drag and keep its result as one step of undo; a drag that changed nothing adds no step."""
        drag, warm_start = self._current("commit")
        if drag.outcome is not None and warm_start.problem.window is not None:
            drag = replace(drag, outcome=self._settle(drag, warm_start))
        self.last_result = drag.outcome
        self._end()
        if drag.outcome is not None and not serialise.same_curves(drag.outcome.curves, self._curves):
            self.put(drag.outcome.curves)
        return self._curves

    def cancel(self) -> Curves:
        """End the drag and drop its result."""
        self._current("cancel")
        self._end()
        return self._curves

    def put(self, curves: Curves) -> Curves:
        """Replace the curves as one step of undo, for an accepted suggestion or a key that was set."""
        self._check_idle("replace the curves")
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
        """The session without the rig, as plain data for JSON: see `from_state`."""
        drag, warm_start, data = self._drag, self._warm_start, None
        if drag is not None and warm_start is not None:
            result = None if drag.outcome is None else serialise.outcome_data(self._curves, drag.outcome)
            data = {"edit": edit_data(drag.edit), "outcome": result, **warm_start.data()}
        return {
            "version": STATE_VERSION,
            "history": self._undo.maxlen,
            "curves": curves_data(self._curves),
            "undo": serialise.diff_versions(self._curves, list(self._undo)[::-1]),
            "redo": serialise.diff_versions(self._curves, list(self._redo)[::-1]),
            "gesture": data,
        }

    @classmethod
    def from_state(cls, rig: PosedRig, state: Any, settings: SolverSettings | None = None) -> DragSession:
        """The session of a `state`: the same curves to the last bit, the same history and the same drag."""
        if not isinstance(state, dict) or state.get("version") != STATE_VERSION:
            version = state.get("version") if isinstance(state, dict) else type(state).__name__
            raise InvalidInput(f"a session's state should be of version {STATE_VERSION}, but is {version}")
        missing = [name for name in ("history", "curves", "undo", "redo") if name not in state]
        if missing:
            raise InvalidInput(f"a session's state should have {', '.join(missing)}, but has not")
        session = cls(rig, curves_from_data(state["curves"]), state["history"], settings)
        session._undo.extend(serialise.apply_diff(session._curves, state["undo"])[::-1])
        session._redo.extend(serialise.apply_diff(session._curves, state["redo"])[::-1])
        if state.get("gesture") is not None:
            session._resume(state["gesture"])
        return session

    def _resume(self, data: Any) -> None:
        if not isinstance(data, dict) or "edit" not in data:
            raise InvalidInput("the gesture of a session's state should have an edit, but has none")
        drag = self.begin(edit_from_data(data["edit"]))
        _, warm_start = self._current("resume")
        if data.get("outcome") is not None:
            drag = self._drag = replace(drag, outcome=serialise.outcome_from_data(self._curves, data["outcome"]))
        warm_start.resume(data, drag.outcome is None or drag.outcome.reached)

    def _settle(self, drag: Drag, warm_start: WarmStart) -> EditResult:
        """The result at release: a patient search from what is shown, so that nothing jumps.

        Where that misses the goals, the search begins again from the curves before the drag.
        """
        problem = warm_start.problem
        goals = targets_of_moves(problem, drag.edit.moves)
        result = edit_result(problem, search(problem, goals, warm_start.v, SCRIPT_SETTINGS))
        if not result.reached and warm_start.v.any():
            fresh = edit_result(problem, search(problem, goals, np.zeros_like(warm_start.v), SCRIPT_SETTINGS))
            result = fresh if fresh.reached or remaining_share(fresh) < remaining_share(result) else result
        return result

    @staticmethod
    def _new_moves(edit: Edit, moves: Sequence[MovePoint] | None, to: Any, by: Any, turn_to: Any) -> list[MovePoint]:
        """The new moves, checked: the same points, times and kinds as those of the edit."""
        if moves is None:
            if len(edit.moves) != 1:
                raise InvalidInput(f"the drag has {len(edit.moves)} moves, so `moves` should give all of them")
            old = edit.moves[0]
            moves = [MovePoint(old.point, old.time, to, by, old.turn_to if turn_to is None else turn_to)]
        elif to is not None or by is not None or turn_to is not None:
            raise InvalidInput("an update should give `moves` or the goal of the only move, but gives both")
        new = list(moves)
        if len(new) != len(edit.moves):
            raise InvalidInput(f"the drag has {len(edit.moves)} moves, but {len(new)} are given")
        for old, move in zip(edit.moves, new):
            if (move.point, move.time, parts_of(move)) != (old.point, old.time, parts_of(old)):
                what = " and ".join(n for n, yes in zip(("its place", "its orientation"), parts_of(old)) if yes)
                raise InvalidInput(
                    f"the drag moves {old.point.name} at {old.time:.4g} s by {what}; an update should do the same"
                )
        return new

    def _current(self, what: str) -> tuple[Drag, WarmStart]:
        if self._drag is None or self._warm_start is None:
            raise InvalidInput(f"no drag is in progress to {what}; begin one first")
        return self._drag, self._warm_start

    def _check_idle(self, what: str) -> None:
        if self._drag is not None:
            raise InvalidInput(f"a drag is in progress; commit or cancel it before you {what}")

    def _end(self) -> None:
        self._drag = self._warm_start = None

    def _step(self, what: str, source: deque[Curves], target: deque[Curves]) -> Curves:
        self._check_idle(what)
        if not source:
            raise InvalidInput(f"there is nothing to {what}")
        target.append(self._curves)
        self._curves = source.pop()
        return self._curves


class WarmStart:
    """The searches of one drag: `v` (N,) is the last solution, `back` whether it missed its goal."""

    def __init__(self, problem: EditProblem, settings: SolverSettings) -> None:
        self.problem, self.settings = problem, settings
        self.v: Array = np.zeros(problem.variables.count)
        self.back = False
        self._held: PointTargets | None = None
        self._last: PointTargets | None = None  # the goals of the last search
        self._restarted = problem.moves  # the goals of the last search that started from zero
        self._pull = 1.0
        self._window = None if problem.window is None else WindowSearch(problem, problem.held.thin())

    def search_goals(self, asked: PointTargets) -> SearchResult:
        """Search for new goals, from the better start."""
        problem = self.problem
        if problem.window is not None:
            result = search(problem, asked, self._start(asked), self.settings, within=self._window)
            self.v, self.back = result.v, not result.reached
            return result
        start = self._start(asked)
        settings, restart = self.settings, self._goal_distance(self._restarted, asked) > RESTART_GOAL_DISTANCE
        if start.any():
            settings = self._warm_settings(self._goal_distance(self._last, asked))
        held = self._held if start.any() else None
        result = accept_search(problem, search(problem, asked, start, settings, held))
        if not result.reached and (restart or not start.any()):
            self._restarted = asked
            if start.any():
                brief = replace(self.settings, iterations=BRIEF_SEARCH_STEPS, programs=2 * BRIEF_SEARCH_STEPS)
                other = accept_search(problem, search(problem, asked, np.zeros_like(start), brief))
                result = other if other.moves.far < result.moves.far else result
        few = len(result.held) <= MAX_SAMPLE_GROWTH * max(len(problem.held), 1)
        self.v, self.back, self._held = result.v, not result.reached, result.held if few else None
        self._last, self._pull = asked, result.pull
        return result

    def data(self) -> dict[str, Any]:
        """The state that the next search depends on, as plain data; the samples of constraints are left out."""
        goals = {"places": self._restarted.place.tolist(), "turns": self._restarted.turn.tolist()}
        return {"v": self.v.tolist(), "pull": self._pull, **goals}

    def resume(self, data: Mapping[str, Any], reached: bool) -> None:
        """Continue from the data of `data`; the last goals are those of the problem itself."""
        moves = self.problem.moves
        self.v = np.array(checks.array(data.get("v", []), "variables of the gesture", self.v.shape))
        self.back, self._last, self._pull = not reached, moves, checks.positive(data.get("pull", 1.0), "pull")
        place = checks.array(data.get("places", moves.place), "places of the gesture", moves.place.shape)
        turn = checks.array(data.get("turns", moves.turn), "turns of the gesture", moves.turn.shape)
        self._restarted = replace(moves, place=np.array(place), turn=np.array(turn))

    def _warm_settings(self, distance: float) -> SolverSettings:
        """The settings of a search from the last solution, for goals that have moved by `distance` since."""
        s, pull = self.settings, self._pull
        if not self.back:
            if distance > USUAL_GOAL_DISTANCE:
                return s
            return replace(s, iterations=BRIEF_SEARCH_STEPS, pull=pull, stalled=STALLED_MERIT_RATIO, failures=1)
        stride = float(np.clip(STRIDE_PER_GOAL_DISTANCE * distance, s.stride / 64, s.stride))
        stiff = replace(
            s, damping=UNREACHED_DAMPING_FACTOR * s.damping, undamped=0, stalled=STALLED_MERIT_RATIO, failures=1
        )
        return replace(
            stiff, iterations=UNREACHED_SEARCH_STEPS, stride=stride, harder=1, pull=max(pull, UNREACHED_PULL_FACTOR)
        )

    def _goal_distance(self, before: PointTargets | None, asked: PointTargets) -> float:
        """The largest distance or rotation from the goals `before` to these; infinite where there were none."""
        if before is None:
            return np.inf
        return float(np.abs(gaps(asked, before.place, before.turn, self.problem.size)).max(initial=0.0))

    def _start(self, asked: PointTargets) -> Array:
        """The variables to start from: the last solution, or zero where that is nearer or the goals have jumped."""
        problem, zero = self.problem, np.zeros_like(self.v)
        missed = self.back and problem.window is None
        if not self.v.any() or (missed and self._goal_distance(self._last, asked) > JUMP_GOAL_DISTANCE):
            return zero
        warm = measure_targets(problem.states, problem.variables, asked, self.v, problem.size, slopes=False)
        cold = compare_states(asked, *problem.origin, problem.size, len(zero))
        off_goal = max(cold.distance, cold.angle) > self.settings.tolerance
        return self.v if warm.far < cold.far and off_goal else zero
