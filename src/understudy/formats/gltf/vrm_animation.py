"""VRM animations (`.vrma`): motion of a humanoid skeleton and of expressions, in and out, and played on an avatar.

They are played as the specification says [VRMC_vrm_animation-1.0]: rotations are taken out of the rest pose
of the animation's skeleton and put into that of the avatar,

    q_target = P_t^-1 (P_s q_source W_s^-1) P_t r_t,

with W_s the rest rotation of the source's bone in the world, P_s and P_t those of the parents, and r_t the target's own
rest rotation; the hips' position is scaled by the ratio of the hips' heights. VRM 0 avatars face -Z, so the part in
brackets is turned by half a turn about Y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from understudy.character import Asset, Channel, Character, Clip, Curves, Skeleton, kinematics
from understudy.character.asset import REQUIRED_BONES, Avatar
from understudy.checks import Array
from understudy.errors import Unsupported
from understudy.formats.conventions import put_joint_above
from understudy.formats.gltf.vrm import ANIMATION, NodeReference, vrm1_name
from understudy.maths import quaternion


def split_expressions(curves: Curves, avatar: Avatar) -> Curves:
    """A VRM animation with the expressions as weights: in the file, the x of a node's translation is the weight."""
    settings = avatar.settings.get(ANIMATION) or {}
    names = {
        value["node"].name: name
        for group in ("preset", "custom")
        for name, value in ((settings.get("expressions") or {}).get(group) or {}).items()
        if isinstance(value, dict) and isinstance(value.get("node"), NodeReference)
    }
    result = []
    for curve in curves.curves:
        name = names.get(curve.channel.target)
        if name is None:
            result.append(curve)
        elif curve.channel.kind == "translation":
            values, before, after = curve.values[:, :1], curve.before[:, :1], curve.after[:, :1]
            result.append(
                replace(curve, channel=Channel("", "weights", (name,)), values=values, before=before, after=after)
            )
    return replace(curves, curves=tuple(result))


def play_on(source: Asset, target: Character) -> Asset:
    """VRM animations on an avatar.

    Args:
        source: The asset of a `.vrma` file.
        target: A character with human bones: of a VRM file, or with joints named like bones.

    Returns:
        An asset with the target and one clip for each animation, at the rate of its keys; hair and clothes swing.
    """
    from understudy.character.body.bone_names import human_bones
    from understudy.character.body.spring_bones import add_spring_motion

    actor = source.character()
    sources, targets = human_bones(actor), human_bones(target)
    bones = [bone for bone in sources if bone in targets]
    if "Hips" not in bones:
        raise Unsupported(source.format, "the animation and the character have no hips in common")
    backward = target.avatar is not None and target.avatar.faces_backward
    notes = list(source.notes)
    left_out = sorted(set(sources) - set(bones))
    if left_out:
        notes.append(f"bones of the animation that the avatar does not have were left out ({len(left_out)})")
    clips = [_play(clip, actor, target, bones, sources, targets, backward) for clip in map(_dense, source.animations)]
    clips = [add_spring_motion(target, clip) for clip in clips]
    return Asset([target], clips, notes=notes, format=source.format)


def _dense(animation: Clip | Curves) -> Clip:
    return animation.clip() if isinstance(animation, Curves) else animation


def _play(
    clip: Clip,
    actor: Character,
    target: Character,
    bones: list[str],
    sources: Mapping[str, int],
    targets: Mapping[str, int],
    backward: bool,
) -> Clip:
    source_rest, target_rest = _rest_pose(actor.skeleton), _rest_pose(target.skeleton)
    # half a turn about Y: x and z change their sign, of vectors and of the axes of rotations
    turn = np.array([-1.0, 1.0, -1.0]) if backward else np.ones(3)
    channels, columns = [], []
    for bone in bones:
        s, t = sources[bone], targets[bone]
        local = clip.get(actor.skeleton.names[s], "rotation")
        if local is not None:
            above, own = source_rest.above(s), source_rest.rotations[s]
            free = quaternion.multiply(quaternion.multiply(above, local), quaternion.inverse(own))
            free = free * np.append(turn, 1.0)
            frame = target_rest.above(t)
            moved = quaternion.multiply(quaternion.multiply(quaternion.inverse(frame), free), frame)
            channels.append(Channel(target.skeleton.names[t], "rotation"))
            columns.append(quaternion.unroll(quaternion.multiply(moved, target.skeleton.rotations[t])))
    hips = clip.get(actor.skeleton.names[sources["Hips"]], "translation")
    if hips is not None:
        s, t = sources["Hips"], targets["Hips"]
        place = hips @ source_rest.matrix_above(s)[:3, :3].T + source_rest.matrix_above(s)[:3, 3]
        height = float(source_rest.matrices[s, 1, 3])
        place = place * turn * (float(target_rest.matrices[t, 1, 3]) / height if abs(height) > 1e-9 else 1.0)
        inverse = np.linalg.inv(target_rest.matrix_above(t))
        channels.append(Channel(target.skeleton.names[t], "translation"))
        columns.append(place @ inverse[:3, :3].T + inverse[:3, 3])
    weights = _expression_weights(clip, target)
    values = [*columns, *(value for _, value in weights)]
    names = [*channels, *(channel for channel, _ in weights)]
    if not names:
        raise Unsupported(clip.name, "the animation moves nothing that the avatar has")
    return Clip(clip.name, names, np.concatenate(values, axis=1), clip.rate, clip.start, clip.labels, clip.about)


def _expression_weights(clip: Clip, target: Character) -> list[tuple[Channel, Array]]:
    """The weights of shapes that the expressions of a clip move, one channel a part."""
    if target.avatar is None:
        return []
    strengths: dict[str, Array] = {}
    for channel in clip.channels:
        if channel.kind == "weights" and channel.target == "":
            strengths |= dict(zip(channel.columns, clip.values[:, clip.channels.slice("", "weights")].T))
    parts: dict[str, Array] = {}
    for (part, shape), weight in target.avatar.shape_weights(strengths).items():
        names = target.shapes[part]
        table = parts.setdefault(part, np.zeros((len(clip), len(names))))
        table[:, names.index(shape)] += weight
    return [(Channel(part, "weights", target.shapes[part]), table) for part, table in parts.items()]


class RestPose(NamedTuple):
    """A skeleton at rest in the world."""

    parents: Array  # (J,)
    matrices: Array  # (J, 4, 4)
    rotations: Array  # (J, 4)

    def above(self, joint: int) -> Array:
        """(4,) the rotation of the parent."""
        parent = int(self.parents[joint])
        return np.array(quaternion.IDENTITY) if parent < 0 else self.rotations[parent]

    def matrix_above(self, joint: int) -> Array:
        """(4, 4) the matrix of the parent."""
        parent = int(self.parents[joint])
        return np.eye(4) if parent < 0 else self.matrices[parent]


def _rest_pose(skeleton: Skeleton) -> RestPose:
    matrices = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    rotations = np.array(skeleton.rotations)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            rotations[joint] = quaternion.multiply(rotations[parent], rotations[joint])
    return RestPose(skeleton.parents, matrices, rotations)


def animation_asset(asset: Asset, path: Path) -> Asset:
    """The asset to write as a VRM animation: the bare skeleton with its bones, and what moves them.

    Rotations of bones and the hips' translation are written; the rest, expressions too, is noted as lost.
    """
    from understudy.character.body.bone_names import human_bones

    character = asset.character()
    names = character.skeleton.names
    bones = {bone: names[joint] for bone, joint in human_bones(character).items() if bone not in ("Jaw",)}
    missing = [bone for bone in REQUIRED_BONES if bone not in bones]
    if missing:
        raise Unsupported(path, f"a VRM animation needs a humanoid, but no joint is named like: {', '.join(missing)}")
    skeleton = character.skeleton
    if character.avatar is not None and character.avatar.faces_backward:
        skeleton = _turn_roots(skeleton)
    humanoid = {vrm1_name(bone): {"node": NodeReference("joint", name)} for bone, name in bones.items()}
    settings = {ANIMATION: {"specVersion": "1.0", "humanoid": {"humanBones": humanoid}}}
    avatar = Avatar("1.0", bones, settings=settings)
    bare = Character(character.name, skeleton, bones=np.arange(len(skeleton)), avatar=avatar)
    kept = {(name, "rotation") for name in bones.values()} | {(bones["Hips"], "translation")}
    clips, notes = [], list(asset.notes)
    for clip in map(_dense, asset.animations):
        fitting = [channel for channel in clip.channels if (channel.target, channel.kind) in kept]
        if len(fitting) < len(clip.channels):
            lost = len(clip.channels) - len(fitting)
            notes.append(f"channels of {clip.name!r} that a VRM animation does not hold were lost ({lost})")
        if fitting:
            values = [clip.values[:, clip.channels.slice(channel.target, channel.kind)] for channel in fitting]
            clips.append(Clip(clip.name, fitting, np.concatenate(values, axis=1), clip.rate, clip.start, clip.labels))
    return Asset([bare], clips, notes=notes, format=asset.format)


def _turn_roots(skeleton: Skeleton) -> Skeleton:
    """The skeleton below one more joint that is turned by half a turn about Y, so that it faces +Z."""
    skeleton = put_joint_above(skeleton)
    rotations = np.array(skeleton.rotations)
    rotations[0] = (0.0, 1.0, 0.0, 0.0)
    return replace(skeleton, rotations=rotations)
