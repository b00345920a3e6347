"""The graph editor's curves as one binary frame (stream 3, form 5): keys, handles, and the curve as it is evaluated.

After the frame's header (a = N columns, b = S samples), 4-byte words, little-endian:

    S times (s)
    for each column: u32 channel, u32 column, u32 K, u32 0, then K each of: times, values, before dt, before dv,
        after dt, after dv, u32 flags (bits 0 and 1 the segment that leaves: 0 stepped, 1 linear, 2 Bezier; bit 2
        broken), then S values
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character import Curve, Curves
from understudy.checks import Array
from understudy.keyframes.flat import Flat
from understudy.keyframes.handles import is_broken

BROKEN = 4


def packed(curves: Curves, channels: Sequence[int], times: Array, origin: float) -> tuple[int, bytes]:
    """N and the payload of some channels, by number, at times (S,) of the file's own clock."""
    chosen = [curves.curves[i] for i in channels]
    flat = Flat(chosen)
    values = flat.sample(times, flat.where(times))
    parts: list[Array] = [(times - origin).astype("<f4")]
    column = 0
    for number, curve in zip(channels, chosen):
        for c, rows in enumerate(_keys(curve, origin)):
            parts += [np.array([number, c, len(curve), 0], "<u4"), *rows, values[:, column].astype("<f4")]
            column += 1
    return column, b"".join(part.tobytes() for part in parts)


def _keys(curve: Curve, origin: float) -> list[list[Array]]:
    """For each column the arrays of its keys."""
    leaving = np.append(curve.segments, curve.segments[-1:] if len(curve) > 1 else [0]).astype("<u4")
    flags = leaving[:, None] + BROKEN * is_broken(curve).astype("<u4")  # (K, n)
    handles = np.concatenate([curve.before, curve.after], axis=2).astype("<f4")  # (K, n, 4)
    times, values = (curve.times - origin).astype("<f4"), curve.values.astype("<f4")
    return [
        [times, values[:, c], *(handles[:, c, i] for i in range(4)), flags[:, c].astype("<u4")]
        for c in range(values.shape[1])
    ]
