"""A take: an animation made ready to be drawn, whatever it came from.

A character with a skin is drawn as its parts; one without (a motion capture) as a stick figure; markers alone as dots.
Vertices are computed a few frames at a time, so that a long clip of a large character fits in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.character import Asset, Clip, Curves
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.render.figure import stick_figure
from understudy.render.scene import Dots, Surface, srgb
from understudy.render.surfaces import DrawnPart, drawn_parts
from understudy.rig import PosedRig, pose_all

BLOCK_VERTICES = 2_000_000  # vertices computed at once: 24 MB, a second of a detailed character
MARKER_COLOUR = "#2f9e91"
# The 26 neighbours of a cell: faces, edges and corners of a cube. The six faces give the exact box.
DIRECTIONS = np.array([d for d in np.ndindex(3, 3, 3) if d != (1, 1, 1)], np.float32) - 1


@dataclass(frozen=True)
class Drawing:
    """What one frame needs: an array of vertices and of normals for each surface, and dots."""

    vertices: list[Array]
    normals: list[Array | None]
    dots: tuple[Dots, ...] = ()


class Take:
    """F frames at `times` (F,). `surfaces` stay the same; `draw(f)` gives the rest of frame f."""

    def __init__(
        self,
        name: str,
        times: Array,
        rate: float,
        surfaces: list[Surface],
        block: int,
        frames: Callable[[int, int], list[Drawing]],
    ) -> None:
        self.name, self.times, self.rate, self.surfaces = name, times, rate, surfaces
        self._block, self._frames = max(1, block), frames
        self._start = -1
        self._ready: list[Drawing] = []

    def __len__(self) -> int:
        return len(self.times)

    def draw(self, frame: int) -> Drawing:
        """The drawing of one frame; frames near it are computed along and kept for the next call."""
        start = frame - frame % self._block
        if start != self._start:
            self._ready = self._frames(start, min(start + self._block, len(self)))
            self._start = start
        return self._ready[frame - start]

    def outlines(self) -> Array:
        """(F, 26, 3) the outermost points of each frame in 26 directions, for the camera."""
        result = np.full((len(self), len(DIRECTIONS), 3), np.nan)
        for frame in range(len(self)):
            drawing = self.draw(frame)
            clouds = [cloud for cloud in (*drawing.vertices, *(d.positions for d in drawing.dots)) if len(cloud)]
            if clouds:
                points = np.concatenate(clouds)
                result[frame] = points[np.argmax(points @ DIRECTIONS.T, axis=0)]
        # a frame in which nothing is seen is looked at as the first in which something is
        empty = np.isnan(result[:, 0, 0])
        result[empty] = 0.0 if empty.all() else result[np.argmin(empty)]
        return result

    @classmethod
    def of(
        cls,
        asset: Asset,
        clip: str | None = None,
        rate: float | None = None,
        character: str | None = None,
        bones: bool = False,
    ) -> Take:
        """The take of one animation of a file (the first by default), or of its rest pose where nothing moves."""
        animation = asset.animation(clip) if clip is not None or asset.animations else None
        times, own_rate = np.zeros(1), 24.0
        if animation is not None:
            times, own_rate = animation.frame_times(rate), rate or animation.rate
        cast = asset.characters if character is None else (asset.character(character),)
        if not cast:
            return _of_markers(animation, times, own_rate)
        name = cast[0].name if animation is None else animation.name
        players = [_player(rig, values, bones) for rig, values in pose_all(cast, animation, times)]
        surfaces = [surface for player in players for surface in player[0]]
        heaviest = max(sum(c.vertex_count for c in cast), 1)

        def frames(start: int, stop: int) -> list[Drawing]:
            parts = [player[1](start, stop) for player in players]
            return [
                Drawing([v for part in parts for v in part[f][0]], [n for part in parts for n in part[f][1]])
                for f in range(stop - start)
            ]

        return cls(name, times, own_rate, surfaces, BLOCK_VERTICES // heaviest, frames)


Frames = Callable[[int, int], list[tuple[list[Array], list[Array | None]]]]


def _player(rig: PosedRig, values: Array, bones: bool) -> tuple[list[Surface], Frames]:
    if bones or not rig.character.parts:
        return _stick_player(rig, values)
    parts = drawn_parts(rig.character)

    def frames(start: int, stop: int) -> list[tuple[list[Array], list[Array | None]]]:
        vertices = rig.vertices(values[start:stop])
        return [_drawn(parts, vertices[f]) for f in range(stop - start)]

    return [part.surface for part in parts], frames


def _drawn(parts: list[DrawnPart], vertices: Array) -> tuple[list[Array], list[Array | None]]:
    points = [vertices[part.first : part.first + part.count][part.origin] for part in parts]
    return points, [part.normals(cloud) for part, cloud in zip(parts, points)]


def _stick_player(rig: PosedRig, values: Array) -> tuple[list[Surface], Frames]:
    positions = rig.joints(values)[..., :3, 3]
    surface, vertices = stick_figure(positions, rig.character.skeleton.parents)
    return [surface], lambda start, stop: [([vertices[f]], [None]) for f in range(start, stop)]


def _of_markers(animation: Clip | Curves | None, times: Array, rate: float) -> Take:
    columns = np.zeros(0, np.int64) if animation is None else animation.channels.columns_of("marker")
    if animation is None or not columns.size:
        raise InvalidInput("there is nothing to draw here: neither a character nor markers")
    positions = animation.sample(times)[:, columns].reshape(len(times), -1, 3)

    def frames(start: int, stop: int) -> list[Drawing]:
        seen = [positions[f][np.isfinite(positions[f]).all(axis=1)] for f in range(start, stop)]
        return [Drawing([], [], (Dots(points, srgb(MARKER_COLOUR), diameter=9.0),)) for points in seen]

    return Take(animation.name, times, rate, [], 64, frames)
