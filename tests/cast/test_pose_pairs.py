"""The pose pairs of the cast: enough of them, of all emotions, within limits, and on the floor."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from understudy import cast
from understudy.errors import InvalidInput
from understudy.maths.euler import to_euler
from understudy.transfer.pairs import PosePairs, read_pairs
from understudy.transfer.source import SourceMotion, source_of

MEMBERS = ("lamp", "penguin", "squirrel")
ROUNDED = 1.0  # degrees: files hold tenths of turns in another order, which near 90 degrees of x is up to one of these
JUMPS = {"rage", "joy", "side_hop", "startle", "leap", "over", "shock"}


@lru_cache(maxsize=1)
def sources() -> dict[str, SourceMotion]:
    asset = cast.load("actor")
    return {clip.name: source_of(asset, clip) for clip in asset.clips}


@lru_cache(maxsize=3)
def pairs_of(name: str) -> PosePairs:
    return read_pairs(cast.pairs(name), sources(), cast.load(name).character())


@pytest.mark.parametrize("name", MEMBERS)
def test_there_are_many_of_every_emotion(name: str) -> None:
    pairs = pairs_of(name)
    assert len(pairs) >= 30 and len(set(pairs.names)) == len(pairs)
    counts = {emotion: pairs.motions.count(emotion) for emotion in sources()}
    assert min(counts.values()) >= 5, counts


@pytest.mark.parametrize("name", MEMBERS)
def test_joints_stay_within_their_limits(name: str) -> None:
    poses = pairs_of(name).poses
    for joint, axes in cast.limits(name).items():
        y, x, z = np.degrees(to_euler(poses.rotations[:, poses.skeleton.index(joint)], "yxz")).T
        # every rotation has two such triples; beyond 90 degrees of x the other one is meant
        other = np.stack([y + 180, 180 - x, z + 180])
        within = [
            [
                (axes.get(axis, (0, 0))[0] - ROUNDED <= a) & (a <= axes.get(axis, (0, 0))[1] + ROUNDED)
                for axis, a in zip("yxz", t)
            ]
            for t in (np.stack([y, x, z]), (other + 180) % 360 - 180)
        ]
        assert (np.all(within[0], axis=0) | np.all(within[1], axis=0)).all(), joint


@pytest.mark.parametrize("name", MEMBERS)
def test_who_does_not_jump_stands_on_the_floor(name: str) -> None:
    pairs, body = pairs_of(name), cast.body(name)
    lowest = body.contact_positions(pairs.poses.world)[..., 1].min(axis=1)
    hops = {"passing", "run", "stroll"}  # steps, which for a lamp are hops
    for pose, height in zip(pairs.names, lowest):
        if pose in JUMPS:
            assert height > 0.03, pose
        elif pose not in hops:
            assert abs(height) < 0.012, pose


def test_who_has_no_pairs_says_so() -> None:
    with pytest.raises(InvalidInput, match="dragon has no pose pairs; available for lamp, penguin, squirrel"):
        cast.pairs("dragon")
    with pytest.raises(InvalidInput, match="toaster"):
        cast.pairs("toaster")


def test_limits_and_bodies_by_name() -> None:
    assert cast.limits("dragon") == {}
    assert "Head" in cast.limits("lamp")
    assert cast.body("lamp") is cast.body("lamp")
    assert cast.body("lamp").contacts
