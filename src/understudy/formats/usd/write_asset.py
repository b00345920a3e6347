"""From an asset to a USD file: a SkelRoot for each character, with its Skeleton, meshes, materials and animations.

Metres, Y up, and time codes at the rate of the first animation. Each animation is a SkelAnimation prim of its own, the
first one is bound to the skeleton; labels, rates and helper joints stand in customData under `understudy`.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import numpy as np
from pxr import Sdf, Tf, Usd, UsdGeom, UsdSkel

from understudy.character import Asset, Character, Clip, Curves, Skeleton
from understudy.errors import InvalidInput, Unsupported
from understudy.formats.usd import (
    library,
    write_animation,
    write_joints,
    write_mesh,
    write_poses,
    write_shapes,
)
from understudy.formats.usd.notes import Notes
from understudy.formats.usd.write_material import Materials, Pictures
from understudy.formats.usd.write_names import Names, show
from understudy.formats.usd.write_poses import Poses


def write(asset: Asset, path: Path) -> list[str]:
    """Write an asset; returns what was lost."""
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
        ends = [(s.start, s.end) for s in map(write_poses.source_of, asset.animations)]
        stage.SetStartTimeCode(min(start for start, _ in ends) * rate)
        stage.SetEndTimeCode(max(end for _, end in ends) * rate)
    above = Sdf.Path.absoluteRootPath
    names = Names()
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
    names: Names,
    character: Character,
    animations: tuple[Curves | Clip, ...],
    pictures: Pictures,
    notes: Notes,
    placed: dict[str, set[tuple[str, str]]],
) -> UsdSkel.Root:
    root = UsdSkel.Root.Define(stage, above.AppendChild(names.new(character.name)))
    show(root.GetPrim(), character.name)
    shapes = write_poses.shapes_of(character)
    poses = [write_poses.poses(animation, character.skeleton, shapes, notes) for animation in animations]
    for one in poses:
        placed[one.name] |= one.matched
    poses = [one for one in poses if one.matched]
    plan = write_joints.plan(character.skeleton, poses)
    bound = write_joints.bind(plan, character, notes)
    below = Names()
    skeleton = UsdSkel.Skeleton.Define(stage, root.GetPath().AppendChild(below.new("Skeleton")))
    write_joints.author(plan, skeleton, character)
    materials = Materials(stage, root.GetPath().AppendChild(below.new("Materials")), pictures)
    tokens = write_shapes.name_tokens(character.shapes)
    scope = root.GetPath().AppendChild(below.new("Animations"))
    for number, part in enumerate(character.parts):
        if number not in bound:
            continue
        place = str(root.GetPath().AppendChild(below.new(part.name)))
        mesh = write_mesh.author(stage, place, part.mesh, materials, notes)
        show(mesh.GetPrim(), part.name)
        if part.mesh.name != part.name:
            mesh.GetPrim().SetCustomDataByKey("understudy:mesh", part.mesh.name)
        write_mesh.bind(mesh, part.skin, bound[number], plan, skeleton)
        if part.mesh.shapes is not None:
            own = [tokens[part.name, name] for name in part.mesh.shapes.names]
            write_shapes.author(stage, mesh.GetPrim(), part.mesh.shapes, own)
    _author_animations(stage, scope, poses, plan, tokens, skeleton, notes)
    return root


def _author_animations(
    stage: Usd.Stage,
    scope: Sdf.Path,
    poses: list[Poses],
    plan: write_joints.Plan,
    tokens: dict[tuple[str, str], str],
    skeleton: UsdSkel.Skeleton,
    notes: Notes,
) -> None:
    """The animations of one character, the first of them bound."""
    if poses:
        UsdGeom.Scope.Define(stage, scope)
    names = Names()
    binding = UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    for number, one in enumerate(poses):
        path = str(scope.AppendChild(names.new(one.name)))
        animation = write_animation.author(stage, path, one, plan, tokens, notes)
        show(animation.GetPrim(), one.name)
        if number == 0:
            binding.CreateAnimationSourceRel().SetTargets([animation.GetPath()])


def _author_loose(stage: Usd.Stage, above: Sdf.Path, names: Names, animation: Curves | Clip, notes: Notes) -> None:
    """An animation without a character: its joints stand side by side, its shapes are driven by name."""
    source = write_poses.source_of(animation)
    targets = dict.fromkeys(c.channel.target for c in source.curves if c.channel.kind in write_poses.MOVES)
    skeleton = Skeleton(targets, np.full(len(targets), -1), np.zeros((len(targets), 3)))
    shapes = {
        c.channel.target: dict.fromkeys(c.channel.columns, 0.0) for c in source.curves if c.channel.kind == "weights"
    }
    poses = write_poses.poses(animation, skeleton, shapes, notes)
    if poses.matched:
        plan = write_joints.plan(skeleton, [poses])
        tokens = write_shapes.name_tokens({part: tuple(columns) for part, columns in shapes.items()})
        path = str(above.AppendChild(names.new(animation.name)))
        show(write_animation.author(stage, path, poses, plan, tokens, notes).GetPrim(), animation.name)
    _note_unplaced(animation, poses.matched, notes)


def _note_unplaced(animation: Curves | Clip, placed: set[tuple[str, str]], notes: Notes) -> None:
    left = [c for c in animation.channels if (c.target, c.kind) not in placed]
    if left:
        notes.add(
            f"{animation.name}: {len(left)} channels have no place in the USD file and were left out "
            f"(first: {left[0].kind} of {left[0].target!r})"
        )
