"""Contact points found: toe and heel of every limb that stands on the floor at rest.

A body that stands on one thing only, as the lamp on its base, gets four: front, back, left and right of what it stands
on. Skeletons without a mesh have no soles: their ankles are dropped to the height of the toes, and their hands may
touch the floor too, since people go on all fours.
"""

from __future__ import annotations

import re

import numpy as np

from understudy.character import Character
from understudy.checks import Array
from understudy.maths import transform
from understudy.retarget.limbs import Limbs, limbs_of
from understudy.retarget.links import links_of
from understudy.retarget.volumes import rest_surface, vertex_owners

LOW, LOW_JOINTS = 0.03, 0.07  # of the height: what stands on the floor, of a skin and of joints (ankles are higher)
EDGE = 0.1  # of a foot's length: what is averaged to its toe and to its heel
POINT = 0.03  # of the height: a foot shorter than this has one contact point (a hoof, a spider's leg)
APART = 0.1  # of the height: limbs of one side that stand nearer to each other than this are one foot
HAND = 0.2  # of the size: a limb that reaches as far as this may be stood on
TRAILS = re.compile(r"tail|cord|cable|hair|cloth|scarf|rope", re.IGNORECASE)  # lies on the floor, carries nothing


Found = tuple[str, int, Array]
"""Name, joint, and offset (3,) in the joint's frame."""


def find_contacts(character: Character) -> list[Found]:
    """The contact points of a character, named after their joints."""
    limbs = limbs_of(character.skeleton)
    if character.vertex_count:
        places, owners = rest_surface(character)[0], vertex_owners(character)
        low = LOW
    else:
        places, owners = _nodes(character)
        low = LOW_JOINTS
    if not len(places):
        return []
    floor, height = float(places[:, 1].min()), float(np.ptp(places[:, 1]))
    near = np.flatnonzero(places[:, 1] <= floor + low * height)
    carries = ~_trailing(limbs)[owners[near]]
    near = near[carries] if carries.any() else near  # a snake is all tail
    stands = _stands(limbs, places[near], limbs.top[owners[near]], height)
    found = []
    for top in stands:
        mine = near[limbs.top[owners[near]] == top]
        points = places[mine].copy()
        points[:, 1] = floor if character.vertex_count == 0 else points[:, 1]
        found += _points(limbs, points, owners[mine], height, alone=len(stands) == 1)
    if not character.vertex_count:
        found += _hands(limbs, places, owners, set(stands))
    return found


def _nodes(character: Character) -> tuple[Array, Array]:
    """Places (M, 3) of the joints and of the ends of the last bones at rest, and the joint (M,) each rides on."""
    links = links_of(character)
    parents = character.skeleton.parents
    last = np.isin(links.joints, parents, invert=True)
    ends = links.world[links.joints[last], :3, 3] + links.bones[last]
    return np.concatenate([links.world[:, :3, 3], ends]), np.concatenate([np.arange(len(parents)), links.joints[last]])


def _trailing(limbs: Limbs) -> Array:
    """(J,) whether a joint, or one above it, is a tail or the like."""
    result = np.array([TRAILS.search(name) is not None for name in limbs.skeleton.names])
    for j, parent in enumerate(limbs.skeleton.parents):
        result[j] |= parent >= 0 and result[parent]
    return result


def _stands(limbs: Limbs, places: Array, tops: Array, height: float) -> list[int]:
    """The limbs that a body stands on: none of the trunk where there are others, and one where two stand in one place.

    Many rigs for games have feet that hang on no leg, so that shin and foot are two limbs on the same floor.
    """
    found = np.unique(tops[~limbs.trunk[tops]]) if (~limbs.trunk[tops]).any() else np.unique(tops)
    kept: list[int] = []
    for top in sorted(found.tolist(), key=lambda top: -np.count_nonzero(tops == top)):
        mine = places[tops == top]
        side = limbs.sides(mine.mean(axis=0)[None])[0]
        others = [places[tops == other] for other in kept]
        if all(side != limbs.sides(o.mean(axis=0)[None])[0] or _gap(mine, o) > APART * height for o in others):
            kept.append(top)
    return sorted(kept)


def _gap(a: Array, b: Array) -> float:
    """Metres between two clouds of points (A, 3) and (B, 3)."""
    from scipy.spatial import cKDTree

    return float(cKDTree(a).query(b)[0].min())


def _points(limbs: Limbs, places: Array, owners: Array, height: float, alone: bool) -> list[Found]:
    """Toe and heel of one limb, or where it stands alone, four points around."""
    if np.ptp(places, axis=0)[[0, 2]].max() < POINT * height:
        return [_contact(limbs, places, owners, np.ones(len(places), bool), "foot")]
    wanted = [("toe", limbs.front), ("heel", -limbs.front)]
    if alone:
        left = limbs.left
        wanted = [("front", limbs.front), ("back", -limbs.front), ("left", left), ("right", -left)]
    result = []
    for name, direction in wanted:
        along = places @ direction
        result.append(_contact(limbs, places, owners, along >= along.max() - EDGE * np.ptp(along), name))
    return result


def _contact(limbs: Limbs, places: Array, owners: Array, chosen: Array, role: str) -> Found:
    """The middle of the chosen places, at the height of the lowest, on the joint that has most of them."""
    point = places[chosen].mean(axis=0)
    point[1] = places[chosen, 1].min()
    joint = int(np.bincount(owners[chosen]).argmax())
    offset = transform.apply(np.linalg.inv(limbs.world[joint]), point)
    return f"{limbs.skeleton.names[joint]}.{role}", joint, offset


def _hands(limbs: Limbs, places: Array, owners: Array, taken: set[int]) -> list[Found]:
    """The ends of the other limbs that leave the middle, as arms do and heads and tails do not."""
    result = []
    for top in np.unique(limbs.top[~limbs.trunk]):
        if top in taken or limbs.reach[top] < HAND * limbs.size:
            continue
        mine = np.flatnonzero(limbs.top[owners] == top)
        far = np.linalg.norm(places[mine] - limbs.world[top, :3, 3], axis=1).argmax()
        if limbs.sides(places[mine[far]][None])[0]:
            result.append(_contact(limbs, places[mine], owners[mine], np.arange(len(mine)) == far, "hand"))
    return result
