"""The columns of one pose as variables x, counted from the pose at the start of the gesture [Ciccone 2019, eq. 13].

Plain columns (angles, translations, weights, controls) are start + unit * x. A quaternion is turned by the rotation
vector of its three variables, q = exp(x) q_start in the frame of the joint's parent, so that

    dq = 1/2 (J dx, 0) q,   J = I + (1 - cos a) / a^2 [x] + (a - sin a) / a^3 [x]^2,   a = |x|

(J is the left Jacobian of the exponential.) The cost |D x|^2 is then the turn itself, whatever the kind of channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.maths import linear, quaternion

FURTHEST = np.pi  # of a turn about each axis: beyond that the same pose is nearer from the other side


@dataclass(frozen=True)
class PoseVariables:
    """N variables: P plain columns first, then three for each of Q quaternions."""

    start: Array  # (n,) the columns where x = 0
    plain: Array  # (P,) int, into the columns
    unit: Array  # (P,)
    turning: Array  # (Q, 4) int
    low: Array  # (N,)
    high: Array  # (N,)
    cost: Array  # (N,) stiffness

    @property
    def count(self) -> int:
        """N."""
        return len(self.low)

    def values(self, x: Array) -> Array:
        """(n,) the columns for variables (N,)."""
        result = self.start.copy()
        result[self.plain] += self.unit * x[: len(self.plain)]
        turns = quaternion.from_rotation_vector(x[len(self.plain) :].reshape(-1, 3))
        result[self.turning] = quaternion.multiply(turns, self.start[self.turning])
        return result

    def chained(self, jacobian: Array, x: Array) -> Array:
        """(M, N) derivatives by the variables, of M rows whose derivatives by the columns are (M, n)."""
        turns = x[len(self.plain) :].reshape(-1, 3)
        q = quaternion.multiply(quaternion.from_rotation_vector(turns), self.start[self.turning])
        axes = np.zeros((len(turns), 3, 4))
        axes[..., :3] = np.swapaxes(_left_jacobian(turns), 1, 2)  # a row for each variable
        each = 0.5 * quaternion.multiply(axes, q[:, None])  # (Q, 3, 4)
        turned = np.einsum("mqc,qkc->mqk", jacobian[:, self.turning], each)
        return np.concatenate([self.unit * jacobian[:, self.plain], turned.reshape(len(jacobian), -1)], axis=1)

    def column(self, variable: int) -> int:
        """The column, or the first of the quaternion, that a variable moves."""
        plain = len(self.plain)
        return int(self.plain[variable] if variable < plain else self.turning[(variable - plain) // 3, 0])


def pose_variables(
    channels: Channels,
    columns: Array,
    start: Array,
    free: Array,
    *,
    unit: Array,
    ranges: Mapping[int, tuple[float, float]],
    limits: Mapping[int, tuple[float, float]],
    stiffness: Array,
) -> PoseVariables:
    """Variables for columns (n,) of the channels with values `start` (n,), of which those `free` (n,) may change.

    `unit` and `stiffness` are (n,), `ranges` and `limits` by number of column.
    """
    place = {int(column): i for i, column in enumerate(columns)}
    plain, cost, bounds, turning, stiff = [], [], [], [], []
    for c, channel in enumerate(channels):
        own = range(int(channels.offsets[c]), int(channels.offsets[c + 1]))
        if channel.kind == "rotation":
            if all(column in place and free[place[column]] for column in own):
                turning.append([place[column] for column in own])
                stiff += 3 * [stiffness[place[own[0]]]]
            continue
        for column in own:
            if column not in place or not free[place[column]]:
                continue
            i = place[column]
            both = [bounds_of[column] for bounds_of in (limits, ranges) if column in bounds_of]
            low = max((low for low, _ in both), default=-np.inf)
            high = min((high for _, high in both), default=np.inf)
            plain.append(i)
            cost.append(stiffness[i])
            bounds.append(((low - start[i]) / unit[i], (high - start[i]) / unit[i]))
    ends = np.array(bounds).reshape(-1, 2)
    furthest = np.full(len(stiff), FURTHEST)
    return PoseVariables(
        start,
        np.array(plain, np.int64),
        unit[np.array(plain, np.int64)],
        np.array(turning, np.int64).reshape(-1, 4),
        np.concatenate([ends[:, 0], -furthest]),
        np.concatenate([ends[:, 1], furthest]),
        np.concatenate([cost, stiff]),
    )


def _left_jacobian(w: Array) -> Array:
    """J (Q, 3, 3) of rotation vectors (Q, 3)."""
    a2 = np.einsum("qi,qi->q", w, w)
    a = np.sqrt(a2)
    small = a2 < 1e-6  # below, the series is exact to 1e-13, and the quotients lose more than that
    safe = np.where(small, 1.0, a)
    one = np.where(small, 0.5 - a2 / 24, (1 - np.cos(safe)) / safe**2)
    two = np.where(small, 1 / 6 - a2 / 120, (safe - np.sin(safe)) / safe**3)
    across = linear.skew(w)
    return np.eye(3) + one[:, None, None] * across + two[:, None, None] * (across @ across)
