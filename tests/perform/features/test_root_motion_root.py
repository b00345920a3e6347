"""Laws of the travelling root."""

from __future__ import annotations

import numpy as np
import pytest
from tests.perform.features import walkers
from tests.reference import perform as reference

from understudy.character import Character, Skeleton
from understudy.character.rig import DirectRig
from understudy.maths import quaternion
from understudy.maths.resample import gaussian_smooth
from understudy.perform.features.root_motion import RootJoint, find_root


def found(rig: DirectRig, *takes: np.ndarray) -> RootJoint | None:
    return find_root(rig.character.skeleton, rig.channels, takes, rig.rest)


@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize("z_up", [False, True])
def test_is_the_joint_that_carries_all_that_moves(z_up: bool, scale: float) -> None:
    rig = walkers.rig(z_up, scale)
    root = found(rig, walkers.take(rig, 60, 1, speed=1.2))
    assert root is not None
    assert root.joint == "Hips"
    np.testing.assert_allclose(root.size, 1.4, atol=1e-6)


def test_acting_on_the_spot_has_none() -> None:
    rig = walkers.rig()
    assert found(rig, walkers.take(rig, 60, 1), walkers.take(rig, 40, 2)) is None


def test_turning_for_good_is_travelling_too() -> None:
    rig = walkers.rig()
    assert found(rig, walkers.take(rig, 60, 1, turning=1.0)) is not None


def test_takes_captured_at_several_places_have_one_though_none_travels() -> None:
    rig = walkers.rig()
    there = [walkers.take(rig, 60, seed, start=(3.0 * seed, -1.0, 0.5 * seed)) for seed in (1, 2, 3)]
    root = found(rig, *there)
    assert root is not None
    assert not root.at_home


def test_a_node_that_only_jitters_stands_still() -> None:
    rig = walkers.rig(z_up=True)
    rows = walkers.take(rig, 60, 1, speed=1.2)
    scene = rig.channels.slice("scene", "translation")
    rows[:, scene] += 1e-7 * np.random.default_rng(1).normal(size=(60, 3))
    root = found(rig, rows)
    assert root is not None
    assert root.joint == "Hips"


def test_feet_beside_the_hips_cannot_be_left_behind() -> None:
    """Hips that travel with feet that hang on the scene: no joint carries both."""
    names, parents = ["scene", "Hips", "Foot"], [-1, 0, 0]
    rig = DirectRig(Character("ik", Skeleton(names, parents, [[0, 0, 0], [0, 1, 0], [0, 0, 0]])))
    rows = np.tile(rig.rest, (50, 1))
    for joint in ("Hips", "Foot"):
        rows[:, rig.channels.slice(joint, "translation")] += np.linspace(0, 3, 50)[:, None] * [0, 0, 1.0]
    assert found(rig, rows) is None


@pytest.mark.parametrize("turning", [0.0, 1.5])
def test_headings_and_places_are_those_of_the_world(turning: float) -> None:
    for rig in (walkers.rig(), walkers.rig(z_up=True, scale=0.01)):
        rows = walkers.take(rig, 90, 4, speed=1.0, turning=turning, start=(2.0, -3.0, 1.0))
        root = found(rig, rows)
        assert root is not None
        move, turn = rig.channels.slice("Hips", "translation"), rig.channels.slice("Hips", "rotation")
        tracks = root.tracks(rows[:, move], rows[:, turn])
        np.testing.assert_allclose(tracks[:, :2], rig.joints(rows)[:, 1][:, [0, 2], 3], atol=1e-9)
        wanted = 1.0 + turning * np.arange(90) / walkers.RATE
        np.testing.assert_allclose(tracks[:, 2], wanted, atol=0.2)  # a sway of 0.12 rad about all axes is on top


def test_the_ground_of_hips_is_smooth_and_under_them() -> None:
    rig = walkers.rig()
    rows = walkers.take(rig, 120, 5, speed=1.3, start=(4.0, 4.0, 2.0))
    root = found(rig, rows)
    assert root is not None
    assert not root.on_floor
    move, turn = rig.channels.slice("Hips", "translation"), rig.channels.slice("Hips", "rotation")
    grounds = root.grounds(rows[:, move], rows[:, turn], walkers.RATE)
    tracks = root.tracks(rows[:, move], rows[:, turn])
    speed = np.linalg.norm(np.diff(grounds[:, :2], axis=0), axis=1) * walkers.RATE
    assert np.abs(speed[30:-30] - 1.3).max() < 0.03, "the sway is no part of the travel"
    assert np.abs(grounds - tracks).max() < 0.2


def test_a_floor_joint_is_the_ground_itself_from_the_origin_on() -> None:
    """As animators move characters of games: a joint at the feet, clips that start at home."""
    names = ["scene", "root", "Hips", "Head"]
    rig = DirectRig(Character("game", Skeleton(names, [-1, 0, 1, 2], [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0.6, 0]])))
    dodge, idle = np.tile(rig.rest, (20, 1)), np.tile(rig.rest, (20, 1))
    move = rig.channels.slice("root", "translation")
    dodge[:, move] += np.linspace(0, 1, 20)[:, None] ** 2 * [0.5, 0, 0]
    idle[:, rig.channels.slice("Hips", "translation")] += np.sin(np.arange(20))[:, None] * [0.1, 0, 0.1]
    root = found(rig, idle, dodge)
    assert root is not None
    assert (root.joint, root.on_floor, root.at_home) == ("root", True, True)
    turn = rig.channels.slice("root", "rotation")
    np.testing.assert_allclose(root.grounds(dodge[:, move], dodge[:, turn], 30.0)[:, 0], dodge[:, move][:, 0])
    assert (root.grounds(idle[:, move], idle[:, turn], 30.0) == 0).all()


@pytest.mark.parametrize("z_up", [False, True])
def test_off_the_ground_and_back_on_is_nothing(z_up: bool) -> None:
    rig, rng = walkers.rig(z_up, 0.01), np.random.default_rng(6)
    rows = walkers.take(rig, 40, 6, speed=1.0)
    root = found(rig, rows)
    assert root is not None
    translations, rotations = rng.normal(size=(40, 3)), quaternion.normalise(rng.normal(size=(40, 4)))
    grounds = rng.normal(size=(40, 3)) * 3
    again = root.apply_ground(*root.remove_ground(translations, rotations, grounds), grounds)
    np.testing.assert_allclose(again[0], translations, atol=1e-9)
    np.testing.assert_allclose(again[1], rotations, atol=1e-12)


def test_off_the_ground_poses_of_a_turned_take_are_those_of_the_take() -> None:
    """The same walk, elsewhere and turned: what is left of it is the same pose."""
    rig = walkers.rig()
    here = walkers.take(rig, 90, 7, speed=1.0)
    root = found(rig, here)
    assert root is not None
    root = RootJoint(root.joint, root.world_from_parent, root.rest, root.size, root.on_floor, at_home=False)
    move, turn = rig.channels.slice("Hips", "translation"), rig.channels.slice("Hips", "rotation")
    there = root.apply_ground(here[:, move], here[:, turn], np.tile([5.0, -2.0, 2.5], (90, 1)))
    left = [
        root.remove_ground(*local, root.grounds(*local, walkers.RATE))
        for local in ((here[:, move], here[:, turn]), there)
    ]
    np.testing.assert_allclose(left[0][0], left[1][0], atol=1e-9)
    assert (quaternion.angle_between(left[0][1], left[1][1]) < 1e-9).all()


def test_comes_back_from_its_description() -> None:
    rig = walkers.rig(z_up=True)
    rows = walkers.take(rig, 60, 8, speed=1.0)
    root = found(rig, rows)
    assert root is not None
    again = RootJoint.from_dict(root.as_dict())
    move, turn = rig.channels.slice("Hips", "translation"), rig.channels.slice("Hips", "rotation")
    for one, other in zip((root, again), (again, root)):
        np.testing.assert_array_equal(
            one.grounds(rows[:, move], rows[:, turn], 30.0), other.grounds(rows[:, move], rows[:, turn], 30.0)
        )


def test_smoothing_keeps_straight_lines_and_takes_out_wobbles() -> None:
    line = np.stack([np.linspace(0, 3, 50), np.linspace(1, -7, 50)], axis=1)
    np.testing.assert_allclose(gaussian_smooth(line, 6.0), line, atol=1e-12)
    np.testing.assert_array_equal(gaussian_smooth(line[:1], 6.0), line[:1])
    wobble = np.sin(2 * np.pi * np.arange(200) / 10)[:, None]
    assert np.abs(gaussian_smooth(wobble, 12.0)[60:-60]).max() < 1e-4


@pytest.mark.parametrize("z_up", [False, True])
def test_the_kernel_puts_on_the_ground_as_its_oracle_does(z_up: bool) -> None:
    rig, rng = walkers.rig(z_up, 0.01), np.random.default_rng(9)
    root = found(rig, walkers.take(rig, 40, 6, speed=1.0))
    assert root is not None
    translations, rotations = rng.normal(size=(40, 3)), quaternion.normalise(rng.normal(size=(40, 4)))
    grounds = rng.normal(size=(40, 3)) * 3
    fast = root.apply_ground(translations, rotations, grounds)
    slow = reference.apply_ground(root, translations, rotations, grounds)
    np.testing.assert_allclose(fast[0], slow[0], atol=1e-9)
    np.testing.assert_allclose(fast[1], slow[1], atol=1e-14)
