"""Limits as people set them: a range has to hold the keys that there are, else no drag could begin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.character import Curves
from understudy.errors import InvalidInput
from understudy.keyframes.problem import limits_of
from understudy.studio.document import LimitEntry
from understudy.studio.edit.holding import limit_of

ROOM = 1e-6  # of radians or metres: what a key may be off by rounding


def within(curves: Curves, limit: LimitEntry, fit: bool) -> LimitEntry:
    """The limit, if all keys of its column lie inside; with `fit` as wide as they need it, else they refuse it."""
    column, (low, high) = next(iter(limits_of(curves.channels, [limit_of(limit)]).items()))
    owner = int(np.searchsorted(curves.channels.offsets, column, side="right") - 1)
    keys = curves.curves[owner].values[:, column - int(curves.channels.offsets[owner])]
    least, most = float(keys.min(initial=np.inf)), float(keys.max(initial=-np.inf))
    if fit:
        return replace(
            limit,
            low=None if limit.low is None else min(limit.low, least),
            high=None if limit.high is None else max(limit.high, most),
        )
    if least < low - ROOM or most > high + ROOM:
        name = curves.channels.names[column]
        raise InvalidInput(
            f"keys of {name} go from {_shown(name, least)} to {_shown(name, most)}: a limit has to leave them in; "
            "move those keys first, or widen it"
        )
    return limit


def _shown(name: str, value: float) -> str:
    return f"{np.degrees(value):.4g}°" if ".euler." in name else f"{value:.4g}"
