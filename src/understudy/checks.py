"""Checks of arguments: arrays, indices, quaternions, names, numbers.

Each function takes a value, the caller's name for it, and what is expected; it returns a frozen array of the right
type, or raises `InvalidInput` with a sentence that says what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.errors import InvalidInput, spelling_hint

Array = NDArray[Any]

# A quaternion whose length is this near to 1 is kept as given. Files have (0, 0, 0.707, 0.707), 1.5e-4 short, and
# viewers draw it as it is; normalised, a character would differ from what its author saw by 2e-4 of its size. Float32
# leaves 1e-7; normalised bytes leave 4e-3, and are normalised here.
NEAR_UNIT = 1e-3

# Far above any coordinate, angle or weight. Products of a few such numbers fit float64, and a single one fits float32.
LARGEST_NUMBER = 1e30


def array(
    value: ArrayLike,
    name: str,
    shape: Sequence[int | str | None],
    dtype: Any = np.float64,
    finite: bool = True,
) -> Array:
    """A frozen copy of `value` with the given shape.

    `shape` holds a number where the size is fixed, a letter where it is free but named (the same letter twice must
    have the same size), None where any size is allowed.
    """
    try:
        result = np.array(value, dtype=dtype, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{name} should be an array of {np.dtype(dtype).name}: {error}") from None
    _check_shape(result, name, shape)
    if finite and result.dtype.kind == "f" and not np.isfinite(result).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
        raise InvalidInput(f"{name} should be finite, but {name}[{', '.join(map(str, where))}] is {result[where]}")
    return freeze(result)


def _check_shape(value: Array, name: str, shape: Sequence[int | str | None]) -> None:
    expected = "(" + ", ".join("any" if size is None else str(size) for size in shape) + ")"
    if value.ndim != len(shape):
        raise InvalidInput(f"{name} should have shape {expected}, but has shape {value.shape}")
    letters: dict[str, int] = {}
    for actual, wanted in zip(value.shape, shape):
        if wanted is None:
            continue
        size = letters.setdefault(wanted, actual) if isinstance(wanted, str) else wanted
        if actual != size:
            raise InvalidInput(f"{name} should have shape {expected}, but has shape {value.shape}")


def freeze(value: Array) -> Array:
    """The same array, read-only from now on."""
    value.flags.writeable = False
    return value


def output(out: Array | None, shape: tuple[int, ...], dtype: Any) -> Array:
    """An array to write a result into: a new one, or `out`; `InvalidInput` unless `out` has that shape and type."""
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous or not out.flags.writeable:
        wanted = f"a writeable C-contiguous {np.dtype(dtype).name} array of shape {shape}"
        raise InvalidInput(f"out should be {wanted}, but is {out.dtype} {out.shape}")
    return out


def indices(value: Array, name: str, below: int, lowest: int = 0) -> None:
    """Raise unless every entry lies in [lowest, below)."""
    if value.size and (value.min() < lowest or value.max() >= below):
        bad = value[(value < lowest) | (value >= below)][0]
        bounds = f"lie between {lowest} and {below - 1}" if below > lowest else "be empty: there is nothing to number"
        raise InvalidInput(f"{name} should {bounds}, but holds {bad}")


def unit_quaternions(value: ArrayLike, name: str, shape: Sequence[int | str | None]) -> Array:
    """Frozen unit quaternions (x, y, z, w) in the last axis, normalised where not near unit; zero is an error."""
    result = np.array(array(value, name, shape))
    length = np.sqrt(np.einsum("...i,...i->...", result, result))
    if result.size and length.min() < 1e-8:
        raise InvalidInput(f"{name} should hold unit quaternions, but one has length {length.min():.3g}")
    off = np.abs(length - 1) > NEAR_UNIT
    if off.any():
        result[off] /= length[off, None]
    return freeze(result)


def unique_names(names: Iterable[str], name: str) -> tuple[str, ...]:
    """A tuple of non-empty, distinct names."""
    result = tuple(names)
    seen: set[str] = set()
    for item in result:
        if not isinstance(item, str) or not item:
            raise InvalidInput(f"{name} should hold non-empty names, but one is {item!r}")
        if item in seen:
            raise InvalidInput(f"{name} should be distinct, but {item!r} appears twice")
        seen.add(item)
    return result


def positive(value: float, name: str) -> float:
    """A finite number above zero."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        result = np.nan
    if not np.isfinite(result) or result <= 0:
        raise InvalidInput(f"{name} should be a finite number above zero, but is {value}")
    return result


def one_of(value: str, name: str, available: Iterable[str]) -> str:
    """`value` itself if it is among `available`; otherwise an error that lists what exists."""
    known = tuple(available)
    if value not in known:
        listed = ", ".join(map(repr, known[:40])) + (", ..." if len(known) > 40 else "") if known else "none"
        raise InvalidInput(f"there is no {name} {value!r}{spelling_hint(value, known)}; available: {listed}")
    return value


def large_array(value: Any, name: str, shape: tuple[int | None, ...], dtype: Any) -> Array:
    """A finite array of a shape, not copied where its type is right: it may have gigabytes."""
    array = np.asarray(value, dtype)
    if array.ndim != len(shape) or any(want is not None and want != have for want, have in zip(shape, array.shape)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise InvalidInput(f"{name} should have shape ({wanted}), but has shape {array.shape}")
    # minimum and maximum need no memory, and pass NaN on
    if array.size and not (array.min() >= -LARGEST_NUMBER and array.max() <= LARGEST_NUMBER):
        raise InvalidInput(f"{name} should be finite, but holds {array.min():g} or {array.max():g}")
    return array
