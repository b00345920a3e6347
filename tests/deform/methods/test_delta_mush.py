"""Delta Mush and its direct form; the laws of every deformer are in `test_battery`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.deform import tubes

from understudy.deform.examples import Examples
from understudy.deform.methods.delta_mush import DeltaMush, DirectDeltaMush
from understudy.deform.methods.linear import LinearSkin
from understudy.errors import InvalidInput

both = pytest.mark.parametrize("kind", [DeltaMush, DirectDeltaMush])


def bent() -> np.ndarray:
    return np.stack([tubes.pose(*np.radians(p)) for p in ((60, 0), (90, 30), (20, -40))])


@both
def test_without_smoothing_it_is_the_linear_blend(kind: type) -> None:
    examples = tubes.standard()
    blend = LinearSkin.from_artist_weights(examples).deform_reference(bent())
    np.testing.assert_allclose(kind.fit(examples, {"smoothing": 0}).deform_reference(bent()), blend, atol=1e-6)


def test_the_direct_form_is_near_the_other() -> None:
    """Both smooth by the same matrix; they differ in the neighbourhood that a rotation is taken from."""
    examples = tubes.standard()
    blend = LinearSkin.from_artist_weights(examples).deform_reference(bent())
    one, other = (kind.fit(examples).deform_reference(bent()) for kind in (DeltaMush, DirectDeltaMush))
    correction, difference = (np.sqrt(((one - b) ** 2).mean()) for b in (blend, other))
    assert difference < 0.25 * correction


@both
def test_rigid_weights_become_smooth(kind: type) -> None:
    """Each vertex on its strongest joint only: the blend breaks at the joints, and the mush closes the break."""
    e = tubes.standard()
    strongest = np.eye(e.weights.shape[1])[e.weights.argmax(axis=1)]
    rigid = Examples(
        e.rest, e.triangles, e.inverse_binds, e.transforms, e.vertices, e.parents, strongest, e.joints, e.names
    )

    def longest_edge(points: np.ndarray) -> float:
        edges = np.concatenate([e.triangles[:, [0, 1]], e.triangles[:, [1, 2]]])
        at_rest = np.linalg.norm(e.rest[edges[:, 0]] - e.rest[edges[:, 1]], axis=1)
        return float((np.linalg.norm(points[:, edges[:, 0]] - points[:, edges[:, 1]], axis=2) / at_rest).max())

    broken = longest_edge(LinearSkin.from_artist_weights(rigid).deform_reference(bent()))
    assert longest_edge(kind.fit(rigid).deform_reference(bent())) < 0.75 * broken


@both
def test_seams_stay_closed_and_loose_vertices_follow(kind: type) -> None:
    e = tubes.standard()
    count = len(e.rest)
    rest = np.concatenate([e.rest, e.rest, e.rest[:1] + 0.1])  # every vertex twice, and one without a triangle
    triangles = np.where(np.arange(len(e.triangles))[:, None] % 2, e.triangles, e.triangles + count)
    order = np.r_[np.arange(count), np.arange(count), 0]
    doubled = Examples(
        rest, triangles, e.inverse_binds, e.transforms, e.vertices[:, order], e.parents, e.weights[order],
        e.joints[order], e.names,
    )  # fmt: skip
    found = kind.fit(doubled).deform(bent())
    np.testing.assert_allclose(found[:, :count], found[:, count : 2 * count], atol=1e-6)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[:, :count], kind.fit(e).deform(bent()), atol=1e-5)


@both
def test_settings_are_checked(kind: type) -> None:
    with pytest.raises(InvalidInput, match="smoothing should be"):
        kind.fit(tubes.standard(), {"strength": 0})
    assert replace(kind.Settings(), smoothing=3).smoothing == 3
