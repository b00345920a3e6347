"""Transfer by bones: a person's motion on any body with arms and legs, without pose pairs.

The bones of both bodies are found (`bone_map`), the motion is put onto the target (`retarget`), and the report says
which joint was taken for which bone, how sure that is, and what the ratio of the sizes is. All of it can be given:

    [bones]                          # a file for --map, with Unity's names of bones; "" takes a bone away
    LeftFoot = "Foot.L"
    LeftToes = ""

    [source]                         # the same for the body that the motion is of
    Hips = "root"
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from understudy import schema
from understudy.character import Asset, Character
from understudy.character.body.contacts import ContactPhases
from understudy.character.body.mass import Body, body_height, body_of
from understudy.character.body.poses import PoseSequence, clip_of
from understudy.errors import InvalidInput
from understudy.files import read_text
from understudy.transfer.bone_map import BoneMap, bone_map
from understudy.transfer.humanoid import humanoid_schedule, solve_humanoid
from understudy.transfer.pipeline import TransferResult
from understudy.transfer.retarget import retarget, size_ratio
from understudy.transfer.source import SourceMotion

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


def performer_of(asset: Asset, source: SourceMotion) -> Character:
    """The character that a motion is of, in metres as the motion; without its mesh where the file has other units.

    Raises:
        InvalidInput: If the motion is of bare markers.
    """
    if source.poses is None:
        raise InvalidInput(f"the motion {source.name!r} is of bare markers, which have no bones")
    actor, skeleton = asset.character(), source.poses.skeleton
    if (actor.skeleton.translations == skeleton.translations).all():
        return actor
    return Character(actor.name, skeleton, bones=actor.joints, avatar=actor.avatar)


def transfer_by_bones(
    source: SourceMotion,
    performer: Character | BoneMap,
    target: Character | BoneMap,
    *,
    size: float | None = None,
    physics: bool = True,
    body: Body | None = None,
) -> TransferResult:
    """A motion on another body with the same bones.

    Args:
        source: The motion.
        performer: The body that the motion is of, or its bones.
        target: The body that is to move, or its bones.
        size: Ratio of the sizes; None: that of the leg lengths.
        physics: Whether contacts are kept, and the motion obeys gravity (`humanoid`).
        body: The masses of the target; None: from its skin.

    Returns:
        The animation, with the plain retarget as the step "retargeted" and the solved motion as "solved".

    Raises:
        InvalidInput: If one of the bodies lacks arms, legs or hips.
    """
    performer = performer if isinstance(performer, BoneMap) else bone_map(performer)
    target = target if isinstance(target, BoneMap) else bone_map(target)
    performer.require()
    target.require()
    assert source.poses is not None  # as `performer_of` checks
    began = time.process_time()
    ratio = size_ratio(performer, target) if size is None else size
    poses = retarget(source.poses, performer, target, size=ratio)
    seconds = {"retarget": time.process_time() - began}
    steps: dict[str, PoseSequence] = {"retargeted": poses}
    phases: ContactPhases | None = None
    if physics and len(poses) > 2:
        source_body = body_of(performer.character)
        height = body_height(source_body, source.poses)
        schedule = humanoid_schedule(source.poses, performer, source_body, height)
        body = body_of(target.character) if body is None else body
        solved = solve_humanoid(poses, target, body, schedule, ratio)
        poses, phases = steps.setdefault("solved", solved.poses), schedule.phases
        seconds["physics"] = time.process_time() - began - seconds["retarget"]
    report = {
        "motion": source.name,
        "character": target.character.name,
        "frames": len(source),
        "rate": round(source.rate, 6),
        "duration": round(source.duration, 4),
        "seconds": {step: round(value, 4) for step, value in seconds.items()},
        "mapping": "bones",
        "pairs": 0,
        "size": round(ratio, 4),
        "bones": map_report(target),
        "source_bones": map_report(performer),
        "notes": list(source.notes),
    }
    return TransferResult(
        poses, clip_of(poses, source.name, source.start), steps, phases=phases, seconds=seconds, report=report
    )


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
