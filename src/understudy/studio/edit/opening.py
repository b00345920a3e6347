"""A clip is put on stage to be edited: what was made of it before, or its own keys."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from understudy.errors import InvalidInput, UnderstudyError
from understudy.studio.document import ClipEntry, Document, EditEntry

if TYPE_CHECKING:
    from understudy.studio.session import Session


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
    others = tuple(each for each in document.edits if each.id != entry.id and begun(each))
    document = replace(document, edits=(*others, entry))
    stage = document.stage
    there = stage.character == character and stage.drives in (clip, entry.id) and stage.driver in ("clip", "edit")
    wanted: dict[str, object] = {"character": character, "driver": "edit", "drives": entry.id, "playing": False}
    if there:
        wanted["time"] = session.source.time if session.source is not None else stage.time
    else:
        wanted |= {"time": 0.0, "start": 0.0, "stop": None}
    session.adjust(document.staged(**wanted))
    try:
        await session.restage()
    except UnderstudyError:
        session.adjust(replace(session.document, edits=before.edits, stage=before.stage))
        raise


def entry_of(document: Document, character: str, clip: str) -> EditEntry | None:
    """What the document has of a clip's edits."""
    return next((each for each in document.edits if (each.character, each.clip) == (character, clip)), None)


def begun(entry: EditEntry) -> bool:
    """Whether anything was done; a clip that was only looked at leaves nothing."""
    return bool(entry.file or entry.pins or entry.contacts or entry.holds or entry.limits or entry.stiffness)


def new_entry(document: Document, character: str, clip: ClipEntry) -> EditEntry:
    """An edit that has not begun, under a name of its own."""
    taken = {each.name for each in document.edits} | {
        each.title for entry in document.characters for each in entry.clips
    }
    names = (f"{clip.title} edited{'' if n == 1 else f' {n}'}" for n in range(1, len(taken) + 2))
    return EditEntry(secrets.token_hex(4), next(name for name in names if name not in taken), character, clip.name)
