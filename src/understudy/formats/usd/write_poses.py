"""An animation as arrays over time, the way SkelAnimation holds it: one sample for all joints at once.

Linear curves lose nothing: each attribute is sampled at the union of its curves' keys, where linear interpolation
(slerp for rotations) between samples gives the curves back. A stepped curve gets a twin sample `TWIN` time codes before
each jump. Bezier, cycling and Euler curves are baked at the animation's rate besides, the largest error between frames
is noted, and the curves themselves are kept as splines (`splines`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Clip, Curve, Curves, Skeleton
from understudy.character.curve import BEZIER, STEP
from understudy.checks import Array
from understudy.formats.usd import splines
from understudy.formats.usd.notes import Notes
from understudy.maths import euler, quaternion, resample

TWIN = 1e-4  # time codes before a jump; a reader that samples at frames, or at tenths of them, never meets it
KINDS = ("translation", "rotation", "scale")
MOVES = (*KINDS, "euler")


@dataclass
class Track:
    """What one attribute of SkelAnimation holds over time."""

    times: Array  # (K,) seconds
    values: Array  # (K, A, width), or (K, A) for weights


@dataclass
class Poses:
    """One animation of one character: `joints` (A,) are moved by the tracks, `shapes` by the weights."""

    name: str
    labels: tuple[str, ...]
    about: str
    moments: Mapping[str, float]
    rate: float
    joints: Array
    tracks: dict[str, Track]
    shapes: tuple[tuple[str, str], ...]  # part, shape
    weights: Track | None
    stepped: bool
    matched: set[tuple[str, str]]  # the channels that found their place
    bent: tuple[Curve, ...]  # those of their curves that samples do not hold


@dataclass
class _Source:
    """One animation, curve by curve; a clip is a set of linear curves with a key on every frame."""

    start: float
    end: float
    rate: float
    curves: list[Curve]
    keyed: bool  # by a person, with curves worth keeping


def source_of(animation: Clip | Curves) -> _Source:
    """The curves of an animation."""
    if isinstance(animation, Clip):
        times = animation.times
        bounds = animation.channels.offsets.tolist()
        held = ((c, a, b) for c, a, b in zip(animation.channels, bounds, bounds[1:]) if c.kind != "marker")
        curves = [Curve(c, times, animation.values[:, a:b]) for c, a, b in held]
        return _Source(float(times[0]), float(times[-1]), animation.rate, curves, False)
    return _Source(animation.start, animation.end, animation.rate, list(animation.curves), True)


def shapes_of(character: Character) -> dict[str, dict[str, float]]:
    """For each part the weights at rest of its shapes."""
    return {
        part.name: {name: float(weight) for name, weight in zip(part.mesh.shapes.names, part.mesh.shapes.defaults)}
        for part in character.parts
        if part.mesh.shapes is not None
    }


def poses(animation: Clip | Curves, skeleton: Skeleton, shapes: dict[str, dict[str, float]], notes: Notes) -> Poses:
    """The part of an animation that moves the joints of a skeleton and the shapes (part -> shape -> weight at rest)."""
    source = source_of(animation)
    by_joint: dict[str, dict[int, Curve]] = {kind: {} for kind in KINDS}
    for curve in source.curves:
        kind = "rotation" if curve.channel.kind == "euler" else curve.channel.kind
        if kind in by_joint and curve.channel.target in skeleton:
            by_joint[kind].setdefault(skeleton.index(curve.channel.target), curve)
    joints = np.array(sorted({joint for curves in by_joint.values() for joint in curves}), np.int64)
    rest = {"translation": skeleton.translations, "rotation": skeleton.rotations, "scale": skeleton.scales}
    tracks, stepped = {}, False
    for kind in KINDS:
        curves = by_joint[kind]
        times, jumps = _times(source, list(curves.values()), animation.name, notes)
        values = np.repeat(rest[kind][joints][None], len(times), axis=0)
        for place, joint in enumerate(joints):
            if int(joint) in curves:
                values[:, place] = _sampled(curves[int(joint)], times)
        if kind == "rotation":
            values = quaternion.unroll(values)
        tracks[kind] = Track(times, values)
        stepped |= jumps
    driven_shapes, weights, driven, jumps = _weights(source, shapes, animation.name, notes)
    matched = driven | {(c.channel.target, c.channel.kind) for curves in by_joint.values() for c in curves.values()}
    keyed = (c for c in source.curves if source.keyed and (c.channel.target, c.channel.kind) in matched)
    return Poses(
        animation.name,
        animation.labels,
        animation.about,
        animation.moments,
        source.rate,
        joints,
        tracks,
        driven_shapes,
        weights,
        stepped or jumps,
        matched,
        tuple(curve for curve in keyed if splines.is_bent(curve)),
    )


def _sampled(curve: Curve, times: Array) -> Array:
    """(K, n) values; Euler angles as quaternions."""
    values = curve.sample(times)
    return euler.from_euler(values, "".join(curve.channel.columns)) if curve.channel.kind == "euler" else values


def _weights(
    source: _Source, rests: dict[str, dict[str, float]], name: str, notes: Notes
) -> tuple[tuple[tuple[str, str], ...], Track | None, set[tuple[str, str]], bool]:
    """The shapes that move, or rest at a weight other than zero, and their weights over time."""
    columns: dict[tuple[str, str], tuple[Curve, int]] = {}
    matched: set[tuple[str, str]] = set()
    for curve in source.curves:
        if curve.channel.kind != "weights":
            continue
        for part, shapes in rests.items():
            if curve.channel.target in ("", part):
                for column, shape in enumerate(curve.channel.columns):
                    if shape in shapes:
                        columns[part, shape] = (curve, column)
                        matched.add((curve.channel.target, "weights"))
    defaults = {(part, shape): weight for part, shapes in rests.items() for shape, weight in shapes.items()}
    order = tuple(key for key, default in defaults.items() if key in columns or default)
    if not order:
        return (), None, matched, False
    used = list({id(curve): curve for curve, _ in columns.values()}.values())
    times, jumps = _times(source, used, name, notes)
    sampled = {id(curve): curve.sample(times) for curve in used}
    values = np.empty((len(times), len(order)))
    for place, key in enumerate(order):
        if key in columns:
            curve, column = columns[key]
            values[:, place] = sampled[id(curve)][:, column]
        else:
            values[:, place] = defaults[key]
    return order, Track(times, values), matched, jumps


def _times(source: _Source, curves: list[Curve], name: str, notes: Notes) -> tuple[Array, bool]:
    """(K,) times at which samples hold the curves, from the animation's start to its end, and whether any jumps."""
    ends = np.unique([source.start, source.end])
    times = [ends, *(curve.times for curve in curves)]
    bent = [curve for curve in curves if _is_bent(curve, source)]
    if bent:
        times.append(resample.frame_times(source.start, source.end, source.rate))
    jumps = [curve.times[1:][curve.segments == STEP] for curve in curves]
    jumps = [found for found in jumps if found.size]
    times += [found - TWIN / source.rate for found in jumps]
    result = np.unique(np.concatenate(times))
    result = result[(result >= ends[0]) & (result <= ends[-1])]
    for kind in sorted({curve.channel.kind for curve in bent}):
        error = max(_error(curve, result) for curve in bent if curve.channel.kind == kind)
        beside = "; the curves themselves stand beside as splines" if source.keyed and splines.AVAILABLE else ""
        notes.add(
            f"{name}: {kind} curves, which UsdSkel cannot hold, were baked at {source.rate:g} frames a second; "
            f"between frames they are off by up to {error:.2g}{beside}"
        )
    return result, bool(jumps)


def _is_bent(curve: Curve, source: _Source) -> bool:
    """Whether straight lines between the keys, held at both ends, are not the curve."""
    beyond = (curve.times[0] > source.start, curve.times[-1] < source.end)
    cycles = any(outside and how != "hold" for outside, how in zip(beyond, curve.extrapolation))
    return curve.channel.kind == "euler" or cycles or bool((curve.segments == BEZIER).any())


def _error(curve: Curve, times: Array) -> float:
    """The largest departure of straight lines between samples from the curve, found in the middle between samples."""
    middle = (times[1:] + times[:-1]) / 2
    values, exact = _sampled(curve, times), _sampled(curve, middle)
    if not len(middle):
        return 0.0
    if curve.channel.kind in ("rotation", "euler"):
        straight = quaternion.slerp(values[:-1], values[1:], np.full(len(middle), 0.5))
        return float(quaternion.angle_between(straight, exact).max())
    return float(np.abs((values[1:] + values[:-1]) / 2 - exact).max())
