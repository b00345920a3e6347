"""Curves and edits as plain data: dictionaries, lists, numbers and words, which go through JSON and come back the same.

Floats keep every bit (JSON's shortest text of a double reads back as that double). Goals are told by name, and say only
what differs from their defaults, so that endless limits need no word.

    {"is": "Move", "point": {"is": "Point", "joint": "hand.R"}, "time": 1.5, "by": [0.1, 0.0, 0.0]}
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from understudy.character import Channel, Curve, Curves
from understudy.errors import InvalidInput, listed
from understudy.keyframes.goals import Contact, Edit, Hold, Limit, Move, Pin, Point


def curve_data(curve: Curve) -> dict[str, Any]:
    """One curve."""
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
    }


def curve_from(data: Any) -> Curve:
    """The curve of `curve_data`, checked."""
    channel = Channel(_text(data, "target"), _text(data, "kind"), tuple(_entry(data, "columns")))
    arrays = [_entry(data, name) for name in ("times", "values", "segments", "before", "after")]
    beyond = tuple(_entry(data, "extrapolation"))
    if len(beyond) != 2:
        raise InvalidInput(f"extrapolation of {channel.target!r} should be two words, but is {beyond}")
    times, values = (np.array(a, np.float64) for a in arrays[:2])
    segments = np.array(arrays[2], np.uint8)
    before, after = (np.array(a, np.float64).reshape(*values.shape, 2) for a in arrays[3:])
    return Curve(channel, times, values, segments, before, after, (str(beyond[0]), str(beyond[1])))


def curves_data(curves: Curves) -> dict[str, Any]:
    """A whole animation."""
    return {**about(curves), "curves": [curve_data(curve) for curve in curves.curves]}


def about(curves: Curves) -> dict[str, Any]:
    """What an animation says besides its curves."""
    return {
        "name": curves.name,
        "labels": list(curves.labels),
        "rate": float(curves.rate),
        "about": curves.about,
        "moments": {name: float(time) for name, time in curves.moments.items()},
    }


def curves_from(data: Any) -> Curves:
    """The animation of `curves_data`, checked."""
    made = [_checked(curve_from, each, "a curve") for each in _entry(data, "curves")]
    name, labels, words = _text(data, "name"), _entry(data, "labels"), _text(data, "about")
    return Curves(name, made, labels, _entry(data, "rate"), words, _entry(data, "moments"))


def edit_data(edit: Edit) -> dict[str, Any]:
    """An edit and all its goals."""
    return _told(edit)


def edit_from(data: Any) -> Edit:
    """The edit of `edit_data`, checked as one that was made here."""
    made = _checked(_made, data, "an edit")
    if not isinstance(made, Edit):
        raise InvalidInput(f"an edit is expected, but {type(made).__name__} is given")
    return made


def move_data(move: Move) -> dict[str, Any]:
    """One move."""
    return _told(move)


def move_from(data: Any) -> Move:
    """The move of `move_data`, checked."""
    made = _checked(_made, data, "a move")
    if not isinstance(made, Move):
        raise InvalidInput(f"a move is expected, but {type(made).__name__} is given")
    return made


def _told(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        result: dict[str, Any] = {"is": type(value).__name__}
        for field in dataclasses.fields(value):
            own = getattr(value, field.name)
            default = field.default_factory() if callable(field.default_factory) else field.default
            if not _same(own, default):
                result[field.name] = _told(own)
        return result
    if isinstance(value, Mapping):
        return {str(name): _told(own) for name, own in value.items()}
    if isinstance(value, tuple | list):
        return [_told(own) for own in value]
    return value.item() if isinstance(value, np.generic) else value


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def _made(data: Any) -> Any:
    if isinstance(data, dict) and "is" in data:
        kinds = _kinds()
        name = str(data["is"])
        if name not in kinds:
            raise InvalidInput(f"there is no goal {name!r}; there are {listed(kinds, 20)}")
        known = {field.name for field in dataclasses.fields(kinds[name]) if field.init}
        unknown = [key for key in data if key != "is" and key not in known]
        if unknown:
            raise InvalidInput(f"{name} has no {listed(map(str, unknown))}")
        return kinds[name](**{key: _made(own) for key, own in data.items() if key != "is"})
    if isinstance(data, dict):
        return {str(key): _made(own) for key, own in data.items()}
    if isinstance(data, list):
        return tuple(_made(own) for own in data)
    return data


@cache
def _kinds() -> dict[str, type]:
    """All that an edit is made of, by name."""
    from understudy.keyframes.flight import Arc, Flight
    from understudy.keyframes.stroke import Stroke
    from understudy.keyframes.timing import Speed

    found = (Edit, Move, Pin, Contact, Hold, Limit, Point, Arc, Flight, Stroke, Speed)
    return {kind.__name__: kind for kind in found}


def _checked(make: Any, data: Any, what: str) -> Any:
    """What `make` makes of data from outside; whatever it stumbles over is told in one sentence."""
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
