"""Other versions of an animation as plain data: each says only which curves differ from its neighbour.

Versions are those before and after in a history, and the outcome of a gesture that goes on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from understudy.character import Curve, Curves
from understudy.errors import InvalidInput
from understudy.keyframes.outcome import Block, Outcome
from understudy.keyframes.plain import about, curve_data, curve_from, curves_data, curves_from
from understudy.keyframes.selection import with_curves

ARRAYS = ("times", "values", "segments", "before", "after")


def same(one: Curves, other: Curves) -> bool:
    """Whether two animations are equal to the last bit."""
    if one is other:
        return True
    alike = len(one) == len(other) and about(one) == about(other)
    return alike and all(_equal(a, b) for a, b in zip(one.curves, other.curves))


def told(now: Curves, versions: Sequence[Curves]) -> list[dict[str, Any]]:
    """Versions, the nearest first, each by what differs from the one before it in that order."""
    result: list[dict[str, Any]] = []
    for version in versions:
        if len(version) == len(now) and about(version) == about(now):
            pairs = enumerate(zip(version.curves, now.curves))
            result.append({"changed": [[i, curve_data(a)] for i, (a, b) in pairs if not _equal(a, b)]})
        else:
            result.append({"whole": curves_data(version)})
        now = version
    return result


def made(now: Curves, data: Any) -> list[Curves]:
    """The versions of `told`."""
    if not isinstance(data, list):
        raise InvalidInput(f"a history should be a list, but is {type(data).__name__}")
    result = []
    for entry in data:
        if isinstance(entry, dict) and "whole" in entry:
            now = curves_from(entry["whole"])
        elif isinstance(entry, dict) and isinstance(entry.get("changed"), list):
            curves = list(now.curves)
            for pair in entry["changed"]:
                if not (isinstance(pair, list) and len(pair) == 2 and pair[0] in range(len(curves))):
                    raise InvalidInput("a step of a history should name curves that there are, but does not")
                curves[pair[0]] = curve_from(pair[1])
            now = with_curves(now, curves)
        else:
            raise InvalidInput("a step of a history should say what changed, but does not")
        result.append(now)
    return result


def outcome_data(now: Curves, outcome: Outcome) -> dict[str, Any]:
    """An outcome of an edit of `now`."""
    names = [field.name for field in dataclasses.fields(Outcome)]
    result = {name: getattr(outcome, name) for name in names if name not in ("curves", "blocks", "notes")}
    blocks = [dataclasses.asdict(block) for block in outcome.blocks]
    return {**result, "curves": told(now, [outcome.curves])[0], "blocks": blocks, "notes": list(outcome.notes)}


def outcome_from(now: Curves, data: Any) -> Outcome:
    """The outcome of `outcome_data`."""
    try:
        rest = {name: own for name, own in data.items() if name not in ("curves", "blocks", "notes")}
        blocks = tuple(Block(**block) for block in data["blocks"])
        return Outcome(curves=made(now, [data["curves"]])[0], blocks=blocks, notes=tuple(data["notes"]), **rest)
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidInput(f"an outcome should be plain data as this library writes it: {error}") from None


def _equal(a: Curve, b: Curve) -> bool:
    if a is b:
        return True
    alike = a.channel == b.channel and a.extrapolation == b.extrapolation
    return alike and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ARRAYS)
