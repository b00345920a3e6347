"""Writing an asset as a USD file: a SkelRoot for each character, with its Skeleton, meshes, materials and animations.

Metres, Y up, and time codes at the rate of the first animation. Each animation is a SkelAnimation prim of its own, the
first one is bound to the skeleton; labels, rates and helper joints are kept in customData under `understudy`.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Sdf, Tf, Usd, UsdGeom, UsdSkel, Vt

from understudy.character import Asset, Character, Clip, Curves, Skeleton
from understudy.errors import InvalidInput, Unsupported
from understudy.formats.conventions import Notes
from understudy.formats.usd import library, splines, write_joints, write_mesh
from understudy.formats.usd.splines import PrimNames, set_display_name
from understudy.formats.usd.write_joints import JointPlan, PoseTrack, SampledPoses, is_half
from understudy.formats.usd.write_mesh import Pictures, UsdMaterials

SCALE_TOLERANCE_RATIO = 1e-5  # smaller errors, as exporters leave in a scale of 1, are not noted


def write(asset: Asset, path: Path) -> list[str]:
    """Write an asset; returns notes on what was lost."""
    if not asset.characters and not asset.animations:
        raise InvalidInput("there is nothing to write: no character and no animation")
    notes = Notes()
    with library.quiet():
        try:
            if path.suffix.lower() == ".usdz":
                with tempfile.TemporaryDirectory() as folder:
                    layer = Path(folder) / "character.usdc"
                    names = [layer.name, *_write(asset, layer, notes)]
                    _pack(path, Path(folder), names)
            else:
                _write(asset, path, notes)
        except Tf.ErrorException as error:
            raise Unsupported(path, f"cannot be written: {library.first_message(error)}") from None
    return notes.lines()


def _write(asset: Asset, path: Path, notes: Notes) -> list[str]:
    """One layer and its pictures; returns the names of the pictures."""
    stage = Usd.Stage.CreateInMemory()
    pictures = Pictures(path.parent, notes)
    _author(stage, asset, pictures, notes)
    if not stage.GetRootLayer().Export(str(path)):
        raise Unsupported(path, "cannot be written by the USD library")
    pictures.write()
    return list(pictures.files)


def _pack(path: Path, folder: Path, names: list[str]) -> None:
    with Sdf.ZipFileWriter.CreateNew(str(path)) as package:
        for name in names:
            package.AddFile(str(folder / name), name)
    if not zipfile.is_zipfile(path):  # the library does not notice a full disk; a zip's directory comes last
        raise Unsupported(path, "cannot be written whole: there is no space left for it")


def _author(stage: Usd.Stage, asset: Asset, pictures: Pictures, notes: Notes) -> None:
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    rate = asset.animations[0].rate if asset.animations else 24.0
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    if asset.animations:
        ends = [(s.start, s.end) for s in map(write_joints.source_of, asset.animations)]
        stage.SetStartTimeCode(min(start for start, _ in ends) * rate)
        stage.SetEndTimeCode(max(end for _, end in ends) * rate)
    above = Sdf.Path.absoluteRootPath
    names = PrimNames()
    if len(asset.characters) != 1:
        above = above.AppendChild(names.new("Asset"))
        stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, above).GetPrim())
    placed: dict[str, set[tuple[str, str]]] = {animation.name: set() for animation in asset.animations}
    for character in asset.characters:
        root = _author_character(stage, above, names, character, asset.animations, pictures, notes, placed)
        if len(asset.characters) == 1:
            stage.SetDefaultPrim(root.GetPrim())
    for animation in asset.animations:
        if not asset.characters:
            _author_loose(stage, above, names, animation, notes)
        else:
            _note_unplaced(animation, placed[animation.name], notes)


def _author_character(
    stage: Usd.Stage,
    above: Sdf.Path,
    names: PrimNames,
    character: Character,
    animations: tuple[Curves | Clip, ...],
    pictures: Pictures,
    notes: Notes,
    placed: dict[str, set[tuple[str, str]]],
) -> UsdSkel.Root:
    root = UsdSkel.Root.Define(stage, above.AppendChild(names.new(character.name)))
    set_display_name(root.GetPrim(), character.name)
    shapes = write_joints.shapes_of(character)
    poses = [write_joints.sample_poses(animation, character.skeleton, shapes, notes) for animation in animations]
    for one in poses:
        placed[one.name] |= one.matched
    poses = [one for one in poses if one.matched]
    plan = write_joints.plan_joints(character.skeleton, poses)
    bound = write_joints.bind_parts(plan, character, notes)
    below = PrimNames()
    skeleton = UsdSkel.Skeleton.Define(stage, root.GetPath().AppendChild(below.new("Skeleton")))
    write_joints.author_skeleton(plan, skeleton, character)
    materials = UsdMaterials(stage, root.GetPath().AppendChild(below.new("Materials")), pictures)
    tokens = write_mesh.name_tokens(character.shapes)
    scope = root.GetPath().AppendChild(below.new("Animations"))
    for number, part in enumerate(character.parts):
        if number not in bound:
            continue
        place = str(root.GetPath().AppendChild(below.new(part.name)))
        mesh = write_mesh.author_mesh(stage, place, part.mesh, materials, notes)
        set_display_name(mesh.GetPrim(), part.name)
        if part.mesh.name != part.name:
            mesh.GetPrim().SetCustomDataByKey("understudy:mesh", part.mesh.name)
        write_mesh.bind_mesh(mesh, part.skin, bound[number], plan, skeleton)
        if part.mesh.shapes is not None:
            part_tokens = [tokens[part.name, name] for name in part.mesh.shapes.names]
            write_mesh.author_shapes(stage, mesh.GetPrim(), part.mesh.shapes, part_tokens)
    _author_animations(stage, scope, poses, plan, tokens, skeleton, notes)
    return root


def _author_animations(
    stage: Usd.Stage,
    scope: Sdf.Path,
    poses: list[SampledPoses],
    plan: write_joints.JointPlan,
    tokens: dict[tuple[str, str], str],
    skeleton: UsdSkel.Skeleton,
    notes: Notes,
) -> None:
    """The animations of one character, the first of them bound."""
    if poses:
        UsdGeom.Scope.Define(stage, scope)
    names = PrimNames()
    binding = UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    for number, one in enumerate(poses):
        path = str(scope.AppendChild(names.new(one.name)))
        animation = author_animation(stage, path, one, plan, tokens, notes)
        set_display_name(animation.GetPrim(), one.name)
        if number == 0:
            binding.CreateAnimationSourceRel().SetTargets([animation.GetPath()])


def _author_loose(stage: Usd.Stage, above: Sdf.Path, names: PrimNames, animation: Curves | Clip, notes: Notes) -> None:
    """An animation without a character: its joints are all roots, its shapes are driven by name."""
    source = write_joints.source_of(animation)
    channels = [c.channel for c in source.curves]
    targets = dict.fromkeys(c.target for c in channels if c.kind in write_joints.JOINT_CHANNEL_KINDS)
    skeleton = Skeleton(targets, np.full(len(targets), -1), np.zeros((len(targets), 3)))
    shapes = {c.target: dict.fromkeys(c.columns, 0.0) for c in channels if c.kind == "weights"}
    poses = write_joints.sample_poses(animation, skeleton, shapes, notes)
    if poses.matched:
        plan = write_joints.plan_joints(skeleton, [poses])
        tokens = write_mesh.name_tokens({part: tuple(columns) for part, columns in shapes.items()})
        path = str(above.AppendChild(names.new(animation.name)))
        set_display_name(author_animation(stage, path, poses, plan, tokens, notes).GetPrim(), animation.name)
    _note_unplaced(animation, poses.matched, notes)


def _note_unplaced(animation: Curves | Clip, placed: set[tuple[str, str]], notes: Notes) -> None:
    left = [c for c in animation.channels if (c.target, c.kind) not in placed]
    if left:
        notes.add(
            f"{animation.name}: {len(left)} channels have no place in the USD file and were left out "
            f"(first: {left[0].kind} of {left[0].target!r})"
        )


def author_animation(
    stage: Usd.Stage,
    path: str,
    poses: SampledPoses,
    plan: JointPlan | None,
    tokens: dict[tuple[str, str], str],
    notes: Notes,
) -> UsdSkel.Animation:
    """One animation. `plan` has the paths of the joints, `tokens` the name by which each shape of a part is driven."""
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
        splines.author_splines(prim, poses.bent, rate)
    return animation


def _scales(animation: UsdSkel.Animation, poses: SampledPoses, plan: JointPlan, rate: float, notes: Notes) -> None:
    track = poses.tracks["scale"]
    values = track.values.copy()
    split = [a for a, joint in enumerate(poses.joints) if plan.upper[int(joint)] != plan.carrier[int(joint)]]
    values[:, split] = 1.0
    with np.errstate(over="ignore"):
        _samples(animation.CreateScalesAttr(), PoseTrack(track.times, values), rate, Vt.Vec3hArray, np.float16)
    if not is_half(values):
        full = animation.GetPrim().CreateAttribute("understudy:scales", Sdf.ValueTypeNames.Float3Array, custom=True)
        _samples(full, PoseTrack(track.times, values), rate, Vt.Vec3fArray, np.float32)
        with np.errstate(over="ignore"):
            error = np.abs(values.astype(np.float16) / np.where(values == 0, 1, values) - 1)[values != 0].max()
        if error > SCALE_TOLERANCE_RATIO:
            notes.add(
                "scales that change are half floats in UsdSkel, up to 5e-4 off for other readers "
                "(understudy keeps them in full beside): {}",
                poses.name,
            )


def _samples(attribute: Usd.Attribute, track: PoseTrack, rate: float, kind: Any, dtype: Any) -> None:
    """Write the samples of one attribute; where nothing changes, only the first and the last."""
    values = np.ascontiguousarray(track.values.astype(dtype))
    times = track.times * rate
    if len(times) > 2 and (values == values[:1]).all():
        values, times = values[[0, -1]], times[[0, -1]]
    for time, value in zip(times, values):
        attribute.Set(kind.FromNumpy(value), Usd.TimeCode(float(time)))
