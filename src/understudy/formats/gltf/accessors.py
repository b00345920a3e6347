"""Accessors: typed arrays out of buffers, strided, sparse, normalised or without any data.

The size that an accessor claims is compared with its buffer before any memory is taken. `min` and `max` are ignored.

**Draco** (KHR_draco_mesh_compression) puts the arrays of a mesh into one compressed block instead. They are decoded by
the Draco library in a guarded child process, all meshes of a file by one child. The library is C++. None of 1,500
damaged meshes crashed it, but it promises nothing: a crash, a hang or a claim of too much memory ends the child and
gives one sentence.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile, MissingExtra
from understudy.formats.gltf.document import DRACO_EXTENSION, GltfBuffers, GltfDocument
from understudy.formats.gltf.json_object import JsonObject, Place, format_place, format_value, integer_rows

DTYPE_PER_COMPONENT: dict[int, np.dtype[Any]] = {
    code: np.dtype(name)
    for code, name in ((5120, "i1"), (5121, "u1"), (5122, "<i2"), (5123, "<u2"), (5125, "<u4"), (5126, "<f4"))
}
FLOAT_COMPONENT = 5126
COLUMNS_PER_TYPE = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
MAX_ELEMENTS = 1 << 31  # the range of a 32-bit index

DRACO_COMMAND = "from understudy.formats.gltf import accessors; accessors.run_draco()"
# Starting takes a fifth of a second of processor time; the library decodes some ten megabytes a second.
BASE_CPU_SECONDS, BYTES_PER_CPU_SECOND = 3, 1_000_000
WALL_SECONDS_PER_CPU_SECOND = 20  # on a machine that is busy with other work
CHILD_MEMORY_BYTES = 1 << 30


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


def decode_draco(document: GltfDocument, buffers: GltfBuffers, primitives: list[JsonObject]) -> dict[int, Array]:
    """The arrays that compressed primitives hold, by the number of the accessor that each stands for.

    Args:
        document: The document.
        buffers: Its buffers.
        primitives: The compressed primitives.

    Returns:
        (count, n) arrays: the attributes, and the triangles' corners (3 T, 1).

    Raises:
        MissingExtra: If the Draco library is not installed.
        BadFile: If a mesh is damaged.
    """
    if importlib.util.find_spec("DracoPy") is None:
        raise MissingExtra(f"{document.path}: reading Draco compression", "draco")
    entries = [primitive.child("extensions").child(DRACO_EXTENSION) for primitive in primitives]
    sources = []
    for entry in entries:
        view = document.reference(entry, "bufferView", "bufferViews")
        if view is None:
            raise entry.bad("bufferView", "is missing")
        sources.append(buffers.view(view)[0])
    answer, data = _run_child(document, sources)
    if "bad" in answer:
        raise entries[int(answer["bad"])].bad("", "holds a Draco mesh that is damaged or far too large")
    decoded: dict[tuple[int, int], Array] = {}
    start = 0
    for mesh, attribute, dtype, shape in answer["arrays"]:
        array = np.frombuffer(data, np.dtype(dtype), int(np.prod(shape)), start).reshape(shape)
        start += array.nbytes
        decoded[mesh, attribute] = array
    result: dict[int, Array] = {}
    for number, (primitive, entry) in enumerate(zip(primitives, entries)):
        result |= _arrays_by_accessor(document, primitive, entry, decoded, number)
    return result


def _arrays_by_accessor(
    document: GltfDocument, primitive: JsonObject, entry: JsonObject, decoded: dict[tuple[int, int], Array], number: int
) -> dict[int, Array]:
    corners = document.reference(primitive, "indices", "accessors")
    if corners is None:
        raise primitive.bad("indices", "is missing, but a compressed primitive needs an accessor for its triangles")
    result = {corners: decoded[number, -1].reshape(-1, 1)}
    attributes, numbers = primitive.child("attributes"), entry.child("attributes")
    for key in numbers.value:
        accessor = document.reference(attributes, key, "accessors")
        array = decoded.get((number, numbers.integer(key)))
        if array is None:
            raise numbers.bad(key, "names an attribute that the compressed mesh does not have")
        if accessor is not None:
            result[accessor] = array.reshape(len(array), -1)
    return result


def _run_child(document: GltfDocument, sources: list[memoryview]) -> tuple[dict[str, Any], memoryview]:
    """Give the compressed meshes to a child; its answer, and the bytes of all arrays.

    It gets one line of JSON, {"sizes": [bytes of each mesh], "budget": bytes}, then the compressed meshes. It answers
    one line of JSON, {"arrays": [[mesh, attribute, dtype, shape], ...]} or {"bad": mesh}, then the arrays; attribute -1
    is the triangles.
    """
    total = sum(map(len, sources))
    seconds = BASE_CPU_SECONDS + total // BYTES_PER_CPU_SECOND
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        "OPENBLAS_NUM_THREADS": "1",
    }
    budget = max(0, min(CHILD_MEMORY_BYTES, document.left) // 4)
    header = json.dumps({"sizes": [len(source) for source in sources], "budget": budget}).encode() + b"\n"
    damaged = BadFile(document.path, "is damaged: the Draco library cannot get through its meshes")
    try:
        done = subprocess.run(
            [sys.executable, "-c", DRACO_COMMAND, str(seconds)],
            input=header + b"".join(sources),
            capture_output=True,
            env=environment,
            timeout=WALL_SECONDS_PER_CPU_SECOND * seconds,
        )
        line, _, _ = done.stdout.partition(b"\n")
        answer = json.loads(line)
    except (subprocess.TimeoutExpired, ValueError):
        raise damaged from None
    document.take(4 * (len(done.stdout) - len(line)), ())
    return answer, memoryview(done.stdout)[len(line) + 1 :]


def run_draco() -> None:
    """Decode all meshes, in the child, and leave at once, without the library's clean-up."""
    _limit_resources(int(sys.argv[1]))
    import DracoPy

    header = json.loads(sys.stdin.buffer.readline())
    entries: list[list[Any]] = []
    arrays: list[bytes] = []
    left = header["budget"]
    answer: dict[str, Any] = {"arrays": entries}
    for number, size in enumerate(header["sizes"]):
        try:
            mesh = DracoPy.decode(sys.stdin.buffer.read(size))
            decoded = [(-1, mesh.faces.astype("<u4")), *((item["unique_id"], item["data"]) for item in mesh.attributes)]
        except Exception:  # the library has errors of many kinds; each means that the mesh is damaged
            decoded = []
        left -= sum(array.nbytes for _, array in decoded)
        if not decoded or left < 0:
            answer, arrays = {"bad": number}, []
            break
        for attribute, array in decoded:
            entries.append([number, int(attribute), array.dtype.str, array.shape])
            arrays.append(array.tobytes())
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + b"".join(arrays))
    sys.stdout.buffer.flush()
    os._exit(0)


def _limit_resources(processor_seconds: int) -> None:
    """Bounds that the system enforces; where it knows none, only the parent's clock bounds the child."""
    try:
        import resource
    except ImportError:
        return
    for kind, bound in (
        (resource.RLIMIT_CPU, processor_seconds),
        (resource.RLIMIT_DATA, CHILD_MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (bound, bound))
