"""Feet that stand are found and held: on a figure that shifts its weight and steps, whatever is moved."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.data_folder import data_file

import understudy as us
from understudy.character import Curve, Curves
from understudy.edit.goals import Edit
from understudy.edit.keys import insert_key
from understudy.edit.stances import find_stances, holds_feet_by_default, pin_standing_feet, with_standing_feet
from understudy.errors import InvalidInput
from understudy.studio.edit.reduction import original_keys

MAX_CLICK_SECONDS = 5e-3


@pytest.fixture(scope="module")
def walk() -> tuple[us.Rig, Curves]:
    asset = us.load(data_file("bvh_cmu/02_01.bvh"))
    return us.rig_of(asset.character()), original_keys(asset.animations[0])


def moves(rig: us.Rig, before: Curves, after: Curves, joint: str, start: float, stop: float) -> float:
    """Metres, the largest move of a joint in a span of time."""
    times = np.linspace(start, stop, 60)
    number = rig.character.skeleton.index(joint)
    places = [rig.joints(rig.pose(curves, times))[:, number, :3, 3] for curves in (before, after)]
    return float(np.linalg.norm(places[1] - places[0], axis=1).max())


def test_feet_of_a_walk_stand_in_turn(walk: tuple[us.Rig, Curves]) -> None:
    rig, curves = walk
    pins = find_stances(rig, curves)
    assert {pin.point.joint for pin in pins} == {"LeftFoot", "RightFoot"}
    places = rig.joints(rig.pose(curves, curves.frame_times()))
    speeds = np.linalg.norm(np.gradient(places[..., :3, 3], 1 / curves.rate, axis=0), axis=2)
    for pin in pins:
        assert pin.start is not None and pin.stop is not None
        inside = (curves.frame_times() > pin.start) & (curves.frame_times() < pin.stop)
        own = speeds[:, rig.character.skeleton.index(pin.point.joint)]
        assert np.median(own[inside]) < 0.25 * np.percentile(own, 95), "a foot that stands is slow"


def test_the_moved_limb_and_what_is_held_already_are_left_out(walk: tuple[us.Rig, Curves]) -> None:
    rig, curves = walk

    def feet(moved: str, kept: tuple[str, ...] = ()) -> set[str]:
        points = [us.Point(name) for name in kept]
        pins = pin_standing_feet(rig, curves, [us.Point(moved)], curves.start, curves.end, points)
        return {pin.point.joint for pin in pins}

    assert feet("RightHand") == {"LeftFoot", "RightFoot"}
    assert feet("LeftToeBase") == feet("LeftLeg") == {"RightFoot"}
    assert feet("Head", ("RightToeBase",)) == {"LeftFoot"}


def test_only_stances_near_the_moment_are_held(walk: tuple[us.Rig, Curves]) -> None:
    rig, curves = walk
    edit = Edit((us.MovePoint("RightHand", 1.5, by=(0, 0.1, 0)),), falloff=0.1)
    pins = with_standing_feet(rig, curves, edit).pins
    assert [pin.point.joint for pin in pins] == ["LeftFoot"]
    assert len(with_standing_feet(rig, curves, Edit(edit.moves, falloff=1.0)).pins) > 1
    contact = Edit((), contacts=(us.Contact("LeftFoot", 1.3, 1.6),))
    assert with_standing_feet(rig, curves, contact) is contact, "a contact alone moves what it names"


def test_a_click_does_not_wait_for_the_search(walk: tuple[us.Rig, Curves]) -> None:
    rig, curves = walk
    find_stances(rig, curves)
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        pin_standing_feet(rig, curves, [us.Point("RightHand")], 1.0, 2.0)
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < MAX_CLICK_SECONDS


def test_hips_go_down_and_the_feet_stay(walk: tuple[us.Rig, Curves]) -> None:
    rig, curves = walk
    goal = us.MovePoint("Hips", 1.5, by=(0, -0.05, 0))
    loose, held = (us.edit_curves(rig, curves, goal, hold_feet=hold) for hold in (False, None))
    stance = next(pin for pin in find_stances(rig, curves) if pin.point.joint == "LeftFoot" and pin.stop > 1.5)
    span = max(stance.start, 1.25), min(stance.stop, 1.75)
    assert max(held.distance, loose.distance) < 1e-3
    assert moves(rig, curves, loose.curves, "LeftFoot", *span) > 0.04
    assert moves(rig, curves, held.curves, "LeftFoot", *span) < 2e-3


def test_hand_made_keys_hold_their_feet_themselves() -> None:
    lamp = us.load("lamp")
    rig, curves = us.rig_of(lamp.character()), lamp.animation("curious")
    assert not holds_feet_by_default(curves, 3.7, 3.7)
    goal = us.MovePoint("Head", 3.7, by=(0, 0.08, 0))
    plain, asked = (us.edit_curves(rig, curves, goal, hold_feet=hold) for hold in (None, True))
    loose = us.edit_curves(rig, curves, goal, hold_feet=False)
    assert np.array_equal(plain.curves.sample([3.7]), loose.curves.sample([3.7]))
    assert moves(rig, curves, asked.curves, "Base", 3.2, 4.2) < 1e-3


def test_a_weight_is_a_share_of_the_change(walk: tuple[us.Rig, Curves]) -> None:
    lamp = us.load("lamp")
    curves = lamp.animation("curious")
    number = next(i for i, curve in enumerate(curves.curves) if len(curve) > 2 and curve.channel.kind != "rotation")
    curve = curves.curves[number]
    other = Curve(
        curve.channel, curve.times, curve.values + 0.3, curve.segments, curve.before, curve.after, curve.extrapolation
    )
    after, times = curves.with_curves({number: other}), curves.frame_times()
    for weight in (0.0, 0.25, 1.0):
        wanted = (1 - weight) * curves.sample(times) + weight * after.sample(times)
        assert np.allclose(us.blend_edit(curves, after, weight).sample(times), wanted, atol=1e-12)
    rig, capture = walk
    edited = us.edit_curves(rig, capture, us.MovePoint("RightHand", 1.4, by=(0, 0.12, 0))).curves
    half = us.blend_edit(capture, edited, 0.5)
    whole = moves(rig, capture, edited, "RightHand", 1.39, 1.41)
    assert moves(rig, capture, half, "RightHand", 1.39, 1.41) == pytest.approx(whole / 2, rel=0.05)
    assert moves(rig, capture, half, "RightHand", 0.2, 0.5) < 1e-9


def test_a_weight_follows_keys_that_an_edit_inserted() -> None:
    curves = us.load("lamp").animation("curious")
    more = insert_key(curves, 3.71)
    times = curves.frame_times()
    assert np.allclose(us.blend_edit(curves, more, 0.5).sample(times), curves.sample(times), atol=1e-9)
    with pytest.raises(InvalidInput, match="removed or moved in time"):
        us.blend_edit(curves, without_a_key(curves), 0.5)
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        us.blend_edit(curves, more, 1.5)


def without_a_key(curves: Curves) -> Curves:
    """The animation without the second key of its first curve with three."""
    number = next(i for i, curve in enumerate(curves.curves) if len(curve) > 2)
    c = curves.curves[number]
    keep = np.arange(len(c)) != 1
    return curves.with_curves({number: Curve(c.channel, c.times[keep], c.values[keep])})
