from __future__ import annotations

import numpy as np
import pytest
from tests.retarget.small import hopper, pairs, source

from understudy.errors import InvalidInput
from understudy.retarget.baselines import GaussianProcess
from understudy.retarget.markers import markers_of
from understudy.retarget.source import Source
from understudy.retarget.starting_pose import starting_pose


@pytest.mark.parametrize("with_pairs", [False, True])
def test_place_and_facing_are_the_actors(with_pairs: bool) -> None:
    given, target = source(), hopper().character()
    known = pairs() if with_pairs else None
    mapping = GaussianProcess.learn(known) if known is not None else None
    pose = starting_pose(given, 40, target, pairs=known, mapping=mapping)
    frame = markers_of(target).frames(pose.world)[0]
    np.testing.assert_allclose(frame[:3, 2], given.frames[40, :3, 2], atol=0.05)
    np.testing.assert_allclose(frame[:3, 3], given.frames[40, :3, 3], atol=0.05)


def test_the_face_looks_where_the_actors_does() -> None:
    given, target = source(), hopper().character()
    assert given.poses is not None
    pose = starting_pose(given, 40, target)
    ours = pose.world[0, target.skeleton.index("Head"), :3, 2]
    theirs = given.poses.world[40, given.poses.skeleton.index("Head"), :3, 2]
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_bare_markers_give_place_and_facing() -> None:
    given, target = source(), hopper().character()
    bare = Source("cloud", given.points, given.frames, 30.0, None, given.names)
    pose = starting_pose(bare, 10, target)
    np.testing.assert_allclose(markers_of(target).frames(pose.world)[0], given.frames[10], atol=1e-9)


def test_frames_outside_the_motion_are_refused() -> None:
    with pytest.raises(InvalidInput, match="between 0 and 89"):
        starting_pose(source(), 90, hopper().character())
