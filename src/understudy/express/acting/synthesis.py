"""Recovery: the way to given nodes without any noise, by the paper's four steps alone [Serra 2018, section 5.1].

This is what the error of a graph is measured on: a take goes in, its peak's nodes are asked for, and what comes out is
compared with the take.

Synthesis: labels in, a performance out [Serra 2018, section 5].

Each cue is a leg: every region goes from where it is to a peak of the label. Legs follow each other on one clock, with
a hold at each apex in which the face relaxes a little, as a face does that is not frozen. A cue of several labels is
acted by as many tracks at once, whose displacements are added with the cue's shares.

Walk: which nodes a list of labels passes, for pictures of a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.acting import cues as cue_reading
from understudy.express.acting import life
from understudy.express.acting.cues import Asked, Cue, ExpressionTake
from understudy.express.acting.graph_paths import GraphActor, prepare_actor
from understudy.express.acting.smoothing import clamp_to_range, limit_speed, smooth_curves
from understudy.express.acting.timing import (
    PathNoise,
    expand_path,
    natural_length,
    normalise_time,
    sample_poses,
    stretch_time,
)
from understudy.express.acting.transition import MAX_LATE_HOLD_SHARE, LabelTransition, TransitionStyle, plan_transition
from understudy.express.graph.face_graph import FaceGraph
from understudy.maths import jit

HOLD_RELAXATION_RATIO = 0.06  # of the displacement, over a hold; more reads as the end of the expression
MAX_RANGE_EXCESS_RATIO = 0.05  # outside of the data's range that an intensity above 1 may lead


def recover_take(
    graph: FaceGraph, sinks: Array, sources: Array | None = None, *, smoothing: float = 0.5, frames: int | None = None
) -> Array:
    """(F, L, D) displacements from the nodes `sources` (R,), neutral by default, to `sinks` (R,).

    F is the longest of the regions' own durations, or `frames` where given.
    """
    actor = prepare_actor(graph)
    starts = np.zeros(len(sinks), np.int64) if sources is None else sources
    motions = []
    for routes, source, sink in zip(actor.routes, starts, sinks):
        region, path = routes.region, routes.path(int(source), int(sink))
        poses = expand_path(region.displacements[path], region.velocities[path], region.runs[path])  # step 1
        length = max(round(natural_length(region, path)) + 1, 2) if frames is None else frames
        motions.append(stretch_time(poses, length))  # step 2
    motions = normalise_time(motions)  # step 3
    points = np.zeros((len(motions[0]), *graph.base.shape))
    for routes, motion in zip(actor.routes, motions):
        points[:, routes.region.members] = motion
    bounds = np.array([0, len(points) - 1])
    flat = smooth_curves(points.reshape(len(points), -1), bounds, graph.rate, smoothing)  # step 4
    return flat.reshape(points.shape)


class ActSettings(NamedTuple):
    """The dials of a performance; `act` says what they do."""

    coupling: float | None = 0.5
    smoothing: float = 0.5
    path_noise: tuple[float, int] = (0.2, 1)
    length_noise: float = 1.0
    intensity: float = 1.0
    hold: float = 0.4
    back: bool = True
    life: float = 1.0
    pace: float = 1.0
    direct: float = 0.6
    rate: float | None = None

    def validate(self) -> ActSettings:
        """The same, or a sentence that says which is out of its range."""
        ranges = {
            "coupling": (self.coupling, 0.0, 1.0),
            "smoothing": (self.smoothing, 0.0, 1.0),
            "length_noise": (self.length_noise, 0.0, 5.0),
            "intensity": (self.intensity, 0.0, 2.0),
            "hold": (self.hold, 0.0, 60.0),
            "life": (self.life, 0.0, 2.0),
            "pace": (self.pace, 0.1, 5.0),
            "direct": (self.direct, 0.0, 1.0),
            "rate": (self.rate, 1.0, 1000.0),
        }
        for name, (value, low, high) in ranges.items():
            if value is not None and not low <= value <= high:
                raise InvalidInput(f"{name} should be from {low:g} to {high:g}, but is {value:g}")
        return self._replace(path_noise=PathNoise.from_argument(self.path_noise))


def act(
    graph: FaceGraph,
    labels: Sequence[Asked] | Asked,
    *,
    seed: int | Sequence[int] = 0,
    coupling: float | None = 0.5,
    smoothing: float = 0.5,
    path_noise: tuple[float, int] = (0.2, 1),
    length_noise: float = 1.0,
    intensity: float = 1.0,
    hold: float = 0.4,
    back: bool = True,
    life: float = 1.0,
    pace: float = 1.0,
    direct: float = 0.6,
    rate: float | None = None,
) -> ExpressionTake:
    """Act labels one after the other, from neutral; the same seed gives the same performance.

    `labels` as in `cues`: "fear", {"fear": 0.5}, {"fear": 0.5, "surprise": 0.5}. `coupling` goes from regions that go
    their own ways (0) to regions that move as in one take (1); None is the paper's: their own ways, stretched to the
    longest. `smoothing` goes from the raw motion (0) to sigmoids (1). `path_noise` is the share of nodes that give way
    to neighbours and how many edges away those may lie; `length_noise` scales the deviation of durations. `intensity`
    scales everything, `hold` is the usual rest at an apex in seconds, `back` says whether the face ends in neutral.
    `life` scales blinks, gaze and head. `pace` 2 is twice as quick, as far as the data's greatest speed allows.
    `direct` goes from the graph's own way between two peaks (0), which often empties the face, to a straight one (1).
    `rate` is in frames a second, the graph's own by default.
    """
    settings = ActSettings(
        coupling, smoothing, path_noise, length_noise, intensity, hold, back, life, pace, direct, rate
    ).validate()
    return perform_cues(prepare_actor(graph), cue_reading.read(graph, labels), settings, seed)


def perform_cues(
    actor: GraphActor, cues: Sequence[Cue], settings: ActSettings, seed: int | Sequence[int]
) -> ExpressionTake:
    """As `act`, with everything checked and read."""
    rng = np.random.default_rng(seed)
    plan = [*cues, Cue((), ())] if settings.back and cues[-1].labels else list(cues)
    tracks = max(1, *(len(cue.labels) for cue in plan))
    noise = PathNoise(*settings.path_noise)
    style = TransitionStyle(
        settings.coupling, noise, settings.length_noise, settings.hold, settings.pace, settings.direct
    )
    count = len(actor.routes)
    here = [np.zeros(count, np.int64)] * tracks
    before: list[int | None] = [None] * tracks
    legs: list[list[LabelTransition]] = []
    for cue in plan:
        rest = style._replace(hold=style.hold * float(np.exp(0.3 * rng.standard_normal())))
        found = []
        for k in range(tracks):
            label = cue.labels[min(k, len(cue.labels) - 1)] if cue.labels else None
            found.append(plan_transition(actor, here[k], label, before[k], rest, rng))
            here[k], before[k] = found[-1].sinks, found[-1].take
        legs.append(_merge_tracks(found, settings.coupling))
    return assemble_takes(actor, plan, legs, settings, rng, len(cues))


def assemble_takes(
    actor: GraphActor,
    plan: Sequence[Cue],
    legs: list[list[LabelTransition]],
    settings: ActSettings,
    rng: np.random.Generator,
    asked: int,
) -> ExpressionTake:
    """The performance of legs, each of one or several tracks, smoothed and within the limits of the data."""
    graph = actor.graph
    rate = settings.rate or graph.rate
    starts = np.concatenate([[0.0], np.cumsum([tracks[0].seconds + tracks[0].hold for tracks in legs])])
    frames = max(int(np.ceil(starts[-1] * rate - 1e-9)) + 1, 2)
    times = np.arange(frames) / rate
    shares = _shares(plan, legs, starts, times, settings.intensity)
    displacements = np.zeros((frames, *graph.base.shape))
    for number, tracks in enumerate(legs):
        inside = _frames_of(starts, number, rate, frames)
        for k, each in enumerate(tracks):
            _add(actor, each, times[inside] - starts[number], shares[inside, k], displacements[inside])
    bounds = np.minimum(np.rint(starts * rate).astype(np.int64), frames - 1)
    bounds[-1] = frames - 1
    flat = smooth_curves(displacements.reshape(frames, -1), bounds, rate, settings.smoothing)
    displacements = flat.reshape(displacements.shape)
    lowest, highest, fastest = actor.limits
    if settings.intensity > 1.0:
        margin = MAX_RANGE_EXCESS_RATIO * (highest - lowest)
        lowest, highest = lowest - margin, highest + margin
    displacements = clamp_to_range(displacements, lowest, highest)
    members = [region.members for region in graph.regions]
    displacements, places = limit_speed(displacements, members, fastest / rate)
    arrived = [
        max(each.seconds, *(float(track.ends.max()) for track in tracks)) for tracks in legs for each in tracks[:1]
    ]
    peaks = np.rint((starts[:-1] + arrived) * rate).astype(np.int64)[:asked]  # an apex is where the last region arrives
    moved = np.rint(places).astype(np.int64)
    peaks, bounds = moved[np.minimum(peaks, frames - 1)], moved[bounds]
    alive = life.head_and_gaze(plan[:asked], peaks, bounds, len(displacements), rate, settings.life, rng)
    return ExpressionTake(
        graph.base + displacements,
        rate,
        graph.names,
        tuple(cue.text for cue in plan[:asked]),
        peaks,
        bounds,
        np.array(graph.base),
        *alive,
    )


def _frames_of(starts: Array, number: int, rate: float, frames: int) -> slice:
    """The frames at or after the start of a leg and before the next, and all that are left for the last."""
    first = int(np.ceil(starts[number] * rate - 1e-9))
    last = frames if number + 2 == len(starts) else int(np.ceil(starts[number + 1] * rate - 1e-9))
    return slice(first, last)


def _merge_tracks(tracks: list[LabelTransition], coupling: float | None) -> list[LabelTransition]:
    """Legs of several tracks at once, on the clock of the longest; regions that go their own ways keep their times."""
    seconds, hold = max(each.seconds for each in tracks), tracks[0].hold
    found = []
    for each in tracks:
        factor = 1.0 if coupling == 0.0 else seconds / each.seconds
        begins, ends = each.begins * factor, np.minimum(each.ends * factor, seconds + MAX_LATE_HOLD_SHARE * hold)
        found.append(each._replace(seconds=seconds, hold=hold, begins=begins, ends=ends))
    return found


def _add(actor: GraphActor, each: LabelTransition, times: Array, weights: Array, out: Array) -> None:
    """Add a leg's poses at `times` (F,) seconds from its start, times `weights` (F,), to `out` (F, L, D)."""
    kernels = jit.kernels("understudy.express.acting.acting_kernels")
    for r, poses in enumerate(each.poses):
        members = actor.flat[r][3]
        at = (times - each.begins[r]) * ((len(poses) - 1) / max(each.ends[r] - each.begins[r], 1e-9))
        if kernels is not None:
            kernels.add_sampled(poses, at, weights, members, out.shape[2], out)
        else:
            out[:, members] += weights[:, None, None] * sample_poses(poses, at).reshape(len(at), len(members), -1)


def _shares(
    plan: Sequence[Cue], legs: list[list[LabelTransition]], starts: Array, times: Array, intensity: float
) -> Array:
    """(F, K) how much of each track is shown: reached at an apex, a little less at the end of its hold."""
    count = len(legs[0])
    knots, values = [0.0], [np.zeros(count)]
    last = np.zeros(count)
    last[0] = 1.0
    for cue, tracks, start in zip(plan, legs, starts):
        if cue.labels:
            last = np.array([*cue.shares, *[0.0] * (count - len(cue.shares))])
        for time, value in ((start + tracks[0].seconds, last), (start + tracks[0].seconds + tracks[0].hold, last)):
            knots.append(time)
            values.append(
                value * (1.0 - HOLD_RELAXATION_RATIO) if len(values) % 2 == 0 and tracks[0].hold > 0 else value
            )
    values[0] = values[1]
    at = np.searchsorted(knots, times, side="right").clip(1, len(knots) - 1)
    left, right = np.array(knots)[at - 1], np.array(knots)[at]
    u = np.clip((times - left) / np.maximum(right - left, 1e-9), 0.0, 1.0)
    u = (u * u * (3.0 - 2.0 * u))[:, None]
    stacked = np.array(values)
    result: Array = intensity * ((1.0 - u) * stacked[at - 1] + u * stacked[at])
    return result


def nodes_of_walk(
    graph: FaceGraph, labels: Sequence[Asked], *, seed: int = 0, coupling: float = 0.5
) -> dict[str, Array]:
    """Region -> (n,) the nodes from neutral over a peak of each label, without noise; one label at a time."""
    actor, rng = prepare_actor(graph), np.random.default_rng(seed)
    here = np.zeros(len(actor.routes), np.int64)
    nodes: list[list[int]] = [[0] for _ in actor.routes]
    for cue in cue_reading.read(graph, labels):
        if len(cue.labels) > 1:
            raise InvalidInput(f"a walk goes to one label at a time, but {cue.text!r} are several")
        label = cue.labels[0] if cue.labels else None
        sinks = actor.sinks(label, actor.take(label, rng), coupling, here, rng)
        for routes, way, source, sink in zip(actor.routes, nodes, here.tolist(), sinks.tolist()):
            way += routes.path(source, sink)[1:].tolist()
        here = sinks
    return {routes.region.name: np.array(way) for routes, way in zip(actor.routes, nodes)}
