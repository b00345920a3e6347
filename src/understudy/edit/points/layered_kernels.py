"""States of points of a layered rig, one sample after the other: the rules, the joints, the lattice (see `layered`)."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.edit.points.layered import LatticeControls, Rules
from understudy.edit.points.skeletal import Anchors, JointChain, JointFrames
from understudy.edit.points.skeletal_kernels import accumulate_ancestors, fill_frame, fill_state
from understudy.maths.jit import compile_kernel


@compile_kernel(nogil=True)
def components(rules: Rules, values: Array, p: Array, q: Array, slopes: Array) -> None:
    """q (Q,) for values (n,), and dq/dc as `slopes` (E,) of the entries; p (P,) is scratch memory."""
    first, column, drive = rules.first, rules.column, rules.drive
    for i in range(rules.place.size):
        total = 0.0
        for e in range(first[i], first[i + 1]):
            c = column[e]
            total += drive[e] * (min(max(values[c], rules.low[c]), rules.high[c]) - rules.rest[c])
            slopes[e] = drive[e]
        p[i] = total
    for k in range(rules.corrective_gain.size):
        i, one, other, gain = (
            rules.corrective[k, 0],
            rules.corrective[k, 1],
            rules.corrective[k, 2],
            rules.corrective_gain[k],
        )
        a, a_rises = ramp(rules, column[one], values)
        b, b_rises = ramp(rules, column[other], values)
        p[i] += gain * a * b
        slopes[one] += gain * a_rises * b
        slopes[other] += gain * a * b_rises
    for k in range(rules.toward_target.size):
        i, entry, c = rules.toward[k, 0], rules.toward[k, 1], rules.toward_rest[k]
        if entry >= 0:
            c = min(max(values[column[entry]], rules.low[column[entry]]), rules.high[column[entry]])
        w, left = min(max(c, 0.0), 1.0), rules.toward_target[k] - p[i]
        for e in range(first[i], first[i + 1]):
            slopes[e] *= 1.0 - w
        if entry >= 0 and 0.0 <= c <= 1.0:
            slopes[entry] += left
        p[i] += w * left
    for n in range(q.size):
        q[n] = rules.start[n]
    for i in range(rules.place.size):
        low, high = rules.least[i], rules.most[i]
        q[rules.place[i]] += min(max(p[i], low), high) * rules.gain[i]
        gain = rules.gain[i] if low <= p[i] <= high else 0.0
        for e in range(first[i], first[i + 1]):
            c = column[e]
            slopes[e] *= gain if rules.low[c] <= values[c] <= rules.high[c] else 0.0


@compile_kernel(nogil=True)
def ramp(rules: Rules, c: int, values: Array) -> tuple[float, float]:
    """The position of a control between rest and its upper end, 0 to 1, and its derivative."""
    share = (min(max(values[c], rules.low[c]), rules.high[c]) - rules.rest[c]) / rules.reach[c]
    return min(max(share, 0.0), 1.0), 1.0 / rules.reach[c] if 0.0 <= share <= 1.0 else 0.0


@compile_kernel(nogil=True)
def spline(t: float) -> tuple[float, float]:
    """B(t) of `character.skinning.layered`, and its derivative."""
    if t < 0.0 or t >= 3.0:
        return 0.0, 0.0
    if t < 1.0:
        return 0.5 * t * t, t
    if t < 2.0:
        return 0.5 * (-2.0 * t * t + 6.0 * t - 3.0), 3.0 - 2.0 * t
    return 0.5 * (3.0 - t) * (3.0 - t), t - 3.0


@compile_kernel(nogil=True)
def bend_point(
    cage: LatticeControls,
    rules: Rules,
    bones: JointChain,
    at: JointFrames,
    values: Array,
    position: Array,
    slopes: bool,
    by_q: Array,
    jacobian: Array,
) -> None:
    """Bend one point of the only sample: position (3,), derivatives by q (1, 6, Q) and by columns (6, n)."""
    linear, j = at.linear[0, cage.bone], cage.joint_from_rest
    a, inverse, u, d = np.zeros((3, 3)), np.empty((3, 3)), np.empty(3), np.zeros(3)
    for r in range(3):
        for c in range(3):
            for k in range(3):
                a[r, c] += linear[r, k] * j[k, c]
    invert(a, inverse)
    for r in range(3):
        u[r] = 0.0
        for k in range(3):
            origin = at.origin[0, cage.bone, k]
            for c in range(3):
                origin += linear[k, c] * j[c, 3]
            u[r] += inverse[r, k] * (position[k] - origin)
    for r in range(3):
        cells = (u[r] - cage.low[r]) / cage.cell[r]
        if not 0.0 < cells < cage.counts[r] + 2.0:
            return
    grown = np.zeros((3, 3))  # dd/du
    for n in range(cage.gain.size):
        x, dx = spline((u[0] - cage.low[0]) / cage.cell[0] - cage.point[n, 0])
        y, dy = spline((u[1] - cage.low[1]) / cage.cell[1] - cage.point[n, 1])
        z, dz = spline((u[2] - cage.low[2]) / cage.cell[2] - cage.point[n, 2])
        c, axis = cage.column[n], cage.axis[n]
        offset = cage.gain[n] * (min(max(values[c], rules.low[c]), rules.high[c]) - rules.rest[c])
        d[axis] += offset * (x * y * z)
        if slopes:
            grown[axis, 0] += offset * (dx * y * z) / cage.cell[0]
            grown[axis, 1] += offset * (x * dy * z) / cage.cell[1]
            grown[axis, 2] += offset * (x * y * dz) / cage.cell[2]
            if rules.low[c] <= values[c] <= rules.high[c]:
                for r in range(3):
                    jacobian[r, c] += x * y * z * cage.gain[n] * a[r, axis]
    for r in range(3):
        position[r] += a[r, 0] * d[0] + a[r, 1] * d[1] + a[r, 2] * d[2]
    if slopes:
        change = np.zeros((3, 3))  # A (1 + dd/du) A^-1
        for r in range(3):
            for c in range(3):
                change[r, c] = 1.0 * (r == c)
                for k in range(3):
                    for m in range(3):
                        change[r, c] += a[r, k] * grown[k, m] * inverse[m, c]
        local = np.empty(3)
        transform_point(j, u, local)
        accumulate_ancestors(bones, at, 0, cage.bone, -1.0, local, by_q, 0)
        for n in range(by_q.shape[2]):
            x, y, z = by_q[0, 0, n], by_q[0, 1, n], by_q[0, 2, n]
            if x != 0.0 or y != 0.0 or z != 0.0:
                for r in range(3):
                    by_q[0, r, n] = change[r, 0] * x + change[r, 1] * y + change[r, 2] * z
        for r in range(3):
            u[r] += d[r]
        transform_point(j, u, local)
        accumulate_ancestors(bones, at, 0, cage.bone, 1.0, local, by_q, 0)


@compile_kernel(nogil=True)
def transform_point(j: Array, u: Array, out: Array) -> None:
    """out = j (u, 1)."""
    for r in range(3):
        out[r] = j[r, 0] * u[0] + j[r, 1] * u[1] + j[r, 2] * u[2] + j[r, 3]


@compile_kernel(nogil=True)
def invert(a: Array, out: Array) -> None:
    """The inverse of a (3, 3), by cofactors; a singular one raises, as in NumPy."""
    for r in range(3):
        for c in range(3):
            i, k, m, n = (c + 1) % 3, (c + 2) % 3, (r + 1) % 3, (r + 2) % 3
            out[r, c] = a[i, m] * a[k, n] - a[i, n] * a[k, m]
    det = a[0, 0] * out[0, 0] + a[0, 1] * out[1, 0] + a[0, 2] * out[2, 0]
    for r in range(3):
        for c in range(3):
            out[r, c] /= det


@compile_kernel(nogil=True)
def accumulate_columns(rules: Rules, slopes: Array, by_q: Array, out: Array) -> None:
    """out (6, n) += ds/dq dq/dc of by_q (6, Q)."""
    for i in range(rules.place.size):
        q = rules.place[i]
        for a in range(6):
            amount = by_q[a, q]
            if amount != 0.0:
                for e in range(rules.first[i], rules.first[i + 1]):
                    out[a, rules.column[e]] += amount * slopes[e]


@compile_kernel(nogil=True)
def evaluate(
    rules: Rules,
    cage: LatticeControls,
    bones: JointChain,
    anchors: Anchors,
    values: Array,
    order: Array,
    first: Array,
    point: Array,
    position: Array,
    orientation: Array,
    jacobian: Array,
) -> None:
    """States of all requests and, unless it is empty, a zeroed jacobian (R, 6, n), for values (S, n).

    The requests of sample k are order[first[k] : first[k + 1]].
    """
    joints, sloping = bones.parents.size, jacobian.size > 0
    three, nine = np.empty((3, 1, joints, 3)), np.empty((3, 1, joints, 3, 3))
    at = JointFrames(three[0], nine[0], three[1], np.empty((1, joints, 4, 3)), nine[1], three[2], nine[2])
    q, p, slopes = np.empty(rules.start.size), np.empty(rules.place.size), np.empty(rules.column.size)
    y, by_q = np.empty(3), np.zeros((1, 6, q.size))
    place, turn, none = np.empty((1, 3)), np.empty((1, 3, 3)), np.empty((6, 0))
    for k in range(values.shape[0]):
        if first[k] == first[k + 1]:
            continue
        components(rules, values[k], p, q, slopes)
        fill_frame(bones, q, 0, at)
        for n in range(first[k], first[k + 1]):
            r = order[n]
            out = jacobian[r] if sloping else none
            layered_state(
                rules, cage, bones, anchors, at, values[k], q, slopes, point[r], y, place, turn, sloping, by_q, out
            )
            position[r], orientation[r] = place[0], turn[0]


@compile_kernel(nogil=True)
def layered_state(
    rules: Rules,
    cage: LatticeControls,
    bones: JointChain,
    anchors: Anchors,
    at: JointFrames,
    values: Array,
    q: Array,
    slopes: Array,
    point: int,
    y: Array,
    place: Array,
    turn: Array,
    sloping: bool,
    by_q: Array,
    out: Array,
) -> None:
    """State of a point at the only sample: place (1, 3), turn (1, 3, 3) and, if `sloping`, ds/dc added to `out`.

    y (3,) and by_q (1, 6, Q) are scratch memory.
    """
    place[:] = 0.0
    if sloping:
        by_q[:] = 0.0
    fill_state(bones, anchors, at, q, 0, point, y, place, turn, sloping, by_q, 0)
    if cage.inside[point]:
        bend_point(cage, rules, bones, at, values, place[0], sloping, by_q, out)
    if sloping:
        accumulate_columns(rules, slopes, by_q[0], out)
