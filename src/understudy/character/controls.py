"""Controls: what an animator moves on a layered character, with range, rest and meaning of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput

LAYERS = ("bones", "coarse", "fine", "lattice")
UNITS = ("degrees", "metres", "weight", "ratio")
SIDES = {".L": ".R", ".R": ".L"}


@dataclass(frozen=True, eq=False)
class Controls:
    """C controls. A pose is a row (C,) of values; a name such as `brows.raise.L` tells group and side.

    The group is the text before the first dot. A name that ends in .L has its partner in .R, with the range that a
    mirror makes of its own: the same, or turned about the rest where the control is `odd`.
    """

    names: tuple[str, ...]
    regions: tuple[str, ...]  # of each: brows, eyes, nose, mouth, jaw, ears, neck, lattice
    layers: tuple[str, ...]  # of each, one of LAYERS
    units: tuple[str, ...]  # of each, one of UNITS
    low: Array  # (C,)
    rest: Array  # (C,)
    high: Array  # (C,)
    odd: Array  # (C,) bool, whose sign flips in a mirror (turn, roll, side)
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
            "regions": _of_each(regions, "regions of the controls", count),
            "layers": _of_each(layers, "layers of the controls", count, LAYERS),
            "units": _of_each(units, "units of the controls", count, UNITS),
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
        own = np.stack([self.low, self.rest, self.high], axis=1)
        seen = np.where(self.odd[:, None], 2 * self.rest[:, None] - own[:, ::-1], own)
        agree = np.isclose(own[self.mirror], seen).all(axis=1) & (self.odd[self.mirror] == self.odd)
        wrong = np.flatnonzero(~agree)
        if wrong.size:
            i = int(wrong[0])
            partner = self.names[int(self.mirror[i])]
            raise InvalidInput(
                f"control {self.names[i]!r} and its mirror image {partner!r} should have the same range and rest"
                " (turned about the rest where they are odd), but differ"
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
            checks.one_of(name, "control", self._index)  # says what there is
        return self._index[name]

    @staticmethod
    def group(name: str) -> str:
        """The group of a control: `brows` of `brows.raise.L`."""
        return name.partition(".")[0]

    def of_region(self, region: str) -> Array:
        """(n,) the numbers of the controls of a region."""
        checks.one_of(region, "region", dict.fromkeys(self.regions))
        return np.flatnonzero([region == each for each in self.regions])

    def of_layer(self, layer: str) -> Array:
        """(n,) the numbers of the controls of a layer."""
        checks.one_of(layer, "layer", LAYERS)
        return np.flatnonzero([layer == each for each in self.layers])

    def clip(self, values: Array) -> Array:
        """(..., C) the same values, held within the ranges."""
        return np.clip(values, self.low, self.high)

    @cached_property
    def mirror(self) -> Array:
        """(C,) for each control the number of its mirror image: left and right change places, the others stay."""
        images = [name[:-2] + SIDES[name[-2:]] if name[-2:] in SIDES else name for name in self.names]
        return checks.freeze(np.array([self._index.get(image, i) for i, image in enumerate(images)], np.int64))

    def mirrored(self, values: Array) -> Array:
        """(..., C) the pose seen in a mirror; twice gives the pose itself."""
        result = np.asarray(values, np.float64)[..., self.mirror]
        return np.where(self.odd, 2 * self.rest - result, result)


def _of_each(values: Iterable[str], name: str, count: int, known: tuple[str, ...] | None = None) -> tuple[str, ...]:
    result = tuple(values)
    if len(result) != count:
        raise InvalidInput(f"{name} should be {count}, one of each, but are {len(result)}")
    for value in dict.fromkeys(result):
        if not isinstance(value, str) or not value:
            raise InvalidInput(f"{name} should be non-empty names, but one is {value!r}")
        if known is not None:
            checks.one_of(value, f"choice among the {name}", known)
    return result
