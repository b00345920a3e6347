"""Acclaim motion capture: a skeleton (ASF) and the motion that belongs to it (AMC).

**ASF.** Sections begin with a colon (`:units`, `:root`, `:bonedata`, `:hierarchy`); bones are listed between `begin`
and `end`:

    name lfemur    direction 0.34 -0.94 0    length 7.59    axis 0 0 20 XYZ    dof rx ry rz

Directions and axes are given in the world, in the pose in which the skeleton was built. A bone runs from its parent's
end along `direction` by `length`, so its joint lies at its parent's end. With C_j the bone's axes in the world, p the
parent and v_p the parent bone's vector, the rest pose is

    rotation_j = C_p^-1 C_j,        translation_j = C_p^-1 v_p

and a hinge rotates about an axis of its own joint. The tips of the last bones are kept as End Sites (see `bvh`).

**AMC.** A frame is a line with its number, then a line for each bone: its name and the values of its degrees of
freedom. With M_j the rotation that the values make in the bone's own axes C_j, the local rotation is C_p^-1 C_j M_j.
The file names neither its skeleton nor its frame rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from understudy import checks, files
from understudy.character import Asset, Channel, Channels, Character, Clip, Skeleton
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats import conventions
from understudy.maths import euler, quaternion, vector
from understudy.maths.euler import TAIT_BRYAN

MAX_ASF_BYTES = 64 << 20  # bytes; usual files have ten thousand
MAX_AMC_BYTES = 256 << 20  # bytes: five hours at 120 frames a second

MAX_BONES = 20_000

AMC_FRAME_RATE = 120.0  # frames a second, of the CMU captures and other AMC files
DEGREES_OF_FREEDOM = ("rx", "ry", "rz", "tx", "ty", "tz", "l")


@dataclass(frozen=True)
class Bone:
    """One bone, from its parent's end to its own. The root is a bone of no length."""

    name: str
    direction: tuple[float, ...] = (0.0, 0.0, 0.0)
    length: float = 0.0
    axis: tuple[float, ...] = (0.0, 0.0, 0.0)  # radians
    order: str = "XYZ"  # of rotation, the first letter first: R = Rz Ry Rx
    freedoms: tuple[str, ...] = ()  # degrees of freedom, in the order of the values in an AMC file
    line: int = 0


@dataclass
class AsfText:
    """A whole file: bones parents first (the root is number 0), their parents, and the unit of length."""

    bones: list[Bone] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    unit_length: float = 1.0
    radians: bool = False


def read_asf(path: str | Path, scale: float | None = None) -> Asset:
    """The skeleton of an ASF file; `scale` is metres per unit where the guess is wrong."""
    _, skeleton, _, notes = read_skeleton(path, scale)
    return Asset([Character(Path(path).stem, skeleton)], notes=notes)


def read_amc(path: str | Path, scale: float | None = None, skeleton: str | Path | None = None) -> Asset:
    """The motion and its skeleton: `skeleton` is the path of the .asf, otherwise looked for beside the file."""
    path = Path(path)
    content = files.read_text(path, MAX_AMC_BYTES)
    asf_path = find_skeleton(path) if skeleton is None else Path(skeleton)
    text, rest, metres, notes = read_skeleton(asf_path, scale)
    if skeleton is None and asf_path.stem != path.stem:
        notes.append(f"the skeleton was taken from {asf_path.name}")
    bones, values, radians = _frames(content, text, path, notes)
    clip = _clip(path.stem, text, rest, metres, bones, values, radians)
    if any("l" in text.bones[bone].freedoms for bone in bones):
        notes.append("changes of a bone's length were left out")
    notes.append(f"AMC names no frame rate: {AMC_FRAME_RATE:g} frames a second were taken")
    return Asset([Character(asf_path.stem, rest)], [clip], notes=notes)


def find_skeleton(path: Path) -> Path:
    """The .asf of the same name, else the only one in the folder, else the one whose name begins most alike."""
    try:
        candidates = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf" and p.is_file())
    except OSError as error:
        raise BadFile(path, f"the folder cannot be searched for its .asf: {error.strerror}") from None
    same = [p for p in candidates if p.stem.lower() == path.stem.lower()]
    if same or len(candidates) == 1:
        return (same or candidates)[0]
    if not candidates:
        raise BadFile(path, "needs the skeleton's .asf file beside it, or given as `skeleton`; there is none")
    likeness = [_common_prefix_length(p.stem.lower(), path.stem.lower()) for p in candidates]
    best = max(likeness)
    if best == 0 or likeness.count(best) > 1:
        names = ", ".join(p.name for p in candidates[:8])
        raise BadFile(path, f"it is not clear which .asf beside it is its skeleton ({names}): give it as `skeleton`")
    return candidates[likeness.index(best)]


def _common_prefix_length(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def read_skeleton(path: str | Path, scale: float | None = None) -> tuple[AsfText, Skeleton, float, list[str]]:
    """The text, the skeleton, metres per unit, and the notes about guesses."""
    if scale is not None:
        checks.positive(scale, "scale")
    text = parse_asf(files.read_text(path, MAX_ASF_BYTES), path)
    notes: list[str] = []
    vectors = bone_vectors(text)
    metres = _metres(text, vectors, notes) if scale is None else scale
    axes = bone_axes(text)
    parents = np.array(text.parents)
    p = np.maximum(parents, 0)
    from_world = np.where(parents[:, None] < 0, quaternion.IDENTITY, quaternion.conjugate(axes[p]))
    translations = quaternion.rotate(from_world, vectors[p]) * metres
    translations[parents < 0] = np.array(text.position) * metres
    tips = np.setdiff1d(np.arange(len(parents)), parents)
    names = [bone.name for bone in text.bones]
    ends = {names[j]: tuple(quaternion.rotate(quaternion.conjugate(axes[j]), vectors[j]) * metres) for j in tips}
    skeleton = Skeleton(
        names, parents, translations, quaternion.multiply(from_world, axes), extra={"bvh": {"ends": ends}}
    )
    return text, skeleton, metres, notes


def bone_vectors(text: AsfText) -> Array:
    """(J, 3) from each bone's beginning to its end, in the world, in the file's unit."""
    direction = np.array([bone.direction for bone in text.bones])
    return vector.normalise(direction) * np.array([[bone.length] for bone in text.bones])


def bone_axes(text: AsfText) -> Array:
    """C (J, 4), the axes of each bone in the world."""
    return np.array([rotations_from_angles(np.array(bone.axis), bone.order) for bone in text.bones])


def rotations_from_angles(angles: Array, order: str) -> Array:
    """Angles (..., 3) about x, y, z, in radians, applied in `order`, as quaternions (..., 4)."""
    last_first = order[::-1]
    return euler.from_euler(angles[..., ["XYZ".index(letter) for letter in last_first]], last_first)


def _metres(text: AsfText, vectors: Array, notes: list[str]) -> float:
    """Metres per unit: inches over the unit of length, as at CMU, where that makes a person; else from the size."""
    parents = np.array(text.parents)
    p = np.maximum(parents, 0)
    tips = np.setdiff1d(np.arange(len(parents)), parents)
    height = conventions.body_height(
        parents, np.where(parents[:, None] < 0, 0.0, vectors[p]), {int(j): vectors[j] for j in tips}
    )
    metres, name = conventions.INCH_METRES / text.unit_length, f"inches over {text.unit_length:g}"
    if not conventions.BODY_HEIGHT_RANGE_METRES[0] <= height * metres <= conventions.BODY_HEIGHT_RANGE_METRES[1]:
        name, metres = conventions.unit_of_length(height)
    size = f"{100 * metres:.4g} cm; a body about {height * metres:.2f} m tall"
    notes.append(f"lengths were taken to be {name} ({size})")
    return metres


def parse_asf(text: str, path: str | Path) -> AsfText:
    """Read the text of an ASF file; damage is refused with the line where it lies."""
    sections = _sections(text, path)
    result = AsfText()
    for line, words in sections.get("units", []):
        if words[0] == "length":
            result.unit_length = _numbers(words[1:], 1, path, line)[0]
            if result.unit_length <= 0:
                raise BadFile(path, f"the unit of length should be above zero, but is {words[1]}", f"line {line}")
        elif words[0] == "angle":
            result.radians = words[1:2] != [] and words[1].lower().startswith("rad")
    for needed in ("root", "bonedata", "hierarchy"):
        if needed not in sections:
            raise BadFile(path, f"an ASF file should have a section :{needed}, but has none")
    root, result.position = _root(sections["root"], result.radians, path)
    bones = {"root": root}
    for bone in _bones(sections["bonedata"], result.radians, path):
        if bone.name in bones:
            raise BadFile(path, f"the bone {bone.name!r} appears twice", f"line {bone.line}")
        bones[bone.name] = bone
    _order_bones(result, bones, sections["hierarchy"], path)
    return result


def _sections(text: str, path: str | Path) -> dict[str, list[tuple[int, list[str]]]]:
    """The lines of each section, as words, with their numbers."""
    sections: dict[str, list[tuple[int, list[str]]]] = {}
    current: list[tuple[int, list[str]]] | None = None
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        if words[0].startswith(":"):
            name = words[0][1:].lower()
            current = sections.setdefault(name, [])
            if words[1:]:
                current.append((number, words[1:]))
        elif current is None:
            raise BadFile(path, f"an ASF file should begin with a section such as :version, not {words[0][:40]!r}")
        else:
            current.append((number, words))
    return sections


def _root(lines: list[tuple[int, list[str]]], radians: bool, path: str | Path) -> tuple[Bone, tuple[float, ...]]:
    root = Bone("root", freedoms=("tx", "ty", "tz", "rx", "ry", "rz"))
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    for line, words in lines:
        key, rest = words[0].lower(), words[1:]
        if key == "order":
            root = replace(root, freedoms=_freedoms(rest, path, line))
        elif key == "axis" and rest:
            root = replace(root, order=_rotation_order(rest[0], path, line))
        elif key == "position":
            position = _numbers(rest, 3, path, line)
        elif key == "orientation":
            root = replace(root, axis=_angles(rest, radians, path, line))
    return root, position


def _bones(lines: list[tuple[int, list[str]]], radians: bool, path: str | Path) -> Iterator[Bone]:
    bone: Bone | None = None
    count = 0
    for line, words in lines:
        key, rest = words[0].lower(), words[1:]
        if key == "begin":
            bone = Bone("", line=line)
        elif bone is None:
            raise BadFile(path, f"'begin' was expected, but {words[0][:40]!r} was found", f"line {line}")
        elif key == "end":
            if not bone.name:
                raise BadFile(path, "a bone should have a name, but this one has none", f"line {bone.line}")
            count += 1
            if count > MAX_BONES:
                raise BadFile(path, f"has more than {MAX_BONES:,} bones", f"line {line}")
            yield bone
            bone = None
        elif key == "name" and rest:
            bone = replace(bone, name=" ".join(rest))
        elif key == "direction":
            bone = replace(bone, direction=_numbers(rest, 3, path, line))
        elif key == "length":
            bone = replace(bone, length=_numbers(rest, 1, path, line)[0])
        elif key == "axis":
            order = _rotation_order(rest[3], path, line) if len(rest) > 3 else "XYZ"
            bone = replace(bone, axis=_angles(rest, radians, path, line), order=order)
        elif key == "dof":
            bone = replace(bone, freedoms=_freedoms(rest, path, line))
    if bone is not None:
        raise BadFile(path, "the bone data ends within a bone", f"line {bone.line}")


def _order_bones(result: AsfText, bones: dict[str, Bone], lines: list[tuple[int, list[str]]], path: str | Path) -> None:
    """Put the bones into an order in which parents come first."""
    children: dict[str, list[str]] = {}
    parent_of: dict[str, str] = {}
    for line, words in lines:
        if words[0].lower() in ("begin", "end") and len(words) == 1:
            continue
        for name in words:
            if name not in bones:
                raise BadFile(path, f"the hierarchy names {name[:40]!r}, which is no bone", f"line {line}")
        for name in words[1:]:
            if parent_of.setdefault(name, words[0]) != words[0] or name == "root" or name in children.get(words[0], ()):
                raise BadFile(path, f"the bone {name!r} has two places in the hierarchy", f"line {line}")
            children.setdefault(words[0], []).append(name)
    stack, number = ["root"], {}
    while stack:
        name = stack.pop()
        number[name] = len(result.bones)
        result.bones.append(bones[name])
        result.parents.append(number[parent_of[name]] if name in parent_of else -1)
        stack.extend(reversed(children.get(name, [])))
    lost = [name for name in bones if name not in number]
    if lost:
        raise BadFile(path, f"the bone {lost[0]!r} has no place in the hierarchy below the root")


def _numbers(words: list[str], count: int, path: str | Path, line: int) -> tuple[float, ...]:
    try:
        values = tuple(float(word) for word in words[:count])
    except ValueError:
        values = ()
    if len(values) != count or not all(abs(value) <= checks.LARGEST_NUMBER for value in values):
        shown = " ".join(words)[:60]
        raise BadFile(path, f"{count} finite numbers were expected, but {shown!r} was found", f"line {line}")
    return values


def _angles(words: list[str], radians: bool, path: str | Path, line: int) -> tuple[float, ...]:
    values = _numbers(words, 3, path, line)
    return values if radians else tuple(math.radians(value) for value in values)


def _rotation_order(word: str, path: str | Path, line: int) -> str:
    if word.upper() not in TAIT_BRYAN:
        raise BadFile(
            path, f"an order of rotation such as XYZ was expected, but {word[:20]!r} was found", f"line {line}"
        )
    return word.upper()


def _freedoms(words: list[str], path: str | Path, line: int) -> tuple[str, ...]:
    freedoms = tuple(word.lower() for word in words)
    for word in freedoms:
        if word not in DEGREES_OF_FREEDOM or freedoms.count(word) > 1:
            raise BadFile(
                path,
                f"distinct freedoms among {', '.join(DEGREES_OF_FREEDOM)} were expected, not {word[:20]!r}",
                f"line {line}",
            )
    return freedoms


def _frames(content: str, text: AsfText, path: Path, notes: list[str]) -> tuple[list[int], Array, bool]:
    """The bones of a frame in the file's order, their values (F, n) as in the file, and whether angles are radians."""
    index = {bone.name: number for number, bone in enumerate(text.bones)}
    radians, place_in_frame = False, -1
    sequence: list[int] = []
    listed: set[int] = set()
    frame_numbers: list[int] = []
    rows: list[str] = []  # the file's lines without names and comments, so that errors name the right line
    frame_start = 0
    for number, line in enumerate(content.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        words = line.split()
        rows.append("")
        if not words or words[0][0] == "#":
            continue
        if words[0][0] == ":":
            radians = radians or words[0].lower() == ":radians"
        elif len(words) == 1 and words[0].isdecimal():
            if place_in_frame >= 0 and place_in_frame != len(sequence):
                raise BadFile(path, f"the frame has {place_in_frame} of {len(sequence)} bones", f"line {number}")
            frame_numbers.append(int(words[0][:18]))
            place_in_frame, frame_start = 0, len(rows) - 1
        elif place_in_frame < 0:
            raise BadFile(path, f"a frame number was expected, but {words[0][:40]!r} was found", f"line {number}")
        else:
            bone = index.get(words[0])
            if bone is None:
                raise BadFile(path, f"the bone {words[0][:40]!r} is not in the skeleton", f"line {number}")
            if len(frame_numbers) == 1 and bone not in listed:
                sequence.append(bone)
                listed.add(bone)
            if place_in_frame >= len(sequence) or sequence[place_in_frame] != bone:
                raise BadFile(path, f"the bone {words[0]!r} is out of its order", f"line {number}")
            _check_count(words, text.bones[bone].freedoms, path, number)
            rows[-1] = " ".join(words[1:])
            place_in_frame += 1
    if not sequence:
        raise BadFile(path, "an AMC file should have at least one frame, but has none")
    if place_in_frame != len(sequence):
        notes.append(f"the last frame has {place_in_frame} of {len(sequence)} bones and was left out")
        frame_numbers.pop()
        del rows[frame_start:]
    values = conventions.parse_numbers("\n".join(rows).encode("utf-8", "replace"), path)
    if not frame_numbers or values.size == 0:
        raise BadFile(path, "an AMC file should have at least one whole frame, but has none")
    expected = len(frame_numbers) * sum(len(text.bones[bone].freedoms) for bone in sequence)
    if values.size != expected:  # characters such as a no-break space are white space for `split` only
        raise BadFile(path, f"{expected} numbers were expected, but {values.size} were found")
    if np.any(np.diff(frame_numbers) != 1):
        notes.append("frame numbers are not in steps of one: the frames were read as they come")
    return sequence, values.reshape(len(frame_numbers), -1), radians


def _check_count(words: list[str], freedoms: tuple[str, ...], path: Path, line: int) -> None:
    if len(words) - 1 != len(freedoms):
        expected = f"{len(freedoms)} values ({' '.join(freedoms)})"
        raise BadFile(path, f"{words[0]!r} should have {expected}, but has {len(words) - 1}", f"line {line}")


def _clip(
    name: str, text: AsfText, rest: Skeleton, metres: float, bones: list[int], values: Array, radians: bool
) -> Clip:
    channels, blocks = [], []
    starts = np.cumsum([0, *(len(text.bones[bone].freedoms) for bone in bones)])
    still = np.zeros(len(values))
    for bone, start in sorted(zip(bones, starts)):
        places = {freedom: values[:, start + i] for i, freedom in enumerate(text.bones[bone].freedoms)}
        moves = np.stack([places.get(freedom, still) for freedom in ("tx", "ty", "tz")], axis=1) * metres
        angles = np.stack([places.get(freedom, still) for freedom in ("rx", "ry", "rz")], axis=1)
        if places.keys() & {"tx", "ty", "tz"}:
            channels.append(Channel(text.bones[bone].name, "translation"))
            # the root's values are its position; those of any other bone are an offset from rest in the bone's axes
            offset = rest.translations[bone] + quaternion.rotate(rest.rotations[bone], moves) if bone else moves
            blocks.append(offset)
        if places.keys() & {"rx", "ry", "rz"}:
            channels.append(Channel(text.bones[bone].name, "rotation"))
            m = rotations_from_angles(angles if radians else np.radians(angles), text.bones[bone].order)
            blocks.append(quaternion.multiply(rest.rotations[bone], m))
    return Clip(name, Channels(channels), np.concatenate(blocks, axis=1), AMC_FRAME_RATE)
