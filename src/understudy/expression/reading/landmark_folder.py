"""Landmarks as a folder with a file for each picture, as in the Cohn-Kanade database and in 300-W.

A file is a line a landmark, x and y in pixels; 300-W's `.pts` have a header and braces around the lines. Files are
taken in the order of their names. y runs down in them, and up here.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from understudy import files
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.expression.reading.landmark_table import NO_CLOCK
from understudy.expression.reading.recording import Recording
from understudy.expression.regions import landmark_names

ENDINGS = (".txt", ".pts")
LARGEST_FILE = 1 << 20  # bytes; 68 landmarks take 2,300
MOST_FILES = 100_000


def read(folder: str | Path, rate: float | None = None) -> Recording:
    """The landmarks (F, L, 2) of a folder's files, at `rate` pictures a second or those of a video."""
    folder = Path(folder)
    found = sorted((path for path in folder.iterdir() if path.suffix.lower() in ENDINGS), key=_order)
    if not found:
        raise BadFile(folder, "is a folder without landmark files (.txt or .pts)")
    if len(found) > MOST_FILES:
        raise BadFile(folder, f"has {len(found):,} landmark files, but at most {MOST_FILES:,} are read")
    frames = [_landmarks(path) for path in found]
    for path, frame in zip(found, frames):
        if len(frame) != len(frames[0]):
            raise BadFile(path, f"has {len(frame)} landmarks, but {found[0].name} has {len(frames[0])}")
    count = len(frames[0])
    names = landmark_names() if count == 68 else tuple(f"p{number}" for number in range(count))
    notes = [] if rate else [f"pictures in a folder have no clock: {NO_CLOCK:g} frames a second are assumed"]
    return Recording(folder.name, np.stack(frames) * [1, -1], rate or NO_CLOCK, names, notes)


def _order(path: Path) -> list[tuple[int, str]]:
    """The name with its numbers as numbers, so that frame 10 comes after frame 9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name.lower())]


def _landmarks(path: Path) -> Array:
    """(L, 2) the pairs of numbers in a file."""
    text = files.read_text(path, LARGEST_FILE)
    inside = re.search(r"\{([^}]*)\}", text)
    first = text[: inside.start(1)].count("\n") + 1 if inside else 1
    rows = []
    for number, line in enumerate((inside[1] if inside else text).splitlines(), first):
        words = line.replace(",", " ").split()
        if not words:
            continue
        try:
            x, y = map(float, words)
        except ValueError:
            raise BadFile(
                path, f"x and y were expected, but {line.strip()[:40]!r} was found", f"line {number}"
            ) from None
        rows.append((x, y))
    if not rows:
        raise BadFile(path, "should have a line for each landmark, but has none")
    points = np.array(rows)
    return np.where(np.isfinite(points), points, np.nan)
