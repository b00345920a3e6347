from __future__ import annotations

import numpy as np
from tests.deform.rigging.shapes import box, placed

from understudy.deform.rigging.bones import bones_of
from understudy.deform.rigging.surface import VoxelSolid

SOLID = VoxelSolid.from_surface(*box([-1, -1, -1], [5, 1, 1]))


def test_a_bone_goes_to_each_child_and_a_last_one_on_to_the_skin() -> None:
    bones = bones_of(placed((0, 0, 0), (2, 0, 0), (2, 0.5, 0)), np.array([-1, 0, 0]), ["a", "b", "c"], SOLID, 7.0)
    np.testing.assert_allclose(bones.joint_of, [0, 0, 1, 2])
    np.testing.assert_allclose(bones.ends[:2], [[2, 0, 0], [2, 0.5, 0]])
    assert 4 < bones.ends[2, 0] < 5


def test_the_axis_of_a_rig_finds_the_foot_that_hangs_on_the_root() -> None:
    """Joints with X along their bones; the fourth continues the third without being its child."""
    binds = placed((-0.5, 0, 0), (0.5, 0, 0), (1.5, 0, 0), (2.5, 0, 0), (3.5, 0, 0))
    bones = bones_of(binds, np.array([-1, 0, 1, 2, -1]), list("abcde"), SOLID, 7.0)
    assert dict(zip(bones.joint_of.tolist(), bones.ends[:, 0].tolist()))[3] == 3.5


def test_nearest_place_of_a_bone() -> None:
    bones = bones_of(placed((0, 0, 0), (2, 0, 0)), np.array([-1, 0]), ["a", "b"], SOLID, 7.0)
    near = bones.nearest(0, np.array([[-1, 3, 0], [1, 3, 0], [9, 3, 0]]))
    np.testing.assert_allclose(near, [[0, 0, 0], [1, 0, 0], [2, 0, 0]])
