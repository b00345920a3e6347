"""Expression sequence: one labelled take of a face, from neutral to its apex and, where it was recorded, back.

Its landmarks, weights or controls belong to regions of the face, which move together. Each region has its own graph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.formats import arkit_names


@dataclass(frozen=True, eq=False)
class ExpressionSequence:
    """F frames of L landmarks in D dimensions, or of L weights (D = 1). Frame 0 is neutral, frame `peak` the apex.

    Where no peak is given it is the frame that lies farthest from the first, and `notes` says so.
    """

    name: str
    label: str
    points: Array  # (F, L, D) float64
    rate: float  # frames a second
    peak: int  # frame of the most intense pose
    names: tuple[str, ...]  # (L,) landmarks ("lm00" to "lm67") or weights
    guessed: bool  # whether the peak was found, not given
    notes: tuple[str, ...]  # one line for each change that reading or preprocessing made

    def __init__(
        self,
        name: str,
        label: str,
        points: Any,
        rate: float,
        peak: int | None,
        names: Iterable[str],
        notes: Iterable[str] = (),
        guessed: bool = False,
    ) -> None:
        what = f"sequence {name!r}"
        names = checks.unique_names(names, f"names of {what}")
        points = _check_points(points, names, what)
        notes = tuple(notes)
        if not isinstance(label, str) or not label:
            raise InvalidInput(f"{what} should have a label such as 'happiness', but has {label!r}")
        if peak is None:
            peak = farthest_frame(points, what)
            notes = (*notes, f"{what} names no peak: the frame farthest from the first is taken")
            guessed = True
        if not isinstance(peak, (int, np.integer)) or not 1 <= peak < len(points):
            raise InvalidInput(f"the peak of {what} should be a frame from 1 to {len(points) - 1}, but is {peak}")
        fields = {
            "name": str(name),
            "label": label,
            "points": points,
            "rate": checks.positive(rate, f"rate of {what}"),
            "peak": int(peak),
            "names": names,
            "guessed": bool(guessed),
            "notes": notes,
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"Sequence({self.name!r}, {self.label!r}, {len(self)} frames, peak {self.peak}, {len(self.names)} names)"

    @property
    def displacements(self) -> Array:
        """(F, L, D) displacement of every point from its position in the first frame."""
        return self.points - self.points[0]

    @property
    def dimensions(self) -> int:
        """D: 2 or 3 of landmarks, 1 of weights."""
        return int(self.points.shape[2])

    def with_fields(self, **fields: Any) -> ExpressionSequence:
        """The same sequence with some of its fields replaced, checked again."""
        return ExpressionSequence(**({key: getattr(self, key) for key in self.__dataclass_fields__} | fields))


def _check_points(points: Any, names: tuple[str, ...], what: str) -> Array:
    points = checks.array(points, f"points of {what}", ("F", "L", "D"), finite=False)
    frames, count, dimensions = points.shape
    if frames < 2:
        count_word = "one" if frames else "none"
        raise InvalidInput(f"{what} should have at least two frames, neutral and peak, but has {count_word}")
    if dimensions not in (1, 2, 3):
        raise InvalidInput(f"points of {what} should have 1, 2 or 3 dimensions, but have {dimensions}")
    if count != len(names):
        raise InvalidInput(f"{what} should have as many points as names, but has {count} points and {len(names)} names")
    if not count:
        raise InvalidInput(f"{what} should have at least one landmark or weight, but has none")
    holes = ~np.isfinite(points)
    if holes.any():
        frame, point, axis = (int(i) for i in np.argwhere(holes)[0])
        value = points[frame, point, axis]
        raise InvalidInput(f"points of {what} should be finite, but {names[point]!r} is {value} at frame {frame}")
    return points


def farthest_frame(points: Array, what: str = "the sequence") -> int:
    """The first frame of (F, L, D) at the greatest distance from frame 0; refused where nothing moves.

    The distance is the sum over landmarks of their displacement, as eq. 3 of [Serra 2018] sums it.
    """
    moved = np.linalg.norm(points - points[0], axis=2).sum(axis=1)
    farthest = int(np.argmax(moved))
    # float32 files leave 1e-7 of the size of the coordinates; less than ten times that is no movement
    if moved[farthest] <= 1e-6 * points.shape[1] * max(float(np.abs(points[0]).max()), 1e-6):
        raise InvalidInput(f"{what} has no peak: none is given, and nothing in it moves")
    return farthest


def check_alike(sequences: Iterable[ExpressionSequence]) -> list[ExpressionSequence]:
    """The sequences as a list; refused where names, dimensions or rates differ, since one graph needs them equal."""
    checked = list(sequences)
    if not checked:
        raise InvalidInput("there should be at least one sequence, but there is none")
    first = checked[0]
    for other in checked[1:]:
        one, two = f"sequence {first.name!r}", f"sequence {other.name!r}"
        if other.dimensions != first.dimensions:
            raise InvalidInput(f"{one} has {first.dimensions} dimensions, but {two} has {other.dimensions}")
        missing = [name for name in first.names if name not in set(other.names)]
        if missing:
            raise InvalidInput(f"{two} lacks {join_names(missing)}, which {one} has")
        if len(other.names) != len(first.names):
            more = [name for name in other.names if name not in set(first.names)]
            raise InvalidInput(f"{one} lacks {join_names(more)}, which {two} has")
        if other.names != first.names:
            raise InvalidInput(f"{one} and {two} should have their names in the same order, but do not")
        if abs(other.rate - first.rate) > 1e-6 * first.rate:
            raise InvalidInput(f"{one} has {first.rate:g} frames a second, but {two} has {other.rate:g}")
    twice = [name for name, count in Counter(sequence.name for sequence in checked).items() if count > 1]
    if twice:
        raise InvalidInput(f"sequences should have distinct names, but {twice[0]!r} appears twice")
    return checked


# The 68 landmarks of Multi-PIE and iBUG: first and last number of each region.
LANDMARK_REGIONS = {"eyes": (36, 47), "brows": (17, 26), "nose": (27, 35), "mouth": (48, 67), "cheeks_jaw": (0, 16)}

# The same regions of the ARKit weights and of Live Link's angles, by how the name begins.
WEIGHT_REGIONS = {
    **{"eye": "eyes", "LeftEye": "eyes", "RightEye": "eyes", "brow": "brows", "nose": "nose", "mouth": "mouth"},
    **{"tongue": "mouth", "cheek": "cheeks_jaw", "jaw": "cheeks_jaw", "Head": "head"},
}

# The same regions of the dragon's controls, by the word before the first dot, and three that a human face lacks.
CONTROL_REGIONS = {
    **{"eyes": "eyes", "lids": "eyes", "brows": "brows", "nose": "nose", "mouth": "mouth", "tongue": "mouth"},
    **{"cheeks": "cheeks_jaw", "jaw": "cheeks_jaw", "ears": "ears", "head": "head", "neck": "head"},
    **{"lattice": "lattice"},
}
REGION_ORDER = ("eyes", "brows", "nose", "mouth", "cheeks_jaw", "ears", "head", "lattice")
LANDMARK_PATTERN = re.compile(r"lm(\d\d)")


def landmark_names(count: int = 68) -> tuple[str, ...]:
    """`lm00`, `lm01` and so on."""
    return tuple(f"lm{number:02d}" for number in range(count))


def landmark_number(name: str) -> int | None:
    """The number of a landmark of the 68 by its name, or None."""
    match = LANDMARK_PATTERN.fullmatch(name)
    return int(match[1]) if match and int(match[1]) < 68 else None


def regions_of(names: Iterable[str], wanted: Mapping[str, Sequence[str]] | None = None) -> dict[str, Array]:
    """Region name -> (L_r,) the rising indexes of its members in `names`.

    `wanted` gives the members of each region by name or by pattern (`brow*`); names in no region do not move.
    Without it: the regions eyes, brows, nose, mouth and cheeks_jaw of the 68 landmarks, of the ARKit weights or of the
    dragon's controls, or of a part of them.
    """
    names = checks.unique_names(names, "names of landmarks or weights")
    if wanted is not None:
        return _select_regions(names, wanted)
    members: dict[str, list[int]] = {region: [] for region in REGION_ORDER}
    for index, name in enumerate(names):
        region = default_region(name)
        if region is None:
            raise InvalidInput(
                f"there is no region for {name!r}: it is no landmark from 'lm00' to 'lm67', no ARKit weight and no "
                f"control of a known group; give the regions with their members"
            )
        members[region].append(index)
    return {region: checks.freeze(np.array(rows)) for region, rows in members.items() if rows}


def default_region(name: str) -> str | None:
    """The region of one landmark, weight or control, or None where the name is unknown."""
    number = landmark_number(name)
    if number is not None:
        return next(region for region, (first, last) in LANDMARK_REGIONS.items() if first <= number <= last)
    weight = arkit_names.canonical_name(name) if "." not in name else None
    if weight is not None:
        return next(region for start, region in WEIGHT_REGIONS.items() if weight.startswith(start))
    return CONTROL_REGIONS.get(name.split(".")[0]) if "." in name else None


def _select_regions(names: tuple[str, ...], wanted: Mapping[str, Sequence[str]]) -> dict[str, Array]:
    if not wanted:
        raise InvalidInput("regions should have at least one region, but there is none")
    owner: dict[int, str] = {}
    result: dict[str, Array] = {}
    for region, patterns in wanted.items():
        rows: set[int] = set()
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            matches = {index for index, name in enumerate(names) if name == pattern or fnmatchcase(name, pattern)}
            if not matches:
                raise InvalidInput(f"region {region!r} names {pattern!r}, but there are only {join_names(names)}")
            rows |= matches
        if not rows:
            raise InvalidInput(f"region {region!r} should have at least one member, but has none")
        for index in rows:
            if owner.setdefault(index, region) != region:
                raise InvalidInput(f"{names[index]!r} is in two regions, {owner[index]!r} and {region!r}")
        result[str(region)] = checks.freeze(np.array(sorted(rows)))
    return result
