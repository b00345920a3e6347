"""FBX and Blender: what it shows of our files and of other people's is what we say, at the keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree
from tests.blender.blender import Order
from tests.blender.test_exports import Trial, key_times, looked_at
from tests.data_folder import FIELD, data_files, field_file

from understudy import cast
from understudy.character import Asset
from understudy.formats import read, write

CHARACTERS = (
    *("gltf_khronos/Fox", "gltf_khronos/MorphStressTest", "gltf_kaykit/Knight", "gltf_kenney/character"),
    *("glb/Xbot", "glb/Michelle", "glb/Soldier", "glb/Wolf", "glb/Leela", "glb/Barbarian", "glb/CesiumMan"),
    *("glb/Velociraptor", "glb/Enemy_2Legs"),
)
FILES = ("Samba Dancing", "Robot", "Male_Casual", "Trex", "Frog", "Snake", "Spider")
TOLERANCE = 1e-5  # of the size; the bars are 1e-4 for what we write and 1e-3 for what we read

pytestmark = pytest.mark.skipif(not FIELD.exists(), reason="real files not found")


def gap(trial: Trial, shown) -> float:
    """The largest distance of any vertex from the nearest of the other side, of the size."""
    ours = np.concatenate([vertices for _, vertices in trial.parts()], axis=1)
    theirs = np.concatenate(list(shown.meshes.values()), axis=1)
    assert ours.shape == theirs.shape
    size = np.ptp(ours[0], axis=0).max()
    ways = [(cKDTree(a).query(b)[0].max(), cKDTree(b).query(a)[0].max()) for a, b in zip(ours, theirs)]
    return float(np.max(ways)) / size


def test_our_files_in_blender_are_what_we_baked(tmp_path: Path) -> None:
    paths = [path for name in CHARACTERS for path in (*data_files(f"{name}.glb"), *FIELD.glob(f"{name}.glb"))]
    assets = {path.stem: read(path) for path in paths} | {name: cast.load(name) for name in ("lamp", "actor")}
    assert len(assets) >= 12
    trials = {}
    for name, asset in assets.items():
        animation = asset.animations[0]
        write(Asset(asset.characters, curves=[animation]), path := tmp_path / f"{name}.fbx")
        times = key_times(animation)
        trials[name] = Trial(asset, animation, times, Order(path, None, animation.rate, times * animation.rate))
    for name, trial, shown in looked_at(trials, tmp_path):
        assert gap(trial, shown) < TOLERANCE, name


def test_blender_reads_an_fbx_file_as_we_do(tmp_path: Path) -> None:
    trials = {}
    for name in FILES:
        asset = read(path := field_file(f"fbx/{name}.fbx"))
        for animation in dict.fromkeys((asset.animations[0], asset.animations[-1])):
            times = key_times(animation)
            times = times[[0, -1]] if name == "Trex" else times  # its curves have few keys at the same times
            order = Order(path, animation.name, animation.rate, times * animation.rate)
            trials[f"{name} {animation.name}"] = Trial(asset, animation, times, order)
    for name, trial, shown in looked_at(trials, tmp_path):
        assert gap(trial, shown) < TOLERANCE, name
