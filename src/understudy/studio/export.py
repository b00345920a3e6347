"""Export: an entry of the project as a file of any format, for the browser to fetch.

The result is always one file: a `.gltf` has its buffers and images inside. Notes say what the format cannot hold.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.character import Asset, Character, Clip, Curves
from understudy.errors import FileError, InvalidInput
from understudy.studio.messages.shell import Exported
from understudy.studio.registry import Content
from understudy.studio.shell import open_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from understudy.studio.session import Session

MEDIA_TYPES = {
    ".glb": "model/gltf-binary",
    ".gltf": "model/gltf+json",
    ".csv": "text/csv",
    ".toml": "application/toml",
    ".json": "application/json",
}
MAX_KEPT_EXPORTS = 20  # files on disk; the browser fetches each at once


async def export_entry(session: Session, what: str, target: str, format: str, keys: bool = False) -> Exported:
    """Write an entry in a job; returns where the browser can fetch the file."""
    ending = format if format.startswith(".") else f".{format}"
    name, write = _writer(session, what, target, ending, keys)
    file = f"{secrets.token_hex(8)}-{_safe_file_name(name)}{ending}"
    place = session.project.place("exports", file)
    job = session.jobs.run(f"export {name}{ending}", lambda progress, cancelled: write(place, progress), "export")
    notes = await job.result()
    _remove_old_exports(place.parent)
    return Exported(f"/export/{file}", f"{_safe_file_name(name)}{ending}", place.stat().st_size, tuple(notes)[:200])


def export_content(session: Session, name: str) -> Content:
    """An exported file, by the name in its address."""
    place = session.project.place("exports", name)
    if not re.fullmatch(r"[0-9a-f]{16}-[\w. ()+-]+", name) or not place.is_file():
        raise InvalidInput("this file is no longer there; export it again")
    return Content(place, MEDIA_TYPES.get(place.suffix, "application/octet-stream"), name.partition("-")[2])


def _writer(
    session: Session, what: str, target: str, ending: str, keys: bool
) -> tuple[str, Callable[..., tuple[str, ...]]]:
    from understudy.studio.edit.controller import curves_of

    document = session.document
    if what in ("character", "clip"):
        character, only = (target, None) if what == "character" else open_file.split_clip_target(document, target)
        entry = document.character(character)
        if entry is None:
            raise InvalidInput(f"there is no character {target[:64]!r}")
        _check_format(ending)

        def write_clips(place: Path, progress: Callable[[float, float], None]) -> tuple[str, ...]:
            clips = entry.clips if only is None else (only,)
            animations = [session.assets.animation(entry, clip) for clip in clips]
            if only is None:
                edits = [each for each in document.edits if each.character == character and each.file]
                animations += [curves_of(session, each) for each in edits]
            return write_asset(session.assets.get(character).character, animations, place, progress)

        return (entry.name if only is None else only.title), write_clips
    if what == "edit":
        edit = document.edit(target)
        if edit is None:
            raise InvalidInput("there is no such edit")
        _check_format(ending)

        def write_edit(place: Path, progress: Callable[[float, float], None]) -> tuple[str, ...]:
            character = session.assets.get(edit.character).character
            animation = curves_of(session, edit)
            if not (keys or ending == ".curves.json"):
                animation = key_every_frame(animation)
            return write_asset(character, [animation], place, progress)

        return edit.name, write_edit
    if what == "take":
        take = document.take(target)
        if take is None:
            raise InvalidInput("there is no such take")
        _check_format(ending)

        def write_take(place: Path, progress: Callable[[float, float], None]) -> tuple[str, ...]:
            from understudy.studio.perform.recording import clip_of

            rig, clip = clip_of(session, document, target)
            return write_asset(rig.character, [clip], place, progress)

        return take.name, write_take
    if what == "script":
        script = document.script(target)
        if script is None or ending != ".toml":
            raise InvalidInput("there is no such script" if script is None else "a script is exported as toml")
        return script.name, lambda place, progress: place.write_text(script.text, encoding="utf-8") and ()
    model = document.model(target)
    if what != "model" or model is None or ending != ".understudy":
        raise InvalidInput(f"a {what} cannot be exported as {ending}")
    source = session.project.place("models", model.file)
    return model.name, lambda place, progress: place.write_bytes(source.read_bytes()) and ()


def key_every_frame(animation: Clip | Curves) -> Clip:
    """An animation with a key on every frame: some programs drop the tangents of the cubic splines that glTF has."""
    return animation if isinstance(animation, Clip) else animation.clip()


def _check_format(ending: str) -> None:
    from understudy import formats

    endings = sorted(each for entry in formats.FORMATS if entry.writes for each in entry.endings)
    if ending not in endings:
        raise InvalidInput(f"nothing can be exported as {ending[:16]!r}; possible are {', '.join(endings)}")


def write_asset(
    character: Character, animations: list[Clip | Curves], place: Path, progress: Callable[[float, float], None]
) -> tuple[str, ...]:
    """A character with animations as a file; layers become joints and shapes where the format has no layers."""
    from understudy import formats
    from understudy.character.rig import flatten_asset
    from understudy.deform import playable

    dense = [each for each in animations if isinstance(each, Clip)]
    keyed = [each for each in animations if isinstance(each, Curves)]
    asset = Asset([character], dense, keyed)
    ending = formats.ending_of(place)
    if character.layers is not None and ending != ".curves.json":
        asset = flatten_asset(asset, shapes=ending != ".bvh", progress=progress)
    try:
        return (*asset.notes, *playable.write(asset, place, progress))
    except FileError as error:  # errors name the file without its folder and prefix
        raise type(error)(place.name.partition("-")[2] or place.name, error.reason, error.place) from None


def _safe_file_name(name: str) -> str:
    """A file name that is valid on every file system."""
    kept = re.sub(r"[^\w. ()+-]+", "_", name, flags=re.ASCII).strip(" ._")[:80]
    return kept or "untitled"


def _remove_old_exports(folder: Path) -> None:
    """Remove all but the newest exports."""
    exports = sorted((place for place in folder.iterdir() if place.is_file()), key=lambda place: place.stat().st_mtime)
    for place in exports[:-MAX_KEPT_EXPORTS]:
        place.unlink(missing_ok=True)
