"""Laws of linear blend skinning, on the kernels and on the NumPy twin."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.deform.cases import skin
from tests.reference import character as reference

from understudy.character.skinning.linear import linear_blend, split_frames
from understudy.errors import InvalidInput

LENGTHS = [1, 3, 8, 24, 29, 100, 131]  # single frames, padded and whole narrow blocks, a wide block and rests


def slow_blend(vertices, joints, weights, matrices):
    """v' = sum_k w_k M_k v in double precision, vertex by vertex."""
    out = np.zeros((len(matrices), len(joints), 3))
    for f, m in enumerate(matrices):
        for i in range(len(joints)):
            v = np.append(vertices[f, i] if vertices.ndim == 3 else vertices[i], 1.0)
            for j, w in zip(joints[i], weights[i]):
                out[f, i] += w * (m[j, :3] @ v)
    return out


@pytest.mark.parametrize("frames", LENGTHS)
@pytest.mark.parametrize("influences", [1, 2, 4, 7])
def test_equals_the_sum_vertex_by_vertex(frames, influences):
    rng = np.random.default_rng(frames * 10 + influences)
    v, j, w = skin(rng, 53, influences, 6)  # 53: more than one block of vertices, the last not whole
    m = rng.normal(size=(frames, 6, 4, 4))
    np.testing.assert_allclose(linear_blend(v, j, w, m), slow_blend(v, j, w, m), rtol=1e-4, atol=2e-5)
    moving = rng.normal(size=(frames, 53, 3)).astype(np.float32)
    np.testing.assert_allclose(linear_blend(moving, j, w, m), slow_blend(moving, j, w, m), rtol=1e-4, atol=2e-5)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), frames=st.integers(1, 140), count=st.integers(1, 120), k=st.integers(1, 9))
def test_kernels_equal_their_twin(seed, frames, count, k):
    rng = np.random.default_rng(seed)
    v, j, w = skin(rng, count, k, 5)
    m = rng.normal(size=(frames, 5, 3, 4))
    np.testing.assert_allclose(linear_blend(v, j, w, m), reference.linear_blend(v, j, w, m), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("frames", LENGTHS)
def test_is_affine_equivariant(frames):
    """Moving all joints by A moves the skin by A, as long as the weights sum to one."""
    rng = np.random.default_rng(frames)
    v, j, w = skin(rng, 30, 3, 4)
    m, a = rng.normal(size=(frames, 4, 4, 4)), rng.normal(size=(4, 4))
    m[..., 3, :], a[3] = (0, 0, 0, 1), (0, 0, 0, 1)
    moved = linear_blend(v, j, w, m) @ a[:3, :3].T + a[:3, 3]
    np.testing.assert_allclose(linear_blend(v, j, w, a @ m), moved, rtol=1e-3, atol=1e-4)


def test_at_rest_nothing_moves():
    rng = np.random.default_rng(0)
    v, j, w = skin(rng, 20, 4, 3)
    np.testing.assert_allclose(
        linear_blend(v, j, w, np.tile(np.eye(4), (30, 3, 1, 1))), np.tile(v, (30, 1, 1)), atol=1e-6
    )


def test_one_frame_may_leave_out_its_axis():
    rng = np.random.default_rng(1)
    v, j, w = skin(rng, 20, 4, 3)
    m = rng.normal(size=(3, 3, 4))
    one = linear_blend(v, j, w, m)
    assert one.shape == (20, 3)
    np.testing.assert_array_equal(one, linear_blend(v, j, w, m[None])[0])
    moving = rng.normal(size=(4, 20, 3)).astype(np.float32)  # moving vertices on joints that stand
    np.testing.assert_allclose(linear_blend(moving, j, w, m)[2], linear_blend(moving[2], j, w, m), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("frames", [1, 30])
def test_weights_are_used_as_given(frames):
    rng = np.random.default_rng(2)
    v, j, w = skin(rng, 20, 4, 3)
    m = rng.normal(size=(frames, 3, 4, 4))
    np.testing.assert_allclose(linear_blend(v, j, 2 * w, m), 2 * linear_blend(v, j, w, m), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(linear_blend(v, j, 0 * w, m), np.zeros((frames, 20, 3)))


@pytest.mark.parametrize("frames", [1, 8, 100])
def test_a_bad_joint_reaches_only_what_hangs_on_it(frames):
    rng = np.random.default_rng(3)
    v, j, w = skin(rng, 60, 3, 4)
    m = rng.normal(size=(frames, 4, 4, 4))
    m[0, 2] = np.nan
    hangs = ((j == 2) & (w != 0)).any(axis=1)
    out = linear_blend(v, j, w, m)
    assert np.isnan(out[0, hangs]).all()
    assert np.isfinite(out[0, ~hangs]).all()
    assert np.isfinite(out[1:]).all()


@pytest.mark.parametrize(("frames", "count", "influences"), [(0, 5, 2), (3, 0, 2), (3, 5, 0), (40, 0, 0)])
def test_empty_inputs(frames, count, influences):
    j = np.zeros((count, influences), np.int32)
    out = linear_blend(np.ones((count, 3)), j, j, np.ones((frames, 2, 4, 4)))
    np.testing.assert_array_equal(out, np.zeros((frames, count, 3)))


def test_out_is_filled_and_checked():
    rng = np.random.default_rng(4)
    v, j, w = skin(rng, 20, 4, 3)
    m = rng.normal(size=(30, 3, 4, 4))
    out = np.full((30, 20, 3), np.nan, np.float32)
    result = linear_blend(v, j, w, m, out=out)
    assert np.shares_memory(result, out)
    np.testing.assert_array_equal(out, linear_blend(v, j, w, m))
    single = np.empty((20, 3), np.float32)
    assert linear_blend(v, j, w, m[0], out=single).shape == (20, 3)
    with pytest.raises(InvalidInput, match="out should be"):
        linear_blend(v, j, w, m, out=np.empty((30, 20, 3)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"joints": np.full((4, 2), 3)}, "joints should lie between 0 and 2, but holds 3"),
        ({"joints": np.full((4, 2), -1)}, "joints should lie between 0 and 2, but holds -1"),
        ({"weights": np.ones((4, 3))}, r"should have shape \(4, K\)"),
        ({"matrices": np.ones((5, 3, 3, 3))}, "matrices should have shape"),
        ({"vertices": np.ones((4, 2))}, "vertices should have shape"),
        ({"vertices": np.ones((6, 4, 3))}, "vertices have 6 frames, but matrices have 5"),
    ],
)
def test_wrong_inputs_are_named(change, sentence):
    given = {"vertices": np.ones((4, 3)), "joints": np.zeros((4, 2), int), "weights": np.ones((4, 2)) / 2}
    with pytest.raises(InvalidInput, match=sentence):
        linear_blend(**{**given, "matrices": np.ones((5, 3, 4, 4)), **change})


def test_threads_do_not_change_the_result():
    rng = np.random.default_rng(5)
    v, j, w = skin(rng, 500, 4, 6)
    before = numba.get_num_threads()
    for frames in (1, 30, 110):
        m = rng.normal(size=(frames, 6, 4, 4))
        results = []
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            results.append(linear_blend(v, j, w, m))
        numba.set_num_threads(before)
        np.testing.assert_array_equal(*results)


@settings(max_examples=50, deadline=None)
@given(frames=st.integers(0, 1000))
def test_the_parts_of_a_clip_cover_it_once(frames):
    parts = split_frames(frames, 104, 24, 6)
    assert [p[0] for p in parts] == [0, *(p[1] for p in parts[:-1])][: len(parts)]
    assert (parts[-1][1] if parts else 0) == frames
    assert all(width in (104, 24, 0) for _, _, width in parts)
