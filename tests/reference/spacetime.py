"""Slow, obvious twins of the kernels of `transfer.physics.spacetime`: residuals by definition, the cone by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

from understudy.checks import Array

PYRAMID = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def pose(problem: Any, d: Array) -> tuple[Array, Array]:
    """World rotations (F, A, 3, 3) and places (F, A, 3) of the bodies."""
    f = problem.figure
    turns, places = np.empty_like(problem.wanted), np.empty_like(problem.places)
    for a, above in enumerate(f.parents):
        own = slice(f.first[a], f.first[a + 1])
        turn = Rotation.from_rotvec(d[:, own] @ f.axes[own]).as_matrix()
        if above < 0:
            turns[:, a], places[:, a] = problem.wanted[:, a] @ turn, problem.places[:, a] + d[:, :3]
            continue
        moved = turns[:, above] @ np.swapaxes(problem.wanted[:, above], 1, 2)
        turns[:, a] = moved @ problem.wanted[:, a] @ turn
        away = problem.places[:, a] - problem.places[:, above]
        places[:, a] = places[:, above] + (moved @ away[..., None])[..., 0]
    return turns, places


def ride(turns: Array, places: Array, bodies: Array, offsets: Array) -> Array:
    """(F, P, 3) points at offsets (F, P, 3) of bodies (P,)."""
    return np.asarray((turns[:, bodies] @ offsets[..., None])[..., 0] + places[:, bodies])


def nearest_wrench(needed: Array, arms: Array, friction: float, scale: Array) -> Array:
    """(6,) the wrench of friction pyramids at `arms` (k, 3) from the centre of mass that is nearest to `needed`."""
    if not len(arms):
        return np.zeros(6)
    edges = np.array([[friction * x, 1.0, friction * z] for x, z in PYRAMID])
    cone = np.array([[*edge, *np.cross(arm, edge)] for arm in arms for edge in edges]).T
    return np.asarray(cone @ nnls(scale[:, None] * cone, scale * needed)[0])


def costs(problem: Any, d: Array, friction: float) -> dict[str, float]:
    """The cost of each kind of residual, as `_Problem.evaluate`."""
    p, f, c, rate = problem, problem.figure, problem.contacts, problem.rate
    turns, places = pose(p, d)
    between = turns @ np.swapaxes(p.wanted, 2, 3)
    angles = Rotation.from_matrix(between.reshape(-1, 3, 3)).as_rotvec().reshape(*between.shape[:2], 3)
    points, skin = ride(turns, places, c.bodies, c.offsets), ride(turns, places, f.skin_bodies, f.skin_offsets)
    masses = ride(turns, places, f.mass_bodies, f.mass_offsets)
    share = f.mass_shares[:, None]
    centre = (share * masses).sum(axis=1)
    rel = masses - centre[:, None]
    middle, step = 0.5 * (rel[1:] + rel[:-1]), np.diff(rel, axis=0)
    spin = rate * (share * np.cross(middle, step)).sum(axis=1)
    acceleration = rate**2 * np.diff(centre, 2, axis=0)
    beyond = np.minimum(d - p.low, 0) + np.maximum(d - p.high, 0)
    y = points[..., 1]
    lying = np.where(y < 0, np.maximum(p.lying, p.sinking), p.lying)
    low = 0.5 * (y[1:] + y[:-1])
    near = np.where(low < p.near, np.clip(1 - low / p.near, 0, 1), 0.0) ** 4
    level = np.square(np.diff(points[..., [0, 2]], axis=0)).sum(axis=2)
    wrench, scale = 0.0, np.sqrt(p.wrench_weight)
    for t in range(1, len(d) - 1):
        needed = np.concatenate([acceleration[t - 1], rate * (spin[t] - spin[t - 1])])
        needed[1] += p.gravity[t]
        given = nearest_wrench(needed, points[t, c.down[t]] - centre[t], friction, scale)
        wrench += float(c.known[t]) * float((p.wrench_weight * np.square(needed - given)).sum())
    return {
        "orientation": float((p.track[..., None] * np.square(angles)).sum()),
        "change": float((p.prior * np.square(d)).sum()),
        "smooth": float((p.smooth * np.square(np.diff(d, 2, axis=0))).sum()),
        "limits": float(p.limit * np.square(beyond).sum()),
        "height": float((lying * np.square(y)).sum()),
        "skin": float(p.sinking * np.square(np.minimum(skin[..., 1], 0)).sum()),
        "slide": float((np.maximum(p.pinned, p.rubbing * near) * level).sum()),
        "velocity": float((p.velocity_weight * np.square(rate * np.diff(centre, axis=0) - p.velocity)).sum()),
        "spin": float((p.spin_weight * np.square(spin - p.spin)).sum()),
        "fall": float((p.fall_weight[1:-1] * np.square(acceleration - p.fall[1:-1])).sum()),
        "wrench": wrench,
    }
