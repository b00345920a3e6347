"""Rotational regression: its gradients, its Poisson problem, and what it learns that a linear blend cannot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.deform import tubes

from understudy.deform.fitting import gradient_mesh
from understudy.deform.methods.linear import LinearSkin
from understudy.deform.methods.rotational_regression import (
    KERNELS,
    RotationalRegression,
    _exp,
    _log,
    bone_rotations,
    joint_features,
)
from understudy.maths import jit


@pytest.fixture(scope="module")
def mesh():
    return tubes.rest_tube(9, 8)


def test_gradients_of_a_linear_map_are_that_map(mesh):
    rest, triangles = mesh
    turn = Rotation.from_rotvec((0.3, -0.5, 1.1)).as_matrix()
    edges = gradient_mesh.edges_of(rest, triangles)
    D = gradient_mesh.gradients(rest, triangles, edges, (rest @ turn.T + 0.4)[None])
    np.testing.assert_allclose(D[0], np.broadcast_to(turn, D[0].shape), atol=1e-6)


def test_mesh_of_its_own_gradients_is_itself(mesh):
    """The Poisson problem inverts `gradients` where all turn together, from any trust however small."""
    rest, triangles = mesh
    edges = gradient_mesh.edges_of(rest, triangles)
    matrix = gradient_mesh.poisson_matrix(edges, np.full(len(rest), 1e-6))
    turn = Rotation.from_rotvec((0.1, 0.9, 0.2)).as_matrix()
    posed = rest @ turn.T
    right = 1e-6 * posed
    apart = edges.weight[:, None] * (rest[edges.owner] - rest[edges.other])
    np.add.at(right, edges.owner, apart @ turn.T)
    np.testing.assert_allclose(np.linalg.solve(matrix.toarray(), right), posed, atol=1e-7)


def test_factor_is_that_of_the_matrix(mesh):
    rest, triangles = mesh
    edges = gradient_mesh.edges_of(rest, triangles)
    matrix = gradient_mesh.poisson_matrix(edges, np.full(len(rest), 0.1))
    factor = gradient_mesh.factorise(matrix)
    count = len(rest)
    L = np.eye(count)
    for j in range(count):
        part = slice(factor.start[j], factor.start[j + 1])
        L[factor.row[part], j] = factor.value[part]
    again = L @ np.diag(factor.diagonal) @ L.T
    np.testing.assert_allclose(again, matrix.toarray()[np.ix_(factor.order, factor.order)], atol=1e-4)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 1.0, 3.0, np.pi - 1e-6])
def test_exp_and_log_are_inverse(size):
    axis = np.array([0.6, -0.64, 0.48])
    np.testing.assert_allclose(_log(_exp(size * axis)), size * axis, atol=1e-7)
    np.testing.assert_allclose(_exp(size * axis), Rotation.from_rotvec(size * axis).as_matrix(), atol=1e-12)


def test_learns_what_a_linear_blend_cannot():
    bends = np.radians(np.arange(0.0, 121.0, 20.0))
    train = tubes.tube(bends, 0 * bends)
    test = tubes.tube(bends[:-1] + 0.17, 0 * bends[:-1])

    def rms(kind):
        made = kind.fit(train).deform_reference(test.transforms)
        return np.sqrt(np.mean(np.sum((made - test.vertices) ** 2, axis=-1)))

    assert rms(RotationalRegression) < 0.6 * rms(LinearSkin)


def test_loose_vertices_follow_their_bones():
    e = tubes.standard()
    loose = type(e)(
        np.concatenate([e.rest, [[1.9, 0.0, 0.0]]]),
        e.triangles,
        e.inverse_binds,
        e.transforms,
        np.concatenate([e.vertices, (e.matrices[:, 2] @ [1.9, 0.0, 0.0, 1.0])[:, None, :3]], axis=1),
        e.parents,
    )
    made = RotationalRegression.fit(loose).deform(e.transforms)
    assert np.abs(made[:, -1] - loose.vertices[:, -1]).max() < 1e-3


def test_a_mesh_in_pieces_is_the_whole_one():
    """Every triangle with vertices of its own, as files with hard edges have them: the same skin, no cracks."""
    e = tubes.standard()
    corners = e.triangles.ravel()
    pieces = type(e)(
        e.rest[corners],
        np.arange(len(corners)).reshape(-1, 3),
        e.inverse_binds,
        e.transforms,
        e.vertices[:, corners],
        e.parents,
    )
    pose = tubes.pose(1.2, 0.4)
    whole, split = (RotationalRegression.fit(x) for x in (e, pieces))
    for result in (split.deform(pose), split.deform_reference(pose)):
        np.testing.assert_allclose(result, whole.deform(pose)[corners], atol=1e-4)
    assert split.bytes_a_vertex < whole.bytes_a_vertex


@pytest.mark.parametrize("scale", [1.0, 1.3])
def test_a_pose_is_read_as_numpy_reads_it(scale):
    """Also at half turns, and where joints are scaled, which the kernel leaves to NumPy."""
    kernels = jit.kernels(KERNELS)
    examples = tubes.standard()
    made = RotationalRegression.fit(examples)
    t = examples.transforms.copy()
    turns = Rotation.from_rotvec(np.outer(np.linspace(0, np.pi - 1e-6, len(t)), (0.48, 0.6, -0.64)))
    t[:, -1, :3, :3] = turns.as_matrix() @ t[:, -1, :3, :3]
    t[1, -1, :3, :3] *= scale
    f, Q = made._pose(t, kernels)
    np.testing.assert_allclose(f, joint_features(made.features, t), atol=2e-6)
    np.testing.assert_allclose(Q.reshape(*t.shape[:2], 3, 3), bone_rotations(t @ made.skin.inverse_binds), atol=1e-6)
