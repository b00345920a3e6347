"""Controls of a layered character, with range, rest and meaning of each, and the layers that they move.

The layers are bones, coarse shapes, fine shapes and a free-form lattice. Controls c give parameters p,

    p = D (c - rest)                                       drives
    p_i += gain ramp(c_a) ramp(c_b)                        correctives, ramp(c) = clip((c - rest) / (high - rest), 0, 1)
    p_i += clip(c_b, 0, 1) (target - p_i)                  toward: a blink closes the lid from any position
    p = clip(p, low, high)

The parameters p (P,) are components of joints (`components`), then weights of shapes (`shapes`). A vertex is its rest
plus its shapes, skinned, and then moved by the lattice in the space of the lattice's joint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput

LAYERS = ("bones", "coarse", "fine", "lattice")
UNITS = ("degrees", "metres", "weight", "ratio")
SIDES = {".L": ".R", ".R": ".L"}  # ending of a name -> that of its mirror image
COMPONENTS = ("tx", "ty", "tz", "rx", "ry", "rz", "sx", "sy", "sz")


@dataclass(frozen=True, eq=False)
class Controls:
    """C controls. A pose is a row (C,) of values; a name such as `brows.raise.L` gives group and side.

    The group is the text before the first dot. A name that ends in .L has its partner in .R, with the mirrored range:
    the same, or reflected about the rest where the control is `odd`.
    """

    names: tuple[str, ...]
    regions: tuple[str, ...]  # of each: brows, eyes, nose, mouth, jaw, ears, neck, lattice
    layers: tuple[str, ...]  # of each, one of LAYERS
    units: tuple[str, ...]  # of each, one of UNITS
    low: Array  # (C,)
    rest: Array  # (C,)
    high: Array  # (C,)
    odd: Array  # (C,) bool: the sign flips in a mirror (turn, roll, side)
    about: tuple[str, ...]  # one line each

    def __init__(
        self,
        names: Iterable[str],
        regions: Iterable[str],
        layers: Iterable[str],
        units: Iterable[str],
        low: Any,
        rest: Any,
        high: Any,
        odd: Any = None,
        about: Iterable[str] | None = None,
    ) -> None:
        names = checks.unique_names(names, "control names")
        count = len(names)
        fields = {
            "names": names,
            "regions": _check_name_per_control(regions, "regions of the controls", count),
            "layers": _check_name_per_control(layers, "layers of the controls", count, LAYERS),
            "units": _check_name_per_control(units, "units of the controls", count, UNITS),
            "low": checks.array(low, "lowest values of the controls", (count,)),
            "rest": checks.array(rest, "rest values of the controls", (count,)),
            "high": checks.array(high, "highest values of the controls", (count,)),
            "odd": checks.array(np.zeros(count) if odd is None else odd, "odd controls", (count,), np.bool_),
            "about": tuple("" for _ in names) if about is None else tuple(str(line) for line in about),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        if len(self.about) != count:
            raise InvalidInput(f"{count} controls should have {count} descriptions, but have {len(self.about)}")
        wrong = np.flatnonzero(~((self.low <= self.rest) & (self.rest <= self.high)))
        if wrong.size:
            i = int(wrong[0])
            raise InvalidInput(
                f"control {names[i]!r} should rest within its range, "
                f"but rests at {self.rest[i]:g} of {self.low[i]:g} to {self.high[i]:g}"
            )
        self._check_partners()

    def _check_partners(self) -> None:
        ranges = np.stack([self.low, self.rest, self.high], axis=1)
        mirrored = np.where(self.odd[:, None], 2 * self.rest[:, None] - ranges[:, ::-1], ranges)
        agree = np.isclose(ranges[self.mirror], mirrored).all(axis=1) & (self.odd[self.mirror] == self.odd)
        wrong = np.flatnonzero(~agree)
        if wrong.size:
            i = int(wrong[0])
            partner = self.names[int(self.mirror[i])]
            raise InvalidInput(
                f"control {self.names[i]!r} and its mirror image {partner!r} should have the same range and rest"
                " (reflected about the rest where they are odd), but differ"
            )

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Controls({len(self)} controls)"

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def index(self, name: str) -> int:
        """The number of the control of that name."""
        if name not in self._index:
            checks.one_of(name, "control", self._index)  # raises and lists the names
        return self._index[name]

    @staticmethod
    def group(name: str) -> str:
        """The group of a control: `brows` of `brows.raise.L`."""
        return name.partition(".")[0]

    def indices_in_layer(self, layer: str) -> Array:
        """(n,) the numbers of the controls of a layer."""
        checks.one_of(layer, "layer", LAYERS)
        return np.flatnonzero([layer == other for other in self.layers])

    def clip(self, values: Array) -> Array:
        """(..., C) the values, clipped to the ranges."""
        return np.clip(values, self.low, self.high)

    @cached_property
    def mirror(self) -> Array:
        """(C,) for each control the number of its mirror image: left and right swap, the others stay."""
        images = [name[:-2] + SIDES[name[-2:]] if name[-2:] in SIDES else name for name in self.names]
        return checks.freeze(np.array([self._index.get(image, i) for i, image in enumerate(images)], np.int64))

    def mirror_pose(self, values: Array) -> Array:
        """(..., C) the pose seen in a mirror; twice gives the pose itself."""
        result = np.asarray(values, np.float64)[..., self.mirror]
        return np.where(self.odd, 2 * self.rest - result, result)


@dataclass(frozen=True, eq=False)
class SparseShapes:
    """S shapes over the V vertices of a whole character: s moves `vertices[first[s]:first[s + 1]]` by `deltas`."""

    names: tuple[str, ...]
    first: Array  # (S + 1,) int64
    vertices: Array  # (N,) int32, none twice in a shape
    deltas: Array  # (N, 3) float32, metres

    def __init__(self, names: Iterable[str], first: Any, vertices: Any, deltas: Any) -> None:
        names = checks.unique_names(names, "shape names")
        vertices = checks.array(vertices, "the vertices of the shapes", ("N",), np.int32)
        fields = {
            "names": names,
            "first": checks.array(first, "the beginnings of the shapes", (len(names) + 1,), np.int64),
            "vertices": vertices,
            "deltas": checks.array(deltas, "shape deltas", (len(vertices), 3), np.float32),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        if self.first[0] != 0 or self.first[-1] != len(vertices) or np.any(np.diff(self.first) < 0):
            raise InvalidInput(f"the beginnings of the shapes should rise from 0 to {len(vertices)}, but do not")
        checks.indices(self.vertices, "the vertices of the shapes", np.iinfo(np.int32).max)
        keys = self.shape_of.astype(np.int64) << 32 | self.vertices
        twice = np.flatnonzero(np.diff(keys if np.all(np.diff(keys) > 0) else np.sort(keys)) == 0)
        if twice.size:
            key = int(np.sort(keys)[twice[0]])
            raise InvalidInput(f"shape {names[key >> 32]!r} moves vertex {key & 0xFFFFFFFF} twice")

    @classmethod
    def from_named_deltas(cls, shapes: Mapping[str, tuple[Any, Any]]) -> SparseShapes:
        """Shapes from vertices (n,) and deltas (n, 3) of each, by name."""
        counts = [len(vertices) for vertices, _ in shapes.values()]
        return cls(
            shapes,
            np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
            np.concatenate([np.zeros(0, np.int32), *(vertices for vertices, _ in shapes.values())]),
            np.concatenate([np.zeros((0, 3), np.float32), *(deltas for _, deltas in shapes.values())]),
        )

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"SparseShapes({len(self)} shapes, {len(self.vertices)} deltas)"

    @property
    def shape_of(self) -> Array:
        """(N,) the shape of each delta."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.first))

    def dense(self, shape: int, vertex_count: int) -> Array:
        """(V, 3) float32 the deltas of one shape, zeros included."""
        part = slice(int(self.first[shape]), int(self.first[shape + 1]))
        result = np.zeros((vertex_count, 3), np.float32)
        result[self.vertices[part]] = self.deltas[part]
        return result


@dataclass(frozen=True, eq=False)
class Lattice:
    """Free-form deformation by a uniform quadratic B-spline, in the space of a joint, after everything else.

    The box lies around the joint: its coordinates are metres from the joint's rest position, along the world's axes at
    rest. All points lie inside; displacement and slope are zero on and outside its faces (see `skinning.lattice`).
    Control c moves point (ix, iy, iz), numbered (ix * ny + iy) * nz + iz, by gain * (c - rest) along an axis.
    """

    joint: str
    low: Array  # (3,)
    high: Array  # (3,)
    counts: tuple[int, int, int]  # nx, ny, nz
    point: Array  # (N,) int
    axis: Array  # (N,) int, 0 x, 1 y, 2 z
    control: Array  # (N,) int
    gain: Array  # (N,) metres for a unit of the control

    def __init__(
        self, joint: str, low: Any, high: Any, counts: Iterable[int], point: Any, axis: Any, control: Any, gain: Any
    ) -> None:
        numbers = tuple(int(n) for n in counts)
        if len(numbers) != 3 or min(numbers) < 1:
            raise InvalidInput(f"a lattice should have three counts of at least 1, but has {numbers}")
        point = checks.array(point, "lattice points", ("N",), np.int64)
        fields = {
            "joint": str(joint),
            "low": checks.array(low, "the lattice's lower corner", (3,)),
            "high": checks.array(high, "the lattice's upper corner", (3,)),
            "counts": numbers,
            "point": point,
            "axis": checks.array(axis, "lattice axes", point.shape, np.int64),
            "control": checks.array(control, "lattice controls", point.shape, np.int64),
            "gain": checks.array(gain, "lattice gains", point.shape),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        if np.any(self.low >= self.high):
            raise InvalidInput(f"the lattice's box should have a size, but goes from {self.low} to {self.high}")
        checks.indices(self.point, "lattice points", int(np.prod(numbers)))
        checks.indices(self.axis, "lattice axes", 3)


@dataclass(frozen=True, eq=False)
class RigLayers:
    """The effect of C controls: drives, correctives and towards of P parameters, and a lattice."""

    controls: Controls
    components: tuple[tuple[str, str], ...]  # joint and one of COMPONENTS
    shapes: SparseShapes
    drive_parameter: Array  # (N,) int
    drive_control: Array  # (N,) int
    drive_gain: Array  # (N,)
    corrective_parameter: Array  # (M,) int
    corrective_a: Array  # (M,) int, a control
    corrective_b: Array  # (M,) int, a control
    corrective_gain: Array  # (M,)
    toward_parameter: Array  # (B,) int
    toward_control: Array  # (B,) int
    toward_target: Array  # (B,)
    low: Array  # (P,)
    high: Array  # (P,)
    lattice: Lattice | None
    masks: Mapping[str, Array]  # region -> (V,) float32 in 0 to 1
    points: Mapping[str, int]  # name -> vertex

    def __init__(
        self,
        controls: Controls,
        components: Iterable[tuple[str, str]] = (),
        shapes: SparseShapes | None = None,
        drive_parameter: Any = (),
        drive_control: Any = (),
        drive_gain: Any = (),
        corrective_parameter: Any = (),
        corrective_a: Any = (),
        corrective_b: Any = (),
        corrective_gain: Any = (),
        toward_parameter: Any = (),
        toward_control: Any = (),
        toward_target: Any = (),
        low: Any = None,
        high: Any = None,
        lattice: Lattice | None = None,
        masks: Mapping[str, Any] | None = None,
        points: Mapping[str, int] | None = None,
    ) -> None:
        components = _check_components(components)
        shapes = SparseShapes.from_named_deltas({}) if shapes is None else shapes
        count = len(components) + len(shapes)
        drives = _check_rules("drive", count, len(controls), (drive_parameter, drive_control), drive_gain)
        correctives = _check_rules(
            "corrective", count, len(controls), (corrective_parameter, corrective_a, corrective_b), corrective_gain
        )
        towards = _check_rules("toward", count, len(controls), (toward_parameter, toward_control), toward_target)
        fields = {
            "controls": controls,
            "components": components,
            "shapes": shapes,
            **dict(zip(("drive_parameter", "drive_control", "drive_gain"), drives)),
            **dict(zip(("corrective_parameter", "corrective_a", "corrective_b", "corrective_gain"), correctives)),
            **dict(zip(("toward_parameter", "toward_control", "toward_target"), towards)),
            "low": _limits(low, "lowest parameters", count, -np.inf),
            "high": _limits(high, "highest parameters", count, np.inf),
            "lattice": lattice,
            "masks": {
                str(name): checks.array(mask, f"mask {name!r}", ("V",), np.float32)
                for name, mask in (masks or {}).items()
            },
            "points": {str(name): int(vertex) for name, vertex in (points or {}).items()},
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if np.any(self.low > 0) or np.any(self.high < 0):
            raise InvalidInput("the limits of each parameter should include 0, its rest")
        ramped = np.concatenate([self.corrective_a, self.corrective_b])
        flat = ramped[self.controls.high[ramped] <= self.controls.rest[ramped]]
        if flat.size:
            raise InvalidInput(
                f"control {self.controls.names[flat[0]]!r} of a corrective should reach above its rest, but does not"
            )
        if self.lattice is not None:
            checks.indices(self.lattice.control, "lattice controls", len(self.controls))
        for name, mask in self.masks.items():
            if mask.size and not (mask.min() >= 0 and mask.max() <= 1):
                raise InvalidInput(f"mask {name!r} should lie in 0 to 1, but goes from {mask.min()} to {mask.max()}")

    def __repr__(self) -> str:
        return f"RigLayers({len(self.controls)} controls, {len(self.components)} components, {len(self.shapes)} shapes)"

    @property
    def parameter_count(self) -> int:
        """P: components of joints, then weights of shapes."""
        return len(self.components) + len(self.shapes)

    def check_against(self, joints: Iterable[str], vertex_count: int) -> None:
        """Raise unless every joint exists, and every vertex is one of `vertex_count`."""
        known = dict.fromkeys(joints)
        for joint in dict.fromkeys(joint for joint, _ in self.components):
            checks.one_of(joint, "joint", known)
        if self.lattice is not None:
            checks.one_of(self.lattice.joint, "joint", known)
        checks.indices(self.shapes.vertices, "the vertices of the shapes", vertex_count)
        checks.indices(np.array([0, *self.points.values()])[1:], "the named points", vertex_count)
        for name, mask in self.masks.items():
            if len(mask) != vertex_count:
                raise InvalidInput(f"mask {name!r} should have {vertex_count} vertices, but has {len(mask)}")


def _check_name_per_control(
    values: Iterable[str], name: str, count: int, known: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    result = tuple(values)
    if len(result) != count:
        raise InvalidInput(f"{name} should be {count}, one of each, but are {len(result)}")
    for value in dict.fromkeys(result):
        if not isinstance(value, str) or not value:
            raise InvalidInput(f"{name} should be non-empty names, but one is {value!r}")
        if known is not None:
            checks.one_of(value, f"choice among the {name}", known)
    return result


def _check_components(components: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    result = tuple((str(joint), str(component)) for joint, component in components)
    for _, component in result:
        checks.one_of(component, "component of a joint", COMPONENTS)
    checks.unique_names((f"{joint}.{component}" for joint, component in result), "components of joints")
    return result


def _check_rules(kind: str, parameters: int, controls: int, numbers: tuple[Any, ...], amounts: Any) -> list[Array]:
    """The checked arrays of one kind of rule: parameters, controls, amounts."""
    first = checks.array(numbers[0], f"parameters of the {kind}s", ("N",), np.int64)
    checks.indices(first, f"parameters of the {kind}s", parameters)
    result = [first]
    for column in numbers[1:]:
        result.append(checks.array(column, f"controls of the {kind}s", first.shape, np.int64))
        checks.indices(result[-1], f"controls of the {kind}s", controls)
    return [*result, checks.array(amounts, f"amounts of the {kind}s", first.shape)]


def _limits(value: Any, name: str, count: int, default: float) -> Array:
    result = checks.array(np.full(count, default) if value is None else value, name, (count,), finite=False)
    if np.isnan(result).any():
        raise InvalidInput(f"{name} should be numbers, but one is nan")
    return result
