"""Regions of a face: which landmarks, weights or controls move together. Each region has its own graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.formats import arkit_names

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
