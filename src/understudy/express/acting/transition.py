"""Transition: all regions from their current nodes to the peaks of one label, with its times.

`region_path` takes one region from node to node: its path with noise, the poses of that, and what their timing needs.
`plan_transition` sets the times. A region's own motion runs from 0 to 1 between two times of the leg, `begins` and
`ends`. Where regions are not coupled each has its own duration. Fully coupled they share that of a take, and set off
and arrive as the take's regions did.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.acting.graph_paths import GraphActor
from understudy.express.acting.timing import (
    DRAWS_PER_PATH,
    MAX_DETOUR_RATIO,
    PathNoise,
    length_by_share,
    vary_length,
)
from understudy.express.graph.coupling import APEX_ACTIVATION_RATIO, START_ACTIVATION_RATIO, Coupling
from understudy.maths import jit

MIN_REGION_SHARE = 0.3  # of the leg: the shortest motion of a region; less looks like a twitch
MAX_LATE_HOLD_SHARE = 0.8  # of the hold: the part in which a late region may still arrive


class TransitionStyle(NamedTuple):
    """How a transition may differ from the cheapest path; `act` explains the fields."""

    coupling: float | None
    path_noise: PathNoise
    length_noise: float
    hold: float  # seconds
    pace: float = 1.0
    direct: float = 0.0


class LabelTransition(NamedTuple):
    """The poses of each region and their times, in seconds from the start of the leg."""

    poses: list[Array]  # (R,) of (m_r, n_r)
    seconds: float  # to the apex
    hold: float  # seconds after the apex
    begins: Array  # (R,)
    ends: Array  # (R,)
    sinks: Array  # (R,)
    take: int | None


class RegionPath(NamedTuple):
    """A region's path and its poses."""

    path: Array  # (n,)
    poses: Array  # (m, L_r D)
    crossings: tuple[float, float]  # times at which a tenth and nine tenths are done, as shares of its own duration
    share: float  # k / n, where the k-th node of n is nearest to neutral
    length: float  # frames that it naturally takes


def plan_transition(
    actor: GraphActor,
    here: Array,
    label: str | None,
    before: int | None,
    style: TransitionStyle,
    rng: np.random.Generator,
    sinks: Array | None = None,
) -> LabelTransition:
    """The transition from the nodes `here` (R,) to a label (neutral where None), or to given `sinks` (R,).

    `before` is the take that the last label imitated. The number of random draws does not depend on the arguments.
    """
    coupling = 0.0 if style.coupling is None else style.coupling
    take = actor.draw_take(label, rng)
    drawn = actor.draw_sinks(label, take, coupling, here, rng)
    sinks = drawn if sinks is None else sinks
    normals, draws = rng.standard_normal(1 + len(sinks)), rng.random((len(sinks), DRAWS_PER_PATH))
    stops = zip(here.tolist(), sinks.tolist())
    paths = [region_path(actor, r, a, b, style.path_noise, style.direct, draws[r]) for r, (a, b) in enumerate(stops)]
    poses = [path.poses for path in paths]
    natural = np.array([path.length for path in paths]) / (actor.graph.rate * style.pace)
    spread = actor.deviations(sinks if label is not None else here, label) / style.pace
    lengths = vary_length(natural, spread, normals[0], normals[1:], coupling, style.length_noise)
    hold = style.hold
    if style.coupling is None:  # the paper's: every region is stretched to the longest
        seconds = float(lengths.max())
        return LabelTransition(poses, seconds, hold, np.zeros(len(sinks)), np.full(len(sinks), seconds), sinks, take)
    moving = [i for i, path in enumerate(paths) if len(path.path) > 1]
    longest = float(lengths[moving].max() if moving else lengths.max())
    together = _shared_seconds(actor.graph.coupling, paths, label, take, before)
    if together is None:
        seconds = longest
    else:  # the longest of several regions is longer than a take, so that all are shortened together
        factor = float((lengths / natural).mean())  # the noise of the durations applies to takes as well
        seconds = together / style.pace * factor
        lengths = lengths * (seconds / longest)
    begins, ends = _times(actor.graph.coupling, paths, lengths, seconds, hold, take, coupling)
    return LabelTransition(poses, seconds, hold, begins, ends, sinks, take)


def _shared_seconds(
    learned: Coupling | None, paths: list[RegionPath], label: str | None, take: int | None, before: int | None
) -> float | None:
    """Duration of the imitated takes, all regions together; None where the graph has no coupling."""
    if learned is None:
        return None
    if label is None:
        if before is None:
            return None
        offset = float(learned.offsets[before])
        return offset if offset > 0 else float(learned.onsets[before])
    if take is None:
        return None
    onset = float(learned.onsets[take])
    if before is None:
        return onset
    shares = [path.share for path in paths if len(path.path) > 1]
    share = sum(shares) / len(shares) if shares else 0.5
    return share * float(learned.onsets[before]) + (1.0 - share) * onset


def _times(
    learned: Coupling | None,
    paths: list[RegionPath],
    lengths: Array,
    seconds: float,
    hold: float,
    take: int | None,
    coupling: float,
) -> tuple[Array, Array]:
    """(R,) seconds at which each region's motion begins and ends.

    A region's curve passes a tenth and nine tenths of its rise at u_1 and u_2 of its own duration. Uncoupled these lie
    at u_1 and u_2 of its own length; coupled, where the take's region set off and arrived.
    """
    early, late = np.array([path.crossings for path in paths]).T
    first, second = early * lengths, late * lengths
    if coupling > 0.0:
        known = learned is not None and take is not None
        begins, arrives = (learned.begins[take], learned.arrives[take]) if known else (early, late)  # type: ignore[union-attr]
        first = (1.0 - coupling) * first + coupling * seconds * begins
        second = (1.0 - coupling) * second + coupling * seconds * arrives
    slope = np.maximum(second - first, 1e-3) / np.maximum(late - early, 1e-3)
    shortest, latest = MIN_REGION_SHARE * seconds, seconds + MAX_LATE_HOLD_SHARE * hold
    begin = np.minimum(np.maximum(first - early * slope, 0.0), seconds - shortest)
    end = np.minimum(np.maximum(second + (1.0 - late) * slope, begin + shortest), latest)
    return begin, end


def region_path(
    actor: GraphActor, r: int, source: int, sink: int, noise: PathNoise, direct: float, draws: Array
) -> RegionPath:
    """From `source` to `sink` in region r; `draws` (DRAWS_PER_PATH,) are uniform.

    From peak to peak, poses are blended by `direct` with the straight line between them.
    """
    routes, kernels = actor.routes[r], jit.kernels("understudy.express.acting.acting_kernels")
    region = routes.region
    displacements, velocities, runs, _ = actor.flat[r]
    path = kernels.trace_path(routes.row(sink), source, sink)
    if not len(path):
        raise InvalidInput(f"region {region.name!r} has no path from node {source} to node {sink}")
    starts, others = routes.substitutes(noise.hops)
    kernels.vary(path, region.labels, displacements, starts, others, noise.share, MAX_DETOUR_RATIO, draws)
    poses = kernels.expand(displacements, velocities, runs, path)
    if source and sink:
        kernels.straighten(poses, direct)
    nearest = kernels.nearest_to_neutral(displacements, path)
    crossings = kernels.crossings(poses, START_ACTIVATION_RATIO, APEX_ACTIVATION_RATIO)
    share = (1 + nearest) / len(path)
    return RegionPath(path, poses, crossings, share, length_by_share(region, path, share))
