"""Bytes: buffers and pictures, embedded as base64, in the binary chunk, or in files beside this one.

A file may name only files inside its own folder: no network, no absolute path, no way up.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from understudy import files
from understudy.errors import BadFile, Unsupported
from understudy.formats.gltf.document import Document
from understudy.formats.gltf.entry import Entry, integer_rows, shown, written
from understudy.formats.gltf.extensions import refused


class Buffers:
    """The buffers and buffer views of a document; each is checked and read once, when first needed."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._buffers: dict[int, memoryview] = {}
        self._views: dict[int, tuple[memoryview, int]] = {}
        self._external: dict[Path, bytes] = {}
        fields = {"buffer": -1, "byteOffset": 0, "byteLength": 0, "byteStride": 0}
        self._rows = integer_rows(document.list("bufferViews"), fields)

        for number, entry in enumerate(document.list("buffers")):
            self._check_claim(number, entry)

    def _check_claim(self, number: int, entry: Entry) -> None:
        """Refuse a buffer that is larger than what is there to hold it, before anything is decoded or opened."""
        length = entry.integer("byteLength", low=1)
        uri = entry.text("uri", default=None)
        chunk = self.document.binary if number == 0 else None
        there = len(uri) if uri is not None and uri.startswith("data:") else None
        there = len(chunk) if uri is None and chunk is not None else there
        if there is not None and there < length:
            raise entry.bad("byteLength", f"is {length:,}, but the buffer holds {there:,} bytes at most")

    def view(self, index: int) -> tuple[memoryview, int]:
        """The bytes of a buffer view and its stride (0: tightly packed). `index` is known to exist."""
        found = self._views.get(index)
        if found is None:
            found = self._views[index] = self._read_view(self.document.list("bufferViews")[index])
        return found

    def _read_view(self, entry: Entry) -> tuple[memoryview, int]:
        index = entry.place[-1]
        if self._rows is not None and isinstance(index, int):
            number, start, length, stride = self._rows[index]
            if number in self._buffers and start >= 0 and length > 0 and (stride == 0 or 4 <= stride < 253):
                data = self._buffers[number]
                if start + length <= len(data):
                    return data[start : start + length], stride
        return self._read_view_slowly(entry)

    def _read_view_slowly(self, entry: Entry) -> tuple[memoryview, int]:
        """Field by field, to say what is wrong."""
        number = self.document.reference(entry, "buffer", "buffers")
        if number is None:
            raise entry.bad("buffer", "is missing, but should name a buffer")
        data = self._buffer(number, entry)
        start = entry.integer("byteOffset", default=0)
        length = entry.integer("byteLength", low=1)
        if start + length > len(data):
            raise entry.bad("byteLength", f"reaches to byte {start + length:,}, but the buffer has {len(data):,}")
        stride = entry.integer("byteStride", default=0, low=4, below=253)
        return data[start : start + length], stride

    def _buffer(self, number: int, view: Entry) -> memoryview:
        if number not in self._buffers:
            entry = self.document.list("buffers")[number]
            length = entry.integer("byteLength", low=1)
            uri = entry.text("uri", default=None)
            if uri is not None:
                data = memoryview(self.fetch(uri, entry))
            elif number == 0 and self.document.binary is not None:
                data = self.document.binary
            else:
                for name in view.child("extensions").value:
                    if "meshopt" in name:
                        raise refused(self.document, name, written(view.place))
                raise entry.bad("uri", "is missing, and there is no binary chunk for this buffer")
            if len(data) < length:
                raise entry.bad("byteLength", f"is {length:,}, but the buffer holds {len(data):,} bytes")
            self._buffers[number] = data[:length]
        return self._buffers[number]

    def fetch(self, uri: str, entry: Entry) -> bytes:
        """The bytes behind the `uri` of a buffer or picture; a file that does not exist is refused."""
        if uri.startswith("data:"):
            return self._embedded(uri, entry)
        path = self.locate(uri, entry)
        if path not in self._external:
            try:
                data = files.read_bytes(path)
            except BadFile as error:
                raise entry.bad("uri", f"refers to {shown(uri)}: {error.reason}") from None
            self.document.left += 16 * len(data)
            self._external[path] = data
        return self._external[path]

    def _embedded(self, uri: str, entry: Entry) -> bytes:
        header, comma, body = uri.partition(",")
        if not comma:
            raise entry.bad("uri", "is a data URI without a comma")
        if not header.endswith(";base64"):
            return unquote_to_bytes(body)
        try:
            return base64.b64decode(unquote(body) if "%" in body else body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise entry.bad("uri", f"is not valid base64: {error}") from None

    def locate(self, uri: str, entry: Entry) -> Path:
        """The path of a file beside this one; everything that leads elsewhere is refused."""
        name = unquote(uri)
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name) or name.startswith(("/", "\\", "~")):
            raise Unsupported(
                self.document.path, f"refers to {shown(uri)}, but only files beside it are read", self._place(entry)
            )
        folder = self.document.path.resolve().parent
        try:
            path = (folder / name.replace("\\", "/")).resolve()
            inside = path.is_relative_to(folder)
        except (OSError, ValueError, RuntimeError):
            raise entry.bad("uri", f"is not the name of a file: {shown(uri)}") from None
        if not inside or ".." in Path(name.replace("\\", "/")).parts:
            raise Unsupported(
                self.document.path, f"refers to {shown(uri)}, which is outside its own folder", self._place(entry)
            )
        return path

    @staticmethod
    def _place(entry: Entry) -> str:
        return written((*entry.place, "uri"))
