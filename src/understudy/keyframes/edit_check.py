"""Edits held against a character and an animation, before anything is done: names, times, contradictions.

Whatever is refused here is one sentence with the file and the place in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from understudy import checks
from understudy.character import Channels
from understudy.errors import BadFile, InvalidInput
from understudy.keyframes.edit_steps import Action, Edits, Gesture, Key, Pose, Sketch, Step, Tangents, Timing
from understudy.keyframes.goals import Contact, Edit, Hold, Move, Pin, Point
from understudy.keyframes.naming import check_point
from understudy.keyframes.selection import TOUCH
from understudy.rig import PosedRig


def check(edits: Edits, rig: PosedRig, channels: Channels, start: float, stop: float) -> Edits:
    """The same edits with every joint by its full name, for curves of `channels` that last from start to stop."""
    checker = _Checker(edits.path, rig, channels, start, stop)
    return replace(edits, steps=tuple(checker.step(step) for step in edits.steps))


class _Checker:
    def __init__(self, path: str, rig: PosedRig, channels: Channels, start: float, stop: float) -> None:
        self.path, self.rig, self.channels, self.start, self.stop = path, rig, channels, start, stop
        self.place = ""

    def fail(self, reason: str) -> NoReturn:
        raise BadFile(self.path, reason, self.place)

    def step(self, step: Step) -> Step:
        self.place = step.place
        try:
            return replace(step, action=self.action(step.action))
        except InvalidInput as error:
            self.fail(str(error))

    def action(self, action: Action) -> Action:
        match action:
            case Gesture():
                return replace(action, edit=self.edit(action.edit))
            case Pose():
                self.time(action.time, "time")
                moves, pins = self.points(action.moves), self.points(action.pins)
                self.contradictions(moves, pins, (), ())
                for column in action.values:
                    checks.one_of(column, "column", self.channels.names)
                self.stiffness(action.stiffness)
                return replace(action, moves=moves, pins=pins)
            case Sketch():
                return self.sketch(action)
            case Timing():
                self.time(action.time, "time")
                if action.point is not None:
                    return self.timing(action, check_point(self.rig.character, action.point))
            case Key():
                self.time(action.time, "time")
                if action.to_time is not None and not np.isfinite(action.to_time):
                    self.fail(f"to_time should be a number of seconds, but is {action.to_time}")
            case Tangents():
                self.span(action.start, action.stop)
        self.targets(action.targets)
        return action

    def edit(self, edit: Edit) -> Edit:
        moves, pins = self.points(edit.moves), self.points(edit.pins)
        contacts, holds = self.points(edit.contacts), self.points(edit.holds)
        for move in moves:
            self.time(move.time, f"the time of the move of {move.point.name}")
        self.around(pins, contacts, holds)
        wishes = tuple(self.wish(wish) for wish in edit.wishes)
        self.span(edit.start, edit.stop)
        self.contradictions(moves, pins, contacts, holds)
        self.stiffness(edit.stiffness)
        for move in moves:
            outside = (edit.start is not None and move.time < edit.start - TOUCH) or (
                edit.stop is not None and move.time > edit.stop + TOUCH
            )
            if outside:
                self.fail(f"the move of {move.point.name} at {move.time:g} s lies outside of the edit's start and stop")
        return replace(edit, moves=moves, pins=pins, contacts=contacts, holds=holds, wishes=wishes)

    def wish(self, wish: Any) -> Any:
        """An arc, or a flight, which may be that of the whole body."""
        self.span(wish.start, wish.stop, f" of the {type(wish).__name__.lower()}")
        return wish if wish.point is None else replace(wish, point=check_point(self.rig.character, wish.point))

    def sketch(self, sketch: Sketch) -> Sketch:
        pins, contacts, holds = (self.points(kept) for kept in (sketch.pins, sketch.contacts, sketch.holds))
        for time in sketch.times:
            self.time(time, "a time of the stroke")
        self.span(sketch.start, sketch.stop)
        self.around(pins, contacts, holds)
        point = check_point(self.rig.character, sketch.point)
        times = sketch.times or tuple(np.linspace(sketch.start or 0.0, sketch.stop or 0.0, len(sketch.path)))
        drawn = [Move(point, time, to) for time, to in zip(times, sketch.path)]
        self.contradictions(drawn, pins, contacts, holds)
        self.stiffness(sketch.stiffness)
        return replace(sketch, point=point, pins=pins, contacts=contacts, holds=holds)

    def timing(self, timing: Timing, point: Point) -> Timing:
        pins, contacts, holds = (self.points(kept) for kept in (timing.pins, timing.contacts, timing.holds))
        self.around(pins, contacts, holds)
        held = [pin for pin in pins if pin.point == point and pin.position]
        if held and _or(held[0].start, -np.inf) <= timing.time <= _or(held[0].stop, np.inf):
            self.fail(f"{point.name} should have another speed at {timing.time:g} s, but a pin keeps its path there")
        self.stiffness(timing.stiffness)
        return replace(timing, point=point, pins=pins, contacts=contacts, holds=holds)

    def around(self, pins: tuple[Pin, ...], contacts: tuple[Contact, ...], holds: tuple[Hold, ...]) -> None:
        for pin in pins:
            self.span(pin.start, pin.stop, f" of the pin of {pin.point.name}")
        for contact in contacts:
            self.span(contact.start, contact.stop, f" of the contact of {contact.point.name}")
        for hold in holds:
            self.time(hold.time, f"the time of the hold of {hold.point.name}")

    def points(self, goals: tuple[Any, ...]) -> tuple[Any, ...]:
        """Goals of one kind, each with its point as the character knows it."""
        return tuple(replace(goal, point=check_point(self.rig.character, goal.point)) for goal in goals)

    def time(self, time: float, what: str) -> None:
        if not self.start - TOUCH <= time <= self.stop + TOUCH:
            self.fail(f"{what} should be {self.start:g} to {self.stop:g} s, within the animation, but is {time:g}")

    def span(self, start: float | None, stop: float | None, of: str = "") -> None:
        for name, time in (("start", start), ("stop", stop)):
            if time is not None:
                self.time(time, name + of)

    def targets(self, targets: Iterable[str] | None) -> None:
        for name in targets or ():
            checks.one_of(name, "curve of", dict.fromkeys(channel.target for channel in self.channels))

    def stiffness(self, names: Iterable[str]) -> None:
        """Refuse stiffness of what is not moved: names are joints or parts, or single columns."""
        for name in names:
            if not any(column == name or column.startswith(f"{name}.") for column in self.channels.names):
                checks.one_of(name, "curve with stiffness", dict.fromkeys(channel.target for channel in self.channels))

    def contradictions(
        self,
        moves: Iterable[Move],
        pins: Iterable[Pin],
        contacts: Iterable[Contact],
        holds: Iterable[Hold],
    ) -> None:
        """Refuse to move what is to stay, or one point to two places at once."""
        spans: list[tuple[Pin | Contact | Hold, str, float, float]] = []
        spans += [(pin, "pin", _or(pin.start, -np.inf), _or(pin.stop, np.inf)) for pin in pins]
        # a contact stays where it is at its start, so that its start itself may be moved
        spans += [(contact, "contact", contact.start + 2 * TOUCH, contact.stop) for contact in contacts]
        spans += [(hold, "hold", hold.time, hold.time) for hold in holds]
        goals: dict[tuple[Point, float], Move] = {}
        for move in moves:
            moved = move.to is not None or move.by is not None
            for kept, what, start, stop in spans:
                same = kept.point == move.point and start - TOUCH <= move.time <= stop + TOUCH
                if same and ((moved and kept.position) or (move.turn_to is not None and kept.orientation)):
                    part = "position" if moved and kept.position else "orientation"
                    self.fail(
                        f"{move.point.name} should be moved at {move.time:g} s, but a {what} keeps its {part} there"
                    )
            other = goals.setdefault((move.point, round(move.time, 5)), move)
            if other is not move and other != move:
                self.fail(f"{move.point.name} should be moved at {move.time:g} s, but to two goals at once")


def _or(time: float | None, other: float) -> float:
    return other if time is None else time
