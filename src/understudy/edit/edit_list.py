"""EDITS.toml, a list of edits that can be written, kept, repeated and tested: read it, check it, apply it, report.

    edits = read_edit_list("reach.toml")
    rig, animation = ...
    curves, notes = key_dense_clip(rig, animation, edits.preparation)
    steps = check_edit_list(edits, rig, curves).steps
    curves, reports = apply_edit_list(rig, curves, steps, path=edits.path)

Each step starts from the curves of the step before it. A step that cannot reach its goal goes as far as it can, and its
report names the obstacle.

The check compares the list with a character and an animation before anything is solved: names, times and goals that
contradict each other. Every refusal is one sentence with the file and the place in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NoReturn

import numpy as np

from understudy import checks, files
from understudy.character import Channels, Curves
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS
from understudy.character.rig import PosedRig
from understudy.edit.edit_list_actions import ActionResult, Result, apply_action, key_dense_clip
from understudy.edit.edit_list_parser import MAX_EDIT_LIST_CHARS, parse_edit_list
from understudy.edit.edit_list_steps import (
    Action,
    EditList,
    EditListStep,
    EditStep,
    KeyStep,
    PoseStep,
    SketchStep,
    TangentStep,
    TimingStep,
)
from understudy.edit.goals import Contact, Edit, Hold, MovePoint, Pin, Point, check_point
from understudy.edit.outcome import MotionChange, Suggestion, unit_for
from understudy.edit.solver.sqp import SolverSettings
from understudy.errors import BadFile, InvalidInput
from understudy.schema import join_words

__all__ = [
    "EditList",
    "StepReport",
    "apply_edit_list",
    "check_edit_list",
    "key_dense_clip",
    "parse_edit_list",
    "read_edit_list",
]

VISIBLE_MOVE_M = 1e-4  # of another joint
VISIBLE_EXTRA_TURNS = 0.1
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class StepReport:
    """The result of one step.

    `outcome` is set where a solver ran, `offers` where it was blocked and suggestions were asked for. `details` are
    further sentences: which feet were held, and how the motion changed as a whole.
    """

    place: str  # "edit 3"
    kind: str
    name: str
    reached: bool
    sentence: str
    outcome: Result | None = None
    offers: tuple[Suggestion, ...] = ()
    details: tuple[str, ...] = ()
    feet: tuple[Pin, ...] = ()  # that stand and were held
    weight: float = 1.0  # share of the change that was kept

    def facts(self) -> dict[str, Any]:
        """The report for JSON, in millimetres and degrees."""
        facts: dict[str, Any] = {
            "edit": self.place,
            "kind": self.kind,
            "name": self.name,
            "reached": self.reached,
            "sentence": self.sentence,
        }
        if self.outcome is None:
            return facts
        o = self.outcome
        return facts | {
            "distance_mm": round(1000 * o.distance, 6),
            "angle_degrees": round(float(np.degrees(o.angle)), 6),
            "start_distance_mm": round(1000 * o.start_distance, 6),
            "start_angle_degrees": round(float(np.degrees(o.start_angle)), 6),
            "drift_mm": round(1000 * o.drift, 6),
            "drift_degrees": round(float(np.degrees(o.drift_angle)), 6),
            "iterations": o.iterations,
            "weight": self.weight,
            "falloff_seconds": getattr(o, "radius", None),
            "change": _change_facts(getattr(o, "change", None)),
            "held_feet": [{"joint": pin.point.joint, "start": pin.start, "stop": pin.stop} for pin in self.feet],
            "notes": list(getattr(o, "notes", ())),
            "blocks": [asdict(block) for block in o.obstacles],
            "offers": [
                {"kind": offer.kind, "what": offer.what, "sentence": offer.sentence, "reached": offer.outcome.reached}
                for offer in self.offers
            ],
        }


def _change_facts(change: MotionChange | None) -> dict[str, Any] | None:
    """A change of the motion for JSON, in millimetres and seconds; None where it was not measured."""
    if change is None:
        return None
    return {
        "asked_mm": round(1000 * change.asked_m, 6),
        "furthest_mm": round(1000 * change.furthest_m, 6),
        "overshoot": round(float(change.overshoot), 6),
        "start": round(change.start, 6),
        "stop": round(change.stop, 6),
        "others_mm": round(1000 * change.others_m, 6),
        "other_joint": change.other_joint,
        "speed_ratio": round(float(change.speed_ratio), 6),
        "acceleration_ratio": round(float(change.acceleration_ratio), 6),
        "extra_turns": round(float(change.extra_turns), 6),
    }


def describe_change(change: MotionChange) -> tuple[str, ...]:
    """How an edit changed the motion as a whole, in short sentences."""
    unit, scale = unit_for(max(change.asked_m, change.furthest_m))
    asked = f" for {scale * change.asked_m:.3g} {unit} asked" if change.asked_m > 0 else ""
    other_unit, other_scale = unit_for(change.others_m)
    others = f"{change.other_joint!r} moves by {other_scale * change.others_m:.3g} {other_unit}, the most of the rest."
    ratios = f"Peak speed is {change.speed_ratio:.2f} and peak acceleration {change.acceleration_ratio:.2f} of before."
    return (
        f"It moves by up to {scale * change.furthest_m:.3g} {unit}{asked}, from {change.start:.2f} s to "
        f"{change.stop:.2f} s.",
        others if change.others_m > VISIBLE_MOVE_M else "Nothing else moves.",
        ratios,
        *([f"A joint makes {change.extra_turns:.1f} turns more."] if change.extra_turns >= VISIBLE_EXTRA_TURNS else []),
    )


def read_edit_list(path: str) -> EditList:
    """The edits of a file; `BadFile` names the place of the first mistake."""
    return parse_edit_list(files.read_text(path, 4 * MAX_EDIT_LIST_CHARS), str(path))


def check_edit_list(edits: EditList, rig: PosedRig, curves: Curves) -> EditList:
    """The same edits with joints by their full names.

    Raises `BadFile` with the place in the file for unknown names, times outside of the curves and contradictions.
    """
    return check_steps(edits, rig, curves.channels, curves.start, curves.end)


def apply_edit_list(
    rig: PosedRig,
    curves: Curves,
    steps: Sequence[EditListStep],
    progress: Progress | None = None,
    settings: SolverSettings | None = None,
    path: str = "edits",
    ask: bool = False,
) -> tuple[Curves, list[StepReport]]:
    """The curves after all steps, and a report for each; `progress(done, total)` is called after each step.

    `path` is named in errors. With `ask`, suggestions are computed for blocked steps.
    """
    reports = []
    for number, step in enumerate(steps, 1):
        try:
            result = apply_action(rig, curves, step.action, settings, ask)
        except InvalidInput as error:
            raise BadFile(path, str(error), step.place) from error
        curves = result.curves
        reports.append(_report(step, result))
        if progress is not None:
            progress(number, len(steps))
    return curves, reports


def _report(step: EditListStep, done: ActionResult) -> StepReport:
    head, result = (step.place, step.action.kind, step.name), done.result
    if result is None:
        return StepReport(*head, True, done.what)
    change = getattr(result, "change", None)
    details = () if change is None else describe_change(change)
    if done.feet:
        names = list(dict.fromkeys(pin.point.joint for pin in done.feet))
        held = "stands and is held" if len(names) == 1 else "stand and are held"
        details = (f"{join_words(names)} {held}.", *details)
    if done.weight < 1:
        details = (*details, f"{100 * done.weight:.3g} % of this change is kept.")
    more: dict[str, Any] = {"details": details, "feet": done.feet, "weight": done.weight}
    if result.reached:
        off = f"{1000 * result.distance:.2g} mm off"
        if result.start_angle > 0:
            off += f", {np.degrees(result.angle):.2g} degrees"
        if result.drift > 0:
            off += f", constraints drift {1000 * result.drift:.2g} mm"
        how = "" if done.accepted is None else f" as accepted: {done.accepted.sentence}"
        return StepReport(*head, True, f"{done.what}: reached ({off}){how}", result, **more)
    why = result.obstacles[0].sentence if result.obstacles else "it cannot get nearer"
    also = ", ".join(f"the {block.kind} of {block.what}" for block in result.obstacles[1:])
    sentence = f"{done.what}: blocked, {why}" + (f"; also {also}" if also else "")
    return StepReport(*head, False, sentence, result, done.offers, **more)


def check_steps(edits: EditList, rig: PosedRig, channels: Channels, start: float, stop: float) -> EditList:
    """`check_edit_list` for curves of `channels` that last from `start` to `stop` (seconds)."""
    checker = _Checker(edits.path, rig, channels, start, stop)
    return replace(edits, steps=tuple(checker.step(step) for step in edits.steps))


class _Checker:
    """One pass over a list; every method returns its argument with full joint names, or fails with the place."""

    def __init__(self, path: str, rig: PosedRig, channels: Channels, start: float, stop: float) -> None:
        self.path, self.rig, self.channels, self.start, self.stop = path, rig, channels, start, stop
        self.place = ""

    def fail(self, reason: str) -> NoReturn:
        raise BadFile(self.path, reason, self.place)

    def step(self, step: EditListStep) -> EditListStep:
        self.place = step.place
        try:
            return replace(step, action=self.action(step.action))
        except InvalidInput as error:
            self.fail(str(error))

    def action(self, action: Action) -> Action:
        match action:
            case EditStep():
                return replace(action, edit=self.edit(action.edit))
            case PoseStep():
                self.time(action.time, "time")
                moves, pins = self.points(action.moves), self.points(action.pins)
                self.contradictions(moves, pins, (), ())
                for column in action.values:
                    checks.one_of(column, "column", self.channels.names)
                self.stiffness(action.stiffness)
                return replace(action, moves=moves, pins=pins)
            case SketchStep():
                return self.sketch(action)
            case TimingStep():
                self.time(action.time, "time")
                if action.point is not None:
                    return self.timing(action, check_point(self.rig.character, action.point))
            case KeyStep():
                self.time(action.time, "time")
                if action.to_time is not None and not np.isfinite(action.to_time):
                    self.fail(f"to_time should be a number of seconds, but is {action.to_time}")
            case TangentStep():
                self.span(action.start, action.stop)
        self.targets(action.targets)
        return action

    def edit(self, edit: Edit) -> Edit:
        moves, pins = self.points(edit.moves), self.points(edit.pins)
        contacts, holds = self.points(edit.contacts), self.points(edit.holds)
        for move in moves:
            self.time(move.time, f"the time of the move of {move.point.name}")
        self.constraints(pins, contacts, holds)
        terms = tuple(self.objective(term) for term in edit.terms)
        self.span(edit.start, edit.stop)
        self.contradictions(moves, pins, contacts, holds)
        self.stiffness(edit.stiffness)
        for move in moves:
            outside = (edit.start is not None and move.time < edit.start - KEY_TIME_TOLERANCE_SECONDS) or (
                edit.stop is not None and move.time > edit.stop + KEY_TIME_TOLERANCE_SECONDS
            )
            if outside:
                self.fail(f"the move of {move.point.name} at {move.time:g} s lies outside of the edit's start and stop")
        return replace(edit, moves=moves, pins=pins, contacts=contacts, holds=holds, terms=terms)

    def objective(self, term: Any) -> Any:
        """An arc or a flight; a flight without a point is that of the centre of mass."""
        self.span(term.start, term.stop, f" of the {type(term).__name__.lower()}")
        return term if term.point is None else replace(term, point=check_point(self.rig.character, term.point))

    def sketch(self, sketch: SketchStep) -> SketchStep:
        pins, contacts, holds = (self.points(goals) for goals in (sketch.pins, sketch.contacts, sketch.holds))
        for time in sketch.times:
            self.time(time, "a time of the stroke")
        self.span(sketch.start, sketch.stop)
        self.constraints(pins, contacts, holds)
        point = check_point(self.rig.character, sketch.point)
        times = sketch.times or tuple(np.linspace(sketch.start or 0.0, sketch.stop or 0.0, len(sketch.path)))
        moves = [MovePoint(point, time, to) for time, to in zip(times, sketch.path)]
        self.contradictions(moves, pins, contacts, holds)
        self.stiffness(sketch.stiffness)
        return replace(sketch, point=point, pins=pins, contacts=contacts, holds=holds)

    def timing(self, timing: TimingStep, point: Point) -> TimingStep:
        pins, contacts, holds = (self.points(goals) for goals in (timing.pins, timing.contacts, timing.holds))
        self.constraints(pins, contacts, holds)
        same = [pin for pin in pins if pin.point == point and pin.position]
        if same and _or(same[0].start, -np.inf) <= timing.time <= _or(same[0].stop, np.inf):
            self.fail(f"{point.name} should have another speed at {timing.time:g} s, but a pin keeps its path there")
        self.stiffness(timing.stiffness)
        return replace(timing, point=point, pins=pins, contacts=contacts, holds=holds)

    def constraints(self, pins: tuple[Pin, ...], contacts: tuple[Contact, ...], holds: tuple[Hold, ...]) -> None:
        for pin in pins:
            self.span(pin.start, pin.stop, f" of the pin of {pin.point.name}")
        for contact in contacts:
            self.span(contact.start, contact.stop, f" of the contact of {contact.point.name}")
        for hold in holds:
            self.time(hold.time, f"the time of the hold of {hold.point.name}")

    def points(self, goals: tuple[Any, ...]) -> tuple[Any, ...]:
        """Goals of one kind, each with the full name of its joint."""
        return tuple(replace(goal, point=check_point(self.rig.character, goal.point)) for goal in goals)

    def time(self, time: float, what: str) -> None:
        if not self.start - KEY_TIME_TOLERANCE_SECONDS <= time <= self.stop + KEY_TIME_TOLERANCE_SECONDS:
            self.fail(f"{what} should be {self.start:g} to {self.stop:g} s, within the animation, but is {time:g}")

    def span(self, start: float | None, stop: float | None, of: str = "") -> None:
        for name, time in (("start", start), ("stop", stop)):
            if time is not None:
                self.time(time, name + of)

    def targets(self, targets: Iterable[str] | None) -> None:
        for name in targets or ():
            checks.one_of(name, "curve of", dict.fromkeys(channel.target for channel in self.channels))

    def stiffness(self, names: Iterable[str]) -> None:
        """Refuse the stiffness of joints, parts or columns that the animation does not have."""
        for name in names:
            if not any(column == name or column.startswith(f"{name}.") for column in self.channels.names):
                checks.one_of(name, "curve with stiffness", dict.fromkeys(channel.target for channel in self.channels))

    def contradictions(
        self,
        moves: Iterable[MovePoint],
        pins: Iterable[Pin],
        contacts: Iterable[Contact],
        holds: Iterable[Hold],
    ) -> None:
        """Refuse to move a constrained point, or one point to two goals at the same time."""
        spans: list[tuple[Pin | Contact | Hold, str, float, float]] = []
        spans += [(pin, "pin", _or(pin.start, -np.inf), _or(pin.stop, np.inf)) for pin in pins]
        # a contact keeps the position that it has at its start, so its start itself may be moved
        spans += [
            (contact, "contact", contact.start + 2 * KEY_TIME_TOLERANCE_SECONDS, contact.stop) for contact in contacts
        ]
        spans += [(hold, "hold", hold.time, hold.time) for hold in holds]
        goals: dict[tuple[Point, float], MovePoint] = {}
        for move in moves:
            moved = move.to is not None or move.by is not None
            for goal, what, start, stop in spans:
                same = (
                    goal.point == move.point
                    and start - KEY_TIME_TOLERANCE_SECONDS <= move.time <= stop + KEY_TIME_TOLERANCE_SECONDS
                )
                if same and ((moved and goal.position) or (move.turn_to is not None and goal.orientation)):
                    part = "position" if moved and goal.position else "orientation"
                    self.fail(
                        f"{move.point.name} should be moved at {move.time:g} s, but a {what} keeps its {part} there"
                    )
            other = goals.setdefault((move.point, round(move.time, 5)), move)
            if other is not move and other != move:
                self.fail(f"{move.point.name} should be moved at {move.time:g} s, but to two goals at once")


def _or(time: float | None, other: float) -> float:
    return other if time is None else time
