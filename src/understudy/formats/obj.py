"""OBJ (Wavefront): one mesh, vertices in the file's own order and number, so that an index means the same everywhere.

Polygons are cut into triangles. A vertex may have several UVs or normals (a seam): they are then kept per corner.
Materials, groups and objects are kept for each triangle, the last two in `Mesh.extra`. The unit is unknown and left as
it is. Materials come from the MTL libraries that the file names, as far as metallic-roughness terms hold them.

Lines are sorted by keyword one at a time; numbers are read all together, since a Python loop over every corner would
take many times longer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy import files
from understudy.character import Asset, Character, Image, Material, Mesh, Part, Skeleton, SkinBinding, Texture
from understudy.character import mesh as meshes
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats import conventions

MAX_OBJ_BYTES = 256 << 20  # bytes, of about three million vertices

MAX_MTL_BYTES = 16 << 20  # bytes
MAX_IMAGE_BYTES = 64 << 20  # bytes
MAX_LIKELY_METRES = 10.0  # metres; a larger mesh is probably in another unit
MAX_SPECULAR_EXPONENT = 1000.0  # Ns of a mirror
MIMES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}

# Left out without a note.
IGNORED_KEYWORDS = {
    "s",
    "vp",
    "mg",
    "lod",
    "usemap",
    "maplib",
    "shadow_obj",
    "trace_obj",
    "bevel",
    "c_interp",
    "d_interp",
}


@dataclass
class ObjText:
    """The content of a file."""

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
    """The lines of one keyword, each at its own line number, so that errors in a number name the right line."""

    def __init__(self, count: int) -> None:
        self.texts = [""] * count
        self.used: list[int] = []

    def add(self, number: int, text: str) -> None:
        self.texts[number] = text.partition("#")[0] if "#" in text else text
        self.used.append(number)

    def numbers(self, path: Path) -> Array:
        return conventions.parse_numbers("\n".join(self.texts).encode("utf-8", "replace"), path)


class _Names:
    """Distinct names in the order of their first use."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.current = -1

    def use(self, name: str) -> None:
        self.current = self.numbers.setdefault(name or "default", len(self.numbers))


def read(path: str | Path) -> Asset:
    """The mesh of an OBJ file, hung on one joint."""
    path = Path(path)
    text = parse(files.read_text(path, MAX_OBJ_BYTES), path)
    notes = text.notes
    points = text.vertices[:, :3]
    triangles, face_of, folded = meshes.fans(points, text.corners[:, 0] - 1, text.sizes)
    if folded:
        notes.append(f"{folded} concave polygons could not be cut cleanly")
    if (text.sizes < 3).any():
        notes.append(f"{int((text.sizes < 3).sum())} faces of fewer than three corners were left out")
    corners = text.corners[triangles] - 1  # (T, 3, 3): vertex, uv and normal of each corner, -1 for none
    uvs = np.stack([text.uvs[:, 0], 1 - text.uvs[:, 1]], axis=1)  # v downwards
    uv, normal = (
        _attribute(uvs, corners, 1, len(points), notes),
        _attribute(text.normals, corners, 2, len(points), notes),
    )
    materials, material_of = _materials(text, face_of, path.parent, notes)
    mesh = Mesh(
        path.stem,
        points,
        corners[..., 0],
        normal,
        () if uv is None else (uv,),
        _colours(text.vertices, notes),
        materials,
        material_of,
        extra=_membership(text, face_of),
    )
    height = float(np.ptp(points, axis=0).max())
    if height > MAX_LIKELY_METRES:
        notes.append(f"the mesh is {height:.4g} units across, perhaps centimetres: kept as it is")
    root = Skeleton(["root"], [-1], np.zeros((1, 3)))
    return Asset([Character(path.stem, root, [Part(path.stem, mesh, SkinBinding.rigid(0, len(points)))])], notes=notes)


def _attribute(values: Array, corners: Array, column: int, vertices: int, notes: list[str]) -> Array | None:
    """UVs or normals: (V, n) where each vertex has one, (T, 3, n) where some have several, None where none."""
    which, vertex = corners[..., column].reshape(-1), corners[..., 0].reshape(-1)
    if not which.size or which.max() < 0:
        return None
    padded = np.concatenate([values, np.zeros((1, values.shape[1]))])  # index -1, none, is the last
    if which.min() < 0:
        noun = {1: "UVs", 2: "normals"}[column]
        notes.append(f"{int((which < 0).sum())} of {which.size} corners have no {noun}: zeros were put there")
    of_vertex = np.full(vertices, -1)
    of_vertex[vertex] = which
    if np.array_equal(padded[of_vertex[vertex]], padded[which]):
        return padded[of_vertex]
    return padded[which].reshape(*corners.shape[:2], -1)


def _colours(vertices: Array, notes: list[str]) -> Array | None:
    """(V, 4) where the file gives x y z r g b, which some writers count from 0 to 255."""
    if vertices.shape[1] < 6:
        return None
    colours = vertices[:, 3:6]
    if colours.max() > 1:
        colours = colours / 255
        notes.append("the vertices' colours were taken to go from 0 to 255")
    return np.concatenate([np.clip(colours, 0, 1), np.ones((len(colours), 1))], axis=1)


def _materials(text: ObjText, face_of: Array, folder: Path, notes: list[str]) -> tuple[list[Material], Array | None]:
    if not text.materials:
        return [], None
    known = read_materials(text.libraries, folder, notes)
    missing = [name for name in text.materials if name not in known]
    if missing and known:
        notes.append(f"{len(missing)} materials are not in the library, {missing[0]!r} first: they are plain")
    names = list(text.materials)
    of_face = text.owners[:, 0]
    if len(of_face) and of_face.min() < 0:  # faces before the first usemtl
        names.append("default" if "default" not in names else "default_2")
        of_face = np.where(of_face < 0, len(names) - 1, of_face)
    return [known.get(name, Material(name)) for name in names], of_face[face_of]


def _membership(text: ObjText, face_of: Array) -> dict[str, Any]:
    """Names of groups and objects, and the one that each triangle belongs to, -1 for none."""
    extra: dict[str, Any] = {}
    for key, names, column in (("groups", text.groups, 1), ("objects", text.objects, 2)):
        if names:
            extra[key] = names
            extra[f"{key[:-1]}_of"] = text.owners[face_of, column]
    return extra


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
    counts: list[tuple[int, int, int]] = []  # of v, vt and vn so far; negative indices count back from them
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
        elif keyword and not keyword.startswith("#") and keyword not in IGNORED_KEYWORDS:
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
    absolute = _absolute_indices(corners, sizes, line_of, np.array(counts, np.int64).reshape(-1, 3), path)
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
    values = lines.numbers(path)
    if len(values) != widths.sum():  # characters such as a no-break space are white space for `split` only
        raise BadFile(path, f"{widths.sum()} numbers were expected, but {len(values)} were found")
    width = int(widths.min())
    if width == widths.max():
        return values.reshape(-1, width)
    starts = np.cumsum(widths) - widths
    return values[starts[:, None] + np.arange(width)]


def _faces(lines: _Lines, path: Path) -> tuple[Array, Array]:
    """(C, 3) corners as the file numbers them, 0 where a part is absent, and (faces,) the sizes."""
    sizes = np.fromiter((len(lines.texts[i].split()) for i in lines.used), np.int64, len(lines.used))
    text = "\n".join(lines.texts)
    if "//" in text:
        text = text.replace("//", "/0/")
    words = _slash_counts(text)
    if words.size and (words.min() != words.max() or words[0] > 2 or "/ " in text or "/\n" in text or text[-1] == "/"):
        rows = [" ".join(_full_corner(word) for word in row.split()) for row in text.split("\n")]
        text, parts = "\n".join(rows), 3
    else:
        parts = int(words[0]) + 1 if words.size else 1
    indices = conventions.parse_numbers(text.replace("/", " ").encode("utf-8", "replace"), path)
    if indices.size != sizes.sum() * parts:
        raise BadFile(path, "the faces hold corners that are not of the form 1, 1/2, 1//3 or 1/2/3")
    corners = np.zeros((int(sizes.sum()), 3), np.int64)
    if np.abs(indices).max(initial=0) > 2**31:
        raise BadFile(
            path, f"a face names the vertex {indices[np.abs(indices).argmax()]:.0f}, which is beyond any mesh"
        )
    corners[:, :parts] = indices.reshape(-1, parts)
    wrong = np.flatnonzero((corners[:, :parts] != indices.reshape(-1, parts)).any(axis=1))
    if wrong.size:
        line = lines.used[int(np.searchsorted(np.cumsum(sizes), wrong[0], side="right"))]
        raise BadFile(path, "corners of a face should be whole numbers", f"line {line + 1}")
    return corners, sizes


def _slash_counts(text: str) -> Array:
    """The number of slashes in each word."""
    data = np.frombuffer(b" " + text.encode("utf-8", "replace") + b" ", np.uint8)
    inside = data > 32
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    passed = np.concatenate([[0], np.cumsum(data == ord("/"))])
    return passed[edges[1::2] + 1] - passed[edges[::2] + 1]


def _full_corner(word: str) -> str:
    parts = word.split("/")
    return "/".join([part or "0" for part in [*parts, "0", "0"][: max(3, len(parts))]])


def _absolute_indices(corners: Array, sizes: Array, lines: Array, counts: Array, path: Path) -> Array:
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
        index = f"{name} {indices[wrong[0]]}"
        raise BadFile(path, f"a face names {index}, but there are {total:,} of them", f"line {lines[wrong[0]]}")


def read_materials(libraries: tuple[str, ...], folder: Path, notes: list[str]) -> dict[str, Material]:
    """The materials of the libraries that lie beside the OBJ file, by name; what cannot be read is noted."""
    materials: dict[str, Material] = {}
    for library in dict.fromkeys(libraries):
        path = _find_in_folder(folder, library)
        if path is None:
            notes.append(f"the material library {library[:60]!r} is not beside the file")
            continue
        try:
            text = files.read_text(path, MAX_MTL_BYTES)
        except BadFile as error:
            notes.append(f"the material library {library[:60]!r} was left out: {error.reason}")
            continue
        _parse_mtl(text, folder, materials, notes)
    return materials


def _find_in_folder(folder: Path, name: str) -> Path | None:
    """A file within the folder of that name; a path that leads out of the folder is not followed."""
    try:
        path = (folder / name.replace("\\", "/")).resolve()
        inside = path.is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, ValueError, RuntimeError):
        return None
    return path if inside else None


def _parse_mtl(text: str, folder: Path, materials: dict[str, Material], notes: list[str]) -> None:
    name = ""
    lost: set[str] = set()
    for row in text.split("\n"):
        keyword, _, rest = row.strip().replace("\t", " ").partition(" ")
        if keyword == "newmtl":
            name = rest.strip() or "default"
            materials[name] = Material(name)
        elif name and keyword and not keyword.startswith("#"):
            changed = _apply_setting(materials[name], keyword.lower(), rest.strip(), folder, notes)
            if changed is None:
                lost.add(keyword)
            else:
                materials[name] = changed
    lost -= {"Ni", "illum", "Ka", "Tf", "Ks"}
    if lost:
        notes.append(f"settings of materials were left out: {', '.join(sorted(lost)[:8])}")


def _apply_setting(material: Material, keyword: str, rest: str, folder: Path, notes: list[str]) -> Material | None:
    """The material with one setting changed; None where the setting is unknown or its values are not numbers."""
    if keyword in ("map_kd", "map_ke"):
        slot = "colour" if keyword == "map_kd" else "emissive"
        texture = _read_texture(rest, folder, notes)
        return material if texture is None else replace(material, textures={**material.textures, slot: texture})
    try:
        values = [float(word) for word in rest.split()]
    except ValueError:
        return None
    if not values or not all(abs(value) < 1e6 for value in values):
        return None
    r, g, b = (values * 3)[:3] if len(values) < 3 else values[:3]
    if keyword == "kd":
        return replace(material, colour=(r, g, b, material.colour[3]))
    if keyword == "ke":
        return replace(material, emissive=(r, g, b))
    if keyword == "ns":
        shine = min(max(values[0], 0.0), MAX_SPECULAR_EXPONENT)
        return replace(material, roughness=1 - (shine / MAX_SPECULAR_EXPONENT) ** 0.5)  # as Blender does
    if keyword in ("d", "tr"):
        alpha = min(max(values[0] if keyword == "d" else 1 - values[0], 0.0), 1.0)
        mode = "BLEND" if alpha < 1 else "OPAQUE"
        return replace(material, colour=(*material.colour[:3], alpha), alpha_mode=mode)
    if keyword == "pm":
        return replace(material, metallic=min(max(values[0], 0.0), 1.0))
    if keyword == "pr":
        return replace(material, roughness=min(max(values[0], 0.0), 1.0))
    return None


def _read_texture(rest: str, folder: Path, notes: list[str]) -> Texture | None:
    """The image that a map names, options such as `-s 1 1 1` skipped."""
    words = rest.split()
    candidates = [rest, *(" ".join(words[i:]) for i in range(1, min(len(words), 16)))] if words else []
    for name in candidates:
        path = _find_in_folder(folder, name)
        mime = MIMES.get(Path(name).suffix.lower())
        if path is not None and mime is not None:
            try:
                return Texture(Image(path.name, mime, files.read_bytes(path, MAX_IMAGE_BYTES)))
            except BadFile as error:
                notes.append(f"the image {name[:60]!r} was left out: {error.reason}")
                return None
    notes.append(f"the image {rest[-60:]!r} is not beside the file, or no PNG or JPEG")
    return None
