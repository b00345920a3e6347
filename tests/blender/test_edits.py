"""What the studio's page showed of an edited clip is what Blender shows of the file that was exported.

Blender's importer drops the tangents of glTF's cubic splines, so for other programs the studio writes a key on every
frame: compared are all frames, against the motion curves as they went to the page.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.blender.blender import Order, look
from tests.data_folder import data_file
from tests.studio.edit.robot import robot

from understudy.character import Asset, Curves, rig
from understudy.edit.goals import Pin, Point
from understudy.edit.reduce import reduce_keys
from understudy.edit.solver.free_columns import RigCache, character_size
from understudy.formats import read
from understudy.render.viewport.surface import FramePacker
from understudy.studio.edit.constraints import Constraints
from understudy.studio.edit.drags import DragTarget, PointDrag
from understudy.studio.edit.view import EditView
from understudy.studio.export import key_every_frame, write_asset

TOLERANCE = 1e-3  # of the height


def fox() -> tuple[Asset, Curves]:
    asset = read(data_file("gltf_khronos/Fox.glb"))
    own = rig.rig_of(asset.characters[0])
    walk = next(each for each in asset.curves if each.name == "Walk")
    return asset, reduce_keys(walk, own, tolerance=0.01 * character_size(own), rotations="euler").curves


def flying() -> tuple[Asset, Curves]:
    asset = robot()
    return asset, asset.curves[0]


@pytest.mark.parametrize(
    ("make", "moved", "pinned"),
    [
        (flying, "hand.L", ()),
        (fox, "b_RightHand_08", ("b_LeftHand_011", "b_LeftFoot02_018", "b_RightFoot02_022")),
    ],
)
def test_blender_shows_what_the_page_showed(make, moved: str, pinned: tuple[str, ...], tmp_path: Path) -> None:
    asset, curves = make()
    character = asset.characters[0]
    own = rig.rig_of(character)
    size = character_size(own)
    ground = RigCache(own)
    view = EditView(ground, FramePacker(own), curves, curves.start, curves.duration)
    points = [Point(name) for name in (moved, *pinned)]
    view.show_points(list(enumerate(points)))
    held = Constraints(tuple(Pin(point, orientation=False) for point in points[1:]), (), (), (), {})
    time = curves.start + 0.4 * curves.duration
    gesture = PointDrag(ground, curves, points[0], time, False, held, "smooth")
    step = gesture.drag(DragTarget(to=tuple(np.add(gesture.place, (0.0, 0.04 * size, 0.02 * size)))))
    view.show(step.curves)
    assert step.distance < 0.02 * size and np.abs(step.curves.sample([time]) - curves.sample([time])).max() > 1e-4
    edited = Curves("edited", step.curves.curves, rate=step.curves.rate)
    write_asset(character, [key_every_frame(edited)], tmp_path / "edited.glb", lambda done, total: None)
    frames = np.arange(view.frame_count)
    [shown] = look([Order(tmp_path / "edited.glb", "edited", edited.rate, frames.tolist())], tmp_path)
    vertices = own.vertices(own.rest[None])[0]
    height = float(np.ptp(vertices[:, 1]))
    for number, point in enumerate(points):
        there = shown.bones[point.joint][:, :3, 3]
        assert np.abs(there - view._paths.places[number]).max() < TOLERANCE * height, point.joint
