"""Leg: the way of all regions from where they are to the peaks of one label, with its times.

A region's own motion runs from 0 to 1 between two times of the leg, `begins` and `ends`. Where regions are not coupled
each has its own duration. Fully coupled they share that of a take, and set off and arrive as the take's regions did.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.expression.acting.actor import Actor
from understudy.expression.acting.coupling import Coupling
from understudy.expression.acting.variation import DRAWS, PathNoise, varied_length
from understudy.expression.acting.way import Way, way
from understudy.maths import accelerate

SHORTEST_OWN = 0.3  # of the leg: a region that moves in less than this looks like a twitch
LAST = 0.8  # of the hold, in which a late region may still arrive


class Style(NamedTuple):
    """How a performance is to differ from the shortest way; see `act`."""

    coupling: float | None
    path_noise: PathNoise
    length_noise: float
    hold: float  # seconds
    pace: float = 1.0
    direct: float = 0.0


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
    normals, draws = rng.standard_normal(1 + len(sinks)), rng.random((len(sinks), DRAWS))
    kernels = accelerate.kernels("understudy.expression.acting.timing_kernels")
    stops = zip(here.tolist(), sinks.tolist())
    ways = [way(actor, r, a, b, style.path_noise, style.direct, draws[r], kernels) for r, (a, b) in enumerate(stops)]
    poses = [each.poses for each in ways]
    natural = np.array([each.length for each in ways]) / (actor.graph.rate * style.pace)
    spread = actor.deviations(sinks if label is not None else here, label) / style.pace
    lengths = varied_length(natural, spread, normals[0], normals[1:], coupling, style.length_noise)
    hold = style.hold if label is not None else 0.0
    if style.coupling is None:  # the paper's own: every region stretched to the longest
        seconds = float(lengths.max())
        return Leg(poses, seconds, hold, np.zeros(len(sinks)), np.full(len(sinks), seconds), sinks, take)
    moving = [i for i, each in enumerate(ways) if len(each.path) > 1]
    longest = float(lengths[moving].max() if moving else lengths.max())
    together = _shared_seconds(actor.graph.coupling, ways, label, take, before)
    if together is None:
        seconds = longest
    else:
        factor = float((lengths / natural).mean())  # the noise of the durations, so that takes vary as well
        seconds = (1.0 - coupling) * longest + coupling * together / style.pace * factor
    begins, ends = _times(actor.graph.coupling, ways, lengths, seconds, hold, take, coupling)
    return Leg(poses, seconds, hold, begins, ends, sinks, take)


def _shared_seconds(
    learned: Coupling | None, ways: list[Way], label: str | None, take: int | None, before: int | None
) -> float | None:
    """What the takes that are imitated need together; None where nothing is known of takes."""
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
    shares = [each.share for each in ways if len(each.path) > 1]
    share = sum(shares) / len(shares) if shares else 0.5
    return share * float(learned.onsets[before]) + (1.0 - share) * onset


def _times(
    learned: Coupling | None,
    ways: list[Way],
    lengths: Array,
    seconds: float,
    hold: float,
    take: int | None,
    coupling: float,
) -> tuple[Array, Array]:
    """(R,) seconds at which each region's motion begins and ends.

    A region's curve passes a tenth and nine tenths of its way at u_1 and u_2 of its own time. On its own these lie at
    u_1 and u_2 of its own length; coupled, where the take's region set off and arrived.
    """
    early, late = np.array([each.crossings for each in ways]).T
    first, second = early * lengths, late * lengths
    if coupling > 0.0:
        known = learned is not None and take is not None
        begins, arrives = (learned.begins[take], learned.arrives[take]) if known else (early, late)  # type: ignore[union-attr]
        first = (1.0 - coupling) * first + coupling * seconds * begins
        second = (1.0 - coupling) * second + coupling * seconds * arrives
    slope = np.maximum(second - first, 1e-3) / np.maximum(late - early, 1e-3)
    shortest, latest = SHORTEST_OWN * seconds, seconds + LAST * hold
    begin = np.minimum(np.maximum(first - early * slope, 0.0), seconds - shortest)
    end = np.minimum(np.maximum(second + (1.0 - late) * slope, begin + shortest), latest)
    return begin, end
