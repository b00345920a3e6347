"""Bones: the matrices that a page needs to skin a character, each of them once.

A skin asks for world_from_joint @ joint_from_mesh of each of its joints. Parts often share joints and binds (a body cut
up by materials), so what goes over the wire is the list of different pairs of a joint and its inverse bind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character import Part
from understudy.checks import Array


class Bones:
    """B pairs of a joint and an inverse bind, and for each part the bones (b,) that its skin's joints became."""

    def __init__(self, parts: Sequence[Part]) -> None:
        known: dict[tuple[int, bytes], int] = {}
        binds: list[Array] = []
        self.of_part: list[Array] = []
        for part in parts:
            numbers = []
            for joint, bind in zip(part.skin.joints.tolist(), part.skin.inverse_binds):
                key = joint, bind.tobytes()
                if key not in known:
                    known[key] = len(known)
                    binds.append(bind)
                numbers.append(known[key])
            self.of_part.append(np.array(numbers, np.int64))
        self.joints = np.array([joint for joint, _ in known], np.int64)  # (B,)
        self.inverse_binds = np.array(binds).reshape(-1, 4, 4)  # (B, 4, 4) joint_from_mesh

    def __len__(self) -> int:
        return len(self.joints)

    def matrices(self, world_from_joint: Array) -> Array:
        """world_from_mesh (F, B, 3, 4) float32 for joints (F, J, 4, 4)."""
        world_from_mesh = world_from_joint[:, self.joints, :3] @ self.inverse_binds
        return np.asarray(world_from_mesh, np.float32)
