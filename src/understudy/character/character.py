"""Character: a skeleton and the meshes that hang on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.layers import Layers
from understudy.character.mesh import Mesh
from understudy.character.skeleton import Skeleton
from understudy.character.skin import Skin
from understudy.checks import Array
from understudy.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Part:
    """One mesh and its skin. Parts of the same name share their shape weights (pieces of one mesh in the file)."""

    name: str
    mesh: Mesh
    skin: Skin


@dataclass(frozen=True, eq=False)
class Character:
    """A named skeleton with zero or more parts. Vertices and triangles of the whole are those of the parts in order.

    A character with `layers` is moved by its controls; without, by its joints and shape weights.
    """

    name: str
    skeleton: Skeleton
    parts: tuple[Part, ...]
    bones: Array | None  # (B,) the joints of a skeleton that no mesh is skinned to, where they are not all of them
    layers: Layers | None

    def __init__(
        self,
        name: str,
        skeleton: Skeleton,
        parts: Iterable[Part] = (),
        bones: Any = None,
        layers: Layers | None = None,
    ) -> None:
        parts = tuple(parts)
        if bones is not None:
            bones = checks.array(bones, "bones", ("B",), np.int64)
            checks.indices(bones, "bones", len(skeleton))
        object.__setattr__(self, "bones", bones)
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "skeleton", skeleton)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "layers", layers)
        shapes: dict[str, tuple[str, ...]] = {}
        for part in parts:
            if len(part.skin.weights) != len(part.mesh.vertices):
                raise InvalidInput(
                    f"the skin of part {part.name!r} should have {len(part.mesh.vertices)} vertices, "
                    f"but has {len(part.skin.weights)}"
                )
            checks.indices(part.skin.joints, f"skin joints of part {part.name!r}", len(skeleton))
            names = part.mesh.shapes.names if part.mesh.shapes else ()
            if names and shapes.setdefault(part.name, names) != names:
                raise InvalidInput(f"parts named {part.name!r} should have the same shapes")
        if layers is not None:
            layers.check_against(skeleton.names, self.vertex_count)

    def __repr__(self) -> str:
        return f"Character({self.name!r}, {len(self.joints)} joints, {self.vertex_count} vertices)"

    @cached_property
    def joints(self) -> Array:
        """(B,) what a user would call its joints: those that some skin uses; without any, the bones, or all."""
        used = [part.skin.joints for part in self.parts if not part.skin.is_rigid]
        if not used:
            return checks.freeze(np.arange(len(self.skeleton))) if self.bones is None else self.bones
        return checks.freeze(np.unique(np.concatenate(used)))

    @property
    def vertex_count(self) -> int:
        """V, over all parts."""
        return sum(len(part.mesh.vertices) for part in self.parts)

    @cached_property
    def triangles(self) -> Array:
        """(T, 3) of all parts, numbered through."""
        blocks, start = [np.zeros((0, 3), np.int32)], 0
        for part in self.parts:
            blocks.append(part.mesh.triangles + np.int32(start))
            start += len(part.mesh.vertices)
        return checks.freeze(np.concatenate(blocks))

    @cached_property
    def shapes(self) -> dict[str, tuple[str, ...]]:
        """The shape names of each part that has any, by part name, in the order of the parts."""
        return {part.name: part.mesh.shapes.names for part in self.parts if part.mesh.shapes is not None}
