"""A film's landmarks, frame by frame; gaps where no face is seen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np

from understudy.character import Character
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.expression.capture.camera import Camera
from understudy.expression.capture.detector import Detector
from understudy.expression.capture.film import Film
from understudy.expression.capture.fit import ALPHA
from understudy.expression.capture.solving import WINDOW, Solution, solved
from understudy.expression.onto_model import basis_of
from understudy.expression.reading.recording import Recording, without_gaps
from understudy.expression.regions import landmark_names

MOST_SECONDS = 600.0  # of one capture: ten minutes at 30 frames a second
Progress = Callable[[int], None]


class Finder(Protocol):
    """Anything that finds the 68 landmarks of a picture."""

    def landmarks(self, picture: Array) -> Array | None:
        """(68, 2) pixels in a picture (H, W, 3), or None."""


def tracked(
    source: str | Path, finder: Finder | None = None, seconds: float | None = None, progress: Progress | None = None
) -> tuple[Recording, tuple[int, int]]:
    """The landmarks of a video file, a photograph or `camera` (or `camera:1`), and the pictures' width and height.

    Pixels, y down. A camera is watched for `seconds`; a video no longer than that. `progress` is told each frame.
    """
    is_camera = str(source).startswith("camera")
    if is_camera and seconds is None:
        raise InvalidInput("a camera never ends: say for how many seconds it is watched")
    longest = MOST_SECONDS if seconds is None else seconds
    if not 0 < longest <= MOST_SECONDS:
        raise InvalidInput(f"seconds should lie between 0 and {MOST_SECONDS:g}, but are {seconds}")
    finder = Detector() if finder is None else finder
    found: list[Array] = []
    lost = np.full((68, 2), np.nan)
    with Film(source) as film:
        for picture in islice(film.pictures(), max(round(longest * film.rate), 1)):
            marks = finder.landmarks(picture)
            found.append(lost if marks is None else marks)
            if progress is not None:
                progress(len(found))
        rate, size = film.rate, film.size
    points = np.array(found).reshape(-1, 68, 2)
    seen = np.isfinite(points).all(axis=(1, 2))
    if not seen.any():
        raise BadFile(source, f"no face is seen in any of its {len(points)} pictures")
    notes = [f"no face is seen in {int((~seen).sum())} of {len(points)} pictures"] if not seen.all() else []
    return Recording(Path(source).stem, points, rate, landmark_names(), notes), size


def capture(
    source: str | Path,
    character: Character,
    vertices: Array,
    *,
    finder: Finder | None = None,
    seconds: float | None = None,
    neutral: float | None = 0.0,
    field: float | None = None,
    window: float = WINDOW,
    alpha: float = ALPHA,
    progress: Progress | None = None,
) -> tuple[Solution, tuple[str, ...]]:
    """The shape weights and the head of who is seen in `source`, for a character with landmark `vertices` (68,).

    `neutral` is the second at which the face shows nothing, None where the character is a likeness; `field` the
    camera's degrees across the longer side of its picture. Also returns notes.
    """
    film, size = tracked(source, finder, seconds, progress)
    points, filled = without_gaps(film.points, film.rate, film.names, film.name)
    notes = (*film.notes, *([f"{filled} frames were filled in between their neighbours"] if filled else []))
    frame = None
    if neutral is not None:
        frame = round(neutral * film.rate) if np.isfinite(neutral) else -1
    basis = basis_of(character, vertices)
    camera = Camera.of_picture(*size, field)
    solution = solved(basis, points, camera, film.rate, names=film.names, neutral=frame, window=window, alpha=alpha)
    return solution, notes
