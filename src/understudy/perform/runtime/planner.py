"""Planning: commands become segments [Bailey 2016, section 5.3].

MOVE is a path to a pose, straight or over the training frames. IDLE is a pose to stay near, or several to wander
between. TRANSITION goes to the best bridge, crosses it and goes on to the given pose, over several labels where no
bridge joins two. The paper waits at a bridge until two idling particles have been blended; here the particle does not
stop, since the blend keeps its velocity (`sequencer`). PLAY goes to the first frame of a clip, then shows its frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.maths import resample
from understudy.perform.behaviours import CYCLE, Behaviour
from understudy.perform.bridges import Bridges
from understudy.perform.commands import GoTo, Idle, Mix, PlayClip, Transition, clip_time
from understudy.perform.features.encoder import TRAVEL_FEATURE_NAMES
from understudy.perform.features.root_motion import GroundFrame, move_roots
from understudy.perform.gaits import gaits_of_model
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_space import Segment
from understudy.perform.runtime import latent_path
from understudy.perform.runtime.cycles import Cycle
from understudy.perform.runtime.forces import MotionConstants
from understudy.perform.runtime.label_runtime import LabelRuntimes, PoseRange
from understudy.perform.runtime.locomotion import Locomotion
from understudy.perform.runtime.state import (
    ChooseBranch,
    CrossBridge,
    FollowPath,
    HoldSegment,
    JoinSource,
    PerformerState,
    PlanSegment,
    ReplayClip,
)

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


class Planner:
    """Plans commands for one model at one rate. It has no changing state."""

    def __init__(self, model: PerformanceModel, rate: float, seed: int = 0, rig: PosedRig | None = None) -> None:
        self.model, self.rate, self.seed, self.rig = model, rate, seed, rig
        self.runtimes = LabelRuntimes(model.spaces)
        self.range = PoseRange.from_model(model)
        self._cycles: dict[str, Cycle] = {}
        self._cycle_constants: dict[str, MotionConstants] = {}
        self.pace = rate / model.rate  # performed frames for each frame of the clips
        # (G,) the features that are velocities over the ground
        self.travel = np.array(
            [i for i, name in enumerate(model.encoder.names) if name in TRAVEL_FEATURE_NAMES], np.int64
        )

    def behaviour(self, label: str) -> tuple[Segment, Behaviour]:
        """The clip that shows a label, and what it does."""
        return self.model.label_behaviour(label)

    def cycle(self, clip: str) -> Cycle:
        """A clip as a cycle; made on first use."""
        if clip not in self._cycles:
            label, segment = self.model.clip(clip)
            behaviour = self.model.behaviours.get(segment.clip) or Behaviour(CYCLE)
            self._cycles[clip] = Cycle.from_clip(self.model.space(label), segment, behaviour)
        return self._cycles[clip]

    @cached_property
    def locomotion(self) -> Locomotion:
        """The gaits of the character, to go on; `InvalidInput` where it has none."""
        gaits = None if self.rig is None else gaits_of_model(self.rig, self.model, self._all_cycles())
        if gaits is None:
            raise InvalidInput("this character cannot go anywhere: none of its clips that repeat walks or runs")
        return Locomotion(gaits, self.travel)

    def _all_cycles(self) -> list[Cycle]:
        clips = [segment.clip for space in self.model.spaces.values() for segment in space.segments]
        kinds = self.model.behaviours
        return [self.cycle(clip) for clip in dict.fromkeys(clips) if clip in kinds and kinds[clip].kind == CYCLE]

    def place(self, features: Array, grounds: Array) -> Array:
        """(M, C) rows of poses (M, E), each on its own ground (M, 3)."""
        rows = self.model.encoder.place(features, grounds)
        if self.model.encoder.root is None and self.rig is not None and grounds.any():
            move_roots(self.rig.character.skeleton, self.rig.channels, rows, grounds)
        return rows

    def ground_after(self, state: PerformerState, features: Array, travel: tuple[float, ...]) -> GroundFrame:
        """The ground of the frame after one with features (E,) on the ground of a state."""
        ground = self.model.encoder.ground_after(features, state.ground, self.rate)
        side, forward, turn = travel
        return ground.step_ground(side, forward, turn, 1 / self.rate) if any(travel) else ground

    def cycle_constants(self, clip: str) -> MotionConstants:
        """The constants of the particle on a cycle; found on first use."""
        if clip not in self._cycle_constants:
            cycle = self.cycle(clip)
            self._cycle_constants[clip] = cycle.motion_constants(self.model, self.runtimes[cycle.label])
        return self._cycle_constants[clip]

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

    def prepare(self) -> None:
        """Do once what the first command would otherwise wait for: runtimes, paces, graphs, compiled code."""
        for label, runtime in self.runtimes.items():
            near, _ = runtime.space.latent_of(runtime.space.features_of(runtime.home[None]), runtime.home[None, None])
            self.plan_route(label, near[0], label, runtime.home)

    def frames(self, seconds: float) -> int:
        """The nearest number of frames, at least one."""
        return max(1, round(seconds * self.rate))

    def latent(self, label: str, pose: str) -> Array:
        """(Q,) the latent of a pose in a label's space: `"clip@seconds"`, or a named pose of the model."""
        space = self.model.space(label)
        moment = clip_time(pose)
        if moment is None:
            if pose not in self.model.poses:
                known = join_names(self.model.poses, 40) or "none"
                raise InvalidInput(f"there is no pose {pose!r}; write clip@seconds, or one of {known}")
            return space.latent_of(self.model.poses[pose][None])[0][0]
        owner, segment = self.model.clip(moment.clip)
        x = self.model.space(owner).latent_at(segment, moment.seconds)
        if owner == label:
            return x
        return space.latent_of(self.model.space(owner).features_of(x[None]))[0][0]

    def label_of(self, pose: str, current: str) -> str:
        """The label to which a pose belongs: its clip's, or the current one for a named pose."""
        moment = clip_time(pose)
        return current if moment is None else self.model.clip(moment.clip)[0]

    def plan(self, command: object, label: str, x: Array) -> tuple[PlanSegment, ...]:
        """The segments of a command for a source at latent x (Q,) of a label."""
        if isinstance(command, GoTo):
            goal = command.label or self.label_of(command.pose, label)
            target = self.latent(goal, command.pose)
            way = self.plan_route(label, x, goal, target, command.path, command.seconds)
            return (*way, self.hold(goal, target))
        if isinstance(command, Transition):
            if command.pose is not None:
                target = self.latent(command.label, command.pose)
            else:
                target = x if label == command.label else self.runtimes[self.model.space(command.label).label].home
            way = self.plan_route(label, x, command.label, target, seconds=command.seconds)
            return (*way, self.hold(command.label, target))
        if isinstance(command, Idle):
            return self._idle(command, label, x)
        if isinstance(command, PlayClip):
            return self._play(command, label, x)
        if isinstance(command, Mix):
            return self._mix(command, label, x)
        raise InvalidInput(f"this cannot be planned: {command!r}")

    def hold(self, label: str, point: Array, radius: float | None = None, frames: int | None = None) -> HoldSegment:
        """A segment that stays near a point, by default within the label's idle radius."""
        return HoldSegment(point, self.runtimes[label].hover_radius if radius is None else radius, frames)

    def plan_route(
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
            lines.append(self._time_route(label, self.latent_polyline(label, x, near_side[number], kind)))
            crossings.append(CrossBridge(beyond, far_side[number], float(bridges.gaps[number])))
            label, x = beyond, far_side[number]
        lines.append(self._time_route(label, self.latent_polyline(label, x, target, kind)))
        natural = max(MIN_MOVE_SECONDS, sum(line.seconds[-1] for line in lines) / (1 - latent_path.EASE_SHARE))
        frames = self.frames(natural if seconds is None else seconds)
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

    def latent_polyline(self, label: str, x: Array, target: Array, kind: str = "graph") -> Array:
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

    def _idle(self, command: Idle, label: str, x: Array) -> tuple[PlanSegment, ...]:
        goal = command.label or (self.label_of(command.poses[0], label) if command.poses else label)
        points = [self.latent(goal, pose) for pose in command.poses]
        if not points:
            points = [x if goal == label else self.runtimes[goal].home]
        first = points[0]
        runtime = self.runtimes[goal]
        radius = runtime.hover_radius if command.radius is None else command.radius
        near = goal == label and np.linalg.norm(first - x) <= radius
        way = () if near else self.plan_route(label, x, goal, first)
        if len(points) == 1:
            return (*way, HoldSegment(first, radius))
        hold = (
            HoldSegment(first, radius, self.frames(command.hover)) if command.hover else HoldSegment(first, radius, 1)
        )
        return (*way, hold, ChooseBranch(np.array(points), radius, command.hover))

    def _play(self, command: PlayClip, label: str, x: Array) -> tuple[PlanSegment, ...]:
        goal, segment = self.model.clip(command.clip)
        space = self.model.space(goal)
        last = (len(segment) - 1) / space.rate
        start, stop = command.start or 0.0, last if command.stop is None else command.stop
        if stop > last + 0.5 / space.rate or start > last:
            raise InvalidInput(f"clip {segment.clip!r} lasts {last:g} s, but {start:g} to {stop:g} s is asked for")
        start = round(start * space.rate) / space.rate  # exactly on a frame, where the rates are the same
        times = start + np.arange(self.frames(stop - start) + 1) / self.rate
        frames = slice(segment.start, segment.stop)
        latents = resample.sample(space.latents[frames], space.rate, times, "cubic")
        features = resample.sample(space.features[frames], space.rate, times, "cubic")
        way = self.plan_route(label, x, goal, latents[0])
        return (*way, ReplayClip(segment.clip, latents, features), self.hold(goal, latents[-1]))

    def _mix(self, command: Mix, label: str, x: Array) -> tuple[PlanSegment, ...]:
        poses: tuple[str | None, ...] = command.poses or (None, None)
        targets = [
            self.runtimes[self.model.space(name).label].home if pose is None else self.latent(name, pose)
            for name, pose in zip(command.labels, poses)
        ]
        main = 1 if label == command.labels[1] else 0
        other = 1 - main
        weight = command.weight if other == 1 else 1 - command.weight
        join = JoinSource(command.labels[other], targets[other], weight)
        home, goal = command.labels[main], targets[main]
        if home == label:
            return (join, *self.plan_route(label, x, label, goal), self.hold(home, goal))
        return (*self.plan_route(label, x, home, goal), join, self.hold(home, goal))
