"""The nearest key poses, blended [Yamane 2010, section 6.4, "NN"].

z(y) = sum_i w_i z_i / sum_i w_i,  w_i = 1 / |y - y_i|,  over the N nearest y_i
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.retarget.mapping import Mapped
from understudy.retarget.pairs import Pairs
from understudy.retarget.pose_distance import squared_pose_distances

AT_KEY = 1e-9  # metres: nearer than that, a pose is the key pose itself


@dataclass(frozen=True, eq=False)
class NearestPoses:
    """Key poses, and how many of them a pose is blended of."""

    source: Array  # (N, Dy)
    target: Array  # (N, Dz)
    count: int

    @classmethod
    def learn(cls, pairs: Pairs, count: int = 3) -> NearestPoses:
        """From pairs; all of them where there are fewer than `count`."""
        return cls(pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1), min(count, len(pairs)))

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"NN{self.count}"

    def map(self, local: Array, continuity: float = 0.0) -> Mapped:
        """The target's markers for source points (F, P, 3) in the local frame; the latent is the distances."""
        flat = np.asarray(local, np.float64).reshape(len(local), -1)
        distances = np.sqrt(squared_pose_distances(flat, self.source))
        near = np.argsort(distances, axis=1, kind="stable")[:, : self.count]
        nearest = np.take_along_axis(distances, near, axis=1)
        weights = 1.0 / np.maximum(nearest, AT_KEY)
        weights /= weights.sum(axis=1, keepdims=True)
        chosen = self.target[near]  # (F, count, Dz)
        mean = np.einsum("fk,fkd->fd", weights, chosen)
        variance = np.einsum("fk,fkd->f", weights, (chosen - mean[:, None]) ** 2) / self.target.shape[1]
        return Mapped(nearest, mean.reshape(len(flat), -1, 3), variance)
