"""MTL: the materials that an OBJ file names, as far as they have a place in metallic-roughness terms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from understudy import files
from understudy.character import Image, Material, Texture
from understudy.errors import BadFile

LARGEST_MTL = 16 << 20  # bytes
LARGEST_IMAGE = 64 << 20
MIMES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
SHINIEST = 1000.0  # the exponent Ns of a mirror


def read_materials(libraries: tuple[str, ...], folder: Path, notes: list[str]) -> dict[str, Material]:
    """The materials of the libraries that lie beside the OBJ file, by name; what cannot be read is noted."""
    found: dict[str, Material] = {}
    for library in dict.fromkeys(libraries):
        path = _beside(folder, library)
        if path is None:
            notes.append(f"the material library {library[:60]!r} is not beside the file")
            continue
        try:
            text = files.read_text(path, LARGEST_MTL)
        except BadFile as error:
            notes.append(f"the material library {library[:60]!r} was left out: {error.reason}")
            continue
        _parse(text, folder, found, notes)
    return found


def _beside(folder: Path, name: str) -> Path | None:
    """A file within the folder of that name; a path that leads out of the folder is not followed."""
    try:
        path = (folder / name.replace("\\", "/")).resolve()
        inside = path.is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, ValueError, RuntimeError):
        return None
    return path if inside else None


def _parse(text: str, folder: Path, found: dict[str, Material], notes: list[str]) -> None:
    name = ""
    lost: set[str] = set()
    for row in text.split("\n"):
        keyword, _, rest = row.strip().replace("\t", " ").partition(" ")
        if keyword == "newmtl":
            name = rest.strip() or "default"
            found[name] = Material(name)
        elif name and keyword and not keyword.startswith("#"):
            changed = _setting(found[name], keyword.lower(), rest.strip(), folder, notes)
            if changed is None:
                lost.add(keyword)
            else:
                found[name] = changed
    lost -= {"Ni", "illum", "Ka", "Tf", "Ks"}
    if lost:
        notes.append(f"settings of materials were left out: {', '.join(sorted(lost)[:8])}")


def _setting(material: Material, keyword: str, rest: str, folder: Path, notes: list[str]) -> Material | None:
    """The material with one setting changed, or None where it has no place or no sense."""
    if keyword in ("map_kd", "map_ke"):
        slot = "colour" if keyword == "map_kd" else "emissive"
        texture = _texture(rest, folder, notes)
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
        shine = min(max(values[0], 0.0), SHINIEST)
        return replace(material, roughness=1 - (shine / SHINIEST) ** 0.5)  # as Blender does
    if keyword in ("d", "tr"):
        alpha = min(max(values[0] if keyword == "d" else 1 - values[0], 0.0), 1.0)
        mode = "BLEND" if alpha < 1 else "OPAQUE"
        return replace(material, colour=(*material.colour[:3], alpha), alpha_mode=mode)
    if keyword == "pm":
        return replace(material, metallic=min(max(values[0], 0.0), 1.0))
    if keyword == "pr":
        return replace(material, roughness=min(max(values[0], 0.0), 1.0))
    return None


def _texture(rest: str, folder: Path, notes: list[str]) -> Texture | None:
    """The image that a map names, options such as `-s 1 1 1` skipped."""
    words = rest.split()
    candidates = [rest, *(" ".join(words[i:]) for i in range(1, min(len(words), 16)))] if words else []
    for name in candidates:
        path = _beside(folder, name)
        mime = MIMES.get(Path(name).suffix.lower())
        if path is not None and mime is not None:
            try:
                return Texture(Image(path.name, mime, files.read_bytes(path, LARGEST_IMAGE)))
            except BadFile as error:
                notes.append(f"the image {name[:60]!r} was left out: {error.reason}")
                return None
    notes.append(f"the image {rest[-60:]!r} is not beside the file, or no PNG or JPEG")
    return None
