"""Shapes: the named blend shapes of one mesh, with in-betweens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Shapes:
    """S named shapes of P targets. A shape without in-betweens is one target at weight 1 (P = S).

    Target p belongs to shape `shape_of[p]` and is met exactly when that shape's weight is `stop_of[p]`; between two
    stops, and between a stop and the rest at weight 0, the weight is shared linearly (as in UsdSkel's in-betweens).
    """

    names: tuple[str, ...]  # S
    deltas: Array  # (P, V, 3) float32, added to the vertices
    normals: Array | None  # (P, V, 3) float32, added to the normals, or None
    defaults: Array  # (S,) the weights at rest
    shape_of: Array  # (P,) int
    stop_of: Array  # (P,)

    def __init__(
        self,
        names: Iterable[str],
        deltas: Any,
        normals: Any = None,
        defaults: Any = None,
        shape_of: Any = None,
        stop_of: Any = None,
    ) -> None:
        names = checks.unique_names(names, "shape names")
        deltas = checks.array(deltas, "shape deltas", ("P", "V", 3), np.float32)
        targets = len(deltas)
        shape_of = np.arange(len(names)) if shape_of is None else shape_of
        stop_of = np.ones(targets) if stop_of is None else stop_of
        defaults = np.zeros(len(names)) if defaults is None else defaults
        fields = {
            "names": names,
            "deltas": deltas,
            "normals": None
            if normals is None
            else checks.array(normals, "shape normal deltas", deltas.shape, np.float32),
            "defaults": checks.array(defaults, "default shape weights", (len(names),)),
            "shape_of": checks.array(shape_of, "the shapes of the targets", (targets,), np.int64),
            "stop_of": checks.array(stop_of, "the stops of the targets", (targets,)),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        checks.indices(self.shape_of, "the shapes of the targets", len(names))
        missing = np.setdiff1d(np.arange(len(names)), self.shape_of)
        if missing.size:
            raise InvalidInput(f"shape {names[missing[0]]!r} has no target")
        if np.any(self.stop_of == 0):
            raise InvalidInput("a shape's target should have a weight other than 0, which is the rest")

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Shapes({len(self)} shapes, {self.deltas.shape[1]} vertices)"

    @property
    def plain(self) -> bool:
        """Whether no shape has in-betweens, so that targets and shapes are the same."""
        return len(self.deltas) == len(self) and bool(
            (self.shape_of == np.arange(len(self))).all() and (self.stop_of == 1).all()
        )

    def target_weights(self, weights: Array) -> Array:
        """(F, P) weights of the targets for (F, S) weights of the shapes."""
        if self.plain:
            return weights
        result = np.zeros((len(weights), len(self.deltas)))
        for shape in range(len(self)):
            targets = np.flatnonzero(self.shape_of == shape)
            targets = targets[np.argsort(self.stop_of[targets])]
            stops = self.stop_of[targets]
            at_rest = int(np.searchsorted(stops, 0.0))
            knots = np.insert(stops, at_rest, 0.0)
            columns = np.insert(targets, at_rest, -1)
            weight = weights[:, shape]
            left = np.clip(np.searchsorted(knots, weight, side="right") - 1, 0, len(knots) - 2)
            share = (weight - knots[left]) / (knots[left + 1] - knots[left])
            rows = np.arange(len(weights))
            for knot, part in ((left, 1 - share), (left + 1, share)):
                moves = columns[knot] >= 0
                result[rows[moves], columns[knot[moves]]] += part[moves]
        return result
