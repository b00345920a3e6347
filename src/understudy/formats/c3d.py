"""C3D: markers of an optical capture, as a clip with one channel a marker.

Positions come out in metres and, where the file says which axis of the laboratory points up on the screen, with Y up. A
marker that was not seen is NaN. Analog channels (force plates, muscles) are left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy import files
from understudy.character import Asset, Channel, Clip
from understudy.checks import Array
from understudy.errors import BadFile, Unsupported
from understudy.formats.c3d_parser import C3dFile, parse
from understudy.formats.distinct import distinct

LARGEST_C3D = 256 << 20  # bytes; an hour of a hundred markers at 100 fps has 230 million
UNITS = {"mm": 0.001, "cm": 0.01, "m": 1.0, "dm": 0.1, "in": 0.0254, "inch": 0.0254, "ft": 0.3048, "um": 1e-6}
# Results of a gait model that are stored among the markers, but are angles, forces and the like.
NO_POSITIONS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
FARTHEST = 1e6  # metres
FASTEST = 20_000.0  # frames a second; the fastest cameras in use take a tenth of that


def read(path: str | Path) -> Asset:
    """The markers of a C3D file."""
    path = Path(path)
    content = parse(files.read_bytes(path, LARGEST_C3D), path)
    notes = content.notes
    if not 0 < content.rate <= FASTEST:
        raise BadFile(
            path, f"the rate should be above 0 and at most {FASTEST:g} frames a second, but is {content.rate:g}"
        )
    labels = _labels(content, notes)
    kept = _markers(content, notes)
    if not kept:
        raise Unsupported(path, "holds results of a model only, and no markers")
    positions = content.points[:, kept] * _metres(content, notes)
    with np.errstate(invalid="ignore"):
        wild = (np.abs(positions) > FARTHEST).any(axis=2)
    if wild.any():
        notes.append(f"{int(wild.sum())} positions are infinite or absurd: taken as not seen")
    positions[wild | np.isnan(positions).any(axis=2)] = np.nan
    positions = _upright(content, positions, notes)
    _note_rest(content, notes)
    channels = [Channel(labels[i], "marker") for i in kept]
    start = (content.first_frame - 1) / content.rate if content.first_frame > 1 else 0.0
    clip = Clip(path.stem, channels, positions.reshape(len(positions), -1), content.rate, start)
    return Asset(clips=[clip], notes=notes)


def _labels(content: C3dFile, notes: list[str]) -> tuple[str, ...]:
    labels = [" ".join(label.replace("\0", " ").split()) for label in content.labels]
    prefixes = {label.partition(":")[0] for label in labels if label}
    if len(prefixes) == 1 and all(":" in label for label in labels if label):
        prefix = prefixes.pop()
        notes.append(f"the subject {prefix!r} was taken off the markers' names")
        labels = [label.partition(":")[2].strip() for label in labels]
    return distinct(labels, "marker", notes)


def _markers(content: C3dFile, notes: list[str]) -> list[int]:
    """The numbers of the points that are positions."""
    group = content.parameters.get("POINT", {})
    others = {name: set(group[name]) for name in NO_POSITIONS if isinstance(group.get(name), list)}
    kept = []
    for number, label in enumerate(content.labels):
        if not any(label in names for names in others.values() if label):
            kept.append(number)
    if len(kept) < len(content.labels):
        notes.append(
            f"{len(content.labels) - len(kept)} results of a model (angles, forces and the like) were left out"
        )
    return kept


def _metres(content: C3dFile, notes: list[str]) -> float:
    unit = content.text("POINT", "UNITS").lower().strip(". ")
    if unit in UNITS:
        return UNITS[unit]
    notes.append(
        f"the unit {unit[:20]!r} is unknown: millimetres were assumed" if unit else "no unit: millimetres were assumed"
    )
    return UNITS["mm"]


def _axis(text: str) -> Array | None:
    """The direction that a name such as +X or -z stands for."""
    sign = -1.0 if text.startswith("-") else 1.0
    letter = text.lstrip("+- ").upper()
    return sign * np.eye(3)["XYZ".index(letter)] if len(letter) == 1 and letter in "XYZ" else None


def _upright(content: C3dFile, positions: Array, notes: list[str]) -> Array:
    """Turn the laboratory so that the axis that points up on the screen becomes Y, and that to the right X."""
    right, up = (_axis(content.text("POINT", name)) for name in ("X_SCREEN", "Y_SCREEN"))
    if up is None:
        notes.append("the file does not say which way is up: axes were kept as they are")
        return positions
    if right is None or abs(right @ up) > 0:
        right = np.eye(3)[1 if up[0] else 0]
    turn = np.stack([right, up, np.cross(right, up)])
    if not np.array_equal(turn, np.eye(3)):
        up_name = content.text("POINT", "Y_SCREEN")
        notes.append(f"up is {up_name} in the file: axes were turned to Y up, +X_SCREEN to the right")
    return positions @ turn.T


def _note_rest(content: C3dFile, notes: list[str]) -> None:
    if content.analog:
        notes.append(f"analog samples ({content.analog} a frame) were left out")
    if content.events:
        shown = ", ".join(f"{name or 'unnamed'} at {time:.3g} s" for name, time in content.events[:8])
        notes.append(f"events: {shown}{' and more' if len(content.events) > 8 else ''}")
    unseen = np.isnan(content.points).any(axis=2)
    if unseen.any():
        share = 100 * unseen.mean()
        notes.append(f"markers are not seen in {share:.3g} % of the frames ({int(unseen.any(axis=0).sum())} markers)")
