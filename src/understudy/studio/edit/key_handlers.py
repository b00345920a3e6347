"""Handlers of the edit mode for keys, poses, strokes and reduction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from understudy.character import Curves
from understudy.edit import keys
from understudy.edit.outcome import EditResult
from understudy.edit.serialise import same_curves
from understudy.edit.sketches import SKETCH_SETTINGS, sketch_path
from understudy.edit.solver.sqp import SolverSettings
from understudy.errors import InvalidInput
from understudy.studio.edit import key_edits, poses
from understudy.studio.edit.constraints import point_of
from understudy.studio.edit.controller import EditController, controller_on_stage
from understudy.studio.edit.edit_clip import change_entry
from understudy.studio.edit.reduction import reduce_animation
from understudy.studio.edit.view import CharacterView
from understudy.studio.jobs import JobCancelled
from understudy.studio.messages import edit, edit_keys
from understudy.studio.registry import handles_request

if TYPE_CHECKING:
    from understudy.studio.session import Session

# Of a preview while the stroke is drawn: a few steps show the shape.
PREVIEW_SETTINGS = replace(
    SKETCH_SETTINGS, tolerance=1e-2, iterations=8, programs=24, window_iterations=6, window_rounds=1
)


@handles_request(edit_keys.EditKey)
async def key(session: Session, request: edit_keys.EditKey) -> edit.EditEnded:
    """Insert keys at a time; the motion stays as it is."""

    def insert(curves: Curves, origin: float) -> Curves:
        numbers = key_edits.channel_numbers(curves, request.channels)
        return keys.insert_key(curves, request.time + origin, [curves.curves[i].channel for i in numbers])

    return await _commit(await controller_on_stage(session), insert, f"key at {request.time:.4g} s")


@handles_request(edit_keys.EditUnkey)
async def unkey(session: Session, request: edit_keys.EditUnkey) -> edit.EditEnded:
    """Remove the keys at a time."""

    def remove(curves: Curves, origin: float) -> Curves:
        numbers = key_edits.channel_numbers(curves, request.channels)
        return keys.remove_key(curves, request.time + origin, [curves.curves[i].channel for i in numbers])

    return await _commit(await controller_on_stage(session), remove, f"remove the keys at {request.time:.4g} s")


@handles_request(edit_keys.EditCopyPose)
async def copy_pose(session: Session, request: edit_keys.EditCopyPose) -> None:
    """Copy the pose at a time."""
    controller = await controller_on_stage(session)
    editing = controller.editing
    async with controller.edit_lock:
        controller.pose = await controller.work(poses.copy_pose, editing.view.curves, request.time + editing.origin)
    controller.announce()


@handles_request(edit_keys.EditPastePose)
async def paste_pose(session: Session, request: edit_keys.EditPastePose) -> edit.EditEnded:
    """Set the copied pose as keys."""
    controller = await controller_on_stage(session)
    pose = controller.pose
    if pose is None:
        raise InvalidInput("there is no pose to paste; copy one first")

    def paste(curves: Curves, origin: float) -> Curves:
        numbers = key_edits.channel_numbers(curves, request.channels)
        pasted = poses.mirror_pose(controller.editing.rig, pose) if request.mirror else pose
        return poses.paste_pose(curves, request.time + origin, pasted, numbers)

    return await _commit(controller, paste, "paste a mirrored pose" if request.mirror else "paste a pose")


@handles_request(edit_keys.EditTween)
async def tween(session: Session, request: edit_keys.EditTween) -> edit.EditEnded:
    """Set a pose between the neighbouring keys."""

    def interpolate(curves: Curves, origin: float) -> Curves:
        numbers = key_edits.channel_numbers(curves, request.channels)
        return poses.tween_pose(curves, request.time + origin, request.share, numbers)

    return await _preview_or_commit(
        await controller_on_stage(session), interpolate, request.final, "a pose between keys"
    )


@handles_request(edit_keys.EditKeys)
async def change_keys(session: Session, request: edit_keys.EditKeys) -> edit.EditEnded:
    """Change keys in the graph editor or the dope sheet."""

    def change(curves: Curves, origin: float) -> Curves:
        return key_edits.apply_key_changes(curves, request, origin)

    return await _preview_or_commit(await controller_on_stage(session), change, request.final, _history_note(request))


def _history_note(request: edit_keys.EditKeys) -> str:
    """The name of a change of keys in the history."""
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
    """End a preview: go back to the committed curves."""
    controller = await controller_on_stage(session)
    editing = controller.editing
    async with controller.changing():
        controller.gesture = 0
        controller.send(await controller.work(editing.cancel))


@handles_request(edit.EditSketch)
async def draw(session: Session, request: edit.EditSketch) -> edit.EditSketched:
    """Let a point follow a stroke, or show how it would."""
    controller = await controller_on_stage(session)
    editing, constraints = controller.editing, controller.constraints
    start, stop = request.start + editing.origin, request.stop + editing.origin
    point = point_of(request.point)
    contacts, holds = constraints.near(editing.committed, [start, stop], request.falloff)

    def solve(settings: SolverSettings | None = None) -> EditResult:
        curves = editing.committed
        feet = constraints.standing_feet(editing.rig, curves, [point], start, stop, request.falloff)
        return sketch_path(
            editing.rig,
            curves,
            point,
            request.stroke,
            start,
            stop,
            *constraints.pins,
            *feet,
            *contacts,
            *holds,
            *constraints.limits,
            stiffness=constraints.stiffness,
            falloff=request.falloff,
            hold_feet=False,
            settings=settings,
        )

    if request.preview:
        return await _preview_sketch(controller, lambda: solve(PREVIEW_SETTINGS))
    async with controller.changing():
        job = session.jobs.run(f"sketch {point.name}", lambda progress, cancelled: solve(), "sketch")
        outcome = await job.result()
        if not same_curves(outcome.curves, editing.committed):
            await controller.keep(outcome.curves, f"sketch {point.name}")
    return _sketched(outcome, editing.origin)


async def _preview_sketch(controller: EditController, solve: Callable[[], EditResult]) -> edit.EditSketched:
    """Show the result of a stroke without keeping it; of waiting previews only the newest runs."""
    editing = controller.editing
    results: list[EditResult] = []

    def work() -> Callable[[], None]:
        results.append(solve())
        picture = editing.preview(results[0].curves, controller.missing())
        return lambda: _send_picture(controller, picture)

    await controller.run_newest(work)
    if not results:
        return edit.EditSketched(False, 0.0, "", (), replaced=True)
    return _sketched(results[0], editing.origin)


def _sketched(outcome: EditResult, origin: float) -> edit.EditSketched:
    sentence = outcome.obstacles[0].sentence if outcome.obstacles and not outcome.reached else ""
    return edit.EditSketched(
        outcome.reached, outcome.distance, sentence, outcome.notes, change_entry(outcome.change, origin)
    )


@handles_request(edit.EditReduce)
async def reduce_clip(session: Session, request: edit.EditReduce) -> edit.EditReduced:
    """Reduce the original clip to few keys: as a preview, or as one undo step."""
    controller = await controller_on_stage(session)
    editing, entry = controller.editing, controller.entry
    last = controller.reduction
    if last.job is not None:
        last.job.cancel()
    asked = entry.id, request.tolerance, request.angle, request.keys
    result = last.result if last.asked == asked else None
    if result is None:
        job = last.job = session.jobs.run(
            f"reduce {entry.clip}",
            lambda progress, cancelled: reduce_animation(
                editing.animation, editing.rig, request.tolerance, request.angle, progress, request.keys
            ),
            "reduce",
        )
        try:
            result = await job.result()
        except JobCancelled:
            return edit.EditReduced(0, editing.source_keys, 0.0, 0.0, 0.0, True)
        finally:
            if last.job is job:
                last.job = None
        last.asked, last.result = asked, result
    assert result is not None
    if not request.preview:
        async with controller.changing():
            await controller.keep(result.curves, f"reduce to {result.keys} keys")
    return edit.EditReduced(result.keys, result.source_keys, result.error, result.angle, result.seconds, False)


async def _preview_or_commit(
    controller: EditController, change: Callable[[Curves, float], Curves], final: bool, note: str
) -> edit.EditEnded:
    """Commit a change of the committed curves, or preview it; of waiting previews only the newest runs."""
    if final:
        return await _commit(controller, change, note)
    editing = controller.editing

    def work() -> Callable[[], None]:
        picture = editing.preview(change(editing.committed, editing.origin), controller.missing())
        return lambda: _send_picture(controller, picture)

    await controller.run_newest(work)
    return edit.EditEnded(editing.view.curves.key_count, True)


def _send_picture(controller: EditController, picture: CharacterView) -> None:
    controller.send(picture)


async def _commit(controller: EditController, change: Callable[[Curves, float], Curves], note: str) -> edit.EditEnded:
    editing = controller.editing
    async with controller.changing():
        try:
            curves = await controller.work(change, editing.committed, editing.origin)
        except InvalidInput:
            controller.send(await controller.work(editing.cancel))  # also undo the preview
            raise
        if same_curves(curves, editing.committed):
            controller.send(await controller.work(editing.cancel))
            return edit.EditEnded(curves.key_count, False)
        controller.suggestions.clear()
        return await controller.keep(curves, note)
