"""The light's own view: it holds the figure's sphere, and stands still on its texels while the figure moves."""

from __future__ import annotations

import numpy as np

from understudy.render.opengl.renderer import SHADOW_PIXELS, light_from_world
from understudy.render.scene import lights_for

KEY = lights_for(0.3).key


def seen(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def test_the_sphere_lies_within_clip_space() -> None:
    rng = np.random.default_rng(0)
    around = rng.normal(size=(500, 3))
    around /= np.linalg.norm(around, axis=1, keepdims=True)
    centre, reach = np.array([3.0, 1.0, -2.0]), 1.7
    matrix, texel = light_from_world(KEY, centre, reach)
    assert texel == 2 * reach / SHADOW_PIXELS
    # the centre is rounded to a texel, so the sphere may reach over the edge by one
    assert np.abs(seen(centre + reach * around, matrix)).max() <= 1 + 2 / SHADOW_PIXELS


def test_depth_grows_away_from_the_light() -> None:
    matrix, _ = light_from_world(KEY, np.zeros(3), 1.0)
    depth = seen(np.outer([-0.5, 0.0, 0.5], KEY), matrix)[:, 2]
    np.testing.assert_allclose(depth, [0.5, 0.0, -0.5], atol=1e-12)


def test_shadows_do_not_swim() -> None:
    """Whatever the centre, a point of the world falls on the same place within its texel."""
    point, reach = np.array([[0.2, 0.4, 0.1]]), 1.2
    places = []
    for step in np.linspace(0.0, 0.5, 20):
        matrix, _ = light_from_world(KEY, np.array([step, 0.3 * step, -step]), reach)
        places.append((seen(point, matrix)[0, :2] * 0.5 + 0.5) * SHADOW_PIXELS)
    shifts = np.array(places) - places[0]
    np.testing.assert_allclose(shifts, np.round(shifts), atol=1e-6)
