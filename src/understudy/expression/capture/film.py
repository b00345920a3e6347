"""Pictures of a video file, of a photograph or of a camera, one after the other."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput

CAMERA = re.compile(r"camera(?::(\d{1,2}))?")
NO_RATE = 30.0  # frames a second of a camera that does not tell
LARGEST_SIDE = 16_384  # pixels
SYSTEMS = {"linux": ("v4l2", "/dev/video{0}"), "darwin": ("avfoundation", "{0}"), "win32": ("dshow", "video={0}")}


class Film:
    """An opened source of pictures: `rate` in frames a second, `size` (width, height) in pixels."""

    def __init__(self, source: str | Path) -> None:
        import av

        name, kind = _place(source)
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
        self.rate = float(self._stream.average_rate or NO_RATE)
        self.size = (int(self._stream.width), int(self._stream.height))
        if not 1 <= max(self.size) <= LARGEST_SIDE:
            self._container.close()
            raise BadFile(name, f"pictures of at most {LARGEST_SIDE} pixels a side are read, but they have {self.size}")

    def __enter__(self) -> Film:
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


def _place(source: str | Path) -> tuple[str, str | None]:
    """The name to open, and the system's kind of camera, None for a file."""
    found = CAMERA.fullmatch(str(source))
    if found is None:
        return str(source), None
    if sys.platform not in SYSTEMS:
        raise InvalidInput(f"cameras are read on {', '.join(SYSTEMS)}, but this system is {sys.platform}")
    kind, place = SYSTEMS[sys.platform]
    return place.format(found[1] or "0"), kind


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
