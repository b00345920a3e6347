"""Poses: a motion as the transforms of all joints, from a clip or a rig and back; local frames and distances of poses.

A clip names channels and may leave joints out; a rig maps controls to joints. `PoseSequence` has the transform of every
joint in every frame, and `clip_of` puts the result back into channels.

Local frame of a pose: position on the floor and heading of the figure, and nothing else [Yamane 2010, 4.1]. Height,
roll and pitch are part of a pose; the position on the floor and the heading are not. With the root joint at p, its
vectors up u and front f in the world, and v the vertical,

    origin = p projected to the floor;   Y = v;   Z = B f made horizontal and unit, B the single rotation with B u = v

so that a figure that bends over, or lies on its back, keeps the heading that it would have standing. The paper has z up
and x forward; here Y is up and Z forward.

Distances are those of poses as vectors of all their points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Asset, Channel, Character, Clip, Curves, Skeleton, kinematics, rig
from understudy.checks import Array
from understudy.maths import quaternion, transform, vector

UP = np.array([0.0, 1.0, 0.0])
FORWARD = np.array([0.0, 0.0, 1.0])
REST_TOLERANCE = 1e-9  # metres or quaternion components: a joint that is never further from rest does not move


@dataclass(frozen=True, eq=False)
class PoseSequence:
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
    def rest(cls, skeleton: Skeleton, frames: int = 1, rate: float = 30.0) -> PoseSequence:
        """The rest pose for a number of frames."""
        count = len(skeleton)
        translations = np.broadcast_to(skeleton.translations, (frames, count, 3))
        return cls(skeleton, translations, np.broadcast_to(skeleton.rotations, (frames, count, 4)), rate)

    def __len__(self) -> int:
        return len(self.translations)

    def __repr__(self) -> str:
        return f"PoseSequence({len(self)} frames at {self.rate:g} fps, {len(self.skeleton)} joints)"

    @cached_property
    def world(self) -> Array:
        """(F, J, 4, 4) world_from_joint."""
        s = self.skeleton
        return checks.freeze(kinematics.world_transforms(s.parents, self.translations, self.rotations, s.scales))

    def apply_transform(self, frames: Array) -> PoseSequence:
        """The whole figure moved rigidly in the world, each frame by its own of `frames` (F, 4, 4), or all by one."""
        frames = np.broadcast_to(np.asarray(frames, np.float64), (len(self), 4, 4))
        roots = self.skeleton.roots
        translations, rotations = np.array(self.translations), np.array(self.rotations)
        translations[:, roots] = transform.apply(frames[:, None], translations[:, roots])
        rotations[:, roots] = quaternion.multiply(quaternion.from_matrix(frames)[:, None], rotations[:, roots])
        return PoseSequence(self.skeleton, translations, rotations, self.rate)

    def row(self, frame: int) -> PoseSequence:
        """The pose of one frame."""
        return self.rows([frame])

    def rows(self, frames: Any) -> PoseSequence:
        """Some frames, by number, by a slice or by a mask."""
        return PoseSequence(self.skeleton, self.translations[frames], self.rotations[frames], self.rate)


def poses_of(
    asset: Asset | Character, animation: Clip | Curves | str | None = None, rate: float | None = None
) -> PoseSequence:
    """The motion of a character (the first of an asset), at its own rate or another; other joints rest.

    `animation` may be the name of one in the asset. Characters with controls are posed by their rig.
    """
    character = asset.character() if isinstance(asset, Asset) else asset
    if animation is None or isinstance(animation, str):
        named = asset if isinstance(asset, Asset) else Asset()
        animation = named.animation(animation)
    times = animation.frame_times(rate)
    return sample_poses(character, animation, times, animation.rate if rate is None else rate)


def sample_poses(character: Character, animation: Clip | Curves, times: Array, rate: float = 30.0) -> PoseSequence:
    """The poses of a character at given times (M,) of an animation."""
    posed = rig.rig_of(character)
    rows = posed.pose(animation, times)
    skeleton = character.skeleton
    count = len(skeleton)
    if isinstance(posed, rig.DirectRig):
        trs = rows[:, : 10 * count].reshape(len(rows), count, 10)
        return PoseSequence(skeleton, trs[..., :3], quaternion.unroll(trs[..., 3:7]), rate)
    local = kinematics.local_transforms(skeleton.parents, posed.joints(rows))
    translations, rotations, _ = transform.decompose(local)
    return PoseSequence(skeleton, translations, quaternion.unroll(rotations), rate)


def concatenate_poses(parts: list[PoseSequence]) -> PoseSequence:
    """Poses of one skeleton one after the other, at the rate of the first."""
    translations = np.concatenate([part.translations for part in parts])
    rotations = np.concatenate([part.rotations for part in parts])
    return PoseSequence(parts[0].skeleton, translations, rotations, parts[0].rate)


def clip_of(poses: PoseSequence, name: str, start: float = 0.0, labels: tuple[str, ...] = (), about: str = "") -> Clip:
    """The motion as a clip: rotations of the joints that leave their rest, translations likewise; roots always."""
    skeleton = poses.skeleton
    is_root = skeleton.parents < 0
    turned = 1 - np.abs(vector.dot(poses.rotations, skeleton.rotations)).min(axis=0)
    shifted = np.abs(poses.translations - skeleton.translations).max(axis=(0, 2))
    channels, columns = [], []
    for j, joint in enumerate(skeleton.names):
        if is_root[j] or shifted[j] > REST_TOLERANCE:
            channels.append(Channel(joint, "translation"))
            columns.append(poses.translations[:, j])
        if is_root[j] or turned[j] > REST_TOLERANCE:
            channels.append(Channel(joint, "rotation"))
            columns.append(poses.rotations[:, j])
    return Clip(name, channels, np.concatenate(columns, axis=1), poses.rate, start, labels, about)


def frames_of(origins: Array, fronts: Array, ups: Array) -> Array:
    """world_from_local (F, 4, 4) of roots at `origins` (F, 3) with world directions `fronts` and `ups` (F, 3)."""
    righted = quaternion.rotate(quaternion.from_two_vectors(ups, UP), fronts)
    righted[:, 1] = 0.0
    ahead = vector.normalise(righted, otherwise=FORWARD)
    frames = np.zeros((len(origins), 4, 4))
    frames[:, :3, 0] = np.cross(UP, ahead)
    frames[:, 1, 1] = 1.0
    frames[:, :3, 2] = ahead
    frames[:, 0, 3], frames[:, 2, 3] = origins[:, 0], origins[:, 2]
    frames[:, 3, 3] = 1.0
    return frames


def to_local(frames: Array, points: Array) -> Array:
    """Points (F, P, 3) of the world in the local frames (F, 4, 4)."""
    return transform.apply(transform.invert_rigid(frames)[:, None], points)


def squared_pose_distances(a: Array, b: Array) -> Array:
    """(M, N) squared distances of poses a (M, D) and b (N, D), never below zero.

    By |a|^2 + |b|^2 - 2 a.b about the mean of b: poses have hundreds of numbers, so that one matrix product is a
    hundred times as fast as differences. It loses digits below 1e-12 of the poses' spread, far less than the noise of a
    marker.
    """
    centre = b.mean(axis=0)
    a, b = a - centre, b - centre
    squares = np.einsum("md,md->m", a, a)[:, None] + np.einsum("nd,nd->n", b, b) - 2 * (a @ b.T)
    return np.maximum(squares, 0.0)
