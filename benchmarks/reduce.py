"""What `reduce` keeps of captures and game clips: errors, keys, planted feet, gaps, handles and time.

Every clip is reduced in both modes as the command line does it, and judged by code of this file alone: curves and
source are sampled eight times a frame and go through the rig. Rows say

- whether the reported error is the measured one (within 2 %), and within the tolerance;
- the keys beside those of version 0.1 at its own measured error, kept in `RUNS_OF_0_1`, and beside Blender's
  `graph.decimate` at the same measured error, where Blender is installed;
- how fast planted feet are, as a multiple of the source at the 99th percentile;
- the widest gap between keys and the most unequal handles of a key, of poses;
- the processor time, warm.

A key counts for each column it is on. Blender decimates columns one by one and knows no joints: its margin is the
largest that keeps the error. It is judged at frames only.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.measure import HERE, Row

from understudy.character import Clip, Curves
from understudy.character.curve import BEZIER
from understudy.character.rig import rig_of
from understudy.character.rig.rig import PosedRig
from understudy.checks import Array
from understudy.edit.reduce import ReducedCurves, reduce_keys
from understudy.edit.reduce.source import sample_source
from understudy.formats import read

DATA = Path(os.environ.get("UNDERSTUDY_TEST_DATA", HERE.parents[1] / "shared" / "data"))
BLENDER = Path(os.environ.get("UNDERSTUDY_BLENDER_VENV", HERE.parent / ".venv-blender")) / "bin" / "python"
PEERS = False  # Blender has an environment of its own: python tests/blender/blender.py makes it
CAPTURES = ("02_01", "02_04", "05_02", "09_01", "137_29", "13_39", "54_03", "79_50", "79_69", "82_11", "82_12", "93_03")
GAME_CLIPS = (
    ("gltf_khronos/Fox.glb", "Run"),
    ("gltf_quaternius/dinosaurs_pack_Trex.glb", ""),
    ("gltf_quaternius/animals_pack_Horse.glb", ""),
    ("gltf_threejs/RobotExpressive.glb", "Dance"),
    ("gltf_quaternius/easy_enemies_pack_Frog.glb", ""),
    ("gltf_quaternius/easy_enemies_pack_Rat.glb", ""),
    ("gltf_quaternius/platformer_game_pack_Character.glb", ""),
    ("gltf_khronos/RiggedFigure.glb", ""),
)
# Keys, and the measured error in metres and degrees, of `--keys free` at 10 mm and 2 degrees without the T-pose in
# front: with it 0.1 is 30 to 80 mm off after its first frame.
RUNS_OF_0_1 = {"02_01": (999, 0.011086, 1.9601), "13_39": (654, 0.008287, 2.0480)}
TOLERANCE_M, ANGLE_RAD = 0.01, np.radians(2.0)
GAME_TOLERANCE_HEIGHTS = 0.005  # game characters have any size
SAMPLES_PER_FRAME = 8
PLANTED_SPEED_HEIGHTS_S, PLANTED_HEIGHT_RATIO, PLANTED_SECONDS = 0.07, 0.12, 0.1
FOOT_NAMES = re.compile("foot|toe", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Case:
    """A clip and its rig."""

    name: str
    clip: Clip | Curves
    rig: PosedRig
    tolerance: float  # metres


@dataclass(frozen=True)
class Verdict:
    """What was measured of one reduction."""

    error_m: float
    planted_ratio: float | None  # speed of planted feet over that of the source, at the 99th percentile
    gap: float  # seconds, the widest between keys
    handle_ratio: float  # the most unequal handles of a key


def cases() -> Iterator[Case]:
    """The captures as they are in their files, with the T-pose in front, and the game clips."""
    for name in CAPTURES:
        asset = read(DATA / "bvh_cmu" / f"{name}.bvh")
        yield Case(name, asset.clips[0], rig_of(asset.characters[0]), TOLERANCE_M)
    for path, clip_name in GAME_CLIPS:
        asset = read(DATA / path)
        clip = asset.animation(clip_name) if clip_name else asset.animations[0]
        rig = next(rig for rig in map(rig_of, asset.characters) if rig.is_moved_by(clip))
        places = joints(rig, clip, clip.frame_times())[..., :3, 3]
        height = float(np.median(np.ptp(places[..., 1], axis=1)))
        yield Case(f"{Path(path).stem} {clip.name}", clip, rig, GAME_TOLERANCE_HEIGHTS * height)


def joints(rig: PosedRig, animation: Clip | Curves, times: Array) -> Array:
    """(M, J, 4, 4) world_from_joint, some thousand times at once."""
    parts = [rig.joints(rig.pose(animation, times[i : i + 2000])) for i in range(0, len(times), 2000)]
    return np.concatenate(parts)


def judge(case: Case, curves: Curves) -> Verdict:
    """Measure curves against the source."""
    frames = case.clip.frame_times()
    times = frames[0] + np.arange(SAMPLES_PER_FRAME * (len(frames) - 1) + 1) / (SAMPLES_PER_FRAME * case.clip.rate)
    source, result = (joints(case.rig, animation, times)[..., :3, 3] for animation in (case.clip, curves))
    error = float(np.linalg.norm(source - result, axis=-1).max())
    gaps = [float(np.diff(curve.times).max()) for curve in curves.curves if len(curve) > 1]
    feet = [j for j, name in enumerate(case.rig.character.skeleton.names) if FOOT_NAMES.search(name)]
    planted = None
    if feet:
        planted = planted_ratio(source[::SAMPLES_PER_FRAME], result[::SAMPLES_PER_FRAME], feet, case.clip.rate)
    return Verdict(error, planted, max(gaps, default=0.0), handle_ratio(curves))


def planted_ratio(source: Array, result: Array, feet: list[int], rate: float) -> float | None:
    """Speed of planted feet over that of the source at the 99th percentile; None with few planted frames.

    Joints (F, J, 3) at frames. A foot is planted where it is near the floor and slow over 80 ms, for a tenth of a
    second.
    """
    height = source[..., 1]
    span, floor = float(np.median(np.ptp(height, axis=1))), np.percentile(height.min(axis=1), 5)
    index, reach = np.arange(len(source)), max(1, round(0.04 * rate))
    low, high = np.maximum(index - reach, 0), np.minimum(index + reach, len(source) - 1)
    own, new = source[:, feet], result[:, feet]
    average = np.linalg.norm(own[high] - own[low], axis=-1) * (rate / (high - low))[:, None]
    planted = (average < PLANTED_SPEED_HEIGHTS_S * span) & (height[:, feet] < floor + PLANTED_HEIGHT_RATIO * span)
    for j in range(len(feet)):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], planted[:, j].astype(int), [0]]))).reshape(-1, 2)
        for a, b in edges:
            planted[a:b, j] = b - a >= PLANTED_SECONDS * rate
    both = planted[1:] & planted[:-1]
    if both.sum() < 100:
        return None
    speeds = [np.percentile(np.linalg.norm(np.diff(places, axis=0), axis=-1)[both], 99) for places in (own, new)]
    return float(speeds[1] / speeds[0]) if speeds[0] > 0 else None


def handle_ratio(curves: Curves) -> float:
    """The most unequal handle lengths of a smooth key: its slopes are in line, and not level."""
    most = 1.0
    for curve in curves.curves:
        at = np.flatnonzero((curve.segments[:-1] == BEZIER) & (curve.segments[1:] == BEZIER)) + 1
        arriving, leaving = curve.before[at], curve.after[at]
        slopes = [handle[..., 1] / np.maximum(handle[..., 0], 1e-12) for handle in (arriving, leaving)]
        smooth = (np.abs(slopes[0] - slopes[1]) <= 1e-6 * np.abs(slopes[0])) & (np.abs(slopes[0]) > 1e-9)
        if smooth.any():
            ratio = arriving[..., 0][smooth] / leaving[..., 0][smooth]
            most = max(most, float(ratio.max()), float(1 / ratio.min()))
    return most


def reduce_case(case: Case, keys: str) -> tuple[ReducedCurves, float]:
    """The reduction and its seconds of processor time."""
    start = time.process_time()
    reduced = reduce_keys(case.clip, case.rig, tolerance=case.tolerance, angle=ANGLE_RAD, keys=keys, rotations="euler")
    return reduced, time.process_time() - start


class Blender:
    """Blender in a process of its own, that decimates tables of columns."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.process = subprocess.Popen(
            [str(BLENDER), str(HERE / "peers" / "blender_decimate.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.version = ""

    def decimate(self, case: Case, margin: float) -> tuple[int, float]:
        """Keys, and the error in metres at the frames."""
        given = sample_source(case.clip, "euler")
        values = np.ascontiguousarray(given.values[:: given.frame].T)
        path = self.folder / "columns.npz"
        np.savez(path, values=values, margin=margin)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("DONE"):
                self.version = line.split()[2]
                break
        else:
            raise RuntimeError("Blender ended before it answered")
        with np.load(path.with_suffix(".out.npz")) as out:
            moving = np.ptp(values, axis=1) > 1e-9  # a column that never changes is one key, also for Blender
            keys, table = int(out["keys"][moving].sum() + np.sum(~moving)), out["values"].T
        decimated = Clip("decimated", given.channels, table, given.rate, given.start)
        times = case.clip.frame_times()
        places = [joints(case.rig, animation, times)[..., :3, 3] for animation in (case.clip, decimated)]
        return keys, float(np.linalg.norm(places[0] - places[1], axis=-1).max())

    def fewest(self, case: Case, error_m: float, tries: int = 6) -> int:
        """The fewest keys of a margin that keeps an error: errors grow about as the margin does."""
        margin, low, high, best = 0.004, 0.0, np.inf, 0
        for _ in range(tries):
            keys, error = self.decimate(case, margin)
            if error <= error_m:
                low, best = margin, min(best or keys, keys)
            else:
                high = margin
            guess = margin * 0.98 * error_m / max(error, 1e-9)
            middle = np.sqrt(low * high) if low > 0 and np.isfinite(high) else margin * 0.5
            margin = guess if low < guess < high else middle
        return best

    def close(self) -> None:
        """End the process that was started here."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)


def rows() -> Iterator[Row]:
    """Rows of each clip in both modes."""
    with tempfile.TemporaryDirectory() as folder:
        blender = Blender(Path(folder)) if BLENDER.exists() else None
        reduce_case(next(cases()), "fewest")  # compiles
        for case in cases():
            for keys in ("fewest", "poses"):
                yield from mode_rows(case, keys, blender)
        if blender is not None:
            blender.close()


def old_row(case: Case) -> Row:
    """Keys beside version 0.1 at its own measured errors, without the T-pose."""
    old, error_m, degrees = RUNS_OF_0_1[case.name]
    clip = case.clip
    assert isinstance(clip, Clip)
    clip = Clip(clip.name, clip.channels, clip.values[1:], clip.rate)
    angle = float(np.radians(degrees))
    reduced = reduce_keys(clip, case.rig, tolerance=error_m, angle=angle, keys="fewest", rotations="euler")
    name = f"{case.name}, fewest, {1e3 * error_m:.1f} mm without the T-pose: keys"
    return Row(name, reduced.keys, "keys", f"{old} keys of 0.1 at the same true error", old / reduced.keys, 1.0)


def mode_rows(case: Case, keys: str, blender: Blender | None) -> Iterator[Row]:
    """The rows of one clip in one mode."""
    reduced, seconds = reduce_case(case, keys)
    verdict = judge(case, reduced.curves)
    name, limit = f"{case.name}, {keys}", 1e3 * case.tolerance
    said = f"reported {1e3 * reduced.error_m:.3f} mm"
    agreement = min(reduced.error_m, verdict.error_m) / max(reduced.error_m, verdict.error_m, 1e-12)
    yield Row(f"{name}: measured error", 1e3 * verdict.error_m, "mm", said, agreement, 0.98)
    yield Row(
        f"{name}: measured error",
        1e3 * verdict.error_m,
        "mm",
        f"tolerance {limit:.3g} mm",
        limit / max(1e3 * verdict.error_m, 1e-9),
        1.0,
    )
    share = f"{100 * reduced.broken:.0f} % broken, of {reduced.source_keys} frames and columns"
    yield Row(f"{name}: keys", reduced.keys, "keys", share, None, None)
    if keys == "fewest" and case.name in RUNS_OF_0_1:
        yield old_row(case)
    if blender is not None and keys == "fewest":
        fewest = blender.fewest(case, verdict.error_m)
        told = f"{fewest} keys, Blender {blender.version} decimate"
        yield Row(f"{name}: keys", reduced.keys, "keys", told, fewest / reduced.keys, 1.0)
    if verdict.planted_ratio is not None:
        yield Row(
            f"{name}: planted feet",
            verdict.planted_ratio,
            "of the source's speed",
            "1.3 at the 99th percentile",
            1.3 / verdict.planted_ratio,
            1.0,
        )
    yield Row(
        f"{name}: handles", verdict.handle_ratio, "most unequal", "3 at most", 3 / verdict.handle_ratio, 1.0 - 1e-6
    )
    if keys == "poses":
        yield Row(f"{name}: widest gap", verdict.gap, "s", "1 s at most", 1 / max(verdict.gap, 1e-9), 1.0)
    duration = len(case.clip.frame_times()) / case.clip.rate
    bar = 1.0 if duration > 9 and case.clip.rate == 120 else None
    yield Row(
        f"{name}: time",
        seconds,
        "s",
        f"8 s for 9 s of a capture; this has {duration:.1f} s",
        8 / 9 * duration / seconds,
        bar,
    )
