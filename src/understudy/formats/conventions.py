"""What all formats share: guesses of unit, axes and rate, placing, distinct names, and notes on what was changed.

**Guesses.** Motion-capture files leave three things unsaid: the unit of length, the up axis, and the exact frame rate.
Each reader puts its guess into its notes, so that a user can see it and overrule it.

**Placing.** What a user says of a file's axes and size is done when it is read: characters stand along +Y, look along
+Z and have the size in metres.

**Names** that a file gives twice, or not at all, become distinct.

**Notes** say each thing that was dropped or changed once: `CountedNotes` with its number, `Notes` with the names that
it concerns.

**Numbers** of text are parsed fast, each rounded exactly as Python's `float` does: motion files are long columns of
them. The kernel takes about a nanosecond a byte, NumPy's own parser thirty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.character import Asset, Character, Clip, Skeleton
from understudy.character.asset import Part
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.maths import jit, quaternion

INCH_METRES = 0.0254
CMU_UNIT_METRES = INCH_METRES / 0.45  # the Carnegie Mellon captures count in inches over 0.45

ADULT_HEIGHT_METRES = 1.75
BODY_HEIGHT_RANGE_METRES = (0.9, 2.6)  # from a child to a giant
HEIGHT_PER_PATH = 0.7  # the longest path, from toes over hips to fingers, is 2.3 to 2.6 m in captured adults

JOINT_KINDS = ("translation", "rotation", "euler", "scale")  # of channels
HIGH_JOINT_NAMES = ("head", "neck", "skull")
LOW_JOINT_NAMES = ("foot", "toe", "ankle", "heel")

COMMON_FRAME_RATES = (
    *(24, 25, 30, 48, 50, 60, 72, 75, 90, 100, 120, 125, 144, 150, 180, 200, 240, 250),
    *(300, 480, 500, 600, 960, 1000),
)  # frames a second
NTSC_FRAME_RATES = tuple(rate * 1000 / 1001 for rate in (24, 30, 48, 60, 120, 240))  # frames a second
NUMBERS_PER_BLOCK = 1024  # numbers that Python parses at once


class LengthUnit(NamedTuple):
    """A unit of length that files use."""

    name: str
    metres: float


LENGTH_UNITS = (
    LengthUnit("metres", 1.0),
    LengthUnit("centimetres", 0.01),
    LengthUnit("millimetres", 0.001),
    LengthUnit("inches", INCH_METRES),
    LengthUnit("CMU units (5.644 cm)", CMU_UNIT_METRES),
    LengthUnit("decimetres", 0.1),
    LengthUnit("feet", 0.3048),
)


def body_height(parents: Array, offsets: Array, ends: dict[int, Array]) -> float:
    """The approximate standing height of a body in any rest pose, in the unit of its `offsets` (J, 3).

    It is a share of the longest path through the bones; `ends` are the tips of joints that have one.
    """
    bones = np.linalg.norm(offsets, axis=1)
    reach = np.zeros(len(parents))  # from a joint down to the farthest tip
    for joint, end in ends.items():
        reach[joint] = np.linalg.norm(end)
    longest = float(reach.max(initial=0.0))
    for joint in range(len(parents) - 1, -1, -1):
        parent = parents[joint]
        if parent >= 0:
            below = reach[joint] + bones[joint]
            longest = max(longest, reach[parent] + below)
            reach[parent] = max(reach[parent], below)
    return HEIGHT_PER_PATH * longest


def unit_of_length(height: float) -> LengthUnit:
    """The unit in which a body of the given height is of human size.

    Centimetres and metres have precedence where they give the height of a person; otherwise the unit that comes nearest
    to an adult is taken. A skeleton without extent is taken to be in metres.
    """
    if not height > 0 or not np.isfinite(height):
        return LENGTH_UNITS[0]
    for unit in (LENGTH_UNITS[1], LENGTH_UNITS[0]):
        if BODY_HEIGHT_RANGE_METRES[0] <= height * unit.metres <= BODY_HEIGHT_RANGE_METRES[1]:
            return unit
    return min(LENGTH_UNITS, key=lambda unit: abs(np.log(height * unit.metres / ADULT_HEIGHT_METRES)))


def is_z_up(names: tuple[str, ...], rest: Array, posed: Array) -> bool:
    """Whether a body stands along Z instead of Y, by its joints' positions at rest (J, 3) and posed (F, J, 3).

    Both must agree: an actor may lie down, and a rest pose may have any orientation. Without joints named like a head
    and like feet, Y is up.
    """
    high = [i for i, name in enumerate(names) if any(word in name.lower() for word in HIGH_JOINT_NAMES)]
    low = [i for i, name in enumerate(names) if any(word in name.lower() for word in LOW_JOINT_NAMES)]
    if not high or not low:
        return False
    at_rest = rest[high].mean(axis=0) - rest[low].mean(axis=0)
    moving = np.median(posed[:, high].mean(axis=1) - posed[:, low].mean(axis=1), axis=0)
    # 0.8: within 37 degrees of the axis
    return all(body[2] > 0.8 * np.linalg.norm(body) > 0 for body in (at_rest, moving))


def frame_rate(frame_time: str) -> float:
    """Frames a second of a frame time printed with few digits: "0.0083333" is 120, "0.033" is 30, "0.0333667" 29.97.

    A common rate, an NTSC rate or else a whole rate is taken if its frame time could have been printed so, cut off or
    rounded, within 1.5 % at most (the coarsest print in use, 0.033 for 1/30, is 1 % off).
    """
    time = float(frame_time)
    mantissa, _, exponent = frame_time.lower().partition("e")
    decimals = len(mantissa.partition(".")[2].strip())
    last_digit = 10.0 ** (int(exponent or 0) - decimals)
    rate = 1 / time
    if abs(rate - round(rate)) < 1e-9 * rate:  # 0.008 is exactly 125, although 1/120 might be printed so
        return float(round(rate))
    for known in (COMMON_FRAME_RATES, NTSC_FRAME_RATES, (max(round(rate), 1),)):
        near = [r for r in known if -0.51 * last_digit <= 1 / r - time < last_digit and abs(r / rate - 1) < 0.015]
        if near:
            return float(min(near, key=lambda r: abs(r - rate)))
    return rate


def place(asset: Asset, up: str | None = None, facing: str | None = None, scale: float | None = None) -> Asset:
    """The asset turned and scaled, by what a user knows better than the file.

    With `up` or `facing`, everything is turned so that the first character stands along +Y and looks along +Z (an
    avatar of VRM 0 along -Z); the one that is not given is found. Animations keep their curves: a root that moves gets
    a parent that is turned.

    Args:
        asset: What was read of a file.
        up: The axis along which the first character stands in the file: x, y, z, -x, -y or -z.
        facing: The axis along which it looks.
        scale: Factor for all lengths.

    Raises:
        InvalidInput: If there is no character to turn, or it has controls.
    """
    from understudy.character.body.bone_names import find_facing
    from understudy.character.rig import rig_of

    if any(character.layers is not None for character in asset.characters):
        raise InvalidInput("a character with controls cannot be turned or scaled")
    turn = np.eye(3)
    looks = ""
    if up is not None or facing is not None:
        if not asset.characters:
            raise InvalidInput("there is no character that could be turned")
        first = asset.characters[0]
        looks = "-z" if first.avatar is not None and first.avatar.faces_backward else "+z"
        turn = find_facing(rig_of(first), up, facing).axes.T
        turn = np.diag([-1.0, 1.0, -1.0]) @ turn if looks == "-z" else turn
    size = 1.0 if scale is None else float(scale)
    moved = {c.target for animation in asset.animations for c in animation.channels if c.kind in JOINT_KINDS}
    characters = [_turn_character(character, turn, size, moved, looks) for character in asset.characters]
    clips = [_turn_markers(clip, size * turn) for clip in asset.clips]
    return Asset(characters, clips, asset.curves, asset.notes, asset.format)


def _turn_character(character: Character, turn: Array, size: float, moved: set[str], facing: str) -> Character:
    """The character with its roots turned and scaled; a joint above them is added where one of them moves."""
    skeleton, parts, bones = character.skeleton, character.parts, character.bones
    roots = skeleton.parents < 0
    if moved & {name for name, root in zip(skeleton.names, roots) if root}:
        skeleton = put_joint_above(skeleton)
        parts = tuple(Part(part.name, part.mesh, replace(part.skin, joints=part.skin.joints + 1)) for part in parts)
        bones = None if bones is None else bones + 1
        roots = skeleton.parents < 0
    rotation = quaternion.from_matrix(turn)
    translations, rotations = np.array(skeleton.translations), np.array(skeleton.rotations)
    translations[roots] = size * translations[roots] @ turn.T
    rotations[roots] = quaternion.multiply(rotation, rotations[roots])
    scales = np.where(roots[:, None], size * skeleton.scales, skeleton.scales)
    skeleton = replace(skeleton, translations=translations, rotations=rotations, scales=scales)
    facing = facing or character.facing
    return replace(character, skeleton=skeleton, parts=parts, bones=bones, facing=facing)


def put_joint_above(skeleton: Skeleton, name: str = "Turn") -> Skeleton:
    """The skeleton below one more joint, which is the first and does not move."""
    while name in skeleton:
        name += "_"
    return Skeleton(
        (name, *skeleton.names),
        [-1, *(skeleton.parents + 1).tolist()],
        np.concatenate([np.zeros((1, 3)), skeleton.translations]),
        np.concatenate([np.array([quaternion.IDENTITY]), skeleton.rotations]),
        np.concatenate([np.ones((1, 3)), skeleton.scales]),
        skeleton.extra,
    )


def _turn_markers(clip: Clip, matrix: Array) -> Clip:
    columns = clip.channels.columns_of("marker")
    if not len(columns):
        return clip
    values = np.array(clip.values)
    values[:, columns] = (values[:, columns].reshape(len(clip), -1, 3) @ matrix.T).reshape(len(clip), -1)
    return replace(clip, values=values)


def make_distinct(names: Iterable[str], noun: str, notes: list[str]) -> tuple[str, ...]:
    """The same names, the second `Arm` as `Arm_2`, an empty one as `joint_7` where `noun` is "joint"."""
    wanted = list(names)
    result = _number_copies(wanted, [name or f"{noun}_{number}" for number, name in enumerate(wanted)], first=2)
    changed = [(old, new) for old, new in zip(wanted, result) if old != new]
    if changed:
        old, new = changed[0]
        more = f", and {len(changed) - 1} more" if len(changed) > 1 else ""
        notes.append(f"{noun} names should differ: the second {old!r} became {new!r}{more}")
    return tuple(result)


def number_duplicates(names: Iterable[str]) -> list[str]:
    """The same names, with _1, _2, ... on each repetition, as three.js numbers them."""
    wanted = list(names)
    return _number_copies(wanted, wanted, first=1)


def _number_copies(names: list[str], bases: list[str], first: int) -> list[str]:
    """The bases, each copy with a number from `first` on; a number never makes a name that the file itself has."""
    taken, used = set(names), set()
    copies: dict[str, int] = {}
    result = []
    for name, base in zip(names, bases):
        fresh, copy = base, copies.get(base, first - 1)
        while fresh in used or (fresh != name and fresh in taken):
            copy += 1
            fresh = f"{base}_{copy}"
        copies[base] = copy
        used.add(fresh)
        result.append(fresh)
    return result


class CountedNotes:
    """One line for each thing that was dropped or changed."""

    def __init__(self) -> None:
        self._notes: dict[str, None] = {}
        self._counts: Counter[str] = Counter()

    def note(self, text: str) -> None:
        """Say something, once."""
        self._notes[text] = None

    def count(self, what: str, number: int = 1) -> None:
        """Count something: "cameras were left out ({})" becomes one note; nothing is said of none."""
        if number:
            self._counts[what] += number

    @property
    def notes(self) -> list[str]:
        """All notes, in the order in which they came up, then those with counts."""
        return [*self._notes, *(what.format(number) for what, number in self._counts.items())]


class Notes:
    """One line for each thing that was dropped or changed."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}

    def add(self, text: str, name: str | None = None) -> None:
        """Keep a note, once; with a name, `text` has a place {} where all names with this note will be listed."""
        names = self._names.setdefault(text, [])
        if name is not None and name not in names:
            names.append(name)

    def lines(self) -> list[str]:
        """All notes; of more than three names the rest are only counted."""
        result = []
        for text, names in self._names.items():
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            result.append(text.replace("{}", ", ".join(names[:3]) + more) if names else text)
        return result


def parse_numbers(data: bytes, path: str | Path, first_line: int = 1) -> Array:
    """(N,) float64: the numbers in `data`, separated by white space.

    Anything that is not a finite number is refused with its line, the first of `data` being `first_line`.
    """
    values = _parse_words(data)
    # not (|x| <= most) is also true of NaN
    if values is None or not np.abs(values).max(initial=0.0) <= checks.LARGEST_NUMBER:
        raise _number_error(data, path, first_line)
    return values


def _parse_words(data: bytes) -> Array | None:
    """(N,) the numbers, or None where a word is none."""
    kernels = jit.kernels("understudy.formats.numbers_kernels")
    content = np.frombuffer(data + b" ", np.uint8)  # white space at the end, as the kernel needs
    count = kernels.count(content)
    if count < 0:
        return None
    values = np.empty(count)
    # a number with more digits than a double holds exactly is left to Python, which rounds it correctly
    hard = np.empty((count, 3), np.int64)
    hard_count = kernels.parse(content, values, hard)
    try:
        for first in range(0, int(hard_count), NUMBERS_PER_BLOCK):  # a text without numbers fails in its first block
            for index, start, stop in hard[first : min(first + NUMBERS_PER_BLOCK, int(hard_count))].tolist():
                values[index] = float(data[start:stop].replace(b"_", b"?"))  # Python allows 1_000
    except ValueError:
        return None
    return values


def _number_error(data: bytes, path: str | Path, first_line: int) -> BadFile:
    for offset, line in enumerate(data.split(b"\n")):
        for token in line.split():
            try:
                good = abs(float(token)) <= checks.LARGEST_NUMBER and b"_" not in token
            except ValueError:
                good = False
            if not good:
                shown = token[:40].decode("latin-1")
                return BadFile(path, f"{shown!r} is not a usable number", f"line {first_line + offset}")
    return BadFile(path, "the numbers cannot be read", f"line {first_line}")
