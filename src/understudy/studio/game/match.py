"""A match: a game as a live character acts it out. It connects the director to the performance.

About thirty times a second the match tells the director how much time has passed, and the character the commands of the
director's scripts. The time is that of the performance, so a paused match waits.

The scripts of the moods were written for the dragon. A model that has all labels, poses and clips of a script plays it.
For a mood without a playable script a plain one is made from the model's labels (`wishes.toml`): go to the label, play
a clip of it if the mood asks for one, and idle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, get_args

from understudy.errors import BadFile
from understudy.perform.commands import CAMERA, Command, Idle, LookAt, PlayClip, Transition
from understudy.perform.model import PerformanceModel
from understudy.perform.script import ModelVocabulary, OneOf, Script, ScriptStep, Variant, parse_script
from understudy.perform.script_run import Schedule, ScheduledStep
from understudy.schema import parse_toml
from understudy.studio.game.director import (
    Director,
    DirectorResult,
    GameEvent,
    GameStarted,
    LookAtSquare,
    MovePlayed,
    PaceChanged,
    PlayScript,
    TimePassed,
)
from understudy.studio.game.state import BoardPlacement, GameState, Mood, Place, Score
from understudy.studio.perform.live_source import LiveSource

CENTRE_SQUARE = 4
MAX_REQUIREMENTS_CHARACTERS = 1 << 16  # length of wishes.toml
MAX_CLIP_SECONDS = 4.0  # seconds of a clip in a plain script
FINAL_IDLE_SECONDS = 4.0  # seconds of the idle at the end of a plain script

# Moods whose plain script looks at the board first; the others look at the player.
MOODS_LOOKING_AT_BOARD = ("pondering", "placing", "threatened", "blocked", "cornered", "surprised", "won", "draw")


class Match:
    """One player, one character. `changed` is called after every event that changes the visible game."""

    def __init__(
        self,
        source: LiveSource,
        table: BoardPlacement,
        changed: Callable[[GameState], None],
        seed: int = 0,
        strength: str = "fledgling",
        pace: float = 1.0,
        score: Score | None = None,
        rounds: int = 0,
    ) -> None:
        self.table, self.changed = table, changed
        self.pointer: Place | None = None  # the player's pointer in the world
        self.looking = ""  # name of the target of its gaze
        self._join(source)
        self.state, cues = self._director.init(seed, strength, pace, score, rounds)
        self._follow((self.state, cues))

    @property
    def scripts(self) -> MoodScripts:
        """The scripts of the model that plays."""
        return self._scripts

    def _join(self, source: LiveSource) -> None:
        self.source = source
        self._time = source.time
        self._scripts = scripts_for_model(source.opened.model)
        self._director = Director(self._scripts.scripts)
        self._schedule, self._began = Schedule(()), source.time

    def rejoin(self, source: LiveSource) -> None:
        """Continue the game with another performance on stage."""
        if source is not self.source:
            self._join(source)

    def new_game(self, strength: str | None = None) -> None:
        """Start another round."""
        self._handle_event(GameStarted(strength))

    def pace(self, pace: float) -> None:
        """Set the pace of the character."""
        self._handle_event(PaceChanged(pace))

    def play(self, square: int) -> None:
        """The player's move."""
        self._handle_event(MovePlayed(square))

    def point(self, place: Place | None) -> None:
        """Set the player's pointer; None if it has left the stage."""
        self.pointer = place
        if self.looking == "player":
            self._look("player")

    def advance(self) -> None:
        """Advance the game to the time of the performance."""
        seconds, self._time = self.source.time - self._time, self.source.time
        if seconds <= 0:
            return
        done = self.source.is_done
        self._schedule, fallen = self._schedule.due(self._time - self._began, not done)
        self._tell(fallen)
        self._handle_event(TimePassed(seconds, self._schedule.is_finished and not fallen and done))

    def _handle_event(self, event: GameEvent) -> None:
        before = self.state
        self._follow(self._director.step(before, event))
        seen = (before.board, before.phase, before.mood, before.turn, before.round, before.strength, before.pace)
        now = self.state
        if seen != (now.board, now.phase, now.mood, now.turn, now.round, now.strength, now.pace):
            self.changed(now)

    def _follow(self, result: DirectorResult) -> None:
        self.state, cues = result
        for cue in cues:
            if isinstance(cue, LookAtSquare):
                self._look(cue.at)
            elif isinstance(cue, PlayScript):
                self._begin(cue)

    def _begin(self, act: PlayScript) -> None:
        """Begin a script: its first command interrupts the running one."""
        self._began = self.source.time
        schedule = Schedule(tuple(ScheduledStep(step) for step in act.variant.steps))
        self._schedule, fallen = schedule.due(0.0, busy=False)
        self._tell(fallen)

    def _tell(self, cues: tuple[ScheduledStep, ...]) -> None:
        for cue in cues:
            action = cue.step.action
            assert not isinstance(action, OneOf)  # a variant cannot call another set
            if isinstance(action, LookAt):
                self._look(
                    self._scripts.names.get(action.at, "") if isinstance(action.at, tuple) else action.at, action
                )
            else:
                self.source.tell(action)

    def _look(self, name: str, written: LookAt | None = None) -> None:
        """Look at a named target; an unknown name is the point that the script gives."""
        self.looking = name
        if not self.source.has_gaze:
            return
        if name == "player":
            self.source.look(CAMERA if self.pointer is None else self.pointer)
            return
        square = self._square(name)
        if square is not None:
            self.source.look(self.table.square(square))
        elif written is not None:
            self.source.look(written.at)

    def _square(self, name: str) -> int | None:
        """The square that a name in the scripts stands for now."""
        state, considered = self.state, self.state.glances
        if name == "board":
            return state.line[1] if state.line else CENTRE_SQUARE
        if name == "first":
            return considered[0] if considered else CENTRE_SQUARE
        if name == "second":
            return considered[min(1, len(considered) - 1)] if considered else CENTRE_SQUARE
        if name == "chosen":
            return state.choice.square if state.choice is not None else CENTRE_SQUARE
        if name == "last":
            return CENTRE_SQUARE if state.last is None else state.last
        return None


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
