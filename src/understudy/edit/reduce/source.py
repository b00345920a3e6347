"""The source of a reduction as samples, and the result with its errors.

A source (`SampledAnimation`) is an animation as samples: frames, and as many times between them as make about
SEARCH_RATE_HZ samples a second, from the animation's own interpolation. Keys are put on frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Channel, Channels, Clip, Curve, Curves
from understudy.character.curve import STEP
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import euler, quaternion

ROTATION_MODES = ("keep", "euler", "quaternion")
SEARCH_RATE_HZ = 240.0
MAX_SAMPLES_PER_FRAME = 8
MEASURES_PER_FRAME = 8  # samples a frame of the source at which errors are measured in the end


@dataclass(frozen=True, eq=False)
class SampledAnimation:
    """M samples of C columns, `frame` of them a frame. Sample m is at `start + m / sample_rate` seconds."""

    animation: Clip | Curves
    channels: Channels
    values: Array  # (M, C)
    rate: float  # frames a second
    frame: int  # samples a frame
    start: float
    stepped: tuple[Curve, ...]  # curves with stepped segments only: kept, without keys that change nothing
    notes: tuple[str, ...]

    @property
    def frames(self) -> int:
        """F."""
        return (len(self.values) - 1) // self.frame + 1

    @property
    def sample_rate(self) -> float:
        """Samples a second."""
        return self.frame * self.rate

    def seconds(self, samples: Array) -> Array:
        """The times of sample numbers."""
        return self.start + np.asarray(samples) / self.sample_rate

    @property
    def times(self) -> Array:
        """(M,) seconds."""
        return self.seconds(np.arange(len(self.values)))


@dataclass(frozen=True)
class ReducedCurves:
    """The reduced curves, and their errors against the source, at its own frames and eight times as often.

    Between the two frames of a cut the tolerance is not guaranteed for the joints that jump there, though their errors
    count: `cuts` has the times.
    """

    curves: Curves
    error_m: float  # metres, the largest error of a joint position in the world
    error_angle: float  # radians, the largest error of a joint orientation in the world
    error_weight: float  # the largest error of a shape weight or another control
    keys: int  # counted for each column: a key of a channel with three columns counts three
    frames: int  # frames of the source
    columns: int  # columns of the result
    broken: float  # share of the inner keys with a broken tangent (per column)
    loop: bool
    binding: str = "position"  # the tolerance that is used up most: position, angle or weight
    used: float = 0.0  # the share of it that is used
    cuts: tuple[float, ...] = ()  # seconds of the last frame before each cut
    notes: tuple[str, ...] = ()

    @property
    def source_keys(self) -> int:
        """The keys of the source by the same count: one for each frame and column."""
        return self.frames * self.columns


def sample_source(animation: Clip | Curves, rotations: str, rate: float | None = None) -> SampledAnimation:
    """The samples of an animation.

    Args:
        animation: The animation, dense or keyed.
        rotations: What rotations become, one of ROTATION_MODES.
        rate: Frames a second on which keys may be; None takes those of the animation.
    """
    checks.one_of(rotations, "rotations", ROTATION_MODES)
    rate = animation.rate if rate is None else checks.positive(rate, "rate")
    frame = int(np.clip(round(SEARCH_RATE_HZ / rate), 1, MAX_SAMPLES_PER_FRAME))
    stepped = [c for c in animation.curves if _is_stepped(c)] if isinstance(animation, Curves) else []
    times, table = sample_frames(animation, frame, rate)
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
        _to_euler(channels, columns, frame)
    elif rotations == "quaternion":
        _to_quaternions(channels, columns)
    values = np.concatenate([np.zeros((len(times), 0)), *columns], axis=1)
    kept = tuple(_without_repeats(curve) for curve in stepped)
    end = animation.start + animation.duration
    notes: tuple[str, ...] = ()
    if end - times[-1] > 0.02 / rate:
        notes = (f"the last {end - times[-1]:.3g} s lie after the last frame at {rate:g} fps and were left out",)
    start = float(times[0])
    return SampledAnimation(animation, Channels(channels), values, rate, frame, start, kept, notes)


def sample_frames(animation: Clip | Curves, samples_per_frame: int, rate: float | None = None) -> tuple[Array, Array]:
    """Times (M,) and values (M, C) of an animation, `samples_per_frame` a frame, with its flips of angles undone.

    Euler angles that jump by a whole turn, or to the other triple of the same rotation, are continuous in the result,
    and run straight between the two frames of such a flip.
    """
    times = animation.frame_times(rate)
    rate = animation.rate if rate is None else rate
    times = times[0] + np.arange(samples_per_frame * (len(times) - 1) + 1) / (samples_per_frame * rate)
    values = animation.sample(times)
    share = (np.arange(len(times)) % samples_per_frame) / samples_per_frame
    before = np.arange(len(times)) // samples_per_frame * samples_per_frame
    for i, channel in enumerate(animation.channels):
        if channel.kind == "euler":
            own = slice(int(animation.channels.offsets[i]), int(animation.channels.offsets[i + 1]))
            order = "".join(channel.columns)
            raw = values[::samples_per_frame, own]
            continuous = euler.unroll_euler(raw, order)
            flips = np.abs(np.diff(raw, axis=0) - np.diff(continuous, axis=0)).max(axis=1, initial=0.0) > 1e-6
            if flips.any():
                inside = np.append(flips, False)[before // samples_per_frame] & (share > 0)
                a, b = before[inside] // samples_per_frame, before[inside] // samples_per_frame + 1
                w = share[inside, None]
                values[inside, own] = (1 - w) * continuous[a] + w * continuous[b]
                values[:, own] = euler.unroll_euler(values[:, own], order)
    return times, values


def sample_at(animation: Clip | Curves, times: Array) -> dict[tuple[str, str], Array]:
    """The values (M, n) of each channel of an animation, by its target and kind."""
    values, offsets = animation.sample(times), animation.channels.offsets
    return {(c.target, c.kind): values[:, offsets[i] : offsets[i + 1]] for i, c in enumerate(animation.channels)}


def smoothest_euler_angles(rotations: Array, frame: int) -> list[tuple[str, Array]]:
    """For rotations (M, R, 4) of R joints, the Euler order with the smoothest angles, and these angles (M, 3).

    The angles are continuous. The smoothest order has the smallest sum of second differences over frames (`frame`
    samples): near its gimbal lock the outer angles of an order change fast, so such orders are avoided.
    """
    angles_of = {order: euler.unroll_euler(euler.to_euler(rotations, order), order) for order in euler.TAIT_BRYAN}
    bends = np.stack([np.abs(np.diff(angles[::frame], n=2, axis=0)).sum(axis=(0, 2)) for angles in angles_of.values()])
    best = [euler.TAIT_BRYAN[i] for i in np.argmin(bends, axis=0)]
    return [(order, np.ascontiguousarray(angles_of[order][:, r])) for r, order in enumerate(best)]


def _is_stepped(curve: Curve) -> bool:
    return len(curve) > 1 and bool((curve.segments == STEP).all())


def _without_repeats(curve: Curve) -> Curve:
    kept = np.append(True, (np.diff(curve.values, axis=0) != 0).any(axis=1))
    times, values = curve.times[kept], curve.values[kept]
    return Curve(curve.channel, times, values, STEP, extrapolation=curve.extrapolation, fitted=True)


def _to_euler(channels: list[Channel], columns: list[Array], frame: int) -> None:
    """Convert rotation channels and their columns (M, 4) to Euler angles, in place."""
    turning = [i for i, channel in enumerate(channels) if channel.kind == "rotation"]
    if turning:
        rotations = np.stack([columns[i] for i in turning], axis=1)
        for i, (order, angles) in zip(turning, smoothest_euler_angles(rotations, frame)):
            channels[i], columns[i] = Channel(channels[i].target, "euler", tuple(order.lower())), angles


def _to_quaternions(channels: list[Channel], columns: list[Array]) -> None:
    """Convert Euler channels and their columns (M, 3) to quaternions, in place."""
    for i, channel in enumerate(channels):
        if channel.kind == "euler":
            columns[i] = quaternion.unroll(euler.from_euler(columns[i], "".join(channel.columns)))
            channels[i] = Channel(channel.target, "rotation")
