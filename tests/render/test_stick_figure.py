"""The stick figure: closed solids around the bones, the same in one frame as in many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.errors import InvalidInput
from understudy.render.stick_figure import bone_mesh, stick_figure_surface

PARENTS = np.array([-1, 0, 1, 1, 0])


def joints(seed: int, *lead: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(*lead, 5, 3))


def volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """Signed volume; positive where all triangles face outwards."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_every_bone_and_ball_faces_outwards(seed):
    vertices, triangles, colours = bone_mesh(joints(seed), PARENTS)
    assert triangles.max() == len(vertices) - 1 and len(colours) == len(vertices)
    for part in np.split(triangles[:32], 4):
        assert volume(vertices - vertices[part[0, 0]], part) > 0
    for part in np.split(triangles[32:], 5):
        assert volume(vertices - vertices[part[0, 0]], part) > 0


def test_bones_reach_from_joint_to_joint():
    positions = joints(2)
    vertices, _, _ = bone_mesh(positions, PARENTS)
    for i, child in enumerate(range(1, 5)):
        corners = vertices[24 * i : 24 * (i + 1)]
        for end in (positions[child], positions[PARENTS[child]]):
            assert np.linalg.norm(corners - end, axis=1).min() < 1e-12


def test_many_frames_are_the_single_frames():
    # Lengths that do not change, as in a skeleton: a rigid motion of one pose.
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(6, 3, 3)))[0]
    clip = joints(4) @ turn
    surface, vertices = stick_figure_surface(clip, PARENTS)
    assert vertices.shape == (6, surface.least_vertices, 3)
    for frame, expected in zip(clip, vertices):
        np.testing.assert_allclose(bone_mesh(frame, PARENTS)[0], expected, atol=1e-9)


def test_coincident_joints_and_a_bone_along_minus_z_give_finite_vertices():
    positions = np.array([[0, 0, 0], [0, 0, 0], [0, 0, -1], [0, 0, 1], [0, 1, 0]], dtype=float)
    assert np.isfinite(bone_mesh(positions, PARENTS)[0]).all()
    assert len(bone_mesh(np.zeros((1, 3)), [-1])[0]) == 42


def test_bad_parents_are_refused():
    with pytest.raises(InvalidInput, match="parents should come before their children"):
        bone_mesh(joints(0), [-1, 2, 0, 0, 0])
    with pytest.raises(InvalidInput, match=r"\(..., 2, 3\)"):
        bone_mesh(joints(0), [-1, 0])
