"""Document: a file taken apart but not yet understood: its JSON lists, its notes, and a bound on memory.

Many small things in a file may point at one large thing (a thousand nodes at one mesh, a thousand channels at one
sampler), so what a file asks for is not bounded by its size. Every array that reading makes is charged to a budget
before it is made.
"""

from __future__ import annotations

from pathlib import Path

from understudy.errors import BadFile, Unsupported
from understudy.formats.gltf.entry import Entry, written
from understudy.formats.gltf.extensions import check_required
from understudy.formats.gltf.notes import Notes

# A gigabyte lets a small file be mostly zeros: the 800 morph targets of a flattened dragon move few vertices each, and
# are 20 MB as sparse accessors, 230 MB as arrays, three times that while they are read. 16 times the file covers
# 8-bit attributes that become float32 and keys that become float64 with tangents.
FREE, FACTOR = 1 << 30, 16


class Document(Notes):
    """What all parts of the reader share."""

    def __init__(self, path: Path, root: object, binary: memoryview | None, size: int) -> None:
        super().__init__()
        self.path, self.binary = path, binary
        self.root = Entry(path, root, ())
        self.left = FREE + FACTOR * size
        self._lists: dict[str, list[Entry]] = {}
        self._check_version()
        check_required(self)

    def _check_version(self) -> None:
        asset = self.root.child("asset")
        version = asset.text("version", default=None)
        if version is None:
            raise asset.bad("version", "is missing, so this is not a glTF file")
        needed = asset.text("minVersion", default=version)
        if needed.split(".")[0] != "2" or needed not in ("2.0", version):
            raise Unsupported(self.path, f"is glTF {needed}, but only version 2.0 is read", "asset.version")

    def list(self, name: str) -> list[Entry]:
        """The objects of one of the lists at the top, such as "nodes"."""
        if name not in self._lists:
            self._lists[name] = self.root.children(name)
        return self._lists[name]

    def reference(self, entry: Entry, key: str, name: str) -> int | None:
        """The index that a field holds into one of the lists at the top, or None where the field is absent."""
        index = entry.integer(key, default=None)
        if index is not None and index >= len(self.list(name)):
            raise entry.bad(key, f"is {index}, but there are {len(self.list(name))} {name}")
        return index

    def take(self, size: int, place: tuple[str | int, ...]) -> None:
        """Charge `size` bytes to the budget before they are allocated."""
        self.left -= size
        if self.left < 0:
            raise BadFile(
                self.path, f"asks for far more memory than the file holds ({size:,} bytes here)", written(place)
            )
