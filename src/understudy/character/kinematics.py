"""Forward kinematics: local transforms to the world and back.

With the column-vector convention, a joint j with parent p has the world transform

    W_j = W_p T(t_j) R(q_j) S(s_j),        W_root = T(t) R(q) S(s)

where T, R, S are the 4x4 translation, rotation and (diagonal) scale. A parent's scale reaches its children, and turns
into shear where it is not uniform and a child is rotated, as in glTF 2.0 (section 3.5, "Transformations"). R is the
rotation of the unit quaternion q = (x, y, z, w),

    R = 1 + 2 [ -(y^2+z^2)  xy - wz     xz + wy   ]
              [ xy + wz     -(x^2+z^2)  yz - wx   ]
              [ xz - wy     yz + wx     -(x^2+y^2) ]

A quaternion a little off unit length is used as it is, |q|^2 R + (1 - |q|^2), as three.js and other viewers do, so that
a file looks the same. Those further off are made unit where data enters (`checks.unit_quaternions`).

Joints come parents first (`parents[j] < j`, and -1 for each root), which `Skeleton` guarantees. All functions take one
pose (J, ...) or any leading axes, and inputs that do not change over the frames may leave the leading axes out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array, one_of, output
from understudy.errors import InvalidInput
from understudy.maths import euler, jit, quaternion, transform, vector

KERNELS = "understudy.character.kinematics_kernels"
# Joints x frames: below, waking a second thread (about 20 us) costs more than it saves.
MIN_PARALLEL_JOINT_FRAMES = 4096
# |det| over the product of column lengths: rounding leaves 1e-16 of a true zero, a scale of 1e-4 leaves 1e-4.
SINGULAR_DETERMINANT_RATIO = 1e-12


def world_transforms(
    parents: ArrayLike,
    translations: ArrayLike,
    rotations: ArrayLike,
    scales: ArrayLike | None = None,
    out: Array | None = None,
) -> Array:
    """world_from_joint (..., J, 4, 4) of `translations` (..., J, 3), `rotations` (..., J, 4) and `scales` (..., J, 3).

    `out` is a C-contiguous float64 array of the result's shape; reusing one saves the allocation, which takes longer
    than the computation.
    """
    parent, lead, t, q, s = _inputs(parents, translations, rotations, scales)
    count = len(parent)
    world = output(out, (*lead, count, 4, 4), np.float64)
    flat = world.reshape(math.prod(lead), count, 4, 4)
    kernels = jit.kernels(KERNELS)
    if flat.shape[0] * count < MIN_PARALLEL_JOINT_FRAMES:
        kernels.transforms_serial(parent, t, q, s, flat)
    else:
        with jit.LOCK:
            kernels.transforms(parent, t, q, s, flat)
    return world


def local_transforms(parents: ArrayLike, world_from_joint: ArrayLike, out: Array | None = None) -> Array:
    """parent_from_joint (..., J, 4, 4) of `world_from_joint` (..., J, 4, 4): the inverse of the walk down the tree,
    inverse(W_p) W_j. A parent with a scale of zero has no inverse and is refused.
    """
    parent = check_parents(parents)
    world = np.ascontiguousarray(world_from_joint, dtype=np.float64)
    count = len(parent)
    if world.ndim < 3 or world.shape[-3:] != (count, 4, 4):
        raise InvalidInput(f"world_from_joint should have shape (..., {count}, 4, 4), but has shape {world.shape}")
    local = output(out, world.shape, np.float64)
    if not world.size:
        return local
    check_invertible(np.unique(parent[parent >= 0]), world)
    child = np.flatnonzero(parent >= 0)
    parent_world, child_world = world[..., parent[child], :, :], world[..., child, :, :]
    inverse = np.linalg.inv(parent_world[..., :3, :3])
    offset = child_world[..., :3, 3] - parent_world[..., :3, 3]
    local[...] = world
    local[..., :3, :3][..., child, :, :] = inverse @ child_world[..., :3, :3]
    local[..., :3, 3][..., child, :] = (inverse @ offset[..., None])[..., 0]
    return local


def check_parents(parents: ArrayLike) -> Array:
    """`parents` (J,) as int64, refused unless each joint's parent comes before it."""
    parent = np.ascontiguousarray(parents, dtype=np.int64)
    if parent.ndim != 1:
        raise InvalidInput(f"parents should have shape (J,), but has shape {parent.shape}")
    wrong = np.flatnonzero((parent >= np.arange(len(parent))) | (parent < -1))
    if wrong.size:
        j = int(wrong[0])
        raise InvalidInput(
            f"parents should come before their children (-1 for a root), but parents[{j}] is {parent[j]}"
        )
    return parent


def check_invertible(joints: Array, world: Array) -> None:
    """Raise if the transform of one of `joints` (indices) in world (..., J, 4, 4) has no inverse."""
    linear_parts = world[..., joints, :3, :3]
    lengths = vector.length(np.swapaxes(linear_parts, -1, -2)).prod(axis=-1)
    flat = np.abs(transform.determinant(linear_parts)) <= SINGULAR_DETERMINANT_RATIO * lengths
    if flat.any():
        where = np.argwhere(flat)[0]
        raise InvalidInput(
            f"joint {joints[where[-1]]} is flattened (a scale of zero), so its transform has no inverse "
            f"(at index {tuple(int(i) for i in where[:-1])})"
        )


def levels(parents: Array) -> list[Array]:
    """The joints (indices) of each depth of the tree, roots first; joints of one level do not depend on each other."""
    depth = np.zeros(len(parents), dtype=np.int64)
    for j, p in enumerate(parents):
        depth[j] = depth[p] + 1 if p >= 0 else 0
    return [np.flatnonzero(depth == d) for d in range(int(depth.max(initial=-1)) + 1)]


def _inputs(
    parents: ArrayLike, translations: ArrayLike, rotations: ArrayLike, scales: ArrayLike | None
) -> tuple[Array, tuple[int, ...], Array, Array, Array]:
    """Checked parents, the leading shape of the result, and t, q, s as (F or 1, J, ...) float64."""
    parent = check_parents(parents)
    count = len(parent)
    t, q = np.asarray(translations, dtype=np.float64), np.asarray(rotations, dtype=np.float64)
    s = np.ones((count, 3)) if scales is None else np.asarray(scales, dtype=np.float64)
    for value, name, width in ((t, "translations", 3), (q, "rotations", 4), (s, "scales", 3)):
        if value.ndim < 2 or value.shape[-2:] != (count, width):
            raise InvalidInput(f"{name} should have shape (..., {count}, {width}), but has shape {value.shape}")
    leads = {t.shape[:-2], q.shape[:-2], s.shape[:-2]}
    try:
        lead = leads.pop() if len(leads) == 1 else np.broadcast_shapes(*leads)
    except ValueError:
        raise InvalidInput(
            f"translations {t.shape}, rotations {q.shape} and scales {s.shape} do not have the same frames"
        ) from None
    return parent, lead, _frames(t, lead), _frames(q, lead), _frames(s, lead)


def _frames(value: Array, lead: tuple[int, ...]) -> Array:
    tail = value.shape[-2:]
    if value.shape[:-2] == lead or value.size == tail[0] * tail[1]:
        full = value
    else:
        full = np.broadcast_to(value, (*lead, *tail))
    return np.ascontiguousarray(full).reshape(math.prod(full.shape[:-2]), *tail)


def ancestors(parents: ArrayLike) -> Array:
    """(J, J) bool: [i, j] is whether j is i or an ancestor of i, so that i moves with j."""
    parent = check_parents(parents)
    above = np.eye(len(parent), dtype=bool)
    for i, p in enumerate(parent):
        if p >= 0:
            above[i] |= above[p]
    return above


def euler_axes(angles: ArrayLike, orders: str | Sequence[str]) -> Array:
    """E (..., 3, 3): the small rotation E da in the parent's frame, for angles (..., 3) of R = R_i(a) R_j(b) R_k(c).

    E = (e_i | R_i e_j | R_i R_j e_k) for the intrinsic order ijk. `orders` is one order, or one for each entry of the
    second-to-last axis. Where the middle rotation makes two axes parallel (gimbal lock), E is singular.
    """
    a = np.asarray(angles, dtype=np.float64)
    given = [orders] if isinstance(orders, str) else list(orders)
    if len(given) != 1 and (a.ndim < 2 or len(given) != a.shape[-2]):
        raise InvalidInput(f"orders should be one or as many as the joints of angles {a.shape}, but are {len(given)}")
    letters = [one_of(order.upper(), "Euler order", euler.ORDERS) for order in given]
    numbers = np.array([["XYZ".index(letter) for letter in order] for order in letters])  # (J or 1, 3)
    units = np.eye(3)[numbers]  # (J or 1, 3, 3): the axis of each rotation
    units = units[0] if isinstance(orders, str) else units
    first = quaternion.to_matrix(quaternion.from_rotation_vector(a[..., 0, None] * units[..., 0, :]))
    second = quaternion.to_matrix(quaternion.from_rotation_vector(a[..., 1, None] * units[..., 1, :]))
    middle = (first @ units[..., 1, :, None])[..., 0]
    last = (first @ second @ units[..., 2, :, None])[..., 0]
    return np.stack([np.broadcast_to(units[..., 0, :], last.shape), middle, last], axis=-1)
