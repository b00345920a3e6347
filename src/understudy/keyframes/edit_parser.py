"""From TOML to a list of edits.

clip = "Walk"
[[edit]]
point = "LeftHand"
time = 0.4
by = [0, 0.1, 0]
pins = ["Hips", {point = "LeftFoot", orientation = false}]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from understudy.keyframes.edit_goals import AROUND, GOAL, HELD, GoalReader
from understudy.keyframes.edit_steps import (
    KINDS,
    METHODS,
    Action,
    Edits,
    Gesture,
    Key,
    Pose,
    Preparation,
    Reduction,
    Sketch,
    Step,
    Tangents,
    Timing,
)
from understudy.keyframes.goals import EDGES, Edit
from understudy.keyframes.offers import KINDS as OFFERS
from understudy.tables import all_of, loads, shown

LARGEST = 1 << 22  # characters: sketches hold strokes of hundreds of points
MOST_STEPS = 10_000

TOP = ("clip", "character", "name", "keys", "tangents", "reduce", "euler", "edit")
# The keys that each kind of edit knows, besides `kind` and `name`.
KNOWN = {
    "move": (*GOAL, "moves", *AROUND, "arcs", "flights", "accept"),
    "pose": (*GOAL, "moves", "pins", "limits", "stiffness", "set", "insert"),
    "timing": ("time", "factor", "targets", "point", *HELD, "edges"),
    "key": ("time", "targets", "remove", "to_time"),
    "tangents": ("method", "targets", "start", "stop"),
    "sketch": ("point", "stroke", *AROUND),
}
STAMPED = "places [x, y, z], or all of them [time, x, y, z]"


def parse(text: str, path: str = "edits") -> Edits:
    """The edits that a text describes; `path` is named in errors."""
    return _Parser(path).edits(loads(text, path, LARGEST))


class _Parser(GoalReader):
    def edits(self, table: dict[str, Any]) -> Edits:
        self.keys(table, TOP, "", "a list of edits")
        clip, character, name = (
            self.word(table[key], key, "") if key in table else None for key in ("clip", "character", "name")
        )
        entries = table.get("edit", [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.fail(f"edits should be tables [[edit]], but `edit` is {shown(entries)}", "edit")
        if len(entries) > MOST_STEPS:
            self.fail(f"should have at most {MOST_STEPS:,} edits, but has {len(entries):,}", "edit")
        prepared = self._preparation(table)
        if not entries and prepared == Preparation():
            self.fail("should say what to edit, in tables [[edit]] with a `point`, a `time` and where it goes")
        steps = tuple(self._step(entry, f"edit {number}") for number, entry in enumerate(entries, 1))
        return Edits(self.path, steps, clip, character, name, prepared)

    def _preparation(self, table: dict[str, Any]) -> Preparation:
        keys: tuple[float, ...] = ()
        if "keys" in table:
            given = self.entries(table["keys"], "keys", "keys")
            keys = tuple(self.number(time, f"keys[{i}]", "keys") for i, time in enumerate(given))
            if len(keys) < 2:
                self.fail(f"keys should be at least two times in seconds, but is {shown(table['keys'])}", "keys")
            for one, other in pairwise(keys):
                if not one < other:
                    self.fail(f"keys should increase, but {other:g} s follows {one:g} s", "keys")
        if keys and "reduce" in table:
            self.fail("keys and reduce both say how keys are made; give one of them", "reduce")
        if "tangents" in table and not keys:
            self.fail("tangents are those between `keys`, of which there are none", "tangents")
        method = self.word(table.get("tangents", "smooth"), "tangents", "tangents", METHODS)
        return Preparation(keys, method, self._reduction(table), self._orders(table.get("euler", {})))

    def _reduction(self, table: dict[str, Any]) -> Reduction | None:
        if "reduce" not in table:
            return None
        found = self.table(table["reduce"], "reduce", "reduce")
        self.keys(found, ("tolerance_mm", "angle_degrees", "keys"), "reduce", "reduce")
        if "tolerance_mm" not in found:
            self.fail("reduce needs `tolerance_mm`, as in {tolerance_mm = 2}", "reduce")
        tolerance = 1e-3 * self.number(found["tolerance_mm"], "tolerance_mm", "reduce", 1e-6, 1e6)
        angle = found.get("angle_degrees")
        if angle is not None:
            angle = math.radians(self.number(angle, "angle_degrees", "reduce", 1e-6, 180.0))
        return Reduction(tolerance, angle, self.word(found.get("keys", "free"), "keys", "reduce", ("free", "shared")))

    def _orders(self, value: Any) -> dict[str, str]:
        table = {"": value} if isinstance(value, str) else self.table(value, "euler", "euler")
        for joint, order in table.items():
            if not isinstance(order, str) or sorted(order.upper()) != ["X", "Y", "Z"]:
                where = f" of {joint!r}" if joint else ""
                self.fail(f'the order{where} should be one such as "XYZ", but is {shown(order)}', "euler")
        return {joint: order.upper() for joint, order in table.items()}

    def _step(self, entry: dict[str, Any], place: str) -> Step:
        kind = self.word(entry.get("kind", "move"), "kind", place, KINDS)
        self.keys(entry, ("kind", "name", *KNOWN[kind]), place, f"an edit of kind {kind!r}")
        name = self.word(entry["name"], "name", place) if "name" in entry else ""
        make: dict[str, Callable[[dict[str, Any], str], Action]] = {
            "move": self._move,
            "pose": self._pose,
            "timing": self._timing,
            "key": self._key,
            "tangents": self._tangents,
            "sketch": self._sketch,
        }
        return Step(place, make[kind](entry, place), name)

    def _move(self, entry: dict[str, Any], place: str) -> Gesture:
        moves, turns = self.moves(entry, place, None)
        around = self.around(entry, place) | {"wishes": self.wishes(entry, place)}
        given = self.entries(entry.get("accept", []), "accept", place)
        accept = tuple(self.word(kind, f"accept[{i}]", place, OFFERS) for i, kind in enumerate(given))
        return Gesture(self.made(lambda: Edit(moves, **around), place), turns, accept)

    def _pose(self, entry: dict[str, Any], place: str) -> Pose:
        time = self.time(entry, place)
        moves, turns = self.moves(entry, place, time)
        values = self.table(entry.get("set", {}), "set", place)
        values = {column: self.number(value, f"set of {column!r}", place) for column, value in values.items()}
        if not moves and not values:
            self.fail("a pose needs points to drag (`point` with `to`, `by` or a turn) or columns to `set`", place)
        around = {key: value for key, value in self.around(entry, place).items() if key in KNOWN["pose"]}
        insert = self.flag(entry.get("insert", False), "insert", place)
        return Pose(time, moves, turns, values=values, insert=insert, **around)

    def _timing(self, entry: dict[str, Any], place: str) -> Timing:
        if "factor" not in entry:
            self.fail("timing needs a `factor`: above 1 is faster, below 1 slower", place)
        factor = self.number(entry["factor"], "factor", place, 1e-3, 1e3)
        time, targets = self.time(entry, place), self.targets(entry, place)
        edges = self.word(entry.get("edges", "smooth"), "edges", place, EDGES)
        if "point" not in entry:
            alone = [key for key in HELD if key in entry]
            if alone:
                self.fail(f"{all_of(alone)} need a `point` whose speed is asked for", place)
            return Timing(time, factor, targets, edges=edges)
        if targets is not None:
            self.fail("timing is that of a `point` or that of `targets`, but not both", place)
        held = {key: value for key, value in self.around(entry, place).items() if key in HELD}
        return Timing(time, factor, None, self.point(entry["point"], place), edges=edges, **held)

    def _key(self, entry: dict[str, Any], place: str) -> Key:
        remove = self.flag(entry.get("remove", False), "remove", place)
        to_time = self.number(entry["to_time"], "to_time", place) if "to_time" in entry else None
        if remove and to_time is not None:
            self.fail("a key is removed or moved (`to_time`), but not both", place)
        return Key(self.time(entry, place), self.targets(entry, place), remove, to_time)

    def _tangents(self, entry: dict[str, Any], place: str) -> Tangents:
        if "method" not in entry:
            self.fail(f"tangents need a `method`: {all_of(METHODS)}", place)
        method = self.word(entry["method"], "method", place, METHODS)
        return Tangents(method, self.targets(entry, place), *self.span(entry, place))

    def _sketch(self, entry: dict[str, Any], place: str) -> Sketch:
        for key in ("point", "stroke"):
            if key not in entry:
                self.fail(f"a sketch needs a `{key}`", place)
        stroke = entry["stroke"]
        if not isinstance(stroke, list) or len(stroke) < 2 or not all(isinstance(row, list) for row in stroke):
            self.fail(f"stroke should be at least two {STAMPED}, but is {shown(stroke)}", place)
        width = 4 if len(stroke[0]) == 4 else 3
        rows = [self.numbers(row, f"stroke[{i}]", place, width, STAMPED) for i, row in enumerate(stroke)]
        times = tuple(row[0] for row in rows) if width == 4 else ()
        for one, other in pairwise(times):
            if not one < other:
                self.fail(f"times of the stroke should increase, but {other:g} s follows {one:g} s", place)
        around = self.around(entry, place)
        if times and ("start" in entry or "stop" in entry):
            self.fail("a stroke with times begins and ends with them; `start` and `stop` are for one without", place)
        if not times and (around.get("start") is None or around.get("stop") is None):
            self.fail("a stroke without times needs `start` and `stop`", place)
        path = tuple((row[-3], row[-2], row[-1]) for row in rows)
        return Sketch(self.point(entry["point"], place), path, times, **around)
