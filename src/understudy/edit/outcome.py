"""What comes back from an edit: the new curves, how far they got, and what stood in the way.

An offer: a way on for an edit that is blocked, with what accepting it gives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Curves
from understudy.edit.goals import Edit

OBSTACLE_KINDS = ("pin", "contact", "hold", "limit", "handle", "reach")


@dataclass(frozen=True)
class Obstacle:
    """One thing that keeps an edit from its goal: `share` of the resistance is its own, 0 to 1.

    `kind` is one of KINDS; `what` names the point or the column; `sentence` is for a person.
    """

    kind: str
    what: str
    share: float
    sentence: str


@dataclass(frozen=True)
class EditResult:
    """The curves after an edit. Their keys are those before it, in time and value; only tangents differ."""

    curves: Curves
    reached: bool
    distance: float  # metres between the moved points and their goals, the largest
    angle: float  # radians, likewise
    start_distance: float  # the same before the edit
    start_angle: float
    drift: float  # metres, the most that a pin, contact or hold is off at any time that was looked at
    drift_angle: float
    iterations: int
    blocks: tuple[Obstacle, ...] = ()
    analytic: bool = True  # whether derivatives of the rig were exact, or differences
    notes: tuple[str, ...] = ()  # what a person should know besides


def unit_for(metres: float) -> tuple[str, float]:
    """The unit in which a way is told, and how many of it a metre has: metres from one on, millimetres below."""
    return ("m", 1.0) if metres >= 1 else ("mm", 1000.0)


@dataclass(frozen=True)
class Suggestion:
    """One way on: `outcome` is what accepting it gives, `edit` what to go on with, `keys` how many it adds."""

    kind: str
    what: tuple[str, ...]  # the pin's point, the limited column, the channels that get a key
    sentence: str
    edit: Edit
    outcome: EditResult
    keys: int = 0


def remaining_share(outcome: EditResult) -> float:
    """What remains, as a part of the whole way and of the whole turn; what slips counts where there was no way."""
    parts = [(outcome.distance, outcome.start_distance), (outcome.angle, outcome.start_angle)]
    shares = [now / start for now, start in parts if start > 0]
    return max(shares) if shares else outcome.drift + outcome.drift_angle


def describe_remaining(outcome: EditResult) -> str:
    """How an offer ends, for its sentence."""
    if outcome.reached:
        return "it is reached"
    way = []
    if outcome.start_distance > 0:
        unit, scale = unit_for(outcome.start_distance)
        way.append(f"{scale * outcome.distance:.3g} of {scale * outcome.start_distance:.3g} {unit}")
    if outcome.start_angle > 0:
        way.append(f"{np.degrees(outcome.angle):.3g} of {np.degrees(outcome.start_angle):.3g} degrees")
    return f"{' and '.join(way) or f'{1000 * outcome.drift:.3g} mm of slip'} remain"
