"""The transition itself: two windows of frames, faded into each other [Kovar 2002, section 3.2].

    alpha(p) = 2 ((p + 1) / k)^3 - 3 ((p + 1) / k)^2 + 1,    -1 < p < k

is 1 at p = -1 (the last frame before the blend) and 0 at p = k - 1 (its last frame), flat at both, so the blend is C1.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths import quaternion


def fade(window: int) -> Array:
    """(k,) alpha(p), the share of the motion that is left."""
    u = (np.arange(window) + 1.0) / window
    return 2.0 * u**3 - 3.0 * u**2 + 1.0


def blended(leaving: Array, entering: Array, rotations: Array | None = None) -> Array:
    """(k, C) from `leaving` (k, C) to `entering` (k, C), frame by frame; the last frame is that of `entering`.

    `rotations` (R,) are the columns at which quaternions x, y, z, w begin; they are blended by slerp, the short way,
    and everything else linearly. KGP02 also turns the clip entered to face along the clip left; travel is no part of
    these columns.
    """
    alpha = fade(len(leaving))[:, None]
    result = alpha * leaving + (1.0 - alpha) * entering
    if rotations is not None and len(rotations):
        columns = np.asarray(rotations)[:, None] + np.arange(4)
        result[:, columns] = quaternion.slerp(leaving[:, columns], entering[:, columns], 1.0 - alpha)
    return result
