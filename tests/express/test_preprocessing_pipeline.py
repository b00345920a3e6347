"""All of the preparation at once: same input, same output; each step can be left out; contradictions are refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.express.takes import smile, turned

from understudy.errors import InvalidInput
from understudy.express.preprocessing import preprocess, resample_to_one_rate
from understudy.express.sequence import ExpressionSequence, check_alike

NOTHING = {"steady": False, "liken": False, "jitter": 0, "sigmoid": 0, "returning": False}


def people() -> list[ExpressionSequence]:
    rng = np.random.default_rng(0)
    takes = []
    for number, (dimensions_scale, peak) in enumerate([(1.0, 10), (1.3, 12), (0.8, 23)]):
        take = smile(peak=peak, name=f"take {number}")
        head = np.linspace(0, 0.2 * number, len(take))
        points = [dimensions_scale * frame @ turned(angle, 3).T for frame, angle in zip(take.points, head)]
        takes.append(take.with_fields(points=np.array(points) + rng.normal(scale=0.1, size=take.points.shape)))
    return takes


def test_all_at_once() -> None:
    takes = preprocess(people())
    check_alike(takes)
    for take in takes:
        away = np.linalg.norm(take.displacements, axis=2).sum(axis=1)
        assert away[-1] < 0.25 * away.max(), "come back"
        np.testing.assert_allclose(take.points[0], takes[0].points[0], atol=3)
    assert any("reversed" in note for note in takes[2].notes)
    corners = [take.displacements[take.peak, 48] for take in takes]
    np.testing.assert_allclose(corners, np.broadcast_to(np.mean(corners, axis=0), (3, 3)), atol=1)


def test_a_peak_that_nobody_named_is_the_faces_not_the_heads() -> None:
    take = smile(peak=10)
    nods = np.array([frame @ turned(0.03 * i, 3, 0).T for i, frame in enumerate(take.points)])
    guessed = ExpressionSequence("nod", "happiness", nods, 30, None, take.names)
    assert guessed.peak == 23
    assert preprocess([guessed])[0].peak == 10


def test_the_same_again() -> None:
    for one, two in zip(preprocess(people()), preprocess(people())):
        np.testing.assert_array_equal(one.points, two.points)


def test_every_step_can_be_left_out() -> None:
    takes = people()
    for before, after in zip(takes, preprocess(takes, **NOTHING)):
        np.testing.assert_array_equal(before.points, after.points)
    assert len(preprocess(takes, **NOTHING, landmarks="reduced")[0].names) == 33
    assert len(preprocess(takes, **NOTHING, landmarks=9)[0].names) == 9
    assert preprocess(takes, **NOTHING, landmarks=["lm08"])[0].names == ("lm08",)


def test_weights_are_not_aligned() -> None:
    weights = [take.with_fields(points=take.points[:, :, :1] / 100) for take in people()]
    takes = preprocess(weights, jitter=0, sigmoid=0, returning=False)
    np.testing.assert_array_equal(takes[1].points, weights[1].points)


def test_one_rate() -> None:
    takes = people()
    slow = takes[1].with_fields(points=takes[1].points[::2], rate=15, peak=6)
    result = resample_to_one_rate([takes[0], slow, takes[2]])
    assert {take.rate for take in result} == {30.0}
    assert result[1].peak == 12 and "from 15 to 30 frames a second" in result[1].notes[-1]
    np.testing.assert_allclose(result[1].points[::2], slow.points, atol=1e-9)
    halved = resample_to_one_rate(takes, 15)
    assert [len(take) for take in halved] == [12, 12, 12] and halved[0].peak == 5
    with pytest.raises(InvalidInput, match=r"less than a frame at 0\.01 fps"):
        resample_to_one_rate(takes, 0.01)


def test_what_is_refused() -> None:
    takes = people()
    with pytest.raises(InvalidInput, match="at least one sequence, but there is none"):
        preprocess([])
    with pytest.raises(InvalidInput, match="'take 0' has 3 dimensions, but sequence 'b' has 2"):
        preprocess([takes[0], smile(2, name="b")])
    with pytest.raises(InvalidInput, match="lacks 'lm67', which sequence 'take 0' has"):
        preprocess([takes[0], takes[1].with_fields(points=takes[1].points[:, :67], names=takes[1].names[:67])])
    others = takes[1].with_fields(points=takes[1].points[:, :50], names=tuple(f"point{i}" for i in range(50)))
    with pytest.raises(InvalidInput, match=r"'take 1' lacks 'lm00', .* which sequence 'take 0' has"):
        preprocess([takes[0], others])
    with pytest.raises(InvalidInput, match="there is no set of landmarks 'few'; available: 'reduced'"):
        preprocess(takes, landmarks="few")
