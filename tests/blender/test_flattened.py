"""Blender shows the flattened dragon as its rig moves it, from glTF and from USD."""

from __future__ import annotations

import numpy as np
import pytest
from tests.blender.blender import Order, look

from understudy import cast
from understudy.character import Asset
from understudy.character.rig import LayeredRig, flatten_asset
from understudy.formats import write

TOLERANCE = 1.05e-3  # of the height: what flattening may cost, and Blender's single precision


@pytest.mark.parametrize("ending", [".glb", ".usdc"])
def test_the_dragon_in_blender_moves_as_its_rig_does(tmp_path, ending):
    if ending == ".usdc":
        pytest.importorskip("pxr")
    dragon = cast.load("dragon")
    animation = dragon.animations[0]
    flat = flatten_asset(Asset(dragon.characters, curves=[animation]))
    path = tmp_path / f"dragon{ending}"
    write(flat, path)
    rig = LayeredRig(dragon.characters[0])
    frames = np.linspace(0, animation.frame_count - 1, 5).astype(int)
    expected = rig.vertices(rig.pose(animation)[frames])
    clip = animation.name if ending == ".glb" else None
    [shown] = look([Order(path, clip, animation.rate, frames)], tmp_path)
    meshes = {name.removesuffix(".001"): vertices for name, vertices in shown.meshes.items()}
    start, height = 0, np.ptp(expected[0, :, 1])
    for part in dragon.characters[0].parts:
        own = expected[:, start : start + len(part.mesh.vertices)]
        seen = meshes[part.name][:, : own.shape[1]]  # seams are split behind the vertices
        assert np.linalg.norm(seen - own, axis=2).max() < TOLERANCE * height, part.name
        start += own.shape[1]
