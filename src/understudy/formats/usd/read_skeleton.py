"""A Skeleton prim: joint paths to names and parents, the rest pose, and the pose in which meshes were bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdSkel

from understudy.character.skeleton import depth_first
from understudy.checks import LARGEST_NUMBER, Array
from understudy.errors import InvalidInput
from understudy.formats.usd.read_joints import Joints
from understudy.formats.usd.reading import Reading

MOST_JOINTS, DEEPEST = 100_000, 2_000


@dataclass
class Bones:
    """One Skeleton prim: `joints[i]` is the number in the character of the prim's i-th joint.

    `stretch[i]` is the joint of the prim that carries the scale of joint i, or -1: see `write_joints`.
    """

    prim: Usd.Prim
    index: dict[str, int]  # joint path -> i
    joints: Array  # (N,)
    binds: Array  # (N, 4, 4) skeleton_from_joint when bound
    node: int  # the joint in whose space the skeleton stands, or -1
    stretch: Array  # (N,)
    named: Array | None  # (B,) numbers of the joints that a user would call bones, where our writer listed them


def read(reading: Reading, prim: Usd.Prim, joints: Joints) -> Bones:
    """Add the joints of a Skeleton prim to the character's."""
    skeleton = UsdSkel.Skeleton(prim)
    paths = reading.tokens(skeleton.GetJointsAttr()) or ()
    if len(paths) > MOST_JOINTS:
        raise reading.bad(prim, f"has {len(paths):,} joints, but at most {MOST_JOINTS:,} are read")
    index = {path: i for i, path in enumerate(paths)}
    if len(index) != len(paths) or "" in index:
        raise reading.bad(prim, "joints should be distinct paths")
    if any(path.count("/") > DEEPEST for path in paths):
        raise reading.bad(prim, f"joints should be at most {DEEPEST:,} deep")
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
    return Bones(prim, index, numbers, binds, node, stretch, _bones(reading, prim, numbers))


def _parent(path: str, index: dict[str, int]) -> int:
    """The nearest joint above by path; paths may leave out levels that are not joints."""
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        if path in index:
            return index[path]
    return -1


def _names(reading: Reading, skeleton: UsdSkel.Skeleton, paths: tuple[str, ...]) -> tuple[str, ...]:
    given = reading.tokens(skeleton.GetJointNamesAttr())
    if given is not None and len(given) == len(paths) and all(given):
        return given
    return tuple(path.rsplit("/", 1)[-1] for path in paths)


def _keep_exact(reading: Reading, prim: Usd.Prim, numbers: Array, joints: Joints) -> None:
    """Rotation and scale of rest transforms as our own writer had them; see `write_joints`."""
    kept = reading.custom(prim, "rest", np.float64)
    if kept is None or kept.size % 8 or not (np.abs(kept) <= LARGEST_NUMBER).all():
        return
    for row in kept.reshape(-1, 8):
        if 0 <= row[0] < len(numbers) and np.linalg.norm(row[1:5]) > 0.5:
            joints.exact[int(numbers[int(row[0])])] = row[1:]


def _bones(reading: Reading, prim: Usd.Prim, numbers: Array) -> Array | None:
    places = reading.custom(prim, "bones", np.int64)
    if places is None or not ((places >= 0) & (places < len(numbers))).all():
        return None
    return numbers[places]


def _transforms(reading: Reading, skeleton: UsdSkel.Skeleton, parents: Array, order: Array) -> tuple[Array, Array]:
    """(N, 4, 4) rest, parent_from_joint, and (N, 4, 4) bind, skeleton_from_joint; either stands in for the other."""
    prim, count = skeleton.GetPrim(), len(parents)
    found = {}
    for name, attribute in (
        ("restTransforms", skeleton.GetRestTransformsAttr()),
        ("bindTransforms", skeleton.GetBindTransformsAttr()),
    ):
        value = reading.matrices(attribute)
        if value is not None and len(value) not in (0, count):
            raise reading.bad(prim, f"{name} should hold {count} matrices, one a joint, but holds {len(value)}")
        found[name] = None if value is None or len(value) != count else reading.frame.matrices(value)
    rest, binds = found["restTransforms"], found["bindTransforms"]
    if count and rest is None:
        reading.note(
            f"skeleton {prim.GetName()} has no rest transforms"
            + (": the bind pose was taken" if binds is not None else "")
        )
        rest = np.tile(np.eye(4), (count, 1, 1)) if binds is None else _local(reading, prim, parents, binds)
    if rest is None:
        rest = np.zeros((0, 4, 4))
    if binds is None:
        binds = rest.copy()
        for i in order:
            if parents[i] >= 0:
                binds[i] = binds[parents[i]] @ rest[i]
    return rest, binds


def _local(reading: Reading, prim: Usd.Prim, parents: Array, binds: Array) -> Array:
    above = np.where((parents >= 0)[:, None, None], binds[parents], np.eye(4))
    try:
        return np.linalg.solve(above, binds)
    except np.linalg.LinAlgError:
        raise reading.bad(prim, "bindTransforms should be invertible") from None
