"""Paths through a latent space [Bailey 2016, section 5.3, MOVE].

Straight, or along the training data: the cheapest path through the complete graph of the training latents, the start
and the end, where an edge costs |x_i - x_j|^p. The print gives the weight as |x_i - x_j|^-p, which is a similarity,
that of the connectivity prior; as a cost it is inverted. With p = 4 two hops of half the length cost an eighth of one,
so the path keeps to where frames lie close together.

A path is then resampled to constant speed, or to one that eases in and out, and its corners are rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit

KERNELS = "understudy.perform.runtime.particle_kernels"
PATH_COST_POWER = 4  # the paper's: with 2 paths cut corners, from 8 on only the longest hop counts
# Share E of the whole time to get up to speed, and again to come to rest. The acceleration is 1.5 / (E (1 - E)) times
# the length over the time squared: least for a half, which leaves nothing of the paper's constant speed; a tenth more
# than doubles it.
EASE_SHARE = 0.3
# Deviation of the Gaussian that rounds corners. Over 40 changes of the dragon's label the greatest acceleration was
# 0.74, 0.67, 0.63 and 0.55 of the clips' own 99 % (nine of ten below that) with 1.5, 4, 7 and 10, and the label was
# reached sooner; with 14 the worst case is worse again, since a path cuts off poses that it was to pass.
ROUNDING_FRAMES = 10.0
POINTS_PER_FRAME = 4  # samples of a path while its corners are rounded
LAUNCH_SECONDS = 0.5  # to give up a velocity: clips take 0.1 to 0.5; the acceleration is 4 velocities over it
LAUNCH_OVERSHOOT_RATIO = 0.2  # deviation of a path by a launch, over velocity times `LAUNCH_SECONDS`
MAX_START_SPEED_RATIO = 2.0  # over the mean speed: a path that starts faster than this would be all braking


@dataclass(frozen=True, eq=False)
class LatentGraph:
    """The training latents (N, Q) as a complete graph; made once for each space."""

    points: Array
    power: float = PATH_COST_POWER

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", checks.array(self.points, "latents", ("N", "Q")))
        checks.positive(self.power, "power")

    @cached_property
    def costs(self) -> Array:
        """(N, N) |x_i - x_j|^p."""
        return checks.freeze(costs(self.points, self.points, self.power))

    def path(self, a: Array, b: Array) -> Array:
        """(K, Q) the cheapest path from a to b (Q,), through training points; the first is a, the last b."""
        a, b = self._point(a, "the start"), self._point(b, "the end")
        ends = costs(np.stack([a, b]), self.points, self.power)
        direct = float(costs(a[None], b[None], self.power)[0, 0])
        through = jit.kernels(KERNELS).cheapest_path(self.costs, ends[0], ends[1], direct)
        return remove_repeats(np.concatenate([a[None], self.points[through], b[None]]))

    def _point(self, value: Array, name: str) -> Array:
        return checks.array(value, name, (self.points.shape[1],))


def straight(a: Array, b: Array) -> Array:
    """(2, Q) the straight path from a to b (Q,)."""
    return np.stack([checks.array(a, "the start", ("Q",)), checks.array(b, "the end", ("Q",))])


def costs(a: Array, b: Array, power: float) -> Array:
    """(A, B) |a - b|^p of a (A, Q) and b (B, Q)."""
    square = np.zeros((len(a), len(b)))
    for q in range(a.shape[1]):
        square += np.subtract.outer(a[:, q], b[:, q]) ** 2
    return square ** (power / 2)


def remove_repeats(points: Array) -> Array:
    """The same polyline (K, Q) without points that equal the one before; a path that stays put keeps its two ends."""
    moved = np.any(np.diff(points, axis=0) != 0, axis=1)
    if not moved.any():
        return points[[0, -1]]
    return points[np.concatenate([[True], moved])]


def length(points: Array) -> float:
    """Length of a polyline (K, Q)."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def resample_frames(points: Array, frames: int, start: bool = True, stop: bool = True, initial: float = 0.0) -> Array:
    """(frames + 1, Q) points at equal times along a polyline (K, Q), both ends exactly its own, its corners rounded.

    With `start` it starts at `initial` times its mean speed and speeds up, with `stop` it comes to rest, both with
    continuous acceleration; otherwise the speed is constant.
    """
    points = checks.array(points, "the path", ("K", "Q"))
    if len(points) < 1 or frames < 1:
        raise InvalidInput(f"a path needs a point and a frame, but has {len(points)} and {frames}")
    return resample_path(
        round_corners(points, frames), ease_profile(np.arange(frames + 1) / frames, start, stop, initial)
    )


def round_corners(points: Array, frames: int) -> Array:
    """(K', Q) a polyline (K, Q) that takes `frames` frames, with its corners rounded over some frames, the ends kept.

    The cheapest path hops between clips that run side by side, and a particle would be jerked at each hop. Points are
    averaged along the path with Gaussian weights, reflected at the ends: a straight path stays as it is.
    """
    if len(points) < 3:
        return points
    dense = resample_path(points, np.linspace(0, 1, POINTS_PER_FRAME * frames + 1))
    width = round(3 * ROUNDING_FRAMES * POINTS_PER_FRAME)
    weights = np.exp(-0.5 * (np.arange(-width, width + 1) / (ROUNDING_FRAMES * POINTS_PER_FRAME)) ** 2)
    before, after = 2 * dense[0] - dense[width:0:-1], 2 * dense[-1] - dense[-2 : -width - 2 : -1]
    padded = np.concatenate([_pad_points(before, width, 0), dense, _pad_points(after, width, -1)])
    smooth = np.stack([np.convolve(column, weights / weights.sum(), "valid") for column in padded.T], axis=1)
    smooth[0], smooth[-1] = points[0], points[-1]
    return smooth


def _pad_points(points: Array, count: int, end: int) -> Array:
    """(count, Q) points, with the first (end 0) or last one repeated at that end where there are fewer."""
    spare = (count - len(points), 0) if end == 0 else (0, count - len(points))
    return np.pad(points, (spare, (0, 0)), mode="edge")


def resample_path(points: Array, share: Array) -> Array:
    """(S, Q) points at shares (S,), 0 to 1, of the length of a polyline (K, Q); exactly its ends at 0 and 1."""
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    result = np.stack([np.interp(share * along[-1], along, column) for column in points.T], axis=1)
    result[0], result[-1] = points[0], points[-1]
    return result


def launch_profile(points: Array, velocity: Array, dt: float) -> Array:
    """(F' + 1, Q) a motion (F + 1, Q) of frames of `dt` seconds, changed so that it starts with `velocity` (Q,).

    For a command that comes while the particle moves: d t (1 - s)^3 (1 + 3 s) is added, s = t / T, T =
    `LAUNCH_SECONDS`, with d the velocity that the first frame lacks. It begins without acceleration, and changes
    neither velocity nor position at T: both ends stay. A motion shorter than T waits at its end where it would
    otherwise overshoot by its own length.
    """
    d = velocity - (points[min(1, len(points) - 1)] - points[0]) / dt
    frames = round(LAUNCH_SECONDS / dt)
    if len(points) <= frames and np.linalg.norm(d) * LAUNCH_SECONDS * LAUNCH_OVERSHOOT_RATIO > length(points):
        points = np.concatenate([points, np.repeat(points[-1:], frames + 1 - len(points), axis=0)])
    t = np.arange(len(points)) * dt
    last = min(LAUNCH_SECONDS, float(t[-1]))
    if last <= dt:
        return points
    return points + np.outer(t * _launch_decay(t / last), d / _launch_decay(dt / last))


def _launch_decay(s: Array | float) -> Array:
    """(1 - s)^3 (1 + 3 s) up to s = 1, then 0."""
    s = np.minimum(s, 1)
    return (1 - s) ** 3 * (1 + 3 * s)


def ease_profile(share: Array, start: bool = True, stop: bool = True, initial: float = 0.0) -> Array:
    """Share of the distance, 0 to 1, at `share` of the time, 0 to 1.

    The speed rises from u = `initial` to its height h within `EASE_SHARE` of the time, as 3 s^2 - 2 s^3 does, stays,
    and falls to zero likewise; h is such that the whole distance is covered. Where a side is not eased, the speed there
    is h.
    """
    u = float(np.clip(initial, 0.0, MAX_START_SPEED_RATIO))
    h = (1 - u * EASE_SHARE / 2 * start) / (1 - EASE_SHARE / 2 * start - EASE_SHARE / 2 * stop)
    rise, fall = np.clip(share / EASE_SHARE, 0, 1), np.clip((share - (1 - EASE_SHARE)) / EASE_SHARE, 0, 1)
    gone = h * np.asarray(share, np.float64)
    if start:
        gone = gone - EASE_SHARE * (h - u) * (rise - _ramp(rise))
    if stop:
        gone = gone - EASE_SHARE * h * _ramp(fall)
    return np.clip(gone, 0, 1)


def _ramp(s: Array) -> Array:
    """Integral of 3 s^2 - 2 s^3 from 0 to s."""
    return s**3 - s**4 / 2
