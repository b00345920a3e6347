"""What the document's entries stand for: characters, rigs and clips, loaded when first asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.character import Asset, Character, Clip, Curves
from understudy.errors import FileError, InvalidInput
from understudy.studio.document import CharacterEntry, ClipEntry, Document
from understudy.studio.project import Origin, Project

if TYPE_CHECKING:
    from understudy.rig import PosedRig

Animation = Clip | Curves


@dataclass(frozen=True, eq=False)
class Loaded:
    """A character of a file, with its rig; and the whole file, for its clips."""

    asset: Asset
    character: Character
    rig: PosedRig


class Assets:
    """Files by the id of their origin. A file is read once, whoever asks; `get` blocks while it is read."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._files: dict[Origin, Asset] = {}
        self._loaded: dict[str, Loaded] = {}
        self._turns: dict[Origin, threading.Lock] = {}  # to read a file
        self._lock = threading.Lock()  # held for a moment only: the server's loop takes it too

    def get(self, id: str) -> Loaded:
        """The character of that id."""
        with self._lock:
            found = self._loaded.get(id)
        if found is not None:
            return found
        from understudy import rig

        origin = self._origin(id)
        asset = self.file(origin)
        if origin.number >= len(asset.characters):
            raise InvalidInput(f"{_name(origin)} has changed: it no longer has this character")
        character = asset.characters[origin.number]
        made = Loaded(asset, character, rig.of(character))
        with self._lock:
            return self._loaded.setdefault(id, made)

    def keep(self, id: str, origin: Origin, asset: Asset) -> None:
        """A file that has just been read, so that it is not read again."""
        with self._lock:
            self._project.origins[id] = origin
            self._files[replace(origin, number=0)] = asset

    def forget(self, kept: set[str]) -> None:
        """Let go of everything that is not among these ids."""
        with self._lock:
            self._loaded = {id: loaded for id, loaded in self._loaded.items() if id in kept}
            origins = self._project.origins
            used = {replace(origins[id], number=0) for id in kept if id in origins}
            self._files = {origin: asset for origin, asset in self._files.items() if origin in used}

    def file(self, origin: Origin) -> Asset:
        """The file of an origin. Who wants the same file waits for it, others do not."""
        key = replace(origin, number=0)
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                found = self._files.get(key)
            if found is None:
                found = read(origin, self._project)
                with self._lock:
                    self._files[key] = found
            return found

    def animation(self, character: CharacterEntry, clip: ClipEntry) -> Animation:
        """A clip of a character, with the labels that the document gives it."""
        asset = self.file(self._origin(clip.source or character.id))
        try:
            found = asset.animation(clip.inside or clip.name)
        except InvalidInput:
            raise InvalidInput(f"the clip {clip.title!r} is no longer in its file {character.file}") from None
        return labelled(found, clip.name, clip.labels)

    def animations(self, document: Document, character: str) -> list[Animation]:
        """Every clip of a character as the document has them, under their names there."""
        entry = document.character(character)
        if entry is None:
            raise InvalidInput(f"there is no character {character!r}")
        return [self.animation(entry, clip) for clip in entry.clips]

    def _origin(self, id: str) -> Origin:
        origin = self._project.origins.get(id)
        if origin is None:
            raise InvalidInput(f"there is no character {id!r}")
        return origin


def read(origin: Origin, project: Project) -> Asset:
    """Read the file of an origin; an error names the file, not where it lies."""
    from understudy import cast, formats

    if origin.cast:
        return cast.load(origin.cast)
    path = Path(origin.path) if origin.path else project.folder / origin.file
    try:
        asset = formats.read(path)
    except FileError as error:
        reason, place = (text.replace(f"{path.parent}/", "") for text in (error.reason, error.place))
        raise type(error)(_name(origin), reason, place) from None
    from understudy.studio.markers import visible

    return visible(asset, path.stem)


def labelled(animation: Animation, name: str, labels: tuple[str, ...]) -> Animation:
    """The same animation under another name and with other labels."""
    if animation.name == name and animation.labels == labels:
        return animation
    a = animation
    if isinstance(a, Curves):
        return Curves(name, a.curves, labels, a.rate, a.about, a.moments)
    return Clip(name, a.channels, a.values, a.rate, a.start, labels, a.about, a.moments)


def _name(origin: Origin) -> str:
    return origin.cast or Path(origin.file or origin.path).name
