"""Laws of blend shapes, on the kernel and on the NumPy twin, and the ICT face."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data_folder import data_file
from tests.reference import character as reference

from understudy.character.skinning import blend_shapes
from understudy.character.skinning.blend_shapes import add_shapes, prepare
from understudy.errors import InvalidInput


def face(rng, count, number, frames):
    """Vertices (V, 3), deltas (S, V, 3) that move a run of vertices each, weights (F, S) of which many are zero."""
    d = np.zeros((number, count, 3), np.float32)
    for s in range(number):
        first, last = np.sort(rng.integers(0, count + 1, 2))
        d[s, first:last] = rng.normal(size=(last - first, 3))
    w = rng.normal(size=(frames, number)) * (rng.random((frames, number)) < 0.5)
    return rng.normal(size=(count, 3)).astype(np.float32), d, w


def dense(v, d, w):
    return v + np.einsum("fs,svc->fvc", w, d.astype(np.float64))


@pytest.mark.parametrize(
    ("count", "number", "frames"), [(1, 1, 1), (31, 3, 4), (33, 9, 1), (200, 40, 7), (3000, 6, 60)]
)
def test_equals_the_dense_sum(count, number, frames):
    rng = np.random.default_rng(count)
    v, d, w = face(rng, count, number, frames)
    np.testing.assert_allclose(add_shapes(v, d, w), dense(v, d, w), rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(add_shapes(v, prepare(d), w[0]), dense(v, d, w[:1])[0], rtol=1e-4, atol=2e-5)
    moving = rng.normal(size=(frames, count, 3)).astype(np.float32)
    np.testing.assert_allclose(add_shapes(moving, d, w), dense(moving, d, w), rtol=1e-4, atol=2e-5)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 150), number=st.integers(0, 12), frames=st.integers(0, 9))
def test_kernel_equals_its_twin(seed, count, number, frames):
    v, d, w = face(np.random.default_rng(seed), count, number, frames)
    np.testing.assert_allclose(add_shapes(v, d, w), reference.add_shapes(v, d, w), rtol=1e-4, atol=2e-5)


def test_weights_add_up():
    rng = np.random.default_rng(0)
    v, d, w = face(rng, 70, 8, 5)
    once, twice = add_shapes(v, d, w), add_shapes(v, d, 2 * w)
    np.testing.assert_allclose(twice - v, 2 * (once - v), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(add_shapes(v, d, 0 * w), np.tile(v, (5, 1, 1)))


def test_only_what_moves_is_kept():
    d = np.zeros((3, 100, 3), np.float32)
    d[1, 40, 2] = 1e-9
    sparse = prepare(d)
    assert (len(sparse.rows), sparse.shape_of.tolist(), sparse.starts.tolist()) == (1, [1], [0, 0, 1, 1, 1])
    assert sparse.density == pytest.approx(1 / 12)


def test_a_bad_weight_reaches_only_what_its_shape_moves():
    rng = np.random.default_rng(1)
    v = rng.normal(size=(100, 3)).astype(np.float32)
    d = np.zeros((2, 100, 3), np.float32)
    d[0, :32], d[1] = 1, 1
    out = add_shapes(v, d, [[np.nan, 1.0]])[0]
    assert np.isnan(out[:32]).all()
    np.testing.assert_allclose(out[32:], v[32:] + 1)


def test_block_size_is_that_of_the_kernels():
    from understudy.character.skinning import layer_kernels

    assert layer_kernels.FLOATS_PER_SHAPE_BLOCK == blend_shapes.FLOATS_PER_SHAPE_BLOCK


def test_out_and_wrong_shapes():
    rng = np.random.default_rng(2)
    v, d, w = face(rng, 40, 4, 3)
    out = np.full((3, 40, 3), np.nan, np.float32)
    assert np.shares_memory(add_shapes(v, d, w, out=out), out)
    np.testing.assert_array_equal(out, add_shapes(v, d, w))
    with pytest.raises(InvalidInput, match=r"vertices should have shape \(40, 3\)"):
        add_shapes(v[:-1], d, w)
    with pytest.raises(InvalidInput, match=r"weights should have shape \(F, 4\)"):
        add_shapes(v, d, w[:, :2])
    with pytest.raises(InvalidInput, match=r"deltas should have shape \(S, V, 3\)"):
        prepare(d[0])
    with pytest.raises(InvalidInput, match="vertices have 2 frames, but weights have 3"):
        add_shapes(np.stack([v, v]), d, w)


def test_the_ict_face():
    data = np.load(data_file("face_ict/ict_expressions.npz"))
    deltas = (data["delta_q"] * data["scale"]).astype(np.float32)
    rng = np.random.default_rng(3)
    weights = rng.random((2, len(deltas)))
    out = add_shapes(data["neutral"], prepare(deltas), weights)
    np.testing.assert_allclose(out, dense(data["neutral"], deltas, weights), rtol=1e-4, atol=1e-4)


def test_threads_do_not_change_the_result():
    v, d, w = face(np.random.default_rng(4), 5000, 10, 40)
    before, results = numba.get_num_threads(), []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        results.append(add_shapes(v, d, w))
    numba.set_num_threads(before)
    np.testing.assert_array_equal(*results)
