"""Characters, rigs and clips of the document's entries, loaded on first use.

A C3D file has markers and no character. To show it, each marker becomes a root joint with a small octahedron; where the
marker was not seen its scale is zero, so that it vanishes.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from understudy.character import Asset, Channel, Character, Clip, Curves, Mesh, Part, Skeleton, SkinBinding
from understudy.checks import Array
from understudy.errors import FileError, InvalidInput
from understudy.studio.document import CharacterEntry, ClipEntry, Document
from understudy.studio.project import Origin, Project

if TYPE_CHECKING:
    from understudy.character.rig import PosedRig

Animation = Clip | Curves
MARKER_RADIUS_M = 0.012  # metres: usual markers have 10 to 20 mm
OCTAHEDRON_VERTICES = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], np.float32)
OCTAHEDRON_TRIANGLES = np.array(
    [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)], np.int32
)


@dataclass(frozen=True, eq=False)
class LoadedCharacter:
    """A character with its rig, and the file that holds it and its clips."""

    asset: Asset
    character: Character
    rig: PosedRig


class Assets:
    """The files of a project by origin. Each file is read once; `get` blocks while it is read."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._files: dict[Origin, Asset] = {}
        self._loaded: dict[str, LoadedCharacter] = {}
        self._reading: dict[Origin, threading.Lock] = {}  # one lock for each file that is read
        self._lock = threading.Lock()  # for short sections only: the server's loop takes it too

    def get(self, id: str) -> LoadedCharacter:
        """The character of that id."""
        with self._lock:
            known = self._loaded.get(id)
        if known is not None:
            return known
        from understudy.character import rig

        origin = self._origin(id)
        asset = self.file(origin)
        if origin.number >= len(asset.characters):
            raise InvalidInput(f"{_name(origin)} has changed: it no longer has this character")
        character = asset.characters[origin.number]
        loaded = LoadedCharacter(asset, character, rig.rig_of(character))
        with self._lock:
            return self._loaded.setdefault(id, loaded)

    def keep(self, id: str, origin: Origin, asset: Asset) -> None:
        """Add a file that has just been read, so that it is not read again."""
        with self._lock:
            self._project.origins[id] = origin
            self._files[replace(origin, number=0)] = asset

    def forget(self, kept: set[str]) -> None:
        """Drop everything except these ids."""
        with self._lock:
            self._loaded = {id: loaded for id, loaded in self._loaded.items() if id in kept}
            origins = self._project.origins
            used = {replace(origins[id], number=0) for id in kept if id in origins}
            self._files = {origin: asset for origin, asset in self._files.items() if origin in used}

    def file(self, origin: Origin) -> Asset:
        """The file of an origin. Callers for the same file wait for one read; other files are not held up."""
        key = replace(origin, number=0)
        with self._lock:
            reading = self._reading.setdefault(key, threading.Lock())
        with reading:
            with self._lock:
                asset = self._files.get(key)
            if asset is None:
                asset = read_origin(origin, self._project)
                with self._lock:
                    self._files[key] = asset
            return asset

    def animation(self, character: CharacterEntry, clip: ClipEntry) -> Animation:
        """A clip of a character, with the labels that the document gives it."""
        asset = self.file(self._origin(clip.source or character.id))
        try:
            animation = asset.animation(clip.inside or clip.name)
        except InvalidInput:
            raise InvalidInput(f"the clip {clip.title!r} is no longer in its file {character.file}") from None
        return relabel(animation, clip.name, clip.labels)

    def animations(self, document: Document, character: str) -> list[Animation]:
        """All clips of a character, with the names and labels of the document."""
        entry = document.character(character)
        if entry is None:
            raise InvalidInput(f"there is no character {character!r}")
        return [self.animation(entry, clip) for clip in entry.clips]

    def _origin(self, id: str) -> Origin:
        origin = self._project.origins.get(id)
        if origin is None:
            raise InvalidInput(f"there is no character {id!r}")
        return origin


def read_origin(origin: Origin, project: Project) -> Asset:
    """Read the file of an origin; errors name the file without its folder."""
    from understudy import cast, formats

    if origin.cast:
        return cast.load(origin.cast)
    path = Path(origin.path) if origin.path else project.folder / origin.file
    try:
        asset = formats.read(path)
    except FileError as error:
        reason, place = (text.replace(f"{path.parent}/", "") for text in (error.reason, error.place))
        raise type(error)(_name(origin), reason, place) from None
    return add_marker_character(asset, path.stem)


def relabel(animation: Animation, name: str, labels: tuple[str, ...]) -> Animation:
    """The same animation under another name and with other labels."""
    if animation.name == name and animation.labels == labels:
        return animation
    a = animation
    if isinstance(a, Curves):
        return Curves(name, a.curves, labels, a.rate, a.about, a.moments)
    return Clip(name, a.channels, a.values, a.rate, a.start, labels, a.about, a.moments)


def _name(origin: Origin) -> str:
    return origin.cast or Path(origin.file or origin.path).name


def add_marker_character(asset: Asset, name: str) -> Asset:
    """The asset with a character made of its markers, if it has markers and no character."""
    if asset.characters:
        return asset
    markers = {channel.target: None for clip in asset.clips for channel in clip.channels if channel.kind == "marker"}
    if not markers:
        return asset
    names = tuple(markers)
    clips = [_marker_transforms(clip) if _has_markers(clip) else clip for clip in asset.clips]
    return Asset([_marker_character(name, names)], clips, asset.curves, asset.notes, asset.format)


def _has_markers(clip: Clip) -> bool:
    return any(channel.kind == "marker" for channel in clip.channels)


def _marker_character(name: str, markers: tuple[str, ...]) -> Character:
    """One mesh with an octahedron for each marker, each on its own joint."""
    count = len(markers)
    vertices = np.tile(MARKER_RADIUS_M * OCTAHEDRON_VERTICES, (count, 1))
    triangles = (OCTAHEDRON_TRIANGLES[None] + (np.arange(count) * len(OCTAHEDRON_VERTICES))[:, None, None]).reshape(
        -1, 3
    )
    owners = np.repeat(np.arange(count), len(OCTAHEDRON_VERTICES))[:, None]
    skin = SkinBinding(np.arange(count), np.tile(np.eye(4), (count, 1, 1)), owners, np.ones_like(owners, np.float32))
    skeleton = Skeleton(markers, np.full(count, -1), np.zeros((count, 3)))
    return Character(name, skeleton, [Part("markers", Mesh("markers", vertices, triangles), skin)])


def _marker_transforms(clip: Clip) -> Clip:
    """The marker channels as translations, and scales that are zero where a marker was not seen."""
    channels, columns = [], []
    for number, channel in enumerate(clip.channels):
        if channel.kind != "marker":
            continue
        start = int(clip.channels.offsets[number])
        places = clip.values[:, start : start + 3]
        seen = np.isfinite(places.sum(axis=1))
        channels += [Channel(channel.target, "translation"), Channel(channel.target, "scale")]
        columns += [_fill_gaps_forward(places, seen), np.repeat(seen[:, None], 3, axis=1).astype(np.float64)]
    values = np.concatenate(columns, axis=1)
    return Clip(clip.name, channels, values, clip.rate, clip.start, clip.labels, clip.about, clip.moments)


def _fill_gaps_forward(places: Array, seen: Array) -> Array:
    """(F, 3) positions without gaps: each gap keeps the last seen position."""
    if not seen.any():
        return np.zeros_like(places)
    last = np.maximum.accumulate(np.where(seen, np.arange(len(seen)), -1))
    return np.where(last[:, None] >= 0, places[np.maximum(last, 0)], places[np.argmax(seen)])
