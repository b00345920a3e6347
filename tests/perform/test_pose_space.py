from __future__ import annotations

import numpy as np
import pytest
from tests.learned import lamp_model

from understudy.errors import InvalidInput
from understudy.perform.pose_space import PoseSpace


@pytest.fixture(scope="module")
def space() -> PoseSpace:
    return lamp_model().spaces["happy"]


def test_training_frames_come_back(space: PoseSpace) -> None:
    shown = space.features_of(space.latents)
    seen = space.reduction.restore(space.reduction.reduce(space.features.astype(np.float64)))
    spread = np.linalg.norm((seen - space.reduction.mean) * space.reduction.scale, axis=1).mean()
    assert np.linalg.norm((shown - seen) * space.reduction.scale, axis=1).max() < 0.1 * spread


def test_the_latent_of_a_shown_pose_is_where_it_was_shown(space: PoseSpace) -> None:
    some = space.latents[::7]
    found, error = space.latent_of(space.features_of(some))
    assert np.abs(found - some).max() < 1e-3
    assert error.max() < 1e-6


def test_velocity_is_the_derivative_of_the_pose(space: PoseSpace) -> None:
    x, v, h = space.latents[10:12], np.array([[0.3, -0.2, 0.5], [1.0, 0.0, -1.0]]), 1e-5
    difference = (space.features_of(x + h * v) - space.features_of(x - h * v)) / (2 * h)
    assert np.allclose(space.velocity_of(x, v), difference, atol=1e-6 * np.abs(difference).max())


def test_the_latent_velocity_of_a_pose_velocity(space: PoseSpace) -> None:
    x, v = space.latents[20], np.array([0.4, 0.1, -0.3])
    found = space.latent_velocity_of(x, space.velocity_of(x[None], v[None])[0])
    assert np.linalg.norm(found) <= np.linalg.norm(v)  # damped
    assert np.linalg.norm(found - v) < 0.5 * np.linalg.norm(v)


def test_latents_of_a_segment_by_time(space: PoseSpace) -> None:
    segment = space.segments[0]
    assert np.array_equal(space.latent_at(segment, 0.0), space.latents[segment.start])
    halfway = space.latent_at(segment, 0.5 / space.rate)
    assert np.allclose(halfway, space.latents[segment.start : segment.start + 2].mean(axis=0))
    with pytest.raises(InvalidInput, match=r"'happy' lasts [\d.]+ s, but its pose at 99 s is asked for"):
        space.latent_at(segment, 99.0)


def test_taken_apart_and_put_together(space: PoseSpace) -> None:
    again = PoseSpace.from_parts(*space.parts())
    assert (again.label, again.segments, again.rate, again.home) == (
        space.label,
        space.segments,
        space.rate,
        space.home,
    )
    assert np.array_equal(again.features_of(space.latents), space.features_of(space.latents))


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [("segments", [["happy", 0, 3]], "should cover its"), ("home", 10_000, "should be one of its frames")],
)
def test_parts_that_do_not_fit(space: PoseSpace, field: str, value: object, sentence: str) -> None:
    header, arrays = space.parts()
    with pytest.raises(InvalidInput, match=sentence):
        PoseSpace.from_parts({**header, field: value}, arrays)
