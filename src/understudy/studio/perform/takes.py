"""Takes: recorded performances as files of the project, and back as clips that can be scrubbed and written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy import files
from understudy.character import Asset, Clip
from understudy.errors import BadFile, InvalidInput
from understudy.opening import clip_of_rows
from understudy.studio.document import Document, TakeEntry
from understudy.studio.perform.recording import Recorded

if TYPE_CHECKING:
    from pathlib import Path

    from understudy.rig import PosedRig
    from understudy.studio.session import Session

ENDING = ".npz"
LARGEST = 1 << 30  # bytes


def write(recorded: Recorded, place: Path) -> None:
    """Keep a recording, whole or not at all."""
    with files.written_whole(place) as temporary, temporary.open("wb") as handle:
        labels = np.array(recorded.labels, dtype=np.str_)
        np.savez(handle, rows=recorded.rows, rate=np.float64(recorded.rate), labels=labels)


def read(place: Path, name: str) -> Recorded:
    """A recording that was kept; `name` is what errors call it."""
    import zipfile

    try:
        if place.stat().st_size > LARGEST:
            raise BadFile(name, "is larger than a take can be")
        with np.load(place, allow_pickle=False) as found:
            rows, rate, labels = found["rows"], float(found["rate"]), tuple(map(str, found["labels"]))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        raise BadFile(name, "the recording is gone or damaged") from None
    if rows.ndim != 2 or rows.dtype != np.float32 or not np.isfinite(rows).all() or not rate > 0:
        raise BadFile(name, "the recording is damaged")
    return Recorded(rows, rate, labels)


def clip_of(session: Session, document: Document, id: str) -> tuple[PosedRig, Clip]:
    """The rig and the clip of a take, every value as it was shown; it blocks."""
    entry = found(document, id)
    rig = session.assets.get(entry.character).rig
    recorded = read(session.project.place("takes", entry.file), f"the take {entry.name!r}")
    if recorded.rows.shape[1] != rig.channels.width:
        raise InvalidInput(f"the take {entry.name!r} was recorded from another character")
    return rig, clip_of_rows(rig, entry.name, recorded.rows, recorded.rate, recorded.labels)


def asset_of(session: Session, document: Document, id: str) -> Asset:
    """The character with the take as its only clip, as every format is written from; it blocks."""
    rig, clip = clip_of(session, document, id)
    return Asset([rig.character], [clip])


def found(document: Document, id: str) -> TakeEntry:
    """The entry of a take; an unknown id is refused."""
    entry = document.take(id)
    if entry is None:
        raise InvalidInput(f"there is no take {id!r}")
    return entry


def next_name(document: Document) -> str:
    """`take 3`, the first that is not taken."""
    known = {entry.name for entry in document.takes}
    return next(name for name in (f"take {n}" for n in range(1, len(known) + 2)) if name not in known)
