"""Our reader and rig against OpenUSD: its baked files, its skinning of what we write, and its in-between weights."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file, data_files
from tests.formats.usd.cases import posed, random_asset, random_shapes

from understudy.errors import UnderstudyError
from understudy.formats import read, write
from understudy.formats.usd.context import UnitFrame

pytest.importorskip("pxr")
from pxr import Usd, UsdGeom, UsdSkel, Vt


@pytest.mark.parametrize(("name", "root"), [("lbs", "/Root"), ("dqs", "/Root"), ("blendshapes", "/TestPlane")])
def test_baked_files_of_openusd(name, root):
    asset = read(data_file(f"usd_openusd/{name}.usda"))
    baked = Usd.Stage.Open(str(data_file(f"usd_openusd/{name}.baked.usda")))
    frame = UnitFrame(UsdGeom.GetStageMetersPerUnit(baked), UsdGeom.GetStageUpAxis(baked) == "Z")
    codes = np.arange(baked.GetStartTimeCode(), baked.GetEndTimeCode() + 1)
    vertices = posed(asset, asset.curves[0], codes / baked.GetTimeCodesPerSecond())[1]
    start = 0
    for part in asset.characters[0].parts:
        points = UsdGeom.Mesh(baked.GetPrimAtPath(f"{root}/{part.name}")).GetPointsAttr()
        truth = frame.points(np.array([np.array(points.Get(code)) for code in codes], np.float64))
        ours = vertices[:, start : start + len(part.mesh.vertices)]
        start += len(part.mesh.vertices)
        # 1e-4 of the file's own unit; float32 points of size 10 leave 1e-6
        assert np.abs(ours - truth).max() < 1e-4 * frame.metres


@pytest.mark.parametrize("path", data_files("usd_openusd/*.usda"), ids=lambda path: path.stem)
def test_every_real_file_loads(path):
    asset = read(path)
    assert asset.characters and asset.format == "usd"
    left_out = any("animations of shapes that no mesh has were left out" in note for note in asset.notes)
    assert asset.curves or left_out


def skinned_by_usd(path, seconds):
    """{mesh display name: [(F, V, 3) of each mesh of that name]} as UsdSkel computes it."""
    stage = Usd.Stage.Open(str(path))
    cache = UsdSkel.Cache()
    result: dict[str, list] = {}
    for root in (UsdSkel.Root(prim) for prim in stage.Traverse() if prim.IsA(UsdSkel.Root)):
        cache.Populate(root, Usd.PrimDefaultPredicate)
        for binding in cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate):
            skeleton = cache.GetSkelQuery(binding.GetSkeleton())
            for query in binding.GetSkinningTargets():
                frames = [skinned_frame(query, skeleton, second * stage.GetTimeCodesPerSecond()) for second in seconds]
                prim = query.GetPrim()
                result.setdefault(prim.GetDisplayName() or prim.GetName(), []).append(np.array(frames))
    return result


def skinned_frame(query, skeleton, code):
    points = Vt.Vec3fArray(UsdGeom.Mesh(query.GetPrim()).GetPointsAttr().Get())
    if query.HasBlendShapes():
        shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(query.GetPrim()))
        weights = skeleton.GetAnimQuery().ComputeBlendShapeWeights(code)
        driven = dict(zip(skeleton.GetAnimQuery().GetBlendShapeOrder(), weights))
        weights = Vt.FloatArray([driven.get(token, 0.0) for token in query.GetBlendShapeOrder()])
        shapes.ComputeDeformedPoints(
            *shapes.ComputeSubShapeWeights(weights),
            shapes.ComputeBlendShapePointIndices(),
            shapes.ComputeSubShapePointOffsets(),
            points,
        )
    transforms = skeleton.ComputeSkinningTransforms(code)
    if query.IsRigidlyDeformed():
        matrix = np.array(query.ComputeSkinnedTransform(transforms, code)).T
        return np.array(points) @ matrix[:3, :3].T + matrix[:3, 3]
    assert query.ComputeSkinnedPoints(transforms, points, code)
    return np.array(points)


@pytest.mark.parametrize("seed", range(4))
def test_usdskel_sees_the_same_motion_in_what_we_write(tmp_path, seed):
    rng = np.random.default_rng(seed)
    asset = random_asset(rng, scales=(0.3, 3.0))  # joints that turn at scales no half float holds
    path = tmp_path / "file.usda"
    assert not write(asset, path)
    seconds = rng.uniform(0, 20 / 24, size=9)
    vertices = posed(asset, asset.animations[0], seconds)[1]
    theirs = skinned_by_usd(path, seconds)
    start = 0
    for part in asset.characters[0].parts:
        ours = vertices[:, start : start + len(part.mesh.vertices)]
        start += len(part.mesh.vertices)
        # UsdSkel computes in float32
        assert np.abs(ours - theirs[part.name].pop(0)).max() < 1e-5 * np.abs(vertices).max()


@pytest.mark.parametrize("weight", [-3, -0.7, -0.5, -0.2, 0, 0.25, 0.5, 0.8, 1, 1.2, 1.5, 2.5])
def test_in_between_weights_are_those_of_usdskel(tmp_path, weight):
    asset = random_asset(np.random.default_rng(0))
    path = tmp_path / "file.usda"
    write(asset, path)
    stage = Usd.Stage.Open(str(path))
    shapes = random_shapes(np.random.default_rng(0), 12)
    query = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(stage.GetPrimAtPath("/hero/body")))
    offsets = query.ComputeSubShapePointOffsets()
    found = np.zeros((12, 3))
    own = asset.characters[0].parts[0].mesh.shapes
    indices = query.ComputeBlendShapePointIndices()
    for share, shape, sub in zip(*query.ComputeSubShapeWeights(Vt.FloatArray([weight, weight]))):
        found[np.array(indices[shape])] += share * np.array(offsets[sub])
    shares = own.target_weights(np.full((1, 2), float(weight)))[0]
    np.testing.assert_allclose(np.einsum("p,pvc->vc", shares, own.deltas), found, atol=1e-5)
    assert own.stop_of.tolist() == shapes.stop_of.tolist()


def test_an_extra_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("understudy.formats.usd.library.importlib.util.find_spec", lambda name: None)
    (tmp_path / "a.usda").write_text("#usda 1.0\n")
    with pytest.raises(UnderstudyError, match=r"understudy\[usd\]"):
        read(tmp_path / "a.usda")
