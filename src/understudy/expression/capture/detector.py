"""The landmark detector: dlib's, with the model that `face_recognition_models` carries; nothing is downloaded.

Both are optional: `pip install 'understudy[capture]'`. dlib and the package are free for any use, but the model was
trained on 300-W, whose owners allow research only: ask them before commercial use.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import MissingExtra

FACE = 400  # pixels across the box of a face before its landmarks are read: a rounded pixel is then 0.1 % of the face
MODEL = "models/shape_predictor_68_face_landmarks.dat"


def _model() -> Path | None:
    """The model's file. The package is not imported: it asks for pkg_resources, which newer setuptools lack."""
    found = importlib.util.find_spec("face_recognition_models")
    path = None if found is None or found.origin is None else Path(found.origin).parent / MODEL
    return path if path is not None and path.is_file() else None


def available() -> bool:
    """Whether detector and model are installed."""
    return importlib.util.find_spec("dlib") is not None and _model() is not None


class Detector:
    """Finds the 68 landmarks of the face in a picture; of several that nearest to where the last one was."""

    def __init__(self) -> None:
        model = _model()
        try:
            import dlib
        except ImportError:
            raise MissingExtra("finding landmarks in pictures", "capture") from None
        if model is None:
            raise MissingExtra("finding landmarks in pictures", "capture")
        self._faces: Any = dlib.get_frontal_face_detector()
        self._landmarks: Any = dlib.shape_predictor(str(model))
        self._last: Array | None = None  # (2,) middle of the last face

    def landmarks(self, picture: Array) -> Array | None:
        """(68, 2) x right and y down in pixels, of a picture (H, W, 3) uint8; None where no face is seen."""
        picture = np.ascontiguousarray(checks.array(picture, "picture", ("H", "W", 3), np.uint8))
        boxes = list(self._faces(picture, 0)) or list(self._faces(picture, 1))
        if not boxes:
            return None
        middles = np.array([[0.5 * (box.left() + box.right()), 0.5 * (box.top() + box.bottom())] for box in boxes])
        if self._last is None:
            best = int(np.argmax([box.width() for box in boxes]))
        else:
            best = int(np.argmin(np.linalg.norm(middles - self._last, axis=1)))
        self._last = middles[best]
        return self._within(picture, boxes[best])

    def _within(self, picture: Array, box: Any) -> Array:
        """(68, 2) of the face in a box. dlib rounds to whole pixels, so the face is brought to a good size first."""
        import dlib
        from PIL import Image

        height, width = picture.shape[:2]
        margin = round(0.5 * box.width())
        left, top = max(box.left() - margin, 0), max(box.top() - margin, 0)
        right, bottom = min(box.right() + margin, width), min(box.bottom() + margin, height)
        factor = FACE / max(box.width(), 1)
        size = (max(round((right - left) * factor), 1), max(round((bottom - top) * factor), 1))
        piece = Image.fromarray(picture[top:bottom, left:right]).resize(size, Image.Resampling.BICUBIC)
        scale = np.array(size) / [right - left, bottom - top]
        corners = (np.array([[box.left(), box.top()], [box.right(), box.bottom()]]) - [left, top]) * scale
        found = self._landmarks(np.asarray(piece), dlib.rectangle(*(round(float(c)) for c in corners.ravel())))
        points = np.array([[point.x, point.y] for point in found.parts()], np.float64)
        # the middle of pixel 0 is at 0.5 of the picture's plane, before and after it is resized
        return (points + 0.5) / scale + [left, top] - 0.5
