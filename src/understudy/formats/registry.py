"""The table of file formats, the format of a file by its ending, and the two verbs `read` and `write`.

A format is a module with `read(path, ...) -> Asset` and, where used for output, `write(asset, path) -> notes`, one
note for each thing that the format could not hold. Modules are loaded when a file of their format is read or written.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy import files, storage
from understudy.character import Asset
from understudy.errors import BadFile, FileError, InvalidInput, UnderstudyError, Unsupported
from understudy.formats.conventions import place

PLACING = ("up", "facing", "scale")  # options of every format


@dataclass(frozen=True)
class Format:
    """One file format: `module` is its home below `understudy.formats`, `reader` the function there that reads it.

    A module that begins with a dot is of another room, which the table knows by name only.
    """

    name: str
    endings: tuple[str, ...]
    module: str
    writes: bool
    about: str
    options: tuple[str, ...] = ()
    reader: str = "read"


FORMATS = (
    Format("glb", (".glb",), "gltf", True, "glTF 2.0, binary"),
    Format("gltf", (".gltf",), "gltf", True, "glTF 2.0, JSON"),
    Format("vrm", (".vrm",), "gltf", True, "VRM avatar, 0.x and 1.0"),
    Format("vrma", (".vrma",), "gltf", True, "VRM animation", ("skeleton",), "read_vrma"),
    Format("usd", (".usda", ".usdc", ".usd", ".usdz"), "usd", True, "UsdSkel characters, blend shapes and animation"),
    Format("fbx", (".fbx",), "fbx", True, "FBX 7 characters, blend shapes and takes"),
    Format("bvh", (".bvh",), "bvh", True, "Biovision motion capture", ("scale",)),
    Format("asf", (".asf",), "acclaim", False, "Acclaim skeleton", ("scale",), "read_asf"),
    Format(
        "amc",
        (".amc",),
        "acclaim",
        False,
        "Acclaim motion (with the .asf beside it)",
        ("scale", "skeleton"),
        "read_amc",
    ),
    Format("c3d", (".c3d",), "c3d", False, "marker capture"),
    Format("csv", (".csv",), "livelink", True, "ARKit / Live Link Face weights"),
    Format("obj", (".obj",), "obj", False, "Wavefront mesh"),
    Format("npz", (".npz",), "npz", False, "baked joints and vertices (made by `bake`)"),
    Format("skinned", (".understudy",), ".deform.character_file", True, "a character with a fitted deformer"),
    Format("curves", (".curves.json",), "curves_json", True, "keyframed curves as plain text, exactly"),
)


def ending_of(path: str | Path) -> str:
    """The ending of a file name, as `.glb` or `.curves.json`: one that is known, else whatever follows the last dot."""
    name = Path(path).name.lower()
    known = (ending for entry in FORMATS for ending in entry.endings if name.endswith(ending) and name != ending)
    return next(known, Path(path).suffix.lower())


def format_of(path: str | Path) -> Format:
    """The format of a file name; an unknown ending is refused with the list of those known."""
    ending = ending_of(path)
    for entry in FORMATS:
        if ending in entry.endings:
            return entry
    known = ", ".join(e for entry in FORMATS for e in entry.endings)
    raise Unsupported(path, f"the ending {ending!r} is not one that understudy reads or writes; known: {known}")


def read(path: str | Path, **options: Any) -> Asset:
    """Everything that a file holds.

    Options that the format does not know are refused; None means not given. `up`, `facing` and `scale` apply to every
    format: see `conventions.place`. Formats that do not name their unit take `scale` as metres per unit.
    """
    path = Path(path)
    if not path.exists():
        raise BadFile(path, "there is no such file")
    if path.is_dir():
        raise BadFile(path, "is a folder, but a file was expected")
    entry = format_of(path)
    given = {name: value for name, value in options.items() if value is not None}
    placing = {name: given.pop(name) for name in PLACING if name in given and name not in entry.options}
    for name in given:
        if name not in entry.options:
            raise InvalidInput(f"{path}: the option {name!r} does not apply to {entry.name} files")
    module = importlib.import_module(f".{entry.module}", "understudy.formats")
    try:
        asset: Asset = getattr(module, entry.reader)(path, **given)
    except (BadFile, Unsupported):
        raise
    except InvalidInput as error:  # a character's class refused what the file says: name the file
        raise BadFile(path, str(error)) from error
    if placing:
        asset = place(asset, **placing)
    return Asset(asset.characters, asset.clips, asset.curves, asset.notes, entry.name)


def write(asset: Asset, path: str | Path) -> tuple[str, ...]:
    """Write an asset in the format of the path's ending, whole or not at all; returns notes on what was lost."""
    entry = format_of(path)
    if not entry.writes:
        written = ", ".join(e for f in FORMATS if f.writes for e in f.endings)
        raise Unsupported(path, f"{entry.name} files are read but not written; written are: {written}")
    module = importlib.import_module(f".{entry.module}", "understudy.formats")
    with files.write_atomically(path) as temporary:
        try:
            notes = module.write(asset, temporary)
        except FileError as error:  # name the file that was asked for, not the temporary one
            raise type(error)(path, error.reason, error.place) from error
    lost = [
        f"the layers of character {character.name!r} were lost; "
        "`understudy.character.rig.flatten_asset` makes shapes of them"
        for character in asset.characters
        if character.layers is not None
    ]
    if entry.name != "skinned":
        lost += [
            f"the deformer of character {character.name!r} was lost; `us.save` and `convert` make shapes of it"
            for character in asset.characters
            if character.deformer is not None
        ]
    return (*lost, *notes)


def readable(path: str | Path) -> bool:
    """Whether the ending is one that `read` knows; an `.understudy` file should hold a character, too."""
    try:
        entry = format_of(path)
    except UnderstudyError:
        return False
    return entry.name != "skinned" or not Path(path).is_file() or storage.holds_character(path)
