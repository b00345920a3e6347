"""Behaviours: what a label does while it is shown.

A label of a game character is a motion, not a pose to hover near. Each clip is one of four kinds:

    cycle   goes on for ever: walk, run, swim, a body's idle
    act     plays once, then returns to where it came from, or stays where it ends: attack, jump, death
    pose    has no motion: a T-pose, a still
    hover   material for a pose space, in which a particle idles [Bailey 2016]: the takes of a face, a long capture
"""

from __future__ import annotations

from dataclasses import dataclass

CYCLE, ACT, POSE, HOVER = "cycle", "act", "pose", "hover"
KINDS = (CYCLE, ACT, POSE, HOVER)


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
