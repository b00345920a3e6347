"""Rotations as two axes: they come back, one rotation has one value, and what is blended is a rotation."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.character import Channel, Channels
from understudy.maths import quaternion, vector
from understudy.perform.features import encoder as encoders
from understudy.perform.features.encoder import PoseEncoder
from understudy.perform.features.root_motion import logarithms

TURN = ("x", "y", "z", "w")


def random_turns(seed: int, *shape: int) -> np.ndarray:
    return quaternion.normalise(np.random.default_rng(seed).normal(size=(*shape, 4)))


def spin(frames: int = 60, turns: float = 1.0) -> np.ndarray:
    """(F, 4) round and round about an axis that wobbles."""
    angle = np.linspace(0, 2 * np.pi * turns, frames)
    axis = np.stack([0.2 * np.sin(3 * angle), np.ones(frames), 0.1 * np.cos(angle)], axis=1)
    return quaternion.unroll(quaternion.from_axis_angle(vector.normalise(axis), angle))


def test_they_come_back() -> None:
    rotations, reference = random_turns(0, 50, 4), random_turns(1, 4)
    back = encoders.rotations_from_axes(encoders.axes_from_rotations(rotations, reference), reference)
    assert quaternion.angle_between(back, rotations).max() < 1e-7


def test_one_rotation_has_one_value() -> None:
    rotations, reference = random_turns(2, 50, 4), random_turns(3, 4)
    assert np.allclose(
        encoders.axes_from_rotations(rotations, reference),
        encoders.axes_from_rotations(-rotations, reference),
        atol=1e-15,
    )


def test_axes_that_are_long_or_askew_are_a_rotation() -> None:
    rotations, reference = random_turns(4, 50, 4), random_turns(5, 4)
    values = encoders.axes_from_rotations(rotations, reference)
    askew = values * 3.0
    askew[..., 3:] += 0.7 * values[..., :3]
    assert quaternion.angle_between(encoders.rotations_from_axes(askew, reference), rotations).max() < 1e-7


@pytest.mark.parametrize("values", [np.zeros(6), np.array([1.0, 0, 0, 2.0, 0, 0]), np.array([0, 0, 0, 1.0, 0, 0])])
def test_axes_that_tell_nothing_are_the_reference(values: np.ndarray) -> None:
    reference = random_turns(6, 1)
    assert quaternion.angle_between(encoders.rotations_from_axes(values[None, None], reference), reference).max() < 1e-7


def test_which_come_round() -> None:
    swing = quaternion.from_rotation_vector(np.outer(np.sin(np.linspace(0, 6, 60)), [1.2, 0.0, 0.4]))
    rotations = np.stack([swing, spin()], axis=1)
    logs = logarithms(rotations, quaternion.identity((2,)))
    assert encoders.turns_full_circle(logs).tolist() == [False, True]


def test_the_encoder_takes_them_so() -> None:
    """After a spin a pose is what it was before, and poses between two frames are between them."""
    channels = Channels([Channel("arm", "rotation", TURN), Channel("head", "rotation", TURN)])
    swing = quaternion.from_rotation_vector(np.outer(np.sin(np.linspace(0, 6, 60)), [1.2, 0.0, 0.4]))
    take = np.concatenate([swing, spin()], axis=1)
    encoder = PoseEncoder.fit(channels, [take], 24.0, np.tile([0, 0, 0, 1.0], 2))
    assert encoder.circling.tolist() == [1] and len(encoder) == 2 + 6
    assert encoder.names[-6:] == tuple(f"head.rotation.{name}" for name in encoders.AXIS_FEATURE_NAMES)
    features = encoder.encode(take)
    assert np.abs(features[-1, -6:] - features[0, -6:]).max() < 1e-6, "one rotation, one value"
    assert np.abs(np.diff(features[:, -6:], axis=0)).max() < 0.2, "no leaps"
    decoded = encoder.decode(features)
    for joint in (slice(0, 4), slice(4, 8)):
        assert quaternion.angle_between(decoded[:, joint], take[:, joint]).max() < 1e-6
    assert np.einsum("fi,fi->f", decoded[1:, 4:], decoded[:-1, 4:]).min() > 0, "on one side, as those of clips are"
    between = encoder.place((features[1:] + features[:-1]) / 2, np.zeros((59, 3)))[:, 4:]
    steps = quaternion.angle_between(take[1:, 4:], take[:-1, 4:])
    for frame in (take[1:, 4:], take[:-1, 4:]):
        assert (quaternion.angle_between(between, frame) < 0.51 * steps).all()
    alone = np.concatenate([encoder.place(row[None], np.zeros((1, 3))) for row in features])
    assert np.array_equal(alone, encoder.place(features, np.zeros((60, 3)))), "to the last bit"


def test_older_files_have_none() -> None:
    channels = Channels([Channel("arm", "rotation", TURN)])
    take = quaternion.from_rotation_vector(np.outer(np.sin(np.linspace(0, 6, 60)), [1.2, 0.0, 0.4]))
    encoder = PoseEncoder.fit(channels, [take], 24.0, take[0])
    arrays = {name: array for name, array in encoder.arrays().items() if name != "circling"}
    back = PoseEncoder.from_parts(encoder.header(), arrays)
    assert len(back) == len(encoder) and np.array_equal(back.encode(take), encoder.encode(take))
