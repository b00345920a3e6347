from __future__ import annotations

import numpy as np
import pytest
from tests.transfer.small import hopper, pairs, source

from understudy.character.body.markers import markers_of
from understudy.errors import InvalidInput
from understudy.transfer.mapping import fit_regression
from understudy.transfer.pose_suggestions import find_starting_pose
from understudy.transfer.source import SourceMotion


@pytest.mark.parametrize("with_pairs", [False, True])
def test_place_and_facing_are_the_actors(with_pairs: bool) -> None:
    given, target = source(), hopper().character()
    known = pairs() if with_pairs else None
    mapping = fit_regression(known) if known is not None else None
    pose = find_starting_pose(given, 40, target, pairs=known, mapping=mapping)
    frame = markers_of(target).frames(pose.world)[0]
    np.testing.assert_allclose(frame[:3, 2], given.frames[40, :3, 2], atol=0.05)
    np.testing.assert_allclose(frame[:3, 3], given.frames[40, :3, 3], atol=0.05)


def test_the_face_looks_where_the_actors_does() -> None:
    given, target = source(), hopper().character()
    assert given.poses is not None
    pose = find_starting_pose(given, 40, target)
    ours = pose.world[0, target.skeleton.index("Head"), :3, 2]
    theirs = given.poses.world[40, given.poses.skeleton.index("Head"), :3, 2]
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_bare_markers_give_place_and_facing() -> None:
    given, target = source(), hopper().character()
    bare = SourceMotion("cloud", given.points, given.frames, 30.0, None, given.names)
    pose = find_starting_pose(bare, 10, target)
    np.testing.assert_allclose(markers_of(target).frames(pose.world)[0], given.frames[10], atol=1e-9)


def test_frames_outside_the_motion_are_refused() -> None:
    with pytest.raises(InvalidInput, match="between 0 and 89"):
        find_starting_pose(source(), 90, hopper().character())
