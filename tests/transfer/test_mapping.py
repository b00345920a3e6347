from __future__ import annotations

import numpy as np
import pytest
from tests.transfer import small

from understudy.character.body.poses import sample_poses
from understudy.errors import InvalidInput
from understudy.transfer.mapping import SharedMapping, fit_gplvm


@pytest.fixture(scope="module")
def mapping() -> SharedMapping:
    return fit_gplvm(small.pairs(), dimension=6)


def test_frames_between_the_pairs_come_near_to_the_truth(mapping: SharedMapping) -> None:
    source, asset = small.source(), small.hopper()
    mapped = mapping.map(source.local)
    times = np.arange(len(source)) / small.RATE
    inside = (times >= mapping.pairs.times[0]) & (times <= mapping.pairs.times[-1])
    truth = sample_poses(asset.character(), asset.animations[0], times)
    expected = mapping.pairs.markers.local(truth.world)
    missed = np.linalg.norm(mapped.points - expected, axis=-1)[inside]
    assert missed.mean() < 0.01
    assert mapped.variance.shape == (len(source),) and mapped.latent.shape == (len(source), 6)


def test_it_is_less_sure_away_from_the_pairs(mapping: SharedMapping) -> None:
    source = small.source()
    far = np.array(source.local)
    far[:, ::2, 1] += 0.5
    assert mapping.map(far).variance.min() > 2 * mapping.map(source.local).variance.max()


def test_place_and_heading_of_the_source_do_not_matter(mapping: SharedMapping) -> None:
    """Points come in the local frame: what is mapped is told by it alone."""
    a, b = mapping.map(small.source().local[:5]), mapping.map(small.source().local[:5].copy())
    np.testing.assert_array_equal(a.points, b.points)


def test_a_motion_of_another_body_is_refused(mapping: SharedMapping) -> None:
    with pytest.raises(InvalidInput, match="points of the pairs' source, but has 5"):
        mapping.map(np.zeros((3, 5, 3)))


def test_the_pairs_come_back(mapping: SharedMapping) -> None:
    mapped = mapping.map(mapping.pairs.source)
    missed = np.linalg.norm(mapped.points - mapping.pairs.target, axis=-1)
    assert missed.max() < 0.005


def test_a_frame_at_a_time_is_what_all_at_once_is(mapping: SharedMapping) -> None:
    local = small.source().local[20:23]
    single = np.concatenate([mapping.map(local[i : i + 1]).points for i in range(3)])
    np.testing.assert_allclose(single, mapping.map(local).points, atol=1e-5)
