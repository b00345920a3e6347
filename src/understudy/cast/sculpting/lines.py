"""Lines that lie on a sculpture: mouths and brows, as thin tubes that taper to both ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from understudy.cast.sculpting import tubes
from understudy.cast.sculpting.clay import Clay
from understudy.cast.sculpting.fields import unit_gradient
from understudy.cast.sculpting.patches import bezier, facing_out
from understudy.checks import Array

RINGS, SIDES = 22, 8
DEPTH = (0.0, 0.6)  # z between which the front of a sculpture is looked for


def line(clay: Clay, points: ArrayLike, radius: float, lift: float = 0.0, flat: float = 0.6) -> tuple[Array, Array]:
    """Vertices and triangles along the Bezier curve of `points` (n, 2), x and y, on the front, raised by `lift`.

    `radius` is half the line's breadth in the middle, `flat` its thickness in relation to that.
    """
    t = np.linspace(0.0, 1.0, RINGS)
    xy = bezier(points, t)
    path = clay.on_front(xy, *DEPTH)
    path = path + lift * unit_gradient(path, clay)
    broad = radius * np.sqrt(np.clip(1 - (2 * t - 1) ** 2, 0.04, 1))
    return facing_out(tubes.tube(path, broad, flat * broad, SIDES, (0, 1, 0.01)), tubes.triangles(RINGS, SIDES))
