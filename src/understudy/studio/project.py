"""The project on disk: a folder that stays consistent if the server is killed, and from which nothing vanishes.

    project.json        the document, and the origins of its characters; written last, atomically
    history.json        the steps of undo and redo
    versions/           earlier documents: of the last changes, and the last one of each of the last days
    files/ID/NAME       files that were dropped onto the page
    models/ takes/      trained models and recorded takes
    edits/              edited curves, named by a digest of their content
    trash/              content that no document names any more, for a month
    exports/            files for the page to fetch; emptied at each start

Content is written first and never changed afterwards; the document that names it follows. So at any moment the folder
holds the project as it was after the last change. Where `project.json` is damaged or missing, the newest version takes
its place; where there is none, `is_lost` asks the caller to open the content anew.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import TextIO

from understudy import files
from understudy.errors import BadFile, FileError, InvalidInput, Unsupported
from understudy.studio.document import Document, DocumentText, json_text
from understudy.studio.history import History, HistoryFile
from understudy.studio.messages.message import read_plain

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: nothing prevents two studios from opening one project
    fcntl = None

LOG = logging.getLogger(__name__)
PROJECT_VERSION = 1
PROJECT_FILE_NAME = "project.json"
CONTENT_FOLDERS = ("files", "models", "takes", "edits")
MAX_PROJECT_FILE_BYTES = 64 << 20
VERSION_SECONDS = 120.0  # between two versions while the document changes
VERSION_TIME_FORMAT = "%Y-%m-%dT%H-%M-%S.%fZ"  # the name of a version; no colons, for Windows
NEWEST_VERSIONS = 20  # that are all kept; of older ones the last of each day
VERSION_DAYS = 30
TRASH_SECONDS = 30 * 86_400.0


@dataclass(frozen=True)
class Origin:
    """The source of a character or a motion: the built-in cast, a file of the project, or a file elsewhere."""

    cast: str = ""
    file: str = ""  # relative to the project's folder
    path: str = ""  # anywhere: given on the command line, or below an allowed folder
    number: int = 0  # of the character in the file


@dataclass(frozen=True)
class SavedProject:
    """The content of project.json."""

    version: int = PROJECT_VERSION
    document: Document = field(default_factory=Document)
    origins: dict[str, Origin] = field(default_factory=dict)  # by the id of a character or of a motion


class Project:
    """One project folder.

    `recovery` says what happened to a document that could not be read, and is empty otherwise.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        try:
            for name in (*CONTENT_FOLDERS, "exports"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"cannot make the project {self.folder}: {error.strerror or error}") from None
        self.origins: dict[str, Origin] = {}
        self.recovery = ""
        self.is_lost = False  # neither a document nor a version of it could be read, but there is content
        self._text = DocumentText()
        self._history = HistoryFile(self.folder)
        self._held: TextIO | None = None
        self._version_due = 0.0  # of the monotonic clock

    def hold(self) -> None:
        """Lock the project for this process; raises `InvalidInput` if another process has it."""
        if fcntl is None:
            return
        self._held = (self.folder / ".lock").open("w")
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise InvalidInput(f"the project {self.folder} is open in another studio; end that one first") from None

    def release(self) -> None:
        """Unlock the project."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def open(self) -> Document:
        """The last saved document; an empty one in a new folder."""
        return self.reopen().now

    def reopen(self) -> History:
        """The last saved document, or the newest version that can be read, and its history.

        Content that neither names goes to the trash; content that they name comes back from there.
        """
        saved = self._read_newest()
        history = self._history.read(saved.document)
        documents = [history.now, *(document for document, _ in (*history.past, *history.future))]
        characters = [entry for document in documents for entry in document.characters]
        used = {entry.id for entry in characters} | {clip.source for entry in characters for clip in entry.clips}
        self.origins = {id: origin for id, origin in saved.origins.items() if id in used}
        for place in (*self.folder.glob(".*.part*"), *(self.folder / "exports").iterdir()):
            _remove(place)
        if not self.is_lost:
            self._sort_content(documents)
        self._empty_trash()
        return history

    def _read_newest(self) -> SavedProject:
        place = self.folder / PROJECT_FILE_NAME
        if place.exists():
            try:
                return read_project(place)
            except DamagedProject as error:
                fault = "The project's file was damaged"
                LOG.warning("%s", error)
                place.replace(self._version_place("damaged-"))
        elif any(True for kind in CONTENT_FOLDERS for _ in (self.folder / kind).iterdir()):
            fault = "The project's file was missing"
        else:
            return SavedProject()
        for version in self.versions():
            with suppress(FileError):
                saved = read_project(version)
                self.recovery = f"{fault}, so its version of {version_time(version)} was opened."
                return saved
        self.is_lost = True
        self.recovery = (
            f"{fault}, and it has no versions, so the project was put together from the files in its folder."
        )
        return SavedProject()

    def save(self, document: Document) -> None:
        """Write the document atomically. `settle` flushes it to the disk."""
        if time.monotonic() >= self._version_due:
            self.keep_version()
        origins = json_text(self.origins)
        text = f'{{"version":{PROJECT_VERSION},\n"document":{self._text.to_json(document)},\n"origins":{origins}}}\n'
        with files.write_atomically(self.folder / PROJECT_FILE_NAME, flush=False) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def save_history(self, history: History) -> None:
        """Write the history of a document, before the document itself is saved."""
        self._history.save(history)

    def settle(self) -> None:
        """Flush document and history to the disk. It takes some milliseconds: do not call it in the server's loop."""
        for place in (self._history.place, self.folder / PROJECT_FILE_NAME):
            with suppress(FileNotFoundError):  # no change has been made yet
                files.flush_to_disk(place)
        if os.name == "posix":  # the names in the folder, too
            handle = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def place(self, kind: str, name: str) -> Path:
        """The path of a content file of the project: `place("models", entry.file)`."""
        if kind not in (*CONTENT_FOLDERS, "exports") or Path(name).name != name or name in ("", ".", ".."):
            raise InvalidInput(f"{name!r} cannot be the name of a file in the project's folder {kind!r}")
        return self.folder / kind / name

    # Versions ---------------------------------------------------------------------------------------------------------

    def versions(self) -> list[Path]:
        """The earlier documents, newest first."""
        return sorted((self.folder / "versions").glob("2*.json"), reverse=True)

    def keep_version(self) -> None:
        """Keep the saved document as a version, if it differs from the newest one."""
        place, versions = self.folder / PROJECT_FILE_NAME, self.versions()
        if not place.exists():
            return
        self._version_due = time.monotonic() + VERSION_SECONDS
        if versions and versions[0].read_bytes() == place.read_bytes():
            return
        target = self._version_place()
        with files.write_atomically(target, flush=False) as temporary:
            shutil.copyfile(place, temporary)
        _thin_out([target, *versions])

    def open_version(self, name: str) -> Document:
        """The document of a version; its content comes back from the trash, and its origins join the known ones."""
        place = next((each for each in self.versions() if each.name == name), None)
        if place is None:
            raise InvalidInput("there is no such version of the project")
        saved = read_project(place)
        self.origins = {**saved.origins, **self.origins}
        self._retrieve(_content_names([saved.document], self.origins))
        return saved.document

    def _version_place(self, prefix: str = "") -> Path:
        folder = self.folder / "versions"
        folder.mkdir(exist_ok=True)
        return folder / f"{prefix}{datetime.now(UTC).strftime(VERSION_TIME_FORMAT)}.json"

    # Content ----------------------------------------------------------------------------------------------------------

    def _sort_content(self, documents: list[Document]) -> None:
        """Bring back the content that documents name, and move the rest to the trash."""
        used = _content_names(documents, self.origins)
        self._retrieve(used)
        for kind in CONTENT_FOLDERS:
            for place in (self.folder / kind).iterdir():
                if f"{kind}/{place.name}" not in used:
                    _move(place, self.folder / "trash" / kind / place.name)

    def _retrieve(self, names: set[str]) -> None:
        """Bring back content from the trash."""
        for name in names:
            if not (self.folder / name).exists() and (self.folder / "trash" / name).exists():
                _move(self.folder / "trash" / name, self.folder / name)

    def _empty_trash(self) -> None:
        """Delete what has been in the trash for a month."""
        oldest = time.time() - TRASH_SECONDS
        for place in (self.folder / "trash").glob("*/*"):
            if place.lstat().st_mtime < oldest:
                _remove(place)


class DamagedProject(BadFile):
    """A project file that was read from the disk, but is no project."""


def read_project(place: Path) -> SavedProject:
    """The content of a project file or of a version.

    Raises `DamagedProject` where it is damaged, `Unsupported` where it is of a newer understudy, and `BadFile` where
    the disk does not give it.
    """
    content = files.read_bytes(place, MAX_PROJECT_FILE_BYTES)
    try:
        data = json.loads(content)
        version = data.get("version") if isinstance(data, dict) else None
        if isinstance(version, int) and version > PROJECT_VERSION:
            raise Unsupported(place, f"was written by a newer understudy: version {version} of projects")
        if version != PROJECT_VERSION:
            raise InvalidInput("it is not a project")
        saved: SavedProject = read_plain(SavedProject, data, "project")
    except (InvalidInput, ValueError, RecursionError) as error:
        raise DamagedProject(place, f"cannot be read as a project: {error}") from None
    return saved


def version_time(place: Path) -> str:
    """When a version was saved, for the user: `2026-03-01 14:02 UTC`."""
    return f"{datetime.strptime(place.stem, VERSION_TIME_FORMAT):%Y-%m-%d %H:%M} UTC"


def _thin_out(versions: list[Path]) -> None:
    """Delete old versions, given newest first: after the newest ones, all but the last of each of the last days."""
    days = {version.name[:10] for version in versions[:NEWEST_VERSIONS]}
    for version in versions[NEWEST_VERSIONS:]:
        day = version.name[:10]
        if day in days or len(days) > VERSION_DAYS:
            version.unlink(missing_ok=True)
        days.add(day)


def _content_names(documents: list[Document], origins: dict[str, Origin]) -> set[str]:
    """The content that documents name, as `takes/NAME`."""
    used = {f"models/{each.file}" for document in documents for each in document.models}
    used |= {f"takes/{each.file}" for document in documents for each in document.takes}
    used |= {f"edits/{each.file}" for document in documents for each in document.edits if each.file}
    return used | {"/".join(Path(each.file).parts[:2]) for each in origins.values() if each.file}


def _move(source: Path, target: Path) -> None:
    """Move content; its time of change is now, from which its days in the trash are counted."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        _remove(target)
    source.replace(target)
    os.utime(target)


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
