"""Writing joints: an animation as sampled poses, and a skeleton with its skins as UsdSkel joints.

**Sampled poses** (`sample_poses`). SkelAnimation holds arrays over time, one sample for all joints at once. Linear
curves lose nothing: each attribute is sampled at the union of its curves' keys, where linear interpolation (slerp for
rotations) between samples gives the curves back. A stepped curve gets a twin sample `JUMP_LEAD_TIME_CODES` before each
jump. Bezier, cycling and Euler curves are baked at the animation's rate besides, the largest error between frames is
noted, and the curves themselves are kept as splines (`splines`).

**Joints** (`plan_joints`, `bind_parts`). Two things do not fit UsdSkel as they are, and a helper joint below the joint
holds each of them exactly:

*Scale.* SkelAnimation stores scales as half floats (11 bits: 0.01 comes out 2e-4 wrong), rest transforms as doubles. A
joint that moves and whose scale never changes is therefore split: the joint itself translates and rotates with scale 1,
and a helper below it, which no animation names, has the scale in its rest transform:

    W_joint = W_parent T R S   becomes   W_upper = W_parent T R,   W_helper = W_upper S

Children and skins hang on the helper. A scale that does change over time is written as half floats for other readers,
and in full as the custom attribute `understudy:scales` of the SkelAnimation, which our reader prefers.

*Binds.* UsdSkel has one bind transform B for each joint and one geomBindTransform G for each mesh, in place of an
inverse bind matrix I for each joint and skin:  I = B^-1 G. A skin whose I agree with the B chosen before takes the G
that makes them so; where they do not agree for a joint, a helper below it, resting at the identity, has a bind
transform of its own.

The names of helpers are listed in the Skeleton's customData (`understudy:helpers`), and our reader removes them again.

*Rest.* A matrix gives back rotation and scale only to the rounding of float32 quaternions (1e-7), which a scale of
300 turns into 3e-5. Both are kept beside it in customData (`understudy:rest`), and our reader prefers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from pxr import UsdSkel, Vt

from understudy.character import Character, Clip, Curve, Curves, Skeleton, SkinBinding, kinematics
from understudy.character.curve import BEZIER, STEP
from understudy.checks import Array
from understudy.formats.conventions import Notes
from understudy.formats.usd import splines
from understudy.formats.usd.splines import PrimNames
from understudy.maths import euler, quaternion, resample, transform

KINDS = ("translation", "rotation", "scale")
JOINT_CHANNEL_KINDS = (*KINDS, "euler")

# A twin sample comes this much before a jump; a reader that samples at frames, or at tenths of them, never meets it.
JUMP_LEAD_TIME_CODES = 1e-4

SAME_SCALE_RATIO = 1e-7  # two float32 neighbours
# Products and inverses of double matrices leave less; different float32 matrices differ by 1e-7.
SAME_BIND_TOLERANCE = 1e-9


@dataclass
class PoseTrack:
    """One attribute of SkelAnimation over time."""

    times: Array  # (K,) seconds
    values: Array  # (K, A, width), or (K, A) for weights


@dataclass
class SampledPoses:
    """One animation of one character: `joints` (A,) are moved by the tracks, `shapes` by the weights."""

    name: str
    labels: tuple[str, ...]
    about: str
    moments: Mapping[str, float]
    rate: float
    joints: Array
    tracks: dict[str, PoseTrack]
    shapes: tuple[tuple[str, str], ...]  # part, shape
    weights: PoseTrack | None
    stepped: bool
    matched: set[tuple[str, str]]  # target and kind of the channels that the tracks and weights hold
    bent: tuple[Curve, ...]  # the curves among them that samples do not hold


@dataclass
class _Source:
    """One animation, curve by curve; a clip is a set of linear curves with a key on every frame."""

    start: float
    end: float
    rate: float
    curves: list[Curve]
    keyed: bool  # whether it has keyframes, which are kept as splines


@dataclass
class BindPose:
    """How one mesh is bound: places in the joint list of the Skeleton, and its geomBindTransform."""

    places: list[int]  # (B,)
    geometry: Array  # (4, 4)


@dataclass
class JointPlan:
    """The joint list of a Skeleton prim. For joint j, `upper[j]` is the place of the joint that is animated,
    `carrier[j]` of the joint that has its whole transform (the same, or the helper with its scale).
    """

    paths: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rest: list[Array] = field(default_factory=list)
    binds: list[Array | None] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    upper: list[int] = field(default_factory=list)
    carrier: list[int] = field(default_factory=list)

    def add(self, path: str, name: str, rest: Array) -> int:
        """One more joint; returns its place."""
        self.paths.append(path)
        self.names.append(name)
        self.rest.append(rest)
        self.binds.append(None)
        return len(self.paths) - 1

    def add_helper(self, above: int, ending: str, rest: Array) -> int:
        """A helper below a joint."""
        last = self.paths[above].rsplit("/", 1)[-1]
        path = f"{self.paths[above]}/{self._names.new(f'{last}_{ending}')}"
        self.helpers.append(path)
        return self.add(path, self._shown.new(f"{self.names[above]}_{ending}"), rest)

    def __post_init__(self) -> None:
        self._names, self._shown = PrimNames(), PrimNames()


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


def sample_poses(
    animation: Clip | Curves, skeleton: Skeleton, shapes: dict[str, dict[str, float]], notes: Notes
) -> SampledPoses:
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
                values[:, place] = _sample_curve(curves[int(joint)], times)
        if kind == "rotation":
            values = quaternion.unroll(values)
        tracks[kind] = PoseTrack(times, values)
        stepped |= jumps
    driven_shapes, weights, driven, jumps = _weights(source, shapes, animation.name, notes)
    matched = driven | {(c.channel.target, c.channel.kind) for curves in by_joint.values() for c in curves.values()}
    keyed = (c for c in source.curves if source.keyed and (c.channel.target, c.channel.kind) in matched)
    return SampledPoses(
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


def _sample_curve(curve: Curve, times: Array) -> Array:
    """(K, n) values; Euler angles as quaternions."""
    values = curve.sample(times)
    return euler.from_euler(values, "".join(curve.channel.columns)) if curve.channel.kind == "euler" else values


def _weights(
    source: _Source, rests: dict[str, dict[str, float]], name: str, notes: Notes
) -> tuple[tuple[tuple[str, str], ...], PoseTrack | None, set[tuple[str, str]], bool]:
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
    return order, PoseTrack(times, values), matched, jumps


def _times(source: _Source, curves: list[Curve], name: str, notes: Notes) -> tuple[Array, bool]:
    """(K,) times at which samples hold the curves, from the animation's start to its end, and whether any jumps."""
    ends = np.unique([source.start, source.end])
    times = [ends, *(curve.times for curve in curves)]
    bent = [curve for curve in curves if _is_bent(curve, source)]
    if bent:
        times.append(resample.frame_times(source.start, source.end, source.rate))
    jumps = [curve.times[1:][curve.segments == STEP] for curve in curves]
    jumps = [at for at in jumps if at.size]
    times += [at - JUMP_LEAD_TIME_CODES / source.rate for at in jumps]
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
    values, exact = _sample_curve(curve, times), _sample_curve(curve, middle)
    if not len(middle):
        return 0.0
    if curve.channel.kind in ("rotation", "euler"):
        straight = quaternion.slerp(values[:-1], values[1:], np.full(len(middle), 0.5))
        return float(quaternion.angle_between(straight, exact).max())
    return float(np.abs((values[1:] + values[:-1]) / 2 - exact).max())


def plan_joints(skeleton: Skeleton, animations: list[SampledPoses]) -> JointPlan:
    """The joints of a Skeleton prim, before any mesh is bound."""
    result = JointPlan()
    for name in skeleton.names:
        result._shown.new(name)
    stretched = constant_scale_joints(skeleton, animations)
    for joint, name in enumerate(skeleton.names):
        parent = int(skeleton.parents[joint])
        last = result._names.new(name)
        path = last if parent < 0 else f"{result.paths[result.carrier[parent]]}/{last}"
        unscaled = transform.compose(skeleton.translations[joint], skeleton.rotations[joint])
        scale = np.diag([*skeleton.scales[joint], 1.0])
        place = result.add(path, name, unscaled if joint in stretched else unscaled @ scale)
        result.upper.append(place)
        result.carrier.append(result.add_helper(place, "scale", scale) if joint in stretched else place)
    return result


def constant_scale_joints(skeleton: Skeleton, animations: list[SampledPoses]) -> set[int]:
    """The joints that some animation moves, and whose scale never changes but is not a half float."""
    values: dict[int, list[Array]] = {}
    for poses in animations:
        for place, joint in enumerate(poses.joints):
            values.setdefault(int(joint), []).append(poses.tracks["scale"].values[:, place])
    result = set()
    for joint, animated in values.items():
        rest = skeleton.scales[joint]
        scales = np.concatenate([rest[None], *animated])
        constant = (np.abs(scales - rest) <= SAME_SCALE_RATIO * np.abs(rest)).all()
        if constant and (rest != 0).all() and not is_half(rest):
            result.add(joint)
    return result


def is_half(values: Array) -> bool:
    """Whether half floats hold the values as well as float32 does."""
    single = np.asarray(values, np.float32)
    with np.errstate(over="ignore"):
        return bool((single.astype(np.float16).astype(np.float32) == single).all())


def bind_parts(plan: JointPlan, character: Character, notes: Notes) -> dict[int, BindPose]:
    """Bind transforms for all joints of the plan, and how each part (by number) is bound; parts may be left out."""
    result: dict[int, BindPose] = {}
    seen: dict[bytes, BindPose] = {}
    for number, part in enumerate(character.parts):
        if part.skin.is_rigid:
            continue
        key = part.skin.joints.tobytes() + part.skin.inverse_binds.tobytes()
        if key not in seen:
            if (np.abs(transform.determinant(part.skin.inverse_binds)) < 1e-30).any():
                notes.add(f"part {part.name} is bound by matrices without an inverse, which USD cannot hold: left out")
                continue
            seen[key] = _bind_skin(plan, part.skin)
        result[number] = seen[key]
    _bind_other_joints(plan, character)
    for number, part in enumerate(character.parts):
        if part.skin.is_rigid:
            place = plan.carrier[int(part.skin.joints[0])]
            bind = plan.binds[place]
            assert bind is not None  # _bind_other_joints set all of them
            result[number] = BindPose([place], bind)
    return result


def _bind_skin(plan: JointPlan, skin: SkinBinding) -> BindPose:
    """Reuse the binds that fit, set those that are open, and add helpers where a joint has another bind."""
    places = [plan.carrier[int(joint)] for joint in skin.joints]
    inverse = transform.invert(skin.inverse_binds)
    geometry = _geometry(plan, skin, places)
    for b, place in enumerate(places):
        wanted, bind = geometry @ inverse[b], plan.binds[place]
        if bind is None:
            plan.binds[place] = wanted
        elif np.abs(bind - wanted).max() > SAME_BIND_TOLERANCE * max(1.0, np.abs(wanted).max()):
            places[b] = plan.add_helper(place, "bind", np.eye(4))
            plan.binds[places[b]] = wanted
    return BindPose(places, geometry)


def _geometry(plan: JointPlan, skin: SkinBinding, places: list[int]) -> Array:
    """The geomBindTransform G = B I under which most joints keep the bind that they have; the identity at first."""
    best, most = np.eye(4), -1
    bound = [(b, bind) for b, place in enumerate(places) if (bind := plan.binds[place]) is not None]
    candidates = [np.eye(4), *(bind @ skin.inverse_binds[b] for b, bind in bound[:4])]
    for geometry in candidates:
        gaps = [np.abs(bind @ skin.inverse_binds[b] - geometry).max() for b, bind in bound]
        fit = sum(gap <= SAME_BIND_TOLERANCE * max(1.0, np.abs(geometry).max()) for gap in gaps)
        if fit > most and abs(transform.determinant(geometry)) > 1e-30:
            best, most = geometry, fit
    return best


def _bind_other_joints(plan: JointPlan, character: Character) -> None:
    """Bind joints without a skin at rest, or at the identity where the rest transform has no inverse."""
    skeleton = character.skeleton
    world = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    for joint, (upper, carrier) in enumerate(zip(plan.upper, plan.carrier)):
        for place in {upper, carrier}:
            if plan.binds[place] is None:
                flat = abs(transform.determinant(world[joint])) < 1e-30
                plan.binds[place] = np.eye(4) if flat else world[joint]


def author_skeleton(plan: JointPlan, skeleton: UsdSkel.Skeleton, character: Character) -> None:
    """Write the joint list."""
    source, bones = character.skeleton, character.bones
    skeleton.CreateJointsAttr(Vt.TokenArray(plan.paths))
    skeleton.CreateJointNamesAttr(Vt.TokenArray(plan.names))
    skeleton.CreateRestTransformsAttr(matrix_array(np.array(plan.rest)))
    skeleton.CreateBindTransformsAttr(matrix_array(np.array(plan.binds)))
    prim = skeleton.GetPrim()
    rest = np.concatenate([np.array(plan.upper).reshape(-1, 1), source.rotations, source.scales], axis=1)
    prim.SetCustomDataByKey("understudy:rest", Vt.DoubleArray(rest.ravel().tolist()))
    if plan.helpers:
        prim.SetCustomDataByKey("understudy:helpers", Vt.StringArray(plan.helpers))
    if bones is not None:
        prim.SetCustomDataByKey("understudy:bones", Vt.IntArray([plan.carrier[int(b)] for b in bones]))


def matrix_array(value: Array) -> Vt.Matrix4dArray:
    """(N, 4, 4) for column vectors as USD's, which are for rows."""
    return Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(np.swapaxes(value, -1, -2), np.float64))
