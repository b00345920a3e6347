"""Keys and poses: set, removed, moved, copied, mirrored, mixed; and strokes.

Reducing a clip to editable keys: previews that replace each other, and the one that is adopted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from understudy.character import Curves
from understudy.edit import keys
from understudy.edit.serialise import same_curves
from understudy.edit.sketches import sketch_path
from understudy.errors import InvalidInput
from understudy.studio.edit import key_edits, poses
from understudy.studio.edit.constraints import affected_span, point_of
from understudy.studio.edit.controller import EditController, edit_controller
from understudy.studio.edit.reduction import reduce_animation
from understudy.studio.edit.view import CharacterView
from understudy.studio.jobs import JobCancelled
from understudy.studio.messages import edit, edit_keys
from understudy.studio.registry import handles_request

if TYPE_CHECKING:
    from understudy.studio.session import Session


@handles_request(edit_keys.EditKey)
async def key(session: Session, request: edit_keys.EditKey) -> edit.EditEnded:
    """Keys at a time, the motion as it is."""

    def keyed(curves: Curves, origin: float) -> Curves:
        numbers = key_edits.channel_numbers(curves, request.channels)
        return keys.insert_key(curves, request.time + origin, [curves.curves[i].channel for i in numbers])

    return await _commit(edit_controller(session), keyed, f"key at {request.time:.4g} s")


@handles_request(edit_keys.EditUnkey)
async def unkey(session: Session, request: edit_keys.EditUnkey) -> edit.EditEnded:
    """No keys at a time."""

    def bare(curves: Curves, origin: float) -> Curves:
        numbers = key_edits.channel_numbers(curves, request.channels)
        return keys.remove_key(curves, request.time + origin, [curves.curves[i].channel for i in numbers])

    return await _commit(edit_controller(session), bare, f"remove the keys at {request.time:.4g} s")


@handles_request(edit_keys.EditCopyPose)
async def copy_pose(session: Session, request: edit_keys.EditCopyPose) -> None:
    """Copy the pose at a time."""
    desk = edit_controller(session)
    editing = desk.editing
    async with desk.turn:
        desk.pose = await desk.work(poses.copy_pose, editing.view.curves, request.time + editing.origin)
    desk.announce()


@handles_request(edit_keys.EditPastePose)
async def paste_pose(session: Session, request: edit_keys.EditPastePose) -> edit.EditEnded:
    """Set the copied pose as keys."""
    desk = edit_controller(session)
    pose = desk.pose
    if pose is None:
        raise InvalidInput("there is no pose to paste; copy one first")

    def pasted(curves: Curves, origin: float) -> Curves:
        numbers = key_edits.channel_numbers(curves, request.channels)
        own = poses.mirror_pose(desk.editing.rig, pose) if request.mirror else pose
        return poses.paste_pose(curves, request.time + origin, own, numbers)

    return await _commit(desk, pasted, "paste a mirrored pose" if request.mirror else "paste a pose")


@handles_request(edit_keys.EditTween)
async def tween(session: Session, request: edit_keys.EditTween) -> edit.EditEnded:
    """A pose between the neighbouring keys."""

    def tweened(curves: Curves, origin: float) -> Curves:
        numbers = key_edits.channel_numbers(curves, request.channels)
        return poses.tween_pose(curves, request.time + origin, request.share, numbers)

    return await _preview_or_commit(edit_controller(session), tweened, request.final, "a pose between keys")


@handles_request(edit_keys.EditKeys)
async def change_keys(session: Session, request: edit_keys.EditKeys) -> edit.EditEnded:
    """Keys as the graph editor and the dope sheet change them."""

    def changed(curves: Curves, origin: float) -> Curves:
        return key_edits.apply_key_changes(curves, request, origin)

    return await _preview_or_commit(edit_controller(session), changed, request.final, _history_note(request))


def _history_note(request: edit_keys.EditKeys) -> str:
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


@handles_request(edit_keys.EditAbandon)
async def abandon(session: Session, request: edit_keys.EditAbandon) -> None:
    """Back to the curves that are kept."""
    desk = edit_controller(session)
    editing = desk.editing
    async with desk.turn:
        desk.gesture = 0
        desk.send(await desk.work(editing.cancel))


@handles_request(edit.EditSketch)
async def draw(session: Session, request: edit.EditSketch) -> edit.EditSketched:
    """Let a point follow a stroke."""
    desk = edit_controller(session)
    editing, own = desk.editing, desk.constraints
    if editing.baked:
        raise InvalidInput("this clip has a key on every frame; reduce it to editable keys first")
    start, stop = request.start + editing.origin, request.stop + editing.origin
    low, high = affected_span(editing.committed, [start, stop])
    contacts = [each for each in own.contacts if each.stop > low and each.start < high]
    holds = [each for each in own.holds if low < each.time < high]
    point = point_of(request.point)
    async with desk.turn:
        job = session.jobs.run(
            f"sketch {point.name}",
            lambda progress, cancelled: sketch_path(
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
        if not same_curves(outcome.curves, editing.committed):
            await desk.keep(outcome.curves, f"sketch {point.name}")
    sentence = outcome.blocks[0].sentence if outcome.blocks and not outcome.reached else ""
    return edit.EditSketched(outcome.reached, outcome.distance, sentence, outcome.notes)


async def _preview_or_commit(
    desk: EditController, change: Callable[[Curves, float], Curves], final: bool, note: str
) -> edit.EditEnded:
    """A change of the kept curves, only seen or for good; of those that are only seen the newest wins."""
    if final:
        return await _commit(desk, change, note)
    editing = desk.editing

    def work() -> Callable[[], None]:
        picture = editing.preview(change(editing.committed, editing.origin), desk.missing())
        return lambda: _send_picture(desk, picture)

    await desk.run_newest(work)
    return edit.EditEnded(editing.view.curves.key_count, True)


def _send_picture(desk: EditController, picture: CharacterView) -> None:
    desk.send(picture)


async def _commit(desk: EditController, change: Callable[[Curves, float], Curves], note: str) -> edit.EditEnded:
    editing = desk.editing
    async with desk.turn:
        try:
            curves = await desk.work(change, editing.committed, editing.origin)
        except InvalidInput:
            desk.send(await desk.work(editing.cancel))  # what was shown of it is refused as well
            raise
        if same_curves(curves, editing.committed):
            desk.send(await desk.work(editing.cancel))
            return edit.EditEnded(curves.key_count, False)
        desk.offering.clear()
        return await desk.keep(curves, note)


@handles_request(edit.EditReduce)
async def reduce_clip(session: Session, request: edit.EditReduce) -> edit.EditReduced:
    """Few keys for the clip itself, whatever was made of it since: a preview, or one undo step."""
    desk = edit_controller(session)
    editing, entry = desk.editing, desk.entry
    last = desk.reducing
    if last.job is not None:
        last.job.cancel()
    asked = entry.id, request.tolerance, request.angle, request.shared
    few = last.few if last.asked == asked else None
    if few is None:
        job = last.job = session.jobs.run(
            f"reduce {entry.clip}",
            lambda progress, cancelled: reduce_animation(
                editing.animation, editing.rig, request.tolerance, request.angle, progress, request.shared
            ),
        )
        try:
            few = await job.result()
        except JobCancelled:
            return edit.EditReduced(0, editing.source_keys, 0.0, 0.0, 0.0, True)
        finally:
            if last.job is job:
                last.job = None
        last.asked, last.few = asked, few
    assert few is not None
    if not request.preview:
        async with desk.turn:
            await desk.keep(few.curves, f"reduce to {few.keys} keys")
    return edit.EditReduced(few.keys, few.source_keys, few.error, few.angle, few.seconds, False)
