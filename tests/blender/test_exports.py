"""Our files opened in Blender: its vertices and bones at key times are ours.

Blender bakes scaled joints in its own way and interpolates rotations otherwise between keys, so characters without
joint scale are compared, at their keys.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.blender.blender import Order, Shown, look
from tests.data_folder import DATA, data_files

from understudy import cast
from understudy.character import Asset, Clip, Curves
from understudy.character.rig import DirectRig
from understudy.formats import read, write

CHARACTERS = [
    *data_files("gltf_quaternius/*.glb"),
    *data_files("gltf_khronos/Fox.glb"),
    *data_files("gltf_khronos/RiggedFigure.glb"),
    *data_files("gltf_khronos/MorphStressTest.glb"),
    *data_files("gltf_kaykit/Knight.glb"),
    *data_files("gltf_kenney/character.glb"),
]
MOTIONS = data_files("bvh_cmu/02_*.bvh")
FRAMES = 5
TOLERANCE = 1e-4  # of the height; Blender keeps float32 throughout, which leaves 1e-6 to 1e-5 at the end of a chain
# Of the length of a bone's axes. Blender keeps a bone as head, tail and roll in float32: a bone of 1 mm, as under an
# armature scaled by 100, is turned by up to 1e-4.
AXES = 5e-4
UNSCALED = 1e-3  # a scale that is 1 but for rounding in the exporter

pytestmark = pytest.mark.skipif(not CHARACTERS, reason=f"real data not found in {DATA}; set UNDERSTUDY_TEST_DATA")


@dataclass
class Trial:
    """One animation of one exported file: what we say of it."""

    asset: Asset
    animation: Curves | Clip
    times: np.ndarray  # (M,) seconds
    order: Order  # the same for Blender
    unit: float = 1.0  # metres in one of Blender's units

    def posed(self):
        """Each character's rig with its rows at the times."""
        for character in self.asset.characters:
            rig = DirectRig(character)
            moved = len(rig.unmatched_channels(self.animation.channels)) < len(self.animation.channels)
            yield rig, rig.pose(self.animation, self.times) if moved else np.tile(rig.rest, (len(self.times), 1))

    def parts(self) -> list[tuple[str, np.ndarray]]:
        """The name and the vertices (M, V, 3) of each part."""
        found = []
        for rig, rows in self.posed():
            ends = np.cumsum([len(part.mesh.vertices) for part in rig.character.parts])
            pieces = np.split(rig.vertices(rows), ends[:-1], axis=1)
            found += [(part.name, piece) for part, piece in zip(rig.character.parts, pieces)]
        return found

    def joints(self) -> dict[str, np.ndarray]:
        """(M, 4, 4) of each joint."""
        named = {}
        for rig, rows in self.posed():
            named |= dict(zip(rig.character.skeleton.names, rig.joints(rows).swapaxes(0, 1)))
        return named


def key_times(animation: Curves | Clip) -> np.ndarray:
    """(M,) times at which every moving curve has a key, the first and the last among them."""
    if isinstance(animation, Clip):
        times = animation.times
    else:
        moving = [curve.times for curve in animation.curves if len(curve) > 2] or [animation.curves[0].times]
        times = moving[0]
        for others in moving[1:]:
            nearest = others[np.clip(np.searchsorted(others, times - 1e-5), 0, len(others) - 1)]
            times = times[np.abs(nearest - times) < 1e-5]
    return times[np.unique(np.linspace(0, len(times) - 1, FRAMES).astype(int))]


def scale_of(asset: Asset, animation: Curves | Clip, skinned_only: bool) -> float:
    """How far any joint (or any joint of a skin) is from a scale of 1 in this animation."""
    furthest = 0.0
    for character in asset.characters:
        chosen = character.joints if skinned_only else np.arange(len(character.skeleton))
        names = {character.skeleton.names[j] for j in chosen}
        furthest = max(furthest, float(np.abs(character.skeleton.scales[chosen] - 1).max(initial=0)))
        for curve in animation.curves if isinstance(animation, Curves) else ():
            if curve.channel.kind == "scale" and curve.channel.target in names:
                furthest = max(furthest, float(np.abs(curve.values - 1).max()))
    return furthest


def trials_of(ending: str, folder: Path, skinned_only: bool) -> dict[str, Trial]:
    """The first and the last animation of each character without joint scale, written by us in one format."""
    trials = {}
    # the lamp; the flattened dragon is looked at in test_flattened.py
    assets = {source.stem: read(source) for source in CHARACTERS} | {"lamp": cast.load("lamp")}
    for source, asset in assets.items():
        for number, animation in enumerate(dict.fromkeys((asset.animations[0], asset.animations[-1]))):
            times = key_times(animation)
            if scale_of(asset, animation, skinned_only) > UNSCALED or not len(times):
                continue
            # one animation a file: Blender leaves what the next one does not move where the last one put it
            path = folder / f"{source}_{number}{ending}"
            write(Asset(asset.characters, curves=[animation]), path)
            clip = animation.name if ending == ".glb" else None
            order = Order(path, clip, animation.rate, times * animation.rate)
            trials[f"{source} {animation.name}"] = Trial(asset, animation, times, order)
    return trials


def looked_at(trials: dict[str, Trial], folder: Path) -> list[tuple[str, Trial, Shown]]:
    """Each trial with what Blender shows of it."""
    shown = look([trial.order for trial in trials.values()], folder)
    return [(name, trial, seen) for (name, trial), seen in zip(trials.items(), shown)]


def whole_objects(parts: list[tuple[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """In glTF the parts of one name are pieces of one mesh."""
    names = dict.fromkeys(name for name, _ in parts)
    return {name: np.concatenate([piece for n, piece in parts if n == name], axis=1) for name in names}


def plain(name: str) -> str:
    """A name as USD allows it."""
    return re.sub(r"\W|^\d", "_", name)


def separate_objects(parts: list[tuple[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """In USD each part is a mesh, the second of one name with _2 behind it."""
    found: dict[str, np.ndarray] = {}
    for name, piece in parts:
        taken = next(n for n in (plain(name), *(f"{plain(name)}_{k}" for k in range(2, 100))) if n not in found)
        found[taken] = piece
    return found


def mesh_error(ours: dict[str, np.ndarray], shown: Shown) -> float:
    """The largest distance of any vertex, in parts of the height."""
    size = max(np.ptp(v.reshape(-1, 3), axis=0).max() for v in ours.values())
    assert set(ours) <= set(shown.meshes)
    assert all(shown.meshes[name].shape == vertices.shape for name, vertices in ours.items())
    return max(np.abs(shown.meshes[name] - vertices).max() / size for name, vertices in ours.items())


def bone_errors(trial: Trial, shown: Shown, turned_from_rest: bool = False) -> tuple[float, float]:
    """The largest error of a bone's place, in parts of the height, and of its axes, in parts of their length.

    Where an importer gives bones axes of its own, their turn away from the rest pose is compared.
    """
    ours = trial.joints()
    points = [m[:, :3, 3] for m in ours.values()] + [vertices.reshape(-1, 3) for _, vertices in trial.parts()]
    size = np.ptp(np.concatenate(points), axis=0).max()
    names = Counter(map(plain, ours))
    ours |= {plain(name): matrices for name, matrices in ours.items() if names[plain(name)] == 1}
    both = set(shown.bones) & set(ours)
    assert len(both) >= 0.7 * len(shown.bones)  # USD adds joints that carry a scale, and renames a few
    places, turns = [0.0], [0.0]
    for name in both:
        bone, axes = shown.bones[name], ours[name][:, :3, :3]
        seen = bone[:, :3, :3] @ np.linalg.inv(shown.bones_rest[name][:3, :3]) if turned_from_rest else bone[:, :3, :3]
        places.append(np.abs(bone[:, :3, 3] * trial.unit - ours[name][:, :3, 3]).max() / size)
        turns.append(np.abs(seen - axes).max() / np.abs(axes).max())
    return max(places), max(turns)


def test_glb_in_blender_is_what_we_baked(tmp_path):
    trials = trials_of(".glb", tmp_path, skinned_only=True)
    assert len({trial.order.path.stem[:-2] for trial in trials.values()}) >= 8
    for name, trial, shown in looked_at(trials, tmp_path):
        assert mesh_error(whole_objects(trial.parts()), shown) < TOLERANCE, name
        place, turn = bone_errors(trial, shown)
        assert place < TOLERANCE, name
        assert turn < AXES, name


def test_usd_in_blender_is_what_we_baked(tmp_path):
    pytest.importorskip("pxr")
    trials = trials_of(".usdc", tmp_path, skinned_only=False)
    assert len(trials) >= 4
    for name, trial, shown in looked_at(trials, tmp_path):
        assert mesh_error(separate_objects(trial.parts()), shown) < TOLERANCE, name
        place, turn = bone_errors(trial, shown)
        assert place < TOLERANCE, name
        assert turn < AXES, name


def test_bvh_in_blender_is_what_we_read(tmp_path):
    trials = {}
    for source in MOTIONS:
        asset = read(source)
        clip = asset.clip()
        path = tmp_path / source.name
        write(asset, path)
        frames = np.linspace(0, len(clip) - 1, FRAMES).astype(int)
        # we write centimetres; Blender calls the first frame 1
        trials[source.name] = Trial(asset, clip, clip.times[frames], Order(path, None, clip.rate, frames + 1), 0.01)
    assert trials
    for name, trial, shown in looked_at(trials, tmp_path):
        assert set(shown.bones) == set(trial.joints())
        place, turn = bone_errors(trial, shown, turned_from_rest=True)
        assert place < TOLERANCE, name
        assert turn < AXES, name
