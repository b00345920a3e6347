"""Weight: a jump that floats becomes a jump, what stands stays, and the feet stay where they stood."""

from __future__ import annotations

import numpy as np
from tests.character.body.test_ik_leg_reach import crouched
from tests.data_folder import data_file
from tests.transfer import bodies

from understudy.character.body.contacts import ContactPhases, find_contact_phases
from understudy.character.body.mass import body_height, body_of
from understudy.character.body.poses import PoseSequence
from understudy.formats import registry
from understudy.transfer.measures import force_mismatch, slide_speeds
from understudy.transfer.physics.contact_model import problem_of
from understudy.transfer.physics.dynamics import DynamicsWeights, correct_dynamics, displacements, normal_blocks
from understudy.transfer.physics.momentum import mass_motion
from understudy.transfer.source import source_of
from understudy.transfer.standing import plant_contacts


def jumping(rise: float) -> tuple[PoseSequence, ContactPhases]:
    """The walker jumps for 0.4 s at 60 fps: the way up and down is a sine, which is not how things fall."""
    body = bodies.walker()[1]
    poses = crouched(72)
    poses = PoseSequence(poses.skeleton, poses.translations, poses.rotations, 60.0)
    up = np.zeros(72)
    up[24:48] = rise * np.square(np.sin(np.pi * (np.arange(24) + 0.5) / 24))
    frames = np.tile(np.eye(4), (72, 1, 1))
    frames[:, 1, 3] = up - body.contact_positions(poses.world)[0, :, 1].min()
    down = np.ones((72, 4), bool)
    down[24:48] = False
    return poses.apply_transform(frames), ContactPhases(body.names, down)


def test_a_jump_falls_as_things_fall_and_the_feet_stay() -> None:
    body = bodies.walker()[1]
    poses, phases = jumping(9.81 * 0.4**2 / 8)
    poses = plant_contacts(poses, body, phases)
    found = correct_dynamics(poses, body, phases)
    before, after = (force_mismatch(p, body, phases) for p in (poses, found))
    assert after["force_mismatch"] < 0.7 * before["force_mismatch"]
    assert after["force_in_air"] < 0.5 * before["force_in_air"]
    places = body.contact_positions(found.world)
    assert slide_speeds(places, phases, 60.0).max() < 0.005
    np.testing.assert_allclose(places[phases.down], body.contact_positions(poses.world)[phases.down], atol=1e-3)
    heights = [mass_motion(p.world, body, 60.0).centres[:, 1].max() for p in (poses, found)]
    assert abs(heights[1] - heights[0]) < 0.05  # the jump is as high as it was


def test_who_stands_still_stays() -> None:
    body, poses = bodies.walker()[1], crouched(20)
    frames = np.eye(4)
    frames[1, 3] = -body.contact_positions(poses.world)[..., 1].min()
    poses = poses.apply_transform(frames)
    phases = ContactPhases(body.names, np.ones((20, 4), bool))
    np.testing.assert_allclose(correct_dynamics(poses, body, phases).world, poses.world, atol=0.01)


def test_where_nothing_can_be_done_nothing_is() -> None:
    body = bodies.walker()[1]
    poses, phases = jumping(0.2)
    assert correct_dynamics(poses, body, ContactPhases(phases.names, np.zeros_like(phases.down))) is poses
    assert (
        correct_dynamics(poses.rows([0, 1]), body, ContactPhases(phases.names, phases.down[:2])).translations.shape[0]
        == 2
    )


def test_the_step_is_that_of_gauss_and_newton() -> None:
    rng = np.random.default_rng(0)
    missing, slopes = rng.normal(size=(7, 6)), rng.normal(size=(7, 6, 3, 4))
    missing[[0, -1]], slopes[[0, -1]] = 0, 0
    full = np.zeros((7, 6, 7, 4))
    for f in range(1, 6):
        full[f, :, f - 1 : f + 2] = slopes[f]
    jacobian = full.reshape(42, 28)
    slope, blocks = normal_blocks(missing, slopes)
    np.testing.assert_allclose(slope.reshape(-1), jacobian.T @ missing.reshape(-1))
    product = (jacobian.T @ jacobian).reshape(7, 4, 7, 4)
    for d in range(3):
        for f in range(7 - d):
            np.testing.assert_allclose(blocks[d, f], product[f, :, f + d], atol=1e-12)


def test_a_sure_mapping_keeps_its_heights_and_a_base_stays_put() -> None:
    body = bodies.walker()[1]
    poses, phases = jumping(0.1)
    problem = problem_of(poses.world, body, phases, 60.0, 1.4, 9.81)
    loose, tight = np.full(72, 0.07), np.full(72, 0.0014)
    free, _ = displacements(problem, np.full(72, 1.0), loose, 0.05, DynamicsWeights())
    sure, _ = displacements(problem, np.full(72, 1e-8), loose, 0.05, DynamicsWeights(k_2=10.0))
    put, _ = displacements(problem, np.full(72, 1.0), tight, 0.05, DynamicsWeights())
    assert np.abs(sure[:, 1]).max() < 0.5 * np.abs(free[:, 1]).max()
    assert np.abs(put).max() < 0.2 * np.abs(free).max()


def test_a_captured_jump_needs_less_of_what_nobody_gives() -> None:
    asset = registry.read(data_file("bvh_cmu/13_39.bvh"))
    motion, body = source_of(asset, rate=30.0), body_of(asset.character())
    assert motion.poses is not None
    phases = find_contact_phases(
        body.contact_positions(motion.poses.world), 30.0, body_height(body, motion.poses), body.names
    )
    standing = plant_contacts(motion.poses, body, phases)
    found = correct_dynamics(standing, body, phases)
    raw, before, after = (force_mismatch(p, body, phases)["force_mismatch"] for p in (motion.poses, standing, found))
    assert after < before < 0.5 * raw
