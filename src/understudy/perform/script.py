"""Scripts: what a character does and when, as a TOML text that a person writes [Bailey 2016, sections 5.3 and 6].

    rate = 24                       # frames a second
    label = "neutral"               # where it begins

    [[do]]
    command = "transition"          # move, idle, transition, play, mix, look
    label = "happy"
    seconds = 1.0

    [[do]]
    command = "idle"
    pose = "happy_laugh@1.25"       # a moment of a clip, or the name of a pose
    at = 3.0                        # interrupts the running command; without it, the step follows the one before
    seconds = 2.0
    liveliness = 1.2

    [[do]]
    command = "play"                # an act of the upper body, while the legs go on
    clip = "Wave"
    mask = "upper"                  # or names of joints; also: loop, speed, urgency

    [[do]]
    command = "one_of"              # a list out of a set, drawn at random
    set = "goodbye"

    [[set.goodbye]]
    do = [{command = "play", clip = "shake_gentle"}]

    [[set.goodbye]]
    do = [{command = "transition", label = "bored"}, {command = "idle", seconds = 2}]

`parse_script` reads it. `Script.check` compares it with a model before the first frame: each label, pose and clip that
it names exists, each moment lies in its clip. So a long performance does not fail in its last minute. `script_run.run`
performs it. Every mistake becomes one sentence: the file, the place, what was found, what was expected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from understudy.errors import BadFile, InvalidInput, spelling_hint
from understudy.perform.commands import CAMERA, COMMAND_KINDS, FORWARD, ClipTime, Command, PlayClip, clip_time
from understudy.schema import TableReader, format_value, is_number, join_words, parse_toml

if TYPE_CHECKING:
    from understudy.perform.model import PerformanceModel

TIME_TOLERANCE_SECONDS = 1e-3  # a moment read off a timeline is rounded: "2.417" for frame 58 at 24 a second
MAX_LISTED_NAMES = 12
DEFAULT_FRAME_RATE = 24.0  # frames a second: film's, and that of the built-in clips
MAX_SCRIPT_SECONDS = 3600.0  # of one performance; an hour of the dragon is half a gigabyte of rows
MAX_SCRIPT_BYTES = 1 << 20  # a hundred times the longest script that a person would write
MAX_STEPS = 10_000
ONE_OF = "one_of"  # the command that draws from a set
TOP_LEVEL_KEYS = ("rate", "seconds", "label", "pose", "do", "set", "points")
# Keys that differ from the command's field: `at` is a time in every step.
FIELD_KEYS = {"look": {"target": "at"}}
# Keys for a single value where the command takes several.
SINGULAR_KEYS = {"idle": {"pose": "poses"}}

Name = TypeVar("Name", bound=str | None)
Place = tuple[float, float, float]
"""x, y and z in the world, metres."""


@dataclass(frozen=True)
class OneOf:
    """Instead of a command: one list of steps out of a set, drawn at random [Bailey 2016, section 6]."""

    set: str


@dataclass(frozen=True)
class ScriptStep:
    """One entry of a script. `place` is its place in the file (`do 3`), `at` is in seconds of the performance.

    A step without a time starts when the one before it ends; a step with a time interrupts the running command. Inside
    a set `at` counts from the moment at which the set was called.
    """

    place: str
    action: Command | OneOf
    at: float | None = None


@dataclass(frozen=True)
class Variant:
    """One list of a set; a list of weight 2 is drawn twice as often as one of weight 1."""

    steps: tuple[ScriptStep, ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Script:
    """The steps of a performance. `label` and `pose` say where it begins (None: the model's own choice).

    `seconds` is the length of the whole, None where it ends with its last step. `points` are the named points that its
    looks may use; the looks themselves hold the coordinates.
    """

    path: str
    steps: tuple[ScriptStep, ...]
    rate: float = DEFAULT_FRAME_RATE
    label: str | None = None
    pose: str | None = None
    seconds: float | None = None
    sets: Mapping[str, tuple[Variant, ...]] = field(default_factory=lambda: MappingProxyType({}))
    points: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}))

    def check(self, model: PerformanceModel | ModelVocabulary) -> Script:
        """The script with every name as the model writes it; `BadFile` for the first name that the model lacks.

        `Walk` finds the clip `Armature|Walk` where only one clip ends so.
        """
        return check_script(self, model)

    def with_steps(self, steps: tuple[ScriptStep, ...], sets: Mapping[str, tuple[Variant, ...]]) -> Script:
        """The same script with other steps."""
        return replace(self, steps=steps, sets=MappingProxyType(dict(sets)))


def parse_script(text: str, path: str = "script") -> Script:
    """The script that a text describes; `path` is named in errors."""
    return _ScriptReader(path).script(parse_toml(text, path, MAX_SCRIPT_BYTES))


class _ScriptReader(TableReader):
    """One file being read, with its path for errors and the points that looks may name."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.points: dict[str, Place] = {}

    def script(self, table: dict[str, Any]) -> Script:
        self.keys(table, TOP_LEVEL_KEYS, "", "a script")
        rate = self.number(table.get("rate", DEFAULT_FRAME_RATE), "rate", "", 1.0, 1000.0)
        seconds = self.number(table["seconds"], "seconds", "", 1e-6, MAX_SCRIPT_SECONDS) if "seconds" in table else None
        self.points = self._points(table.get("points", {}))
        sets = self._sets(table.get("set", {}))
        steps = self._steps(table.get("do", []), "do", sets)
        if not steps:
            self.fail('should have at least one step, a table [[do]] with a `command` such as "idle"')
        names = [self.name(table.get(key), key, "") for key in ("label", "pose")]
        self._check_ends(steps, seconds, "")
        tables = MappingProxyType(sets), MappingProxyType(self.points)
        return Script(self.path, steps, rate, names[0], names[1], seconds, *tables)

    def _points(self, table: Any) -> dict[str, Place]:
        if not isinstance(table, dict):
            self.fail(f"points should be a table of places, as in `ball = [0, 1, 2]`, but is {_kind(table)}", "points")
        for name in (CAMERA, FORWARD):
            if name in table:
                self.fail(f"{name!r} is the name of a built-in point; give this one another name", "points")
        return {name: self.place(value, name, "points") for name, value in table.items()}

    def _sets(self, table: Any) -> dict[str, tuple[Variant, ...]]:
        if not isinstance(table, dict):
            self.fail(f"set should be a table of sets, as in [[set.greeting]], but is {_kind(table)}", "set")
        return {name: self._variants(name, value) for name, value in table.items()}

    def _variants(self, name: str, entries: Any) -> tuple[Variant, ...]:
        place_of_set = f"set {name}"
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            self.fail(f"a set should be a list of tables [[set.{name}]], but is {_kind(entries)}", place_of_set)
        variants = []
        for number, entry in enumerate(entries, 1):
            place = f"{place_of_set} {number}"
            self.keys(entry, ("do", "weight"), place, "a list of a set")
            steps = self._steps(entry.get("do", []), f"{place}, do", None)
            if not steps:
                self.fail(f"should hold commands, in tables [[set.{name}.do]]", place)
            self._check_ends(steps, None, place)
            variants.append(Variant(steps, self.number(entry.get("weight", 1.0), "weight", place, 1e-9, 1e9)))
        return tuple(variants)

    def _steps(self, entries: Any, list_place: str, sets: Collection[str] | None) -> tuple[ScriptStep, ...]:
        """The steps of a list; `sets` are those that may be called, None inside a set."""
        if not isinstance(entries, list):
            self.fail(f"should be a list of tables [[do]], but is {_kind(entries)}", list_place)
        if len(entries) > MAX_STEPS:
            self.fail(f"should have at most {MAX_STEPS:,} steps, but has {len(entries):,}", list_place)
        steps, last = [], 0.0
        for number, entry in enumerate(entries, 1):
            step = self._step(entry, f"{list_place} {number}", sets)
            if step.at is not None:
                if step.at < last:
                    self.fail(
                        f"at should not be before the {last:g} s of an earlier step, but is {step.at:g}", step.place
                    )
                last = step.at
            steps.append(step)
        return tuple(steps)

    def _step(self, entry: Any, place: str, sets: Collection[str] | None) -> ScriptStep:
        if not isinstance(entry, dict):
            self.fail(f"should be a table with a `command`, but is {_kind(entry)}", place)
        words = (*COMMAND_KINDS, ONE_OF) if sets is not None else tuple(COMMAND_KINDS)
        word = entry.get("command")
        if word is None:
            self.fail(f"has no command; expected one of {join_words(words)}", place)
        if word == ONE_OF and sets is None:
            self.fail("a list of a set cannot call another set", place)
        if word not in words:
            self.fail(
                f"there is no command {word!r}{spelling_hint(word, words)}; commands are {join_words(words)}", place
            )
        at = entry.get("at")
        if word == "look" and at is not None and not is_number(at):
            self.fail(f"at should be a time in seconds, but is {at!r}; where to look is said by `target`", place)
        if at is not None:
            at = self.number(at, "at", place, 0.0, MAX_SCRIPT_SECONDS)
        rest = {key: value for key, value in entry.items() if key not in ("command", "at")}
        if word == ONE_OF:
            return ScriptStep(place, self._one_of(rest, place, sets or ()), at)
        return ScriptStep(place, self._command(word, rest, place), at)

    def _one_of(self, entry: dict[str, Any], place: str, sets: Collection[str]) -> OneOf:
        self.keys(entry, ("set",), place, ONE_OF, also=("command", "at"))
        name = self.name(entry.get("set"), "set", place)
        if name is None or name not in sets:
            known = f"; sets here are {join_words(sets)}" if sets else "; there are none in this file"
            self.fail(f"there is no set {name!r}{spelling_hint(name, sets)}{known}", place)
        return OneOf(name)

    def _command(self, word: str, entry: dict[str, Any], place: str) -> Command:
        kind = COMMAND_KINDS[word]
        renamed, single = FIELD_KEYS.get(word, {}), SINGULAR_KEYS.get(word, {})
        plain = [item.name for item in fields(kind) if item.name not in renamed.values()]
        self.keys(entry, (*plain, *renamed, *single), place, word, also=("command", "at"))
        for one, several in single.items():
            if one in entry and several in entry:
                self.fail(f"{one} and {several} mean the same here; give one of them", place)
        values = {renamed.get(key, single.get(key, key)): value for key, value in entry.items()}
        required = [item.name for item in fields(kind) if item.default is MISSING]
        for name in required:
            if name not in values:
                key = next((key for key, field_name in renamed.items() if field_name == name), name)
                self.fail(f"{word} needs `{key}`", place)
        if word == "look" and isinstance(values["at"], str) and values["at"] not in (CAMERA, FORWARD):
            values["at"] = self._point(values["at"], place)
        if values.get("seconds") is not None:
            values["seconds"] = self.number(values["seconds"], "seconds", place, 0.0, MAX_SCRIPT_SECONDS)
        try:
            return kind(**values)
        except InvalidInput as error:
            reason = str(error)
            for key, name in renamed.items():
                reason = f"{key}{reason.removeprefix(name)}" if reason.startswith(f"{name} ") else reason
            self.fail(f"{word}: {reason}", place)

    def _point(self, name: str, place: str) -> Place:
        if name not in self.points:
            known = (CAMERA, FORWARD, *self.points)
            hint = "" if self.points else ", or a name given in [points]"
            known_points = f"known are {join_words(known)}{hint}"
            self.fail(f"there is no point {name!r} to look at{spelling_hint(name, known)}; {known_points}", place)
        return self.points[name]

    def _check_ends(self, steps: tuple[ScriptStep, ...], seconds: float | None, place: str) -> None:
        """Refuse an endless step that neither the next step's time nor the script's end stops."""
        for step, following in zip(steps, (*steps[1:], None)):
            if isinstance(step.action, OneOf) or not step.action.is_endless:
                continue
            word = step.action.word
            ended = seconds is not None if following is None else following.at is not None
            if not ended:
                owner = "the script" if following is None and not place else "the step after it"
                key = "seconds" if following is None and not place else "at"
                also = f", or {owner} a time `{key}`" if following is not None or not place else ""
                self.fail(f"{word} has no end; give it `seconds`{also}", step.place)

    def name(self, value: Any, key: str, place: str) -> str | None:
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.fail(f"{key} should be a name, but is {format_value(value)}", place)
        return value

    def place(self, value: Any, name: str, place: str) -> Place:
        x, y, z = self.numbers(value, name, place, 3, "a place [x, y, z] in metres")
        return x, y, z


def _kind(value: Any) -> str:
    """A value of TOML for a message."""
    if isinstance(value, (dict, list)):
        return "an empty list" if value == [] else "a table" if isinstance(value, dict) else "a list of something else"
    return format_value(value)


@dataclass(frozen=True)
class ModelVocabulary:
    """The names of a model: labels, poses, and clips with their lengths in seconds."""

    labels: tuple[str, ...]
    poses: tuple[str, ...]
    clips: Mapping[str, float]

    @classmethod
    def from_model(cls, model: PerformanceModel) -> ModelVocabulary:
        """The names of one model."""
        clips = {s.clip: (len(s) - 1) / space.rate for space in model.spaces.values() for s in space.segments}
        return cls(tuple(model.spaces), tuple(model.poses), clips)


def check_script(script: Script, model: PerformanceModel | ModelVocabulary) -> Script:
    """The script with names as the model writes them; `BadFile` for the first that it lacks."""
    known = model if isinstance(model, ModelVocabulary) else ModelVocabulary.from_model(model)

    def check_step(step: ScriptStep) -> ScriptStep:
        if isinstance(step.action, OneOf):
            return step
        return replace(step, action=_Checker(script.path, step.place, known).command(step.action))

    top = _Checker(script.path, "", known)
    result = replace(script, label=top.label(script.label), pose=top.pose(script.pose))
    sets = {
        name: tuple(replace(variant, steps=tuple(map(check_step, variant.steps))) for variant in variants)
        for name, variants in script.sets.items()
    }
    return result.with_steps(tuple(map(check_step, script.steps)), sets)


@dataclass(frozen=True)
class _Checker:
    """Checks the names at one place of a script."""

    path: str
    place: str
    known: ModelVocabulary

    def fail(self, reason: str) -> NoReturn:
        raise BadFile(self.path, reason, self.place)

    def command(self, command: Command) -> Command:
        """The command with its names as the model writes them."""
        change: dict[str, Any] = {}
        fields: dict[str, Callable[[Any], Any]] = {
            "label": self.label,
            "labels": lambda names: tuple(map(self.label, names)),
            "pose": self.pose,
            "poses": lambda names: tuple(map(self.pose, names)),
            "clip": self.clip,
        }
        for name, check in fields.items():
            given = getattr(command, name, None)
            if given is not None:
                change[name] = check(given)
        result = replace(command, **change)
        if isinstance(result, PlayClip):
            for name in ("start", "stop"):
                seconds = getattr(result, name)
                if seconds is not None:
                    change[name] = self.clamp_to_clip(result.clip, seconds, name)
            result = replace(command, **change)
        return result

    def label(self, name: Name) -> Name:
        """A label of the model; `Armature|Walk`, as `info` prints the clip, is the label `Walk`."""
        if name is None or name in self.known.labels:
            return name
        short = name.rpartition("|")[2]
        if short in self.known.labels:
            return cast(Name, short)
        self.fail(f"there is no label {name!r} in the model{_known_names(name, self.known.labels)}")

    def clip(self, name: str) -> str:
        if name in self.known.clips:
            return name
        ends = [clip for clip in self.known.clips if clip.rpartition("|")[2] == name]
        if len(ends) == 1:
            return ends[0]
        self.fail(f"there is no clip {name!r} in the model{_known_names(name, self.known.clips)}")

    def pose(self, name: Name) -> Name:
        """A named pose of the model, or a moment within a clip."""
        if name is None or name in self.known.poses:
            return name
        moment = clip_time(name)
        if moment is None:
            poses = self.known.poses
            hint = _known_names(name, poses) if poses else "; it has no named poses"
            if name in self.known.clips:
                hint = f'; it is a clip, of which a moment would be "{name}@{self.known.clips[name] / 2:.2g}"'
            self.fail(f"there is no pose {name!r} in the model{hint}")
        clip = self.clip(moment.clip)
        seconds = self.clamp_to_clip(clip, moment.seconds, f"pose {name!r}")
        return _format_moment(ClipTime(clip, seconds), name)

    def clamp_to_clip(self, clip: str, seconds: float, what: str) -> float:
        """The moment, clamped to the last frame within the tolerance."""
        length = self.known.clips[clip]
        if seconds > length + TIME_TOLERANCE_SECONDS:
            self.fail(f"{what} should lie in clip {clip!r}, which is {length:.3f} s long, but is at {seconds:g} s")
        return min(seconds, length)


def _format_moment(moment: ClipTime, name: Any) -> Any:
    """The moment as text; `name` where that already says it."""
    return name if clip_time(name) == moment else f"{moment.clip}@{moment.seconds!r}"


def _known_names(name: str, known: Collection[str]) -> str:
    """The nearest name and a list of those that exist, for a message."""
    shown = sorted(known)
    more = f" and {len(shown) - MAX_LISTED_NAMES} more" if len(shown) > MAX_LISTED_NAMES else ""
    return f"{spelling_hint(name, known)}; it has {', '.join(map(repr, shown[:MAX_LISTED_NAMES])) or 'none'}{more}"
