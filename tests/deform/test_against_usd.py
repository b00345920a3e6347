"""The deformers against OpenUSD: its own baked files, and UsdSkel's skinning of random joints."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.deform.cases import rigid_matrices, skin

from understudy.character.skinning.blend_shapes import add_shapes, prepare
from understudy.character.skinning.dual_quaternion import dual_blend
from understudy.character.skinning.linear import linear_blend

pxr = pytest.importorskip("pxr")
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt  # noqa: E402

BLEND = {"classicLinear": linear_blend, "dualQuaternion": dual_blend}


def skinned_prims(stage):
    """(mesh prim, skinning query, skeleton query) of everything that UsdSkel skins by points."""
    cache = UsdSkel.Cache()
    for root in (UsdSkel.Root(p) for p in stage.Traverse() if p.IsA(UsdSkel.Root)):
        cache.Populate(root, Usd.PrimDefaultPredicate)
        for binding in cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate):
            skeleton = cache.GetSkelQuery(binding.GetSkeleton())
            for query in binding.GetSkinningTargets():
                if query.GetPrim().IsA(UsdGeom.PointBased):
                    yield query.GetPrim(), query, skeleton


def frame_matrices(query, skeleton, time):
    """world_from_joint @ inverse_bind @ geomBindTransform for column vectors (B, 4, 4), in the mesh's joint order."""
    transforms = skeleton.ComputeSkinningTransforms(time)
    mapper = query.GetJointMapper()
    if mapper and not mapper.IsIdentity():
        transforms = mapper.RemapTransforms(transforms)
    return np.swapaxes(np.array(transforms), -1, -2), np.array(query.GetGeomBindTransform(time)).T


def mesh_from_skeleton(prim, skeleton, time):
    """Joints live in the skeleton's space; baked points in the mesh's."""
    cache = UsdGeom.XformCache(time)
    world_from_skel = np.array(cache.GetLocalToWorldTransform(skeleton.GetPrim())).T
    return np.linalg.inv(np.array(cache.GetLocalToWorldTransform(prim)).T) @ world_from_skel


@pytest.mark.parametrize("name", ["lbs", "dqs"])
def test_baked_files_of_openusd(name):
    stage = Usd.Stage.Open(str(data_file(f"usd_openusd/{name}.usda")))
    baked = Usd.Stage.Open(str(data_file(f"usd_openusd/{name}.baked.usda")))
    seen = 0
    for prim, query, skeleton in skinned_prims(stage):
        rest = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get())
        attribute = UsdGeom.PointBased(baked.GetPrimAtPath(prim.GetPath())).GetPointsAttr()
        times = attribute.GetTimeSamples()
        joints, weights = (np.array(a) for a in query.ComputeVaryingJointInfluences(len(rest)))
        k = len(joints) // len(rest)
        pairs = [frame_matrices(query, skeleton, t) for t in times]
        matrices = np.stack([m for m, _ in pairs])
        points = rest @ pairs[0][1][:3, :3].T + pairs[0][1][:3, 3]
        out = BLEND[query.GetSkinningMethod()](points, joints.reshape(-1, k), weights.reshape(-1, k), matrices)
        for f, t in enumerate(times):
            to_mesh = mesh_from_skeleton(prim, skeleton, t)
            ours = out[f] @ to_mesh[:3, :3].T + to_mesh[:3, 3]
            np.testing.assert_allclose(ours, np.array(attribute.Get(t)), atol=1e-4, err_msg=f"{prim.GetPath()} at {t}")
        seen += len(times)
    assert seen >= 100  # three meshes and a set of curves, thirty frames each


@pytest.mark.parametrize("method", list(BLEND))
@pytest.mark.parametrize("scaled", [False, True])
def test_random_joints_as_in_usdskel(method, scaled):
    rng = np.random.default_rng(7)
    v, j, w = skin(rng, 200, 4, 6)
    m = rigid_matrices(rng, 1, 6)[0]
    if scaled:
        m[:, :3, :3] = m[:, :3, :3] @ (np.eye(3) + rng.uniform(-0.3, 0.3, size=(6, 3, 3)))
        m[3, :3, 0] *= -1
    points = Vt.Vec3fArray.FromNumpy(v)
    transforms = Vt.Matrix4dArray([Gf.Matrix4d(a.T.tolist()) for a in m])
    influences = Vt.IntArray(j.ravel().tolist()), Vt.FloatArray(w.ravel().tolist())
    assert UsdSkel.SkinPoints(method, Gf.Matrix4d(1), transforms, *influences, 4, points)
    ours, theirs = BLEND[method](v, j, w, m), np.array(points)
    steady = np.abs(ours - theirs).max(axis=-1) < 1e-4
    assert steady.sum() >= 199  # one may have a joint at a right angle to its pivot, which rounds to either side


def test_baked_blend_shapes_of_openusd():
    """In-betweens become shapes of their own (sub-shapes), as UsdSkel itself evaluates them."""
    stage = Usd.Stage.Open(str(data_file("usd_openusd/blendshapes.usda")))
    baked = Usd.Stage.Open(str(data_file("usd_openusd/blendshapes.baked.usda")))
    prim, query, skeleton = next(iter(skinned_prims(stage)))
    rest = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get())
    shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(prim))
    offsets, points = shapes.ComputeSubShapePointOffsets(), shapes.ComputeBlendShapePointIndices()
    deltas = np.zeros((len(offsets), len(rest), 3), np.float32)
    for sub, offset in enumerate(offsets):
        moved = np.array(points[shapes.GetBlendShapeIndex(sub)])
        if len(offset):  # the sub-shape of the rest has none
            deltas[sub, moved if len(moved) else slice(None)] = np.array(offset)
    attribute = UsdGeom.PointBased(baked.GetPrimAtPath(prim.GetPath())).GetPointsAttr()
    times = attribute.GetTimeSamples()
    weights = np.zeros((len(times), len(offsets)))
    for f, t in enumerate(times):
        given = query.GetBlendShapeMapper().Remap(skeleton.GetAnimQuery().ComputeBlendShapeWeights(t))
        values, _, subs = shapes.ComputeSubShapeWeights(given)[-3:]
        np.add.at(weights[f], np.array(subs, dtype=int), np.array(values))
    ours = add_shapes(rest, prepare(deltas), weights)
    for f, t in enumerate(times):
        np.testing.assert_allclose(ours[f], np.array(attribute.Get(t)), atol=1e-4, err_msg=f"at {t}")
    assert np.abs(ours - rest).max() > 0.1
