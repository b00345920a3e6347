"""Baking: an animation of a whole file as joints and vertices, frame by frame. All characters share one animation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Asset, Character, Clip, Curves
from understudy.character.rig.layered import LayeredRig
from understudy.character.rig.rig import DirectRig, PosedRig
from understudy.checks import Array
from understudy.errors import InvalidInput

# Four gigabytes of vertices: an hour at 30 fps of a 3,000-vertex character, or 10 s of a 1.4 million-vertex one.
MAX_BAKE_BYTES = 4 << 30


@dataclass(frozen=True, eq=False)
class Bake:
    """One animation frame by frame. Arrays are checked, not copied."""

    times: Array  # (F,) seconds
    joint_names: tuple[str, ...]  # (J,)
    joints: Array  # (F, J, 4, 4) world_from_joint
    vertices: Array  # (F, V, 3) float32, world
    triangles: Array  # (T, 3) int32
    parents: Array | None = None  # (J,) -1 for a root; None where unknown

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        frames, joints = len(self.times), len(names)
        fields: dict[str, Any] = {
            "times": checks.array(self.times, "times", (frames,)),
            "joint_names": names,
            "joints": checks.large_array(self.joints, "joints", (frames, joints, 4, 4), np.float64),
            "vertices": checks.large_array(self.vertices, "vertices", (frames, None, 3), np.float32),
            "triangles": checks.array(self.triangles, "triangles", ("T", 3), np.int32),
            "parents": None if self.parents is None else checks.array(self.parents, "parents", (joints,), np.int64),
        }
        if frames == 0:
            raise InvalidInput("a bake should have at least one frame, but has none")
        checks.indices(fields["triangles"], "triangles", fields["vertices"].shape[1])
        if fields["parents"] is not None:
            checks.indices(fields["parents"], "joint parents", joints, lowest=-1)
        for key, value in fields.items():
            object.__setattr__(self, key, value)


def rig_of(character: Character) -> PosedRig:
    """The rig of a character: poses are rows, which it turns into joints and vertices.

    Args:
        character: The character.

    Returns:
        A rig of its controls where it has layers, else of its joints and shape weights.

    Example:
        >>> lamp = us.load("lamp")
        >>> rig = us.rig_of(lamp.character())
        >>> rows = rig.pose(lamp.animation("hop"))
        >>> rig.joints(rows).shape == (len(rows), len(rig.character.skeleton), 4, 4)
        True
    """
    return DirectRig(character) if character.layers is None else LayeredRig(character)


def pose_all(
    characters: Sequence[Character], animation: Clip | Curves | None, times: Array
) -> list[tuple[PosedRig, Array]]:
    """The rig of each character and its rows (M, C) at `times` (M,); those that the animation does not move rest.

    An animation that moves none of them is refused; without one all rest.
    """
    rigs = [rig_of(character) for character in characters]
    if animation is None or not rigs:
        return [(rig, np.tile(rig.rest, (len(times), 1))) for rig in rigs]
    moved = [rig.is_moved_by(animation) for rig in rigs]
    if not any(moved):
        moved[0] = True  # `pose` raises and gives the reason
    return [
        (rig, rig.pose(animation, times) if moves else np.tile(rig.rest, (len(times), 1)))
        for rig, moves in zip(rigs, moved)
    ]


def bake(asset: Asset, clip: str | None = None, rate: float | None = None, character: str | None = None) -> Bake:
    """Joint transforms and vertex positions at each frame of an animation.

    Args:
        asset: Characters with their animations; several characters are baked side by side, in the order of the file.
        clip: Name of the animation; None takes the first, or the rest pose where nothing moves.
        rate: Frames a second; None takes that of the animation.
        character: Name of the only character to bake; None bakes all.

    Returns:
        A `Bake`: `times` (F,) in seconds, `joints` (F, J, 4, 4) world_from_joint, `vertices` (F, V, 3) in metres,
        `triangles` (T, 3), `joint_names` and `parents`.

    Raises:
        InvalidInput: If there is no character, no such animation, or the result would be larger than 4 GB.

    Example:
        >>> baked = us.bake(us.load("lamp"), "hop", rate=10)
        >>> baked.joints.shape == (len(baked.times), len(baked.joint_names), 4, 4), len(baked.times)
        (True, 61)
    """
    chosen = asset.characters if character is None else (asset.character(character),)
    if not chosen:
        raise InvalidInput("there is no character to bake in this asset")
    still = clip is None and not asset.animations
    animation = None if still else asset.animation(clip)
    times = np.zeros(1) if animation is None else animation.frame_times(rate)
    _refuse_too_large(len(times), sum(c.vertex_count for c in chosen))

    names: list[str] = []
    parents: list[Array] = []
    joints, vertices, triangles = [], [], []
    vertex_start = 0
    for one, (rig, values) in zip(chosen, pose_all(chosen, animation, times)):
        joints.append(rig.joints(values)[:, one.joints])
        vertices.append(rig.vertices(values))
        triangles.append(one.triangles + vertex_start)
        parents.append(_parents_among_kept(one.skeleton.parents, one.joints, len(names)))
        names.extend(one.skeleton.names[j] for j in one.joints)
        vertex_start += one.vertex_count
    return Bake(
        times=times,
        joint_names=tuple(names),
        joints=np.concatenate(joints, axis=1),
        vertices=np.concatenate(vertices, axis=1),
        triangles=np.concatenate(triangles),
        parents=np.concatenate(parents),
    )


def _refuse_too_large(frames: int, vertices: int) -> None:
    size = frames * vertices * 12
    if size > MAX_BAKE_BYTES:
        raise InvalidInput(
            f"{frames} frames of {vertices} vertices would take {size / 1e9:.1f} GB, "
            f"more than the {MAX_BAKE_BYTES / 1e9:.1f} GB allowed; choose a lower rate"
        )


def _parents_among_kept(parents: Array, kept: Array, offset: int) -> Array:
    """(B,) for each kept joint its nearest kept ancestor, numbered among the kept from `offset` on; -1 for none."""
    rank = np.full(len(parents), -1)
    rank[kept] = np.arange(len(kept))
    nearest = np.full(len(parents), -1)  # the nearest kept joint on the path up, the joint itself included
    for joint, parent in enumerate(parents):
        nearest[joint] = rank[joint] if rank[joint] >= 0 else (nearest[parent] if parent >= 0 else -1)
    above = np.where(parents[kept] >= 0, nearest[np.maximum(parents[kept], 0)], -1)
    return np.where(above >= 0, above + offset, -1)
