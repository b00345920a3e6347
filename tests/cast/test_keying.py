"""From sheets to curves."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.cast.keying import columns, curves
from understudy.cast.reading import parse
from understudy.cast.vocabulary import of_joints
from understudy.character import Skeleton
from understudy.errors import BadFile

SKELETON = Skeleton(["Root", "Head"], [-1, 0], [[0, 0, 0], [0, 1, 0.5]])
JOINTS = of_joints(SKELETON.names)
TEXT = """
clip nod
frames 40
labels small
Head: 3>11 rx=20 os=10:5 | 5>17 ry=-30 heavy | 20>28 rx=-5 snap | 6>9 ty=0.1 | 20 ty=0
"""


def test_curves_are_the_columns_in_radians_and_metres_from_rest() -> None:
    sheet = parse(TEXT, "nod.txt", JOINTS)
    made = curves(sheet, SKELETON)
    assert (made.name, made.labels, made.rate) == ("nod", ("small",), 24)
    assert made.duration == pytest.approx(40 / 24)
    assert [(c.target, c.kind, c.columns) for c in made.channels] == [
        ("Head", "euler", ("y", "x", "z")),
        ("Head", "translation", ("x", "y", "z")),
    ]
    times = np.linspace(0, 40 / 24, 200)
    values = made.sample(times)
    for axis, number in (("y", 0), ("x", 1)):
        own = columns(sheet)[f"Head.r{axis}"]
        assert np.allclose(np.degrees(made.sample(own.times)[:, number]), own.values, atol=1e-6)
    assert np.allclose(values[:, 2], 0)
    assert np.allclose(values[:, 3], 0) and np.allclose(values[:, 5], 0.5)
    assert values[:, 4].max() == pytest.approx(1.1, abs=1e-3) and values[0, 4] == 1


def test_keys_of_one_axis_do_not_disturb_another() -> None:
    alone = curves(parse("clip a\nframes 40\nHead: 3>11 rx=20 os=10:5 | 20>28 rx=-5 snap", "a", JOINTS), SKELETON)
    both = curves(parse(TEXT, "nod.txt", JOINTS), SKELETON)
    times = np.linspace(0, 40 / 24, 400)
    assert np.allclose(alone.sample(times)[:, 1], both.sample(times)[:, 1], atol=1e-8)


@pytest.mark.parametrize("text", ["frames 40\nHead: 3 rx=2", "clip a\nHead: 3 rx=2", "clip a\nframes 40"])
def test_a_sheet_without_name_length_or_tracks_is_refused(text: str) -> None:
    with pytest.raises(BadFile, match="clip name, frames and at least one track"):
        curves(parse(text, "a.txt", JOINTS), SKELETON)
