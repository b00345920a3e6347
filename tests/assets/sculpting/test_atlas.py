"""The atlas: texels find their triangle, and the normal map means what glTF says it means."""

from __future__ import annotations

import numpy as np
import pytest

from assets.sculpting import coat

pytest.importorskip("numba", reason="numba is not installed")

# two triangles of a square in the plane z = 0: u along x, v against y
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]])
UVS = np.stack([0.1 + 0.8 * CORNERS[:, 0], 0.9 - 0.8 * CORNERS[:, 1]], axis=1)[TRIANGLES]


@pytest.fixture(scope="module")
def square() -> coat.Texels:
    return coat.covered_texels([(CORNERS, TRIANGLES)], [UVS])


def test_every_texel_of_a_square_knows_its_place(square: coat.Texels) -> None:
    rows, columns = np.divmod(square.where, coat.ATLAS_SIZE)
    u, v = (columns + 0.5) / coat.ATLAS_SIZE, (rows + 0.5) / coat.ATLAS_SIZE
    inside = np.floor(0.8 * coat.ATLAS_SIZE) ** 2
    assert abs(len(square.where) - inside) < 4 * coat.ATLAS_SIZE
    assert np.allclose(square.points[:, 0], (u - 0.1) / 0.8, atol=1e-9)
    assert np.allclose(square.points[:, 1], (0.9 - v) / 0.8, atol=1e-9)
    assert np.allclose(square.points[:, 2], 0)


def test_frames_follow_the_picture(square: coat.Texels) -> None:
    assert np.allclose(square.across, [1, 0, 0]) and np.allclose(square.up, [0, 1, 0])
    assert np.allclose(square.normals, [0, 0, 1])


def test_a_flat_bump_is_the_neutral_colour(square: coat.Texels) -> None:
    flat = coat.bumped_normals(square, square.normals, np.zeros((len(square.where), 3)))
    assert np.allclose(flat, [0.5, 0.5, 1.0])


@pytest.mark.parametrize("axis", [0, 1])
def test_a_slope_that_rises_along_an_axis_tips_the_normal_back(square: coat.Texels, axis: int) -> None:
    slope = np.zeros((len(square.where), 3))
    slope[:, axis] = 0.5
    tipped = 2 * coat.bumped_normals(square, square.normals, slope) - 1
    expected = np.array([0.0, 0.0, 1.0])
    expected[axis] = -0.5
    assert np.allclose(tipped, expected / np.linalg.norm(expected))


def test_mirrored_triangles_read_the_same_texel_as_the_mirrored_bump(square: coat.Texels) -> None:
    mirrored = CORNERS * [-1, 1, 1]
    other = coat.covered_texels([(mirrored, TRIANGLES[:, ::-1])], [UVS[:, ::-1]])
    assert np.array_equal(other.where, square.where)
    slope = np.random.default_rng(1).normal(size=(len(square.where), 3))
    left = coat.bumped_normals(square, square.normals, slope)
    right = coat.bumped_normals(other, other.normals, slope * [-1, 1, 1])
    assert np.allclose(left, right)


def test_true_normals_far_from_the_meshs_are_not_trusted(square: coat.Texels) -> None:
    backwards = np.tile([0.0, 0.0, -1.0], (len(square.where), 1))
    assert np.allclose(coat.bumped_normals(square, backwards, np.zeros_like(backwards)), [0.5, 0.5, 1.0])


def test_gaps_take_the_nearest_texel_and_half_size_is_the_mean(square: coat.Texels) -> None:
    values = np.stack([square.points[:, 0], square.points[:, 1], np.ones(len(square.where))], axis=1)
    whole = coat.texel_picture(square, values)
    assert whole.shape == (coat.ATLAS_SIZE, coat.ATLAS_SIZE, 3) and whole[0, 0, 2] == 255
    assert whole[coat.ATLAS_SIZE // 2, 0, 0] < 3 and whole[coat.ATLAS_SIZE // 2, -1, 0] > 252
    half = coat.texel_picture(square, values, coarser=2)
    means = whole.reshape(coat.ATLAS_SIZE // 2, 2, coat.ATLAS_SIZE // 2, 2, 3).mean(axis=(1, 3))
    assert np.abs(half - means).max() <= 1


def test_unwrapping_packs_surfaces_into_the_square_without_overlap() -> None:
    pytest.importorskip("xatlas", reason="the sculpt extra is not installed")
    rng = np.random.default_rng(0)
    x, y = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 12), np.linspace(0, 1, 12)))
    sheet = np.stack([x, y, 0.2 * np.sin(3 * x) + 0.01 * rng.normal(size=x.size)], axis=1)
    from assets.sculpting.geometry import grid

    surfaces = [(sheet, grid(12, 12)), (0.5 * sheet + 3, grid(12, 12))]
    uvs = coat.unwrap(surfaces)
    assert [u.shape for u in uvs] == [(242, 3, 2)] * 2
    assert min(u.min() for u in uvs) >= 0 and max(u.max() for u in uvs) <= 1
    covered = len(coat.covered_texels(surfaces, uvs).where) / coat.ATLAS_SIZE**2
    e = [u[:, 1:] - u[:, :1] for u in uvs]
    area = sum(float(np.abs(d[:, 0, 0] * d[:, 1, 1] - d[:, 0, 1] * d[:, 1, 0]).sum()) / 2 for d in e)
    assert abs(covered - area) < 0.01  # triangles on top of each other would cover less than their area
