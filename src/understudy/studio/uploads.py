"""Uploads: files that were dropped onto the page, several at once if they belong together.

They are stored in the project's `files/ID/` under plain file names. Sizes and counts are limited while they arrive, not
afterwards. If none can be opened the folder is deleted; files that can be opened are kept.
"""

from __future__ import annotations

import re
import secrets
import shutil
import unicodedata
from collections.abc import AsyncGenerator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from understudy import files
from understudy.errors import InvalidInput, UnderstudyError
from understudy.perform.pose_model import MODEL_SUFFIX, is_model
from understudy.studio.messages.shell import FileOpened, Notice
from understudy.studio.project import Origin
from understudy.studio.shell.open_file import open_origin

if TYPE_CHECKING:
    from starlette.datastructures import FormData, UploadFile

    from understudy.studio.session import Session

MAX_UPLOAD_BYTES = 512 << 20  # bytes of one upload
MAX_UPLOAD_FILES = 64
MAX_ALL_UPLOADS_BYTES = 8 << 30  # bytes of all uploads of a project
# Files that a character's file may refer to: buffers, images, materials. They are stored beside it, not opened.
COMPANION_ENDINGS = (".bin", ".png", ".jpg", ".jpeg", ".webp", ".ktx2", ".mtl", ".tga")
RESERVED_NAME_PATTERN = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def plain_name(name: str) -> str:
    """The last part of a file name, made valid on every file system; refused if nothing is left."""
    last = PureWindowsPath(PurePosixPath(name.replace("\0", "")).name).name
    last = unicodedata.normalize("NFC", last)
    kept = "".join("_" if ord(c) < 32 or c in '<>:"/\\|?*\x7f' or "\ud800" <= c <= "\udfff" else c for c in last)
    stem, dot, ending = kept.strip(" .").rpartition(".")
    kept = f"{stem[:100]}{dot}{ending[:20]}"
    if not stem or not ending or RESERVED_NAME_PATTERN.match(kept):
        raise InvalidInput(f"{last[:60]!r} cannot be the name of a file; rename it and try again")
    return kept


async def limit_stream(
    stream: AsyncGenerator[bytes, None], most: int = MAX_UPLOAD_BYTES
) -> AsyncGenerator[bytes, None]:
    """The same stream, limited to `most` bytes; raises `InvalidInput` beyond that."""
    count = 0
    async for block in stream:
        count += len(block)
        if count > most:
            raise InvalidInput(f"an upload should have at most {most >> 20} MB")
        yield block


async def receive(session: Session, form: FormData) -> FileOpened:
    """Store and open the files of a form."""
    uploads = [each for _, each in form.multi_items() if not isinstance(each, str)]
    if not uploads:
        raise InvalidInput("an upload should hold at least one file")
    folder = session.project.folder / "files" / secrets.token_hex(8)
    _refuse_full(session.project.folder / "files", sum(each.size or 0 for each in uploads))
    try:
        folder.mkdir()
        names = [await _keep(folder, each) for each in uploads]
        return await open_uploaded(session, folder, names)
    except OSError as error:  # a full disk, for example
        shutil.rmtree(folder, ignore_errors=True)
        raise InvalidInput(f"the upload cannot be stored: {error.strerror or error}") from None
    except BaseException:
        if not _is_in_document(session, folder):
            shutil.rmtree(folder, ignore_errors=True)
        raise


async def _keep(folder: Path, file: UploadFile) -> str:
    """Write one file into the folder."""
    name = plain_name(file.filename or "")
    place = folder / name
    if place.exists():
        raise InvalidInput(f"the upload has two files {name}; rename one")
    with place.open("wb") as handle:
        while block := await file.read(1 << 20):
            handle.write(block)
    files.flush_to_disk(place)
    return name


async def open_uploaded(session: Session, folder: Path, names: list[str]) -> FileOpened:
    """Open the files of one upload: characters first, so that clips without one find theirs; then tell of failures."""
    from understudy import formats

    readable = [name for name in names if formats.readable(name) or is_model(name)]
    main = [name for name in readable if not name.lower().endswith(COMPANION_ENDINGS)]
    if any(name.lower().endswith(".amc") for name in main):  # reading an AMC also reads its skeleton
        main = [name for name in main if not name.lower().endswith(".asf")]
    if not main:
        known = ", ".join(sorted({ending for entry in formats.FORMATS for ending in entry.endings}))
        raise InvalidInput(f"{names[0]} cannot be opened; known are {known}")
    main.sort(key=lambda name: (Path(name).suffix.lower() in (".csv", ".curves.json", ".json", MODEL_SUFFIX), name))
    opened: list[FileOpened] = []
    failures: list[UnderstudyError] = []
    for number, name in enumerate(main):
        try:
            origin = Origin(file=f"files/{folder.name}/{name}")
            opened.append(await open_origin(session, origin, name, show=number == 0))
        except UnderstudyError as error:
            failures.append(error)
    if failures and not opened:
        raise failures[0]
    for failure in failures:
        session.emit(Notice("error", str(failure), "The other files are open."))
    characters = dict.fromkeys(id for each in opened for id in each.characters)
    return FileOpened(tuple(characters), tuple(note for each in opened for note in each.notes))


def _is_in_document(session: Session, folder: Path) -> bool:
    """Whether the project has opened a file of this folder."""
    known = {each.file for each in session.project.origins.values()}
    return any(file.startswith(f"files/{folder.name}/") for file in known)


def _refuse_full(folder: Path, more: int) -> None:
    used = sum(place.stat().st_size for place in folder.rglob("*") if place.is_file())
    if used + more > MAX_ALL_UPLOADS_BYTES:
        raise InvalidInput(
            f"a project should hold at most {MAX_ALL_UPLOADS_BYTES >> 30} GB of uploads; start another project"
        )
