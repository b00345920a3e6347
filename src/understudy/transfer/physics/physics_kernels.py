"""Compiled loops of `collisions` and `spring_limbs`.

distances    segments of capsules: `collisions`
swing        springs of one limb: `spring_limbs`
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import compile_kernel


@compile_kernel()
def distances(start: Array, end: Array, first: Array, second: Array, distance: Array, normal: Array) -> None:
    """Distances of pairs (C,) of segments from (F, L, 3) to (F, L, 3) [Ericson 2005, 5.1.9]."""
    tiny = 1e-18
    d1, d2, r = np.empty(3), np.empty(3), np.empty(3)
    for n in range(len(start)):
        for i in range(len(first)):
            a = e = f = c = b = 0.0
            for k in range(3):
                d1[k] = end[n, first[i], k] - start[n, first[i], k]
                d2[k] = end[n, second[i], k] - start[n, second[i], k]
                r[k] = start[n, first[i], k] - start[n, second[i], k]
                a += d1[k] * d1[k]
                e += d2[k] * d2[k]
                f += d2[k] * r[k]
                c += d1[k] * r[k]
                b += d1[k] * d2[k]
            denominator = a * e - b * b
            s = min(max((b * f - c * e) / denominator, 0.0), 1.0) if denominator > tiny else 0.0
            t = (b * s + f) / max(e, tiny)
            if t < 0:
                s = min(max(-c / max(a, tiny), 0.0), 1.0)
            elif t > 1:
                s = min(max((b - c) / max(a, tiny), 0.0), 1.0)
            t = min(max(t, 0.0), 1.0)
            square = 0.0
            for k in range(3):
                r[k] += s * d1[k] - t * d2[k]
                square += r[k] * r[k]
            size = np.sqrt(square)
            distance[n, i] = size
            for k in range(3):
                normal[n, i, k] = r[k] / size if size > 0 else (1.0 if k == 1 else 0.0)


@compile_kernel(inline="always")
def multiply(a: Array, b: Array, out: Array) -> None:
    """The product of quaternions x, y, z, w."""
    x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1]
    y = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0]
    z = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3]
    w = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]
    out[0], out[1], out[2], out[3] = x, y, z, w


@compile_kernel(inline="always")
def rotate(q: Array, v: Array, out: Array) -> None:
    """v rotated by q, as v + 2 w (u x v) + 2 u x (u x v)."""
    a = 2 * (q[1] * v[2] - q[2] * v[1])
    b = 2 * (q[2] * v[0] - q[0] * v[2])
    c = 2 * (q[0] * v[1] - q[1] * v[0])
    x = v[0] + q[3] * a + q[1] * c - q[2] * b
    y = v[1] + q[3] * b + q[2] * a - q[0] * c
    z = v[2] + q[3] * c + q[0] * b - q[1] * a
    out[0], out[1], out[2] = x, y, z


@compile_kernel()
def slerp(a: Array, b: Array, share: float, out: Array) -> None:
    """Between two rotations, along the shorter arc."""
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = 1.0 if dot >= 0 else -1.0
    angle = np.arccos(min(abs(dot), 1.0))
    first, second = 1 - share, sign * share
    if angle > 1e-4:
        first = np.sin((1 - share) * angle) / np.sin(angle)
        second = sign * np.sin(share * angle) / np.sin(angle)
    size = 0.0
    for i in range(4):
        out[i] = first * a[i] + second * b[i]
        size += out[i] * out[i]
    size = np.sqrt(size)
    for i in range(4):
        out[i] /= size


@compile_kernel()
def quaternion_from_two_vectors(a: Array, b: Array, out: Array) -> None:
    """The least rotation that turns direction a to b; they are never opposite here."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    sizes = np.sqrt((a[0] ** 2 + a[1] ** 2 + a[2] ** 2) * (b[0] ** 2 + b[1] ** 2 + b[2] ** 2))
    out[3] = sizes + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    size = np.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2 + out[3] ** 2)
    if size < 1e-18:
        out[:] = 0.0
        out[3] = 1.0
        return
    for i in range(4):
        out[i] /= size


@compile_kernel()
def step_tip(place: Array, bone: Array, tip: Array, speed: Array, h: float, least_cosine: float) -> None:
    """The tip after a step at its speed, kept at the bone's length and within the angle; then its true speed."""
    square = bone[0] ** 2 + bone[1] ** 2 + bone[2] ** 2
    long = np.sqrt(square)
    away = tip + h * speed - place
    size = np.sqrt(away[0] ** 2 + away[1] ** 2 + away[2] ** 2)
    if size > 0:
        away *= long / size
    cosine = (away[0] * bone[0] + away[1] * bone[1] + away[2] * bone[2]) / max(square, 1e-24)
    if cosine < least_cosine:
        aside = away - cosine * bone
        size = np.sqrt(aside[0] ** 2 + aside[1] ** 2 + aside[2] ** 2)
        if size < 1e-12:
            away[:] = bone
        else:
            away[:] = least_cosine * bone + np.sqrt((1 - least_cosine**2) * square) / size * aside
    for k in range(3):
        new = place[k] + away[k]
        speed[k] = (new - tip[k]) / h
        tip[k] = new


@compile_kernel()
def swing(
    turns: Array,
    starts: Array,
    goals: Array,
    bones: Array,
    offsets: Array,
    rates: Array,
    h: float,
    steps: int,
    damping: float,
    gravity: Array,
    least_cosine: float,
    out: Array,
) -> None:
    """All frames of one limb, see `spring_limbs`."""
    count = goals.shape[1]
    tips, speeds, before = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3))
    turn, local, wanted, turned, back = np.empty(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    place, bone, reach = np.empty(3), np.empty(3), np.empty(3)
    for f in range(len(goals)):
        last = max(f - 1, 0)
        for step in range(steps if f > 0 else 1):
            share = (step + 1) / steps if f > 0 else 1.0
            slerp(turns[last], turns[f], share, turn)
            for k in range(3):
                place[k] = starts[last, k] + share * (starts[f, k] - starts[last, k])
            for i in range(count):
                slerp(goals[last, i], goals[f, i], share, local)
                if i > 0:
                    rotate(turn, offsets[i], reach)
                    place += reach
                multiply(turn, local, wanted)
                rotate(wanted, bones[i], bone)
                for k in range(3):
                    goal = place[k] + bone[k]
                    if f == 0:
                        tips[i, k] = goal
                    else:
                        pull = rates[i] ** 2 * (goal - tips[i, k]) + gravity[k]
                        pull += 2 * damping * rates[i] * ((goal - before[i, k]) / h - speeds[i, k])
                        speeds[i, k] += h * pull
                    before[i, k] = goal
                if f > 0:
                    step_tip(place, bone, tips[i], speeds[i], h, least_cosine)
                quaternion_from_two_vectors(bone, tips[i] - place, local)
                multiply(local, wanted, turned)
                for k in range(3):
                    back[k] = -turn[k]
                back[3] = turn[3]
                multiply(back, turned, out[f, i])
                turn[:] = turned
