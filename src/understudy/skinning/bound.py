"""A character's parts in one space: where all its joints and all its vertices were when they were bound.

Each skin of a file has inverse binds of its own, from its own mesh's space. Two meshes bound to one skeleton in one
pose differ by a fixed transform, bind_j @ inverse_bind_j of any joint j that both know; so all can be brought into the
space of the first. A part that hangs rigidly on a joint goes where that joint was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Part, Skin, kinematics
from understudy.checks import Array
from understudy.maths import transform


@dataclass(frozen=True, eq=False)
class Bound:
    """Parts of a character with the B joints that carry it, all in one space."""

    parts: tuple[Part, ...]
    joints: Array  # (B,) numbers in the skeleton
    names: tuple[str, ...]  # B
    parents: Array  # (B,) into joints, -1 for a root
    binds: Array  # (B, 4, 4) bound_from_joint
    spaces: tuple[Array, ...]  # bound_from_mesh (4, 4) of each part
    vertices: Array  # (V, 3) of all parts
    triangles: Array  # (T, 3)

    @property
    def starts(self) -> Array:
        """(parts + 1,) where each part's vertices begin."""
        return np.concatenate([[0], np.cumsum([len(part.mesh.vertices) for part in self.parts])]).astype(int)

    def skins(self, influences: Array, weights: Array, method: str = "linear") -> list[Skin]:
        """A skin for each part, of joints (V, K) and weights (V, K) of all of them."""
        starts = self.starts
        back = transform.invert(self.binds)
        return [
            Skin(self.joints, back @ space, influences[first:last], weights[first:last], method)
            for space, first, last in zip(self.spaces, starts[:-1], starts[1:])
        ]

    def artist(self) -> tuple[Array, Array]:
        """(V, K) joints and weights as the file has them."""
        number = {int(joint): i for i, joint in enumerate(self.joints)}
        most = max(part.skin.weights.shape[1] for part in self.parts)
        joints = np.zeros((len(self.vertices), most), np.int64)
        weights = np.zeros((len(self.vertices), most))
        for part, first in zip(self.parts, self.starts):
            skin = part.skin
            into = np.array([number[int(joint)] for joint in skin.joints])
            rows = slice(first, first + len(skin.weights))
            joints[rows, : skin.weights.shape[1]] = into[skin.influences]
            weights[rows, : skin.weights.shape[1]] = skin.weights
        return joints, weights / weights.sum(axis=1, keepdims=True)


def bound(character: Character, rigid: bool = False) -> Bound:
    """The skinned parts of a character; with `rigid`, or where there are no others, those that hang on a joint too."""
    skeleton = character.skeleton
    skinned = [part for part in character.parts if not part.skin.is_rigid]
    parts = list(character.parts) if rigid or not skinned else skinned
    joints = np.unique(np.concatenate([character.joints, *(part.skin.joints for part in parts)]).astype(np.int64))
    rest = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    known: dict[int, Array] = {}
    spaces = []
    for part in sorted(parts, key=lambda each: each.skin.is_rigid):  # skins first: they say where joints were
        skin = part.skin
        if skin.is_rigid:
            spaces.append((part, _bind(int(skin.joints[0]), known, rest, skeleton.parents)))
            continue
        shared = [b for b, joint in enumerate(skin.joints) if int(joint) in known]
        space = known[int(skin.joints[shared[0]])] @ skin.inverse_binds[shared[0]] if shared else np.eye(4)
        for b, joint in enumerate(skin.joints):
            known.setdefault(int(joint), space @ transform.invert(skin.inverse_binds[b]))
        spaces.append((part, space))
    by_part = {id(part): space for part, space in spaces}
    ordered = tuple(by_part[id(part)] for part in parts)
    vertices = [transform.apply(space, part.mesh.vertices.astype(float)) for part, space in zip(parts, ordered)]
    offset = np.cumsum([0, *(len(v) for v in vertices)])
    triangles = [part.mesh.triangles.astype(np.int64) + first for part, first in zip(parts, offset)]
    number = {int(joint): i for i, joint in enumerate(joints)}
    return Bound(
        tuple(parts),
        joints,
        tuple(skeleton.names[j] for j in joints),
        np.array([_above(int(j), skeleton.parents, number) for j in joints], np.int64),
        np.stack([_bind(int(j), known, rest, skeleton.parents) for j in joints]),
        ordered,
        np.concatenate([np.zeros((0, 3)), *vertices]),
        np.concatenate([np.zeros((0, 3), np.int64), *triangles]),
    )


def _bind(joint: int, known: dict[int, Array], rest: Array, parents: Array) -> Array:
    """bound_from_joint (4, 4): as some skin says, else as it was beside its nearest ancestor of which one does."""
    above = joint
    while above >= 0 and above not in known:
        above = int(parents[above])
    if above < 0:
        return np.asarray(rest[joint])
    return np.asarray(known[above] @ transform.invert(rest[above]) @ rest[joint])


def _above(joint: int, parents: Array, number: dict[int, int]) -> int:
    above = int(parents[joint])
    while above >= 0 and above not in number:
        above = int(parents[above])
    return number.get(above, -1)
