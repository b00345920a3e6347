from __future__ import annotations

import numpy as np
import pytest
from tests.express.acting.small import REGIONS

from understudy.errors import InvalidInput
from understudy.express.graph.coupling import Coupling
from understudy.express.sequence import ExpressionSequence


def test_times_are_those_of_the_takes(takes: list[ExpressionSequence]) -> None:
    learned = Coupling.learn(takes, REGIONS)
    assert learned.onsets == pytest.approx([take.peak / take.rate for take in takes])
    assert learned.offsets == pytest.approx([(len(take) - 1 - take.peak) / take.rate for take in takes])
    assert (learned.begins < learned.arrives).all()
    # the takes set off brows first and mouth last
    assert (np.diff(learned.begins, axis=1) > 0).all()


def test_a_take_is_nearest_to_its_own_apex(takes: list[ExpressionSequence]) -> None:
    learned = Coupling.learn(takes, REGIONS)
    for region, members in enumerate(REGIONS.values()):
        apexes = np.stack([take.displacements[take.peak, members] for take in takes])
        gaps = np.linalg.norm(learned.code(region, apexes)[:, None] - learned.codes[None, :, region], axis=2)
        assert (gaps.argmin(axis=1) == np.arange(len(takes))).all()


def test_range_and_speed_hold_every_take(takes: list[ExpressionSequence]) -> None:
    learned = Coupling.learn(takes, REGIONS)
    for take in takes:
        assert (take.displacements <= learned.highest + 1e-5).all()
        assert (take.displacements >= learned.lowest - 1e-5).all()
        steps = np.linalg.norm(np.diff(take.points, axis=0), axis=2) * take.rate
        for members, fastest in zip(REGIONS.values(), learned.fastest):
            assert steps[:, members].max() <= fastest * (1 + 1e-6)


def test_arrays_and_back(takes: list[ExpressionSequence]) -> None:
    learned = Coupling.learn(takes, REGIONS)
    again = Coupling.from_arrays(learned.to_arrays(), learned.regions, learned.labels)
    for name, value in learned.to_arrays().items():
        assert np.array_equal(value, again.to_arrays()[name])


def test_damaged_arrays_are_refused(takes: list[ExpressionSequence]) -> None:
    learned = Coupling.learn(takes, REGIONS)
    arrays = learned.to_arrays()
    with pytest.raises(InvalidInput, match="should have the array 'codes'"):
        Coupling.from_arrays({k: v for k, v in arrays.items() if k != "codes"}, learned.regions, learned.labels)
    with pytest.raises(InvalidInput, match="labels of the coupling"):
        Coupling.from_arrays(arrays | {"label_of": arrays["label_of"] + 9}, learned.regions, learned.labels)
    with pytest.raises(InvalidInput, match="onsets"):
        Coupling.from_arrays(arrays | {"onsets": arrays["onsets"][1:]}, learned.regions, learned.labels)


def test_adding_a_take_is_learning_with_it_but_for_the_directions(takes: list[ExpressionSequence]) -> None:
    grown = Coupling.learn(takes[:-1], REGIONS).with_take(takes[-1], REGIONS)
    whole = Coupling.learn(takes, REGIONS)
    assert grown.labels == whole.labels
    for name in ("label_of", "onsets", "offsets", "begins", "arrives", "activations", "lowest", "highest", "fastest"):
        assert np.allclose(getattr(grown, name), getattr(whole, name))
    assert grown.codes.shape == whole.codes.shape


def test_a_region_that_is_still_takes_the_times_of_the_others(takes: list[ExpressionSequence]) -> None:
    points = np.array(takes[0].points)
    points[:, REGIONS["eyes"]] = points[0, REGIONS["eyes"]]
    learned = Coupling.learn([*takes[1:], takes[0].with_fields(points=points)], REGIONS)
    moving = [0, 2]
    assert learned.arrives[-1, 1] == pytest.approx(learned.arrives[-1, moving].mean())
