"""Relative to the rest pose: the composed transform is the joint's own, and the way back undoes it."""

from __future__ import annotations

import numpy as np
import pytest
from addons.blender.rest_frame import from_rest, to_rest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.edit.random_curves import random_curve, smooth_turn, walk

from understudy.character import Channel, Curve, Curves, Skeleton
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.edit.rotation_curves import sample_rotations
from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform

SEEDS = st.integers(0, 100_000)


def skeleton(rng: np.random.Generator, scale: float = 1.0) -> Skeleton:
    return Skeleton(("hip", "knee"), [-1, 0], rng.normal(size=(2, 3)), walk(rng, 2, 3.0), np.full((2, 3), scale))


def local(curves: Curves, times: np.ndarray) -> np.ndarray:
    """(M, 4, 4) of the hip."""
    found = {c.channel.kind: c for c in curves.curves if c.channel.target == "hip"}
    turn = found.get("rotation") or found["euler"]
    return transform.compose(
        found["translation"].sample(times), sample_rotations(turn, times), found["scale"].sample(times)
    )


def animated(rng: np.random.Generator, segments: int | None) -> Curves:
    size = Curve(Channel("hip", "scale"), [0, 1], [[1, 1, 1], [1.5, 1.5, 1.5]])
    turn = smooth_turn(rng) if segments is None else random_curve(rng, Channel("hip", "rotation"), 4, segments, 0.5)
    place = random_curve(rng, Channel("hip", "translation"), 4, segments)
    return Curves("x", [place, turn, size, Curve(Channel("", "weights", ("a",)), [0, 1], [[0], [1]])])


@given(SEEDS, st.sampled_from([BEZIER, LINEAR, STEP, None]), st.sampled_from([1.0, 0.01]))
@settings(max_examples=15, deadline=None)
def test_rest_and_basis_make_the_joint(seed: int, segments: int | None, scale: float) -> None:
    rng = np.random.default_rng(seed)
    bones, curves = skeleton(rng, scale), animated(rng, segments)
    basis = to_rest(curves, bones)
    times = np.linspace(0, 4, 200)
    rest = transform.compose(bones.translations[0], bones.rotations[0], bones.scales[0])
    bound = 3e-5 if segments in (BEZIER, None) else 1e-12
    found = rest @ local(basis, times)
    assert np.abs(found - local(curves, times)).max() < bound * 4
    back = from_rest(basis, bones)
    assert np.abs(local(back, times) - local(curves, times)).max() < bound * 8


def test_hermite_splines_are_exact_and_gain_no_keys() -> None:
    rng = np.random.default_rng(3)
    bones = skeleton(rng)
    times, values, slopes = np.arange(4.0), rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    place = Curve.hermite(Channel("hip", "translation"), times, values, slopes, slopes)
    curves = Curves("x", [place, smooth_turn(rng, 4)])
    basis = to_rest(curves, bones)
    back = from_rest(basis, bones)
    for one, two, three in zip(curves.curves, basis.curves, back.curves):
        assert len(one) == len(two) == len(three) and two.is_hermite
        np.testing.assert_allclose(three.values, one.values, atol=1e-14)
        np.testing.assert_allclose(three.after, one.after, atol=1e-14)


def test_angles_become_quaternions_only_where_the_bone_is_turned() -> None:
    rng = np.random.default_rng(4)
    channel = Channel("hip", "euler", ("x", "y", "z"))
    curves = Curves("x", [random_curve(rng, channel, 4, BEZIER, 0.5)])
    upright = Skeleton(("hip",), [-1], [[1, 2, 3]])
    assert to_rest(curves, upright).curves[0] is curves.curves[0]
    turned = to_rest(curves, skeleton(rng))
    assert turned.curves[0].channel.kind == "rotation"


def test_what_bones_cannot_be_is_said() -> None:
    curves = Curves("x", [Curve(Channel("hip", "scale"), [0], [[1, 1, 1]])])
    with pytest.raises(InvalidInput, match="no joint 'hip'"):
        to_rest(curves, Skeleton(("knee",), [-1], [[0, 0, 0]]))
    uneven = Skeleton(("hip",), [-1], [[0, 0, 0]], [[0, 0, 0, 1]], [[1, 2, 1]])
    with pytest.raises(InvalidInput, match="scaled unevenly at rest"):
        to_rest(curves, uneven)


def test_rotations_left_multiplied() -> None:
    rng = np.random.default_rng(5)
    bones = skeleton(rng)
    curve = Curve(Channel("hip", "rotation"), range(5), walk(rng, 5))
    basis = to_rest(Curves("x", [curve]), bones).curves[0]
    times = np.linspace(0, 4, 50)
    wanted = quaternion.multiply(quaternion.conjugate(bones.rotations[0]), curve.sample(times))
    assert quaternion.angle_between(basis.sample(times), wanted).max() < 1e-9
    assert (basis.segments == LINEAR).all()
