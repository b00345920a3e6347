"""Slow oracles of the kernels of `understudy.deform`."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def add_volume_term(
    elements: Array, gradients: Array, volumes: Array, shear: Array, bulk: Array, x: Array, force: Array, energy: Array
) -> None:
    """Add the volume term's energy to `energy` (P,) and its gradient to `force` (N, 3, P)."""
    F = np.einsum("eicp,eid->epcd", x[elements], gradients)
    cofactor = np.stack([np.cross(F[..., (c + 1) % 3, :], F[..., (c + 2) % 3, :]) for c in range(3)], axis=-2)
    J = np.einsum("epd,epd->ep", F[..., 0, :], cofactor[..., 0, :])
    excess = J - (1 + shear / bulk)[:, None]
    energy += np.einsum("e,ep->p", 0.5 * volumes * bulk, excess**2)
    pull = np.einsum("ep,epcd,eid->eicp", (volumes * bulk)[:, None] * excess, cofactor, gradients)
    np.add.at(force, elements, pull)


def find_centres(
    full: Array, patches: Array, areas: Array, middles: Array, width: float, rest: Array, c: Array
) -> None:
    """c (V, 3) of the vertices' weights (V, B) and the patches' (T, B)."""
    for i, w in enumerate(full):
        used = np.flatnonzero(w > 0)
        total = np.zeros(len(patches))
        for j in used:
            for k in used:
                if j != k:
                    apart = w[j] * patches[:, k] - w[k] * patches[:, j]
                    total += w[j] * w[k] * patches[:, j] * patches[:, k] * np.exp(-((apart / width) ** 2))
        total *= areas
        amount = total.sum()
        c[i] = total @ middles / amount if amount > 1e-12 * areas.sum() else rest[i]


def _grams(m: Array, rest: Array, targets: Array, bones: Array) -> Array:
    """G (V, C, C) of the offsets."""
    moved = np.einsum("ebrc,vc->vber", m[..., :3], rest) + np.swapaxes(m[..., 3], 0, 1)
    x = np.take_along_axis(moved, bones[:, :, None, None], axis=1) - targets[:, None]
    x = x.reshape(*bones.shape, -1)
    return x @ np.swapaxes(x, 1, 2)


def _add_ridge(g: Array, diagonal: Array) -> Array:
    h = g.copy()
    i = np.arange(g.shape[1])
    h[:, i, i] += diagonal
    return h


def minimise(h: Array, allowed: Array) -> Array:
    """argmin w' H w on the simplex, (V, C): accelerated projected gradient, then the passive set solved exactly."""
    count = allowed.shape[1]
    step = 1 / np.maximum(np.trace(h, axis1=1, axis2=2), 1e-300)[:, None]
    w = allowed / allowed.sum(axis=1, keepdims=True)
    ahead, t = w, 1.0
    for _ in range(400):
        new = _project_onto_simplex(ahead - step * np.einsum("vab,vb->va", h, ahead), allowed)
        t, before = (1 + np.sqrt(1 + 4 * t * t)) / 2, t
        ahead, w = new + (before - 1) / t * (new - w), new
    used = w > 1e-9
    both = used[:, :, None] & used[:, None]
    polished = np.linalg.solve(np.where(both, h, np.eye(count)), used[..., None].astype(float))[..., 0]
    polished = polished / polished.sum(axis=1, keepdims=True)
    sound = (polished >= 0).all(axis=1)
    return np.where(sound[:, None], polished, w)


def _project_onto_simplex(w: Array, allowed: Array) -> Array:
    """The nearest point with w >= 0, sum w = 1, and 0 where not allowed (Duchi et al. 2008)."""
    low = np.where(allowed, w, -np.inf)
    u = -np.sort(-low, axis=1)
    finite = np.isfinite(u)
    over = (np.cumsum(np.where(finite, u, 0), axis=1) - 1) / np.arange(1, w.shape[1] + 1)
    last = np.sum(finite & (u > over), axis=1) - 1
    return np.where(allowed, np.maximum(w - np.take_along_axis(over, last[:, None], axis=1), 0), 0)


def cross_validation_errors(
    m: Array, rest: Array, targets: Array, bones: Array, penalty: Array, folds: Array, ridges: Array, _: Array
) -> Array:
    """`simplex_kernels.cross_validation_errors`."""
    error = np.zeros(len(ridges))
    for f in range(folds.max() + 1):
        inside, outside = _grams(m[folds != f], rest, targets[:, folds != f], bones), folds == f
        g = _grams(m[outside], rest, targets[:, outside], bones)
        for r, ridge in enumerate(ridges):
            w = minimise(_add_ridge(inside, ridge * (~outside).sum() * penalty), np.ones(bones.shape, bool))
            error[r] += np.einsum("va,vab,vb->", w, g, w)
    return error
