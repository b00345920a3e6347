"""meshopt compression (EXT_meshopt_compression and KHR_meshopt_compression): our own decoder of its bitstreams.

A compressed buffer view names a mode (attributes, triangles or indices), the size of its elements, and perhaps a filter
that turns packed numbers back into normals, rotations, floats or colours. The format is described in the extension's
specification [github.com/KhronosGroup/glTF, EXT_meshopt_compression, appendix A and B]; versions 0 and 1 of the
bitstreams are read. Sizes are checked before memory is taken. The compiled loops check every read and return whether
all was well. The module loads numba; import it only for files that need it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.formats.gltf.json_object import JsonObject, format_value
from understudy.maths.jit import compile_kernel

EXTENSIONS = ("EXT_meshopt_compression", "KHR_meshopt_compression")
MODES = ("ATTRIBUTES", "TRIANGLES", "INDICES")
FILTERS = ("NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR")
MAX_STRIDE_BYTES = 256
# Where nothing changes, one control byte of version 1 stands for four bytes of 256 elements.
MAX_ELEMENT_BYTES_PER_BYTE = 1024
GROUP_ELEMENTS = 16  # deltas are packed by sixteens
MAX_BLOCK_BYTES, MAX_BLOCK_ELEMENTS = 8192, 256
# Bits of a delta by the two header bits of its group: version 0, then version 1 with control 0 and with control 1.
BITS_PER_MODE = np.array([[0, 2, 4, 8], [0, 1, 2, 4], [1, 2, 4, 8]])
ZERO_CONTROL, LITERAL_CONTROL = 2, 3
BYTE_CHANNEL, SHORT_CHANNEL, XOR_CHANNEL = 0, 1, 2
MIN_TAIL_BYTES = (32, 24)  # of versions 0 and 1
EDGES, CORNERS = 16, 16  # entries of the two queues of recent edges and corners


def decode(source: bytes | memoryview, entry: JsonObject) -> Array:
    """The bytes (N,) of a buffer view, decompressed.

    Args:
        source: The compressed bytes.
        entry: The extension's object in the buffer view: mode, filter, count and stride.

    Returns:
        uint8 (count * stride,).

    Raises:
        BadFile: If a field is wrong, or the bytes are damaged.
    """
    mode, count, stride, kind = read_fields(entry)
    data = np.frombuffer(source, np.uint8)
    if mode == "ATTRIBUTES":
        result = np.empty(count * stride, np.uint8)
        sound = bool(decode_attributes(data, stride, count, result))
        if sound and kind != "NONE":
            apply_filter(result, kind, stride)
    else:
        indices = np.empty(count, np.uint32)
        sound = bool((decode_triangles if mode == "TRIANGLES" else decode_indices)(data, indices))
        result = indices.astype(f"<u{stride}").view(np.uint8)
    if not sound:
        raise entry.bad("", f"holds {mode.lower()} that are damaged: they do not decode to {count:,} elements")
    return result


def read_fields(entry: JsonObject) -> tuple[str, int, int, str]:
    """Mode, count, stride in bytes, and filter; `BadFile` where they do not fit together or the bytes."""
    mode, kind = entry.value.get("mode"), entry.value.get("filter", "NONE")
    if mode not in MODES:
        raise entry.bad("mode", f"is {format_value(mode)}, but should be one of {', '.join(MODES)}")
    if kind not in FILTERS or (mode != "ATTRIBUTES" and kind != "NONE"):
        raise entry.bad("filter", f"is {format_value(kind)}, but should be one of {', '.join(FILTERS)}")
    stride = entry.integer("byteStride", low=1, below=MAX_STRIDE_BYTES + 1)
    allowed = {"OCTAHEDRAL": (4, 8), "QUATERNION": (8,), "COLOR": (4, 8)}.get(kind, ())
    if mode == "ATTRIBUTES" and (stride % 4 or (allowed and stride not in allowed)):
        raise entry.bad(
            "byteStride", f"is {stride}, but should be {' or '.join(map(str, allowed)) or 'divisible by 4'}"
        )
    if mode != "ATTRIBUTES" and stride not in (2, 4):
        raise entry.bad("byteStride", f"is {stride}, but indices have 2 or 4 bytes")
    length = entry.integer("byteLength", low=1)
    most = MAX_ELEMENT_BYTES_PER_BYTE * length // stride if mode == "ATTRIBUTES" else 3 * length
    count = entry.integer("count", low=1, below=most + 1)
    if mode == "TRIANGLES" and count % 3:
        raise entry.bad("count", f"is {count}, but triangles have three corners each")
    return mode, count, stride, kind


def apply_filter(data: Array, kind: str, stride: int) -> None:
    """Undo a filter on the bytes `data` (count * stride,), in place.

    The arithmetic is in float32, as in the library: a bit more or less of a rotation is seen at the end of an arm.
    """
    with np.errstate(all="ignore"):  # damaged elements may divide by zero; what comes out is checked as any other data
        if kind == "EXPONENTIAL":
            packed = data.view("<i4")
            exponent, mantissa = packed >> 24, (packed << 8) >> 8
            data.view("<f4")[:] = np.ldexp(mantissa.astype(np.float64), exponent)
            return
        rows = data.view(f"<i{stride // 4}").reshape(-1, 4)
        FILTER_FUNCTIONS[kind](rows, np.iinfo(rows.dtype).max)


def _octahedral(rows: Array, largest: int) -> None:
    """Unit vectors that were folded onto a square; the fourth number stays."""
    x, y, one = rows[:, :3].T.astype(np.float32)
    z = one - np.abs(x) - np.abs(y)
    fold = np.minimum(z, 0)
    x, y = x + np.where(x >= 0, fold, -fold), y + np.where(y >= 0, fold, -fold)
    length = np.sqrt(x * x + y * y + z * z)
    rows[:, :3] = _round(np.stack([x, y, z], axis=1) * (np.float32(largest) / length)[:, None])


def _quaternion(rows: Array, largest: int) -> None:
    """Rotations without their largest number, which follows from the other three."""
    code: np.ndarray[Any, np.dtype[np.int64]] = rows[:, 3].astype(np.int64)
    three = rows[:, :3].astype(np.float32) * (largest / np.sqrt(np.float32(2)) / (code | 3).astype(np.float32))[:, None]
    rest = np.float32(largest) ** 2 - np.sum(three * three, axis=1, dtype=np.float32)
    numbers = _round(np.concatenate([three, np.sqrt(np.maximum(rest, 0))[:, None]], axis=1))
    columns = ((code & 3)[:, None] + np.array([1, 2, 3, 0])) % 4
    np.put_along_axis(rows, columns, numbers.astype(rows.dtype), axis=1)


def _colour(rows: Array, largest: int) -> None:
    """Colours as brightness and two differences (YCoCg); the highest bit of alpha gives the scale."""
    unsigned = rows.view(f"<u{rows.itemsize}")
    brightness, alpha = unsigned[:, 0].astype(np.int64), unsigned[:, 3].astype(np.int64)
    orange, green = rows[:, 1].astype(np.int64), rows[:, 2].astype(np.int64)
    scale = (1 << (np.frexp(np.maximum(alpha, 1))[1].astype(np.int64))) - 1
    kept = alpha & (scale >> 1)
    numbers = [brightness + orange - green, brightness + green, brightness - orange - green, kept << 1 | kept & 1]
    factor = (2 * largest + 1) / scale
    unsigned[:] = _round(np.stack(numbers, axis=1) * factor[:, None]).astype(np.int64) & (2 * largest + 1)


def _round(values: Array) -> Array:
    """The nearest whole numbers, halves away from zero."""
    return np.nan_to_num(np.copysign(np.floor(np.abs(values) + 0.5), values))


FILTER_FUNCTIONS: dict[str, Any] = {"OCTAHEDRAL": _octahedral, "QUATERNION": _quaternion, "COLOR": _colour}


@compile_kernel(nogil=True)
def decode_attributes(source: Array, stride: int, count: int, target: Array) -> bool:
    """Decode `count` elements of `stride` bytes from bytes `source` into `target` (count * stride,)."""
    version = source[0] & 15
    if source[0] >> 4 != 10 or version > 1:
        return False
    columns = stride // 4
    tail = stride + (columns if version else 0)
    end = source.size - max(tail, MIN_TAIL_BYTES[version])
    if end < 1:
        return False
    last = source[source.size - tail : source.size - tail + stride].astype(np.int64)
    channels = source[source.size - columns :]
    block = min(MAX_BLOCK_BYTES // stride // GROUP_ELEMENTS * GROUP_ELEMENTS, MAX_BLOCK_ELEMENTS)
    deltas = np.empty((stride, block), np.int64)
    at = 1
    for start in range(0, count, block):
        elements = min(count - start, block)
        controls = at
        at += columns if version else 0
        if at > end:
            return False
        for byte in range(stride):
            control = (source[controls + byte // 4] >> (byte % 4 * 2)) & 3 if version else 0
            at = _read_deltas(source, at, end, version, control, elements, deltas[byte])
            if at < 0:
                return False
        for column in range(columns):
            channel = int(channels[column]) if version else BYTE_CHANNEL
            if not _add_deltas(deltas, last, channel, 4 * column, elements, target, start * stride, stride):
                return False
    return at == end


@compile_kernel(nogil=True)
def _read_deltas(source: Array, at: int, end: int, version: int, control: int, elements: int, deltas: Array) -> int:
    """Read the deltas of one byte of a block; returns where the next one begins, -1 where the source ends too early."""
    if control == ZERO_CONTROL:
        deltas[:elements] = 0
        return at
    if control == LITERAL_CONTROL:
        if at + elements > end:
            return -1
        for i in range(elements):
            deltas[i] = source[at + i]
        return at + elements
    groups = (elements + GROUP_ELEMENTS - 1) // GROUP_ELEMENTS
    header = at
    at += (groups + 3) // 4
    if at > end:
        return -1
    for group in range(groups):
        mode = (source[header + group // 4] >> (group % 4 * 2)) & 3
        bits = BITS_PER_MODE[control + 1 if version else 0, mode]
        first = group * GROUP_ELEMENTS
        packed = at
        at += 2 * bits  # bytes for 16 deltas
        if at > end:
            return -1
        sentinel = (1 << bits) - 1
        for i in range(GROUP_ELEMENTS):
            if bits == 0:
                delta = 0
            elif bits == 8:
                delta = int(source[packed + i])
            else:
                place = i * bits
                # single bits are packed from the lowest up, pairs and fours from the highest down
                shift = place % 8 if bits == 1 else 8 - bits - place % 8
                delta = (int(source[packed + place // 8]) >> shift) & sentinel
                if delta == sentinel:
                    if at >= end:
                        return -1
                    delta = int(source[at])
                    at += 1
            deltas[first + i] = delta
    return at


@compile_kernel(nogil=True)
def _add_deltas(
    deltas: Array, last: Array, channel: int, byte: int, elements: int, target: Array, start: int, stride: int
) -> bool:
    """Undo the differences between elements for the four bytes from `byte` on."""
    mode = channel & 3
    if mode > XOR_CHANNEL:
        return False
    rotation = channel >> 4
    for element in range(elements):
        at = start + element * stride + byte
        if mode == BYTE_CHANNEL:
            for i in range(4):
                delta = deltas[byte + i, element]
                last[byte + i] = (last[byte + i] + ((delta >> 1) ^ -(delta & 1))) & 0xFF
        elif mode == SHORT_CHANNEL:
            for i in range(0, 4, 2):
                delta = deltas[byte + i, element] | deltas[byte + i + 1, element] << 8
                value = (last[byte + i] | last[byte + i + 1] << 8) + ((delta >> 1) ^ -(delta & 1))
                last[byte + i], last[byte + i + 1] = value & 0xFF, (value >> 8) & 0xFF
        else:
            delta = 0
            for i in range(4):
                delta |= deltas[byte + i, element] << (8 * i)
            delta = (delta >> rotation) | (delta << (32 - rotation))
            for i in range(4):
                last[byte + i] ^= (delta >> (8 * i)) & 0xFF
        for i in range(4):
            target[at + i] = last[byte + i]
    return True


@compile_kernel(nogil=True)
def decode_triangles(source: Array, target: Array) -> bool:
    """Decode a list of triangles into `target` (3 T,) uint32."""
    version = source[0] & 15
    triangles = target.size // 3
    if source[0] >> 4 != 14 or version > 1 or source.size < 1 + triangles + 16:
        return False
    recent_limit = 13 if version else 15  # codes below are recent corners
    table = source.size - 16
    at = np.array([1 + triangles, table])  # where data are read, and where they end
    edges, edge_at = np.zeros((EDGES, 2), np.int64), 0
    corners, corner_at = np.zeros(CORNERS, np.int64), 0
    following, last = 0, 0
    for triangle in range(triangles):
        code = int(source[1 + triangle])
        if code < 0xF0:
            edge = (edge_at - 1 - (code >> 4)) % EDGES
            a, b = edges[edge]
            third = code & 15
            if third < recent_limit:
                c = following if third == 0 else corners[(corner_at - 1 - third) % CORNERS]
                fresh = third == 0
                following += fresh
            else:
                c = last + (third - (third ^ 3)) if third != 15 else last + _read_difference(source, at)
                last, fresh = c, True
            if fresh:
                corners[corner_at % CORNERS] = c
                corner_at += 1
            edges[edge_at % EDGES, 0], edges[edge_at % EDGES, 1] = c, b
            edges[(edge_at + 1) % EDGES, 0], edges[(edge_at + 1) % EDGES, 1] = a, c
            edge_at += 2
        else:
            if code < 0xFE:
                pair, first = int(source[table + (code & 15)]), 0
            else:
                if at[0] >= at[1]:
                    return False
                pair, first = int(source[at[0]]), 0 if code == 0xFE else 15
                at[0] += 1
                if pair == 0:
                    following = 0
            second, third = pair >> 4, pair & 15
            a = following
            following += first == 0
            b = following if second == 0 else corners[(corner_at - second) % CORNERS]
            following += second == 0
            c = following if third == 0 else corners[(corner_at - third) % CORNERS]
            following += third == 0
            if code >= 0xFE:
                if first == 15:
                    a = last = last + _read_difference(source, at)
                if second == 15:
                    b = last = last + _read_difference(source, at)
                if third == 15:
                    c = last = last + _read_difference(source, at)
            corners[corner_at % CORNERS] = a
            corner_at += 1
            if second == 0 or (second == 15 and code >= 0xFE):
                corners[corner_at % CORNERS] = b
                corner_at += 1
            if third == 0 or (third == 15 and code >= 0xFE):
                corners[corner_at % CORNERS] = c
                corner_at += 1
            for i in range(3):
                start, stop = (b, a) if i == 0 else (c, b) if i == 1 else (a, c)
                edges[(edge_at + i) % EDGES, 0], edges[(edge_at + i) % EDGES, 1] = start, stop
            edge_at += 3
        if at[0] > at[1]:
            return False
        target[3 * triangle], target[3 * triangle + 1], target[3 * triangle + 2] = (
            a & 0xFFFFFFFF,
            b & 0xFFFFFFFF,
            c & 0xFFFFFFFF,
        )
    return at[0] == at[1]


@compile_kernel(nogil=True)
def decode_indices(source: Array, target: Array) -> bool:
    """Decode a sequence of indices into `target` (N,) uint32."""
    if source[0] >> 4 != 13 or source[0] & 15 > 1 or source.size < 1 + target.size + 4:
        return False
    at = np.array([1, source.size - 4])
    last = np.zeros(2, np.int64)
    for i in range(target.size):
        value = _read_number(source, at)
        line, value = value & 1, value >> 1
        last[line] = (last[line] + ((value >> 1) ^ -(value & 1))) & 0xFFFFFFFF
        target[i] = last[line]
        if at[0] > at[1]:
            return False
    return at[0] == at[1]


@compile_kernel(nogil=True)
def _read_number(source: Array, at: Array) -> int:
    """A number in sevens of bits, the lowest first. Beyond the end `at[0]` passes `at[1]`, which callers check."""
    value = 0
    for i in range(5):
        if at[0] >= at[1]:
            at[0] = at[1] + 1
            return 0
        byte = int(source[at[0]])
        at[0] += 1
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            break
    return value & 0xFFFFFFFF


@compile_kernel(nogil=True)
def _read_difference(source: Array, at: Array) -> int:
    """A signed number: the lowest bit is the sign."""
    value = _read_number(source, at)
    return (value >> 1) ^ -(value & 1)
