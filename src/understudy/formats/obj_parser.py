"""The text of an OBJ file: lines sorted by keyword, then read in bulk.

Only the keyword of a line is looked at one line at a time; numbers are read all together, since a Python loop over
every corner would take many times longer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats import numbers

SILENT = {"s", "vp", "mg", "lod", "usemap", "maplib", "shadow_obj", "trace_obj", "bevel", "c_interp", "d_interp"}


@dataclass
class ObjText:
    """What a file says, indices as in the file (1 is the first, negative ones count back, 0 is none)."""

    vertices: Array  # (V, 3 or more)
    uvs: Array  # (n, 2)
    normals: Array  # (n, 3)
    corners: Array  # (C, 3) vertex, uv and normal of all corners of all faces in turn, as indices from 1; 0 is none
    sizes: Array  # (faces,) corners of each face
    lines: Array  # (faces,) of the file
    owners: Array  # (faces, 3) number of the material, group and object of each face, -1 for none
    materials: tuple[str, ...]
    groups: tuple[str, ...]
    objects: tuple[str, ...]
    libraries: tuple[str, ...]
    notes: list[str] = field(default_factory=list)


class _Lines:
    """The lines of one keyword, each at its own place, so that an error in a number has its line."""

    def __init__(self, count: int) -> None:
        self.texts = [""] * count
        self.used: list[int] = []

    def add(self, number: int, text: str) -> None:
        self.texts[number] = text.partition("#")[0] if "#" in text else text
        self.used.append(number)

    def numbers(self, path: Path) -> Array:
        return numbers.parse("\n".join(self.texts).encode("utf-8", "replace"), path)


class _Names:
    """Distinct names in the order of their first use."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.current = -1

    def use(self, name: str) -> None:
        self.current = self.numbers.setdefault(name or "default", len(self.numbers))


def parse(text: str, path: str | Path) -> ObjText:
    """Read the text of an OBJ file; damage is refused with the line where it lies."""
    path = Path(path)
    if "\\" in text:
        text = text.replace("\\\r\n", " ").replace("\\\n", " ")
    rows = text.split("\n") if "\n" in text else text.split("\r")
    points, uvs, normals, faces = (_Lines(len(rows)) for _ in range(4))
    places = {"v": points, "vt": uvs, "vn": normals}
    materials, groups, objects = _Names(), _Names(), _Names()
    owners: list[tuple[int, int, int]] = []
    counts: list[tuple[int, int, int]] = []  # of v, vt and vn so far: what negative indices count back from
    libraries: list[str] = []
    others: dict[str, int] = {}
    for number, row in enumerate(rows):
        keyword, _, rest = row.partition(" ")
        if keyword not in places and keyword != "f":  # indented, or with tabs, or something else
            keyword, _, rest = row.strip().replace("\t", " ").partition(" ")
        if keyword in places:
            places[keyword].add(number, rest)
        elif keyword in ("f", "fo"):
            faces.add(number, rest)
            owners.append((materials.current, groups.current, objects.current))
            counts.append((len(points.used), len(uvs.used), len(normals.used)))
        elif keyword == "usemtl":
            materials.use(rest.strip())
        elif keyword == "g":
            groups.use(" ".join(rest.split()))
        elif keyword == "o":
            objects.use(rest.strip())
        elif keyword == "mtllib":
            libraries.append(rest.strip())
        elif keyword and not keyword.startswith("#") and keyword not in SILENT:
            others[keyword[:20]] = others.get(keyword[:20], 0) + 1
    if not points.used:
        raise BadFile(path, "an OBJ file should have vertices ('v x y z'), but has none")
    notes = []
    if others:
        listed = ", ".join(f"{count} '{keyword}'" for keyword, count in list(others.items())[:6])
        notes.append(f"lines that are no faces or vertices were left out: {listed}")
    corners, sizes = _faces(faces, path)
    line_of = np.array(faces.used, np.int64) + 1
    vertices, uv_values, normal_values = _rows(points, 3, path), _rows(uvs, 1, path), _rows(normals, 3, path)
    absolute = _absolute(corners, sizes, line_of, np.array(counts, np.int64).reshape(-1, 3), path)
    for column, (name, total) in enumerate((("v", len(vertices)), ("vt", len(uv_values)), ("vn", len(normal_values)))):
        _check_range(absolute[:, column], name, total, column == 0, np.repeat(line_of, sizes), path)
    return ObjText(
        vertices,
        np.pad(uv_values, ((0, 0), (0, 1)))[:, :2],
        normal_values[:, :3],
        absolute,
        sizes,
        line_of,
        np.array(owners, np.int64).reshape(-1, 3),
        tuple(materials.numbers),
        tuple(groups.numbers),
        tuple(objects.numbers),
        tuple(libraries),
        notes,
    )


def _rows(lines: _Lines, least: int, path: Path) -> Array:
    """(n, width) the numbers of lines that should all have the same width; where they differ, the narrowest counts."""
    widths = np.fromiter((len(lines.texts[i].split()) for i in lines.used), np.int64, len(lines.used))
    if not len(widths):
        return np.zeros((0, max(least, 1)))
    short = np.flatnonzero(widths < least)
    if short.size:
        line = lines.used[short[0]]
        shown = lines.texts[line].strip()[:40]
        raise BadFile(path, f"at least {least} numbers were expected, but {shown!r} was found", f"line {line + 1}")
    found = lines.numbers(path)
    if len(found) != widths.sum():  # signs that are white space here but not there, such as a no-break space
        raise BadFile(path, f"{widths.sum()} numbers were expected, but {len(found)} were found")
    width = int(widths.min())
    if width == widths.max():
        return found.reshape(-1, width)
    starts = np.cumsum(widths) - widths
    return found[starts[:, None] + np.arange(width)]


def _faces(lines: _Lines, path: Path) -> tuple[Array, Array]:
    """(C, 3) corners as the file numbers them, 0 where a part is absent, and (faces,) the sizes."""
    sizes = np.fromiter((len(lines.texts[i].split()) for i in lines.used), np.int64, len(lines.used))
    text = "\n".join(lines.texts)
    if "//" in text:
        text = text.replace("//", "/0/")
    words = _slashes(text)
    if words.size and (words.min() != words.max() or words[0] > 2 or "/ " in text or "/\n" in text or text[-1] == "/"):
        rows = [" ".join(_full_corner(word) for word in row.split()) for row in text.split("\n")]
        text, parts = "\n".join(rows), 3
    else:
        parts = int(words[0]) + 1 if words.size else 1
    found = numbers.parse(text.replace("/", " ").encode("utf-8", "replace"), path)
    if found.size != sizes.sum() * parts:
        raise BadFile(path, "the faces hold corners that are not of the form 1, 1/2, 1//3 or 1/2/3")
    corners = np.zeros((int(sizes.sum()), 3), np.int64)
    if np.abs(found).max(initial=0) > 2**31:
        raise BadFile(path, f"a face names the vertex {found[np.abs(found).argmax()]:.0f}, which is beyond any mesh")
    corners[:, :parts] = found.reshape(-1, parts)
    wrong = np.flatnonzero((corners[:, :parts] != found.reshape(-1, parts)).any(axis=1))
    if wrong.size:
        line = lines.used[int(np.searchsorted(np.cumsum(sizes), wrong[0], side="right"))]
        raise BadFile(path, "corners of a face should be whole numbers", f"line {line + 1}")
    return corners, sizes


def _slashes(text: str) -> Array:
    """The number of slashes in each word."""
    data = np.frombuffer(b" " + text.encode("utf-8", "replace") + b" ", np.uint8)
    inside = data > 32
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    passed = np.concatenate([[0], np.cumsum(data == ord("/"))])
    return passed[edges[1::2] + 1] - passed[edges[::2] + 1]


def _full_corner(word: str) -> str:
    parts = word.split("/")
    return "/".join([part or "0" for part in [*parts, "0", "0"][: max(3, len(parts))]])


def _absolute(corners: Array, sizes: Array, lines: Array, counts: Array, path: Path) -> Array:
    """Indices from 1, negative ones counted back from what the file had listed before the face."""
    if not (corners < 0).any():
        return corners
    so_far = np.repeat(counts, sizes, axis=0)
    result = np.where(corners < 0, so_far + corners + 1, corners)
    lost = np.flatnonzero(((corners < 0) & (result < 1)).any(axis=1))
    if lost.size:
        line = np.repeat(lines, sizes)[lost[0]]
        raise BadFile(path, f"{corners[lost[0]].min()} counts back beyond the first entry", f"line {line}")
    return result


def _check_range(indices: Array, name: str, total: int, needed: bool, lines: Array, path: Path) -> None:
    wrong = np.flatnonzero((indices > total) | (indices < (1 if needed else 0)))
    if wrong.size:
        found = f"{name} {indices[wrong[0]]}"
        raise BadFile(path, f"a face names {found}, but there are {total:,} of them", f"line {lines[wrong[0]]}")
