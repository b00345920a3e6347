"""Reducing a clip to editable keys: previews that replace each other, and the one that is adopted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.studio.edit.desk import desk_of
from understudy.studio.edit.reducing import reduced
from understudy.studio.handling import handles
from understudy.studio.jobs import Cancelled
from understudy.studio.messages import edit

if TYPE_CHECKING:
    from understudy.studio.session import Session


@handles(edit.EditReduce)
async def reduce_clip(session: Session, request: edit.EditReduce) -> edit.EditReduced:
    """Few keys for the clip itself, whatever was made of it since: a preview, or one undo step."""
    desk = desk_of(session)
    editing, entry = desk.editing, desk.entry
    last = desk.reducing
    if last.job is not None:
        last.job.cancel()
    asked = entry.id, request.tolerance, request.angle, request.shared
    few = last.few if last.asked == asked else None
    if few is None:
        job = last.job = session.jobs.run(
            f"reduce {entry.clip}",
            lambda progress, cancelled: reduced(
                editing.animation, editing.rig, request.tolerance, request.angle, progress, request.shared
            ),
        )
        try:
            few = await job.result()
        except Cancelled:
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
