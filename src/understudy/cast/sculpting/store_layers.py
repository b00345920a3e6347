"""The layers of a character as arrays and plain values: names into the header, numbers into the archive.

Deltas of shapes are kept as 16-bit steps of their shape's largest, vertex numbers as differences, which pack well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from understudy.character import Controls, Lattice, Layers, SparseShapes
from understudy.checks import Array

STEPS = 32767
CONTROL_TEXTS = ("names", "regions", "layers", "units", "about")
CONTROL_NUMBERS = ("low", "rest", "high", "odd")
LATTICE_NUMBERS = ("low", "high", "point", "axis", "control", "gain")
NUMBERS = (
    "drive_parameter",
    "drive_control",
    "drive_gain",
    "corrective_parameter",
    "corrective_a",
    "corrective_b",
    "corrective_gain",
    "toward_parameter",
    "toward_control",
    "toward_target",
    "low",
    "high",
)


def pack(layers: Layers, arrays: dict[str, Array]) -> dict[str, Any]:
    """The header's part of the layers; their arrays are added to `arrays`."""
    header: dict[str, Any] = {
        "controls": {name: list(getattr(layers.controls, name)) for name in CONTROL_TEXTS},
        "components": [list(component) for component in layers.components],
        "shapes": list(layers.shapes.names),
        "masks": list(layers.masks),
        "points": dict(layers.points),
    }
    for name in CONTROL_NUMBERS:
        arrays[f"controls.{name}"] = getattr(layers.controls, name)
    for name in NUMBERS:
        arrays[f"layers.{name}"] = getattr(layers, name)
    for number, mask in enumerate(layers.masks.values()):
        arrays[f"mask{number}"] = np.round(255 * mask).astype(np.uint8)
    pack_shapes(layers.shapes, arrays)
    if layers.lattice is not None:
        header["lattice"] = {"joint": layers.lattice.joint, "counts": list(layers.lattice.counts)}
        for name in LATTICE_NUMBERS:
            arrays[f"lattice.{name}"] = getattr(layers.lattice, name)
    return header


def unpack(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Layers:
    """The layers that `pack` took apart."""
    controls = Controls(
        **{name: tuple(header["controls"][name]) for name in CONTROL_TEXTS},
        **{name: arrays[f"controls.{name}"] for name in CONTROL_NUMBERS},
    )
    lattice = None
    if "lattice" in header:
        numbers: dict[str, Any] = {name: arrays[f"lattice.{name}"] for name in LATTICE_NUMBERS}
        lattice = Lattice(**header["lattice"], **numbers)
    return Layers(
        controls,
        [(joint, component) for joint, component in header["components"]],
        unpack_shapes(header["shapes"], arrays),
        **{name: arrays[f"layers.{name}"] for name in NUMBERS},
        lattice=lattice,
        masks={name: arrays[f"mask{n}"].astype(np.float32) / 255 for n, name in enumerate(header["masks"])},
        points=header["points"],
    )


def pack_shapes(shapes: SparseShapes, arrays: dict[str, Array], key: str = "shapes") -> None:
    """Add the arrays of shapes to `arrays`, under names that begin with `key`."""
    largest = np.zeros(len(shapes))
    of = shapes.shape_of
    np.maximum.at(largest, of, np.abs(shapes.deltas).max(axis=1, initial=0))
    scale = np.where(largest > 0, largest / STEPS, 1.0)
    arrays[f"{key}.first"] = shapes.first
    arrays[f"{key}.differences"] = np.diff(shapes.vertices, prepend=np.int32(0)).astype(np.int32)
    arrays[f"{key}.scale"] = scale
    arrays[f"{key}.steps"] = np.round(shapes.deltas / scale[of][:, None]).astype(np.int16).T


def unpack_shapes(names: list[str], arrays: Mapping[str, Array], key: str = "shapes") -> SparseShapes:
    """The shapes that `pack_shapes` took apart."""
    first = arrays[f"{key}.first"]
    scale = np.repeat(arrays[f"{key}.scale"], np.diff(first))
    vertices = np.cumsum(arrays[f"{key}.differences"], dtype=np.int64)
    return SparseShapes(names, first, vertices, arrays[f"{key}.steps"].T * scale[:, None])
