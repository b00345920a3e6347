"""What comes back from an edit: the new curves, how far they got, and what stood in the way."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.character import Curves

KINDS = ("pin", "contact", "hold", "limit", "handle", "reach")


@dataclass(frozen=True)
class Block:
    """One thing that keeps an edit from its goal: `share` of the resistance is its own, 0 to 1.

    `kind` is one of KINDS; `what` names the point or the column; `sentence` is for a person.
    """

    kind: str
    what: str
    share: float
    sentence: str


@dataclass(frozen=True)
class Outcome:
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
    blocks: tuple[Block, ...] = ()
    analytic: bool = True  # whether derivatives of the rig were exact, or differences
    notes: tuple[str, ...] = ()  # what a person should know besides


def unit_for(metres: float) -> tuple[str, float]:
    """The unit in which a way is told, and how many of it a metre has: metres from one on, millimetres below."""
    return ("m", 1.0) if metres >= 1 else ("mm", 1000.0)
