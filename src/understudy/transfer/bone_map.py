"""Bone map: which joint of a character is which bone of a human body, and what is missing.

Bones have Unity's names (`Hips`, `LeftUpperArm`), as in `character.body.bone_names`, which also reads the names of
joints. What tells a bone, the surest first:

    avatar   the file's own map (VRM)
    name     the joint's name, in any of the usual conventions; the joints of a limb have to be a chain
    shape    the skeleton at rest: legs are the mirrored pair of chains that ends lowest, arms the mirrored pair that
             leaves the trunk highest, the trunk is what joins them
    mirror   the mirror image of a bone that was found on the other side

Joints that carry no skin and no bone that does (IK targets, poles, controls) are left out, whatever their names.

Rigs that were animated with IK often have feet that hang on no leg. `BoneMap.parents` is the hierarchy of the body
instead of that of the file: every bone follows the bone above it, and skin that hangs on no bone follows the nearest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from understudy.character import Character, Skeleton
from understudy.character.body.bone_names import FINGERS, SEGMENTS, BoneName, read_bone_name
from understudy.character.body.feet import trailing_joints
from understudy.character.body.limbs import bone_ends, joints_with_skin
from understudy.character.body.mass import Body, body_of
from understudy.character.body.volume import bind_worlds, rest_vertices, vertex_owners
from understudy.checks import Array
from understudy.errors import InvalidInput

SIDES = ("Left", "Right")
PROP_PATTERN = re.compile(r"slot|weapon|prop|axe|shield|sword|mug|cape|cloak|staff|wand|bow$|gun|knife|quiver", re.I)
LEG = ("UpperLeg", "LowerLeg", "Foot")
ARM = ("UpperArm", "LowerArm", "Hand")
TRUNK = ("Spine", "Chest", "UpperChest")
# How sure a bone is, by what told it: names err where they are an artist's own, shapes where a body is unusual.
CERTAINTIES = {"file": 1.0, "avatar": 1.0, "name": 0.9, "shape": 0.7, "mirror": 0.6}
SIDE_SIZE_RATIO = 0.015  # of the size: a joint further from the middle plane is on one side
MIRROR_SIZE_RATIO = 0.1  # of the size: a joint this near to the mirror image of another is its partner
MIN_LIMB_SIZE_RATIO = 0.15  # of the height: a shorter chain is an ear or a finger
MIN_BONE_SIZE_RATIO = 0.005  # of the size: two bones of a limb whose joints are nearer are one
MAX_ANKLE_HEIGHT_RATIO = 0.3  # of the height of the hips: an ankle is lower
MAX_SHIN_SLOPE = 0.5  # of its length that a shin does not go down
COLLAR_RATIO = 0.6  # of the next bone: a first bone of an arm that is shorter is a collar bone
MIN_TRUNK_RISE_RATIO = 0.5  # of its length: the trunk of a person rises more, that of an animal on all fours less
SOLE_DIRECTIONS = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0) for z in (-1, 0, 1) if x or y or z], float)
MIN_HAND_HEIGHT_RATIO = 0.25  # of the height of the hips: a person's hands hang higher at rest


@dataclass(frozen=True, eq=False)
class BoneMap:
    """The bones of one character.

    Args:
        character: The character.
        bones: Joint by bone, in Unity's names.
        spine: The joints of the trunk above the hips, from below.
        neck: The joints between trunk and head, from below.
        evidence: What told each bone: "avatar", "name", "shape", "mirror" or "file".
        missing: What a human body has and this one lacks; empty where the body can take over a person's motion.
        axes: (3, 3) columns left, up and forward of the body at rest.
        rest: (J, 4, 4) world_from_joint of the pose that the skin was bound in.
    """

    character: Character
    bones: Mapping[str, int]
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    evidence: Mapping[str, str]
    missing: tuple[str, ...]
    axes: Array
    rest: Array

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the character."""
        return self.character.skeleton

    @property
    def certainty(self) -> dict[str, float]:
        """How sure each bone is, 0 to 1."""
        return {bone: CERTAINTIES[told] for bone, told in self.evidence.items()}

    @cached_property
    def names(self) -> dict[str, str]:
        """Joint name by bone."""
        return {bone: self.skeleton.names[joint] for bone, joint in self.bones.items()}

    @cached_property
    def places(self) -> Array:
        """(J, 3) the joints at rest."""
        return np.asarray(self.rest[:, :3, 3])

    @cached_property
    def new_parents(self) -> dict[int, int]:
        """Joints that hang on no bone that carries them -> the joint that they follow instead."""
        return _detached_joints(self)

    @cached_property
    def parents(self) -> Array:
        """(J,) the hierarchy of the body; a parent may come after its child."""
        parents = np.array(self.skeleton.parents)
        for joint, above in self.new_parents.items():
            parents[joint] = above
        return parents

    @cached_property
    def leg_length(self) -> float:
        """Metres from the hip over knee and ankle to the sole, at rest; the mean of both legs."""
        places, bones, up = self.places, self.bones, self.axes[:, 1]
        lengths = [
            sum(_distance(places, bones[side + a], bones[side + b]) for a, b in pairwise(LEG))
            + float(places[bones[side + "Foot"]] @ up - self.floor)
            for side in SIDES
            if all(side + bone in bones for bone in LEG)
        ]
        return float(np.mean(lengths)) if lengths else 0.0

    @cached_property
    def body(self) -> Body:
        """Masses and contact points; props weigh nothing."""
        return body_of(self.character).weighted(~self.props)

    @cached_property
    def props(self) -> Array:
        """(J,) bool: things in the hands or on the back, and all below them; they may be below the floor."""
        return trailing_joints(self.skeleton, PROP_PATTERN)

    @cached_property
    def floor(self) -> float:
        """Height of the floor that the feet stand on at rest: of the lowest skin of the feet, else of their joints."""
        points = sole_points(self).values()
        return float(min(((p @ self.axes[:, 1]).min() for p in points), default=0.0))

    def require(self) -> BoneMap:
        """The map itself.

        Raises:
            InvalidInput: If bones are missing, with their names.
        """
        if self.missing:
            raise InvalidInput(
                f"{self.character.name!r} has no bones for {_join(self.missing)}, so that a person's motion has "
                "nowhere to go: name the joints in a file (--map FILE), or give pose pairs (--keys PAIRS)"
            )
        return self

    @cached_property
    def rows(self) -> dict[str, list[str]]:
        """Names of the joints by part of the body ("left arm"), from the trunk outwards; without fingers."""
        names, bones = self.skeleton.names, self.bones
        parts: dict[str, tuple[str, ...]] = {"hips": ("Hips",), "head": ("Head",)}
        for side in SIDES:
            parts |= {f"{side.lower()} arm": tuple(side + bone for bone in ("Shoulder", *ARM))}
            parts |= {f"{side.lower()} leg": tuple(side + bone for bone in (*LEG, "Toes"))}
        rows = {part: [names[bones[bone]] for bone in wanted if bone in bones] for part, wanted in parts.items()}
        trunk = {"spine": [names[j] for j in self.spine], "neck": [names[j] for j in self.neck]}
        return {"hips": rows.pop("hips"), **trunk, **rows}

    def lines(self) -> list[str]:
        """The map as text: a line for each part of the body."""
        names = self.skeleton.names
        lines = [f"{part:<10} {', '.join(joints) or '-'}" for part, joints in self.rows.items()]
        fingers = sum(bone.endswith(SEGMENTS) for bone in self.bones)
        lines += [f"{'fingers':<10} {fingers} joints"] if fingers else []
        if self.new_parents:
            followed = ", ".join(f"{names[j]} follows {names[above]}" for j, above in self.new_parents.items())
            lines.append(f"{'detached':<10} {followed}")
        return lines


def bone_map(character: Character, overrides: Mapping[str, str] | None = None) -> BoneMap:
    """The bones of a character.

    Args:
        character: The character.
        overrides: Joint name by bone, where what is found is wrong; an empty name takes a bone away.

    Returns:
        The map; `missing` says what a human body has and this one lacks.

    Raises:
        InvalidInput: If an override names an unknown bone or joint.

    Example:
        >>> from understudy.transfer.bone_map import bone_map
        >>> bone_map(us.load("actor").character()).names["LeftUpperLeg"]
        'LeftUpLeg'
    """
    finder = _Finder(character)
    if character.avatar is not None and character.avatar.bones:
        finder.take(
            {b: character.skeleton.index(n) for b, n in character.avatar.bones.items() if n in character.skeleton},
            "avatar",
        )
    else:
        finder.take(finder.by_name(), "name")
        if not finder.is_complete():
            finder.take(finder.by_shape(), "shape")
            finder.complete_by_mirror()
    finder.override(overrides or {})
    return finder.result()


class _Finder:
    """Finds bones, the surest evidence first; what was found is kept."""

    def __init__(self, character: Character) -> None:
        self.character, self.skeleton = character, character.skeleton
        self.rest = bind_worlds(character)
        self.places = np.asarray(self.rest[:, :3, 3])
        self.parents = self.skeleton.parents
        self.named = [read_bone_name(name) for name in self.skeleton.names]
        count = len(self.skeleton)
        bones = np.zeros(count, bool)  # joints, and not nodes of meshes that hang on them
        bones[character.joints] = True
        carrying = np.zeros(count, bool)
        if character.vertex_count and any(not part.skin.is_rigid for part in character.parts):
            for joint in np.flatnonzero(joints_with_skin(character)).tolist():
                carrying[next((j for j in self.skeleton.ancestors(joint) if bones[j]), joint)] = True
        else:
            trees = [self.skeleton.ancestors(j)[-1] for j in range(count)]  # of targets and the like, beside the body
            largest = max(set(trees), key=trees.count)
            carrying[
                [j for j in np.flatnonzero(bones).tolist() if self.named[j].part != "Control" and trees[j] == largest]
            ] = True
        self.carrying = carrying
        self.deforms = carrying.copy()  # carries something, or has a joint below it that does
        for joint in range(count - 1, -1, -1):
            if self.deforms[joint] and self.parents[joint] >= 0:
                self.deforms[self.parents[joint]] = True
        self.usable = self.deforms.copy()
        self.usable[character.joints] = True
        inner = self.places[self.deforms] if self.deforms.any() else self.places
        self.size = float(np.ptp(inner, axis=0).max(initial=0.0)) or 1.0
        self.bones: dict[str, int] = {}
        self.evidence: dict[str, str] = {}

    # ---- what was found ----

    def take(self, bones: Mapping[str, int], told: str) -> None:
        """Keep bones whose name and joint are free; limbs only where the whole limb agrees with what there is."""
        for bone, joint in bones.items():
            if bone not in self.bones and joint not in self.bones.values():
                self.bones[bone], self.evidence[bone] = joint, told

    def is_complete(self) -> bool:
        """Whether hips, head, arms and legs were found."""
        return {"Hips", "Head", *(side + bone for side in SIDES for bone in (*LEG, *ARM))} <= set(self.bones)

    def override(self, overrides: Mapping[str, str]) -> None:
        """Take what the user says."""
        for bone, name in overrides.items():
            if bone not in ALL_BONES:
                raise InvalidInput(f"a bone map should name bones as Unity does (LeftUpperArm), but has {bone!r}")
            joint = self.skeleton.index(name) if name else None
            for other in [other for other, taken in self.bones.items() if other == bone or taken == joint]:
                del self.bones[other], self.evidence[other]
            if joint is not None:
                self.bones[bone], self.evidence[bone] = joint, "file"

    def above(self, joint: int) -> list[int]:
        """The joints above a joint, from its parent up."""
        return self.skeleton.ancestors(joint)[1:]

    # ---- names ----

    def by_name(self) -> dict[str, int]:
        """Bones by the names of joints, where the joints of a limb are a chain."""
        bones: dict[str, int] = {}
        for side in SIDES:
            for limb in (self._named_leg(side), self._named_arm(side)):
                bones |= {side + bone: joint for bone, joint in limb.items()}
            if side + "Hand" in bones:
                bones |= self._named_fingers(side, bones[side + "Hand"])
            elif side + "LowerArm" in bones:
                bones |= self._named_fingers(side, bones[side + "LowerArm"])
        hips = self._hips(bones, self._joints("", "Hips"))
        if hips is not None:
            bones["Hips"] = hips
        for bone in ("Head", "Jaw"):
            joints = [j for j in self._joints("", bone) if j not in bones.values()]
            if joints:
                bones[bone] = joints[0]
        for side in SIDES:
            joints = self._joints(side, "Eye")
            if joints:
                bones[side + "Eye"] = joints[0]
        return bones

    def _joints(self, side: str, part: str) -> list[int]:
        """The joints of a part, those above before those below."""
        wanted = BoneName(side, part)
        joints = [j for j, name in enumerate(self.named) if self.usable[j] and name.is_same_part(wanted)]
        depths = {j: (len(self.above(j)), self.skeleton.names[j]) for j in joints}
        return sorted(joints, key=depths.__getitem__)

    def _named_leg(self, side: str) -> dict[str, int]:
        upper, leg, lower = (self._joints(side, part) for part in ("UpperLeg", "Leg", "LowerLeg"))
        foot, toes = self._joints(side, "Ankle"), self._joints(side, "Toes")
        toes = toes or (self._joints(side, "Foot") if foot else [])
        foot = foot or self._joints(side, "Foot")
        leg = self._chain(leg)
        if not upper and lower and leg:
            upper = leg
        elif not upper and len(leg) >= 3 - bool(foot):
            upper, lower, rest = leg[:1], leg[1:2], leg[2:]
            foot, toes = foot or rest[:1], toes or (rest if foot else rest[1:])
        elif not upper:
            upper = self._joints(side, "Hip") if lower or leg else []
        return self._limb({"UpperLeg": upper, "LowerLeg": lower or leg, "Foot": foot, "Toes": toes})

    def _named_arm(self, side: str) -> dict[str, int]:
        upper, arm, lower = (self._joints(side, part) for part in ("UpperArm", "Arm", "LowerArm"))
        clavicle, shoulder, hand = (self._joints(side, part) for part in ("Clavicle", "Shoulder", "Hand"))
        arm = self._chain(arm)
        if not upper and lower and arm:
            upper = arm
        elif not upper and len(arm) == 3 - bool(hand):
            upper, lower, hand = arm[:1], arm[1:2], hand or arm[2:]
        elif not upper and lower and shoulder:
            upper, shoulder = shoulder[-1:], shoulder[:-1]
        limb = self._limb({"UpperArm": upper, "LowerArm": lower, "Hand": hand})
        if "UpperArm" in limb:
            girdle = [j for j in (*clavicle, *shoulder) if j in self.above(limb["UpperArm"])]
            limb |= {"Shoulder": min(girdle)} if girdle else {}
        return limb

    def _chain(self, joints: list[int]) -> list[int]:
        """The joints of a list that hang on the first of them, each on the one before."""
        chain = joints[:1]
        for joint in joints[1:]:
            if chain[-1] in self.above(joint):
                chain.append(joint)
        return chain

    def _limb(self, parts: dict[str, list[int]]) -> dict[str, int]:
        """The first joint of each part that hangs on the part before; a foot may hang on nothing, near its leg."""
        limb: dict[str, int] = {}
        last: int | None = None
        for part, joints in parts.items():
            joints = [j for j in joints if j not in limb.values()]
            below = [j for j in joints if last is None or last in self.above(j)]
            if not below and part == "Foot" and last is not None:
                tops = [j for j in joints if not set(joints).intersection(self.above(j))]
                below = [min(tops, key=lambda j: _distance(self.places, j, last or 0))] if tops else []
            if below:
                limb[part] = last = below[0]
            elif part in ("UpperLeg", "UpperArm", "LowerLeg"):
                break  # what is below it would be a guess
        return limb

    def _named_fingers(self, side: str, hand: int) -> dict[str, int]:
        """Chains below the hand; the segments of a finger in their order, without the bones of the palm."""
        chains: dict[str, list[int]] = {}
        numbers = {
            name.number[:1] for j, name in enumerate(self.named) if name.part == "Finger" and hand in self.above(j)
        }
        order = ("thumb", "index", "middle", "ring", "little")
        for joint, name in enumerate(self.named):
            if not self.usable[joint] or name.side not in ("", side) or hand not in self.above(joint):
                continue
            finger = name.part
            if finger == "Finger" and name.number[:1].isdigit():  # Biped counts from 0, MakeHuman from 1
                place = int(name.number[0]) - (0 if "0" in numbers else 1)
                finger = FINGERS[order[place]] if 0 <= place < 5 else ""
            if finger in FINGERS.values() and not (name.is_palm and finger != "Thumb"):
                chains.setdefault(finger, []).append(joint)
        return {
            f"{side}{finger}{segment}": joint
            for finger, joints in chains.items()
            for segment, joint in zip(SEGMENTS, self._chain(joints))
        }

    def _hips(self, bones: Mapping[str, int], named: list[int]) -> int | None:
        """The joint that carries both legs: one that is named so, else the lowest."""
        legs = [bones[side + "UpperLeg"] for side in SIDES if side + "UpperLeg" in bones]
        if len(legs) < 2:
            return named[0] if named else None
        shared = [j for j in self.above(legs[0]) if j in self.above(legs[1])]
        return next((j for j in named if j in shared), shared[0] if shared else None)

    # ---- shape ----

    def by_shape(self) -> dict[str, int]:
        """Bones by the shape of the skeleton at rest, with +Y up."""
        if not self.deforms.any():
            return {}
        shape = _Shape(self.places, self.parents, self.deforms, self.size, self._skin_reach())
        return shape.bones()

    def _skin_reach(self) -> Array:
        """(J,) metres from each joint to the furthest of its skin: the last bone of a limb has no joint at its end."""
        reach = np.zeros(len(self.skeleton))
        if self.character.vertex_count:
            owners = vertex_owners(self.character)
            vertices = rest_vertices(self.character, self.rest)
            np.maximum.at(reach, owners, np.linalg.norm(vertices - self.places[owners], axis=1))
        return reach

    def complete_by_mirror(self) -> None:
        """Bones of one side whose mirror image was not found: the joint at the mirrored place."""
        axes = self._axes()
        pairs = [
            (self.bones["Left" + b], self.bones["Right" + b])
            for b in (*LEG, *ARM)
            if {"Left" + b, "Right" + b} <= set(self.bones)
        ]
        if not pairs:
            return
        middle = np.mean([(self.places[a] + self.places[b]) / 2 for a, b in pairs], axis=0)
        for side, other in (SIDES, SIDES[::-1]):
            for bone in ("UpperLeg", "LowerLeg", "Foot", "Toes", "Shoulder", "UpperArm", "LowerArm", "Hand"):
                if side + bone in self.bones or other + bone not in self.bones:
                    continue
                place = self.places[self.bones[other + bone]]
                image = place - 2 * axes[:, 0] * float((place - middle) @ axes[:, 0])
                free = [j for j in np.flatnonzero(self.usable).tolist() if j not in self.bones.values()]
                gaps = {j: float(np.linalg.norm(self.places[j] - image)) for j in free}
                best = min(gaps, key=gaps.__getitem__, default=None)
                if best is not None and gaps[best] < MIRROR_SIZE_RATIO * self.size:
                    self.take({side + bone: best}, "mirror")

    # ---- result ----

    def result(self) -> BoneMap:
        axes = self._axes()
        spine, neck = self._trunk()
        bones = dict(self.bones)
        for bone in (*TRUNK, "Neck"):
            bones.pop(bone, None)
        if spine:
            places = spine if len(spine) < 3 else [spine[0], spine[len(spine) // 2], spine[-1]]
            bones |= dict(zip(TRUNK, places))
        if neck:
            bones["Neck"] = neck[0]
        evidence = {bone: self.evidence.get(bone, "shape") for bone in bones}
        missing = self._missing(bones, spine, axes)
        return BoneMap(self.character, bones, tuple(spine), tuple(neck), evidence, missing, axes, self.rest)

    def _trunk(self) -> tuple[list[int], list[int]]:
        """The joints of the spine and of the neck, from below."""
        hips, head = self.bones.get("Hips"), self.bones.get("Head")
        arms = [self.bones.get(side + "Shoulder", self.bones.get(side + "UpperArm")) for side in SIDES]
        shoulders = [arm for arm in arms if arm is not None]
        if hips is None:
            return [], []
        line = self.above(head) if head is not None else []
        if shoulders:
            shared = [j for j in self.above(shoulders[0]) if all(j in self.above(other) for other in shoulders)]
            top = shared[0] if shared else hips
        else:
            top = next((j for j in line if self.named[j].part not in ("Neck", "Head")), hips)
        if line and top not in line:  # arms that hang beside the trunk
            top = next((j for j in line if self.named[j].part != "Neck"), top)
        neck = line[: line.index(top)][::-1] if top in line else []
        first = next((i for i, j in enumerate(neck) if self.named[j].part == "Neck"), 0)
        if first:  # the arms leave the trunk below its top
            top, neck = neck[first - 1], neck[first:]
        chain = self.skeleton.ancestors(top)
        taken = set(self.bones.values()) - {self.bones.get(bone) for bone in (*TRUNK, "Neck")}
        if hips in chain:
            spine = chain[: chain.index(hips)][::-1]
        else:  # hips and trunk hang side by side
            spine = [
                j
                for j in chain[::-1]
                if self.places[j, 1] > self.places[hips, 1] - 0.1 * self.size and j not in self.above(hips)
            ]
        return [j for j in spine if j not in taken], [j for j in neck if j not in taken]

    def _axes(self) -> Array:
        """(3, 3) columns left, up and forward, by legs or arms; +Y is up unless the legs say otherwise."""
        places, bones = self.places, self.bones
        legs = [
            places[bones[s + "UpperLeg"]] - places[bones[s + "Foot"]]
            for s in SIDES
            if {s + "UpperLeg", s + "Foot"} <= set(bones)
        ]
        up = np.array([0.0, 1.0, 0.0])
        rise = sum(legs, np.zeros(3))
        axis = int(np.argmax(np.abs(rise)))
        if np.abs(rise[axis]) > 0.8 * np.linalg.norm(rise):
            up = np.sign(rise[axis]) * np.eye(3)[axis]
        across = np.zeros(3)
        for bone in ("UpperLeg", "UpperArm", "Shoulder"):
            if {"Left" + bone, "Right" + bone} <= set(bones):
                across += places[bones["Left" + bone]] - places[bones["Right" + bone]]
        across = across - up * (across @ up)
        if np.linalg.norm(across) < 1e-6 * self.size:
            across = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.5 else np.array([0.0, 0.0, 1.0])
        left = across / np.linalg.norm(across)
        return np.stack([left, up, np.cross(left, up)], axis=1)

    def _missing(self, bones: Mapping[str, int], spine: list[int], axes: Array) -> tuple[str, ...]:
        """What a human body has and these bones lack; a body without arms has at least a trunk, a neck and a head."""
        if any(name.is_animal for name in self.named):
            return ("arms (it has fore and hind legs)",)
        missing = [] if "Hips" in bones else ["hips"]
        for side in SIDES:
            missing += [f"the {side.lower()} leg"] if any(side + bone not in bones for bone in LEG) else []
        arms = [side for side in SIDES if any(side + bone not in bones for bone in ARM[:2])]
        if len(arms) == 1 or (arms and not (spine and "Neck" in bones and "Head" in bones)):
            missing += [f"the {side.lower()} arm" for side in arms]
        if missing:
            return tuple(missing)
        up = axes[:, 1]
        tops = [bones[bone] for bone in ("LeftUpperArm", "RightUpperArm", "Head") if bone in bones]
        hips = np.mean([self.places[bones[side + "UpperLeg"]] for side in SIDES], axis=0)
        trunk = np.mean(self.places[tops], axis=0) - hips
        if not trunk @ up > MIN_TRUNK_RISE_RATIO * np.linalg.norm(trunk):
            return ("an upright trunk",)
        floor = min(float(self.places[bones[side + "Foot"]] @ up) for side in SIDES)
        hands = [bones[side + "Hand"] for side in SIDES if side + "Hand" in bones]
        leg = float(hips @ up) - floor
        if any(
            float(self.places[hand] @ up) - floor < MIN_HAND_HEIGHT_RATIO * leg for hand in hands
        ) and self._is_level(axes):
            return ("arms that do not stand on the floor",)
        return ()

    def _is_level(self, axes: Array) -> bool:
        """Whether the trunk lies rather than stands, by the way from the hips to the head."""
        if "Head" not in self.bones or "Hips" not in self.bones:
            return True
        trunk = self.places[self.bones["Head"]] - self.places[self.bones["Hips"]]
        return bool(trunk @ axes[:, 1] < 0.8 * np.linalg.norm(trunk))


class _Shape:
    """Trunk and limbs of a skeleton at rest, without names."""

    def __init__(self, places: Array, parents: Array, deforms: Array, size: float, tips: Array) -> None:
        self.places, self.parents, self.deforms, self.size = places, parents, deforms, size
        self.children: list[list[int]] = [[] for _ in parents]
        for joint in np.flatnonzero(deforms).tolist():
            if parents[joint] >= 0:
                self.children[parents[joint]].append(joint)
        self.reach = np.zeros(len(parents))  # metres from a joint to the furthest end below it, along the bones
        ends = [j for j in range(len(parents)) if not self.children[j]]
        self.reach[ends] = tips[ends]
        for joint in range(len(parents) - 1, -1, -1):
            for child in self.children[joint]:
                self.reach[joint] = max(self.reach[joint], self.reach[child] + _distance(places, joint, child))
        joints = places[deforms]
        self.floor, self.height = float(joints[:, 1].min()), float(np.ptp(joints[:, 1]))
        self.axis, self.middle = self._mirror_plane(joints)
        across = places[:, self.axis] - self.middle
        self.side = np.where(np.abs(across) < SIDE_SIZE_RATIO * size, 0, np.sign(across)).astype(np.int64)

    @staticmethod
    def _mirror_plane(joints: Array) -> tuple[int, float]:
        """The level axis along which the skeleton is its own mirror image, and the middle of it."""
        errors = {}
        for axis in (0, 2):
            middle = float(np.median(joints[:, axis]))
            image = joints.copy()
            image[:, axis] = 2 * middle - image[:, axis]
            gaps = np.linalg.norm(image[:, None] - joints[None], axis=2).min(axis=1)
            errors[axis] = (float(gaps.mean()) - 0.1 * float(joints[:, axis].std()), middle)  # a line mirrors itself
        axis = min(errors, key=lambda axis: errors[axis][0])
        return axis, errors[axis][1]

    def bones(self) -> dict[str, int]:
        """Bones of legs, arms and head, or nothing where there are no two pairs of limbs one above the other."""
        pairs = self._limb_pairs()
        legs = self._legs(pairs)
        if legs is None:
            return {}
        hip = float(np.mean([self.places[path[0], 1] for path in legs]))
        others = [pair for pair in pairs if pair is not legs and self._top(pair) > hip + 0.05 * self.height]
        longest = max((self.reach[pair[0][0]] for pair in others), default=0.0)
        others = [pair for pair in others if self.reach[pair[0][0]] > 0.5 * longest]
        arms = min(others, key=self._top, default=None)  # ears are above
        if any(pair is not legs and self._top(pair) <= hip + 0.05 * self.height for pair in self._long(pairs, legs)):
            return {}  # more than two legs
        bones: dict[str, int] = {}
        sides = self._sides(legs)
        for side, path in zip(sides, legs):
            bones |= {side + bone: joint for bone, joint in zip((*LEG, "Toes"), self._leg(path))}
        for side, path in zip(sides, arms or ()):
            bones |= {side + bone: joint for bone, joint in self._arm(path).items()}
        shared = _shared_above(self.parents, [path[0] for path in (*legs, *(arms or ()))])
        pelvis = _shared_above(self.parents, [path[0] for path in legs])
        if pelvis or shared:
            bones["Hips"] = (pelvis or shared)[0]
        if shared and self.places[shared[0], 1] > self.floor + 0.6 * (hip - self.floor):
            bones["Hips"] = shared[0]
        tops = _shared_above(self.parents, [path[0] for path in arms]) if arms else []
        bones |= self._head(tops[0] if tops else bones.get("Hips"), set(bones.values()))
        return bones

    def _limb_pairs(self) -> list[tuple[list[int], list[int]]]:
        """Paths of limbs that leave the middle, with their partners on the other side."""
        tops = [
            j
            for j in np.flatnonzero(self.deforms).tolist()
            if self.side[j]
            and (self.parents[j] < 0 or self.side[self.parents[j]] != self.side[j])
            and self.reach[j] > MIN_LIMB_SIZE_RATIO * self.height
        ]
        pairs = []
        for a in [j for j in tops if self.side[j] > 0]:
            image = self.places[a].copy()
            image[self.axis] = 2 * self.middle - image[self.axis]
            partners = [b for b in tops if self.side[b] < 0]
            gaps = {b: float(np.linalg.norm(self.places[b] - image)) for b in partners}
            best = min(gaps, key=gaps.__getitem__, default=None)
            if best is not None and gaps[best] < MIRROR_SIZE_RATIO * self.size:
                pairs.append((self._path(a), self._path(best)))
        return pairs

    def _long(
        self, pairs: list[tuple[list[int], list[int]]], legs: tuple[list[int], list[int]]
    ) -> list[tuple[list[int], list[int]]]:
        """The pairs that reach at least half as far as the legs."""
        return [pair for pair in pairs if self.reach[pair[0][0]] > 0.5 * self.reach[legs[0][0]]]

    def _path(self, top: int) -> list[int]:
        """From a joint along the branch that reaches furthest."""
        path = [top]
        while self.children[path[-1]]:
            last = path[-1]
            path.append(max(self.children[last], key=lambda j: self.reach[j] + _distance(self.places, last, j)))
        return path

    def _top(self, pair: tuple[list[int], list[int]]) -> float:
        return float(np.mean([self.places[path[0], 1] for path in pair]))

    def _legs(self, pairs: list[tuple[list[int], list[int]]]) -> tuple[list[int], list[int]] | None:
        """The pair that ends lowest, of those that go down by a tenth of the height."""

        def end(pair: tuple[list[int], list[int]]) -> float:
            return float(np.mean([max(self.places[p, 1].min() - self.reach[p[-1]], self.floor) for p in pair]))

        legs = [pair for pair in pairs if self._top(pair) - end(pair) > 0.1 * self.height]
        return min(legs, key=end, default=None)

    def _leg(self, path: list[int]) -> list[int]:
        """Hip, knee, ankle and toes: thigh and shin are about as long, and little is left above and below."""
        path = self._with_detached_foot(path)
        lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(self.places[path], axis=0), axis=1))])
        if len(path) < 3:
            return path
        hip_height = float(self.places[path[0], 1]) - self.floor
        best, least, slope = (0, 1, 2), np.inf, 1.0
        for hip in range(len(path) - 2):
            for knee in range(hip + 1, len(path) - 1):
                for ankle in range(knee + 1, len(path)):
                    low = float(self.places[path[ankle], 1]) - self.floor < MAX_ANKLE_HEIGHT_RATIO * hip_height
                    drop = float(self.places[path[knee], 1] - self.places[path[ankle], 1])
                    level = 1 - drop / max(lengths[ankle] - lengths[knee], 1e-12)  # a shin goes down, a foot forward
                    cost = _segment_cost(lengths, hip, knee, ankle, above=1.5) + (not low) + 3 * level
                    if cost < least:
                        best, least, slope = (hip, knee, ankle), cost, level
        hip, knee, ankle = best
        if slope > MAX_SHIN_SLOPE:  # a leg of one joint and a foot
            return path[:2]
        return [path[hip], path[knee], path[ankle], *path[ankle + 1 : ankle + 2]]

    def _with_detached_foot(self, path: list[int]) -> list[int]:
        """The path with a foot that hangs on another joint, below the end of the path."""
        end = self.places[path[-1]]
        hip_height = self.places[path[0], 1] - self.floor
        if len(path) > 3 or end[1] - self.floor < MAX_ANKLE_HEIGHT_RATIO * hip_height:
            return path
        free = [
            j
            for j in np.flatnonzero(self.deforms).tolist()
            if j not in path
            and self.side[j] == self.side[path[0]]
            and self.places[j, 1] < end[1]
            and (self.parents[j] < 0 or self.side[self.parents[j]] == 0)
            and np.linalg.norm((self.places[j] - end)[[0, 2]]) < 0.15 * self.height
        ]
        if not free:
            return path
        foot = min(free, key=lambda j: float(np.linalg.norm(self.places[j] - end)))
        return [*path, *self._path(foot)]

    def _arm(self, path: list[int]) -> dict[str, int]:
        """Shoulder, upper arm, lower arm and hand, as far as there are joints; fingers part at the hand."""
        parting = next((i for i, j in enumerate(path) if i >= 2 and len(self.children[j]) > 1), None)
        end = len(path) if parting is None else parting + 1
        lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(self.places[path], axis=0), axis=1))])
        if len(path) < 3:
            return dict(zip(("UpperArm", "LowerArm"), path))
        best, least = (0, 1, 2), np.inf
        collar = end > 3 and lengths[1] < COLLAR_RATIO * (lengths[2] - lengths[1])
        for upper in range(int(collar), min(end - 2, 3)):
            for lower in range(upper + 1, end - 1):
                for hand in range(lower + 1, end):
                    cost = _segment_cost(lengths[:end], upper, lower, hand) - 0.1 * (hand == parting)
                    best, least = ((upper, lower, hand), cost) if cost < least else (best, least)
        upper, lower, hand = best
        limb = {"UpperArm": path[upper], "LowerArm": path[lower], "Hand": path[hand]}
        return ({"Shoulder": path[0]} if upper > 0 else {}) | limb

    def _head(self, top: int | None, taken: set[int]) -> dict[str, int]:
        """The end of the chain that goes on upwards in the middle."""
        if top is None:
            return {}
        paths = [self._path(j) for j in self.children[top] if self.side[j] == 0 and j not in taken]
        paths = [[j for j in path if self.side[j] == 0] for path in paths if not taken.intersection(path)]
        path = max(paths, key=lambda path: float(self.places[path[-1], 1]), default=[])
        if not path or self.places[path[-1], 1] <= self.places[top, 1]:
            return {}
        return {"Head": next((j for j in path if len(self.children[j]) > 1), path[-1])}

    def _sides(self, legs: tuple[list[int], list[int]]) -> tuple[str, str]:
        """The sides of the two paths of a pair, by where the feet point; forward is +Z, or +X, where they do not."""
        ways = [self.places[leg[3]] - self.places[leg[2]] for leg in map(self._leg, legs) if len(leg) > 3]
        along = float(sum(ways, np.zeros(3))[2 - self.axis])
        forward = np.eye(3)[2 - self.axis] * (-1.0 if along < 0 else 1.0)
        left = np.cross([0.0, 1.0, 0.0], forward)
        return ("Left", "Right") if left[self.axis] > 0 else ("Right", "Left")


def _segment_cost(lengths: Array, first: int, middle: int, last: int, above: float = 0.5) -> float:
    """How unlike a limb three joints of a path are: unequal segments, and parts of the path that are left over.

    `above` weighs what is left over before the first joint: a collar bone is common, a second hip joint is not.
    """
    upper, lower = lengths[middle] - lengths[first], lengths[last] - lengths[middle]
    if min(upper, lower) <= 0:
        return float(np.inf)
    left_over = (above * lengths[first] + 0.5 * (lengths[-1] - lengths[last])) / lengths[-1]
    return abs(float(np.log(upper / lower))) + float(left_over)


def _detached_joints(found: BoneMap) -> dict[int, int]:
    """Bones that do not hang on the bone above them -> that bone; skin that hangs on no bone -> the nearest."""
    bones, skeleton, places = found.bones, found.skeleton, found.places
    above = _bones_above(found)
    trunk = {bones["Hips"], *found.spine, *found.neck} if "Hips" in bones else set()
    detached: dict[int, int] = {}
    for joint, parent in above.items():
        ancestors = set(skeleton.ancestors(joint)[1:])
        carried = parent in ancestors or (parent in trunk and bool(trunk & ancestors))
        if not carried and joint not in skeleton.ancestors(parent):
            detached[joint] = parent
    mapped = set(above) | trunk
    carrying = joints_with_skin(found.character) if found.character.vertex_count else np.zeros(len(skeleton), bool)
    spared = set(skeleton.ancestors(bones["Hips"])) if "Hips" in bones else set(range(len(skeleton)))
    for joint in np.flatnonzero(carrying).tolist():
        line = skeleton.ancestors(joint)
        if joint in spared or mapped.intersection(line) or set(detached).intersection(line):
            continue
        nearest = min(mapped, key=lambda other: _distance(places, joint, other))
        detached[joint] = nearest
    return detached


def _bones_above(found: BoneMap) -> dict[int, int]:
    """Joint of each bone -> joint of the bone that carries it in a body."""
    bones = found.bones
    if "Hips" not in bones:
        return {}
    line = [bones["Hips"], *found.spine]
    above = dict(zip(line[1:], line))
    top = line[-1]
    neck = [top, *found.neck, *([bones["Head"]] if "Head" in bones else [])]
    above |= dict(zip(neck[1:], neck))
    for side in SIDES:
        chains = [("Shoulder", *ARM), (*LEG, "Toes")]
        for start, parts in zip((top, bones["Hips"]), chains):
            chain = [start, *(bones[side + part] for part in parts if side + part in bones)]
            above |= dict(zip(chain[1:], chain))
        hand = bones.get(side + "Hand", bones.get(side + "LowerArm"))
        for finger in set(FINGERS.values()):
            chain = [bones[side + finger + segment] for segment in SEGMENTS if side + finger + segment in bones]
            if hand is not None:
                above |= dict(zip(chain, [hand, *chain]))
    return above


def sole_points(body: BoneMap) -> dict[int, Array]:
    """Joint of each foot, or below it -> points (P, 3) of its underside at rest, in the world.

    Without a skin, the joints themselves and the ends of their bones.
    """
    skeleton = body.skeleton
    feet = [body.bones[side + "Foot"] for side in SIDES if side + "Foot" in body.bones]
    joints = [j for j in range(len(skeleton)) if any(foot in line_to_root(body.parents, j) for foot in feet)]
    points: dict[int, Array] = {}
    if body.character.vertex_count:
        vertices, owners = rest_vertices(body.character, body.rest), vertex_owners(body.character)
        for joint in joints:
            mine = vertices[owners == joint]
            if len(mine):
                extreme = np.unique((mine @ (body.axes @ SOLE_DIRECTIONS.T)).argmax(axis=0))
                points[joint] = mine[extreme]
    if not points:
        ends = bone_ends(skeleton, body.rest)
        points = {j: np.stack([body.places[j], *([ends[j]] if j in ends else [])]) for j in joints}
    return points


def descendants(parents: Array, joint: int) -> Array:
    """(J,) bool: a joint and all below it."""
    return np.array([joint in line_to_root(parents, j) for j in range(len(parents))], bool)


def line_to_root(parents: Array, joint: int) -> list[int]:
    """A joint and all above it in a hierarchy whose parents may come after their children."""
    line = []
    while joint >= 0 and joint not in line:
        line.append(joint)
        joint = int(parents[joint])
    return line


def _shared_above(parents: Array, joints: Iterable[int]) -> list[int]:
    """The joints above all of `joints`, the lowest first."""
    shared: list[int] | None = None
    for joint in joints:
        line = line_to_root(parents, joint)[1:]
        shared = line if shared is None else [j for j in shared if j in line]
    return shared or []


def _distance(places: Array, a: int, b: int) -> float:
    return float(np.linalg.norm(places[a] - places[b]))


def _join(parts: tuple[str, ...]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


ALL_BONES = frozenset(
    [
        *("Hips", "Head", "Jaw"),
        *(side + bone for side in SIDES for bone in (*LEG, "Toes", "Shoulder", *ARM, "Eye")),
        *(side + finger + segment for side in SIDES for finger in set(FINGERS.values()) for segment in SEGMENTS),
    ]
)
