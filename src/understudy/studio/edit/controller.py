"""The desk: the edit of a session, between the page, the document and the thread that solves.

Everything is asked of it in the server's loop. What takes time runs in one thread of its own, one thing after another,
so that the socket stays free and a clip is never changed by two at once. Goals of a gesture wait for their turn, and by
then only the newest is worked out. Whatever stays is a content file and one step of the document.

A clip is put on stage to be edited: what was made of it before, or its own keys.
"""

from __future__ import annotations

import asyncio
import functools
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from understudy.character import Clip, Curves
from understudy.errors import InvalidInput, UnderstudyError
from understudy.studio import source
from understudy.studio.assets import relabel
from understudy.studio.document import ClipEntry, Document, EditEntry, PathEntry, StageState
from understudy.studio.edit import edit_clip
from understudy.studio.edit.constraints import Constraints, constraints_from_document, point_of
from understudy.studio.edit.edit_clip import EditedClip, edit_state
from understudy.studio.edit.poses import CopiedPose
from understudy.studio.edit.reduction import ReductionJob, original_keys
from understudy.studio.edit.suggestions import SuggestionWorker
from understudy.studio.edit.view import CharacterView
from understudy.studio.messages.edit import EditChanged, EditEnded, EditState, MotionCurveEntry
from understudy.studio.session import collect_and_freeze_garbage
from understudy.studio.source import ClipSource

if TYPE_CHECKING:
    from understudy.studio.session import Session

T = TypeVar("T")
MAX_CACHED_ANIMATIONS = 32  # animations of files, for undo and redo


def edit_controller(session: Session) -> EditController:
    """The one desk of a session."""
    if "edit" not in session.parts:
        session.parts["edit"] = EditController(session)
    desk: EditController = session.parts["edit"]
    return desk


class EditController:
    """One clip at a time is edited: that on stage."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.offering = SuggestionWorker(session)
        self.reducing = ReductionJob()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="edit")
        self.turn = asyncio.Lock()  # whose turn it is to change the clip; who waits comes in the order of asking
        self._next: Callable[[], Callable[[], None] | None] | None = None  # what waits for its turn, the newest
        self._open: tuple[str, EditedClip, ClipSource] | None = None  # the id of the entry
        self._file = ""
        self._read: OrderedDict[str, Curves] = OrderedDict()
        self.pose: CopiedPose | None = None
        self.revision = 0
        self.number = 0  # of the last gesture
        self.gesture = 0  # of the one that goes on, 0 where none does
        self._waiting: tuple[int, int] | None = None  # frames of motion curves that are on no page yet

    async def work(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run something in the thread that solves."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, functools.partial(function, *arguments))

    async def run_newest(self, work: Callable[[], Callable[[], None] | None]) -> None:
        """The same, once it is its turn, of the newest that is asked for by then; those before it are dropped.

        `work` returns what is to be done with its result, in the server's loop. However fast a pointer is, one waits.
        """
        waits, self._next = self._next is not None, work
        if waits:
            return  # who waits already takes it along
        async with self.turn:
            work, self._next = self._next, None
            done = await self.work(work)
            if done is not None:
                done()

    @property
    def editing(self) -> EditedClip:
        """The clip on stage; refused where none is being edited."""
        if self._open is None or self.session.source is not self._open[2]:
            raise InvalidInput("no clip is being edited; choose one and open it for editing")
        return self._open[1]

    @property
    def source(self) -> ClipSource:
        """What drives the stage."""
        assert self._open is not None
        return self._open[2]

    @property
    def entry(self) -> EditEntry:
        """What the document has of it."""
        found = None if self._open is None else self.session.document.edit(self._open[0])
        if found is None:
            raise InvalidInput("no clip is being edited; choose one and open it for editing")
        return found

    @property
    def constraints(self) -> Constraints:
        """All that is held."""
        return constraints_from_document(self.entry, self.editing.origin)

    async def source_of(self, stage: StageState) -> ClipSource:
        """The source for a stage: the clip is opened, or goes to what undo has gone to."""
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
        self.offering.clear()
        picture = await self.work(self._show_entry, entry, editing)
        self.session.emit(EditChanged(self._state(entry, editing)))
        self.send(picture)
        return source

    def _show_entry(self, entry: EditEntry, editing: EditedClip) -> CharacterView:
        """All that is seen, with the motion curves that were shown of this edit before."""
        shown = self.visible_motion_curves(entry)
        editing.view.show_points([(each.curve, point_of(each.point)) for each in shown])
        return editing.view.picture()

    def _open_entry(self, entry: EditEntry) -> EditedClip:
        """Blocks: files are read."""
        session = self.session
        loaded = session.assets.get(entry.character)
        animation = _animation(session, entry)
        editing = EditedClip(loaded.rig, session.ticker.packer(loaded), animation, self._curves(entry))
        collect_and_freeze_garbage()
        return editing

    def _curves(self, entry: EditEntry) -> Curves | None:
        """The curves of an entry's file; None where it has none, and the clip's own are meant."""
        if not entry.file:
            return None
        found = self._read.get(entry.file)
        if found is None:
            found = edit_clip.read_curves(self.session.project.place("edits", entry.file), f"the edit {entry.name!r}")
        self._remember(entry.file, found)
        return found

    def _remember(self, file: str, curves: Curves) -> None:
        self._read[file] = curves
        self._read.move_to_end(file)
        while len(self._read) > MAX_CACHED_ANIMATIONS:
            self._read.popitem(last=False)

    def state(self) -> EditState:
        """What the page is told."""
        return self._state(self.entry, self.editing)

    def _state(self, entry: EditEntry, editing: EditedClip) -> EditState:
        shown = self.visible_motion_curves(entry)
        return edit_state(entry, editing, shown, self.pose is not None, self.revision)

    def announce(self) -> None:
        """Tell every page the state."""
        self.session.emit(EditChanged(self.state()))

    def missing(self) -> tuple[int, int] | None:
        """The frames of motion curves that some page has not got, and others would replace. From any thread."""
        clients = list(self.session.clients)  # a page may come or go meanwhile
        late = any(client.waits(source.PATHS_STREAM) for client in clients)
        return self._waiting if late else None

    def send(self, picture: CharacterView) -> tuple[int, int]:
        """Show a picture on every page; returns the numbers of its frames, 0 for motion curves where there are none."""
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
        """Other curves for good: a content file, then one step of the document. Call it in one's turn."""
        editing, entry = self.editing, entry or self.entry
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
        """The entry changed, as one step of the document."""
        document = self.session.document
        edits = tuple(entry if each.id == entry.id else each for each in document.edits)
        if edits != document.edits:
            self.session.change(replace(document, edits=edits), note)
        self.announce()

    def visible_motion_curves(self, entry: EditEntry) -> list[MotionCurveEntry]:
        """The motion curves of an edit that are shown."""
        mine = [each for each in self.session.document.paths if _is_path_of(each, entry)]
        return [MotionCurveEntry(each.curve, each.point, each.name, each.camera) for each in mine]

    def show_curves(self, curves: Sequence[MotionCurveEntry]) -> None:
        """Other motion curves of this edit."""
        document, entry = self.session.document, self.entry
        mine = [PathEntry(entry.character, entry.clip, c.curve, c.point, c.name, c.camera) for c in curves]
        others = [each for each in document.paths if not _is_path_of(each, entry)]
        self.session.adjust(replace(document, paths=(*others, *mine)))


def _is_path_of(path: PathEntry, entry: EditEntry) -> bool:
    """Whether a motion curve is one of the clip that an edit is of."""
    return (path.character, path.clip) == (entry.character, entry.clip)


def curves_of(session: Session, entry: EditEntry) -> Clip | Curves:
    """The animation of an edit, under its name; it blocks while files are read."""
    if entry.file:
        found: Clip | Curves = edit_clip.read_curves(
            session.project.place("edits", entry.file), f"the edit {entry.name!r}"
        )
    else:
        found = _animation(session, entry)
    return relabel(found, entry.name, found.labels)


def _animation(session: Session, entry: EditEntry) -> Clip | Curves:
    """The clip that an edit is of."""
    character = session.document.character(entry.character)
    clip = session.document.clip(entry.character, entry.clip)
    if character is None or clip is None:
        raise InvalidInput(f"the clip {entry.clip!r} of this edit is no longer in the project")
    return session.assets.animation(character, clip)


async def open_clip(session: Session, character: str, clip: str) -> None:
    """Put the edit of a clip on stage, where the clip stood if it is there already."""
    document = session.document
    if document.character(character) is None:
        raise InvalidInput(f"there is no character {character[:64]!r}")
    found = document.clip(character, clip)
    if found is None:
        raise InvalidInput(f"this character has no clip {clip!r}")
    before = document
    entry = entry_of(document, character, clip)
    if entry is None:
        entry = new_entry(document, character, found)
    others = tuple(each for each in document.edits if each.id != entry.id and has_changes(each))
    document = replace(document, edits=(*others, entry))
    stage = document.stage
    there = stage.character == character and stage.drives in (clip, entry.id) and stage.driver in ("clip", "edit")
    wanted: dict[str, object] = {"character": character, "driver": "edit", "drives": entry.id, "playing": False}
    if there:
        wanted["time"] = session.source.time if session.source is not None else stage.time
    else:
        wanted |= {"time": 0.0, "start": 0.0, "stop": None}
    session.adjust(document.with_stage(**wanted))
    try:
        await session.restage()
    except UnderstudyError:
        session.adjust(replace(session.document, edits=before.edits, stage=before.stage))
        raise


def entry_of(document: Document, character: str, clip: str) -> EditEntry | None:
    """What the document has of a clip's edits."""
    return next((each for each in document.edits if (each.character, each.clip) == (character, clip)), None)


def has_changes(entry: EditEntry) -> bool:
    """Whether anything was done; a clip that was only looked at leaves nothing."""
    return bool(entry.file or entry.pins or entry.contacts or entry.holds or entry.limits or entry.stiffness)


def new_entry(document: Document, character: str, clip: ClipEntry) -> EditEntry:
    """An edit that has not begun, under a name of its own."""
    taken = {each.name for each in document.edits} | {
        each.title for entry in document.characters for each in entry.clips
    }
    names = (f"{clip.title} edited{'' if n == 1 else f' {n}'}" for n in range(1, len(taken) + 2))
    return EditEntry(secrets.token_hex(4), next(name for name in names if name not in taken), character, clip.name)
