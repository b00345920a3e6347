"""Keys that `reduce` keeps of ten captures and a face take, beside the best linear keys and Blender's own decimation.

All three are given the same columns (Euler angles, translations, shape weights) and the same error in the world, and a
key counts for each column it is on. Both peers choose keys for every column by itself; ours share them among the three
columns of a joint. The linear peer has the fewest keys that any choice among the frames can have (dynamic programming
for each column, which gets the share of the tolerance that its lever allows, the largest common share that keeps the
tolerance). Blender has one margin for all curves, the largest that keeps it. Ours is measured midway between frames as
well, the peers at frames only. The T-pose in front of the captures is left out. Peers know neither contacts nor peaks:
ours beside them does without them as well, and what both cost is told for a few.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.measure import HERE, Row

from understudy.character import Clip
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.edit.reduce import ReducedCurves, reduce_keys, search_kernels
from understudy.edit.reduce.source import sample_source
from understudy.edit.reduce.world_error import WorldError
from understudy.formats import read
from understudy.maths.jit import compile_kernel

DATA = Path(os.environ.get("UNDERSTUDY_TEST_DATA", HERE.parents[1] / "shared" / "data"))
BLENDER = Path(os.environ.get("UNDERSTUDY_BLENDER_VENV", HERE.parent / ".venv-blender")) / "bin" / "python"
PEERS = False  # Blender has an environment of its own: python tests/blender/blender.py makes it
CLIPS = ("02_01", "02_04", "05_02", "09_01", "137_29", "13_39", "79_69", "82_11", "82_12", "93_03")
KEPT = ("02_01", "13_39", "Live Link take")
TOLERANCE, ANGLE, WEIGHT = 0.005, np.radians(2.0), 0.02


@dataclass(frozen=True, eq=False)
class Problem:
    """A clip, and how a table of its columns (C, F) is judged: its worst error in tolerances, at frames."""

    name: str
    clip: Clip
    rig: DirectRig | None
    values: Array  # (C, F)
    lever: Array  # (C, F) tolerances for one unit
    judge: Callable[[Array], float]


def problem(name: str, clip: Clip, rig: DirectRig | None) -> Problem:
    """The columns as `reduce` has them, with Euler angles."""
    given = sample_source(clip, "euler")
    measure = WorldError(given, rig)
    samples, joints = measure.places.shape[:2]
    band = np.repeat(measure.bands(TOLERANCE, WEIGHT)[:, None], samples, axis=1)
    reach = np.full((samples, joints), 1 / TOLERANCE)
    world = measure.bones.world(given.values, reach, np.full(joints, 1 / ANGLE), band)
    lever = np.empty(band.shape)
    search_kernels.write_levers(world, lever)
    frames = np.ascontiguousarray(given.values[::2].T)

    def judge(values: Array) -> float:
        full = given.values.copy()
        full[::2] = values.T
        offset, turn = measure.errors(full)
        off = np.linalg.norm(offset[::2], axis=-1).max(initial=0.0) / TOLERANCE
        turned = np.linalg.norm(turn[::2], axis=-1).max(initial=0.0) / ANGLE
        return float(max(off, turned, (np.abs(values - frames) * band[:, ::2]).max(initial=0.0)))

    return Problem(name, clip, rig, frames, np.maximum(lever[:, ::2], 1e-6), judge)


@compile_kernel()
def fewest_linear(y: Array, band: Array) -> Array:
    """Frames of the fewest keys on y (F,) between which straight lines stay within band (F,) of it."""
    count = len(y)
    best, previous = np.full(count, count + 1), np.zeros(count, np.int64)
    best[0] = 1
    for a in range(count):
        low, high = -np.inf, np.inf
        for b in range(a + 1, count):
            slope = (y[b] - y[a]) / (b - a)
            if low <= slope <= high and best[a] + 1 < best[b]:
                best[b], previous[b] = best[a] + 1, a
            low, high = max(low, (y[b] - band[b] - y[a]) / (b - a)), min(high, (y[b] + band[b] - y[a]) / (b - a))
            if low > high:
                break
    keys = np.empty(best[-1], np.int64)
    frame = count - 1
    for i in range(len(keys) - 1, -1, -1):
        keys[i] = frame
        frame = previous[frame]
    return keys


def linear(given: Problem, share: float) -> tuple[int, Array]:
    """Keys, and columns (C, F), of straight lines that take a share of the tolerance each; constants have one key."""
    count, result = 0, np.empty_like(given.values)
    for c, (y, lever) in enumerate(zip(given.values, given.lever)):
        if np.ptp(y) * lever.max() <= 2 * share:
            count, result[c] = count + 1, 0.5 * (y.min() + y.max())
            continue
        keys = fewest_linear(y, share / lever)
        count, result[c] = count + len(keys), np.interp(np.arange(len(y)), keys, y[keys])
    return count, result


def best_linear(given: Problem) -> tuple[int, float]:
    """The fewest linear keys that keep the tolerance, and their error in tolerances."""
    if given.rig is None:
        count, values = linear(given, 1.0 - 1e-9)
        return count, given.judge(values)
    low, high = 0.0, 1.0
    best, error = 0, 0.0
    for _ in range(9):
        share = 0.5 * (low + high)
        count, values = linear(given, share)
        found = given.judge(values)
        if found <= 1:
            low, best, error = share, count, found
        else:
            high = share
    return best, error


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

    def decimate(self, given: Problem, margin: float) -> tuple[int, float, float]:
        """Keys, error in tolerances, seconds."""
        path = self.folder / "columns.npz"
        np.savez(path, values=given.values, margin=margin)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("DONE"):
                _, seconds, self.version = line.split()[:3]
                break
        else:
            raise RuntimeError("Blender ended before it answered")
        with np.load(path.with_suffix(".out.npz")) as out:
            moving = np.ptp(given.values, axis=1) > 1e-9  # a column that never changes is one key, also for Blender
            keys = int(out["keys"][moving].sum() + np.sum(~moving))
            return keys, given.judge(out["values"]), float(seconds)

    def best(self, given: Problem, tries: int = 5) -> tuple[int, float, float]:
        """The fewest keys of a margin that keeps the tolerance: errors grow about as the margin does."""
        margin = 0.4 * WEIGHT if given.rig is None else 0.002
        low, high = 0.0, np.inf
        best = (given.values.size, 0.0, 0.0)
        for _ in range(tries):
            keys, error, seconds = self.decimate(given, margin)
            if error <= 1:
                low = margin
                best = min(best, (keys, error, seconds))
                if error > 0.96:
                    break
            else:
                high = margin
            guess = margin * 0.98 / max(error, 1e-3)
            inside = low < guess < high
            margin = guess if inside else (np.sqrt(low * high) if low > 0 and np.isfinite(high) else margin * 0.5)
        return best

    def close(self) -> None:
        """End the process that was started here."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)


def problems() -> Iterator[Problem]:
    """The ten captures and the face take."""
    for name in CLIPS:
        asset = read(DATA / "bvh_cmu" / f"{name}.bvh")
        clip = asset.clips[0]
        clip = Clip(clip.name, clip.channels, clip.values[1:], clip.rate)
        yield problem(name, clip, DirectRig(asset.characters[0]))
    take = read(DATA / "face_livelink" / "alex_rom_3.csv").clips[0]
    yield problem("Live Link take", take, None)


def ours(given: Problem, kept: bool = False) -> tuple[ReducedCurves, float]:
    """The reduction and its seconds; peaks and contacts `kept` or not."""
    start = time.perf_counter()
    found = reduce_keys(
        given.clip,
        given.rig,
        tolerance=TOLERANCE,
        angle=ANGLE,
        weight=WEIGHT,
        rotations="euler",
        extremes=kept,
        contacts=kept,
    )
    return found, time.perf_counter() - start


def rows() -> Iterator[Row]:
    """Keys of each clip beside both peers, then the sums."""
    totals = np.zeros(3)
    with tempfile.TemporaryDirectory() as folder:
        blender = Blender(Path(folder)) if BLENDER.exists() else None
        warm = next(problems())
        reduce_keys(Clip("warm", warm.clip.channels, warm.clip.values[:40], warm.clip.rate), warm.rig, tolerance=0.02)
        for given in problems():
            found, seconds = ours(given)
            straight, _ = best_linear(given)
            name = f"{given.name}, {found.frames} frames: keys"
            yield Row(name, found.keys, "keys", f"{straight} linear keys", straight / found.keys, 4.0)
            if blender is not None:
                keys, error, taken = blender.best(given)
                told = f"{keys} keys, Blender {blender.version} decimate ({taken:.0f} s, {error:.2f} of the tolerance)"
                yield Row(name, found.keys, "keys", told, keys / found.keys, 1.0)
                totals += (found.keys, straight, keys)
            tolerance = f"tolerance {1e3 * TOLERANCE:g} mm" if given.rig else f"tolerance {WEIGHT:g}"
            error_mm, limit = (1e3 * found.error_m, 1e3 * TOLERANCE) if given.rig else (found.error_weight, WEIGHT)
            yield Row(
                f"{given.name}: error", error_mm, "mm" if given.rig else "of one", tolerance, limit / error_mm, 1.0
            )
            if given.name in KEPT:
                also, _ = ours(given, kept=True)
                told = f"{straight} linear keys that keep neither"
                yield Row(
                    f"{given.name}: keys, peaks and contacts kept", also.keys, "keys", told, straight / also.keys, None
                )
            yield Row(f"{given.name}: time", seconds, "s", f"a clip of {given.clip.duration:.1f} s", None, None)
        if blender is not None:
            blender.close()
            kept, straight, decimated = totals.tolist()
            yield Row("all: keys", kept, "keys", f"{straight:.0f} linear keys", straight / kept, 4.0)
            told = f"{decimated:.0f} keys, Blender {blender.version} decimate (aim: 2)"
            yield Row("all: keys", kept, "keys", told, decimated / kept, 1.0)
