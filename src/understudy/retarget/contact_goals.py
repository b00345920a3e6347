"""Where contact points should be: still and on the floor while they are down, smoothly between [Yamane 2010, 5.2].

While a point is down it stays at the mean of where it was, projected to the floor. In flight its correction goes from
that at the end of the last contact, d0, to that at the beginning of the next, d1:

    c^(t) = c(t) + (1 - w) d0 + w d1,    w = h^2 (3 - 2 h),    h = (t - t0) / (t1 - t0)      (eq. 9)

Before the first contact and after the last the correction stays as it is there. Heel and toe of one foot that are down
together keep their distance, and two feet are no further apart than legs can be spread: their places are moved until
that is so, the longer a phase the less.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.retarget.body import Body
from understudy.retarget.contacts import Phases, runs
from understudy.retarget.stance import Stance

SPREAD = 0.3  # of the lengths of two legs: by how much feet may be nearer or further apart than at rest
RELEASE = 0.12  # seconds in which a point that leaves the floor comes to follow its foot
LOOSE = 0.02  # beside the 1 of points that are down: how much points in flight have to say
SWEEPS = 30  # over the pairs that are down together; chains of heel, toe, heel need a few


def contact_goals(
    positions: Array, phases: Phases, apart: tuple[Array, Array] | None = None, places: Array | None = None
) -> Array:
    """(F, K, 3) where contact points at positions (F, K, 3) should be; those that are never down stay.

    `apart`: metres (K, K) between points that are down together, and how much they may differ. `places` (S, 3) of all
    phases, contact by contact, where they are not the means.
    """
    goals = np.array(positions, np.float64)
    spans = [(k, a, b) for k in range(goals.shape[1]) for a, b in phases.runs(k)]
    if not spans:
        return goals
    if places is None:
        places = np.array([positions[a:b, k].mean(axis=0) for k, a, b in spans])
    places = places.copy()
    places[:, 1] = 0.0
    if apart is not None:
        _keep_apart(places, spans, apart)
    for (k, a, b), place in zip(spans, places):
        goals[a:b, k] = place
    return through_flight(positions, goals, phases)


def through_flight(positions: Array, goals: Array, phases: Phases) -> Array:
    """Goals (F, K, 3) where points are down, and positions (F, K, 3) corrected by eq. 9 between, above the floor."""
    result = np.array(positions, np.float64)
    for k in np.flatnonzero(phases.down.any(axis=0)):
        result[:, k] = _one(positions[:, k], goals[:, k], phases.down[:, k])
        result[:, k, 1] = np.where(phases.down[:, k], result[:, k, 1], np.maximum(result[:, k, 1], 0.0))
    return result


def distances(body: Body, stance: Stance) -> tuple[Array, Array]:
    """(K, K) metres at rest between contact points, and how much they may differ: legs can be spread, feet cannot."""
    points = body.contact_positions(stance.limbs.world[None])[0]
    hips, legs = stance.hips, stance.lengths
    spread = np.where(hips[:, None] == hips[None], 0.0, SPREAD * (legs[:, None] + legs[None]))
    return np.linalg.norm(points[:, None] - points[None], axis=2), spread


def _one(path: Array, goals: Array, down: Array) -> Array:
    """(F, 3) the goals of one point that is down somewhere."""
    frames = len(path)
    change = np.where(down[:, None], goals - path, 0.0)
    for a, b in runs(~down):
        start = change[a - 1] if a > 0 else change[b]
        end = change[b] if b < frames else change[a - 1]
        h = np.arange(1, b - a + 1)[:, None] / (b - a + 1)
        w = h * h * (3 - 2 * h)
        change[a:b] = (1 - w) * start + w * end
    return path + change


def _keep_apart(places: Array, spans: list[tuple[int, int, int]], apart: tuple[Array, Array]) -> None:
    """Move places (S, 3) on the floor until those that are down together are as far apart as they may be."""
    usual, spread = apart
    pairs = [
        (i, j, max(usual[k, other] - spread[k, other], 0.0), usual[k, other] + spread[k, other])
        for i, (k, a, b) in enumerate(spans)
        for j, (other, c, d) in enumerate(spans[i + 1 :], i + 1)
        if max(a, c) < min(b, d)
    ]
    for _ in range(SWEEPS if pairs else 0):
        worst = 0.0
        for i, j, least, most in pairs:
            away = places[j] - places[i]
            now = float(np.hypot(away[0], away[2]))
            wanted = min(max(now, least), most)
            if now < 1e-9 or wanted == now:
                continue
            short = (wanted - now) / now * away
            worst = max(worst, abs(wanted - now))
            long_i, long_j = spans[i][2] - spans[i][1], spans[j][2] - spans[j][1]
            places[i] -= short * long_j / (long_i + long_j)
            places[j] += short * long_i / (long_i + long_j)
        if worst < 1e-6:
            break


def firmness(phases: Phases, rate: float) -> Array:
    """(F, K) 1 while a point is down, falling to `LOOSE` in `RELEASE` seconds before and after."""
    reach = max(int(np.ceil(RELEASE * rate)), 1)
    frames = np.arange(len(phases))
    result = np.full(phases.down.shape, LOOSE)
    for k in range(len(phases.names)):
        for a, b in phases.runs(k):
            h = np.clip(np.maximum(a - frames, frames - b + 1) / reach, 0.0, 1.0)
            np.maximum(result[:, k], 1 - (1 - LOOSE) * h * h * (3 - 2 * h), out=result[:, k])
    return result


def as_feet(positions: Array, goals: Array, phases: Phases, holds: Array, limbs: Array) -> Array:
    """Goals (F, K, 3) that a foot can reach: of points on one limb (K,), those in flight go with those that are down.

    Else a heel that is lifted would be drawn to where eq. 9 wants it alone, and pull the toe along. It keeps the
    distance that it has from what is down, and comes no lower than the floor.
    """
    result = goals.copy()
    for limb in np.unique(limbs):
        mine = np.flatnonzero(limbs == limb)
        if len(mine) < 2:
            continue
        here, there, down = positions[:, mine], goals[:, mine], phases.down[:, mine]
        moves = rigid_fit(here, there, holds[:, mine])
        fitted = np.einsum("fij,fkj->fki", moves[:, :3, :3], here) + moves[:, None, :3, 3]
        share = ((holds[:, mine] - LOOSE) / (1 - LOOSE))[..., None]
        wanted = share * there + (1 - share) * fitted
        wanted[..., 1] = np.maximum(wanted[..., 1], 0.0)
        stands = down / np.maximum(down.sum(axis=1, keepdims=True), 1)
        held, before = (stands[..., None] * there).sum(axis=1), (stands[..., None] * here).sum(axis=1)
        away = wanted - held[:, None]
        far = np.linalg.norm(here - before[:, None], axis=2) / np.maximum(np.linalg.norm(away, axis=2), 1e-9)
        kept = held[:, None] + far[..., None] * away
        partly = down.any(axis=1, keepdims=True) & ~down
        result[:, mine] = np.where(partly[..., None], kept, wanted)
    return result


def rigid_fit(points: Array, goals: Array, weights: Array) -> Array:
    """(F, 4, 4) the rigid motions that bring points (F, K, 3) nearest to goals, by weights (F, K) [Kabsch 1976].

    What the points leave open (a turn about the line through two of them) is not turned.
    """
    share = (weights / weights.sum(axis=1, keepdims=True))[..., None]
    here, there = (share * points).sum(axis=1), (share * goals).sum(axis=1)
    a, b = points - here[:, None], goals - there[:, None]
    size = np.maximum(np.einsum("fki,fki->f", share * a, a), 1e-30)
    # a little of the identity decides what is open; it bends the fit by a millionth
    covariance = np.einsum("fki,fkj->fij", share * b, a) + 1e-6 * size[:, None, None] * np.eye(3)
    u, _, vt = np.linalg.svd(covariance)
    flip = np.ones((len(points), 3))
    flip[:, 2] = np.sign(np.linalg.det(u @ vt))
    result = np.zeros((len(points), 4, 4))
    result[:, :3, :3] = (u * flip[:, None, :]) @ vt
    result[:, :3, 3] = there - (result[:, :3, :3] @ here[..., None])[..., 0]
    result[:, 3, 3] = 1.0
    return result
