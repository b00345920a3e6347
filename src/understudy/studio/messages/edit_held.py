"""The messages of the edit mode about what is held: pins, contacts, moments, limits, stiffness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from understudy.studio.document import PointRef
from understudy.studio.messages.message import Bound, Request
from understudy.studio.messages.shell import Id, Name, Seconds


@dataclass(frozen=True)
class EditHeld:
    """The id under which something is held."""

    held: str


@dataclass(frozen=True)
class EditPin(Request):
    """Keep the path of a point while others are moved; `held` changes a pin that there is."""

    kind: ClassVar[str] = "editPin"
    result: ClassVar[Any] = EditHeld
    point: PointRef
    orientation: bool = True
    start: Seconds | None = None
    stop: Seconds | None = None
    held: Id | None = None


@dataclass(frozen=True)
class EditContact(Request):
    """Let a point stand still for a while: the curves are solved for it at once, as one undo step."""

    kind: ClassVar[str] = "editContact"
    result: ClassVar[Any] = EditHeld
    point: PointRef
    start: Seconds
    stop: Seconds
    orientation: bool = False
    held: Id | None = None


@dataclass(frozen=True)
class EditHold(Request):
    """Let a point pass where it passes, at one moment."""

    kind: ClassVar[str] = "editHold"
    result: ClassVar[Any] = EditHeld
    point: PointRef
    time: Seconds
    orientation: bool = False
    held: Id | None = None


@dataclass(frozen=True)
class EditRelease(Request):
    """Let go of a pin, a contact or a hold."""

    kind: ClassVar[str] = "editRelease"
    held: Id


@dataclass(frozen=True)
class EditLimit(Request):
    """Keep a column within a range, radians or metres; without low and high the limit is lifted.

    Keys that lie outside refuse it; with `fit` the range is made as wide as they need it.
    """

    kind: ClassVar[str] = "editLimit"
    target: Name
    column: Name
    low: float | None = None
    high: float | None = None
    fit: bool = False


@dataclass(frozen=True)
class EditStiffness(Request):
    """How unwillingly a joint takes part: 1 is usual, 0 costs nothing, None is usual again."""

    kind: ClassVar[str] = "editStiffness"
    target: Name
    value: Annotated[float, Bound(least=0.0, most=1e6)] | None = None
