"""The height of a figure: what slide, penetration and displacements are measured against."""

from __future__ import annotations

import numpy as np

from understudy.maths import transform
from understudy.retarget.body import Body
from understudy.retarget.poses import Poses


def body_height(body: Body, poses: Poses) -> float:
    """Metres at rest, from the lowest to the highest of joints, centres of mass and contact points."""
    rest = Poses.rest(poses.skeleton).world
    centres = transform.apply(rest[0], body.centres)
    points = np.concatenate([rest[0, :, :3, 3], centres[body.masses > 0], body.contact_positions(rest)[0]])
    return float(np.ptp(points[:, 1])) or 1.0
