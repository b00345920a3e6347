"""Random curves of every kind for the laws: free handles, mixed segments, all extrapolations."""

from __future__ import annotations

import numpy as np

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER
from understudy.checks import Array
from understudy.maths import quaternion

MOVE, TURN = Channel("hip", "translation"), Channel("hip", "rotation")
ANGLES = Channel("knee", "euler", ("z", "x", "y"))
SMILE = Channel("face", "weights", ("smile", "blink"))
CHANNELS = (MOVE, TURN, ANGLES, SMILE)
REACH = 0.97  # of the segment, for each handle; at 1 on both sides time halts, and slopes have no bound


def random_curve(
    rng: np.random.Generator, channel: Channel, keys: int = 5, segments: int | None = None, spread: float = 1.0
) -> Curve:
    """A curve with free handles; `segments` of one kind, or mixed."""
    n = len(channel)
    times = np.cumsum(rng.uniform(0.1, 1.0, keys))
    gaps = np.diff(times, prepend=times[0] - 1, append=times[-1] + 1)
    before, after = rng.normal(size=(2, keys, n, 2)) * 0.3 * spread
    before[..., 0] = rng.uniform(0.05, REACH, (keys, n)) * gaps[:-1, None]
    after[..., 0] = rng.uniform(0.05, REACH, (keys, n)) * gaps[1:, None]
    values = rng.normal(size=(keys, n)) * spread
    if channel.kind == "rotation":
        values = walk(rng, keys, spread)
    kinds = rng.integers(0, 3, keys - 1) if segments is None else segments
    return Curve(channel, times, values, kinds, before, after)


def walk(rng: np.random.Generator, keys: int, spread: float = 1.0) -> Array:
    """(keys, 4) unit quaternions, each turned from the one before by up to `spread` radians or so, signs at random."""
    q = quaternion.normalise(rng.normal(size=4))
    out = [q]
    for _ in range(keys - 1):
        q = quaternion.multiply(q, quaternion.from_rotation_vector(rng.normal(size=3) * 0.5 * spread))
        out.append(q)
    return quaternion.unroll(np.array(out))


def random_curves(seed: int, segments: int | None = None, extrapolation: tuple[str, str] | None = None) -> Curves:
    """An animation of four channels, each with its own keys."""
    rng = np.random.default_rng(seed)
    curves = [random_curve(rng, channel, int(rng.integers(2, 7)), segments) for channel in CHANNELS]
    if extrapolation is not None:
        parts = ("channel", "times", "values", "segments", "before", "after")
        curves = [Curve(*(getattr(curve, part) for part in parts), extrapolation) for curve in curves]
    return Curves("random", curves, ["wild"], 25.0, "nothing in particular", {"hit": 0.5})


def smooth_turn(rng: np.random.Generator, keys: int = 5, spread: float = 1.0) -> Curve:
    """A quaternion curve as people make them: Hermite handles along the neighbours' chord."""
    times = np.cumsum(rng.uniform(0.2, 1.0, keys))
    values = walk(rng, keys, spread)
    slopes = np.gradient(values, times, axis=0) if keys > 1 else np.zeros((1, 4))
    curve = Curve.hermite(TURN, times, values, slopes, slopes)
    assert (curve.segments == BEZIER).all()
    return curve


def times_over(curves: Curves, count: int = 200, beyond: float = 0.0) -> Array:
    """(count,) times over the whole animation and a little beyond."""
    return np.linspace(curves.start - beyond, curves.end + beyond, count)
