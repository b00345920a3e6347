"""A session: one project, the stage, and the connected pages.

Everything runs in the server's loop, except `Session.emit`, which may be called from any thread.

`Client` is one connected page. Texts are sent in order; frames only as fast as the page draws them. The page
acknowledges each frame that it has drawn. At most `MAX_FRAMES_IN_FLIGHT` frames are on their way; meanwhile a newer
frame replaces the one that waits, so a slow page drops frames and never falls behind.

`collect_and_freeze_garbage` runs the garbage collector when a clip is opened, and not during a drag. A character and
its prepared data are a hundred thousand objects; a full collection over them takes 60 to 130 ms, which would interrupt
a drag. So open data is frozen until the next clip is opened.
"""

from __future__ import annotations

import asyncio
import gc
import secrets
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import InvalidInput, UnderstudyError
from understudy.studio import registry, source
from understudy.studio.assets import Assets, LoadedCharacter
from understudy.studio.clock import StageClock
from understudy.studio.document import Document, DocumentText, Driver, json_text
from understudy.studio.history import valid_stage
from understudy.studio.jobs import JobQueue
from understudy.studio.messages.message import Event, to_wire
from understudy.studio.messages.shell import DocumentChanged, Level, Notice
from understudy.studio.project import Project
from understudy.studio.source import PlaybackSource

if TYPE_CHECKING:
    from understudy.studio.security import AllowedFolders

MAX_FRAMES_IN_FLIGHT = 2  # one being drawn and one on its way; more would only add delay
MAX_WAITING_TEXTS = 2_000  # beyond that the page counts as lost
VERSIONS_HINT = "Earlier versions: Ctrl+K, then Versions."
SAVE_DELAY_SECONDS = 0.25  # seconds until an adjustment (the playhead) is saved; changes are saved at once


CURRENT_PAGE: ContextVar[Client | None] = ContextVar("CURRENT_PAGE", default=None)
"""The page whose request is being handled."""


class Session:
    """The state is `document`, changed only by `change` and `adjust`. `source` drives the character on stage."""

    def __init__(self, folder: str | Path, folders: AllowedFolders | None = None) -> None:
        from understudy.studio.security import AllowedFolders

        self.id = secrets.token_hex(8)
        self.project = Project(folder)
        self.folder = self.project.folder
        self.folders = folders or AllowedFolders()
        self.history = self.project.reopen()
        recovery = self.project.recovery
        if recovery:  # a version may be older than what was on stage
            self.history.adjust(replace(self.document, stage=valid_stage(self.document.stage, self.document)))
        self.greetings = [Notice("error", recovery, VERSIONS_HINT)] if recovery else []  # for every page that connects
        self.assets = Assets(self.project)
        self.jobs = JobQueue(self.emit)
        self.clients: set[Client] = set()
        self.source: PlaybackSource | None = None
        self.loaded: LoadedCharacter | None = None  # the character on stage
        self.parts: dict[str, Any] = {}  # state of the modes, by name
        self.ticker = StageClock(self)
        self._sequences: dict[int, int] = {}
        self._text = DocumentText()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._saving: asyncio.TimerHandle | None = None
        self._staging = asyncio.Lock()
        self._reviving: asyncio.Task[None] | None = None

    @property
    def document(self) -> Document:
        """The current document."""
        return self.history.now

    async def start(self) -> None:
        """Start. The source of the stage is made in the background, so that the page opens first."""
        self._loop = asyncio.get_running_loop()
        self.ticker.start()
        self._reviving = self._loop.create_task(self._revive())

    def greet(self, level: Level, sentence: str, hint: str) -> None:
        """Tell every page, also those that connect later."""
        self.greetings.append(Notice(level, sentence, hint))
        self.emit(self.greetings[-1])

    async def _revive(self) -> None:
        """Make the source of the document's stage. A project that has lost its document is put together before."""
        if self.project.is_lost:
            from understudy.studio.shell.open_file import rebuild

            await rebuild(self)
        try:
            await self.restage()
        except UnderstudyError as error:  # a missing file, for example; the rest of the project opens
            self.history.adjust(self.document.with_stage(character="", driver="rest", drives="", playing=False))
            self.greet("error", str(error), "The project is open without it.")

    async def stop(self) -> None:
        """Stop: jobs are cancelled, the document is saved."""
        self.jobs.cancel_all()
        if self._reviving is not None:
            self._reviving.cancel()
            await asyncio.gather(self._reviving, return_exceptions=True)
        await self.ticker.stop()
        self.save()
        self.project.release()

    def change(self, document: Document, note: str) -> None:
        """Make one undo step. It is saved before pages are told. `note` names the change: `open walk.glb`."""
        self.project.save_history(self.history.with_change(document, note))
        self._write(document)
        self.history.change(document, note)
        self._emit_document()

    def adjust(self, document: Document) -> None:
        """A change that is no undo step: stage, transport, selection."""
        if document == self.document:
            return
        self.history.adjust(document)
        if self._saving is None and self._loop is not None:
            self._saving = self._loop.call_later(SAVE_DELAY_SECONDS, self._save_later)
        self._emit_document()

    async def undo(self) -> str | None:
        """Undo the last change; returns its note."""
        return await self._apply_history_step(self.history.undo())

    async def redo(self) -> str | None:
        """Redo the next change; returns its note."""
        return await self._apply_history_step(self.history.redo())

    async def _apply_history_step(self, note: str | None) -> str | None:
        if note is not None:
            self.project.save_history(self.history)
            self.save()
            self._emit_document()
            await self.restage()
        return note

    def save(self) -> None:
        """Write the document now."""
        self._write(self.document)

    def _write(self, document: Document) -> None:
        if self._saving is not None:
            self._saving.cancel()
            self._saving = None
        self.project.save(document)
        if self._loop is not None:
            self._loop.run_in_executor(None, self.project.settle)

    def _save_later(self) -> None:
        try:
            self.save()
        except UnderstudyError as error:
            self.emit(Notice("error", str(error), "Until this is fixed, the project is not saved."))

    def emit(self, event: Event) -> None:
        """Send an event to every page; from any thread."""
        loop = self._loop
        if loop is None:
            return
        text = to_wire(event)
        try:
            in_loop = asyncio.get_running_loop() is loop
        except RuntimeError:
            in_loop = False
        if in_loop:
            self._tell_all(event.kind, text)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(self._tell_all, event.kind, text)

    def _tell_all(self, kind: str, text: str) -> None:
        for client in self.clients:
            client.tell(kind, text)

    def document_text(self) -> str:
        """The current `DocumentChanged` event as text."""
        past, future = self.history.past, self.history.future
        undoes, redoes = past[-1][1] if past else "", future[-1][1] if future else ""
        rest = {"canUndo": bool(past), "canRedo": bool(future), "undoes": undoes, "redoes": redoes}
        return f'{{"kind":"{DocumentChanged.kind}","document":{self._text.to_json(self.document)},{json_text(rest)[1:]}'

    def _emit_document(self) -> None:
        self._tell_all(DocumentChanged.kind, self.document_text())

    def wants_frame(self, stream: int = source.STAGE_STREAM) -> bool:
        """Whether any page would take a frame at once; if not, none need be made."""
        return any(client.takes(stream) for client in self.clients)

    def send_frame(
        self, form: int, time: float, a: int, b: int, payload: bytes | memoryview, stream: int = source.STAGE_STREAM
    ) -> int:
        """Send a frame to every page; returns its sequence number."""
        sequence = self._sequences.get(stream, 0) + 1
        self._sequences[stream] = sequence
        frame = source.frame_message(stream, sequence, form, time, a, b, payload)
        for client in self.clients:
            client.show(stream, sequence, frame)
        return sequence

    async def show(
        self, character: str, driver: Driver = "rest", drives: str = "", playing: bool | None = None
    ) -> None:
        """Put a character on stage: driven by a clip (its name), a take or a model (their ids), or at rest."""
        if self.document.character(character) is None:
            raise InvalidInput(f"there is no character {character!r}")
        plays = driver != "rest" if playing is None else playing
        stage: dict[str, object] = {"character": character, "driver": driver, "drives": drives, "playing": plays}
        stage |= {"time": 0.0, "start": 0.0, "stop": None}
        async with self._staging:
            await self._stage(self.document.with_stage(**stage))
            if self.document.character(character) is not None:  # it may have been closed meanwhile
                self.adjust(self.document.with_stage(**stage))  # of the document that may have changed meanwhile
        await self._prepare()

    async def wait_until_staged(self) -> None:
        """Wait until a source that is being made is on stage."""
        if self._reviving is not None and not self._reviving.done():
            await asyncio.wait([self._reviving])  # the stage of the saved document
        async with self._staging:
            pass

    async def restage(self, change: Callable[[Document], Document] | None = None) -> None:
        """Make the source of the document's stage.

        `change` adjusts edits and stage of the document first, when no other source is being made. If the source
        cannot be made, they are as before.
        """
        async with self._staging:
            before = self.document
            if change is not None:
                self.adjust(change(before))
            try:
                await self._stage(self.document)
            except UnderstudyError:
                if change is not None:
                    self.adjust(replace(self.document, edits=before.edits, stage=before.stage))
                raise
        await self._prepare()

    async def _stage(self, document: Document) -> None:
        """Make and show a source; if that fails, the stage stays as it was. Call it with `_staging` held."""
        stage = document.stage
        if document.character(stage.character) is None:
            self.source = self.loaded = None
            self.ticker.request_redraw()
            return
        maker = registry.source_maker(stage.driver)
        if maker is None:
            raise InvalidInput(f"there is no source for the driver {stage.driver!r}")
        loaded = await asyncio.to_thread(self.assets.get, stage.character)
        source = await maker(self, stage)
        source.seek(stage.time)
        await asyncio.to_thread(self.ticker.prepare, loaded)
        self.loaded, self.source = loaded, source
        self.ticker.request_redraw()

    async def _prepare(self) -> None:
        """Prepare the current source in the background."""
        async with self._staging:
            if self.source is not None:
                await asyncio.to_thread(self.source.prepare)


@dataclass
class FrameStream:
    """One stream of frames: the sequence numbers in flight, and the newest waiting frame."""

    in_flight: deque[int] = field(default_factory=deque)
    waiting: tuple[int, bytes] | None = None


class Client:
    """The queue of one connected page. `send_text` and `send_bytes` are methods of its socket."""

    def __init__(
        self, send_text: Callable[[str], Awaitable[None]], send_bytes: Callable[[bytes], Awaitable[None]]
    ) -> None:
        self._send_text, self._send_bytes = send_text, send_bytes
        self._texts: deque[tuple[str, str]] = deque()  # kind, text
        self._streams: dict[int, FrameStream] = {}
        self._something = asyncio.Event()
        self.lost = False
        self.dropped = 0
        self.sent_bytes = 0

    def tell(self, kind: str, text: str) -> None:
        """Queue a text. A newer document replaces one that still waits."""
        if kind == "document":
            self._texts = deque(each for each in self._texts if each[0] != kind)
        self._texts.append((kind, text))
        self.lost = self.lost or len(self._texts) > MAX_WAITING_TEXTS
        self._something.set()

    def takes(self, stream: int) -> bool:
        """Whether a frame would be sent at once."""
        frames = self._streams.get(stream)
        return not self.lost and (frames is None or len(frames.in_flight) < MAX_FRAMES_IN_FLIGHT)

    def waits(self, stream: int) -> bool:
        """Whether a frame waits, which the next one would replace."""
        frames = self._streams.get(stream)
        return frames is not None and frames.waiting is not None

    def show(self, stream: int, sequence: int, frame: bytes) -> None:
        """Queue a frame; it replaces one that still waits."""
        frames = self._streams.setdefault(stream, FrameStream())
        self.dropped += frames.waiting is not None
        frames.waiting = (sequence, frame)
        self._something.set()

    def acknowledge(self, stream: int, sequence: int) -> None:
        """The page has drawn a frame, and all before it; unknown numbers are ignored."""
        frames = self._streams.get(stream)
        if frames is None or sequence not in frames.in_flight:
            return
        while frames.in_flight and frames.in_flight.popleft() != sequence:
            pass
        self._something.set()

    async def run(self) -> None:
        """Send the queued texts and frames, until cancelled or lost."""
        while not self.lost:
            await self._something.wait()
            self._something.clear()
            while self._texts:
                await self._send_text(self._texts.popleft()[1])
            for frames in list(self._streams.values()):
                if frames.waiting is None or len(frames.in_flight) >= MAX_FRAMES_IN_FLIGHT:
                    continue
                sequence, frame = frames.waiting
                frames.waiting = None
                frames.in_flight.append(sequence)
                self.sent_bytes += len(frame)
                await self._send_bytes(frame)


def collect_and_freeze_garbage() -> None:
    """Collect all garbage now, and exclude the remaining objects from later collections."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
