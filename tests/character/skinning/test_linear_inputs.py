"""The order in which kernels take their numbers: every frame is there once, where the kernel looks for it."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character.skinning.linear import frames_innermost


@pytest.mark.parametrize("frames", [1, 5, 8, 13])
def test_frames_lie_innermost(frames: int) -> None:
    width, values = 4, np.random.default_rng(0).normal(size=(frames, 3, 2)).astype(np.float32)
    laid = frames_innermost(values, width).reshape(-1, 3, 2, width)
    for f in range(laid.shape[0] * width):
        expected = values[f] if f < frames else np.zeros((3, 2))
        np.testing.assert_array_equal(laid[f // width, ..., f % width], expected)
