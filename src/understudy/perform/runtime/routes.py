"""Routes: timed paths from pose to pose, within a label and over bridges [Bailey 2016, section 5.3, MOVE].

The shape of a path is that of `latent_path`. Its pace is that of the clips: this module measures how fast they change,
and how suddenly their velocity does, for the whole pose and for each feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.checks import Array
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_space import Bridges
from understudy.perform.runtime import latent_path
from understudy.perform.runtime.label_runtime import LabelRuntimes
from understudy.perform.runtime.state import CrossBridge, FollowPath, PlanSegment

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
        natural = max(MIN_MOVE_SECONDS, sum(line.seconds[-1] for line in lines) / (1 - latent_path.EASE_SHARE))
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
        gone = latent_path.ease_profile(np.arange(frames + 1) / frames) * ends[-1]
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
        fine = latent_path.round_corners(points, frames)
        poses = mean(fine)
        return LatentRoute(label, fine, poses, self._times(label, fine, poses))

    def _times(self, label: str, points: Array, poses: Array) -> Array:
        """(K,) seconds, at the clips' pace, of the points (K, Q) of a path with reduced poses (K, D)."""
        looks, steps = (np.linalg.norm(np.diff(values, axis=0), axis=1) for values in (poses, points))
        return np.concatenate([[0.0], np.cumsum(looks / self.speed + steps / self.runtimes[label].forces.speed) / 2])

    def polyline(self, label: str, x: Array, target: Array, kind: str = "graph") -> Array:
        """(K, Q) the path between two latents of a label, over its training frames or straight."""
        return latent_path.straight(x, target) if kind == "straight" else self.runtimes[label].graph.path(x, target)

    def _best_bridge(self, bridges: Bridges, label: str, x: Array, target: Array | None) -> int:
        """The number of the bridge with the least time to get there and on to the target, and the least gap."""
        near_side, far_side = bridges.sides(label)
        seconds = np.linalg.norm(near_side - x, axis=1) / self.runtimes[label].forces.speed
        if target is not None:
            seconds = (
                seconds + np.linalg.norm(far_side - target, axis=1) / self.runtimes[bridges.other(label)].forces.speed
            )
        return int(np.argmin(seconds + DETOUR_SECONDS_PER_GAP * bridges.gaps / max(bridges.threshold, 1e-12)))
