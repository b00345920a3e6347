"""Which file holds what: one call for every kind of recording of a face."""

from __future__ import annotations

from pathlib import Path

from understudy import checks
from understudy.errors import BadFile, FileError, InvalidInput
from understudy.expression.reading import animation, landmark_archive, landmark_folder, landmark_table, table
from understudy.expression.reading.recording import Recording
from understudy.formats import registry

KINDS = ("landmarks", "weights")


def read(
    path: str | Path,
    *,
    kind: str | None = None,
    dimensions: int | None = None,
    rate: float | None = None,
    clip: str | None = None,
) -> Recording:
    """The recording in a file: a table (.csv) or archive (.npz) of landmarks, a folder with a file of landmarks for
    each picture, or any animation file with weights.

    A table that has both, as py-feat's, gives its landmarks unless `kind` is "weights". `dimensions` picks the 2 of
    the picture where a tracker gives 3, `clip` one of several, `rate` goes before the file's own.
    """
    path = Path(path)
    if kind is not None:
        checks.one_of(kind, "kind of recording", KINDS)
    if dimensions not in (None, 1, 2, 3):
        raise InvalidInput(f"dimensions should be 2 or 3, but are {dimensions}")
    try:
        found = _read(path, kind, dimensions, rate, clip)
    except FileError:
        raise
    except InvalidInput as error:
        raise BadFile(path, str(error)) from None
    if dimensions is not None and found.points.shape[2] != dimensions:
        raise BadFile(path, f"points in {dimensions} dimensions were expected, but they have {found.points.shape[2]}")
    return found


def _read(path: Path, kind: str | None, dimensions: int | None, rate: float | None, clip: str | None) -> Recording:
    if path.is_dir():
        return landmark_folder.read(path, rate)
    ending = path.suffix.lower()
    if ending == ".npz":
        return landmark_archive.read(path, rate)
    if ending in (".csv", ".tsv", ".txt") and kind != "weights" and dimensions != 1:
        found = table.read(path)
        if kind == "landmarks" or landmark_table.has_landmarks(found):
            return landmark_table.read(found, dimensions, rate)
    recording = animation.of_asset(registry.read(path), clip)
    if rate is None:
        return recording
    return Recording(recording.name, recording.points, rate, recording.names, recording.notes)
