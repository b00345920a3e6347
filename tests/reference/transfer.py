"""Slow oracles of the kernels of `understudy.transfer`."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import quaternion, vector


def swing(
    turns: Array,  # (F, 4) world rotation of the limb's parent
    starts: Array,  # (F, 3) where the limb begins, world
    goals: Array,  # (F, n, 4) local rotations
    bones: Array,  # (n, 3) joint to tip, metres in the joint's frame
    offsets: Array,  # (n, 3) from the joint before, metres in that joint's frame
    rates: Array,  # (n,) w
    h: float,
    steps: int,
    damping: float,
    gravity: Array,  # (3,)
    least_cosine: float,
    out: Array,  # (F, n, 4) local rotations
) -> None:
    """`physics_kernels.swing`."""
    count = goals.shape[1]
    tips, speeds, before = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3))
    for f in range(len(goals)):
        for step in range(steps if f else 1):
            share = (step + 1) / steps if f else 1.0
            last = max(f - 1, 0)
            turn = quaternion.slerp(turns[last], turns[f], share)
            place = starts[last] + share * (starts[f] - starts[last])
            for i in range(count):
                local = quaternion.slerp(goals[last, i], goals[f, i], share)
                if i:
                    place = place + quaternion.rotate(turn, offsets[i])
                wanted = quaternion.multiply(turn, local)
                bone = quaternion.rotate(wanted, bones[i])
                goal = place + bone
                if f == 0:
                    tips[i], speeds[i] = goal, 0.0
                else:
                    pull = rates[i] ** 2 * (goal - tips[i]) + gravity
                    pull += 2 * damping * rates[i] * ((goal - before[i]) / h - speeds[i])
                    speeds[i] = speeds[i] + h * pull
                    old = tips[i].copy()
                    away = vector.normalise(old + h * speeds[i] - place) * np.linalg.norm(bone)
                    tips[i] = place + _clamp_angle(away, bone, least_cosine)
                    speeds[i] = (tips[i] - old) / h
                before[i] = goal
                turned = quaternion.multiply(quaternion.from_two_vectors(bone, tips[i] - place), wanted)
                out[f, i] = quaternion.multiply(quaternion.conjugate(turn), turned)
                turn = turned


def distances(start: Array, end: Array, first: Array, second: Array, distance: Array, normal: Array) -> None:
    """Distances of pairs (C,) of segments from (F, L, 3) to (F, L, 3) [Ericson 2005, 5.1.9]."""
    p, q = start[:, first], start[:, second]
    d1, d2, r = end[:, first] - p, end[:, second] - q, p - q
    a, e, f = vector.dot(d1, d1), vector.dot(d2, d2), vector.dot(d2, r)
    c, b = vector.dot(d1, r), vector.dot(d1, d2)
    denominator = a * e - b * b
    tiny = 1e-18
    s = np.where(denominator > tiny, np.clip((b * f - c * e) / np.maximum(denominator, tiny), 0, 1), 0.0)
    t = (b * s + f) / np.maximum(e, tiny)
    s = np.where(t < 0, np.clip(-c / np.maximum(a, tiny), 0, 1), s)
    s = np.where(t > 1, np.clip((b - c) / np.maximum(a, tiny), 0, 1), s)
    t = np.clip(t, 0, 1)
    between = r + s[..., None] * d1 - t[..., None] * d2
    distance[...] = vector.length(between)
    normal[...] = vector.normalise(between, otherwise=(0.0, 1.0, 0.0))


def _clamp_angle(away: Array, bone: Array, least_cosine: float) -> Array:
    """`away` (3,), turned towards `bone` (3,) until the angle between them is allowed; both have one length."""
    square = float(bone @ bone)
    cosine = float(away @ bone) / max(square, 1e-24)
    if cosine >= least_cosine:
        return away
    aside = away - cosine * bone
    size = float(np.linalg.norm(aside))
    if size < 1e-12:
        return bone
    return np.asarray(least_cosine * bone + np.sqrt((1 - least_cosine**2) * square) / size * aside)
