"""A chain reaches: bones keep their lengths, knees bend their way, the slow oracle gives the same."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import character as reference

from understudy.character import kinematics
from understudy.character.body.limbs import STRAIGHT_REACH_RATIO, reach_chain, straight_angle
from understudy.maths import quaternion

HINGE = np.array([1.0, 0.0, 0.0])


def leg(bend: float, hock: float | None = None, seed: int = 0) -> tuple[np.ndarray, ...]:
    """parent (4, 4), chain (n, 4, 4), tip (3,), locals (n, 4) of a leg that hangs down, its knee bent by an angle."""
    rng = np.random.default_rng(seed)
    bends = [0.3, bend] if hock is None else [0.3, bend, hock]
    count = len(bends)
    turns = np.stack([quaternion.from_rotation_vector(HINGE * angle) for angle in bends])
    parents = np.arange(-1, count)
    places = np.tile([0.0, -0.5, 0.0], (count + 1, 1))
    scales = np.ones((count + 1, 3))
    scales[0] = 2.0  # a rig in other units
    whole = np.concatenate([quaternion.normalise(rng.normal(size=4))[None], turns])
    world = kinematics.world_transforms(parents, places, whole, scales)
    return world[0], world[1:], world[-1, :3, :3] @ places[0] + world[-1, :3, 3], turns


def wide_room(count: int) -> np.ndarray:
    return np.tile([-3.0, 3.0], (count, 1))


def sides(count: int, other: float = 0.0) -> np.ndarray:
    return np.tile([1.0, other], (count, 1))


@pytest.mark.parametrize("hock", [None, -0.7])
@pytest.mark.parametrize("seed", range(8))
def test_reaches_what_is_within_reach(seed: int, hock: float | None) -> None:
    parent, chain, tip, old = leg(0.8, hock, seed)
    hip, length = chain[0, :3, 3], float(len(chain))
    goal = tip + 0.3 * np.random.default_rng(seed).uniform(-1, 1, 3)
    goal = hip + (goal - hip) * min(1.0, 0.95 * length / np.linalg.norm(goal - hip))
    hinges = np.tile(HINGE, (len(chain), 1))
    own = sides(len(chain))
    if hock is not None:
        own[2, 0] = -1.0
    turns, reached = reach_chain(parent, chain, tip, goal, hinges, own, wide_room(len(chain)))
    assert np.abs(reached - goal).max() < 1e-9
    again, there = reference.reach_chain(parent, chain, tip, goal, hinges, own, wide_room(len(chain)))
    assert np.abs(np.abs((turns * again).sum(axis=1)) - 1).max() < 1e-9 and np.abs(there - reached).max() < 1e-9
    # the turns that are returned lead there, along bones of the same lengths, and bend about the hinges alone
    world = parent
    for turn in turns:
        world = world @ kinematics.world_transforms([-1], [[0, -0.5, 0]], turn[None], None)[0]
    assert np.abs(world[:3, :3] @ [0, -0.5, 0] + world[:3, 3] - goal).max() < 1e-9
    bent = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(old[1:]), turns[1:]))
    assert np.abs(bent[:, 1:]).max() < 1e-9


def test_leaves_alone_what_is_there_already() -> None:
    parent, chain, tip, old = leg(0.8)
    turns, reached = reach_chain(parent, chain, tip, tip, np.tile(HINGE, (2, 1)), sides(2), wide_room(2))
    assert np.abs(np.abs((turns * old).sum(axis=1)) - 1).max() < 1e-12 and np.abs(reached - tip).max() < 1e-12


def test_goes_as_far_as_it_can_towards_what_is_too_far() -> None:
    parent, chain, tip, _ = leg(0.8)
    hip = chain[0, :3, 3]
    goal = hip + 5.0 * (tip - hip)
    _, reached = reach_chain(parent, chain, tip, goal, np.tile(HINGE, (2, 1)), sides(2), wide_room(2))
    assert np.abs(reached - hip - (goal - hip) / np.linalg.norm(goal - hip) * 2.0).max() < 1e-6


def test_stays_within_its_room() -> None:
    parent, chain, tip, old = leg(0.8)
    hip = chain[0, :3, 3]
    goal = hip + 0.4 * (tip - hip)
    turns, reached = reach_chain(
        parent, chain, tip, goal, np.tile(HINGE, (2, 1)), sides(2), np.array([[0, 0], [-0.1, 0.2]])
    )
    angle = quaternion.to_rotation_vector(quaternion.multiply(quaternion.conjugate(old[1]), turns[1]))[0]
    assert angle == pytest.approx(0.2) and np.linalg.norm(reached - hip) > np.linalg.norm(goal - hip)


def test_a_knee_bends_its_way_and_does_not_jump() -> None:
    """A leg that is bent ever further the wrong way, its foot pulled up a little: its knee goes on the right way."""
    shown = []
    for bend in np.linspace(0.5, -0.5, 201):
        parent, chain, tip, _ = leg(bend)
        hip = chain[0, :3, 3]
        goal = hip + 0.97 * (tip - hip)
        turns, _ = reach_chain(parent, chain, tip, goal, np.tile(HINGE, (2, 1)), sides(2, 0.02), wide_room(2))
        shown.append(quaternion.to_rotation_vector(turns[1])[0])
    assert min(shown) > 0.0
    assert np.abs(np.diff(shown)).max() < 0.05


def test_little_is_asked_of_a_straight_leg() -> None:
    """The knee of a straight leg comes out slowly, and the foot is never further off than the first hundredth."""
    parent, chain, tip, _ = leg(0.0)
    hip = chain[0, :3, 3]
    angles, missed = [], []
    for share in np.linspace(0.0, 0.02, 81):
        goal = tip + share * (hip - tip)
        turns, reached = reach_chain(parent, chain, tip, goal, np.tile(HINGE, (2, 1)), sides(2), wide_room(2))
        angles.append(quaternion.to_rotation_vector(turns[1])[0])
        missed.append(np.linalg.norm(reached - goal))
    assert max(missed) < STRAIGHT_REACH_RATIO * 2.0 and missed[-1] < 1e-9
    steps = np.diff(angles)
    assert steps[0] < 0.01 and steps.max() < 0.02


def test_straight_is_where_it_is_longest() -> None:
    _, chain, tip, _ = leg(0.8)
    axis = chain[1, :3, 0] / np.linalg.norm(chain[1, :3, 0])
    assert straight_angle(chain[0, :3, 3], chain[1, :3, 3], tip, axis) == pytest.approx(-0.8)
