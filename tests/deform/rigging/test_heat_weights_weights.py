from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.deform.rigging.shapes import ARM, box, joined, placed, split, tube

from understudy.checks import Array
from understudy.deform.rigging import AutomaticWeights, automatic_weights
from understudy.errors import InvalidInput


def sound(found: AutomaticWeights, joints: int, influences: int = 4) -> Array:
    """The dense weights, after what must hold of any mesh."""
    dense = found.dense(joints)
    assert found.weights.shape[1] <= influences
    assert np.isfinite(dense).all() and (dense >= 0).all()
    np.testing.assert_allclose(dense.sum(axis=1), 1, atol=1e-6)
    return dense


def test_a_bent_tube_is_shared_smoothly_around_its_joint() -> None:
    vertices, triangles = tube()
    w = sound(automatic_weights(vertices, triangles, *ARM), 2)[: 25 * 16, 0].reshape(25, 16)
    assert (np.diff(w.mean(axis=1)) < 1e-6).all()
    np.testing.assert_allclose(w[12], 0.5, atol=0.02)
    assert w[4].min() > 0.98 and w[-5].max() < 0.02
    assert np.ptp(w, axis=1).max() < 0.02, "round the axis, nothing differs"


def test_split_vertices_move_as_one() -> None:
    mesh = tube(rings=13, sides=8)
    whole = automatic_weights(*mesh, *ARM)
    vertices, triangles, origin = split(mesh)
    patches = automatic_weights(vertices, triangles, *ARM)
    np.testing.assert_allclose(patches.dense(2), whole.dense(2)[origin], atol=1e-5)


def test_place_and_size_do_not_matter() -> None:
    vertices, triangles = tube(rings=13, sides=8)
    binds, parents = ARM
    moved = binds.copy()
    moved[:, :3, 3] = 64 * moved[:, :3, 3] + [256, -128, 64]
    here = automatic_weights(vertices, triangles, binds, parents).dense(2)
    there = automatic_weights(64 * vertices + [256, -128, 64], triangles, moved, parents).dense(2)
    np.testing.assert_allclose(here, there, atol=1e-5)


def test_a_limb_beside_another_keeps_its_own_bone() -> None:
    one, other = tube(), tube()
    mesh = joined(one, (other[0] + [0, 0.32, 0], other[1]))
    binds = placed((0, 0, 0), (1, 0, 0), (0, 0.32, 0), (1, 0.32, 0))
    dense = sound(automatic_weights(*mesh, binds, [-1, 0, -1, 2]), 4)
    count = len(one[0])
    assert dense[:count, 2:].max() < 0.01 and dense[count:, :2].max() < 0.01


def test_a_button_moves_rigidly_with_the_cloth_below_it() -> None:
    body = tube()
    button = box([1.28, 0.16, -0.02], [1.32, 0.2, 0.02])
    found = automatic_weights(*joined(body, button), *ARM)
    dense = sound(found, 2)
    ours = dense[len(body[0]) :]
    assert np.ptp(ours, axis=0).max() < 1e-6
    assert (found.way[len(body[0]) :] == 1).all() and (found.way[: len(body[0])] == 0).all()
    assert ours[0, 1] > 0.9
    assert "8 vertices of small loose pieces" in found.notes[0]


def test_loose_vertices_are_weighted_by_distance_and_named() -> None:
    vertices, triangles = tube(rings=9, sides=6)
    found = automatic_weights(np.concatenate([vertices, [[0.1, 0.3, 0], [1.9, 0.3, 0]]]), triangles, *ARM)
    dense = sound(found, 2)
    assert list(found.way[-2:]) == [2, 2] and (found.way[:-2] == 0).all()
    assert dense[-2, 0] > 0.9 and dense[-1, 1] > 0.9
    assert any(str(len(vertices)) in note for note in found.notes)


@pytest.mark.parametrize("spoil", ["open", "non-manifold", "degenerate", "flipped", "no triangles", "a point", "flat"])
def test_no_mesh_leaves_a_vertex_empty(spoil: str) -> None:
    vertices, triangles = tube(rings=9, sides=6)
    if spoil == "open":
        triangles = triangles[::2]
    elif spoil == "non-manifold":
        vertices = np.concatenate([vertices, [[1.0, 0.5, 0.5]]])
        extra = [[0, 6, len(vertices) - 1], [6, 12, len(vertices) - 1], [0, 6, 20]]
        triangles = np.concatenate([triangles, extra, triangles[:5]])
    elif spoil == "degenerate":
        triangles = np.concatenate([triangles, [[0, 0, 1], [3, 3, 3], [0, 6, 12]]])
    elif spoil == "flipped":
        triangles = triangles[:, ::-1]
    elif spoil == "no triangles":
        triangles = np.zeros((0, 3), int)
    elif spoil == "a point":
        vertices = np.zeros((5, 3))
        triangles = np.array([[0, 1, 2]])
    elif spoil == "flat":
        vertices = vertices * [1, 1, 0]
    sound(automatic_weights(vertices, triangles, *ARM), 2)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(0, 40), st.integers(1, 6), st.integers(1, 5))
def test_random_soup(seed: int, vertices: int, triangles: int, joints: int, influences: int) -> None:
    random = np.random.default_rng(seed)
    points = random.normal(size=(vertices, 3)).round(1)
    binds = placed(*random.normal(size=(joints, 3)).round(1))
    parents = [int(random.integers(-1, j)) if j else -1 for j in range(joints)]
    soup = random.integers(0, vertices, (triangles, 3))
    sound(automatic_weights(points, soup, binds, parents, influences=influences), joints, influences)


def test_controls_move_no_skin_and_are_named() -> None:
    binds = placed((0, -1, 0), (0, 0, 0), (1, 0, 0), (1, 3, 0), (1.01, 0, 0))
    names = ["Armature", "upper", "lower", "PoleTarget.L", "handIK"]
    found = automatic_weights(*tube(), binds, [-1, 0, 1, 0, 0], names)
    dense = sound(found, 5)
    assert dense[:, [0, 3, 4]].max() == 0
    assert set(found.idle) == {"Armature", "PoleTarget.L", "handIK"}
    assert any("PoleTarget.L" in note for note in found.notes)


def test_where_every_joint_is_a_control_all_are_used() -> None:
    found = automatic_weights(*tube(), *ARM, names=["ctrl_a", "ctrl_b"])
    assert found.dense(2).any(axis=0).all() and not found.idle


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"vertices": np.zeros((0, 3))}, "vertices and joints"),
        ({"binds": np.zeros((0, 4, 4)), "parents": []}, "vertices and joints"),
        ({"vertices": [[0, 0, np.nan]] * 146}, "finite"),
        ({"triangles": [[0, 1, 999]]}, "999"),
        ({"parents": [1, 0]}, "cycle"),
        ({"names": ["a"]}, "names"),
        ({"influences": 0}, "at least 1"),
        ({"strength": -1}, "strength"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(change: dict, words: str) -> None:
    vertices, triangles = tube(rings=9)
    given = {"vertices": vertices, "triangles": triangles, "binds": ARM[0], "parents": ARM[1]} | change
    if "vertices" in change:
        given["triangles"] = np.zeros((0, 3), int)
    with pytest.raises(InvalidInput, match=words):
        automatic_weights(**given)
