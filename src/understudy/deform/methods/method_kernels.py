"""Kernels of the methods: one vertex at a time, its sums in registers.

`blend_animation_space`, `find_centres` and `turn_about_centres` (`centres_of_rotation`), `add_rotated`
(`corrections.add_rotated`), `bend_styles` (`DeformationStyles.deform_reference`), `blend_multi_weight`,
`add_corrections` (the last line of `NeuroEnveloping.deform_reference`), `correct_vertices` (`WeightedPoseSpace`: for
each vertex a row of kernels over the examples, then three sums; sums may be reordered there, or they would not be
vectorised, but NaN and infinity still reach the result).

`vertex_weights` and the functions before it solve the weights of `mesh_animation_bones`. Those after it turn the
vertices of `delta_mush`, each by a rotation of Horn's quaternion (`maths.rigid_fit_kernels`).
"""

from __future__ import annotations

import numba
import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel
from understudy.maths.rigid_fit_kernels import rotation_from_covariance


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def blend_animation_space(points: Array, joints: Array, matrices: Array, out: Array) -> None:
    """out (F, V, 3) from points (V, K, 4), joints (V, K), matrices (F, B, 12), all float32."""
    for f in range(len(out)):
        for i in range(len(points)):
            x, y, z = np.float32(0), np.float32(0), np.float32(0)
            for k in range(joints.shape[1]):
                m, p = matrices[f, joints[i, k]], points[i, k]
                x += m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3] * p[3]
                y += m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7] * p[3]
                z += m[8] * p[0] + m[9] * p[1] + m[10] * p[2] + m[11] * p[3]
            out[f, i, 0], out[f, i, 1], out[f, i, 2] = x, y, z


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def find_centres(full: Array, places: Array, areas: Array, middles: Array, width: float, rest: Array, c: Array) -> None:
    """c (V, 3) of the vertices' weights (V, B) and the places' (T, B)."""
    bones = full.shape[1]
    used = np.empty(bones, np.int64)
    whole = areas.sum()
    for i in range(full.shape[0]):
        n = 0
        for b in range(bones):
            if full[i, b] > 0:
                used[n] = b
                n += 1
        amount, x, y, z = 0.0, 0.0, 0.0, 0.0
        if n > 1:
            for t in range(places.shape[0]):
                s = 0.0
                for u in range(n):
                    j = used[u]
                    for v in range(u):
                        k = used[v]
                        both = places[t, j] * places[t, k]
                        if both > 0:
                            apart = (full[i, j] * places[t, k] - full[i, k] * places[t, j]) / width
                            s += 2 * full[i, j] * full[i, k] * both * np.exp(-apart * apart)
                s *= areas[t]
                amount += s
                x += s * middles[t, 0]
                y += s * middles[t, 1]
                z += s * middles[t, 2]
        if amount > 1e-12 * whole:
            c[i, 0], c[i, 1], c[i, 2] = x / amount, y / amount, z / amount
        else:
            c[i, 0], c[i, 1], c[i, 2] = rest[i, 0], rest[i, 1], rest[i, 2]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def turn_about_centres(
    rest: Array, centre: Array, joints: Array, weights: Array, q: Array, rows: Array, out: Array
) -> None:
    """out (F, V, 3) of the bones' quaternions (F, B, 4) and matrices (F, B, 12)."""
    zero, two = np.float32(0.0), np.float32(2.0)
    for i in numba.prange(rest.shape[0]):
        c0, c1, c2 = centre[i, 0], centre[i, 1], centre[i, 2]
        p0, p1, p2 = rest[i, 0] - c0, rest[i, 1] - c1, rest[i, 2] - c2
        for f in range(out.shape[0]):
            first = q[f, joints[i, 0]]
            x, y, z, w, a, b, c = zero, zero, zero, zero, zero, zero, zero
            for k in range(joints.shape[1]):
                weight = weights[i, k]
                if weight == 0:
                    continue
                turned, m = q[f, joints[i, k]], rows[f, joints[i, k]]
                a += weight * (m[0] * c0 + m[1] * c1 + m[2] * c2 + m[3])
                b += weight * (m[4] * c0 + m[5] * c1 + m[6] * c2 + m[7])
                c += weight * (m[8] * c0 + m[9] * c1 + m[10] * c2 + m[11])
                along = turned[0] * first[0] + turned[1] * first[1] + turned[2] * first[2] + turned[3] * first[3]
                if along < 0:
                    weight = -weight
                x += weight * turned[0]
                y += weight * turned[1]
                z += weight * turned[2]
                w += weight * turned[3]
            size = np.sqrt(x * x + y * y + z * z + w * w)
            if size > np.float32(1e-6):
                x, y, z, w = x / size, y / size, z / size, w / size
            else:
                x, y, z, w = first[0], first[1], first[2], first[3]
            u, v, t = y * p2 - z * p1 + w * p0, z * p0 - x * p2 + w * p1, x * p1 - y * p0 + w * p2
            out[f, i, 0] = p0 + two * (y * t - z * v) + a
            out[f, i, 1] = p1 + two * (z * u - x * t) + b
            out[f, i, 2] = p2 + two * (x * v - y * u) + c


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def add_rotated(d: Array, home: Array, matrices: Array, out: Array) -> None:
    """out (F, V, 3) += M_h d, of d (F, V, 3), home (V,) and matrices (F, B, 9)."""
    for f in range(len(out)):
        for i in range(len(home)):
            m, x, y, z = matrices[f, home[i]], d[f, i, 0], d[f, i, 1], d[f, i, 2]
            out[f, i, 0] += m[0] * x + m[1] * y + m[2] * z
            out[f, i, 1] += m[3] * x + m[4] * y + m[5] * z
            out[f, i, 2] += m[6] * x + m[7] * y + m[8] * z


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def bend_styles(
    curve: Array,
    u: Array,
    share: Array,
    along: Array,
    across: Array,
    styles: Array,
    corners: Array,
    turns: Array,
    g: Array,
    out: Array,
) -> None:
    """out (F, V, 3) of the curves' corners (F, C, 3, 3), turns (F, C, 2, 4) and styles' amounts g (F, C, G)."""
    frames, curves = corners.shape[0], corners.shape[1]
    opening = np.empty((frames, curves, 3), np.float32)  # sign, angle and its sine, once a curve
    for f in range(frames):
        for c in range(curves):
            a, b = turns[f, c, 0], turns[f, c, 1]
            cosine = (
                np.float64(a[0]) * b[0] + np.float64(a[1]) * b[1] + np.float64(a[2]) * b[2] + np.float64(a[3]) * b[3]
            )
            opening[f, c, 0] = np.float32(-1.0) if cosine < 0 else np.float32(1.0)
            angle = np.arccos(min(abs(cosine), 1.0))
            opening[f, c, 1], opening[f, c, 2] = angle, np.sin(angle)
    one, two = np.float32(1.0), np.float32(2.0)
    for v in numba.prange(len(curve)):
        c, t, r = curve[v], u[v], share[v]
        for f in range(frames):
            a, b, open_, k = turns[f, c, 0], turns[f, c, 1], opening[f, c], corners[f, c]
            first, second = one - r, r
            if open_[2] >= np.float32(1e-4) and r > 0 and r < one:
                first = np.sin((one - r) * open_[1]) / open_[2]
                second = np.sin(r * open_[1]) / open_[2]
            second *= open_[0]
            x, y, z = first * a[0] + second * b[0], first * a[1] + second * b[1], first * a[2] + second * b[2]
            w = first * a[3] + second * b[3]
            scale = one / np.sqrt(x * x + y * y + z * z + w * w)
            x, y, z, w = x * scale, y * scale, z * scale, w * scale
            s = one
            for n in range(g.shape[2]):
                s += styles[v, n] * g[f, c, n]
            p0 = along[v, 0] + s * across[v, 0]
            p1 = along[v, 1] + s * across[v, 1]
            p2 = along[v, 2] + s * across[v, 2]
            e0, e1, e2 = y * p2 - z * p1 + w * p0, z * p0 - x * p2 + w * p1, x * p1 - y * p0 + w * p2
            i, j, h = (one - t) * (one - t), two * t * (one - t), t * t
            out[f, v, 0] = p0 + two * (y * e2 - z * e1) + i * k[0, 0] + j * k[1, 0] + h * k[2, 0]
            out[f, v, 1] = p1 + two * (z * e0 - x * e2) + i * k[0, 1] + j * k[1, 1] + h * k[2, 1]
            out[f, v, 2] = p2 + two * (x * e1 - y * e0) + i * k[0, 2] + j * k[1, 2] + h * k[2, 2]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def solve_equality(G: Array, c: Array, used: Array, n: int, w: Array) -> None:
    """w[:n] = the least of w.G w - 2 c.w with sum 1 over the bones used[:n], signs free.

    Gauss-Jordan elimination with pivots on the system bordered by the condition.
    """
    m = n + 1
    a = np.zeros((m, m + 1))
    for i in range(n):
        for j in range(n):
            a[i, j] = G[used[i], used[j]]
        a[i, n], a[n, i], a[i, m] = 1.0, 1.0, c[used[i]]
    a[n, m] = 1.0
    for i in range(m):
        best = i
        for r in range(i + 1, m):
            if abs(a[r, i]) > abs(a[best, i]):
                best = r
        if best != i:
            for k in range(m + 1):
                a[i, k], a[best, k] = a[best, k], a[i, k]
        pivot = a[i, i]
        if pivot == 0.0:
            pivot = 1e-300
        for k in range(i, m + 1):
            a[i, k] /= pivot
        for r in range(m):
            if r != i and a[r, i] != 0.0:
                factor = a[r, i]
                for k in range(i, m + 1):
                    a[r, k] -= factor * a[i, k]
    for i in range(n):
        w[i] = a[i, m]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def solve_convex(G: Array, c: Array, allowed: Array, count: int, used: Array, w: Array) -> int:
    """The least over the bones allowed[:count]; returns n, the bones used[:n] and their weights w[:n] in place."""
    best = 0
    for i in range(1, count):
        b, a = allowed[i], allowed[best]
        if G[b, b] - 2 * c[b] < G[a, a] - 2 * c[a]:
            best = i
    used[0], w[0] = allowed[best], 1.0
    n = 1
    trial = np.zeros(count + 1)
    for _ in range(4 * count):
        level = 0.0
        for i in range(n):
            level -= c[used[i]] * w[i]
            for j in range(n):
                level += w[i] * G[used[i], used[j]] * w[j]
        enters, lowest = -1, -1e-9 * (abs(level) + G[used[0], used[0]])
        for i in range(count):
            b = allowed[i]
            slope = -c[b] - level
            known = False
            for j in range(n):
                slope += G[b, used[j]] * w[j]
                known = known or used[j] == b
            if not known and slope < lowest:
                enters, lowest = b, slope
        if enters < 0:
            break
        used[n], w[n] = enters, 0.0
        n += 1
        while True:
            solve_equality(G, c, used, n, trial)
            step, leaves = 1.0, -1
            for i in range(n):
                if trial[i] <= 0.0 and w[i] - trial[i] > 0.0 and w[i] / (w[i] - trial[i]) < step:
                    step, leaves = w[i] / (w[i] - trial[i]), i
            for i in range(n):
                w[i] += step * (trial[i] - w[i])
            if leaves < 0:
                break
            n -= 1
            for i in range(leaves, n):
                used[i], w[i] = used[i + 1], w[i + 1]
        if used[n - 1] == enters and w[n - 1] <= 0.0:
            break
    return n


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def solve_sparse_convex(G: Array, c: Array, allowed: Array, most: int, used: Array, w: Array) -> int:
    """`solve_convex` with at most `most` bones."""
    n = solve_convex(G, c, allowed, len(allowed), used, w)
    left = allowed.copy()
    while n > most:
        least = 0
        for i in range(1, n):
            if w[i] < w[least]:
                least = i
        k = 0
        for i in range(n):
            if i != least:
                left[k] = used[i]
                k += 1
        n = solve_convex(G, c, left, k, used, w)
    return n


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def vertex_weights(
    points: Array, pairs: Array, seen: Array, ridge: float, candidates: int, joints: Array, weights: Array
) -> None:
    """Weights (V, K) and joints (V, K) of all vertices.

    points (V, 4) with a one; pairs (B, B, 4, 4) = sum_f M_b^T M_b'; seen (V, B, 4) = sum_f M_b^T x. Only the
    `candidates` bones that would come closest alone are tried; others have no weight in practice.
    """
    bones, most = pairs.shape[0], joints.shape[1]
    few = min(bones, candidates)
    used, w = np.zeros(bones + 2, np.int64), np.zeros(bones + 2)
    for v in range(points.shape[0]):
        p = points[v]
        c = np.zeros(bones)
        G = np.zeros((bones, bones))
        alone = np.zeros(bones)
        for b in range(bones):
            for i in range(4):
                c[b] += p[i] * seen[v, b, i]
                for j in range(4):
                    G[b, b] += p[i] * pairs[b, b, i, j] * p[j]
            alone[b] = G[b, b] - 2 * c[b]
        allowed = np.argsort(alone)[:few]
        for s in range(few):
            for t in range(s):
                a, b = allowed[s], allowed[t]
                total = 0.0
                for i in range(4):
                    for j in range(4):
                        total += p[i] * pairs[a, b, i, j] * p[j]
                G[a, b], G[b, a] = total, total
        for s in range(few):
            G[allowed[s], allowed[s]] += ridge
        n = solve_sparse_convex(G, c, allowed, most, used, w)
        total = 0.0
        for i in range(n):
            total += max(w[i], 0.0)
        for k in range(most):
            joints[v, k], weights[v, k] = used[k] if k < n else 0, max(w[k], 0.0) / total if k < n else 0.0


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def blend_multi_weight(
    entries: Array, pair_of: Array, home: Array, relative: Array, matrices: Array, out: Array
) -> None:
    """out (F, V, 3) from entries (V, K, 12), pair_of (V, K), home (V,), relative (F, P, 12), matrices (F, B, 12)."""
    for f in range(len(out)):
        for i in range(len(home)):
            x, y, z = np.float32(0), np.float32(0), np.float32(0)
            for k in range(pair_of.shape[1]):
                n, c = relative[f, pair_of[i, k]], entries[i, k]
                x += n[0] * c[0] + n[1] * c[1] + n[2] * c[2] + n[3] * c[3]
                y += n[4] * c[4] + n[5] * c[5] + n[6] * c[6] + n[7] * c[7]
                z += n[8] * c[8] + n[9] * c[9] + n[10] * c[10] + n[11] * c[11]
            m = matrices[f, home[i]]
            out[f, i, 0] = m[0] * x + m[1] * y + m[2] * z + m[3]
            out[f, i, 1] = m[4] * x + m[5] * y + m[6] * z + m[7]
            out[f, i, 2] = m[8] * x + m[9] * y + m[10] * z + m[11]


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def add_corrections(bone: Array, directions: Array, o: Array, Q: Array, out: Array) -> None:
    """out (F, V, 3) += Q_b sum_d o_d U_d; directions (D, V, 3), o (F, D), Q (F, B, 3, 3)."""
    block = 512
    count = len(bone)
    for piece in numba.prange((count + block - 1) // block):
        start, stop = piece * block, min(count, (piece + 1) * block)
        own = np.empty((block, 3), np.float32)
        for f in range(out.shape[0]):
            own[:] = 0
            for d in range(directions.shape[0]):
                amount, u = o[f, d], directions[d]
                for v in range(start, stop):
                    own[v - start, 0] += amount * u[v, 0]
                    own[v - start, 1] += amount * u[v, 1]
                    own[v - start, 2] += amount * u[v, 2]
            for v in range(start, stop):
                q, p = Q[f, bone[v]], own[v - start]
                out[f, v, 0] += q[0, 0] * p[0] + q[0, 1] * p[1] + q[0, 2] * p[2]
                out[f, v, 1] += q[1, 0] * p[0] + q[1, 1] * p[1] + q[1, 2] * p[2]
                out[f, v, 2] += q[2, 0] * p[0] + q[2, 1] * p[1] + q[2, 2] * p[2]


ONE_FLOAT32 = np.float32(1)


@compile_kernel(fastmath={"contract", "reassoc", "arcp"}, error_model="numpy")
def correct_vertices(heard: Array, shares: Array, coefficients: Array, table: Array, out: Array) -> None:
    """out (F, V, 3) = sum_e a_e k_e, from table (F, M, E), heard and shares (V, L), coefficients (V, 3, E)."""
    examples = coefficients.shape[2]
    k = np.empty(examples, np.float32)
    for f in range(len(out)):
        for i in range(len(heard)):
            for e in range(examples):
                k[e] = ONE_FLOAT32
            for place in range(heard.shape[1]):
                u, row = shares[i, place], table[f, heard[i, place]]
                if u != 0:
                    for e in range(examples):
                        k[e] += u * row[e]
            for e in range(examples):
                b = ONE_FLOAT32 / k[e]
                b *= b
                k[e] = b * b
            for c in range(3):
                a, total = coefficients[i, c], np.float32(0)
                for e in range(examples):
                    total += a[e] * k[e]
                out[f, i, c] = total


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy")
def add_detail(q: Array, scale: Array, rest: Array, delta: Array, first: Array, neighbours: Array, out: Array) -> None:
    """out (F, N, 3) = q + scale R delta, R from the edges of a point and of its neighbours; see `DeltaMush`."""
    frames, points = q.shape[:2]
    own = np.zeros((points, 3, 3))
    h, r = np.zeros((3, 3)), np.zeros((3, 3))
    for f in range(frames):
        for i in range(points):
            own[i] = 0.0
            for e in range(first[i], first[i + 1]):
                j = neighbours[e]
                for a in range(3):
                    for b in range(3):
                        own[i, a, b] += (rest[j, a] - rest[i, a]) * (q[f, j, b] - q[f, i, b])
        for i in range(points):
            h[:] = own[i]
            for e in range(first[i], first[i + 1]):
                h += own[neighbours[e]]
            rotation_from_covariance(h, r)
            for a in range(3):
                turned = r[a, 0] * delta[i, 0] + r[a, 1] * delta[i, 1] + r[a, 2] * delta[i, 2]
                out[f, i, a] = q[f, i, a] + scale[f, i] * turned


@compile_kernel(fastmath=FASTMATH_FLAGS, error_model="numpy", parallel=True)
def blend_moments(omega: Array, joints: Array, delta: Array, matrices: Array, scale: Array, out: Array) -> None:
    """out (F, V, 3) of omega (V, K, 10), matrices (F, B, 3, 4) and their scales (F, B); see `DirectDeltaMush`."""
    for i in numba.prange(len(omega)):
        h, r, total = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 4))
        p = np.zeros(3)
        for k in range(joints.shape[1]):
            for a in range(3):
                p[a] += omega[i, k, 6 + a]
        for f in range(len(out)):
            total[:] = 0.0
            size = 0.0
            for k in range(joints.shape[1]):
                o, m = omega[i, k], matrices[f, joints[i, k]]
                size += o[9] * scale[f, joints[i, k]]
                for a in range(3):
                    x, y, z, t = m[a, 0], m[a, 1], m[a, 2], m[a, 3]
                    total[a, 0] += x * o[0] + y * o[1] + z * o[2] + t * o[6]
                    total[a, 1] += x * o[1] + y * o[3] + z * o[4] + t * o[7]
                    total[a, 2] += x * o[2] + y * o[4] + z * o[5] + t * o[8]
                    total[a, 3] += x * o[6] + y * o[7] + z * o[8] + t * o[9]
            for a in range(3):
                for b in range(3):
                    h[b, a] = total[a, b] - total[a, 3] * p[b]
            rotation_from_covariance(h, r)
            for a in range(3):
                turned = r[a, 0] * delta[i, 0] + r[a, 1] * delta[i, 1] + r[a, 2] * delta[i, 2]
                out[f, i, a] = total[a, 3] + size * turned
