"""Smooth skinning decomposition with rigid bones, as its paper has it and as plainly as can be: the yardstick.

Le and Deng 2012: clusters grown by splitting, then weights by non-negative least squares with the sum as a heavy row,
the K largest kept and solved again, and bone transforms one bone and one frame at a time.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls


def procrustes(p, q, w):
    """R, t with least sum |w (R p + t) - q|^2."""
    total = np.sum(w * w)
    p_mean, q_mean = (w * w) @ p / total, w @ q / total
    m = (w[:, None] * (q - w[:, None] * q_mean)).T @ (p - p_mean)
    u, _, vt = np.linalg.svd(m)
    r = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
    return r, q_mean - r @ p_mean


def clusters(rest, frames, bones):
    group, error = np.zeros(len(rest), int), np.zeros((len(rest), 1))
    for count in range(1, bones + 1):
        if count > 1:
            worst = np.argmax([error[group == b, b].sum() for b in range(count - 1)])
            members = np.flatnonzero(group == worst)
            seed = members[np.argmax(error[members, worst])]
            near = members[np.argsort(np.linalg.norm(rest[members] - rest[seed], axis=1))]
            group[near[: len(near) // 2]] = count - 1
        for _ in range(4):
            error = np.zeros((len(rest), count))
            for b in range(count):
                own = group == b
                for x in frames:
                    r, t = procrustes(rest[own], x[own], np.ones(own.sum()))
                    error[:, b] += np.sum((rest @ r.T + t - x) ** 2, axis=1)
            group = error.argmin(axis=1)
    return group


def weights_of(rest, frames, rotations, translations, most):
    bones = rotations.shape[1]
    weights = np.zeros((len(rest), bones))
    for i, p in enumerate(rest):
        a = (rotations @ p + translations).transpose(0, 2, 1).reshape(-1, bones)
        x = frames[:, i].ravel()
        heavy = 1e3 * np.abs(a).max()
        w = nnls(np.vstack([a, np.full(bones, heavy)]), np.append(x, heavy))[0]
        kept = np.argsort(-w)[:most]
        weights[i, kept] = nnls(np.vstack([a[:, kept], np.full(len(kept), heavy)]), np.append(x, heavy))[0]
    return weights / weights.sum(axis=1, keepdims=True)


def decompose(rest, frames, bones, most, iterations):
    """Root mean square distance of the decomposition from the frames."""
    group = clusters(rest, frames, bones)
    rotations, translations = np.zeros((len(frames), bones, 3, 3)), np.zeros((len(frames), bones, 3))
    for b in range(bones):
        own = group == b
        for f, x in enumerate(frames):
            rotations[f, b], translations[f, b] = procrustes(rest[own], x[own], np.ones(own.sum()))
    for _ in range(iterations):
        w = weights_of(rest, frames, rotations, translations, most)
        for f, x in enumerate(frames):
            for b in range(bones):
                if np.sum(w[:, b] ** 2) < 1e-6:
                    continue
                carried = np.einsum("bij,vj->vbi", rotations[f], rest) + translations[f]
                carried *= w[:, :, None]
                rest_of = x - (carried.sum(axis=1) - carried[:, b])
                used = w[:, b] > 0
                rotations[f, b], translations[f, b] = procrustes(rest[used], rest_of[used], w[used, b])
    carried = np.einsum("fbij,vj->fvbi", rotations, rest) + translations[:, None]
    return float(np.sqrt(np.mean(np.sum((np.einsum("vb,fvbi->fvi", w, carried) - frames) ** 2, axis=-1))))
