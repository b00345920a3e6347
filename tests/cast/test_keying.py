"""From sheets to curves."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cast.small_face import small_face

from understudy.cast.dope_sheet.parser import parse
from understudy.cast.dope_sheet.sheet import of_controls, of_joints
from understudy.cast.dope_sheet.tracks import control_curves, joint_curves, sheet_columns
from understudy.character import Curve, Skeleton
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
    made = joint_curves(sheet, SKELETON)
    assert (made.name, made.labels, made.rate) == ("nod", ("small",), 24)
    assert made.duration == pytest.approx(40 / 24)
    assert [(c.target, c.kind, c.columns) for c in made.channels] == [
        ("Head", "euler", ("y", "x", "z")),
        ("Head", "translation", ("x", "y", "z")),
    ]
    times = np.linspace(0, 40 / 24, 200)
    values = made.sample(times)
    for axis, number in (("y", 0), ("x", 1)):
        own = sheet_columns(sheet)[f"Head.r{axis}"]
        assert np.allclose(np.degrees(made.sample(own.times)[:, number]), own.values, atol=1e-6)
    assert np.allclose(values[:, 2], 0)
    assert np.allclose(values[:, 3], 0) and np.allclose(values[:, 5], 0.5)
    assert values[:, 4].max() == pytest.approx(1.1, abs=1e-3) and values[0, 4] == 1


def test_keys_of_one_axis_do_not_disturb_another() -> None:
    alone = joint_curves(parse("clip a\nframes 40\nHead: 3>11 rx=20 os=10:5 | 20>28 rx=-5 snap", "a", JOINTS), SKELETON)
    both = joint_curves(parse(TEXT, "nod.txt", JOINTS), SKELETON)
    times = np.linspace(0, 40 / 24, 400)
    assert np.allclose(alone.sample(times)[:, 1], both.sample(times)[:, 1], atol=1e-8)


@pytest.mark.parametrize("text", ["frames 40\nHead: 3 rx=2", "clip a\nHead: 3 rx=2", "clip a\nframes 40"])
def test_a_sheet_without_name_length_or_tracks_is_refused(text: str) -> None:
    with pytest.raises(BadFile, match="clip name, frames and at least one track"):
        joint_curves(parse(text, "a.txt", JOINTS), SKELETON)


CONTROLS = small_face()
FACE = of_controls(CONTROLS)
HELLO = """
clip hello
frames 48
labels happy
about looks up
moment 12 seen
head: 3>11 nod=-8 os=10:5 | 20>28 nod=2 turn=5 arc=3
eyes: 2>4 x=9 snap | 9>15 pupil=.8/.9
mouth: 5>9 smile=.5/0 frown=0
blink 30 3/1/4
"""


def test_a_curve_for_each_control_that_leaves_its_rest_in_their_order() -> None:
    made = control_curves(parse(HELLO, "hello.txt", FACE), FACE)
    names = [channel.target for channel in made.channels]
    moved = {"eyes.x", "eyes.pupil.L", "eyes.pupil.R", "lids.blink.L", "lids.blink.R", "head.nod", "head.turn"}
    assert set(names) == moved | {"mouth.smile.L"}  # the others are told to rest, and do
    assert names == sorted(names, key=CONTROLS.names.index)
    assert all((channel.kind, channel.columns) == ("controls", ("value",)) for channel in made.channels)
    assert (made.name, made.labels, made.about, dict(made.moments)) == ("hello", ("happy",), "looks up", {"seen": 0.5})
    assert (made.start, made.end, made.rate) == (0, 2, 24)


def test_the_trusted_curves_would_have_passed_every_check() -> None:
    for own in control_curves(parse(HELLO, "hello.txt", FACE), FACE).curves:
        again = Curve(own.channel, own.times, own.values, own.segments, own.before, own.after, own.extrapolation)
        times = np.linspace(0, 2, 99)
        assert np.array_equal(again.sample(times), own.sample(times))
        assert not any(array.flags.writeable for array in (own.times, own.values, own.before, own.after))


def test_controls_begin_at_their_rest_and_reach_what_was_written() -> None:
    made = control_curves(parse(HELLO, "hello.txt", FACE), FACE)
    values = dict(zip((c.target for c in made.channels), made.sample(np.array([0, 4, 15, 33, 34]) / 24).T))
    assert values["eyes.pupil.R"][[0, 1, 2]] == pytest.approx([1, 1, 0.9])
    assert values["eyes.x"][1] == pytest.approx(9)
    assert values["lids.blink.L"][[2, 3, 4]] == pytest.approx([0, 1, 1])


def test_a_sheet_in_which_nothing_moves_is_refused() -> None:
    with pytest.raises(BadFile, match="nothing in this sheet ever leaves its rest"):
        control_curves(parse("clip a\nframes 40\nmouth: 3>5 smile=0", "a.txt", FACE), FACE)
