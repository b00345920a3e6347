"""From the text of EDITS.toml to an `EditList`: its steps, and the goals within them.

    clip = "Walk"
    [[edit]]
    point = "LeftHand"
    time = 0.4
    by = [0, 0.1, 0]
    pins = ["Hips", {point = "LeftFoot", orientation = false}]

`GoalReader` reads points, moves, pins, contacts, holds, limits, arcs and flights out of tables, `_Parser` the file as a
whole and each kind of step. Every mistake is a `BadFile` with its place in the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from understudy.edit.edit_list_steps import (
    STEP_KINDS,
    TANGENT_METHODS,
    Action,
    EditList,
    EditListStep,
    EditStep,
    KeyStep,
    PoseStep,
    Preparation,
    ReduceStep,
    SketchStep,
    TangentStep,
    TimingStep,
)
from understudy.edit.goals import EDGES, Contact, Edit, Hold, Limit, MovePoint, Pin, Point, Triple
from understudy.edit.solver.objective_terms import Arc, Flight
from understudy.edit.solver.suggestions import SUGGESTION_KINDS
from understudy.errors import InvalidInput
from understudy.schema import TableReader, format_value, join_words, parse_toml

MAX_EDIT_LIST_CHARS = 1 << 22  # sketches contain strokes of hundreds of points
MAX_EDIT_STEPS = 10_000
MIN_FALLOFF_S, MAX_FALLOFF_S = 0.02, 60.0  # seconds: a frame of a fast capture, and a whole clip

GOAL_KEYS = ("point", "time", "to", "by", "turn_to", "turn_by_degrees")
CONSTRAINT_KEYS = ("pins", "contacts", "holds", "limits", "stiffness")
SHARED_KEYS = (*CONSTRAINT_KEYS, "start", "stop", "edges", "falloff", "weight", "hold_feet")
POINT_KEYS = ("joint", "offset", "vertex")
TOP_LEVEL_KEYS = ("clip", "character", "name", "keys", "tangents", "reduce", "euler", "edit")
# The keys of each kind of edit, besides `kind` and `name`.
STEP_KEYS = {
    "move": (*GOAL_KEYS, "moves", *SHARED_KEYS, "arcs", "flights", "accept"),
    "pose": (*GOAL_KEYS, "moves", "pins", "limits", "stiffness", "set", "insert"),
    "timing": ("time", "factor", "targets", "point", *CONSTRAINT_KEYS, "edges", "hold_feet"),
    "key": ("time", "targets", "remove", "to_time"),
    "tangents": ("method", "targets", "start", "stop"),
    "sketch": ("point", "stroke", *SHARED_KEYS),
}
PLACE_TEXT = "a place [x, y, z] in metres"  # for messages
STROKE_POINTS_TEXT = "places [x, y, z], or all of them [time, x, y, z]"

T = TypeVar("T")


def parse_edit_list(text: str, path: str = "edits") -> EditList:
    """The edits that a text describes; `path` is named in errors."""
    return _Parser(path).edits(parse_toml(text, path, MAX_EDIT_LIST_CHARS))


class GoalReader(TableReader):
    """Reads goals out of tables; what the data classes refuse is reported with its place in the file."""

    def time(self, entry: Mapping[str, Any], place: str) -> float:
        """`time`, which is required."""
        if "time" not in entry:
            self.fail("has no `time` (seconds)", place)
        return self.number(entry["time"], "time", place)

    def span(self, entry: Mapping[str, Any], place: str) -> tuple[float | None, float | None]:
        """`start` and `stop`, None where they are not given."""
        start, stop = (self.number(entry[key], key, place) if key in entry else None for key in ("start", "stop"))
        if start is not None and stop is not None and not start < stop:
            self.fail(f"stop should come after start, but {stop:g} s does not come after {start:g} s", place)
        return start, stop

    def targets(self, entry: Mapping[str, Any], place: str) -> tuple[str, ...] | None:
        """`targets`, one or several names of joints or parts; None for all."""
        if "targets" not in entry:
            return None
        names = self.entries(entry["targets"], "targets", place)
        return tuple(self.word(name, f"targets[{i}]", place) for i, name in enumerate(names))

    def point(self, value: Any, place: str) -> Point:
        """A joint's name, {joint, offset} or {vertex}."""
        if isinstance(value, str):
            return self.construct(lambda: Point(self.word(value, "point", place)), place)
        if not isinstance(value, dict):
            self.fail(
                f"point should be a joint's name, {{joint, offset}} or {{vertex}}, but is {format_value(value)}", place
            )
        self.keys(value, POINT_KEYS, place, "a point")
        if "vertex" in value:
            number = value["vertex"]
            if len(value) > 1 or not isinstance(number, int) or isinstance(number, bool) or number < 0:
                self.fail(f"a point {{vertex}} should hold a whole number alone, but is {value}", place)
            return Point(vertex=number)
        offset = self._place(value.get("offset", [0, 0, 0]), "offset", place)
        return self.construct(lambda: Point(self.word(value.get("joint"), "joint", place), offset), place)

    def _place(self, value: Any, name: str, place: str) -> Triple:
        x, y, z = self.numbers(value, name, place, 3, PLACE_TEXT)
        return x, y, z

    def moves(
        self, entry: dict[str, Any], place: str, time: float | None
    ) -> tuple[tuple[MovePoint, ...], dict[int, Triple]]:
        """The moves of an edit, from its own keys or from a list `moves`; `time` is that of all of them if given.

        Also returns the rotation vectors of those that turn by an angle, by number of the move.
        """
        single = {key: entry[key] for key in GOAL_KEYS if key in entry and not (key == "time" and time is not None)}
        given = entry.get("moves", [])
        if not isinstance(given, list):
            self.fail(f"moves should be a list of tables, but is {format_value(given)}", place)
        listed = [(table, f"{place}, moves {i}") for i, table in enumerate(given, 1)]
        if single and listed:
            self.fail(f"say one move by {join_words(single)}, or several in `moves`, but not both", place)
        known = GOAL_KEYS if time is None else tuple(key for key in GOAL_KEYS if key != "time")
        moves, turns = [], {}
        for table, where in [(single, place)] if single else listed:
            self.keys(self.table(table, "a move", where), known, where, "a move")
            move, turn = self._goal(table, where, time)
            moves.append(move)
            if turn is not None:
                turns[len(moves) - 1] = turn
        return tuple(moves), turns

    def _goal(self, table: dict[str, Any], place: str, time: float | None) -> tuple[MovePoint, Triple | None]:
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
        return self.construct(lambda: MovePoint(point, when, to, by, turn_to), place), turn

    def constraints(self, entry: dict[str, Any], place: str) -> dict[str, Any]:
        """The constraints, and the other arguments that edits and sketches share."""
        start, stop = self.span(entry, place)
        stiffness = self.table(entry.get("stiffness", {}), "stiffness", place)
        edges = {"edges": self.word(entry["edges"], "edges", place, EDGES)} if "edges" in entry else {}
        falloff = {}
        if "falloff" in entry:
            falloff["falloff"] = self.number(entry["falloff"], "falloff", place, MIN_FALLOFF_S, MAX_FALLOFF_S)
        return {
            "pins": self._read_entries(entry, "pins", place, self._pin),
            "contacts": self._read_entries(entry, "contacts", place, self._contact),
            "holds": self._read_entries(entry, "holds", place, self._hold),
            "limits": self._read_entries(entry, "limits", place, self._limit),
            "stiffness": {
                key: self.number(value, f"stiffness of {key!r}", place, 0.0) for key, value in stiffness.items()
            },
            "start": start,
            "stop": stop,
            **edges,
            **falloff,
        }

    def layer(self, entry: dict[str, Any], place: str) -> dict[str, Any]:
        """`weight` and `hold_feet`, where they are given."""
        given: dict[str, Any] = {}
        if "weight" in entry:
            given["weight"] = self.number(entry["weight"], "weight", place, 0.0, 1.0)
        if "hold_feet" in entry:
            given["hold_feet"] = self.flag(entry["hold_feet"], "hold_feet", place)
        return given

    def _read_entries(
        self, entry: dict[str, Any], key: str, place: str, make: Callable[[Any, str], T]
    ) -> tuple[T, ...]:
        goals = []
        for number, value in enumerate(self.entries(entry.get(key, []), key, place), 1):
            where = f"{place}, {key} {number}"
            goals.append(self.construct(partial(make, value, where), where))
        return tuple(goals)

    def _pin(self, value: Any, place: str) -> Pin:
        table = self._constraint_table(value, place, ("start", "stop"), "a pin")
        return Pin(self.point(table["point"], place), *self.span(table, place), **self._read_parts(table, place))

    def _contact(self, value: Any, place: str) -> Contact:
        table = self._constraint_table(value, place, ("start", "stop"), "a contact")
        start, stop = self.span(table, place)
        if start is None or stop is None:
            self.fail("a contact needs `start` and `stop` (seconds)", place)
        return Contact(self.point(table["point"], place), start, stop, **self._read_parts(table, place))

    def _hold(self, value: Any, place: str) -> Hold:
        table = self._constraint_table(value, place, ("time",), "a hold")
        return Hold(self.point(table["point"], place), self.time(table, place), **self._read_parts(table, place))

    def _constraint_table(self, value: Any, place: str, more: tuple[str, ...], what: str) -> dict[str, Any]:
        """The table of a constraint; a point alone may stand for it, or the keys of the point beside the others."""
        table = {"point": value} if isinstance(value, str) else self.table(value, what, place)
        point = {key: table[key] for key in POINT_KEYS if key in table}
        if point and "point" not in table:
            table = {"point": point, **{key: value for key, value in table.items() if key not in POINT_KEYS}}
        self.keys(table, ("point", *more, "position", "orientation"), place, what)
        if "point" not in table:
            self.fail(f"{what} needs a `point`, such as a joint's name", place)
        return table

    def _read_parts(self, table: dict[str, Any], place: str) -> dict[str, bool]:
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

    def terms(self, entry: dict[str, Any], place: str) -> tuple[Arc | Flight, ...]:
        """`arcs` and `flights`, the soft terms of an edit."""
        return (
            *self._read_entries(entry, "arcs", place, self._arc),
            *self._read_entries(entry, "flights", place, self._flight),
        )

    def _arc(self, value: Any, place: str) -> Arc:
        table = self.table(value, "an arc", place)
        self.keys(table, ("point", "start", "stop", "weight"), place, "an arc")
        if "point" not in table:
            self.fail("an arc needs a `point`, such as a joint's name", place)
        return Arc(self.point(table["point"], place), *self._span_and_weight(table, place, "an arc"))

    def _flight(self, value: Any, place: str) -> Flight:
        table = self.table(value, "a flight", place)
        self.keys(table, ("point", "start", "stop", "weight", "gravity"), place, "a flight")
        point = self.point(table["point"], place) if "point" in table else None
        how = self._span_and_weight(table, place, "a flight")
        if "gravity" not in table:
            return Flight(point, *how)
        return Flight(point, *how, self._place(table["gravity"], "gravity", place))

    def _span_and_weight(self, table: dict[str, Any], place: str, what: str) -> tuple[float, float, float]:
        start, stop = self.span(table, place)
        if start is None or stop is None:
            self.fail(f"{what} needs `start` and `stop` (seconds)", place)
        return start, stop, self.number(table.get("weight", 1.0), "weight", place, 0.0)

    def construct(self, make: Callable[[], T], place: str) -> T:
        """The data class that `make` builds; what it refuses is reported with the place in the file."""
        try:
            return make()
        except InvalidInput as error:
            self.fail(str(error), place)


class _Parser(GoalReader):
    """Reads a whole file."""

    def edits(self, table: dict[str, Any]) -> EditList:
        self.keys(table, TOP_LEVEL_KEYS, "", "a list of edits")
        clip, character, name = (
            self.word(table[key], key, "") if key in table else None for key in ("clip", "character", "name")
        )
        entries = table.get("edit", [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.fail(f"edits should be tables [[edit]], but `edit` is {format_value(entries)}", "edit")
        if len(entries) > MAX_EDIT_STEPS:
            self.fail(f"should have at most {MAX_EDIT_STEPS:,} edits, but has {len(entries):,}", "edit")
        preparation = self._preparation(table)
        if not entries and preparation == Preparation():
            self.fail("should say what to edit, in tables [[edit]] with a `point`, a `time` and where it goes")
        steps = tuple(self._step(entry, f"edit {number}") for number, entry in enumerate(entries, 1))
        return EditList(self.path, steps, clip, character, name, preparation)

    def _preparation(self, table: dict[str, Any]) -> Preparation:
        keys: tuple[float, ...] = ()
        if "keys" in table:
            given = self.entries(table["keys"], "keys", "keys")
            keys = tuple(self.number(time, f"keys[{i}]", "keys") for i, time in enumerate(given))
            if len(keys) < 2:
                self.fail(f"keys should be at least two times in seconds, but is {format_value(table['keys'])}", "keys")
            for one, other in pairwise(keys):
                if not one < other:
                    self.fail(f"keys should increase, but {other:g} s follows {one:g} s", "keys")
        if keys and "reduce" in table:
            self.fail("keys and reduce both say how keys are made; give one of them", "reduce")
        if "tangents" in table and not keys:
            self.fail("tangents are those between `keys`, of which there are none", "tangents")
        method = self.word(table.get("tangents", "smooth"), "tangents", "tangents", TANGENT_METHODS)
        return Preparation(keys, method, self._reduction(table), self._orders(table.get("euler", {})))

    def _reduction(self, table: dict[str, Any]) -> ReduceStep | None:
        if "reduce" not in table:
            return None
        settings = self.table(table["reduce"], "reduce", "reduce")
        self.keys(settings, ("tolerance_mm", "angle_degrees", "keys"), "reduce", "reduce")
        if "tolerance_mm" not in settings:
            self.fail("reduce needs `tolerance_mm`, as in {tolerance_mm = 2}", "reduce")
        tolerance = 1e-3 * self.number(settings["tolerance_mm"], "tolerance_mm", "reduce", 1e-6, 1e6)
        angle = settings.get("angle_degrees")
        if angle is not None:
            angle = math.radians(self.number(angle, "angle_degrees", "reduce", 1e-6, 180.0))
        keys = self.word(settings.get("keys", "poses"), "keys", "reduce", ("poses", "fewest", "shared", "free"))
        return ReduceStep(tolerance, angle, keys)

    def _orders(self, value: Any) -> dict[str, str]:
        table = {"": value} if isinstance(value, str) else self.table(value, "euler", "euler")
        for joint, order in table.items():
            if not isinstance(order, str) or sorted(order.upper()) != ["X", "Y", "Z"]:
                where = f" of {joint!r}" if joint else ""
                self.fail(f'the order{where} should be one such as "XYZ", but is {format_value(order)}', "euler")
        return {joint: order.upper() for joint, order in table.items()}

    def _step(self, entry: dict[str, Any], place: str) -> EditListStep:
        kind = self.word(entry.get("kind", "move"), "kind", place, STEP_KINDS)
        self.keys(entry, ("kind", "name", *STEP_KEYS[kind]), place, f"an edit of kind {kind!r}")
        name = self.word(entry["name"], "name", place) if "name" in entry else ""
        make: dict[str, Callable[[dict[str, Any], str], Action]] = {
            "move": self._move,
            "pose": self._pose,
            "timing": self._timing,
            "key": self._key,
            "tangents": self._tangents,
            "sketch": self._sketch,
        }
        return EditListStep(place, make[kind](entry, place), name)

    def _move(self, entry: dict[str, Any], place: str) -> EditStep:
        moves, turns = self.moves(entry, place, None)
        around = self.constraints(entry, place) | {"terms": self.terms(entry, place)}
        given = self.entries(entry.get("accept", []), "accept", place)
        accept = tuple(self.word(kind, f"accept[{i}]", place, SUGGESTION_KINDS) for i, kind in enumerate(given))
        edit = self.construct(lambda: Edit(moves, **around), place)
        return EditStep(edit, turns, accept, **self.layer(entry, place))

    def _pose(self, entry: dict[str, Any], place: str) -> PoseStep:
        time = self.time(entry, place)
        moves, turns = self.moves(entry, place, time)
        values = self.table(entry.get("set", {}), "set", place)
        values = {column: self.number(value, f"set of {column!r}", place) for column, value in values.items()}
        if not moves and not values:
            self.fail("a pose needs points to drag (`point` with `to`, `by` or a turn) or columns to `set`", place)
        around = {key: value for key, value in self.constraints(entry, place).items() if key in STEP_KEYS["pose"]}
        insert = self.flag(entry.get("insert", False), "insert", place)
        return PoseStep(time, moves, turns, values=values, insert=insert, **around)

    def _timing(self, entry: dict[str, Any], place: str) -> TimingStep:
        if "factor" not in entry:
            self.fail("timing needs a `factor`: above 1 is faster, below 1 slower", place)
        factor = self.number(entry["factor"], "factor", place, 1e-3, 1e3)
        time, targets = self.time(entry, place), self.targets(entry, place)
        edges = self.word(entry.get("edges", "smooth"), "edges", place, EDGES)
        if "point" not in entry:
            alone = [key for key in (*CONSTRAINT_KEYS, "hold_feet") if key in entry]
            if alone:
                self.fail(f"{join_words(alone)} need a `point` whose speed is asked for", place)
            return TimingStep(time, factor, targets, edges=edges)
        if targets is not None:
            self.fail("timing is that of a `point` or that of `targets`, but not both", place)
        around = {key: value for key, value in self.constraints(entry, place).items() if key in CONSTRAINT_KEYS}
        around |= self.layer(entry, place)
        return TimingStep(time, factor, None, self.point(entry["point"], place), edges=edges, **around)

    def _key(self, entry: dict[str, Any], place: str) -> KeyStep:
        remove = self.flag(entry.get("remove", False), "remove", place)
        to_time = self.number(entry["to_time"], "to_time", place) if "to_time" in entry else None
        if remove and to_time is not None:
            self.fail("a key is removed or moved (`to_time`), but not both", place)
        return KeyStep(self.time(entry, place), self.targets(entry, place), remove, to_time)

    def _tangents(self, entry: dict[str, Any], place: str) -> TangentStep:
        if "method" not in entry:
            self.fail(f"tangents need a `method`: {join_words(TANGENT_METHODS)}", place)
        method = self.word(entry["method"], "method", place, TANGENT_METHODS)
        return TangentStep(method, self.targets(entry, place), *self.span(entry, place))

    def _sketch(self, entry: dict[str, Any], place: str) -> SketchStep:
        for key in ("point", "stroke"):
            if key not in entry:
                self.fail(f"a sketch needs a `{key}`", place)
        stroke = entry["stroke"]
        if not isinstance(stroke, list) or len(stroke) < 2 or not all(isinstance(row, list) for row in stroke):
            self.fail(f"stroke should be at least two {STROKE_POINTS_TEXT}, but is {format_value(stroke)}", place)
        width = 4 if len(stroke[0]) == 4 else 3
        rows = [self.numbers(row, f"stroke[{i}]", place, width, STROKE_POINTS_TEXT) for i, row in enumerate(stroke)]
        times = tuple(row[0] for row in rows) if width == 4 else ()
        for one, other in pairwise(times):
            if not one < other:
                self.fail(f"times of the stroke should increase, but {other:g} s follows {one:g} s", place)
        around = self.constraints(entry, place) | self.layer(entry, place)
        if times and ("start" in entry or "stop" in entry):
            self.fail("a stroke with times begins and ends with them; `start` and `stop` are for one without", place)
        if not times and (around.get("start") is None or around.get("stop") is None):
            self.fail("a stroke without times needs `start` and `stop`", place)
        path = tuple((row[-3], row[-2], row[-1]) for row in rows)
        return SketchStep(self.point(entry["point"], place), path, times, **around)
