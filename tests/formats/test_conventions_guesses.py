"""Units, up axis and frame rates that files leave unsaid."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.formats import conventions

PRINTED_FRAME_TIMES = (
    (".0083333", 120),
    ("0.0083333", 120),
    ("0.008333", 120),
    ("8.33333e-03", 120),
    ("0.033333", 30),
    ("0.0333", 30),
    ("0.033", 30),
    ("0.041667", 24),
    ("0.041666", 24),
    ("0.04", 25),
    ("0.0166667", 60),
    ("0.016683", 60000 / 1001),
    ("0.0333667", 30000 / 1001),
    ("0.041708", 24000 / 1001),
    ("0.008", 125),
    ("0.01", 100),
    ("0.1", 10),
    ("0.0714286", 14),
    ("0.03717", 1 / 0.03717),
    ("2", 0.5),
)


def test_printed_frame_times():
    rates = [(printed, conventions.frame_rate(printed), expected) for printed, expected in PRINTED_FRAME_TIMES]
    assert [row for row in rates if row[1] != pytest.approx(row[2], rel=1e-12)] == []


def test_common_rates_survive_printing():
    mistakes = []
    for rate in (*conventions.COMMON_FRAME_RATES, *conventions.NTSC_FRAME_RATES):
        for digits in (6, 7, 10):
            printed = f"{1 / rate:.{digits}f}"
            if conventions.frame_rate(printed) != pytest.approx(rate, rel=1e-12 if digits > 6 else 1e-2):
                mistakes.append((rate, printed, conventions.frame_rate(printed)))
    assert mistakes == []


def test_adults_are_recognised_in_every_unit():
    mistakes = []
    for unit in conventions.LENGTH_UNITS:
        for height in (1.5, 1.75, 1.9):
            guess = conventions.unit_of_length(height / unit.metres)
            if guess != unit:
                mistakes.append((unit.name, height, guess.name))
    assert mistakes == []


def test_children_and_giants_in_the_usual_units():
    for height in (0.95, 2.5):
        assert conventions.unit_of_length(100 * height).name == "centimetres"
        assert conventions.unit_of_length(height).name == "metres"
    assert conventions.unit_of_length(0.0).name == "metres"


def test_body_height_does_not_depend_on_the_rest_pose():
    parents = np.array([-1, 0, 1, 0, 3])
    offsets = np.array([[0, 0, 0], [0, 1.0, 0], [0, 0, 2], [0, -1, 0], [0, -1, 0]])
    turned = offsets[:, [2, 0, 1]] * [1, -1, 1]
    ends = {2: np.array([0.0, 0, 0.5])}
    height = conventions.body_height(parents, offsets, ends)
    assert height == pytest.approx(conventions.HEIGHT_PER_PATH * 5.5)
    assert conventions.body_height(parents, turned, ends) == pytest.approx(height)


def test_z_up_needs_rest_and_motion_to_agree():
    names = ("Hips", "Head", "LeftFoot")
    along_z = np.array([[0, 0, 1], [0, 0, 1.7], [0, 0.1, 0]])
    along_y = along_z[:, [0, 2, 1]]
    assert conventions.is_z_up(names, along_z, along_z[None])
    assert not conventions.is_z_up(names, along_y, along_z[None])
    assert not conventions.is_z_up(names, along_z, along_y[None])
    assert not conventions.is_z_up(("a", "b", "c"), along_z, along_z[None])
