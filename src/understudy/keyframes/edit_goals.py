"""The goals within an edit of EDITS.toml: points, moves, pins, contacts, holds and limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from understudy.errors import InvalidInput
from understudy.keyframes.flight import Arc, Flight
from understudy.keyframes.goals import EDGES, Contact, Hold, Limit, Move, Pin, Point, Triple
from understudy.tables import Reader, all_of, shown

GOAL = ("point", "time", "to", "by", "turn_to", "turn_by_degrees")
HELD = ("pins", "contacts", "holds", "limits", "stiffness")
AROUND = (*HELD, "start", "stop", "edges")
POINT = ("joint", "offset", "vertex")
PLACE = "a place [x, y, z] in metres"
T = TypeVar("T")


class GoalReader(Reader):
    """Takes goals out of tables; what plain data refuses is told with its place in the file."""

    def time(self, entry: Mapping[str, Any], place: str) -> float:
        """`time`, which has to be there."""
        if "time" not in entry:
            self.fail("has no `time` (seconds)", place)
        return self.number(entry["time"], "time", place)

    def span(self, entry: Mapping[str, Any], place: str) -> tuple[float | None, float | None]:
        """`start` and `stop`, where they are said."""
        start, stop = (self.number(entry[key], key, place) if key in entry else None for key in ("start", "stop"))
        if start is not None and stop is not None and not start < stop:
            self.fail(f"stop should come after start, but {stop:g} s does not come after {start:g} s", place)
        return start, stop

    def targets(self, entry: Mapping[str, Any], place: str) -> tuple[str, ...] | None:
        """`targets`, one or several joints or parts; None for all."""
        if "targets" not in entry:
            return None
        names = self.entries(entry["targets"], "targets", place)
        return tuple(self.word(name, f"targets[{i}]", place) for i, name in enumerate(names))

    def point(self, value: Any, place: str) -> Point:
        """A joint's name, {joint, offset} or {vertex}."""
        if isinstance(value, str):
            return self.made(lambda: Point(self.word(value, "point", place)), place)
        if not isinstance(value, dict):
            self.fail(f"point should be a joint's name, {{joint, offset}} or {{vertex}}, but is {shown(value)}", place)
        self.keys(value, POINT, place, "a point")
        if "vertex" in value:
            number = value["vertex"]
            if len(value) > 1 or not isinstance(number, int) or isinstance(number, bool) or number < 0:
                self.fail(f"a point {{vertex}} should hold a whole number alone, but is {value}", place)
            return Point(vertex=number)
        offset = self._place(value.get("offset", [0, 0, 0]), "offset", place)
        return self.made(lambda: Point(self.word(value.get("joint"), "joint", place), offset), place)

    def _place(self, value: Any, name: str, place: str) -> Triple:
        x, y, z = self.numbers(value, name, place, 3, PLACE)
        return x, y, z

    def moves(
        self, entry: dict[str, Any], place: str, time: float | None
    ) -> tuple[tuple[Move, ...], dict[int, Triple]]:
        """The moves of an edit: of its own keys, or of a list `moves`. `time` is that of all of them where given."""
        own = {key: entry[key] for key in GOAL if key in entry and not (key == "time" and time is not None)}
        given = entry.get("moves", [])
        if not isinstance(given, list):
            self.fail(f"moves should be a list of tables, but is {shown(given)}", place)
        listed = [(found, f"{place}, moves {i}") for i, found in enumerate(given, 1)]
        if own and listed:
            self.fail(f"say one move by {all_of(own)}, or several in `moves`, but not both", place)
        known = GOAL if time is None else tuple(key for key in GOAL if key != "time")
        moves, turns = [], {}
        for table, where in [(own, place)] if own else listed:
            self.keys(self.table(table, "a move", where), known, where, "a move")
            move, turn = self._goal(table, where, time)
            moves.append(move)
            if turn is not None:
                turns[len(moves) - 1] = turn
        return tuple(moves), turns

    def _goal(self, table: dict[str, Any], place: str, time: float | None) -> tuple[Move, Triple | None]:
        if "point" not in table:
            self.fail("has no `point` to move, such as a joint's name", place)
        point = self.point(table["point"], place)
        when = self.time(table, place) if time is None else time
        to, by = (self._place(table[key], key, place) if key in table else None for key in ("to", "by"))
        turn_to, turn = None, None
        if "turn_to" in table:
            x, y, z, w = self.numbers(table["turn_to"], "turn_to", place, 4, "a quaternion [x, y, z, w]")
            turn_to = (x, y, z, w)
        if "turn_by_degrees" in table:
            if turn_to is not None:
                self.fail("turn_to and turn_by_degrees both say a turn; give one of them", place)
            what = "a turn [x, y, z] in degrees about the world's axes"
            x, y, z = np.radians(self.numbers(table["turn_by_degrees"], "turn_by_degrees", place, 3, what)).tolist()
            turn_to, turn = (0.0, 0.0, 0.0, 1.0), (x, y, z)
        return self.made(lambda: Move(point, when, to, by, turn_to), place), turn

    def around(self, entry: dict[str, Any], place: str) -> dict[str, Any]:
        """What must not move, and how: the arguments that edits and sketches share."""
        start, stop = self.span(entry, place)
        stiffness = self.table(entry.get("stiffness", {}), "stiffness", place)
        edges = {"edges": self.word(entry["edges"], "edges", place, EDGES)} if "edges" in entry else {}
        return {
            "pins": self._each(entry, "pins", place, self._pin),
            "contacts": self._each(entry, "contacts", place, self._contact),
            "holds": self._each(entry, "holds", place, self._hold),
            "limits": self._each(entry, "limits", place, self._limit),
            "stiffness": {
                key: self.number(value, f"stiffness of {key!r}", place, 0.0) for key, value in stiffness.items()
            },
            "start": start,
            "stop": stop,
            **edges,
        }

    def _each(self, entry: dict[str, Any], key: str, place: str, make: Callable[[Any, str], T]) -> tuple[T, ...]:
        found = []
        for number, value in enumerate(self.entries(entry.get(key, []), key, place), 1):
            where = f"{place}, {key} {number}"
            found.append(self.made(partial(make, value, where), where))
        return tuple(found)

    def _pin(self, value: Any, place: str) -> Pin:
        table = self._keeping(value, place, ("start", "stop"), "a pin")
        return Pin(self.point(table["point"], place), *self.span(table, place), **self._kept(table, place))

    def _contact(self, value: Any, place: str) -> Contact:
        table = self._keeping(value, place, ("start", "stop"), "a contact")
        start, stop = self.span(table, place)
        if start is None or stop is None:
            self.fail("a contact needs `start` and `stop` (seconds)", place)
        return Contact(self.point(table["point"], place), start, stop, **self._kept(table, place))

    def _hold(self, value: Any, place: str) -> Hold:
        table = self._keeping(value, place, ("time",), "a hold")
        return Hold(self.point(table["point"], place), self.time(table, place), **self._kept(table, place))

    def _keeping(self, value: Any, place: str, more: tuple[str, ...], what: str) -> dict[str, Any]:
        """The table of a point that is kept; the point alone may stand for it, and its own keys beside the others."""
        table = {"point": value} if isinstance(value, str) else self.table(value, what, place)
        own = {key: table[key] for key in POINT if key in table}
        if own and "point" not in table:
            table = {"point": own, **{key: found for key, found in table.items() if key not in POINT}}
        self.keys(table, ("point", *more, "position", "orientation"), place, what)
        if "point" not in table:
            self.fail(f"{what} needs a `point`, such as a joint's name", place)
        return table

    def _kept(self, table: dict[str, Any], place: str) -> dict[str, bool]:
        return {key: self.flag(table[key], key, place) for key in ("position", "orientation") if key in table}

    def _limit(self, value: Any, place: str) -> Limit:
        table = self.table(value, "a limit", place)
        self.keys(table, ("target", "column", "low", "high", "low_degrees", "high_degrees"), place, "a limit")
        target, column = (self.word(table.get(key), key, place) for key in ("target", "column"))
        bounds: dict[str, float] = {}
        for side in ("low", "high"):
            if side in table and f"{side}_degrees" in table:
                self.fail(f"{side} and {side}_degrees both say a bound; give one of them", place)
            if side in table:
                bounds[side] = self.number(table[side], side, place)
            if f"{side}_degrees" in table:
                bounds[side] = math.radians(self.number(table[f"{side}_degrees"], f"{side}_degrees", place))
        if not bounds:
            self.fail("a limit needs `low`, `high` or both, or the same in degrees", place)
        return Limit(target, column, **bounds)

    def wishes(self, entry: dict[str, Any], place: str) -> tuple[Arc | Flight, ...]:
        """`arcs` and `flights`, the soft terms of an edit."""
        return (
            *self._each(entry, "arcs", place, self._arc),
            *self._each(entry, "flights", place, self._flight),
        )

    def _arc(self, value: Any, place: str) -> Arc:
        table = self.table(value, "an arc", place)
        self.keys(table, ("point", "start", "stop", "weight"), place, "an arc")
        if "point" not in table:
            self.fail("an arc needs a `point`, such as a joint's name", place)
        return Arc(self.point(table["point"], place), *self._stretch(table, place, "an arc"))

    def _flight(self, value: Any, place: str) -> Flight:
        table = self.table(value, "a flight", place)
        self.keys(table, ("point", "start", "stop", "weight", "gravity"), place, "a flight")
        point = self.point(table["point"], place) if "point" in table else None
        how = self._stretch(table, place, "a flight")
        if "gravity" not in table:
            return Flight(point, *how)
        return Flight(point, *how, self._place(table["gravity"], "gravity", place))

    def _stretch(self, table: dict[str, Any], place: str, what: str) -> tuple[float, float, float]:
        start, stop = self.span(table, place)
        if start is None or stop is None:
            self.fail(f"{what} needs `start` and `stop` (seconds)", place)
        return start, stop, self.number(table.get("weight", 1.0), "weight", place, 0.0)

    def made(self, make: Callable[[], T], place: str) -> T:
        """Plain data refuses what makes no sense; here it also says where in the file."""
        try:
            return make()
        except InvalidInput as error:
            self.fail(str(error), place)
