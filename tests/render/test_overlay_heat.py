"""Heat maps: colours that grow lighter with the number, and a picture in which the warm vertex is seen."""

from __future__ import annotations

import numpy as np
import pytest
from tests.deform.rigging.shapes import box

from understudy.errors import InvalidInput
from understudy.render import open_renderer
from understudy.render.overlay import comparison_view, heat_colours, heat_picture

LIGHTNESS = np.array([0.2126, 0.7152, 0.0722])


def test_more_is_lighter_and_ends_are_held() -> None:
    light = heat_colours(np.linspace(0, 2, 50), 2.0) @ LIGHTNESS
    assert (np.diff(light) > 0).all()
    np.testing.assert_array_equal(heat_colours([-1.0, 5.0], 2.0), heat_colours([0.0, 2.0], 2.0))
    with pytest.raises(InvalidInput, match="largest value"):
        heat_colours([1.0], 0.0)


def test_a_warm_mesh_is_lighter_in_the_picture() -> None:
    vertices, triangles = box([0, 0, 0], [1, 1, 1])
    camera, stage = comparison_view([vertices], 1.0, 0.5, 0.2)
    with open_renderer(64, 64, prefer="software") as renderer:
        cold, warm = (
            heat_picture(renderer, camera, stage, vertices, triangles, np.full(8, value), 1.0)[32, 32].astype(int).sum()
            for value in (0.0, 1.0)
        )
    assert warm > cold + 100
