"""Skin: the joints, weights and inverse bind matrices of a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput

METHODS = ("linear", "dual")


@dataclass(frozen=True, eq=False)
class SkinBinding:
    """Weights of vertices on B joints, K influences a vertex.

    vertex(t) = sum_k weights[v, k] * world_from_joint(t)[joints[b]] @ inverse_binds[b] @ vertex,  b = influences[v, k]

    A mesh that is rigid on one joint has a skin as well (`SkinBinding.rigid`): one joint, weight 1, identity bind.
    """

    joints: Array  # (B,) int, numbers in the skeleton
    inverse_binds: Array  # (B, 4, 4) joint_from_mesh in the bind pose
    influences: Array  # (V, K) int32, into joints
    weights: Array  # (V, K) float32, rows sum to 1
    method: str = "linear"

    def __init__(self, joints: Any, inverse_binds: Any, influences: Any, weights: Any, method: str = "linear") -> None:
        joints = checks.array(joints, "skin joints", ("B",), np.int64)
        influences = checks.array(influences, "skin influences", ("V", "K"), np.int32)
        weights = checks.array(weights, "skin weights", influences.shape, np.float32)
        checks.indices(influences, "skin influences", len(joints))
        fields = {
            "joints": joints,
            "inverse_binds": checks.array(inverse_binds, "inverse bind matrices", (len(joints), 4, 4)),
            "influences": influences,
            "weights": weights,
            "method": checks.one_of(method, "skinning method", METHODS),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        total = np.einsum("vk->v", weights, dtype=np.float64, casting="same_kind")
        # 1e-3: 8-bit weights, each rounded by up to 1/510, are still accepted; a missing influence is not.
        off = np.abs(total - 1) > 1e-3 * max(4, weights.shape[1])
        if off.any():
            wrong = np.flatnonzero(off)
            raise InvalidInput(
                f"skin weights should sum to 1, but those of vertex {wrong[0]} sum to {total[wrong[0]]:.4g}; "
                "see SkinBinding.normalise"
            )

    @classmethod
    def rigid(cls, joint: int, vertices: int) -> SkinBinding:
        """The skin of a mesh that is rigid on one joint."""
        skin = cls([joint], np.eye(4)[None], np.zeros((0, 1)), np.ones((0, 1)))
        # Correct by construction: checking them would take longer than all else in a scene with many large parts.
        object.__setattr__(skin, "influences", checks.freeze(np.zeros((vertices, 1), np.int32)))
        object.__setattr__(skin, "weights", checks.freeze(np.ones((vertices, 1), np.float32)))
        return skin

    @staticmethod
    def normalise(weights: Any) -> tuple[Array, int]:
        """(V, K) weights whose rows sum to 1, and how many rows had to change by more than rounding.

        A row of zeros becomes all weight on its first influence, as three.js does.
        """
        weights = np.array(weights, np.float64)
        total = weights.sum(axis=1, keepdims=True)
        empty = total[:, 0] <= 0
        changed = int(np.sum(np.abs(total - 1) > 1e-3))
        result = weights / np.where(total > 0, total, 1)
        if weights.shape[1]:
            result[empty] = 0
            result[empty, 0] = 1
        return result.astype(np.float32), changed

    @property
    def is_rigid(self) -> bool:
        """Whether the mesh is rigid on one joint."""
        return (
            len(self.joints) == 1
            and self.weights.shape[1] == 1
            and self.method == "linear"
            and bool((self.inverse_binds[0] == np.eye(4)).all())
        )

    def __repr__(self) -> str:
        vertices, influences = self.weights.shape
        return f"SkinBinding({len(self.joints)} joints, {vertices} vertices, {influences} influences)"
