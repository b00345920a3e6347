"""Extensions: which of them a file may require, what is refused by name, and what is noted when it is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from understudy.errors import Unsupported

if TYPE_CHECKING:
    from understudy.formats.gltf.document import Document

QUANTISED = "KHR_mesh_quantization"
REFUSED = {
    "KHR_draco_mesh_compression": "Draco mesh compression",
    "EXT_meshopt_compression": "meshopt compression",
    "KHR_meshopt_compression": "meshopt compression",
    "KHR_texture_basisu": "Basis Universal textures",
}
# Appearance only: they are kept with the material or texture and written again.
KEPT_PREFIX = "KHR_materials_"
KEPT = ("KHR_texture_transform", QUANTISED)
# Read elsewhere with a note of their own.
NOTED_ELSEWHERE = ("KHR_lights_punctual", "KHR_animation_pointer")


def is_kept(name: str) -> bool:
    """Whether everything that the extension says survives reading."""
    return name in KEPT or (name.startswith(KEPT_PREFIX) and name != "KHR_materials_variants")


def refused(document: Document, name: str, place: str) -> Unsupported:
    """The error for an extension that a file cannot be read without."""
    about = f" ({REFUSED[name]})" if name in REFUSED else ""
    return Unsupported(
        document.path, f"needs the extension {name}{about}, which is not supported; export it without", place
    )


def check_required(document: Document) -> None:
    """Refuse what is required but unknown; note what is optional and will be left out."""
    required = document.root.names("extensionsRequired")
    for i, name in enumerate(required):
        if not is_kept(name) and name != "KHR_lights_punctual":
            raise refused(document, name, f"extensionsRequired[{i}]")
    for name in document.root.names("extensionsUsed"):
        if not is_kept(name) and name not in NOTED_ELSEWHERE:
            document.note(f"the optional extension {name} was left out")
