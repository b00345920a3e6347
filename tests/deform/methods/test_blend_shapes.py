"""Blend shapes as a deformer: targets from dials, in-betweens, the hull, normals."""

from __future__ import annotations

import numpy as np
import pytest
from tests.deform import cases, tubes

from understudy.character.skinning.linear import vertex_normals
from understudy.deform.examples import Examples
from understudy.deform.methods.blend_shapes import BlendShapes
from understudy.errors import InvalidInput


def face(seed=0, stops=(1.0,), count=12):
    """Examples of two shapes on a head that turns, their dials, and the targets (2, stops, V, 3)."""
    rng = np.random.default_rng(seed)
    v, t = tubes.rest_tube(7, 6)
    targets = 0.05 * rng.normal(size=(2, len(stops), *v.shape))
    knots = (0.0, *stops)
    dials = rng.random((count, 2))
    meshes = np.tile(v, (count, 1, 1))
    for s in range(2):
        path = np.concatenate((np.zeros((1, *v.shape)), targets[s]))
        for e in range(count):
            k = min(np.searchsorted(knots, dials[e, s], side="right") - 1, len(stops) - 1)
            share = (dials[e, s] - knots[k]) / (knots[k + 1] - knots[k])
            meshes[e] += (1 - share) * path[k] + share * path[k + 1]
    head = cases.rigid_matrices(rng, count, 1)
    meshes = np.einsum("eab,evb->eva", head[:, 0, :3, :3], meshes) + head[:, :, :3, 3]
    return Examples(v, t, np.eye(4)[None], head, meshes, [-1], shape_weights=dials), targets


@pytest.mark.parametrize("stops", [(1.0,), (0.5, 1.0), (0.3, 0.6, 1.0)])
def test_targets_are_found_from_dials(stops):
    e, targets = face(stops=stops, count=30)
    made = BlendShapes.fit(e, {"stops": stops})
    assert np.allclose(made.shapes.deltas, targets.reshape(-1, *e.rest.shape), atol=1e-5)
    assert np.abs(made.deform(e.transforms, e.shape_weights) - e.vertices).max() < 1e-5
    assert np.abs(made.deform(e.transforms[0]) - made.deform(e.transforms[0], [0, 0])).max() == 0


def test_with_convex_weights_stay_in_the_hull():
    e, _ = face()
    made = BlendShapes.fit(e, {"convex": True})
    w = made.target_weights(e.transforms[:3], np.array([[2.0, 2.0], [-1.0, 0.5], [0.2, 0.3]]))
    assert np.allclose(w, [[0.5, 0.5], [0, 0.5], [0.2, 0.3]])
    posed = BlendShapes.fit(tubes.standard(), {"convex": True})
    far = posed.target_weights(np.stack([tubes.pose(a, b) for a, b in ((3, 0), (1, 2), (-2, 0.3))]))
    assert far.min() >= 0
    assert far.sum(axis=1).max() <= 1 + 1e-12


def test_normals_are_those_of_the_targets():
    e, targets = face()
    made = BlendShapes.fit(e)
    still = np.tile(np.eye(4), (3, 1, 1, 1))
    out = made.normals(still, [[0, 0], [1, 0], [0, 1]])
    meshes = np.concatenate((e.rest[None], e.rest + targets[:, 0]))
    assert np.abs(out - vertex_normals(meshes, e.triangles)).max() < 1e-4
    turned = made.normals(e.transforms[0], [1, 0])
    assert np.allclose(turned, out[1] @ e.transforms[0, 0, :3, :3].T, atol=1e-5)


def test_the_pose_turns_examples_on():
    e = tubes.standard()
    made = BlendShapes.fit(e)
    assert np.abs(made.deform(e.transforms) - e.vertices).max() < 2e-3
    given = made.deform(e.transforms[:1], np.eye(12)[3:4])
    assert np.abs(given[0] - e.vertices[3]).max() < 1e-5


def test_bad_dials_are_named():
    e, _ = face()
    made = BlendShapes.fit(e)
    with pytest.raises(InvalidInput, match=r"shape \(12, 2\)"):
        made.deform(e.transforms, np.zeros((12, 3)))
    with pytest.raises(InvalidInput, match="stops should be distinct"):
        BlendShapes.fit(e, {"stops": (0.0, 1.0)})
