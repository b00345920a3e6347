"""Planning: commands become segments [Bailey 2016, section 5.3].

MOVE is a path to a pose (`latent_path`), straight or over the training frames, and over bridges where every label on
the way is one to hover in. IDLE is a pose to stay near, or several to wander between.

TRANSITION and PLAY enter the new motion directly, where and when that is cheapest (`changes`): a cycle at the best
phase, an act in its first quarter, a clip of a face where it shows its label. The paper goes to a bridge first and
waits there until two idling particles have been blended; that takes seconds, and on a body it leads through acts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from understudy.character.rig import DirectRig, PosedRig
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.maths import resample, springs
from understudy.perform.behaviours import ACT, CYCLE, HOVER, Behaviour
from understudy.perform.commands import DEFAULT_URGENCY, GoTo, Idle, Mix, PlayClip, Transition, clip_time
from understudy.perform.features.encoder import TRAVEL_FEATURE_NAMES
from understudy.perform.features.root_motion import GroundFrame, move_roots
from understudy.perform.gaits import IDLE_NAME, gaits_of_model
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_space import PoseSpace, Segment
from understudy.perform.runtime.changes import MIN_BLEND_SECONDS, Change, ChangeLimits, find_changes
from understudy.perform.runtime.cycles import Cycle, CycleState
from understudy.perform.runtime.entries import (
    ACT_ENTRY_SHARE,
    EntryPoints,
    JointJudge,
    MotionEntries,
    clip_times,
)
from understudy.perform.runtime.forces import MotionConstants
from understudy.perform.runtime.label_runtime import LabelRuntimes, PoseRange
from understudy.perform.runtime.latent_path import RoutePlanner
from understudy.perform.runtime.locomotion import Locomotion
from understudy.perform.runtime.state import (
    ChooseBranch,
    CrossBridge,
    EnterMotion,
    FollowPath,
    HoldSegment,
    JoinSource,
    PerformerState,
    PlanSegment,
    ReplayClip,
    ReturnMotion,
    RideCycle,
    SelfSteppingSegment,
    SteadySegment,
    StillPose,
)

MAX_BEGINNING_WAITS = 2.0  # of a change's longest wait: a gait comes by its beginning within a second
DEPARTURES = 6  # moments at which a change may leave the motion before it


class Planner:
    """Plans commands for one model at one rate. It has no changing state."""

    def __init__(self, model: PerformanceModel, rate: float, seed: int = 0, rig: PosedRig | None = None) -> None:
        self.model, self.rate, self.seed, self.rig = model, rate, seed, rig
        self.runtimes = LabelRuntimes(model.spaces)
        self.routes = RoutePlanner(model, rate, self.runtimes)
        self.range = PoseRange.from_model(model)
        self.entries = MotionEntries(model)
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

    def prepare(self) -> None:
        """Do once what the first command would otherwise wait for: entries, constants, graphs, compiled code."""
        looks = self.entries.looks
        for label in self.model.labels:
            clip, behaviour = self.behaviour(label)
            if behaviour.kind == CYCLE:
                self.cycle_constants(clip.clip)
                self.entries.of_cycle(self.cycle(clip.clip))
            elif behaviour.kind == HOVER:
                self.entries.of_label(label)
                runtime = self.runtimes[label]
                start = runtime.home[None, None]
                near, _ = runtime.space.latent_of(runtime.space.features_of(runtime.home[None]), start)
                self.routes.plan(label, near[0], label, runtime.home)
        pose = self.entries.of_pose(looks.mean)
        still = np.zeros((1, looks.basis.shape[1]))
        find_changes(looks, still, still, np.zeros(1), 0.0, pose.motion, ChangeLimits.of_urgency(DEFAULT_URGENCY))

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

    def plan(self, command: object, state: PerformerState) -> tuple[tuple[PlanSegment, ...], float | None]:
        """The segments of a command, and the seconds until it is done where that is not their end."""
        if isinstance(command, GoTo):
            goal = command.label or self.label_of(command.pose, state.label)
            return self._go_to(state, goal, self.latent(goal, command.pose), command.path, command.seconds)
        if isinstance(command, Transition):
            limits = ChangeLimits.of_urgency(command.urgency, command.seconds)
            if command.pose is not None:
                target = self.latent(command.label, command.pose)
                return self._go_to(state, command.label, target, "graph", command.seconds, limits)
            return self.change_to_label(state, command.label, limits)
        if isinstance(command, Idle):
            return self._idle(command, state)
        if isinstance(command, PlayClip):
            return self._play(command, state)
        if isinstance(command, Mix):
            return self._mix(command, state)
        raise InvalidInput(f"this cannot be planned: {command!r}")

    def change_to_label(
        self, state: PerformerState, label: str, limits: ChangeLimits
    ) -> tuple[tuple[PlanSegment, ...], float | None]:
        """Change to what a label does."""
        clip, behaviour = self.behaviour(label)
        source = state.main_source
        plays_again = behaviour.kind == ACT and not behaviour.stays
        if source.label == label and not plays_again and replace(source, plan=source.plan[:1]).is_steady:
            return source.plan[:1], 0.0
        if behaviour.kind == ACT:
            space = self.model.space(label)
            speed = behaviour.speed
            replay = self._replay(space, clip, behaviour, speed)
            entries = self.entries.of_clip(clip, behaviour, speed, joins=True)
            return self._enter_replay(state, label, replay, entries, limits, self._after_act(state, replay, behaviour))
        if behaviour.kind == HOVER:
            return self._enter_hover(state, label, limits)
        segment = self.steady_segment(label)
        change, entries = self.find_change(state, label, segment, limits)
        phase = self._entry_phase(segment, change)
        return (*self._enter(state, label, change, phase), segment), change.wait + change.seconds

    def steady_segment(self, label: str) -> SteadySegment:
        """What a label does until the next command; the first pose of an act, or its last where it stays."""
        clip, behaviour = self.behaviour(label)
        space = self.model.space(label)
        if behaviour.kind == CYCLE:
            return RideCycle(clip.clip)
        if behaviour.kind == HOVER:
            return self.hold(label, space.latents[space.home])
        frame = clip.stop - 1 if behaviour.stays else clip.start + round(behaviour.start * space.rate)
        return StillPose(space.features[frame].astype(np.float64), space.latents[frame])

    def steady_tail(self, state: PerformerState) -> tuple[str, tuple[PlanSegment, ...]]:
        """The steady motion that a state is in, or is going to: its label and segments."""
        source = state.main_source
        names = [s.label for s in source.plan if isinstance(s, EnterMotion | ReturnMotion | CrossBridge)]
        label, last = (names or [source.label])[-1], source.plan[-1]
        if isinstance(last, ChooseBranch):
            return label, (HoldSegment(last.points[0], last.radius, 1), last)
        if isinstance(last, HoldSegment | RideCycle | StillPose | SelfSteppingSegment):
            return label, (last,)
        return label, (self.steady_segment(label),)

    def find_change(
        self, state: PerformerState, label: str, segment: PlanSegment, limits: ChangeLimits
    ) -> tuple[Change, EntryPoints]:
        """How to enter a steady segment."""
        if isinstance(segment, RideCycle):
            entries = self.entries.of_cycle(self.cycle(segment.clip), segment.speed)
        elif isinstance(segment, HoldSegment):
            entries = self.entries.of_pose(self.runtimes[label].space.features_of(segment.point[None])[0])
        elif isinstance(segment, StillPose):
            entries = self.entries.of_pose(segment.features)
        else:
            assert isinstance(segment, SelfSteppingSegment)
            entries = self.entries.of_pose(segment.enter(self, state.main_source, state).features)
        return self._search(state, entries, limits), entries

    def plan_return(self, state: PerformerState, urgency: float = DEFAULT_URGENCY) -> PerformerState:
        """The state whose act is left for the motion after it, at the best moment from now to the act's end."""
        source = state.main_source
        replay, following, segment = source.plan[0], source.plan[1], source.plan[2]
        assert isinstance(replay, ReplayClip) and isinstance(following, ReturnMotion)
        left = (len(replay.features) - 1 - source.cursor) / self.rate
        limits = replace(ChangeLimits.of_urgency(urgency), longest_wait=left)
        if isinstance(segment, RideCycle) and segment.clip == replay.clip:
            change = self._continue_cycle(state, segment)
        else:
            change, _ = self.find_change(state, following.label, segment, limits)
        phase = self._entry_phase(segment, change)
        entering = self._enter(state, following.label, change, phase)[-1:]
        plan = (replay, *entering, *source.plan[2:])
        return replace(state, sources=(replace(source, plan=plan), *state.sources[1:]))

    def _continue_cycle(self, state: PerformerState, segment: RideCycle) -> Change:
        """Ride on where the replay of the same clip is: at the frame that is most like it, by pose and velocity."""
        looks, motion = self.entries.looks, self.entries.of_cycle(self.cycle(segment.clip), segment.speed).motion
        pose, rate = looks.of(state.features), looks.rates_of(state.rate)
        steps = motion.steps[motion.entries] * looks.rate
        away = np.square(motion.looks[motion.entries] - pose).sum(axis=1)
        away += MIN_BLEND_SECONDS**2 * np.square(steps - rate).sum(axis=1)
        return Change(int(motion.entries[away.argmin()]), 0.0, MIN_BLEND_SECONDS, 0.0, MIN_BLEND_SECONDS)

    def _search(self, state: PerformerState, entries: EntryPoints, limits: ChangeLimits) -> Change:
        poses, rates, waits, own, left = self._departures(state, limits.longest_wait)
        looks = self.entries.looks
        found = find_changes(looks, looks.of(poses), looks.rates_of(rates), waits, own, entries.motion, limits)
        if self.judge is None:
            return found[0]
        return self.judge.choose(found, poses, rates, left, entries, limits)

    @cached_property
    def judge(self) -> JointJudge | None:
        """Judges changes by joints; None for rigs of other controls."""
        return JointJudge(self.rig, self.model) if isinstance(self.rig, DirectRig) else None

    def _departures(self, state: PerformerState, longest: float) -> tuple[Array, Array, Array, float, Array | None]:
        """Features and rates (S, E) that a state will show, (S,) seconds from now, its own acceleration and motion."""
        source = state.main_source
        segment, ahead, own, left = source.current_segment, np.zeros(0), 0.0, None
        alone = all(other.mask is not None for other in state.sources[1:])
        waits = longest * np.arange(1, DEPARTURES) / (DEPARTURES - 1) if longest > 0 and alone else np.zeros(0)
        if isinstance(segment, RideCycle) and isinstance(source.memory, CycleState):
            cycle = self.cycle(segment.clip)
            entries = self.entries.of_cycle(cycle, segment.speed)
            own, left = entries.motion.own_acceleration, entries.pieces[0]
            step = segment.speed * cycle.speed / cycle.period
            at = source.memory.phase + step * np.concatenate([waits, waits - 1 / self.rate])
            ahead = cycle.features_at(at) + source.memory.deviation
        elif isinstance(segment, ReplayClip):
            frames = np.concatenate([waits, waits - 1 / self.rate]) * self.rate + source.cursor
            ahead = segment.features[np.clip(np.round(frames).astype(int), 0, len(segment.features) - 1)]
            own, left = self.entries.own_acceleration(segment.clip), self.entries.clip_frames(segment.clip)
        else:
            waits = np.zeros(0)
        poses, rates = state.features[None], state.rate[None]
        if len(waits):
            then, before = np.split(np.asarray(ahead, np.float64), 2)
            if state.blend is not None:
                age = (state.frame - state.blend.start) / self.rate + waits[:, None]
                then = then + springs.evaluate(state.blend.decay, age)
                before = before + springs.evaluate(state.blend.decay, age - 1 / self.rate)
            poses, rates = np.concatenate([poses, then]), np.concatenate([rates, (then - before) * self.rate])
        return poses, rates, np.concatenate([[0.0], waits]), own, left

    def _enter(self, state: PerformerState, label: str, change: Change, phase: float = 0.0) -> tuple[PlanSegment, ...]:
        """The motion before, where the change waits, and the entry."""
        wait = round(change.wait * self.rate)
        now = state.main_source.plan[:1] if wait else ()
        return *now, EnterMotion(label, change.seconds, state.frame + wait, phase)

    def _entry_phase(self, segment: PlanSegment, change: Change) -> float:
        if not isinstance(segment, RideCycle):
            return 0.0
        cycle = self.cycle(segment.clip)
        return change.frame * segment.speed * cycle.speed / (cycle.period * self.model.rate)

    def _enter_replay(
        self,
        state: PerformerState,
        label: str,
        replay: ReplayClip,
        entries: EntryPoints,
        limits: ChangeLimits,
        following: tuple[PlanSegment, ...],
    ) -> tuple[tuple[PlanSegment, ...], float | None]:
        """Enter frames of a clip, then go on with the segments that follow."""
        change = self._next_beginning(state, replay.clip, limits) or self._search(state, entries, limits)
        _, frame = entries.locate(change.frame)
        first = min(round(frame * self.pace), len(replay.features) - 2)
        replay = replace(
            replay,
            latents=replay.latents[first:],
            features=replay.features[first:],
            leave=max(replay.leave - first, 0),
        )
        return (*self._enter(state, label, change), replay, *following), None

    def _next_beginning(self, state: PerformerState, clip: str, limits: ChangeLimits) -> Change | None:
        """A clip that is ridden as a cycle is played from where the cycle comes by its beginning, if there is time.

        What differs then is the cycle's variation, which is small: it fades at once.
        """
        source = state.main_source
        segment = source.current_segment
        if not isinstance(segment, RideCycle) or not isinstance(source.memory, CycleState) or limits.longest_wait <= 0:
            return None
        if segment.clip != clip:
            return None
        cycle = self.cycle(clip)
        period = cycle.period / (segment.speed * cycle.speed)
        wait = (1.0 - source.memory.phase % 1.0) * period
        if wait > MAX_BEGINNING_WAITS * limits.longest_wait:
            return None
        return Change(0, wait, MIN_BLEND_SECONDS, 0.0, wait + MIN_BLEND_SECONDS)

    def _enter_hover(
        self, state: PerformerState, label: str, limits: ChangeLimits
    ) -> tuple[tuple[PlanSegment, ...], float | None]:
        """Enter a clip of a label where it shows the label, follow it to its next rest, and hover there."""
        space, entries = self.model.space(label), self.entries.of_label(label)
        change = self._search(state, entries, limits)
        name, frame = entries.locate(change.frame)
        clip = space.segment(name)
        assert clip is not None
        rest = int(self.entries.rests(label)[clip.start + frame])
        last = rest - clip.start if rest >= 0 else len(clip) - 1
        piece = Behaviour(HOVER, start=frame / space.rate, stop=last / space.rate)
        segments: tuple[PlanSegment, ...] = (self.hold(label, space.latents[clip.start + last]),)
        if last > frame:
            replay = replace(self._replay(space, clip, piece, 1.0), as_made=False)
            segments = (replay, EnterMotion(label, None), *segments)
        return (*self._enter(state, label, change), *segments), change.wait + change.seconds

    def _replay(self, space: PoseSpace, clip: Segment, behaviour: Behaviour, speed: float) -> ReplayClip:
        """The frames of a clip's range at the performer's rate."""
        times = clip_times(space, clip, behaviour, speed, self.rate)
        # only the frames that are shown, with two more on either side for the cubic
        first = max(int(times[0] * space.rate) - 2, 0)
        frames = slice(clip.start + first, min(clip.start + int(times[-1] * space.rate) + 4, clip.stop))
        times = times - first / space.rate
        latents = resample.sample(space.latents[frames], space.rate, times, "cubic")
        features = resample.sample(space.features[frames], space.rate, times, "cubic")
        leave = max(1, len(times) - 1 - round(ACT_ENTRY_SHARE * len(times)))
        return ReplayClip(clip.clip, latents, features, leave)

    def _after_act(self, state: PerformerState, replay: ReplayClip, behaviour: Behaviour) -> tuple[PlanSegment, ...]:
        """What follows an act: its last pose, the label that it returns to, or the motion before it.

        An act never returns to the last pose of another, as a death: the calmest motion follows.
        """
        if behaviour.stays:
            return (StillPose(np.asarray(replay.features[-1], np.float64), replay.latents[-1]),)
        if behaviour.returns and behaviour.returns in self.model.spaces:
            return ReturnMotion(behaviour.returns), self.steady_segment(behaviour.returns)
        label, segments = self.steady_tail(state)
        if self.behaviour(label)[1].stays and self.calm_label:
            label, segments = self.calm_label, (self.steady_segment(self.calm_label),)
        return ReturnMotion(label), *segments

    @cached_property
    def calm_label(self) -> str:
        """The cycle or hover whose clip changes most slowly, those with the name of an idle first; "" without any."""
        paces = {}
        for label in self.model.labels:
            clip, behaviour = self.behaviour(label)
            if behaviour.kind in (CYCLE, HOVER):
                rows = self.model.space(label).features[clip.start : clip.stop].astype(np.float64)
                pace = float(self.model.difference(rows[1:], rows[:-1]).mean())
                paces[label] = (IDLE_NAME.search(label) is None, pace)
        return min(paces, key=lambda label: paces[label], default="")

    def _go_to(
        self,
        state: PerformerState,
        goal: str,
        target: Array,
        path: str,
        seconds: float | None,
        limits: ChangeLimits | None = None,
    ) -> tuple[tuple[PlanSegment, ...], float | None]:
        """Go to a latent of a label and hover there: within a label over its poses, else directly.

        A path over bridges is taken where every label on it is hovered in.
        """
        source, hold = state.main_source, self.hold(goal, target)
        by_path = source.label == goal or limits is None
        if by_path and all(self.behaviour(name)[1].kind == HOVER for name in self.routes.labels(source.label, goal)):
            way = self.routes.plan(source.label, source.x, goal, target, path, seconds)
            steady = isinstance(source.current_segment, FollowPath | HoldSegment)
            return (*(() if steady else (EnterMotion(source.label, None),)), *way, hold), None
        change, _ = self.find_change(state, goal, hold, limits or ChangeLimits.of_urgency(DEFAULT_URGENCY, seconds))
        return (*self._enter(state, goal, change), hold), change.wait + change.seconds

    def hold(self, label: str, point: Array, radius: float | None = None, frames: int | None = None) -> HoldSegment:
        """A segment that stays near a point, by default within the label's idle radius."""
        return HoldSegment(point, self.runtimes[label].hover_radius if radius is None else radius, frames)

    def _idle(self, command: Idle, state: PerformerState) -> tuple[tuple[PlanSegment, ...], float | None]:
        source = state.main_source
        goal = command.label or (self.label_of(command.poses[0], source.label) if command.poses else source.label)
        points = [self.latent(goal, pose) for pose in command.poses]
        runtime = self.runtimes[goal]
        radius = runtime.hover_radius if command.radius is None else command.radius
        if not points:
            hovers = self.behaviour(goal)[1].kind == HOVER and goal == source.label
            if not hovers or isinstance(source.current_segment, ReplayClip):
                segments, seconds = self._idle_in_label(command, state, goal)
                if command.radius is not None and isinstance(segments[-1], HoldSegment):
                    segments = (*segments[:-1], replace(segments[-1], radius=radius))
                return segments, seconds
            points = [source.x]
        first = points[0]
        near = goal == source.label and np.linalg.norm(first - source.x) <= radius
        way: tuple[PlanSegment, ...] = ()
        if not near or not isinstance(source.current_segment, FollowPath | HoldSegment):
            way = self._go_to(state, goal, first, "graph", None)[0][:-1]
        if len(points) == 1:
            return (*way, HoldSegment(first, radius)), None
        hold = HoldSegment(first, radius, self.frames(command.hover) if command.hover else 1)
        return (*way, hold, ChooseBranch(np.array(points), radius, command.hover)), None

    def _idle_in_label(
        self, command: Idle, state: PerformerState, goal: str
    ) -> tuple[tuple[PlanSegment, ...], float | None]:
        """Do what a label does; without a label, leave an act for the motion before it."""
        limits = ChangeLimits.of_urgency(DEFAULT_URGENCY)
        if command.label is not None:
            return self.change_to_label(state, goal, limits)
        label, segments = self.steady_tail(state)
        change, _ = self.find_change(state, label, segments[0], replace(limits, longest_wait=0.0))
        entering = self._enter(state, label, change, self._entry_phase(segments[0], change))
        return (*entering, *segments), change.wait + change.seconds

    def _play(self, command: PlayClip, state: PerformerState) -> tuple[tuple[PlanSegment, ...], float | None]:
        """Play a clip once and return, or again and again."""
        goal, clip = self.model.clip(command.clip)
        space, behaviour = self.model.space(goal), self.model.behaviours.get(clip.clip) or Behaviour(HOVER)
        last = (len(clip) - 1) / space.rate
        start, stop = command.start or 0.0, last if command.stop is None else command.stop
        if stop > last + 0.5 / space.rate or start > last:
            raise InvalidInput(f"clip {clip.clip!r} lasts {last:g} s, but {start:g} to {stop:g} s is asked for")
        whole = command.start is None and command.stop is None
        limits = ChangeLimits.of_urgency(command.urgency)
        speed = command.speed * (behaviour.speed if whole else 1.0)
        if command.loop and whole and behaviour.kind == CYCLE:
            segment = RideCycle(clip.clip, command.speed, exact=True)
            change, _ = self.find_change(state, goal, segment, limits)
            return (*self._enter(state, goal, change, self._entry_phase(segment, change)), segment), None
        piece = behaviour if whole else replace(behaviour, start=start, stop=stop)
        replay = replace(self._replay(space, clip, piece, speed), loop=command.loop)
        entries = self.entries.of_clip(clip, piece, speed, joins=whole and behaviour.kind == ACT)
        following: tuple[PlanSegment, ...] = (EnterMotion(goal, None), self.hold(goal, replay.latents[-1]))
        if behaviour.kind != HOVER:
            following = self._after_act(state, replay, behaviour)
        return self._enter_replay(state, goal, replay, entries, limits, following)

    def plan_for_joints(self, command: Transition | PlayClip) -> tuple[str, tuple[PlanSegment, ...]]:
        """The label and the segments of a command that some joints do alone: to the end, or until the next one."""
        if isinstance(command, PlayClip):
            label, clip = self.model.clip(command.clip)
            behaviour, speed = self.model.behaviours.get(clip.clip) or Behaviour(HOVER), command.speed
            if command.loop:
                return label, (RideCycle(clip.clip, speed, exact=True),)
            last = (len(clip) - 1) / self.model.rate
            start, stop = command.start or behaviour.start, behaviour.stop if command.stop is None else command.stop
            if start > last or (stop is not None and stop > last + 0.5 / self.model.rate):
                raise InvalidInput(f"clip {clip.clip!r} lasts {last:g} s, which is not what is asked for")
            behaviour = replace(behaviour, start=start, stop=stop)
        else:
            label = self.model.space(command.label).label
            clip, behaviour = self.behaviour(label)
            speed = behaviour.speed
            if behaviour.kind != ACT:
                segment = self.steady_segment(label)
                if command.pose is not None:
                    segment = self.hold(label, self.latent(label, command.pose))
                return label, (segment,)
        replay = self._replay(self.model.space(label), clip, behaviour, speed)
        return label, (replay, StillPose(np.asarray(replay.features[-1], np.float64), replay.latents[-1]))

    def _mix(self, command: Mix, state: PerformerState) -> tuple[tuple[PlanSegment, ...], float | None]:
        """Change to one of the labels, where it is not shown yet, and join the others."""
        poses: tuple[str | None, ...] = command.poses or (None,) * len(command.labels)
        segments: list[SteadySegment] = [
            self.steady_segment(self.model.space(label).label)
            if pose is None
            else self.hold(label, self.latent(label, pose))
            for label, pose in zip(command.labels, poses)
        ]
        segments = self._lock_phases(segments, command.shares)
        main = command.labels.index(state.label) if state.label in command.labels else int(np.argmax(command.shares))
        label, segment = command.labels[main], segments[main]
        joins = [
            JoinSource(name, other, share)
            for number, (name, other, share) in enumerate(zip(command.labels, segments, command.shares))
            if number != main
        ]
        limits = ChangeLimits.of_urgency(DEFAULT_URGENCY)
        change, _ = self.find_change(state, label, segment, replace(limits, longest_wait=0.0))
        entering = self._enter(state, label, change, self._entry_phase(segment, change))
        return (*entering, *joins, segment), None

    def _lock_phases(self, segments: list[SteadySegment], shares: Sequence[float]) -> list[SteadySegment]:
        """Cycles that are mixed have one period, by their shares."""
        rides = [(s, share) for s, share in zip(segments, shares) if isinstance(s, RideCycle)]
        if len(rides) < 2:
            return segments
        speeds = {ride.clip: self.cycle(ride.clip).speed / self.cycle(ride.clip).period for ride, _ in rides}
        total = max(sum(share for _, share in rides), 1e-9)
        common = sum(share * speeds[ride.clip] for ride, share in rides) / total
        return [replace(s, speed=common / speeds[s.clip]) if isinstance(s, RideCycle) else s for s in segments]
