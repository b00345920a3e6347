"""The floor of a take: where its figure stands."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.render.show import _ground_height


def outlines(*lowest: float) -> np.ndarray:
    """(F, 2, 3) a figure two metres high, whose lowest point has these heights."""
    return np.array([[[0.0, low, 0.0], [0.5, low + 2.0, 0.5]] for low in lowest])


@pytest.mark.parametrize(
    ("lowest", "ground"),
    [
        ((0.0, 0.01, 0.0), 0.0),
        ((0.0, 0.0, -0.4), 0.0),  # a fall that ends below the ground
        ((-0.1, -0.5, -0.7, 0.0), 0.0),  # a sword that cuts through the ground
        ((1.0, 1.2, 0.1), 0.0),  # a jump
        ((-1.0, -1.0, -1.0), None),  # modelled around its centre
        ((3.0, 3.0, 3.1), None),
    ],
)
def test_the_ground_is_where_the_figure_stands(lowest: tuple[float, ...], ground: float | None) -> None:
    assert _ground_height(outlines(*lowest)) == ground
