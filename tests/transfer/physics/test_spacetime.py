"""The space-time solve: its kernels beside slow twins, and the laws that a motion obeys after it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import spacetime as slow
from tests.transfer import bodies

from understudy.character import Character
from understudy.character.body.mass import body_of
from understudy.character.body.poses import PoseSequence
from understudy.character.body.volume import skin_positions
from understudy.checks import Array
from understudy.maths import quaternion
from understudy.transfer.physics.figure import BodySpec, Contacts, Figure, make_figure
from understudy.transfer.physics.momentum import mass_motion
from understudy.transfer.physics.spacetime import (
    FRICTION_COEFFICIENT,
    KERNELS,
    MomentumGoals,
    SpacetimeWeights,
    _Problem,
    solve,
)

RATE = 60.0


def biped() -> Character:
    """A walker of boxes: hips, two legs of two bones with a foot each."""
    skeleton = bodies.walker()[0]
    world = PoseSequence.rest(skeleton).world[0]
    blocks, faces, owners = [], [], []
    for j, name in enumerate(skeleton.names):
        low, high = np.array([-0.05, -0.4, -0.05]), np.array([0.05, 0.0, 0.05])
        if name.endswith("Foot"):
            low, high = np.array([-0.04, -0.06, -0.06]), np.array([0.04, 0.0, 0.15])
        elif name in ("Hips", "Chest"):
            low, high = np.array([-0.15, -0.05, -0.1]), np.array([0.15, 0.3, 0.1])
        vertices, triangles = bodies.box(low, high)
        faces.append(triangles + 8 * j)
        blocks.append(vertices + world[j, :3, 3])
        owners.append(np.full(8, j))
    return bodies.of_mesh(skeleton, np.concatenate(blocks), np.concatenate(faces), np.concatenate(owners))


def figure_of(character: Character, reference: PoseSequence) -> Figure:
    skeleton = character.skeleton
    specs = [BodySpec(skeleton.index("Hips"), 0.08, 0.35), BodySpec(skeleton.index("Chest"), 0.08, 0.35)]
    for side in ("Left", "Right"):
        thigh, shin, foot = (skeleton.index(side + name) for name in ("UpLeg", "Leg", "Foot"))
        specs.append(BodySpec(thigh, 0.1, 0.35))
        specs.append(BodySpec(shin, 0.1, 0.35, np.array([[1.0, 0.0, 0.0]]), (thigh, shin, foot)))
        specs.append(BodySpec(foot, 0.12, 0.35))
    return make_figure(reference, character, body_of(character), specs)


def feet_of(figure: Figure, frames: int, down: Array | None = None) -> Contacts:
    """Four corners of each foot; all of them down unless told."""
    rest = PoseSequence.rest(figure.skeleton).world[0]
    names, carriers, offsets = [], [], []
    for side in ("Left", "Right"):
        joint = figure.skeleton.index(side + "Foot")
        for x in (-0.04, 0.04):
            for z in (-0.06, 0.15):
                names.append(f"{side}{x}{z}")
                carriers.append(figure.body_of(joint))
                offsets.append(np.array([x, -rest[joint, 1, 3], z]) / figure.height)
    down = np.ones((frames, 8), bool) if down is None else np.repeat(down, 4, axis=1)
    flight = ~down.any(axis=1)
    return Contacts(
        tuple(names), np.array(carriers), np.tile(offsets, (frames, 1, 1)), down, flight, np.ones(frames, bool)
    )


def wobble(character: Character, frames: int, seed: int = 0, amount: float = 0.15) -> PoseSequence:
    """A smooth motion of all joints, whose feet slide and sink."""
    rng = np.random.default_rng(seed)
    skeleton, t = character.skeleton, np.arange(frames) / RATE
    phase, speed = rng.uniform(0, 6, (len(skeleton), 3)), rng.uniform(2, 6, (len(skeleton), 3))
    vectors = amount * np.sin(speed * t[:, None, None] + phase)
    knees = [j for j, name in enumerate(skeleton.names) if name.endswith("Leg") and "Up" not in name]
    vectors[:, knees, 0] += 0.5
    rotations = quaternion.multiply(skeleton.rotations, quaternion.from_rotation_vector(vectors))
    translations = np.array(np.broadcast_to(skeleton.translations, (frames, len(skeleton), 3)))
    translations[:, 0] += 0.1 * np.stack([np.sin(2 * t), 0.3 * np.sin(5 * t) - 0.2, np.sin(3 * t)], axis=1)
    return PoseSequence(skeleton, translations, rotations, RATE)


@pytest.fixture(scope="module")
def character() -> Character:
    return biped()


def problem_of(character: Character, frames: int = 9) -> _Problem:
    reference = wobble(character, frames)
    figure = figure_of(character, reference)
    down = np.ones((frames, 2), bool)
    down[3:6], down[6:, 1] = False, False
    contacts = feet_of(figure, frames, down)
    rng = np.random.default_rng(3)
    goals = MomentumGoals(rng.normal(size=(frames, 3)), 0.1 * rng.normal(size=(frames, 3)), np.full(frames, 9.81))
    return _Problem(reference, figure, contacts, goals, rng.uniform(0.5, 2, frames), SpacetimeWeights(near=0.2))


def test_every_cost_is_that_of_its_definition(character: Character) -> None:
    problem = problem_of(character)
    d = 0.1 * np.random.default_rng(1).normal(size=(problem.frames, problem.figure.size))
    d[:, problem.figure.hinges[0][0]] -= 0.8  # beyond straight
    quick = problem.evaluate(d, derive=False)
    plain = slow.costs(problem, d, FRICTION_COEFFICIENT)
    assert quick.keys() == plain.keys()
    for name, cost in quick.items():
        assert cost == pytest.approx(plain[name], rel=1e-6, abs=1e-9), name
    assert all(cost > 0 for cost in quick.values())  # none is tested in vain


def test_the_gradient_is_that_of_the_cost(character: Character) -> None:
    problem = problem_of(character)
    rng = np.random.default_rng(2)
    d = 0.05 * rng.normal(size=(problem.frames, problem.figure.size))
    problem.evaluate(d, derive=True)
    slope = problem.slope.reshape(d.shape).copy()
    for _ in range(12):
        way = rng.normal(size=d.shape)
        ahead, behind = (sum(problem.evaluate(d + s * 1e-6 * way, derive=False).values()) for s in (1, -1))
        assert 2 * (slope * way).sum() == pytest.approx((ahead - behind) / 2e-6, rel=2e-4)


def test_the_wrench_of_the_floor_is_the_nearest_in_the_cone() -> None:
    from understudy.maths import jit

    kernels = jit.kernels(KERNELS)
    assert kernels is not None
    rng = np.random.default_rng(0)
    scale = np.array([1.0, 1.0, 1.0, 3.0, 3.0, 3.0])
    for count in (1, 2, 4, 8):
        for _ in range(40):
            points = np.concatenate([rng.normal(size=(count, 1)), np.zeros((count, 1)), rng.normal(size=(count, 1))], 1)
            centre = np.array([0.1, 1.0, -0.2])
            needed = rng.normal(size=6) + np.array([0, 2.0, 0, 0, 0, 0])
            given, forces = np.empty(6), np.empty((count, 3))
            kernels.floor_wrench(needed, points, centre, np.ones(count, bool), 0.8, scale, given, forces)
            wanted = slow.nearest_wrench(needed, points - centre, 0.8, scale)
            gap, least = (np.linalg.norm(scale * (needed - w)) for w in (given, wanted))
            assert gap == pytest.approx(least, rel=1e-5, abs=1e-7)
            assert (forces[:, 1] >= 0).all()
            assert (np.abs(forces[:, 0]) + np.abs(forces[:, 2]) <= 0.8 * forces[:, 1] + 1e-9).all()


def test_feet_that_are_down_stand_still_on_the_floor(character: Character) -> None:
    reference = wobble(character, 90, amount=0.1)
    figure = figure_of(character, reference)
    contacts = feet_of(figure, 90)
    goals = MomentumGoals(np.zeros((90, 3)), None, np.full(90, 9.81))
    result = solve(reference, figure, contacts, goals)
    assert result.converged and sum(result.costs[-1].values()) < 0.2 * sum(result.costs[0].values())
    before, after = (_points(p, figure, contacts) for p in (reference, result.poses))
    slides = [np.linalg.norm(np.diff(p[..., [0, 2]], axis=0), axis=2).mean() * RATE for p in (before, after)]
    assert slides[1] < 0.01 < 0.1 < slides[0]
    assert np.abs(after[..., 1]).max() < 0.01
    assert result.poses.translations[:, 1:] == pytest.approx(reference.translations[:, 1:])  # bones keep their length


def test_points_ride_as_they_do_in_the_reference(character: Character) -> None:
    """Bodies are hips and thighs only: knees and ankles that bend in the reference carry mass and skin."""
    reference = wobble(character, 5)
    skeleton, body = character.skeleton, body_of(character)
    joints = [skeleton.index(name) for name in ("Hips", "LeftUpLeg", "RightUpLeg")]
    figure = make_figure(reference, character, body, [BodySpec(joint, 0.1, 0.35) for joint in joints])
    frames = _frames(reference, figure)
    masses = slow.ride(*frames, figure.mass_bodies, figure.mass_offsets)
    centre = figure.height * (figure.mass_shares[:, None] * masses).sum(axis=1)
    assert centre == pytest.approx(mass_motion(reference.world, body, RATE).centres, abs=1e-9)
    skin = figure.height * slow.ride(*frames, figure.skin_bodies, figure.skin_offsets)
    assert skin[..., 1].min(axis=1) == pytest.approx(
        skin_positions(character, reference.world)[..., 1].min(axis=1), abs=1e-5
    )


def test_a_body_in_the_air_falls(character: Character) -> None:
    reference = wobble(character, 60, amount=0.05)
    figure = figure_of(character, reference)
    down = np.ones((60, 2), bool)
    down[20:40] = False
    contacts = feet_of(figure, 60, down)
    goals = MomentumGoals(np.zeros((60, 3)), None, np.full(60, 9.81))
    result = solve(reference, figure, contacts, goals)
    masses = slow.ride(*_frames(result.poses, figure), figure.mass_bodies, figure.mass_offsets)
    centre = figure.height * (figure.mass_shares[:, None] * masses).sum(axis=1)
    falls = -np.diff(centre[20:40], 2, axis=0)[:, 1] * RATE**2
    assert np.abs(falls[2:-2] - 9.81).max() < 0.5


def test_knees_do_not_bend_backwards(character: Character) -> None:
    skeleton = character.skeleton
    poses = PoseSequence.rest(skeleton, 30, RATE)
    rotations = np.array(poses.rotations)
    for side in ("Left", "Right"):  # inverted by 0.2 rad
        rotations[:, skeleton.index(side + "Leg")] = quaternion.from_rotation_vector(np.array([-0.2, 0.0, 0.0]))
    reference = PoseSequence(skeleton, poses.translations, rotations, RATE)
    figure = figure_of(character, reference)
    goals = MomentumGoals(np.zeros((30, 3)), None, np.full(30, 9.81))
    result = solve(reference, figure, feet_of(figure, 30), goals)
    for side in ("Left", "Right"):
        angles = quaternion.to_rotation_vector(result.poses.rotations[:, skeleton.index(side + "Leg")])[:, 0]
        assert angles.min() > -0.08


def _frames(poses: PoseSequence, figure: Figure) -> tuple[Array, Array]:
    world = poses.world[:, figure.joints]
    return world[..., :3, :3], world[..., :3, 3] / figure.height


def _points(poses: PoseSequence, figure: Figure, contacts: Contacts) -> Array:
    return figure.height * slow.ride(*_frames(poses, figure), contacts.bodies, contacts.offsets)
