"""Frame: from a file's units and up axis to metres with Y up.

The change is a similarity C = m R, m metres a unit and R a quarter turn about x where Z is up. It is applied to the
whole scene, p' = C p and M' = C M C^-1, so no joint is added and none gets a scale or a turn that is not its own:

    translations t' = m R t,   rotations (u, w)' = (R u, w),   scales s' = |R| s  (y and z change places)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array

Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # (x, y, z) -> (x, z, -y)


@dataclass(frozen=True)
class Frame:
    """`metres` a unit of the file, and whether its Z axis points up."""

    metres: float = 1.0
    z_up: bool = False

    def points(self, value: Array) -> Array:
        """Positions and offsets (..., 3)."""
        return self.metres * self.directions(value)

    def directions(self, value: Array) -> Array:
        """Normals and other directions (..., 3)."""
        value = np.asarray(value, np.float64)
        return value @ Z_UP.T if self.z_up else value

    def rotations(self, value: Array) -> Array:
        """Quaternions (..., 4), x y z w."""
        if not self.z_up:
            return value
        return np.concatenate([value[..., :3] @ Z_UP.T, value[..., 3:]], axis=-1)

    def scales(self, value: Array) -> Array:
        """Scales along the axes (..., 3)."""
        return value[..., [0, 2, 1]] if self.z_up else value

    def matrices(self, value: Array) -> Array:
        """Transforms (..., 4, 4)."""
        result = np.array(value, np.float64)
        if self.z_up:
            result[..., :3, :3] = Z_UP @ result[..., :3, :3] @ Z_UP.T
        result[..., :3, 3] = self.points(result[..., :3, 3])
        return result
