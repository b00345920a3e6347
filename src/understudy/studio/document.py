"""The document: everything that a project holds, as frozen plain data. Undo is having kept the one before.

It goes to the browser whole, and into `project.json` whole; what is large (meshes, models, takes) lies in files that
it names. Paths are never in it: the browser knows files by their names.

The document as text. It goes out whole at every step of a scrub, and hardly anything in it is new each time.

Its lists are frozen, so one that is the same object as last time has the same text.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from understudy.studio.messages.message import camel, to_plain

Driver = Literal["rest", "clip", "take", "model", "edit"]
EntryKind = Literal["character", "clip", "model", "take", "script", "edit"]


@dataclass(frozen=True)
class ClipEntry:
    """One animation of a character. `name` is unique within the character, `title` is what a user has called it."""

    name: str
    title: str
    seconds: float
    frames: int
    rate: float
    start: float = 0.0  # seconds of the file's own clock
    labels: tuple[str, ...] = ()
    about: str = ""
    moments: dict[str, float] = field(default_factory=dict)  # name -> seconds
    keyed: bool = False  # keyframes rather than frames
    inside: str = ""  # its name within its file
    source: str = ""  # the id of the file that it came from, where that is not the character's own


@dataclass(frozen=True)
class CharacterEntry:
    """A character that is open, and its clips."""

    id: str
    name: str
    file: str  # the name of its file, or of the cast member
    format: str
    joints: int = 0
    vertices: int = 0
    shapes: int = 0
    controls: int = 0
    clips: tuple[ClipEntry, ...] = ()
    notes: tuple[str, ...] = ()
    cast: str = ""  # the name of a built-in character
    visible: bool = True  # has something to draw; motion without a character has not


@dataclass(frozen=True)
class ModelEntry:
    """A learned model: `file` is its name below the project's folder `models`."""

    id: str
    name: str
    character: str  # id
    file: str
    labels: tuple[str, ...] = ()
    poses: tuple[str, ...] = ()
    clips: tuple[str, ...] = ()
    frames: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TakeEntry:
    """A recorded performance: `file` is its name below the project's folder `takes`."""

    id: str
    name: str
    character: str  # id
    file: str
    seconds: float
    frames: int
    rate: float
    model: str = ""  # id


@dataclass(frozen=True)
class ScriptEntry:
    """A script of a performance."""

    id: str
    name: str
    text: str
    model: str = ""  # id


@dataclass(frozen=True)
class PointRef:
    """A point of a character: fixed to a joint, at an offset in its frame (m), or a vertex counted over all parts."""

    joint: str = ""
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    vertex: int | None = None


@dataclass(frozen=True)
class PinEntry:
    """A point that keeps its path; without `start` and `stop` wherever an edit reaches."""

    id: str
    point: PointRef
    position: bool = True
    orientation: bool = True
    start: float | None = None  # seconds from the beginning of the clip, as all times here
    stop: float | None = None


@dataclass(frozen=True)
class ContactEntry:
    """A point that stands still from `start` to `stop`."""

    id: str
    point: PointRef
    start: float
    stop: float
    orientation: bool = False


@dataclass(frozen=True)
class HoldEntry:
    """A point that passes, at one moment, where it passed."""

    id: str
    point: PointRef
    time: float
    orientation: bool = False


@dataclass(frozen=True)
class LimitEntry:
    """A column that stays within a range; None is without a bound."""

    target: str
    column: str  # x, y or z of the Euler angles, translation.x, or the name of a shape
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class EditEntry:
    """A clip that is being edited: its curves, and what is held while they are.

    `file` is the name of the curves below the project's folder `edits`; empty as long as they are the clip's own.
    """

    id: str
    name: str
    character: str  # id
    clip: str
    file: str = ""
    keys: int = 0
    pins: tuple[PinEntry, ...] = ()
    contacts: tuple[ContactEntry, ...] = ()
    holds: tuple[HoldEntry, ...] = ()
    limits: tuple[LimitEntry, ...] = ()
    stiffness: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PathEntry:
    """A motion curve that is shown of a clip while it is edited: `curve` is its number."""

    character: str  # id
    clip: str
    curve: int
    point: PointRef
    name: str
    camera: bool = False


@dataclass(frozen=True)
class StageState:
    """What is on stage: who, driven by what (a clip's name; a take's, a model's or an edit's id), and the transport.

    `time` is where it stood at the last gesture; while it plays, frames carry the time.
    """

    character: str = ""  # id
    driver: Driver = "rest"
    drives: str = ""
    time: float = 0.0  # seconds from the beginning of the clip
    playing: bool = False
    rate: float = 1.0
    loop: bool = True
    start: float = 0.0  # the range that is played, seconds
    stop: float | None = None  # None: to the end


@dataclass(frozen=True)
class GameRecord:
    """How the games of this project ended so far, and how they are played."""

    player: int = 0  # games that the player has won
    character: int = 0
    draws: int = 0
    rounds: int = 0  # that were begun: who begins takes turns
    strength: str = ""  # none was chosen yet
    pace: float = 1.0


@dataclass(frozen=True)
class Document:
    """The whole."""

    name: str = "untitled"
    characters: tuple[CharacterEntry, ...] = ()
    models: tuple[ModelEntry, ...] = ()
    takes: tuple[TakeEntry, ...] = ()
    scripts: tuple[ScriptEntry, ...] = ()
    edits: tuple[EditEntry, ...] = ()
    stage: StageState = field(default_factory=StageState)
    selection: tuple[str, ...] = ()
    game: GameRecord = field(default_factory=GameRecord)
    paths: tuple[PathEntry, ...] = ()

    def character(self, id: str) -> CharacterEntry | None:
        """The character of that id."""
        return next((each for each in self.characters if each.id == id), None)

    def model(self, id: str) -> ModelEntry | None:
        """The model of that id."""
        return next((each for each in self.models if each.id == id), None)

    def take(self, id: str) -> TakeEntry | None:
        """The take of that id."""
        return next((each for each in self.takes if each.id == id), None)

    def script(self, id: str) -> ScriptEntry | None:
        """The script of that id."""
        return next((each for each in self.scripts if each.id == id), None)

    def edit(self, id: str) -> EditEntry | None:
        """The edit of that id."""
        return next((each for each in self.edits if each.id == id), None)

    def clip(self, character: str, name: str) -> ClipEntry | None:
        """A clip of a character."""
        found = self.character(character)
        return next((each for each in found.clips if each.name == name), None) if found else None

    def with_stage(self, **changes: object) -> Document:
        """The same with another stage."""
        return replace(self, stage=replace(self.stage, **changes))  # type: ignore[arg-type]


class DocumentText:
    """Makes text of documents, and remembers the parts of the last one."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, str]] = {}  # field -> its value and text

    def to_json(self, document: Document) -> str:
        """The document as a JSON object."""
        return "{" + ",".join(self._field(document, each.name) for each in dataclasses.fields(document)) + "}"

    def _field(self, document: Document, name: str) -> str:
        value = getattr(document, name)
        known = self._known.get(name)
        if known is None or known[0] is not value:
            known = self._known[name] = (value, f'"{camel(name)}":{json_text(value)}')
        return known[1]


def json_text(value: Any) -> str:
    """Any part of a message as JSON; numbers are finite."""
    return json.dumps(to_plain(value), allow_nan=False, separators=(",", ":"))
