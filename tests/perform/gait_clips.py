"""A walker that walks on the spot or over the ground, for the tests of gaits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from tests.perform.layers.walker import NAMES, RATE, posed, walker

from understudy.character import Asset, Clip
from understudy.character.rig import DirectRig
from understudy.maths import quaternion
from understudy.perform.features.encoder import PoseEncoder
from understudy.perform.features.root_motion import find_root

WALK_M_S, RUN_M_S = 1.2, 2.8
WALK_SECONDS, RUN_SECONDS = 1.0, 0.75
WALK_STANCE, RUN_STANCE = 0.6, 0.4


def gait_rows(rig: DirectRig, speed: float, seconds: float, stance: float, eased: bool = False) -> np.ndarray:
    """(F, C) one cycle on the spot, its last frame as the first; feet may be eased from key to key, as games do."""
    count = round(seconds * RATE)
    feet = np.zeros((count + 1, 2, 3))
    way = speed * seconds * stance
    for side in (0, 1):
        phase = np.mod(np.arange(count + 1) / count + 0.5 * side, 1.0)
        back = np.clip(phase / stance, 0, 1)
        if eased:
            back = back * back * (3 - 2 * back)
        u = np.clip((phase - stance) / (1 - stance), 0, 1)
        forward = u * u * (3 - 2 * u)
        feet[:, side, 0] = 0.15 if side == 0 else -0.15
        feet[:, side, 1] = 0.03 + 0.12 * np.sin(np.pi * u) ** 2
        feet[:, side, 2] = np.where(phase < stance, way * (0.5 - back), way * (forward - 0.5))
    hips = np.zeros((count + 1, 3))
    hips[:, 1] = -0.11 + 0.01 * np.cos(4 * np.pi * np.arange(count + 1) / count)
    return _lift_tail(posed(rig, feet, hips))


def _lift_tail(rows: np.ndarray) -> np.ndarray:
    """Rows (F, C) whose tail is off the ground, which the hips come nearer to."""
    rows[:, 10 * NAMES.index("tail") + 1] += 0.2
    return rows


def idle_rows(rig: DirectRig, seconds: float = 2.0) -> np.ndarray:
    """(F, C) standing, with a breath in the hips."""
    count = round(seconds * RATE)
    feet = np.tile([[0.15, 0.03, 0.0], [-0.15, 0.03, 0.0]], (count + 1, 1, 1))
    hips = np.zeros((count + 1, 3))
    hips[:, 1] = -0.03 + 0.008 * np.sin(2 * np.pi * np.arange(count + 1) / count)
    return _lift_tail(posed(rig, feet, hips))


def gait_asset(rig: DirectRig | None = None, eased: bool = False) -> Asset:
    """The walker with idle, walk and run."""
    rig = rig or walker()
    clips = {
        "Idle": idle_rows(rig),
        "Walk": gait_rows(rig, WALK_M_S, WALK_SECONDS, WALK_STANCE, eased),
        "Run": gait_rows(rig, RUN_M_S, RUN_SECONDS, RUN_STANCE, eased),
    }
    return Asset([rig.character], [Clip(name, rig.channels, rows, RATE) for name, rows in clips.items()])


def turn_rows(rows: np.ndarray, angle: float) -> np.ndarray:
    """Rows (F, C) of the walker, turned about the vertical."""
    turned = rows.copy()
    turn = quaternion.from_rotation_vector(np.array([0.0, angle, 0.0]))
    turned[:, :3] = quaternion.rotate(turn, rows[:, :3])
    turned[:, 3:7] = quaternion.multiply(turn, rows[:, 3:7])
    return turned


@dataclass(frozen=True, eq=False)
class SplineClip:
    """A clip that repeats; its last frame is its first."""

    label: str
    period: float
    spline: Any

    def features_at(self, phase: np.ndarray) -> np.ndarray:
        return np.asarray(self.spline(np.mod(phase, 1.0)))

    def latents_at(self, phase: np.ndarray) -> np.ndarray:
        return np.zeros((len(phase), 1))


def spline_clips(rig: DirectRig, clips: dict[str, np.ndarray]) -> tuple[PoseEncoder, list[SplineClip]]:
    """An encoder of clips (F, C) by name, and the clips as cycles."""
    takes = list(clips.values())
    root = find_root(rig.character.skeleton, rig.channels, takes, rig.rest)
    encoder = PoseEncoder.fit(rig.channels, takes, RATE, rig.rest, root)
    result = []
    for name, rows in clips.items():
        features = encoder.encode(rows)
        features[-1] = features[0]
        phases = np.linspace(0, 1, len(rows))
        result.append(SplineClip(name, (len(rows) - 1) / RATE, CubicSpline(phases, features, bc_type="periodic")))
    return encoder, result
