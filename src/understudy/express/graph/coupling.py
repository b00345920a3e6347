"""Coupling: how the regions of a take move together, which graphs of single regions do not hold.

A graph knows how a brow moves, not that this brow went with that mouth, nor that the mouth was later. For every take
the coupling keeps a few numbers a region: when the region sets off and arrives, and a code of its apex, the coordinates
along the K principal directions of all apexes. It also keeps the range and the greatest speed of the data, so that what
is acted stays within both. That is a hundredth of the takes themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput

if TYPE_CHECKING:
    from understudy.express.sequence import ExpressionSequence

MODE_COUNT = 4  # K: four directions hold nine tenths of the variance of a region's apexes
START_ACTIVATION_RATIO = 0.1  # of a region's greatest activation in a take: it has set off
APEX_ACTIVATION_RATIO = 0.9  # of the same: it has arrived

# Of a region's greatest activation in any take: the times of a weaker movement are not measured.
MIN_ACTIVATION_RATIO = 0.1
MAX_ARRIVAL_ONSETS = 1.3  # of the onset: a region that arrives later belongs to another expression


@dataclass(frozen=True, eq=False)
class Coupling:
    """P takes of R regions; Q labels; L landmarks or weights in D dimensions. Stored as float32."""

    regions: tuple[str, ...]  # (R,)
    labels: tuple[str, ...]  # (Q,) sorted
    label_of: Array  # (P,) int32
    onsets: Array  # (P,) seconds from neutral to the apex
    offsets: Array  # (P,) seconds from the apex to the end of the take
    begins: Array  # (P, R) when a region sets off, as a share of the onset
    arrives: Array  # (P, R) when it arrives
    activations: Array  # (P, R) how far it is from neutral at the apex
    codes: Array  # (P, R, K) its apex
    modes: Array  # (K, M) the directions of the codes, regions side by side: M = sum of L_r D
    sizes: Array  # (R,) int32 columns of each region in `modes`
    lowest: Array  # (L, D) range of the displacements
    highest: Array  # (L, D)
    fastest: Array  # (R,) greatest displacement a second of any landmark of the region

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                checks.freeze(value)

    @classmethod
    def learn(cls, sequences: Iterable[ExpressionSequence], regions: Mapping[str, Array]) -> Coupling:
        """From takes that share names and dimensions; `regions` are indexes into the names."""
        takes = list(sequences)
        if not takes or not regions:
            raise InvalidInput("a coupling is learned from one take and one region or more")
        apexes = [take.points[take.peak] - take.points[0] for take in takes]
        modes = [_modes(np.stack([apex[members].ravel() for apex in apexes])) for members in regions.values()]
        labels = tuple(sorted({take.label for take in takes}))
        measured = [_measure_take(take, regions) for take in takes]
        begins, arrives, activations = (np.stack(rows) for rows in zip(*measured))
        still = activations < MIN_ACTIVATION_RATIO * activations.max(axis=0)
        packed = np.concatenate(modes, axis=1)
        sizes = np.array([directions.shape[1] for directions in modes], np.int32)
        moved = [take.displacements for take in takes]
        return cls(
            regions=tuple(regions),
            labels=labels,
            label_of=np.array([labels.index(take.label) for take in takes], np.int32),
            onsets=np.array([take.peak / take.rate for take in takes], np.float32),
            offsets=np.array([(len(take) - 1 - take.peak) / take.rate for take in takes], np.float32),
            begins=_fill_still_regions(begins, still),
            arrives=_fill_still_regions(arrives, still),
            activations=activations.astype(np.float32),
            codes=np.stack([_codes(apex, regions, packed, sizes) for apex in apexes]),
            modes=packed,
            sizes=sizes,
            lowest=np.min([take.min(axis=0) for take in moved], axis=0).astype(np.float32),
            highest=np.max([take.max(axis=0) for take in moved], axis=0).astype(np.float32),
            fastest=np.max([_speeds(take, regions) for take in takes], axis=0).astype(np.float32),
        )

    def with_take(self, take: ExpressionSequence, regions: Mapping[str, Array]) -> Coupling:
        """The coupling with one more take, coded along the directions learned before."""
        begins, arrives, activations = _measure_take(take, regions)
        still = activations < MIN_ACTIVATION_RATIO * np.maximum(self.activations.max(axis=0), activations)
        labels = tuple(sorted({*self.labels, take.label}))
        known = [self.labels[number] for number in self.label_of] + [take.label]
        apex, moved = take.points[take.peak] - take.points[0], take.displacements
        rows = {
            "onsets": np.array([take.peak / take.rate]),
            "offsets": np.array([(len(take) - 1 - take.peak) / take.rate]),
            "begins": _fill_still_regions(begins[None], still[None]),
            "arrives": _fill_still_regions(arrives[None], still[None]),
            "activations": activations[None],
            "codes": _codes(apex, regions, self.modes, self.sizes)[None],
        }
        longer: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), row]).astype(np.float32) for name, row in rows.items()
        }
        return replace(
            self,
            labels=labels,
            label_of=np.array([labels.index(label) for label in known], np.int32),
            lowest=np.minimum(self.lowest, moved.min(axis=0)).astype(np.float32),
            highest=np.maximum(self.highest, moved.max(axis=0)).astype(np.float32),
            fastest=np.maximum(self.fastest, _speeds(take, regions)).astype(np.float32),
            **longer,
        )

    def to_arrays(self) -> dict[str, Array]:
        """Its arrays by name, for an archive; the names of regions and labels are the graph's own."""
        kept = [field.name for field in fields(self) if field.name not in ("regions", "labels")]
        return {name: getattr(self, name) for name in kept}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], regions: Sequence[str], labels: Sequence[str]) -> Coupling:
        """The inverse of `to_arrays`; arrays that are missing or contradict each other are refused."""
        takes, many = ("P",), len(regions)
        shapes: dict[str, tuple[int | str, ...]] = {
            **dict.fromkeys(("label_of", "onsets", "offsets"), takes),
            **dict.fromkeys(("begins", "arrives", "activations"), ("P", many)),
            **{"codes": ("P", many, "K"), "modes": ("K", "M"), "sizes": (many,), "fastest": (many,)},
            **{"lowest": ("L", "D"), "highest": ("L", "D")},
        }
        missing = [name for name in shapes if name not in arrays]
        if missing:
            raise InvalidInput(f"a coupling should have the array {missing[0]!r}, but has not")
        checked = {}
        sizes: dict[str, int] = {}
        for name, shape in shapes.items():
            kind = np.int32 if name in ("label_of", "sizes") else np.float32
            known = tuple(sizes.get(size, size) if isinstance(size, str) else size for size in shape)
            checked[name] = checks.array(arrays[name], f"{name} of the coupling", known, kind)
            sizes |= {s: n for s, n in zip(shape, checked[name].shape) if isinstance(s, str)}
        checks.indices(checked["label_of"], "labels of the coupling's takes", len(labels))
        if int(checked["sizes"].sum()) != sizes["M"] or not sizes["P"]:
            raise InvalidInput("the sizes of the coupling's regions should sum to the width of its directions")
        return cls(regions=tuple(regions), labels=tuple(labels), **checked)

    def takes_of(self, label: str) -> Array:
        """(n,) the takes of a label; empty where it has none."""
        return np.flatnonzero(self.label_of == self.labels.index(label)) if label in self.labels else np.zeros(0, int)

    def code(self, region: int, displacements: Array) -> Array:
        """(N, K) codes of poses (N, L_r, D) of the region numbered `region`."""
        start = int(self.sizes[:region].sum())
        return displacements.reshape(len(displacements), -1) @ self.modes[:, start : start + self.sizes[region]].T


def _measure_take(take: ExpressionSequence, regions: Mapping[str, Array]) -> tuple[Array, Array, Array]:
    """(R,) when each region sets off and arrives, as shares of the onset, and its activation at the apex."""
    within = min(len(take), int(np.ceil(MAX_ARRIVAL_ONSETS * take.peak)) + 1)
    levels = [activation(take.displacements[:within, members]) for members in regions.values()]
    begins = np.array([crossing(level, START_ACTIVATION_RATIO * level.max()) for level in levels]) / take.peak
    arrives = np.array([crossing(level, APEX_ACTIVATION_RATIO * level.max()) for level in levels]) / take.peak
    return begins, arrives, np.array([level[min(take.peak, within - 1)] for level in levels])


def activation(displacements: Array) -> Array:
    """(F,) distance of poses (F, L_r, D) from neutral: the root mean square over the landmarks."""
    return np.sqrt((displacements**2).sum(axis=2).mean(axis=1))


def crossing(values: Array, level: float) -> float:
    """The frame, between frames too, at which `values` (F,) first reach `level`; the last frame where they never do."""
    above = values >= level
    first = int(np.argmax(above))
    if not above[first]:
        return float(len(values) - 1)
    if first == 0:
        return 0.0
    before, after = float(values[first - 1]), float(values[first])
    return first - 1 + (level - before) / (after - before)


def _fill_still_regions(times: Array, still: Array) -> Array:
    """(P, R) times; a region at rest gets the mean of those that move."""
    moving = np.where(still, np.nan, times)
    counts = (~still).sum(axis=1)
    mean = np.where(counts > 0, np.nansum(moving, axis=1) / np.maximum(counts, 1), times.mean(axis=1))
    return np.where(still, mean[:, None], times).astype(np.float32)


def _modes(apexes: Array) -> Array:
    """(K, n) principal directions of rows (P, n), zero where there are fewer than K."""
    _, _, directions = np.linalg.svd(apexes, full_matrices=False)
    # the sign of a singular vector depends on the library: the largest entry is made positive
    signs = np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)])
    modes = np.zeros((MODE_COUNT, apexes.shape[1]), np.float32)
    modes[: len(directions)] = (directions * np.where(signs == 0, 1, signs)[:, None])[:MODE_COUNT]
    return modes


def _codes(apex: Array, regions: Mapping[str, Array], modes: Array, sizes: Array) -> Array:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    blocks = [modes[:, a:b] for a, b in pairwise(starts)]
    return np.stack([block @ apex[m].ravel() for block, m in zip(blocks, regions.values())]).astype(np.float32)


def _speeds(take: ExpressionSequence, regions: Mapping[str, Array]) -> Array:
    """(R,) the greatest displacement a second of any landmark of each region."""
    steps = np.linalg.norm(np.diff(take.points, axis=0), axis=2) * take.rate
    return np.array([steps[:, members].max() for members in regions.values()])
