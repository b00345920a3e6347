"""Every real file, written and read again: the same joints, vertices, looks and keys, frame by frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import DATA, data_files

from understudy.character import Asset, Character
from understudy.character.rig.rig import DirectRig
from understudy.formats import gltf

FILES = [*data_files("gltf_*/*.glb"), *data_files("gltf_*/*.gltf")]


@pytest.mark.skipif(not FILES, reason=f"real data not found in {DATA}; set UNDERSTUDY_TEST_DATA")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_round_trip(path: Path, tmp_path: Path) -> None:
    asset = gltf.read(path)
    ending = ".gltf" if path.suffix == ".glb" and path.stat().st_size < 10**5 else ".glb"
    written = tmp_path / f"{path.stem}{ending}"
    notes = gltf.write(asset, written)
    assert all("its bytes are missing" in note for note in notes)
    again = gltf.read(written)
    assert not [note for note in again.notes if "shared" in note or "normalised" in note]
    assert [c.name for c in again.characters] == [c.name for c in asset.characters]
    for before, after in zip(asset.characters, again.characters):
        check_looks(before, after)
        check_motion(asset, again, before, after)


def check_looks(before: Character, after: Character) -> None:
    assert after.skeleton.names == before.skeleton.names and after.joints.tolist() == before.joints.tolist()
    assert (after.triangles == before.triangles).all()
    for a, b in zip(before.parts, after.parts, strict=True):
        assert a.name == b.name and a.mesh.name == b.mesh.name
        assert (a.mesh.vertices == b.mesh.vertices).all()
        assert len(a.mesh.uvs) == len(b.mesh.uvs)
        assert all((x == y).all() for x, y in zip(a.mesh.uvs, b.mesh.uvs))
        for x, y in (
            (a.mesh.colours, b.mesh.colours),
            (a.mesh.tangents, b.mesh.tangents),
            (a.mesh.normals, b.mesh.normals),
        ):
            assert (x is None) == (y is None)
            assert x is None or np.abs(x - y).max() < 1e-3  # off by this where the file's own were not of unit length
        for x, y in zip(a.mesh.materials, b.mesh.materials, strict=True):
            assert (x.name, x.colour, x.metallic, x.roughness) == (y.name, y.colour, y.metallic, y.roughness)
            assert [t.image.data for t in x.textures.values() if t.image.data] == [
                t.image.data for t in y.textures.values()
            ]
        assert (a.skin.weights == b.skin.weights).all() and (a.skin.influences == b.skin.influences).all()


def check_motion(asset: Asset, again: Asset, before: Character, after: Character) -> None:
    assert [c.name for c in again.curves] == [c.name for c in asset.curves]
    rig, rig_again = DirectRig(before), DirectRig(after)
    for a, b in zip(asset.curves, again.curves):
        assert a.channels == b.channels and a.rate == b.rate and a.labels == b.labels
        if len(rig.unmatched_channels(a.channels)) == len(a.channels):
            continue
        frames = a.frame_times()
        rows, rows_again = rig.pose(a, frames), rig_again.pose(b, frames)
        assert np.abs(rig.joints(rows) - rig_again.joints(rows_again)).max() <= 1e-6
        points, points_again = rig.vertices(rows), rig_again.vertices(rows_again)
        if points.size:
            assert np.abs(points - points_again).max() <= 1e-5 * np.ptp(points.reshape(-1, 3), axis=0).max()
