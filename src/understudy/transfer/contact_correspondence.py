"""Which of the actor's contact points a character's contact point follows [Yamane 2010, 5.2], and its phases.

Matched by side, by limb and by role: a left toe follows the left toe; a forefoot follows the hand where the actor's
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
from understudy.checks import Array

Groups = tuple[tuple[int, ...], ...]
"""For each limb that is followed, its contacts: the limb is down while at least one of them is."""

MIN_FORE_HIND_SIZE_RATIO = 0.15  # of the size: least distance of fore and hind limbs
# Duration of a hop, in seconds and over that of the step: a hop that rises by a twentieth of the actor's height. A step
# takes longer, and a figure in the air for all of it would have to jump as high as a table.
HOP_SECONDS, MAX_HOP_STEP_RATIO = 0.25, 0.6


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
