"""A session of editing, for interactive use: drag, see, commit or cancel, undo.

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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from understudy.character import Curves
from understudy.errors import InvalidInput
from understudy.gp.threads import one_thread
from understudy.keyframes import past
from understudy.keyframes.following import Following
from understudy.keyframes.goals import Edit, Move, Quaternion, Triple
from understudy.keyframes.ground import Ground
from understudy.keyframes.outcome import Outcome
from understudy.keyframes.plain import curves_data, curves_from, edit_data, edit_from
from understudy.keyframes.problem import parts_of, prepare
from understudy.keyframes.solve import Settings, retarget, told
from understudy.maths import quaternion
from understudy.rig import PosedRig

VERSION = 1
HISTORY = 100  # steps of undo; each keeps only the curves that it changed


@dataclass(frozen=True)
class Gesture:
    """What is being done: the edit with its goals of the moment, and where its points were before."""

    edit: Edit
    places: tuple[Triple, ...]
    turns: tuple[Quaternion, ...]
    outcome: Outcome | None = None  # of the last update


class Session:
    """Curves of one character, with one gesture at a time and a bounded history."""

    def __init__(
        self,
        rig: PosedRig,
        curves: Curves,
        history: int = HISTORY,
        settings: Settings | None = None,
        ground: Ground | None = None,
    ) -> None:
        if not (isinstance(history, int) and history >= 0):
            raise InvalidInput(f"history should be a number of steps, zero or more, but is {history}")
        self.rig, self.settings = rig, settings or Settings()
        self._ground = ground or Ground(rig)
        self._curves = curves
        self._undo: deque[Curves] = deque(maxlen=history)
        self._redo: deque[Curves] = deque(maxlen=history)
        self._gesture: Gesture | None = None
        self._following: Following | None = None

    @property
    def curves(self) -> Curves:
        """The animation as it is seen: with the gesture, where there is one."""
        gesture = self._gesture
        return self._curves if gesture is None or gesture.outcome is None else gesture.outcome.curves

    @property
    def committed(self) -> Curves:
        """The animation without the gesture."""
        return self._curves

    @property
    def gesture(self) -> Gesture | None:
        """The gesture that goes on, or None."""
        return self._gesture

    @property
    def steps(self) -> tuple[int, int]:
        """How many steps can be undone, and redone."""
        return len(self._undo), len(self._redo)

    def begin(self, edit: Edit) -> Gesture:
        """Start a gesture. Its moves say which points go when; where to is said by each `update`."""
        self._idle("begin another gesture")
        problem = prepare(self.rig, self._curves, edit, self._ground)
        places, turns = problem.origin
        self._gesture = Gesture(
            edit,
            tuple((float(x), float(y), float(z)) for x, y, z in places),
            tuple((float(x), float(y), float(z), float(w)) for x, y, z, w in quaternion.from_matrix(turns)),
        )
        self._following = Following(problem, self.settings)
        return self._gesture

    def update(
        self,
        moves: Sequence[Move] | None = None,
        *,
        to: Any = None,
        by: Any = None,
        turn_to: Any = None,
    ) -> Outcome:
        """New goals: `moves` as many as the gesture has, or the goal of its only move. Nothing is kept of bad ones."""
        gesture, following = self._going("update")
        problem, new = following.problem, self._goals(gesture.edit, moves, to, by, turn_to)
        with one_thread():
            result = told(problem, following.to(retarget(problem, new)))
        self._gesture = replace(gesture, edit=replace(gesture.edit, moves=tuple(new)), outcome=result)
        return result

    def commit(self) -> Curves:
        """End the gesture and keep what it came to, as one step of undo; one that changed nothing leaves none."""
        gesture, _ = self._going("commit")
        self._end()
        if gesture.outcome is not None and not past.same(gesture.outcome.curves, self._curves):
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
            seen = None if gesture.outcome is None else past.outcome_data(self._curves, gesture.outcome)
            going = {"edit": edit_data(gesture.edit), "outcome": seen, **following.data()}
        return {
            "version": VERSION,
            "history": self._undo.maxlen,
            "curves": curves_data(self._curves),
            "undo": past.told(self._curves, list(self._undo)[::-1]),
            "redo": past.told(self._curves, list(self._redo)[::-1]),
            "gesture": going,
        }

    @classmethod
    def from_state(cls, rig: PosedRig, state: Any, settings: Settings | None = None) -> Session:
        """The session of a `state`, with the same curves to the last bit, the same history and the same gesture."""
        if not isinstance(state, dict) or state.get("version") != VERSION:
            found = state.get("version") if isinstance(state, dict) else type(state).__name__
            raise InvalidInput(f"a session's state should be of version {VERSION}, but is {found}")
        missing = [name for name in ("history", "curves", "undo", "redo") if name not in state]
        if missing:
            raise InvalidInput(f"a session's state should have {', '.join(missing)}, but has not")
        session = cls(rig, curves_from(state["curves"]), state["history"], settings)
        session._undo.extend(past.made(session._curves, state["undo"])[::-1])
        session._redo.extend(past.made(session._curves, state["redo"])[::-1])
        if state.get("gesture") is not None:
            session._resume(state["gesture"])
        return session

    def _resume(self, going: Any) -> None:
        if not isinstance(going, dict) or "edit" not in going:
            raise InvalidInput("a gesture of a session's state should have an edit, but has none")
        gesture = self.begin(edit_from(going["edit"]))
        _, following = self._going("resume")
        if going.get("outcome") is not None:
            gesture = self._gesture = replace(gesture, outcome=past.outcome_from(self._curves, going["outcome"]))
        following.resume(going, gesture.outcome is None or gesture.outcome.reached)

    @staticmethod
    def _goals(edit: Edit, moves: Sequence[Move] | None, to: Any, by: Any, turn_to: Any) -> list[Move]:
        """New moves, with the points, times and kinds of the edit's."""
        if moves is None:
            if len(edit.moves) != 1:
                raise InvalidInput(f"the gesture has {len(edit.moves)} moves, so that each has to be given anew")
            old = edit.moves[0]
            moves = [Move(old.point, old.time, to, by, old.turn_to if turn_to is None else turn_to)]
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

    def _going(self, what: str) -> tuple[Gesture, Following]:
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
