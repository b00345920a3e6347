"""Captures on humanoids without pose pairs, and pairs as corrections. Each function is one job for a process.

Everything is measured on the skin and the poses, whatever contacts the solver found or imposed. The first column is the
plain retarget with aligned rest poses and the height of its soles on the floor: what simple tools do. The characters
and captures beside `TUNED` were not looked at while the solver was built.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
from benchmarks.real.characters import DATA, FIELD
from benchmarks.transfers.pairs import case_of

from understudy import formats
from understudy.character import Asset
from understudy.character.body.markers import markers_of
from understudy.character.body.mass import body_height
from understudy.character.body.poses import PoseSequence, concatenate_poses, poses_of, squared_pose_distances
from understudy.transfer import by_bones, measures
from understudy.transfer.bone_map import BoneMap, bone_map
from understudy.transfer.by_bones import performer_of, transfer_by_bones
from understudy.transfer.corrections import fit_corrections
from understudy.transfer.humanoid import humanoid_schedule
from understudy.transfer.mapping import fit_mapping, pair_error
from understudy.transfer.pairs import PairEntry, pairs_of
from understudy.transfer.physics.momentum import mass_motion
from understudy.transfer.retarget import retarget
from understudy.transfer.source import SourceMotion, source_of

CAPTURES = {
    "131_03 hopscotch": FIELD / "bvh/131_03.bvh",
    "16_03 jump": FIELD / "bvh/16_03.bvh",
    "80_43 walk": FIELD / "bvh/80_43.bvh",
    "85_01 acrobatics": FIELD / "bvh/85_01.bvh",
    "79_57 animal": FIELD / "bvh/79_57.bvh",
    "02_01 walk": DATA / "bvh_cmu/02_01.bvh",
    "05_02 dance": DATA / "bvh_cmu/05_02.bvh",
    "09_01 run": DATA / "bvh_cmu/09_01.bvh",
    "13_39 jump": DATA / "bvh_cmu/13_39.bvh",
    "54_18 animal": DATA / "bvh_cmu/54_18.bvh",
    "137_16 cat": DATA / "bvh_cmu/137_16.bvh",
    "samba": FIELD / "fbx/Samba Dancing.fbx",
}
HUMANOIDS = {
    "Xbot": FIELD / "glb/Xbot.glb",
    "Michelle": FIELD / "glb/Michelle.glb",
    "Soldier": FIELD / "glb/Soldier.glb",
    "CesiumMan": FIELD / "glb/CesiumMan.glb",
    "Barbarian": FIELD / "glb/Barbarian.glb",
    "Leela": FIELD / "glb/Leela.glb",
    "Godette": FIELD / "vrm/Godette.vrm",
    "Male_Casual": FIELD / "fbx/Male_Casual.fbx",
    "Knight": DATA / "gltf_kaykit/Knight.glb",
    "RobotExpressive": DATA / "gltf_threejs/RobotExpressive.glb",
    "Character": DATA / "gltf_quaternius/platformer_game_pack_Character.glb",
    "kenney": DATA / "gltf_kenney/character.glb",
}
TUNED = ("Xbot", "Michelle", "Soldier", "CesiumMan", "Barbarian")  # with 131_03 and 16_03, by the prototype
MAX_FRAMES = 600
COUNTS = (0, 1, 3, 6, 12, 24)  # of pairs
CLIP_RATE = 6.0  # frames a second of a character's own clips, to pick poses from


def jobs(every: int = 1) -> list[tuple[str, str]]:
    """Pairs of capture and humanoid whose files are there."""
    captures = [name for name, path in CAPTURES.items() if path.is_file()]
    humanoids = [name for name, path in HUMANOIDS.items() if path.is_file()]
    return [(capture, humanoid) for capture in captures for humanoid in humanoids][::every]


@cache
def _capture(name: str) -> tuple[SourceMotion, BoneMap]:
    asset: Asset = formats.read(CAPTURES[name])
    source = source_of(asset)
    return source.rows(range(min(len(source), MAX_FRAMES))), bone_map(performer_of(source))


@cache
def _humanoid(name: str) -> BoneMap:
    return bone_map(formats.read(HUMANOIDS[name]).character())


def measure(job: tuple[str, str]) -> dict[str, dict[str, float]]:
    """Measures of the plain retarget and of the solved motion; one entry "refused" where it cannot be done."""
    source, performer = _capture(job[0])
    target = _humanoid(job[1])
    if performer.missing or target.missing:
        return {"refused": {}}
    began = time.process_time()
    done = transfer_by_bones(source, performer, target)
    milliseconds = 1e3 * (time.process_time() - began) / len(source)
    assert source.poses is not None  # captures of skeletons
    body, played = performer.body, source.poses.apply_transform(by_bones._heading_turn(performer, target))
    schedule = humanoid_schedule(played, performer, body, body_height(body, played))
    rough = measures.jerk(played.world, body, source.rate) / body_height(body, played)
    actor, size = mass_motion(played.world, body, source.rate), float(done.report["size"])
    result = {}
    for column, step in (("plain", "retargeted"), ("ours", "solved")):
        poses = done.intermediate[step]
        result[column] = _figures(poses, target, played, performer) | {
            "jerk_ratio": measures.jerk(poses.world, target.body, poses.rate)
            / body_height(target.body, poses)
            / max(rough, 1e-9)
        }
        motion = mass_motion(poses.world, target.body, poses.rate)
        result[column] |= measures.momentum_tracking(motion, actor, size)
        heights = measures.jump_ratios(motion, actor, schedule.flight, size)
        result[column]["jump_percent"] = 100 * float(np.median(heights)) if heights else float("nan")
        skin = measures.measure_skin(target.character, poses, target.props)
        result[column] |= measures.flight_seconds(skin.pop("lowest"), schedule.flight, poses.rate)
        result[column] |= skin
    result["ours"]["ms_a_frame"] = milliseconds
    return result


def _figures(poses: PoseSequence, target: BoneMap, source: PoseSequence, performer: BoneMap) -> dict[str, float]:
    limbs = measures.limb_errors(poses, target.bones, source, performer.bones)
    return {**limbs, "foot_gap": measures.foot_gaps(poses, target.bones)}


def styled_error(job: tuple[str, str]) -> list[tuple[int, float, float]]:
    """Number of pairs, and metres that a humanoid's markers are missed by: as is chosen, and by the pairs alone.

    The truth for a frame of the capture is the pose of the character's own clips that is nearest to the plain retarget,
    as an animator would pick it. Errors are over frames that are in no pair; without pairs it is the plain retarget.
    """
    source, performer = _capture(job[0])
    target, asset = _humanoid(job[1]), formats.read(HUMANOIDS[job[1]])
    assert source.poses is not None  # captures of skeletons
    plain = retarget(source.poses, performer, target)
    markers = markers_of(target.character)
    library = concatenate_poses([poses_of(target.character, clip, CLIP_RATE) for clip in asset.animations])
    known, wanted = markers.local(library.world), markers.local(plain.world)
    frames = np.linspace(0, len(source) - 1, 2 * COUNTS[-1]).round().astype(int)
    nearest = squared_pose_distances(wanted[frames].reshape(len(frames), -1), known.reshape(len(known), -1))
    entries = [PairEntry("m", int(f), library.row(int(n))) for f, n in zip(frames, nearest.argmin(axis=1))]
    pairs = pairs_of({"m": source}, entries, target.character, markers)
    order = np.random.default_rng(0).permutation(len(pairs))
    test, train = np.sort(order[COUNTS[-1] :]), order[: COUNTS[-1]]
    truth, base = pairs.target[test], plain.rows(frames[test])
    rows = [(0, pair_error(markers.local(base.world), truth), float("nan"))]
    for count in COUNTS[1:]:
        chosen = pairs.subset(np.sort(train[:count]).tolist())
        alone = pair_error(fit_mapping(chosen).map(pairs.source[test]).points if count > 1 else chosen.target, truth)
        corrections = fit_corrections(chosen, target)
        if corrections is None:
            rows.append((count, alone, alone))
            continue
        corrected = corrections.apply(base, pairs.source[test])[0]
        rows.append((count, pair_error(markers.local(corrected.world), truth), alone))
    return rows


def creature_error(name: str) -> list[tuple[int, float]]:
    """Number of pairs, and metres that the other pairs of a creature are missed by, by the method that is chosen."""
    pairs = case_of(name).pairs
    order = np.random.default_rng(0).permutation(len(pairs))
    rows = []
    for count in (c for c in COUNTS if 2 <= c < len(pairs)):
        mapping = fit_mapping(pairs.subset(np.sort(order[:count]).tolist()))
        rest = np.sort(order[count:])
        rows.append((count, pair_error(mapping.map(pairs.source[rest]).points, pairs.target[rest])))
    return rows


def table(results: dict[tuple[str, str], Any]) -> dict[str, Any]:
    """Medians and worst values over all jobs, by measure, of both columns."""
    summary: dict[str, Any] = {}
    kept = [each for each in results.values() if "refused" not in each]
    for column in ("plain", "ours"):
        for key in kept[0][column] if kept else ():
            values = np.array([each[column][key] for each in kept], float)
            values = values[np.isfinite(values)]
            if values.size:
                summary[f"{column} {key}"] = (float(np.median(values)), float(values.max()))
    return summary
