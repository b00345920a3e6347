"""What a dope sheet holds: keys by column, poses, and what the sheet says of itself. `docs/sheets.md` is the grammar.

A sheet is text that an animator can read, compare and change; `reading.parse` reads one, `spline` and `keying` make
curves of it. Times are frames here, values as written (degrees, metres, weights).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

# The lengths of the handles that leave and arrive, as parts of the way in time.
EASES: dict[str, tuple[float, float]] = {
    "soft": (0.42, 0.42),
    "snap": (0.12, 0.72),  # away at once, long arrival
    "hit": (0.60, 0.12),  # slow away, stops dead
    "heavy": (0.62, 0.34),
    "glide": (0.30, 0.62),
    "late": (0.80, 0.20),  # hardly moves until the end
    "even": (1 / 3, 1 / 3),  # with slopes by hand: exactly a parabola
}

Pose = dict[str, float]  # column -> value: "LowerArm.rx": -22, "brows.raise.L": 0.8


class How(NamedTuple):
    """How a key is reached and left. Slopes are units a second."""

    handles: tuple[float, float] = EASES["soft"]
    straight: bool = False
    overshoot: tuple[float, float, int] | None = None  # part of the move, frames a swing, swings
    broken: bool = False
    arriving: float | None = None
    leaving: float | None = None


PLAIN = How()


class Key(NamedTuple):
    """One key of one column."""

    place: str  # where it stands, for errors
    departure: float | None  # None: from the key before
    frame: float
    value: float
    how: How = PLAIN


class Span(NamedTuple):
    """From one frame to another."""

    start: float
    end: float


class Contact(NamedTuple):
    """From one frame to another something stands on the ground."""

    joint: str
    start: float
    end: float


@dataclass
class Sheet:
    """A dope sheet: `tracks` holds the keys of each column ("Head.ry"), `still` those that do not drift in holds."""

    path: str
    name: str = ""
    frames: float = 0.0
    rate: float = 24.0
    order: str = "yxz"
    labels: tuple[str, ...] = ()
    about: str = ""
    moments: dict[str, float] = field(default_factory=dict)  # name -> frame
    holds: list[Span] = field(default_factory=list)  # where stillness is meant
    contacts: list[Contact] = field(default_factory=list)
    poses: dict[str, Pose] = field(default_factory=dict)  # "crouch", or "mouth.grin" where it belongs to a group
    faces: dict[str, Pose] = field(default_factory=dict)  # poses of everything
    own: set[tuple[str, str]] = field(default_factory=set)  # ("pose", "mouth.grin"): given here, not known beforehand
    tracks: dict[str, list[Key]] = field(default_factory=dict)
    still: set[str] = field(default_factory=set)
