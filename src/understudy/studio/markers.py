"""Markers of a capture as a character, so that a C3D file can be seen: one small octahedron each.

A marker becomes a joint at the root; where it was not seen its scale is zero, and it vanishes.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Asset, Channel, Character, Clip, Mesh, Part, Skeleton, Skin
from understudy.checks import Array

RADIUS = 0.012  # metres: markers in use have 10 to 20 mm
CORNERS = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], np.float32)
FACES = np.array([(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)], np.int32)


def visible(asset: Asset, name: str) -> Asset:
    """The asset, with a character made of its markers where it has no character."""
    if asset.characters:
        return asset
    markers = {channel.target: None for clip in asset.clips for channel in clip.channels if channel.kind == "marker"}
    if not markers:
        return asset
    names = tuple(markers)
    clips = [_moving(clip) if _has_markers(clip) else clip for clip in asset.clips]
    return Asset([_character(name, names)], clips, asset.curves, asset.notes, asset.format)


def _has_markers(clip: Clip) -> bool:
    return any(channel.kind == "marker" for channel in clip.channels)


def _character(name: str, markers: tuple[str, ...]) -> Character:
    """All markers in one mesh, each with its joint."""
    count = len(markers)
    vertices = np.tile(RADIUS * CORNERS, (count, 1))
    triangles = (FACES[None] + (np.arange(count) * len(CORNERS))[:, None, None]).reshape(-1, 3)
    owners = np.repeat(np.arange(count), len(CORNERS))[:, None]
    skin = Skin(np.arange(count), np.tile(np.eye(4), (count, 1, 1)), owners, np.ones_like(owners, np.float32))
    skeleton = Skeleton(markers, np.full(count, -1), np.zeros((count, 3)))
    return Character(name, skeleton, [Part("markers", Mesh("markers", vertices, triangles), skin)])


def _moving(clip: Clip) -> Clip:
    """The clip of markers as translations, and scales that are zero where a marker was not seen."""
    channels, columns = [], []
    for number, channel in enumerate(clip.channels):
        if channel.kind != "marker":
            continue
        start = int(clip.channels.offsets[number])
        places = clip.values[:, start : start + 3]
        seen = np.isfinite(places.sum(axis=1))
        channels += [Channel(channel.target, "translation"), Channel(channel.target, "scale")]
        columns += [_held(places, seen), np.repeat(seen[:, None], 3, axis=1).astype(np.float64)]
    values = np.concatenate(columns, axis=1)
    return Clip(clip.name, channels, values, clip.rate, clip.start, clip.labels, clip.about, clip.moments)


def _held(places: Array, seen: Array) -> Array:
    """(F, 3) places without gaps: the last that was seen."""
    if not seen.any():
        return np.zeros_like(places)
    last = np.maximum.accumulate(np.where(seen, np.arange(len(seen)), -1))
    return np.where(last[:, None] >= 0, places[np.maximum(last, 0)], places[np.argmax(seen)])
