"""The scripts of every mood for a model.

The scripts were written for the dragon. A model that has all labels, poses and clips of a script plays it. For a mood
without a playable script a plain one is made from the model's labels (`wishes.toml`): go to the label, play a clip of
it if the mood asks for one, and idle.
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
from understudy.perform.commands import Command, Idle, LookAt, PlayClip, Transition
from understudy.perform.model import PerformanceModel
from understudy.perform.script import ModelVocabulary, Place, Script, ScriptStep, Variant, parse_script
from understudy.schema import parse_toml
from understudy.studio.game.state import Mood

MAX_REQUIREMENTS_CHARACTERS = 1 << 16  # length of wishes.toml
MAX_CLIP_SECONDS = 4.0  # seconds of a clip in a plain script
FINAL_IDLE_SECONDS = 4.0  # seconds of the idle at the end of a plain script

# Moods whose plain script looks at the board first; the others look at the player.
MOODS_LOOKING_AT_BOARD = ("pondering", "placing", "threatened", "blocked", "cornered", "surprised", "won", "draw")


@dataclass(frozen=True)
class MoodScripts:
    """The scripts of every mood, the names of the points that they look at, and the moods with plain scripts."""

    scripts: Mapping[Mood, tuple[Variant, ...]]
    names: Mapping[Place, str]
    plain: Mapping[Mood, str]  # mood -> label of its plain script


@dataclass(frozen=True)
class MoodRequirement:
    """The labels that suit a mood, the best first, and whether a clip is played."""

    labels: tuple[str, ...]
    play: bool = False


@cache
def list_moods() -> tuple[Mood, ...]:
    """All moods."""
    return get_args(Mood)


@cache
def load_scripts(mood: Mood) -> Script:
    """The scripts of a mood, as they were written."""
    path = resources.files("understudy.studio.game") / "scripts" / f"{mood}.toml"
    return parse_script(path.read_text(encoding="utf-8"), path.name)


@cache
def place_names() -> Mapping[Place, str]:
    """Names of the points that scripts look at; a point has the same name in all scripts."""
    names: dict[Place, str] = {}
    for mood in list_moods():
        for name, place in load_scripts(mood).points.items():
            if names.setdefault(place, name) != name:
                raise BadFile(f"{mood}.toml", f"the place of {name!r} is already called {names[place]!r}", "points")
    return MappingProxyType(names)


@cache
def load_mood_requirements() -> Mapping[Mood, MoodRequirement]:
    """The requirements of each mood, for models without the dragon's clips."""
    text = (resources.files("understudy.studio.game") / "wishes.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = parse_toml(text, "wishes.toml", MAX_REQUIREMENTS_CHARACTERS)
    return {
        mood: MoodRequirement(tuple(table[mood]["labels"]), table[mood].get("play", False)) for mood in list_moods()
    }


def scripts_for_model(model: PerformanceModel) -> MoodScripts:
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


def resolve_mood(wishes: tuple[str, ...], labels: tuple[str, ...]) -> str:
    """The label that matches the first possible wish; the first label if none does."""
    words = {label: _words(label) for label in labels}
    for wish in wishes:
        wanted = _words(wish)
        for label in labels:
            if words[label] == wanted:
                return label
        for label in labels:
            if set(wanted) <= set(words[label]):
                return label
    return labels[0]


def _words(name: str) -> tuple[str, ...]:
    """The words of a name without a prefix: `ThumbsUp`, `thumbs_up` and `Armature|Thumbs Up` are the same."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.rpartition("|")[2])
    return tuple(re.findall(r"[a-z]+", parted.lower()))


def _can_play(variant: Variant, repertoire: ModelVocabulary) -> bool:
    try:
        Script("", variant.steps).check(repertoire)
    except BadFile:
        return False
    return True


def _plain(mood: Mood, label: str, model: PerformanceModel) -> tuple[Variant, ...]:
    """Plain scripts of a mood: one for each clip that can be played, else a single one."""
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
