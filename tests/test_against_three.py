"""Baked characters equal three.js': for every glTF file of the real data, at keys and between them.

three.js follows the glTF specification exactly, also where joints are scaled unevenly, and computes in float64.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.data_folder import DATA, FIELD, data_files
from tests.judges.three import ThreeBake, three_bake

from understudy.character import Asset
from understudy.character.rig import DirectRig
from understudy.formats import read

# Wasp.glb holds weights that are no numbers, which we mend and three.js does not.
FIELD_FILES = [path for path in sorted(FIELD.glob("glb/*.glb")) if path.name != "Wasp.glb"]
FIELD_FILES += sorted(FIELD.glob("compressed/BrainStem*"))
FILES = [*data_files("gltf_*/*.glb"), *data_files("gltf_*/*.gltf"), *(p for p in FIELD_FILES if p.suffix != ".bin")]
CLIPS = 3  # at most, of one file
# The vertices are float32, whose rounding is 6e-8 of the size; the law asks for 1e-5.
VERTICES = 1e-5
# Rotations of 16 bits are off unit length by 2e-5, which three.js takes for a scale and we do not.
QUANTISED = 5e-5
# In parts of the largest entry: three.js falls back to linear interpolation for small angles, which is off by 1e-6.
MATRICES = 1e-5


def chosen_clips(asset: Asset) -> list[int]:
    """Up to three, spread over the file: first, middle and last."""
    count = len(asset.animations)
    return sorted({round(i) for i in np.linspace(0, count - 1, min(CLIPS, count))})


def chosen_times(animation) -> np.ndarray:
    """(5,) both ends, a key in between, and two times that are no keys."""
    keys = np.unique(np.concatenate([curve.times for curve in animation.curves]))
    between = animation.start + animation.duration * np.array([0.3719, 0.7363])
    return np.array([animation.start, between[0], keys[len(keys) // 2], between[1], animation.end])


def ours(asset: Asset, clip: int, times: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """(M, V, 3) vertices of all characters, and (M, 4, 4) for each joint by name."""
    animation = asset.animations[clip]
    vertices, joints = [np.zeros((len(times), 0, 3))], {}
    for character in asset.characters:
        rig = DirectRig(character)
        moved = len(rig.unmatched_channels(animation.channels)) < len(animation.channels)
        rows = rig.pose(animation, times) if moved else np.tile(rig.rest, (len(times), 1))
        vertices.append(rig.vertices(rows))
        joints |= dict(zip(character.skeleton.names, rig.joints(rows).swapaxes(0, 1)))
    return np.concatenate(vertices, axis=1), joints


def distinct_names(bake: ThreeBake) -> dict[str, int]:
    """The nodes that their name alone identifies; the reader numbers the others."""
    names = bake.node_names
    return {name: i for i, name in enumerate(names) if name and names.count(name) == 1}


@pytest.mark.skipif(not FILES, reason=f"real data not found in {DATA}; set UNDERSTUDY_TEST_DATA")
def test_there_are_files_to_compare():
    assert len(FILES) >= 30


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_baked_characters_equal_those_of_three(path: Path):
    asset = read(path)
    if not asset.animations:
        pytest.skip("no animation in this file")
    tolerance = QUANTISED if "meshopt" in path.read_bytes()[:10_000].decode("latin1") else VERTICES
    clips = chosen_clips(asset)
    times = [chosen_times(asset.animations[clip]) for clip in clips]
    theirs = three_bake([(path, list(zip(clips, times)))])[0]
    assert len(theirs.clip_names) == len(asset.animations)
    for i, clip in enumerate(clips):
        vertices, joints = ours(asset, clip, times[i])
        assert vertices.shape == theirs.vertices[i].shape
        if vertices.shape[1]:
            size = np.ptp(theirs.vertices[i].reshape(-1, 3), axis=0).max()
            assert np.abs(vertices - theirs.vertices[i]).max() <= tolerance * size, f"vertices in clip {clip}"
        compared = 0
        for name, node in distinct_names(theirs).items():
            if name in joints:
                wanted = theirs.matrices[i][:, node]
                assert np.abs(joints[name] - wanted).max() <= max(MATRICES, tolerance) * np.abs(wanted).max(), (
                    f"{name} in clip {clip}"
                )
                compared += 1
        assert compared or not any(theirs.node_names)
