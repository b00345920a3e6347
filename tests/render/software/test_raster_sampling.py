"""Maps in NumPy: what is read at a place, at the right level of detail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.maths.colour import to_linear
from understudy.render.software.raster import detail_level, normalise_rows, perturb_normals, sample_map


def test_texel_centres_are_exact_and_the_map_repeats() -> None:
    picture = np.random.default_rng(0).integers(0, 256, size=(3, 5, 4), dtype=np.uint8)
    y, x = np.mgrid[0:3, 0:5]
    uvs = np.stack([(x + 0.5) / 5, (y + 0.5) / 3], axis=-1).reshape(-1, 2)
    for shift in ([0, 0], [2, -3]):
        np.testing.assert_allclose(sample_map(picture, uvs + shift), picture.reshape(-1, 4) / 255, atol=1e-9)
    colours = sample_map(picture, uvs, from_srgb=True)
    np.testing.assert_allclose(colours[:, :3], to_linear(picture.reshape(-1, 4)[:, :3] / 255), atol=1e-9)
    np.testing.assert_allclose(colours[:, 3], picture.reshape(-1, 4)[:, 3] / 255, atol=1e-9)


@pytest.mark.parametrize("shape", [(8, 8), (5, 9), (1, 4)])
def test_from_afar_a_map_is_its_mean(shape: tuple[int, int]) -> None:
    picture = np.full((*shape, 4), 10, np.uint8)
    picture[:, ::2] = 50
    far = sample_map(picture, np.random.default_rng(0).uniform(size=(20, 2)), level=1e3)
    assert np.ptp(far) < 1e-9 and 10 / 255 <= far[0, 0] <= 50 / 255


def test_the_level_is_a_pixels_length_on_the_map() -> None:
    screen = np.array([[[0.0, 0, 0.3], [40, 0, 0.3], [0, 20, 0.3]]])
    uvs = np.array([[[0.0, 0], [0.5, 0], [0, 0.25]]])
    assert detail_level(screen, uvs) == pytest.approx(1 / 80)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), tilt=st.tuples(st.floats(-0.6, 0.6), st.floats(-0.6, 0.6)))
def test_mirrored_places_and_uvs_have_mirrored_normals(seed: int, tilt: tuple[float, float]) -> None:
    """A face whose right half uses the map of the left one."""
    rng = np.random.default_rng(seed)
    places, uvs = rng.normal(size=(1, 3, 3)), rng.uniform(size=(1, 3, 2))
    face = normalise_rows(np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0]))
    n = normalise_rows(face + 0.2 * rng.normal(size=(1, 3)))
    m = normalise_rows(np.array([[*tilt, 1.0]]))
    turned, _ = perturb_normals(n, m, places, uvs, 1.0, np.array([0.5]))
    flip = np.array([-1.0, 1.0, 1.0])
    # a mirror turns a triangle round: its corners are listed the other way
    other, _ = perturb_normals(n * flip, m, (places * flip)[:, ::-1], uvs[:, ::-1], 1.0, np.array([0.5]))
    np.testing.assert_allclose(other, turned * flip, atol=1e-7)


def test_a_level_map_leaves_normal_and_roughness() -> None:
    rng = np.random.default_rng(0)
    n, rough = normalise_rows(rng.normal(size=(9, 3))), rng.uniform(0.1, 1.0, size=9)
    places, uvs = rng.normal(size=(9, 3, 3)), rng.uniform(size=(9, 3, 2))
    turned, left = perturb_normals(n, np.tile([0.0, 0.0, 1.0], (9, 1)), places, uvs, 1.0, rough)
    np.testing.assert_allclose(turned, n, atol=1e-12)
    np.testing.assert_allclose(left, rough, atol=1e-12)
    _, rougher = perturb_normals(n, np.tile([0.0, 0.0, 0.8], (9, 1)), places, uvs, 1.0, rough)
    assert (rougher > rough - 1e-12).all() and (rougher > rough)[rough < 0.9].all()
