"""Damage that any file can take: to its bytes, and to the words and lines of its text."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from random import Random

# Numbers that break arithmetic, sizes and parsers, as a text file would spell them.
NUMBERS = (
    *("0", "-1", "1", "2", "-0", "1e308", "-1e308", "1e309", "1e-320", "nan", "NaN", "-nan(ind)", "inf", "-inf", "0.5"),
    *("255", "256", "65536", "2147483647", "2147483648", "-2147483648", "4294967296", "9223372036854775808"),
    *(
        "1000000000",
        "100000000000000000000000000000",
        "1e",
        "1e+",
        "--1",
        "1.2.3",
        "1,5",
        "0x10",
        "1_0",
        "٣",
        "1e99999",
    ),
)
WORDS = ("", "x", "{", "}", "(", ")", "[", "]", '"', "#", "\0", "\x1a", "é", "😀", "'", "/", "//", ",", ";", ":", "%s")
INTEGERS = (0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 10**9, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC)
FLOATS = (float("nan"), float("inf"), float("-inf"), 1e38, -1e38, 1e-45, -1.0, 0.0)
TOKEN = re.compile(rb"[^\s,()\[\]{}=:]+")
NUMBER = re.compile(rb"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")


def somewhere(data: bytearray, rng: Random) -> int:
    """A place in the file, seldom in a run of zeros: blocks are filled up with them, and nobody reads those."""
    at = rng.randrange(len(data))
    for _ in range(4):
        if any(data[at : at + 4]):
            break
        at = rng.randrange(len(data))
    return at


def flip_bits(data: bytearray, rng: Random) -> None:
    """One to eight bits."""
    for _ in range(rng.randint(1, 8)):
        data[somewhere(data, rng)] ^= 1 << rng.randrange(8)


def set_bytes(data: bytearray, rng: Random) -> None:
    """A short run of random bytes, or of zeros or ones."""
    at, filler = somewhere(data, rng), rng.choice((0, 255, None))
    for i in range(at, min(len(data), at + rng.randint(1, 8))):
        data[i] = rng.randrange(256) if filler is None else filler


def truncate(data: bytearray, rng: Random) -> None:
    """The end is missing, anywhere or only just."""
    keep = rng.randrange(len(data)) if rng.random() < 0.7 else max(0, len(data) - rng.randint(1, 16))
    del data[keep:]


def extend(data: bytearray, rng: Random) -> None:
    """Rubbish after the end."""
    data += rng.randbytes(rng.randint(1, 64))


def remove_chunk(data: bytearray, rng: Random) -> None:
    """A piece out of the middle is gone."""
    at = somewhere(data, rng)
    del data[at : at + rng.randint(1, max(1, len(data) // 4))]


def repeat_chunk(data: bytearray, rng: Random) -> None:
    """A piece is there twice, or many times."""
    at = rng.randrange(len(data))
    piece = data[at : at + rng.randint(1, 256)]
    data[at:at] = piece * rng.choice((1, 1, 2, 50))


def swap_chunks(data: bytearray, rng: Random) -> None:
    """A piece stands elsewhere."""
    a, b, size = rng.randrange(len(data)), rng.randrange(len(data)), rng.randint(1, 64)
    piece = data[a : a + size]
    del data[a : a + size]
    data[b:b] = piece


def set_integer(data: bytearray, rng: Random) -> None:
    """A binary integer of two or four bytes becomes a difficult one."""
    size, value = rng.choice((2, 4)), rng.choice(INTEGERS)
    _overwrite(data, rng, (value & (2 ** (8 * size) - 1)).to_bytes(size, rng.choice(("little", "big"))))


def set_float(data: bytearray, rng: Random) -> None:
    """A binary number becomes NaN, infinite or huge."""
    _overwrite(data, rng, struct.pack(rng.choice(("<f", "<d")), rng.choice(FLOATS)))


def _overwrite(data: bytearray, rng: Random, value: bytes) -> None:
    at = somewhere(data, rng)
    # numbers in binary files mostly lie on even places
    if rng.random() < 0.5:
        at = at // len(value) * len(value)
    data[at : at + len(value)] = value


def set_number(data: bytearray, rng: Random) -> None:
    """A number in the text becomes a difficult one."""
    _replace(data, rng, NUMBER, rng.choice(NUMBERS).encode())


def set_word(data: bytearray, rng: Random) -> None:
    """A word becomes another word of the file, a number, or a stray sign."""
    found = list(TOKEN.finditer(data))
    other = rng.choice(found).group() if found else b""
    _replace(data, rng, TOKEN, rng.choice((other, rng.choice(NUMBERS).encode(), rng.choice(WORDS).encode())))


def _replace(data: bytearray, rng: Random, pattern: re.Pattern[bytes], value: bytes) -> None:
    # a window, since finding every number of a large file would take longer than reading it
    start = rng.randrange(max(1, len(data) - 4000))
    found = list(pattern.finditer(data, start, start + 6000))
    if found:
        chosen = rng.choice(found)
        data[chosen.start() : chosen.end()] = value


def drop_line(data: bytearray, rng: Random) -> None:
    """One line, or a few, are missing."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    del lines[at : at + rng.choice((1, 1, 3))]
    data[:] = b"\n".join(lines)


def repeat_line(data: bytearray, rng: Random) -> None:
    """Some lines are there twice, or very often."""
    lines = data.split(b"\n")
    at, size = rng.randrange(len(lines)), rng.choice((1, 1, 2, 5))
    lines[at:at] = lines[at : at + size] * rng.choice((1, 1, 2, 300))
    data[:] = b"\n".join(lines)


def swap_lines(data: bytearray, rng: Random) -> None:
    """Two lines change places."""
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    data[:] = b"\n".join(lines)


def cut_line(data: bytearray, rng: Random) -> None:
    """A line loses its end or gains a copy of itself."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    line = lines[at]
    lines[at] = line[: rng.randrange(len(line) + 1)] if rng.random() < 0.6 else line + b" " + line
    data[:] = b"\n".join(lines)


Mutation = Callable[[bytearray, Random], None]
BYTES: tuple[Mutation, ...] = (
    *(flip_bits, set_bytes, truncate, extend, remove_chunk, repeat_chunk, swap_chunks),
    *(set_integer, set_integer, set_float),
)
TEXT: tuple[Mutation, ...] = (
    *(set_number, set_number, set_number, set_word, set_word, drop_line, repeat_line, swap_lines, cut_line),
    *(flip_bits, truncate, remove_chunk, repeat_chunk),
)


def damage(seed: bytes, rng: Random, mutations: tuple[Mutation, ...]) -> bytes:
    """One to four blows; the first ones are the likeliest, so that most files still get past the first check."""
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        if not data:
            break
        rng.choice(mutations)(data, rng)
    return bytes(data)
