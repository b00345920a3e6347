"""Reading animation: SkelAnimation prims and animated transforms to curves, one for each joint and kind.

**SkelAnimation.** Time samples hold arrays of whole poses. USD interpolates them linearly (rotations by slerp), so
every sample is a key and every segment linear. A channel that only repeats the rest pose is left out, and one that does
not change keeps its first and last key. Samples are shared by all joints; our writer puts a twin sample just before a
stepped key, which becomes a stepped segment again here.

**Transforms** of prims above skeletons and meshes become curves of the joints that replace them. Where the transform is
made of a translation, a quaternion and a scale, in this order, its samples are exact keys. Euler angles, matrices and
pivots interpolate otherwise: those are baked at the stage's frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel

from understudy.character import Channel, Curve, Skeleton
from understudy.character.curve import LINEAR, STEP
from understudy.checks import LARGEST_NUMBER, NEAR_UNIT, Array, freeze
from understudy.formats.usd.context import EARLIEST, MAX_TIME_CODE, ReadContext
from understudy.formats.usd.read_skeleton import SkeletonBuilder, UsdJoints
from understudy.maths import quaternion, transform

MAX_FRAMES = 100_000  # of a transform that is baked

MIN_SAMPLE_GAP_TIME_CODES = 2e-4  # closer samples are a jump (our writer leaves 1e-4)
REST_TOLERANCE_RATIO = 2e-7  # two steps of float32
VALUES_PER_JOINT = {"translations": 3, "rotations": 4, "scales": 3}
KIND_PER_ATTRIBUTE = {"translations": "translation", "rotations": "rotation", "scales": "scale"}

# Transform operations, in the order in which their samples are exact keys.
SIMPLE_OP_ORDER = {"xformOp:translate": 0, "xformOp:orient": 1, "xformOp:scale": 2}


@dataclass
class Samples:
    """One array-valued attribute over time."""

    times: Array  # (K,) time codes
    values: Array  # (K, N, width) or (K, N), in metres and Y up
    stepped: bool  # whether twin samples mean jumps


def joint_curves(
    reading: ReadContext, prim: Usd.Prim, bones: UsdJoints | None, skeleton: Skeleton | None, keep_rest: bool = False
) -> list[Curve]:
    """The curves of a SkelAnimation, named as the character names its joints, or by path where there is no skeleton."""
    animation = UsdSkel.Animation(prim)
    paths = reading.tokens(animation.GetJointsAttr()) or ()
    driven = _match_joints(reading, prim, paths, bones, skeleton)
    curves: list[Curve] = []
    for name, attribute in (
        ("translations", animation.GetTranslationsAttr()),
        ("rotations", animation.GetRotationsAttr()),
        ("scales", _scales(animation)),
    ):
        samples = _samples(reading, attribute, len(paths), VALUES_PER_JOINT[name]) if driven else None
        if samples is None:
            if driven:
                reading.note(f"animations without {name} keep those of the rest pose: {{}}", prim.GetName())
            continue
        still = (samples.values == samples.values[:1]).all(axis=(0, 2))
        for a, target, joint, stretched in driven:
            if name == "scales" and stretched:
                continue  # the joint's scale is constant and held by its helper joint
            rest = None if skeleton is None or keep_rest else _rest(skeleton, joint, name)
            if still[a] and rest is not None and _same(name, samples.values[0, a], rest):
                continue
            curves.append(
                _curve(
                    reading, Channel(target, KIND_PER_ATTRIBUTE[name]), samples, samples.values[:, a], bool(still[a])
                )
            )
    return curves


def _match_joints(
    reading: ReadContext, prim: Usd.Prim, paths: tuple[str, ...], bones: UsdJoints | None, skeleton: Skeleton | None
) -> list[tuple[int, str, int, bool]]:
    """(place in the animation, name, number in the character, whether a helper joint holds its scale) of each joint."""
    if bones is None or skeleton is None:
        names = reading.distinct([path.rsplit("/", 1)[-1] for path in paths], "joint")
        return [(a, name, -1, False) for a, name in enumerate(names)]
    result = []
    for a, path in enumerate(paths):
        i = bones.index.get(path, -1)
        if i >= 0:
            joint = int(bones.joints[i])
            result.append((a, skeleton.names[joint], joint, bool(bones.stretch[i] >= 0)))
    if len(result) < len(paths):
        lost = len(paths) - len(result)
        reading.note(f"animation {prim.GetName()} moves {lost} joints that skeleton {bones.prim.GetName()} lacks")
    return result


def _scales(animation: UsdSkel.Animation) -> Usd.Attribute:
    """UsdSkel's scales are half floats; our writer adds an attribute of full floats where that loses precision."""
    full = animation.GetPrim().GetAttribute("understudy:scales")
    return full if full and full.HasAuthoredValue() else animation.GetScalesAttr()


def _rest(skeleton: Skeleton, joint: int, name: str) -> Array:
    rest: Array = getattr(skeleton, name)
    return rest[joint]


def weight_samples(reading: ReadContext, prim: Usd.Prim) -> tuple[tuple[str, ...], Samples | None]:
    """The names of the shapes that a SkelAnimation drives, and their weights over time (K, N)."""
    animation = UsdSkel.Animation(prim)
    tokens = reading.tokens(animation.GetBlendShapesAttr()) or ()
    if not tokens:
        return (), None
    return tokens, _samples(reading, animation.GetBlendShapeWeightsAttr(), len(tokens), None)


def weight_curve(reading: ReadContext, channel: Channel, samples: Samples, columns: list[int]) -> Curve:
    """The curve of some of the weights."""
    values = samples.values[:, columns]
    return _curve(reading, channel, samples, values, bool((values == values[:1]).all()))


def _samples(reading: ReadContext, attribute: Usd.Attribute, count: int, width: int | None) -> Samples | None:
    """All samples of an attribute, or its one value at the start of the stage; None where it has no value."""
    if not attribute or not attribute.HasAuthoredValue():
        return None
    prim = attribute.GetPrim()
    times = np.array(attribute.GetTimeSamples(), np.float64)
    if len(times):
        reading.take(prim, len(times) * (count * (width or 1) + 1))
        values = [reading.array(attribute, width, Usd.TimeCode(time)) for time in times]
    else:
        start = reading.stage.GetStartTimeCode()
        times = np.array([start if np.isfinite(start) else 0.0])
        values = [reading.array(attribute, width, EARLIEST)]
    if not (np.abs(times) <= MAX_TIME_CODE).all():
        raise reading.bad(prim, f"the times of {attribute.GetName()} should be finite (and none above 1e12)")
    if (np.diff(reading.seconds(times)) <= 0).any():
        raise reading.bad(prim, f"the times of {attribute.GetName()} should increase")
    lengths = {0 if value is None else len(value) for value in values}
    if lengths != {count}:
        wrong = next(length for length in lengths if length != count)
        raise reading.bad(prim, f"{attribute.GetName()} should hold {count} values at each time, but holds {wrong}")
    stacked = np.array(values)
    if width == 4:
        stacked = reading.frame.rotations(_unit(reading, attribute, stacked))
    elif width is not None:
        is_scale = attribute.GetName().endswith("scales")
        stacked = reading.frame.scales(stacked) if is_scale else reading.frame.points(stacked)
    return Samples(times, stacked, prim.GetCustomDataByKey("understudy:stepped") is True)


def _unit(reading: ReadContext, attribute: Usd.Attribute, rotations: Array) -> Array:
    """Quaternions made unit where they are not near it; zeros are refused."""
    length = np.linalg.norm(rotations, axis=-1, keepdims=True)
    if length.size and length.min() < 1e-6:
        raise reading.bad(attribute.GetPrim(), f"{attribute.GetName()} should hold unit quaternions, but one is zero")
    return np.where(np.abs(length - 1) > NEAR_UNIT, rotations / length, rotations)


def _curve(reading: ReadContext, channel: Channel, samples: Samples, values: Array, still: bool) -> Curve:
    """A curve of values (K, n) at the times of the samples; a constant one keeps its first and last key."""
    codes = samples.times
    if still:
        ends = [0] if len(codes) == 1 else [0, len(codes) - 1]
        codes, values = codes[ends], values[ends]
    elif samples.stepped:
        keep, segments = _steps(codes, values)
        return Curve(channel, reading.seconds(codes[keep]), values[keep], segments)
    values = np.ascontiguousarray(values, np.float64)
    return Curve.from_checked_arrays(channel, freeze(reading.seconds(codes)), freeze(values.copy()), LINEAR)


def _same(name: str, value: Array, rest: Array) -> bool:
    """Whether two values are the same to the precision of float32."""
    if name == "rotations":
        return bool(min(np.abs(value - rest).max(), np.abs(value + rest).max()) <= REST_TOLERANCE_RATIO)
    return bool(np.abs(value - rest).max() <= REST_TOLERANCE_RATIO * max(float(np.abs(rest).max()), 1e-9))


def _steps(codes: Array, values: Array) -> tuple[Array, Array]:
    """Which samples are keys, and the kind of each segment: twin samples that hold and jump become a step."""
    count = len(codes)
    segments = np.full(count - 1, LINEAR, np.uint8)
    early = np.flatnonzero(np.diff(codes) < MIN_SAMPLE_GAP_TIME_CODES)  # the first of each pair
    if not early.size:
        return np.arange(count), segments
    keep = np.ones(count, bool)
    for k in early:
        gap = np.abs(values[k + 1] - values[k]).max()
        travel = np.abs(values[k + 1] - values[k - 1]).max() if k > 0 else 0.0
        jumps = gap > 1e-3 * travel  # between twins a moving channel covers only about 1e-4 of its movement in a frame
        holds = k > 0 and (values[k] == values[k - 1]).all()
        if not jumps or holds:
            keep[k] = False
            if jumps:
                segments[k - 1] = STEP
    kept = np.flatnonzero(keep)
    kinds = segments[kept[:-1]]
    moves = (values[kept[1:]] != values[kept[:-1]]).any(axis=1)
    if (kinds[moves] == STEP).all():
        kinds[:] = STEP  # in a curve that only jumps, constant segments are stepped as well
    return kept, kinds


def xform_curves(reading: ReadContext, joints: SkeletonBuilder, skeleton: Skeleton) -> list[Curve]:
    """The curves of every joint that replaces a moving transform."""
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


def _codes(reading: ReadContext, xformable: UsdGeom.Xformable) -> Array:
    """The time codes of the keys: the samples, and all frames between them where curves interpolate otherwise."""
    samples = np.array(xformable.GetTimeSamples(), np.float64)
    if not (np.abs(samples) <= MAX_TIME_CODE).all():
        raise reading.bad(xformable.GetPrim(), "the times of the transform should be finite")
    places = [SIMPLE_OP_ORDER.get(str(op.GetOpName()), -1) for op in xformable.GetOrderedXformOps()]
    if places == sorted(places) and -1 not in places:
        return samples
    first, last = samples[0], samples[-1]
    if last - first > MAX_FRAMES:
        raise reading.bad(
            xformable.GetPrim(), f"moves over {last - first:.0f} frames, but at most {MAX_FRAMES:,} are baked"
        )
    reading.note(
        f"moving transforms were baked at {reading.codes_per_second:g} frames a second: {{}}",
        xformable.GetPrim().GetName(),
    )
    return np.union1d(samples, np.arange(np.ceil(first), np.floor(last) + 1))
