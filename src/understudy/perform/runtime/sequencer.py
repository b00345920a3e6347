"""Sequencer: everything that happens between two frames.

A segment is over, a motion is entered, an act is left, a bridge is crossed, a second source fades in. At any switch the
shown pose and its velocity are continuous: the new motion is shown at once, and the difference to the old one decays
(`changes`). The paper blends the poses of two idling particles instead [Bailey 2016, section 5.3], which needs the
motion to come to rest; this does not, so a command may come at any moment.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.checks import Array
from understudy.maths import springs
from understudy.perform.commands import DEFAULT_URGENCY
from understudy.perform.runtime.changes import ChangeLimits, blend_seconds
from understudy.perform.runtime.cycles import CycleState, enter_cycle
from understudy.perform.runtime.planner import Planner
from understudy.perform.runtime.state import (
    ACT_END_EVENT,
    BRIDGE_EVENT,
    ENTER_EVENT,
    Blend,
    BlendSource,
    ChooseBranch,
    CrossBridge,
    EnterMotion,
    FollowPath,
    HoldSegment,
    JoinSource,
    PerformanceEvent,
    PerformerState,
    PlanSegment,
    ReplayClip,
    ReturnMotion,
    RideCycle,
    SelfSteppingSegment,
    StillPose,
    mix_sources,
)

SAME_BRIDGE_RADII = 1.0  # idle radii from the end of the bridge within which a better match is still the same bridge


def resolve_segments(planner: Planner, state: PerformerState) -> PerformerState:
    """The state after all segments that take no time, ready for the next frame."""
    if state.event:
        state = replace(state, event=tuple(event for event in state.event if event.frame == state.frame))
    if len(state.sources) > 1:
        state = _drop_faded_sources(planner, state)
    while True:
        source = state.main_source
        segment, following = source.plan[0], source.plan[1] if len(source.plan) > 1 else None
        if isinstance(segment, EnterMotion):
            state = _enter(planner, state, segment)
        elif isinstance(segment, CrossBridge):
            state = _cross(planner, state, segment)
        elif isinstance(segment, ChooseBranch):
            state = _choose(planner, state, segment)
        elif isinstance(segment, JoinSource):
            state = _join(planner, state, segment)
        elif isinstance(following, EnterMotion) and following.frame and state.frame >= following.frame:
            state = _drop_segment(state)
        elif isinstance(segment, ReplayClip) and isinstance(following, ReturnMotion) and not segment.loop:
            if source.cursor < segment.leave:
                return state
            state = planner.plan_return(state)
        elif source.is_segment_over:
            state = _next_segment(planner, state, segment)
        else:
            return state


def _drop_faded_sources(planner: Planner, state: PerformerState) -> PerformerState:
    """The state without sources that have faded out; a masked act fades out towards its end."""
    others, event = [], state.event
    for source in state.sources[1:]:
        segment = source.current_segment
        if source.mask is not None and source.weight_to > 0 and isinstance(segment, ReplayClip):
            left = len(segment.features) - 1 - source.cursor
            if left <= source.fade * planner.rate:
                source = source.fade_to(0.0, state.frame, planner.rate, max(left, 1) / planner.rate)
                event = (*event, PerformanceEvent(state.frame, ACT_END_EVENT, source.label, clip=segment.clip))
        if not source.has_faded_out(state.frame, planner.rate):
            others.append(source)
    return replace(state, sources=(state.main_source, *others), event=event)


def _next_segment(planner: Planner, state: PerformerState, segment: PlanSegment) -> PerformerState:
    """The state after a segment that is over; a loop begins again."""
    if not isinstance(segment, ReplayClip) or not segment.loop:
        return _drop_segment(state)
    plan = (EnterMotion(state.label, None), *state.main_source.plan)
    return replace(state, sources=(replace(state.main_source, plan=plan, cursor=0), *state.sources[1:]))


def _drop_segment(state: PerformerState) -> PerformerState:
    """The state without its first segment; an act that ends is an event."""
    segment = state.main_source.current_segment
    source = replace(state.main_source, plan=state.main_source.plan[1:], cursor=0)
    event = state.event
    if isinstance(segment, ReplayClip) and segment.as_made:
        event = (*event, PerformanceEvent(state.frame, ACT_END_EVENT, state.label, clip=segment.clip))
    return replace(state, sources=(source, *state.sources[1:]), event=event)


def _enter(planner: Planner, state: PerformerState, entry: EnterMotion) -> PerformerState:
    """Begin with the segment that follows the entry."""
    state = _drop_segment(state)
    rest = state.main_source.plan
    joins = tuple(segment for segment in rest if isinstance(segment, JoinSource))
    segment = next(segment for segment in rest if not isinstance(segment, JoinSource))
    source = begin_segment(planner, state, state.main_source, entry.label, segment, entry.phase)
    plan = (*joins, *(other for other in rest if not isinstance(other, JoinSource)))
    state = replace(state, sources=(replace(source, plan=plan), *state.sources[1:]))
    features, _ = mix_sources(state.sources, state.frame, planner.rate)
    gap = float(planner.model.distance(state.features, features))
    clip = getattr(segment, "clip", "")
    event = PerformanceEvent(state.frame, ENTER_EVENT, entry.label, gap, clip)
    return replace(inertialise(planner, state, entry.seconds), event=(*state.event, event))


def begin_segment(
    planner: Planner, state: PerformerState, source: BlendSource, label: str, segment: PlanSegment, phase: float = 0.0
) -> BlendSource:
    """The source at the beginning of a segment, with the pose and the rate that it has there by itself."""
    started = replace(source, label=label, cursor=0, memory=None)
    if isinstance(segment, RideCycle):
        return enter_cycle(started, planner.cycle(segment.clip), segment, phase, planner.rate)
    if isinstance(segment, ReplayClip):
        first, second = segment.features[0], segment.features[min(1, len(segment.features) - 1)]
        velocity = np.zeros_like(source.velocity)
        return replace(
            started, x=segment.latents[0], velocity=velocity, features=first, rate=(second - first) * planner.rate
        )
    if isinstance(segment, StillPose):
        still = np.zeros_like(segment.features)
        velocity = np.zeros_like(segment.latent)
        return replace(started, x=segment.latent, velocity=velocity, features=segment.features, rate=still)
    if isinstance(segment, SelfSteppingSegment):
        return segment.enter(planner, started, state)
    runtime = planner.runtimes[label]
    x, velocity = source.x, np.zeros_like(source.velocity)
    if isinstance(segment, HoldSegment):
        near = label == source.label and np.linalg.norm(x - segment.point) <= segment.radius
        x = x if near else segment.point
    elif isinstance(segment, FollowPath):
        x = segment.points[0]
    if label == source.label:
        velocity = runtime.limit_velocity(runtime.space.latent_velocity_of(x, source.rate))
    features = runtime.space.features_of(x[None])[0]
    rate = runtime.space.velocity_of(x[None], velocity[None])[0]
    return replace(started, x=x, velocity=velocity, features=features, rate=rate)


def _cross(planner: Planner, state: PerformerState, segment: CrossBridge) -> PerformerState:
    """Cross a bridge. The latent beyond is searched once more, for the pose that the source has reached."""
    runtime = planner.runtimes[segment.label]
    matches, _ = runtime.space.latent_of(state.main_source.features[None], segment.latent[None, None])
    near = np.linalg.norm(matches[0] - segment.latent) <= SAME_BRIDGE_RADII * runtime.forces.radius
    x = matches[0] if near else segment.latent
    state = _drop_segment(state)
    source, path = state.main_source, state.main_source.current_segment
    velocity = np.zeros_like(x)
    if isinstance(path, FollowPath):  # the velocity of the way beyond
        velocity = (path.points[1] - path.points[0]) * planner.rate
    features = runtime.space.features_of(x[None])[0]
    rate = runtime.space.velocity_of(x[None], velocity[None])[0]
    source = replace(source, label=segment.label, x=x, velocity=velocity, features=features, rate=rate)
    state = replace(state, sources=(source, *state.sources[1:]))
    mixed, _ = mix_sources(state.sources, state.frame, planner.rate)
    gap = float(planner.model.distance(state.features, mixed))
    event = PerformanceEvent(state.frame, BRIDGE_EVENT, segment.label, gap)
    return replace(inertialise(planner, state), event=(*state.event, event))


def _choose(planner: Planner, state: PerformerState, segment: ChooseBranch) -> PerformerState:
    """Choose another point at random, and a random time to stay there."""
    source, random = state.main_source, state.generator()
    away = np.linalg.norm(segment.points - source.x, axis=1)
    others = np.flatnonzero(away > min(segment.radius, 0.999 * away.max()))
    target = segment.points[random.choice(others if len(others) else len(segment.points))]
    hold = HoldSegment(target, segment.radius, planner.frames(segment.hover * random.uniform(0.6, 1.4)))
    segments = (*planner.routes.plan(source.label, source.x, source.label, target), hold, segment)
    source = replace(source, plan=segments, cursor=0)
    return replace(state, sources=(source, *state.sources[1:]), choices=state.choices + 1)


def _join(planner: Planner, state: PerformerState, join: JoinSource) -> PerformerState:
    """Fade in a second source, a cycle in step with the main one."""
    state = _drop_segment(state)
    frame, rate, main = state.frame, planner.rate, state.main_source
    joined = next((s for s in state.sources[1:] if s.mask is None and s.label == join.label), None)
    if joined is None:
        still = np.zeros_like(main.features)
        joined = BlendSource(join.label, main.x, main.velocity, (), 0, main.features, still, 0.0, 0.0)
        phase = 0.0
        if isinstance(join.segment, RideCycle) and isinstance(main.memory, CycleState):
            ride = next(segment for segment in main.plan if isinstance(segment, RideCycle))
            offset = planner.cycle(ride.clip).align(planner.cycle(join.segment.clip), planner.model.weights)
            phase = main.memory.phase + offset
        joined = begin_segment(planner, state, joined, join.label, join.segment, phase)
    others = tuple(source for source in state.sources[1:] if source is not joined)
    joined = replace(joined.fade_to(join.weight, frame, rate), plan=(join.segment,))
    rest = 1.0 - join.weight - sum(s.weight_to for s in others if s.mask is None)
    return replace(state, sources=(main.fade_to(max(rest, 0.0), frame, rate), joined, *others))


def inertialise(planner: Planner, state: PerformerState, seconds: float | None = None) -> PerformerState:
    """Start a decay of the difference between the shown features and the mixed sources, and of its rate.

    It takes `seconds`, or a time by the size of the difference.
    """
    features, rate = mix_sources(state.sources, state.frame, planner.rate)
    offset, velocity = state.features - features, state.rate - rate
    if seconds is None:
        looks = planner.entries.looks
        change = ChangeLimits.of_urgency(DEFAULT_URGENCY)
        seconds = blend_seconds(looks, looks.rates_of(offset), looks.rates_of(velocity), looks.usual, change)
    decay = springs.init_linear_decay(offset, velocity, seconds)
    return replace(state, blend=Blend(decay, state.frame))


def mask_source(
    planner: Planner, state: PerformerState, segments: tuple[PlanSegment, ...], label: str, mask: Array, seconds: float
) -> PerformerState:
    """The state with a source of its own for some features (E,), which fades in within `seconds`.

    Another one that has the same features fades out.
    """
    main, frame, rate = state.main_source, state.frame, planner.rate
    started = BlendSource(label, main.x, main.velocity, segments, 0, main.features, main.rate, 0.0, 0.0, mask=mask)
    started = begin_segment(planner, state, started, label, segments[0]).fade_to(1.0, frame, rate, seconds)
    others = tuple(
        other.fade_to(0.0, frame, rate, seconds) if other.mask is not None and (other.mask * mask).any() else other
        for other in state.sources[1:]
    )
    return replace(state, sources=(main, *others, started))
