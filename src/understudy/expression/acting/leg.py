"""Leg: the way of all regions from where they are to the peaks of one label, with its times.

A region's own motion runs from 0 to 1 between two times of the leg, `begins` and `ends`. Where regions are not coupled
each has its own duration. Fully coupled they share that of a take, and set off and arrive as the take's regions did.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.expression.acting.actor import Actor
from understudy.expression.acting.coupling import ARRIVES, SETS_OFF, Coupling
from understudy.expression.acting.rising import crossing
from understudy.expression.acting.timing import expanded, natural_length, nearest_to_neutral
from understudy.expression.acting.variation import PathNoise, varied, varied_length
from understudy.maths import accelerate

SHORTEST_OWN = 0.3  # of the leg: a region that moves in less than this looks like a twitch
LAST = 0.8  # of the hold, in which a late region may still arrive


class Style(NamedTuple):
    """How a performance is to differ from the shortest way; see `act`."""

    coupling: float | None
    path_noise: PathNoise
    length_noise: float
    hold: float  # seconds


class Leg(NamedTuple):
    """The poses of each region and when they are shown; times in seconds from the start of the leg."""

    poses: list[Array]  # (R,) of (m_r, n_r)
    seconds: float  # to the apex
    hold: float  # and on
    begins: Array  # (R,)
    ends: Array  # (R,)
    sinks: Array  # (R,)
    take: int | None


def leg(
    actor: Actor,
    here: Array,
    label: str | None,
    before: int | None,
    style: Style,
    rng: np.random.Generator,
    sinks: Array | None = None,
) -> Leg:
    """The way from the nodes `here` (R,) to a label (neutral where None), or to given `sinks` (R,).

    `before` is the take that the last label was like. Draws are the same in number whatever is asked for.
    """
    coupling = 0.0 if style.coupling is None else style.coupling
    take = actor.take(label, rng)
    drawn = actor.sinks(label, take, coupling, here, rng)
    sinks = drawn if sinks is None else sinks
    shared, own = rng.standard_normal(), rng.standard_normal(len(sinks))
    paths = [
        varied(routes, routes.path(int(a), int(b)), style.path_noise, rng)
        for routes, a, b in zip(actor.routes, here, sinks)
    ]
    poses = [_poses(actor, r, path) for r, path in enumerate(paths)]
    rate = actor.graph.rate
    natural = np.array([natural_length(each.region, path) / rate for each, path in zip(actor.routes, paths)])
    spread = _deviations(actor, sinks if label is not None else here, label) / rate
    lengths = varied_length(natural, spread, shared, own, coupling, style.length_noise)
    hold = style.hold if label is not None else 0.0
    if style.coupling is None:  # the paper's own: every region stretched to the longest
        seconds = float(lengths.max())
        return Leg(poses, seconds, hold, np.zeros(len(sinks)), np.full(len(sinks), seconds), sinks, take)
    moving = np.array([len(path) > 1 for path in paths])
    longest = float(lengths[moving].max() if moving.any() else lengths.max())
    together = _shared_seconds(actor, paths, label, take, before)
    if together is None:
        seconds = longest
    else:
        factor = float((lengths / natural).mean())  # the noise of the durations, so that takes vary as well
        seconds = (1.0 - coupling) * longest + coupling * together * factor
    begins, ends = _times(actor, poses, lengths, seconds, hold, take, coupling)
    return Leg(poses, seconds, hold, begins, ends, sinks, take)


def _poses(actor: Actor, r: int, path: Array) -> Array:
    """(m, n) of a path of the region numbered r."""
    displacements, velocities, runs, _ = actor.flat[r]
    kernels = accelerate.kernels("understudy.expression.acting.timing_kernels")
    if kernels is not None:
        poses: Array = kernels.expand(displacements, velocities, runs, path)
        return poses
    region = actor.graph.regions[r]
    poses = expanded(region.displacements[path], region.velocities[path], region.runs[path])
    return poses.reshape(len(poses), -1)


def _deviations(actor: Actor, nodes: Array, label: str | None) -> Array:
    """(R,) deviation in frames of the onset of each peak; that of the label's takes where a node has but one."""
    found = np.array([region.onset_deviation[node] for region, node in zip(actor.graph.regions, nodes)], np.float64)
    learned = actor.graph.coupling
    takes = learned.takes_of(label) if learned is not None and label is not None else np.zeros(0, int)
    if learned is not None and not len(takes):
        takes = np.arange(len(learned.onsets))
    usual = float(learned.onsets[takes].std()) * actor.graph.rate if learned is not None else 0.0
    return np.where(np.nan_to_num(found) > 0.0, np.nan_to_num(found), usual)


def _shared_seconds(
    actor: Actor, paths: list[Array], label: str | None, take: int | None, before: int | None
) -> float | None:
    """What the takes that are imitated need together; None where nothing is known of takes."""
    learned: Coupling | None = actor.graph.coupling
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
    shares = [
        (1 + nearest_to_neutral(each.region.displacements[path])) / len(path)
        for each, path in zip(actor.routes, paths)
        if len(path) > 1
    ]
    share = float(np.mean(shares)) if shares else 0.5
    return share * float(learned.onsets[before]) + (1.0 - share) * onset


def _times(
    actor: Actor, poses: list[Array], lengths: Array, seconds: float, hold: float, take: int | None, coupling: float
) -> tuple[Array, Array]:
    """(R,) seconds at which each region's motion begins and ends.

    A region's curve passes a tenth and nine tenths of its way at u_1 and u_2 of its own time. On its own these lie at
    u_1 and u_2 of its own length; coupled, where the take's region set off and arrived.
    """
    learned = actor.graph.coupling
    crossings = np.array([_crossings(each) for each in poses])
    own = crossings * lengths[:, None]
    if learned is not None and take is not None:
        wanted = np.stack([learned.begins[take], learned.arrives[take]], axis=1) * seconds
    else:
        wanted = crossings * seconds
    at = (1.0 - coupling) * own + coupling * wanted
    slope = np.maximum(at[:, 1] - at[:, 0], 1e-3) / np.maximum(crossings[:, 1] - crossings[:, 0], 1e-3)
    shortest, latest = SHORTEST_OWN * seconds, seconds + LAST * hold
    begins = np.clip(at[:, 0] - crossings[:, 0] * slope, 0.0, seconds - shortest)
    ends = np.clip(at[:, 1] + (1.0 - crossings[:, 1]) * slope, begins + shortest, latest)
    return begins, ends


def _crossings(poses: Array) -> tuple[float, float]:
    """When poses (m, n) have gone a tenth and nine tenths of their way, as shares of their own time."""
    kernels = accelerate.kernels("understudy.expression.acting.timing_kernels")
    far = kernels.progress(poses) if kernels is not None else np.sqrt(((poses - poses[0]) ** 2).sum(axis=1))
    if len(far) < 2 or far[-1] <= 0.0:
        return SETS_OFF, ARRIVES
    last = len(far) - 1
    first, second = crossing(far, SETS_OFF * far[-1]) / last, crossing(far, ARRIVES * far[-1]) / last
    return (first, second) if second > first else (SETS_OFF, ARRIVES)
