"""Jacobians of forward kinematics: how a point or an orientation in the world follows the joints above it.

A point x that hangs on a joint c stands, seen from any joint j between c and its root, at

    x = o_p + L_p (t_j + R_j S_j y),        y the point in the frame of j, which the freedoms of j do not change

with W_p = (L_p | o_p) the parent of j in the world (the identity for a root; L_p holds the scale and shear of all
above) and W_j = (L_j | o_j). With v = R_j S_j y = L_p^-1 (x - o_j) and y = L_j^-1 (x - o_j), the derivatives are

    "translation"         dx / dt_j = L_p
    "rotation"            R_j exp([u]):  dx / du = -L_p [v] R_j           u in the frame of the joint itself
    "rotation_in_parent"  exp([u]) R_j:  dx / du = -L_p [v]               u in the frame of the parent
    "euler"               dx / da = -L_p [v] E(a)                         a the Euler angles of R_j
    "scale"               dx / ds_j = L_p R_j diag(y)

where [v] u = v x u, and E has the axes of the three turns in the frame of the parent (`euler_axes`). Without scale,
-L_p [v] u is the familiar cross product of the axis in the world with the arm x - o_j. All joints that are not above c
have zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from understudy.character.kinematics import check_parents, refuse_flat, world_transforms
from understudy.checks import Array, indices, one_of
from understudy.errors import InvalidInput
from understudy.maths import euler, linear, quaternion

POINT_KINDS = ("translation", "rotation", "rotation_in_parent", "euler", "scale")
ORIENTATION_KINDS = ("rotation", "rotation_in_parent", "euler")


def point_jacobian(
    parents: ArrayLike,
    world_from_joint: ArrayLike,
    joint: ArrayLike,
    point: ArrayLike,
    kind: str = "rotation",
    *,
    rotations: ArrayLike | None = None,
    angles: ArrayLike | None = None,
    orders: str | Sequence[str] = "XYZ",
    columns: ArrayLike | None = None,
) -> Array:
    """d point / d freedom (..., 3, C, 3): row of the point, joint, component of the joint's freedom.

    `world_from_joint` (..., J, 4, 4); `joint` the joint that carries the point and `point` (..., 3) in the world, or M
    of both, (M,) and (..., M, 3), which gives (..., M, 3, C, 3). `columns` picks the C joints whose freedoms are wanted
    (all J by default). `rotations` (..., J, 4), local, are needed for "rotation" and "scale"; `angles` (..., J, 3) and
    `orders` (one, or J of them) for "euler".
    """
    one_of(kind, "kind of freedom", POINT_KINDS)
    parent = check_parents(parents)
    world = np.asarray(world_from_joint, dtype=np.float64)
    if world.ndim < 3 or world.shape[-3:] != (len(parent), 4, 4):
        raise InvalidInput(f"world_from_joint should have shape (..., {len(parent)}, 4, 4), but has {world.shape}")
    carriers, picked, above = _select(parent, joint, columns)
    x = np.asarray(point, dtype=np.float64)
    x = x[..., None, :] if np.ndim(joint) == 0 else x
    if x.shape[-2:] != (len(carriers), 3):
        raise InvalidInput(f"point should have shape (..., {len(carriers)}, 3), but has shape {np.shape(point)}")

    used = picked[above.any(axis=0)]
    l_p = _of_parent(parent[picked], world[..., :3, :3])
    if kind == "translation":
        result = np.broadcast_to(l_p[..., None, :, :, :], (*_lead(l_p, x), len(carriers), *l_p.shape[-3:]))
    else:
        arm = x[..., None, :] - world[..., :3, 3][..., picked, :][..., None, :, :]  # (..., M, C, 3)
        if kind == "scale":
            refuse_flat(used, world)
            y = _solve(world[..., picked, :3, :3], arm, above)
            turned = l_p @ _matrices(rotations, picked, "scale")
            result = turned[..., None, :, :, :] * y[..., None, :]
        else:
            refuse_flat(np.unique(parent[used][parent[used] >= 0]), world)
            v = _solve(l_p, arm, above)
            result = -l_p[..., None, :, :, :] @ linear.skew(v)
            axes = _axes(kind, rotations, angles, orders, picked)
            result = result if axes is None else result @ axes[..., None, :, :, :]
    return _arrange(np.where(above[:, :, None, None], result, 0.0), np.ndim(joint) == 0)


def orientation_jacobian(
    parents: ArrayLike,
    rotations: ArrayLike,
    joint: ArrayLike,
    kind: str = "rotation",
    *,
    angles: ArrayLike | None = None,
    orders: str | Sequence[str] = "XYZ",
    columns: ArrayLike | None = None,
) -> Array:
    """d orientation / d freedom (..., 3, C, 3): the small turn in the world, exp([J u]) Q, of Q = R_root ... R_joint.

    Of `rotations` (..., J, 4), local. Scales do not enter: a sheared frame has no orientation of its own, and Q is what
    stays of it without them. The other arguments are those of `point_jacobian`.
    """
    one_of(kind, "kind of freedom", ORIENTATION_KINDS)
    parent = check_parents(parents)
    q = np.asarray(rotations, dtype=np.float64)
    world = world_transforms(parent, np.zeros((len(parent), 3)), q)[..., :3, :3]
    _, picked, above = _select(parent, joint, columns)
    turn = _of_parent(parent[picked], world)
    axes = _axes(kind, q, angles, orders, picked)
    turn = turn if axes is None else turn @ axes
    result = np.where(above[:, :, None, None], turn[..., None, :, :, :], 0.0)
    return _arrange(result, np.ndim(joint) == 0)


def ancestors(parents: ArrayLike) -> Array:
    """(J, J) bool: [i, j] says whether j is i or lies above i, so that i moves with j."""
    parent = check_parents(parents)
    above = np.eye(len(parent), dtype=bool)
    for i, p in enumerate(parent):
        if p >= 0:
            above[i] |= above[p]
    return above


def euler_axes(angles: ArrayLike, orders: str | Sequence[str]) -> Array:
    """E (..., 3, 3): the small turn E da in the frame of the parent, of angles (..., 3) of R = R_i(a) R_j(b) R_k(c).

    E = (e_i | R_i e_j | R_i R_j e_k) for the intrinsic order ijk. `orders` is one order, or one for each entry of the
    second-to-last axis. Where the middle turn makes two axes parallel (gimbal lock), E is singular, as it should be.
    """
    a = np.asarray(angles, dtype=np.float64)
    each = [orders] if isinstance(orders, str) else list(orders)
    if len(each) != 1 and (a.ndim < 2 or len(each) != a.shape[-2]):
        raise InvalidInput(f"orders should be one or as many as the joints of angles {a.shape}, but are {len(each)}")
    letters = [one_of(order.upper(), "Euler order", euler.ORDERS) for order in each]
    numbers = np.array([["XYZ".index(letter) for letter in order] for order in letters])  # (J or 1, 3)
    units = np.eye(3)[numbers]  # (J or 1, 3, 3): the axis of each turn
    units = units[0] if isinstance(orders, str) else units
    first = quaternion.to_matrix(quaternion.from_rotation_vector(a[..., 0, None] * units[..., 0, :]))
    second = quaternion.to_matrix(quaternion.from_rotation_vector(a[..., 1, None] * units[..., 1, :]))
    middle = (first @ units[..., 1, :, None])[..., 0]
    last = (first @ second @ units[..., 2, :, None])[..., 0]
    return np.stack([np.broadcast_to(units[..., 0, :], last.shape), middle, last], axis=-1)


def _select(parents: Array, joint: ArrayLike, columns: ArrayLike | None) -> tuple[Array, Array, Array]:
    """Carriers (M,), picked columns (C,), and which columns lie above which carrier (M, C)."""
    carriers = np.atleast_1d(np.asarray(joint, dtype=np.int64))
    picked = np.arange(len(parents)) if columns is None else np.asarray(columns, dtype=np.int64)
    indices(carriers, "joint", len(parents))
    indices(picked, "columns", len(parents))
    return carriers, picked, ancestors(parents)[carriers][:, picked]


def _of_parent(parents: Array, linear_parts: Array) -> Array:
    """The parents' 3x3 parts (..., C, 3, 3) of those of all joints (..., J, 3, 3); the identity for a root."""
    has_parent = np.reshape(parents >= 0, (-1, 1, 1))
    return np.where(has_parent, linear_parts[..., np.maximum(parents, 0), :, :], np.eye(3))


def _solve(matrices: Array, arms: Array, above: Array) -> Array:
    """inverse(matrices (..., C, 3, 3)) applied to arms (..., M, C, 3); columns above no carrier are not inverted."""
    needed = np.reshape(above.any(axis=0), (-1, 1, 1))
    inverse = np.linalg.inv(np.where(needed, matrices, np.eye(3)))
    return np.einsum("...cab,...mcb->...mca", inverse, arms)


def _matrices(rotations: ArrayLike | None, picked: Array, kind: str) -> Array:
    if rotations is None:
        raise InvalidInput(f"the Jacobian with respect to {kind} needs the local rotations (..., J, 4)")
    return quaternion.to_matrix(np.asarray(rotations, dtype=np.float64)[..., picked, :])


def _axes(
    kind: str, rotations: ArrayLike | None, angles: ArrayLike | None, orders: str | Sequence[str], picked: Array
) -> Array | None:
    """What stands right of -L_p [v], (..., C, 3, 3), or None for the identity."""
    if kind == "rotation_in_parent":
        return None
    if kind == "rotation":
        return _matrices(rotations, picked, kind)
    if angles is None:
        raise InvalidInput("the Jacobian with respect to Euler angles needs the angles (..., J, 3)")
    each = orders if isinstance(orders, str) else [orders[int(c)] for c in picked]
    return euler_axes(np.asarray(angles, dtype=np.float64)[..., picked, :], each)


def _lead(l_p: Array, x: Array) -> tuple[int, ...]:
    return np.broadcast_shapes(l_p.shape[:-3], x.shape[:-2])


def _arrange(blocks: Array, single: bool) -> Array:
    """(..., M, C, 3, 3) -> (..., M, 3, C, 3), without M for a single carrier."""
    result = np.swapaxes(blocks, -3, -2)
    return result[..., 0, :, :, :] if single else result
