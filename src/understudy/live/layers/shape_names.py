"""ARKit's shapes among the columns of a rig, whatever they are called there (`eyeBlink_L`, `Face.eyeBlinkLeft`)."""

from __future__ import annotations

from understudy.formats.arkit_names import canonical
from understudy.rig import PosedRig


def face_columns(rig: PosedRig) -> dict[str, tuple[int, ...]]:
    """ARKit's name -> the columns of that shape, one on each part that has it."""
    found: dict[str, list[int]] = {}
    for number, channel in enumerate(rig.channels):
        if channel.kind != "weights":
            continue
        start = int(rig.channels.offsets[number])
        for i, column in enumerate(channel.columns):
            name = canonical(column)
            if name is not None:
                found.setdefault(name, []).append(start + i)
    return {name: tuple(columns) for name, columns in found.items()}
