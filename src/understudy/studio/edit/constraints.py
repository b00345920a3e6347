"""The constraints of an edit: entries of the document as goals of the solver, and back.

Times of the document count from the beginning of the clip; times of curves are on the file's own clock, which is
`origin` at the beginning. A limit has to include the existing keys of its column, else no drag could begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from understudy.character import Curves
from understudy.character.rig import PosedRig
from understudy.edit.goals import Contact, Edit, Hold, Limit, MovePoint, Pin, Point
from understudy.edit.solver.problem import limits_of
from understudy.edit.stances import holds_feet_by_default, pin_standing_feet, window_around
from understudy.errors import InvalidInput
from understudy.studio.document import ContactEntry, EditEntry, HoldEntry, LimitEntry, LooseFoot, PinEntry, PointRef

E = TypeVar("E", bound=PinEntry | ContactEntry | HoldEntry)
LIMIT_TOLERANCE = 1e-6  # radians or metres: rounding error of a key


@dataclass(frozen=True)
class Constraints:
    """The constraints of an edit as goals of the solver."""

    pins: tuple[Pin, ...]
    contacts: tuple[Contact, ...]
    holds: tuple[Hold, ...]
    limits: tuple[Limit, ...]
    stiffness: dict[str, float]
    hold_feet: bool | None = None  # None: as the keys suggest
    loose_feet: tuple[tuple[str, float], ...] = ()  # joints, each with a time of the stance that was let go

    def edit(
        self,
        rig: PosedRig,
        moves: Sequence[MovePoint],
        curves: Curves,
        edges: str = "smooth",
        falloff: float | None = None,
    ) -> Edit:
        """An edit with these moves and the feet that stand. Contacts and holds that it does not reach are left out.

        A contact frees the segments of its own time, so a distant one would only enlarge the problem.
        """
        times = [move.time for move in moves]
        feet = self.standing_feet(rig, curves, [move.point for move in moves], min(times), max(times), falloff)
        contacts, holds = self.near(curves, times, falloff)
        pins = (*self.pins, *feet)
        return Edit(tuple(moves), pins, contacts, holds, self.limits, self.stiffness, edges=edges, falloff=falloff)

    def near(
        self, curves: Curves, times: Sequence[float], falloff: float | None = None
    ) -> tuple[tuple[Contact, ...], tuple[Hold, ...]]:
        """The contacts and holds within reach of an edit at some times."""
        if not self.contacts and not self.holds:
            return (), ()
        if holds_feet_by_default(curves, min(times), max(times)):
            low, high = window_around(curves, min(times), max(times), falloff)
        else:
            low, high = span_of_change(curves, times)
        contacts = tuple(each for each in self.contacts if each.stop > low and each.start < high)
        return contacts, tuple(each for each in self.holds if low < each.time < high)

    def standing_feet(
        self, rig: PosedRig, curves: Curves, points: Sequence[Point], start: float, stop: float, falloff: float | None
    ) -> tuple[Pin, ...]:
        """The pins of the feet that stand while these points are moved from `start` to `stop`, without loose ones."""
        if not self.holds_feet(curves, start, stop):
            return ()
        kept = [goal.point for goals in (self.pins, self.contacts, self.holds) for goal in goals]
        low, high = window_around(curves, start, stop, falloff)
        return tuple(pin for pin in pin_standing_feet(rig, curves, points, low, high, kept) if not self.is_loose(pin))

    def holds_feet(self, curves: Curves, start: float, stop: float) -> bool:
        """Whether feet that stand are held by edits from `start` to `stop`."""
        return holds_feet_by_default(curves, start, stop) if self.hold_feet is None else self.hold_feet

    def is_loose(self, pin: Pin) -> bool:
        """Whether a foot was let go during this stance."""
        low, high = (-np.inf if pin.start is None else pin.start), (np.inf if pin.stop is None else pin.stop)
        return any(joint == pin.point.joint and low <= time <= high for joint, time in self.loose_feet)


def span_of_change(curves: Curves, times: Sequence[float]) -> tuple[float, float]:
    """The time range that a change at some times affects: their segments, and the neighbours that stay smooth."""
    low, high = np.inf, -np.inf
    for curve in curves.curves:
        for time in times:
            k = int(np.searchsorted(curve.times, time, side="right")) - 1
            low = min(low, float(curve.times[max(k - 1, 0)]))
            high = max(high, float(curve.times[min(k + 2, len(curve) - 1)]))
    return low, high


def constraints_from_document(entry: EditEntry, origin: float) -> Constraints:
    """The goals of a document's entry; `origin` is the start of the clip on the file's clock, seconds."""
    return Constraints(
        tuple(pin_of(each, origin) for each in entry.pins),
        tuple(
            Contact(point_of(each.point), each.start + origin, each.stop + origin, True, each.orientation)
            for each in entry.contacts
        ),
        tuple(Hold(point_of(each.point), each.time + origin, True, each.orientation) for each in entry.holds),
        tuple(limit_of(each) for each in entry.limits),
        dict(entry.stiffness),
        entry.hold_feet,
        tuple((each.joint, each.time + origin) for each in entry.loose_feet),
    )


def pin_of(entry: PinEntry, origin: float) -> Pin:
    """A pin of the document as a goal."""
    start, stop = (None if each is None else each + origin for each in (entry.start, entry.stop))
    return Pin(point_of(entry.point), start, stop, entry.position, entry.orientation)


def limit_of(entry: LimitEntry) -> Limit:
    """A limit of the document as a goal; None is no bound."""
    low = -np.inf if entry.low is None else entry.low
    return Limit(entry.target, entry.column, low, np.inf if entry.high is None else entry.high)


def point_of(ref: PointRef) -> Point:
    """A point as the solver names it."""
    return Point(ref.joint, ref.offset, ref.vertex)


def accept_suggestion(entry: EditEntry, before: Edit, after: Edit, origin: float) -> EditEntry:
    """The entry after a suggestion was accepted: without the released constraints, with the widened limits."""
    pins = {pin_of(each, origin): each for each in entry.pins}
    gone_pins = {pins[goal] for goal in before.pins if goal not in after.pins and goal in pins}
    loose = tuple(
        LooseFoot(goal.point.joint, middle_of(goal) - origin)
        for goal in before.pins
        if goal not in after.pins and goal not in pins
    )
    own = constraints_from_document(entry, origin)
    gone_contacts = {goal for goal in before.contacts if goal not in after.contacts}
    gone_holds = {goal for goal in before.holds if goal not in after.holds}
    limits = tuple(
        LimitEntry(each.target, each.column, _finite_or_none(each.low), _finite_or_none(each.high))
        for each in after.limits
    )
    return replace(
        entry,
        pins=tuple(each for each in entry.pins if each not in gone_pins),
        contacts=tuple(each for each, goal in zip(entry.contacts, own.contacts) if goal not in gone_contacts),
        holds=tuple(each for each, goal in zip(entry.holds, own.holds) if goal not in gone_holds),
        limits=limits,
        loose_feet=(*entry.loose_feet, *loose),
    )


def middle_of(stance: Pin) -> float:
    """Seconds, the middle of a stance."""
    return ((stance.start or 0.0) + (stance.stop or 0.0)) / 2


def with_foot(entry: EditEntry, joint: str, stance: tuple[float, float], hold: bool) -> EditEntry:
    """The entry with the foot of a joint held or let go during a stance (seconds of the document)."""
    start, stop = stance
    others = tuple(each for each in entry.loose_feet if each.joint != joint or not start <= each.time <= stop)
    return replace(entry, loose_feet=others if hold else (*others, LooseFoot(joint, (start + stop) / 2)))


def without_constraint(entry: EditEntry, id: str) -> EditEntry:
    """The entry without a constraint."""
    kinds = ("pins", "contacts", "holds")
    if not any(each.id == id for kind in kinds for each in getattr(entry, kind)):
        raise InvalidInput("this constraint has been removed already")
    return replace(
        entry,
        pins=tuple(each for each in entry.pins if each.id != id),
        contacts=tuple(each for each in entry.contacts if each.id != id),
        holds=tuple(each for each in entry.holds if each.id != id),
    )


def with_constraint(entry: EditEntry, new: PinEntry | ContactEntry | HoldEntry) -> EditEntry:
    """The entry with a constraint, which replaces one with the same id."""
    if isinstance(new, PinEntry):
        return replace(entry, pins=_with_entry(entry.pins, new))
    if isinstance(new, ContactEntry):
        return replace(entry, contacts=_with_entry(entry.contacts, new))
    return replace(entry, holds=_with_entry(entry.holds, new))


def _with_entry(entries: tuple[E, ...], new: E) -> tuple[E, ...]:
    if any(each.id == new.id for each in entries):
        return tuple(new if each.id == new.id else each for each in entries)
    return (*entries, new)


def with_limit(entry: EditEntry, limit: LimitEntry) -> EditEntry:
    """The entry with a limit, which replaces that of the same column; a limit without bounds removes it."""
    others = tuple(each for each in entry.limits if (each.target, each.column) != (limit.target, limit.column))
    bounded = limit.low is not None or limit.high is not None
    return replace(entry, limits=(*others, limit) if bounded else others)


def _finite_or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def check_limit(curves: Curves, limit: LimitEntry, fit: bool) -> LimitEntry:
    """The limit if all keys of its column lie inside, else `InvalidInput`; with `fit` it is widened to include them."""
    column, (low, high) = next(iter(limits_of(curves.channels, [limit_of(limit)]).items()))
    owner = int(np.searchsorted(curves.channels.offsets, column, side="right") - 1)
    keys = curves.curves[owner].values[:, column - int(curves.channels.offsets[owner])]
    least, most = float(keys.min(initial=np.inf)), float(keys.max(initial=-np.inf))
    if fit:
        return replace(
            limit,
            low=None if limit.low is None else min(limit.low, least),
            high=None if limit.high is None else max(limit.high, most),
        )
    if least < low - LIMIT_TOLERANCE or most > high + LIMIT_TOLERANCE:
        name = curves.channels.names[column]
        raise InvalidInput(
            f"the limit excludes existing keys of {name} ({_format_limit(name, least)} to {_format_limit(name, most)});"
            " move those keys first, or widen the limit"
        )
    return limit


def _format_limit(name: str, value: float) -> str:
    return f"{np.degrees(value):.4g}°" if ".euler." in name else f"{value:.4g}"
