"""What stands on one base and never leaves the floor in any of its pairs, as a snake: it glides.

It does not hop for each step of the actor, only where he is in the air himself. Nor is its base held: most of its
weight swings beside it, harder than friction could hold, so that forces would be one and a half times as large. It goes
along the way that the actor's momentum asks for, as a boat whose crew moves, and is kept on the floor. Its base keeps
the form that it was posed in: a snake's tail winds.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.features.root import smooth
from understudy.retarget.body import Body
from understudy.retarget.contacts import Phases
from understudy.retarget.poses import Poses

SETTLES = 0.05  # seconds in which it comes to lie on the floor


def stays_down(heights: Array, near: float) -> bool:
    """Whether some contact of each pose (N, K) is lower than `near`: a figure that was never posed in the air."""
    return bool(heights.size) and bool((heights.min(axis=1) < near).all())


def standing(phases: Phases) -> Phases:
    """When contacts are down and do not glide; all that are down where nothing ever stands."""
    if phases.gliding is None:
        return phases
    down = phases.down & ~phases.gliding[:, None]
    return Phases(phases.names, down) if down.any() else phases


def on_floor(poses: Poses, body: Body, phases: Phases) -> Poses:
    """Poses raised and lowered as a whole, so that the lowest contact is on the floor, and never below it."""
    used = np.flatnonzero(phases.down.any(axis=0))
    lowest = body.contact_positions(poses.world)[:, used, 1].min(axis=1)
    wanted = np.where(phases.down.any(axis=1), -lowest, np.maximum(-lowest, 0.0))
    shift = np.broadcast_to(np.eye(4), (len(poses), 4, 4)).copy()
    shift[:, 1, 3] = np.maximum(smooth(wanted[:, None], SETTLES * poses.rate)[:, 0], -lowest)
    return poses.moved(shift)
