"""The built-in characters and their hand animation, made by this project's own code: nothing has to be downloaded.

Every member is data. `arrays/NAME.npz` holds its body and the animation that was baked with it; the dragon's and the
face's curves are read from the dope sheets in `sheets/`. `pairs/` has pose pairs from the actor, `limits.json` the
limits of joints, `models/` what was learned from a member's clips. The code that builds these files is the folder
`assets` of the project, which is not installed.
"""

from __future__ import annotations

import json
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy import checks, formats
from understudy.character import Asset, Character
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput

if TYPE_CHECKING:
    from understudy.character import Controls
    from understudy.character.body.mass import Body

__all__ = [
    "FACE_LANDMARKS",
    "FACE_LANDMARK_NAMES",
    "arrays_file",
    "body",
    "limits",
    "load",
    "model_file",
    "names",
    "pairs",
    "poses",
]

Limits = dict[str, dict[str, tuple[float, float]]]  # joint -> axis -> lowest and highest degrees

MEMBERS = ("dragon", "face", "lamp", "penguin", "squirrel", "actor")
MEMBERS_WITH_MODELS = ("dragon",)  # learned from their clips, so that they perform at once
MEMBERS_WITH_SHEETS = ("dragon", "face")  # their curves come from dope sheets, those of all others from their arrays
DRAGGING_JOINTS = {"lamp": ("Head",)}  # that trail behind the pose and settle after it: the shade
FOLDER = Path(__file__).parent
LANDMARKS_FILE = FOLDER / "arrays" / "face_landmarks.txt"


def names() -> tuple[str, ...]:
    """The names of all members."""
    return MEMBERS


def load(name: str) -> Asset:
    """A member with its animation.

    Args:
        name: one of `names()`; any other is refused with the list of those known.

    Returns:
        An asset of one character and its animation, as keyframes (`curves`) or as dense frames (`clips`).

    >>> from understudy import cast
    >>> [animation.name for animation in cast.load("lamp").animations]
    ['hop', 'curious', 'sad', 'happy']
    """
    from understudy.cast import archive

    asset = archive.read(arrays_file(name))
    if name not in MEMBERS_WITH_SHEETS:
        return asset
    from understudy.cast import sheet_library

    curves = sheet_library.face_curves() if name == "face" else sheet_library.dragon_curves(_controls(asset))
    return Asset(asset.characters, asset.clips, curves, asset.notes, asset.format)


def poses(name: str, groups: bool = False) -> dict[str, Array]:
    """The poses of a member's library, name -> row (C,) of its controls; none where it has no library.

    Args:
        name: one of `names()`.
        groups: whether to include poses of one group of controls, such as `lids.angry`, which moves the lids alone.
    """
    if checks.one_of(name, "cast member", MEMBERS) != "dragon":
        return {}
    from understudy.cast import archive, sheet_library

    library = sheet_library.dragon_poses(archive.read_controls(arrays_file(name)))
    return {pose: row for pose, row in library.items() if groups or "." not in pose}


@lru_cache
def body(name: str) -> Body:
    """The masses of a member's links, from the volume of its skin, and its contact points."""
    from understudy.character.body.mass import body_of

    return body_of(load(name).character())


def pairs(name: str) -> Path:
    """The file of pose pairs from the actor's emotions to a member."""
    files = {member: FOLDER / "pairs" / f"{member}.toml" for member in MEMBERS}
    with_pairs = [member for member, file in files.items() if file.is_file()]
    if name in MEMBERS and name not in with_pairs:
        raise InvalidInput(f"{name} has no pose pairs; available for {', '.join(with_pairs)}")
    return files[checks.one_of(name, "cast member with pose pairs", with_pairs)]


def model_file(name: str) -> Path:
    """The file of a member's pose model, which `make dragon-model` has learned from its clips."""
    return FOLDER / "models" / f"{checks.one_of(name, 'cast member with a model', MEMBERS_WITH_MODELS)}.understudy"


def limits(name: str) -> Limits:
    """The limits of a member's joints: joint -> axis -> lowest and highest degrees; none where it has no limits.

    Limits are components of the rotation vector about the axes of the world at rest: for a rotation about one axis that
    is its angle, in any order of Euler angles. A joint does not rotate about an axis that its limits do not name, and a
    joint without limits rotates freely.
    """
    return _all_limits().get(checks.one_of(name, "cast member", MEMBERS), {})


def open_asset(source: str | Path, **options: Any) -> Asset:
    """The asset of a file or of a member of the cast; `options` are those of the file's reader.

    A name without an ending that is no file is looked for in the cast.
    """
    path = Path(source)
    if path.exists() or path.suffix or path.parent != Path():
        return formats.read(path, **options)
    if str(source) not in names():
        built_in = ", ".join(names())
        raise BadFile(source, f"there is no such file, and no built-in character of that name ({built_in})")
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InvalidInput(f"the option {given[0]!r} does not apply to a built-in character")
    return load(str(source))


def member_of_cast(character: Character) -> str:
    """The name of the member of the cast that a character is; empty where it is none, or was changed."""
    if character.name not in names():
        return ""
    own = _member(character.name)
    same = (
        own.skeleton.names == character.skeleton.names
        and (own.skeleton.translations == character.skeleton.translations).all()
        and own.vertex_count == character.vertex_count
        and (own.layers is None) == (character.layers is None)
        and character.deformer is None
    )
    return character.name if same else ""


@lru_cache
def _member(name: str) -> Character:
    from understudy.cast import archive

    return archive.read(arrays_file(name)).character()


def character_to_bytes(character: Character) -> bytes:
    """A character as the bytes of a GLB, or of an .understudy file where it has a deformer."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "character.glb" if character.deformer is None else "character.understudy")
        formats.write(Asset([character]), place)
        return place.read_bytes()


def restore_character(member: str, content: bytes) -> Character:
    """The character that a file holds: the member of the cast of that name, or that of `character_to_bytes`."""
    if member:
        return _member(checks.one_of(member, "cast member", MEMBERS))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "character.glb" if content.startswith(b"glTF") else "character.understudy")
        place.write_bytes(content)
        return formats.read(place).character()


def arrays_file(name: str) -> Path:
    """The archive of a member's arrays, which `archive.read` reads."""
    return FOLDER / "arrays" / f"{checks.one_of(name, 'cast member', MEMBERS)}.npz"


@lru_cache
def _all_limits() -> dict[str, Limits]:
    table = json.loads((FOLDER / "limits.json").read_text(encoding="utf-8"))
    return {
        name: {joint: {axis: (low, high) for axis, (low, high) in axes.items()} for joint, axes in joints.items()}
        for name, joints in table.items()
    }


def _controls(asset: Asset) -> Controls:
    layers = asset.character().layers
    assert layers is not None
    return layers.controls


def _face_landmarks() -> tuple[tuple[str, ...], Array]:
    lines = [line.split() for line in LANDMARKS_FILE.read_text(encoding="utf-8").splitlines() if line]
    return tuple(name for name, _ in lines), checks.freeze(np.array([int(vertex) for _, vertex in lines]))


# The 68 landmarks of the iBUG scheme in its order: their names, and their vertices (68,) among those of all parts.
FACE_LANDMARK_NAMES, FACE_LANDMARKS = _face_landmarks()
