"""Reading Skeleton prims, the transforms above them, and the skins of meshes.

**Joints** (`SkeletonBuilder`). UsdSkel's joints move within the Skeleton prim, which may itself be under transforms;
meshes without a skin hang under transforms only. A prim whose own transform is not the identity, or moves, becomes a
joint, as a node of glTF would.

**Skeletons** (`load_skeleton`). Joint paths to names and parents, the rest pose, and the pose that meshes are bound in.

**Skins** (`load_skin`). Joint indices and weights of a mesh, in the order and pose in which it was bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel

from understudy.character import Skeleton, SkinBinding
from understudy.character.skeleton import depth_first
from understudy.checks import LARGEST_NUMBER, Array
from understudy.errors import InvalidInput
from understudy.formats.usd.context import EARLIEST, ReadContext, name_of
from understudy.maths import transform

MAX_JOINTS, MAX_JOINT_DEPTH = 100_000, 2_000
MAX_INFLUENCES = 256

# A rest transform that was edited after our writer wrote it differs by more from the kept rotation and scale.
REST_EDIT_TOLERANCE_RATIO = 1e-6
MAX_SHEAR_RATIO = 1e-5  # rounding of float32 transforms stays below 1e-6, and 1e-5 of a limb is not visible
MIN_BIND_VOLUME = 1e-30  # determinant of a bind transform; a scale of 1e-6, as for micrometres, gives 1e-18

SKINNING_METHODS = {"classicLinear": "linear", "dualQuaternion": "dual"}


@dataclass
class UsdJoints:
    """One Skeleton prim: `joints[i]` is the number in the character of the prim's i-th joint.

    `stretch[i]` is the joint of the prim that carries the scale of joint i, or -1: see `write_joints`.
    """

    prim: Usd.Prim
    index: dict[str, int]  # joint path -> i
    joints: Array  # (N,)
    binds: Array  # (N, 4, 4) skeleton_from_joint when bound
    node: int  # the joint that carries the skeleton prim's own transform, or -1
    stretch: Array  # (N,)
    named: Array | None  # (B,) numbers of the joints that are bones, where our writer listed them


class SkeletonBuilder:
    """A growing forest of joints, parents first, already in metres and Y up."""

    def __init__(self, reading: ReadContext, name: str) -> None:
        self.reading, self.name = reading, name
        self._names: list[str] = []
        self._parents: list[int] = []
        self._matrices: list[Array] = []
        self._nodes: dict[str, int] = {}
        self.moving: list[tuple[int, UsdGeom.Xformable]] = []
        self._anchor: int | None = None
        self.exact: dict[int, Array] = {}  # joint -> rotation and scale (7,) that our writer kept beside the matrix

    def add(self, name: str, parent: int, parent_from_joint: Array) -> int:
        """A joint with its rest transform (4, 4); returns its number."""
        self._names.append(name)
        self._parents.append(parent)
        self._matrices.append(parent_from_joint)
        return len(self._names) - 1

    def stretch(self, joint: int, joint_from_helper: Array) -> None:
        """Fold a helper that only scales into the joint above it."""
        self._matrices[joint] = self._matrices[joint] @ joint_from_helper

    def node(self, prim: Usd.Prim) -> int:
        """The joint that carries the prim's own transform; -1 where that is the world."""
        chain: list[Usd.Prim] = []
        while prim and not prim.IsPseudoRoot() and str(prim.GetPath()) not in self._nodes:
            chain.append(prim)
            prim = prim.GetParent()
        joint = self._nodes.get(str(prim.GetPath()), -1) if prim else -1
        for below in reversed(chain):
            xformable = UsdGeom.Xformable(below)
            if xformable:
                joint = self._own_transform(below, xformable, joint)
            self._nodes[str(below.GetPath())] = joint
        return joint

    def _own_transform(self, prim: Usd.Prim, xformable: UsdGeom.Xformable, parent: int) -> int:
        if xformable.GetResetXformStack():
            parent = -1
        matrix = np.array(xformable.GetLocalTransformation(EARLIEST)).T
        if not (np.abs(matrix) <= LARGEST_NUMBER).all():
            raise self.reading.bad(prim, "the transform should hold finite numbers")
        moves = len(xformable.GetTimeSamples()) > 1
        if not moves and (matrix == np.eye(4)).all():
            return parent
        joint = self.add(name_of(prim), parent, self.reading.frame.matrices(matrix))
        if moves:
            self.moving.append((joint, xformable))
        return joint

    def anchor_joint(self, prim: Usd.Prim) -> int:
        """The joint that a mesh without skin hangs on; one is added where no transform is above it."""
        joint = self.node(prim)
        if joint >= 0:
            return joint
        if self._anchor is None:
            self._anchor = self.add(self.name, -1, np.eye(4))
        return self._anchor

    def skeleton(self) -> Skeleton:
        """The frozen skeleton; its joints have the numbers that `add` gave."""
        if not self._names:
            return Skeleton((), (), np.zeros((0, 3)))
        matrices = np.array(self._matrices)
        translations, rotations, scales = transform.decompose(matrices)
        for number, kept in self.exact.items():
            difference = np.abs(transform.compose(translations[number], kept[:4], kept[4:]) - matrices[number])
            if difference[:3, :3].max() <= REST_EDIT_TOLERANCE_RATIO * np.abs(matrices[number][:3, :3]).max():
                rotations[number], scales[number] = kept[:4], kept[4:]
        sheared = np.flatnonzero(transform.shear_error(matrices) > MAX_SHEAR_RATIO)
        for joint in sheared:
            self.reading.note("the shear of rest transforms was dropped: {}", self._names[joint])
        return Skeleton(self.reading.distinct(self._names, "joint"), self._parents, translations, rotations, scales)


def load_skeleton(reading: ReadContext, prim: Usd.Prim, joints: SkeletonBuilder) -> UsdJoints:
    """Add the joints of a Skeleton prim to the character's."""
    skeleton = UsdSkel.Skeleton(prim)
    paths = reading.tokens(skeleton.GetJointsAttr()) or ()
    if len(paths) > MAX_JOINTS:
        raise reading.bad(prim, f"has {len(paths):,} joints, but at most {MAX_JOINTS:,} are read")
    index = {path: i for i, path in enumerate(paths)}
    if len(index) != len(paths) or "" in index:
        raise reading.bad(prim, "joints should be distinct paths")
    if any(path.count("/") > MAX_JOINT_DEPTH for path in paths):
        raise reading.bad(prim, f"joints should be at most {MAX_JOINT_DEPTH:,} deep")
    parents = np.array([_parent(path, index) for path in paths], np.int64).reshape(-1)
    try:
        order = depth_first(parents) if np.any(parents >= np.arange(len(paths))) else np.arange(len(paths))
    except InvalidInput as error:
        raise reading.bad(prim, str(error)) from None
    rest, binds = _transforms(reading, skeleton, parents, order)
    names = _names(reading, skeleton, paths)
    listed = reading.custom(prim, "helpers", str)
    helpers = {index[path] for path in (() if listed is None else listed) if path in index}
    helpers = {i for i in helpers if parents[i] >= 0}
    node = joints.node(prim)
    numbers, stretch = np.full(len(paths), -1), np.full(len(paths), -1)
    for i in order:
        parent = int(parents[i])
        if int(i) in helpers:
            numbers[i] = numbers[parent]
            if not (rest[i] == np.eye(4)).all():
                stretch[parent] = i
                joints.stretch(int(numbers[i]), rest[i])
        else:
            numbers[i] = joints.add(names[i], node if parent < 0 else int(numbers[parent]), rest[i])
    _keep_exact(reading, prim, numbers, joints)
    return UsdJoints(prim, index, numbers, binds, node, stretch, _bones(reading, prim, numbers))


def _parent(path: str, index: dict[str, int]) -> int:
    """The nearest joint above by path; paths may leave out levels that are not joints."""
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        if path in index:
            return index[path]
    return -1


def _names(reading: ReadContext, skeleton: UsdSkel.Skeleton, paths: tuple[str, ...]) -> tuple[str, ...]:
    given = reading.tokens(skeleton.GetJointNamesAttr())
    if given is not None and len(given) == len(paths) and all(given):
        return given
    return tuple(path.rsplit("/", 1)[-1] for path in paths)


def _keep_exact(reading: ReadContext, prim: Usd.Prim, numbers: Array, joints: SkeletonBuilder) -> None:
    """Rotation and scale of rest transforms as our own writer had them; see `write_joints`."""
    kept = reading.custom(prim, "rest", np.float64)
    if kept is None or kept.size % 8 or not (np.abs(kept) <= LARGEST_NUMBER).all():
        return
    for row in kept.reshape(-1, 8):
        if 0 <= row[0] < len(numbers) and np.linalg.norm(row[1:5]) > 0.5:
            joints.exact[int(numbers[int(row[0])])] = row[1:]


def _bones(reading: ReadContext, prim: Usd.Prim, numbers: Array) -> Array | None:
    places = reading.custom(prim, "bones", np.int64)
    if places is None or not ((places >= 0) & (places < len(numbers))).all():
        return None
    return numbers[places]


def _transforms(reading: ReadContext, skeleton: UsdSkel.Skeleton, parents: Array, order: Array) -> tuple[Array, Array]:
    """(N, 4, 4) rest, parent_from_joint, and (N, 4, 4) bind, skeleton_from_joint; each defaults to the other."""
    prim, count = skeleton.GetPrim(), len(parents)
    transforms = {}
    for name, attribute in (
        ("restTransforms", skeleton.GetRestTransformsAttr()),
        ("bindTransforms", skeleton.GetBindTransformsAttr()),
    ):
        value = reading.matrices(attribute)
        if value is not None and len(value) not in (0, count):
            raise reading.bad(prim, f"{name} should hold {count} matrices, one a joint, but holds {len(value)}")
        transforms[name] = None if value is None or len(value) != count else reading.frame.matrices(value)
    rest, binds = transforms["restTransforms"], transforms["bindTransforms"]
    if count and rest is None:
        reading.note(
            f"skeleton {prim.GetName()} has no rest transforms"
            + (": the bind pose was taken" if binds is not None else "")
        )
        rest = np.tile(np.eye(4), (count, 1, 1)) if binds is None else _rest_from_binds(reading, prim, parents, binds)
    if rest is None:
        rest = np.zeros((0, 4, 4))
    if binds is None:
        binds = rest.copy()
        for i in order:
            if parents[i] >= 0:
                binds[i] = binds[parents[i]] @ rest[i]
    return rest, binds


def _rest_from_binds(reading: ReadContext, prim: Usd.Prim, parents: Array, binds: Array) -> Array:
    above = np.where((parents >= 0)[:, None, None], binds[parents], np.eye(4))
    try:
        return np.linalg.solve(above, binds)
    except np.linalg.LinAlgError:
        raise reading.bad(prim, "bindTransforms should be invertible") from None


def load_skin(reading: ReadContext, prim: Usd.Prim, vertex_count: int, bones: UsdJoints | None) -> SkinBinding | None:
    """The skin of a mesh; None where it has no joint influences.

    UsdSkel: vertex = sum_k w_k skeleton_from_joint bind_k^-1 geomBind point, which is ours with
    inverse_bind = bind^-1 geomBind.
    """
    primvars = UsdGeom.PrimvarsAPI(prim)
    indices = primvars.FindPrimvarWithInheritance("skel:jointIndices")
    weights = primvars.FindPrimvarWithInheritance("skel:jointWeights")
    if not (indices and weights and indices.HasAuthoredValue() and weights.HasAuthoredValue()):
        return None
    if bones is None:
        reading.note("meshes with skin weights but no skeleton are read without a skin: {}", prim.GetName())
        return None
    which, shares, rigid = _influences(reading, prim, indices, weights, vertex_count)
    joints = _subset(reading, prim, bones)
    if which.min() < 0 or which.max() >= len(joints):
        wrong = which[(which < 0) | (which >= len(joints))][0]
        raise reading.bad(prim, f"jointIndices should lie between 0 and {len(joints) - 1}, but hold {wrong}")
    geometry = reading.matrix(primvars.FindPrimvarWithInheritance("skel:geomBindTransform").GetAttr())
    geometry = np.eye(4) if geometry is None else reading.frame.matrices(geometry)
    if rigid and which.shape[1] == 1:
        joints, which = joints[which[0]], np.zeros_like(which)
    shares, changed = SkinBinding.normalise(shares)
    if changed:
        reading.note("skin weights that do not sum to 1 were normalised: {}", f"{prim.GetName()} ({changed} vertices)")
    binds = bones.binds[joints]
    if (np.abs(transform.determinant(binds)) < MIN_BIND_VOLUME).any():
        raise reading.bad(prim, "is bound to joints whose bindTransforms are flat, so that they have no inverse")
    inverse_binds = transform.invert(binds) @ geometry
    numbers = bones.joints[joints]
    given = str(_find_inherited_value(prim, "primvars:skel:skinningMethod") or "classicLinear")
    method = SKINNING_METHODS.get(given, "linear")
    # 1e-9: what the product of a matrix and its inverse leaves of the identity
    if rigid and len(numbers) == 1 and method == "linear" and np.abs(inverse_binds[0] - np.eye(4)).max() < 1e-9:
        return SkinBinding.rigid(int(numbers[0]), vertex_count)
    return SkinBinding(numbers, inverse_binds, which, shares, method)


def _influences(
    reading: ReadContext, prim: Usd.Prim, indices: UsdGeom.Primvar, weights: UsdGeom.Primvar, vertex_count: int
) -> tuple[Array, Array, bool]:
    """(V, K) joint indices, (V, K) weights, and whether they are the same for all vertices."""
    which = reading.array(indices.GetAttr(), None, kind="int")
    shares = reading.array(weights.GetAttr(), None)
    size = int(indices.GetElementSize())
    interpolation = str(indices.GetInterpolation())
    rigid = interpolation == "constant"
    if which is None or shares is None or len(which) != len(shares) or size != weights.GetElementSize():
        raise reading.bad(prim, "jointIndices and jointWeights should have the same length and elementSize")
    expected = size if rigid else size * vertex_count
    if not 1 <= size <= MAX_INFLUENCES or len(which) != expected or interpolation not in ("constant", "vertex"):
        raise reading.bad(
            prim,
            f"jointIndices should hold {expected} values (elementSize {size}, {vertex_count} points), "
            f"but hold {len(which)} ({interpolation})",
        )
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise reading.bad(prim, "jointWeights should be finite and not negative")
    reading.take(prim, 2 * size * vertex_count)
    shape = (1, size) if rigid else (vertex_count, size)
    full = (vertex_count, size)
    return np.broadcast_to(which.reshape(shape), full), np.broadcast_to(shares.reshape(shape), full), rigid


def _subset(reading: ReadContext, prim: Usd.Prim, bones: UsdJoints) -> Array:
    """(B,) the skeleton's joints to which jointIndices refer: those of skel:joints, or all."""
    holder = prim
    while holder and not holder.IsPseudoRoot():
        given = reading.tokens(UsdSkel.BindingAPI(holder).GetJointsAttr())
        if given is not None:
            unknown = [path for path in given if path not in bones.index]
            if unknown:
                raise reading.bad(
                    prim, f"skel:joints names {unknown[0]!r}, which skeleton {bones.prim.GetName()} lacks"
                )
            return np.array([bones.index[path] for path in given], np.int64)
        holder = holder.GetParent()
    return np.arange(len(bones.joints))


def _find_inherited_value(prim: Usd.Prim, name: str) -> Any:
    """The value of an attribute on the prim or on the nearest prim above that has one."""
    while prim and not prim.IsPseudoRoot():
        attribute = prim.GetAttribute(name)
        if attribute and attribute.HasAuthoredValue():
            return attribute.Get()
        prim = prim.GetParent()
    return None
