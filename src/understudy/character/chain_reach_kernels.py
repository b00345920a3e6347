"""The compiled twin of `chain_reach`."""

from __future__ import annotations

from math import acos, atan2, cos, pi, sin, sqrt

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import FAST, compiled


@compiled(fastmath=FAST, error_model="numpy")
def _turn(vector: Array, turn: Array) -> None:
    """turn (3, 3) = exp(vector), by Rodrigues."""
    angle = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])
    if angle < 1e-12:
        x, y, z, s, c = 0.0, 0.0, 0.0, 0.0, 1.0
    else:
        x, y, z = vector[0] / angle, vector[1] / angle, vector[2] / angle
        s, c = sin(angle), cos(angle)
    d = 1.0 - c
    turn[0, 0], turn[0, 1], turn[0, 2] = c + d * x * x, d * x * y - s * z, d * x * z + s * y
    turn[1, 0], turn[1, 1], turn[1, 2] = d * x * y + s * z, c + d * y * y, d * y * z - s * x
    turn[2, 0], turn[2, 1], turn[2, 2] = d * x * z - s * y, d * y * z + s * x, c + d * z * z


@compiled(fastmath=FAST, error_model="numpy")
def _applied(turn: Array, x: float, y: float, z: float, out: Array) -> None:
    for a in range(3):
        out[a] = turn[a, 0] * x + turn[a, 1] * y + turn[a, 2] * z


@compiled(fastmath=FAST, error_model="numpy")
def _quaternion(m: Array, out: Array) -> None:
    """The unit quaternion of a rotation m (3, 3): the largest of four divisors."""
    a, b, c = m[0, 0], m[1, 1], m[2, 2]
    if a + b + c > 0.0:
        s = 2.0 * sqrt(1.0 + a + b + c)
        out[0], out[1], out[2], out[3] = (
            (m[2, 1] - m[1, 2]) / s,
            (m[0, 2] - m[2, 0]) / s,
            (m[1, 0] - m[0, 1]) / s,
            s / 4,
        )
    elif a >= b and a >= c:
        s = 2.0 * sqrt(1.0 + a - b - c)
        out[0], out[1], out[2], out[3] = (
            s / 4,
            (m[0, 1] + m[1, 0]) / s,
            (m[0, 2] + m[2, 0]) / s,
            (m[2, 1] - m[1, 2]) / s,
        )
    elif b >= c:
        s = 2.0 * sqrt(1.0 + b - a - c)
        out[0], out[1], out[2], out[3] = (
            (m[0, 1] + m[1, 0]) / s,
            s / 4,
            (m[1, 2] + m[2, 1]) / s,
            (m[0, 2] - m[2, 0]) / s,
        )
    else:
        s = 2.0 * sqrt(1.0 + c - a - b)
        out[0], out[1], out[2], out[3] = (
            (m[0, 2] + m[2, 0]) / s,
            (m[1, 2] + m[2, 1]) / s,
            s / 4,
            (m[1, 0] - m[0, 1]) / s,
        )


@compiled(fastmath=FAST, error_model="numpy")
def _rotation(world: Array, out: Array) -> None:
    """out (3, 3): world (4, 4) without its place and scale."""
    for b in range(3):
        size = sqrt(world[0, b] ** 2 + world[1, b] ** 2 + world[2, b] ** 2)
        for a in range(3):
            out[a, b] = world[a, b] / size


@compiled(fastmath=FAST, error_model="numpy")
def _distance(a: Array, b: Array) -> float:
    return sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@compiled(fastmath=FAST, error_model="numpy")
def _fades(value: float, limit: float) -> float:
    x = min(max(0.5 * (3.0 - value / limit), 0.0), 1.0) if limit > 0.0 else 0.0
    return x * x * (3.0 - 2.0 * x)


@compiled(fastmath=FAST, error_model="numpy")
def _bend(
    first: Array,
    joint: Array,
    tip: Array,
    axis: Array,
    aim: float,
    side: Array,
    low: float,
    high: float,
    flat: float,
    gentle: float,
) -> float:
    """As `chain_reach.bend`."""
    k0, k1, k2 = joint[0] - first[0], joint[1] - first[1], joint[2] - first[2]
    w0, w1, w2 = tip[0] - joint[0], tip[1] - joint[1], tip[2] - joint[2]
    a0, a1, a2 = axis[0], axis[1], axis[2]
    a = (k0 * a0 + k1 * a1 + k2 * a2) * (a0 * w0 + a1 * w1 + a2 * w2)
    b = k0 * w0 + k1 * w1 + k2 * w2 - a
    c = k0 * (a1 * w2 - a2 * w1) + k1 * (a2 * w0 - a0 * w2) + k2 * (a0 * w1 - a1 * w0)
    size = sqrt(b * b + c * c)
    if size <= flat:
        return 0.0
    lengths = k0 * k0 + k1 * k1 + k2 * k2 + w0 * w0 + w1 * w1 + w2 * w2
    ratio = (0.5 * (aim * aim - lengths) - a) / size
    straight, opens = atan2(c, b), acos(min(max(ratio, -1.0), 1.0))
    beyond = side[0] * straight
    wrong = 0.0
    if beyond > 0.0:
        may = _fades(beyond, side[1])
        wrong = _fades(opens, beyond) * (2.0 * may + (1.0 - may) * gentle / (beyond + gentle))
    angle = straight + side[0] * opens * (1.0 - wrong)
    angle -= 2.0 * pi * round(angle / (2.0 * pi))
    return min(max(angle, low), high)


@compiled(fastmath=FAST, error_model="numpy")
def _turned(frames: Array, places: Array, joint: int, vector: Array) -> None:
    """Turn a joint and what hangs on it, in place; the first of `frames` (n + 1, 3, 3) is the parent's."""
    turn, old, moved = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    _turn(vector, turn)
    for i in range(joint, frames.shape[0] - 1):
        old[:] = frames[i + 1]
        for b in range(3):
            _applied(turn, old[0, b], old[1, b], old[2, b], moved)
            frames[i + 1, 0, b], frames[i + 1, 1, b], frames[i + 1, 2, b] = moved[0], moved[1], moved[2]
        x, y, z = places[i + 1] - places[joint]
        _applied(turn, x, y, z, moved)
        places[i + 1] = places[joint] + moved


@compiled(fastmath=FAST, error_model="numpy")
def reach(
    parent: Array,
    chain: Array,
    tip: Array,
    goal: Array,
    hinges: Array,
    sides: Array,
    room: Array,
    rounds: int,
    limits: tuple[float, float, float, float],  # FLAT, GENTLE, STRAIGHT, ASKED
    turns: Array,
    reached: Array,
) -> None:
    """Fills `turns` (n, 4) and `reached` (3,)."""
    count = chain.shape[0]
    places, frames = np.empty((count + 1, 3)), np.empty((count + 1, 3, 3))
    axis, vector, turned, old = np.empty(3), np.empty(3), np.zeros(count), np.empty((3, 3))
    _rotation(parent, frames[0])
    for i in range(count):
        _rotation(chain[i], frames[i + 1])
        places[i] = chain[i, :3, 3]
    places[count] = tip
    length = 0.0
    for i in range(count):
        length += _distance(places[i], places[i + 1])
    flat, gentle, straight, asked = limits
    now, wanted = _distance(tip, places[0]), _distance(goal, places[0])
    little = asked * length * max(1.0 - (length - now) / (straight * length), 0.0)
    x = min(abs(wanted - now) / little, 1.0) if little > 0.0 else 1.0
    wanted = now + (wanted - now) * x * x * (3.0 - 2.0 * x)
    for number in range(rounds if count > 2 else 1):
        for joint in range(1, count):
            now = _distance(places[count], places[0])
            aim = now + (wanted - now) / (count - joint if number == 0 else 1)
            _applied(frames[joint + 1], hinges[joint, 0], hinges[joint, 1], hinges[joint, 2], axis)
            low, high = room[joint, 0] - turned[joint], room[joint, 1] - turned[joint]
            tiny, side = flat * length**2, sides[joint]
            angle = _bend(places[0], places[joint], places[count], axis, aim, side, low, high, tiny, gentle)
            turned[joint] += angle
            vector[:] = angle * axis
            _turned(frames, places, joint, vector)
    u0, u1, u2 = places[count] - places[0]
    v0, v1, v2 = goal[0] - places[0, 0], goal[1] - places[0, 1], goal[2] - places[0, 2]
    vector[0], vector[1], vector[2] = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    sine = sqrt((vector**2).sum())
    vector *= atan2(sine, u0 * v0 + u1 * v1 + u2 * v2) / max(sine, 1e-300)
    _turned(frames, places, 0, vector)
    for i in range(count):
        for a in range(3):
            for b in range(3):
                old[a, b] = 0.0
                for c in range(3):
                    old[a, b] += frames[i, c, a] * frames[i + 1, c, b]
        _quaternion(old, turns[i])
    reached[:] = places[count]
