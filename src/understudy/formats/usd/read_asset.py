"""From a stage to an asset: characters, one for each SkelRoot, and the animations that move them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel

from understudy.character import Asset, Channel, Character, Curve, Curves, Part, Skeleton, Skin
from understudy.errors import Unsupported
from understudy.formats.usd import (
    read_animation,
    read_mesh,
    read_shapes,
    read_skeleton,
    read_skin,
    read_splines,
    read_xform,
)
from understudy.formats.usd.read_joints import Joints
from understudy.formats.usd.read_skeleton import Bones
from understudy.formats.usd.reading import MOST_PRIMS, Reading, name_of

OTHER_SURFACES = (
    "Sphere",
    "Cube",
    "Cylinder",
    "Cone",
    "Capsule",
    "Plane",
    "BasisCurves",
    "Points",
    "NurbsPatch",
    "PointInstancer",
)


@dataclass
class Group:
    """The prims of one character: those below one SkelRoot, or all that stand below none."""

    name: str
    root: Usd.Prim | None
    skeletons: list[Usd.Prim] = field(default_factory=list)
    meshes: list[Usd.Prim] = field(default_factory=list)
    animations: list[Usd.Prim] = field(default_factory=list)
    bones: dict[str, Bones] = field(default_factory=dict)
    skeleton: Skeleton | None = None
    drives: dict[str, list[tuple[str, dict[str, str]]]] = field(
        default_factory=dict
    )  # skeleton -> part, token -> shape
    xforms: list[Curve] = field(default_factory=list)


def read(path: Path, stage: Usd.Stage) -> Asset:
    """Everything in a stage that understudy knows."""
    reading = Reading(path, stage)
    groups = _groups(reading)
    characters = []
    for group in groups:
        character = _character(reading, group)
        if len(character.skeleton) or character.parts:
            characters.append(character)
    names = reading.distinct([character.name for character in characters], "character")
    characters = [Character(name, c.skeleton, c.parts, c.bones) for name, c in zip(names, characters)]
    curves = _curves(reading, groups)
    if not characters and not curves:
        raise Unsupported(path, "holds no skeleton, mesh or skeletal animation")
    return Asset(characters, (), curves, reading.notes, "usd")


def _groups(reading: Reading) -> list[Group]:
    default = reading.stage.GetDefaultPrim()
    loose = Group(reading.path.stem, None)
    groups: dict[str, Group] = {}
    for count, prim in enumerate(reading.stage.Traverse(Usd.TraverseInstanceProxies())):
        if count > MOST_PRIMS:
            raise Unsupported(reading.path, f"has more than {MOST_PRIMS:,} prims")
        root = UsdSkel.Root.Find(prim).GetPrim()
        group = groups.setdefault(str(root.GetPath()), Group(name_of(root), root)) if root else loose
        if prim.IsA(UsdSkel.Skeleton):
            group.skeletons.append(prim)
        elif prim.IsA(UsdSkel.Animation):
            group.animations.append(prim)
        elif prim.IsA(UsdGeom.Mesh):
            group.meshes.append(prim)
        elif prim.GetTypeName() in OTHER_SURFACES:
            reading.note("surfaces that are not meshes were left out: {}", f"{prim.GetName()} ({prim.GetTypeName()})")
        if prim.HasAuthoredMetadata("clips"):  # they would open files as values are asked for, wherever these lie
            raise Unsupported(reading.path, "takes its values from other files (value clips)", str(prim.GetPath()))
        if prim.HasVariantSets():
            reading.note("variants are read as selected in the file: {}", prim.GetName())
    if default and not groups:
        loose.name = name_of(default)
    return [*groups.values(), loose]


def _character(reading: Reading, group: Group) -> Character:
    joints = Joints(reading, group.name)
    for prim in group.skeletons:
        group.bones[str(prim.GetPath())] = read_skeleton.read(reading, prim, joints)
    parts: list[Part] = []
    by_name: dict[str, Part] = {}
    for prim in group.meshes:
        part = _part(reading, group, prim, joints, by_name)
        if part is not None:
            parts.append(part)
            by_name.setdefault(part.name, part)
    group.skeleton = joints.skeleton()
    group.xforms = read_xform.curves(reading, joints, group.skeleton)
    named = [bones.named for bones in group.bones.values() if bones.named is not None]
    return Character(group.name, group.skeleton, parts, np.concatenate(named) if named else None)


def _part(reading: Reading, group: Group, prim: Usd.Prim, joints: Joints, others: dict[str, Part]) -> Part | None:
    if not read_mesh.is_visible(reading, prim):
        return None
    vertices = read_mesh.points(reading, prim)
    if vertices is None:
        reading.note("meshes without points were left out: {}", prim.GetName())
        return None
    bound = UsdSkel.BindingAPI(prim).GetInheritedSkeleton() if group.root else None
    source = str(bound.GetPath()) if bound else ""
    targets = read_shapes.read(reading, prim, len(vertices)) if group.root else None
    skin = read_skin.read(reading, prim, len(vertices), group.bones.get(source)) if group.root else None
    mesh = read_mesh.read(reading, prim, targets.shapes if targets else None, vertices)
    if skin is None:
        skin = Skin.rigid(joints.anchored(prim), len(vertices))
    name = name_of(prim)
    if name in others and not (prim.GetDisplayName() and _alike(others[name].mesh.shapes, mesh.shapes)):
        name = reading.distinct([*others, name], "part")[-1]
    if targets:
        driven = dict(zip(targets.tokens, targets.shapes.names))
        if name not in others:
            group.drives.setdefault(source, []).append((name, driven))
    return Part(name, mesh, skin)


def _alike(a: object, b: object) -> bool:
    """Whether two meshes have the same shapes by name, as pieces of one mesh have."""
    return getattr(a, "names", ()) == getattr(b, "names", ())


def _curves(reading: Reading, groups: list[Group]) -> list[Curves]:
    found: list[Curves] = []
    used: set[str] = set()
    for group in groups:
        xforms = list(group.xforms)
        for prim, bones in _bindings(reading, groups, group, used):
            curves = [*read_splines.kept(reading, prim, _animation(reading, prim, bones, group)), *xforms]
            xforms = []  # moving transforms belong to the animation that plays with them: the first
            if curves:
                labels = reading.custom(prim, "labels", str)
                listed = () if labels is None else tuple(str(label) for label in labels)
                told = _told(reading, prim)
                _join(found, Curves(name_of(prim), curves, listed, _rate(reading, prim), *told))
        if xforms:
            _join(found, Curves(group.name, xforms, (), _rate(reading, None)))
    names = reading.distinct([curves.name for curves in found], "clip")
    return [Curves(name, c.curves, c.labels, c.rate, c.about, c.moments) for name, c in zip(names, found)]


def _told(reading: Reading, prim: Usd.Prim) -> tuple[str, dict[str, float]]:
    """What our writer noted of an animation: what happens, and named moments in seconds."""
    about = prim.GetCustomDataByKey("understudy:about")
    names, times = reading.custom(prim, "moment_names", str), reading.custom(prim, "moment_times", float)
    moments: dict[str, float] = {}
    if names is not None and times is not None:
        moments = {str(name): float(time) for name, time in zip(names, times) if name and np.isfinite(time)}
    return about if isinstance(about, str) else "", moments


def _bindings(
    reading: Reading, groups: list[Group], group: Group, used: set[str]
) -> list[tuple[Usd.Prim, Bones | None]]:
    """The animations of a group with their skeletons: bound ones first, then those that lie beside them unbound."""
    result: list[tuple[Usd.Prim, Bones | None]] = []
    for bones in group.bones.values():
        source = UsdSkel.BindingAPI(bones.prim).GetInheritedAnimationSource()
        if source and source.IsA(UsdSkel.Animation):
            result.append((source, bones))
    for prim in group.animations:
        if str(prim.GetPath()) not in used and all(prim.GetPath() != bound.GetPath() for bound, _ in result):
            result.append((prim, _fitting(reading, groups, group, prim)))
    used.update(str(prim.GetPath()) for prim, _ in result)
    return result


def _fitting(reading: Reading, groups: list[Group], group: Group, prim: Usd.Prim) -> Bones | None:
    """The skeleton that has all joints of an animation, looked for near it first."""
    paths = set(reading.tokens(UsdSkel.Animation(prim).GetJointsAttr()) or ())
    candidates = [bones for near in (group, *groups) for bones in near.bones.values()]
    fitting = [bones for bones in candidates if paths <= bones.index.keys()]
    return fitting[0] if fitting else (next(iter(group.bones.values()), None))


def _animation(reading: Reading, prim: Usd.Prim, bones: Bones | None, group: Group) -> list[Curve]:
    curves: list[Curve] = []
    tokens, samples = read_animation.weight_samples(reading, prim)
    if samples is not None:
        parts = group.drives.get(str(bones.prim.GetPath()), []) if bones else []
        place = {token: i for i, token in enumerate(tokens)}
        for name, driven in parts:
            columns = [token for token in driven if token in place]
            if columns:
                channel = Channel(name, "weights", tuple(driven[token] for token in columns))
                curves.append(read_animation.weight_curve(reading, channel, samples, [place[t] for t in columns]))
        idle = [token for token in tokens if not any(token in driven for _, driven in parts)]
        if idle and not parts:
            channel = Channel("", "weights", tuple(idle))
            curves.append(read_animation.weight_curve(reading, channel, samples, [place[t] for t in idle]))
        elif idle:
            reading.note(
                f"animation {prim.GetName()} drives {len(idle)} blend shapes that no mesh has (first: {idle[0]})"
            )
    moving = read_animation.joint_curves(reading, prim, bones, group.skeleton if bones else None)
    if not moving and not curves:
        moving = read_animation.joint_curves(reading, prim, bones, group.skeleton if bones else None, keep_rest=True)
    return moving + curves


def _rate(reading: Reading, prim: Usd.Prim | None) -> float | None:
    """Frames a second: as our writer noted, else the stage's time codes where these are frames, else by the keys."""
    given = prim.GetCustomDataByKey("understudy:rate") if prim else None
    if isinstance(given, float) and np.isfinite(given) and given > 0:
        return given
    return reading.codes_per_second if 1 <= reading.codes_per_second <= 240 else None


def _join(found: list[Curves], new: Curves) -> None:
    """Add an animation; one that was split over several characters becomes one again, where no channel clashes."""
    for i, other in enumerate(found):
        if other.name == new.name:
            taken = {(c.channel.target, c.channel.kind): c for c in other.curves}
            clashes = [c for c in new.curves if (c.channel.target, c.channel.kind) in taken]
            if all(_equal(taken[c.channel.target, c.channel.kind], c) for c in clashes):
                fresh = [c for c in new.curves if c not in clashes]
                joined = [*other.curves, *fresh]
                found[i] = Curves(other.name, joined, other.labels, other.rate, other.about, other.moments)
                return
    found.append(new)


def _equal(a: Curve, b: Curve) -> bool:
    return np.array_equal(a.times, b.times) and np.array_equal(a.values, b.values)
