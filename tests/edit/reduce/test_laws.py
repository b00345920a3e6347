"""Laws of a reduction: cuts, flips, ringing, tolerances, planted feet and poses, measured through the rig alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.edit.reduce.test_reduction import RATE, arm, errors

from understudy.character import Channel, Character, Clip, Curve, Curves, Skeleton
from understudy.character.curve import BEZIER, LINEAR
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.edit.reduce import landmarks, reduce_keys
from understudy.formats import read
from understudy.maths import euler, quaternion

MODES = ("poses", "fewest", "shared")


def leg() -> tuple[Clip, DirectRig, Array]:
    """A leg that squats with jitter on a foot that stands still, and where the foot is (F, 3)."""
    skeleton = Skeleton(
        ["hip", "knee", "foot", "toe"], [-1, 0, 1, 2], [[0, 1, 0], [0, -0.5, 0], [0, -0.5, 0], [0, 0, 0.1]]
    )
    t = np.arange(361) / 120
    bend = 0.4 + 0.3 * np.sin(2 * t) + 0.1 * np.sin(7 * t)
    turns = np.zeros((3, len(t), 3))
    turns[0, :, 0], turns[1, :, 0], turns[2, :, 0] = bend, -2 * bend, bend
    place = np.stack([0 * t, np.cos(bend), 0 * t], axis=1)
    channels = [Channel("hip", "translation"), *(Channel(name, "rotation") for name in ("hip", "knee", "foot"))]
    values = np.concatenate([place, *(quaternion.from_rotation_vector(turn) for turn in turns)], axis=1)
    clip, rig = Clip("squat", channels, values, 120.0), DirectRig(Character("leg", skeleton))
    return clip, rig, rig.joints(rig.pose(clip, clip.times))[:, 2, :3, 3]


def jumping(frame: int = 60) -> tuple[Clip, DirectRig]:
    """The arm, whose second bone is turned by 90 degrees from a frame on."""
    clip, rig = arm()
    values = clip.values.copy()
    values[frame:, 4:] = quaternion.multiply(values[frame:, 4:], quaternion.from_rotation_vector([0.0, 0.0, np.pi / 2]))
    return Clip("jump", clip.channels, values, RATE), rig


@pytest.mark.parametrize("keys", MODES)
def test_a_cut_in_mid_clip_keeps_the_tolerance(keys: str) -> None:
    clip, rig = jumping()
    found = reduce_keys(clip, rig, tolerance=0.005, rotations="euler", keys=keys)
    distance, _ = errors(clip, found, rig)
    assert distance <= 0.005 and found.cuts == (pytest.approx(59 / RATE),)
    assert found.error_m == pytest.approx(distance, rel=1e-6)
    cut = found.curves.curves[1]
    assert {59, 60} <= set(np.round(cut.times * RATE).astype(int))


def test_one_joint_that_jumps_cuts_no_other() -> None:
    clip, rig = jumping()
    found = reduce_keys(clip, rig, tolerance=0.005, rotations="euler", keys="fewest")
    whole, _ = arm()
    plain = reduce_keys(whole, rig, tolerance=0.005, rotations="euler", keys="fewest")
    times = [set(np.round(curves.curves[0].times * RATE).astype(int)) for curves in (found.curves, plain.curves)]
    assert not {59, 60} <= times[0]
    assert len(times[0]) <= len(times[1]) + 2


def test_angles_that_flip_are_no_motion() -> None:
    """Angles of a file that wrap at half a turn, or change to the other triple: the curves go straight on."""
    clip, rig = arm()
    t = np.arange(len(clip)) / RATE
    turning = np.stack([3 * t, 0.3 * np.sin(3 * t), 0.2 * t], axis=1)
    wrapped = np.remainder(turning + np.pi, 2 * np.pi) - np.pi
    wrapped[80:] = wrapped[80:] * [1.0, -1.0, 1.0] + np.pi  # the same rotations
    table = np.concatenate([wrapped, np.zeros((len(t), 3))], axis=1)
    channels = [Channel("a", "euler", ("z", "y", "x")), Channel("b", "euler", ("z", "y", "x"))]
    found = reduce_keys(Clip("wrap", channels, table, RATE), rig, tolerance=0.005, keys="fewest")
    assert found.cuts == () and len(found.curves.curves[0]) <= 8
    curve = found.curves.curves[0].sample(np.linspace(0, 2, 500))
    assert np.abs(np.diff(curve, axis=0)).max() < 0.1
    turns = [euler.from_euler(angles, "ZYX") for angles in (turning, found.curves.curves[0].sample(t))]
    assert quaternion.angle_between(*turns).max() < 0.05


@pytest.mark.parametrize("rate", [12.0, 24.0])
@pytest.mark.parametrize("handles", ["free", "thirds"])
def test_nothing_rings_between_frames(rate: float, handles: str) -> None:
    """Fast motion at few frames a second: at eighths of a frame the error is that at frames, too."""
    rng = np.random.default_rng(3)
    _, rig = arm()
    turns = quaternion.from_rotation_vector(rng.normal(0, 0.25, (30, 2, 3))).reshape(30, 8)
    clip = Clip("shake", [Channel("a", "rotation"), Channel("b", "rotation")], turns, rate)
    found = reduce_keys(clip, rig, tolerance=0.01, rotations="quaternion", handles=handles, keys="fewest")
    distance, _ = errors(clip, found, rig)
    assert distance <= 0.01 and distance == pytest.approx(found.error_m, rel=1e-6)


def test_the_tolerance_alone_is_what_binds() -> None:
    """Twice the tolerance needs fewer keys, and turns are bounded by what they move."""
    clip, rig = arm()
    few, many = (reduce_keys(clip, rig, tolerance=size, rotations="euler", keys="fewest") for size in (0.04, 0.01))
    assert few.keys < many.keys
    assert few.error_angle <= 0.04 / 0.4 + 1e-9  # the bones are 0.4 m long
    strict = reduce_keys(clip, rig, tolerance=0.04, angle=np.radians(0.5), rotations="euler", keys="fewest")
    assert strict.binding == "angle" and strict.keys > few.keys


@pytest.mark.parametrize("keys", MODES)
def test_the_tolerance_is_used(keys: str) -> None:
    asset = read(data_file("bvh_cmu/02_01.bvh"))
    clip, rig = Clip("walk", asset.clips[0].channels, asset.clips[0].values[1:180], 120), DirectRig(asset.characters[0])
    settings = {"rotations": "euler", "keys": keys, "contacts": False}
    loose, strict = (reduce_keys(clip, rig, tolerance=size, **settings) for size in (0.02, 0.005))
    least = 0.75 if keys == "shared" else 0.85  # removing one of six shared keys is a large step
    assert least <= loose.used <= 1 and loose.keys < 0.75 * strict.keys


def test_errors_are_those_at_the_frames_of_the_source() -> None:
    """Keys on every second frame: what happens between them is measured."""
    clip, rig = arm()
    values = clip.values.copy()
    values[61, :4] = quaternion.from_rotation_vector([0.0, 0.0, 0.5])
    jolt = Clip("jolt", clip.channels, values, RATE)
    found = reduce_keys(jolt, rig, tolerance=0.005, rotations="euler", rate=RATE / 2)
    distance, _ = errors(jolt, found, rig)
    assert distance > 0.005 and found.error_m == pytest.approx(distance, rel=1e-6)
    assert any("tolerance" in note for note in found.notes)


@pytest.mark.parametrize("keys", MODES)
def test_a_corner_between_frames_of_a_control_is_told(keys: str) -> None:
    """No joint moves, and no key on a frame can follow: the result is the nearest, and a note says how near."""
    corner = Curve(Channel("brow", "controls", ("raise",)), [0.0, 1.02, 2.0], [[0.0], [5.0], [0.0]], LINEAR)
    found = reduce_keys(Curves("raise", [corner], rate=24.0), weight=0.01, keys=keys)
    times = np.arange(8 * 48 + 1) / (8 * 24)
    off = np.abs(found.curves.sample(times) - corner.sample(times)).max()
    assert 0.01 < off < 0.1 and off == pytest.approx(found.error_weight, rel=1e-6)
    assert any("weight tolerance" in note for note in found.notes)


@pytest.mark.parametrize("keys", ["poses", "fewest"])
def test_planted_feet_stay_planted_in_speed(keys: str) -> None:
    clip, rig, foot = leg()
    found = reduce_keys(clip, rig, tolerance=0.02, rotations="euler", keys=keys)
    times = clip.times
    place = rig.joints(rig.pose(found.curves, times))[:, 2, :3, 3]
    assert np.linalg.norm(place - foot, axis=1).max() <= 0.01
    assert np.percentile(np.linalg.norm(np.diff(place, axis=0), axis=1) * 120, 99) <= 0.04
    loose = reduce_keys(clip, rig, tolerance=0.02, rotations="euler", keys=keys, contacts=False)
    assert loose.keys < found.keys


def test_a_foot_that_trembles_on_the_spot_is_planted() -> None:
    """Jitter of a capture, 12 times a second and 4 mm wide, is no step; a foot that slides as fast as a step is."""
    t = np.arange(240) / 240
    places = np.zeros((len(t), 3, 3))
    places[:, 0, 1], places[:, 1, 1] = 1.7, 0.05
    places[:, 1, 0], places[:, 2, 2] = 0.004 * np.sin(2 * np.pi * 12.5 * t), 0.5 * t
    planted = landmarks.find_planted(places, 240.0)
    assert planted[12:-12, 1].all() and not planted[:, 2].any()


def test_poses_have_keys_on_all_channels_and_no_wide_gaps() -> None:
    asset = read(data_file("bvh_cmu/02_01.bvh"))
    clip = Clip("walk", asset.clips[0].channels, asset.clips[0].values[1:], 120)
    found = reduce_keys(clip, DirectRig(asset.characters[0]), tolerance=0.02, rotations="euler")
    moving = [curve for curve in found.curves.curves if len(curve) > 1]
    common = set.intersection(*(set(curve.times.tolist()) for curve in moving))
    assert len(common) >= 2 * clip.duration
    assert max(np.diff(curve.times).max() for curve in moving) <= 1.0


@pytest.mark.parametrize("keys", MODES)
def test_handles_of_a_key_are_of_like_length(keys: str) -> None:
    clip, rig = arm()
    found = reduce_keys(clip, rig, tolerance=0.002, rotations="euler", keys=keys)
    ratios = handle_ratios(found.curves)
    assert len(ratios) and ratios.max() <= 3 + 1e-6 and ratios.min() >= 1 / 3 - 1e-6


def handle_ratios(curves: Curves) -> Array:
    """Arriving over leaving length, of the inner keys between Bezier segments."""
    ratios = [np.zeros(0)]
    for curve in curves.curves:
        both = np.flatnonzero((curve.segments[:-1] == BEZIER) & (curve.segments[1:] == BEZIER)) + 1
        ratios.append((curve.before[both, :, 0] / curve.after[both, :, 0]).ravel())
    return np.concatenate(ratios)


@pytest.mark.parametrize("keys", MODES)
def test_every_key_is_fitted(keys: str) -> None:
    clip, rig = jumping()
    found = reduce_keys(clip, rig, tolerance=0.005, keys=keys)
    assert all(curve.fitted.all() for curve in found.curves.curves)
