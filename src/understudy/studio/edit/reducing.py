"""A dense clip to editable keys, with a preview while the dial moves.

A preview of a fast capture looks at some 30 frames a second of it, which tells the number of keys well enough in a
fraction of the time; what is adopted has been measured at all frames. Angles rather than quaternions: they need fewer
keys, can be limited, and are what people read in a graph editor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.character import Clip, Curves
from understudy.keyframes.reduce import reduce
from understudy.keyframes.reduce.reducing import ANGLE
from understudy.rig import PosedRig
from understudy.studio.jobs import Job

PREVIEW_RATE = 30.0
DENSE = 1.5  # frames between keys: an animation whose keys lie closer, on the median, is baked
LEAST = 8  # keys of a channel, below which it is not said to be baked
COST = 6e-6  # seconds for a frame, a column and a frame more: measured, and right within a factor of three
Progress = Callable[[float, float], None]


@dataclass(frozen=True, eq=False)
class Few:
    """Curves with few keys, and what they cost."""

    curves: Curves
    keys: int  # of all channels
    source_keys: int
    error: float  # m
    angle: float  # radians
    seconds: float
    whole: bool  # measured at all frames


class Reducing:
    """The reduction that runs, and the last that was done: of which edit, how far off it may be, and what it gave."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self.asked: tuple[str, float, float | None] | None = None
        self.few: Few | None = None


def is_baked(animation: Clip | Curves) -> bool:
    """Whether an animation has a key on about every frame, so that there is nothing between keys to take hold of."""
    if isinstance(animation, Clip):
        return True
    gaps = [float(np.median(np.diff(c.times))) * animation.rate for c in animation.curves if len(c) >= LEAST]
    moving = [c for c in animation.curves if len(c) > 1]
    return bool(gaps) and 2 * len(gaps) >= len(moving) and float(np.median(gaps)) <= DENSE


def estimate(animation: Clip | Curves) -> float:
    """About how many seconds a reduction will take."""
    return COST * animation.frame_count**2 * animation.channels.width / 3 + 0.1


def keys_of(animation: Clip | Curves) -> int:
    """Keys of all channels; a clip has one on every frame."""
    if isinstance(animation, Clip):
        return animation.frame_count * len(animation.channels)
    return animation.key_count


def thinned(animation: Clip | Curves) -> Clip | Curves:
    """A fast capture at about PREVIEW_RATE, by leaving out frames; others as they are."""
    step = int(animation.rate / PREVIEW_RATE)
    if not isinstance(animation, Clip) or step < 2:
        return animation
    a = animation
    return Clip(a.name, a.channels, a.values[::step], a.rate / step, a.start, a.labels, a.about, a.moments)


def reduced(
    animation: Clip | Curves, rig: PosedRig, tolerance: float, angle: float | None, preview: bool, progress: Progress
) -> Few:
    """Few keys for an animation, within `tolerance` metres and `angle` radians."""
    began = time.perf_counter()
    given = thinned(animation) if preview else animation
    found = reduce(given, rig, tolerance, ANGLE if angle is None else angle, rotations="euler", progress=progress)
    seconds = time.perf_counter() - began
    count = found.curves.key_count
    return Few(found.curves, count, keys_of(animation), found.error_m, found.error_angle, seconds, given is animation)


def unreduced(animation: Clip | Curves) -> Curves:
    """An animation as curves: a clip with a key on every frame."""
    if isinstance(animation, Curves):
        return animation
    from understudy.character import Curve
    from understudy.character.curve import LINEAR

    times, offsets = animation.frame_times(), animation.channels.offsets
    curves = [
        Curve(channel, times, animation.values[:, offsets[i] : offsets[i + 1]], LINEAR)
        for i, channel in enumerate(animation.channels)
    ]
    a = animation
    return Curves(a.name, curves, a.labels, a.rate, a.about, a.moments)
