"""Skinning of mesh animations: laws of its two halves, and not above a plain decomposition at the same bone count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.data_folder import data_file
from tests.deform import ssdr_reference

from understudy.deform.methods import mesh_animation, mesh_animation_bones
from understudy.deform.methods.mesh_animation import skin_animation
from understudy.errors import InvalidInput


def rigid(rng, frames, bones, size=0.6):
    m = np.broadcast_to(np.eye(4), (frames, bones, 4, 4)).copy()
    turns = Rotation.from_rotvec(size * rng.normal(size=(frames * bones, 3)))
    m[..., :3, :3] = turns.as_matrix().reshape(frames, bones, 3, 3)
    m[..., :3, 3] = 0.2 * rng.normal(size=(frames, bones, 3))
    return m


@pytest.fixture(scope="module")
def sequence():
    """A sheet moved by three bones with smooth weights: rest, triangles, frames, weights."""
    rng = np.random.default_rng(3)
    u, v = np.meshgrid(np.linspace(0, 3, 16), np.linspace(0, 1, 7), indexing="ij")
    rest = np.stack([u, v, 0.2 * np.sin(3 * u + v)], axis=-1).reshape(-1, 3)
    index = np.arange(len(rest)).reshape(u.shape)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    triangles = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
    weights = np.maximum(0.0, 1 - np.abs(rest[:, :1] - np.array([0.4, 1.5, 2.6])) / 1.1)
    weights /= weights.sum(axis=1, keepdims=True)
    return rest, triangles, mesh_animation_bones.blend_dense(rest, weights, rigid(rng, 20, 3)), weights


def test_weights_are_found_where_the_motion_is_known():
    rng = np.random.default_rng(0)
    rest, motion = rng.normal(size=(30, 3)), rigid(rng, 12, 5)
    truth = rng.random((30, 5)) * (rng.random((30, 5)) < 0.5) + 1e-3 * np.eye(5)[np.arange(30) % 5]
    truth /= truth.sum(axis=1, keepdims=True)
    frames = mesh_animation_bones.blend_dense(rest, truth, motion)
    joints, weights = mesh_animation_bones.solve_weights(rest, motion, frames, 5)
    np.testing.assert_allclose(mesh_animation_bones.dense_weights(joints, weights, 5), truth, atol=1e-4)


def test_weights_are_convex_sparse_and_optimal():
    from scipy.optimize import minimize

    rng = np.random.default_rng(1)
    rest, motion, frames = rng.normal(size=(12, 3)), rigid(rng, 6, 6), rng.normal(size=(6, 12, 3))
    joints, weights = mesh_animation_bones.solve_weights(rest, motion, frames, 6)
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    full = mesh_animation_bones.dense_weights(joints, weights, 6)
    for v in range(0, 12, 4):
        a = (np.einsum("fbij,j->fbi", motion[:, :, :3, :3], rest[v]) + motion[:, :, :3, 3]).transpose(0, 2, 1)
        a, x = a.reshape(-1, 6), frames[:, v].ravel()
        oracle = minimize(
            lambda w, a=a, x=x: np.sum((a @ w - x) ** 2),
            np.full(6, 1 / 6),
            jac=lambda w, a=a, x=x: 2 * a.T @ (a @ w - x),
            bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(6)},
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert np.sum((a @ full[v] - x) ** 2) <= oracle.fun * (1 + 1e-5)
    assert (mesh_animation_bones.solve_weights(rest, motion, frames, 2)[1] > 0).sum(axis=1).max() <= 2


def test_motion_is_found_where_the_weights_are_known(sequence):
    rest, _, frames, weights = sequence
    found = mesh_animation.follow(rest, weights, frames, 400)
    assert np.abs(mesh_animation_bones.blend_dense(rest, weights, found) - frames).max() < 2e-3
    turns = found[..., :3, :3]
    np.testing.assert_allclose(turns @ turns.transpose(0, 1, 3, 2), np.broadcast_to(np.eye(3), turns.shape), atol=1e-12)
    assert (np.linalg.det(turns) > 0).all()


def test_each_half_never_makes_it_worse(sequence):
    rest, triangles, frames, _ = sequence
    history = []
    for iterations in (1, 2, 4, 8):
        history.append(
            skin_animation(rest, triangles, frames, {"bones": 3, "iterations": iterations, "tolerance": 0}).rms
        )
    assert (np.diff(history) <= 1e-12).all()
    assert history[-1] < 0.6 * history[0]


def test_mean_shift_finds_rigid_parts():
    """Three rigid sheets side by side, each with its own motion: three groups, and the groups are the sheets."""
    rng = np.random.default_rng(5)
    u, v = np.meshgrid(np.arange(6.0), np.arange(6.0), indexing="ij")
    sheet = np.stack([u, v, 0.3 * u * v], axis=-1).reshape(-1, 3)
    index = np.arange(36).reshape(6, 6)
    a, b, c = index[:-1, :-1], index[1:, :-1], index[1:, 1:]
    corner = np.stack([a, b, c], axis=-1).reshape(-1, 3)
    rest = np.concatenate([sheet + np.array([10.0 * k, 0, 0]) for k in range(3)])
    triangles = np.concatenate([corner + 36 * k for k in range(3)])
    owner = np.repeat(np.arange(3), 36)
    frames = mesh_animation_bones.blend_dense(rest, np.eye(3)[owner], rigid(rng, 15, 3))
    group = mesh_animation_bones.group_by_rotation(rest, frames, triangles)
    used = np.isin(np.arange(len(rest)), triangles)
    assert len(np.unique(group[used])) == 3
    for k in range(3):
        assert len(np.unique(group[used & (owner == k)])) == 1
    found = skin_animation(rest, triangles, frames)
    assert found.bones == 3 and found.rms < 1e-5


def test_parts_that_slide_are_found_too():
    """Four sheets side by side that never turn, each on its own way: by their turns they are one."""
    u, v = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
    sheet = np.stack([u, v, 0.3 * u * v], axis=-1).reshape(-1, 3)
    index = np.arange(25).reshape(5, 5)
    corner = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:]], axis=-1).reshape(-1, 3)
    rest = np.concatenate([sheet + np.array([8.0 * k, 0, 0]) for k in range(4)])
    triangles = np.concatenate([corner + 25 * k for k in range(4)])
    ways = 3 * np.random.default_rng(2).normal(size=(10, 4, 3))
    found = skin_animation(rest, triangles, rest + np.repeat(ways, 25, axis=1))
    assert found.bones >= 4 and found.rms < 0.01 * np.linalg.norm(np.ptp(rest, axis=0))


def test_not_above_the_plain_decomposition(sequence):
    rest, triangles, frames, _ = sequence
    for bones in (3, 5):
        plain = ssdr_reference.decompose(rest, frames, bones, 4, 8)
        assert skin_animation(rest, triangles, frames, {"bones": bones}).rms <= plain


def test_bone_sequence_not_above_the_plain_decomposition_nor_the_artist():
    with np.load(data_file("meshseq_dembones/bone_meshseq.npz")) as data:
        rest, frames, quads, hand = (data[n].astype(float) for n in ("rest", "frames", "quads", "hand_weights"))
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(int)
    few = frames[::40]
    plain = ssdr_reference.decompose(rest, few, 6, 4, 2)
    assert skin_animation(rest, triangles, few, {"bones": 6, "iterations": 8}).rms <= plain
    held = np.arange(0, 400, 16)
    hand /= hand.sum(axis=1, keepdims=True)
    motion = mesh_animation.follow(rest, hand, frames[held])
    artist = np.sqrt(
        np.mean(np.sum((mesh_animation_bones.blend_dense(rest, hand, motion) - frames[held]) ** 2, axis=-1))
    )
    ours = skin_animation(rest, triangles, frames[8::16], {"bones": 6, "influences": 5})
    again = ours.play(ours.follow(frames[held]))
    assert np.sqrt(np.mean(np.sum((again - frames[held]) ** 2, axis=-1))) <= 1.2 * artist
    bones = mesh_animation.follow(rest, hand, frames[8::16])
    fitted = mesh_animation_bones.dense_weights(*mesh_animation_bones.solve_weights(rest, bones, frames[8::16], 4), 6)
    again = mesh_animation_bones.blend_dense(rest, fitted, mesh_animation.follow(rest, fitted, frames[held]))
    assert np.sqrt(np.mean(np.sum((again - frames[held]) ** 2, axis=-1))) <= 1.2 * artist


def test_morph_sequence_not_above_the_plain_decomposition():
    from understudy.formats import registry

    character = registry.read(data_file("gltf_khronos/MorphStressTest.glb")).characters[0]
    mesh = max((part.mesh for part in character.parts if part.mesh.shapes), key=lambda m: len(m.vertices))
    amount = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(6)[:, None] / 6 + np.arange(len(mesh.shapes.deltas)) / 8))
    rest = mesh.vertices.astype(float)
    frames = rest + np.einsum("fs,svc->fvc", amount, mesh.shapes.deltas)
    plain = ssdr_reference.decompose(rest, frames, 5, 4, 2)
    assert skin_animation(rest, mesh.triangles, frames, {"bones": 5, "iterations": 8}).rms <= plain


def test_same_every_time_and_playable(sequence):
    rest, triangles, frames, _ = sequence
    one, two = (skin_animation(rest, triangles, frames, {"bones": 4}) for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_allclose(one.play(), mesh_animation_bones.blend_dense(rest, one.dense, one.matrices), atol=1e-4)


@pytest.mark.parametrize(
    ("rest", "frames", "words"),
    [((5, 3), (4, 6, 3), "6"), ((5, 3), (1, 5, 3), "2 frames"), ((3, 3), (4, 3, 3), "4 vertices")],
)
def test_bad_sequences_are_refused(rest, frames, words):
    with pytest.raises(InvalidInput, match=words):
        skin_animation(np.zeros(rest), np.zeros((0, 3), int), np.zeros(frames))
