"""The transform of an FBX node, its pivots, and what it inherits.

With T, R, S the node's animated translation, rotation and scaling, and all else constant, the SDK defines

    L = T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1

(rotation offset and pivot, pre- and post-rotation, scaling offset and pivot). That is a translation, a rotation and a
scale in turn, as ours are,

    q = Rpre R Rpost^-1,    s = S,    t = T + Roff + Rp + q (Soff + Sp - S Sp - Rp)

so only the translation mixes what was apart. Pre- and post-rotation and the rotation order count where `RotationActive`
is set.

**Inheritance.** With G = (R_g S_g | t_g) the parent in the world and S_p its own scaling, a child has the linear part

    RSrs (1)   R_g S_g R S                the plain product
    RrSs (0)   R_g R S_g S                scale is inherited along the child's own axes
    Rrs  (2)   R_g R S_g S_p^-1 S         the parent's own scaling is not inherited

and always the position G t. Without scale all three are the same; where there is scale, `inherit` finds the
translation, rotation and scale that give the same as a plain product, up to shear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.formats.fbx.scene import FbxObject
from understudy.maths import euler, quaternion, transform

# By RotationOrder, the axes in the order in which they are applied; 6, spherical, is read as 0.
ROTATION_ORDERS = ("xyz", "xzy", "yzx", "yxz", "zxy", "zyx")
INHERIT_COMPONENTS, INHERIT_PRODUCT, INHERIT_WITHOUT_PARENT = 0, 1, 2
ZERO, ONE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
NEGLIGIBLE_SCALE = 1e-7  # of 1: exporters print scales as float32


@dataclass(frozen=True)
class NodeTransform:
    """The constants of a node's transform, and T, R (degrees), S where no take moves them."""

    translation: Array  # (3,)
    rotation: Array  # (3,) degrees about x, y, z
    scaling: Array  # (3,)
    order: str  # axes, the last applied first: "zyx" means Rz Ry Rx
    before: Array  # (4,) pre-rotation
    after: Array  # (4,) inverse of the post-rotation
    shift: Array  # (3,) Roff + Rp
    arm: Array  # (3,) Soff + Sp - Rp
    pivot: Array  # (3,) Sp
    inheritance: int

    @property
    def has_free_rotation(self) -> bool:
        """Whether the angles of R are those of the whole rotation."""
        return bool((self.before == quaternion.IDENTITY).all() and (self.after == quaternion.IDENTITY).all())

    @property
    def has_pivots(self) -> bool:
        """Whether rotation or scaling moves the node's origin."""
        return bool(self.arm.any() or self.pivot.any())

    def rotations(self, degrees: Array) -> Array:
        """(..., 4) the whole rotation for angles (..., 3) about x, y, z."""
        angles = np.radians(degrees)[..., ["xyz".index(axis) for axis in self.order]]
        turn = euler.from_euler(angles, self.order)
        if self.has_free_rotation:
            return turn
        return quaternion.multiply(quaternion.multiply(self.before, turn), self.after)

    def translations(self, given: Array, turns: Array, scales: Array) -> Array:
        """(..., 3) the whole translation for T (..., 3), whole rotations (..., 4) and S (..., 3)."""
        result = given + self.shift
        if self.has_pivots:
            result = result + quaternion.rotate(turns, self.arm - scales * self.pivot)
        return result


def node_transform(model: FbxObject) -> NodeTransform:
    """The transform of a `Model`."""
    active = bool(model.integer("RotationActive", 0))
    order = model.integer("RotationOrder", 0) if active else 0
    order = order if 0 <= order < len(ROTATION_ORDERS) else 0
    rotation_pivot, scaling_pivot = model.vector("RotationPivot", ZERO), model.vector("ScalingPivot", ZERO)
    return NodeTransform(
        translation=model.vector("Lcl Translation", ZERO),
        rotation=model.vector("Lcl Rotation", ZERO),
        scaling=model.vector("Lcl Scaling", ONE),
        order=ROTATION_ORDERS[order][::-1],
        before=_plain_rotation(model.vector("PreRotation", ZERO)) if active else quaternion.identity(),
        after=quaternion.conjugate(_plain_rotation(model.vector("PostRotation", ZERO)))
        if active
        else quaternion.identity(),
        shift=model.vector("RotationOffset", ZERO) + rotation_pivot,
        arm=model.vector("ScalingOffset", ZERO) + scaling_pivot - rotation_pivot,
        pivot=scaling_pivot,
        inheritance=model.integer("InheritType", INHERIT_PRODUCT),
    )


def geometric_transform(model: FbxObject) -> Array | None:
    """(4, 4) node_from_geometry, which moves a node's mesh but not its children; None where it is the identity."""
    t, s = model.vector("GeometricTranslation", ZERO), model.vector("GeometricScaling", ONE)
    r = model.vector("GeometricRotation", ZERO)
    if not t.any() and not r.any() and (s == 1).all():
        return None
    return transform.compose(t, _plain_rotation(r), s)


def _plain_rotation(degrees: Array) -> Array:
    """(4,) a constant rotation, which is about x, then y, then z whatever the order of the node."""
    return quaternion.identity() if not degrees.any() else euler.from_euler(np.radians(degrees[::-1]), "zyx")


def is_unit_scale(scales: Array) -> bool:
    """Whether scales (..., 3) are all 1, so that every kind of inheritance is the plain product."""
    return bool(np.abs(scales - 1).max(initial=0.0) <= NEGLIGIBLE_SCALE)


def inherit(
    parents: list[int], kinds: list[int], translations: Array, rotations: Array, scales: Array
) -> tuple[Array, Array, Array, float]:
    """Locals (F, N, ...) that give by plain products what each node inherits in its own way (`kinds`), parents first.

    Also returned is the largest shear that had to be dropped, as a share.
    """
    count = len(parents)
    frames = len(translations)
    world = np.zeros((frames, count, 4, 4))
    turns, sizes = np.zeros((frames, count, 3, 3)), np.zeros((frames, count, 3, 3))
    local_turn = quaternion.to_matrix(rotations)
    local_size = np.zeros((frames, count, 3, 3))
    local_size[..., range(3), range(3)] = scales
    t, r, s = translations.copy(), rotations.copy(), scales.copy()
    worst = 0.0
    for node, parent in enumerate(parents):
        own_turn, own_size = local_turn[:, node], local_size[:, node]
        if parent < 0:
            linear, position = own_turn @ own_size, translations[:, node]
        else:
            turn, size = turns[:, parent], sizes[:, parent]
            if kinds[node] == INHERIT_PRODUCT:
                linear = turn @ size @ own_turn @ own_size
            elif kinds[node] == INHERIT_WITHOUT_PARENT:
                without = size / np.where(scales[:, parent] == 0, 1.0, scales[:, parent])[:, None, :]
                linear = turn @ own_turn @ without @ own_size
            else:
                linear = turn @ own_turn @ size @ own_size
            position = (world[:, parent, :3, :3] @ translations[:, node, :, None])[..., 0] + world[:, parent, :3, 3]
        world[:, node, :3, :3], world[:, node, :3, 3], world[:, node, 3, 3] = linear, position, 1.0
        turns[:, node] = quaternion.to_matrix(transform.decompose(world[:, node])[1])
        sizes[:, node] = np.swapaxes(turns[:, node], -1, -2) @ linear
        if parent >= 0 and kinds[node] != INHERIT_PRODUCT:
            above = world[:, parent]
            flat = np.abs(transform.determinant(above)) < 1e-30
            local = np.linalg.inv(np.where(flat[:, None, None], np.eye(4), above)) @ world[:, node]
            worst = max(worst, float(transform.shear_error(local).max()))
            t[:, node], r[:, node], s[:, node] = transform.decompose(local)
    return t, r, s, worst
