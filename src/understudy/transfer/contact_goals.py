"""Contact points of a character: which of the actor's they follow, and where they should be [Yamane 2010, 5.2].

**Goals** are still and on the floor while a point is down, and smooth between.

While a point is down it stays at the mean of where it was, projected to the floor. In flight its correction goes from
that at the end of the last contact, d0, to that at the beginning of the next, d1:

    c^(t) = c(t) + (1 - w) d0 + w d1,    w = h^2 (3 - 2 h),    h = (t - t0) / (t1 - t0)      (eq. 9)

Before the first contact and after the last the correction is constant. Heel and toe of one foot that are down together
keep their distance, and two feet are no further apart than legs can be spread: their positions are moved until that
holds, the less the longer a phase is.

Root path. The actor's steps, scaled by size, are longer than a penguin's legs. While a point k is planted at s, the
figure is displaced by d(t) from its path, and the leg reaches from the position of that foot under the hips, n_k(t), to
s:

    minimise  sum_t |T d'|^2 + |tau^2 d''|^2 + sum_down a |d + p_k - s|^2 + b [|d + n_k - s| - R]_+^2

The first term keeps the momentum that the actor's motion asks for, the second is smoothness, the third keeps feet where
the pose p_k has them, and the last is the reach R of a leg; lengths are over R. All of d and s are solved together, so
that a figure with short legs takes shorter steps in the actor's timing, and one with legs long enough keeps its path.
The last term is replaced, sweep by sweep, by the distance from the nearest point within reach.

**Correspondence.** A contact point of the character follows some of the actor's, and has their phases. They are matched
by side, by limb and by role: a left toe follows the left toe; a forefoot follows the hand where the actor's
hands are contact points, and otherwise the foot of its side. A contact in the middle, as the lamp's base, follows both
feet: it is in the air where the actor is, and in the middle of each step of the actor it hops, or glides (`standing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Skeleton
from understudy.character.body.contacts import ContactPhases, runs
from understudy.character.body.limbs import limbs_of
from understudy.character.body.mass import Body
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.transfer.standing_base import Stance

Groups = tuple[tuple[int, ...], ...]
"""For each limb that is followed, its contacts: the limb is down while at least one of them is."""

MIN_FORE_HIND_SIZE_RATIO = 0.15  # of the size: least distance of fore and hind limbs
# Duration of a hop, in seconds and over that of the step: a hop that rises by a twentieth of the actor's height. A step
# takes longer, and a figure in the air for all of it would have to jump as high as a table.
HOP_SECONDS, MAX_HOP_STEP_RATIO = 0.25, 0.6

# Of the sum of two legs' lengths: how much nearer or further apart than at rest their feet may be.
LEG_SPREAD_LENGTH_RATIO = 0.3
RELEASE_SECONDS = 0.12  # in which a point that leaves the floor comes to follow its foot
FLIGHT_POINT_WEIGHT = 0.02  # of points in flight, beside 1 for points that are down
DISTANCE_SWEEPS = 30  # at most, over the pairs that are down together; chains of heel, toe, heel need a few
MOMENTUM_SECONDS = 1.0  # T: a path that falls behind by R a second costs as much as a foot that is R off its pose
PATH_SMOOTHING_SECONDS = 0.15  # tau
POSE_WEIGHT = 0.1  # a
REACH_WEIGHT = 30.0  # b
LEG_REACH_HIP_HEIGHT_RATIO = 0.45  # R over the height of the hip at rest: a straight leg at 24 degrees to any side
BASE_LEAN_HEIGHT_RATIO = 0.2  # R over the height of a figure on a base: how far it leans over the base
REACH_SWEEPS = 8  # of the last term; after these no point changes its side
FLOOR_AXES = [0, 2]  # x, z


@dataclass(frozen=True, eq=False)
class _ContactRoles:
    """Side, limb and role of the K contact points of a body."""

    side: Array  # (K,) 1 left, -1 right, 0 middle
    limb: Array  # (K,) number of the limb
    fore: Array  # (K,) bool: the limb is ahead of another of its side, or is a hand
    along: Array  # (K,) metres ahead of the middle of the limb
    hand: Array  # (K,) bool


def match_contacts(
    target: Body,
    target_skeleton: Skeleton,
    source: Body,
    source_skeleton: Skeleton,
    given: Mapping[str, Iterable[str]] | None = None,
    phases: ContactPhases | None = None,
) -> tuple[Groups, ...]:
    """For each contact of the target the contacts of the source that it follows; `given` sets some, name -> names.

    With the `phases` of the source, hands that never touch the floor are not followed.
    """
    roles, source_roles = _roles(target, target_skeleton), _roles(source, source_skeleton)
    hands = source_roles.hand if phases is None else source_roles.hand & phases.down.any(axis=0)
    result = [_match(roles, k, source_roles, hands) for k in range(len(target.contacts))]
    for name, others in (given or {}).items():
        checks.one_of(name, "contact point", target.names)
        known = source.names
        picked = tuple(known.index(checks.one_of(other, "contact point of the source", known)) for other in others)
        result[target.names.index(name)] = (picked,) if picked else ()
    return tuple(result)


def follow_phases(
    phases: ContactPhases, correspondence: tuple[Groups, ...], names: Iterable[str], rate: float, hops: bool = True
) -> ContactPhases:
    """The phases of contacts that follow those of a source; one that follows none is never down.

    Without `hops`, a figure whose contacts all follow several limbs glides while the source makes a step.
    """
    down = np.zeros((len(phases), len(correspondence)), bool)
    if not hops and correspondence and all(len(groups) > 1 for groups in correspondence):
        stepping = np.zeros(len(phases), bool)
        for k, groups in enumerate(correspondence):
            limbs = np.array([phases.down[:, list(group)].any(axis=1) for group in groups])
            down[:, k] = limbs.any(axis=0)
            stepping |= ~limbs.all(axis=0)
        return ContactPhases(names, down, stepping)
    for k, groups in enumerate(correspondence):
        if groups:
            down[:, k] = _hop_contacts(np.array([phases.down[:, list(group)].any(axis=1) for group in groups]), rate)
    return ContactPhases(names, down)


def _hop_contacts(limbs: Array, rate: float) -> Array:
    """(F,) when a contact that follows limbs (n, F) is down: not in flight, nor in the middle of a step of one limb."""
    air = ~np.asarray(limbs.any(axis=0))
    result = ~air
    for limb in limbs if len(limbs) > 1 else limbs[:0]:
        for a, b in runs(~limb & ~air):
            if a == 0 or b == len(air) or air[a - 1] or air[b]:
                continue  # the beginning or the end of a jump, or of the motion
            length = max(round(min(HOP_SECONDS * rate, MAX_HOP_STEP_RATIO * (b - a))), 1)
            first = (a + b - length) // 2
            result[first : first + length] = False
    return result


def _roles(body: Body, skeleton: Skeleton) -> _ContactRoles:
    limbs = limbs_of(skeleton)
    points = body.contact_positions(limbs.world[None])[0]
    joints = np.array([c.joint for c in body.contacts], np.int64)
    tops = limbs.top[joints]
    limb = np.unique(tops, return_inverse=True)[1].reshape(-1) if len(tops) else tops
    middles = np.array([points[limb == n].mean(axis=0) for n in range(limb.max(initial=-1) + 1)]).reshape(-1, 3)
    middle = middles[limb]
    side = limbs.sides(middle)
    hand = np.array([name.endswith(".hand") for name in body.names], bool)
    ahead = middle @ limbs.front
    hind = np.array([ahead[side == s].min() for s in side])
    fore = hand | (ahead > hind + MIN_FORE_HIND_SIZE_RATIO * limbs.size)
    return _ContactRoles(side, limb, fore, (points - middle) @ limbs.front, hand)


def _match(roles: _ContactRoles, k: int, source: _ContactRoles, hands: Array) -> Groups:
    wanted = hands if roles.fore[k] and hands.any() else ~source.hand
    if not wanted.any():
        wanted = np.ones(len(wanted), bool)
    side = roles.side[k]
    same = wanted & (source.side == side)
    if side == 0 or not same.any():  # in the middle, or the source has no such contact on this side: all of its limbs
        limbs = np.unique(source.limb[wanted])
        return tuple(tuple(np.flatnonzero(wanted & (source.limb == n)).tolist()) for n in limbs)
    alone = np.count_nonzero(roles.limb == roles.limb[k]) == 1
    if not alone:
        role = same & (np.sign(source.along) == np.sign(roles.along[k]))
        same = role if role.any() else same
    return (tuple(np.flatnonzero(same).tolist()),)


@dataclass(frozen=True, eq=False)
class RootPath:
    """Displacement of a figure from its path, and the positions of its planted contact points."""

    shifts: Array  # (F, 3) level
    spans: list[tuple[int, int, int]]  # contact, first frame, one after the last frame
    places: Array  # (S, 3) on the floor


def find_contact_goals(
    positions: Array, phases: ContactPhases, apart: tuple[Array, Array] | None = None, places: Array | None = None
) -> Array:
    """(F, K, 3) where contact points at positions (F, K, 3) should be; those that are never down stay.

    `apart`: metres (K, K) between points that are down together, and how much they may differ. `places` (S, 3): the
    positions in all phases, contact by contact; None takes the means.
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
    return blend_through_flight(positions, goals, phases)


def blend_through_flight(positions: Array, goals: Array, phases: ContactPhases) -> Array:
    """Goals (F, K, 3) where points are down, and positions (F, K, 3) corrected by eq. 9 between, above the floor."""
    result = np.array(positions, np.float64)
    for k in np.flatnonzero(phases.down.any(axis=0)):
        result[:, k] = _blend_contact(positions[:, k], goals[:, k], phases.down[:, k])
        result[:, k, 1] = np.where(phases.down[:, k], result[:, k, 1], np.maximum(result[:, k, 1], 0.0))
    return result


def _blend_contact(path: Array, goals: Array, down: Array) -> Array:
    """(F, 3) the goals of one point that is down in some frame."""
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
    """Move places (S, 3) on the floor until the distances of those that are down together are allowed."""
    usual, spread = apart
    pairs = [
        (i, j, max(usual[k, other] - spread[k, other], 0.0), usual[k, other] + spread[k, other])
        for i, (k, a, b) in enumerate(spans)
        for j, (other, c, d) in enumerate(spans[i + 1 :], i + 1)
        if max(a, c) < min(b, d)
    ]
    for _ in range(DISTANCE_SWEEPS if pairs else 0):
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


def contact_distances(body: Body, stance: Stance) -> tuple[Array, Array]:
    """(K, K) metres at rest between contact points, and how much they may differ: legs can be spread, feet cannot."""
    points = body.contact_positions(stance.limbs.world[None])[0]
    hips, legs = stance.hips, stance.lengths
    spread = np.where(hips[:, None] == hips[None], 0.0, LEG_SPREAD_LENGTH_RATIO * (legs[:, None] + legs[None]))
    return np.linalg.norm(points[:, None] - points[None], axis=2), spread


def contact_weights(phases: ContactPhases, rate: float) -> Array:
    """(F, K) 1 while a point is down, falling to `FLIGHT_POINT_WEIGHT` in `RELEASE_SECONDS` before and after."""
    reach = max(int(np.ceil(RELEASE_SECONDS * rate)), 1)
    frames = np.arange(len(phases))
    result = np.full(phases.down.shape, FLIGHT_POINT_WEIGHT)
    for k in range(len(phases.names)):
        for a, b in phases.runs(k):
            h = np.clip(np.maximum(a - frames, frames - b + 1) / reach, 0.0, 1.0)
            np.maximum(result[:, k], 1 - (1 - FLIGHT_POINT_WEIGHT) * h * h * (3 - 2 * h), out=result[:, k])
    return result


def make_feet_rigid(positions: Array, goals: Array, phases: ContactPhases, holds: Array, limbs: Array) -> Array:
    """Goals (F, K, 3) that a foot can reach: of points on one limb (K,), those in flight go with those that are down.

    Otherwise a lifted heel would be drawn to its own goal of eq. 9, and pull the toe along. It keeps its distance from
    the points that are down, and comes no lower than the floor.
    """
    result = goals.copy()
    for limb in np.unique(limbs):
        foot = np.flatnonzero(limbs == limb)
        if len(foot) < 2:
            continue
        start, end, down = positions[:, foot], goals[:, foot], phases.down[:, foot]
        moves = rigid_fit(start, end, holds[:, foot])
        fitted = np.einsum("fij,fkj->fki", moves[:, :3, :3], start) + moves[:, None, :3, 3]
        share = ((holds[:, foot] - FLIGHT_POINT_WEIGHT) / (1 - FLIGHT_POINT_WEIGHT))[..., None]
        wanted = share * end + (1 - share) * fitted
        wanted[..., 1] = np.maximum(wanted[..., 1], 0.0)
        stands = down / np.maximum(down.sum(axis=1, keepdims=True), 1)
        held, before = (stands[..., None] * end).sum(axis=1), (stands[..., None] * start).sum(axis=1)
        away = wanted - held[:, None]
        far = np.linalg.norm(start - before[:, None], axis=2) / np.maximum(np.linalg.norm(away, axis=2), 1e-9)
        kept = held[:, None] + far[..., None] * away
        partly = down.any(axis=1, keepdims=True) & ~down
        result[:, foot] = np.where(partly[..., None], kept, wanted)
    return result


def rigid_fit(points: Array, goals: Array, weights: Array) -> Array:
    """(F, 4, 4) the rigid motions that bring points (F, K, 3) nearest to goals, by weights (F, K) [Kabsch 1976].

    Rotations that the points leave open (about the line through two of them) are the identity.
    """
    share = (weights / weights.sum(axis=1, keepdims=True))[..., None]
    start, end = (share * points).sum(axis=1), (share * goals).sum(axis=1)
    a, b = points - start[:, None], goals - end[:, None]
    size = np.maximum(np.einsum("fki,fki->f", share * a, a), 1e-30)
    # A little of the identity decides open rotations; it changes the fit by a millionth.
    covariance = np.einsum("fki,fkj->fij", share * b, a) + 1e-6 * size[:, None, None] * np.eye(3)
    u, _, vt = np.linalg.svd(covariance)
    flip = np.ones((len(points), 3))
    flip[:, 2] = np.sign(np.linalg.det(u @ vt))
    result = np.zeros((len(points), 4, 4))
    result[:, :3, :3] = (u * flip[:, None, :]) @ vt
    result[:, :3, 3] = end - (result[:, :3, :3] @ start[..., None])[..., 0]
    result[:, 3, 3] = 1.0
    return result


def fit_root_path(poses: PoseSequence, body: Body, phases: ContactPhases, stance: Stance) -> RootPath:
    """The path nearest to that of the poses on which the legs reach the planted feet."""
    points = body.contact_positions(poses.world)
    spans = [(k, a, b) for k in range(points.shape[1]) for a, b in phases.runs(k)]
    frames, count = len(poses), len(spans)
    if stance.base is None:
        near, reach = neutral_places(poses, body, stance)
    else:
        near, reach = points, BASE_LEAN_HEIGHT_RATIO * stance.lengths
    rows = np.concatenate([np.arange(a, b) for _, a, b in spans])
    contact = np.concatenate([np.full(b - a, k) for k, a, b in spans])
    span = np.repeat(np.arange(count), [b - a for _, a, b in spans])
    p, n = points[rows, contact][:, FLOOR_AXES], near[rows, contact][:, FLOOR_AXES]
    unit = reach[contact][:, None]
    d, s = _solve_path(frames, (rows, span), POSE_WEIGHT / unit**2, -p, poses.rate, float(reach.mean()))
    for _ in range(REACH_SWEEPS):
        away = d[rows] + n - s[span]
        far = np.linalg.norm(away, axis=1, keepdims=True)
        pulled = REACH_WEIGHT * (far > unit)
        weight = POSE_WEIGHT + pulled
        wanted = (POSE_WEIGHT * -p + pulled * (unit / np.maximum(far, 1e-12) * away - n)) / weight
        d, s = _solve_path(frames, (rows, span), weight / unit**2, wanted, poses.rate, float(reach.mean()))
    shifts, places = np.zeros((frames, 3)), np.zeros((count, 3))
    shifts[:, FLOOR_AXES], places[:, FLOOR_AXES] = d, s
    return RootPath(shifts, spans, places)


def neutral_places(poses: PoseSequence, body: Body, stance: Stance) -> tuple[Array, Array]:
    """(F, K, 3) where contact points would be under hips as at rest, and (K,) how far legs reach from there."""
    limbs, tops = stance.limbs, stance.hips
    hips = limbs.world[tops, :3, 3]
    away = body.contact_positions(limbs.world[None])[0] - hips
    root = poses.skeleton.ancestors(int(tops[0]))[-1]
    turn = poses.world[:, root, :3, :3] @ np.linalg.inv(limbs.world[root, :3, :3])
    front = turn @ limbs.front
    yaw = np.arctan2(front[:, 0], front[:, 2]) - np.arctan2(limbs.front[0], limbs.front[2])
    sine, cosine = np.sin(yaw)[:, None], np.cos(yaw)[:, None]
    x, z = cosine * away[:, 0] + sine * away[:, 2], cosine * away[:, 2] - sine * away[:, 0]
    places = poses.world[:, tops][..., :3, 3] + np.stack([x, np.broadcast_to(away[:, 1], x.shape), z], axis=2)
    return places, LEG_REACH_HIP_HEIGHT_RATIO * np.maximum(-away[:, 1], 1e-6)


def _solve_path(
    frames: int, tied: tuple[Array, Array], weights: Array, wanted: Array, rate: float, unit: float
) -> tuple[Array, Array]:
    """d (F, 2) and s (S, 2) of least squares: rows and spans (n,) `tied` by weights (n, 1) to d - s = wanted (n, 2)."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    rows, span = tied
    count, number = int(span.max()) + 1, len(rows)
    first = sparse.diags([-1.0, 1.0], [0, 1], shape=(max(frames - 1, 0), frames))
    second = sparse.diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(max(frames - 2, 0), frames))
    smooth = (MOMENTUM_SECONDS * rate / unit) ** 2 * first.T @ first + (
        (PATH_SMOOTHING_SECONDS * rate) ** 2 / unit
    ) ** 2 * second.T @ second
    # A small cost of d itself: no other term fixes the position of the whole.
    smooth = smooth + sparse.identity(frames) * (1e-6 / unit**2)
    ties = sparse.csr_matrix(
        (
            np.tile([1.0, -1.0], number),
            (np.repeat(np.arange(number), 2), np.stack([rows, frames + span], 1).reshape(-1)),
        ),
        shape=(number, frames + count),
    )
    still = sparse.block_diag([smooth, sparse.csr_matrix((count, count))])
    weighted = ties.T @ sparse.diags(weights[:, 0])
    solution = splu((still + weighted @ ties).tocsc()).solve(weighted @ wanted)
    return solution[:frames], solution[frames:]
