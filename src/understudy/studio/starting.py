"""What the studio opens by itself: the files that were named, or somebody to look at where there is nobody yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UnderstudyError
from understudy.opening import is_model
from understudy.studio.messages.shell import Notice
from understudy.studio.project import Origin
from understudy.studio.shell.opening import open_origin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from understudy.studio.session import Session

FIRST = "dragon"  # who is there when nobody was asked for


async def open_all(session: Session, names: Iterable[str]) -> None:
    """Open files and members of the cast; what is open already is not opened twice."""
    from understudy import cast

    wanted = list(names)
    if not wanted and not session.document.characters:
        wanted = [FIRST]
    for name in wanted:
        path = Path(name)
        is_cast = name in cast.names() and not path.exists()
        origin = Origin(cast=name) if is_cast else Origin(path=str(path.resolve()))
        known = [id for id, found in session.project.origins.items() if found == origin]
        is_open = any(session.document.character(id) for id in known)
        if is_model(name):  # a copy of it is kept under its name
            is_open = path.stem in {entry.name for entry in session.document.models}
        try:
            if not is_open:
                await open_origin(session, origin, name if is_cast else path.name)
        except UnderstudyError as error:
            session.emit(Notice("error", str(error), "The rest is open."))
