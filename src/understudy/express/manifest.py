"""Reading recordings of faces: one call for every kind of file, and manifests that label them.

`read_recording` picks the reader: trackers' tables, archives and folders of landmarks, animation files with weights.
A manifest, in TOML, says which file or which part of it is which expression, and where its peak is:

    labels = ["happiness", "fear"]      # optional: any other label is then a mistake
    rate = 30                           # optional: frames a second of files, before their own clocks

    [regions]                           # optional: other regions than eyes, brows, nose, mouth, cheeks_jaw
    top = ["brow*", "eye*"]

    [[sequence]]
    file = "takes/joy.csv"              # beside the manifest; a pattern such as joy_*.csv for many
    label = "happiness"
    peak = 0.8                          # seconds of the file; or peak_frame = 24, -1 the last; else it is found
    start = 0.2                         # optional, seconds: a part of the file
    end = 2.4
    name = "joy"                        # optional; also kind, dimensions, clip and rate, as for reading a file

Paths are relative to the manifest. `file` may also be a folder with a file of landmarks for each picture.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy import checks, files, schema
from understudy.errors import BadFile, FileError, InvalidInput
from understudy.express import landmark_files
from understudy.express.recording import Recording, recording_from_asset
from understudy.express.sequence import ExpressionSequence, regions_of
from understudy.formats import registry

RECORDING_KINDS = ("landmarks", "weights")
MAX_MANIFEST_CHARACTERS = 4 << 20  # characters: some 20,000 sequences
MAX_FILES = 20_000
MANIFEST_KEYS = ("labels", "rate", "regions", "sequence")
SEQUENCE_KEYS = ("file", "label", "peak", "peak_frame", "start", "end", "name", "kind", "dimensions", "clip", "rate")


@dataclass(frozen=True)
class Manifest:
    """What a manifest describes: the sequences as they were recorded, and the regions where it names any."""

    sequences: tuple[ExpressionSequence, ...]
    regions: Mapping[str, Sequence[str]] | None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the sequences, sorted."""
        return tuple(sorted({sequence.label for sequence in self.sequences}))

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading changed, over all sequences, each line once."""
        return tuple(dict.fromkeys(note for sequence in self.sequences for note in sequence.notes))


def read_manifest(path: str | Path) -> Manifest:
    """The sequences that a manifest names. Every error says in one sentence what is wrong, in which file and entry."""
    path = Path(path)
    reading = _ManifestReader(path)
    return reading.manifest(
        schema.parse_toml(files.read_text(path, MAX_MANIFEST_CHARACTERS), str(path), MAX_MANIFEST_CHARACTERS)
    )


class _ManifestReader(schema.TableReader):
    """A manifest while it is read: a file that several sequences name is opened once."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.folder = path.parent
        self.opened: dict[tuple[Any, ...], Recording] = {}

    def manifest(self, text: dict[str, Any]) -> Manifest:
        self.keys(text, MANIFEST_KEYS, "", "a manifest")
        labels = None
        if "labels" in text:
            labels = [
                self.word(label, "a label", "labels") for label in self.entries(text["labels"], "labels", "labels")
            ]
        rate = self.number(text["rate"], "rate", "rate", 1e-3, 1e4) if "rate" in text else None
        entries = text.get("sequence", [])
        if not isinstance(entries, list) or not entries:
            self.fail("should have at least one [[sequence]], but has none")
        takes: list[ExpressionSequence] = []
        for number, entry in enumerate(entries, 1):
            place = f"sequence {number}"
            takes += self._takes(self.table(entry, "a sequence", place), place, labels, rate)
        regions = self._regions(text["regions"], takes[0]) if "regions" in text else None
        return Manifest(tuple(_number_repeated_names(takes)), regions)

    def _takes(
        self, entry: dict[str, Any], place: str, labels: list[str] | None, rate: float | None
    ) -> list[ExpressionSequence]:
        self.keys(entry, SEQUENCE_KEYS, place, "a sequence")
        for key in ("file", "label"):
            if key not in entry:
                self.fail(f"{key} is missing", place)
        label = self.word(entry["label"], "label", place, labels or ())
        options: dict[str, Any] = {key: self.word(entry[key], key, place) for key in ("kind", "clip") if key in entry}
        if "dimensions" in entry:
            options["dimensions"] = int(self.number(entry["dimensions"], "dimensions", place, 1, 3))
        file_rate = self.number(entry["rate"], "rate", place, 1e-3, 1e4) if "rate" in entry else rate
        part: dict[str, Any] = {
            key: self.number(entry[key], key, place, 0) for key in ("peak", "start", "end") if key in entry
        }
        if "peak_frame" in entry:
            frame = entry["peak_frame"]
            if isinstance(frame, bool) or not isinstance(frame, int):
                self.fail(f"peak_frame should be a whole number, but is {schema.format_value(frame)}", place)
            part["peak_frame"] = frame
        name = self.word(entry["name"], "name", place) if "name" in entry else None
        paths = self._files(self.word(entry["file"], "file", place), place)
        return [self._take(path, label, place, {"rate": file_rate, **options}, part, name) for path in paths]

    def _files(self, pattern: str, place: str) -> list[Path]:
        if not re.search(r"[*?\[]", pattern):
            return [self.folder / pattern]
        if Path(pattern).is_absolute():
            self.fail(f"a pattern of files should be relative to the manifest, but is {pattern!r}", place)
        paths = sorted(self.folder.glob(pattern))
        if not paths:
            self.fail(f"no file matches {pattern!r}", place)
        if len(paths) > MAX_FILES:
            self.fail(f"at most {MAX_FILES:,} files are read, but {pattern!r} matches {len(paths):,}", place)
        return paths

    def _take(
        self, path: Path, label: str, place: str, options: dict[str, Any], part: dict[str, Any], name: str | None
    ) -> ExpressionSequence:
        key = (path, *sorted((key, str(value)) for key, value in options.items()))
        try:
            if key not in self.opened:
                self.opened[key] = read_recording(path, **options)
            return self.opened[key].sequence(label, name=name, **part)
        except InvalidInput as error:
            self.fail(f"{path.name}: {error}", place)

    def _regions(self, value: Any, take: ExpressionSequence) -> dict[str, list[str]]:
        regions = {
            name: [
                self.word(member, f"a member of {name!r}", "regions")
                for member in self.entries(members, name, "regions")
            ]
            for name, members in self.table(value, "regions", "regions").items()
        }
        try:
            regions_of(take.names, regions)
        except InvalidInput as error:
            self.fail(str(error), "regions")
        return regions


def _number_repeated_names(takes: list[ExpressionSequence]) -> list[ExpressionSequence]:
    """The sequences with numbers appended to names that occur more than once, as parts of one file do."""
    counts: dict[str, int] = {}
    names = [take.name for take in takes]
    result = []
    for take in takes:
        if names.count(take.name) > 1:
            counts[take.name] = counts.get(take.name, 0) + 1
            take = take.with_fields(name=f"{take.name} {counts[take.name]}")
        result.append(take)
    return result


def read_recording(
    path: str | Path,
    *,
    kind: str | None = None,
    dimensions: int | None = None,
    rate: float | None = None,
    clip: str | None = None,
) -> Recording:
    """The recording in a file: a table (.csv) or archive (.npz) of landmarks, a folder with a file of landmarks for
    each picture, or any animation file with weights.

    A table that has both, as py-feat's, gives its landmarks unless `kind` is "weights". `dimensions` 2 picks the
    picture's where a tracker gives 3, `clip` picks one of several clips, `rate` overrides the file's own.
    """
    path = Path(path)
    if kind is not None:
        checks.one_of(kind, "kind of recording", RECORDING_KINDS)
    if dimensions not in (None, 1, 2, 3):
        raise InvalidInput(f"dimensions should be 2 or 3, but are {dimensions}")
    try:
        recording = _read_any(path, kind, dimensions, rate, clip)
    except FileError:
        raise
    except InvalidInput as error:
        raise BadFile(path, str(error)) from None
    if dimensions is not None and recording.points.shape[2] != dimensions:
        count = recording.points.shape[2]
        raise BadFile(path, f"points in {dimensions} dimensions were expected, but they have {count}")
    return recording


def _read_any(path: Path, kind: str | None, dimensions: int | None, rate: float | None, clip: str | None) -> Recording:
    if path.is_dir():
        return landmark_files.read_landmark_folder(path, rate)
    ending = path.suffix.lower()
    if ending == ".npz":
        return landmark_files.read_landmark_archive(path, rate)
    if ending in (".csv", ".tsv", ".txt") and kind != "weights" and dimensions != 1:
        table = landmark_files.read_table(path)
        if kind == "landmarks" or landmark_files.has_landmarks(table):
            return landmark_files.read_landmark_table(table, dimensions, rate)
    recording = recording_from_asset(registry.read(path), clip)
    if rate is None:
        return recording
    return Recording(recording.name, recording.points, rate, recording.names, recording.notes)
