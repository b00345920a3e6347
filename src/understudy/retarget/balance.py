"""Balance: who stands still on all feet has the weight above them, or would fall over.

An actor crouches with his hips low behind his feet and his chest over them. A penguin in the same crouch has most of
its weight in head and chest, ahead of its toes. Where the centre of mass c, at the height h, is beside all that stands,
the whole figure leans about s, the nearest place of what the contacts that are down span, by

    |e| / h  radians towards it,    e = w (s - c),    w = 1 / (1 + (c' / SLOW)^2)

over feet that stay where they are. Whoever moves need not be above his feet, hence w, nor who rears or steps; a lean
comes and goes slowly.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.maths.smoothing import gaussian_smooth
from understudy.retarget.body import Body
from understudy.retarget.contacts import Phases
from understudy.retarget.height import body_height
from understudy.retarget.momentum import mass_motion
from understudy.retarget.poses import Poses

SLOW = 0.15  # of the height a second: a weight that moves so fast is half as much in need of balance
SETTLES = 0.2  # seconds in which a lean comes
MOST = 0.35  # radians: a figure that would have to lean further was not meant to stand
LEVEL = [0, 2]


def balanced(poses: Poses, body: Body, phases: Phases, points: Array, hips: Array) -> Poses:
    """Poses leaned as a whole about contacts that stand at points (F, K, 3), on legs that begin with hips (K,)."""
    lean, pivots = leans(poses, body, phases, points, hips)
    turn = quaternion.from_rotation_vector(np.stack([lean[:, 1], np.zeros(len(lean)), -lean[:, 0]], axis=1))
    moves = transform.compose(np.zeros(3), turn)
    moves[:, :3, 3] = pivots - transform.apply(moves, pivots)
    return poses.moved(moves)


def leans(poses: Poses, body: Body, phases: Phases, points: Array, hips: Array) -> tuple[Array, Array]:
    """(F, 2) radians towards +X and +Z, and (F, 3) the places on the floor about which to lean."""
    centres, height = mass_motion(poses.world, body, poses.rate).centres, body_height(body, poses)
    level, used = centres[:, LEVEL], np.flatnonzero(phases.down.any(axis=0))
    place = nearest(level, points[:, used][..., LEVEL], phases.down[:, used])
    feet = np.array([phases.down[:, used[hips[used] == hip]].any(axis=1) for hip in np.unique(hips[used])])
    speed = np.linalg.norm(np.gradient(gaussian_smooth(level, SETTLES * poses.rate), 1 / poses.rate, axis=0), axis=1)
    share = feet.all(axis=0) / (1 + np.square(speed / (SLOW * height)))
    angles = share[:, None] * (place - level) / np.maximum(centres[:, 1:2], 0.1 * height)
    angles = angles / np.sqrt(1 + np.square(np.linalg.norm(angles, axis=1, keepdims=True) / MOST))
    pivots = np.zeros((len(poses), 3))
    pivots[:, LEVEL] = place
    return gaussian_smooth(angles, SETTLES * poses.rate), pivots


def nearest(place: Array, points: Array, down: Array) -> Array:
    """(F, 2) of what points (F, K, 2) that are down (F, K) span, the nearest to places (F, 2); those where none is.

    Within a triangle of points it is the place itself, else it is on the line between two, or one of them.
    """
    best, found = np.full(len(place), np.inf), place.copy()
    for i, j in [*combinations(range(points.shape[1]), 2), *((k, k) for k in range(points.shape[1]))]:
        a, along = points[:, i], points[:, j] - points[:, i]
        share = np.einsum("fa,fa->f", place - a, along) / np.maximum(np.square(along).sum(axis=1), 1e-18)
        trial = a + np.clip(share, 0.0, 1.0)[:, None] * along
        far = np.where(down[:, i] & down[:, j], np.linalg.norm(trial - place, axis=1), np.inf)
        found = np.where((far < best)[:, None], trial, found)
        best = np.minimum(far, best)
    for corners in combinations(range(points.shape[1]), 3):
        away = points[:, corners] - place[:, None]
        side = np.stack([_cross(away[:, k], away[:, (k + 1) % 3]) for k in range(3)], axis=1)
        within = np.asarray((side > 0).all(axis=1) | (side < 0).all(axis=1)) & down[:, corners].all(axis=1)
        found = np.where(within[:, None], place, found)
    return found


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
