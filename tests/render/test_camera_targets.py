"""What a camera is pointed at by name."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cli.conftest import flag

from understudy.character import Asset, Channel, Character, Clip, Mesh, Part, Skeleton, SkinBinding
from understudy.character.rig import DirectRig
from understudy.errors import InvalidInput
from understudy.render.camera import frame_camera, target_of
from understudy.render.take import RenderTake


def arm() -> Character:
    """Three points along x, each on the next joint of a chain; the middle one is shared."""
    skeleton = Skeleton(
        ["shoulder", "elbow", "hand", "ghost"], [-1, 0, 1, 0], [[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0]]
    )
    binds = np.stack([np.eye(4)] * 3)
    binds[:, 0, 3] = [0, -1, -2]
    weights = [[1, 0, 0], [0.7, 0.3, 0], [0, 0, 1]]
    skin = SkinBinding([0, 1, 2], binds, np.tile([0, 1, 2], (3, 1)), weights)
    mesh = Mesh("sleeve", [[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]])
    return Character("arm", skeleton, [Part("sleeve", mesh, skin)])


@pytest.mark.parametrize(
    ("name", "vertices"), [("shoulder", [0, 1, 2]), ("elbow", [2]), ("hand", [2]), ("sleeve", [0, 1, 2])]
)
def test_a_joint_is_all_that_mostly_hangs_on_it_and_a_part_is_whole(name: str, vertices: list[int]) -> None:
    assert target_of(arm(), name).vertices.tolist() == vertices


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(InvalidInput, match="no target 'foot'; available: 'sleeve', 'shoulder'"):
        target_of(arm(), "foot")
    with pytest.raises(InvalidInput, match="no vertex belongs to it"):
        target_of(arm(), "ghost")
    walk = Clip("walk", [Channel("hip", "translation")], [[0, 1, 0]], 24)
    sticks = Asset([Character("legs", Skeleton(["hip"], [-1], [[0, 1, 0]]))], [walk])
    with pytest.raises(InvalidInput, match="no character is drawn here with its mesh"):
        RenderTake.from_asset(sticks).outlines("hip")


def test_a_target_is_followed_through_the_take() -> None:
    asset = flag()
    take = RenderTake.from_asset(asset)
    name = asset.character().parts[0].name
    np.testing.assert_allclose(take.outlines(name), take.outlines())


def test_zoom_makes_things_larger_by_its_factor() -> None:
    points = np.random.default_rng(0).normal(size=(20, 3))
    camera = frame_camera(points)
    seen, zoomed = camera.project(points), camera.with_zoom(2.5).project(points)
    np.testing.assert_allclose(zoomed[:, :2], 2.5 * seen[:, :2])
    np.testing.assert_allclose(zoomed[:, 2], seen[:, 2])
    with pytest.raises(InvalidInput, match="zoom"):
        camera.with_zoom(0.0)


def test_rows_of_a_rig_are_a_take() -> None:
    asset = flag()
    rig = DirectRig(asset.character())
    rows = rig.pose(asset.animation("bend"))
    take = RenderTake.from_rows(rig, rows[:3], ["one", "two", "three"])
    np.testing.assert_allclose(take.draw(2).vertices[0], rig.vertices(rows[2:3])[0], atol=1e-6)
    assert take.captions == ["one", "two", "three"] and len(take) == 3
    with pytest.raises(InvalidInput, match="3 rows need as many captions, but 1"):
        RenderTake.from_rows(rig, rows[:3], ["one"])
    with pytest.raises(InvalidInput, match="at least one row"):
        RenderTake.from_rows(rig, rows[:0])
