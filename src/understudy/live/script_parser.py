"""From TOML to a script. Every mistake becomes one sentence: the file, the place, what was found, what was expected.

rate = 24
[[do]]
command = "move"
pose = "happy"
seconds = 1.5
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING, fields
from types import MappingProxyType
from typing import Any

from understudy.errors import InvalidInput
from understudy.live.commands import CAMERA, FORWARD, KINDS, Command
from understudy.live.script_steps import LONGEST, RATE, OneOf, Place, Script, Step, Variant
from understudy.tables import Reader, all_of, is_number, loads, nearest, shown

ONE_OF = "one_of"
LARGEST = 1 << 20  # bytes of a script: a hundred times the longest that a person would write
MOST_STEPS = 10_000

TOP = ("rate", "seconds", "label", "pose", "do", "set", "points")
# What a command calls a field in a script where that is not the field's own name. `at` is a time everywhere.
SPOKEN = {"look": {"target": "at"}}
# A single thing where the command takes several.
SINGLE = {"idle": {"pose": "poses"}}


def parse(text: str, path: str = "script") -> Script:
    """The script that a text describes; `path` is named in errors."""
    return _Reader(path).script(loads(text, path, LARGEST))


class _Reader(Reader):
    """One file being read: it knows the file's name for errors and the points that looks may name."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.points: dict[str, Place] = {}

    def script(self, table: dict[str, Any]) -> Script:
        self.keys(table, TOP, "", "a script")
        rate = self.number(table.get("rate", RATE), "rate", "", 1.0, 1000.0)
        seconds = self.number(table["seconds"], "seconds", "", 1e-6, LONGEST) if "seconds" in table else None
        self.points = self._points(table.get("points", {}))
        sets = self._sets(table.get("set", {}))
        steps = self._steps(table.get("do", []), "do", sets)
        if not steps:
            self.fail('should tell the character what to do, in tables [[do]] with a `command` such as "idle"')
        names = [self.name(table.get(key), key, "") for key in ("label", "pose")]
        self._check_ends(steps, seconds, "")
        how = MappingProxyType(sets), MappingProxyType(self.points)
        return Script(self.path, steps, rate, names[0], names[1], seconds, *how)

    def _points(self, table: Any) -> dict[str, Place]:
        if not isinstance(table, dict):
            self.fail(f"points should be a table of places, as in `ball = [0, 1, 2]`, but is {_kind(table)}", "points")
        for name in (CAMERA, FORWARD):
            if name in table:
                self.fail(f"{name!r} is a place that every character knows; a point needs another name", "points")
        return {name: self.place(value, name, "points") for name, value in table.items()}

    def _sets(self, table: Any) -> dict[str, tuple[Variant, ...]]:
        if not isinstance(table, dict):
            self.fail(f"set should be a table of sets, as in [[set.greeting]], but is {_kind(table)}", "set")
        return {name: self._variants(name, value) for name, value in table.items()}

    def _variants(self, name: str, entries: Any) -> tuple[Variant, ...]:
        here = f"set {name}"
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            self.fail(f"a set should be a list of tables [[set.{name}]], but is {_kind(entries)}", here)
        found = []
        for number, entry in enumerate(entries, 1):
            place = f"{here} {number}"
            self.keys(entry, ("do", "weight"), place, "a list of a set")
            steps = self._steps(entry.get("do", []), f"{place}, do", None)
            if not steps:
                self.fail(f"should hold commands, in tables [[set.{name}.do]]", place)
            self._check_ends(steps, None, place)
            found.append(Variant(steps, self.number(entry.get("weight", 1.0), "weight", place, 1e-9, 1e9)))
        return tuple(found)

    def _steps(self, entries: Any, here: str, sets: Collection[str] | None) -> tuple[Step, ...]:
        """The steps of a list; `sets` are those that may be called, None inside of one."""
        if not isinstance(entries, list):
            self.fail(f"should be a list of tables [[do]], but is {_kind(entries)}", here)
        if len(entries) > MOST_STEPS:
            self.fail(f"should have at most {MOST_STEPS:,} steps, but has {len(entries):,}", here)
        steps, last = [], 0.0
        for number, entry in enumerate(entries, 1):
            step = self._step(entry, f"{here} {number}", sets)
            if step.at is not None:
                if step.at < last:
                    self.fail(
                        f"at should not be before the {last:g} s of an earlier step, but is {step.at:g}", step.place
                    )
                last = step.at
            steps.append(step)
        return tuple(steps)

    def _step(self, entry: Any, place: str, sets: Collection[str] | None) -> Step:
        if not isinstance(entry, dict):
            self.fail(f"should be a table with a `command`, but is {_kind(entry)}", place)
        words = (*KINDS, ONE_OF) if sets is not None else tuple(KINDS)
        word = entry.get("command")
        if word is None:
            self.fail(f"has no command; expected one of {all_of(words)}", place)
        if word == ONE_OF and sets is None:
            self.fail("a list of a set cannot call another set", place)
        if word not in words:
            self.fail(f"there is no command {word!r}{nearest(word, words)}; commands are {all_of(words)}", place)
        at = entry.get("at")
        if word == "look" and at is not None and not is_number(at):
            self.fail(f"at should be a time in seconds, but is {at!r}; where to look is said by `target`", place)
        if at is not None:
            at = self.number(at, "at", place, 0.0, LONGEST)
        rest = {key: value for key, value in entry.items() if key not in ("command", "at")}
        if word == ONE_OF:
            return Step(place, self._one_of(rest, place, sets or ()), at)
        return Step(place, self._command(word, rest, place), at)

    def _one_of(self, entry: dict[str, Any], place: str, sets: Collection[str]) -> OneOf:
        self.keys(entry, ("set",), place, ONE_OF, also=("command", "at"))
        name = self.name(entry.get("set"), "set", place)
        if name is None or name not in sets:
            known = f"; sets here are {all_of(sets)}" if sets else "; there are none in this file"
            self.fail(f"there is no set {name!r}{nearest(name, sets)}{known}", place)
        return OneOf(name)

    def _command(self, word: str, entry: dict[str, Any], place: str) -> Command:
        kind = KINDS[word]
        spoken, single = SPOKEN.get(word, {}), SINGLE.get(word, {})
        named = [each.name for each in fields(kind) if each.name not in spoken.values()]
        self.keys(entry, (*named, *spoken, *single), place, word, also=("command", "at"))
        for one, several in single.items():
            if one in entry and several in entry:
                self.fail(f"{one} and {several} mean the same here; give one of them", place)
        values = {spoken.get(key, single.get(key, key)): value for key, value in entry.items()}
        needed = [each.name for each in fields(kind) if each.default is MISSING]
        for key in needed:
            if key not in values:
                said = next((out for out, own in spoken.items() if own == key), key)
                self.fail(f"{word} needs `{said}`", place)
        if word == "look" and isinstance(values["at"], str) and values["at"] not in (CAMERA, FORWARD):
            values["at"] = self._point(values["at"], place)
        if values.get("seconds") is not None:
            values["seconds"] = self.number(values["seconds"], "seconds", place, 0.0, LONGEST)
        try:
            return kind(**values)
        except InvalidInput as error:
            reason = str(error)
            for out, own in spoken.items():
                reason = f"{out}{reason.removeprefix(own)}" if reason.startswith(f"{own} ") else reason
            self.fail(f"{word}: {reason}", place)

    def _point(self, name: str, place: str) -> Place:
        if name not in self.points:
            known = (CAMERA, FORWARD, *self.points)
            hint = "" if self.points else ", or a name given in [points]"
            self.fail(
                f"there is no point {name!r} to look at{nearest(name, known)}; known are {all_of(known)}{hint}", place
            )
        return self.points[name]

    def _check_ends(self, steps: tuple[Step, ...], seconds: float | None, place: str) -> None:
        """A step that goes on until told otherwise must be told: by the next step's time, or by the script's end."""
        for step, following in zip(steps, (*steps[1:], None)):
            word = "" if isinstance(step.action, OneOf) else step.action.word
            if word not in ("idle", "mix") or getattr(step.action, "seconds", 1.0) is not None:
                continue
            ended = seconds is not None if following is None else following.at is not None
            if not ended:
                wanted = "the script" if following is None and not place else "the step after it"
                key = "seconds" if following is None and not place else "at"
                also = f", or {wanted} a time `{key}`" if following is not None or not place else ""
                self.fail(f"{word} goes on until it is told otherwise; it needs `seconds`{also}", step.place)

    def name(self, value: Any, key: str, place: str) -> str | None:
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.fail(f"{key} should be a name, but is {shown(value)}", place)
        return value

    def place(self, value: Any, name: str, place: str) -> Place:
        x, y, z = self.numbers(value, name, place, 3, "a place [x, y, z] in metres")
        return x, y, z


def _kind(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an empty list" if value == [] else "a table" if isinstance(value, dict) else "a list of something else"
    return shown(value)
