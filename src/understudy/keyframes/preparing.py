"""From a dense animation to keys with room between them, before it is edited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from understudy.character import Clip, Curve, Curves
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes import automatic
from understudy.keyframes.angles import to_euler
from understudy.keyframes.edit_steps import Preparation
from understudy.keyframes.selection import TOUCH
from understudy.rig import PosedRig

STILL = 1e-6  # metres, or of a quaternion: a channel that moves less does not move
DENSE = 0.6  # keys at more than this part of the frames leave nothing between them
METHODS: dict[str, Callable[..., Curves]] = {
    "smooth": automatic.smooth,
    "clamped": automatic.clamped,
    "flat": automatic.flat,
    "linear": automatic.linear,
}


def prepared(
    rig: PosedRig, animation: Clip | Curves, how: Preparation, progress: Callable[[int, int], None] | None = None
) -> tuple[Curves, tuple[str, ...]]:
    """Curves to edit, and what there is to say about them, a line each."""
    notes: list[str] = []
    if how.keys:
        curves = keyed(animation, how.keys, how.tangents)
        off = apart(rig, animation, curves)
        notes.append(f"{len(how.keys)} keys of {animation.name!r}: the motion between them is up to {off} off")
    elif how.reduce is not None:
        from understudy.keyframes.reduce import reduce

        wish = how.reduce
        angle: dict[str, Any] = {} if wish.angle is None else {"angle": wish.angle}
        found = reduce(animation, rig, wish.tolerance, keys=wish.keys, rotations="euler", progress=progress, **angle)
        curves = found.curves
        notes += [f"{animation.name!r}: {found.keys:,} keys, within {1000 * found.error_m:.3g} mm", *found.notes]
    elif isinstance(animation, Curves):
        curves = animation
        if is_dense(animation):
            notes.append(
                f"{animation.name!r} has a key at nearly every frame, which leaves little to edit between them; "
                "`keys` or `reduce` make room"
            )
    else:
        raise InvalidInput(
            f"{animation.name!r} is a pose for every frame, and has nothing between keys to edit; "
            "say which frames are keys (`keys = [0, 0.5, 1]`) or how near to stay (`reduce = {tolerance_mm = 2}`)"
        )
    if how.orders:
        curves = to_euler(curves, how.orders[""] if set(how.orders) == {""} else how.orders)
    return curves, tuple(notes)


def keyed(animation: Clip | Curves, times: Sequence[float], method: str = "smooth") -> Curves:
    """The poses of an animation at `times` as keys of all its channels, with automatic tangents between them.

    A channel that stays as it is becomes a single key: it has no tangents, so that no edit will use it.
    """
    start, stop = animation.start, animation.start + animation.duration
    for time in times:
        if not start - TOUCH <= time <= stop + TOUCH:
            raise InvalidInput(
                f"a key should lie within {animation.name!r}, {start:g} to {stop:g} s, but is at {time:g}"
            )
    at = np.asarray(times, np.float64)
    values, whole = animation.sample(at), animation.sample(animation.frame_times())
    outside = {curve.channel: curve.extrapolation for curve in getattr(animation, "curves", ())}
    curves = []
    for i, channel in enumerate(animation.channels):
        columns = slice(int(animation.channels.offsets[i]), int(animation.channels.offsets[i + 1]))
        if channel.kind == "marker":
            continue
        still = np.ptp(whole[:, columns], axis=0).max() < STILL
        keys = slice(0, 1) if still else slice(None)
        ends = outside.get(channel, ("hold", "hold"))
        curves.append(Curve(channel, at[keys], values[keys, columns], extrapolation=ends))
    rate, words = animation.rate, (animation.about, animation.moments)
    return METHODS[method](Curves(animation.name, curves, animation.labels, rate, *words))


def is_dense(curves: Curves) -> bool:
    """Whether most curves that move have a key at so many frames that they were baked."""
    moving = [curve for curve in curves.curves if len(curve) > 1 and np.ptp(curve.values, axis=0).max() > STILL]
    shares = [len(curve) / max(1.0, (curve.times[-1] - curve.times[0]) * curves.rate + 1) for curve in moving]
    return bool(shares) and curves.frame_count > 4 and float(np.median(shares)) > DENSE


def apart(rig: PosedRig, one: Clip | Curves, other: Curves) -> str:
    """How far joints of two animations are from each other at most, over the frames of the second, in words."""
    times = other.frame_times(one.rate)
    places: list[Array] = [rig.joints(rig.pose(each, times))[..., :3, 3] for each in (one, other)]
    return f"{1000 * float(np.linalg.norm(places[0] - places[1], axis=-1).max(initial=0.0)):.3g} mm"
