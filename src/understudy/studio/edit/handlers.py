"""What the edit mode's requests do: opening, what is shown, what is held; gestures and keys have their own modules."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import InvalidInput
from understudy.keyframes.problem import stiffness_of
from understudy.keyframes.states import states_of
from understudy.studio.document import ContactEntry, HoldEntry, LimitEntry, PinEntry, PointRef, StageState
from understudy.studio.edit import gesture_handlers, key_handlers, reduce_handlers
from understudy.studio.edit.desk import Desk, desk_of
from understudy.studio.edit.holding import limit_of, pin_of, point_of, with_held, with_limit, without
from understudy.studio.edit.key_changes import numbers_of
from understudy.studio.edit.limiting import within
from understudy.studio.edit.opening import open_clip
from understudy.studio.edit.view import Graphed
from understudy.studio.handling import drives, handles
from understudy.studio.messages import edit, edit_held, edit_keys

if TYPE_CHECKING:
    from understudy.studio.session import Session
    from understudy.studio.source import ClipSource

__all__ = ["gesture_handlers", "key_handlers", "reduce_handlers"]

MODE = "edit"
MOST_CURVES = 24
SLACK = 1e-3  # radians that a joint made of angles may be off between its keys


@drives("edit")
async def edited(session: Session, stage: StageState) -> ClipSource:
    """The curves of an edit."""
    return await desk_of(session).source_of(stage)


@handles(edit.EditOpen)
async def open_edit(session: Session, request: edit.EditOpen) -> edit.EditOpened:
    """Put a clip on stage to be edited."""
    await open_clip(session, request.character, request.clip)
    return edit.EditOpened(desk_of(session).state())


@handles(edit.EditCurve)
async def show_curve(session: Session, request: edit.EditCurve) -> edit.EditCurveShown:
    """Show or hide a motion curve."""
    desk = desk_of(session)
    editing = desk.editing
    curves = desk.shown(desk.entry)
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
        if len(curves) >= MOST_CURVES:
            raise InvalidInput(f"{MOST_CURVES} motion curves are shown already; hide one first")
        _checked(desk, request.point)
        number = max((each.curve for each in curves), default=-1) + 1
        after = [*curves, edit.ShownCurve(number, request.point, _name(request.point), request.camera)]
    desk.show_curves(after)
    points = [(each.curve, point_of(each.point)) for each in after]
    desk.announce()
    async with desk.turn:
        await desk.work(editing.view.show_points, points)
        desk.send(await desk.work(editing.view.picture))
    return edit.EditCurveShown(number)


@handles(edit.EditGhosts)
async def ghosts(session: Session, request: edit.EditGhosts) -> None:
    """Poses besides the one on stage."""
    desk = desk_of(session)
    view = desk.editing.view
    view.ghosts = tuple(min(each, view.seconds) for each in request.times)
    async with desk.turn:
        desk.send(await desk.work(view.picture))


@handles(edit_keys.EditGraph)
async def graph(session: Session, request: edit_keys.EditGraph) -> None:
    """What the graph editor shows."""
    desk = desk_of(session)
    editing = desk.editing
    numbers = tuple(numbers_of(editing.committed, request.channels))
    stop = editing.view.seconds if request.stop is None else request.stop
    start = request.start or 0.0
    if numbers and not stop > start:
        raise InvalidInput(f"the graph editor's range should end after it begins, but is {start:g} to {stop:g} s")
    editing.view.graphed = Graphed(numbers, start, stop, request.samples) if numbers else None
    async with desk.turn:
        desk.send(await desk.work(editing.view.picture, 0, 0))


@handles(edit_held.EditPin)
async def pin(session: Session, request: edit_held.EditPin) -> edit_held.EditHeld:
    """Keep the path of a point."""
    desk = desk_of(session)
    _checked(desk, request.point)
    new = PinEntry(_id(request.held), request.point, True, request.orientation, request.start, request.stop)
    pin_of(new, 0.0)  # refused here where its times make no sense
    same = next((each for each in desk.entry.pins if each.point == request.point and request.held is None), None)
    if same is not None and (same.start, same.stop) == (request.start, request.stop):
        new = replace(new, id=same.id)  # pinned again: the same pin
    desk.put(with_held(desk.entry, new), f"pin {_name(request.point)}")
    return edit_held.EditHeld(new.id)


@handles(edit_held.EditContact)
async def contact(session: Session, request: edit_held.EditContact) -> edit_held.EditHeld:
    """A point stands still for a while, from now on; the curves are solved for that at once."""
    desk = desk_of(session)
    _checked(desk, request.point)
    new = ContactEntry(_id(request.held), request.point, request.start, request.stop, request.orientation)
    entry = with_held(desk.entry, new)
    await gesture_handlers.solved_contact(desk, entry, new)
    return edit_held.EditHeld(new.id)


@handles(edit_held.EditHold)
async def hold(session: Session, request: edit_held.EditHold) -> edit_held.EditHeld:
    """A point passes where it passes."""
    desk = desk_of(session)
    _checked(desk, request.point)
    if request.time > desk.editing.view.seconds + 1e-6:
        raise InvalidInput(
            f"the clip lasts {desk.editing.view.seconds:.4g} s, so nothing is held at {request.time:g} s"
        )
    new = HoldEntry(_id(request.held), request.point, request.time, request.orientation)
    desk.put(with_held(desk.entry, new), f"hold {_name(request.point)}")
    return edit_held.EditHeld(new.id)


@handles(edit_held.EditRelease)
async def release(session: Session, request: edit_held.EditRelease) -> None:
    """Let go."""
    desk = desk_of(session)
    desk.put(without(desk.entry, request.held), "release")


@handles(edit_held.EditLimit)
async def limit(session: Session, request: edit_held.EditLimit) -> None:
    """Keep a column within a range. A joint that turns by quaternions becomes one that turns by angles first."""
    desk = desk_of(session)
    new = LimitEntry(request.target, request.column, request.low, request.high)
    if request.low is None and request.high is None:
        desk.put(with_limit(desk.entry, new), f"lift the limit of {request.target}")
        return
    limit_of(new)  # refused now, where it does not rise
    note = f"limit {request.target} {request.column}"
    async with desk.turn:
        curves = desk.editing.committed
        if request.column in ("x", "y", "z") and curves.channels.slice(request.target, "rotation") is not None:
            from understudy.keyframes.keys import to_euler

            made = await desk.work(lambda: to_euler(curves, {request.target: "XYZ"}, tolerance=SLACK))
            entry = with_limit(desk.entry, within(made, new, request.fit))
            await desk.keep(made, note, entry)
            return
        desk.put(with_limit(desk.entry, within(curves, new, request.fit)), note)


@handles(edit_held.EditStiffness)
async def stiffness(session: Session, request: edit_held.EditStiffness) -> None:
    """How unwillingly a joint takes part."""
    desk = desk_of(session)
    entry = desk.entry
    values = {name: value for name, value in entry.stiffness.items() if name != request.target}
    if request.value is not None:
        values[request.target] = request.value
        channels = desk.editing.committed.channels
        stiffness_of(channels, np.arange(channels.width), {request.target: request.value})
    desk.put(replace(entry, stiffness=values), f"stiffness of {request.target}")


def _checked(desk: Desk, point: PointRef) -> None:
    """A point that the character has; others are refused, with what there is."""
    editing = desk.editing
    states_of(editing.rig, editing.committed.channels, [point_of(point)])


def _name(point: PointRef) -> str:
    return point.joint if point.vertex is None else f"vertex {point.vertex}"


def _id(given: str | None) -> str:
    return given or secrets.token_hex(4)
