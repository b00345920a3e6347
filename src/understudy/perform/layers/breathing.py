"""What moves when a character breathes: a control made for it and the nostrils, or the joints of the chest.

A spine moves only where it stands upright, or where nothing that stands on the ground hangs on it: the chest of a
four-legged animal carries its front legs, and would drag the feet.

Breathing: slow, never twice the same, deeper and faster in a lively character.

Each breath has its own length and depth. Air comes in for two fifths of it, goes out more slowly, and rests a moment:

    b(x) = smooth(x / 0.4),   then   1 - smooth((x - 0.4) / 0.45),   then   0 to the end

b and its slope are zero where one breath ends and the next begins, so lengths and depths may change there.

A rig with a control for it (`neck.breath`) is moved by that and by its nostrils, a body with a spine by a small turn of
the chest with the neck turning back, so that the head stays level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import radians
from typing import NamedTuple, Protocol

import numpy as np

from understudy.character.body.bone_names import facing_axes, human_bones, name_words
from understudy.character.rig import LayeredRig, PosedRig
from understudy.checks import Array
from understudy.maths import quaternion
from understudy.perform.layers import layer
from understudy.perform.layers.gaze import minimum_jerk
from understudy.perform.layers.layer import LayerContext

BREATH_CONTROL_RATIO = 0.42  # of the unit of a control named so, for a usual breath: its 1 is a deep one
FLARE_CONTROL_RATIO = 0.10
CHEST_TURN_RAD = radians(1.5)  # that the chest turns back, shared by its joints
SHOULDER_LIFT_RAD = radians(1.0)  # that they are lifted
MAX_SCALAR_ROWS = 4  # rows; below it plain numbers are quicker than arrays, and the same to the last bit
GROUND_HEIGHT_RATIO = 0.2  # of the height of the body: what lies lower at rest stands on the ground
UPRIGHT_COSINE = 0.8  # cosine of the angle between the way from hips to head and the vertical: 37 degrees


class BreathDrive(Protocol):
    """Lays a breath over rows."""

    def add_all(self, rows: Array, air: Sequence[float], flare: Sequence[float]) -> None:
        """In each of rows (M, C) `air` is how full the lungs are, 0 to 1 in a usual breath, `flare` how fast they fill;
        in place."""


class ControlBreath(NamedTuple):
    """Controls: column, what `air` and `flare` add to it, and its range."""

    controls: tuple[tuple[int, float, float, float, float], ...]

    def add_all(self, rows: Array, air: Sequence[float], flare: Sequence[float]) -> None:
        """Lay a breath over each of rows (M, C), in place."""
        if len(rows) < MAX_SCALAR_ROWS:
            for row, full, fast in zip(rows, air, flare):
                self._add(row, full, fast)
            return
        airs, flares = np.array(air), np.array(flare)
        for column, of_air, of_flare, low, high in self.controls:
            values = rows[:, column]
            filled = values + of_air * airs + of_flare * flares
            rows[:, column] = np.minimum(np.maximum(filled, np.minimum(low, values)), np.maximum(high, values))

    def _add(self, row: Array, air: float, flare: float) -> None:
        for column, of_air, of_flare, low, high in self.controls:
            value = float(row[column])
            row[column] = min(max(value + of_air * air + of_flare * flare, min(low, value)), max(high, value))


class JointBreath(NamedTuple):
    """Joints: first column of the rotation, the axis in the joint's own frame, radians of a whole breath."""

    joints: tuple[tuple[int, tuple[float, float, float], float], ...]

    def add_all(self, rows: Array, air: Sequence[float], flare: Sequence[float]) -> None:
        """Lay a breath over each of rows (M, C), in place."""
        for row, full in zip(rows, air):
            for column, (x, y, z), angle in self.joints:
                half = 0.5 * angle * full  # small: the sine is the angle to 1e-6
                turned: quaternion.Scalars = (half * x, half * y, half * z, (1.0 - half * half) ** 0.5)
                row[column : column + 4] = quaternion.multiply_scalar(
                    quaternion.to_scalars(row[column : column + 4]), turned
                )


def breath_drive(rig: PosedRig) -> BreathDrive | None:
    """What breathes in a rig's character, or None."""
    return _controls(rig) if isinstance(rig, LayeredRig) else _joints(rig)


def _controls(rig: LayeredRig) -> ControlBreath | None:
    controls = rig.controls
    found = []
    for i, name in enumerate(controls.names):
        parts = name_words(name)
        low, high = float(controls.low[i]), float(controls.high[i])
        if "breath" in parts or "breathe" in parts:
            found.append((i, BREATH_CONTROL_RATIO, 0.0, low, high))
        elif (
            parts[:1]
            and parts[0] in ("nose", "nostril", "nostrils")
            and "flare" in parts
            and controls.layers[i] == "coarse"
        ):
            found.append((i, 0.0, FLARE_CONTROL_RATIO, low, high))
    return ControlBreath(tuple(found)) if any(of_air for _, of_air, _, _, _ in found) else None


def _is_upright(places: Array, bones: dict[str, int]) -> bool:
    """Whether a body holds its head above its hips."""
    if "Hips" not in bones or "Head" not in bones:
        return False
    up = places[bones["Head"]] - places[bones["Hips"]]
    return bool(up[1] > UPRIGHT_COSINE * np.linalg.norm(up))


def _joints(rig: PosedRig) -> JointBreath | None:
    skeleton = rig.character.skeleton
    bones = human_bones(skeleton)
    worlds = rig.joints(rig.rest[None])[0]
    heights = worlds[:, 1, 3]
    ground = heights.min() + GROUND_HEIGHT_RATIO * np.ptp(heights)
    stands = {above for joint in np.flatnonzero(heights <= ground) for above in skeleton.ancestors(int(joint))}
    axes = facing_axes(rig)
    chest = [bones[name] for name in ("Chest", "UpperChest") if name in bones] or [
        bones[n] for n in ("Spine",) if n in bones
    ]
    if not _is_upright(worlds[:, :3, 3], bones):
        chest = [joint for joint in chest if joint not in stands]
    if not chest:
        return None
    turns = [(joint, axes[:, 0], -CHEST_TURN_RAD / len(chest)) for joint in chest]
    above = [bones[name] for name in ("Neck", "Head") if name in bones]
    turns += [(joint, axes[:, 0], CHEST_TURN_RAD / len(above)) for joint in above]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        if f"{side}Shoulder" in bones:  # about forward, a positive turn lifts the left
            turns.append((bones[f"{side}Shoulder"], axes[:, 2], sign * SHOULDER_LIFT_RAD))
    found = []
    for joint, axis, angle in turns:
        columns = rig.channels.slice(skeleton.names[joint], "rotation")
        if columns is not None:
            world = worlds[joint, :3, :3] / np.linalg.norm(worlds[joint, :3, :3], axis=0)
            x, y, z = (world.T @ axis).tolist()
            found.append((columns.start, (x, y, z), angle))
    return JointBreath(tuple(found)) if found else None


BREATH_SECONDS = (
    3.9,
    0.13,
)  # seconds of a breath: median, deviation of the logarithm; people at rest take 12 to 18 a minute
BREATH_DEPTH_RATIO = (1.0, 0.18)
INHALE_SHARE, EXHALE_SHARE = 0.4, 0.45  # of a breath
DEPTH_EASE_SECONDS = 1.5  # seconds in which the depth follows the dials
MAX_BREATH_RATE_RATIO, MIN_BREATH_RATE_RATIO = 2.0, 0.7  # how much a dial changes the pace


class BreathState(NamedTuple):
    """How far the breath under way is, and how deep."""

    seed: int
    draws: int = 0
    started: bool = False
    phase: float = 0.0  # 0 to 1
    length: float = 1.0  # seconds
    depth: float = 1.0
    amount: float = 0.0  # how much of it shows: 0 none


@dataclass(frozen=True, eq=False)
class Breathing:
    """A layer that breathes."""

    drive: BreathDrive

    @classmethod
    def from_rig(cls, rig: PosedRig) -> Breathing | None:
        """The breath of a rig's character; None where nothing can show it."""
        drive = breath_drive(rig)
        return None if drive is None else cls(drive)

    def init(self, seed: int) -> BreathState:
        """The state before the first frame."""
        seed = layer.derive_seed(seed, "breathing")
        # in the middle of a breath: a crowd that starts together does not breathe together
        return BreathState(seed, 3, False, layer.uniform(seed, 0), *_breath(seed, 1))

    def step(self, state: BreathState, row: Array, moment: LayerContext) -> tuple[BreathState, Array]:
        """The next state, and the row (C,) with the breath on top."""
        after = _next(state, moment)
        if after.amount == 0.0:
            return after, row
        row = row[None].copy()
        self.drive.add_all(row, *([each] for each in _air_and_flow(after)))
        return after, row[0]

    def step_all(
        self, states: Sequence[BreathState], rows: Array, moments: Sequence[LayerContext]
    ) -> list[BreathState]:
        """`step` of many, over their rows (M, C) in place."""
        after = [_next(state, moment) for state, moment in zip(states, moments)]
        if after:
            self.drive.add_all(rows, *zip(*map(_air_and_flow, after)))
        return after


def _next(state: BreathState, moment: LayerContext) -> BreathState:
    """The state a frame on."""
    goal = 0.0 if moment.played else min(moment.life, 2.0) ** 0.5
    if state.started:
        most = moment.dt / DEPTH_EASE_SECONDS
        amount = min(max(goal, state.amount - most), state.amount + most)
    else:
        amount = goal
    pace = min(max(0.6 + 0.4 * moment.liveliness, MIN_BREATH_RATE_RATIO), MAX_BREATH_RATE_RATIO)
    phase = state.phase + (moment.dt * pace / state.length if state.started else 0.0)
    draws, length, depth = state.draws, state.length, state.depth
    if phase >= 1.0:
        phase -= int(phase)
        length, depth = _breath(state.seed, draws)
        draws += 2
    return BreathState(state.seed, draws, True, phase, length, depth, amount)


def _air_and_flow(state: BreathState) -> tuple[float, float]:
    """How full the lungs look, and how fast they fill."""
    much = state.amount * state.depth
    return much * lung_volume(state.phase), much * air_flow(state.phase)


def _breath(seed: int, draw: int) -> tuple[float, float]:
    return layer.log_normal(seed, draw, *BREATH_SECONDS), layer.log_normal(seed, draw + 1, *BREATH_DEPTH_RATIO)


def lung_volume(phase: float) -> float:
    """How full the lungs are at a phase of the breath, 0 to 1."""
    if phase < INHALE_SHARE:
        return minimum_jerk(phase / INHALE_SHARE)
    return 1.0 - minimum_jerk((phase - INHALE_SHARE) / EXHALE_SHARE)


def air_flow(phase: float) -> float:
    """How fast air comes in, 0 to 1: nostrils widen before the chest is full, and close on the way out."""
    x = phase / INHALE_SHARE
    return 16.0 * x * x * (1.0 - x) * (1.0 - x) if x < 1.0 else 0.0
