"""Which latent point means a given pose: argmin_x |y - mean(x)|^2 [Bailey 2016, eq. 15].

The function has several minima, hence several starts a pose. All poses and starts step together, by Gauss-Newton with
Levenberg's damping: (J^T J + mu 1) s = J^T r. A step is accepted if it lessens the distance (mu falls) and tried again
with a larger mu if not. Steps are at most half a length of the kernel: further away the linear model says nothing, and
a point that leaves the data finds mean(x) = 0, which is flat, and never comes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.threads import one_thread

if TYPE_CHECKING:
    from understudy.gp.mapping import Mapping

STEPS = 60
LONGEST = 0.5  # of the kernel's length
SCOUTS = 4
"""Steps after which only the better half of a pose's starts goes on: minima are told apart by then."""
CLOSE = 1e-6
"""A step shorter than this, in lengths of the kernel, ends the search: a thousandth of a frame's own distance."""
BLOCK = 4096  # points at once: 20 MB for 600 points of training data


def nearest_points(mapping: Mapping, poses: Array, starts: Array) -> tuple[Array, Array]:
    """(M, Q) and the squared distances (M,) for poses (M, D) and starts (M, S, Q)."""
    poses = checks.array(poses, "poses", ("M", mapping.outputs))
    starts = checks.array(starts, "starts", (len(poses), "S", mapping.dimensions))
    count, tried, dimensions = starts.shape
    if tried == 0:
        raise InvalidInput("a search needs at least one start for each pose, but was given none")
    if count == 0:
        return np.zeros((0, dimensions)), np.zeros(0)
    points = starts.reshape(-1, dimensions)
    owner = np.repeat(np.arange(count), tried)
    damping = np.full(len(points), 1e-3)
    with one_thread():
        while True:
            steps = SCOUTS if tried > 1 else STEPS
            points, errors, damping = _descend(mapping, poses, points, owner, damping, steps)
            if tried == 1:
                return points, errors
            tried = (tried + 1) // 2  # the better half of each pose's starts goes on
            ranked = np.argsort(errors.reshape(count, -1), axis=1, kind="stable")[:, :tried]
            kept = (ranked + np.arange(count)[:, None] * (len(points) // count)).ravel()
            points, damping, owner = points[kept], damping[kept], np.repeat(np.arange(count), tried)


def _descend(
    mapping: Mapping, poses: Array, points: Array, owner: Array, damping: Array, steps: int
) -> tuple[Array, Array, Array]:
    """Points (B, Q), their squared distances (B,) and damping (B,) after so many steps at most, a block at a time."""
    blocks = [slice(i, i + BLOCK) for i in range(0, len(points), BLOCK)]
    done = [_descend_block(mapping, poses[owner[b]], points[b].copy(), damping[b].copy(), steps) for b in blocks]
    joined = [np.concatenate(part) for part in zip(*done)]
    return joined[0], joined[1], joined[2]


def _descend_block(mapping: Mapping, y: Array, x: Array, mu: Array, steps: int) -> tuple[Array, Array, Array]:
    identity = np.eye(x.shape[1])
    longest = LONGEST * mapping.kernel.length
    mean, jacobian = mapping.mean_and_jacobian(x)
    residual = y - mean
    error = np.einsum("md,md->m", residual, residual)
    active = np.arange(len(x))
    for _ in range(steps):
        r, j, e, m = residual[active], jacobian[active], error[active], mu[active]
        normal = np.einsum("mdq,mdp->mqp", j, j)
        size = np.trace(normal, axis1=1, axis2=2) + 1e-300
        step = np.linalg.solve(normal + (m * size)[:, None, None] * identity, np.einsum("mdq,md->mq", j, r)[..., None])[
            ..., 0
        ]
        length = np.sqrt(np.einsum("mq,mq->m", step, step))
        step *= np.minimum(1.0, longest / np.maximum(length, 1e-300))[:, None]
        trial = x[active] + step
        mean, slope = mapping.mean_and_jacobian(trial)
        left = y[active] - mean
        tried = np.einsum("md,md->m", left, left)
        better = tried < e
        chosen = active[better]
        x[chosen], error[chosen] = trial[better], tried[better]
        residual[chosen], jacobian[chosen] = left[better], slope[better]
        mu[active] = np.where(better, np.maximum(m * 0.2, 1e-12), m * 8.0)
        # a step that is refused while tiny, or accepted while tiny, is the end
        active = active[(length > CLOSE * mapping.kernel.length) & (mu[active] < 1e8)]
        if not len(active):
            break
    return x, error, mu
