"""A clip that is being edited: the curves as they are kept, the gesture that goes on, and what is seen of both.

No sockets and no documents here: everything belongs to the one thread that solves (`desk` sees to that).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from understudy.character import Clip, Curves
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.goals import Point
from understudy.keyframes.ground import Ground
from understudy.keyframes.past import same
from understudy.rig import PosedRig
from understudy.studio.edit import mirroring, reducing
from understudy.studio.edit.gestures import Drag, Gesture, Goal, Posing, Step, Timing
from understudy.studio.edit.holding import Held
from understudy.studio.edit.view import Picture, View
from understudy.studio.stage.packing import Packer


@dataclass(frozen=True)
class Dragged:
    """What one goal of a gesture came to, and what is seen of it."""

    step: Step
    picture: Picture
    place: tuple[float, float, float]
    turn: tuple[float, float, float, float]
    ms: float


class Editing:
    """Times given are seconds from the beginning of the clip, those of curves the file's own clock."""

    def __init__(self, rig: PosedRig, packer: Packer, animation: Clip | Curves, curves: Curves | None) -> None:
        self.rig, self.animation = rig, animation
        self.origin = float(animation.start)
        self.source_keys = reducing.keys_of(animation)
        self.ground = Ground(rig)
        self.size = self.ground.size
        self.pairs = mirroring.has_pairs(rig)
        self.committed = reducing.unreduced(animation) if curves is None else curves
        self.baked = self._is_baked(self.committed)
        self.view = View(self.ground, packer, self.committed, self.origin, self._seconds())
        self.gesture: Gesture | None = None
        self.step: Step | None = None  # of the gesture, or of the last that was kept

    def _is_baked(self, curves: Curves) -> bool:
        """Whether it has to be reduced first: what has fewer keys than its clip was reduced, however close they lie."""
        return curves.key_count >= self.source_keys and reducing.is_baked(curves)

    def _seconds(self) -> float:
        """How long it lasts: as long as the clip, and longer where keys were moved beyond its end."""
        return max(float(self.animation.duration), self.committed.end - self.origin)

    def adopt(self, curves: Curves) -> Picture:
        """Other curves, to be kept; a gesture that goes on is over."""
        self.gesture = None
        other = curves.channels != self.committed.channels
        self.committed = curves
        self.baked = self._is_baked(curves)
        if other or self._seconds() != self.view.seconds:
            self.view.reset(curves, self._seconds())
            return self.view.picture()
        return self.view.show(curves, whole=True)

    def preview(self, curves: Curves, also: tuple[int, int] | None = None) -> Picture:
        """Curves that are only shown."""
        return self.view.show(curves, also=also)

    def begin(self, point: Point, moment: float, operation: str, held: Held, edges: str) -> tuple[Array, Array]:
        """Take hold of a point between keys; returns where it is, (3,) and (4,)."""
        self._open_to_gestures()
        at, curves = self._inside(moment), self.committed
        if operation == "time":
            self.gesture = Timing(self.rig, curves, point, at, held, edges)
        else:
            self.gesture = Drag(self.ground, curves, point, at, operation == "turn", held, edges)
        return self._begun(moment, point)

    def begin_pose(
        self, point: Point, moment: float, turning: bool, pins: Sequence[Point], held: Held, insert: bool
    ) -> tuple[Array, Array]:
        """Take hold of a point of the pose; returns where it is."""
        self._open_to_gestures()
        at = self._inside(moment)
        self.gesture = Posing(self.rig, self.committed, point, at, turning, pins, held, insert)
        return self._begun(moment, point)

    def _open_to_gestures(self) -> None:
        if self.gesture is not None:
            self.cancel()
        if self.baked:
            raise InvalidInput("this clip has a key on every frame; reduce it to editable keys first")

    def _inside(self, moment: float) -> float:
        at = moment + self.origin
        if not self.committed.start - 1e-6 <= at <= self.committed.end + 1e-6:
            last = self.committed.end - self.origin
            raise InvalidInput(f"the time should lie within the clip's keys, up to {last:.4g} s, but is {moment:.4g} s")
        return min(max(at, self.committed.start), self.committed.end)

    def _begun(self, moment: float, point: Point) -> tuple[Array, Array]:
        self.step = None
        self.view.seek(moment)
        return self.view.where(point, self.origin + moment)

    def drag(self, goal: Goal, also: tuple[int, int] | None = None) -> Dragged:
        """Another goal of the gesture."""
        gesture = self.gesture
        if gesture is None:
            raise InvalidInput("there is no gesture that could go on")
        began = time.perf_counter()
        step = gesture.drag(goal)
        picture = self.preview(step.curves, also)
        place, turn = self.view.where(gesture.point, gesture.time)
        self.step = step
        x, y, z = place.tolist()
        i, j, k, w = turn.tolist()
        return Dragged(step, picture, (x, y, z), (i, j, k, w), 1e3 * (time.perf_counter() - began))

    def let_go(self) -> Curves | None:
        """End the gesture; returns the curves to keep, None where nothing has changed."""
        gesture = self.gesture
        if gesture is None or self.step is None:
            return None
        curves = gesture.kept()
        return None if same(curves, self.committed) else curves

    def cancel(self) -> Picture:
        """Back to the curves that are kept."""
        self.gesture = None
        return self.view.show(self.committed, whole=True)

    def sample(self, times: list[float]) -> Array:
        """(M, C) rows of the rig for the stage; from any thread."""
        return self.view.rows(times)
