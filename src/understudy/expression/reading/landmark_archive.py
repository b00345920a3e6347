"""Landmarks as a NumPy archive: `points` or `landmarks` (F, L, D), with `time` (F,) or `rate`, and `names` (L,)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.expression.reading.landmark_table import NO_CLOCK
from understudy.expression.reading.recording import Recording, usual_rate
from understudy.expression.regions import landmark_names
from understudy.formats.npz_archive import Archive

POINTS, TIMES = ("points", "landmarks"), ("time", "times")


def read(path: str | Path, rate: float | None = None) -> Recording:
    """The landmarks (D 2 or 3) or weights (D = 1, or (F, L) with names) of an archive, in its own units."""
    path = Path(path)
    notes: list[str] = []
    with Archive(path) as archive:
        found = {name: archive.read(name) for name in (*POINTS, *TIMES, "rate", "names") if name in archive}
    points = next((found[name] for name in POINTS if name in found), None)
    if points is None:
        raise BadFile(path, f"an array 'points' or 'landmarks' was expected, but its arrays are {archive.names}")
    if points.dtype.kind not in "fiu" or points.ndim not in (2, 3):
        raise BadFile(path, f"landmarks (F, L, D) were expected, but {points.dtype} of shape {points.shape} was found")
    points = points[..., None] if points.ndim == 2 else points
    times = next((found[name] for name in TIMES if name in found), None)
    if rate is None:
        rate = _rate(path, found.get("rate"), times, len(points), notes)
    try:
        return Recording(path.stem, points, rate, _names(path, found.get("names"), points.shape[1]), notes)
    except InvalidInput as error:
        raise BadFile(path, str(error)) from None


def _names(path: Path, names: Array | None, count: int) -> tuple[str, ...]:
    if names is None:
        return landmark_names() if count == 68 else tuple(f"p{number}" for number in range(count))
    if names.shape != (count,) or names.dtype.kind not in "US":
        raise BadFile(path, f"{count} names were expected, as many as landmarks, but {names.shape} was found")
    return tuple(map(str, names.astype(str)))


def _rate(path: Path, rate: Array | None, times: Array | None, frames: int, notes: list[str]) -> float:
    if rate is not None and rate.size == 1:
        return float(rate.reshape(()))
    if times is None:
        notes.append(f"it has neither 'time' nor 'rate': {NO_CLOCK:g} frames a second are taken")
        return NO_CLOCK
    if times.shape != (frames,) or times.dtype.kind not in "fiu":
        raise BadFile(path, f"{frames} times were expected, as many as frames, but {times.shape} was found")
    steps = np.diff(times.astype(np.float64))
    if not (steps > 0).all():
        raise BadFile(path, "its times should rise from frame to frame, but do not")
    return usual_rate(float(1 / np.median(steps))) if len(steps) else NO_CLOCK
