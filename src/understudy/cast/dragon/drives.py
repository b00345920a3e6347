"""Reads `drives.txt`: which controls move which joints and shapes, with sides written out as a mirror would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.cast.dragon.measures import SCALE, SIDED
from understudy.character.controls import Controls
from understudy.character.layers import COMPONENTS
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.files import read_text

FILE = Path(__file__).with_name("drives.txt")
TURNED_OVER = ("ry", "rz", "tx")  # components whose sign a mirror turns over, for joints with the axes of the world


@dataclass(frozen=True)
class Rule:
    """One target of one line, for one side: parameter name, control names, amount in the parameter's own unit."""

    section: str
    controls: tuple[str, ...]
    target: str
    amount: float


def rules(controls: Controls, shapes: Sequence[str]) -> list[Rule]:
    """The drives, correctives and towards of the table, sides written out."""
    result: list[Rule] = []
    for section, head, tail in _lines():
        if section == "limits":
            continue
        names = tuple(word.strip() for word in head.split("*"))
        for item in tail.split(","):
            target, amount = item.split()
            result += _sides(section, names, target, float(amount), controls, shapes)
    return result


def limits() -> dict[str, tuple[float, float]]:
    """Component -> lowest and highest value, sides written out."""
    result = {}
    for section, head, tail in _lines():
        if section == "limits":
            low, high = (float(word) * unit(head) for word in tail.split())
            joint, _, component = head.rpartition(".")
            for name in (f"{joint}.L.{component}", f"{joint}.R.{component}") if joint in SIDED else (head,):
                result[name] = (low, high)
    return result


def unit(target: str) -> float:
    """What one of the table's units is in the parameter's own: radians of degrees, metres of head lengths."""
    component = target.rpartition(".")[2]
    if component not in COMPONENTS:
        return 1.0
    return {"r": np.pi / 180, "t": SCALE, "s": 1.0}[component[0]]


def _sides(
    section: str, names: tuple[str, ...], target: str, amount: float, controls: Controls, shapes: Sequence[str]
) -> Iterator[Rule]:
    sided_controls = [f"{name}.L" in controls for name in names]
    joint, _, component = target.rpartition(".")
    moves_joint = component in COMPONENTS
    sided_target = joint in SIDED if moves_joint else f"{target}.L" in shapes
    amount = amount * unit(target)
    if not any(sided_controls) and not sided_target:
        yield Rule(section, names, target, amount)
        return
    odd = any(name in controls and bool(controls.odd[controls.index(name)]) for name in names)
    over = (-1 if moves_joint and component in TURNED_OVER else 1) * (-1 if odd else 1)
    if not sided_target and any(sided_controls):
        raise InvalidInput(f"{FILE.name}: {target} has no sides, but {names} do")
    for side, sign in ((".L", 1), (".R", over)):
        own = tuple(name + side if sided else name for name, sided in zip(names, sided_controls))
        yield Rule(section, own, f"{joint}{side}.{component}" if moves_joint else target + side, amount * sign)


def _lines() -> Iterator[tuple[str, str, str]]:
    section = ""
    for number, line in enumerate(read_text(FILE).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]\n ")
            continue
        head, colon, tail = line.partition(" " if section == "limits" else ":")
        if not colon:
            raise InvalidInput(f"{FILE.name}, line {number}: expected `control: target gain`, but found {line!r}")
        yield section, head.strip(), tail.strip()


def arrays(controls: Controls, components: Sequence[tuple[str, str]], shapes: Sequence[str]) -> dict[str, Any]:
    """The drives, correctives, towards and limits as the fields of `Layers`."""
    number = {name: i for i, name in enumerate([*(f"{j}.{c}" for j, c in components), *shapes])}
    found = rules(controls, shapes)
    said = {(rule.controls, rule.target) for rule in found if rule.section == "drives"}
    own = [Rule("drives", (name,), name, 1.0) for name in shapes if name in controls and ((name,), name) not in said]
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
    for name, (least, most) in limits().items():
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


def components(controls: Controls, shapes: Sequence[str]) -> list[tuple[str, str]]:
    """The joints' components that the table moves, in its order: (joint, component)."""
    targets = dict.fromkeys(rule.target for rule in rules(controls, shapes))
    pairs = [target.rpartition(".") for target in targets]
    return [(joint, component) for joint, _, component in pairs if component in COMPONENTS]


def _refuse_unknown(tables: Mapping[str, list[Rule]], number: Mapping[str, int], controls: Controls) -> None:
    for table in tables.values():
        for rule in table:
            if rule.target not in number or any(name not in controls for name in rule.controls):
                raise InvalidInput(f"{FILE.name}: {' * '.join(rule.controls)} -> {rule.target} is not known")
