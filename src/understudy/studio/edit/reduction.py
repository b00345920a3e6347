"""A dense clip to editable keys, with a preview while the dial moves.

Of a fast capture every second frame may have a key (60 a second of 120), and the tolerance is kept at all of them: what
lies between two keys is measured at the capture's own frames. Shown are 30 frames a second. Angles rather than
quaternions: they need fewer keys, can be limited, and are what people read in a graph editor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.character import Clip, Curves
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.reduce import reduce_keys
from understudy.edit.reduce.reduction import DEFAULT_ANGLE_RAD
from understudy.edit.reduce.source import convert_rotations, split_at_cuts, stitch_cuts
from understudy.maths import quaternion
from understudy.studio.jobs import Job

PREVIEW_RATE_HZ = 30.0  # frames a second that are shown of a faster capture
MAX_KEY_RATE_HZ = 60.0  # and those that may have a key: with one frame between two keys, all of 120 are looked at
BAKED_KEY_GAP_FRAMES = 1.5  # frames between keys: an animation whose keys lie closer, on the median, is baked
MIN_BAKED_KEYS = 8  # keys of a channel, below which it is not said to be baked
REDUCTION_COST_SECONDS = (
    4e-5  # seconds for a column and a frame to the power of 1.5: measured, and right within a factor of two
)
Progress = Callable[[float, float], None]


@dataclass(frozen=True, eq=False)
class ReductionPreview:
    """Curves with few keys, and what they cost."""

    curves: Curves
    keys: int  # of all channels
    source_keys: int
    error: float  # m
    angle: float  # radians
    seconds: float


class ReductionJob:
    """The reduction that runs, and the last that was done: of which edit, how far off it may be, and what it gave."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self.asked: tuple[str, float, float | None, bool] | None = None
        self.few: ReductionPreview | None = None


def is_baked(animation: Clip | Curves) -> bool:
    """Whether an animation has a key on about every frame, so that there is nothing between keys to take hold of."""
    if isinstance(animation, Clip):
        return True
    rate = min(animation.rate, PREVIEW_RATE_HZ)  # a file whose keys lie between frames seems to be faster than it is
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
    """Every which frame of a fast capture may have a key; 1 where all may."""
    step = int(animation.rate / MAX_KEY_RATE_HZ) if isinstance(animation, Clip) else 1
    return step if step > 1 and animation.frame_count >= 4 * step else 1


def reduce_animation(
    animation: Clip | Curves,
    rig: PosedRig,
    tolerance: float,
    angle: float | None,
    progress: Progress,
    shared: bool = False,
) -> ReductionPreview:
    """Few keys for an animation, within `tolerance` metres and `angle` radians; of 120 frames a second at all of them.

    With `shared` keys all channels have theirs at the same times, as poses: more keys, and more room between them.
    """
    keys = "shared" if shared else "free"
    began = time.perf_counter()
    turn = DEFAULT_ANGLE_RAD if angle is None else angle
    if isinstance(animation, Clip) and animation.rate >= 2 * PREVIEW_RATE_HZ:
        found = _reduce_capture(animation, rig, tolerance, turn, keys, progress)
        off, turned = max_deviation(animation, found, rig)
    else:
        whole = reduce_keys(animation, rig, tolerance, turn, keys=keys, rotations="euler", progress=progress)
        found, off, turned = whole.curves, whole.error_m, whole.error_angle
    seconds = time.perf_counter() - began
    return ReductionPreview(found, found.key_count, count_keys(animation), off, turned, seconds)


def _reduce_capture(clip: Clip, rig: PosedRig, tolerance: float, angle: float, keys: str, progress: Progress) -> Curves:
    """A fast capture between its cuts: keys lie on every few frames, and are measured against all that lie between.

    A reduction looks at frames and at the moments midway between them. Where every second frame may have a key, these
    are all the frames that there are.
    """
    whole, rate = convert_rotations(clip, "euler"), clip.rate / key_step(clip)
    parts = [
        reduce_keys(
            _with_rate(original_keys(piece), rate), rig, tolerance, angle, keys=keys, loop=False, progress=progress
        )
        for piece in split_at_cuts(whole)
    ]
    curves = stitch_cuts(whole, parts).curves if len(parts) > 1 else parts[0].curves
    shown = clip.rate / int(clip.rate / PREVIEW_RATE_HZ)
    return Curves(clip.name, curves.curves, clip.labels, shown, clip.about, clip.moments)


def _with_rate(curves: Curves, rate: float) -> Curves:
    return Curves(curves.name, curves.curves, curves.labels, rate, curves.about, curves.moments)


def max_deviation(animation: Clip | Curves, other: Curves, rig: PosedRig) -> tuple[float, float]:
    """How far joints are off (m), and turned (radians), at most, at those frames that `other` lasts for."""
    times = animation.frame_times()
    times = times[times <= other.end + 1e-9]
    here, there = (rig.joints(rig.pose(each, times)) for each in (animation, other))
    off = np.linalg.norm(here[..., :3, 3] - there[..., :3, 3], axis=-1)
    both = (quaternion.from_matrix(each[..., :3, :3] / column_scales(each)) for each in (here, there))
    return float(off.max(initial=0.0)), float(quaternion.angle_between(*both).max(initial=0.0))


def column_scales(matrices: Array) -> Array:
    """(..., 1, 3) of the columns, which are the scales."""
    return np.linalg.norm(matrices[..., :3, :3], axis=-2, keepdims=True).clip(1e-12)


def original_keys(animation: Clip | Curves) -> Curves:
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
