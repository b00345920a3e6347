"""Synthesis: labels in, a performance out [Serra 2018, section 5].

Each cue is a leg: every region goes from its current node to a peak of the label. Legs follow each other in time, with
a hold at each apex in which the face relaxes a little, so that it does not look frozen. A cue of several labels is
acted by as many tracks at once, whose displacements are added with the cue's shares.

`recover_take` goes to given nodes without any noise, by the paper's four steps alone [Serra 2018, section 5.1]. The
error of a graph is measured on it: the nodes of a take's peak go in, and the result is compared with the take.
`nodes_of_walk` lists the nodes that labels pass, for pictures of a graph.

A crowd is many faces from one graph, which share it and its routes. Face i of seed s is what `act` gives for the seed
(s, i), so one face can be made again without the others. Crowds come face by face, or frame by frame for a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.acting import life
from understudy.express.acting.cues import Cue, CueArgument, ExpressionTake, read_cues
from understudy.express.acting.graph_paths import GraphActor, prepare_actor
from understudy.express.acting.timing import (
    PathNoise,
    clamp_to_range,
    expand_path,
    limit_speed,
    natural_length,
    normalise_time,
    smooth_curves,
    stretch_time,
)
from understudy.express.acting.transition import MAX_LATE_HOLD_SHARE, LabelTransition, TransitionStyle, plan_transition
from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.maths import jit
from understudy.maths.resample import smoothstep

HOLD_RELAXATION_RATIO = 0.06  # of the displacement, lost over a hold; more looks like the end of the expression
SPEECH_TAIL_SECONDS = 0.2  # of the last expression after the last sound
MAX_HOLD_SECONDS = 600.0
MAX_RANGE_EXCESS_RATIO = 0.05  # of the data's range: how far outside of it an intensity above 1 may lead


class ActSettings(NamedTuple):
    """The settings of a performance; `act` explains them."""

    coupling: float | None = 0.5
    smoothing: float = 0.5
    path_noise: tuple[float, int] = (0.2, 1)
    length_noise: float = 1.0
    intensity: float = 1.0
    hold: float = 0.2
    back: bool = True
    life: float = 1.0
    pace: float = 1.0
    direct: float = 0.6
    rate: float | None = None

    def validate(self) -> ActSettings:
        """The same settings; InvalidInput names the one that is out of its range."""
        ranges = {
            "coupling": (self.coupling, 0.0, 1.0),
            "smoothing": (self.smoothing, 0.0, 1.0),
            "length_noise": (self.length_noise, 0.0, 5.0),
            "intensity": (self.intensity, 0.0, 2.0),
            "hold": (self.hold, 0.0, MAX_HOLD_SECONDS),
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
    graph: ExpressionGraph,
    labels: Sequence[CueArgument] | CueArgument,
    *,
    seed: int | Sequence[int] = 0,
    coupling: float | None = 0.5,
    smoothing: float = 0.5,
    path_noise: tuple[float, int] = (0.2, 1),
    length_noise: float = 1.0,
    intensity: float = 1.0,
    hold: float = 0.2,
    back: bool = True,
    life: float = 1.0,
    pace: float = 1.0,
    direct: float = 0.6,
    rate: float | None = None,
) -> ExpressionTake:
    """Act labels one after the other, from neutral; the same seed gives the same performance.

    `labels` as in `cues`: "fear", {"fear": 0.5}, {"fear": 0.5, "surprise": 0.5}. `coupling` goes from regions that move
    independently (0) to regions that move as in one take (1); None is the paper's: independent paths, stretched to the
    longest. `smoothing` goes from the raw motion (0) to sigmoids (1). `path_noise` is the share of path nodes that are
    replaced by neighbours and how many edges away those may lie; `length_noise` scales the deviation of durations.
    `intensity` scales all displacements, `hold` is the usual hold at an apex in seconds, `back` says whether the face
    ends in neutral. `life` scales blinks, gaze and head. `pace` 2 is twice as quick, as far as the data's greatest
    speed allows. `direct` goes from the graph's own path between two peaks (0), which often passes near neutral, to a
    straight one (1). `rate` is in frames a second, the graph's own by default.
    """
    settings = ActSettings(
        coupling, smoothing, path_noise, length_noise, intensity, hold, back, life, pace, direct, rate
    ).validate()
    return perform_cues(prepare_actor(graph), read_cues(graph, labels), settings, seed)


def cover_speech(
    graph: ExpressionGraph,
    labels: Sequence[CueArgument],
    seed: int | Sequence[int],
    settings: ActSettings,
    seconds: float,
) -> ActSettings:
    """The settings with longer holds, so that the last expression ends after `seconds` of speech."""
    actor, cues = prepare_actor(graph), read_cues(graph, labels)
    settings = settings.validate()
    for _ in range(4):  # holds vary about their setting, so that one correction falls short or goes too far
        take = perform_cues(actor, cues, settings, seed)
        missing = seconds + SPEECH_TAIL_SECONDS - float(take.legs[len(cues)]) / take.rate
        if missing <= 0.0:
            break
        settings = settings._replace(hold=min(settings.hold + 1.15 * missing / len(cues), MAX_HOLD_SECONDS))
    return settings


def perform_cues(
    actor: GraphActor, cues: Sequence[Cue], settings: ActSettings, seed: int | Sequence[int]
) -> ExpressionTake:
    """As `act`, with graph, cues and settings prepared and checked."""
    rng = np.random.default_rng(seed)
    plan = [*cues, Cue((), ())] if settings.back and cues[-1].labels else list(cues)
    tracks = max(1, *(len(cue.labels) for cue in plan))
    noise = PathNoise(*settings.path_noise)
    style = TransitionStyle(
        settings.coupling, noise, settings.length_noise, settings.hold, settings.pace, settings.direct
    )
    count = len(actor.routes)
    nodes = [np.zeros(count, np.int64)] * tracks
    before: list[int | None] = [None] * tracks
    legs: list[list[LabelTransition]] = []
    for number, cue in enumerate(plan):
        hold = style.hold * float(np.exp(0.3 * rng.standard_normal()))
        rest = style._replace(hold=hold if number < len(cues) else 0.0)  # the way back ends in neutral
        leg = []
        for k in range(tracks):
            label = cue.labels[min(k, len(cue.labels) - 1)] if cue.labels else None
            leg.append(plan_transition(actor, nodes[k], label, before[k], rest, rng))
            nodes[k], before[k] = leg[-1].sinks, leg[-1].take
        legs.append(_merge_tracks(leg, settings.coupling))
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
        for k, track in enumerate(tracks):
            _add_transition(actor, track, times[inside] - starts[number], shares[inside, k], displacements[inside])
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
    displacements, new_frames = limit_speed(displacements, members, fastest / rate)
    arrived = [max(tracks[0].seconds, *(float(track.ends.max()) for track in tracks)) for tracks in legs]
    peaks = np.rint((starts[:-1] + arrived) * rate).astype(np.int64)[:asked]  # an apex is where the last region arrives
    moved = np.rint(new_frames).astype(np.int64)
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
        settings.intensity,
    )


def _frames_of(starts: Array, number: int, rate: float, frames: int) -> slice:
    """The frames from the start of a leg to before the start of the next; of the last leg to the end."""
    first = int(np.ceil(starts[number] * rate - 1e-9))
    last = frames if number + 2 == len(starts) else int(np.ceil(starts[number + 1] * rate - 1e-9))
    return slice(first, last)


def _merge_tracks(tracks: list[LabelTransition], coupling: float | None) -> list[LabelTransition]:
    """Transitions of several tracks at once, stretched to the longest; uncoupled regions keep their times."""
    seconds, hold = max(track.seconds for track in tracks), tracks[0].hold
    merged = []
    for track in tracks:
        factor = 1.0 if coupling == 0.0 else seconds / track.seconds
        begins, ends = track.begins * factor, np.minimum(track.ends * factor, seconds + MAX_LATE_HOLD_SHARE * hold)
        merged.append(track._replace(seconds=seconds, hold=hold, begins=begins, ends=ends))
    return merged


def _shares(
    plan: Sequence[Cue], legs: list[list[LabelTransition]], starts: Array, times: Array, intensity: float
) -> Array:
    """(F, K) weight of each track: that of its cue at an apex, a little less at the end of the hold."""
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
    u = smoothstep(0.0, 1.0, (times - left) / np.maximum(right - left, 1e-9))[:, None]
    stacked = np.array(values)
    result: Array = intensity * ((1.0 - u) * stacked[at - 1] + u * stacked[at])
    return result


def _add_transition(actor: GraphActor, transition: LabelTransition, times: Array, weights: Array, out: Array) -> None:
    """Add a transition's poses at `times` (F,) seconds from its start, times `weights` (F,), to `out` (F, L, D)."""
    kernels = jit.kernels("understudy.express.acting.acting_kernels")
    for r, poses in enumerate(transition.poses):
        members = actor.flat[r][3]
        seconds = max(transition.ends[r] - transition.begins[r], 1e-9)
        at = (times - transition.begins[r]) * ((len(poses) - 1) / seconds)
        kernels.add_sampled(poses, at, weights, members, out.shape[2], out)


def recover_take(
    graph: ExpressionGraph,
    sinks: Array,
    sources: Array | None = None,
    *,
    smoothing: float = 0.5,
    frames: int | None = None,
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


def nodes_of_walk(
    graph: ExpressionGraph, labels: Sequence[CueArgument], *, seed: int = 0, coupling: float = 0.5
) -> dict[str, Array]:
    """Region -> (n,) the nodes from neutral over a peak of each label, without noise; one label at a time."""
    actor, rng = prepare_actor(graph), np.random.default_rng(seed)
    sources = np.zeros(len(actor.routes), np.int64)
    nodes: list[list[int]] = [[0] for _ in actor.routes]
    for cue in read_cues(graph, labels):
        if len(cue.labels) > 1:
            raise InvalidInput(f"a walk goes to one label at a time, but {cue.text!r} are several")
        label = cue.labels[0] if cue.labels else None
        sinks = actor.draw_sinks(label, actor.draw_take(label, rng), coupling, sources, rng)
        for routes, path, source, sink in zip(actor.routes, nodes, sources.tolist(), sinks.tolist()):
            path += routes.path(source, sink)[1:].tolist()
        sources = sinks
    return {routes.region.name: np.array(path) for routes, path in zip(actor.routes, nodes)}


MAX_FACES = 1_000_000  # faces; more is a typing error


def crowd(
    graph: ExpressionGraph, labels: Sequence[CueArgument] | CueArgument, count: int, *, seed: int = 0, **settings: Any
) -> Iterator[ExpressionTake]:
    """`count` performances of the same labels, all different; `settings` are those of `act`."""
    return performances(graph, labels, count, seed=seed, settings=ActSettings(**settings))


def performances(
    graph: ExpressionGraph,
    labels: Sequence[CueArgument] | CueArgument,
    count: int,
    *,
    seed: int = 0,
    settings: ActSettings,
) -> Iterator[ExpressionTake]:
    """As `crowd`, with all settings in one; labels and settings are checked before the first face acts."""
    if not 1 <= count <= MAX_FACES:
        raise InvalidInput(f"a crowd should have 1 to {MAX_FACES:,} faces, but {count} were asked for")
    actor, cues, settings = prepare_actor(graph), read_cues(graph, labels), settings.validate()
    return (perform_cues(actor, cues, settings, (seed, face)) for face in range(count))


def crowd_frames(
    graph: ExpressionGraph,
    labels: Sequence[CueArgument] | CueArgument,
    count: int,
    *,
    seed: int = 0,
    spread: float = 0.0,
    again: bool = False,
    **settings: Any,
) -> Iterator[Array]:
    """Frame after frame (count, L, D) float32 of a whole crowd.

    Faces begin at random times within `spread` seconds, and keep their last pose after their end. With `again`
    a face that has ended acts again with another seed, and the stream never ends.
    """
    actor, cues, checked = prepare_actor(graph), read_cues(graph, labels), ActSettings(**settings).validate()
    rate = checked.rate or graph.rate
    waits = np.rint(np.random.default_rng((seed, count)).random(count) * spread * rate).astype(np.int64)
    acts = [perform_cues(actor, cues, checked, (seed, face)).points.astype(np.float32) for face in range(count)]
    ends = waits + [len(points) for points in acts]
    rounds = np.zeros(count, np.int64)
    frame = 0
    while again or frame < ends.max():
        now = np.empty((count, *graph.base.shape), np.float32)
        for face, points in enumerate(acts):
            if again and frame >= ends[face]:
                rounds[face] += 1
                seeds = (seed, face, int(rounds[face]))
                points = acts[face] = perform_cues(actor, cues, checked, seeds).points.astype(np.float32)
                waits[face], ends[face] = frame, frame + len(points)
            now[face] = points[min(max(frame - waits[face], 0), len(points) - 1)]
        yield now
        frame += 1


def pad_performances(faces: Sequence[ExpressionTake]) -> tuple[Array, Array]:
    """(N, F, L, D) float32 points of all faces, each held in its last pose after its end, and (N,) their lengths."""
    lengths = np.array([len(face) for face in faces])
    points = np.empty((len(faces), int(lengths.max()), *faces[0].base.shape), np.float32)
    for face, row in zip(faces, points):
        row[: len(face)] = face.points
        row[len(face) :] = face.points[-1]
    return points, lengths
