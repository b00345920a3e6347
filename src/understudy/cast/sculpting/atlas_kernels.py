"""The inner loop of `atlas`: which triangle covers each texel, and where in it the texel's centre lies."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.accelerate import compiled


@compiled()
def cover(uvs: Array, size: int, triangle: Array, weights: Array) -> None:
    """Fill triangle (size, size), -1 where none, and weights (size, size, 3) barycentric, from corners (T, 3, 2).

    Texel (row, column) has its centre at ((column + .5) / size, (row + .5) / size).
    """
    triangle[:] = -1
    for t in range(len(uvs)):
        ax, ay = uvs[t, 0, 0] * size - 0.5, uvs[t, 0, 1] * size - 0.5
        bx, by = uvs[t, 1, 0] * size - 0.5, uvs[t, 1, 1] * size - 0.5
        cx, cy = uvs[t, 2, 0] * size - 0.5, uvs[t, 2, 1] * size - 0.5
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:
            continue
        left, right = max(int(np.ceil(min(ax, bx, cx))), 0), min(int(np.floor(max(ax, bx, cx))), size - 1)
        low, high = max(int(np.ceil(min(ay, by, cy))), 0), min(int(np.floor(max(ay, by, cy))), size - 1)
        for row in range(low, high + 1):
            for column in range(left, right + 1):
                b = ((column - ax) * (cy - ay) - (row - ay) * (cx - ax)) / area
                c = ((bx - ax) * (row - ay) - (by - ay) * (column - ax)) / area
                if b >= 0.0 and c >= 0.0 and b + c <= 1.0:
                    triangle[row, column] = t
                    weights[row, column, 0] = 1.0 - b - c
                    weights[row, column, 1] = b
                    weights[row, column, 2] = c
