"""Animated transforms of prims above skeletons and meshes, as curves of the joints that stand for them.

Where the transform is made of a translation, a quaternion and a scale, in this order, its samples are exact keys. Euler
angles, matrices and pivots interpolate in their own ways: those are baked at the stage's frames.
"""

from __future__ import annotations

import numpy as np
from pxr import Usd, UsdGeom

from understudy.character import Channel, Curve, Skeleton
from understudy.checks import LARGEST_NUMBER, Array
from understudy.formats.usd.read_joints import Joints
from understudy.formats.usd.reading import LARGEST_TIME, Reading
from understudy.maths import quaternion, transform

SIMPLE = {"xformOp:translate": 0, "xformOp:orient": 1, "xformOp:scale": 2}
MOST_FRAMES = 100_000


def curves(reading: Reading, joints: Joints, skeleton: Skeleton) -> list[Curve]:
    """The curves of every joint that stands for a moving transform."""
    result = []
    for joint, xformable in joints.moving:
        codes = _codes(reading, xformable)
        reading.take(xformable.GetPrim(), 16 * len(codes))
        matrices = np.array([np.array(xformable.GetLocalTransformation(Usd.TimeCode(code))).T for code in codes])
        if not (np.abs(matrices) <= LARGEST_NUMBER).all():
            raise reading.bad(xformable.GetPrim(), "the transform should hold finite numbers at all times")
        translations, rotations, scales = transform.decompose(reading.frame.matrices(matrices))
        for kind, values in (
            ("translation", translations),
            ("rotation", quaternion.unroll(rotations)),
            ("scale", scales),
        ):
            if np.abs(values - values[:1]).max() > 1e-12 or kind == "translation":
                result.append(Curve(Channel(skeleton.names[joint], kind), reading.seconds(codes), values))
    return result


def _codes(reading: Reading, xformable: UsdGeom.Xformable) -> Array:
    """The time codes of the keys: the samples, and all frames between them where interpolation is not ours."""
    samples = np.array(xformable.GetTimeSamples(), np.float64)
    if not (np.abs(samples) <= LARGEST_TIME).all():
        raise reading.bad(xformable.GetPrim(), "the times of the transform should be finite")
    places = [SIMPLE.get(str(op.GetOpName()), -1) for op in xformable.GetOrderedXformOps()]
    if places == sorted(places) and -1 not in places:
        return samples
    first, last = samples[0], samples[-1]
    if last - first > MOST_FRAMES:
        raise reading.bad(
            xformable.GetPrim(), f"moves over {last - first:.0f} frames, but at most {MOST_FRAMES:,} are baked"
        )
    reading.note(
        f"moving transforms were baked at {reading.codes_per_second:g} frames a second: {{}}",
        xformable.GetPrim().GetName(),
    )
    return np.union1d(samples, np.arange(np.ceil(first), np.floor(last) + 1))
