"""Controls: mirrors are involutions, ranges hold, and what does not fit together is refused with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.character import Controls
from understudy.errors import InvalidInput


def controls(**changes: Any) -> Controls:
    given = {
        "names": ("brows.raise.L", "head.turn", "brows.raise.R", "eyes.yaw.R", "eyes.yaw.L", "eyes.pupil"),
        "regions": ("brows", "neck", "brows", "eyes", "eyes", "eyes"),
        "layers": ("coarse", "bones", "coarse", "bones", "bones", "fine"),
        "units": ("weight", "degrees", "weight", "degrees", "degrees", "ratio"),
        "low": (0, -55, 0, -20, -30, 0.5),
        "rest": (0, 0, 0, 0, 0, 1),
        "high": (1.4, 55, 1.4, 30, 20, 1.4),
        "odd": (False, True, False, True, True, False),
    }
    return Controls(**{**given, **changes})


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-60, 60), min_size=6, max_size=6))
def test_a_mirror_twice_is_nothing(row: list[float]) -> None:
    known = controls()
    np.testing.assert_array_equal(known.mirror_pose(known.mirror_pose(np.array(row))), row)
    # what is within the ranges stays within them
    inside = known.clip(np.array(row))
    np.testing.assert_array_equal(known.clip(known.mirror_pose(inside)), known.mirror_pose(inside))


def test_left_and_right_change_places_and_odd_ones_their_sign() -> None:
    known = controls()
    assert known.mirror.tolist() == [2, 1, 0, 4, 3, 5]
    np.testing.assert_array_equal(known.mirror_pose(np.array([1, 20, 0.5, 10, -5, 1.2])), [0.5, -20, 1, 5, -10, 1.2])
    np.testing.assert_array_equal(known.mirror_pose(known.rest), known.rest)


def test_found_by_name_group_and_layer() -> None:
    known = controls()
    assert (known.index("head.turn"), len(known), "head.nod" in known) == (1, 6, False)
    assert known.group("brows.raise.L") == "brows"
    assert known.indices_in_layer("lattice").tolist() == []
    with pytest.raises(InvalidInput, match=r"no control 'head.nod' \(did you mean 'head.turn'\?\); available: 'brows."):
        known.index("head.nod")


def test_values_are_held_within_the_ranges() -> None:
    known = controls()
    np.testing.assert_array_equal(known.clip(np.full((2, 6), 100.0)), [known.high] * 2)
    np.testing.assert_array_equal(known.clip(np.full(6, -100.0)), known.low)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rest": (2, 0, 0, 0, 0, 1)}, "'brows.raise.L' should rest within its range, but rests at 2 of 0 to 1.4"),
        ({"high": (1.4, 55, 1.3, 30, 20, 1.4)}, "'brows.raise.L' and its mirror image 'brows.raise.R' should have"),
        ({"high": (1.4, 54, 1.4, 30, 20, 1.4)}, "'head.turn' and its mirror image 'head.turn'"),
        ({"odd": (True, True, False, True, True, False)}, "mirror image"),
        ({"layers": ("skin",) * 6}, "no choice among the layers of the controls 'skin'"),
        ({"units": ("weight",) * 5}, "units of the controls should be 6, one of each, but are 5"),
        ({"regions": ("",) * 6}, "non-empty"),
        ({"about": ("one",)}, "6 descriptions, but have 1"),
        ({"low": (0, 0)}, "shape"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        controls(**changes)


def test_arrays_are_frozen() -> None:
    with pytest.raises(ValueError, match="read-only"):
        controls().rest[0] = 1
