"""Examples: what a deformer is fitted to, poses of a skeleton and the mesh in each of them.

Every method takes the same frozen `Examples`. They are checked here, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import transform

# Largest |sum - 1| of a vertex's weights, as in SkinBinding: 8-bit weights, each rounded by up to 1/510, pass; a
# forgotten influence does not.
WEIGHT_SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Examples:
    """E poses of B joints, and the V vertices in each. The rest pose has transforms inverse(inverse_binds).

    `weights` and `joints` are the artist's, where there are any; `shape_weights` the weights of the blend shapes in
    each example, where the examples come from a face.
    """

    rest: Array  # (V, 3)
    triangles: Array  # (T, 3) int
    inverse_binds: Array  # (B, 4, 4) joint_from_mesh in the rest pose
    transforms: Array  # (E, B, 4, 4) world_from_joint
    vertices: Array  # (E, V, 3)
    parents: Array  # (B,) int, -1 for a root
    weights: Array | None = None  # (V, K), rows sum to 1
    joints: Array | None = None  # (V, K) int
    names: tuple[str, ...] = ()  # B
    shape_weights: Array | None = None  # (E, S)

    def __init__(
        self,
        rest: Any,
        triangles: Any,
        inverse_binds: Any,
        transforms: Any,
        vertices: Any,
        parents: Any,
        weights: Any = None,
        joints: Any = None,
        names: Sequence[str] = (),
        shape_weights: Any = None,
    ) -> None:
        rest = checks.array(rest, "the rest mesh", ("V", 3))
        binds = checks.array(inverse_binds, "inverse bind matrices", ("B", 4, 4))
        bones = len(binds)
        moves = checks.array(transforms, "the transforms of the examples", ("E", None, 4, 4))
        if moves.shape[1] != bones:
            raise InvalidInput(
                f"there are {bones} inverse bind matrices, so the examples should move {bones} joints, "
                f"but they move {moves.shape[1]}"
            )
        meshes = checks.array(vertices, "the vertices of the examples", ("E", None, 3))
        if len(meshes) != len(moves):
            raise InvalidInput(f"there are {len(moves)} example poses, but {len(meshes)} example meshes")
        if meshes.shape[1] != len(rest):
            raise InvalidInput(
                f"the rest mesh has {len(rest)} vertices, but the example meshes have {meshes.shape[1]}; "
                "an example should have the same vertices in the same order"
            )
        fields = {
            "rest": rest,
            "triangles": _triangles(triangles, len(rest)),
            "inverse_binds": binds,
            "transforms": moves,
            "vertices": meshes,
            "parents": _parents(parents, bones),
            **_weights(weights, joints, len(rest), bones),
            "names": checks.unique_names(names or [f"joint{b}" for b in range(bones)], "joint names"),
            "shape_weights": None
            if shape_weights is None
            else checks.array(shape_weights, "the shape weights of the examples", (len(moves), None)),
        }
        if len(fields["names"]) != bones:
            raise InvalidInput(f"there are {bones} joints, but {len(fields['names'])} names for them")
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.transforms)

    def __repr__(self) -> str:
        return f"Examples({len(self)} poses, {len(self.inverse_binds)} joints, {len(self.rest)} vertices)"

    @property
    def matrices(self) -> Array:
        """(E, B, 4, 4) world_from_joint @ inverse_bind: world from rest."""
        return self.transforms @ self.inverse_binds

    @property
    def rest_transforms(self) -> Array:
        """(B, 4, 4) world_from_joint in the rest pose."""
        return transform.invert(self.inverse_binds)

    @cached_property
    def rest_size(self) -> float:
        """The diagonal of the rest mesh's box, in the units of the rest mesh."""
        return float(np.linalg.norm(np.ptp(self.rest, axis=0))) or 1.0 if len(self.rest) else 1.0

    @cached_property
    def size(self) -> float:
        """The diagonal of the mesh in the world, in metres. Rest meshes of files often have other units, and the joints
        scale them."""
        grown = np.cbrt(np.abs(transform.determinant(self.matrices)))
        typical = float(np.median(grown)) if grown.size else 1.0
        return self.rest_size * (typical if typical > 1e-9 else 1.0)

    @cached_property
    def joint_sizes(self) -> Array:
        """(B,) the diagonal of the rest mesh in the units of each joint's own frame."""
        return self.rest_size * np.cbrt(np.abs(transform.determinant(self.inverse_binds)))

    def in_metres(self) -> Examples:
        """The same examples with a rest mesh as large as it is in the world; the joints no longer scale it.

        Lengths in the rest mesh are then lengths in the world.
        """
        grown = self.size / self.rest_size
        if abs(grown - 1) < 1e-6:
            return self
        binds = self.inverse_binds @ np.diag((1 / grown, 1 / grown, 1 / grown, 1.0))
        return Examples(
            grown * self.rest, self.triangles, binds, self.transforms, self.vertices, self.parents, self.weights,
            self.joints, self.names, self.shape_weights,
        )  # fmt: skip

    def subset(self, which: Any) -> Examples:
        """The examples with the indexes `which`, or of a mask (E,)."""
        which = np.asarray(which)
        which = np.flatnonzero(which) if which.dtype == bool else which.astype(np.int64)
        if which.size and (which.min() < -len(self) or which.max() >= len(self)):
            raise InvalidInput(f"examples are numbered 0 to {len(self) - 1}, but {which.max()} was asked for")
        shape_weights = None if self.shape_weights is None else self.shape_weights[which]
        common = (self.rest, self.triangles, self.inverse_binds, self.transforms[which], self.vertices[which])
        return Examples(*common, self.parents, self.weights, self.joints, self.names, shape_weights)

    def split(self, held_out: Any) -> tuple[Examples, Examples]:
        """(to fit, held out): `held_out` are the indexes of the examples to hold out, or a mask (E,)."""
        mask = np.zeros(len(self), bool)
        mask[np.asarray(held_out)] = True
        return self.subset(~mask), self.subset(mask)

    def require_poses(self, poses: int, method: str) -> None:
        """Raise unless there are that many poses to fit to."""
        if len(self) < poses:
            word = "is" if len(self) == 1 else "are"
            raise InvalidInput(
                f"{method} should be fitted to {poses} example poses or more, but there {word} {len(self)}"
            )


def sound_triangles(triangles: Any) -> tuple[Array, int]:
    """The triangles (T, 3) that name three different vertices, and how many do not."""
    t = np.asarray(triangles, dtype=np.int64).reshape(-1, 3)
    sound = (t[:, 0] != t[:, 1]) & (t[:, 1] != t[:, 2]) & (t[:, 2] != t[:, 0])
    return t[sound], int((~sound).sum())


def _triangles(triangles: Any, vertices: int) -> Array:
    result = checks.array(triangles, "triangles", ("T", 3), np.int64)
    checks.indices(result, "triangles", vertices)
    if sound_triangles(result)[1]:
        bad = next(i for i, t in enumerate(result) if len(set(t.tolist())) < 3)
        raise InvalidInput(
            f"triangles should name three different vertices, but triangle {bad} is {result[bad].tolist()}"
        )
    return result


def _parents(parents: Any, bones: int) -> Array:
    result = checks.array(parents, "parents of the joints", (bones,), np.int64)
    checks.indices(result, "parents of the joints", bones, lowest=-1)
    late = np.flatnonzero(result >= np.arange(bones))
    if late.size:
        raise InvalidInput(f"a parent should come before its joints, but that of joint {late[0]} is {result[late[0]]}")
    return result


def _weights(weights: Any, joints: Any, vertices: int, bones: int) -> dict[str, Array | None]:
    if (weights is None) != (joints is None):
        raise InvalidInput("weights and joints belong together: give both, or neither")
    if weights is None:
        return {"weights": None, "joints": None}
    j = checks.array(joints, "joints of the vertices", (vertices, None), np.int64)
    w = checks.array(weights, "weights of the vertices", j.shape)
    checks.indices(j, "joints of the vertices", bones)
    total = w.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1) > WEIGHT_SUM_TOLERANCE * max(4, w.shape[1]))
    if wrong.size:
        raise InvalidInput(
            f"weights of the vertices should sum to 1, but those of vertex {wrong[0]} sum to {total[wrong[0]]:.4g}"
        )
    return {"weights": w, "joints": j}
