"""The dragon's 742 controls: bones and coarse ones from a table, fine ones at places on the skin, and the lattice's.

The tables are `controls.txt` and `fine.txt` beside this file; their heads say how they are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from understudy.character.controls import Controls
from understudy.errors import InvalidInput
from understudy.files import read_text

FOLDER = Path(__file__).parent
REGIONS = {
    "neck": "neck",
    "head": "neck",
    "jaw": "jaw",
    "cheeks": "jaw",
    "mouth": "mouth",
    "tongue": "mouth",
    "lids": "eyes",
    "eyes": "eyes",
    "brows": "brows",
    "nose": "nose",
    "ears": "ears",
    "lattice": "lattice",
}
SIDES = (".L", ".R")
COLUMNS_OF_A_TABLE = 6
LEVELS = ("chin", "mouth", "nose", "brow", "crown")  # of the lattice, upwards
DEPTHS = ("back", "mid", "front", "tip")  # of the lattice, forwards
COLUMNS = ("mid", "in", "out")  # of the lattice, from the middle outwards


@dataclass(frozen=True)
class Row:
    """One control, before it is a column: sides written out, `flips` where a mirror turns its sign over."""

    name: str
    layer: str
    low: float
    rest: float
    high: float
    unit: str
    flips: bool
    about: str


@dataclass(frozen=True)
class Place:
    """A place of the fine layer, as written for the left side."""

    name: str  # "mouth.upper3"
    sided: bool
    directions: tuple[str, ...]  # empty where the name itself tells the way
    reach: float
    height: float
    where: tuple[str, ...]
    about: str

    @property
    def controls(self) -> tuple[str, ...]:
        """Its controls without their side: `mouth.upper3_up`, ... ."""
        return tuple(f"{self.name}_{direction}" for direction in self.directions) or (self.name,)


@cache
def dragon_controls() -> Controls:
    """All controls, in the order bones, coarse, fine, lattice."""
    rows = [*_table_rows(), *_fine_rows(), *_lattice_rows()]
    return Controls(
        names=(row.name for row in rows),
        regions=(REGIONS[row.name.partition(".")[0]] for row in rows),
        layers=(row.layer for row in rows),
        units=(row.unit for row in rows),
        low=[row.low for row in rows],
        rest=[row.rest for row in rows],
        high=[row.high for row in rows],
        odd=[row.flips for row in rows],
        about=(row.about for row in rows),
    )


@cache
def fine_places() -> tuple[Place, ...]:
    """The rows of `fine.txt`."""
    places = []
    for name, mirror, directions, reach, height, rest in _lines("fine.txt"):
        where, about = _where(rest)
        ways = () if directions == "-" else tuple(directions.split(","))
        places.append(Place(name, mirror == "pair", ways, float(reach), float(height), where, about))
    return tuple(places)


def _where(text: str) -> tuple[tuple[str, ...], str]:
    words = text.split()
    count = 2 if words[0] in ("lip", "rim", "rib") else 3
    return tuple(words[:count]), " ".join(words[count:])


def _table_rows() -> Iterator[Row]:
    layer = ""
    for line in _lines("controls.txt"):
        if line[0].startswith("["):
            layer = line[0].strip("[]")
            continue
        name, low, rest, high, unit, tail = line
        mirror, _, about = tail.partition(" ")
        for side in SIDES if mirror == "pair" else ("",):
            yield Row(name + side, layer, float(low), float(rest), float(high), unit, mirror == "flip", about.strip())


def _fine_rows() -> Iterator[Row]:
    for place in fine_places():
        for name, way in zip(place.controls, place.directions or ("",)):
            about = f"{place.about}: {way}" if way else place.about
            for side in SIDES if place.sided else ("",):
                yield Row(name + side, "fine", -1.0, 0.0, 1.0, "weight", False, about)


def _lattice_rows() -> Iterator[Row]:
    for level in LEVELS:
        for depth in DEPTHS:
            for column in COLUMNS:
                for axis in "xyz":
                    name = f"lattice.{level}_{depth}_{column}_{axis}"
                    way = {"x": "to its left" if column == "mid" else "outwards", "y": "up", "z": "forward"}[axis]
                    about = f"lattice point {level}, {depth}, {column}: {way}"
                    flips = column == "mid" and axis == "x"
                    for side in ("",) if column == "mid" else SIDES:
                        yield Row(name + side, "lattice", -1.0, 0.0, 1.0, "weight", flips, about)


def _lines(file: str) -> Iterator[list[str]]:
    """The lines of a table, five words and the rest of each; headings [..] alone, comments and empty lines skipped."""
    for number, line in enumerate(read_text(FOLDER / file).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(None, COLUMNS_OF_A_TABLE - 1)
        if not line.startswith("[") and len(parts) < COLUMNS_OF_A_TABLE:
            raise InvalidInput(f"{file}, line {number}: expected {COLUMNS_OF_A_TABLE} columns, but found {len(parts)}")
        yield [part.strip() for part in parts]
