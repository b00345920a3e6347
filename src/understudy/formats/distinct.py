"""Names that a file gives twice, or not at all, made into distinct ones."""

from __future__ import annotations

from collections.abc import Iterable


def distinct(names: Iterable[str], noun: str, notes: list[str]) -> tuple[str, ...]:
    """The same names, the second `Arm` as `Arm_2`, an empty one as `joint_7` where `noun` is "joint"."""
    wanted = list(names)
    result = _numbered(wanted, [name or f"{noun}_{number}" for number, name in enumerate(wanted)], first=2)
    changed = [(old, new) for old, new in zip(wanted, result) if old != new]
    if changed:
        old, new = changed[0]
        more = f", and {len(changed) - 1} more" if len(changed) > 1 else ""
        notes.append(f"{noun} names should differ: the second {old!r} became {new!r}{more}")
    return tuple(result)


def unique(names: Iterable[str]) -> list[str]:
    """The same names, with _1, _2, ... on each that was there before, as three.js numbers them."""
    wanted = list(names)
    return _numbered(wanted, wanted, first=1)


def _numbered(names: list[str], bases: list[str], first: int) -> list[str]:
    """The bases, each copy with a number from `first` on; no number makes a name that the file itself gives."""
    taken, used = set(names), set()
    copies: dict[str, int] = {}
    result = []
    for name, base in zip(names, bases):
        fresh, copy = base, copies.get(base, first - 1)
        while fresh in used or (fresh != name and fresh in taken):
            copy += 1
            fresh = f"{base}_{copy}"
        copies[base] = copy
        used.add(fresh)
        result.append(fresh)
    return result
