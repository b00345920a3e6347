"""The source and the result of a reduction, and clips split at cuts.

A source (`SampledAnimation`) is an animation as samples, two a frame: frames and the times midway between them, from
the animation's own interpolation. Keys are put on frames.

Cuts are frames between which an animation jumps, such as the T-pose at the start of CMU's files. No smooth curve
follows a jump of 90 degrees from one frame to the next, and trying spoils the frames around it. A clip is reduced piece
by piece between its cuts; across each, the curves are linear, as the frames are.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Channel, Channels, Clip, Curve, Curves
from understudy.character.curve import LINEAR, STEP
from understudy.character.key_insertion import merge_split_curves
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion

ROTATION_MODES = ("keep", "euler", "quaternion")

CUT_ANGLE_RAD = np.radians(40.0)  # from frame to frame: 4,800 degrees a second at 120 fps, 960 at 24
CUT_PERCENTILE_FACTOR = 4.0  # multiple of the 99th percentile of a clip: fast motion is no cut


@dataclass(frozen=True, eq=False)
class SampledAnimation:
    """M = 2 F - 1 samples of C columns. Sample m is at `start + m / (2 rate)` seconds; even samples are frames."""

    animation: Clip | Curves
    channels: Channels
    values: Array  # (M, C)
    rate: float
    start: float
    stepped: tuple[Curve, ...]  # curves with stepped segments only: kept, without keys that change nothing
    notes: tuple[str, ...]

    @property
    def frames(self) -> int:
        """F."""
        return (len(self.values) + 1) // 2

    def seconds(self, samples: Array) -> Array:
        """The times of sample numbers."""
        return self.start + np.asarray(samples) / (2 * self.rate)

    @property
    def times(self) -> Array:
        """(M,) seconds."""
        return self.seconds(np.arange(len(self.values)))


@dataclass(frozen=True)
class ReducedCurves:
    """The reduced curves, and their errors against the source at all frames and midway between them."""

    curves: Curves
    error_m: float  # metres, the largest error of a joint position in the world
    error_angle: float  # radians, the largest error of a joint orientation in the world
    error_weight: float  # the largest error of a shape weight or another control
    keys: int  # counted for each column: a key of a channel with three columns counts three
    frames: int  # frames of the source
    columns: int  # columns of the result
    broken: float  # share of the inner keys with a broken tangent (per column)
    loop: bool
    notes: tuple[str, ...] = ()

    @property
    def source_keys(self) -> int:
        """The keys of the source by the same count: one for each frame and column."""
        return self.frames * self.columns


def sample_source(animation: Clip | Curves, rotations: str) -> SampledAnimation:
    """The samples of an animation, with rotations of the kind `rotations`, one of ROTATION_MODES."""
    checks.one_of(rotations, "rotations", ROTATION_MODES)
    frames = animation.frame_count
    start = float(animation.frame_times()[0])
    stepped = [c for c in animation.curves if _is_stepped(c)] if isinstance(animation, Curves) else []
    times = start + np.arange(2 * frames - 1) / (2 * animation.rate)
    table = animation.sample(times)
    holes = np.argwhere(~np.isfinite(table))
    if len(holes):
        sample, column = (int(i) for i in holes[0])
        raise InvalidInput(
            f"animation {animation.name!r} should have a number everywhere to be reduced, "
            f"but {animation.channels.names[column]} is {table[sample, column]} at {times[sample]:g} s"
        )
    channels, columns = [], []
    left_out = {id(c.channel) for c in stepped}
    for i, channel in enumerate(animation.channels):
        if id(channel) not in left_out:
            channels.append(channel)
            columns.append(table[:, int(animation.channels.offsets[i]) : int(animation.channels.offsets[i + 1])])
    if rotations == "euler":
        _to_euler(channels, columns)
    elif rotations == "quaternion":
        _to_quaternions(channels, columns)
    values = np.concatenate([np.zeros((len(times), 0)), *columns], axis=1)
    kept = tuple(_without_repeats(curve) for curve in stepped)
    end = animation.start + animation.duration
    notes: tuple[str, ...] = ()
    if end - times[-1] > 0.02 / animation.rate:
        notes = (
            f"the last {end - times[-1]:.3g} s lie after the last frame at {animation.rate:g} fps and were left out",
        )
    return SampledAnimation(animation, Channels(channels), values, animation.rate, start, kept, notes)


def convert_rotations(clip: Clip, rotations: str) -> Clip:
    """The clip with rotations of the kind `rotations`, so that all its pieces have the same."""
    channels, offsets = list(clip.channels), clip.channels.offsets
    columns = [clip.values[:, int(a) : int(b)] for a, b in itertools.pairwise(offsets)]
    if rotations == "euler":
        _to_euler(channels, columns)
    elif rotations == "quaternion":
        _to_quaternions(channels, columns)
    metadata = (clip.labels, clip.about, clip.moments)
    return Clip(clip.name, channels, np.concatenate(columns, axis=1), clip.rate, clip.start, *metadata)


def smoothest_euler_angles(rotations: Array) -> list[tuple[str, Array]]:
    """For rotations (M, R, 4) of R joints, the Euler order with the smoothest angles, and these angles (M, 3).

    The angles are continuous. The smoothest order has the smallest sum of second differences: near its gimbal lock the
    outer angles of an order change fast, so such orders are avoided.
    """
    angles_of = {order: euler.unroll_euler(euler.to_euler(rotations, order), order) for order in euler.TAIT_BRYAN}
    bends = np.stack([np.abs(np.diff(angles[::2], n=2, axis=0)).sum(axis=(0, 2)) for angles in angles_of.values()])
    best = [euler.TAIT_BRYAN[i] for i in np.argmin(bends, axis=0)]
    return [(order, np.ascontiguousarray(angles_of[order][:, r])) for r, order in enumerate(best)]


def split_at_cuts(clip: Clip) -> list[Clip]:
    """The pieces of a clip between its cuts, in order; the clip itself where it has none."""
    angles = _largest_turns(clip)
    if len(angles) < 2:
        return [clip]
    cut = np.flatnonzero((angles > CUT_ANGLE_RAD) & (angles > CUT_PERCENTILE_FACTOR * np.percentile(angles, 99)))
    edges = [0, *(cut + 1).tolist(), len(clip.values)]
    if len(edges) == 2:
        return [clip]
    return [
        Clip(clip.name, clip.channels, clip.values[a:b], clip.rate, clip.start + a / clip.rate)
        for a, b in itertools.pairwise(edges)
    ]


def stitch_cuts(clip: Clip, parts: list[ReducedCurves]) -> ReducedCurves:
    """Join the reduced pieces of a clip, linear across the cuts."""
    curves = [
        _concatenate_curves(list(pieces))
        for pieces in zip(*(merge_split_curves(part.curves.curves) for part in parts), strict=True)
    ]
    count = len(parts) - 1
    metadata = (clip.labels, clip.rate, clip.about, clip.moments)
    weights = np.array([part.keys for part in parts], float)
    return ReducedCurves(
        Curves(clip.name, curves, *metadata),
        max(part.error_m for part in parts),
        max(part.error_angle for part in parts),
        max(part.error_weight for part in parts),
        sum(len(curve) * len(curve.channel) for curve in curves),
        sum(part.frames for part in parts),
        parts[0].columns,
        float(np.average([part.broken for part in parts], weights=weights)),
        False,
        (f"it jumps from one frame to the next {'once' if count == 1 else f'{count} times'}; curves are linear there",),
    )


def _is_stepped(curve: Curve) -> bool:
    return len(curve) > 1 and bool((curve.segments == STEP).all())


def _without_repeats(curve: Curve) -> Curve:
    kept = np.append(True, (np.diff(curve.values, axis=0) != 0).any(axis=1))
    return Curve(curve.channel, curve.times[kept], curve.values[kept], STEP, extrapolation=curve.extrapolation)


def _to_euler(channels: list[Channel], columns: list[Array]) -> None:
    """Convert rotation channels and their columns (M, 4) to Euler angles, in place."""
    turning = [i for i, channel in enumerate(channels) if channel.kind == "rotation"]
    if turning:
        for i, (order, angles) in zip(turning, smoothest_euler_angles(np.stack([columns[i] for i in turning], axis=1))):
            channels[i], columns[i] = Channel(channels[i].target, "euler", tuple(order.lower())), angles


def _to_quaternions(channels: list[Channel], columns: list[Array]) -> None:
    """Convert Euler channels and their columns (M, 3) to quaternions, in place."""
    for i, channel in enumerate(channels):
        if channel.kind == "euler":
            columns[i] = quaternion.unroll(euler.from_euler(columns[i], "".join(channel.columns)))
            channels[i] = Channel(channel.target, "rotation")


def _largest_turns(clip: Clip) -> Array:
    """(F - 1,) radians, the largest rotation of any joint from each frame to the next."""
    largest = np.zeros(max(len(clip.values) - 1, 0))
    for i, channel in enumerate(clip.channels):
        values = clip.values[:, int(clip.channels.offsets[i]) : int(clip.channels.offsets[i + 1])]
        if channel.kind == "euler":
            values = euler.from_euler(values, "".join(channel.columns))
        if channel.kind in ("euler", "rotation"):
            largest = np.maximum(largest, quaternion.angle_between(values[:-1], values[1:]))
    return largest


def _concatenate_curves(parts: list[Curve]) -> Curve:
    def both(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    segments = np.concatenate([np.append(part.segments, LINEAR) for part in parts])[:-1]
    values = both("values")
    if parts[0].channel.kind == "rotation":  # linear across the cut, the short way
        for k in np.cumsum([len(part) for part in parts])[:-1]:
            if values[k - 1] @ values[k] < 0:
                return _concatenate_aligned(parts)
    return Curve(parts[0].channel, both("times"), values, segments, both("before"), both("after"))


def _concatenate_aligned(parts: list[Curve]) -> Curve:
    """`_concatenate_curves` with the quaternion signs of each piece aligned to the piece before it."""
    aligned, last = [parts[0]], parts[0].values[-1]
    for part in parts[1:]:
        sign = -1.0 if last @ part.values[0] < 0 else 1.0
        scale = np.array([1.0, sign])
        part = Curve(
            part.channel, part.times, sign * part.values, part.segments, scale * part.before, scale * part.after
        )
        aligned.append(part)
        last = part.values[-1]
    return _concatenate_curves(aligned)
