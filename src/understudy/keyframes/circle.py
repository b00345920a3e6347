"""The circle that fits places best, and how far they are from it.

Of a place p with d = p - c from the centre, the circle with normal n and radius R is missed by rho - R across, rho the
part of d in the plane, and by n.d out of the plane; the sum of squares of both is least. Places on a line, or so nearly
on one that the radius would be a hundred times their extent, are compared with the line.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array

STEPS = 12  # Gauss-Newton's, from the algebraic fit; three or four are usual
STRAIGHT = 1e-3  # of the extent: a bulge below that is a line's


def circle_residuals(places: Array) -> tuple[Array, Array]:
    """Residuals (2 T,) of places (T, 3), and how they fall with the places (2 T, T, 3): -dr / dp.

    The fit answers to the places, too: what it takes up is projected out of the derivatives [Kaufman 1975].
    """
    middle = places.mean(axis=0)
    extents, axes = np.linalg.svd(places - middle, full_matrices=False)[1:]
    if extents[1] < STRAIGHT * extents[0] or not extents[0] > 0:
        return _line(places - middle, axes)
    fitted = _fit(places, middle, axes)
    if fitted is None:
        return _line(places - middle, axes)
    centre, frame, radius = fitted
    d = (places - centre) @ frame.T  # x, y in the plane, z out of it
    rho = np.hypot(d[:, 0], d[:, 1])
    across = (d[:, :2] / rho[:, None]) @ frame[:2]
    residual = np.concatenate([radius - rho, -d[:, 2]])
    directions = np.concatenate([across, np.broadcast_to(frame[2], across.shape)])
    return residual, _projected(directions, _answers(d, rho))


def _fit(places: Array, middle: Array, axes: Array) -> tuple[Array, Array, float] | None:
    """Centre (3,), frame (3, 3) whose last row is the normal, and radius; None where a line serves as well."""
    frame = axes if np.linalg.det(axes) > 0 else axes * np.array([[1.0], [1.0], [-1.0]])
    d = (places - middle) @ frame.T
    # |q|^2 = 2 q.c + (R^2 - |c|^2) is linear in what is sought
    terms = np.column_stack([2 * d[:, :2], np.ones(len(d))])
    x, y, rest = np.linalg.lstsq(terms, (d[:, :2] ** 2).sum(axis=1), rcond=None)[0]
    centre = middle + x * frame[0] + y * frame[1]
    radius = float(np.sqrt(max(rest + x * x + y * y, 1e-30)))
    extent = float(np.ptp(d[:, 0]))
    for _ in range(STEPS):
        d = (places - centre) @ frame.T
        rho = np.hypot(d[:, 0], d[:, 1])
        if radius > 100 * extent or rho.min() < 1e-9 * radius:
            return None
        residual = np.concatenate([radius - rho, -d[:, 2]])
        step = np.linalg.lstsq(_answers(d, rho), residual, rcond=None)[0]
        centre = centre + step[:3] @ frame
        normal = frame[2] + step[3] * frame[0] + step[4] * frame[1]
        radius += -step[5]
        frame = _frame(normal / np.linalg.norm(normal), frame[0])
        if np.abs(step).max() < 1e-12 * max(radius, 1.0):
            break
    return centre, frame, radius


def _answers(d: Array, rho: Array) -> Array:
    """(2 T, 6) how (rho, z) answer to a shift of the centre (negated residuals' slopes), a tilt and the radius.

    d (T, 3) are places in the frame of the circle.
    """
    count = len(d)
    across, out = np.zeros((count, 6)), np.zeros((count, 6))
    across[:, :2], across[:, 5] = -d[:, :2] / rho[:, None], 1.0
    across[:, 3:5] = -(d[:, 2] / rho)[:, None] * d[:, :2]
    out[:, 2], out[:, 3:5] = -1.0, d[:, :2]
    return np.concatenate([across, out])


def _frame(normal: Array, near: Array) -> Array:
    first = near - (near @ normal) * normal
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first), normal])


def _line(d: Array, axes: Array) -> tuple[Array, Array]:
    """Against the line along the first axis through the middle, d (T, 3) from it."""
    residual = -(d @ axes[1:].T).T.reshape(-1)
    directions = np.repeat(axes[1:], len(d), axis=0)
    along = d @ axes[0]
    fit = np.column_stack([np.ones_like(along), along])
    both = np.zeros((2 * len(d), 4))
    both[: len(d), :2] = both[len(d) :, 2:] = fit
    return residual, _projected(directions, both)


def _projected(directions: Array, fit: Array) -> Array:
    """(2 T, T, 3) the rows `directions` (2 T, 3), of one place each, without what the fit (2 T, k) takes up."""
    count = len(directions) // 2
    rows = np.zeros((2 * count, count, 3))
    at = np.arange(count)
    rows[at, at], rows[count + at, at] = directions[:count], directions[count:]
    basis = np.linalg.svd(fit, full_matrices=False)
    base = basis[0][:, basis[1] > 1e-12 * max(basis[1][0], 1e-300)]
    result: Array = rows - np.tensordot(base, np.tensordot(base.T, rows, axes=1), axes=1)
    return result
