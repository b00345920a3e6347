"""OSC 1.0, the little of it that is needed to send: messages of numbers and texts, in bundles that fit a packet.

A message is its address, a text of type tags and the arguments, each padded with zeros to four bytes, numbers
big-endian. A bundle is `#bundle`, a time tag (1: at once) and messages with their sizes. A library would be slower than
the rest of a frame: hundreds of messages go out in each, and all but their last bytes stay the same.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

# The 1,500 bytes of an Ethernet packet without the headers of IP and UDP; larger ones are cut up and sooner lost.
MOST = 1472
HEAD = b"#bundle\0" + struct.pack(">Q", 1)


def padded(text: str) -> bytes:
    """A text with its zero at the end, and more zeros up to four bytes; UTF-8 (names may be Japanese)."""
    raw = text.encode("utf-8").replace(b"\0", b"") + b"\0"
    return raw + b"\0" * (-len(raw) % 4)


def message(address: str, *arguments: int | float | str) -> bytes:
    """One message."""
    tags, data = ",", b""
    for argument in arguments:
        if isinstance(argument, str):
            tags, data = tags + "s", data + padded(argument)
        elif isinstance(argument, int):
            tags, data = tags + "i", data + struct.pack(">i", argument)
        else:
            tags, data = tags + "f", data + struct.pack(">f", argument)
    return padded(address) + padded(tags) + data


def opening(address: str, name: str, numbers: int) -> bytes:
    """A message of a name and as many floats, without the floats: they are all that is left to add."""
    return padded(address) + padded(",s" + "f" * numbers) + padded(name)


def bundles(messages: Iterable[bytes], most: int = MOST) -> Iterator[bytes]:
    """The messages in their order, in bundles of at most `most` bytes; a longer message has one to itself."""
    gathered, size = [HEAD], len(HEAD)
    for each in messages:
        if size + 4 + len(each) > most and len(gathered) > 1:
            yield b"".join(gathered)
            gathered, size = [HEAD], len(HEAD)
        gathered += [struct.pack(">i", len(each)), each]
        size += 4 + len(each)
    if len(gathered) > 1:
        yield b"".join(gathered)
