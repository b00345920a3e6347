"""Curves, edits and results as plain data: dictionaries, lists, numbers and text, the same after a trip through JSON.

Floats keep every bit (JSON's shortest text of a double reads back as that double). Goals are written with the name of
their class and the fields that differ from the defaults, so infinite limits are not written.

    {"is": "MovePoint", "point": {"is": "Point", "joint": "hand.R"}, "time": 1.5, "by": [0.1, 0.0, 0.0]}

Versions of an animation, in a history or as the result of a drag, are written as the curves that differ from their
neighbour (`diff_versions`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from understudy.character import Channel, Curve, Curves
from understudy.edit.goals import Contact, Edit, Hold, Limit, MovePoint, Pin, Point
from understudy.edit.keys import with_curves
from understudy.edit.outcome import EditResult, Obstacle
from understudy.errors import InvalidInput, join_names

CURVE_ARRAYS = ("times", "values", "segments", "before", "after")


def curve_data(curve: Curve) -> dict[str, Any]:
    """A curve as plain data."""
    return {
        "target": curve.channel.target,
        "kind": curve.channel.kind,
        "columns": list(curve.channel.columns),
        "times": curve.times.tolist(),
        "values": curve.values.tolist(),
        "segments": curve.segments.tolist(),
        "before": curve.before.tolist(),
        "after": curve.after.tolist(),
        "extrapolation": list(curve.extrapolation),
        **({"fitted": curve.fitted.tolist()} if curve.fitted.any() else {}),
    }


def curve_from_data(data: Any) -> Curve:
    """The curve of `curve_data`, checked."""
    channel = Channel(_text(data, "target"), _text(data, "kind"), tuple(_entry(data, "columns")))
    arrays = [_entry(data, name) for name in CURVE_ARRAYS]
    beyond = tuple(_entry(data, "extrapolation"))
    if len(beyond) != 2:
        raise InvalidInput(f"extrapolation of {channel.target!r} should be two words, but is {beyond}")
    times, values = (np.array(a, np.float64) for a in arrays[:2])
    segments = np.array(arrays[2], np.uint8)
    before, after = (np.array(a, np.float64).reshape(*values.shape, 2) for a in arrays[3:])
    fitted = np.array(data.get("fitted", False), np.bool_)
    return Curve(channel, times, values, segments, before, after, (str(beyond[0]), str(beyond[1])), fitted)


def curves_data(curves: Curves) -> dict[str, Any]:
    """A whole animation as plain data."""
    return {**clip_metadata(curves), "curves": [curve_data(curve) for curve in curves.curves]}


def clip_metadata(curves: Curves) -> dict[str, Any]:
    """The name, labels, rate, description and moments of an animation."""
    return {
        "name": curves.name,
        "labels": list(curves.labels),
        "rate": float(curves.rate),
        "about": curves.about,
        "moments": {name: float(time) for name, time in curves.moments.items()},
    }


def curves_from_data(data: Any) -> Curves:
    """The animation of `curves_data`, checked."""
    curves = [_convert(curve_from_data, curve, "a curve") for curve in _entry(data, "curves")]
    name, labels, about = _text(data, "name"), _entry(data, "labels"), _text(data, "about")
    return Curves(name, curves, labels, _entry(data, "rate"), about, _entry(data, "moments"))


def edit_data(edit: Edit) -> dict[str, Any]:
    """An edit with all its goals as plain data."""
    return _to_plain(edit)


def edit_from_data(data: Any) -> Edit:
    """The edit of `edit_data`, with the checks of its constructor."""
    edit = _convert(_from_plain, data, "an edit")
    if not isinstance(edit, Edit):
        raise InvalidInput(f"an edit is expected, but {type(edit).__name__} is given")
    return edit


def same_curves(one: Curves, other: Curves) -> bool:
    """Whether two animations are equal to the last bit."""
    if one is other:
        return True
    alike = len(one) == len(other) and clip_metadata(one) == clip_metadata(other)
    return alike and all(_equal(a, b) for a, b in zip(one.curves, other.curves))


def diff_versions(now: Curves, versions: Sequence[Curves]) -> list[dict[str, Any]]:
    """Versions, the nearest to `now` first, each as its difference from the one before it in that order."""
    result: list[dict[str, Any]] = []
    for version in versions:
        if len(version) == len(now) and clip_metadata(version) == clip_metadata(now):
            pairs = enumerate(zip(version.curves, now.curves))
            result.append({"changed": [[i, curve_data(a)] for i, (a, b) in pairs if not _equal(a, b)]})
        else:
            result.append({"whole": curves_data(version)})
        now = version
    return result


def apply_diff(now: Curves, data: Any) -> list[Curves]:
    """The versions of `diff_versions`, for the same `now`."""
    if not isinstance(data, list):
        raise InvalidInput(f"a history should be a list, but is {type(data).__name__}")
    result = []
    for entry in data:
        if isinstance(entry, dict) and "whole" in entry:
            now = curves_from_data(entry["whole"])
        elif isinstance(entry, dict) and isinstance(entry.get("changed"), list):
            curves = list(now.curves)
            for pair in entry["changed"]:
                if not (isinstance(pair, list) and len(pair) == 2 and pair[0] in range(len(curves))):
                    raise InvalidInput("a step of a history should name curves that there are, but does not")
                curves[pair[0]] = curve_from_data(pair[1])
            now = with_curves(now, curves)
        else:
            raise InvalidInput("a step of a history should say what changed, but does not")
        result.append(now)
    return result


NESTED_FIELDS = ("curves", "obstacles", "notes", "suggestions")


def outcome_data(now: Curves, outcome: EditResult) -> dict[str, Any]:
    """The result of an edit of `now` as plain data."""
    names = [field.name for field in dataclasses.fields(EditResult)]
    result = {name: getattr(outcome, name) for name in names if name not in NESTED_FIELDS}
    blocks = [dataclasses.asdict(block) for block in outcome.obstacles]
    return {**result, "curves": diff_versions(now, [outcome.curves])[0], "blocks": blocks, "notes": list(outcome.notes)}


def outcome_from_data(now: Curves, data: Any) -> EditResult:
    """The result of `outcome_data`, for the same `now`."""
    try:
        rest = {name: own for name, own in data.items() if name not in (*NESTED_FIELDS, "blocks")}
        blocks = tuple(Obstacle(**block) for block in data["blocks"])
        return EditResult(
            curves=apply_diff(now, [data["curves"]])[0], obstacles=blocks, notes=tuple(data["notes"]), **rest
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidInput(f"an outcome should be plain data as this library writes it: {error}") from None


def _equal(a: Curve, b: Curve) -> bool:
    if a is b:
        return True
    alike = a.channel == b.channel and a.extrapolation == b.extrapolation
    return alike and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in (*CURVE_ARRAYS, "fitted"))


def _to_plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        result: dict[str, Any] = {"is": type(value).__name__}
        for field in dataclasses.fields(value):
            entry = getattr(value, field.name)
            default = field.default_factory() if callable(field.default_factory) else field.default
            if not _same(entry, default):
                result[field.name] = _to_plain(entry)
        return result
    if isinstance(value, Mapping):
        return {str(name): _to_plain(entry) for name, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_to_plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def _from_plain(data: Any) -> Any:
    if isinstance(data, dict) and "is" in data:
        kinds = _kinds()
        name = str(data["is"])
        if name not in kinds:
            raise InvalidInput(f"there is no goal {name!r}; there are {join_names(kinds, 20)}")
        known = {field.name for field in dataclasses.fields(kinds[name]) if field.init}
        unknown = [key for key in data if key != "is" and key not in known]
        if unknown:
            raise InvalidInput(f"{name} has no {join_names(map(str, unknown))}")
        return kinds[name](**{key: _from_plain(entry) for key, entry in data.items() if key != "is"})
    if isinstance(data, dict):
        return {str(key): _from_plain(entry) for key, entry in data.items()}
    if isinstance(data, list):
        return tuple(_from_plain(entry) for entry in data)
    return data


@cache
def _kinds() -> dict[str, type]:
    """The classes that an edit consists of, by name."""
    from understudy.edit.sketches import Stroke
    from understudy.edit.solver.objective_terms import Arc, Flight
    from understudy.edit.timing import Speed

    kinds = (Edit, MovePoint, Pin, Contact, Hold, Limit, Point, Arc, Flight, Stroke, Speed)
    return {kind.__name__: kind for kind in kinds}


def _convert(make: Any, data: Any, what: str) -> Any:
    """`make(data)` for data from outside; every error becomes an `InvalidInput` of one sentence."""
    try:
        return make(data)
    except InvalidInput:
        raise
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidInput(f"{what} should be plain data as this library writes it: {reason}") from None


def _entry(data: Any, name: str) -> Any:
    if not isinstance(data, dict) or name not in data:
        raise InvalidInput(f"plain data of curves should have {name!r}, but has not")
    return data[name]


def _text(data: Any, name: str) -> str:
    return str(_entry(data, name))
