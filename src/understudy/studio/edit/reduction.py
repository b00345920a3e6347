"""Reduction of a dense clip to editable keys, with a preview while the tolerance changes.

In a fast capture every second frame may have a key (60 a second of 120); the tolerance holds at all frames of the
capture and between them. Keys are at poses by default, as they are there to be edited. The view shows 30 frames a
second. Rotations become Euler angles rather than quaternions: they need fewer keys, can be limited, and are readable in
a graph editor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.character import Clip, Curves
from understudy.character.rig import PosedRig
from understudy.edit.reduce import reduce_keys
from understudy.studio.jobs import Job

PREVIEW_RATE_HZ = 30.0  # frames a second in the view of a faster capture
MAX_KEY_RATE_HZ = 60.0  # frames a second that may have a key; those between two keys are measured
BAKED_KEY_GAP_FRAMES = 1.5  # frames: an animation with a smaller median distance between keys is baked
MIN_BAKED_KEYS = 8  # a channel with fewer keys does not count as baked
# Seconds for each column and frame^1.5: measured, right within a factor of two.
REDUCTION_COST_SECONDS = 4e-5
Progress = Callable[[float, float], None]


@dataclass(frozen=True, eq=False)
class ReductionPreview:
    """The reduced curves, their errors, and the time that it took."""

    curves: Curves
    keys: int  # of all channels
    source_keys: int
    error: float  # m, at all frames of the source and between them
    angle: float  # radians
    seconds: float


class ReductionJob:
    """The running reduction, and the last result with its request (edit, tolerances, key mode)."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self.asked: tuple[str, float, float | None, str] | None = None
        self.result: ReductionPreview | None = None


def is_baked(animation: Clip | Curves) -> bool:
    """Whether an animation has a key on about every frame, so that there is nothing to drag between keys."""
    if isinstance(animation, Clip):
        return True
    rate = min(animation.rate, PREVIEW_RATE_HZ)  # a file with keys between frames may state a higher rate than it has
    gaps = [float(np.median(np.diff(c.times))) * rate for c in animation.curves if len(c) >= MIN_BAKED_KEYS]
    moving = [c for c in animation.curves if len(c) > 1]
    return bool(gaps) and 2 * len(gaps) >= len(moving) and float(np.median(gaps)) <= BAKED_KEY_GAP_FRAMES


def estimate_seconds(animation: Clip | Curves) -> float:
    """About how many seconds a reduction will take."""
    return (
        REDUCTION_COST_SECONDS * (animation.frame_count / key_step(animation)) ** 1.5 * animation.channels.width + 0.1
    )


def count_keys(animation: Clip | Curves) -> int:
    """Keys of all channels; a clip has one on every frame."""
    if isinstance(animation, Clip):
        return animation.frame_count * len(animation.channels)
    return animation.key_count


def key_step(animation: Clip | Curves) -> int:
    """The distance in frames of the frames that may have a key; 1 for all."""
    step = int(animation.rate / MAX_KEY_RATE_HZ) if isinstance(animation, Clip) else 1
    return step if step > 1 and animation.frame_count >= 4 * step else 1


def reduce_animation(
    animation: Clip | Curves,
    rig: PosedRig,
    tolerance: float,
    angle: float | None,
    progress: Progress,
    keys: str = "poses",
) -> ReductionPreview:
    """Reduce an animation to few keys, within `tolerance` metres and `angle` radians, at frames and between them.

    `keys` as in `reduce_keys`.
    """
    began, step = time.perf_counter(), key_step(animation)
    capture = isinstance(animation, Clip) and animation.rate >= 2 * PREVIEW_RATE_HZ
    reduced = reduce_keys(
        animation,
        rig,
        tolerance=tolerance,
        angle=angle,
        keys=keys,
        rotations="euler",
        loop=False if capture else None,
        rate=animation.rate / step if step > 1 else None,
        progress=progress,
    )
    curves = reduced.curves
    if capture:
        rate = animation.rate / int(animation.rate / PREVIEW_RATE_HZ)
        curves = Curves(curves.name, curves.curves, curves.labels, rate, curves.about, curves.moments)
    seconds = time.perf_counter() - began
    source_keys = count_keys(animation)
    return ReductionPreview(curves, curves.key_count, source_keys, reduced.error_m, reduced.error_angle, seconds)


def original_keys(animation: Clip | Curves) -> Curves:
    """An animation as curves: a clip with a key on every frame."""
    return animation if isinstance(animation, Curves) else Curves.from_clip(animation)
