"""The laws that every registered deformer keeps."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.deform import tubes

from understudy.deform import deformer
from understudy.deform.deformer import Deformer
from understudy.deform.examples import Examples
from understudy.errors import InvalidInput

NEAR = 2e-5  # of size: float32 positions, and sums of some ten of them
SAME = 1e-4  # of size: two fits that differ only in the order of sums, for methods that iterate

every_method = pytest.mark.parametrize("name", list(deformer.METHODS))


@functools.cache
def examples():
    return tubes.standard()


@functools.cache
def fitted(name):
    return deformer.method_class(name).fit(examples(), seed=3)


def poses():
    """Poses between and beyond those of the fit."""
    return np.stack([tubes.pose(*np.radians(p)) for p in ((50, 0), (110, 20), (0, -45), (75, 75), (-30, 10))])


@every_method
def test_says_what_it_is(name):
    made = fitted(name)
    assert isinstance(made, Deformer)
    assert made.name == name
    assert any(c.isdigit() for c in made.paper)
    assert made.bytes_a_vertex > 0
    assert isinstance(made.gltf, bool)


@every_method
def test_rest_gives_rest(name):
    made, rest = fitted(name), examples().rest_transforms[None]
    for result in (made.deform(rest), made.deform_reference(rest)):
        assert result.shape == (1, *examples().rest.shape)
        assert np.abs(result[0] - examples().rest).max() < NEAR * examples().size


@every_method
def test_moves_rigidly_with_everything(name):
    made, rng = fitted(name), np.random.default_rng(1)
    plain = made.deform_reference(poses())
    for r in Rotation.random(3, random_state=5):
        g = np.eye(4)
        g[:3, :3], g[:3, 3] = r.as_matrix(), rng.normal(size=3)
        for way in (made.deform, made.deform_reference):
            assert np.abs(way(g @ poses()) - (r.apply(plain.reshape(-1, 3)) + g[:3, 3]).reshape(plain.shape)).max() < (
                NEAR * 4
            )


@every_method
def test_fast_is_the_reference(name):
    made = fitted(name)
    many = np.stack([tubes.pose(*np.radians(p)) for p in np.random.default_rng(2).uniform(-120, 120, (40, 2))])
    fast, slow = made.deform(many), made.deform_reference(many)
    assert fast.dtype == np.float32
    assert slow.dtype == np.float64
    assert np.abs(fast - slow).max() < NEAR * examples().size


@every_method
def test_batch_is_its_frames(name):
    made, t = fitted(name), np.concatenate([poses()] * 7)
    whole = made.deform(t)
    for f in (0, 3, 34):
        assert np.abs(made.deform(t[f]) - whole[f]).max() < NEAR
        assert made.deform(t[f]).shape == whole[f].shape
    assert made.deform(t[:0]).shape == (0, *whole.shape[1:])


@every_method
def test_order_of_vertices_is_kept(name):
    e = examples()
    order = np.random.default_rng(4).permutation(len(e.rest))
    place = np.argsort(order)
    mixed = Examples(
        e.rest[order],
        place[e.triangles],
        e.inverse_binds,
        e.transforms,
        e.vertices[:, order],
        e.parents,
        e.weights[order],
        e.joints[order],
        e.names,
    )
    other = deformer.method_class(name).fit(mixed, seed=3).deform_reference(poses())
    assert np.abs(other - fitted(name).deform_reference(poses())[:, order]).max() < SAME * e.size


@every_method
def test_units_of_the_rest_mesh_do_not_matter(name):
    """A file may hold its mesh in centimetres and let the joints scale it: the world is the same, and so is the fit."""
    e = examples()
    smaller = e.inverse_binds @ np.diag((0.01, 0.01, 0.01, 1))
    other = Examples(
        100 * e.rest, e.triangles, smaller, e.transforms, e.vertices, e.parents, e.weights, e.joints, e.names
    )
    assert abs(other.size - e.size) < 1e-9
    found = deformer.method_class(name).fit(other, seed=3).deform_reference(poses())
    assert np.abs(found - fitted(name).deform_reference(poses())).max() < SAME * e.size


@every_method
def test_poles_are_finite(name):
    made = fitted(name)
    angles = [(180, 0), (-180, 0), (0, 180), (0, -180), (180, 180), (90, 180), (179.9999, 0), (0, 180.0001), (0, 360)]
    poles = np.stack([tubes.pose(*np.radians(p)) for p in angles])
    for result in (made.deform(poles), made.deform_reference(poles)):
        assert np.isfinite(result).all()
        assert np.abs(result).max() < 4 * tubes.LENGTH


@every_method
def test_is_near_the_examples_it_was_fitted_to(name):
    error = np.square(fitted(name).deform_reference(examples().transforms) - examples().vertices).sum(axis=-1)
    assert np.sqrt(error.mean()) < 0.02 * examples().size


@every_method
def test_saved_is_the_same(name, tmp_path):
    path = tmp_path / "skin.npz"
    deformer.save(fitted(name), path)
    again = deformer.load(path)
    assert type(again) is type(fitted(name))
    assert np.array_equal(again.deform(poses()), fitted(name).deform(poses()))


@every_method
def test_missing_joints_are_named(name):
    with pytest.raises(InvalidInput, match="3 joints"):
        fitted(name).deform(poses()[:, :2])
    with pytest.raises(InvalidInput, match="shape"):
        fitted(name).deform(np.eye(4))


@every_method
def test_two_examples_do(name):
    """From two poses every method either makes a finite skin, or says how many it needs."""
    few = examples().subset([3, 8])
    try:
        result = deformer.method_class(name).fit(few).deform(poses())
    except InvalidInput as error:
        assert "example poses or more" in str(error)
    else:
        assert np.isfinite(result).all()
        assert np.abs(result).max() < 4 * tubes.LENGTH


def test_an_unknown_method_lists_the_known():
    with pytest.raises(InvalidInput, match="'linear'"):
        deformer.method_class("nothing")
