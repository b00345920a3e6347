"""The volume of a skeleton without a mesh, as of a BVH file: round bones, thick in the trunk, tapering along the limbs.

Thicknesses are about those of people, for whom half of the mass is then in the trunk, a sixth in each leg and a
twentieth in each arm. Momenta are scaled by mass (5.1), so only the distribution matters.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Character, Skeleton
from understudy.checks import Array
from understudy.maths import linear
from understudy.retarget.limbs import limbs_of
from understudy.retarget.links import links_of

TRUNK, HEAD = 0.09, 0.07  # radius over the size of the body
THICK, FINE = 0.075, 0.045  # radius over the length of the limb, where it begins and where it ends


def capsule_moments(body: Character | Skeleton) -> Array:
    """(J, 4, 4) int X X^T dV over round bones at rest, X = (x, y, z, 1) in the world."""
    skeleton = body if isinstance(body, Skeleton) else body.skeleton
    links, limbs = links_of(body), limbs_of(skeleton)
    moments = np.zeros((len(skeleton), 4, 4))
    joints, bones = links.joints, links.bones
    whole = limbs.reach[limbs.top[joints]]
    beyond = np.clip(1 - limbs.reach[joints] / np.maximum(whole, 1e-12), 0.0, 1.0)  # how far down the limb
    radius = np.where(limbs.trunk[joints], TRUNK * limbs.size, whole * (THICK + (FINE - THICK) * beyond))
    start = links.world[joints, :3, 3]
    head = np.array(["head" in skeleton.names[j].lower() and not limbs.trunk[j] for j in joints])
    # a head is a ball around its bone, of the same moments as a round bone of this radius and length
    radius = np.where(head, np.sqrt(4 / 5) * HEAD * limbs.size, radius)
    length = linear.length(bones)
    axis = linear.normalise(bones, otherwise=(0.0, 1.0, 0.0))
    long = np.where(head, np.sqrt(12 / 5) * HEAD * limbs.size, length)
    volume = np.pi * radius**2 * long
    centre = start + 0.5 * bones
    across = np.eye(3) - axis[:, :, None] * axis[:, None, :]
    second = (radius**2 / 4)[:, None, None] * across
    second += (long**2 / 12)[:, None, None] * axis[:, :, None] * axis[:, None, :]
    moments[joints, :3, :3] = second + centre[:, :, None] * centre[:, None, :]
    moments[joints, :3, 3] = moments[joints, 3, :3] = centre
    moments[joints, 3, 3] = 1.0
    moments[joints] *= volume[:, None, None]
    return moments
