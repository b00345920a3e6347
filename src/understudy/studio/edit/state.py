"""What the page is told of a clip that is being edited."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.studio.document import EditEntry
from understudy.studio.edit import reducing
from understudy.studio.edit.editing import Editing
from understudy.studio.messages.edit import EditChannel, EditState, ShownCurve

DIGITS = 6  # of a second: keys that lie closer are one


def state_of(
    entry: EditEntry, editing: Editing, curves: Sequence[ShownCurve], copied: bool, revision: int
) -> EditState:
    """The state of an edit, as the page has it."""
    view, committed = editing.view, editing.committed
    channels = tuple(
        EditChannel(
            curve.channel.target,
            curve.channel.kind,
            curve.channel.columns,
            () if editing.baked else tuple((curve.times - editing.origin).round(DIGITS).tolist()),
            len(curve),
            curve.extrapolation,
        )
        for curve in committed.curves
    )
    return EditState(
        entry.id,
        entry.character,
        entry.clip,
        entry.name,
        view.seconds,
        view.rate,
        view.frame_count,
        editing.size,
        editing.baked,
        reducing.estimate(editing.animation) if editing.baked else 0.0,
        committed.key_count,
        editing.source_keys,
        channels,
        entry.pins,
        entry.contacts,
        entry.holds,
        entry.limits,
        entry.stiffness,
        tuple(curves),
        copied,
        editing.pairs,
        revision,
    )
