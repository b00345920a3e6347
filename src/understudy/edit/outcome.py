"""The result of an edit: new curves, the remaining distance, the obstacles, and suggestions for a blocked edit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Curves
from understudy.edit.goals import Edit

OBSTACLE_KINDS = ("pin", "contact", "hold", "limit", "handle", "reach", "path")


@dataclass(frozen=True)
class Obstacle:
    """One thing that keeps an edit from its goal."""

    kind: str  # one of OBSTACLE_KINDS
    what: str  # the name of the point or of the column
    share: float  # of the whole resistance, 0 to 1
    sentence: str  # for the user


@dataclass(frozen=True)
class MotionChange:
    """How an edit changed the motion as a whole, measured on the finished curves."""

    asked_m: float  # metres, the longest way that was asked for
    furthest_m: float  # metres, the furthest move of a dragged point at any time
    start: float  # seconds, from when on anything moves
    stop: float  # seconds, until when
    others_m: float  # metres, the largest move of a joint outside the dragged limb
    other_joint: str  # its name
    speed_ratio: float  # peak speed of the dragged points over that before the edit
    acceleration_ratio: float  # likewise of their acceleration
    extra_turns: float  # whole turns of a joint that it did not make before

    @property
    def overshoot(self) -> float:
        """The furthest move over the way that was asked for; 1 where none was."""
        return self.furthest_m / self.asked_m if self.asked_m > 0 else 1.0


@dataclass(frozen=True)
class EditResult:
    """The curves after an edit. Key times stay; values move only where a fitter placed the keys."""

    curves: Curves
    reached: bool
    distance: float  # metres, the largest between a moved point and its goal
    angle: float  # radians, likewise
    start_distance: float  # metres, the same before the edit
    start_angle: float  # radians, likewise
    drift: float  # metres, the largest error of a pin, contact or hold over all sampled times
    drift_angle: float  # radians, likewise
    iterations: int
    obstacles: tuple[Obstacle, ...] = ()
    analytic: bool = True  # whether the derivatives of the rig were exact (else finite differences)
    notes: tuple[str, ...] = ()  # further sentences for the user
    suggestions: tuple[Suggestion, ...] = ()  # where the goals were not reached and suggestions were asked for
    radius: float | None = None  # seconds of the window in which keys could move; None where only tangents could
    change: MotionChange | None = None  # None for the single steps of a drag


@dataclass(frozen=True)
class Suggestion:
    """A changed edit that gets a blocked one further: `edit` is the change, `outcome` its result."""

    kind: str  # "release", "widen" or "insert"
    what: tuple[str, ...]  # the pin's point, the limited column, the channels that get a key
    sentence: str
    edit: Edit
    outcome: EditResult
    keys: int = 0  # that it adds


def remaining_share(outcome: EditResult) -> float:
    """The remaining share of the distance or of the angle, the larger; the drift for an edit without either."""
    parts = [(outcome.distance, outcome.start_distance), (outcome.angle, outcome.start_angle)]
    shares = [now / start for now, start in parts if start > 0]
    return max(shares) if shares else outcome.drift + outcome.drift_angle


def describe_remaining(outcome: EditResult) -> str:
    """What remains after a suggestion, as the end of its sentence."""
    if outcome.reached:
        return "it is reached"
    parts = []
    if outcome.start_distance > 0:
        unit, scale = unit_for(outcome.start_distance)
        parts.append(f"{scale * outcome.distance:.3g} of {scale * outcome.start_distance:.3g} {unit}")
    if outcome.start_angle > 0:
        parts.append(f"{np.degrees(outcome.angle):.3g} of {np.degrees(outcome.start_angle):.3g} degrees")
    return f"{' and '.join(parts) or f'{1000 * outcome.drift:.3g} mm of slip'} remain"


def unit_for(metres: float) -> tuple[str, float]:
    """The unit for a length in messages, and how many of it make a metre: metres from 1 m, millimetres below."""
    return ("m", 1.0) if metres >= 1 else ("mm", 1000.0)
