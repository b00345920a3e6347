"""Locomotion: do feet stand still, is the speed reached, and is it smooth, on other people's characters?

Each character stands, walks, runs, walks at half speed, turns while it walks and while it runs, stops, and turns on the
spot. Beside it stands the plain way along the same path: its walk or run, played at the speed of the root, without a
lock. Slide is the speed over the ground of points of the soles that are near it, by two rules: within 1 % of the height
above the floor that the character stands on, and within 0.6 % above the usual height of its lowest point in that part.
Soles are the points of the skin on which the character stands.
Speeds are scaled to a height of 1.7 m. The bars are for humanoids; what quadrupeds reach is printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot

import numpy as np
from benchmarks.measure import Row
from benchmarks.real.characters import asset

from understudy.checks import Array
from understudy.perform.commands import Command, Go, TurnTo
from understudy.perform.gaits import Gait
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.locomotion import Locomotion, LocomotionState
from understudy.perform.runtime.performer import Performer
from understudy.perform.training import FitSettings, fit_library

PEERS = False
RATE = 60.0
HUMAN_HEIGHT_M = 1.7
SETTLE_SECONDS = 1.2  # after a command, before steady motion is measured
SOLE_RATIO = 0.02  # of the height: points of the skin that are this low while the character stands are soles
# File, and the patterns of its clips: idle, walk, run. Learning more of them changes nothing here.
HUMANOIDS = {
    "Soldier": ("field/glb/Soldier.glb", ("Idle", "Walk", "Run")),
    "Xbot": ("field/glb/Xbot.glb", ("idle", "walk", "run")),
    "Leela": ("field/glb/Leela.glb", ("Idle", "Walk", "Run")),
    "RobotExpressive": ("gltf_threejs/RobotExpressive.glb", ("Idle", "Walking", "Running")),
    "Barbarian": ("field/glb/Barbarian.glb", ("Idle", "Walking_A", "Running_A")),
}
QUADRUPEDS = {
    "Wolf": ("field/glb/Wolf.glb", ("*|Idle", "*|Walk", "*|Gallop")),
    "Horse": ("gltf_quaternius/animals_pack_Horse.glb", ("*|Idle", "*|Walk", "*|Gallop")),
    "Husky": ("gltf_quaternius/animals_pack_Husky.glb", ("*|Idle", "*|Walk", "*|Gallop")),
    "Fox (khronos)": ("gltf_khronos/Fox.glb", ("Survey", "Walk", "Run")),
}
# Slide in cm/s, median and 90th percentile.
STEADY_BARS, OTHER_BARS = (5.0, 20.0), (10.0, 40.0)
MAX_REACH_SECONDS, MAX_ACCELERATION_RATIO = 1.0, 1.25


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch of a performance under one command."""

    name: str
    speed: float  # asked, m/s
    rows: Array  # (F, C)
    plain: Array  # (F, C) the plain way along the same path
    speeds: Array  # (F,) of the root, m/s
    steady: bool


def rows() -> Iterator[Row]:
    """Every row of this benchmark."""
    for name, (file, clips) in {**HUMANOIDS, **QUADRUPEDS}.items():
        yield from measure_character(name, file, clips, name in HUMANOIDS)


def learn(file: str, clips: tuple[str, ...]) -> tuple[ClipLibrary, PerformanceModel]:
    """A model of a few clips of a file, one label each."""
    labels = {clip.rpartition("|")[2]: [clip] for clip in clips}
    library = ClipLibrary.from_asset(asset(file), labels=labels)
    return library, fit_library(library, FitSettings(iterations=5), workers=1)


def perform_parts(performer: Performer, label: str) -> Iterator[Part]:
    """The parts of a performance, one after the other."""
    locomotion = performer.planner.locomotion
    gaits = locomotion.gaits
    walk, run = gaits.gaits[0].speed, gaits.gaits[-1].speed
    ahead = np.degrees(gaits.facing)
    told: list[tuple[str, float, float, Command]] = [
        ("stand", 1.0, 0.0, Go(0.0)),
        ("walk", 4.0, walk, Go(walk, ahead)),
        ("run", 4.0, run, Go(run)),
        ("half speed", 4.0, 0.5 * walk, Go(0.5 * walk)),
        ("turn at a walk", 3.0, walk, Go(walk, ahead + 90)),
        ("turn at a run", 3.0, run, Go(run, ahead)),
        ("stop", 2.0, 0.0, Go(0.0)),
        ("turn on the spot", 3.0, 0.0, TurnTo(ahead + 120)),
    ]
    state = performer.init(label)
    phase = 0.0
    for name, seconds, speed, command in told:
        shown, plain, speeds = [], [], []
        for frame in range(round(seconds * RATE)):
            ground = state.ground
            state, row = performer.step(state, command if frame == 0 else None)
            shown.append(row)
            memory = state.main_source.memory
            assert isinstance(memory, LocomotionState)
            phase, features = plain_pose(locomotion, memory, phase)
            plain.append(performer.planner.place(features, np.array([[ground.x, ground.z, ground.heading]]))[0])
            speeds.append(hypot(state.ground.x - ground.x, state.ground.z - ground.z) * RATE)
        steady = name in ("walk", "run", "half speed")
        yield Part(name, speed, np.array(shown), np.array(plain), np.array(speeds), steady)


def plain_pose(locomotion: Locomotion, memory: LocomotionState, phase: float) -> tuple[float, Array]:
    """The next phase, and the features (1, E) of the gait that is nearest in speed, played as fast as the root goes."""
    gaits = locomotion.gaits.gaits
    gait = min(gaits, key=lambda each: abs(each.speed - memory.speed))
    if memory.speed < 0.1 * gaits[0].speed and locomotion.gaits.idle is not None:
        return phase, locomotion.gaits.idle.features_at(np.array([memory.idle_phase]))
    phase += memory.speed / gait.speed / gait.clip.period / RATE
    return phase, gait.features_at(np.array([phase]))


def slide(points: Array, floor: float, near: float, height: float) -> Array:
    """Speeds over the ground, cm/s at a height of 1.7 m, of points (F, V, 3) that are near a floor in two frames."""
    low = points[..., 1] < floor + near * height
    speeds = np.linalg.norm(np.diff(points[..., [0, 2]], axis=0), axis=-1)[low[1:] & low[:-1]]
    return np.asarray(speeds * RATE * 100 * HUMAN_HEIGHT_M / height)


def accelerations(performer: Performer, poses: Array) -> Array:
    """(F - 2,) the largest of any joint, m/s^2, of rows (F, C)."""
    joints = performer.rig.joints(poses)[..., :3, 3][:, performer.rig.character.joints]
    return np.asarray(np.linalg.norm(np.diff(joints, 2, axis=0), axis=-1).max(axis=1) * RATE**2)


def gait_rows(performer: Performer, gait: Gait) -> Array:
    """(F, C) three periods of a gait, on the spot."""
    phases = np.arange(round(3 * gait.clip.period * RATE)) / (gait.clip.period * RATE)
    return performer.planner.place(gait.features_at(phases), np.zeros((len(phases), 3)))


def measure_character(name: str, file: str, clips: tuple[str, ...], humanoid: bool) -> Iterator[Row]:
    """The rows of one character."""
    library, model = learn(file, clips)
    performer = Performer(model, library.rig, RATE)
    parts = list(perform_parts(performer, library.labels[0]))
    gaits = performer.planner.locomotion.gaits
    measured = ", ".join(f"{gait.label} {gait.speed / gaits.size:.2f} heights/s" for gait in gaits.gaits)
    yield Row(f"{name}: faces", float(np.degrees(gaits.facing)), "degrees", measured, None, None)
    standing = library.rig.vertices(parts[0].rows)[:, :, 1]
    height, floor = float(np.median(np.ptp(standing, axis=1))), float(np.median(standing.min(axis=1)))
    chosen = np.flatnonzero(np.median(standing, axis=0) < floor + SOLE_RATIO * height)
    own = max(np.quantile(accelerations(performer, gait_rows(performer, gait)), 0.995) for gait in gaits.gaits)
    for part in parts[1:]:
        first = round(SETTLE_SECONDS * RATE) if part.steady else 0
        bars = STEADY_BARS if part.name in ("walk", "run") else OTHER_BARS
        figures = {}
        for way, poses in (("ours", part.rows[first:]), ("plain", part.plain[first:])):
            points = np.asarray(library.rig.vertices(poses)[:, chosen], float)
            usual = float(np.median(points[..., 1].min(axis=1)))
            for rule, ground, near in (("1 %", floor, 0.01), ("usual height", usual, 0.006)):
                figures[way, rule] = slide(points, ground, near, height)
        for rule in ("1 %", "usual height"):
            for word, share, bar in (("median", 0.5, bars[0]), ("90th", 0.9, bars[1])):
                ours, plain = (
                    float(np.quantile(figures[way, rule], share)) if len(figures[way, rule]) else 0.0
                    for way in ("ours", "plain")
                )
                ratio = bar / max(ours, 1e-3) if humanoid else None
                about = f"plain: {plain:.1f}" + (f"; bar {bar:g}" if humanoid else "")
                yield Row(
                    f"{name}: {part.name}, slide, {rule}, {word}", ours, "cm/s", about, ratio, 1.0 if ratio else None
                )
        if part.speed > 0 and first:
            late = np.flatnonzero(np.abs(part.speeds - part.speed) > 0.1 * part.speed)
            reached = (late[-1] + 1) / RATE if len(late) else 0.0
            about = f"within 10 %; bar {MAX_REACH_SECONDS:g}"
            yield Row(
                f"{name}: {part.name}, speed reached", reached, "s", about, MAX_REACH_SECONDS / max(reached, 1e-3), 1
            )
        most = float(np.quantile(accelerations(performer, part.rows), 0.995)) / own
        about = f"of the clips' largest; bar {MAX_ACCELERATION_RATIO:g}"
        yield Row(f"{name}: {part.name}, acceleration", most, "n", about, MAX_ACCELERATION_RATIO / max(most, 1e-3), 1.0)
