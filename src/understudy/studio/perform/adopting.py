"""Opening a model's file: its character comes along where it is not open yet, and performs."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import FileError, InvalidInput
from understudy.studio.messages.shell import Opened
from understudy.studio.perform.models import adopt, with_model
from understudy.studio.project import Origin

if TYPE_CHECKING:
    from understudy.posespace import Model
    from understudy.studio.session import Session


async def open_model(session: Session, path: Path, name: str, show: bool = True) -> Opened:
    """Keep a copy of a model in the project, for a character that is open or that it brings."""
    from understudy.studio.shell.opening import open_origin

    model = await asyncio.to_thread(_loaded, path, name)
    character = await asyncio.to_thread(_whose, session, model)
    if character is None:
        origin, title = await asyncio.to_thread(_brought, session, model, name)
        character = (await open_origin(session, origin, title, show)).characters[0]
    entry = await asyncio.to_thread(adopt, session, path, character, Path(name).stem)
    session.change(with_model(session.document, entry), f"open {name}")
    if show:
        await session.show(character, "model", entry.id)
    return Opened((character,), entry.notes[:200])


def _loaded(path: Path, name: str) -> Model:
    from understudy.posespace import Model

    try:
        return Model.load(path)
    except FileError as error:
        raise type(error)(name, error.reason, error.place) from None


def _whose(session: Session, model: Model) -> str | None:
    """An open character that has the model's channels; one of the same name of the cast before any other."""
    from understudy.posespace.model import check_character

    for entry in sorted(session.document.characters, key=lambda entry: entry.cast != model.cast):
        try:
            rig = session.assets.get(entry.id).rig
            check_character(model, rig.channels, entry.name)
            return entry.id
        except InvalidInput:
            continue
    return None


def _brought(session: Session, model: Model, name: str) -> tuple[Origin, str]:
    """Where the model's own character is from: the cast, or a GLB that is kept with the project."""
    if model.cast:
        return Origin(cast=model.cast), model.cast
    folder = session.project.folder / "files" / secrets.token_hex(8)
    folder.mkdir()
    file = f"{Path(name).stem}.glb"
    (folder / file).write_bytes(model.embedded)
    return Origin(file=f"files/{folder.name}/{file}"), file
