"""An offer: a way on for an edit that is blocked, with what accepting it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.keyframes.goals import Edit
from understudy.keyframes.outcome import Outcome, unit_for


@dataclass(frozen=True)
class Offer:
    """One way on: `outcome` is what accepting it gives, `edit` what to go on with, `keys` how many it adds."""

    kind: str
    what: tuple[str, ...]  # the pin's point, the limited column, the channels that get a key
    sentence: str
    edit: Edit
    outcome: Outcome
    keys: int = 0


def left(outcome: Outcome) -> float:
    """What remains, as a part of the whole way and of the whole turn; what slips counts where there was no way."""
    parts = [(outcome.distance, outcome.start_distance), (outcome.angle, outcome.start_angle)]
    shares = [now / start for now, start in parts if start > 0]
    return max(shares) if shares else outcome.drift + outcome.drift_angle


def result(outcome: Outcome) -> str:
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
