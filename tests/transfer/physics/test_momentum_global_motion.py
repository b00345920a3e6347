"""The way over the floor: whoever plays himself goes his own way, a smaller one a smaller way."""

from __future__ import annotations

import numpy as np
from tests.data_folder import data_file
from tests.transfer import small
from tests.transfer.physics.test_momentum_scaling import scaled

from understudy.character import Character
from understudy.character.body.markers import markers_of
from understudy.character.body.mass import Body, body_of
from understudy.character.body.poses import PoseSequence
from understudy.formats import registry
from understudy.maths import transform
from understudy.transfer.physics.momentum import actor_motion, integrate_root_motion, mass_motion
from understudy.transfer.source import SourceMotion, source_of


def captured(name: str) -> tuple[SourceMotion, Body]:
    asset = registry.read(data_file(f"bvh_cmu/{name}.bvh"))
    return source_of(asset, rate=30.0), body_of(asset.character())


def test_an_actor_who_plays_himself_goes_his_own_way() -> None:
    source, body = captured("137_16")
    assert source.poses is not None
    local = source.poses.apply_transform(transform.invert_rigid(source.frames))
    way = integrate_root_motion(source, body, local, body, source.markers)
    np.testing.assert_allclose(way.scales.size, 1.0)
    np.testing.assert_allclose(way.frames[:, :3, 3], source.frames[:, :3, 3], atol=0.03)
    np.testing.assert_allclose(way.frames[:, :3, :3], source.frames[:, :3, :3], atol=0.03)
    drifting = integrate_root_motion(source, body, local, body, source.markers, anchor=None).frames
    assert np.abs(drifting - source.frames).max() < 0.2  # of the momenta alone, after 13 seconds


def test_momenta_are_the_actors_scaled() -> None:
    source, body = captured("02_01")
    assert source.poses is not None
    skeleton, other = scaled(0.6)
    poses = PoseSequence.rest(skeleton, len(source), source.rate)
    way = integrate_root_motion(source, body, poses, other, markers_of(Character("walker", skeleton)))
    moved = mass_motion(poses.apply_transform(way.frames).world, other, source.rate)
    actor = actor_motion(source, body)
    axes = way.frames[:, :3, :3]
    wanted = way.scales.linear(np.einsum("fji,fj->fi", source.frames[:, :3, :3], actor.linear))
    found = np.einsum("fji,fj->fi", axes, moved.linear)
    np.testing.assert_allclose(found[2:-2, 2], wanted[2:-2, 2], atol=0.05 * np.abs(wanted[:, 2]).max())


def test_frames_only_move_and_turn_over_the_floor() -> None:
    source = small.source()
    body = body_of(small.actor().character())
    frames = integrate_root_motion(
        source,
        body,
        PoseSequence.rest(small.hopper().character().skeleton, len(source), 30.0),
        body_of(small.hopper().character()),
    ).frames
    np.testing.assert_allclose(frames[:, 1], np.tile([0.0, 1.0, 0.0, 0.0], (len(source), 1)), atol=1e-12)
    np.testing.assert_allclose(
        frames[:, :3, :3] @ np.swapaxes(frames[:, :3, :3], 1, 2), np.tile(np.eye(3), (len(source), 1, 1)), atol=1e-12
    )


def test_the_size_can_be_given_and_markers_alone_will_do() -> None:
    source = small.source()
    target = small.hopper().character()
    poses, body = PoseSequence.rest(target.skeleton, len(source), 30.0), body_of(target)
    ways = [integrate_root_motion(source, None, poses, body, size=size).frames[:, :3, 3] for size in (1.0, 0.5)]
    gone = [np.linalg.norm(way[-1] - way[0]) for way in ways]
    np.testing.assert_allclose(gone[1], 0.5 * gone[0], rtol=0.05)
    assert gone[0] > 0.8  # the actor walks for a metre and a half
