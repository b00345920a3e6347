"""Forward kinematics: local translations, rotations and scales to transforms in the world, and back.

With the column-vector convention, a joint j with parent p stands in the world at

    W_j = W_p T(t_j) R(q_j) S(s_j),        W_root = T(t) R(q) S(s)

where T, R, S are the 4x4 translation, rotation and (diagonal) scale. A parent's scale reaches its children, and turns
into shear where it is not uniform and a child is rotated, as in glTF 2.0 (section 3.5, "Transformations"). R is the
rotation of the unit quaternion q = (x, y, z, w),

    R = 1 + 2 [ -(y^2+z^2)  xy - wz     xz + wy   ]
              [ xy + wz     -(x^2+z^2)  yz - wx   ]
              [ xz - wy     yz + wx     -(x^2+y^2) ]

A quaternion a little off unit length is used as it is, |q|^2 R + (1 - |q|^2), as three.js and other viewers do, so that
a file looks here as it does there. Those further off are made unit where data enters (`checks.unit_quaternions`).

Joints come parents first (`parents[j] < j`, and -1 for each root), which `Skeleton` guarantees. All functions take one
pose (J, ...) or any leading axes, and inputs that do not change over the frames may leave the leading axes out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from understudy.checks import Array, output
from understudy.errors import InvalidInput
from understudy.maths import accelerate, linear, transform

KERNELS = "understudy.character.kinematics_kernels"
FEW = 4096  # joints x frames; below, waking a second thread (about 20 us) costs more than it saves
# |det| over the product of column lengths: rounding leaves 1e-16 of a true zero, a scale of 1e-4 leaves 1e-4.
SINGULAR = 1e-12


def world_transforms(
    parents: ArrayLike,
    translations: ArrayLike,
    rotations: ArrayLike,
    scales: ArrayLike | None = None,
    out: Array | None = None,
) -> Array:
    """world_from_joint (..., J, 4, 4) of `translations` (..., J, 3), `rotations` (..., J, 4) and `scales` (..., J, 3).

    `out` is a C-contiguous float64 array of the result's shape; reusing one saves asking for memory,
    which takes longer than the computation.
    """
    parent, lead, t, q, s = _inputs(parents, translations, rotations, scales)
    count = len(parent)
    world = output(out, (*lead, count, 4, 4), np.float64)
    flat = world.reshape(math.prod(lead), count, 4, 4)
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        _world_numpy(parent, t, q, s, flat)
    elif flat.shape[0] * count < FEW:
        kernels.transforms_few(parent, t, q, s, flat)
    else:
        with accelerate.LOCK:
            kernels.transforms(parent, t, q, s, flat)
    return world


def world_transforms_numpy(
    parents: ArrayLike, translations: ArrayLike, rotations: ArrayLike, scales: ArrayLike | None = None
) -> Array:
    """`world_transforms` in NumPy alone: the oracle of the kernels, what runs where numba is absent, and the quicker
    way for a few poses of a program that has not loaded the kernels yet (a second).
    """
    parent, lead, t, q, s = _inputs(parents, translations, rotations, scales)
    world = np.empty((*lead, len(parent), 4, 4))
    _world_numpy(parent, t, q, s, world.reshape(math.prod(lead), len(parent), 4, 4))
    return world


def world_positions(
    parents: ArrayLike,
    translations: ArrayLike,
    rotations: ArrayLike,
    scales: ArrayLike | None = None,
    out: Array | None = None,
) -> Array:
    """Positions of the joints in the world (..., J, 3): the last column of `world_transforms`, in less memory."""
    parent, lead, t, q, s = _inputs(parents, translations, rotations, scales)
    count = len(parent)
    result = output(out, (*lead, count, 3), np.float64)
    flat = result.reshape(math.prod(lead), count, 3)
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        world = np.empty((flat.shape[0], count, 4, 4))
        _world_numpy(parent, t, q, s, world)
        flat[...] = world[..., :3, 3]
    else:
        with accelerate.LOCK:
            kernels.positions(parent, t, q, s, flat)
    return result


def local_transforms(parents: ArrayLike, world_from_joint: ArrayLike, out: Array | None = None) -> Array:
    """parent_from_joint (..., J, 4, 4) of `world_from_joint` (..., J, 4, 4): the inverse of the walk down the tree,
    inverse(W_p) W_j. A parent flattened to nothing (a scale of zero) has no inverse and is refused by name.
    """
    parent = check_parents(parents)
    world = np.ascontiguousarray(world_from_joint, dtype=np.float64)
    count = len(parent)
    if world.ndim < 3 or world.shape[-3:] != (count, 4, 4):
        raise InvalidInput(f"world_from_joint should have shape (..., {count}, 4, 4), but has shape {world.shape}")
    local = output(out, world.shape, np.float64)
    if not world.size:
        return local
    kernels = accelerate.kernels(KERNELS)
    if kernels is None:
        refuse_flat(np.unique(parent[parent >= 0]), world)
        _local_numpy(parent, world, local)
    else:
        with accelerate.LOCK:
            flat = kernels.locals_of(parent, world.reshape(-1, count, 4, 4), SINGULAR, local.reshape(-1, count, 4, 4))
        if flat:
            refuse_flat(np.unique(parent[parent >= 0]), world)
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


def levels(parents: Array) -> list[Array]:
    """The joints (indices) of each depth of the tree, roots first; joints of one level do not depend on each other."""
    depth = np.zeros(len(parents), dtype=np.int64)
    for j, p in enumerate(parents):
        depth[j] = depth[p] + 1 if p >= 0 else 0
    return [np.flatnonzero(depth == d) for d in range(int(depth.max(initial=-1)) + 1)]


def _world_numpy(parents: Array, t: Array, q: Array, s: Array, out: Array) -> None:
    """One matrix product for each level of the tree, all frames and all joints of the level at once."""
    local = np.broadcast_to(transform.compose(t, q, s), out.shape)
    for depth, level in enumerate(levels(parents)):
        out[:, level] = local[:, level] if depth == 0 else out[:, parents[level]] @ local[:, level]


def _local_numpy(parents: Array, world: Array, out: Array) -> None:
    child = np.flatnonzero(parents >= 0)
    parent_world, own = world[..., parents[child], :, :], world[..., child, :, :]
    inverse = np.linalg.inv(parent_world[..., :3, :3])
    offset = own[..., :3, 3] - parent_world[..., :3, 3]
    out[...] = world
    out[..., :3, :3][..., child, :, :] = inverse @ own[..., :3, :3]
    out[..., :3, 3][..., child, :] = (inverse @ offset[..., None])[..., 0]


def refuse_flat(joints: Array, world: Array) -> None:
    """Raise if one of `joints` (indices) is flattened in world (..., J, 4, 4), so that it has no inverse."""
    linear_parts = world[..., joints, :3, :3]
    lengths = linear.length(np.swapaxes(linear_parts, -1, -2)).prod(axis=-1)
    flat = np.abs(transform.determinant(linear_parts)) <= SINGULAR * lengths
    if flat.any():
        where = np.argwhere(flat)[0]
        raise InvalidInput(
            f"joint {joints[where[-1]]} is flattened to nothing (a scale of zero) and cannot be undone "
            f"(at index {tuple(int(i) for i in where[:-1])})"
        )


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
