"""Poses as numbers: features for distances between poses, and named axes.

Features are the difference of each joint from its rest in its parent's frame:

    D_j = L_j^-1 (T_p^-1 T_j),   L_j = T_p^-1 T_j at rest,    x_j = ((D_j - 1)_3x3 / sqrt(2), D_j's translation / size)

They are the entries of the matrix, not angles: smooth everywhere, with no pole and no two signs, and for small
rotations |x_j - y_j| is the angle between two poses in radians (2 sin(a / 2) in general). Roots have no parent, and a
motion of all joints together is no pose; a second root is taken relative to the first. Joints that do not move in the
examples are left out.

Axes are angles by which a joint is rotated about a direction:

    angle = 2 atan2(q . a, q_w)

of the joint's rotation q relative to its rest and a unit direction a in the joint's frame: the twist of a swing-twist
decomposition. The angle wraps in the middle of the widest gap that the examples leave, so that a forearm which twists
to 180 degrees is not read as one that twists to -180. Axes can be named by hand, or found: a joint's `twist` is about
its bone, its `bend`s are the directions across it in which the examples rotate most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.deform.deformer import FrozenArrays
from understudy.deform.examples import Examples
from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform, vector

STILL_POSE_TOLERANCE = 1e-5  # largest feature of a joint at rest, radians or sizes: rounding in files
MIN_AXIS_RATIO = 0.02  # of the squared angles of a joint: an axis with less is left out
MIN_TURN_RAD = 0.01  # root mean square rotation: a joint that rotates less has no axis


@dataclass(frozen=True, eq=False)
class PoseFeatures(FrozenArrays):
    """Features x (F, M, 12) of the M joints that move."""

    joints: Array  # (M,) int
    above: Array  # (M,) int, the joint that each is relative to
    rest_back: Array  # (M, 4, 4) L_j^-1
    sizes: Array  # (M,) size of the mesh in the units of each joint

    @classmethod
    def from_examples(cls, examples: Examples) -> PoseFeatures:
        """The features of the joints that move in the examples."""
        roots = np.flatnonzero(examples.parents < 0)
        above = np.where(examples.parents < 0, roots[0] if roots.size else 0, examples.parents)
        joints = np.setdiff1d(np.arange(len(above)), roots[:1])
        rest = examples.rest_transforms
        back = transform.invert(transform.invert(rest[above[joints]]) @ rest[joints])
        every = cls(joints, above[joints], back, examples.joint_sizes[joints])
        x = every(examples.transforms)
        moves = np.abs(x).max(axis=(0, 2), initial=0) > STILL_POSE_TOLERANCE
        return cls(joints[moves], above[joints[moves]], back[moves], every.sizes[moves])

    def __call__(self, transforms: Array) -> Array:
        """x (F, M, 12) of world_from_joint (F, B, 4, 4); zero at rest."""
        d = self.relative(transforms)
        turn = (d[..., :3, :3] - np.eye(3)) / np.sqrt(2)
        return np.concatenate((turn.reshape(*turn.shape[:2], 9), d[..., :3, 3] / self.sizes[:, None]), axis=-1)

    def relative(self, transforms: Array) -> Array:
        """D (F, M, 4, 4): the difference of each joint from its rest, in its parent's frame."""
        t = np.asarray(transforms, dtype=np.float64)
        return np.asarray(self.rest_back @ transform.invert(t[:, self.above]) @ t[:, self.joints])


def squared_distances(a: Array, b: Array) -> Array:
    """(M, F, E) of each joint between poses a (F, M, 12) and b (E, M, 12)."""
    a, b = np.swapaxes(a, 0, 1), np.swapaxes(b, 0, 1)
    squares = np.square(a).sum(axis=-1)[:, :, None] + np.square(b).sum(axis=-1)[:, None]
    return np.maximum(squares - 2 * a @ np.swapaxes(b, 1, 2), 0)


@dataclass(frozen=True)
class Axis:
    """The rotation of a joint, by its name, about a direction in its own rest frame."""

    name: str
    joint: str
    direction: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class PoseAxes(FrozenArrays):
    """A axes: values (F, A) in radians from `cut` to `cut` + 2 pi, zero at rest."""

    names: tuple[str, ...]
    which: Array  # (A,) index into the joints of `features`
    directions: Array  # (A, 3) unit
    cut: Array  # (A,) radians at which the angle wraps, from -2 pi to 0
    features: PoseFeatures

    @classmethod
    def from_axes(cls, axes: tuple[Axis, ...], examples: Examples) -> PoseAxes:
        """Axes named by hand."""
        features = PoseFeatures.from_examples(examples)
        moving = [examples.names[j] for j in features.joints]
        for axis in axes:
            if axis.joint not in moving:
                known = ", ".join(map(repr, moving[:20])) or "none"
                raise InvalidInput(f"axis {axis.name!r} is of joint {axis.joint!r}; joints that move: {known}")
        directions = vector.normalise(np.array([axis.direction for axis in axes], float).reshape(-1, 3))
        which = np.array([moving.index(axis.joint) for axis in axes], np.int64)
        return cls._cut(tuple(axis.name for axis in axes), which, directions, features, examples)

    @classmethod
    def from_examples(cls, examples: Examples) -> PoseAxes:
        """The axes about which the joints of the examples turn."""
        features = PoseFeatures.from_examples(examples)
        turns = _shorter_rotation(_rotations(features, examples.transforms))  # (E, M, 4)
        names: list[str] = []
        which, directions = [], []
        for m, j in enumerate(features.joints):
            bone = _bone(examples, int(j))
            swing, twist = _swing_twist(turns[:, m], bone)
            total = np.square(swing).sum() + np.square(twist).sum()
            if total < MIN_TURN_RAD**2 * len(swing):
                continue
            _, s, vt = np.linalg.svd(swing, full_matrices=True)
            chosen = [("twist", bone)] if np.square(twist).sum() > MIN_AXIS_RATIO * total else []
            chosen += [
                (f"bend {i + 1}" if i else "bend", vt[i])
                for i in range(min(2, len(s)))
                if s[i] ** 2 > MIN_AXIS_RATIO * total
            ]
            v = swing + twist[:, None] * bone
            for word, a in chosen:
                names.append(f"{examples.names[j]} {word}")
                which.append(m)
                directions.append(a if (v @ a).sum() >= 0 else -a)
        places = np.array(which, np.int64), np.array(directions, float).reshape(-1, 3)
        return cls._cut(tuple(names), *places, features, examples)

    @classmethod
    def _cut(
        cls, names: tuple[str, ...], which: Array, directions: Array, features: PoseFeatures, examples: Examples
    ) -> PoseAxes:
        plain = cls(names, which, directions, np.full(len(which), -np.pi), features)
        seen = np.sort(np.concatenate((plain(examples.transforms), np.zeros((1, len(which))))), axis=0)
        gaps = np.diff(np.concatenate((seen, seen[:1] + 2 * np.pi)), axis=0)
        from_half_turn = np.abs((seen + gaps / 2) % (2 * np.pi) - np.pi)
        widest = np.argmax(gaps - 1e-3 * from_half_turn, axis=0)[None]  # of similar gaps the one nearest to half a turn
        middle = np.take_along_axis(seen + gaps / 2, widest, axis=0)[0]
        return cls(names, which, directions, -(-middle % (2 * np.pi)), features)

    def __call__(self, transforms: Array) -> Array:
        """Values (F, A) of world_from_joint (F, B, 4, 4)."""
        q = _rotations(self.features, np.asarray(transforms, float))[:, self.which]
        half = np.arctan2(vector.dot(q[..., :3], self.directions), q[..., 3])
        return (2 * half - self.cut) % (2 * np.pi) + self.cut


def _rotations(features: PoseFeatures, transforms: Array) -> Array:
    """Unit quaternions (F, M, 4) of each joint relative to its rest."""
    t = transforms
    d = (features.rest_back @ transform.invert(t[:, features.above]) @ t[:, features.joints])[..., :3, :3]
    d = d / np.maximum(vector.length(np.swapaxes(d, -1, -2))[..., None, :], 1e-12)
    return quaternion.from_matrix(d)


def _swing_twist(q: Array, bone: Array) -> tuple[Array, Array]:
    """q = swing twist: the rotation vector (E, 3) of the swing, across the bone, and the angle (E,) of the twist."""
    twist = vector.normalise(
        np.concatenate((np.outer(q[:, :3] @ bone, bone), q[:, 3:]), axis=1), otherwise=quaternion.IDENTITY
    )
    swing = _shorter_rotation(quaternion.multiply(q, quaternion.conjugate(twist)))
    return quaternion.to_rotation_vector(swing), 2 * np.arctan2(twist[:, :3] @ bone, twist[:, 3])


def _shorter_rotation(q: Array) -> Array:
    """Of the two signs of a quaternion the one that rotates by at most pi."""
    return np.where(q[..., 3:] < 0, -q, q)


def _bone(examples: Examples, joint: int) -> Array:
    """The unit direction of a joint's bone in its own frame: to its children, or continuing its parent's."""
    at = examples.rest_transforms[:, :3, 3]
    children = np.flatnonzero(examples.parents == joint)
    parent = examples.parents[joint]
    to = at[children].mean(axis=0) - at[joint] if children.size else at[joint] - at[max(parent, 0)]
    return vector.normalise(transform.apply_direction(examples.inverse_binds[joint], to), otherwise=(1.0, 0.0, 0.0))
