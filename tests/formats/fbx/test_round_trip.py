"""Files that we write: read back the same, for built-in characters and for what only some files hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.fuzz.seeds import small_asset

import understudy as us
from understudy.character import (
    Asset,
    Channel,
    Character,
    Clip,
    Curve,
    Curves,
    Part,
    Skeleton,
    SkinBinding,
    kinematics,
)
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.character.rig import DirectRig
from understudy.formats import read, write
from understudy.formats.fbx.document import load
from understudy.formats.fbx.scene import FbxScene

SIZE_TOLERANCE = 1e-5  # of the character's size; weights of tangents have four decimals


def assert_same_motion(first: Asset, second: Asset, tolerance: float = SIZE_TOLERANCE) -> None:
    """Joints and vertices of all animations on every frame."""
    for before, after in zip(first.characters, second.characters, strict=True):
        assert before.skeleton.names == after.skeleton.names
        assert [part.name for part in before.parts] == [part.name for part in after.parts]
        one, two = DirectRig(before), DirectRig(after)
        for animation in first.animations:
            times = animation.frame_times()[:48]
            rows = one.pose(animation, times), two.pose(second.animation(animation.name), times)
            shapes = [(one.joints(rows[0])[..., :3, 3], two.joints(rows[1])[..., :3, 3])]
            if before.parts:
                shapes.append((one.vertices(rows[0]), two.vertices(rows[1])))
            size = max(np.ptp(points[0], axis=0).max() for points, _ in shapes)
            for points, others in shapes:
                assert np.abs(points - others).max() < tolerance * size, animation.name


@pytest.mark.parametrize("name", ("lamp", "penguin"))
def test_a_character_of_the_cast_survives(name: str, tmp_path: Path) -> None:
    asset = us.load(name)
    notes = write(asset, tmp_path / "out.fbx")
    again = read(tmp_path / "out.fbx")
    assert notes == () and again.notes == ()
    assert_same_motion(asset, again)
    for animation in asset.animations:
        copy = again.animation(animation.name)
        assert (copy.labels, copy.about, copy.rate) == (animation.labels, animation.about, animation.rate)
        assert dict(copy.moments) == dict(animation.moments)


def test_keys_and_tangents_survive(tmp_path: Path) -> None:
    lamp = us.load("lamp")
    write(lamp, tmp_path / "out.fbx")
    again = read(tmp_path / "out.fbx")
    for animation in lamp.curves:
        copies = {(c.channel.target, c.channel.kind): c for c in again.animation(animation.name).curves}
        for curve in animation.curves:
            copy = copies[curve.channel.target, curve.channel.kind]
            moving = (curve.values != curve.values[0]).any() or curve.before[..., 1].any() or curve.after[..., 1].any()
            if moving:
                assert copy.times == pytest.approx(curve.times, abs=1e-9)
                assert copy.channel.columns == curve.channel.columns


def test_everything_that_a_small_asset_holds(tmp_path: Path) -> None:
    asset = small_asset()
    write(asset, tmp_path / "out.fbx")
    again = read(tmp_path / "out.fbx")
    assert_same_motion(asset, again)
    for before, after in zip(asset.character().parts, again.character().parts, strict=True):
        assert after.mesh.triangles.tolist() == before.mesh.triangles.tolist()
        assert after.mesh.vertices == pytest.approx(before.mesh.vertices, abs=1e-6)
        for uv, copy in zip(before.mesh.uvs, after.mesh.uvs, strict=True):
            spread = uv if uv.ndim == 3 else uv[before.mesh.triangles]
            assert copy == pytest.approx(spread, abs=1e-6)
        for material, copied in zip(before.mesh.materials, after.mesh.materials, strict=True):
            assert (material.name, material.alpha_mode) == (copied.name, copied.alpha_mode)
            assert copied.roughness == pytest.approx(material.roughness) and copied.metallic == material.metallic
            picture, other = material.textures.get("colour"), copied.textures.get("colour")
            assert (picture is None) == (other is None)
            if picture is not None and other is not None:
                assert picture.image.data == other.image.data


def test_the_same_input_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a.fbx", "b.fbx"):
        write(small_asset(), tmp_path / name)
    assert (tmp_path / "a.fbx").read_bytes() == (tmp_path / "b.fbx").read_bytes()


def bar(*curves: Curve) -> Asset:
    skeleton = Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    return Asset([Character("bar", skeleton)], curves=[Curves("take", curves, rate=24)])


@pytest.mark.parametrize("order", ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx"))
def test_angles_keep_their_order_and_their_keys(order: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    times, values = [0.0, 0.5, 2.0], rng.uniform(-2, 2, (3, 3))
    lengths = np.diff(times)
    before, after = np.zeros((2, 3, 3, 2))
    after[:-1, :, 0], before[1:, :, 0] = rng.uniform(0.1, 0.9, (2, 2, 3)) * lengths[:, None]
    after[:-1, :, 1], before[1:, :, 1] = rng.uniform(-0.5, 0.5, (2, 2, 3))
    curve = Curve(Channel("tip", "euler", tuple(order)), times, values, BEZIER, before, after)
    write(bar(curve), tmp_path / "out.fbx")
    copy = read(tmp_path / "out.fbx").curves[0].curves[0]
    assert copy.channel == curve.channel and copy.times == pytest.approx(curve.times)
    probes = np.linspace(0, 2, 97)
    assert copy.sample(probes) == pytest.approx(curve.sample(probes), abs=2e-5)


def test_segments_of_all_kinds_beside_each_other(tmp_path: Path) -> None:
    before, after = np.zeros((2, 4, 3, 2))
    after[2, :, 0] = before[3, :, 0] = 1 / 3
    after[2, :, 1] = 0.7
    values = np.arange(12.0).reshape(4, 3) % 5
    segments = [STEP, LINEAR, BEZIER]
    curve = Curve(
        Channel("tip", "translation"), [0.0, 1.0, 2.0, 3.0], values, segments, before, after, ("hold", "cycle")
    )
    write(bar(curve), tmp_path / "out.fbx")
    copy = read(tmp_path / "out.fbx").curves[0].curves[0]
    probes = np.linspace(-1, 5, 121)
    assert copy.segments.tolist() == segments and copy.extrapolation == ("hold", "cycle")
    assert copy.sample(probes) == pytest.approx(curve.sample(probes), abs=1e-5)


def test_quaternions_become_angles_that_are_the_same_on_every_frame(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    turns = rng.normal(size=(7, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    clip = Clip("take", [Channel("tip", "rotation")], turns, 24)
    asset = Asset(bar(Curve(Channel("tip", "scale"), [0.0], [[1.0, 1.0, 1.0]])).characters, [clip])
    notes = write(asset, tmp_path / "out.fbx")
    again = read(tmp_path / "out.fbx")
    one, two = DirectRig(asset.character()), DirectRig(again.character())
    first, second = (rig.joints(rig.pose(a.animations[0], clip.times)) for rig, a in ((one, asset), (two, again)))
    assert first == pytest.approx(second, abs=1e-6)
    assert notes == ("rotations became angles on every frame (1)",)


def test_what_cannot_be_held_is_said(tmp_path: Path) -> None:
    curves = [
        Curve(Channel("tip", "controls", ("a",)), [0.0], [[1.0]]),
        Curve(Channel("x", "scale"), [0.0], [[1.0] * 3]),
    ]
    notes = write(bar(*curves), tmp_path / "out.fbx")
    assert any("kind controls were lost (1)" in note for note in notes)
    assert any("without a joint or shape here were lost (1)" in note for note in notes)
    assert any("'take' was lost" in note for note in notes)


def test_bones_are_bound_where_they_rest_although_a_root_is_scaled(tmp_path: Path) -> None:
    small = small_asset().character()
    old = small.skeleton
    skeleton = Skeleton(
        ["Armature", *old.names],
        [-1, *(old.parents + 1)],
        [[0, 0, 0], *old.translations],
        None,
        [[100.0] * 3, *old.scales],
    )
    parts = [
        Part(
            part.name,
            part.mesh,
            SkinBinding(part.skin.joints + 1, part.skin.inverse_binds, part.skin.influences, part.skin.weights),
        )
        for part in small.parts
    ]
    asset = Asset([Character("scaled", skeleton, parts)])
    write(asset, tmp_path / "out.fbx")
    scene = FbxScene(load(tmp_path / "out.fbx"))
    world = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    clusters = [entry for entry in scene.all("Deformer") if entry.subclass == "Cluster"]
    for cluster in clusters:  # tools pose bones by these matrices: they have to have the size of the joints
        link = scene.document.matrix(cluster.node, "TransformLink")
        rest = world[skeleton.index(cluster.name)]
        assert link is not None and link[:3, :3] == pytest.approx(rest[:3, :3])
        assert link[:3, 3] == pytest.approx(100 * rest[:3, 3])
    assert clusters
    one, two = DirectRig(asset.character()), DirectRig(read(tmp_path / "out.fbx").character())
    assert two.vertices(two.rest[None]) == pytest.approx(one.vertices(one.rest[None]), rel=1e-5, abs=1e-4)
