"""Builder: the JSON lists and the one buffer of a file that is being written."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.formats.gltf.notes import Notes

VERTICES, INDICES = 34962, 34963
CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}


class Builder(Notes):
    """Collects objects and bytes. Views begin at multiples of four bytes, as every component type needs."""

    def __init__(self) -> None:
        super().__init__()
        self.lists: dict[str, list[dict[str, Any]]] = {}
        self.extensions: set[str] = set()
        self._content: list[list[bytes]] = []  # of each buffer view
        self._pools: dict[str, int] = {}
        self._pooled: dict[tuple[str, str, bytes], int] = {}

    def add(self, name: str, item: dict[str, Any]) -> int:
        """Append to one of the lists at the top, such as "nodes"; returns the index."""
        items = self.lists.setdefault(name, [])
        items.append(item)
        return len(items) - 1

    def view(self, data: bytes, target: int | None = None) -> int:
        """A buffer view of its own."""
        self._content.append([_padded(data)])
        return self.add("bufferViews", {"byteLength": len(data)} | ({"target": target} if target else {}))

    def accessor(self, values: Array, kind: str, target: int | None = None, bounds: bool = False) -> int:
        """An accessor for (count, n) or (count,) values with a buffer view of its own."""
        values = np.ascontiguousarray(values)
        view = self.view(values.tobytes(), target)
        return self.add("accessors", _described(values, kind, bounds) | {"bufferView": view})

    def pooled(self, values: Array, kind: str, pool: str, bounds: bool = False) -> int:
        """An accessor in a view shared by all data of one use; equal data of one kind are stored once."""
        values = np.ascontiguousarray(values)
        data = values.tobytes()
        key = (pool, kind, data)
        if key not in self._pooled:
            view, start = self._append(pool, data)
            item = _described(values, kind, bounds) | {"bufferView": view, "byteOffset": start}
            self._pooled[key] = self.add("accessors", item)
        return self._pooled[key]

    def sparse(self, values: Array, kind: str) -> int:
        """An accessor that stores only the rows of (V, n) float32 values that are not zero."""
        rows = np.flatnonzero((values != 0).any(axis=1))
        item = _described(values, kind, bounds=True)
        if rows.size:
            indices = rows.astype(np.uint16 if len(values) <= 65536 else np.uint32)
            where, where_start = self._append("sparse indices", indices.tobytes())
            what, what_start = self._append("sparse values", np.ascontiguousarray(values[rows]).tobytes())
            code = CODES[indices.dtype.str[1:]]
            item["sparse"] = {
                "count": len(rows),
                "indices": {"bufferView": where, "byteOffset": where_start, "componentType": code},
                "values": {"bufferView": what, "byteOffset": what_start},
            }
        return self.add("accessors", item)

    def _append(self, pool: str, data: bytes) -> tuple[int, int]:
        """Put bytes at the end of a shared view: the view and where they begin in it."""
        if pool not in self._pools:
            self._content.append([])
            self._pools[pool] = self.add("bufferViews", {"byteLength": 0})
        view = self._pools[pool]
        entry = self.lists["bufferViews"][view]
        start = (entry["byteLength"] + 3) // 4 * 4
        self._content[view].append(_padded(data))
        entry["byteLength"] = start + len(data)
        return view, start

    def buffer(self) -> bytes:
        """All bytes in order; fills in where each view begins."""
        start, whole = 0, []
        for entry, content in zip(self.lists.get("bufferViews", []), self._content):
            entry["buffer"], entry["byteOffset"] = 0, start
            whole.extend(content)
            start += sum(map(len, content))
        return b"".join(whole)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _described(values: Array, kind: str, bounds: bool) -> dict[str, Any]:
    item: dict[str, Any] = {"componentType": CODES[values.dtype.str[1:]], "count": len(values), "type": kind}
    if bounds:
        table = values.reshape(len(values), -1)
        item["min"], item["max"] = table.min(axis=0).tolist(), table.max(axis=0).tolist()
    return item
