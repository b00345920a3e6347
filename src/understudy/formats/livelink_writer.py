"""Writing Live Link Face's CSV: one animation's ARKit weights, head and eye angles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy.character import Asset, Clip, Curves
from understudy.checks import Array
from understudy.errors import Unsupported
from understudy.formats import timecode
from understudy.formats.arkit_names import ANGLES, WEIGHTS, canonical


def write(asset: Asset, path: str | Path) -> list[str]:
    """Write the first animation that has ARKit weights; returns what the format could not hold."""
    notes: list[str] = []
    animation = next((a for a in asset.animations if _columns(a)), None)
    if animation is None:
        raise Unsupported(path, "Live Link CSV holds ARKit weights (eyeBlinkLeft, jawOpen, ...), but there are none")
    if len(asset.animations) > 1:
        notes.append(f"Live Link CSV holds one animation: {animation.name!r} was written, the others not")
    if asset.characters:
        notes.append("Live Link CSV holds no characters")
    clip = animation.clip() if isinstance(animation, Curves) else animation
    columns = _columns(clip)
    missing = [name for name in WEIGHTS if name not in columns]
    if missing:
        notes.append(f"{len(missing)} of the 52 ARKit weights are absent and were written as 0, {missing[0]} first")
    lost = clip.channels.width - sum(len(found) for found in columns.values())
    if lost:
        notes.append(f"{lost} columns are no ARKit weights, head or eye angles, and were left out")
    titles = [*(name[0].upper() + name[1:] for name in WEIGHTS), *ANGLES]
    values = _values(clip, columns, notes)
    row = ",".join(["%.10f"] * len(titles))
    lines = [",".join(["Timecode", "BlendShapeCount", *titles])]
    lines += [
        f"{timecode.text(time)},{len(titles)},{row % tuple(frame)}"
        for time, frame in zip(clip.times.tolist(), values.tolist())
    ]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return notes


def _columns(animation: Clip | Curves) -> dict[str, list[int]]:
    """The columns of an animation that have a place in the format, by canonical name."""
    found: dict[str, list[int]] = {}
    kinds = {"weights": set(WEIGHTS), "controls": set(ANGLES)}
    for channel, start in zip(animation.channels, animation.channels.offsets.tolist()):
        for column, title in enumerate(channel.columns, start):
            name = canonical(title)
            if name is not None and name in kinds.get(channel.kind, ()):
                found.setdefault(name, []).append(column)
    return found if found.keys() & set(WEIGHTS) else {}


def _values(clip: Clip, columns: dict[str, list[int]], notes: list[str]) -> Array:
    """(F, 61) in the order of the format; where several parts share a weight, that of the first."""
    values = np.zeros((len(clip), len(WEIGHTS) + len(ANGLES)))
    differ = 0
    for number, name in enumerate((*WEIGHTS, *ANGLES)):
        sources = clip.values[:, columns.get(name, [])]
        if sources.shape[1]:
            values[:, number] = sources[:, 0]
            differ += int(not np.allclose(sources, sources[:, :1]))
    if differ:
        notes.append(f"{differ} weights differ between parts of the character: those of the first part were written")
    return np.round(values, 10) + 0.0
