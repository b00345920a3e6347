"""The project on disk: a folder that stays consistent if the server is killed.

    project.json        the document, and the origins of its characters; written last, atomically
    history.json        the steps of undo and redo
    files/ID/NAME       files that were dropped onto the page
    models/ takes/      trained models and recorded takes
    edits/              edited curves, named by a digest of their content
    exports/            files for the page to fetch; emptied at each start

Content is written first and never changed afterwards; the document that names it follows. So at any moment the folder
holds the project as it was after the last change.
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
except ImportError:  # Windows: nothing prevents two studios from opening one project
    fcntl = None

PROJECT_VERSION = 1
PROJECT_FILE_NAME = "project.json"
CONTENT_FOLDERS = ("files", "models", "takes", "edits")
MAX_PROJECT_FILE_BYTES = 64 << 20


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
        """The last saved document and its history. Content that neither names is deleted."""
        place = self.folder / PROJECT_FILE_NAME
        if not place.exists():
            return History(Document())
        try:
            data = json.loads(files.read_text(place, MAX_PROJECT_FILE_BYTES))
            if not isinstance(data, dict) or data.get("version") != PROJECT_VERSION:
                raise BadFile(place, f"is not a project of version {PROJECT_VERSION}")
            saved: SavedProject = read_plain(SavedProject, data, "project")
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
        """Write the document atomically."""
        origins = json_text(self.origins)
        text = f'{{"version":{PROJECT_VERSION},\n"document":{self._text.to_json(document)},\n"origins":{origins}}}\n'
        with files.write_atomically(self.folder / PROJECT_FILE_NAME) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def save_history(self, history: History) -> None:
        """Write the history of a document, before the document itself is saved."""
        self._history.save(history)

    def settle(self) -> None:
        """Flush the saved document to disk. It takes some milliseconds: do not call it in the server's loop."""
        with (self.folder / PROJECT_FILE_NAME).open("rb") as handle:
            os.fsync(handle.fileno())

    def place(self, kind: str, name: str) -> Path:
        """The path of a content file of the project: `place("models", entry.file)`."""
        if kind not in (*CONTENT_FOLDERS, "exports") or Path(name).name != name or name in ("", ".", ".."):
            raise InvalidInput(f"{name!r} cannot be the name of a file in the project's folder {kind!r}")
        return self.folder / kind / name

    def _clear(self, documents: list[Document]) -> None:
        """Delete temporary files, exports, and content that no document names."""
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
