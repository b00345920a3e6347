"""What is wrong with examples is said in one sentence."""

from __future__ import annotations

import numpy as np
import pytest
from tests.deform import tubes

from understudy.deform.deformer import settings_of
from understudy.deform.examples import Examples, sound_triangles
from understudy.deform.methods.linear import LinearSettings
from understudy.errors import InvalidInput


def parts(**changes):
    e = tubes.standard()
    given = {
        "rest": e.rest,
        "triangles": e.triangles,
        "inverse_binds": e.inverse_binds,
        "transforms": e.transforms,
        "vertices": e.vertices,
        "parents": e.parents,
        "weights": e.weights,
        "joints": e.joints,
    }
    return given | changes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"vertices": tubes.standard().vertices[:, 1:]}, "104 vertices, but the example meshes have 103"),
        ({"vertices": tubes.standard().vertices[1:]}, "12 example poses, but 11 example meshes"),
        ({"transforms": tubes.standard().transforms[:, :2]}, "3 inverse bind matrices"),
        ({"triangles": [[0, 1, 1]]}, "triangle 0 is"),
        ({"triangles": [[0, 1, 999]]}, "holds 999"),
        ({"parents": [-1, 2, 1]}, "a parent should come before"),
        ({"weights": tubes.standard().weights * 0.9}, "sum to 1, but those of vertex 0 sum to 0.9"),
        ({"weights": None}, "belong together"),
        ({"joints": tubes.standard().joints + 5}, "joints of the vertices should lie between 0 and 2"),
        ({"names": ("a", "b")}, "3 joints, but 2 names"),
        ({"rest": np.full((104, 3), np.nan)}, "the rest mesh should be finite"),
        ({"shape_weights": np.zeros((3, 2))}, "shape weights of the examples"),
    ],
)
def test_what_is_wrong_is_named(changes, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        Examples(**parts(**changes))
    assert "\n" not in str(caught.value)


def test_splits_into_what_is_fitted_and_what_is_held_out():
    e = tubes.standard()
    fit, held = e.split([0, 3, 11])
    assert (len(fit), len(held)) == (9, 3)
    assert np.array_equal(held.transforms, e.transforms[[0, 3, 11]])
    mask = np.zeros(12, bool)
    mask[[0, 3, 11]] = True
    assert np.array_equal(e.split(mask)[0].vertices, fit.vertices)
    with pytest.raises(InvalidInput, match="numbered 0 to 11"):
        e.subset([12])


def test_the_rest_pose_moves_nothing():
    e = tubes.standard()
    assert np.allclose(e.rest_transforms @ e.inverse_binds, np.eye(4))
    assert e.size == pytest.approx(np.sqrt(4 + 2 * 0.4**2))


def test_triangles_without_area_are_counted():
    kept, dropped = sound_triangles([[0, 1, 2], [1, 1, 2], [3, 4, 3]])
    assert kept.tolist() == [[0, 1, 2]]
    assert dropped == 2


def test_too_few_poses_are_counted():
    with pytest.raises(InvalidInput, match="2 example poses or more, but there is 1"):
        tubes.standard().subset([1]).require_poses(2, "this")


def test_settings_are_named():
    assert settings_of(LinearSettings, {"influences": 2}).influences == 2
    assert settings_of(LinearSettings, None) == LinearSettings()
    with pytest.raises(InvalidInput, match="no setting 'bones'; available: candidates, influences"):
        settings_of(LinearSettings, {"bones": 2})
    with pytest.raises(InvalidInput, match="settings should be"):
        settings_of(LinearSettings, 3)
