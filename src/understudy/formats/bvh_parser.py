"""The text of a BVH file, as numbers in the file's own units.

    HIERARCHY                                     MOTION
    ROOT Hips                                     Frames: 2
    {                                             Frame Time: 0.0333333
        OFFSET 0 0 0                              0 95 0 0 10 0
        CHANNELS 6 Xposition ... Xrotation        0 96 0 0 12 0
        End Site { OFFSET 0 10 0 }
    }

Writers differ in case, white space, line ends and brackets; names may contain spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats import numbers

MOST_JOINTS = 20_000  # the largest rigs in use have a tenth of that
SHORTEST_FRAME, LONGEST_FRAME = 1e-6, 3600.0  # seconds
MOST_CHANNELS = 12  # of one joint: position, rotation and scale are nine
CHANNEL = re.compile(r"([xyz])(position|rotation|scale)", re.IGNORECASE)
MOTION = re.compile(r"^[ \t]*MOTION[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
# every repetition but the first is bounded, so that no text takes quadratic time
TIMING = re.compile(
    r"\s*Frames\s{0,64}:?\s{0,64}(?P<frames>[^\s:]{1,64})\s{1,64}"
    r"Frame\s{0,64}Time\s{0,64}:?\s{0,64}(?P<time>[^\s:]{1,64})(?P<tail>[^\S\n]{0,64})(?=\s|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class BvhJoint:
    """One joint of the hierarchy: `channels` as (axis, kind) pairs, `end` the offset of its End Site."""

    name: str
    parent: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    channels: tuple[tuple[str, str], ...] = ()
    end: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class BvhText:
    """A whole file: joints in the file's order, and the values (F, C), C the channels of all joints in turn."""

    joints: tuple[BvhJoint, ...]
    values: Array
    frame_time: str  # as printed, "" where there is no motion
    tail: str = ""  # the white space behind the frame time
    notes: tuple[str, ...] = ()


def parse(text: str, path: str | Path = "<text>") -> BvhText:
    """Read the text of a BVH file; damage is refused with the line where it lies."""
    if "\n" not in text:
        text = text.replace("\r", "\n")
    motion = MOTION.search(text)
    header = text if motion is None else text[: motion.start()]
    joints = tuple(_hierarchy(header, path))
    width = sum(len(joint.channels) for joint in joints)
    if motion is None:
        return BvhText(joints, np.zeros((0, width)), "", notes=("there is no MOTION: only the skeleton was read",))
    line = header.count("\n") + 1
    timing = TIMING.match(text, motion.end())
    if timing is None:
        raise BadFile(
            path, "MOTION should be followed by 'Frames:' and 'Frame Time:' with a number each", f"line {line}"
        )
    claimed = _frame_count(timing["frames"], path, f"line {line + 1}")
    _frame_time(timing["time"], path, f"line {line + 2}")
    first_line = line + text.count("\n", motion.start(), timing.end())
    found = numbers.parse(text[timing.end() :].encode("utf-8", "replace"), path, first_line)
    if width == 0 and len(found):
        raise BadFile(path, "there are motion values, but no joint has channels", f"line {first_line + 1}")
    frames, rest = divmod(len(found), width) if width else (0, 0)
    if claimed > 10 * frames + 1000:
        raise BadFile(path, f"claims {claimed:,} frames, but holds {frames:,}", f"line {line + 1}")
    notes = []
    if rest:
        notes.append(f"the last frame has {rest} of {width} values and was left out")
    if frames != claimed and width:
        notes.append(f"the file says {claimed} frames, but holds {frames}, all of which were read")
    values = found[: frames * width].reshape(frames, width)
    return BvhText(joints, values, timing["time"], timing["tail"].rstrip("\r"), tuple(notes))


def _frame_count(word: str, path: str | Path, place: str) -> int:
    try:
        return max(int(float(word)), 0)
    except (ValueError, OverflowError):
        raise BadFile(path, f"the number of frames should be a whole number, but is {word[:40]!r}", place) from None


def _frame_time(word: str, path: str | Path, place: str) -> None:
    try:
        seconds = float(word)
    except ValueError:
        seconds = -1.0
    if not (seconds == 0 or SHORTEST_FRAME <= seconds <= LONGEST_FRAME) or "_" in word:
        raise BadFile(path, f"the frame time should be seconds above zero, but is {word[:40]!r}", place)


@dataclass
class _Open:
    """A block that is being read."""

    number: int  # of the joint; an End Site has that of its joint
    is_end: bool = False
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    channels: list[tuple[str, str]] = field(default_factory=list)


def _statements(header: str) -> Iterator[tuple[int, str]]:
    """Each statement with its line number; brackets are statements of their own."""
    for number, line in enumerate(header.split("\n"), 1):
        for piece in re.split(r"([{}])", line):
            statement = piece.strip()
            if statement:
                yield number, statement


def _hierarchy(header: str, path: str | Path) -> list[BvhJoint]:
    joints: list[BvhJoint] = []
    blocks: list[_Open] = []
    waiting: _Open | None = None  # named, its bracket not yet opened
    started, last_line = False, 1

    for line, statement in _statements(header):
        place, last_line = f"line {line}", line
        key, *others = statement.split(None, 1)
        word, rest = key.lower(), others[0] if others else ""
        if not started:
            if word != "hierarchy":
                raise BadFile(path, f"a BVH file should begin with HIERARCHY, but begins with {key[:40]!r}", place)
            started = True
        elif word == "{" and waiting is not None:
            blocks.append(waiting)
            waiting = None
        elif word == "}" and blocks and waiting is None:
            _close(blocks.pop(), joints)
        elif word in ("root", "joint", "end") and waiting is None:
            if (word == "root") != (not blocks) or (blocks and blocks[-1].is_end):
                raise BadFile(path, f"{statement[:60]!r} is out of place", place)
            waiting = _begin(word, rest, blocks, joints)
            if len(joints) > MOST_JOINTS:
                raise BadFile(path, f"has more than {MOST_JOINTS:,} joints", place)
        elif word == "offset" and blocks and waiting is None:
            blocks[-1].offset = _offset(rest, path, place)
        elif word == "channels" and blocks and not blocks[-1].is_end and waiting is None:
            blocks[-1].channels = _channels(rest, path, place)
        else:
            raise BadFile(path, f"{statement[:60]!r} is out of place in the hierarchy", place)
    if blocks or waiting is not None:
        raise BadFile(path, "the hierarchy ends before all its brackets are closed", f"line {last_line}")
    if not joints:
        raise BadFile(path, "a BVH file should have at least one ROOT, but has none", f"line {last_line}")
    return joints


def _begin(word: str, name: str, blocks: list[_Open], joints: list[BvhJoint]) -> _Open:
    if word == "end":
        return _Open(blocks[-1].number, is_end=True)
    joints.append(BvhJoint(name, blocks[-1].number if blocks else -1))
    return _Open(len(joints) - 1)


def _close(block: _Open, joints: list[BvhJoint]) -> None:
    joint = joints[block.number]
    if block.is_end:
        joints[block.number] = BvhJoint(joint.name, joint.parent, joint.offset, joint.channels, block.offset)
    else:
        joints[block.number] = BvhJoint(joint.name, joint.parent, block.offset, tuple(block.channels), joint.end)


def _offset(rest: str, path: str | Path, place: str) -> tuple[float, float, float]:
    words = rest.split()
    try:
        x, y, z = (float(word) for word in words)
    except ValueError:
        raise BadFile(path, f"OFFSET should have three numbers, but has {rest[:60]!r}", place) from None
    if not all(abs(value) <= checks.LARGEST_NUMBER for value in (x, y, z)):
        raise BadFile(path, f"OFFSET should have three finite numbers, but has {rest[:60]!r}", place)
    return x, y, z


def _channels(rest: str, path: str | Path, place: str) -> list[tuple[str, str]]:
    words = rest.split()
    if not words or not words[0].isdecimal() or int(words[0][:9]) != len(words) - 1:
        raise BadFile(path, f"CHANNELS should have their number and that many names, but has {rest[:80]!r}", place)
    channels = []
    for word in words[1:]:
        match = CHANNEL.fullmatch(word)
        if match is None:
            raise BadFile(path, f"{word[:40]!r} is not a channel such as Xposition or Zrotation", place)
        channels.append((match[1].upper(), match[2].lower()))
    once = [channel for channel in channels if channel[1] != "rotation"]  # Zrotation Xrotation Zrotation is an order
    if len(set(once)) != len(once) or len(channels) > MOST_CHANNELS:
        raise BadFile(path, f"a channel appears twice in {rest[:80]!r}", place)
    return channels
