"""Face capture: from a video or a camera to the weights of a character's shapes.

`FrameReader` reads pictures of a video file, a photograph or a camera; `DlibDetector` finds the landmarks of each;
`track_landmarks` does so frame by frame, with gaps where no face is seen; `capture` solves them for a character.

The detector is dlib's, with the model that `face_recognition_models` carries; nothing is downloaded. Both are optional:
`pip install 'understudy[capture]'`. dlib and the package are free for any use, but the model was trained on 300-W,
whose owners allow research only: ask them before commercial use.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from understudy import checks
from understudy.character import Character, Clip
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput, MissingExtra
from understudy.express.face_fit import (
    SMOOTHING_SECONDS,
    WEIGHT_REGULARISATION,
    FaceSolution,
    PinholeCamera,
    calm_frame,
    solve_film,
    weight_prior,
)
from understudy.express.landmark_solver import basis_of
from understudy.express.recording import Recording, fill_gaps
from understudy.express.sequence import landmark_names
from understudy.formats.arkit_names import canonical_name

# Pixels across the box of a face when its landmarks are read: a rounded pixel is then 0.1 % of the face.
FACE_BOX_PIXELS = 400
MODEL_FILE = "models/shape_predictor_68_face_landmarks.dat"
CAMERA_PATTERN = re.compile(r"camera(?::(\d{1,2}))?")
DEFAULT_FRAME_RATE = 30.0  # frames a second, where a source has no rate
MAX_SIDE_PIXELS = 16_384  # longest side of a picture, pixels
CAMERA_SYSTEMS = {
    "linux": ("v4l2", "/dev/video{0}"),
    "darwin": ("avfoundation", "{0}"),
    "win32": ("dshow", "video={0}"),
}
PRIOR_RATE = 10.0  # frames a second at which the takes of the built-in face are read for the prior
MAX_CAPTURE_SECONDS = 600.0  # longest capture, seconds: 18,000 frames at 30 a second
Progress = Callable[[int], None]


def capture_face(
    video: str | Path,
    character: Character,
    *,
    landmarks: Sequence[int] | Array | None = None,
    neutral: float | None = None,
    seconds: float | None = None,
    field: float | None = None,
    progress: Progress | None = None,
) -> Clip:
    """Find the face in a video and give a character its expressions.

    Args:
        video: A video file, a photograph, or `"camera"` (`"camera:1"` for the second one).
        character: The character whose shape weights are solved for.
        landmarks: Vertices (68,) of the character at the landmarks of the iBUG scheme; those of the built-in face are
            known.
        neutral: Time at which the face shows nothing, in seconds. None finds the calmest frame of a film; for a
            photograph, or where no frame is calm, the character's own neutral face is used.
        seconds: Longest time to watch, in seconds; needed for a camera.
        field: Angle of view across the longer side of the picture, in degrees; None assumes an ordinary camera.
        progress: Called with the number of pictures seen.

    Returns:
        A clip of the character: its shape weights, named after the video.

    Raises:
        MissingExtra: If the landmark detector is not installed (`pip install 'understudy[capture]'`).
        BadFile: If the video cannot be read or shows no face.
        InvalidInput: If the landmarks of the character are not known.

    Example:
        >>> clip = us.capture_face("me.mp4", us.load("face").character())  # doctest: +SKIP
        >>> us.save(clip, "me.glb", us.load("face").character())  # doctest: +SKIP
    """
    from understudy import cast
    from understudy.cast import member_of_cast

    if landmarks is None:
        if member_of_cast(character) != "face":
            raise InvalidInput(f"capture needs the landmark vertices of {character.name!r}; give `landmarks` (68,)")
        landmarks = cast.FACE_LANDMARKS
    vertices = checks.array(landmarks, "landmarks", (68,), np.int64)
    solution, _ = capture(video, character, vertices, seconds=seconds, neutral=neutral, field=field, progress=progress)
    return solution.clip(Path(video).stem, head=False)


def capture(
    source: str | Path,
    character: Character,
    vertices: Array,
    *,
    finder: LandmarkDetector | None = None,
    seconds: float | None = None,
    neutral: float | None = None,
    field: float | None = None,
    window: float = SMOOTHING_SECONDS,
    alpha: float = WEIGHT_REGULARISATION,
    progress: Progress | None = None,
) -> tuple[FaceSolution, tuple[str, ...]]:
    """The shape weights and the head of the face in `source`, for a character with landmark `vertices` (68,).

    `neutral` is the time in seconds at which the face is neutral; None finds it, or uses the character's own neutral
    face. `field` is the camera's angle in degrees across the longer side of its picture, `window` the moving
    average in seconds, `alpha` the regularisation of the weights. Also returns notes.
    """
    film, size = track_landmarks(source, finder, seconds, progress)
    points, filled = fill_gaps(film.points, film.rate, film.names, film.name)
    notes = (*film.notes, *([f"{filled} frames were filled in between their neighbours"] if filled else []))
    basis = basis_of(character, vertices)
    camera = PinholeCamera.of_picture(*size, field)
    prior = face_prior(basis.names)
    settings: dict[str, Any] = {"names": film.names, "window": window, "alpha": alpha, "prior": prior}
    if neutral is not None:
        frame = round(neutral * film.rate) if np.isfinite(neutral) else -1
        return solve_film(basis, points, camera, film.rate, neutral=frame, **settings), notes
    solution = solve_film(basis, points, camera, film.rate, neutral=None, **settings)
    calm = calm_frame(solution.weights, prior) if prior is not None and len(points) > 1 else None
    if calm is None:
        note = "the neutral face is the character's own, as no calm frame was found; --neutral names one"
        return solution, (*notes, note)
    solution = solve_film(basis, points, camera, film.rate, neutral=calm, **settings)
    return solution, (
        *notes,
        f"the calmest frame, at {calm / film.rate:.2f} s, counts as neutral; --neutral names another",
    )


@lru_cache(maxsize=4)
def face_prior(names: tuple[str, ...]) -> Array | None:
    """(S, S) inverse covariance of shapes in the takes of the built-in face; None where it has none of the shapes."""
    from understudy import cast
    from understudy.character.rig import rig_of

    face = cast.load("face")
    rig = rig_of(face.characters[0])
    rows = np.concatenate([rig.pose(clip, clip.frame_times(PRIOR_RATE)) for clip in face.animations])
    columns: dict[str, int] = {}
    for number, channel in enumerate(rig.channels):
        for i, column in enumerate(channel.columns if channel.kind == "weights" else ()):
            columns.setdefault(canonical_name(column) or column, int(rig.channels.offsets[number]) + i)
    places = [columns.get(canonical_name(name) or name) for name in names]
    known = np.array([place is not None for place in places])
    if not known.any():
        return None
    weights = np.stack([np.zeros(len(rows)) if place is None else rows[:, place] for place in places], axis=1)
    return checks.freeze(weight_prior(weights, known))


def track_landmarks(
    source: str | Path,
    finder: LandmarkDetector | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> tuple[Recording, tuple[int, int]]:
    """The landmarks of a video file, a photograph or `camera` (or `camera:1`), and the pictures' width and height.

    Pixels, y down. A camera is read for `seconds`, a video for at most that. `progress` is called with the number of
    frames read so far.
    """
    is_camera = str(source).startswith("camera")
    if is_camera and seconds is None:
        raise InvalidInput("a camera never ends: say for how many seconds it is watched")
    longest = MAX_CAPTURE_SECONDS if seconds is None else seconds
    if not 0 < longest <= MAX_CAPTURE_SECONDS:
        raise InvalidInput(f"seconds should lie between 0 and {MAX_CAPTURE_SECONDS:g}, but are {seconds}")
    finder = DlibDetector() if finder is None else finder
    frames: list[Array] = []
    lost = np.full((68, 2), np.nan)
    with FrameReader(source) as film:
        for picture in islice(film.pictures(), max(round(longest * film.rate), 1)):
            marks = finder.landmarks(picture)
            frames.append(lost if marks is None else marks)
            if progress is not None:
                progress(len(frames))
        rate, size = film.rate, film.size
    points = np.array(frames).reshape(-1, 68, 2)
    seen = np.isfinite(points).all(axis=(1, 2))
    if not seen.any():
        raise BadFile(source, f"no face is seen in any of its {len(points)} pictures")
    notes = [f"no face is seen in {int((~seen).sum())} of {len(points)} pictures"] if not seen.all() else []
    return Recording(Path(source).stem, points, rate, landmark_names(), notes), size


class LandmarkDetector(Protocol):
    """Anything that finds the 68 landmarks of a picture."""

    def landmarks(self, picture: Array) -> Array | None:
        """(68, 2) pixels in a picture (H, W, 3), or None."""


class DlibDetector:
    """Finds the 68 landmarks of the face in a picture; of several faces the one nearest to the last one found."""

    def __init__(self) -> None:
        model = _model_path()
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
        return self._landmarks_in_box(picture, boxes[best])

    def _landmarks_in_box(self, picture: Array, box: Any) -> Array:
        """(68, 2) of the face in a box. dlib rounds to whole pixels, so the face is brought to a good size first."""
        import dlib
        from PIL import Image

        height, width = picture.shape[:2]
        margin = round(0.5 * box.width())
        left, top = max(box.left() - margin, 0), max(box.top() - margin, 0)
        right, bottom = min(box.right() + margin, width), min(box.bottom() + margin, height)
        factor = FACE_BOX_PIXELS / max(box.width(), 1)
        size = (max(round((right - left) * factor), 1), max(round((bottom - top) * factor), 1))
        piece = Image.fromarray(picture[top:bottom, left:right]).resize(size, Image.Resampling.BICUBIC)
        scale = np.array(size) / [right - left, bottom - top]
        corners = (np.array([[box.left(), box.top()], [box.right(), box.bottom()]]) - [left, top]) * scale
        shape = self._landmarks(np.asarray(piece), dlib.rectangle(*(round(float(c)) for c in corners.ravel())))
        points = np.array([[point.x, point.y] for point in shape.parts()], np.float64)
        # the middle of pixel 0 is at 0.5 of the picture's plane, before and after it is resized
        return (points + 0.5) / scale + [left, top] - 0.5


def available() -> bool:
    """Whether detector and model are installed."""
    return importlib.util.find_spec("dlib") is not None and _model_path() is not None


def _model_path() -> Path | None:
    """The model's file. The package is not imported: it needs pkg_resources, which newer setuptools lack."""
    spec = importlib.util.find_spec("face_recognition_models")
    path = None if spec is None or spec.origin is None else Path(spec.origin).parent / MODEL_FILE
    return path if path is not None and path.is_file() else None


class FrameReader:
    """An opened source of pictures: `rate` in frames a second, `size` (width, height) in pixels."""

    def __init__(self, source: str | Path) -> None:
        import av

        name, kind = _device_name(source)
        if kind is None and not Path(name).is_file():
            raise BadFile(name, "there is no such file")
        try:
            self._container: Any = av.open(name, format=kind)
        except (av.error.FFmpegError, OSError, ValueError) as error:
            what = "camera cannot be opened" if kind else "is not a video that can be read"
            raise BadFile(name, f"{what} ({_reason(error)})") from None
        if not self._container.streams.video:
            self._container.close()
            raise BadFile(name, "should have a video, but has none")
        self._name = name
        self._stream: Any = self._container.streams.video[0]
        self.rate = float(self._stream.average_rate or DEFAULT_FRAME_RATE)
        self.size = (int(self._stream.width), int(self._stream.height))
        if not 1 <= max(self.size) <= MAX_SIDE_PIXELS:
            self._container.close()
            raise BadFile(
                name, f"pictures of at most {MAX_SIDE_PIXELS} pixels a side are read, but they have {self.size}"
            )

    def __enter__(self) -> FrameReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.close()

    def pictures(self) -> Iterator[Array]:
        """(H, W, 3) uint8 each, in order, until the end; from a camera without end."""
        import av

        try:
            for frame in self._container.decode(self._stream):
                yield frame.to_ndarray(format="rgb24")
        except (av.error.FFmpegError, OSError) as error:
            raise BadFile(self._name, f"its video is damaged ({_reason(error)})") from None


def _device_name(source: str | Path) -> tuple[str, str | None]:
    """The name to open, and the system's kind of camera, None for a file."""
    match = CAMERA_PATTERN.fullmatch(str(source))
    if match is None:
        return str(source), None
    if sys.platform not in CAMERA_SYSTEMS:
        raise InvalidInput(f"cameras are read on {', '.join(CAMERA_SYSTEMS)}, but this system is {sys.platform}")
    kind, device = CAMERA_SYSTEMS[sys.platform]
    return device.format(match[1] or "0"), kind


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
