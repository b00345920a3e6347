"""The fits on a real sequence: an artist's mesh animation with hand weights, frames held out."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.deform.cases import rigid_matrices

from understudy.deform import deformer
from understudy.deform.examples import Examples
from understudy.deform.methods.blend_shapes import BlendShapes
from understudy.deform.methods.linear import LinearSkin


@pytest.fixture(scope="module")
def sequence():
    """(to fit, held out) of bone_meshseq; joints move as the hand weights ask for, by least squares in each frame."""
    path = data_file("meshseq_dembones/bone_meshseq.npz")
    with np.load(path) as file:
        order = np.argsort(file["joint_parent"], kind="stable")  # roots first; two levels
        rest, frames, quads = file["rest"].astype(float), file["frames"].astype(float), file["quads"]
        weights, bind = file["hand_weights"][:, order].astype(float), file["bind_world"][order].astype(float)
        parents = file["joint_parent"][order]
    parents = np.where(parents < 0, -1, np.argsort(order)[parents])
    weights /= weights.sum(axis=1, keepdims=True)
    terms = (weights[:, :, None] * np.concatenate((rest, np.ones((len(rest), 1))), axis=1)[:, None]).reshape(
        len(rest), -1
    )
    found = np.linalg.lstsq(terms, np.moveaxis(frames, 0, 1).reshape(len(rest), -1), rcond=None)[0]
    moves = np.zeros((len(frames), len(bind), 4, 4))
    moves[:, :, :3] = np.moveaxis(found.reshape(len(bind), 4, len(frames), 3), (2, 0, 3, 1), (0, 1, 2, 3))
    moves[..., 3, 3] = 1
    triangles = np.concatenate((quads[:, :3], quads[:, [0, 2, 3]]))
    joints = np.tile(np.arange(len(bind)), (len(rest), 1))
    whole = Examples(rest, triangles, np.linalg.inv(bind), moves @ bind, frames, parents, weights, joints)
    return whole.subset(np.arange(0, len(frames), 16)), whole.subset(np.arange(8, len(frames), 16))


def rms(made, e):
    return np.sqrt(np.square(made.deform(e.transforms) - e.vertices).sum(axis=-1).mean())


def test_fitted_weights_are_as_good_as_the_artists(sequence):
    fit, held = sequence
    assert rms(LinearSkin.fit(fit, {"influences": 4}), held) < 1.2 * rms(LinearSkin.from_artist_weights(fit), held)


@pytest.mark.parametrize("name", ["multi-weight", "animation-space", "eigenskin"])
def test_richer_methods_come_nearer(sequence, name):
    fit, held = sequence
    assert rms(deformer.method_class(name).fit(fit), held) < rms(LinearSkin.fit(fit), held)


def test_shapes_of_a_real_face_are_found_from_its_dials():
    """Some vertices of ICT's expressions, mixed at random on a head that turns: the shapes come back."""
    with np.load(data_file("face_ict/ict_expressions.npz")) as file:
        scale, some = float(file["scale"]), slice(0, None, 61)
        shapes = file["delta_q"][:8, some].astype(float) * scale
        rest = file["neutral"][some].astype(float)
    rng = np.random.default_rng(0)
    dials, head = rng.random((20, 8)), rigid_matrices(rng, 20, 1)
    meshes = rest + np.einsum("es,sva->eva", dials, shapes)
    meshes = np.einsum("eab,evb->eva", head[:, 0, :3, :3], meshes) + head[:, :, :3, 3]
    e = Examples(rest, np.zeros((0, 3)), np.eye(4)[None], head, meshes, [-1], shape_weights=dials)
    made = BlendShapes.fit(e)
    assert np.abs(made.shapes.deltas - shapes).max() < 1e-5 * e.size
    assert np.abs(made.deform(head, dials) - meshes).max() < 1e-5 * e.size
