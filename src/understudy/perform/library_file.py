"""Library files: one character, clips of one or many files under labels, written in TOML.

    character = "hero.glb"              # a file beside this one, or a member of the built-in cast
    rate = 24                           # frames a second; without it that of most clips, at most 30
    exclude = ["eyes.*"]                # channels that are not learned

    [labels]
    happy = ["Cheer", "other.glb:Walk"] # clips of the character's own file, of another file
    sad = ["sad_*", "moves/*.bvh"]      # patterns: of clip names, of files with all that is in them

    [poses]
    smirk = "Cheer@1.2"                 # clip and seconds after its first frame

    [behaviours]                        # where what was found from the motion is not what is wanted
    Walk = "cycle"                      # cycle, act, pose, hover or ignore; patterns as in [labels]
    "Death*" = { kind = "act", ends = "stay" }
    Sit = { returns = "Sitting" }       # the label that follows an act
    Run = { from = 0.2, to = 0.9, speed = 1.1 }

Paths are relative to the file. Without [labels] each clip of the character's file is a label of its own. Where several
lines of [behaviours] match a clip, the later one holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks, files
from understudy.character import Asset
from understudy.character.rig import PosedRig, rig_of
from understudy.checks import Array
from understudy.errors import BadFile, FileError, InvalidInput
from understudy.formats import registry
from understudy.perform.behaviours import IGNORE, KINDS, BehaviourRule
from understudy.perform.library import (
    Animation,
    ClipLibrary,
    LabelledClip,
    build_library,
    entries_by_own_label,
    match_animations,
    rows_of,
    times_of,
)
from understudy.schema import format_value, is_number, parse_toml

MAX_FILE_BYTES = 1 << 20
MAX_FILES = 1000
MAX_ENTRIES = 10_000
KEYS = ("character", "rate", "exclude", "labels", "poses", "behaviours")
RULE_KEYS = ("kind", "from", "to", "speed", "returns", "ends")
ENDS = ("return", "stay")

Opener = Callable[[str], Asset]


def read(path: str | Path, open: Opener = registry.read, rate: float | None = None) -> ClipLibrary:
    """The library that a TOML file describes. `open` reads the files it names, and built-in characters by name.

    `rate` (frames a second) overrides the one in the file.
    """
    path = Path(path)
    text = parse_toml(files.read_text(path, MAX_FILE_BYTES), str(path), MAX_FILE_BYTES)
    try:
        return _LibraryReader(path, open).library(text, rate)
    except FileError:
        raise
    except InvalidInput as error:
        raise BadFile(path, str(error)) from error


@dataclass
class _LibraryReader:
    """A library file while it is read, with the files that it has named so far."""

    path: Path
    open: Opener
    assets: dict[str, Asset] = field(default_factory=dict)
    names: dict[str, Animation] = field(default_factory=dict)  # by the name in the library

    def library(self, text: dict[str, Any], rate: float | None) -> ClipLibrary:
        for key in text:
            checks.one_of(key, "key", KEYS)
        name = _text(text.get("character"), "character")
        beside = self.path.parent / name
        origin = str(beside) if beside.is_file() else name
        asset = self.open(origin)
        rig = rig_of(asset.character())
        labels = _table(text, "labels")
        notes: list[str] = []
        if "labels" not in text and asset.animations:
            entries = entries_by_own_label(asset, rig, notes)
        elif not labels:
            raise InvalidInput("[labels] should give at least one label with its clips, but gives none")
        else:
            entries = [entry for label, names in labels.items() for entry in self._entries(asset, label, names)]
        if len(entries) > MAX_ENTRIES:
            raise InvalidInput(f"the labels should have at most {MAX_ENTRIES:,} clips, but have {len(entries):,}")
        rate = text.get("rate") if rate is None else rate
        exclude = [_text(item, "an entry of exclude") for item in _list(text.get("exclude", []), "exclude")]
        poses = {name: self._pose(asset, rig, name, place) for name, place in _table(text, "poses").items()}
        rules = _rules(_table(text, "behaviours"), entries)
        library = build_library(rig, entries, rate, exclude, poses, str(self.path), notes, rules)
        return replace(library, origin=origin)

    def _entries(self, own: Asset, label: str, names: Any) -> Iterator[LabelledClip]:
        names = [names] if isinstance(names, str) else _list(names, f"label {label!r}")
        if not names:
            raise InvalidInput(f"label {label!r} should have at least one clip, but has none")
        animations: dict[str, Animation] = {}
        for name in names:
            animations |= self._names_in_library(own, _text(name, f"an entry of label {label!r}"))
        for name, animation in animations.items():
            yield LabelledClip(label, name, animation)

    def _names_in_library(self, own: Asset, text: str) -> dict[str, Animation]:
        """The animations that an entry names, by their names in the library."""
        file, clip = self._split(own, text)
        if file is None:
            return {self._unique_name(animation, ""): animation for animation in match_animations(own, text)}
        animations: dict[str, Animation] = {}
        for path in self._files(file):
            asset = self._asset(path)
            try:
                chosen = match_animations(asset, clip) if clip else list(asset.animations)
            except InvalidInput as error:
                raise BadFile(path, str(error)) from None
            if not chosen:
                raise BadFile(path, "should have a clip, but has none")
            animations |= {self._unique_name(animation, path.stem): animation for animation in chosen}
        return animations

    def _split(self, own: Asset, text: str) -> tuple[str | None, str]:
        """A file and a clip of it ("" for all); no file where the text names a clip of the character's own file."""
        if any(animation.name == text for animation in own.animations):
            return None, text
        if registry.readable(text):
            return text, ""
        file, colon, clip = text.partition(":")
        while colon and not registry.readable(file):  # C:/moves/walk.glb:Walk has two colons
            more, colon, clip = clip.partition(":")
            file = f"{file}:{more}"
        return (file, clip) if colon else (None, text)

    def _files(self, pattern: str) -> list[Path]:
        if not re.search(r"[*?\[]", pattern):
            return [self.path.parent / pattern]
        folder, pattern = (Path(Path(pattern).anchor), str(Path(pattern).relative_to(Path(pattern).anchor)))
        paths = sorted((self.path.parent / folder).glob(pattern))
        if not paths:
            raise InvalidInput(f"no file matches {pattern!r} in {self.path.parent / folder}")
        return paths

    def _asset(self, path: Path) -> Asset:
        key = str(path)
        if key not in self.assets:
            if len(self.assets) >= MAX_FILES:
                raise InvalidInput(f"a library should name at most {MAX_FILES:,} files, but names more")
            self.assets[key] = self.open(key)
        return self.assets[key]

    def _unique_name(self, animation: Animation, stem: str) -> str:
        """The animation's name in the library: its own, or `file:name` where another animation has that already."""
        for name in (animation.name, f"{stem}:{animation.name}"):
            if self.names.setdefault(name, animation) is animation:
                return name
        raise InvalidInput(f"two clips are named {stem}:{animation.name}; give one of their files another name")

    def _pose(self, own: Asset, rig: PosedRig, name: str, place: Any) -> Array:
        """(C,) the row of a moment such as `Cheer@1.2`."""
        what = f"pose {name!r}"
        clip, at, seconds = _text(place, what).rpartition("@")
        clip, seconds = (clip, seconds) if at else (seconds, "0")
        try:
            time = float(seconds)
        except ValueError:
            raise InvalidInput(f"{what} should be clip@seconds, but is {place!r}") from None
        animations = list(self._names_in_library(own, clip).values())
        if len(animations) != 1:
            raise InvalidInput(f"{what} should name one clip, but {clip!r} matches {len(animations)}")
        times = times_of(animations[0], animations[0].rate)
        length = times[-1] - times[0]
        if not 0 <= time <= length + 0.5 / animations[0].rate:
            raise InvalidInput(f"{what} should lie within its clip, 0 to {length:g} s, but is at {time:g} s")
        return rows_of(rig, animations[0], np.array([times[0] + time]), clip)[0]


def _rules(table: dict[str, Any], entries: list[LabelledClip]) -> dict[str, BehaviourRule]:
    """What the table [behaviours] tells of each clip of the library."""
    animations = {entry.name: entry.animation for entry in entries}
    labels = dict.fromkeys(entry.label for entry in entries)
    rules: dict[str, BehaviourRule] = {}
    for pattern, value in table.items():
        clips = [name for name in animations if pattern in (name, name.rpartition("|")[2])]
        clips = clips or [
            name for name in animations if fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("|")[2], pattern)
        ]
        if not clips:
            checks.one_of(pattern, "clip", animations)
        for clip in clips:
            times = times_of(animations[clip], animations[clip].rate)
            rule = _rule(f"behaviour {pattern!r}", value, labels, float(times[-1] - times[0]))
            told = {name: item for name, item in asdict(rule).items() if item is not None}
            rules[clip] = replace(rules.get(clip, BehaviourRule()), **told)
    return rules


def _rule(what: str, value: Any, labels: dict[str, None], length: float) -> BehaviourRule:
    """What one line of [behaviours] tells of a clip of `length` seconds."""
    value = {"kind": value} if isinstance(value, str) else value
    if not isinstance(value, dict) or not value:
        raise InvalidInput(f"{what} should be a kind or a table of {', '.join(RULE_KEYS)}, but is {value!r}")
    for key in value:
        checks.one_of(key, f"key of {what}", RULE_KEYS)
    kind = value.get("kind")
    if kind is not None:
        checks.one_of(kind, "kind", (*KINDS, IGNORE))
    for key in ("returns", "ends"):
        if key in value and kind not in (None, "act"):
            raise InvalidInput(f"{what} has {key}, which only an act has, but its kind is {kind}")
    start, stop = (_seconds(value.get(key), f"{key} of {what}") for key in ("from", "to"))
    first, last = start or 0.0, length if stop is None else stop
    if not 0 <= first < last <= length + 1e-6:
        raise InvalidInput(
            f"{what} should go from a moment to a later one within its clip, 0 to {length:g} s, "
            f"but goes from {first:g} to {last:g} s"
        )
    speed = checks.positive(value["speed"], f"speed of {what}") if "speed" in value else None
    returns = value.get("returns")
    if returns is not None:
        checks.one_of(returns, f"label that {what} returns to", labels)
    ends = value.get("ends")
    if ends is not None:
        checks.one_of(ends, f"end of {what}", ENDS)
    return BehaviourRule(kind, start, stop, speed, returns, None if ends is None else ends == "stay")


def _seconds(value: Any, what: str) -> float | None:
    if value is not None and not is_number(value):
        raise InvalidInput(f"{what} should be seconds, but is {format_value(value)}")
    return None if value is None else float(value)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{what} should be a text, but is {'missing' if value is None else repr(value)}")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{what} should be a list of texts, but is {value!r}")
    return value


def _table(text: dict[str, Any], key: str) -> dict[str, Any]:
    value = text.get(key, {})
    if not isinstance(value, dict):
        raise InvalidInput(f"{key} should be a table [{key}], but is {value!r}")
    return value
