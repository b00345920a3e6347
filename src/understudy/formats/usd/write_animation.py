"""SkelAnimation prims out of sampled animations."""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdSkel, Vt

from understudy.formats.usd import splines
from understudy.formats.usd.notes import Notes
from understudy.formats.usd.write_joints import Plan, is_half
from understudy.formats.usd.write_poses import Poses, Track

ROUNDING = 1e-5  # relative; what exporters leave of a scale of 1 is not worth a note


def author(
    stage: Usd.Stage, path: str, poses: Poses, plan: Plan | None, tokens: dict[tuple[str, str], str], notes: Notes
) -> UsdSkel.Animation:
    """One animation. `plan` says where the joints stand, `tokens` by which name each shape of a part is driven."""
    animation = UsdSkel.Animation.Define(stage, path)
    rate = stage.GetTimeCodesPerSecond()
    if len(poses.joints) and plan is not None:
        animation.CreateJointsAttr(Vt.TokenArray([plan.paths[plan.upper[int(joint)]] for joint in poses.joints]))
        translations, rotations = poses.tracks["translation"], poses.tracks["rotation"]
        _samples(animation.CreateTranslationsAttr(), translations, rate, Vt.Vec3fArray, np.float32)
        _samples(animation.CreateRotationsAttr(), rotations, rate, Vt.QuatfArray, np.float32)
        _scales(animation, poses, plan, rate, notes)
    if poses.weights is not None:
        animation.CreateBlendShapesAttr(Vt.TokenArray([tokens[key] for key in poses.shapes]))
        _samples(animation.CreateBlendShapeWeightsAttr(), poses.weights, rate, Vt.FloatArray, np.float32)
    prim = animation.GetPrim()
    prim.SetCustomDataByKey("understudy:rate", float(poses.rate))
    if poses.labels:
        prim.SetCustomDataByKey("understudy:labels", Vt.StringArray(list(poses.labels)))
    if poses.about:
        prim.SetCustomDataByKey("understudy:about", poses.about)
    if poses.moments:
        prim.SetCustomDataByKey("understudy:moment_names", Vt.StringArray(list(poses.moments)))
        prim.SetCustomDataByKey("understudy:moment_times", Vt.DoubleArray(list(poses.moments.values())))
    if poses.stepped:
        prim.SetCustomDataByKey("understudy:stepped", True)
    if poses.bent and splines.AVAILABLE:
        splines.author(prim, poses.bent, rate)
    return animation


def _scales(animation: UsdSkel.Animation, poses: Poses, plan: Plan, rate: float, notes: Notes) -> None:
    track = poses.tracks["scale"]
    values = track.values.copy()
    split = [a for a, joint in enumerate(poses.joints) if plan.upper[int(joint)] != plan.carrier[int(joint)]]
    values[:, split] = 1.0
    with np.errstate(over="ignore"):
        _samples(animation.CreateScalesAttr(), Track(track.times, values), rate, Vt.Vec3hArray, np.float16)
    if not is_half(values):
        full = animation.GetPrim().CreateAttribute("understudy:scales", Sdf.ValueTypeNames.Float3Array, custom=True)
        _samples(full, Track(track.times, values), rate, Vt.Vec3fArray, np.float32)
        with np.errstate(over="ignore"):
            error = np.abs(values.astype(np.float16) / np.where(values == 0, 1, values) - 1)[values != 0].max()
        if error > ROUNDING:
            notes.add(
                "scales that change are half floats in UsdSkel, up to 5e-4 off for other readers "
                "(understudy keeps them in full beside): {}",
                poses.name,
            )


def _samples(attribute: Usd.Attribute, track: Track, rate: float, kind: Any, dtype: Any) -> None:
    """Write the samples of one attribute; where nothing changes, only the first and the last."""
    values = np.ascontiguousarray(track.values.astype(dtype))
    times = track.times * rate
    if len(times) > 2 and (values == values[:1]).all():
        values, times = values[[0, -1]], times[[0, -1]]
    for time, value in zip(times, values):
        attribute.Set(kind.FromNumpy(value), Usd.TimeCode(float(time)))
