"""The messages of the shell: files, stage, transport, selection, names, undo, export, jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from understudy.studio.document import Document, EntryKind
from understudy.studio.messages.message import Event, Range, Request

Id = Annotated[str, Range(longest=64)]
Name = Annotated[str, Range(longest=200)]
Seconds = Annotated[float, Range(least=0.0, most=1e6)]
Level = Literal["info", "warning", "error"]
Progress = Literal["running", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class FileOpened:
    """The characters that a file brought, by id, and what reading had to drop or change."""

    characters: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Open(Request):
    """Open a file below one of the opened folders, or a member of the built-in cast (`dragon`)."""

    kind: ClassVar[str] = "open"
    result: ClassVar[Any] = FileOpened
    path: Annotated[str, Range(longest=4096)]


@dataclass(frozen=True)
class Close(Request):
    """Close a character, with what was made of it."""

    kind: ClassVar[str] = "close"
    character: Id


@dataclass(frozen=True)
class Show(Request):
    """Put a character on stage: with a clip, or with a take of it, or at rest."""

    kind: ClassVar[str] = "show"
    character: Id
    clip: Name | None = None
    take: Id | None = None


@dataclass(frozen=True)
class SetPlaying(Request):
    """Play or pause."""

    kind: ClassVar[str] = "play"
    playing: bool


@dataclass(frozen=True)
class Seek(Request):
    """Go to a time, seconds from the beginning of what is on stage."""

    kind: ClassVar[str] = "seek"
    time: Seconds


@dataclass(frozen=True)
class Transport(Request):
    """How it plays: the rate (1 is as recorded), round and round or once, and the range; what is None stays."""

    kind: ClassVar[str] = "transport"
    rate: Annotated[float, Range(least=0.01, most=10.0)] | None = None
    loop: bool | None = None
    start: Seconds | None = None
    stop: Seconds | None = None
    whole: bool = False  # the whole range again


@dataclass(frozen=True)
class Select(Request):
    """What is selected, by name; joints, parts, channels."""

    kind: ClassVar[str] = "select"
    names: Annotated[tuple[Name, ...], Range(longest=2000)]


@dataclass(frozen=True)
class Rename(Request):
    """Call something else. A clip is `character/clip`."""

    kind: ClassVar[str] = "rename"
    what: EntryKind | Literal["project"]
    target: Annotated[str, Range(longest=300)]
    name: Name


@dataclass(frozen=True)
class Label(Request):
    """The labels of a clip; none takes them off."""

    kind: ClassVar[str] = "label"
    character: Id
    clip: Name
    labels: Annotated[tuple[Name, ...], Range(longest=16)]


@dataclass(frozen=True)
class Delete(Request):
    """Take something out of the project. A clip is `character/clip`."""

    kind: ClassVar[str] = "delete"
    what: EntryKind
    target: Annotated[str, Range(longest=300)]


@dataclass(frozen=True)
class Undo(Request):
    """Take the last change back."""

    kind: ClassVar[str] = "undo"


@dataclass(frozen=True)
class Redo(Request):
    """Make it again."""

    kind: ClassVar[str] = "redo"


@dataclass(frozen=True)
class Exported:
    """Where the browser can fetch the file, what it is called, and what the format could not hold."""

    url: str
    name: str
    size: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Export(Request):
    """Write a character with its clips, one clip (`character/clip`), an edit, a take, a script or a model as a file.

    An edit has a key on every frame, which every program shows alike, unless its `keys` are asked for.
    """

    kind: ClassVar[str] = "export"
    result: ClassVar[Any] = Exported
    what: EntryKind
    target: Annotated[str, Range(longest=300)]
    format: Annotated[str, Range(longest=16)]
    keys: bool = False


@dataclass(frozen=True)
class Cancel(Request):
    """Stop a job."""

    kind: ClassVar[str] = "cancel"
    job: Id


@dataclass(frozen=True)
class SetPointer(Request):
    """Where the pointer is on stage, in the world, metres; None where it has left."""

    kind: ClassVar[str] = "look"
    point: tuple[float, float, float] | None


@dataclass(frozen=True)
class FrameDrawn(Request):
    """A frame has been drawn; sent without an id."""

    kind: ClassVar[str] = "seen"
    sequence: Annotated[int, Range(least=0, most=2**32 - 1)]
    stream: Annotated[int, Range(least=0, most=255)] = 0


@dataclass(frozen=True)
class Pong:
    """The server's clock, seconds since it began."""

    seconds: float


@dataclass(frozen=True)
class Ping(Request):
    """Is anybody there."""

    kind: ClassVar[str] = "ping"
    result: ClassVar[Any] = Pong


@dataclass(frozen=True)
class RequestDone(Event):
    """The answer to a request that was met."""

    kind: ClassVar[str] = "done"
    id: int
    result: Any = None


@dataclass(frozen=True)
class RequestFailed(Event):
    """The answer to one that was not: what happened, and what to do next."""

    kind: ClassVar[str] = "failed"
    id: int
    sentence: str
    hint: str = ""


@dataclass(frozen=True)
class FormatEntry:
    """A format that can be dropped or exported."""

    name: str
    endings: tuple[str, ...]
    writes: bool
    about: str


@dataclass(frozen=True)
class Hello(Event):
    """The first event of a connection."""

    kind: ClassVar[str] = "hello"
    version: str
    session: str
    modes: tuple[str, ...]
    formats: tuple[FormatEntry, ...]
    cast: tuple[str, ...]
    largest_upload: int  # bytes


@dataclass(frozen=True)
class DocumentChanged(Event):
    """The document, whole; `undoes` and `redoes` say what the next undo or redo would take back or make again."""

    kind: ClassVar[str] = "document"
    document: Document
    can_undo: bool
    can_redo: bool
    undoes: str = ""
    redoes: str = ""


@dataclass(frozen=True)
class JobChanged(Event):
    """Long work: how far, and for how long."""

    kind: ClassVar[str] = "job"
    id: str
    name: str
    done: float
    total: float  # 0 where unknown
    seconds: float
    state: Progress
    sentence: str = ""


@dataclass(frozen=True)
class Notice(Event):
    """A sentence for the user, and what to do next."""

    kind: ClassVar[str] = "notice"
    level: Level
    sentence: str
    hint: str = ""


@dataclass(frozen=True)
class Stats(Event):
    """Once a second while frames are sent: what a frame costs the server, and what goes over the wire."""

    kind: ClassVar[str] = "stats"
    ms: float  # processor time a frame
    fps: float
    bytes: int  # a second
    dropped: int  # frames that the page could not take, in this second
