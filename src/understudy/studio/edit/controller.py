"""The controller of the edit mode: the open edit of a session, between the page, the document and the solver's thread.

All methods are called in the server's loop. Slow work runs in one thread of its own, one task after the other, so that
the socket stays responsive and no clip is changed by two tasks at once. Of the goals of a drag that wait, only the
newest is solved. A committed change is a content file and one undo step of the document.
"""

from __future__ import annotations

import asyncio
import functools
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from understudy.character import Clip, Curves
from understudy.errors import InvalidInput
from understudy.studio import source
from understudy.studio.assets import relabel
from understudy.studio.document import ClipEntry, Document, EditEntry, PathEntry, StageState
from understudy.studio.edit import edit_clip
from understudy.studio.edit.constraints import Constraints, constraints_from_document, point_of
from understudy.studio.edit.drags import ReleasedDrag
from understudy.studio.edit.edit_clip import EditedClip, edit_state
from understudy.studio.edit.poses import CopiedPose
from understudy.studio.edit.reduction import ReductionJob, original_keys
from understudy.studio.edit.suggestions import SuggestionWorker
from understudy.studio.edit.view import CharacterView
from understudy.studio.messages.edit import EditChanged, EditEnded, EditOutcome, EditState, MotionCurveEntry
from understudy.studio.session import CURRENT_PAGE, collect_and_freeze_garbage
from understudy.studio.source import ClipSource

if TYPE_CHECKING:
    from understudy.studio.session import Client, Session

T = TypeVar("T")
MAX_CACHED_ANIMATIONS = 32  # curves of content files, for undo and redo


def edit_controller(session: Session) -> EditController:
    """The edit controller of a session; it is made on first use."""
    if "edit" not in session.parts:
        session.parts["edit"] = EditController(session)
    controller: EditController = session.parts["edit"]
    return controller


async def controller_on_stage(session: Session) -> EditController:
    """The edit controller of a session, when the stage is not about to change.

    Pages know the state of an edit before its source is on stage, and send requests at once; these wait here.
    """
    await session.wait_until_staged()
    return edit_controller(session)


class EditController:
    """Edits one clip at a time: the one on stage."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.suggestions = SuggestionWorker(session)
        self.reduction = ReductionJob()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="edit")
        self.edit_lock = asyncio.Lock()  # serialises changes of the clip (FIFO)
        self._next: Callable[[], Callable[[], None] | None] | None = None  # the newest waiting work
        self._open: tuple[str, EditedClip, ClipSource] | None = None  # with the id of the entry
        self._file = ""
        self._read: OrderedDict[str, Curves] = OrderedDict()
        self.pose: CopiedPose | None = None
        self.revision = 0
        self.number = 0  # of the last drag
        self.gesture = 0  # number of the drag in progress, 0 for none
        self.dragging_page: Client | None = None  # the page that began it
        self.last_outcome: EditOutcome | None = None  # of the last goal of a drag
        self.released: ReleasedDrag | None = None  # the last drag that was kept
        self._waiting: tuple[int, int] | None = None  # range of motion curve frames that was sent last

    async def work(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function in the solver's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, functools.partial(function, *arguments))

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Hold `edit_lock` for a change of the clip; `InvalidInput` while another page drags."""
        async with self.edit_lock:
            if self.gesture and self.is_dragged_elsewhere():
                raise InvalidInput("this clip is being dragged in another page; wait until it is let go there")
            yield

    def is_dragged_elsewhere(self) -> bool:
        """Whether the drag was begun by another page, which is still connected."""
        page = self.dragging_page
        return page is not None and page is not CURRENT_PAGE.get() and page in self.session.clients

    async def run_newest(self, work: Callable[[], Callable[[], None] | None]) -> None:
        """Run work after the current change; if newer work arrives before that, only the newest runs.

        `work` returns a function that uses its result in the server's loop, or None.
        """
        is_waiting, self._next = self._next is not None, work
        if is_waiting:
            return  # the waiting call runs this work instead
        async with self.edit_lock:
            work, self._next = self._next, None
            done = await self.work(work)
            if done is not None:
                done()

    @property
    def editing(self) -> EditedClip:
        """The clip on stage; raises `InvalidInput` if none is being edited."""
        if self._open is None or self.session.source is not self._open[2]:
            raise InvalidInput("no clip is being edited; choose one and open it for editing")
        return self._open[1]

    @property
    def source(self) -> ClipSource:
        """The source of the stage."""
        assert self._open is not None
        return self._open[2]

    @property
    def entry(self) -> EditEntry:
        """The document's entry of the open edit."""
        entry = None if self._open is None else self.session.document.edit(self._open[0])
        if entry is None:
            raise InvalidInput("no clip is being edited; choose one and open it for editing")
        return entry

    @property
    def constraints(self) -> Constraints:
        """The constraints of the open edit."""
        return constraints_from_document(self.entry, self.editing.origin)

    def last_release(self) -> ReleasedDrag | None:
        """The last drag, if the clip has not changed since."""
        released = self.released
        return released if released is not None and released.kept is self.editing.committed else None

    async def source_of(self, stage: StageState) -> ClipSource:
        """The source for a stage: opens the clip, or follows an undo to other curves."""
        entry = self.session.document.edit(stage.drives)
        if entry is None:
            raise InvalidInput("this edit is no longer in the project")
        if self._open is None or self._open[0] != entry.id:
            editing = await self.work(self._open_entry, entry)
            source = ClipSource(editing.rig, editing.committed, rows=editing)
            editing.view.clock = lambda: source.time
            self._open = entry.id, editing, source
        elif self._file != entry.file:
            editing = self._open[1]
            await self.work(lambda: editing.adopt(self._curves(entry) or original_keys(editing.animation)))
        _, editing, source = self._open
        self._file, self.gesture = entry.file, 0
        source.duration = editing.view.seconds
        source.bounds(stage.loop, stage.start, stage.stop)
        self.revision += 1
        source.seek(stage.time)
        self.suggestions.clear()
        picture = await self.work(self._show_entry, entry, editing)
        self.session.emit(EditChanged(self._state(entry, editing)))
        self.send(picture)
        return source

    def _show_entry(self, entry: EditEntry, editing: EditedClip) -> CharacterView:
        """A whole picture, with the motion curves that the document shows for this edit."""
        shown = self.visible_motion_curves(entry)
        editing.view.show_points([(each.curve, point_of(each.point)) for each in shown])
        return editing.view.picture()

    def _open_entry(self, entry: EditEntry) -> EditedClip:
        """Open the clip of an entry. It blocks while files are read."""
        session = self.session
        loaded = session.assets.get(entry.character)
        animation = _animation(session, entry)
        editing = EditedClip(loaded.rig, session.ticker.packer(loaded), animation, self._curves(entry))
        collect_and_freeze_garbage()
        return editing

    def _curves(self, entry: EditEntry) -> Curves | None:
        """The curves of an entry's file; None if the clip's own are unchanged."""
        if not entry.file:
            return None
        curves = self._read.get(entry.file)
        if curves is None:
            curves = edit_clip.read_curves(self.session.project.place("edits", entry.file), f"the edit {entry.name!r}")
        self._remember(entry.file, curves)
        return curves

    def _remember(self, file: str, curves: Curves) -> None:
        self._read[file] = curves
        self._read.move_to_end(file)
        while len(self._read) > MAX_CACHED_ANIMATIONS:
            self._read.popitem(last=False)

    def state(self) -> EditState:
        """The state of the open edit, for the page."""
        return self._state(self.entry, self.editing)

    def _state(self, entry: EditEntry, editing: EditedClip) -> EditState:
        shown = self.visible_motion_curves(entry)
        return edit_state(entry, editing, shown, self.pose is not None, self.revision)

    def announce(self) -> None:
        """Send the state to every page."""
        self.session.emit(EditChanged(self.state()))

    def missing(self) -> tuple[int, int] | None:
        """The motion curve frames that a page still waits for, which the next would replace. From any thread."""
        clients = list(self.session.clients)  # a copy: pages may connect or leave meanwhile
        late = any(client.waits(source.PATHS_STREAM) for client in clients)
        return self._waiting if late else None

    def send(self, picture: CharacterView) -> tuple[int, int]:
        """Send a picture to every page; returns the frame numbers of stage and motion curves (0 if it has none)."""
        assert self._open is not None
        session, time = self.session, picture.time
        form, stage = self._open[1].view.packer.form, picture.stage
        sent = session.send_frame(form, time, stage.a, stage.b, stage.payload)
        paths = 0
        if picture.paths is not None:
            block = picture.paths
            self._waiting = picture.first, picture.first + block.b
            paths = session.send_frame(source.PATHS_FORM, time, block.a, block.b, block.payload, source.PATHS_STREAM)
        if picture.graph is not None:
            block = picture.graph
            session.send_frame(source.GRAPH_FORM, time, block.a, block.b, block.payload, source.GRAPH_STREAM)
        if picture.ghosts is not None:
            block = picture.ghosts
            session.send_frame(source.GHOSTS_FORM, time, block.a, block.b, block.payload, source.GHOSTS_STREAM)
        return sent, paths

    async def keep(self, curves: Curves, note: str, entry: EditEntry | None = None) -> EditEnded:
        """Commit other curves: a content file, then one undo step. Call it with `edit_lock` held."""
        editing, entry = self.editing, entry or self.entry
        editing.check_length(curves)
        folder = self.session.project.place("edits", "curves").parent
        file = await self.work(edit_clip.write_curves, curves, folder)
        picture = await self.work(editing.adopt, curves)
        self._remember(file, curves)
        self._file, self.gesture = file, 0
        self.source.duration = editing.view.seconds
        stage = self.session.document.stage
        self.source.bounds(stage.loop, stage.start, stage.stop)
        self.revision += 1
        self.put(replace(entry, file=file, keys=curves.key_count), note)
        self.send(picture)
        return EditEnded(curves.key_count, True)

    def put(self, entry: EditEntry, note: str) -> None:
        """Replace the entry, as one undo step."""
        document = self.session.document
        edits = tuple(entry if each.id == entry.id else each for each in document.edits)
        if edits != document.edits:
            self.session.change(replace(document, edits=edits), note)
        self.announce()

    def visible_motion_curves(self, entry: EditEntry) -> list[MotionCurveEntry]:
        """The motion curves that are shown for an edit."""
        paths = [each for each in self.session.document.paths if _is_path_of(each, entry)]
        return [MotionCurveEntry(each.curve, each.point, each.name, each.camera) for each in paths]

    def show_curves(self, curves: Sequence[MotionCurveEntry]) -> None:
        """Set the motion curves of the open edit."""
        document, entry = self.session.document, self.entry
        paths = [PathEntry(entry.character, entry.clip, c.curve, c.point, c.name, c.camera) for c in curves]
        others = [each for each in document.paths if not _is_path_of(each, entry)]
        self.session.adjust(replace(document, paths=(*others, *paths)))


def _is_path_of(path: PathEntry, entry: EditEntry) -> bool:
    """Whether a motion curve belongs to the clip of an edit."""
    return (path.character, path.clip) == (entry.character, entry.clip)


def curves_of(session: Session, entry: EditEntry) -> Clip | Curves:
    """The animation of an edit, under the edit's name. It blocks while files are read."""
    if entry.file:
        animation: Clip | Curves = edit_clip.read_curves(
            session.project.place("edits", entry.file), f"the edit {entry.name!r}"
        )
    else:
        animation = _animation(session, entry)
    return relabel(animation, entry.name, animation.labels)


def _animation(session: Session, entry: EditEntry) -> Clip | Curves:
    """The clip of an edit."""
    character = session.document.character(entry.character)
    clip = session.document.clip(entry.character, entry.clip)
    if character is None or clip is None:
        raise InvalidInput(f"the clip {entry.clip!r} of this edit is no longer in the project")
    return session.assets.animation(character, clip)


async def open_clip(session: Session, character: str, clip: str) -> None:
    """Put the edit of a clip on stage; if the clip is on stage already, the time stays."""

    def with_edit(document: Document) -> Document:
        if document.character(character) is None:
            raise InvalidInput(f"there is no character {character[:64]!r}")
        found = document.clip(character, clip)
        if found is None:
            raise InvalidInput(f"this character has no clip {clip!r}")
        entry = entry_of(document, character, clip)
        if entry is None:
            entry = new_entry(document, character, found)
        others = tuple(each for each in document.edits if each.id != entry.id and has_changes(each))
        stage = document.stage
        drives = stage.driver in ("clip", "edit") and stage.drives in (clip, entry.id)
        wanted: dict[str, object] = {"character": character, "driver": "edit", "drives": entry.id, "playing": False}
        if drives and stage.character == character:
            wanted["time"] = session.source.time if session.source is not None else stage.time
        else:
            wanted |= {"time": 0.0, "start": 0.0, "stop": None}
        return replace(document, edits=(*others, entry)).with_stage(**wanted)

    await session.restage(with_edit)


def entry_of(document: Document, character: str, clip: str) -> EditEntry | None:
    """The document's edit of a clip, if there is one."""
    return next((each for each in document.edits if (each.character, each.clip) == (character, clip)), None)


def has_changes(entry: EditEntry) -> bool:
    """Whether an edit has changes or constraints; one without is not kept."""
    held = entry.pins or entry.contacts or entry.holds or entry.limits or entry.stiffness
    return bool(entry.file or held or entry.loose_feet or entry.hold_feet is not None)


def new_entry(document: Document, character: str, clip: ClipEntry) -> EditEntry:
    """A new edit without changes, under a unique name."""
    taken = {each.name for each in document.edits} | {
        each.title for entry in document.characters for each in entry.clips
    }
    names = (f"{clip.title} edited{'' if n == 1 else f' {n}'}" for n in range(1, len(taken) + 2))
    return EditEntry(secrets.token_hex(4), next(name for name in names if name not in taken), character, clip.name)
