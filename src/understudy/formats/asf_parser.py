"""The text of an ASF file (Acclaim skeleton), in the file's own units.

Sections begin with a colon (`:units`, `:root`, `:bonedata`, `:hierarchy`); bones are listed between `begin` and `end`:

    name lfemur    direction 0.34 -0.94 0    length 7.59    axis 0 0 20 XYZ    dof rx ry rz

Directions and axes are given in the world, in the pose in which the skeleton was built.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from understudy import checks
from understudy.errors import BadFile
from understudy.maths.euler import TAIT_BRYAN

MOST_BONES = 20_000
FREEDOMS = ("rx", "ry", "rz", "tx", "ty", "tz", "l")


@dataclass(frozen=True)
class Bone:
    """One bone, from its parent's end to its own. The root is a bone of no length."""

    name: str
    direction: tuple[float, ...] = (0.0, 0.0, 0.0)
    length: float = 0.0
    axis: tuple[float, ...] = (0.0, 0.0, 0.0)  # radians
    order: str = "XYZ"  # the first letter turns first: R = Rz Ry Rx
    freedoms: tuple[str, ...] = ()  # what an AMC file lists for it
    line: int = 0


@dataclass
class AsfText:
    """A whole file: bones parents first (the root is number 0), their parents, and the unit of length."""

    bones: list[Bone] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    unit_length: float = 1.0
    radians: bool = False


def parse(text: str, path: str | Path) -> AsfText:
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
    _order(result, bones, sections["hierarchy"], path)
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


def _numbers(words: list[str], count: int, path: str | Path, line: int) -> tuple[float, ...]:
    try:
        found = tuple(float(word) for word in words[:count])
    except ValueError:
        found = ()
    if len(found) != count or not all(abs(value) <= checks.LARGEST_NUMBER for value in found):
        shown = " ".join(words)[:60]
        raise BadFile(path, f"{count} finite numbers were expected, but {shown!r} was found", f"line {line}")
    return found


def _angles(words: list[str], radians: bool, path: str | Path, line: int) -> tuple[float, ...]:
    found = _numbers(words, 3, path, line)
    return found if radians else tuple(math.radians(value) for value in found)


def _rotation_order(word: str, path: str | Path, line: int) -> str:
    if word.upper() not in TAIT_BRYAN:
        raise BadFile(
            path, f"an order of rotation such as XYZ was expected, but {word[:20]!r} was found", f"line {line}"
        )
    return word.upper()


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


def _freedoms(words: list[str], path: str | Path, line: int) -> tuple[str, ...]:
    found = tuple(word.lower() for word in words)
    for word in found:
        if word not in FREEDOMS or found.count(word) > 1:
            raise BadFile(
                path, f"distinct freedoms among {', '.join(FREEDOMS)} were expected, not {word[:20]!r}", f"line {line}"
            )
    return found


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
            if count > MOST_BONES:
                raise BadFile(path, f"has more than {MOST_BONES:,} bones", f"line {line}")
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


def _order(result: AsfText, bones: dict[str, Bone], lines: list[tuple[int, list[str]]], path: str | Path) -> None:
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
