"""The actor of the pairs: motions of other performers, carried over to the body that the pairs were made with.

Pairs relate poses of one actor to poses of a character. A motion of anybody else first becomes a motion of that actor,
so that pairs serve every capture: a motion with a skeleton by its bones (`retarget`), bare markers by a fit.

Marker fit. The names of markers say which bone they ride on, and roughly where. With the bones W_j(x_f) of the actor in
frame f, the place o_p of marker p in the frame of its bone, and s the ratio of sizes,

    minimise  sum_fp |W_p(x_f) o_p - s y_fp|^2 + sum_p |o_p - o_p0|^2 F / g_p^2

over poses x, places o and s in turn [cf. Loper 2014]: poses by inverse kinematics, places by a mean, s by regression. A
named landmark is known to within `LANDMARK_DEVIATION_RATIO` of the height (g), a marker of a cluster to within more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from understudy import checks
from understudy.character import Character, Skeleton
from understudy.character.body.ik import solve_ik
from understudy.character.body.markers import Markers
from understudy.character.body.mass import Body, body_of
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.maths import transform
from understudy.transfer.bone_map import BoneMap, bone_map
from understudy.transfer.retarget import retarget, size_ratio
from understudy.transfer.source import SourceMotion

SAME_BODY_RATIO = 0.02  # of the height: rest poses that differ less are one body, read from two files
FIT_FRAMES = 60  # that places of markers are fitted to
FIT_ROUNDS = 8
FIT_STIFFNESS = 1e-3  # of joints in these rounds: places are not known yet
LANDMARK_DEVIATION_RATIO, CLUSTER_DEVIATION_RATIO = 0.015, 0.06  # of the height: how well a marker's place is known
MIN_FITTED_MARKERS = 8
REQUIRED_BONES = ("Hips", "LeftLowerLeg", "RightLowerLeg")  # without markers there or below, there is nothing to fit
# Names without their side -> the bone, how far along it (to the next bone), and the offset outward, up and to the front
# over the height. The first pattern that matches the whole name counts. Trunk: from the hips to the neck.
MARKER_PLACES: tuple[tuple[str, str, float, tuple[float, float, float]], ...] = (
    (r"FHD|FHEAD", "Head", 0.0, (0.04, 0.06, 0.06)),
    (r"BHD|BHEAD", "Head", 0.0, (0.04, 0.06, -0.07)),
    (r"ARIEL|TOP|HEAD|HD|VERTEX", "Head", 0.0, (0.0, 0.1, 0.0)),
    (r"C7|CV7", "Trunk", 1.0, (0.0, 0.0, -0.05)),
    (r"T10|TV10|T8", "Trunk", 0.6, (0.0, 0.0, -0.07)),
    (r"CLAV|CLV|IJ|SJN", "Trunk", 0.95, (0.0, 0.0, 0.05)),
    (r"STRN|STR|SXS|PX", "Trunk", 0.7, (0.0, 0.0, 0.08)),
    (r"BAC|BACK|SCAP", "Trunk", 0.75, (0.05, 0.0, -0.07)),
    (r"TA\d|TH?O?RX?\d|TRUNK\d?|CHEST\d?", "Trunk", 0.7, (0.0, 0.0, 0.0)),
    (r"ASIS?|FWT|FWAIST|IAS", "Hips", 0.0, (0.07, 0.03, 0.06)),
    (r"PSIS?|BWT|BWAIST|IPS", "Hips", 0.0, (0.03, 0.03, -0.06)),
    (r"V?SACR?|SACRUM", "Hips", 0.0, (0.0, 0.03, -0.06)),
    (r"PV\d|PELV\w*|WAIST\d?", "Hips", 0.0, (0.0, 0.03, 0.0)),
    (r"SHO|SHOULDER|ACR\w?|SAE", "Shoulder", 1.0, (0.0, 0.03, 0.0)),
    (r"UPA\d?|ARM?\d|UPARM\d?", "UpperArm", 0.5, (0.0, 0.0, 0.0)),
    (r"ELB\w?|ELBOW|HLE", "LowerArm", 0.0, (0.0, 0.0, 0.0)),
    (r"FR[AM]\d?|FA\d|FOREARM\d?", "LowerArm", 0.5, (0.0, 0.0, 0.0)),
    (r"WR[ABI]?|WRIST\w?|RSP|USP", "LowerArm", 1.0, (0.0, 0.0, 0.0)),
    (r"FIN|HAND\d?|HND\d?|M3|KNU", "Hand", 1.0, (0.0, 0.0, 0.0)),
    (r"THI\d?|TH\d|THIGH\d?", "UpperLeg", 0.5, (0.04, 0.0, 0.0)),
    (r"M?KNE_\d|MKNE|KNEM|FME", "LowerLeg", 0.0, (-0.03, 0.0, 0.0)),
    (r"KNEE?|FLE", "LowerLeg", 0.0, (0.03, 0.0, 0.0)),
    (r"TIB\d?|SHN\d?|SHA\d?|SK\d|SHANK\d?|SHIN\d?", "LowerLeg", 0.5, (0.02, 0.0, 0.0)),
    (r"M?ANK_\d|MANK|ANKM|TAM|MMA", "Foot", 0.0, (-0.02, 0.0, 0.0)),
    (r"ANK|ANKLE|FAL|LMA", "Foot", 0.0, (0.02, 0.0, 0.0)),
    (r"HEE|HEEL|CAL|FCC", "Foot", 0.0, (0.0, -0.03, -0.03)),
    (r"TOE|MT\d|FM\d|TIP", "Foot", 1.0, (0.0, 0.0, 0.0)),
    (r"FT\d|FOO\w?|FOO_\d|FOOT\d?", "Foot", 0.6, (0.0, 0.0, 0.0)),
)
NEXT_BONES = {
    "Shoulder": "UpperArm",
    "UpperArm": "LowerArm",
    "LowerArm": "Hand",
    "UpperLeg": "LowerLeg",
    "LowerLeg": "Foot",
    "Foot": "Toes",
}


@dataclass(frozen=True, eq=False)
class Actor:
    """The body that pairs were made with, and its markers."""

    character: Character
    markers: Markers

    @classmethod
    def from_motion(cls, source: SourceMotion) -> Actor | None:
        """The performer of a motion; None for bare markers."""
        return None if source.character is None or source.markers is None else cls(source.character, source.markers)

    @property
    def skeleton(self) -> Skeleton:
        """The actor's skeleton."""
        return self.character.skeleton

    def is_body(self, skeleton: Skeleton, markers: tuple[str, ...]) -> bool:
        """Whether a skeleton with markers of these names is this body: the same joints in the same places."""
        own = self.skeleton
        if markers != self.markers.names or own.names != skeleton.names:
            return False
        height = float(np.ptp(PoseSequence.rest(own).world[0, :, 1, 3])) or 1.0
        return float(np.abs(own.translations - skeleton.translations).max()) < SAME_BODY_RATIO * height

    def motion_of(self, poses: PoseSequence, source: SourceMotion, note: str) -> SourceMotion:
        """The motion of this body that a performance of another became, with a note of how."""
        return replace(
            source,
            points=checks.freeze(self.markers.positions(poses.world)),
            frames=checks.freeze(self.markers.frames(poses.world)),
            poses=poses,
            names=self.markers.names,
            notes=(*source.notes, note),
            markers=self.markers,
            character=self.character,
        )


def perform_as(actor: Actor | None, source: SourceMotion, body: Body | None = None) -> tuple[SourceMotion, Body | None]:
    """The motion as one of the actor of the pairs, and the masses of its performer.

    Args:
        actor: The actor; None where the pairs are of bare markers.
        source: A motion of the actor, or of anybody else.
        body: Masses of the performer of the motion, kept where the motion is the actor's own.

    Raises:
        InvalidInput: If the motion has neither the bones of a human body nor markers with known names.
    """
    if actor is None or (source.poses is not None and actor.is_body(source.poses.skeleton, source.names)):
        return source, body
    if source.poses is None:
        poses, note = fit_markers(source, actor)
    else:
        assert source.character is not None  # every motion with poses has one
        same = source.names == actor.markers.names
        performer, own = bone_map(source.character), bone_map(actor.character)
        if same and (performer.missing or own.missing):
            return source, body  # no bones to go by, but the points are the same
        poses = retarget(source.poses, performer.require(), own.require())
        shared = len(set(performer.bones) & set(own.bones))
        note = f"the motion was carried over to the actor of the pairs, by {shared} bones"
    return actor.motion_of(poses, source, note), body_of(actor.character)


@dataclass(frozen=True, eq=False)
class LiveActor:
    """A performer whose frames arrive one by one, played by the actor of the pairs.

    The floor is where the first frame stands: later frames rise and fall as the performer does.
    """

    actor: Actor
    performer: BoneMap
    own: BoneMap
    size: float
    rise: float  # metres, height of the actor's hips over `size` times that of the performer's

    @classmethod
    def begin(cls, actor: Actor, performer: Character, first: PoseSequence) -> LiveActor:
        """From the first frame.

        Raises:
            InvalidInput: If the performer lacks bones of a human body.
        """
        bones, own = bone_map(performer).require(), bone_map(actor.character).require()
        size = size_ratio(bones, own)
        hips = retarget(first, bones, own, size=size).world[0, own.bones["Hips"], 1, 3]
        return cls(actor, bones, own, size, float(hips - size * first.world[0, bones.bones["Hips"], 1, 3]))

    def read(self, poses: PoseSequence) -> tuple[Array, Array]:
        """The actor's points (P, 3) and world_from_local (4, 4) for one frame of the performer."""
        played = retarget(poses, self.performer, self.own, size=self.size).world
        height = self.size * poses.world[0, self.performer.bones["Hips"], 1, 3] + self.rise
        shift = np.eye(4)
        shift[1, 3] = height - played[0, self.own.bones["Hips"], 1, 3]
        world = shift @ played
        return self.actor.markers.positions(world)[0], self.actor.markers.frames(world)[0]


def fit_markers(source: SourceMotion, actor: Actor) -> tuple[PoseSequence, str]:
    """Poses of the actor that bare markers with known names show, and a note of how well.

    Raises:
        InvalidInput: If too few markers have names that tell their place on the body.
    """
    bones = bone_map(actor.character).require()
    places = _marker_places(source.names, bones)
    chosen = [i for i, name in enumerate(source.names) if name in places]
    seen = {places[source.names[i]].bone for i in chosen}
    missing = [bone for bone in REQUIRED_BONES if not seen & {bone, bone.replace("LowerLeg", "Foot")}]
    if len(chosen) < MIN_FITTED_MARKERS or missing:
        raise InvalidInput(
            f"the markers of {source.name!r} should have names that tell where they are (LASI, RKNE, C7), at least "
            f"{MIN_FITTED_MARKERS} with pelvis and both legs, but {len(chosen)} have: {join_names(source.names, 4)}"
        )
    named = [places[source.names[i]] for i in chosen]
    joints = np.array([place.joint for place in named])
    first = np.array([place.offset for place in named])
    height = float(np.ptp(bones.places[:, 1]))
    prior = 1.0 / np.square(np.array([place.deviation for place in named]))
    world = source.points[:, chosen]
    hips = np.flatnonzero([place.bone == "Hips" for place in named])
    standing = float(np.percentile(world[:, hips, 1].mean(axis=1), 90))
    rest = PoseSequence.rest(actor.skeleton)
    size = float(transform.apply(rest.world[0, joints[hips]], first[hips])[:, 1].mean()) / max(standing, 1e-6)
    frames = np.unique(np.linspace(0, len(world) - 1, FIT_FRAMES).round().astype(int))
    offsets, stiffness = first, FIT_STIFFNESS
    for _ in range(FIT_ROUNDS):
        markers = replace(actor.markers, names=tuple(f"{i}" for i in chosen), joints=joints, offsets=offsets)
        start = _stand_in_frames(rest, actor.markers, source.frames[frames], size)
        poses = solve_ik(markers, actor.skeleton, size * world[frames], start=start, stiffness=stiffness)
        seats = np.linalg.inv(poses.world[:, joints])
        found = transform.apply(seats, size * world[frames]).mean(axis=0)
        noise = np.square(0.01 * height)  # of a marker against its bone: skin moves
        share = 1.0 / (1.0 + noise * prior[:, None])
        offsets = first + share * (found - first)
        fitted = transform.apply(poses.world[:, joints], offsets)
        a, b = (points - points.mean(axis=1, keepdims=True) for points in (world[frames], fitted))
        size = float((a * b).sum() / max((a * a).sum(), 1e-12))
    markers = replace(actor.markers, names=tuple(f"{i}" for i in chosen), joints=joints, offsets=offsets)
    start = _stand_in_frames(rest, actor.markers, source.frames, size)
    poses = solve_ik(markers, actor.skeleton, size * world, start=start, rate=source.rate, stiffness=0.1 * stiffness)
    left = np.linalg.norm(markers.positions(poses.world) - size * world, axis=-1)
    unknown = [name for name in source.names if name not in places]
    off = 1e3 * float(np.median(left))
    note = f"the actor of the pairs was fitted to {len(chosen)} markers, {off:.0f} mm off in the median"
    return poses, note + (f"; markers of unknown names were left out: {join_names(unknown)}" if unknown else "")


@dataclass(frozen=True, eq=False)
class _MarkerPlace:
    """Where a marker rides: the bone, its joint, the offset in the joint's frame, and how well it is known, metres."""

    bone: str
    joint: int
    offset: Array
    deviation: float


def _marker_places(names: tuple[str, ...], bones: BoneMap) -> dict[str, _MarkerPlace]:
    """Places by the names of markers; names that tell none are left out."""
    height = float(np.ptp(bones.places[:, 1]))
    found = {}
    for name in names:
        side, plain = _split_side(name)
        for pattern, part, along, (out, up, front) in MARKER_PLACES:
            if re.fullmatch(pattern, plain):
                joint, bone, place = _place_on(bones.bones, bones, side, part, along)
                if joint is None:
                    break
                outward = {"Left": 1.0, "Right": -1.0, "": 0.0}[side] * out
                place = place + height * (bones.axes @ np.array([outward, up, front]))
                offset = transform.apply(np.linalg.inv(bones.rest[joint]), place)
                loose = (re.search(r"\d$", plain) is not None and part not in ("Trunk",)) or "_" in plain
                ratio = CLUSTER_DEVIATION_RATIO if loose else LANDMARK_DEVIATION_RATIO
                found[name] = _MarkerPlace(bone, joint, offset, ratio * height)
                break
    return found


def _place_on(
    joints: Mapping[str, int], bones: BoneMap, side: str, part: str, along: float
) -> tuple[int | None, str, Array]:
    """The joint that a marker rides on, its bone, and the place (3,) at rest."""
    places = bones.places
    if part == "Trunk":
        neck = places[joints.get("Neck", joints.get("Head", joints["Hips"]))]
        place = places[joints["Hips"]] + along * (neck - places[joints["Hips"]])
        line = [joints["Hips"], *bones.spine]
        below = [j for j in line if places[j] @ bones.axes[:, 1] <= place @ bones.axes[:, 1] + 1e-9]
        return (below or line)[-1], "Trunk", place
    bone = part if part in ("Hips", "Head") else side + part
    joint = joints.get(bone)
    if part == "Shoulder":
        end = joints.get(side + "UpperArm")
        joint = joint if joint is not None else (bones.spine[-1] if bones.spine else joints["Hips"])
        return (None if end is None else joint), bone, places[end if end is not None else joint]
    if joint is None:
        return None, bone, np.zeros(3)
    if part == "Hand":  # beyond the wrist, as the forearm points
        arm = joints.get(side + "LowerArm", joint)
        return joint, bone, places[joint] + 0.3 * along * (places[joint] - places[arm])
    ahead = joints.get(side + NEXT_BONES.get(part, ""))
    if ahead is None:
        toes = 0.08 * float(np.ptp(places[:, 1])) * bones.axes[:, 2]
        return joint, bone, places[joint] + (along * toes if part == "Foot" else 0.0)
    return joint, bone, places[joint] + along * (places[ahead] - places[joint])


def _split_side(name: str) -> tuple[str, str]:
    """The side ("Left", "Right" or none) and the rest of a marker's name, in capitals."""
    plain = re.sub(r"[\s.\-]+", "", name.rpartition(":")[2].upper())
    for side in ("Left", "Right"):
        for pattern in (rf"^{side.upper()}_?(.+)$", rf"^{side[0]}_?(.{{2,}})$", rf"^(.{{2,}})_{side[0]}$"):
            match = re.match(pattern, plain)
            if match and any(re.fullmatch(place[0], match.group(1)) for place in MARKER_PLACES):
                return side, match.group(1)
    return "", plain


def _stand_in_frames(rest: PoseSequence, markers: Markers, frames: Array, size: float) -> PoseSequence:
    """The rest pose at the place and heading of each frame (F, 4, 4), places times `size`."""
    placed = np.array(frames)
    placed[:, :3, 3] *= size
    still = rest.apply_transform(transform.invert_rigid(markers.frames(rest.world)))
    return still.rows(np.zeros(len(frames), int)).apply_transform(placed)
