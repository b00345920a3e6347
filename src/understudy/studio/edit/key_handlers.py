"""Keys and poses: set, removed, moved, copied, mirrored, mixed; and strokes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from understudy.character import Curves
from understudy.errors import InvalidInput
from understudy.keyframes import keys
from understudy.keyframes.past import same
from understudy.keyframes.sketch import sketch
from understudy.studio.edit import key_changes, mirroring, poses
from understudy.studio.edit.desk import Desk, desk_of
from understudy.studio.edit.holding import point_of, reach
from understudy.studio.edit.view import Picture
from understudy.studio.handling import handles
from understudy.studio.messages import edit, edit_keys

if TYPE_CHECKING:
    from understudy.studio.session import Session


@handles(edit_keys.EditKey)
async def key(session: Session, request: edit_keys.EditKey) -> edit.EditEnded:
    """Keys at a time, the motion as it is."""

    def keyed(curves: Curves, origin: float) -> Curves:
        numbers = key_changes.numbers_of(curves, request.channels)
        return keys.insert_key(curves, request.time + origin, [curves.curves[i].channel for i in numbers])

    return await _final(desk_of(session), keyed, f"key at {request.time:.4g} s")


@handles(edit_keys.EditUnkey)
async def unkey(session: Session, request: edit_keys.EditUnkey) -> edit.EditEnded:
    """No keys at a time."""

    def bare(curves: Curves, origin: float) -> Curves:
        numbers = key_changes.numbers_of(curves, request.channels)
        return keys.remove_key(curves, request.time + origin, [curves.curves[i].channel for i in numbers])

    return await _final(desk_of(session), bare, f"remove the keys at {request.time:.4g} s")


@handles(edit_keys.EditCopyPose)
async def copy_pose(session: Session, request: edit_keys.EditCopyPose) -> None:
    """Copy the pose at a time."""
    desk = desk_of(session)
    editing = desk.editing
    async with desk.turn:
        desk.pose = await desk.work(poses.copied, editing.view.curves, request.time + editing.origin)
    desk.announce()


@handles(edit_keys.EditPastePose)
async def paste_pose(session: Session, request: edit_keys.EditPastePose) -> edit.EditEnded:
    """Set the copied pose as keys."""
    desk = desk_of(session)
    pose = desk.pose
    if pose is None:
        raise InvalidInput("there is no pose to paste; copy one first")

    def pasted(curves: Curves, origin: float) -> Curves:
        numbers = key_changes.numbers_of(curves, request.channels)
        own = mirroring.mirrored(desk.editing.rig, pose) if request.mirror else pose
        return poses.pasted(curves, request.time + origin, own, numbers)

    return await _final(desk, pasted, "paste a mirrored pose" if request.mirror else "paste a pose")


@handles(edit_keys.EditTween)
async def tween(session: Session, request: edit_keys.EditTween) -> edit.EditEnded:
    """A pose between the neighbouring keys."""

    def tweened(curves: Curves, origin: float) -> Curves:
        numbers = key_changes.numbers_of(curves, request.channels)
        return poses.tweened(curves, request.time + origin, request.share, numbers)

    return await _shown(desk_of(session), tweened, request.final, "a pose between keys")


@handles(edit_keys.EditKeys)
async def change_keys(session: Session, request: edit_keys.EditKeys) -> edit.EditEnded:
    """Keys as the graph editor and the dope sheet change them."""

    def changed(curves: Curves, origin: float) -> Curves:
        return key_changes.changed(curves, request, origin)

    return await _shown(desk_of(session), changed, request.final, _done(request))


def _done(request: edit_keys.EditKeys) -> str:
    """What a change of keys is called in the history."""
    if request.insert:
        return "insert keys"
    if request.delete or request.delete_runs:
        return "delete keys"
    if request.automatic is not None:
        return f"{request.automatic} tangents"
    if request.broken is not None:
        return "break tangents" if request.broken else "unify tangents"
    if request.transform is None:
        return "change keys"
    return "move keys" if request.transform.time[0] == request.transform.value[0] == 1.0 else "stretch keys"


@handles(edit_keys.EditAbandon)
async def abandon(session: Session, request: edit_keys.EditAbandon) -> None:
    """Back to the curves that are kept."""
    desk = desk_of(session)
    editing = desk.editing
    async with desk.turn:
        desk.gesture = 0
        desk.send(await desk.work(editing.cancel))


@handles(edit.EditSketch)
async def draw(session: Session, request: edit.EditSketch) -> edit.EditSketched:
    """Let a point follow a stroke."""
    desk = desk_of(session)
    editing, own = desk.editing, desk.held
    if editing.baked:
        raise InvalidInput("this clip has a key on every frame; reduce it to editable keys first")
    start, stop = request.start + editing.origin, request.stop + editing.origin
    low, high = reach(editing.committed, [start, stop])
    contacts = [each for each in own.contacts if each.stop > low and each.start < high]
    holds = [each for each in own.holds if low < each.time < high]
    point = point_of(request.point)
    async with desk.turn:
        job = session.jobs.run(
            f"sketch {point.name}",
            lambda progress, cancelled: sketch(
                editing.rig,
                editing.committed,
                point,
                request.stroke,
                start,
                stop,
                pins=own.pins,
                contacts=contacts,
                holds=holds,
                limits=own.limits,
                stiffness=own.stiffness,
            ),
        )
        outcome = await job.result()
        if not same(outcome.curves, editing.committed):
            await desk.keep(outcome.curves, f"sketch {point.name}")
    sentence = outcome.blocks[0].sentence if outcome.blocks and not outcome.reached else ""
    return edit.EditSketched(outcome.reached, outcome.distance, sentence, outcome.notes)


async def _shown(desk: Desk, change: Callable[[Curves, float], Curves], final: bool, note: str) -> edit.EditEnded:
    """A change of the kept curves, only seen or for good; of those that are only seen the newest wins."""
    if final:
        return await _final(desk, change, note)
    editing = desk.editing

    def work() -> Callable[[], None]:
        picture = editing.preview(change(editing.committed, editing.origin), desk.missing())
        return lambda: _sent(desk, picture)

    await desk.newest(work)
    return edit.EditEnded(editing.view.curves.key_count, True)


def _sent(desk: Desk, picture: Picture) -> None:
    desk.send(picture)


async def _final(desk: Desk, change: Callable[[Curves, float], Curves], note: str) -> edit.EditEnded:
    editing = desk.editing
    async with desk.turn:
        try:
            curves = await desk.work(change, editing.committed, editing.origin)
        except InvalidInput:
            desk.send(await desk.work(editing.cancel))  # what was shown of it is refused as well
            raise
        if same(curves, editing.committed):
            desk.send(await desk.work(editing.cancel))
            return edit.EditEnded(curves.key_count, False)
        desk.offering.clear()
        return await desk.keep(curves, note)
