"""Takes: the rows of a live performance are recorded, stored as files of the project, and read as clips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from understudy import files
from understudy.character import Clip
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.perform.pose_model import clip_of_rows
from understudy.studio.document import Document, TakeEntry

if TYPE_CHECKING:
    from pathlib import Path

    from understudy.character.rig import PosedRig
    from understudy.studio.session import Session

MAX_TAKE_SECONDS = 600.0  # ten minutes of the dragon at 60 frames a second are 107 MB
CHUNK_FRAMES = 600  # the recording grows by ten seconds at a time
TAKE_ENDING = ".npz"
MAX_TAKE_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class RecordedTake:
    """A recorded performance: rows (F, C) float32 at `rate`, its labels in order of appearance, and its character."""

    rows: Array
    rate: float
    labels: tuple[str, ...]
    character: str = ""  # the name; takes of version 0.1 have none

    @property
    def seconds(self) -> float:
        """From the first frame to the last."""
        return max(len(self.rows) - 1, 0) / self.rate


class TakeRecorder:
    """Collects rows as float32, the precision of frames and files."""

    def __init__(self, width: int, rate: float) -> None:
        self.width, self.rate, self.frames = width, rate, 0
        self._chunks: list[Array] = []
        self._labels: dict[str, None] = {}

    @property
    def seconds(self) -> float:
        """The recorded seconds."""
        return self.frames / self.rate

    @property
    def full(self) -> bool:
        """Whether the largest length is reached."""
        return self.seconds >= MAX_TAKE_SECONDS

    def add(self, row: Array, label: str) -> None:
        """Add a frame; ignored when full."""
        if self.full:
            return
        place = self.frames % CHUNK_FRAMES
        if place == 0:
            self._chunks.append(np.empty((CHUNK_FRAMES, self.width), np.float32))
        self._chunks[-1][place] = row
        self._labels[label] = None
        self.frames += 1

    def to_take(self) -> RecordedTake:
        """The recorded take."""
        rows = np.concatenate([np.empty((0, self.width), np.float32), *self._chunks])[: self.frames]
        return RecordedTake(rows, self.rate, tuple(self._labels))


def write_take(recorded: RecordedTake, place: Path) -> None:
    """Write a take atomically."""
    with files.write_atomically(place) as temporary, temporary.open("wb") as handle:
        labels = np.array(recorded.labels, dtype=np.str_)
        character = np.array(recorded.character)
        np.savez(handle, rows=recorded.rows, rate=np.float64(recorded.rate), labels=labels, character=character)


def read_take(place: Path, name: str) -> RecordedTake:
    """Read a take; `name` is for error messages."""
    import zipfile

    try:
        if place.stat().st_size > MAX_TAKE_BYTES:
            raise BadFile(name, "is larger than a take can be")
        with np.load(place, allow_pickle=False) as arrays:
            rows, rate, labels = arrays["rows"], float(arrays["rate"]), tuple(map(str, arrays["labels"]))
            character = str(arrays["character"]) if "character" in arrays else ""
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        raise BadFile(name, "the recording is missing or damaged") from None
    if rows.ndim != 2 or rows.dtype != np.float32 or not np.isfinite(rows).all() or not rate > 0:
        raise BadFile(name, "the recording is damaged")
    return RecordedTake(rows, rate, labels, character)


def clip_of(session: Session, document: Document, id: str) -> tuple[PosedRig, Clip]:
    """The rig and the clip of a take, with the exact recorded values. It blocks."""
    entry = find_take(document, id)
    rig = session.assets.get(entry.character).rig
    recorded = read_take(session.project.place("takes", entry.file), f"the take {entry.name!r}")
    if recorded.rows.shape[1] != rig.channels.width:
        raise InvalidInput(f"the take {entry.name!r} was recorded from another character")
    return rig, clip_of_rows(rig, entry.name, recorded.rows, recorded.rate, recorded.labels)


def find_take(document: Document, id: str) -> TakeEntry:
    """The entry of a take; an unknown id raises `InvalidInput`."""
    entry = document.take(id)
    if entry is None:
        raise InvalidInput(f"there is no take {id!r}")
    return entry


def next_name(document: Document) -> str:
    """The first free name of `take 1`, `take 2`, ..."""
    known = {entry.name for entry in document.takes}
    return next(name for name in (f"take {n}" for n in range(1, len(known) + 2)) if name not in known)
