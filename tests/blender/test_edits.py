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

from understudy import rig
from understudy.character import Asset, Curves
from understudy.formats import read
from understudy.keyframes.freedom import character_size
from understudy.keyframes.goals import Pin, Point
from understudy.keyframes.ground import Ground
from understudy.keyframes.reduce import reduce
from understudy.studio.edit.gestures import Drag, Goal
from understudy.studio.edit.holding import Held
from understudy.studio.edit.view import View
from understudy.studio.exporting import on_every_frame, write_asset
from understudy.studio.stage.packing import Packer

TOLERANCE = 1e-3  # of the height


def fox() -> tuple[Asset, Curves]:
    asset = read(data_file("gltf_khronos/Fox.glb"))
    own = rig.of(asset.characters[0])
    walk = next(each for each in asset.curves if each.name == "Walk")
    return asset, reduce(walk, own, 0.01 * character_size(own), rotations="euler").curves


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
    own = rig.of(character)
    size = character_size(own)
    ground = Ground(own)
    view = View(ground, Packer(own), curves, curves.start, curves.duration)
    points = [Point(name) for name in (moved, *pinned)]
    view.show_points(list(enumerate(points)))
    held = Held(tuple(Pin(point, orientation=False) for point in points[1:]), (), (), (), {})
    time = curves.start + 0.4 * curves.duration
    gesture = Drag(ground, curves, points[0], time, False, held, "smooth")
    step = gesture.drag(Goal(to=tuple(np.add(gesture.place, (0.0, 0.04 * size, 0.02 * size)))))
    view.show(step.curves)
    assert step.distance < 0.02 * size and np.abs(step.curves.sample([time]) - curves.sample([time])).max() > 1e-4
    edited = Curves("edited", step.curves.curves, rate=step.curves.rate)
    write_asset(character, [on_every_frame(edited)], tmp_path / "edited.glb", lambda done, total: None)
    frames = np.arange(view.frame_count)
    [shown] = look([Order(tmp_path / "edited.glb", "edited", edited.rate, frames.tolist())], tmp_path)
    vertices = own.vertices(own.rest[None])[0]
    height = float(np.ptp(vertices[:, 1]))
    for number, point in enumerate(points):
        there = shown.bones[point.joint][:, :3, 3]
        assert np.abs(there - view._paths.places[number]).max() < TOLERANCE * height, point.joint
