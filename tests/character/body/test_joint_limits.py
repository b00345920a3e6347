from __future__ import annotations

import numpy as np
import pytest
from tests.transfer import small

from understudy.character.body.joint_limits import (
    ROTATION,
    TRANSLATION,
    degrees_of_freedom,
    find_free_joints,
    free_joints_below,
)
from understudy.character.body.markers import markers_of
from understudy.character.body.poses import poses_of
from understudy.character.kinematics import ancestors
from understudy.errors import InvalidInput


def test_what_the_poses_change_is_free() -> None:
    poses = poses_of(small.actor(1.0))
    freedom = find_free_joints(poses)
    names = poses.skeleton.names
    assert {names[j] for j in np.flatnonzero(freedom.turning)} == {"Spine", "Head", "LeftArm"}
    assert {names[j] for j in np.flatnonzero(freedom.moving)} == {"Hips"}


def test_below_the_root_all_that_carries_turns() -> None:
    body = small.hopper().character()
    freedom = free_joints_below(markers_of(body, skip=["Tail1"]), body.skeleton)
    assert [body.skeleton.names[j] for j in np.flatnonzero(freedom.turning)] == ["Base", "Trunk", "Head"]
    assert [body.skeleton.names[j] for j in np.flatnonzero(freedom.moving)] == ["Base"]


def test_a_chain_has_every_freedom_that_moves_its_end_and_no_other() -> None:
    body = small.actor().character()
    degrees = degrees_of_freedom(body.skeleton, free_joints_below(markers_of(body), body.skeleton), None)
    above = ancestors(body.skeleton.parents)
    for d in range(len(degrees.joint)):
        chain = degrees.chain[d, : degrees.depth[d] + 1]
        assert chain[-1] == d
        expected = [e for e in range(d + 1) if above[degrees.joint[d], degrees.joint[e]]]
        assert list(chain) == expected


def test_limits_leave_out_axes_and_bound_the_others() -> None:
    body = small.hopper().character()
    freedom = free_joints_below(markers_of(body, skip=["Tail1"]), body.skeleton)
    degrees = degrees_of_freedom(body.skeleton, freedom, {"Head": {"x": (-20, 30)}, "Nobody": {"x": (0, 1)}})
    head = (degrees.joint == body.skeleton.index("Head")) & (degrees.kind == ROTATION)
    assert list(degrees.axis[head]) == [0]
    np.testing.assert_allclose([degrees.low[head][0], degrees.high[head][0]], np.radians([-20, 30]))
    others = ~head
    assert np.isinf(degrees.low[others]).all() and np.isinf(degrees.high[others]).all()
    assert (degrees.kind == TRANSLATION).sum() == 3


def test_limits_that_make_no_sense_are_refused() -> None:
    body = small.hopper().character()
    freedom = free_joints_below(markers_of(body), body.skeleton)
    with pytest.raises(InvalidInput, match=r"Head.x should be low, then high"):
        degrees_of_freedom(body.skeleton, freedom, {"Head": {"x": (30, -20)}})
    with pytest.raises(InvalidInput, match="no axis of the limits of 'Head' 'w'"):
        degrees_of_freedom(body.skeleton, freedom, {"Head": {"w": (0, 1)}})
