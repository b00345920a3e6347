"""Takes: animations laid over one rig and brought to one rate, ready to be learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Clip, Curves
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion, resample
from understudy.rig import PosedRig

HIGHEST_RATE = 30.0  # frames a second where nothing else is asked for: more frames cost time and add no poses
# The first frame is no part of the motion where its joints turn, on average and at most a radian each, this much more
# than in any other step. Inserted T-poses of 24 CMU files were 4 to 30 times as far away; one joint that flips is not.
INSERTED = 3.0
FEWEST_FRAMES = 10  # of a clip, to say what its usual step is

Animation = Clip | Curves


@dataclass(frozen=True, eq=False)
class Take:
    """One clip under one label: rows (F, C) of the rig at `rate`, the first at `begin` seconds of the clip's clock."""

    clip: str
    label: str
    rows: Array
    rate: float
    begin: float = 0.0

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Take({self.clip!r}, {self.label!r}, {len(self)} frames at {self.rate:g} fps)"

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.rate


def common_rate(animations: Iterable[Animation]) -> float:
    """The rate that most animations have, of equals the highest; 30 where that is higher."""
    counts = Counter(animation.rate for animation in animations)
    most = max(counts.values(), default=0)
    return min(max((rate for rate, count in counts.items() if count == most), default=HIGHEST_RATE), HIGHEST_RATE)


def has_inserted_frame(animation: Animation) -> bool:
    """Whether a dense clip begins with a pose that is no part of the motion, as the T-pose of CMU files."""
    if isinstance(animation, Curves) or len(animation) < FEWEST_FRAMES:
        return False
    columns = animation.channels.columns_of("rotation").reshape(-1, 4)
    if not len(columns):
        return False
    rotations = animation.values[:, columns]
    steps = np.minimum(quaternion.angle_between(rotations[1:], rotations[:-1]), 1.0).mean(axis=1)
    return bool(steps[0] > INSERTED * steps[1:].max())


def times_of(animation: Animation, rate: float) -> Array:
    """(F,) when the frames of a take are, on the animation's own clock; without an inserted first frame."""
    start = animation.start + (1 / animation.rate if has_inserted_frame(animation) else 0.0)
    if rate == animation.rate and isinstance(animation, Clip):
        return animation.times[1:] if start > animation.start else animation.times
    end = animation.start + animation.duration
    return resample.frame_times(start, end, rate)


def rows_of(rig: PosedRig, animation: Animation, times: Array, name: str) -> Array:
    """(F, C) frozen rows of an animation; an animation of another character, or NaN in it, is refused."""
    rows = rig.pose(animation, times)
    if not np.isfinite(rows).all():
        frame, column = (int(i) for i in np.argwhere(~np.isfinite(rows))[0])
        found = f"{rig.channels.names[column]} is {rows[frame, column]} at frame {frame}"
        raise InvalidInput(f"clip {name!r} should be finite, but {found}")
    columns = rig.channels.columns_of("rotation").reshape(-1, 4)
    if len(columns):  # of unit length, so that their logarithms hold all of them, and continuous in time
        rows[:, columns] = quaternion.unroll(quaternion.normalise(rows[:, columns]))
    return checks.freeze(rows)
