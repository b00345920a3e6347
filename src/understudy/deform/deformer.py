"""Deformer: the one interface of every skin, transforms in, vertices out; methods by name; save and load.

A deformer is a frozen dataclass of plain arrays, made by `fit` from `Examples`. It does not depend on clips or files.
tests/deform/test_battery.py checks every method:

    rest in, rest out; a rigid motion of all joints moves the mesh rigidly; a batch equals its frames; the order of
    the vertices does not matter; twists of 180 degrees are finite; the fast path equals the NumPy reference.

`METHODS` names every method; its module is imported on request.

Files hold a fitted deformer in the container of `understudy.storage`, kind "skin": never pickle, written whole. Fields
are arrays, numbers, strings, None, tuples of these, or dataclasses again (settings, the skin below the corrections).
Arrays are named by the path of their field, `skin.weights`; the header holds the rest and names the classes, which must
be those of a registered method's own module.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks, storage
from understudy.checks import Array, freeze
from understudy.deform.examples import Examples, sound_triangles
from understudy.errors import BadFile, InvalidInput

__all__ = ["Deformer", "Examples", "FrozenArrays", "Progress", "check_transforms", "settings_of", "sound_triangles"]

Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is: `progress(3, 10)`. May raise to stop the work."""


@runtime_checkable
class Deformer(Protocol):
    """A fitted skin. `Settings` is a frozen dataclass of numbers and strings with defaults."""

    name: ClassVar[str]  # as in the registry: "linear"
    paper: ClassVar[str]  # authors and year
    Settings: ClassVar[type]

    @classmethod
    def fit(cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None) -> Deformer:
        """The deformer that comes closest to the examples; the same for the same seed."""

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4); one pose (B, 4, 4) gives (V, 3)."""

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The same in plain NumPy and float64: slow and obvious, the oracle of `deform`."""

    @property
    def bytes_a_vertex(self) -> float:
        """Run-time data in bytes, over the number of vertices."""

    @property
    def gltf(self) -> bool:
        """Whether any glTF viewer plays it without corrective shapes."""


class FrozenArrays:
    """Base of the frozen dataclasses: their arrays are read-only and contiguous, and kernels are compiled for that."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, freeze(np.ascontiguousarray(value)))


def check_transforms(transforms: ArrayLike, joints: int) -> tuple[Array, bool]:
    """(F, B, 4, 4) float64, and whether one pose (B, 4, 4) was given; InvalidInput where the shape is wrong."""
    given = np.asarray(transforms, dtype=np.float64)
    single = given.ndim == 3
    result = given[None] if single else given
    if result.ndim != 4 or result.shape[2:] != (4, 4):
        raise InvalidInput(f"transforms should have shape (F, {joints}, 4, 4), but have shape {given.shape}")
    if result.shape[1] != joints:
        raise InvalidInput(
            f"the deformer was fitted to {joints} joints, but transforms are given for {result.shape[1]}"
        )
    return result, single


def settings_of(kind: type, settings: Any) -> Any:
    """`settings` as an instance of the method's `Settings`, from an instance, a dictionary of some fields, or None."""
    if settings is None:
        return kind()
    if isinstance(settings, kind):
        return settings
    if not isinstance(settings, dict):
        raise InvalidInput(f"settings should be {kind.__qualname__} or a dictionary, but are {type(settings).__name__}")
    unknown = set(settings) - set(kind.__dataclass_fields__)  # type: ignore[attr-defined]
    if unknown:
        known = ", ".join(sorted(kind.__dataclass_fields__)) or "none"  # type: ignore[attr-defined]
        raise InvalidInput(f"there is no setting {sorted(unknown)[0]!r}; available: {known}")
    return kind(**settings)


METHODS: dict[str, str] = {
    "linear": "understudy.deform.methods.linear:LinearSkin",
    "dual": "understudy.deform.methods.dual_quaternion:DualSkin",
    "multi-weight": "understudy.deform.methods.multi_weight:MultiWeight",
    "animation-space": "understudy.deform.methods.animation_space:AnimationSpace",
    "added-joints": "understudy.deform.methods.added_joints:AddedJoints",
    "pose-space": "understudy.deform.methods.pose_space:PoseSpaceDeformation",
    "weighted-pose-space": "understudy.deform.methods.pose_space:WeightedPoseSpace",
    "eigenskin": "understudy.deform.methods.eigenskin:EigenSkin",
    "shape-by-example": "understudy.deform.methods.shape_by_example:ShapeByExample",
    "blend-shapes": "understudy.deform.methods.blend_shapes:BlendShapes",
    "rotational-regression": "understudy.deform.methods.rotational_regression:RotationalRegression",
    "deformation-styles": "understudy.deform.methods.deformation_styles:DeformationStyles",
    "centres-of-rotation": "understudy.deform.methods.centres_of_rotation:CentresOfRotation",
    "neuro-enveloping": "understudy.deform.methods.neuro_enveloping:NeuroEnveloping",
    "delta-mush": "understudy.deform.methods.delta_mush:DeltaMush",
    "direct-delta-mush": "understudy.deform.methods.delta_mush:DirectDeltaMush",
}
"""name -> module:class, in the order of the comparison table."""


def method_class(name: str) -> type[Deformer]:
    """The class of that name, or an error that lists what exists."""
    module, _, kind = METHODS[checks.one_of(name, "deformer", METHODS)].partition(":")
    return getattr(importlib.import_module(module), kind)


FILE_KIND = "skin"
OLD_FILE_VERSIONS = (1, 2)  # of the .npz that version 0.1 wrote
CLASS_HOMES = ("understudy.deform.", "understudy.character.")
OLD_CLASS_NAMES = {
    "PoseSpace": "PoseSpaceDeformation",
    "Added": "AddedJointRule",
    "Tag": "AxisValue",
    "understudy.deform.shapes:SparseShapes": "ShapeBlocks",
}


def save(deformer: Deformer, path: str | Path, settings: Mapping[str, Any] | None = None) -> None:
    """Write a fitted deformer, whole or not at all; `settings` are those of its fit that it does not hold itself."""
    arrays: dict[str, Array] = {}
    fields = _pack(deformer, "", arrays)
    header = {"kind": FILE_KIND, "method": deformer.name, "settings": dict(settings or {}), "fields": fields}
    storage.write(path, header, arrays)


def pack(deformer: Deformer, place: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """A deformer as a part of a header; its arrays are added to `arrays`, with names that begin with `place`."""
    return {"method": deformer.name, "fields": _pack(deformer, place, arrays)}


def unpack(header: Mapping[str, Any], place: str, arrays: Mapping[str, Array]) -> Deformer:
    """The deformer that `pack` packed; `ValueError`, `KeyError` or `TypeError` where it is damaged."""
    kind = method_class(header["method"])
    result = _unpack(header["fields"], place, arrays)
    if not isinstance(result, kind):
        raise ValueError(f"it holds {type(result).__name__}, which is not {header['method']!r}")
    return result


def load(path: str | Path) -> Deformer:
    """The deformer that `save` wrote, now or in version 0.1; any other file is refused with the reason."""
    return load_with_settings(path)[0]


def load_with_settings(path: str | Path) -> tuple[Deformer, dict[str, Any]]:
    """The deformer of a file, and the settings that were saved with it."""
    try:
        header, content = _read_file(path)
        return unpack(header, "", content), dict(header.get("settings", {}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(path, f"is not a saved deformer: {error}") from None


def is_deformer_file(path: str | Path) -> bool:
    """Whether a file is one that `save` wrote, now or in version 0.1 (an .npz with a header)."""
    try:
        with zipfile.ZipFile(path) as file:
            if storage.HEADER in file.namelist():
                return storage.read_header(path).get("kind") == FILE_KIND
            return "header.npy" in file.namelist()
    except (OSError, zipfile.BadZipFile, BadFile):
        return False


def _read_file(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a file of this version, or of the .npz of version 0.1."""
    if not Path(path).is_file():
        raise BadFile(path, "there is no such file")
    if not zipfile.is_zipfile(path):
        raise BadFile(path, "is not a saved deformer: it is no archive")
    with zipfile.ZipFile(path) as file:
        is_container = storage.HEADER in file.namelist()
    if is_container:
        header, content = storage.read(path)
        if header.get("kind") != FILE_KIND:
            raise ValueError(f"it holds a {header.get('kind', 'pose model')}")
        return header, content
    with storage.Archive(path) as archive:
        content = {name: freeze(archive.read(name)) for name in archive.names}
    header = json.loads(str(content.pop("header")))
    if header["understudy"] != "deformer" or header["version"] not in OLD_FILE_VERSIONS:
        raise ValueError(f"its header is of version {header.get('version')}")
    return header, content


def _pack(value: Any, place: str, arrays: dict[str, Array]) -> Any:
    """`value` as JSON, with its arrays collected under their path."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiub":
            raise InvalidInput(f"{place} should hold numbers to be saved, but holds {value.dtype}")
        arrays[place] = value
        return {"array": True}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        inner = {name: _pack(getattr(value, name), f"{place}.{name}".lstrip("."), arrays) for name in names}
        return {"class": type(value).__qualname__, "fields": inner}
    if isinstance(value, tuple):
        return {"tuple": [_pack(item, f"{place}.{i}", arrays) for i, item in enumerate(value)]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise InvalidInput(f"{place} should be an array, a number or a word to be saved, but is {type(value).__name__}")


def _unpack(value: Any, place: str, arrays: Mapping[str, Array]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[place]
    if "tuple" in value:
        return tuple(_unpack(item, f"{place}.{i}", arrays) for i, item in enumerate(value["tuple"]))
    kind = _class(value["class"])
    fields = {name: _unpack(item, f"{place}.{name}".lstrip("."), arrays) for name, item in value["fields"].items()}
    wanted = {field.name for field in dataclasses.fields(kind)}
    if set(fields) != wanted:
        raise ValueError(f"{kind.__name__} should have the fields {sorted(wanted)}, but has {sorted(fields)}")
    # the fields were checked when the deformer was made, and __init__ may compute them from other arguments
    result: Any = object.__new__(kind)
    for name, item in fields.items():
        object.__setattr__(result, name, item)
    return result


def _class(name: str) -> type:
    """A dataclass of the package's deformers by its name; nothing else is ever loaded.

    Version 1 of the file wrote `module:Class` with the modules and names of that time.
    """
    name = OLD_CLASS_NAMES.get(name, name).rpartition(":")[2]
    outer, _, inner = name.partition(".")
    outer = OLD_CLASS_NAMES.get(outer, outer)
    for method in METHODS:
        method_class(method)
    for module in [module for key, module in sys.modules.items() if key.startswith(CLASS_HOMES)]:
        found: Any = getattr(module, outer, None)
        if isinstance(found, type) and found.__module__ == module.__name__:
            found = getattr(found, inner, None) if inner else found
            if isinstance(found, type) and dataclasses.is_dataclass(found):
                return found
    raise ValueError(f"there is no deformer's class {name!r}")
