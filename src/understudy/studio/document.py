"""The document: everything that a project holds, as frozen plain data. Undo keeps the documents before.

The document goes to the browser and into `project.json` as a whole. Large content (meshes, models, takes) lies in files
that it names. It contains no paths: the browser knows files by their names.

`DocumentText` caches the JSON of unchanged fields, since the whole document is sent at every step of a scrub. Its lists
are frozen, so a list that is the same object as before has the same text.
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
    """One animation of a character. `name` is unique within the character; `title` is the name that the user sees."""

    name: str
    title: str
    seconds: float
    frames: int
    rate: float
    start: float = 0.0  # seconds of the file's own clock
    labels: tuple[str, ...] = ()
    about: str = ""
    moments: dict[str, float] = field(default_factory=dict)  # name -> seconds
    keyed: bool = False  # keyframe curves rather than one value a frame
    inside: str = ""  # its name within its file
    source: str = ""  # id of the file that it came from, if that is not the character's own


@dataclass(frozen=True)
class CharacterEntry:
    """An open character and its clips."""

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
    visible: bool = True  # False for motion without a character


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
    """A point that keeps its path; without `start` and `stop` over the whole range of an edit."""

    id: str
    point: PointRef
    position: bool = True
    orientation: bool = True
    start: float | None = None  # seconds from the beginning of the clip, as all times here
    stop: float | None = None


@dataclass(frozen=True)
class ContactEntry:
    """A point that is in contact, and so does not move, from `start` to `stop`."""

    id: str
    point: PointRef
    start: float
    stop: float
    orientation: bool = False


@dataclass(frozen=True)
class HoldEntry:
    """A point that keeps its position at one time."""

    id: str
    point: PointRef
    time: float
    orientation: bool = False


@dataclass(frozen=True)
class LimitEntry:
    """A column that stays within a range; None is no bound."""

    target: str
    column: str  # x, y or z of the Euler angles, translation.x, or the name of a shape
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class LooseFoot:
    """A foot that was let go: the one of its stances that contains `time` (seconds) is not held."""

    joint: str
    time: float


@dataclass(frozen=True)
class EditEntry:
    """An edit of a clip: its curves and its constraints.

    `file` is the name of the curves below the project's folder `edits`; it is empty while they are the clip's own.
    `hold_feet` says whether feet that stand are held; None: where keys come from a fitter, and in a dense clip.
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
    hold_feet: bool | None = None
    loose_feet: tuple[LooseFoot, ...] = ()


@dataclass(frozen=True)
class PathEntry:
    """A motion curve that is shown while its clip is edited: `curve` is its number."""

    character: str  # id
    clip: str
    curve: int
    point: PointRef
    name: str
    camera: bool = False


@dataclass(frozen=True)
class StageState:
    """The stage: the character, what drives it (a clip's name; a take's, a model's or an edit's id), and the transport.

    `time` is the playhead at the last user action; during playback the frames carry the time.
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
    """The results of the games in this project, and their settings."""

    player: int = 0  # games that the player has won
    character: int = 0
    draws: int = 0
    rounds: int = 0  # games that were begun; the sides begin alternately
    strength: str = ""  # empty until one is chosen
    pace: float = 1.0


@dataclass(frozen=True)
class Document:
    """A whole project."""

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
        """The same document with a changed stage."""
        return replace(self, stage=replace(self.stage, **changes))  # type: ignore[arg-type]


class DocumentText:
    """Writes documents as JSON, and caches the text of each field."""

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
    """Any part of a message as JSON; a number that is not finite raises ValueError."""
    return json.dumps(to_plain(value), allow_nan=False, separators=(",", ":"))
