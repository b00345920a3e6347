"""Names that a file gives twice, or not at all, made into distinct ones."""

from __future__ import annotations

from collections.abc import Iterable


def distinct(names: Iterable[str], noun: str, notes: list[str]) -> tuple[str, ...]:
    """The same names, the second `Arm` as `Arm_2`, an empty one as `joint_7` where `noun` is "joint"."""
    wanted = list(names)
    taken = set(wanted)
    used: set[str] = set()
    copies: dict[str, int] = {}
    result, changed = [], 0
    for number, name in enumerate(wanted):
        unique = name or f"{noun}_{number}"
        base, copy = unique, copies.get(unique, 1)
        while unique in used or (unique != name and unique in taken):
            copy += 1
            unique = f"{base}_{copy}"
        copies[base] = copy
        changed += unique != name
        used.add(unique)
        result.append(unique)
    if changed:
        first = next(i for i, name in enumerate(wanted) if name != result[i])
        more = f", and {changed - 1} more" if changed > 1 else ""
        notes.append(f"{noun} names should differ: the second {wanted[first]!r} became {result[first]!r}{more}")
    return tuple(result)
