"""The atlas: texels find their triangle, and the normal map means what glTF says it means."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.cast.sculpting import atlas

pytest.importorskip("numba", reason="numba is not installed")

# two triangles of a square in the plane z = 0: u along x, v against y
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]])
UVS = np.stack([0.1 + 0.8 * CORNERS[:, 0], 0.9 - 0.8 * CORNERS[:, 1]], axis=1)[TRIANGLES]


@pytest.fixture(scope="module")
def square() -> atlas.Texels:
    return atlas.texels([(CORNERS, TRIANGLES)], [UVS])


def test_every_texel_of_a_square_knows_its_place(square: atlas.Texels) -> None:
    rows, columns = np.divmod(square.where, atlas.SIZE)
    u, v = (columns + 0.5) / atlas.SIZE, (rows + 0.5) / atlas.SIZE
    inside = np.floor(0.8 * atlas.SIZE) ** 2
    assert abs(len(square.where) - inside) < 4 * atlas.SIZE
    assert np.allclose(square.points[:, 0], (u - 0.1) / 0.8, atol=1e-9)
    assert np.allclose(square.points[:, 1], (0.9 - v) / 0.8, atol=1e-9)
    assert np.allclose(square.points[:, 2], 0)


def test_frames_follow_the_picture(square: atlas.Texels) -> None:
    assert np.allclose(square.across, [1, 0, 0]) and np.allclose(square.up, [0, 1, 0])
    assert np.allclose(square.normals, [0, 0, 1])


def test_a_flat_bump_is_the_neutral_colour(square: atlas.Texels) -> None:
    flat = atlas.bumped(square, square.normals, np.zeros((len(square.where), 3)))
    assert np.allclose(flat, [0.5, 0.5, 1.0])


@pytest.mark.parametrize("axis", [0, 1])
def test_a_slope_that_rises_along_an_axis_tips_the_normal_back(square: atlas.Texels, axis: int) -> None:
    slope = np.zeros((len(square.where), 3))
    slope[:, axis] = 0.5
    tipped = 2 * atlas.bumped(square, square.normals, slope) - 1
    expected = np.array([0.0, 0.0, 1.0])
    expected[axis] = -0.5
    assert np.allclose(tipped, expected / np.linalg.norm(expected))


def test_mirrored_triangles_read_the_same_texel_as_the_mirrored_bump(square: atlas.Texels) -> None:
    mirrored = CORNERS * [-1, 1, 1]
    other = atlas.texels([(mirrored, TRIANGLES[:, ::-1])], [UVS[:, ::-1]])
    assert np.array_equal(other.where, square.where)
    slope = np.random.default_rng(1).normal(size=(len(square.where), 3))
    left = atlas.bumped(square, square.normals, slope)
    right = atlas.bumped(other, other.normals, slope * [-1, 1, 1])
    assert np.allclose(left, right)


def test_true_normals_far_from_the_meshs_are_not_trusted(square: atlas.Texels) -> None:
    backwards = np.tile([0.0, 0.0, -1.0], (len(square.where), 1))
    assert np.allclose(atlas.bumped(square, backwards, np.zeros_like(backwards)), [0.5, 0.5, 1.0])


def test_gaps_take_the_nearest_texel_and_half_size_is_the_mean(square: atlas.Texels) -> None:
    values = np.stack([square.points[:, 0], square.points[:, 1], np.ones(len(square.where))], axis=1)
    whole = atlas.picture(square, values)
    assert whole.shape == (atlas.SIZE, atlas.SIZE, 3) and whole[0, 0, 2] == 255
    assert whole[atlas.SIZE // 2, 0, 0] < 3 and whole[atlas.SIZE // 2, -1, 0] > 252
    half = atlas.picture(square, values, coarser=2)
    means = whole.reshape(atlas.SIZE // 2, 2, atlas.SIZE // 2, 2, 3).mean(axis=(1, 3))
    assert np.abs(half - means).max() <= 1


def test_unwrapping_packs_surfaces_into_the_square_without_overlap() -> None:
    pytest.importorskip("xatlas", reason="the sculpt extra is not installed")
    rng = np.random.default_rng(0)
    x, y = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 12), np.linspace(0, 1, 12)))
    sheet = np.stack([x, y, 0.2 * np.sin(3 * x) + 0.01 * rng.normal(size=x.size)], axis=1)
    from understudy.cast.sculpting.patches import grid

    surfaces = [(sheet, grid(12, 12)), (0.5 * sheet + 3, grid(12, 12))]
    uvs = atlas.unwrap(surfaces)
    assert [u.shape for u in uvs] == [(242, 3, 2)] * 2
    assert min(u.min() for u in uvs) >= 0 and max(u.max() for u in uvs) <= 1
    covered = len(atlas.texels(surfaces, uvs).where) / atlas.SIZE**2
    e = [u[:, 1:] - u[:, :1] for u in uvs]
    area = sum(float(np.abs(d[:, 0, 0] * d[:, 1, 1] - d[:, 0, 1] * d[:, 1, 0]).sum()) / 2 for d in e)
    assert abs(covered - area) < 0.01  # triangles on top of each other would cover less than their area
