"""Deformer: the one interface of every skin, transforms in, vertices out.

A deformer is a frozen dataclass of plain arrays (`stored` saves it), made by `fit` from `Examples`. It knows nothing of
clips or files. What every one of them promises, and tests/deform/test_battery.py holds it to:

    rest in, rest out; a rigid motion of all joints moves the mesh rigidly; a batch equals its frames; the order of
    the vertices does not matter; twists of 180 degrees are finite; the fast path equals the NumPy reference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array, freeze
from understudy.deform.examples import Examples, sound_triangles
from understudy.errors import InvalidInput

__all__ = ["Deformer", "Examples", "Frozen", "Progress", "check_transforms", "settings_of", "sound_triangles"]

Progress = Callable[[int, int], None]
"""Called with what is done and how much there is: `progress(3, 10)`. May raise to stop the work."""


@runtime_checkable
class Deformer(Protocol):
    """A skin that has been fitted. `Settings` is a frozen dataclass of numbers and words with defaults."""

    name: ClassVar[str]  # as in the registry: "linear"
    paper: ClassVar[str]  # who published it
    Settings: ClassVar[type]

    @classmethod
    def fit(cls, examples: Examples, settings: Any = None, seed: int = 0, progress: Progress | None = None) -> Deformer:
        """The deformer that comes closest to the examples; the same for the same seed."""

    def deform(self, transforms: ArrayLike) -> Array:
        """Vertices (F, V, 3) float32 of world_from_joint (F, B, 4, 4); one pose (B, 4, 4) gives (V, 3)."""

    def deform_reference(self, transforms: ArrayLike) -> Array:
        """The same in plain NumPy and float64: slow, obvious, the oracle of `deform`."""

    @property
    def bytes_a_vertex(self) -> float:
        """Run-time data in bytes, over the number of vertices: what a game would have to store."""

    @property
    def gltf(self) -> bool:
        """Whether any glTF viewer plays it as it is."""


class Frozen:
    """Base of the frozen dataclasses here: their arrays are frozen too, and kernels are compiled for that alone."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, freeze(np.ascontiguousarray(value)))


def check_transforms(transforms: ArrayLike, joints: int) -> tuple[Array, bool]:
    """(F, B, 4, 4) float64, and whether one pose was given without its axis; or a sentence."""
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
    """`settings` as an instance of the method's `Settings`: that itself, a dictionary of some of them, or None."""
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
