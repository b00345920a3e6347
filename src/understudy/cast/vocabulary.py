"""Vocabulary: what a dope sheet may set, so that one grammar serves joints and faces.

A sheet speaks of owners and names (`Head` and `ry`, `brows` and `raise`); a column is one number over time that they
stand for. `raise` of `brows` stands for two columns, one for each side. What a vocabulary knows of each column: its
rest, the range that it must not leave, and whether it drifts in a hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from understudy.character.controls import Controls
from understudy.errors import InvalidInput

AXES = ("rx", "ry", "rz", "tx", "ty", "tz")
SIDES = ("L", "R")
SECONDARY = ("fine", "lattice")  # layers that go along in poses; an amount is chosen for what is seen, not for them


@dataclass(frozen=True)
class Vocabulary:
    """Columns by owner and name. A name with two columns has sides, left and right."""

    kind: str  # what an owner is called in errors
    owners: Mapping[str, Mapping[str, tuple[str, ...]]]
    rests: Mapping[str, float]  # of each column
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    still: frozenset[str] = frozenset()  # columns that never drift
    yielding: frozenset[str] = frozenset()  # columns that stop at their range where a pose or an overshoot goes on
    parts: Mapping[str, str] = field(default_factory=dict)  # column -> the part of a track that can be delayed with it
    whole: bool = False  # whether a pose brings what it does not name to rest, as far as its track uses it
    arc: str = ""  # the column that arc= dips
    blink: tuple[str, ...] = ()  # the columns of a blink, left and right
    private: Mapping[str, frozenset[str]] = field(default_factory=dict)  # track -> columns that poses leave to it

    def names(self, owner: str) -> Mapping[str, tuple[str, ...]]:
        """What an owner has."""
        if owner not in self.owners:
            raise InvalidInput(f"there is no {self.kind} {owner!r}; available: {', '.join(self.owners)}")
        return self.owners[owner]

    def columns(self, owner: str, name: str) -> tuple[str, ...]:
        """The columns of a name: of the owner, or of another as in `Neck.rx`; `raise.L` is one side of two."""
        first, dot, rest = name.partition(".")
        if dot and first not in self.owners.get(owner, ()):
            owner, name = first, rest
        known = self.names(owner)
        base, _, side = name.partition(".")
        found = known.get(base, ())
        if side in SIDES and len(found) == 2:
            return (found[SIDES.index(side)],)
        if side or not found:
            raise InvalidInput(f"{owner} has no {name!r}; available: {_few(known, base)}")
        return found

    def late(self, part: str) -> None:
        """Refuse a delay of something that cannot be late by itself."""
        known = dict.fromkeys(self.parts.values())
        if part not in known:
            what = self.kind if self.kind == "joint" else "side"
            raise InvalidInput(f"there is no {what} {part!r}; available: {', '.join(known)}")


def _few(known: Iterable[str], wanted: str) -> str:
    """The known names, those that resemble the wanted one first, cut short."""
    import difflib

    names = list(known)
    near = difflib.get_close_matches(wanted, names, n=5, cutoff=0.5)
    listed = near + [name for name in names if name not in near]
    return ", ".join(listed[:24]) + (f" and {len(listed) - 24} more" if len(listed) > 24 else "")


def of_joints(joints: Iterable[str]) -> Vocabulary:
    """Degrees about the axes of each joint and metres from its place at rest; translations hold exactly."""
    owners = {joint: {axis: (f"{joint}.{axis}",) for axis in AXES} for joint in joints}
    parts = {column: joint for joint, names in owners.items() for (column,) in names.values()}
    return Vocabulary(
        "joint",
        owners,
        rests=dict.fromkeys(parts, 0.0),
        still=frozenset(column for column in parts if ".t" in column),
        parts=parts,
    )


def of_controls(controls: Controls) -> Vocabulary:
    """The controls of a face by group. `breath: air=` stands for neck.breath, `blink` for lids.blink."""
    owners: dict[str, dict[str, tuple[str, ...]]] = {}
    parts = {}
    for name in controls.names:
        group, _, rest = name.partition(".")
        base, _, side = rest.partition(".")
        if side in SIDES:
            parts[name] = side
        owners.setdefault(group, {})
        owners[group][base] = (*owners[group].get(base, ()), name)
    for group, names in owners.items():
        for base, columns in names.items():
            if len(columns) > 1 and columns != (f"{group}.{base}.L", f"{group}.{base}.R"):
                raise InvalidInput(f"{group}.{base} should be one control, or one .L and then one .R, but is {columns}")
    private = {}
    if "neck.breath" in controls:
        owners["breath"] = {"air": ("neck.breath",)}
        private["breath"] = frozenset({"neck.breath"})
    blink = owners.get("lids", {}).get("blink", ())
    if blink:
        private["blink"] = frozenset(blink)
    return Vocabulary(
        "group",
        owners,
        rests=dict(zip(controls.names, controls.rest.tolist())),
        ranges=dict(zip(controls.names, zip(controls.low.tolist(), controls.high.tolist()))),
        still=frozenset(blink),
        yielding=frozenset(name for name, layer in zip(controls.names, controls.layers) if layer in SECONDARY),
        parts=parts,
        whole=True,
        arc="head.nod" if "head.nod" in controls else "",
        blink=blink,
        private=private,
    )
