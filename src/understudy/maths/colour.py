"""Colours: sRGB, as people and image files write them, and linear light, in which they are mixed [IEC 61966-2-1].

Any leading dimensions; every entry is converted by itself, so an array may hold red, green and blue, or one grey.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array
from understudy.errors import InvalidInput


def from_hex(text: str) -> Array:
    """sRGB (3,) in [0, 1] of a colour written #rrggbb."""
    digits = text.removeprefix("#")
    try:
        return np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)]) / 255.0
    except ValueError:
        raise InvalidInput(f"a colour should be written #rrggbb, but is {text!r}") from None


def to_linear(encoded: ArrayLike) -> Array:
    """Linear light of sRGB in [0, 1]: c / 12.92 below 0.04045, ((c + 0.055) / 1.055)^2.4 above. (...) -> (...)"""
    c = np.asarray(encoded, dtype=float)
    return np.where(c <= 0.04045, c / 12.92, ((np.maximum(c, 0.0) + 0.055) / 1.055) ** 2.4)


def to_srgb(light: ArrayLike) -> Array:
    """sRGB of linear light, which is clamped to [0, 1]: the inverse of `to_linear`. (...) -> (...)"""
    c = np.clip(np.asarray(light, dtype=float), 0.0, 1.0)
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1.0 / 2.4) - 0.055)
