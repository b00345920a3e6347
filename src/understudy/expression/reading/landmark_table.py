"""Landmarks as a table: OpenFace's, py-feat's, and any other with a column for each coordinate.

OpenFace has `x_0` to `y_67` in pixels and `X_0` to `Z_67` in millimetres before the camera, a `timestamp` and, in
`success`, whether it saw a face. py-feat has `x_0` to `y_67` in pixels and the number of the video's `frame`, of which
it may skip some. Others: `chin.x`, `chin_y` and so on, in their own units. In pictures and before OpenFace's camera y
runs down: here it runs up, and millimetres are metres.
"""

from __future__ import annotations

import re

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile, Unsupported
from understudy.expression.reading.recording import Recording, usual_rate
from understudy.expression.reading.table import Table
from understudy.expression.regions import landmark_names

NUMBERED = re.compile(r"([xyzXYZ])_(\d{1,4})")
NAMED = re.compile(r"(.+)[._ ]([xyz])")
CLOCKS = ("timestamp", "time", "seconds")
NO_CLOCK = 30.0  # frames a second of a video that does not tell
FASTEST = 240.0  # frames a second: beyond, a clock counts in something other than seconds
MOST_FRAMES = 1_000_000


def has_landmarks(table: Table) -> bool:
    """Whether a table has numbered landmarks, or named ones in two dimensions or more."""
    return bool(_numbered(table, "xy")) or len(_named(table)) > 1


def read(table: Table, dimensions: int | None = None, rate: float | None = None) -> Recording:
    """The landmarks of a table: in 3 dimensions where it has them, unless 2 are asked for.

    `rate` goes before the table's own clock.
    """
    notes: list[str] = []
    names, titles = _columns(table, dimensions)
    points = table.numbers([title for row in titles for title in row]).reshape(len(table.rows), len(names), -1)
    if NUMBERED.fullmatch(titles[0][0]):
        points = points * [1, -1] if points.shape[2] == 2 else points * [1e-3, -1e-3, -1e-3]
    points[_lost(table)] = np.nan
    places, found = _clock(table, notes)
    points = _placed(points, places, table, notes)
    return Recording(table.path.stem, points, found if rate is None else rate, names, notes)


def _numbered(table: Table, axes: str) -> list[tuple[str, ...]]:
    """The titles of the numbered landmarks, a tuple each; empty where there are none. All numbers must be there."""
    counts = [int(m[2]) for m in map(NUMBERED.fullmatch, table.titles) if m and m[1] in axes]
    if not counts:
        return []
    titles = [tuple(f"{axis}_{number}" for axis in axes) for number in range(max(counts) + 1)]
    for title in (title for row in titles for title in row):
        if title not in table:
            raise BadFile(table.path, f"has landmarks up to number {max(counts)}, but lacks the column {title!r}")
    return titles


def _named(table: Table) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for match in map(NAMED.fullmatch, table.titles):
        if match:
            found.setdefault(match[1], set()).add(match[2])
    return {name: axes for name, axes in found.items() if {"x", "y"} <= axes}


def _columns(table: Table, dimensions: int | None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The names of the landmarks, and the titles of the columns of each."""
    for axes in ("XYZ", "xyz", "xy"):
        present = any(f"{axes[-1]}_{number}" in table for number in range(2))
        if present and dimensions in (None, len(axes)):
            titles = _numbered(table, axes)
            names = landmark_names() if len(titles) == 68 else tuple(f"p{number}" for number in range(len(titles)))
            return names, titles
    named = _named(table)
    spatial = all("z" in axes for axes in named.values())
    wanted = dimensions or (3 if spatial else 2)
    if not named or wanted == 3 > (3 if spatial else 2):
        first = ", ".join(repr(title[:20]) for title in table.titles[:5])
        raise Unsupported(
            table.path,
            f"landmarks in {dimensions or 'two or three'} dimensions were expected, but its columns are {first} ...",
        )
    by_name: dict[tuple[str, str], str] = {}
    for match in map(NAMED.fullmatch, table.titles):
        if match:
            by_name.setdefault((match[1], match[2]), match[0])
    return tuple(named), [tuple(by_name[name, axis] for axis in "xyz"[:wanted]) for name in named]


def _lost(table: Table) -> Array:
    """(F,) bool: the rows in which the tracker saw no face."""
    if "success" in table:
        return ~(table.numbers(["success"])[:, 0] > 0)
    return np.zeros(len(table.rows), bool)


def _clock(table: Table, notes: list[str]) -> tuple[Array, float]:
    """(F,) int the place of each row in frames one apart, and frames a second."""
    frames = table.numbers(["frame"])[:, 0] if "frame" in table else np.arange(len(table.rows), dtype=float)
    frames = np.where(np.isfinite(frames), frames, np.arange(len(frames)))
    steps = np.diff(frames)
    step = float(steps[steps > 0].min()) if (steps > 0).any() else 1.0
    places = np.round((frames - frames[0]) / step).astype(np.int64)
    clock = next((title for title in table.titles if title.lower() in CLOCKS), None)
    if clock is not None:
        times = table.numbers([clock])[:, 0]
        moved = (np.diff(times) > 0) & (np.diff(places) > 0)
        if moved.any():
            rate = 1 / float(np.median(np.diff(times)[moved] / np.diff(places)[moved]))
            if rate <= FASTEST:
                return places, usual_rate(rate)
            notes.append(f"its clock tells {rate:.0f} frames a second, which no camera has: {NO_CLOCK:g} is taken")
            return places, NO_CLOCK
    rate = NO_CLOCK / step
    every = "" if step == 1 else f", of which it has one in {step:g}"
    notes.append(f"it has no clock: a video of {NO_CLOCK:g} frames a second{every}, is assumed")
    return places, rate


def _placed(points: Array, places: Array, table: Table, notes: list[str]) -> Array:
    """(F', L, D) the rows in their places: empty where one is missing, the first where there are several."""
    if places.min() < 0 or places.max() >= min(MOST_FRAMES, 100 * len(places)):
        raise BadFile(table.path, "the numbers of its frames should rise from the first, but jump or fall")
    result = np.full((int(places.max()) + 1, *points.shape[1:]), np.nan)
    result[places[::-1]] = points[::-1]  # of several the first is written last, and stays
    if len(np.unique(places)) < len(places):
        notes.append(f"{len(places) - len(np.unique(places))} rows of other faces in the same frames were left out")
    return result
