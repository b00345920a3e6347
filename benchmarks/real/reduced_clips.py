"""Reduced clips of real files for the benchmark of drags: ten captures and ten game characters, with named points.

Captures are cut to a few seconds, without the T-pose that CMU's files begin with: its jump within one frame would be
the largest acceleration of every point, and hide what an edit adds. Tolerances are 20 mm for a character of 1.7 m, in
proportion for others, and 5 degrees. Reductions are kept in a folder of the system's temporary files, by the file, the
settings and the code of `understudy.edit.reduce`: the next run reads them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.real.characters import animation, path_of, rig

import understudy as us
from understudy import cast
from understudy.character import Clip, Curves
from understudy.character.rig import PosedRig
from understudy.edit import reduce
from understudy.edit.serialise import curves_data, curves_from_data

HUMAN_HEIGHT_M = 1.7  # lengths of tolerances and measures are told for a character of this size
TOLERANCE_M = 0.02
ANGLE_RAD = float(np.radians(5.0))
CACHE = Path(tempfile.gettempdir()) / "understudy-reduced-clips"


@dataclass(frozen=True)
class PointNames:
    """Joints of a character that drags take hold of, by role; pairs are left and right."""

    hips: str
    head: str
    hands: tuple[str, ...]
    feet: tuple[str, ...]
    elbows: tuple[str, ...]
    tails: tuple[str, ...] = ()

    @property
    def extremities(self) -> tuple[str, ...]:
        """Ends of limbs without the head."""
        return (*self.hands, *self.feet, *self.tails)


def _pair(stem: str) -> tuple[str, str]:
    """Both sides of a name with `{}` for the side."""
    upper = "Left" if stem.startswith(("{}", "mixamorig:{}")) else "L"
    other = {"Left": "Right", "L": "R"}[upper]
    return stem.format(upper), stem.format(other)


CMU = PointNames("Hips", "Head", _pair("{}Hand"), _pair("{}Foot"), _pair("{}ForeArm"))
MIXAMO = PointNames(
    "mixamorig:Hips",
    "mixamorig:Head",
    _pair("mixamorig:{}Hand"),
    _pair("mixamorig:{}Foot"),
    _pair("mixamorig:{}ForeArm"),
)
KAYKIT = PointNames("hips", "head", ("wrist.l", "wrist.r"), ("foot.l", "foot.r"), ("lowerarm.l", "lowerarm.r"))
CESIUM = PointNames(
    "Skeleton_torso_joint_1",
    "Skeleton_neck_joint_2",
    ("Skeleton_arm_joint_L__2_", "Skeleton_arm_joint_R__3_"),
    ("leg_joint_L_3", "leg_joint_R_3"),
    ("Skeleton_arm_joint_L__3_", "Skeleton_arm_joint_R__2_"),
)
WOLF = PointNames(
    "Body",
    "Head",
    _pair("FrontLowerLeg.{}_end"),
    _pair("BackLowerLeg.{}_end"),
    _pair("FrontLowerLeg.{}"),
    ("Tail6",),
)
RAPTOR = PointNames(
    "Body", "Head", _pair("FrontFoot.{}"), _pair("BackLowLeg.{}_end"), _pair("FrontLowLeg.{}"), ("Tail5",)
)
SAUROPOD = PointNames(
    "Body", "Head", _pair("FrontLowLeg.{}_end"), _pair("BackLowLeg.{}_end"), _pair("FrontLowLeg.{}"), ("Tail5",)
)
ROBOT = PointNames("Body", "Head", _pair("Palm2.{}"), _pair("LowerLeg.{}_end"), _pair("LowerArm.{}"))
FOX = PointNames(
    "b_Hip_01",
    "b_Head_05",
    ("b_LeftHand_011", "b_RightHand_08"),
    ("b_LeftFoot01_017", "b_RightFoot01_021"),
    ("b_LeftForeArm_010", "b_RightForeArm_07"),
    ("b_Tail03_014",),
)


@dataclass(frozen=True)
class Source:
    """An animation of a real file: seconds from `start` on, at most `seconds` long."""

    file: str
    clip: str  # the animation whose name ends so
    points: PointNames
    start: float = 0.0
    seconds: float = 4.0
    loops: bool = False

    @property
    def is_capture(self) -> bool:
        return self.file.endswith(".bvh")


BVH = (
    Source("field/bvh/16_03.bvh", "16_03", CMU),
    Source("field/bvh/80_43.bvh", "80_43", CMU, 1.0),
    Source("field/bvh/131_03.bvh", "131_03", CMU, 1.0),
    Source("field/bvh/85_01.bvh", "85_01", CMU, 1.0),
    Source("field/bvh/79_48.bvh", "79_48", CMU, 1.0),
    Source("field/bvh/79_57.bvh", "79_57", CMU, 1.0),
    Source("bvh_cmu/02_01.bvh", "02_01", CMU),
    Source("bvh_cmu/05_02.bvh", "05_02", CMU, 2.0),
    Source("bvh_cmu/13_39.bvh", "13_39", CMU),
    Source("bvh_cmu/93_03.bvh", "93_03", CMU),
)
GLTF = (
    Source("field/glb/Barbarian.glb", "2H_Melee_Attack_Spin", KAYKIT),
    Source("field/glb/Wolf.glb", "|Attack", WOLF),
    Source("field/glb/CesiumMan.glb", "clip_0", CESIUM, loops=True),
    Source("field/glb/Velociraptor.glb", "Velociraptor_Walk", RAPTOR, loops=True),
    Source("field/glb/Apatosaurus.glb", "Apatosaurus_Attack", SAUROPOD),
    Source("field/glb/Michelle.glb", "SambaDance", MIXAMO, 2.0),
    Source("field/glb/Soldier.glb", "Walk", MIXAMO, loops=True),
    Source("field/glb/Xbot.glb", "walk", MIXAMO, loops=True),
    Source("gltf_threejs/RobotExpressive.glb", "Dance", ROBOT),
    Source("gltf_khronos/Fox.glb", "Survey", FOX),
)


@dataclass(frozen=True, eq=False)
class ReducedClip:
    """Curves to drag, and the character that they move."""

    source: Source
    keys: str  # "free", "shared" or "dense"
    rig: PosedRig
    curves: Curves
    size: float  # metres, the longest side of the box around the joints at rest

    @property
    def kind(self) -> str:
        """The row of the tables that drags of this clip belong to."""
        return f"BVH {self.keys}" if self.source.is_capture else "glTF"

    @property
    def name(self) -> str:
        return f"{self.source.file} {self.source.clip.lstrip('|')} ({self.keys})"


def require_files(sources: tuple[Source, ...] = BVH + GLTF) -> None:
    """Refuse to begin where a file is missing."""
    for source in sources:
        path_of(source.file)


@cache
def reduced_clip(
    source: Source, keys: str, rotations: str = "euler", loop: bool = False, any_version: bool = False
) -> ReducedClip:
    """A clip with free or shared keys; `any_version` takes a kept reduction of other code as well."""
    own = rig(source.file)
    size = character_size(own)
    settings = {
        "source": [source.clip, source.start, source.seconds],
        "keys": keys,
        "rotations": rotations,
        "loop": loop,
        "tolerance": TOLERANCE_M * size / HUMAN_HEIGHT_M,
        "angle": ANGLE_RAD,
    }
    content, stem = path_of(source.file).read_bytes(), f"{Path(source.file).stem}-{keys}"
    curves = _kept(stem, content, settings, any_version, lambda: dense_animation(source), own)
    return ReducedClip(source, keys, own, curves, size)


def _kept(
    stem: str,
    content: bytes,
    settings: dict[str, Any],
    any_version: bool,
    source: Callable[[], Clip | Curves],
    own: PosedRig,
) -> Curves:
    """The kept reduction of a file with some content; made and kept where there is none."""
    given = hashlib.sha256(content + json.dumps(settings, sort_keys=True).encode())
    stem = f"{stem}-{given.hexdigest()[:16]}"
    kept = CACHE / f"{stem}-{_code_version()}.json.gz"
    older = sorted(CACHE.glob(f"{stem}-*.json.gz"), key=lambda path: path.stat().st_mtime) if any_version else []
    if kept.is_file() or older:
        with gzip.open(kept if kept.is_file() else older[-1], "rt", encoding="utf-8") as file:
            return _mark_fitted(curves_from_data(json.load(file)))
    curves = _reduce(source(), own, settings)
    CACHE.mkdir(parents=True, exist_ok=True)
    unfinished = kept.with_suffix(f".{os.getpid()}")
    with gzip.open(unfinished, "wt", encoding="utf-8", compresslevel=3) as file:
        json.dump(curves_data(curves), file)
    unfinished.replace(kept)
    return _mark_fitted(curves)


def _reduce(dense: Clip | Curves, own: PosedRig, settings: dict[str, Any]) -> Curves:
    """The only call of `reduce_keys`; loops repeat."""
    reduced = us.reduce_keys(
        dense,
        own,
        tolerance=settings["tolerance"],
        angle=settings["angle"],
        keys=settings["keys"],
        rotations=settings["rotations"],
        loop=settings["loop"],
    ).curves
    if not settings["loop"]:
        return reduced
    return replace(reduced, curves=tuple(replace(curve, extrapolation=("cycle", "cycle")) for curve in reduced.curves))


def _mark_fitted(curves: Curves) -> Curves:
    """The curves with all keys marked as a fitter's, where the reduction has marked none."""
    if any(curve.fitted.any() for curve in curves.curves):
        return curves
    return replace(curves, curves=tuple(replace(curve, fitted=True) for curve in curves.curves))


def _code_version() -> str:
    """Hash of the code of the reduction, which decides what a kept file holds."""
    folder = Path(reduce.__file__).parent
    code = b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    return hashlib.sha256(code).hexdigest()[:8]


def dense_animation(source: Source) -> Clip | Curves:
    """The animation before the reduction: a part of the file's, captures without their first frame."""
    whole = animation(source.file, source.clip)
    clip = whole if isinstance(whole, Clip) else whole.clip()
    if not source.is_capture and clip.duration <= source.seconds:
        return whole
    first = round(source.start * clip.rate) + source.is_capture
    rows = clip.values[first : first + round(source.seconds * clip.rate) + 1]
    return Clip(clip.name, clip.channels, rows, clip.rate)


@cache
def layered_clip(source: Source, any_version: bool = False) -> ReducedClip:
    """A reduced clip of a layered character of the cast, whose size is that of its mesh's joints at rest."""
    character_file = cast.load(source.file)
    own = us.rig_of(character_file.character())
    size = character_size(own)
    settings = {
        "source": [source.clip],
        "keys": "free",
        "rotations": "keep",
        "loop": False,
        "tolerance": TOLERANCE_M * size / HUMAN_HEIGHT_M,
        "angle": ANGLE_RAD,
    }
    curves = _kept(
        f"{source.file}-{source.clip}", b"", settings, any_version, lambda: character_file.animation(source.clip), own
    )
    return ReducedClip(source, "free", own, curves, size)


@cache
def dense_clip(source: Source) -> ReducedClip:
    """The clip as it is in the file, with a key on every frame, none of them marked."""
    own = rig(source.file)
    dense = dense_animation(source)
    curves = dense if isinstance(dense, Curves) else Curves.from_clip(dense)
    return ReducedClip(source, "dense", own, curves, character_size(own))


def character_size(own: PosedRig) -> float:
    """Metres: the longest side of the box around the joints at rest."""
    places = own.joints(own.rest[None])[0, :, :3, 3]
    return float(np.ptp(places, axis=0).max())
