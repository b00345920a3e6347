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
JobTask = Literal["open", "export", "learn", "reduce", "sketch", "transfer", "other"]


@dataclass(frozen=True)
class FileOpened:
    """The ids of the characters in a file, and notes of what the reader dropped or changed."""

    characters: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Open(Request):
    """Open a file below one of the allowed folders, or a member of the built-in cast (`dragon`)."""

    kind: ClassVar[str] = "open"
    result: ClassVar[Any] = FileOpened
    path: Annotated[str, Range(longest=4096)]


@dataclass(frozen=True)
class Close(Request):
    """Close a character with its models, takes, scripts and edits."""

    kind: ClassVar[str] = "close"
    character: Id


@dataclass(frozen=True)
class Show(Request):
    """Put a character on stage: with a clip, with a take, or in its rest pose."""

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
    """Go to a time, seconds from the beginning."""

    kind: ClassVar[str] = "seek"
    time: Seconds


@dataclass(frozen=True)
class Transport(Request):
    """Set the playback rate (1 is as recorded), the loop and the range; None leaves a value as it is."""

    kind: ClassVar[str] = "transport"
    rate: Annotated[float, Range(least=0.01, most=10.0)] | None = None
    loop: bool | None = None
    start: Seconds | None = None
    stop: Seconds | None = None
    whole: bool = False  # reset the range to the whole clip


@dataclass(frozen=True)
class Select(Request):
    """Set the selection, by name: joints, parts, channels."""

    kind: ClassVar[str] = "select"
    names: Annotated[tuple[Name, ...], Range(longest=2000)]


@dataclass(frozen=True)
class Rename(Request):
    """Rename an entry. A clip is `character/clip`."""

    kind: ClassVar[str] = "rename"
    what: EntryKind | Literal["project"]
    target: Annotated[str, Range(longest=300)]
    name: Name


@dataclass(frozen=True)
class Label(Request):
    """Set the labels of a clip; an empty list removes them."""

    kind: ClassVar[str] = "label"
    character: Id
    clip: Name
    labels: Annotated[tuple[Name, ...], Range(longest=16)]


@dataclass(frozen=True)
class Delete(Request):
    """Delete an entry of the project. A clip is `character/clip`."""

    kind: ClassVar[str] = "delete"
    what: EntryKind
    target: Annotated[str, Range(longest=300)]


@dataclass(frozen=True)
class Undo(Request):
    """Undo the last change."""

    kind: ClassVar[str] = "undo"


@dataclass(frozen=True)
class Redo(Request):
    """Redo the next change."""

    kind: ClassVar[str] = "redo"


@dataclass(frozen=True)
class VersionEntry:
    """An earlier version of the project: when it was saved, and how much it holds."""

    name: str
    time: str  # for display, UTC
    characters: int
    models: int
    takes: int
    edits: int


@dataclass(frozen=True)
class ProjectVersions:
    """The versions of the project, newest first."""

    versions: tuple[VersionEntry, ...]


@dataclass(frozen=True)
class ListVersions(Request):
    """List the earlier versions of the project."""

    kind: ClassVar[str] = "versions"
    result: ClassVar[Any] = ProjectVersions


@dataclass(frozen=True)
class OpenVersion(Request):
    """Go back to an earlier version of the project; undo returns to the present one."""

    kind: ClassVar[str] = "openVersion"
    version: Name


@dataclass(frozen=True)
class Exported:
    """The address of the file, its name and size, and notes of what the format could not hold."""

    url: str
    name: str
    size: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Export(Request):
    """Write a character with its clips, one clip (`character/clip`), an edit, a take, a script or a model as a file.

    An edit is written with a key on every frame, which every program shows alike, or with its own `keys`.
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
    """The pointer on stage, as a point of the world in metres; None if it has left."""

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
    """The server's clock, seconds since its start."""

    seconds: float


@dataclass(frozen=True)
class Ping(Request):
    """Check the connection."""

    kind: ClassVar[str] = "ping"
    result: ClassVar[Any] = Pong


@dataclass(frozen=True)
class RequestDone(Event):
    """The answer to a request that succeeded."""

    kind: ClassVar[str] = "done"
    id: int
    result: Any = None


@dataclass(frozen=True)
class RequestFailed(Event):
    """The answer to a request that failed: what happened, and what to do next."""

    kind: ClassVar[str] = "failed"
    id: int
    sentence: str
    hint: str = ""


@dataclass(frozen=True)
class FormatEntry:
    """A file format that can be opened or exported."""

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
    """The whole document; `undoes` and `redoes` name the change of the next undo or redo."""

    kind: ClassVar[str] = "document"
    document: Document
    can_undo: bool
    can_redo: bool
    undoes: str = ""
    redoes: str = ""


@dataclass(frozen=True)
class JobChanged(Event):
    """The progress of a job, and the seconds since its start."""

    kind: ClassVar[str] = "job"
    id: str
    name: str
    done: float
    total: float  # 0 if unknown
    seconds: float
    state: Progress
    sentence: str = ""
    task: JobTask = "other"  # what kind of work it is; `name` is for display only


@dataclass(frozen=True)
class Notice(Event):
    """A sentence for the user, and what to do next."""

    kind: ClassVar[str] = "notice"
    level: Level
    sentence: str
    hint: str = ""


@dataclass(frozen=True)
class Stats(Event):
    """The server's cost of a frame and the traffic, once a second while frames are sent."""

    kind: ClassVar[str] = "stats"
    ms: float  # processor time a frame
    fps: float
    bytes: int  # a second
    dropped: int  # frames that the page could not take in this second
