"""SkelAnimation prims: time samples of whole pose arrays to curves, one for each joint and kind.

USD interpolates time samples linearly (rotations by slerp), so every sample is a key and every segment linear. Two
things make the curves what a person would expect: a channel that only repeats the rest pose is left out, and one that
does not change keeps its first and last key. Samples come for all joints at once; our writer puts a twin sample just
before a stepped key, which is recognised here and becomes a stepped segment again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdSkel

from understudy.character import Channel, Curve, Skeleton
from understudy.character.curve import LINEAR, STEP
from understudy.checks import NEAR_UNIT, Array
from understudy.formats.usd.read_skeleton import Bones
from understudy.formats.usd.reading import EARLIEST, LARGEST_TIME, Reading

TWIN = 2e-4  # time codes; closer samples are a jump (our writer leaves 1e-4)
WIDTHS = {"translations": 3, "rotations": 4, "scales": 3}
KINDS = {"translations": "translation", "rotations": "rotation", "scales": "scale"}


@dataclass
class Samples:
    """One array-valued attribute over time."""

    times: Array  # (K,) time codes
    values: Array  # (K, N, width) or (K, N)
    stepped: bool  # whether twin samples stand for jumps


def joint_curves(
    reading: Reading, prim: Usd.Prim, bones: Bones | None, skeleton: Skeleton | None, keep_rest: bool = False
) -> list[Curve]:
    """The curves of a SkelAnimation, named as the character names its joints, or by path where there is no skeleton."""
    animation = UsdSkel.Animation(prim)
    paths = reading.tokens(animation.GetJointsAttr()) or ()
    driven = _driven(reading, prim, paths, bones, skeleton)
    curves: list[Curve] = []
    for name, attribute in (
        ("translations", animation.GetTranslationsAttr()),
        ("rotations", animation.GetRotationsAttr()),
        ("scales", _scales(animation)),
    ):
        samples = _samples(reading, attribute, len(paths), WIDTHS[name]) if driven else None
        if samples is None:
            if driven:
                reading.note(f"animations without {name} keep those of the rest pose: {{}}", prim.GetName())
            continue
        for a, target, joint, stretched in driven:
            if name == "scales" and stretched:
                continue  # the joint's scale is constant and stands in its helper
            rest = None if skeleton is None or keep_rest else _rest(skeleton, joint, name)
            curve = _curve(reading, Channel(target, KINDS[name]), samples, samples.values[:, a], rest)
            if curve is not None:
                curves.append(curve)
    return curves


def _driven(
    reading: Reading, prim: Usd.Prim, paths: tuple[str, ...], bones: Bones | None, skeleton: Skeleton | None
) -> list[tuple[int, str, int, bool]]:
    """(place in the animation, name, number in the character, whether its scale stands in a helper) of each joint."""
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


def weight_samples(reading: Reading, prim: Usd.Prim) -> tuple[tuple[str, ...], Samples | None]:
    """The names of the shapes that a SkelAnimation drives, and their weights over time (K, N)."""
    animation = UsdSkel.Animation(prim)
    tokens = reading.tokens(animation.GetBlendShapesAttr()) or ()
    if not tokens:
        return (), None
    return tokens, _samples(reading, animation.GetBlendShapeWeightsAttr(), len(tokens), None)


def weight_curve(reading: Reading, channel: Channel, samples: Samples, columns: list[int]) -> Curve:
    """The curve of some of the weights."""
    curve = _curve(reading, channel, samples, samples.values[:, columns], None)
    assert curve is not None  # only a channel that repeats a rest value is left out, and there is none here
    return curve


def _scales(animation: UsdSkel.Animation) -> Usd.Attribute:
    """UsdSkel's scales are half floats; our writer leaves full ones beside them where that loses something."""
    full = animation.GetPrim().GetAttribute("understudy:scales")
    return full if full and full.HasAuthoredValue() else animation.GetScalesAttr()


def _rest(skeleton: Skeleton, joint: int, name: str) -> Array:
    return {"translations": skeleton.translations, "rotations": skeleton.rotations, "scales": skeleton.scales}[name][
        joint
    ]


def _samples(reading: Reading, attribute: Usd.Attribute, count: int, width: int | None) -> Samples | None:
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
    if not (np.abs(times) <= LARGEST_TIME).all():
        raise reading.bad(prim, f"the times of {attribute.GetName()} should be finite (and none above 1e12)")
    lengths = {0 if value is None else len(value) for value in values}
    if lengths != {count}:
        wrong = next(length for length in lengths if length != count)
        raise reading.bad(prim, f"{attribute.GetName()} should hold {count} values at each time, but holds {wrong}")
    stacked = np.array(values)
    if width == 4:
        stacked = _unit(reading, attribute, stacked)
    return Samples(times, stacked, prim.GetCustomDataByKey("understudy:stepped") is True)


def _unit(reading: Reading, attribute: Usd.Attribute, rotations: Array) -> Array:
    """Quaternions made unit where they are not near it; zeros are refused."""
    length = np.linalg.norm(rotations, axis=-1, keepdims=True)
    if length.size and length.min() < 1e-6:
        raise reading.bad(attribute.GetPrim(), f"{attribute.GetName()} should hold unit quaternions, but one is zero")
    return np.where(np.abs(length - 1) > NEAR_UNIT, rotations / length, rotations)


def _curve(reading: Reading, channel: Channel, samples: Samples, values: Array, rest: Array | None) -> Curve | None:
    """A curve of values (K, n) at the times of the samples, None where it only repeats the rest value."""
    codes = samples.times
    values = _converted(reading, channel.kind, values)
    still = bool((values == values[:1]).all())
    if still and rest is not None and _same(channel.kind, values[0], rest):
        return None
    if still:
        ends = [0] if len(codes) == 1 else [0, len(codes) - 1]
        return Curve(channel, reading.seconds(codes[ends]), values[ends], LINEAR)
    keep, segments = _steps(codes, values) if samples.stepped else (np.arange(len(codes)), LINEAR)
    return Curve(channel, reading.seconds(codes[keep]), values[keep], segments)


def _converted(reading: Reading, kind: str, values: Array) -> Array:
    frame = reading.frame
    if kind == "translation":
        return frame.points(values)
    if kind == "rotation":
        return frame.rotations(values)
    return frame.scales(values) if kind == "scale" else values


def _same(kind: str, value: Array, rest: Array) -> bool:
    """Whether two values are the same to the precision of float32."""
    size = 1.0 if kind == "rotation" else max(float(np.abs(rest).max()), 1e-9)
    gaps = [np.abs(value - rest).max()] + ([np.abs(value + rest).max()] if kind == "rotation" else [])
    return bool(min(gaps) <= 2e-7 * size)


def _steps(codes: Array, values: Array) -> tuple[Array, Array]:
    """Which samples are keys, and the kind of each segment between them: twins that only hold and jump become steps."""
    count = len(codes)
    segments = np.full(count - 1, LINEAR, np.uint8)
    early = np.flatnonzero(np.diff(codes) < TWIN)  # the first of each pair
    if not early.size:
        return np.arange(count), segments
    keep = np.ones(count, bool)
    for k in early:
        gap = np.abs(values[k + 1] - values[k]).max()
        travel = np.abs(values[k + 1] - values[k - 1]).max() if k > 0 else 0.0
        jumps = gap > 1e-3 * travel  # a moving channel covers a twin's share of the way to it, 1e-4 or so of a frame
        holds = k > 0 and (values[k] == values[k - 1]).all()
        if not jumps or holds:
            keep[k] = False
            if jumps:
                segments[k - 1] = STEP
    kept = np.flatnonzero(keep)
    return kept, segments[kept[:-1]]
