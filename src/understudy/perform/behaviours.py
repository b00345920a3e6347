"""Behaviours: what a label does while it is shown.

A label of a game character is a motion, not a pose to hover near. Each clip is one of four kinds:

    cycle   goes on for ever: walk, run, swim, a body's idle
    act     plays once, then returns to where it came from, or stays where it ends: attack, jump, death
    pose    has no motion: a T-pose, a still
    hover   material for a pose space, in which a particle idles [Bailey 2016]: the takes of a face, a long capture
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.rig import PosedRig
from understudy.checks import Array

CYCLE, ACT, POSE, HOVER = "cycle", "act", "pose", "hover"
KINDS = (CYCLE, ACT, POSE, HOVER)

MIN_RANGE_RATIO = 0.002  # of the character's size: less is no motion
MAX_SEAM_STEPS = 2.0  # steps of a usual frame from the last pose to the first: more is no cycle
LONG_SECONDS = 4.0  # a clip that is no cycle and lasts longer is material for hovering


@dataclass(frozen=True)
class Behaviour:
    """What one clip does. Seconds count from the first frame of the clip."""

    kind: str  # of `KINDS`
    certainty: float = 1.0  # 0.5 to 1; 1 where the library file tells the kind
    start: float = 0.0  # first moment that is used
    stop: float | None = None  # last moment that is used; None: the last frame
    period: float = 0.0  # of a cycle: seconds until the pose of `start` comes again, at speed 1
    speed: float = 1.0  # at which it is played
    returns: str = ""  # of an act: the label that follows; "" for the one before it
    stays: bool = False  # of an act: its last pose is held

    def __post_init__(self) -> None:
        checks.one_of(self.kind, "kind", KINDS)

    def header(self) -> dict[str, Any]:
        """Plain values for a file."""
        return asdict(self)


def label_behaviour(clips: Sequence[str], behaviours: Mapping[str, Behaviour]) -> tuple[int, Behaviour]:
    """The number of the clip that a label plays, and what it does.

    A label whose clips are mostly cycles plays the most certain of them. A label of a single act plays it. Several acts
    are takes of one mood, so the label is hovered in; so is a label of whose clips nothing is known.
    """
    known = [behaviours.get(clip, Behaviour(HOVER)) for clip in clips]
    cycles = [number for number, behaviour in enumerate(known) if behaviour.kind == CYCLE]
    if 2 * len(cycles) > len(known):
        best = max(cycles, key=lambda number: known[number].certainty)
        return best, known[best]
    return (0, known[0]) if len(known) == 1 else (0, Behaviour(HOVER))


def find_behaviours(rig: PosedRig, clips: Mapping[str, Array], rate: float) -> dict[str, Behaviour]:
    """What each clip does, by name; `clips` are rows (F, C) of the rig at `rate` frames a second."""
    return {name: clip_behaviour(motion_points(rig, rows), rate) for name, rows in clips.items()}


def motion_points(rig: PosedRig, rows: Array) -> Array:
    """(F, P, 3) joints, and the mesh where they do not move, without their travel, over the size of the character."""
    points = np.asarray(rig.joints(rows)[..., :3, 3], np.float64)
    if np.ptp(points, axis=0).max() < 1e-6 and rig.character.vertex_count:
        points = np.asarray(rig.vertices(rows), np.float64)
    centre = points.mean(axis=1, keepdims=True)
    centre[..., 1] = 0
    size = float(np.median(np.ptp(points, axis=1).max(axis=-1)))
    return (points - centre) / max(size, 1e-9)


def clip_behaviour(points: Array, rate: float) -> Behaviour:
    """The behaviour of points (F, P, 3) over the size of the character."""

    def rms(offsets: Array) -> Array:
        return np.asarray(np.sqrt(np.square(offsets).sum(axis=-1).mean(axis=-1)))

    if len(points) < 3 or 2 * rms(points - points.mean(axis=0)).max() < MIN_RANGE_RATIO:
        return Behaviour(POSE)
    step = float(np.median(rms(np.diff(points, axis=0))))
    gap = float(rms(points[0] - points[-1]))
    if gap <= MAX_SEAM_STEPS * step:
        seam = 0.0 if gap < 0.25 * step else gap / step
        return Behaviour(CYCLE, 0.6, period=(len(points) - 1 + seam) / rate)
    return Behaviour(HOVER if len(points) > LONG_SECONDS * rate else ACT, 0.6)
