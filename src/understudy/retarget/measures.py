"""How well a motion stands: slide, penetration, forces, momenta, smoothness, jumps [Yamane 2010, figures 8 and 9]."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.retarget.body import Body
from understudy.retarget.contacts import Phases
from understudy.retarget.poses import Poses


def body_height(body: Body, poses: Poses) -> float:
    """Metres, of the figure at rest: what slide and penetration are measured against."""
    rest = Poses.rest(poses.skeleton).world
    centres = np.einsum("jab,jb->ja", rest[0, :, :3, :3], body.centres) + rest[0, :, :3, 3]
    points = np.concatenate([rest[0, :, :3, 3], centres[body.masses > 0], body.contact_positions(rest)[0]])
    return float(np.ptp(points[:, 1])) or 1.0


def slide(positions: Array, phases: Phases, rate: float) -> Array:
    """(n,) metres a second along the floor, of every step that a contact point (F, K, 3) is down at both ends of."""
    speed = np.linalg.norm(np.diff(positions[..., [0, 2]], axis=0), axis=2) * rate
    return np.asarray(speed[phases.down[1:] & phases.down[:-1]])


def penetration(positions: Array) -> float:
    """Metres that the deepest contact point (F, K, 3) is below the floor."""
    return float(max(0.0, -positions[..., 1].min(initial=0.0)))
