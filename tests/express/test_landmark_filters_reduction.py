"""Fewer landmarks: the usual ones, named ones, and those that tell the most."""

from __future__ import annotations

import numpy as np
import pytest
from tests.express.takes import smile

from understudy.errors import InvalidInput
from understudy.express.landmark_filters import REDUCED_LANDMARKS, choose_landmarks, reduce_landmarks
from understudy.express.sequence import regions_of

# the 68 mirrored: left and right of the jaw, the brows, the nose, the eyes and the lips
MIRROR = [
    *range(16, -1, -1),
    *range(26, 16, -1),
    *(27, 28, 29, 30, 35, 34, 33, 32, 31),
    *(45, 44, 43, 42, 47, 46, 39, 38, 37, 36, 41, 40),
    *(54, 53, 52, 51, 50, 49, 48, 59, 58, 57, 56, 55, 64, 63, 62, 61, 60, 67, 66, 65),
]


def test_the_usual_ones_keep_five_regions_and_are_mirrored() -> None:
    (take,) = reduce_landmarks([smile()])
    assert take.names == REDUCED_LANDMARKS and len(REDUCED_LANDMARKS) == 33
    assert len(regions_of(take.names)) == 5
    numbers = {int(name[2:]) for name in REDUCED_LANDMARKS}
    assert {MIRROR[number] for number in numbers} == numbers


def test_named_ones_keep_their_order_and_points() -> None:
    take = smile()
    (result,) = reduce_landmarks([take], ["lm54", "lm08"])
    assert result.names == ("lm08", "lm54")
    np.testing.assert_array_equal(result.points, take.points[:, [8, 54]])


def test_those_that_tell_the_most_explain_the_rest() -> None:
    """Three hidden causes move twelve landmarks: three landmarks are enough, and better than any others tried."""
    rng = np.random.default_rng(0)
    causes = np.cumsum(rng.normal(size=(60, 2, 3)), axis=0)
    mixing = rng.normal(size=(3, 12))
    points = (causes @ mixing).transpose(0, 2, 1)
    take = smile().with_fields(points=points, names=[f"p{i}" for i in range(12)], peak=5)
    moves = take.displacements.transpose(0, 2, 1).reshape(-1, 12)

    def left(rows: list[int]) -> float:
        return float(np.linalg.norm(moves - moves[:, rows] @ np.linalg.lstsq(moves[:, rows], moves, rcond=None)[0]))

    chosen = [int(name[1:]) for name in choose_landmarks([take], 3)]
    assert left(chosen) < 1e-6 * np.linalg.norm(moves)
    one = [int(name[1:]) for name in choose_landmarks([take], 1)]
    assert left(one) <= min(left([row]) for row in range(12)) + 1e-9
    assert len(reduce_landmarks([take], 7)[0].names) == 7


@pytest.mark.parametrize(
    ("kept", "sentence"),
    [
        (0, "number of landmarks to keep should lie between 1 and 68, but is 0"),
        (["chin"], "there is no landmark 'chin'; available: 'lm00'"),
        ([], "at least one landmark should be kept"),
        (["lm00", "lm00"], "'lm00' appears twice"),
    ],
)
def test_what_is_refused(kept: int | list[str], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        reduce_landmarks([smile()], kept)
    strange = smile().with_fields(names=[f"p{i}" for i in range(68)])
    with pytest.raises(InvalidInput, match="say which ones, or how many, to keep"):
        reduce_landmarks([strange])
