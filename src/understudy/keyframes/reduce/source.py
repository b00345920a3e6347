"""Source: an animation as samples, two a frame, that a reduction is measured against.

Frames and the moments midway between them are sampled from the animation's own interpolation. Keys are put on frames.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Channel, Channels, Clip, Curve, Curves
from understudy.character.curve import STEP
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion

ROTATIONS = ("keep", "euler", "quaternion")


@dataclass(frozen=True, eq=False)
class Source:
    """M = 2 F - 1 samples of C columns. Sample m is at `start + m / (2 rate)` seconds; even samples are frames."""

    animation: Clip | Curves
    channels: Channels
    values: Array  # (M, C)
    rate: float
    start: float
    stepped: tuple[Curve, ...]  # curves that only step: kept as they are, without keys that change nothing
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


def sampled(animation: Clip | Curves, rotations: str) -> Source:
    """The samples of an animation, its rotations turned into the kind asked for."""
    checks.one_of(rotations, "rotations", ROTATIONS)
    frames = animation.frame_count
    start = float(animation.frame_times()[0])
    stepped = [c for c in animation.curves if _steps(c)] if isinstance(animation, Curves) else []
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
    return Source(animation, Channels(channels), values, animation.rate, start, kept, notes)


def converted(clip: Clip, rotations: str) -> Clip:
    """The clip with its rotations of the kind asked for, so that its pieces are of one kind."""
    channels, offsets = list(clip.channels), clip.channels.offsets
    columns = [clip.values[:, int(a) : int(b)] for a, b in itertools.pairwise(offsets)]
    if rotations == "euler":
        _to_euler(channels, columns)
    elif rotations == "quaternion":
        _to_quaternions(channels, columns)
    told = (clip.labels, clip.about, clip.moments)
    return Clip(clip.name, channels, np.concatenate(columns, axis=1), clip.rate, clip.start, *told)


def _steps(curve: Curve) -> bool:
    return len(curve) > 1 and bool((curve.segments == STEP).all())


def _without_repeats(curve: Curve) -> Curve:
    kept = np.append(True, (np.diff(curve.values, axis=0) != 0).any(axis=1))
    return Curve(curve.channel, curve.times[kept], curve.values[kept], STEP, extrapolation=curve.extrapolation)


def _to_euler(channels: list[Channel], columns: list[Array]) -> None:
    """Rotation channels and their columns (M, 4) become Euler angles, in place."""
    turning = [i for i, channel in enumerate(channels) if channel.kind == "rotation"]
    if turning:
        for i, (order, angles) in zip(turning, calmest_angles(np.stack([columns[i] for i in turning], axis=1))):
            channels[i], columns[i] = Channel(channels[i].target, "euler", tuple(order.lower())), angles


def _to_quaternions(channels: list[Channel], columns: list[Array]) -> None:
    """Channels of Euler angles and their columns (M, 3) become rotations, in place."""
    for i, channel in enumerate(channels):
        if channel.kind == "euler":
            columns[i] = quaternion.unroll(euler.from_euler(columns[i], "".join(channel.columns)))
            channels[i] = Channel(channel.target, "rotation")


def calmest_angles(rotations: Array) -> list[tuple[str, Array]]:
    """For rotations (M, R, 4) of R joints the order of Euler angles that bends least over time, and the angles (M, 3),
    continuous.

    Near gimbal lock of an order its outer angles race, so that the sum of second differences keeps away from it.
    """
    each = {order: euler.unroll_euler(euler.to_euler(rotations, order), order) for order in euler.TAIT_BRYAN}
    bends = np.stack([np.abs(np.diff(angles[::2], n=2, axis=0)).sum(axis=(0, 2)) for angles in each.values()])
    best = [euler.TAIT_BRYAN[i] for i in np.argmin(bends, axis=0)]
    return [(order, np.ascontiguousarray(each[order][:, r])) for r, order in enumerate(best)]
