"""Bake: an animation of a whole file as joints and vertices, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Asset
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.rig.ensemble import pose_all

# Four gigabytes of vertices: an hour at 30 fps of a 3,000-vertex character, or 10 s of a 1.4 million-vertex one.
LARGEST_BAKE = 4 << 30


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


def bake(asset: Asset, clip: str | None = None, rate: float | None = None, character: str | None = None) -> Bake:
    """World transforms of the joints and world positions of the vertices at each frame of a clip.

    Without a name the first clip is baked, and the rest pose where there is none. Several characters are baked side by
    side, their joints and vertices in the order of the file; `character` picks one of them.
    """
    chosen = asset.characters if character is None else (asset.character(character),)
    if not chosen:
        raise InvalidInput("there is no character to bake")
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
        parents.append(_kept_parents(one.skeleton.parents, one.joints, len(names)))
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
    if size > LARGEST_BAKE:
        raise InvalidInput(
            f"{frames} frames of {vertices} vertices would take {size / 1e9:.1f} GB, "
            f"more than the {LARGEST_BAKE / 1e9:.1f} GB allowed; choose a lower rate"
        )


def _kept_parents(parents: Array, kept: Array, offset: int) -> Array:
    """(B,) for each kept joint its nearest kept ancestor, numbered among the kept from `offset` on; -1 for none."""
    rank = np.full(len(parents), -1)
    rank[kept] = np.arange(len(kept))
    nearest = np.full(len(parents), -1)  # the nearest kept joint on the way up, the joint itself included
    for joint, parent in enumerate(parents):
        nearest[joint] = rank[joint] if rank[joint] >= 0 else (nearest[parent] if parent >= 0 else -1)
    above = np.where(parents[kept] >= 0, nearest[np.maximum(parents[kept], 0)], -1)
    return np.where(above >= 0, above + offset, -1)
