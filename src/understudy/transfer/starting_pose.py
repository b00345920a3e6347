"""A starting pose for the animator, and retargeting by the names of bones.

"The animator always started by matching the orientation of the character's root joint to that of the human. Another
common operation was to match the direction of the faces" [Yamane 2010, section 7]. With pairs, the mapping gives the
starting pose. Without pairs, bones of the same name turn alike: hips, spine, neck and head, and limbs if the character
has them. The character is placed where the actor is, with the same heading.

Bone names are also the baseline of tools that have no key poses. A bone of the target with the same name and side as
one of the source has the same world rotation relative to rest; all others keep their rest rotation to their parent. The
root's height is the source's times the ratio of the rest heights. Fore legs count as arms and hind legs as legs, as a
person would match them.

This mapping sees points only, as every mapping does: the rotation of a source bone is that of the triangle of its three
markers [Kabsch 1976].
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Skeleton
from understudy.character.body.ik import solve_ik
from understudy.character.body.joint_limits import Limits, find_free_joints
from understudy.character.body.markers import Markers, markers_of
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion, transform
from understudy.transfer.mapping import MappingResult, PoseMapping
from understudy.transfer.pairs import PosePairs
from understudy.transfer.physics.spring_limbs import start_poses
from understudy.transfer.source import SourceMotion

# Part, and the pattern of its bones' names; the first match counts, so fore legs come before legs.
BODY_PART_PATTERNS = (
    ("upper arm", r"front_?up(per)?_?leg|^(left|right)arm$|upper_?arm"),
    ("lower arm", r"front_?low(er)?_?leg|fore_?arm|lower_?arm|elbow"),
    ("hand", r"front_?foot|hand$|wrist|paw$|flipper|wing"),
    ("shoulder", r"front_?(leg|shoulder)|shoulder|clavicle|collar"),
    ("foot", r"back_?foot|foot$|ankle"),
    ("lower leg", r"back_?low(er)?_?leg|^(left|right)leg$|shin|calf|knee|lower_?leg"),
    ("upper leg", r"back_?(up(per)?)?_?leg|up_?leg|thigh|upper_?leg"),
    ("toe", r"toe"),
    ("head", r"^head"),
    ("neck", r"^neck"),
    ("spine", r"spine|chest|torso|^back$|lowerback|abdomen"),
    ("hips", r"^hips?$|pelvis|^body$|^root$"),
)


@dataclass(frozen=True, eq=False)
class BoneNames:
    """Pairs of bones, with both skeletons at rest in their local frames."""

    sources: Array  # (B,) first marker of each matched source bone
    targets: Array  # (B,) joints of the target
    rest_points: Array  # (P, 3) the source's markers at rest, local
    rest_root: Array  # (3,) the joint of the source's first link at rest, local
    rest: PoseSequence  # the target at rest, over the origin and facing +Z
    markers: Markers  # of the target
    name: str = "bone names"

    @classmethod
    def from_source(cls, source: SourceMotion, skeleton: Skeleton, markers: Markers) -> BoneNames:
        """Match the bones of a source with a skeleton to those of a target."""
        if source.poses is None or source.markers is None:
            raise InvalidInput(f"bone names need a skeleton, but the motion {source.name!r} has bare markers")
        still = PoseSequence.rest(source.poses.skeleton)
        points = source.markers.local(still.world)[0]
        parts = parts_of(source.poses.skeleton)
        first: dict[int, int] = {}
        for marker, joint in enumerate(source.markers.joints):
            first.setdefault(int(joint), marker)
        by_part = {part: first[joint] for joint, part in reversed(parts.items()) if joint in first}
        matched = [(by_part[part], joint) for joint, part in parts_of(skeleton).items() if part in by_part]
        sources, targets = np.array(matched, np.int64).reshape(-1, 2).T
        rest = PoseSequence.rest(skeleton)
        rest = rest.apply_transform(transform.invert_rigid(markers.frames(rest.world)))
        frames = transform.invert_rigid(source.markers.frames(still.world))
        root = transform.apply(frames, still.world[:, source.markers.joints[0], :3, 3])[0]
        return cls(sources, targets, points, root, rest, markers)

    def map(self, local: Array, continuity: float = 0.0) -> MappingResult:
        """The target's markers for source points (F, P, 3) in the local frame; there is no latent point."""
        poses = self.poses(local)
        points = self.markers.local(poses.world)
        return MappingResult(np.zeros((len(points), 0)), points, np.zeros(len(points)))

    def poses(self, local: Array, rate: float = 30.0) -> PoseSequence:
        """The target's poses (F), over the origin."""
        local = np.asarray(local, np.float64)
        turned = np.stack([_turns(self.rest_points[m : m + 3], local[:, m : m + 3]) for m in self.sources], axis=1)
        skeleton, rest = self.rest.skeleton, self.rest.world[0]
        rest_turns = quaternion.from_matrix(_remove_scale(rest[:, :3, :3]))
        rotations = np.array(np.broadcast_to(self.rest.rotations, (len(local), len(skeleton), 4)))
        translations = np.array(np.broadcast_to(self.rest.translations, (len(local), len(skeleton), 3)))
        world = np.empty_like(rotations)
        place = {int(joint): i for i, joint in enumerate(self.targets)}
        for j, parent in enumerate(skeleton.parents):
            above = world[:, parent] if parent >= 0 else quaternion.identity((len(local),))
            if j in place:
                world[:, j] = quaternion.multiply(turned[:, place[j]], rest_turns[j])
                rotations[:, j] = quaternion.multiply(quaternion.conjugate(above), world[:, j])
            else:
                world[:, j] = quaternion.multiply(above, rotations[:, j])
        root = self.markers.root
        translations[:, skeleton.ancestors(root)[-1], 1] += rest[root, 1, 3] * (self._heights(local) - 1)
        return PoseSequence(skeleton, translations, quaternion.unroll(rotations), rate)

    def _heights(self, local: Array) -> Array:
        """(F,) height of the source's first joint over its height at rest."""
        turns = _turns(self.rest_points[:3], local[:, :3])
        root = local[:, 0] + quaternion.rotate(turns, self.rest_root - self.rest_points[0])
        return np.asarray(root[:, 1] / self.rest_root[1]) if self.rest_root[1] > 0 else np.ones(len(local))


def find_starting_pose(
    source: SourceMotion,
    frame: int,
    target: Character,
    *,
    markers: Markers | None = None,
    pairs: PosePairs | None = None,
    mapping: PoseMapping | None = None,
    limits: Limits | None = None,
) -> PoseSequence:
    """One pose of the target for a frame of the source: by the mapping of the pairs, else by the names of bones."""
    if not 0 <= frame < len(source):
        raise InvalidInput(
            f"a frame of motion {source.name!r} should lie between 0 and {len(source) - 1}, but is {frame}"
        )
    local = source.local[[frame]]
    if pairs is not None and mapping is not None:
        start = start_poses(pairs, local, (), source.rate)
        points = mapping.map(local).points
        freedom = find_free_joints(pairs.poses)
        pose = solve_ik(pairs.markers, target.skeleton, points, start=start, limits=limits, freedom=freedom)
    else:
        pose = _pose_by_bone_names(source, frame, target, markers_of(target) if markers is None else markers)
    return pose.apply_transform(source.frames[[frame]])


def _pose_by_bone_names(source: SourceMotion, frame: int, target: Character, markers: Markers) -> PoseSequence:
    """A pose by the names of bones; a source of bare markers gives position and heading only."""
    if source.poses is None:
        rest = PoseSequence.rest(target.skeleton, 1, source.rate)
        return rest.apply_transform(np.linalg.inv(markers.frames(rest.world)))
    return BoneNames.from_source(source, target.skeleton, markers).poses(source.local[[frame]], source.rate)


def parts_of(skeleton: Skeleton) -> dict[int, str]:
    """The part of each joint, as "left upper arm", joint -> part; joints whose name matches no part are left out."""
    parts: dict[int, str] = {}
    for joint, name in enumerate(skeleton.names):
        plain = name.rpartition(":")[2].lower()
        side = _side(plain)
        bare = re.sub(r"[._ -]?(end|[lr])$|\d+$", "", plain)
        part = next(
            (part for part, pattern in BODY_PART_PATTERNS if re.search(pattern, plain) or re.search(pattern, bare)),
            None,
        )
        if part is not None and not plain.endswith("_end") and (side or part in ("head", "neck", "spine", "hips")):
            parts[joint] = f"{side} {part}".strip()
    return parts


def _side(name: str) -> str:
    if "left" in name or re.search(r"[._ -]l$|^l[._ ]", name):
        return "left"
    return "right" if "right" in name or re.search(r"[._ -]r$|^r[._ ]", name) else ""


def _turns(rest: Array, now: Array) -> Array:
    """(F, 4) the rotations from a triangle at rest (3, 3) to the same triangle now (F, 3, 3)."""
    frame, frames = _triangle(rest[None]), _triangle(now)
    return quaternion.from_matrix(frames @ np.swapaxes(frame, -1, -2))


def _triangle(points: Array) -> Array:
    """(F, 3, 3) orthonormal columns along the first side, across the triangle, and normal to it."""
    along = points[:, 2] - points[:, 0]
    normal = np.cross(along, points[:, 1] - points[:, 0])
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    return np.stack([along, np.cross(normal, along), normal], axis=-1)


def _remove_scale(linear: Array) -> Array:
    return linear / np.linalg.norm(linear, axis=-2, keepdims=True)
