"""What the readers of one stage share: its path, its frame, the notes, and a budget of numbers.

Values come out of the stage as checked NumPy arrays. The library itself accepts arrays of any size: a small binary file
may repeat one array a million times, so every array is counted against a budget before it is copied.

**Frame**: from a file's units and up axis to metres with Y up. The change is a similarity C = m R, m metres a unit and
R a rotation by -90 degrees about x where Z is up. It is applied to the whole scene, p' = C p and M' = C M C^-1, so no
joint is added, and none gets a scale or a rotation that is not its own:

    translations t' = m R t,   rotations (u, w)' = (R u, w),   scales s' = |R| s  (y and z change places)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Tf, Usd, UsdGeom

from understudy.character import Image, Material
from understudy.checks import LARGEST_NUMBER, Array
from understudy.errors import BadFile, Unsupported
from understudy.formats.conventions import Notes, make_distinct

# Numbers that may be taken from a file: 32 million (256 MB) for any file, and eight for each of its bytes. An
# uncompressed number takes four bytes; only integers that repeat and arrays used more than once come near this.
BASE_BUDGET, BUDGET_PER_BYTE = 1 << 25, 8
MAX_PRIMS = 200_000
MAX_TIME_CODE = 1e12  # beyond any scene
EARLIEST = Usd.TimeCode.EarliestTime()

Y_FROM_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # R: (x, y, z) -> (x, z, -y)


@dataclass(frozen=True)
class UnitFrame:
    """`metres` a unit of the file, and whether its Z axis points up."""

    metres: float = 1.0
    z_up: bool = False

    def points(self, value: Array) -> Array:
        """Positions and offsets (..., 3)."""
        return self.metres * self.directions(value)

    def directions(self, value: Array) -> Array:
        """Normals and other directions (..., 3)."""
        value = np.asarray(value, np.float64)
        return value @ Y_FROM_Z_UP.T if self.z_up else value

    def rotations(self, value: Array) -> Array:
        """Quaternions (..., 4), x y z w."""
        if not self.z_up:
            return value
        return np.concatenate([value[..., :3] @ Y_FROM_Z_UP.T, value[..., 3:]], axis=-1)

    def scales(self, value: Array) -> Array:
        """Scales along the axes (..., 3)."""
        return value[..., [0, 2, 1]] if self.z_up else value

    def matrices(self, value: Array) -> Array:
        """Transforms (..., 4, 4)."""
        result = np.array(value, np.float64)
        if self.z_up:
            result[..., :3, :3] = Y_FROM_Z_UP @ result[..., :3, :3] @ Y_FROM_Z_UP.T
        result[..., :3, 3] = self.points(result[..., :3, 3])
        return result


class ReadContext:
    """One stage while it is read: its path, frame, notes, budget, and the materials and pictures read so far."""

    def __init__(self, path: Path, stage: Usd.Stage) -> None:
        self.path, self.stage = path, stage
        self._notes = Notes()
        self.materials: dict[tuple[str, bool, tuple[str, ...]], Material] = {}
        self.images: dict[str, Image | None] = {}
        self._left = BASE_BUDGET + BUDGET_PER_BYTE * path.stat().st_size
        self.codes_per_second = float(stage.GetTimeCodesPerSecond())
        if not 1e-6 <= self.codes_per_second <= 1e9:
            raise BadFile(path, f"timeCodesPerSecond should be above zero, but is {self.codes_per_second:g}")
        self.frame = self._frame()

    def _frame(self) -> UnitFrame:
        metres = float(UsdGeom.GetStageMetersPerUnit(self.stage))
        if not 1e-12 <= metres <= 1e6:
            raise BadFile(self.path, f"metersPerUnit should be above zero, and at most a million, but is {metres:g}")
        z_up = str(UsdGeom.GetStageUpAxis(self.stage)) == "Z"
        if not self.stage.HasAuthoredMetadata("metersPerUnit"):
            self.note(f"the file does not say its unit: USD's default, {metres:g} m, was taken")
        elif metres != 1:
            self.note(f"lengths were multiplied by {metres:g} to be in metres")
        if z_up:
            self.note("the scene was turned from Z up to Y up")
        return UnitFrame(metres, z_up)

    def note(self, text: str, name: str | None = None) -> None:
        """Keep a note, once, with the names of all that it concerns (see `Notes`)."""
        self._notes.add(text, name)

    @property
    def notes(self) -> list[str]:
        """All notes, one line each."""
        return self._notes.lines()

    def distinct(self, names: Iterable[str], noun: str) -> tuple[str, ...]:
        """The names made distinct, with a note where some were not."""
        changes: list[str] = []
        result = make_distinct(names, noun, changes)
        for change in changes:
            self.note(change)
        return result

    def bad(self, prim: Usd.Prim, reason: str) -> BadFile:
        """The error for a prim that is wrong."""
        return BadFile(self.path, reason, str(prim.GetPath()))

    def take(self, prim: Usd.Prim, numbers: int) -> None:
        """Count numbers against the budget of the file."""
        self._left -= numbers
        if self._left < 0:
            raise Unsupported(
                self.path, "expands to far more numbers than a file of its size holds", str(prim.GetPath())
            )

    def seconds(self, codes: Any) -> Array:
        """Time codes as seconds."""
        return np.asarray(codes, np.float64) / self.codes_per_second

    def array(
        self,
        attribute: Usd.Attribute,
        width: int | None,
        time: Any = EARLIEST,
        kind: str = "float",
        finite: bool = True,
    ) -> Array | None:
        """(N,) or, with a width, (N, width); float64 or int64. None where the attribute has no value."""
        if not attribute:
            return None
        prim = attribute.GetPrim()
        try:
            value = attribute.Get(time)
            if value is None:
                return None
            if not hasattr(value, "__len__"):
                raise TypeError
            self.take(prim, len(value) * (width or 1))
            result = np.array(value)
        except (Tf.ErrorException, TypeError, ValueError):
            raise self.bad(prim, f"{attribute.GetName()} should be an array of numbers") from None
        if result.ndim == 0:
            raise self.bad(prim, f"{attribute.GetName()} should be an array of numbers")
        if result.size == 0:
            result = result.reshape((0,) if width is None else (0, width)).astype(np.float64)
        shape = (len(result),) if width is None else (len(result), width)
        if (result.dtype.kind not in ("iu" if kind == "int" else "fiu") and result.size) or result.shape != shape:
            what = "numbers" if width is None else f"{width}-vectors"
            raise self.bad(prim, f"{attribute.GetName()} should be an array of {what}, but has shape {result.shape}")
        with np.errstate(invalid="ignore"):  # widening a signalling NaN; it is refused below
            result = result.astype(np.int64 if kind == "int" else np.float64)
        if finite and not (np.abs(result) <= LARGEST_NUMBER).all():
            raise self.bad(prim, f"{attribute.GetName()} should hold finite numbers (and none above 1e30)")
        return result

    def tokens(self, attribute: Usd.Attribute) -> tuple[str, ...] | None:
        """An array of names; None where there is no value."""
        if not attribute:
            return None
        value = attribute.Get(EARLIEST)
        if value is None:
            return None
        if isinstance(value, str) or not hasattr(value, "__len__"):
            raise self.bad(attribute.GetPrim(), f"{attribute.GetName()} should be an array of names")
        self.take(attribute.GetPrim(), len(value))
        return tuple(str(item) for item in value)

    def custom(self, prim: Usd.Prim, key: str, dtype: Any) -> Array | None:
        """(N,) a list that our writer left in a prim's customData; None where it is absent or something else."""
        value = prim.GetCustomDataByKey(f"understudy:{key}")
        if value is None or isinstance(value, str) or not hasattr(value, "__len__"):
            return None
        try:
            self.take(prim, len(value))
            return np.array(list(value)).astype(dtype).reshape(-1)
        except (TypeError, ValueError):
            return None

    def matrix(self, attribute: Usd.Attribute) -> Array | None:
        """(4, 4) for column vectors (USD's own are for rows), in the file's units; None where there is no value."""
        value = attribute.Get(EARLIEST) if attribute else None
        if value is None:
            return None
        return self._matrices(attribute, np.array(value)[None])[0]

    def matrices(self, attribute: Usd.Attribute) -> Array | None:
        """(N, 4, 4) for column vectors, in the file's units; None where there is no value."""
        value = attribute.Get(EARLIEST) if attribute else None
        if value is None or not hasattr(value, "__len__"):
            return None
        self.take(attribute.GetPrim(), 16 * len(value))
        return self._matrices(attribute, np.array(value).reshape(-1, 4, 4) if len(value) == 0 else np.array(value))

    def _matrices(self, attribute: Usd.Attribute, value: Array) -> Array:
        name = attribute.GetName()
        if value.dtype.kind != "f" or value.shape[1:] != (4, 4):
            raise self.bad(attribute.GetPrim(), f"{name} should hold 4x4 matrices")
        result = np.swapaxes(value, 1, 2).astype(np.float64)
        if not (np.abs(result) <= LARGEST_NUMBER).all():
            raise self.bad(attribute.GetPrim(), f"{name} should hold finite numbers (and none above 1e30)")
        if not (result[:, 3] == [0.0, 0.0, 0.0, 1.0]).all():
            raise self.bad(attribute.GetPrim(), f"{name} should hold affine transforms, without perspective")
        return result


def name_of(prim: Usd.Prim) -> str:
    """The display name of a prim, or its name in the path where it has none."""
    return str(prim.GetDisplayName() or prim.GetName())
