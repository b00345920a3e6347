"""Who plays what: the scripts of every mood for the model that is there.

The scripts were written for the dragon. A model that has all the labels, poses and clips of a script plays it; for a
mood of which it can play none, a plain script is made of the labels that it has (`wishes.toml`): it goes to the label,
plays a clip of it where the mood asks for one, and idles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, get_args

from understudy.errors import BadFile
from understudy.perform import PoseModel
from understudy.perform.commands import Command, Idle, LookAt, PlayClip, Transition
from understudy.perform.script import ModelVocabulary, Place, Script, ScriptStep, Variant, parse_script
from understudy.schema import parse_toml
from understudy.studio.game.state import Mood

MAX_REQUIREMENTS_CHARACTERS = 1 << 16  # characters of the wishes
MAX_CLIP_SECONDS = 4.0  # seconds of a clip that is played for a mood
FINAL_IDLE_SECONDS = 4.0  # seconds of the idle that ends a plain script

# Where a plain script looks first: the board in its own turn, the player otherwise.
MOODS_LOOKING_AT_BOARD = ("pondering", "placing", "threatened", "blocked", "cornered", "surprised", "won", "draw")


@dataclass(frozen=True)
class MoodScripts:
    """The scripts of every mood, the names of the places that they look at, and the moods that are plain."""

    scripts: Mapping[Mood, tuple[Variant, ...]]
    names: Mapping[Place, str]
    plain: Mapping[Mood, str]  # mood -> the label that shows it


@dataclass(frozen=True)
class MoodRequirement:
    """The labels that would show a mood, the best first, and whether a clip is played."""

    labels: tuple[str, ...]
    play: bool = False


@cache
def list_moods() -> tuple[Mood, ...]:
    """Every mood."""
    return get_args(Mood)


@cache
def load_scripts(mood: Mood) -> Script:
    """The scripts of a mood, as they were written."""
    path = resources.files("understudy.studio.game") / "scripts" / f"{mood}.toml"
    return parse_script(path.read_text(encoding="utf-8"), path.name)


@cache
def place_names() -> Mapping[Place, str]:
    """Names of the places that scripts look at; a place has one name in all of them."""
    found: dict[Place, str] = {}
    for mood in list_moods():
        for name, place in load_scripts(mood).points.items():
            if found.setdefault(place, name) != name:
                raise BadFile(f"{mood}.toml", f"the place of {name!r} is already called {found[place]!r}", "points")
    return MappingProxyType(found)


@cache
def load_mood_requirements() -> Mapping[Mood, MoodRequirement]:
    """What is wished of a model that lacks the dragon's clips."""
    text = (resources.files("understudy.studio.game") / "wishes.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = parse_toml(text, "wishes.toml", MAX_REQUIREMENTS_CHARACTERS)
    return {
        mood: MoodRequirement(tuple(table[mood]["labels"]), table[mood].get("play", False)) for mood in list_moods()
    }


def scripts_for_model(model: PoseModel) -> MoodScripts:
    """The scripts that a model can play, for every mood at least one."""
    repertoire = ModelVocabulary.from_model(model)
    scripts: dict[Mood, tuple[Variant, ...]] = {}
    plain: dict[Mood, str] = {}
    for mood in list_moods():
        playable = tuple(each for each in load_scripts(mood).sets[mood] if _can_play(each, repertoire))
        if not playable:
            plain[mood] = resolve_mood(load_mood_requirements()[mood].labels, model.labels)
            playable = _plain(mood, plain[mood], model)
        scripts[mood] = playable
    return MoodScripts(MappingProxyType(scripts), place_names(), MappingProxyType(plain))


def resolve_mood(wished: tuple[str, ...], labels: tuple[str, ...]) -> str:
    """The label that comes nearest to what is wished; the first one where none does."""
    words = {label: _words(label) for label in labels}
    for wish in wished:
        asked = _words(wish)
        for label in labels:
            if words[label] == asked:
                return label
        for label in labels:
            if set(asked) <= set(words[label]):
                return label
    return labels[0]


def _words(name: str) -> tuple[str, ...]:
    """`ThumbsUp`, `thumbs_up` and `Armature|Thumbs Up` are the same words, but for what stands before a bar."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.rpartition("|")[2])
    return tuple(re.findall(r"[a-z]+", parted.lower()))


def _can_play(variant: Variant, repertoire: ModelVocabulary) -> bool:
    try:
        Script("", variant.steps).check(repertoire)
    except BadFile:
        return False
    return True


def _plain(mood: Mood, label: str, model: PoseModel) -> tuple[Variant, ...]:
    """One script for each clip that may be played, else a single one."""
    space = model.spaces[label]
    ahead = LookAt(_place("board")) if mood in MOODS_LOOKING_AT_BOARD else LookAt(_place("player"))
    if not load_mood_requirements()[mood].play:
        return (_variant(mood, ahead, Transition(label), Idle(label=label, seconds=FINAL_IDLE_SECONDS)),)
    found = []
    for segment in space.segments:
        seconds = min((len(segment) - 1) / space.rate, MAX_CLIP_SECONDS)
        if seconds > 0:
            steps = (
                ahead,
                PlayClip(segment.clip, 0.0, seconds),
                LookAt(_place("player")),
                Idle(label=label, seconds=FINAL_IDLE_SECONDS),
            )
            found.append(_variant(mood, *steps))
    return tuple(found) or (_variant(mood, ahead, Transition(label), Idle(label=label, seconds=FINAL_IDLE_SECONDS)),)


def _variant(mood: Mood, *commands: Command) -> Variant:
    return Variant(tuple(ScriptStep(f"{mood} {number}", command) for number, command in enumerate(commands, 1)))


def _place(name: str) -> Place:
    return next(place for place, known in place_names().items() if known == name)
