"""Examples: what a deformer is fitted to, poses of a skeleton and the mesh in each of them.

Every method takes the same frozen `Examples`. They are checked here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
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
    """Poses of a skeleton, and the mesh in each of them: what a `Skin` is fitted to.

    The rest pose has the transforms inverse(inverse_binds). Lengths are in metres in the world.

    Args:
        rest: Vertices (V, 3) of the rest mesh, in its own unit.
        triangles: Vertex numbers (T, 3) of the triangles.
        inverse_binds: Transforms joint_from_mesh (B, 4, 4) in the rest pose.
        transforms: Transforms world_from_joint (E, B, 4, 4) of the examples.
        vertices: Vertices (E, V, 3) of the examples in the world, in metres.
        parents: Number (B,) of the parent of each joint, -1 for a root; parents come first.
        weights: Painted weights (V, K), rows sum to 1, where there are any.
        joints: Joints (V, K) of these weights.
        names: Names of the B joints.
        shape_weights: Shape weights (E, S) of the examples, where they come from a face.
        clips: Name of the clip that each of the E examples comes from, in the order of time; none where they are
            unrelated poses.
        notes: A line for each thing that reading changed or left out.

    Raises:
        InvalidInput: If the shapes of the arrays do not agree, numbers are not finite, or weights do not sum to 1.

    Example:
        >>> examples = us.Examples.read("cylinder")
        >>> examples.transforms.shape == (len(examples), len(examples.names), 4, 4)
        True
        >>> to_fit, to_measure = examples.split([1, 5, 9])
        >>> len(to_measure)
        3
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
    clips: tuple[str, ...] = ()  # E, or none
    notes: tuple[str, ...] = ()

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
        notes: Sequence[str] = (),
        clips: Sequence[str] = (),
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
            "clips": tuple(clips),
            "notes": tuple(notes),
        }
        if clips and len(clips) != len(moves):
            raise InvalidInput(f"there are {len(moves)} example poses, but {len(clips)} names of their clips")
        if len(fields["names"]) != bones:
            raise InvalidInput(f"there are {bones} joints, but {len(fields['names'])} names for them")
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def read(
        cls, source: str | Path, frames: int | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Examples:
        """Read examples.

        Args:
            source: An .npz of examples or of a bake; a file or built-in name of a character with animations; a folder
                of OBJ files, one a frame; or built-in ground truth, `"arm"` or `"cylinder"`.
            frames: Largest number of examples, evenly spread; None: 400.
            progress: Called with the steps done and their number.

        Returns:
            The examples; their `notes` say what reading changed.

        Raises:
            FileError: If the file cannot be read, or holds no examples.
        """
        from understudy.deform import example_files

        examples, notes = example_files.read(str(source), frames, progress)
        object.__setattr__(examples, "notes", tuple(notes))
        return examples

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
            self.joints, self.names, self.shape_weights, self.notes, self.clips,
        )  # fmt: skip

    def subset(self, which: Any) -> Examples:
        """Some of the examples.

        Args:
            which: Numbers of the examples, or a mask (E,).

        Returns:
            The examples chosen, in the order of the numbers.

        Raises:
            InvalidInput: If there is no example of some number.
        """
        which = np.asarray(which)
        which = np.flatnonzero(which) if which.dtype == bool else which.astype(np.int64)
        if which.size and (which.min() < -len(self) or which.max() >= len(self)):
            raise InvalidInput(f"examples are numbered 0 to {len(self) - 1}, but {which.max()} was asked for")
        shape_weights = None if self.shape_weights is None else self.shape_weights[which]
        common = (self.rest, self.triangles, self.inverse_binds, self.transforms[which], self.vertices[which])
        clips = [self.clips[e] for e in which] if self.clips else ()
        return Examples(*common, self.parents, self.weights, self.joints, self.names, shape_weights, self.notes, clips)

    def split(self, held_out: Any) -> tuple[Examples, Examples]:
        """Split the examples for a fair measurement.

        Args:
            held_out: Numbers of the examples to hold out, or a mask (E,).

        Returns:
            The examples to fit to, and those held out.
        """
        mask = np.zeros(len(self), bool)
        mask[np.asarray(held_out)] = True
        return self.subset(~mask), self.subset(mask)

    def with_vertices(self, vertices: Any) -> Examples:
        """The same poses with other meshes.

        Args:
            vertices: Vertices (E, V, 3) of the examples in the world, in metres.

        Returns:
            The examples.
        """
        e = self
        common = (e.rest, e.triangles, e.inverse_binds, e.transforms, vertices, e.parents, e.weights, e.joints)
        return Examples(*common, e.names, e.shape_weights, e.notes, e.clips)

    def require_poses(self, poses: int, method: str) -> None:
        """Refuse to fit a method to too few poses.

        Args:
            poses: Smallest number of poses that the method needs.
            method: Name of the method, for the message.

        Raises:
            InvalidInput: If there are fewer poses.
        """
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
