"""What errors of columns do in the world, to first order: joints move and turn with the columns above them.

A column c that turns joint j by the axis A_c (radians for one of its units, in the world) or moves it along D_c, and
that is off by e, puts every joint i below j off by

    position  e (D_c + A_c x (x_i - x_j))        turn  e A_c

Errors of all columns add up; the sums for all joints are kept, and a change of a few columns in a stretch of time is
judged by what it makes of them. Columns that move no joint (shape weights) have a band of their own instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import compiled


class World(NamedTuple):
    """C columns and J joints at M samples."""

    joint: Array  # (C,) int, the joint a column moves, or -1
    axis: Array  # (C, M, 3) radians in the world for one unit of the column
    along: Array  # (C, M, 3) metres in the world for one unit
    place: Array  # (M, J, 3) metres, joints of the source
    first: Array  # (J + 1,) int, where the joints below each begin in `below`
    below: Array  # (B,) int, each joint itself first
    offset: Array  # (M, J, 3) metres, the error of each joint now
    turn: Array  # (M, J, 3) radians
    reach: Array  # (M, J) 1 / tolerance on positions
    reach_turn: Array  # (J,) 1 / tolerance on orientations
    error: Array  # (C, M) of the columns now
    band: Array  # (C, M) 1 / tolerance on columns that move no joint, 0 for the others


@compiled()
def _change(world: World, columns: Array, m: int, delta: Array, w: int, moved: Array, d: Array) -> None:
    """Into d (J, 6) the change of offsets and turns at sample m by delta (n, W)[:, w]; tells the joints moved (J,)."""
    n = len(columns)
    i = 0
    while i < n:
        joint = world.joint[columns[i]]
        if joint < 0:
            i += 1
            continue
        ax, ay, az, tx, ty, tz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        while i < n and world.joint[columns[i]] == joint:
            c, e = columns[i], delta[i, w]
            ax += e * world.axis[c, m, 0]
            ay += e * world.axis[c, m, 1]
            az += e * world.axis[c, m, 2]
            tx += e * world.along[c, m, 0]
            ty += e * world.along[c, m, 1]
            tz += e * world.along[c, m, 2]
            i += 1
        x0, y0, z0 = world.place[m, joint, 0], world.place[m, joint, 1], world.place[m, joint, 2]
        for b in range(world.first[joint], world.first[joint + 1]):
            j = world.below[b]
            x, y, z = world.place[m, j, 0] - x0, world.place[m, j, 1] - y0, world.place[m, j, 2] - z0
            if not moved[j]:
                moved[j] = True
                d[j, :] = 0.0
            d[j, 0] += tx + ay * z - az * y
            d[j, 1] += ty + az * x - ax * z
            d[j, 2] += tz + ax * y - ay * x
            d[j, 3] += ax
            d[j, 4] += ay
            d[j, 5] += az


@compiled()
def worst(world: World, columns: Array, start: int, delta: Array, limit: float) -> float:
    """The largest error, in tolerances, of anything that delta (n, W) from sample `start` on would move.

    Errors that shrink do not count. Stops early with what it has once that is above `limit`.
    """
    n, width = delta.shape
    d, moved = np.empty((world.place.shape[1], 6)), np.zeros(world.place.shape[1], np.bool_)
    most = 0.0
    for w in range(width):
        m = start + w
        for i in range(n):
            c = columns[i]
            if world.band[c, m] > 0:
                old, new = abs(world.error[c, m]), abs(world.error[c, m] + delta[i, w])
                if new > old:
                    most = max(most, new * world.band[c, m])
        moved[:] = False
        _change(world, columns, m, delta, w, moved, d)
        for j in range(len(moved)):
            if not moved[j]:
                continue
            old = new = old_turn = new_turn = 0.0
            for a in range(3):
                old += world.offset[m, j, a] ** 2
                new += (world.offset[m, j, a] + d[j, a]) ** 2
                old_turn += world.turn[m, j, a] ** 2
                new_turn += (world.turn[m, j, a] + d[j, 3 + a]) ** 2
            if new > old:
                most = max(most, np.sqrt(new) * world.reach[m, j])
            if new_turn > old_turn:
                most = max(most, np.sqrt(new_turn) * world.reach_turn[j])
        if most > limit:
            return most
    return most


@compiled()
def apply(world: World, columns: Array, start: int, delta: Array) -> None:
    """Add the change to the errors kept."""
    n, width = delta.shape
    d, moved = np.empty((world.place.shape[1], 6)), np.zeros(world.place.shape[1], np.bool_)
    for w in range(width):
        m = start + w
        moved[:] = False
        _change(world, columns, m, delta, w, moved, d)
        for j in range(len(moved)):
            if moved[j]:
                for a in range(3):
                    world.offset[m, j, a] += d[j, a]
                    world.turn[m, j, a] += d[j, 3 + a]
        for i in range(n):
            world.error[columns[i], m] += delta[i, w]


@compiled(inline="always")
def _shift(world: World, c: int, joint: int, m: int, j: int) -> tuple[float, float, float]:
    """How one unit of column c, which turns and shifts `joint`, moves joint j below it: along + axis x arm."""
    ax, ay, az = world.axis[c, m, 0], world.axis[c, m, 1], world.axis[c, m, 2]
    x = world.place[m, j, 0] - world.place[m, joint, 0]
    y = world.place[m, j, 1] - world.place[m, joint, 1]
    z = world.place[m, j, 2] - world.place[m, joint, 2]
    return (
        world.along[c, m, 0] + ay * z - az * y,
        world.along[c, m, 1] + az * x - ax * z,
        world.along[c, m, 2] + ax * y - ay * x,
    )


@compiled()
def levers(world: World, out: Array) -> None:
    """out (C, M): the error in tolerances that one unit of each column makes at the joint that suffers most."""
    for c in range(len(world.joint)):
        joint = world.joint[c]
        for m in range(world.place.shape[0]):
            if joint < 0:
                out[c, m] = world.band[c, m]
                continue
            ax, ay, az = world.axis[c, m, 0], world.axis[c, m, 1], world.axis[c, m, 2]
            turn = np.sqrt(ax * ax + ay * ay + az * az)
            most = 0.0
            for b in range(world.first[joint], world.first[joint + 1]):
                j = world.below[b]
                px, py, pz = _shift(world, c, joint, m, j)
                most = max(most, np.sqrt(px * px + py * py + pz * pz) * world.reach[m, j], turn * world.reach_turn[j])
            out[c, m] = most


@compiled()
def aim(world: World, c: int, bound: Array, target: Array, weight: Array) -> None:
    """What column c should be off by, target (M,), to make up for the errors of the others, and how much it matters.

    At each sample the sum over the joints below of w |E + (t - e) g|^2 in tolerances, with E their errors, g what one
    unit of the column does to them and e its error now, is least at t = e - (sum w g.E) / (sum w g.g). Joints that are
    far off weigh more, so that the largest errors shrink first. bound (M,), in tolerances for one unit, pulls back to
    no error: a column of a quaternion that turns next to nothing just now would else go any way for it.
    """
    joint = world.joint[c]
    for m in range(world.place.shape[0]):
        if joint < 0:
            target[m], weight[m] = 0.0, world.band[c, m]
            continue
        ax, ay, az = world.axis[c, m, 0], world.axis[c, m, 1], world.axis[c, m, 2]
        whole = 1e-12 + world.band[c, m] ** 2  # a column that is kept for itself, as at its peaks, stays there
        part = world.band[c, m] ** 2 * world.error[c, m]
        heaviest = 0.0
        for b in range(world.first[joint], world.first[joint + 1]):
            j = world.below[b]
            px, py, pz = _shift(world, c, joint, m, j)
            ex, ey, ez = world.offset[m, j, 0], world.offset[m, j, 1], world.offset[m, j, 2]
            tx, ty, tz = world.turn[m, j, 0], world.turn[m, j, 1], world.turn[m, j, 2]
            near, turning = world.reach[m, j] ** 2, world.reach_turn[j] ** 2
            off = max((ex * ex + ey * ey + ez * ez) * near, (tx * tx + ty * ty + tz * tz) * turning)
            w = (0.05 + off) ** 2
            heaviest = max(heaviest, w)
            whole += w * ((px * px + py * py + pz * pz) * near + (ax * ax + ay * ay + az * az) * turning)
            part += w * ((px * ex + py * ey + pz * ez) * near + (ax * tx + ay * ty + az * tz) * turning)
        pull = heaviest * bound[m] ** 2
        target[m] = world.error[c, m] - (part + pull * world.error[c, m]) / (whole + pull)
        weight[m] = np.sqrt(whole + pull)
