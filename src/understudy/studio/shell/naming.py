"""Names, and taking things out: the document with one entry changed or gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from understudy.errors import InvalidInput
from understudy.studio.document import ClipEntry, Document
from understudy.studio.history import kept
from understudy.studio.shell.opening import without_character

if TYPE_CHECKING:
    from understudy.studio.session import Session

LISTS = {"character": "characters", "model": "models", "take": "takes", "script": "scripts", "edit": "edits"}


def renamed(document: Document, what: str, target: str, name: str) -> Document:
    """The document with something called otherwise. A clip keeps its `name`, by which models know it."""
    if what == "clip":
        character, clip = pair(document, target)
        return with_clip(document, character, clip.name, lambda found: replace(found, title=name))
    entries = getattr(document, LISTS[what])
    _found(entries, what, target)
    changed = tuple(replace(each, name=name) if each.id == target else each for each in entries)
    return _with_list(document, what, changed)


def without(document: Document, what: str, target: str) -> tuple[Document, str]:
    """The document without something, and the name of that."""
    if what == "clip":
        character, clip = pair(document, target)
        entry = document.character(character)
        assert entry is not None  # or there would be no such clip
        less = replace(entry, clips=tuple(each for each in entry.clips if each.name != clip.name))
        characters = tuple(less if each.id == character else each for each in document.characters)
        return replace(document, characters=characters), clip.title
    entries = getattr(document, LISTS[what])
    found = _found(entries, what, target)
    if what == "character":
        return without_character(document, target), found
    return _with_list(document, what, tuple(each for each in entries if each.id != target)), found


def with_clip(document: Document, character: str, name: str, change: Callable[[ClipEntry], ClipEntry]) -> Document:
    """The document with one clip changed."""
    characters = tuple(
        replace(entry, clips=tuple(change(clip) if clip.name == name else clip for clip in entry.clips))
        if entry.id == character
        else entry
        for entry in document.characters
    )
    return replace(document, characters=characters)


def pair(document: Document, target: str) -> tuple[str, ClipEntry]:
    """The id of a character and its clip, of `character/clip`."""
    character, _, name = target.partition("/")
    clip = document.clip(character, name)
    if clip is None:
        raise InvalidInput(f"there is no clip {name or target!r}")
    return character, clip


async def settled(session: Session) -> None:
    """After something was taken out: the stage shows what is left, and memory holds it."""
    entries = session.document.characters
    session.assets.forget({entry.id for entry in entries} | {clip.source for entry in entries for clip in entry.clips})
    stage = kept(session.document.stage, session.document)
    if stage != session.document.stage:
        session.adjust(replace(session.document, stage=stage))
        await session.restage()


def _with_list(document: Document, what: str, entries: tuple[Any, ...]) -> Document:
    changes: dict[str, Any] = {LISTS[what]: entries}
    return replace(document, **changes)


def _found(entries: tuple[object, ...], what: str, target: str) -> str:
    found = next((each for each in entries if getattr(each, "id", None) == target), None)
    if found is None:
        raise InvalidInput(f"there is no {what} {target[:64]!r}")
    return str(getattr(found, "name", ""))
