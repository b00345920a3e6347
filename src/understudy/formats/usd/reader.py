"""Reading a USD file: opening it safely, then a character for each SkelRoot, and the animations that move them.

Before the stage is opened, all layers that it composes are checked: they lie in the file's folder, and binary ones are
read in a child process first (`library`). The library's errors become ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pxr import Ar, Sdf, Tf, Usd, UsdGeom, UsdSkel

from understudy import files
from understudy.character import Asset, Channel, Character, Curve, Curves, Part, Skeleton, SkinBinding
from understudy.errors import BadFile, FileError, InvalidInput, Unsupported
from understudy.formats.usd import library, read_animation, read_mesh, read_skeleton, splines
from understudy.formats.usd.context import MAX_PRIMS, ReadContext, name_of
from understudy.formats.usd.read_skeleton import SkeletonBuilder, UsdJoints

MAX_LAYERS = 1_000
# Prim types of surfaces that are noted and left out.
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
class LayerStack:
    """The layers of a file, kept open so that none is parsed twice, and the names of missing ones."""

    layers: list[Sdf.Layer] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@dataclass
class PrimGroup:
    """The prims of one character: those below one SkelRoot, or all that stand below none."""

    name: str
    root: Usd.Prim | None
    skeletons: list[Usd.Prim] = field(default_factory=list)
    meshes: list[Usd.Prim] = field(default_factory=list)
    animations: list[Usd.Prim] = field(default_factory=list)
    bones: dict[str, UsdJoints] = field(default_factory=dict)
    skeleton: Skeleton | None = None
    # skeleton -> (part, token -> shape)
    drives: dict[str, list[tuple[str, dict[str, str]]]] = field(default_factory=dict)
    xforms: list[Curve] = field(default_factory=list)


def read(path: Path) -> Asset:
    """The asset in a file; a file with any binary layer is tried in a child process first."""
    if path.is_dir() or not path.exists() or path.stat().st_size > files.MAX_FILE_BYTES:
        files.read_bytes(path)  # raises the error
    layers = None
    if library.is_text(path):
        with library.quiet():
            layers = _layers(path, text_only=True)
    if layers is None:
        library.finish_trial(library.start_trial(path), path)
    return read_in_process(path, layers)


def read_in_process(path: Path, layers: LayerStack | None = None) -> Asset:
    """The asset in a file, read in this process; `layers` are its layers where they are open already."""
    with library.quiet():
        try:
            layers = layers or _layers(path) or LayerStack()
            asset = read_stage(path, _open(path))
        except FileError:
            raise
        except InvalidInput as error:
            raise BadFile(path, str(error)) from error
        except UnicodeDecodeError:
            raise BadFile(path, "is damaged: it holds text that is not UTF-8") from None
        except Tf.ErrorException as error:
            raise BadFile(path, f"is damaged: {library.first_message(error)}") from None
    notes = [f"the layer {name} that the file refers to was not found" for name in layers.missing]
    return Asset(asset.characters, asset.clips, asset.curves, (*asset.notes, *notes), "usd")


def _open(path: Path) -> Usd.Stage:
    stage = Usd.Stage.Open(str(path), Usd.Stage.LoadAll)
    if not stage:
        raise BadFile(path, "is not a USD file")
    return stage


def _layers(path: Path, text_only: bool = False) -> LayerStack | None:
    """Follow sublayers, references and payloads; refuse any outside the file's folder.

    With `text_only` return None as soon as one is binary, without opening it.
    """
    folder = path.resolve().parent
    result = LayerStack()
    seen: set[str] = set()
    waiting = [str(path)]
    while waiting:
        layer = _layer(path, waiting.pop())
        result.layers.append(layer)
        for name in layer.GetCompositionAssetDependencies():
            resolved = str(Ar.GetResolver().Resolve(layer.ComputeAbsolutePath(name)))
            if not resolved:
                result.missing.append(name)
                continue
            if resolved in seen:
                continue
            seen.add(resolved)
            place = Path(resolved.partition("[")[0])
            if not place.resolve().is_relative_to(folder):
                raise Unsupported(path, f"refers to {name}, which lies outside its folder; put both into one")
            if len(seen) > MAX_LAYERS:
                raise Unsupported(path, f"refers to more than {MAX_LAYERS:,} layers")
            if text_only and not library.is_text(place):
                return None
            waiting.append(resolved)
    return result


def _layer(path: Path, name: str) -> Sdf.Layer:
    try:
        layer = Sdf.Layer.FindOrOpen(name)
    except Tf.ErrorException as error:
        raise BadFile(path, f"is damaged: {library.first_message(error)}") from None
    if not layer:
        raise BadFile(path, "is not a USD file, or is damaged")
    if not layer.dirty:
        layer.Reload()  # where this process had it open already and the file has changed since
    return layer


def read_stage(path: Path, stage: Usd.Stage) -> Asset:
    """The characters and animations of a stage."""
    reading = ReadContext(path, stage)
    groups = _groups(reading)
    characters = []
    for group in groups:
        character = _character(reading, group)
        if len(character.skeleton) or character.parts:
            characters.append(character)
    names = reading.distinct([character.name for character in characters], "character")
    characters = [Character(name, c.skeleton, c.parts, c.bones) for name, c in zip(names, characters)]
    curves = _curves(reading, groups)
    shapes = {name for character in characters for names in character.shapes.values() for name in names}
    for keyed in curves if characters else ():
        if all(c.kind == "weights" and not shapes.intersection(c.columns) for c in keyed.channels):
            reading.note("animations of shapes that no mesh has were left out: {}", keyed.name)
            curves = [other for other in curves if other is not keyed]
    if not characters and not curves:
        raise Unsupported(path, "holds no skeleton, mesh or skeletal animation")
    return Asset(characters, (), curves, reading.notes, "usd")


def _groups(reading: ReadContext) -> list[PrimGroup]:
    default = reading.stage.GetDefaultPrim()
    loose = PrimGroup(reading.path.stem, None)
    groups: dict[str, PrimGroup] = {}
    for count, prim in enumerate(reading.stage.Traverse(Usd.TraverseInstanceProxies())):
        if count > MAX_PRIMS:
            raise Unsupported(reading.path, f"has more than {MAX_PRIMS:,} prims")
        root = UsdSkel.Root.Find(prim).GetPrim()
        group = groups.setdefault(str(root.GetPath()), PrimGroup(name_of(root), root)) if root else loose
        if prim.IsA(UsdSkel.Skeleton):
            group.skeletons.append(prim)
        elif prim.IsA(UsdSkel.Animation):
            group.animations.append(prim)
        elif prim.IsA(UsdGeom.Mesh):
            group.meshes.append(prim)
        elif prim.GetTypeName() in OTHER_SURFACES:
            reading.note("surfaces that are not meshes were left out: {}", f"{prim.GetName()} ({prim.GetTypeName()})")
        if prim.HasAuthoredMetadata("clips"):  # reading values would open files in any folder
            raise Unsupported(reading.path, "takes its values from other files (value clips)", str(prim.GetPath()))
        if prim.HasVariantSets():
            reading.note("variants are read as selected in the file: {}", prim.GetName())
    if default and not groups:
        loose.name = name_of(default)
    return [*groups.values(), loose]


def _character(reading: ReadContext, group: PrimGroup) -> Character:
    joints = SkeletonBuilder(reading, group.name)
    for prim in group.skeletons:
        group.bones[str(prim.GetPath())] = read_skeleton.load_skeleton(reading, prim, joints)
    parts: list[Part] = []
    by_name: dict[str, Part] = {}
    for prim in group.meshes:
        part = _part(reading, group, prim, joints, by_name)
        if part is not None:
            parts.append(part)
            by_name.setdefault(part.name, part)
    group.skeleton = joints.skeleton()
    group.xforms = read_animation.xform_curves(reading, joints, group.skeleton)
    named = [bones.named for bones in group.bones.values() if bones.named is not None]
    return Character(group.name, group.skeleton, parts, np.concatenate(named) if named else None)


def _part(
    reading: ReadContext, group: PrimGroup, prim: Usd.Prim, joints: SkeletonBuilder, others: dict[str, Part]
) -> Part | None:
    if not read_mesh.is_visible(reading, prim):
        return None
    vertices = read_mesh.points(reading, prim)
    if vertices is None:
        reading.note("meshes without points were left out: {}", prim.GetName())
        return None
    bound = UsdSkel.BindingAPI(prim).GetInheritedSkeleton() if group.root else None
    source = str(bound.GetPath()) if bound else ""
    targets = read_mesh.load_targets(reading, prim, len(vertices)) if group.root else None
    skin = read_skeleton.load_skin(reading, prim, len(vertices), group.bones.get(source)) if group.root else None
    mesh = read_mesh.load_mesh(reading, prim, targets.shapes if targets else None, vertices)
    if skin is None:
        skin = SkinBinding.rigid(joints.anchor_joint(prim), len(vertices))
    name = name_of(prim)
    if name in others and not (prim.GetDisplayName() and _same_shape_names(others[name].mesh.shapes, mesh.shapes)):
        name = reading.distinct([*others, name], "part")[-1]
    if targets:
        driven = dict(zip(targets.tokens, targets.shapes.names))
        if name not in others:
            group.drives.setdefault(source, []).append((name, driven))
    return Part(name, mesh, skin)


def _same_shape_names(a: object, b: object) -> bool:
    """Whether two meshes have the same shapes by name, as pieces of one mesh have."""
    return getattr(a, "names", ()) == getattr(b, "names", ())


def _curves(reading: ReadContext, groups: list[PrimGroup]) -> list[Curves]:
    animations: list[Curves] = []
    used: set[str] = set()
    for group in groups:
        xforms = list(group.xforms)
        for prim, bones in _bindings(reading, groups, group, used):
            curves = [*splines.keep_splines(reading, prim, _animation(reading, prim, bones, group)), *xforms]
            xforms = []  # moving transforms belong to the animation that plays with them: the first
            if curves:
                labels = reading.custom(prim, "labels", str)
                listed = () if labels is None else tuple(str(label) for label in labels)
                about, moments = _read_description(reading, prim)
                _add_animation(animations, Curves(name_of(prim), curves, listed, _rate(reading, prim), about, moments))
        if xforms:
            _add_animation(animations, Curves(group.name, xforms, (), _rate(reading, None)))
    names = reading.distinct([curves.name for curves in animations], "clip")
    return [Curves(name, c.curves, c.labels, c.rate, c.about, c.moments) for name, c in zip(names, animations)]


def _read_description(reading: ReadContext, prim: Usd.Prim) -> tuple[str, dict[str, float]]:
    """The description and the named moments, in seconds, that our writer keeps with an animation."""
    about = prim.GetCustomDataByKey("understudy:about")
    names, times = reading.custom(prim, "moment_names", str), reading.custom(prim, "moment_times", float)
    moments: dict[str, float] = {}
    if names is not None and times is not None:
        moments = {str(name): float(time) for name, time in zip(names, times) if name and np.isfinite(time)}
    return about if isinstance(about, str) else "", moments


def _bindings(
    reading: ReadContext, groups: list[PrimGroup], group: PrimGroup, used: set[str]
) -> list[tuple[Usd.Prim, UsdJoints | None]]:
    """The animations of a group with their skeletons: bound ones first, then those that lie beside them unbound."""
    result: list[tuple[Usd.Prim, UsdJoints | None]] = []
    for bones in group.bones.values():
        source = UsdSkel.BindingAPI(bones.prim).GetInheritedAnimationSource()
        if source and source.IsA(UsdSkel.Animation):
            result.append((source, bones))
    for prim in group.animations:
        if str(prim.GetPath()) not in used and all(prim.GetPath() != bound.GetPath() for bound, _ in result):
            result.append((prim, _find_skeleton(reading, groups, group, prim)))
    used.update(str(prim.GetPath()) for prim, _ in result)
    return result


def _find_skeleton(reading: ReadContext, groups: list[PrimGroup], group: PrimGroup, prim: Usd.Prim) -> UsdJoints | None:
    """The skeleton that has all joints of an animation, searched in its own group first."""
    paths = set(reading.tokens(UsdSkel.Animation(prim).GetJointsAttr()) or ())
    candidates = [bones for near in (group, *groups) for bones in near.bones.values()]
    fitting = [bones for bones in candidates if paths <= bones.index.keys()]
    return fitting[0] if fitting else (next(iter(group.bones.values()), None))


def _animation(reading: ReadContext, prim: Usd.Prim, bones: UsdJoints | None, group: PrimGroup) -> list[Curve]:
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


def _rate(reading: ReadContext, prim: Usd.Prim | None) -> float | None:
    """Frames a second: as our writer kept it, else the stage's rate if that is plausible, else None (by the keys)."""
    given = prim.GetCustomDataByKey("understudy:rate") if prim else None
    if isinstance(given, float) and np.isfinite(given) and given > 0:
        return given
    return reading.codes_per_second if 1 <= reading.codes_per_second <= 240 else None


def _add_animation(animations: list[Curves], new: Curves) -> None:
    """Add an animation; one that was split over several characters becomes one again, where no channel clashes."""
    for i, other in enumerate(animations):
        if other.name == new.name:
            taken = {(c.channel.target, c.channel.kind): c for c in other.curves}
            clashes = [c for c in new.curves if (c.channel.target, c.channel.kind) in taken]
            if all(_equal(taken[c.channel.target, c.channel.kind], c) for c in clashes):
                fresh = [c for c in new.curves if c not in clashes]
                joined = [*other.curves, *fresh]
                animations[i] = Curves(other.name, joined, other.labels, other.rate, other.about, other.moments)
                return
    animations.append(new)


def _equal(a: Curve, b: Curve) -> bool:
    return np.array_equal(a.times, b.times) and np.array_equal(a.values, b.values)
