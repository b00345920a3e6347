"""Transfer by bones: a person's motion on any body with arms and legs, without pose pairs.

The bones of both bodies are found (`bone_map`), the motion is put onto the target (`retarget`), and one solve keeps its
contacts, momenta and flights (`humanoid`). The report says which joint was taken for which bone, how sure that is, what
the ratio of the sizes is, and when which contact is down. All of it can be given:

    [bones]                          # a file for --map, with Unity's names of bones; "" takes a bone away
    LeftFoot = "Foot.L"
    LeftToes = ""

    [source]                         # the same for the body that the motion is of
    Hips = "root"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy import cast, checks, schema
from understudy.character import Character
from understudy.character.body.contacts import ContactPhases, read_phases
from understudy.character.body.mass import body_height
from understudy.character.body.poses import clip_of
from understudy.character.body.spring_bones import swing_springs
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.files import read_text
from understudy.transfer.actor import Actor, perform_as
from understudy.transfer.bone_map import SIDES, BoneMap, bone_map
from understudy.transfer.corrections import PoseCorrections
from understudy.transfer.humanoid import humanoid_schedule, solve_humanoid
from understudy.transfer.physics.spring_limbs import limbs_by_name, swing
from understudy.transfer.pipeline import Clock, TransferResult, correction_report, motion_report
from understudy.transfer.retarget import retarget, size_ratio
from understudy.transfer.source import SourceMotion, source_of

MAX_MAP_FILE_CHARACTERS = 1_000_000


@dataclass(frozen=True)
class BoneOverrides:
    """Joint name by bone, where what is found is wrong: of the target and of the source."""

    target: Mapping[str, str] = field(default_factory=dict)
    source: Mapping[str, str] = field(default_factory=dict)


def read_bone_overrides(path: str | Path) -> BoneOverrides:
    """The bones that a TOML file names.

    Args:
        path: The file, with a table `bones` of the target and a table `source`.

    Raises:
        BadFile: If the file is no such table.
    """
    reader = schema.TableReader(str(path))
    whole = schema.parse_toml(read_text(path, MAX_MAP_FILE_CHARACTERS), str(path), MAX_MAP_FILE_CHARACTERS)
    reader.keys(whole, ("bones", "source"), "", "a bone map")
    tables = {}
    for key in ("bones", "source"):
        table = reader.table(whole.get(key, {}), key, key)
        for bone, joint in table.items():
            if not isinstance(joint, str):
                reader.fail(f"{bone} should be the name of a joint, but is {schema.format_value(joint)}", key)
        tables[key] = table
    return BoneOverrides(tables["bones"], tables["source"])


def with_bones(source: SourceMotion) -> SourceMotion:
    """The motion itself, or, of bare markers, the motion of the built-in actor that they are fitted to.

    Raises:
        InvalidInput: If the names of the markers do not say where they are.
    """
    if source.character is not None:
        return source
    return perform_as(Actor.from_motion(source_of(cast.load("actor"))), source)[0]


def performer_of(source: SourceMotion) -> Character:
    """The character that a motion is of, in metres as the motion; without its mesh where the file has other units.

    Raises:
        InvalidInput: If the motion is of bare markers.
    """
    if source.character is None:
        raise InvalidInput(f"the motion {source.name!r} is of bare markers, which have no bones")
    return source.character


def transfer_by_bones(
    source: SourceMotion,
    performer: Character | BoneMap,
    target: Character | BoneMap,
    *,
    size: float | None = None,
    physics: bool = True,
    springs: bool = True,
    contact_points: Sequence[str] = (),
    contacts: str | Path | None = None,
    corrections: PoseCorrections | None = None,
) -> TransferResult:
    """A motion on another body with the same bones.

    Args:
        source: The motion.
        performer: The body that the motion is of, or its bones.
        target: The body that is to move, or its bones.
        size: Ratio of the sizes; None: that of the leg lengths.
        physics: Whether feet are kept where they stand, and momenta and flights are those of the source.
        springs: Whether tails and ears swing, and the spring bones of an avatar.
        contact_points: Joints of feet, hands or shins that may be in contact with the floor; empty: all.
        contacts: A TOML file of contact phases, in place of those that are found; names as in the report.
        corrections: What pose pairs say about this character; None: nothing.

    Returns:
        The animation, with the plain retarget as the step "retargeted", the corrected one as "corrected" and the solved
        motion as "solved".

    Raises:
        InvalidInput: If one of the bodies lacks arms, legs or hips.
    """
    performer = performer if isinstance(performer, BoneMap) else bone_map(performer)
    target = target if isinstance(target, BoneMap) else bone_map(target)
    performer.require()
    target.require()
    if source.poses is None:
        raise InvalidInput(f"the motion {source.name!r} is of bare markers, which have no bones")
    clock = Clock()
    ratio = size_ratio(performer, target) if size is None else checks.positive(size, "size")
    motion = source.poses.apply_transform(_heading_turn(performer, target))
    poses = retarget(motion, performer, target, size=ratio)
    steps = {"retargeted": poses}
    clock.lap("retarget")
    variance, learnt = np.zeros(0), {}
    if corrections is not None:
        played, _ = perform_as(corrections.actor, source)
        poses, variance = corrections.apply(poses, played.local)
        steps["corrected"] = poses
        learnt = correction_report(corrections, played, variance)
        clock.lap("corrections")
    phases = None
    if physics and len(poses) > 2:
        schedule = humanoid_schedule(motion, performer, performer.body, body_height(performer.body, motion))
        phases = _edit_phases(schedule.phases, source, target, contact_points, contacts)
        solution = solve_humanoid(poses, target, target.body, replace(schedule, phases=phases), ratio)
        poses = steps["solved"] = solution.poses
        clock.lap("physics")
    if springs:
        avatar = target.character.avatar
        if avatar is not None and (avatar.springs or avatar.constraints):  # its author says what swings, and how
            poses = steps["final"] = swing_springs(poses, avatar.springs, constraints=avatar.constraints)
        elif limbs := limbs_by_name(target.skeleton):
            poses = steps["final"] = swing(poses, limbs)
        clock.lap("springs")
    report = motion_report(source, target.character, clock.seconds, phases) | {
        "mapping": "bones",
        "pairs": 0,
        "size": round(ratio, 4),
        "bones": map_report(target),
        "source_bones": map_report(performer),
    }
    clip = clip_of(poses, source.name, source.start)
    return TransferResult(poses, clip, steps, None, variance, phases, clock.seconds, report | learnt)


def _heading_turn(performer: BoneMap, target: BoneMap) -> Array:
    """(4, 4) the turn about the vertical, by quarters, from where the performer faces at rest to where the target does.

    A character that faces -Z at rest walks along -Z, as its file and its users expect.
    """
    turn = np.eye(4)
    ahead, wanted = performer.axes[:, 2], target.axes[:, 2]
    if abs(ahead[1]) < 0.5 and abs(wanted[1]) < 0.5:  # both stand upright at rest
        angle = np.arctan2(wanted[0], wanted[2]) - np.arctan2(ahead[0], ahead[2])
        angle = np.pi / 2 * np.round(angle / (np.pi / 2))  # rest poses are a little askew
        turn[[0, 0, 2, 2], [0, 2, 0, 2]] = np.cos(angle), np.sin(angle), -np.sin(angle), np.cos(angle)
    return turn


def _edit_phases(
    found: ContactPhases,
    source: SourceMotion,
    target: BoneMap,
    contact_points: Sequence[str],
    contacts: str | Path | None,
) -> ContactPhases:
    """The phases with what the user says: a file of spans, and the only joints that may be in contact."""
    phases = found
    if contacts is not None:
        phases = read_phases(contacts, found.names, len(source), source.rate, source.start)
    if not contact_points:
        return phases
    bones = {"Foot": ("Foot", "Toes"), "Hand": ("Hand",), "Knee": ("LowerLeg",)}
    joints = {target.skeleton.index(name) for name in contact_points}
    kept = []
    for name in phases.names:
        side = next(side for side in SIDES if name.startswith(side))
        part = name.removeprefix(side).partition(".")[0]
        kept.append(any(target.bones.get(side + bone) in joints for bone in bones[part]))
    if not any(kept):
        raise InvalidInput(
            f"contact points should be joints of feet, hands or shins, but are {', '.join(contact_points)}"
        )
    return ContactPhases(phases.names, phases.down & np.array(kept), phases.gliding)


def map_report(bones: BoneMap) -> dict[str, Any]:
    """A bone map as plain values for JSON: joint and certainty of each bone, and what is missing."""
    names, certainty = bones.names, bones.certainty
    joints = bones.skeleton.names
    return {
        "joints": {
            bone: {"joint": names[bone], "by": told, "certainty": certainty[bone]}
            for bone, told in bones.evidence.items()
        },
        "spine": [joints[j] for j in bones.spine],
        "neck": [joints[j] for j in bones.neck],
        "detached": {joints[j]: joints[above] for j, above in bones.new_parents.items()},
        "missing": list(bones.missing),
        "leg_length": round(bones.leg_length, 4) if not bones.missing else None,
    }
