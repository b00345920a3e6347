"""The face's animation, from the dope sheets in `sheets/face`: a file a label, ten clips in each.

What stands above the first clip of a file (rate, labels) holds for all of it. Every clip goes from the neutral face to
its peak and back, and tells the frame of the peak.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import numpy as np

from understudy.cast import keying, reading
from understudy.cast.face.controls import SHARES, TURNS, face_controls, shape_of
from understudy.cast.keys import Pose, Sheet
from understudy.cast.spline import Column
from understudy.cast.vocabulary import Vocabulary, of_controls
from understudy.character import Channel, Curve, Curves
from understudy.errors import BadFile

LABELS = ("anger", "contempt", "disgust", "fear", "happiness", "sadness", "surprise")
PART = "Face"


@lru_cache
def vocabulary() -> Vocabulary:
    """What the sheets may set."""
    return of_controls(face_controls())


@lru_cache
def poses() -> dict[str, Pose]:
    """Poses of groups that all sheets share."""
    return reading.parse(_text("poses"), "face/poses.txt", vocabulary()).poses


def sheets() -> list[Sheet]:
    """The dope sheets of all clips, label by label."""
    return [sheet for label in LABELS for sheet in _of_label(label)]


def clips() -> tuple[Curves, ...]:
    """The animation: curves of ARKit's weights and of the joints of head and neck."""
    return tuple(curves(sheet) for sheet in sheets())


def curves(sheet: Sheet) -> Curves:
    """The animation that a sheet describes."""
    found = keying.columns(sheet, vocabulary())
    weights = [
        Curve.trusted_bezier(
            Channel(PART, "weights", (shape,)), own.times, own.values[:, None], own.before[:, None], own.after[:, None]
        )
        for control, shape in shape_of().items()
        if (own := found.get(control)) is not None
    ]
    moments = {name: frame / sheet.rate for name, frame in sheet.moments.items()}
    return Curves(sheet.name, [*_turns(found), *weights], sheet.labels, sheet.rate, sheet.about, moments)


def _turns(found: dict[str, Column]) -> list[Curve]:
    """The turns of the head, shared out over its joints: Ry Rx Rz."""
    if not any(f"head.{name}" in found for name in TURNS):
        return []
    ends = next(own.times[[0, -1]] for name, own in found.items() if name.startswith("head."))
    none = np.zeros((2, 2))
    still = Column(ends, np.zeros(2), none, none, np.zeros(2, bool))
    own = [found.get(f"head.{name}", still) for name in ("turn", "nod", "roll")]
    return [
        keying.columns_curve(Channel(joint, "euler", ("y", "x", "z")), own, share * np.radians(1.0))
        for joint, share in SHARES.items()
    ]


def _of_label(label: str) -> list[Sheet]:
    lines = _text(label).splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("clip ")]
    result = []
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        # other clips become empty lines, so that errors name the right one
        own = [*lines[: starts[0]], *[""] * (start - starts[0]), *lines[start:end]]
        sheet = reading.parse("\n".join(own), f"face/{label}.txt", vocabulary(), poses())
        if sheet.labels != (label,) or "peak" not in sheet.moments:
            raise BadFile(f"face/{label}.txt", f"{sheet.name} should have the label {label!r} and the moment 'peak'")
        result.append(sheet)
    return result


def _text(name: str) -> str:
    return (resources.files("understudy.cast") / "sheets" / "face" / f"{name}.txt").read_text(encoding="utf-8")
