"""A glTF file taken apart but not yet understood: its JSON lists, its bytes, its notes, and a bound on memory.

**Container.** A .glb with its chunks, or a .gltf that is all JSON; the first bytes tell them apart.

**Memory.** Many small things in a file may point at one large thing (a thousand nodes at one mesh, a thousand channels
at one sampler), so the memory that a file asks for is not bounded by its size. Every array that reading makes is
charged to a budget before it is made.

**Extensions.** Unknown ones that a file requires are refused by name; optional ones are noted when they are left out.

**Buffers and pictures** are embedded as base64, in the binary chunk, or in other files. A file may name only files
inside its own folder: no network, no absolute path, no parent folder.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from understudy import files
from understudy.errors import BadFile, FileError, Unsupported
from understudy.formats.conventions import CountedNotes
from understudy.formats.gltf.json_object import JsonObject, format_place, format_value, integer_rows

MAGIC = b"glTF"
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942

# The budget in bytes. A gigabyte lets a small file be mostly zeros: the 800 morph targets of a flattened dragon are few
# vertices each: 20 MB as sparse accessors, 230 MB as arrays, three times that while they are read. 16 times the file
# covers 8-bit attributes that become float32 and keys that become float64 with tangents.
BASE_MEMORY_BYTES, MEMORY_PER_FILE_BYTE = 1 << 30, 16

QUANTISATION_EXTENSION = "KHR_mesh_quantization"
DRACO_EXTENSION = "KHR_draco_mesh_compression"
MESHOPT_EXTENSIONS = ("EXT_meshopt_compression", "KHR_meshopt_compression")
# Textures name a picture of another kind by these, instead of or beside one that every reader knows.
PICTURE_EXTENSIONS = {"KHR_texture_basisu": "image/ktx2", "EXT_texture_webp": "image/webp"}
# Extensions of appearance: they are kept with the material or texture and written again.
KEPT_PREFIX = "KHR_materials_"
KEPT_EXTENSIONS = (
    *("KHR_texture_transform", QUANTISATION_EXTENSION, DRACO_EXTENSION),
    *MESHOPT_EXTENSIONS,
    *PICTURE_EXTENSIONS,
)
# Other modules note these themselves.
SELF_NOTED_EXTENSIONS = ("KHR_lights_punctual", "KHR_animation_pointer")


def unpack(path: Path) -> tuple[Any, memoryview | None, int]:
    """The JSON of a file, the binary chunk that a .glb may carry, and the size of the file in bytes."""
    data = files.read_bytes(path)
    if data[:4] == MAGIC:
        text, binary = _chunks(path, data)
    else:
        text, binary = data, None
    return _parse(path, text), binary, len(data)


def _chunks(path: Path, data: bytes) -> tuple[bytes, memoryview | None]:
    if len(data) < 12:
        raise BadFile(path, f"ends after {len(data)} bytes, within the header of 12")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise Unsupported(path, f"is a glTF container of version {version}, but only version 2 is read")
    if length > len(data):
        raise BadFile(path, f"is cut short: it should have {length:,} bytes, but has {len(data):,}")
    text, binary, at, number = None, None, 12, 0
    while at + 8 <= length:
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > length:
            raise BadFile(path, f"has {size:,} bytes, but only {length - at - 8:,} are left", f"chunk {number}")
        content = memoryview(data)[at + 8 : at + 8 + size]
        if number == 0 and kind != JSON_CHUNK:
            raise BadFile(path, f"should be JSON, but is of kind {kind:#010x}", "chunk 0")
        if number == 0:
            text = bytes(content)
        elif kind == BINARY_CHUNK and binary is None:
            binary = content
        at, number = at + 8 + size, number + 1
    if text is None:
        raise BadFile(path, "has no JSON chunk")
    return text, binary


def _parse(path: Path, text: bytes) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not a number in JSON")

    try:
        root = json.loads(text.decode("utf-8-sig"), parse_constant=refuse)
    except UnicodeDecodeError as error:
        raise BadFile(path, f"is neither a .glb nor JSON in UTF-8: byte {error.start} cannot be decoded") from None
    except json.JSONDecodeError as error:
        if error.pos == 0:  # an empty file, or one of another kind
            raise BadFile(path, "is not valid JSON, nor a .glb, from its first byte on") from None
        raise BadFile(path, f"is not valid JSON: {error.msg}", f"line {error.lineno} column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).partition(";")[0]
        raise BadFile(path, f"is not valid JSON: {reason}") from None
    if not isinstance(root, dict):
        raise BadFile(path, f"should hold a JSON object, but holds {format_value(root)}")
    return root


class GltfDocument(CountedNotes):
    """The JSON lists of a file, its notes, and its memory budget, which all parts of the reader share."""

    def __init__(self, path: Path, root: object, binary: memoryview | None, size: int) -> None:
        super().__init__()
        self.path, self.binary = path, binary
        self.root = JsonObject(path, root, ())
        self.left = BASE_MEMORY_BYTES + MEMORY_PER_FILE_BYTE * size
        self._lists: dict[str, list[JsonObject]] = {}
        self._reasons: dict[str, str] = {}
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

    def list(self, name: str) -> list[JsonObject]:
        """The objects of one of the lists at the top, such as "nodes"."""
        if name not in self._lists:
            self._lists[name] = self.root.children(name)
        return self._lists[name]

    def reference(self, entry: JsonObject, key: str, name: str) -> int | None:
        """The index that a field holds into one of the lists at the top, or None where the field is absent."""
        index = entry.integer(key, default=None)
        if index is not None and index >= len(self.list(name)):
            raise entry.bad(key, f"is {index}, but there are {len(self.list(name))} {name}")
        return index

    def leave_out(self, what: str, error: FileError) -> None:
        """Count a thing that cannot be read. One note gives their number, and the place and reason of the first.

        A file that asks for too much memory is refused all the same.
        """
        if self.left < 0:
            raise error
        place = f"{error.place} " if error.place else ""
        reason = self._reasons.setdefault(what, f"{place}{error.reason}".replace("{", "{{").replace("}", "}}"))
        self.count(f"{what} that cannot be read were left out ({{}}): {reason}")

    def take(self, size: int, place: tuple[str | int, ...]) -> None:
        """Charge `size` bytes to the budget before they are allocated."""
        self.left -= size
        if self.left < 0:
            raise BadFile(
                self.path, f"asks for far more memory than the file holds ({size:,} bytes here)", format_place(place)
            )


def check_required(document: GltfDocument) -> None:
    """Refuse required extensions that are unknown; note optional ones that will be left out."""
    required = document.root.names("extensionsRequired")
    for i, name in enumerate(required):
        if not is_kept(name) and name != "KHR_lights_punctual":
            raise extension_error(document, name, f"extensionsRequired[{i}]")
    for name in document.root.names("extensionsUsed"):
        if not is_kept(name) and name not in SELF_NOTED_EXTENSIONS:
            document.note(f"the optional extension {name} was left out")


def is_kept(name: str) -> bool:
    """Whether reading keeps everything that the extension says."""
    if name == "VRM" or name.startswith("VRMC_"):  # see `vrm`
        return True
    return name in KEPT_EXTENSIONS or (name.startswith(KEPT_PREFIX) and name != "KHR_materials_variants")


def extension_error(document: GltfDocument, name: str, place: str) -> Unsupported:
    """The error for an extension that a file cannot be read without."""
    return Unsupported(document.path, f"needs the extension {name}, which is not supported; export it without", place)


def _is_fallback(buffer: JsonObject) -> bool:
    """Whether a buffer only stands for what compressed buffer views decode to, and may have no bytes."""
    extensions = buffer.child("extensions")
    return any(name in extensions and extensions.child(name).value.get("fallback") for name in MESHOPT_EXTENSIONS)


class GltfBuffers:
    """The buffers and buffer views of a document; each is checked and read once, when first needed."""

    def __init__(self, document: GltfDocument) -> None:
        self.document = document
        self._buffers: dict[int, memoryview] = {}
        self._views: dict[int, tuple[memoryview, int]] = {}
        self._external: dict[Path, bytes] = {}
        fields = {"buffer": -1, "byteOffset": 0, "byteLength": 0, "byteStride": 0}
        self._rows = integer_rows(document.list("bufferViews"), fields)

        for number, entry in enumerate(document.list("buffers")):
            self._check_claim(number, entry)

    def _check_claim(self, number: int, entry: JsonObject) -> None:
        """Refuse a buffer that claims more bytes than its source has, before anything is decoded or opened."""
        length = entry.integer("byteLength", low=1)
        uri = entry.text("uri", default=None)
        if _is_fallback(entry):
            return
        chunk = self.document.binary if number == 0 else None
        available = len(uri) if uri is not None and uri.startswith("data:") else None
        available = len(chunk) if uri is None and chunk is not None else available
        if available is not None and available < length:
            raise entry.bad("byteLength", f"is {length:,}, but the buffer holds {available:,} bytes at most")

    def view(self, index: int) -> tuple[memoryview, int]:
        """The bytes of a buffer view and its stride (0: tightly packed). `index` has been checked."""
        view = self._views.get(index)
        if view is None:
            view = self._views[index] = self._read_view(self.document.list("bufferViews")[index])
        return view

    def _read_view(self, entry: JsonObject) -> tuple[memoryview, int]:
        index, extensions = entry.place[-1], entry.value.get("extensions")
        if type(extensions) is dict:
            for name in MESHOPT_EXTENSIONS:
                if name in extensions:
                    return self._decompress(entry, entry.child("extensions").child(name))
        if self._rows is not None and isinstance(index, int):
            number, start, length, stride = self._rows[index]
            if number in self._buffers and start >= 0 and length > 0 and (stride == 0 or 4 <= stride < 253):
                data = self._buffers[number]
                if start + length <= len(data):
                    return data[start : start + length], stride
        return self._read_view_slowly(entry)

    def _decompress(self, entry: JsonObject, compressed: JsonObject) -> tuple[memoryview, int]:
        """The decompressed bytes of a view, and its stride."""
        from understudy.formats.gltf import meshopt  # with numba, which other files do not need

        data = self._slice(compressed)
        _, count, stride, _ = meshopt.read_fields(compressed)
        length = entry.integer("byteLength", low=1)
        if length > count * stride:
            raise entry.bad("byteLength", f"is {length:,}, but {count:,} elements of {stride} bytes are compressed")
        self.document.take(4 * count * stride, entry.place)  # the bytes, and copies while a filter is undone
        return memoryview(meshopt.decode(data, compressed).data)[:length], self._stride(entry)

    def _read_view_slowly(self, entry: JsonObject) -> tuple[memoryview, int]:
        """The same, field by field, with an error for the field that is wrong."""
        return self._slice(entry), self._stride(entry)

    @staticmethod
    def _stride(entry: JsonObject) -> int:
        return int(entry.integer("byteStride", default=0, low=4, below=253))

    def _slice(self, entry: JsonObject) -> memoryview:
        """The part of a buffer that `buffer`, `byteOffset` and `byteLength` name."""
        number = self.document.reference(entry, "buffer", "buffers")
        if number is None:
            raise entry.bad("buffer", "is missing, but should name a buffer")
        data = self._buffer(number)
        start = entry.integer("byteOffset", default=0)
        length = entry.integer("byteLength", low=1)
        if start + length > len(data):
            raise entry.bad("byteLength", f"reaches to byte {start + length:,}, but the buffer has {len(data):,}")
        return data[start : start + length]

    def _buffer(self, number: int) -> memoryview:
        if number not in self._buffers:
            entry = self.document.list("buffers")[number]
            length = entry.integer("byteLength", low=1)
            uri = entry.text("uri", default=None)
            if uri is not None:
                data = memoryview(self.fetch(uri, entry))
            elif number == 0 and self.document.binary is not None:
                data = self.document.binary
            else:
                raise entry.bad("uri", "is missing, and there is no binary chunk for this buffer")
            if len(data) < length:
                raise entry.bad("byteLength", f"is {length:,}, but the buffer holds {len(data):,} bytes")
            self._buffers[number] = data[:length]
        return self._buffers[number]

    def fetch(self, uri: str, entry: JsonObject) -> bytes:
        """The bytes behind the `uri` of a buffer or picture; a file that does not exist is refused."""
        if uri.startswith("data:"):
            return self._decode_data_uri(uri, entry)
        path = self.locate(uri, entry)
        if path not in self._external:
            try:
                data = files.read_bytes(path)
            except BadFile as error:
                raise entry.bad("uri", f"refers to {format_value(uri)}: {error.reason}") from None
            self.document.left += 16 * len(data)
            self._external[path] = data
        return self._external[path]

    def _decode_data_uri(self, uri: str, entry: JsonObject) -> bytes:
        header, comma, body = uri.partition(",")
        if not comma:
            raise entry.bad("uri", "is a data URI without a comma")
        if not header.endswith(";base64"):
            return unquote_to_bytes(body)
        try:
            return base64.b64decode(unquote(body) if "%" in body else body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise entry.bad("uri", f"is not valid base64: {error}") from None

    def locate(self, uri: str, entry: JsonObject) -> Path:
        """The path of a file in the folder of this one; any other path is refused."""
        name = unquote(uri)
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name) or name.startswith(("/", "\\", "~")):
            raise Unsupported(
                self.document.path,
                f"refers to {format_value(uri)}, but only files beside it are read",
                self._place(entry),
            )
        folder = self.document.path.resolve().parent
        try:
            path = (folder / name.replace("\\", "/")).resolve()
            inside = path.is_relative_to(folder)
        except (OSError, ValueError, RuntimeError):
            raise entry.bad("uri", f"is not the name of a file: {format_value(uri)}") from None
        if not inside or ".." in Path(name.replace("\\", "/")).parts:
            raise Unsupported(
                self.document.path,
                f"refers to {format_value(uri)}, which is outside its own folder",
                self._place(entry),
            )
        return path

    @staticmethod
    def _place(entry: JsonObject) -> str:
        return format_place((*entry.place, "uri"))
