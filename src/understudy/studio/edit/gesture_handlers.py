"""Gestures of the page: taken hold of, dragged at the pointer's rate, let go; and what an offer or a contact does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.goals import Edit
from understudy.keyframes.solve import solve
from understudy.studio.document import ContactEntry, EditEntry
from understudy.studio.edit.desk import Desk, desk_of
from understudy.studio.edit.editing import Dragged
from understudy.studio.edit.gestures import Goal
from understudy.studio.edit.holding import accepted, held, point_of
from understudy.studio.edit.offering import Blocked
from understudy.studio.handling import handles
from understudy.studio.messages import edit

if TYPE_CHECKING:
    from understudy.studio.session import Session

ACCEPTED = {"release": "release what held back", "widen": "more room for", "insert": "another key for"}


@handles(edit.EditBegin)
async def begin(session: Session, request: edit.EditBegin) -> edit.EditBegun:
    """Take hold of a point between keys."""
    desk = desk_of(session)
    editing, kept = desk.editing, desk.held
    point = point_of(request.point)
    desk.offering.clear()
    async with desk.turn:
        found = await desk.work(editing.begin, point, request.time, request.operation, kept, request.edges)
        return await _begun(desk, request.time, *found)


@handles(edit.EditPoseBegin)
async def begin_pose(session: Session, request: edit.EditPoseBegin) -> edit.EditBegun:
    """Take hold of a point of the pose."""
    desk = desk_of(session)
    editing, kept = desk.editing, desk.held
    point, pins = point_of(request.point), [point_of(each) for each in request.pins]
    desk.offering.clear()
    async with desk.turn:
        turning = request.operation == "turn"
        found = await desk.work(editing.begin_pose, point, request.time, turning, pins, kept, request.key)
        return await _begun(desk, request.time, *found)


async def _begun(desk: Desk, time: float, place: Array, turn: Array) -> edit.EditBegun:
    session = desk.session
    desk.number += 1
    desk.gesture = desk.number
    desk.source.seek(time)
    session.adjust(session.document.staged(time=desk.source.time, playing=False))
    desk.send(await desk.work(desk.editing.view.picture, 0, 0))
    x, y, z = place.tolist()
    i, j, k, w = turn.tolist()
    return edit.EditBegun(desk.gesture, (x, y, z), (i, j, k, w))


@handles(edit.EditDrag)
async def drag(session: Session, request: edit.EditDrag) -> None:
    """Where the pointer is now. One that comes after its gesture has ended, or before a newer one, means nothing."""
    await _dragged(session, request, Goal(request.to, request.turn, request.factor))


@handles(edit.EditPoseDrag)
async def drag_pose(session: Session, request: edit.EditPoseDrag) -> None:
    """The same of a pose."""
    await _dragged(session, request, Goal(request.to, request.turn))


async def _dragged(session: Session, request: edit.EditDrag | edit.EditPoseDrag, goal: Goal) -> None:
    desk = desk_of(session)
    if request.gesture != desk.gesture or not desk.gesture:
        return
    editing = desk.editing

    def work() -> Callable[[], None] | None:
        if desk.gesture != request.gesture:
            return None
        found = editing.drag(goal, desk.missing())
        return lambda: _told(desk, request, found)

    await desk.newest(work)


def _told(desk: Desk, request: edit.EditDrag | edit.EditPoseDrag, found: Dragged) -> None:
    """Send what a drag came to, all at once."""
    if desk.gesture != request.gesture:
        return
    editing, offering, step = desk.editing, desk.offering, found.step
    told = _outcome(request, found, *desk.send(found.picture))
    desk.session.emit(told)
    if step.blocked is not None and editing.gesture is not None:
        offering.rest(Blocked(editing.rig, editing.gesture.before, *step.blocked, told))
    else:
        offering.clear()


def _outcome(request: edit.EditDrag | edit.EditPoseDrag, found: Dragged, stage: int, paths: int) -> edit.EditOutcome:
    step = found.step
    blocks = tuple(edit.EditBlock(each.kind, each.what, each.share, each.sentence) for each in step.blocks)
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


@handles(edit.EditEnd)
async def end(session: Session, request: edit.EditEnd) -> edit.EditEnded:
    """Let go: kept as one undo step, or taken back."""
    return await _ended(session, request.gesture, request.commit)


@handles(edit.EditPoseEnd)
async def end_pose(session: Session, request: edit.EditPoseEnd) -> edit.EditEnded:
    """The same of a pose."""
    return await _ended(session, request.gesture, request.commit)


async def _ended(session: Session, gesture: int, commit: bool) -> edit.EditEnded:
    desk = desk_of(session)
    offering = desk.offering
    editing = desk.editing
    if gesture != desk.gesture or not gesture:
        raise InvalidInput("this gesture has ended already")
    async with desk.turn:
        going = editing.gesture
        curves = await desk.work(editing.let_go) if commit else None
        desk.gesture = 0
        if curves is None or going is None:
            desk.send(await desk.work(editing.cancel))
            if not commit:
                offering.clear()
            else:
                offering.hurry()
            return edit.EditEnded(editing.committed.key_count, False)
        ended = await desk.keep(curves, going.note)
    offering.hurry()
    return ended


@handles(edit.EditOffer)
async def accept(session: Session, request: edit.EditOffer) -> edit.EditEnded:
    """Accept an offer: its curves, without what it releases, as one undo step."""
    desk = desk_of(session)
    offering = desk.offering
    blocked, offer = offering.accepted(request.which)
    async with desk.turn:
        desk.gesture = 0
        entry = accepted(desk.entry, blocked.edit, offer.edit, desk.editing.origin)
        offering.clear()
        points = ", ".join(each.point.name for each in blocked.edit.moves) or "a contact"
        note = "change keys for" if offer.kind == "insert" and not offer.keys else ACCEPTED[offer.kind]
        return await desk.keep(offer.outcome.curves, f"{note} {points}", entry)


async def solved_contact(desk: Desk, entry: EditEntry, new: ContactEntry) -> None:
    """The curves with a point that stands still, and the contact in the document: one undo step."""
    editing = desk.editing
    own = held(entry, editing.origin)
    contacts = tuple(each for each, told in zip(own.contacts, entry.contacts) if told.id == new.id)
    goal = Edit((), own.pins, contacts, (), own.limits, own.stiffness)
    async with desk.turn:
        outcome = await desk.work(solve, editing.rig, editing.committed, goal)
        if not outcome.reached:
            why = "the contact cannot be kept: its keys hold it in other places"
            raise InvalidInput(outcome.blocks[0].sentence if outcome.blocks else why)
        await desk.keep(outcome.curves, f"contact of {point_of(new.point).name}", entry)
