"""Camera: a pinhole, and how a point of its picture moves with the point in space.

The camera looks along -z with y up, as in glTF; its picture's x runs right and its y down, in pixels:

    u = c_x + f x / -z,    v = c_y - f y / -z
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput

FIELD = 50.0  # degrees across the longer side: between a webcam's 60 and a telephone's 45 at arm's length


@dataclass(frozen=True)
class Camera:
    """Focal length and centre in pixels."""

    focal: float
    centre: tuple[float, float]

    @classmethod
    def of_picture(cls, width: int, height: int, field: float | None = None) -> Camera:
        """The camera of a picture that shows `field` degrees across its longer side, with the centre in its middle."""
        field = FIELD if field is None else field
        if not 1 <= field <= 170:
            raise InvalidInput(f"the field of view should lie between 1 and 170 degrees, but is {field}")
        checks.positive(min(width, height), "the size of the picture")
        focal = 0.5 * max(width, height) / np.tan(0.5 * np.radians(field))
        return cls(float(focal), (0.5 * width, 0.5 * height))

    def project(self, points: Array) -> Array:
        """(..., 2) pixels of points (..., 3) in the camera's space, all before it."""
        depth = -points[..., 2]
        return np.stack(
            [
                self.centre[0] + self.focal * points[..., 0] / depth,
                self.centre[1] - self.focal * points[..., 1] / depth,
            ],
            axis=-1,
        )

    def slopes(self, points: Array) -> Array:
        """(..., 2, 3) how the pixels change with the points (..., 3)."""
        x, y, depth = points[..., 0], points[..., 1], -points[..., 2]
        result = np.zeros((*points.shape[:-1], 2, 3))
        result[..., 0, 0] = self.focal / depth
        result[..., 0, 2] = self.focal * x / depth**2
        result[..., 1, 1] = -self.focal / depth
        result[..., 1, 2] = -self.focal * y / depth**2
        return result

    def at_depth(self, pixels: Array, depth: Array) -> Array:
        """(..., 3) the points in the camera's space that lie at `depth` (...,) behind pixels (..., 2)."""
        x = (pixels[..., 0] - self.centre[0]) * depth / self.focal
        y = (self.centre[1] - pixels[..., 1]) * depth / self.focal
        return np.stack([x, y, -depth], axis=-1)
