"""The project on disk: a folder that a killed server leaves whole.

    project.json        the document, and where its characters come from; written last, whole or not at all
    history.json        what undo and redo lead to
    files/ID/NAME       what was dropped onto the page
    models/ takes/      what was learned and recorded
    edits/              curves that were edited, named by what they hold
    exports/            files that the page has fetched or is about to; emptied at each start

Content goes to disk first and is never changed afterwards; the document that names it follows. So at any moment the
folder holds the project as it was after the last change.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TextIO

from understudy import files
from understudy.errors import BadFile, InvalidInput
from understudy.studio.document import Document, DocumentText, json_text
from understudy.studio.history import History, HistoryFile
from understudy.studio.messages.message import read_plain

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: there two studios of one project are not kept apart
    fcntl = None

PROJECT_VERSION = 1
PROJECT_FILE_NAME = "project.json"
CONTENT_FOLDERS = ("files", "models", "takes", "edits")
MAX_PROJECT_FILE_BYTES = 64 << 20


@dataclass(frozen=True)
class Origin:
    """Where a character or a motion comes from: the built-in cast, a file of the project, or a file elsewhere."""

    cast: str = ""
    file: str = ""  # below the project's folder
    path: str = ""  # anywhere; given on the command line or below an opened folder
    number: int = 0  # which character of the file


@dataclass(frozen=True)
class SavedProject:
    """What project.json holds."""

    version: int = PROJECT_VERSION
    document: Document = field(default_factory=Document)
    origins: dict[str, Origin] = field(default_factory=dict)  # by the id of a character or of a motion


class Project:
    """One project folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        try:
            for name in (*CONTENT_FOLDERS, "exports"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"cannot make the project {self.folder}: {error.strerror or error}") from None
        self.origins: dict[str, Origin] = {}
        self._text = DocumentText()
        self._history = HistoryFile(self.folder)
        self._held: TextIO | None = None

    def hold(self) -> None:
        """Keep others from serving this project as long as this process lives; refused where another does."""
        if fcntl is None:
            return
        self._held = (self.folder / ".lock").open("w")
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise InvalidInput(f"the project {self.folder} is open in another studio; end that one first") from None

    def release(self) -> None:
        """Let others have it."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def open(self) -> Document:
        """The document as it was saved last; an empty one in a new folder."""
        return self.reopen().now

    def reopen(self) -> History:
        """The document as it was saved last, and its history. What nothing in either names is cleared away."""
        place = self.folder / PROJECT_FILE_NAME
        if not place.exists():
            return History(Document())
        try:
            found = json.loads(files.read_text(place, MAX_PROJECT_FILE_BYTES))
            if not isinstance(found, dict) or found.get("version") != PROJECT_VERSION:
                raise BadFile(place, f"is not a project of version {PROJECT_VERSION}")
            saved: SavedProject = read_plain(SavedProject, found, "project")
        except (InvalidInput, ValueError, RecursionError) as error:
            raise BadFile(place, f"cannot be read as a project: {error}") from None
        history = self._history.read(saved.document)
        documents = [history.now, *(document for document, _ in (*history.past, *history.future))]
        characters = [entry for document in documents for entry in document.characters]
        used = {entry.id for entry in characters} | {clip.source for entry in characters for clip in entry.clips}
        self.origins = {id: origin for id, origin in saved.origins.items() if id in used}
        self._clear(documents)
        return history

    def save(self, document: Document) -> None:
        """Write the document, whole or not at all."""
        origins = json_text(self.origins)
        text = f'{{"version":{PROJECT_VERSION},\n"document":{self._text.to_json(document)},\n"origins":{origins}}}\n'
        with files.write_atomically(self.folder / PROJECT_FILE_NAME) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def save_history(self, history: History) -> None:
        """Write what undo and redo lead to from a document, before that is saved."""
        self._history.save(history)

    def settle(self) -> None:
        """Wait until what was saved would survive a power cut too; takes some milliseconds, so not in the loop."""
        with (self.folder / PROJECT_FILE_NAME).open("rb") as handle:
            os.fsync(handle.fileno())

    def place(self, kind: str, name: str) -> Path:
        """Where a content file of the project lies: `place("models", entry.file)`."""
        if kind not in (*CONTENT_FOLDERS, "exports") or Path(name).name != name or name in ("", ".", ".."):
            raise InvalidInput(f"there is no place for {name!r} among the {kind}")
        return self.folder / kind / name

    def _clear(self, documents: list[Document]) -> None:
        """Remove what a killed server left: temporary files, exports, content that no document names."""
        for place in (*self.folder.glob(".*.part*"), *(self.folder / "exports").iterdir()):
            _remove(place)
        used = {f"models/{each.file}" for document in documents for each in document.models}
        used |= {f"takes/{each.file}" for document in documents for each in document.takes}
        used |= {f"edits/{each.file}" for document in documents for each in document.edits if each.file}
        used |= {"/".join(Path(each.file).parts[:2]) for each in self.origins.values() if each.file}
        for kind in CONTENT_FOLDERS:
            for place in (self.folder / kind).iterdir():
                if f"{kind}/{place.name}" not in used:
                    _remove(place)


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
