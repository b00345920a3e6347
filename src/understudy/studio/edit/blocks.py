"""Many curves sampled at once, straight and Bezier segments alike, by the kernel that the solver has.

A block is one curve as the kernel wants it. It is made anew when the curve is another, and takes over from the one
before what both share: a drag changes handles only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character import Curve
from understudy.character.curve import BEZIER, LINEAR
from understudy.checks import Array
from understudy.keyframes import pieces
from understudy.keyframes.pieces import Grid, Pieces
from understudy.maths import quaternion

ROUNDING = 1e-9  # seconds that a time may lie beyond the last key and still be at it


class Block:
    """The segments of one curve, for each its n columns: t0, d, y0, y3 and four numbers of handles."""

    __slots__ = ("curve", "d", "handles", "t0", "together", "turns", "width", "y0", "y3")

    def __init__(self, curve: Curve, like: Block | None = None) -> None:
        self.t0: Array
        self.d: Array
        self.y0: Array
        self.y3: Array
        self.curve = curve
        self.width = curve.values.shape[1]
        self.turns = curve.channel.kind == "rotation"
        self.together = _together(curve)
        if not self.together:
            return
        same = like is not None and like.together and like.curve.times is curve.times
        if same and like is not None:
            self.t0, self.d = like.t0, like.d
        else:
            self.t0, self.d = curve.times[:-1].repeat(self.width), np.diff(curve.times).repeat(self.width)
        if same and like is not None and like.curve.values is curve.values:
            self.y0, self.y3 = like.y0, like.y3
        else:
            self.y0, self.y3 = curve.values[:-1].reshape(-1), curve.values[1:].reshape(-1)
        self.handles = np.concatenate([curve.after[:-1], curve.before[1:]], axis=2).reshape(-1, 4)
        straight = (curve.segments == LINEAR).repeat(self.width)
        if straight.any():
            third = np.stack([self.d, self.y3 - self.y0], axis=1)[straight] / 3
            self.handles[straight] = np.concatenate([third, third], axis=1)

    def holds(self, low: float, high: float) -> bool:
        """Whether the kernel gives what the curve gives between two times."""
        if not self.together:
            return False
        curve = self.curve
        inside = curve.times[0] <= low and high <= curve.times[-1] + ROUNDING
        return inside or curve.extrapolation == ("hold", "hold")


def _together(curve: Curve) -> bool:
    least = BEZIER if curve.channel.kind == "rotation" else LINEAR  # a slerp is no cubic
    return len(curve) > 1 and bool(curve.segments.min() >= least)


def sampled(blocks: Sequence[Block], times: Array) -> Array:
    """(M, n) the columns of all blocks, one after the other, at times (M,), as `Curve.sample` gives them."""
    widths = np.array([block.width for block in blocks], np.int64)
    ends = np.cumsum(widths)
    out = np.empty((len(times), int(ends[-1]) if len(ends) else 0))
    if not out.size:
        return out
    low, high = float(times.min()), float(times.max())
    own = [i for i, block in enumerate(blocks) if block.holds(low, high)]
    if own:
        columns = np.concatenate([np.arange(ends[i] - widths[i], ends[i]) for i in own])
        out[:, columns] = _at_once([blocks[i] for i in own], times)
        turns = [np.arange(ends[i] - 4, ends[i]) for i in own if blocks[i].turns]
        if turns:
            place = np.stack(turns)  # (R, 4)
            out[:, place] = quaternion.normalise(out[:, place])
    for i in sorted(set(range(len(blocks))) - set(own)):
        out[:, ends[i] - widths[i] : ends[i]] = blocks[i].curve.sample(times)
    return out


def _at_once(blocks: Sequence[Block], times: Array) -> Array:
    found = np.stack([block.curve.times.searchsorted(times, side="right") for block in blocks], axis=1)  # (M, L)
    last = np.array([len(block.curve) - 2 for block in blocks])
    segment = np.minimum(np.maximum(found - 1, 0), last)
    width = np.array([block.width for block in blocks])
    base = np.concatenate([[0], np.cumsum(width * (last + 1))[:-1]])
    of = np.arange(len(blocks)).repeat(width)  # (n,) the block of each column
    within = np.arange(len(of)) - (np.cumsum(width) - width)[of]
    where = segment[:, of] * width[of] + (base[of] + within)
    parts = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("t0", "d", "y0", "y3"))
    grid = Grid(np.ascontiguousarray(times, np.float64), where, np.zeros(where.shape))
    return pieces.sample(Pieces(*parts), np.concatenate([block.handles for block in blocks]), grid)[0]
