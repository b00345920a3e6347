"""Accessors: typed arrays out of buffers, strided, sparse, normalised or without any data.

The size that an accessor claims is compared with its buffer before any memory is taken. `min` and `max` are ignored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats.gltf.document import GltfBuffers, GltfDocument
from understudy.formats.gltf.json_object import JsonObject, Place, format_place, format_value, integer_rows

DTYPE_PER_COMPONENT: dict[int, np.dtype[Any]] = {
    code: np.dtype(name)
    for code, name in ((5120, "i1"), (5121, "u1"), (5122, "<i2"), (5123, "<u2"), (5125, "<u4"), (5126, "<f4"))
}
FLOAT_COMPONENT = 5126
COLUMNS_PER_TYPE = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
MAX_ELEMENTS = 1 << 31  # the range of a 32-bit index


class Accessors:
    """The accessors of a document. Arrays of plain data are views into the file; nothing is cached."""

    def __init__(self, document: GltfDocument, buffers: GltfBuffers) -> None:
        self.document, self.buffers = document, buffers
        self.entries = document.list("accessors")
        self._views = len(document.list("bufferViews"))
        self.decoded: dict[int, Array] = {}  # by accessor: arrays that come from a compressed mesh, not from a buffer
        self._rows = integer_rows(self.entries, {"bufferView": -1, "byteOffset": 0, "count": 0})

    def has_data(self, index: int) -> bool:
        """Whether the accessor holds anything but implied zeros."""
        return "bufferView" in self.entries[index] or "sparse" in self.entries[index]

    def raw(self, index: int, kinds: tuple[str, ...], components: tuple[int, ...], user: Place) -> tuple[Array, bool]:
        """(count, n) the stored numbers, and whether they are normalised integers.

        `user` is the place in the file that refers to the accessor, for the message if it is of another kind.
        """
        entry = self.entries[index]
        kind, component = entry.value.get("type"), entry.value.get("componentType")
        if kind not in kinds or component not in components:
            raise self._wrong_kind(entry, kind, component, kinds, components, user)
        dtype, columns = DTYPE_PER_COMPONENT[component], COLUMNS_PER_TYPE[kind]
        if index in self.decoded:
            return self._decoded_elements(entry, self.decoded[index], dtype, columns), entry.flag("normalized")
        if self._rows is not None and "sparse" not in entry:
            at, start, count = self._rows[index]
            if 0 <= at < self._views and count > 0 and start >= 0:
                return self._elements(entry, at, start, count, dtype, columns), entry.flag("normalized")
        count = entry.integer("count", low=1, below=MAX_ELEMENTS)
        view = self.document.reference(entry, "bufferView", "bufferViews")
        if view is None:
            self.document.take(count * columns * dtype.itemsize, entry.place)
            data = np.zeros((count, columns), dtype)
        else:
            data = self._read_stored_elements(entry, view, dtype, count, columns)
        if "sparse" in entry:
            data = self._overlay(entry, data)
        return data, entry.flag("normalized")

    def _decoded_elements(self, entry: JsonObject, data: Array, dtype: np.dtype[Any], columns: int) -> Array:
        """(count, columns) numbers of a compressed mesh in the type that the accessor names."""
        if data.shape[1] != columns:
            raise entry.bad("type", f"has {columns} numbers, but the compressed mesh has {data.shape[1]}")
        self.document.take(data.size * dtype.itemsize, entry.place)
        with np.errstate(invalid="ignore"):
            return data.astype(dtype)

    def _wrong_kind(
        self,
        entry: JsonObject,
        kind: Any,
        component: Any,
        kinds: tuple[str, ...],
        components: tuple[int, ...],
        user: Place,
    ) -> BadFile:
        if not isinstance(component, int) or component not in DTYPE_PER_COMPONENT:
            return entry.bad(
                "componentType",
                f"is {format_value(component)}, but should be one of {_join_choices(DTYPE_PER_COMPONENT)}",
            )
        if not isinstance(kind, str) or kind not in COLUMNS_PER_TYPE:
            return entry.bad("type", f"is {format_value(kind)}, but should be one of {_join_choices(COLUMNS_PER_TYPE)}")
        wanted = f"{_join_choices(kinds)} of {_join_choices(DTYPE_PER_COMPONENT[c].name for c in components)}"
        actual = f"{kind} of {DTYPE_PER_COMPONENT[component].name}"
        return BadFile(
            self.document.path, f"is {actual} ({format_place(entry.place)}), but should be {wanted}", format_place(user)
        )

    def _read_stored_elements(
        self, entry: JsonObject, view: int, dtype: np.dtype[Any], count: int, columns: int
    ) -> Array:
        return self._elements(entry, view, entry.integer("byteOffset", default=0), count, dtype, columns)

    def _elements(
        self, entry: JsonObject, view: int, start: int, count: int, dtype: np.dtype[Any], columns: int
    ) -> Array:
        """(count, columns) a window on the bytes of a buffer view, which must hold all of it."""
        data, stride = self.buffers.view(view)
        item = columns * dtype.itemsize
        stride = stride or item
        if stride < item:
            raise entry.bad("bufferView", f"has a stride of {stride} bytes, but each element takes {item}")
        end = start + stride * (count - 1) + item
        if end > len(data):
            raise entry.bad(
                "count", f"is {count:,}, which reaches to byte {end:,} of the buffer view, but it has {len(data):,}"
            )
        return np.ndarray((count, columns), dtype, data, start, (stride, dtype.itemsize))

    def _overlay(self, entry: JsonObject, data: Array) -> Array:
        sparse = entry.child("sparse")
        count = sparse.integer("count", low=1, below=len(data) + 1)
        where, what = sparse.child("indices"), sparse.child("values")
        dtype = DTYPE_PER_COMPONENT.get(where.integer("componentType"))
        if dtype is None or dtype.kind != "u":
            raise where.bad("componentType", "should be 5121, 5123 or 5125, an unsigned integer")
        rows = self._read_stored_elements(where, self._view_of(where), dtype, count, 1)[:, 0].astype(np.int64)
        values = self._read_stored_elements(what, self._view_of(what), data.dtype, count, data.shape[1])
        if rows.max() >= len(data) or (count > 1 and np.diff(rows).min() <= 0):
            raise where.bad("", f"should rise and stay below {len(data)}, but reach {rows.max()} or fall")
        self.document.take(data.nbytes, entry.place)
        data = np.array(data)
        data[rows] = values
        return data

    def _view_of(self, entry: JsonObject) -> int:
        view = self.document.reference(entry, "bufferView", "bufferViews")
        if view is None:
            raise entry.bad("bufferView", "is missing")
        return view

    def floats(
        self,
        index: int,
        kinds: tuple[str, ...],
        user: Place,
        components: tuple[int, ...] = (FLOAT_COMPONENT,),
        dtype: Any = np.float32,
    ) -> Array:
        """(count, n) numbers as floats of `dtype`, normalised integers turned into fractions, all finite."""
        result = self.loose_floats(index, kinds, user, components, dtype)
        if not np.isfinite(result).all():
            row = int(np.flatnonzero(~np.isfinite(result).all(axis=1))[0])
            bad = result[row][~np.isfinite(result[row])][0]
            raise self.entries[index].bad("", f"should hold finite numbers, but element {row} holds {bad}")
        return result

    def loose_floats(
        self, index: int, kinds: tuple[str, ...], user: Place, components: tuple[int, ...], dtype: Any = np.float32
    ) -> Array:
        """The same, but the array may hold NaN and infinity."""
        data, normalised = self.raw(index, kinds, components, user)
        self.document.take(data.size * np.dtype(dtype).itemsize, user)
        return (self.fractions(data, index) if normalised else data).astype(dtype)

    def fractions(self, data: Array, index: int) -> Array:
        """Normalised integers as fractions, float64 [glTF 2.0, 3.6.2.2]; floats stay as they are."""
        if data.dtype.kind == "f":
            return data
        if data.dtype.itemsize == 4:
            raise self.entries[index].bad("normalized", "applies to integers of 8 and 16 bits only")
        return np.maximum(data / float(np.iinfo(data.dtype).max), -1.0)


def _join_choices(items: Any) -> str:
    return ", ".join(str(item) for item in items)
