"""Breathing: slow, each breath of its own length and depth, deeper and faster in a lively character.

Air comes in for two fifths of a breath, goes out more slowly, and rests a moment:

    b(x) = smooth(x / 0.4),   then   1 - smooth((x - 0.4) / 0.45),   then   0 to the end

b and its slope are zero where one breath ends and the next begins, so lengths and depths may change there.

A rig with a control for it (`neck.breath`) is moved by that and by its nostrils, a body with a spine by a small
rotation of the chest that the neck takes back, so that the head stays level. A spine moves only where the body is
upright, or where nothing that stands on the ground hangs on it: the chest of a four-legged animal carries its front
legs, and would drag the feet.
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

# Log-normal distributions: median, deviation of the logarithm. People at rest take 12 to 18 breaths a minute.
BREATH_SECONDS = (3.9, 0.13)
BREATH_DEPTH_RATIO = (1.0, 0.18)  # of a usual breath
INHALE_SHARE, EXHALE_SHARE = 0.4, 0.45  # of the length of a breath
DEPTH_EASE_SECONDS = 1.5  # in which the depth changes by one
MAX_BREATH_RATE_RATIO, MIN_BREATH_RATE_RATIO = 2.0, 0.7  # of the usual pace, by liveliness
BREATH_CONTROL_RATIO = 0.42  # value of a breath control at a usual breath: 1 is a deep one
FLARE_CONTROL_RATIO = 0.10  # value of a nostril control at the fastest inhalation
CHEST_TURN_RAD = radians(1.5)  # backwards, shared by the joints of the chest
SHOULDER_LIFT_RAD = radians(1.0)
GROUND_HEIGHT_RATIO = 0.2  # of the height of the body: joints that rest lower stand on the ground
UPRIGHT_COSINE = 0.8  # between the direction from hips to head and the vertical: 37 degrees
MAX_SCALAR_ROWS = 4  # with fewer rows plain numbers are faster than arrays, and the same to the last bit


class BreathState(NamedTuple):
    """The current breath."""

    seed: int
    draws: int = 0
    started: bool = False
    phase: float = 0.0  # 0 to 1
    length: float = 1.0  # seconds
    depth: float = 1.0
    amount: float = 0.0  # strength of what is shown, 0 none


@dataclass(frozen=True, eq=False)
class Breathing:
    """A layer that moves the breath controls, or the chest."""

    drive: BreathDrive

    @classmethod
    def from_rig(cls, rig: PosedRig) -> Breathing | None:
        """The breathing of a rig's character; None where it has nothing to show it with."""
        drive = breath_drive(rig)
        return None if drive is None else cls(drive)

    def init(self, seed: int) -> BreathState:
        """The state before the first frame."""
        seed = layer.derive_seed(seed, "breathing")
        # in the middle of a breath: a crowd that starts together does not breathe together
        return BreathState(seed, 3, False, layer.uniform(seed, 0), *_draw_breath(seed, 1))

    def step(self, state: BreathState, row: Array, moment: LayerContext) -> tuple[BreathState, Array]:
        """The next state, and the row (C,) with the breath added."""
        after = _next_state(state, moment)
        if after.amount == 0.0:
            return after, row
        row = row[None].copy()
        self.drive.add_all(row, *([value] for value in _air_and_flow(after)))
        return after, row[0]

    def step_all(
        self, states: Sequence[BreathState], rows: Array, moments: Sequence[LayerContext]
    ) -> list[BreathState]:
        """`step` of many characters; their rows (M, C) are changed in place."""
        after = [_next_state(state, moment) for state, moment in zip(states, moments)]
        if after:
            self.drive.add_all(rows, *zip(*map(_air_and_flow, after)))
        return after


def _next_state(state: BreathState, moment: LayerContext) -> BreathState:
    """The state of the next frame."""
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
        length, depth = _draw_breath(state.seed, draws)
        draws += 2
    return BreathState(state.seed, draws, True, phase, length, depth, amount)


def _air_and_flow(state: BreathState) -> tuple[float, float]:
    """How full the lungs are, and how fast air comes in, both times the breath's depth."""
    depth = state.amount * state.depth
    return depth * lung_volume(state.phase), depth * air_flow(state.phase)


def _draw_breath(seed: int, draw: int) -> tuple[float, float]:
    """Seconds and depth of a breath."""
    return layer.log_normal(seed, draw, *BREATH_SECONDS), layer.log_normal(seed, draw + 1, *BREATH_DEPTH_RATIO)


def lung_volume(phase: float) -> float:
    """How full the lungs are at a phase of the breath, 0 to 1."""
    if phase < INHALE_SHARE:
        return minimum_jerk(phase / INHALE_SHARE)
    return 1.0 - minimum_jerk((phase - INHALE_SHARE) / EXHALE_SHARE)


def air_flow(phase: float) -> float:
    """How fast air comes in, 0 to 1: nostrils widen before the chest is full, and close while exhaling."""
    x = phase / INHALE_SHARE
    return 16.0 * x * x * (1.0 - x) * (1.0 - x) if x < 1.0 else 0.0


class BreathDrive(Protocol):
    """Adds a breath to rows."""

    def add_all(self, rows: Array, air: Sequence[float], flare: Sequence[float]) -> None:
        """Add a breath to each of rows (M, C), in place.

        `air` (M,) is how full the lungs are, 0 to 1 in a usual breath, `flare` (M,) how fast they fill.
        """


class ControlBreath(NamedTuple):
    """Controls: column, what `air` and `flare` add to it, and its range."""

    controls: tuple[tuple[int, float, float, float, float], ...]

    def add_all(self, rows: Array, air: Sequence[float], flare: Sequence[float]) -> None:
        """Add a breath to each of rows (M, C), in place."""
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
        """Add a breath to each of rows (M, C), in place."""
        for row, full in zip(rows, air):
            for column, (x, y, z), angle in self.joints:
                half = 0.5 * angle * full  # small: the sine is the angle to 1e-6
                turned: quaternion.Scalars = (half * x, half * y, half * z, (1.0 - half * half) ** 0.5)
                row[column : column + 4] = quaternion.multiply_scalar(
                    quaternion.to_scalars(row[column : column + 4]), turned
                )


def breath_drive(rig: PosedRig) -> BreathDrive | None:
    """The controls or joints of a rig that show a breath, or None."""
    return _control_breath(rig) if isinstance(rig, LayeredRig) else _joint_breath(rig)


def _control_breath(rig: LayeredRig) -> ControlBreath | None:
    controls = rig.controls
    driven = []
    for i, name in enumerate(controls.names):
        parts = name_words(name)
        low, high = float(controls.low[i]), float(controls.high[i])
        if "breath" in parts or "breathe" in parts:
            driven.append((i, BREATH_CONTROL_RATIO, 0.0, low, high))
        elif (
            parts[:1]
            and parts[0] in ("nose", "nostril", "nostrils")
            and "flare" in parts
            and controls.layers[i] == "coarse"
        ):
            driven.append((i, 0.0, FLARE_CONTROL_RATIO, low, high))
    return ControlBreath(tuple(driven)) if any(of_air for _, of_air, _, _, _ in driven) else None


def _joint_breath(rig: PosedRig) -> JointBreath | None:
    skeleton = rig.character.skeleton
    bones = human_bones(rig.character)
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
    driven = []
    for joint, axis, angle in turns:
        columns = rig.channels.slice(skeleton.names[joint], "rotation")
        if columns is not None:
            world = worlds[joint, :3, :3] / np.linalg.norm(worlds[joint, :3, :3], axis=0)
            x, y, z = (world.T @ axis).tolist()
            driven.append((columns.start, (x, y, z), angle))
    return JointBreath(tuple(driven)) if driven else None


def _is_upright(places: Array, bones: dict[str, int]) -> bool:
    """Whether a body holds its head above its hips."""
    if "Hips" not in bones or "Head" not in bones:
        return False
    up = places[bones["Head"]] - places[bones["Hips"]]
    return bool(up[1] > UPRIGHT_COSINE * np.linalg.norm(up))
