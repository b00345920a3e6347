"""The dragon's 742 controls, what they drive, and the lattice over its head.

`controls.txt` lists the controls of bones and coarse shapes, `fine.txt` those of the fine layer by their places on the
skin; the lattice's follow from its points. `drives.txt` says which controls move which joints and shapes; sides are
written out as a mirror would. The heads of these tables say how they are read.

The lattice has 5 x 5 x 4 points that push everything near them, after bones and shapes. Its box is laid so that even
the outermost points have skin within reach: at the value 1 each moves some vertex by a millimetre at least. Horns, fins
and neck stick out of it; there it fades to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from assets.dragon.measures import JOINTS, SCALE, SIDED
from understudy.character.controls import COMPONENTS, Controls, Lattice
from understudy.checks import Array
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
LATTICE_LEVELS = ("chin", "mouth", "nose", "brow", "crown")  # of the lattice, upwards
LATTICE_DEPTHS = ("back", "mid", "front", "tip")  # of the lattice, forwards
LATTICE_COLUMNS = ("mid", "in", "out")  # of the lattice, from the middle outwards


@dataclass(frozen=True)
class ControlRow:
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
class FinePlace:
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
def fine_places() -> tuple[FinePlace, ...]:
    """The rows of `fine.txt`."""
    places = []
    for name, mirror, directions, reach, height, rest in _table_lines("fine.txt"):
        where, about = _where(rest)
        ways = () if directions == "-" else tuple(directions.split(","))
        places.append(FinePlace(name, mirror == "pair", ways, float(reach), float(height), where, about))
    return tuple(places)


def _where(text: str) -> tuple[tuple[str, ...], str]:
    words = text.split()
    count = 2 if words[0] in ("lip", "rim", "rib") else 3
    return tuple(words[:count]), " ".join(words[count:])


def _table_rows() -> Iterator[ControlRow]:
    layer = ""
    for line in _table_lines("controls.txt"):
        if line[0].startswith("["):
            layer = line[0].strip("[]")
            continue
        name, low, rest, high, unit, tail = line
        mirror, _, about = tail.partition(" ")
        for side in SIDES if mirror == "pair" else ("",):
            yield ControlRow(
                name + side, layer, float(low), float(rest), float(high), unit, mirror == "flip", about.strip()
            )


def _fine_rows() -> Iterator[ControlRow]:
    for place in fine_places():
        for name, way in zip(place.controls, place.directions or ("",)):
            about = f"{place.about}: {way}" if way else place.about
            for side in SIDES if place.sided else ("",):
                yield ControlRow(name + side, "fine", -1.0, 0.0, 1.0, "weight", False, about)


def _lattice_rows() -> Iterator[ControlRow]:
    for level in LATTICE_LEVELS:
        for depth in LATTICE_DEPTHS:
            for column in LATTICE_COLUMNS:
                for axis in "xyz":
                    name = f"lattice.{level}_{depth}_{column}_{axis}"
                    way = {"x": "to its left" if column == "mid" else "outwards", "y": "up", "z": "forward"}[axis]
                    about = f"lattice point {level}, {depth}, {column}: {way}"
                    flips = column == "mid" and axis == "x"
                    for side in ("",) if column == "mid" else SIDES:
                        yield ControlRow(name + side, "lattice", -1.0, 0.0, 1.0, "weight", flips, about)


def _table_lines(file: str) -> Iterator[list[str]]:
    """The lines of a table, five words and the rest of each; headings [..] alone, comments and empty lines skipped."""
    for number, line in enumerate(read_text(FOLDER / file).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(None, COLUMNS_OF_A_TABLE - 1)
        if not line.startswith("[") and len(parts) < COLUMNS_OF_A_TABLE:
            raise InvalidInput(f"{file}, line {number}: expected {COLUMNS_OF_A_TABLE} columns, but found {len(parts)}")
        yield [part.strip() for part in parts]


DRIVES_FILE = Path(__file__).with_name("drives.txt")
MIRROR_NEGATES = ("ry", "rz", "tx")  # components whose sign a mirror turns over, for joints with the axes of the world


@dataclass(frozen=True)
class DriveRule:
    """One target of one line, for one side: parameter name, control names, amount in the parameter's own unit."""

    section: str
    controls: tuple[str, ...]
    target: str
    amount: float


def drive_rules(controls: Controls, shapes: Sequence[str]) -> list[DriveRule]:
    """The drives, correctives and towards of the table, sides written out."""
    result: list[DriveRule] = []
    for section, head, tail in _drive_lines():
        if section == "limits":
            continue
        names = tuple(word.strip() for word in head.split("*"))
        for item in tail.split(","):
            target, amount = item.split()
            result += _both_sides(section, names, target, float(amount), controls, shapes)
    return result


def component_limits() -> dict[str, tuple[float, float]]:
    """Component -> lowest and highest value, sides written out."""
    result = {}
    for section, head, tail in _drive_lines():
        if section == "limits":
            low, high = (float(word) * parameter_unit(head) for word in tail.split())
            joint, _, component = head.rpartition(".")
            for name in (f"{joint}.L.{component}", f"{joint}.R.{component}") if joint in SIDED else (head,):
                result[name] = (low, high)
    return result


def parameter_unit(target: str) -> float:
    """What one of the table's units is in the parameter's own: radians of degrees, metres of head lengths."""
    component = target.rpartition(".")[2]
    if component not in COMPONENTS:
        return 1.0
    return {"r": np.pi / 180, "t": SCALE, "s": 1.0}[component[0]]


def _both_sides(
    section: str, names: tuple[str, ...], target: str, amount: float, controls: Controls, shapes: Sequence[str]
) -> Iterator[DriveRule]:
    sided_controls = [f"{name}.L" in controls for name in names]
    joint, _, component = target.rpartition(".")
    moves_joint = component in COMPONENTS
    sided_target = joint in SIDED if moves_joint else f"{target}.L" in shapes
    amount = amount * parameter_unit(target)
    if not any(sided_controls) and not sided_target:
        yield DriveRule(section, names, target, amount)
        return
    odd = any(name in controls and bool(controls.odd[controls.index(name)]) for name in names)
    over = (-1 if moves_joint and component in MIRROR_NEGATES else 1) * (-1 if odd else 1)
    if not sided_target and any(sided_controls):
        raise InvalidInput(f"{DRIVES_FILE.name}: {target} has no sides, but {names} do")
    for side, sign in ((".L", 1), (".R", over)):
        own = tuple(name + side if sided else name for name, sided in zip(names, sided_controls))
        yield DriveRule(section, own, f"{joint}{side}.{component}" if moves_joint else target + side, amount * sign)


def _drive_lines() -> Iterator[tuple[str, str, str]]:
    section = ""
    for number, line in enumerate(read_text(DRIVES_FILE).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]\n ")
            continue
        head, colon, tail = line.partition(" " if section == "limits" else ":")
        if not colon:
            raise InvalidInput(
                f"{DRIVES_FILE.name}, line {number}: expected `control: target gain`, but found {line!r}"
            )
        yield section, head.strip(), tail.strip()


def layer_arrays(controls: Controls, components: Sequence[tuple[str, str]], shapes: Sequence[str]) -> dict[str, Any]:
    """The drives, correctives, towards and limits as the fields of `Layers`."""
    number = {name: i for i, name in enumerate([*(f"{j}.{c}" for j, c in components), *shapes])}
    found = drive_rules(controls, shapes)
    said = {(rule.controls, rule.target) for rule in found if rule.section == "drives"}
    own = [
        DriveRule("drives", (name,), name, 1.0) for name in shapes if name in controls and ((name,), name) not in said
    ]
    tables = {
        section: [rule for rule in [*found, *own] if rule.section == section and (rule.amount or section == "toward")]
        for section in ("drives", "correctives", "toward")
    }
    _refuse_unknown(tables, number, controls)

    def column(section: str, control: int) -> Array:
        return np.array([controls.index(rule.controls[control]) for rule in tables[section]], np.int64)

    def targets(section: str) -> Array:
        return np.array([number[rule.target] for rule in tables[section]], np.int64)

    def amounts(section: str) -> Array:
        return np.array([rule.amount for rule in tables[section]])

    low, high = np.full(len(number), -np.inf), np.full(len(number), np.inf)
    for name, (least, most) in component_limits().items():
        low[number[name]], high[number[name]] = least, most
    return {
        "drive_parameter": targets("drives"),
        "drive_control": column("drives", 0),
        "drive_gain": amounts("drives"),
        "corrective_parameter": targets("correctives"),
        "corrective_a": column("correctives", 0),
        "corrective_b": column("correctives", 1),
        "corrective_gain": amounts("correctives"),
        "toward_parameter": targets("toward"),
        "toward_control": column("toward", 0),
        "toward_target": amounts("toward"),
        "low": low,
        "high": high,
    }


def driven_components(controls: Controls, shapes: Sequence[str]) -> list[tuple[str, str]]:
    """The joints' components that the table moves, in its order: (joint, component)."""
    targets = dict.fromkeys(rule.target for rule in drive_rules(controls, shapes))
    pairs = [target.rpartition(".") for target in targets]
    return [(joint, component) for joint, _, component in pairs if component in COMPONENTS]


def _refuse_unknown(tables: Mapping[str, list[DriveRule]], number: Mapping[str, int], controls: Controls) -> None:
    for table in tables.values():
        for rule in table:
            if rule.target not in number or any(name not in controls for name in rule.controls):
                raise InvalidInput(f"{DRIVES_FILE.name}: {' * '.join(rule.controls)} -> {rule.target} is not known")


LATTICE_JOINT = "Head"
LATTICE_GAIN = 0.06 * SCALE  # metres that the value 1 moves a point
# HL: where the points stand along each axis, first and last; their mean is at the head's own features
LATTICE_ACROSS, LATTICE_UP, LATTICE_AHEAD = (-0.31, 0.31), (-0.25, 0.33), (-0.22, 0.44)


def lattice(controls: Controls) -> Lattice:
    """The lattice and its controls; of a pair, x points outwards on both sides."""
    counts = (2 * len(LATTICE_COLUMNS) - 1, len(LATTICE_LEVELS), len(LATTICE_DEPTHS))
    first, last = np.array([LATTICE_ACROSS, LATTICE_UP, LATTICE_AHEAD]).T
    cell = (last - first) / (np.array(counts) - 1)
    origin = np.array(JOINTS[LATTICE_JOINT][1])
    point, axis, control, gain = [], [], [], []
    for number in controls.indices_in_layer("lattice"):
        name = controls.names[number].removeprefix("lattice.")
        stem, _, side = name.partition(".")
        level, depth, column, way = stem.split("_")
        outwards = -1 if side == "R" else 1
        x = len(LATTICE_COLUMNS) - 1 + outwards * LATTICE_COLUMNS.index(column)
        point.append((x * counts[1] + LATTICE_LEVELS.index(level)) * counts[2] + LATTICE_DEPTHS.index(depth))
        axis.append("xyz".index(way))
        control.append(int(number))
        gain.append(LATTICE_GAIN * (outwards if way == "x" else 1))
    # a point stands one and a half cells inside the box (see `deform.lattice`)
    low, high = (first - 1.5 * cell - origin) * SCALE, (last + 1.5 * cell - origin) * SCALE
    return Lattice(LATTICE_JOINT, low, high, counts, point, axis, control, gain)
