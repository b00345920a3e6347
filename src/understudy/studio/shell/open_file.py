"""Open a file: its characters and clips become entries of the document. Also rename and delete entries.

**Uploads** are files that were dropped onto the page, several at once if they belong together. They are stored in the
project's `files/ID/` under plain file names. Sizes and counts are limited while they arrive, not afterwards. If none
can be opened the folder is deleted; files that can be opened are kept.

**Rebuilding** puts a project together from its content, where its document and all versions of it are lost. Uploaded
files and models are opened as if they were dropped onto the page. A take goes to the character that it names, or to the
first one with as many columns. Of the edits of a clip, each step of which is a file, the newest is kept. What cannot be
opened stays in the folder, and goes to its trash at the next start.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
import unicodedata
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from understudy import files
from understudy.character import Asset, Character, Curves
from understudy.errors import InvalidInput, UnderstudyError, join_names
from understudy.perform.pose_model import MODEL_SUFFIX, is_model
from understudy.studio.assets import Animation, read_origin
from understudy.studio.document import CharacterEntry, ClipEntry, Document, EditEntry, ModelEntry, TakeEntry
from understudy.studio.history import valid_stage
from understudy.studio.messages.shell import FileOpened, Notice
from understudy.studio.project import Origin

if TYPE_CHECKING:
    from starlette.datastructures import FormData, UploadFile

    from understudy.character.rig import PosedRig
    from understudy.studio.perform.recording import RecordedTake
    from understudy.studio.session import Session

MAX_CHARACTERS = 200  # of a project
DOCUMENT_LISTS = {"character": "characters", "model": "models", "take": "takes", "script": "scripts", "edit": "edits"}
MAX_UPLOAD_BYTES = 512 << 20  # bytes of one upload
MAX_UPLOAD_FILES = 64
MAX_ALL_UPLOADS_BYTES = 8 << 30  # bytes of all uploads of a project
# Files that a character's file may refer to: buffers, images, materials. They are stored beside it, not opened.
COMPANION_ENDINGS = (".bin", ".png", ".jpg", ".jpeg", ".webp", ".ktx2", ".mtl", ".tga")
RESERVED_NAME_PATTERN = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def new_id(letter: str) -> str:
    """A new random id with a letter for its kind."""
    return f"{letter}{secrets.token_hex(4)}"


async def open_origin(session: Session, origin: Origin, name: str, show: bool = True) -> FileOpened:
    """Read a file in a job, add its content to the document, and show it."""
    path = Path(origin.path) if origin.path else session.project.folder / origin.file
    if is_model(path) and not origin.cast:
        from understudy.studio.perform.handlers import open_model

        return await open_model(session, path, name, show)
    job = session.jobs.run(f"open {name}", lambda progress, cancelled: _read_asset_and_rigs(session, origin), "open")
    asset, rigs = await job.result()
    if asset.characters:
        return await _add_characters(session, origin, name, asset, rigs, show)
    return await _add_motion(session, origin, name, asset)


def _read_asset_and_rigs(session: Session, origin: Origin) -> tuple[Asset, list[PosedRig]]:
    from understudy.character import rig

    asset = read_origin(origin, session.project)
    return asset, [rig.rig_of(character) for character in asset.characters]


async def _add_characters(
    session: Session, origin: Origin, name: str, asset: Asset, rigs: list[PosedRig], show: bool
) -> FileOpened:
    if len(session.document.characters) + len(asset.characters) > MAX_CHARACTERS:
        raise InvalidInput(f"a project should have at most {MAX_CHARACTERS} characters; close some first")
    entries = []
    for number, (character, rig) in enumerate(zip(asset.characters, rigs)):
        id = new_id("c")
        session.assets.keep(id, replace(origin, number=number), asset)
        moved = [each for each in asset.animations if rig.is_moved_by(each)]
        entries.append(_character_entry(id, character, rig, origin, name, asset, moved))
    models = await asyncio.to_thread(_copy_shipped_model, session, origin, entries[0])
    before = session.document
    added = replace(before, characters=(*before.characters, *entries), models=(*before.models, *models))
    session.change(added, f"open {name}")
    first = max(entries, key=lambda entry: (bool(entry.clips), entry.vertices))
    if show:
        clip = first.clips[0].name if first.clips else ""
        await session.show(first.id, "clip" if clip else "rest", clip)
    return FileOpened(tuple(entry.id for entry in entries), asset.notes)


def _copy_shipped_model(session: Session, origin: Origin, entry: CharacterEntry) -> tuple[ModelEntry, ...]:
    """The pose model that a member of the cast comes with, copied into the project, so that it performs at once."""
    from understudy import cast
    from understudy.studio.perform.models import copy_into_project

    if origin.cast not in cast.MEMBERS_WITH_MODELS:
        return ()
    return (copy_into_project(session, cast.model_file(origin.cast), entry.id, entry.name),)


async def _add_motion(session: Session, origin: Origin, name: str, asset: Asset) -> FileOpened:
    """Add clips without a character to every open character that they move."""
    if not asset.animations:
        raise InvalidInput(f"{name} holds neither a character nor a clip")
    id = new_id("f")
    ids = [entry.id for entry in session.document.characters]
    rigs = await asyncio.to_thread(lambda: {each: session.assets.get(each).rig for each in ids})
    session.assets.keep(id, origin, asset)
    characters, moved = [], []
    for entry in session.document.characters:
        clips = [each for each in asset.animations if entry.id in rigs and rigs[entry.id].is_moved_by(each)]
        if clips:
            moved.append(entry.id)
            entry = replace(entry, clips=(*entry.clips, *clip_entries(clips, entry.clips, id)))
        characters.append(entry)
    if not moved:
        drives = ", ".join(repr(channel.target or "any face") for channel in asset.animations[0].channels[:3])
        raise InvalidInput(f"{name} moves none of the open characters: it drives {drives}. Open its character first")
    session.change(replace(session.document, characters=tuple(characters)), f"open {name}")
    return FileOpened(tuple(moved), asset.notes)


def _character_entry(
    id: str, character: Character, rig: PosedRig, origin: Origin, name: str, asset: Asset, moved: Iterable[Animation]
) -> CharacterEntry:
    return CharacterEntry(
        id=id,
        name=character.name or name,
        file=name,
        format=asset.format or ("cast" if origin.cast else ""),
        joints=len(character.joints),
        vertices=character.vertex_count,
        shapes=sum(map(len, character.shapes.values())),
        controls=rig.channels.width if character.layers is not None else 0,
        clips=clip_entries(moved, (), ""),
        notes=asset.notes[:200],
        cast=origin.cast,
    )


def clip_entries(animations: Iterable[Animation], known: Iterable[ClipEntry], source: str) -> tuple[ClipEntry, ...]:
    """Entries of animations, under names that the known clips do not have."""
    taken = {entry.name for entry in known}
    result = []
    for animation in animations:
        name = _free_name(animation.name, taken)
        taken.add(name)
        result.append(
            ClipEntry(
                name=name,
                title=name,
                seconds=float(animation.duration),
                frames=animation.frame_count,
                rate=float(animation.rate),
                start=float(animation.start),
                labels=animation.labels,
                about=animation.about,
                moments=dict(animation.moments),
                keyed=isinstance(animation, Curves),
                inside=animation.name,
                source=source,
            )
        )
    return tuple(result)


def _free_name(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    return next(free for number in range(2, len(taken) + 3) if (free := f"{name} ({number})") not in taken)


def without_character(document: Document, id: str) -> Document:
    """The document without a character, its models, takes, scripts and edits."""
    models = {each.id for each in document.models if each.character == id}
    return replace(
        document,
        characters=tuple(each for each in document.characters if each.id != id),
        models=tuple(each for each in document.models if each.character != id),
        takes=tuple(each for each in document.takes if each.character != id),
        scripts=tuple(each for each in document.scripts if not each.model or each.model not in models),
        edits=tuple(each for each in document.edits if each.character != id),
    )


def rename_entry(document: Document, what: str, target: str, name: str) -> Document:
    """The document with a renamed entry. A clip keeps its `name`, by which models refer to it, and gets a new title."""
    if what == "clip":
        character, clip = split_clip_target(document, target)
        return with_clip(document, character, clip.name, lambda entry: replace(entry, title=name))
    entries = getattr(document, DOCUMENT_LISTS[what])
    _entry_name(entries, what, target)
    changed = tuple(replace(each, name=name) if each.id == target else each for each in entries)
    return _with_list(document, what, changed)


def without_entry(document: Document, what: str, target: str) -> tuple[Document, str]:
    """The document without an entry, and the name of that entry."""
    if what == "clip":
        character, clip = split_clip_target(document, target)
        entry = document.character(character)
        assert entry is not None  # the clip was found in it
        rest = replace(entry, clips=tuple(each for each in entry.clips if each.name != clip.name))
        characters = tuple(rest if each.id == character else each for each in document.characters)
        return replace(document, characters=characters), clip.title
    entries = getattr(document, DOCUMENT_LISTS[what])
    name = _entry_name(entries, what, target)
    if what == "character":
        return without_character(document, target), name
    return _with_list(document, what, tuple(each for each in entries if each.id != target)), name


def with_clip(document: Document, character: str, name: str, change: Callable[[ClipEntry], ClipEntry]) -> Document:
    """The document with one clip changed."""
    characters = tuple(
        replace(entry, clips=tuple(change(clip) if clip.name == name else clip for clip in entry.clips))
        if entry.id == character
        else entry
        for entry in document.characters
    )
    return replace(document, characters=characters)


def split_clip_target(document: Document, target: str) -> tuple[str, ClipEntry]:
    """The character's id and the clip of a target `character/clip`."""
    character, _, name = target.partition("/")
    clip = document.clip(character, name)
    if clip is None:
        raise InvalidInput(f"there is no clip {name or target!r}")
    return character, clip


async def restage_after_removal(session: Session) -> None:
    """After a deletion: drop unused files from memory, and update the stage."""
    entries = session.document.characters
    session.assets.forget({entry.id for entry in entries} | {clip.source for entry in entries for clip in entry.clips})
    stage = valid_stage(session.document.stage, session.document)
    if stage != session.document.stage:
        session.adjust(replace(session.document, stage=stage))
        await session.restage()


def _with_list(document: Document, what: str, entries: tuple[Any, ...]) -> Document:
    changes: dict[str, Any] = {DOCUMENT_LISTS[what]: entries}
    return replace(document, **changes)


def _entry_name(entries: tuple[object, ...], what: str, target: str) -> str:
    entry = next((each for each in entries if getattr(each, "id", None) == target), None)
    if entry is None:
        raise InvalidInput(f"there is no {what} {target[:64]!r}")
    return str(getattr(entry, "name", ""))


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


async def rebuild(session: Session) -> None:
    """Open the content of the project's folder, and tell the pages what could not be opened."""
    from understudy.studio.perform.handlers import open_model

    failed: list[str] = []

    async def attempt(name: str, work: Awaitable[object]) -> None:
        try:
            await work
        except UnderstudyError:
            failed.append(name)

    def content(kind: str) -> list[Path]:
        return sorted((session.project.folder / kind).iterdir(), key=lambda place: place.stat().st_mtime)

    for folder in content("files"):
        names = sorted(place.name for place in folder.iterdir() if place.is_file())
        if names:
            await attempt(names[0], open_uploaded(session, folder, names))
    for number, place in enumerate(content("models"), 1):
        await attempt(place.name, open_model(session, place, f"model {number}{MODEL_SUFFIX}", show=False))
    for number, place in enumerate(content("takes"), 1):
        await attempt(place.name, _open_take(session, place, f"take {number}"))
    for place in reversed(content("edits")):
        await attempt(place.name, _open_edit(session, place))
    session.project.is_lost = False
    if failed:
        session.greet("error", f"These could not be opened: {join_names(failed)}", "They stay in the project's folder.")


async def _open_take(session: Session, place: Path, name: str) -> None:
    from understudy.studio.perform.recording import read_take

    recorded = await asyncio.to_thread(read_take, place, place.name)
    character = await asyncio.to_thread(_character_of_take, session, recorded)
    if character is None:
        member = await asyncio.to_thread(_cast_member_of_take, recorded)
        character = (await open_origin(session, Origin(cast=member), member, show=False)).characters[0]
    entry = TakeEntry(new_id("t"), name, character, place.name, recorded.seconds, len(recorded.rows), recorded.rate)
    session.change(replace(session.document, takes=(*session.document.takes, entry)), f"find {name}")


def _character_of_take(session: Session, recorded: RecordedTake) -> str | None:
    """An open character with the columns of a take, preferably the one of its name."""
    for entry in sorted(session.document.characters, key=lambda entry: entry.name != recorded.character):
        if session.assets.get(entry.id).rig.channels.width == recorded.rows.shape[1]:
            return entry.id
    return None


def _cast_member_of_take(recorded: RecordedTake) -> str:
    from understudy import cast
    from understudy.character.rig import rig_of

    for name in sorted(cast.names(), key=lambda name: name != recorded.character):
        if rig_of(cast.load(name).character()).channels.width == recorded.rows.shape[1]:
            return name
    raise InvalidInput("the take belongs to no character of the project")


async def _open_edit(session: Session, place: Path) -> None:
    """Add the newest curves of a clip as its edit; older curves of the same clip are steps of undo, and left out."""
    from understudy.studio.edit.edit_clip import read_curves

    curves = await asyncio.to_thread(read_curves, place, place.name)
    document = session.document
    owner = next((each for each in document.characters if document.clip(each.id, curves.name)), None)
    if owner is None:
        raise InvalidInput("the edit belongs to no clip of the project")
    if any((entry.character, entry.clip) == (owner.id, curves.name) for entry in document.edits):
        return
    entry = EditEntry(new_id("e"), curves.name, owner.id, curves.name, place.name, curves.key_count)
    session.change(replace(document, edits=(*document.edits, entry)), f"find the edit of {curves.name}")
