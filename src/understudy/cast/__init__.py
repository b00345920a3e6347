"""The built-in characters and their hand animation, made by this project's own code: nothing has to be downloaded."""

from __future__ import annotations

import importlib
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from understudy import checks
from understudy.character import Asset
from understudy.checks import Array
from understudy.errors import InvalidInput

if TYPE_CHECKING:
    from understudy.retarget.body import Body

Limits = dict[str, dict[str, tuple[float, float]]]  # joint -> axis -> lowest and highest degrees, see `joints`

# name: module below understudy.cast, which has a function of the same name that builds the asset
CAST = {
    "dragon": "dragon",
    "face": "face",
    "lamp": "lamp",
    "penguin": "penguin",
    "squirrel": "squirrel",
    "actor": "actor",
}


def names() -> tuple[str, ...]:
    """Who is in the cast."""
    return tuple(CAST)


def load(name: str) -> Asset:
    """A cast member with its animation; an unknown name is refused with the list of those known."""
    asset: Asset = getattr(_module(name), name)()
    return asset


def poses(name: str) -> dict[str, Array]:
    """The full poses of a cast member's library, name -> row (C,) of its rig; none where it has no library."""
    library: dict[str, Array] = getattr(_module(name), "poses", dict)()
    return {pose: row for pose, row in library.items() if "." not in pose}  # `lids.angry` moves the lids alone


@lru_cache
def body(name: str) -> Body:
    """The weights of a cast member's links, from the volume of its skin, and the points that it stands on."""
    from understudy.retarget.body import body_of

    return body_of(load(name).character())


def pairs(name: str) -> Path:
    """The file of pose pairs from the actor's emotions to a cast member."""
    with_pairs = [member for member in CAST if _pairs_file(member).is_file()]
    if name in CAST and name not in with_pairs:
        raise InvalidInput(f"{name} has no pose pairs; those who have are {', '.join(with_pairs)}")
    return _pairs_file(checks.one_of(name, "cast member with pose pairs", with_pairs))


def limits(name: str) -> Limits:
    """How far a cast member's joints turn; none where it has no limits."""
    found: Limits = getattr(_module(name), "LIMITS", {})
    return found


def _pairs_file(name: str) -> Path:
    folder = Path(__file__).parent / CAST[name]
    return folder / "pairs.toml" if folder.is_dir() else folder.with_name(f"{folder.name}_pairs.toml")


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"understudy.cast.{CAST[checks.one_of(name, 'cast member', CAST)]}")
