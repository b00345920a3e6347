"""Handlers of the edit mode: open a clip, views, drags, suggestions and constraints. Keys and poses are in
`key_handlers`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from understudy.checks import Array
from understudy.edit.edit_curves import blend_edit
from understudy.edit.goals import Edit
from understudy.edit.points.states import states_of
from understudy.edit.serialise import same_curves
from understudy.edit.solver.problem import stiffness_of
from understudy.edit.solver.sqp import solve
from understudy.errors import InvalidInput
from understudy.studio.document import ContactEntry, EditEntry, HoldEntry, LimitEntry, PinEntry, PointRef, StageState
from understudy.studio.edit import key_handlers
from understudy.studio.edit.constraints import (
    Constraints,
    accept_suggestion,
    check_limit,
    constraints_from_document,
    limit_of,
    pin_of,
    point_of,
    with_constraint,
    with_foot,
    with_limit,
    without_constraint,
)
from understudy.studio.edit.controller import EditController, controller_on_stage, edit_controller, open_clip
from understudy.studio.edit.drags import DragProtocol, DragResult, DragTarget, ReleasedDrag, drag_result
from understudy.studio.edit.edit_clip import DragUpdate, change_entry, stance_entry
from understudy.studio.edit.key_edits import channel_numbers
from understudy.studio.edit.suggestions import BlockedDrag
from understudy.studio.edit.view import GraphEditorCurves
from understudy.studio.messages import edit, edit_keys
from understudy.studio.registry import creates_source, handles_request
from understudy.studio.session import CURRENT_PAGE

if TYPE_CHECKING:
    from understudy.studio.session import Session
    from understudy.studio.source import ClipSource

SUGGESTION_NOTES = {"release": "release what held back", "widen": "more room for", "insert": "another key for"}
__all__ = ["key_handlers"]  # imported so that its handlers are registered
MODE = "edit"
MAX_MOTION_CURVES = 24
MAX_EULER_ERROR_RAD = 1e-3  # radians, between keys, when quaternions become Euler angles


@creates_source("edit")
async def edit_source(session: Session, stage: StageState) -> ClipSource:
    """The curves of an edit."""
    return await edit_controller(session).source_of(stage)


@handles_request(edit.EditOpen)
async def open_edit(session: Session, request: edit.EditOpen) -> edit.EditOpened:
    """Put a clip on stage to be edited."""
    await open_clip(session, request.character, request.clip)
    return edit.EditOpened(edit_controller(session).state())


@handles_request(edit.EditCurve)
async def show_curve(session: Session, request: edit.EditCurve) -> edit.EditCurveShown:
    """Show or hide a motion curve."""
    controller = await controller_on_stage(session)
    editing = controller.editing
    curves = controller.visible_motion_curves(controller.entry)
    known = next((each for each in curves if request.curve in (each.curve,) or each.point == request.point), None)
    if not request.shown:
        if known is None:
            raise InvalidInput("this motion curve is not shown")
        after = [each for each in curves if each is not known]
        number = known.curve
    elif known is not None:
        number = known.curve
        after = [replace(each, camera=request.camera) if each is known else each for each in curves]
    else:
        if request.point is None:
            raise InvalidInput("a motion curve should name its point")
        if len(curves) >= MAX_MOTION_CURVES:
            raise InvalidInput(f"{MAX_MOTION_CURVES} motion curves are shown already; hide one first")
        _check_point(controller, request.point)
        number = max((each.curve for each in curves), default=-1) + 1
        after = [*curves, edit.MotionCurveEntry(number, request.point, _name(request.point), request.camera)]
    controller.show_curves(after)
    points = [(each.curve, point_of(each.point)) for each in after]
    controller.announce()
    async with controller.edit_lock:
        await controller.work(editing.view.show_points, points)
        controller.send(await controller.work(editing.view.picture))
    return edit.EditCurveShown(number)


@handles_request(edit.EditGhosts)
async def ghosts(session: Session, request: edit.EditGhosts) -> None:
    """Set the times of the ghosts."""
    controller = await controller_on_stage(session)
    view = controller.editing.view
    view.ghosts = tuple(min(each, view.seconds) for each in request.times)
    async with controller.edit_lock:
        controller.send(await controller.work(view.picture))


@handles_request(edit_keys.EditGraph)
async def graph(session: Session, request: edit_keys.EditGraph) -> None:
    """Set the channels and the range of the graph editor."""
    controller = await controller_on_stage(session)
    editing = controller.editing
    numbers = tuple(channel_numbers(editing.committed, request.channels))
    stop = editing.view.seconds if request.stop is None else request.stop
    start = request.start or 0.0
    if numbers and not stop > start:
        raise InvalidInput(f"the graph editor's range should end after it begins, but is {start:g} to {stop:g} s")
    editing.view.graphed = GraphEditorCurves(numbers, start, stop, request.samples) if numbers else None
    async with controller.edit_lock:
        controller.send(await controller.work(editing.view.picture, 0, 0))


@handles_request(edit.EditBegin)
async def begin(session: Session, request: edit.EditBegin) -> edit.EditBegun:
    """Begin to drag a point between keys."""
    controller = await controller_on_stage(session)
    editing, constraints = controller.editing, controller.constraints
    point = point_of(request.point)
    controller.suggestions.clear()
    async with controller.changing():
        placement = await controller.work(
            editing.begin, point, request.time, request.operation, constraints, request.edges, request.falloff
        )
        return await _start_drag(controller, request.time, *placement)


@handles_request(edit.EditPoseBegin)
async def begin_pose(session: Session, request: edit.EditPoseBegin) -> edit.EditBegun:
    """Begin to drag a point of the pose."""
    controller = await controller_on_stage(session)
    editing, constraints = controller.editing, controller.constraints
    point, pins = point_of(request.point), [point_of(each) for each in request.pins]
    controller.suggestions.clear()
    async with controller.changing():
        turning = request.operation == "turn"
        placement = await controller.work(
            editing.begin_pose, point, request.time, turning, pins, constraints, request.key
        )
        return await _start_drag(controller, request.time, *placement)


async def _start_drag(controller: EditController, time: float, place: Array, turn: Array) -> edit.EditBegun:
    session = controller.session
    controller.number += 1
    controller.gesture, controller.dragging_page = controller.number, CURRENT_PAGE.get()
    controller.source.seek(time)
    session.adjust(session.document.with_stage(time=controller.source.time, playing=False))
    controller.send(await controller.work(controller.editing.view.picture, 0, 0))
    x, y, z = place.tolist()
    i, j, k, w = turn.tolist()
    return edit.EditBegun(controller.gesture, (x, y, z), (i, j, k, w), _held_feet(controller))


def _held_feet(controller: EditController) -> tuple[edit.StanceEntry, ...]:
    """The feet that the current drag holds."""
    editing = controller.editing
    feet = () if editing.gesture is None else editing.gesture.feet
    return tuple(stance_entry(pin, editing.origin) for pin in feet)


@handles_request(edit.EditDrag)
async def drag(session: Session, request: edit.EditDrag) -> None:
    """A new goal. It is ignored if its drag has ended, or if a newer goal waits."""
    await _apply_drag(session, request, DragTarget(request.to, request.turn, request.factor, request.falloff))


@handles_request(edit.EditPoseDrag)
async def drag_pose(session: Session, request: edit.EditPoseDrag) -> None:
    """A new goal of a pose drag."""
    await _apply_drag(session, request, DragTarget(request.to, request.turn))


async def _apply_drag(session: Session, request: edit.EditDrag | edit.EditPoseDrag, goal: DragTarget) -> None:
    controller = await controller_on_stage(session)
    if request.gesture != controller.gesture or not controller.gesture or controller.is_dragged_elsewhere():
        return
    editing = controller.editing

    def work() -> Callable[[], None] | None:
        if controller.gesture != request.gesture:
            return None
        update = editing.drag(goal, controller.missing())
        return lambda: _send_drag_update(controller, request, update)

    await controller.run_newest(work)


def _send_drag_update(
    controller: EditController, request: edit.EditDrag | edit.EditPoseDrag, update: DragUpdate
) -> None:
    """Send the frames and the outcome of a goal, and update the suggestions."""
    if controller.gesture != request.gesture:
        return
    suggestions = controller.suggestions
    stage, paths = controller.send(update.picture)
    outcome = _outcome(request.gesture, request.number, update.step, update.place, update.turn, update.ms, stage, paths)
    controller.last_outcome = outcome
    controller.session.emit(outcome)
    blocked = _blocked_drag(controller, update.step, outcome)
    if blocked is not None:
        suggestions.rest(blocked)
    else:
        suggestions.clear()


def _blocked_drag(
    controller: EditController, step: DragResult, outcome: edit.EditOutcome, drag: DragProtocol | None = None
) -> BlockedDrag | None:
    """What suggestions are computed from, for the result of a drag; None where it is reached."""
    editing = controller.editing
    drag = drag or editing.gesture
    if step.reached or step.solved is None or drag is None:
        return None
    return BlockedDrag(editing.rig, drag.before, *step.solved, outcome, drag.feet, editing.origin)


def _outcome(
    gesture: int,
    number: int,
    step: DragResult,
    place: edit.Triple,
    turn: edit.Quaternion,
    ms: float,
    stage: int,
    paths: int,
) -> edit.EditOutcome:
    moved = step.start_distance - step.distance
    blocks = tuple(
        edit.EditObstacle(block.kind, block.what, moved, step.start_distance, block.share, block.sentence)
        for block in step.obstacles
    )
    return edit.EditOutcome(
        gesture,
        number,
        step.reached,
        step.distance,
        step.angle,
        step.drift,
        round(ms, 3),
        place,
        turn,
        None if step.reached else place,
        "" if step.reached else (blocks[0].sentence if blocks else "the goal cannot be reached with these keys"),
        blocks,
        (),
        False,
        stage,
        paths,
        step.radius,
    )


@handles_request(edit.EditEnd)
async def end(session: Session, request: edit.EditEnd) -> edit.EditEnded:
    """End a drag: commit it as one undo step, or cancel it."""
    return await _finish_drag(session, request.gesture, request.commit)


@handles_request(edit.EditPoseEnd)
async def end_pose(session: Session, request: edit.EditPoseEnd) -> edit.EditEnded:
    """End a pose drag: commit it as one undo step, or cancel it."""
    return await _finish_drag(session, request.gesture, request.commit)


async def _finish_drag(session: Session, gesture: int, commit: bool) -> edit.EditEnded:
    controller = await controller_on_stage(session)
    suggestions = controller.suggestions
    editing = controller.editing
    async with controller.changing():
        # within the lock: another drag may begin while this request waits, and would be ended instead
        if gesture != controller.gesture or not gesture:
            raise InvalidInput("this drag has ended already")
        drag, feet, last = editing.gesture, _held_feet(controller), controller.last_outcome
        result = await controller.work(editing.end_drag) if commit else None
        controller.gesture = 0
        if result is None or drag is None:
            controller.send(await controller.work(editing.cancel))
            suggestions.clear()
            return edit.EditEnded(editing.committed.key_count, False)
        if same_curves(result.curves, editing.committed):
            controller.send(await controller.work(editing.cancel))
            ended = edit.EditEnded(editing.committed.key_count, False)
        else:
            ended = await controller.keep(result.curves, drag.note)
            solved = None if result.solved is None else result.solved[0]
            controller.released = ReleasedDrag(drag, solved, result.curves, editing.committed)
        if last is not None and last.gesture == gesture:
            place, turn = await controller.work(editing.view.where, drag.point, drag.time)
            _announce_release(controller, last, drag, result, (place, turn), feet)
    suggestions.compute_now()
    return ended


def _announce_release(
    controller: EditController,
    last: edit.EditOutcome,
    drag: DragProtocol,
    result: DragResult,
    placement: tuple[Array, Array],
    feet: tuple[edit.StanceEntry, ...],
) -> None:
    """Send the result of the patient search at the release, and prepare suggestions where it is blocked."""
    x, y, z = placement[0].tolist()
    i, j, k, w = placement[1].tolist()
    at, orientation = (x, y, z), (i, j, k, w)
    outcome = replace(
        _outcome(last.gesture, last.number, result, at, orientation, last.ms, last.frame, last.paths),
        released=True,
        change=change_entry(result.change, controller.editing.origin),
        feet=feet,
    )
    controller.session.emit(outcome)
    blocked = _blocked_drag(controller, result, outcome, drag)
    controller.suggestions.adopt(blocked)


@handles_request(edit.EditWeigh)
async def weigh(session: Session, request: edit.EditWeigh) -> edit.EditEnded:
    """Keep a share of the last drag, as one undo step."""
    controller = await controller_on_stage(session)
    async with controller.changing():
        released = controller.last_release()
        if released is None:
            raise InvalidInput("the last change is not a drag; only the last drag has a weight")
        curves = await controller.work(blend_edit, released.drag.before, released.after, request.weight)
        ended = await controller.keep(curves, f"{released.drag.note} at {100 * request.weight:.0f} %")
        controller.released = replace(released, kept=curves)
        return ended


@handles_request(edit.EditAcceptSuggestion)
async def accept(session: Session, request: edit.EditAcceptSuggestion) -> edit.EditEnded:
    """Accept a suggestion: its curves and constraints, as one undo step."""
    controller = await controller_on_stage(session)
    suggestions = controller.suggestions
    blocked, suggestion = suggestions.get_suggestion(request.which)
    async with controller.changing():
        controller.gesture = 0
        entry = accept_suggestion(controller.entry, blocked.edit, suggestion.edit, controller.editing.origin)
        suggestions.clear()
        points = ", ".join(each.point.name for each in blocked.edit.moves) or "a contact"
        note = (
            "change keys for"
            if suggestion.kind == "insert" and not suggestion.keys
            else SUGGESTION_NOTES[suggestion.kind]
        )
        return await controller.keep(suggestion.outcome.curves, f"{note} {points}", entry)


@handles_request(edit_keys.EditPin)
async def pin(session: Session, request: edit_keys.EditPin) -> edit_keys.EditConstraintId:
    """Pin the path of a point."""
    controller = await controller_on_stage(session)
    _check_point(controller, request.point)
    new = PinEntry(_id(request.held), request.point, True, request.orientation, request.start, request.stop)
    pin_of(new, 0.0)  # raises if its times make no sense
    same = next((each for each in controller.entry.pins if each.point == request.point and request.held is None), None)
    if same is not None and (same.start, same.stop) == (request.start, request.stop):
        new = replace(new, id=same.id)  # the same pin again
    controller.put(with_constraint(controller.entry, new), f"pin {_name(request.point)}")
    return edit_keys.EditConstraintId(new.id)


@handles_request(edit_keys.EditContact)
async def contact(session: Session, request: edit_keys.EditContact) -> edit_keys.EditConstraintId:
    """Add a contact; the curves are solved for it at once."""
    controller = await controller_on_stage(session)
    _check_point(controller, request.point)
    new = ContactEntry(_id(request.held), request.point, request.start, request.stop, request.orientation)
    entry = with_constraint(controller.entry, new)
    await solve_contact(controller, entry, new)
    return edit_keys.EditConstraintId(new.id)


async def solve_contact(controller: EditController, entry: EditEntry, new: ContactEntry) -> None:
    """Solve the curves for a new contact, and add it to the document: one undo step."""
    editing = controller.editing
    constraints = constraints_from_document(entry, editing.origin)
    contacts = tuple(goal for goal, other in zip(constraints.contacts, entry.contacts) if other.id == new.id)
    goal = Edit((), constraints.pins, contacts, (), constraints.limits, constraints.stiffness)
    async with controller.changing():
        outcome = await controller.work(solve, editing.rig, editing.committed, goal)
        if not outcome.reached:
            why = "the contact cannot be kept: keys put the point in other positions"
            raise InvalidInput(outcome.obstacles[0].sentence if outcome.obstacles else why)
        await controller.keep(outcome.curves, f"contact of {point_of(new.point).name}", entry)


@handles_request(edit_keys.EditHold)
async def hold(session: Session, request: edit_keys.EditHold) -> edit_keys.EditConstraintId:
    """Hold the position of a point at one time."""
    controller = await controller_on_stage(session)
    _check_point(controller, request.point)
    if request.time > controller.editing.view.seconds + 1e-6:
        raise InvalidInput(
            f"the time of a hold should lie within the clip, which lasts {controller.editing.view.seconds:.4g} s, "
            f"but is {request.time:g} s"
        )
    new = HoldEntry(_id(request.held), request.point, request.time, request.orientation)
    controller.put(with_constraint(controller.entry, new), f"hold {_name(request.point)}")
    return edit_keys.EditConstraintId(new.id)


@handles_request(edit_keys.EditRelease)
async def release(session: Session, request: edit_keys.EditRelease) -> None:
    """Remove a constraint."""
    controller = await controller_on_stage(session)
    controller.put(without_constraint(controller.entry, request.held), "release")


@handles_request(edit_keys.EditHoldFeet)
async def hold_feet(session: Session, request: edit_keys.EditHoldFeet) -> None:
    """Hold the feet that stand, or do not."""
    controller = await controller_on_stage(session)
    note = "let the feet go" if request.hold is False else "hold the feet"
    controller.put(replace(controller.entry, hold_feet=request.hold), note)


@handles_request(edit_keys.EditHoldFoot)
async def hold_foot(session: Session, request: edit_keys.EditHoldFoot) -> None:
    """Let one foot go during a stance, or hold it again."""
    controller = await controller_on_stage(session)
    stances = [each for each in controller.state().feet if each.joint == request.joint]
    stance = next((each for each in stances if each.start - 1e-6 <= request.time <= each.stop + 1e-6), None)
    if stance is None:
        raise InvalidInput(f"{request.joint!r} does not stand at {request.time:.4g} s")
    entry = with_foot(controller.entry, request.joint, (stance.start, stance.stop), request.hold)
    if request.hold and not controller.state().hold_feet:
        entry = replace(entry, hold_feet=True)
    note = f"{'hold' if request.hold else 'let go'} {request.joint}"
    async with controller.changing():
        released, origin = controller.last_release(), controller.editing.origin
        if request.hold or released is None or released.edit is None:
            return controller.put(entry, note)
        loose = Constraints((), (), (), (), {}, loose_feet=((request.joint, request.time + origin),))
        pins = tuple(pin for pin in released.edit.pins if pin not in released.drag.feet or not loose.is_loose(pin))
        if len(pins) == len(released.edit.pins):
            return controller.put(entry, note)
        await _solve_again(controller, released, replace(released.edit, pins=pins), entry, note)


async def _solve_again(
    controller: EditController, released: ReleasedDrag, changed: Edit, entry: EditEntry, note: str
) -> None:
    """Solve the last drag for a changed edit, keep the result, and send it. Call it with `edit_lock` held."""
    editing, drag = controller.editing, released.drag
    drag.feet = tuple(pin for pin in drag.feet if pin in changed.pins)
    result = drag_result(await controller.work(solve, editing.rig, drag.before, changed), changed)
    await controller.keep(result.curves, note, entry)
    controller.released = replace(released, edit=changed, after=result.curves, kept=editing.committed)
    if controller.last_outcome is not None:
        placement = await controller.work(editing.view.where, drag.point, drag.time)
        feet = tuple(stance_entry(pin, editing.origin) for pin in drag.feet)
        _announce_release(controller, controller.last_outcome, drag, result, placement, feet)
        controller.suggestions.compute_now()


@handles_request(edit_keys.EditLimit)
async def limit(session: Session, request: edit_keys.EditLimit) -> None:
    """Limit a column. For an angle of a joint with quaternion keys, the keys become Euler angles first."""
    controller = await controller_on_stage(session)
    new = LimitEntry(request.target, request.column, request.low, request.high)
    if request.low is None and request.high is None:
        controller.put(with_limit(controller.entry, new), f"remove the limit of {request.target}")
        return
    limit_of(new)  # raises if low is above high
    note = f"limit {request.target} {request.column}"
    async with controller.changing():
        curves = controller.editing.committed
        if request.column in ("x", "y", "z") and curves.channels.slice(request.target, "rotation") is not None:
            from understudy.edit.rotation_curves import to_euler

            angles = await controller.work(
                lambda: to_euler(curves, {request.target: "XYZ"}, tolerance=MAX_EULER_ERROR_RAD)
            )
            entry = with_limit(controller.entry, check_limit(angles, new, request.fit))
            await controller.keep(angles, note, entry)
            return
        controller.put(with_limit(controller.entry, check_limit(curves, new, request.fit)), note)


@handles_request(edit_keys.EditStiffness)
async def stiffness(session: Session, request: edit_keys.EditStiffness) -> None:
    """Set the stiffness of a joint."""
    controller = await controller_on_stage(session)
    entry = controller.entry
    values = {name: value for name, value in entry.stiffness.items() if name != request.target}
    if request.value is not None:
        values[request.target] = request.value
        channels = controller.editing.committed.channels
        stiffness_of(channels, np.arange(channels.width), {request.target: request.value})
    controller.put(replace(entry, stiffness=values), f"stiffness of {request.target}")


def _check_point(controller: EditController, point: PointRef) -> None:
    """Raise `InvalidInput` if the character does not have this point."""
    editing = controller.editing
    states_of(editing.rig, editing.committed.channels, [point_of(point)])


def _name(point: PointRef) -> str:
    return point.joint if point.vertex is None else f"vertex {point.vertex}"


def _id(given: str | None) -> str:
    return given or secrets.token_hex(4)
