"""Paths through a latent space [Bailey 2016, section 5.3, MOVE].

Straight, or along the training data: the cheapest path through the complete graph of the training latents, the start
and the end, where an edge costs |x_i - x_j|^p. The print gives the weight as |x_i - x_j|^-p, which is a similarity,
that of the connectivity prior; as a cost it is inverted. With p = 4 two hops of half the length cost an eighth of one,
so the path keeps to where frames lie close together.

A path is then resampled to constant speed, or to one that eases in and out, and its corners are rounded.

`RoutePlanner` makes timed routes of such paths, within a label and over bridges. Their pace is that of the clips: it
measures how fast these change, and how suddenly their velocity does, for the whole pose and for each feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import jit
from understudy.perform.runtime.state import CrossBridge, FollowPath, PlanSegment

if TYPE_CHECKING:
    from understudy.perform.model import PerformanceModel
    from understudy.perform.pose_space import Bridges
    from understudy.perform.runtime.label_runtime import LabelRuntimes

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
DETOUR_SECONDS_PER_GAP = 2.0  # detour to a bridge without a gap that a bridge as wide as its threshold is worth
MIN_MOVE_SECONDS = 0.3  # of any move: a face that moves faster seems to pop
# Change of velocity that a path may reach where it speeds up, over the clips' largest; corners come on top.
PATH_VELOCITY_CHANGE_RATIO = 0.6
# Largest rate of a feature: hardly a joint turns three times a second, but the logarithm of one that has come full
# circle returns to zero within a frame, and would be the clips' most sudden change by far.
MAX_FEATURE_RAD_PER_S = 6 * np.pi
MIN_FEATURE_CHANGE_RATIO = 0.1  # change of velocity that any feature may reach, over that of the liveliest feature
# Radius around a path, over the idle radius: enough that no two moves are alike, and little enough that it arrives.
PATH_RADIUS_RATIO = 0.5


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


@dataclass(frozen=True, eq=False)
class LatentRoute:
    """A timed path through one label."""

    label: str
    points: Array  # (K, Q)
    poses: Array  # (K, D) reduced poses there; their distances are differences in looks
    seconds: Array  # (K,) times at the clips' pace, from 0 on

    def sample_at(self, seconds: Array) -> tuple[Array, Array]:
        """(n, Q) latents and (n, D) reduced poses at times (n,), the last of them at the end of the path."""
        i = np.clip(np.searchsorted(self.seconds, seconds, side="right") - 1, 0, len(self.seconds) - 2)
        step = np.maximum(self.seconds[i + 1] - self.seconds[i], 1e-12)
        share = np.clip((seconds - self.seconds[i]) / step, 0, 1)[:, None]
        share[-1] = 1.0
        i[-1] = len(self.seconds) - 2
        places, poses = ((1 - share) * values[i] + share * values[i + 1] for values in (self.points, self.poses))
        return places, poses


class RoutePlanner:
    """Plans the routes of one model at one rate. It has no changing state."""

    def __init__(self, model: PerformanceModel, rate: float, runtimes: LabelRuntimes) -> None:
        self.model, self.rate, self.runtimes = model, rate, runtimes
        self.pace = rate / model.rate  # performed frames for each frame of the clips

    @cached_property
    def speed(self) -> float:
        """How fast the clips change while they move, in the unit of the model's weights a second."""
        every = np.concatenate(
            [self.model.difference(velocity, np.zeros_like(velocity)) for velocity in self._velocities()]
        )
        return max(float(every[every >= np.median(every)].mean()), 1e-9)

    @cached_property
    def max_velocity_change(self) -> float:
        """The largest change of velocity from frame to frame in any clip, in the same unit a second."""
        every = [self.model.difference(v[1:], v[:-1]).max(initial=0.0) for v in self._velocities()]
        return max(float(max(every)), 1e-9)

    @cached_property
    def max_feature_velocity_changes(self) -> Array:
        """(E,) the same for each feature by itself, at least `MIN_FEATURE_CHANGE_RATIO` of the liveliest.

        Where a walk shakes the whole body, a lone arm should still not fall as suddenly as all of that together.
        """
        every = [np.abs(np.diff(v, axis=0)).max(axis=0, initial=0.0) for v in self._velocities() if len(v) > 1]
        largest = np.max(every, axis=0, initial=0.0) * self.model.weights
        return np.maximum(largest, max(MIN_FEATURE_CHANGE_RATIO * float(largest.max()), 1e-9))

    def _velocities(self) -> Iterator[Array]:
        """(F - 1, E) feature rates a second of each clip, without the jumps of logarithms at full circles."""
        first = len(self.model.encoder.plain)
        turns = slice(first, first + len(self.model.encoder.turns))
        for space in self.model.spaces.values():
            for segment in space.segments:
                steps = np.diff(space.features[segment.start : segment.stop].astype(np.float64), axis=0)
                steps[:, turns][np.abs(steps[:, turns]) * space.rate > MAX_FEATURE_RAD_PER_S] = 0.0
                yield steps * space.rate

    def labels(self, start: str, goal: str) -> list[str]:
        """The labels on the route over bridges from one to another."""
        labels = [start]
        for bridges in self.model.route(start, goal) if start != goal else ():
            labels.append(bridges.other(labels[-1]))
        return labels

    def plan(
        self,
        label: str,
        x: Array,
        goal: str,
        target: Array,
        kind: str = "graph",
        seconds: float | None = None,
    ) -> tuple[PlanSegment, ...]:
        """Segments from a latent of one label to one of another, or of the same, at the clips' pace or in `seconds`.

        They take longer where the velocity would otherwise change more suddenly than in the clips. One speed profile
        covers the whole route: it starts from rest and comes to rest, but crosses bridges without stopping.
        """
        lines, crossings = [], []
        for bridges in self.model.route(label, goal):
            beyond = bridges.other(label)
            number = self._best_bridge(bridges, label, x, target if beyond == goal else None)
            near_side, far_side = bridges.sides(label)
            lines.append(self._time_route(label, self.polyline(label, x, near_side[number], kind)))
            crossings.append(CrossBridge(beyond, far_side[number], float(bridges.gaps[number])))
            label, x = beyond, far_side[number]
        lines.append(self._time_route(label, self.polyline(label, x, target, kind)))
        natural = max(MIN_MOVE_SECONDS, sum(line.seconds[-1] for line in lines) / (1 - EASE_SHARE))
        frames = max(1, round((natural if seconds is None else seconds) * self.rate))
        for _ in range(8):  # a path twice as slow changes its velocity a quarter as much, so few are enough
            segments, harsh = self._route_segments(lines, crossings, max(frames, len(lines)), seconds is None)
            if harsh <= PATH_VELOCITY_CHANGE_RATIO:
                break
            frames = int(np.ceil(frames * np.sqrt(harsh / PATH_VELOCITY_CHANGE_RATIO)))
        return segments

    def _route_segments(
        self, lines: Sequence[LatentRoute], crossings: Sequence[CrossBridge], frames: int, each: bool
    ) -> tuple[tuple[PlanSegment, ...], float]:
        """Segments of the lines in `frames` frames, with the crossings between, and their velocity change ratio."""
        ends = np.cumsum([line.seconds[-1] for line in lines])
        gone = ease_profile(np.arange(frames + 1) / frames) * ends[-1]
        segments: list[PlanSegment] = []
        first, harsh = 0, 0.0
        for number, line in enumerate(lines):
            left = len(lines) - number - 1
            last = frames if not left else int(np.clip(np.searchsorted(gone, ends[number]), first + 1, frames - left))
            begin = ends[number - 1] if number else 0.0
            points, poses = line.sample_at(gone[first : last + 1] - begin)
            harsh = max(harsh, self._velocity_change_ratio(poses, line.label, each))
            segments.append(FollowPath(points, PATH_RADIUS_RATIO * self.runtimes[line.label].forces.radius))
            segments.extend(crossings[number : number + 1])
            first = last
        return tuple(segments), harsh

    def _velocity_change_ratio(self, poses: Array, label: str, each: bool) -> float:
        """The largest change of velocity of reduced poses (n, D), and with `each` of any feature; 1 is the clips'.

        It is taken over a frame of the clips, whatever the performed rate.
        """
        step = min(max(1, round(self.pace)), (len(poses) - 1) // 2)
        if step < 1:
            return 0.0
        change = poses[2 * step :] - 2 * poses[step:-step] + poses[: -2 * step]
        change *= self.rate * self.pace / step**2
        whole = float(np.linalg.norm(change, axis=1).max()) / self.max_velocity_change
        if not each:
            return whole
        reduction = self.runtimes[label].space.reduction
        largest = np.abs(change @ reduction.basis.T).max(axis=0) * (reduction.scale > 0)
        return max(whole, float((largest / self.max_feature_velocity_changes).max()))

    def _time_route(self, label: str, points: Array) -> LatentRoute:
        """A polyline (K, Q) with its corners rounded, and the times of its points at the clips' pace.

        The paper asks for a constant speed in the latent space. Some stretches of it hardly change the pose and others
        turn the head, so the pace here is half by latent distance and half by the change of the pose. A stretch without
        a change is still passed, not jumped over.
        """
        mean = self.runtimes[label].space.mapping.mean
        rough = self._times(label, points, mean(points))[-1]
        frames = max(1, round(max(MIN_MOVE_SECONDS, rough) * self.model.rate))  # of the clips: the same at any rate
        fine = round_corners(points, frames)
        poses = mean(fine)
        return LatentRoute(label, fine, poses, self._times(label, fine, poses))

    def _times(self, label: str, points: Array, poses: Array) -> Array:
        """(K,) seconds, at the clips' pace, of the points (K, Q) of a path with reduced poses (K, D)."""
        looks, steps = (np.linalg.norm(np.diff(values, axis=0), axis=1) for values in (poses, points))
        return np.concatenate([[0.0], np.cumsum(looks / self.speed + steps / self.runtimes[label].forces.speed) / 2])

    def polyline(self, label: str, x: Array, target: Array, kind: str = "graph") -> Array:
        """(K, Q) the path between two latents of a label, over its training frames or straight."""
        return straight(x, target) if kind == "straight" else self.runtimes[label].graph.path(x, target)

    def _best_bridge(self, bridges: Bridges, label: str, x: Array, target: Array | None) -> int:
        """The number of the bridge with the least time to get there and on to the target, and the least gap."""
        near_side, far_side = bridges.sides(label)
        seconds = np.linalg.norm(near_side - x, axis=1) / self.runtimes[label].forces.speed
        if target is not None:
            seconds = (
                seconds + np.linalg.norm(far_side - target, axis=1) / self.runtimes[bridges.other(label)].forces.speed
            )
        return int(np.argmin(seconds + DETOUR_SECONDS_PER_GAP * bridges.gaps / max(bridges.threshold, 1e-12)))
