"""Gestures of the page: taken hold of, dragged at the pointer's rate, let go; and what an offer or a contact does.

What the edit mode's requests do: opening, what is shown, what is held; gestures and keys have their own modules.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from understudy.checks import Array
from understudy.edit.goals import Edit
from understudy.edit.points.states import states_of
from understudy.edit.solver.problem import stiffness_of
from understudy.edit.solver.sqp import solve
from understudy.errors import InvalidInput
from understudy.studio.document import ContactEntry, EditEntry, HoldEntry, LimitEntry, PinEntry, PointRef, StageState
from understudy.studio.edit import key_handlers
from understudy.studio.edit.constraints import (
    accept_suggestion,
    check_limit,
    constraints_from_document,
    limit_of,
    pin_of,
    point_of,
    with_constraint,
    with_limit,
    without_constraint,
)
from understudy.studio.edit.controller import EditController, edit_controller, open_clip
from understudy.studio.edit.drags import DragTarget
from understudy.studio.edit.edit_clip import DragUpdate
from understudy.studio.edit.key_edits import channel_numbers
from understudy.studio.edit.suggestions import BlockedDrag
from understudy.studio.edit.view import GraphEditorCurves
from understudy.studio.messages import edit, edit_keys
from understudy.studio.registry import creates_source, handles_request

if TYPE_CHECKING:
    from understudy.studio.session import Session
    from understudy.studio.source import ClipSource

SUGGESTION_NOTES = {"release": "release what held back", "widen": "more room for", "insert": "another key for"}


@handles_request(edit.EditBegin)
async def begin(session: Session, request: edit.EditBegin) -> edit.EditBegun:
    """Take hold of a point between keys."""
    desk = edit_controller(session)
    editing, kept = desk.editing, desk.constraints
    point = point_of(request.point)
    desk.offering.clear()
    async with desk.turn:
        found = await desk.work(editing.begin, point, request.time, request.operation, kept, request.edges)
        return await _start_drag(desk, request.time, *found)


@handles_request(edit.EditPoseBegin)
async def begin_pose(session: Session, request: edit.EditPoseBegin) -> edit.EditBegun:
    """Take hold of a point of the pose."""
    desk = edit_controller(session)
    editing, kept = desk.editing, desk.constraints
    point, pins = point_of(request.point), [point_of(each) for each in request.pins]
    desk.offering.clear()
    async with desk.turn:
        turning = request.operation == "turn"
        found = await desk.work(editing.begin_pose, point, request.time, turning, pins, kept, request.key)
        return await _start_drag(desk, request.time, *found)


async def _start_drag(desk: EditController, time: float, place: Array, turn: Array) -> edit.EditBegun:
    session = desk.session
    desk.number += 1
    desk.gesture = desk.number
    desk.source.seek(time)
    session.adjust(session.document.with_stage(time=desk.source.time, playing=False))
    desk.send(await desk.work(desk.editing.view.picture, 0, 0))
    x, y, z = place.tolist()
    i, j, k, w = turn.tolist()
    return edit.EditBegun(desk.gesture, (x, y, z), (i, j, k, w))


@handles_request(edit.EditDrag)
async def drag(session: Session, request: edit.EditDrag) -> None:
    """Where the pointer is now. One that comes after its gesture has ended, or before a newer one, means nothing."""
    await _apply_drag(session, request, DragTarget(request.to, request.turn, request.factor))


@handles_request(edit.EditPoseDrag)
async def drag_pose(session: Session, request: edit.EditPoseDrag) -> None:
    """The same of a pose."""
    await _apply_drag(session, request, DragTarget(request.to, request.turn))


async def _apply_drag(session: Session, request: edit.EditDrag | edit.EditPoseDrag, goal: DragTarget) -> None:
    desk = edit_controller(session)
    if request.gesture != desk.gesture or not desk.gesture:
        return
    editing = desk.editing

    def work() -> Callable[[], None] | None:
        if desk.gesture != request.gesture:
            return None
        found = editing.drag(goal, desk.missing())
        return lambda: _send_drag_update(desk, request, found)

    await desk.run_newest(work)


def _send_drag_update(desk: EditController, request: edit.EditDrag | edit.EditPoseDrag, found: DragUpdate) -> None:
    """Send what a drag came to, all at once."""
    if desk.gesture != request.gesture:
        return
    editing, offering, step = desk.editing, desk.offering, found.step
    told = _outcome(request, found, *desk.send(found.picture))
    desk.session.emit(told)
    if step.blocked is not None and editing.gesture is not None:
        offering.rest(BlockedDrag(editing.rig, editing.gesture.before, *step.blocked, told))
    else:
        offering.clear()


def _outcome(request: edit.EditDrag | edit.EditPoseDrag, found: DragUpdate, stage: int, paths: int) -> edit.EditOutcome:
    step = found.step
    blocks = tuple(edit.EditObstacle(each.kind, each.what, each.share, each.sentence) for each in step.blocks)
    return edit.EditOutcome(
        request.gesture,
        request.number,
        step.reached,
        step.distance,
        step.angle,
        step.drift,
        round(found.ms, 3),
        found.place,
        found.turn,
        None if step.reached else found.place,
        "" if step.reached else (blocks[0].sentence if blocks else "it does not get there with these keys"),
        blocks,
        (),
        False,
        stage,
        paths,
    )


@handles_request(edit.EditEnd)
async def end(session: Session, request: edit.EditEnd) -> edit.EditEnded:
    """Let go: kept as one undo step, or taken back."""
    return await _finish_drag(session, request.gesture, request.commit)


@handles_request(edit.EditPoseEnd)
async def end_pose(session: Session, request: edit.EditPoseEnd) -> edit.EditEnded:
    """The same of a pose."""
    return await _finish_drag(session, request.gesture, request.commit)


async def _finish_drag(session: Session, gesture: int, commit: bool) -> edit.EditEnded:
    desk = edit_controller(session)
    offering = desk.offering
    editing = desk.editing
    if gesture != desk.gesture or not gesture:
        raise InvalidInput("this gesture has ended already")
    async with desk.turn:
        going = editing.gesture
        curves = await desk.work(editing.end_drag) if commit else None
        desk.gesture = 0
        if curves is None or going is None:
            desk.send(await desk.work(editing.cancel))
            if not commit:
                offering.clear()
            else:
                offering.compute_now()
            return edit.EditEnded(editing.committed.key_count, False)
        ended = await desk.keep(curves, going.note)
    offering.compute_now()
    return ended


@handles_request(edit.EditAcceptSuggestion)
async def accept(session: Session, request: edit.EditAcceptSuggestion) -> edit.EditEnded:
    """Accept an offer: its curves, without what it releases, as one undo step."""
    desk = edit_controller(session)
    offering = desk.offering
    blocked, offer = offering.get_suggestion(request.which)
    async with desk.turn:
        desk.gesture = 0
        entry = accept_suggestion(desk.entry, blocked.edit, offer.edit, desk.editing.origin)
        offering.clear()
        points = ", ".join(each.point.name for each in blocked.edit.moves) or "a contact"
        note = "change keys for" if offer.kind == "insert" and not offer.keys else SUGGESTION_NOTES[offer.kind]
        return await desk.keep(offer.outcome.curves, f"{note} {points}", entry)


async def solve_contact(desk: EditController, entry: EditEntry, new: ContactEntry) -> None:
    """The curves with a point that stands still, and the contact in the document: one undo step."""
    editing = desk.editing
    own = constraints_from_document(entry, editing.origin)
    contacts = tuple(each for each, told in zip(own.contacts, entry.contacts) if told.id == new.id)
    goal = Edit((), own.pins, contacts, (), own.limits, own.stiffness)
    async with desk.turn:
        outcome = await desk.work(solve, editing.rig, editing.committed, goal)
        if not outcome.reached:
            why = "the contact cannot be kept: its keys hold it in other places"
            raise InvalidInput(outcome.blocks[0].sentence if outcome.blocks else why)
        await desk.keep(outcome.curves, f"contact of {point_of(new.point).name}", entry)


__all__ = ["key_handlers"]

MODE = "edit"
MAX_MOTION_CURVES = 24
MAX_EULER_ERROR_RAD = 1e-3  # radians that a joint made of angles may be off between its keys


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
    desk = edit_controller(session)
    editing = desk.editing
    curves = desk.visible_motion_curves(desk.entry)
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
            raise InvalidInput("a motion curve should name the point that it is of")
        if len(curves) >= MAX_MOTION_CURVES:
            raise InvalidInput(f"{MAX_MOTION_CURVES} motion curves are shown already; hide one first")
        _check_point(desk, request.point)
        number = max((each.curve for each in curves), default=-1) + 1
        after = [*curves, edit.MotionCurveEntry(number, request.point, _name(request.point), request.camera)]
    desk.show_curves(after)
    points = [(each.curve, point_of(each.point)) for each in after]
    desk.announce()
    async with desk.turn:
        await desk.work(editing.view.show_points, points)
        desk.send(await desk.work(editing.view.picture))
    return edit.EditCurveShown(number)


@handles_request(edit.EditGhosts)
async def ghosts(session: Session, request: edit.EditGhosts) -> None:
    """Poses besides the one on stage."""
    desk = edit_controller(session)
    view = desk.editing.view
    view.ghosts = tuple(min(each, view.seconds) for each in request.times)
    async with desk.turn:
        desk.send(await desk.work(view.picture))


@handles_request(edit_keys.EditGraph)
async def graph(session: Session, request: edit_keys.EditGraph) -> None:
    """What the graph editor shows."""
    desk = edit_controller(session)
    editing = desk.editing
    numbers = tuple(channel_numbers(editing.committed, request.channels))
    stop = editing.view.seconds if request.stop is None else request.stop
    start = request.start or 0.0
    if numbers and not stop > start:
        raise InvalidInput(f"the graph editor's range should end after it begins, but is {start:g} to {stop:g} s")
    editing.view.graphed = GraphEditorCurves(numbers, start, stop, request.samples) if numbers else None
    async with desk.turn:
        desk.send(await desk.work(editing.view.picture, 0, 0))


@handles_request(edit_keys.EditPin)
async def pin(session: Session, request: edit_keys.EditPin) -> edit_keys.EditConstraintId:
    """Keep the path of a point."""
    desk = edit_controller(session)
    _check_point(desk, request.point)
    new = PinEntry(_id(request.held), request.point, True, request.orientation, request.start, request.stop)
    pin_of(new, 0.0)  # refused here where its times make no sense
    same = next((each for each in desk.entry.pins if each.point == request.point and request.held is None), None)
    if same is not None and (same.start, same.stop) == (request.start, request.stop):
        new = replace(new, id=same.id)  # pinned again: the same pin
    desk.put(with_constraint(desk.entry, new), f"pin {_name(request.point)}")
    return edit_keys.EditConstraintId(new.id)


@handles_request(edit_keys.EditContact)
async def contact(session: Session, request: edit_keys.EditContact) -> edit_keys.EditConstraintId:
    """A point stands still for a while, from now on; the curves are solved for that at once."""
    desk = edit_controller(session)
    _check_point(desk, request.point)
    new = ContactEntry(_id(request.held), request.point, request.start, request.stop, request.orientation)
    entry = with_constraint(desk.entry, new)
    await solve_contact(desk, entry, new)
    return edit_keys.EditConstraintId(new.id)


@handles_request(edit_keys.EditHold)
async def hold(session: Session, request: edit_keys.EditHold) -> edit_keys.EditConstraintId:
    """A point passes where it passes."""
    desk = edit_controller(session)
    _check_point(desk, request.point)
    if request.time > desk.editing.view.seconds + 1e-6:
        raise InvalidInput(
            f"the clip lasts {desk.editing.view.seconds:.4g} s, so nothing is held at {request.time:g} s"
        )
    new = HoldEntry(_id(request.held), request.point, request.time, request.orientation)
    desk.put(with_constraint(desk.entry, new), f"hold {_name(request.point)}")
    return edit_keys.EditConstraintId(new.id)


@handles_request(edit_keys.EditRelease)
async def release(session: Session, request: edit_keys.EditRelease) -> None:
    """Let go."""
    desk = edit_controller(session)
    desk.put(without_constraint(desk.entry, request.held), "release")


@handles_request(edit_keys.EditLimit)
async def limit(session: Session, request: edit_keys.EditLimit) -> None:
    """Keep a column within a range. A joint that turns by quaternions becomes one that turns by angles first."""
    desk = edit_controller(session)
    new = LimitEntry(request.target, request.column, request.low, request.high)
    if request.low is None and request.high is None:
        desk.put(with_limit(desk.entry, new), f"lift the limit of {request.target}")
        return
    limit_of(new)  # refused now, where it does not rise
    note = f"limit {request.target} {request.column}"
    async with desk.turn:
        curves = desk.editing.committed
        if request.column in ("x", "y", "z") and curves.channels.slice(request.target, "rotation") is not None:
            from understudy.edit.rotation_curves import to_euler

            made = await desk.work(lambda: to_euler(curves, {request.target: "XYZ"}, tolerance=MAX_EULER_ERROR_RAD))
            entry = with_limit(desk.entry, check_limit(made, new, request.fit))
            await desk.keep(made, note, entry)
            return
        desk.put(with_limit(desk.entry, check_limit(curves, new, request.fit)), note)


@handles_request(edit_keys.EditStiffness)
async def stiffness(session: Session, request: edit_keys.EditStiffness) -> None:
    """How unwillingly a joint takes part."""
    desk = edit_controller(session)
    entry = desk.entry
    values = {name: value for name, value in entry.stiffness.items() if name != request.target}
    if request.value is not None:
        values[request.target] = request.value
        channels = desk.editing.committed.channels
        stiffness_of(channels, np.arange(channels.width), {request.target: request.value})
    desk.put(replace(entry, stiffness=values), f"stiffness of {request.target}")


def _check_point(desk: EditController, point: PointRef) -> None:
    """A point that the character has; others are refused, with what there is."""
    editing = desk.editing
    states_of(editing.rig, editing.committed.channels, [point_of(point)])


def _name(point: PointRef) -> str:
    return point.joint if point.vertex is None else f"vertex {point.vertex}"


def _id(given: str | None) -> str:
    return given or secrets.token_hex(4)
