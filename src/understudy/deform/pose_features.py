"""A pose as numbers between which distances make sense: how each joint differs from its rest, as its parent sees it.

    D_j = L_j^-1 (T_p^-1 T_j),   L_j = T_p^-1 T_j at rest,    x_j = ((D_j - 1)_3x3 / sqrt(2), D_j's translation / size)

The entries of the matrix, not angles: they are smooth everywhere, with no pole and no two signs, and for small turns
|x_j - y_j| is the angle between two poses in radians (2 sin(a / 2) in general). Roots have no parent, and what all
joints do together is no pose; a second root is seen from the first. Joints that do not move in the examples are left
out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.deform.deformer import Examples, Frozen
from understudy.maths import transform

STILL = 1e-5  # radians or sizes: less is rounding in files


@dataclass(frozen=True, eq=False)
class PoseFeatures(Frozen):
    """Features x (F, M, 12) of the M joints that move."""

    joints: Array  # (M,) int
    above: Array  # (M,) int, the joint from which each is seen
    rest_back: Array  # (M, 4, 4) L_j^-1
    sizes: Array  # (M,) of the mesh, in the units of each joint

    @classmethod
    def of(cls, examples: Examples) -> PoseFeatures:
        """For the joints that move in the examples."""
        roots = np.flatnonzero(examples.parents < 0)
        above = np.where(examples.parents < 0, roots[0] if roots.size else 0, examples.parents)
        joints = np.setdiff1d(np.arange(len(above)), roots[:1])
        rest = examples.rest_transforms
        back = transform.invert(transform.invert(rest[above[joints]]) @ rest[joints])
        every = cls(joints, above[joints], back, examples.joint_sizes[joints])
        x = every(examples.transforms)
        moves = np.abs(x).max(axis=(0, 2), initial=0) > STILL
        return cls(joints[moves], above[joints[moves]], back[moves], every.sizes[moves])

    def __call__(self, transforms: Array) -> Array:
        """x (F, M, 12) of world_from_joint (F, B, 4, 4); zero at rest."""
        d = self.relative(transforms)
        turn = (d[..., :3, :3] - np.eye(3)) / np.sqrt(2)
        return np.concatenate((turn.reshape(*turn.shape[:2], 9), d[..., :3, 3] / self.sizes[:, None]), axis=-1)

    def relative(self, transforms: Array) -> Array:
        """D (F, M, 4, 4): how each joint differs from its rest, as its parent sees it."""
        t = np.asarray(transforms, dtype=np.float64)
        return np.asarray(self.rest_back @ transform.invert(t[:, self.above]) @ t[:, self.joints])


def squared_distances(a: Array, b: Array) -> Array:
    """(M, F, E) of each joint between poses a (F, M, 12) and b (E, M, 12)."""
    a, b = np.swapaxes(a, 0, 1), np.swapaxes(b, 0, 1)
    squares = np.square(a).sum(axis=-1)[:, :, None] + np.square(b).sum(axis=-1)[:, None]
    return np.maximum(squares - 2 * a @ np.swapaxes(b, 1, 2), 0)
