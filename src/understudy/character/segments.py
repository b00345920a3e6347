"""Segments of a curve: other kinds and other handles with the same shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.character.curve import BEZIER, LINEAR, Curve
from understudy.checks import Array
from understudy.maths.slerp_bezier import slerp_handles


def bezier_segments(curve: Curve, which: Array) -> Curve:
    """The curve with the linear segments `which` (K - 1,) bool as Bezier segments."""
    if not which.any():
        return curve
    curve = same_side(curve)
    before, after = np.array(curve.before), np.array(curve.after)
    third = np.diff(curve.times)[:, None] / 3
    if curve.channel.kind == "rotation":
        leave, arrive = slerp_handles(curve.values[:-1], curve.values[1:])
    else:
        leave = arrive = np.diff(curve.values, axis=0) / 3
    for handles, rise, at in ((after, leave, slice(None, -1)), (before, arrive, slice(1, None))):
        both = np.stack(np.broadcast_arrays(third, rise), axis=-1)
        handles[at] = np.where(which[:, None, None], both, handles[at])
    return replace(curve, segments=np.where(which, BEZIER, curve.segments), before=before, after=after)


def same_side(curve: Curve, which: Array | None = None) -> Curve:
    """The same rotations with signs such that the segments `which` (K - 1,) bool do not change sides.

    By default those are the linear ones, which turn the short way anyway, so that nothing else changes.
    """
    if curve.channel.kind != "rotation":
        return curve
    which = curve.segments == LINEAR if which is None else which
    dots = np.einsum("ki,ki->k", curve.values[1:], curve.values[:-1])
    sign = np.concatenate([[1.0], np.cumprod(np.where(which & (dots < 0), -1.0, 1.0))])
    if (sign > 0).all():
        return curve
    scale = np.stack([np.ones_like(sign), sign], axis=-1)[:, None]  # times of handles keep their sign
    return replace(curve, values=curve.values * sign[:, None], before=curve.before * scale, after=curve.after * scale)


def fitted(handle: Array, length: Array) -> Array:
    """Handles (..., 2) shortened along their own direction where they are longer in time than `length` (...)."""
    dt = handle[..., 0]
    share = np.where(dt > length, length / np.where(dt > 0, dt, 1.0), 1.0)
    shortened: Array = handle * share[..., None]
    return shortened
