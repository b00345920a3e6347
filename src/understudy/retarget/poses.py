"""Poses: a motion as the transforms of joints, whoever drives them.

A clip names channels and may leave joints out; a rig may stand between controls and joints. Transfer wants neither: it
wants to know where every joint is in every frame, and to put the result back into channels at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks, rig
from understudy.character import Asset, Channel, Character, Clip, Curves, Skeleton, kinematics
from understudy.checks import Array
from understudy.maths import linear, quaternion, transform

AT_REST = 1e-9  # metres or quaternion components: a joint that is never further from rest than this does not move


@dataclass(frozen=True, eq=False)
class Poses:
    """F poses of a skeleton. Joints keep the scales of the rest pose."""

    skeleton: Skeleton
    translations: Array  # (F, J, 3) parent_from_joint, metres
    rotations: Array  # (F, J, 4) x, y, z, w
    rate: float  # frames a second

    def __post_init__(self) -> None:
        count = len(self.skeleton)
        frames = len(np.asarray(self.translations))
        object.__setattr__(self, "translations", checks.array(self.translations, "translations", (frames, count, 3)))
        object.__setattr__(self, "rotations", checks.unit_quaternions(self.rotations, "rotations", (frames, count, 4)))
        object.__setattr__(self, "rate", checks.positive(self.rate, "rate of the poses"))

    @classmethod
    def rest(cls, skeleton: Skeleton, frames: int = 1, rate: float = 30.0) -> Poses:
        """The rest pose, some frames long."""
        count = len(skeleton)
        translations = np.broadcast_to(skeleton.translations, (frames, count, 3))
        return cls(skeleton, translations, np.broadcast_to(skeleton.rotations, (frames, count, 4)), rate)

    def __len__(self) -> int:
        return len(self.translations)

    def __repr__(self) -> str:
        return f"Poses({len(self)} frames at {self.rate:g} fps, {len(self.skeleton)} joints)"

    @cached_property
    def world(self) -> Array:
        """(F, J, 4, 4) world_from_joint."""
        s = self.skeleton
        return checks.freeze(kinematics.world_transforms(s.parents, self.translations, self.rotations, s.scales))

    def moved(self, frames: Array) -> Poses:
        """The whole figure moved rigidly, each frame by its `frames` (F, 4, 4) (or one (4, 4)) times its world."""
        frames = np.broadcast_to(np.asarray(frames, np.float64), (len(self), 4, 4))
        roots = self.skeleton.roots
        translations, rotations = np.array(self.translations), np.array(self.rotations)
        translations[:, roots] = transform.apply(frames[:, None], translations[:, roots])
        rotations[:, roots] = quaternion.multiply(quaternion.from_matrix(frames)[:, None], rotations[:, roots])
        return Poses(self.skeleton, translations, rotations, self.rate)

    def row(self, frame: int) -> Poses:
        """The pose of one frame."""
        return self.rows([frame])

    def rows(self, frames: Any) -> Poses:
        """Some frames, by number, by a slice or by a mask."""
        return Poses(self.skeleton, self.translations[frames], self.rotations[frames], self.rate)


def joined(parts: list[Poses]) -> Poses:
    """Poses of one skeleton one after the other, at the rate of the first."""
    translations = np.concatenate([part.translations for part in parts])
    rotations = np.concatenate([part.rotations for part in parts])
    return Poses(parts[0].skeleton, translations, rotations, parts[0].rate)


def poses_of(
    asset: Asset | Character, animation: Clip | Curves | str | None = None, rate: float | None = None
) -> Poses:
    """The motion of a character (the first of an asset), at its own rate or another; what is not moved rests.

    `animation` may be the name of one in the asset. Characters that controls drive are posed by their rig.
    """
    character = asset.character() if isinstance(asset, Asset) else asset
    if animation is None or isinstance(animation, str):
        checks_asset = asset if isinstance(asset, Asset) else Asset()
        animation = checks_asset.animation(animation)
    times = animation.frame_times(rate)
    return posed_at(character, animation, times, animation.rate if rate is None else rate)


def posed_at(character: Character, animation: Clip | Curves, times: Array, rate: float = 30.0) -> Poses:
    """The poses of a character at given times (M,) of an animation."""
    found = rig.of(character)
    rows = found.pose(animation, times)
    skeleton = character.skeleton
    count = len(skeleton)
    if isinstance(found, rig.DirectRig):
        trs = rows[:, : 10 * count].reshape(len(rows), count, 10)
        return Poses(skeleton, trs[..., :3], quaternion.unroll(trs[..., 3:7]), rate)
    local = kinematics.local_transforms(skeleton.parents, found.joints(rows))
    translations, rotations, _ = transform.decompose(local)
    return Poses(skeleton, translations, quaternion.unroll(rotations), rate)


def clip_of(poses: Poses, name: str, start: float = 0.0, labels: tuple[str, ...] = (), about: str = "") -> Clip:
    """The motion as a clip: rotations of the joints that leave their rest, translations likewise; roots always."""
    skeleton = poses.skeleton
    is_root = skeleton.parents < 0
    turned = 1 - np.abs(linear.dot(poses.rotations, skeleton.rotations)).min(axis=0)
    shifted = np.abs(poses.translations - skeleton.translations).max(axis=(0, 2))
    channels, columns = [], []
    for j, joint in enumerate(skeleton.names):
        if is_root[j] or shifted[j] > AT_REST:
            channels.append(Channel(joint, "translation"))
            columns.append(poses.translations[:, j])
        if is_root[j] or turned[j] > AT_REST:
            channels.append(Channel(joint, "rotation"))
            columns.append(poses.rotations[:, j])
    return Clip(name, channels, np.concatenate(columns, axis=1), poses.rate, start, labels, about)
