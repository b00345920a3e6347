"""A take: an animation that is ready to be drawn, from any source.

A character with a skin is drawn as its parts; one without (a motion capture) as a stick figure; markers alone as dots.
Vertices are computed a few frames at a time, so that a long clip of a large character fits in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.character import Asset, Character, Clip, Curves
from understudy.character.body.bone_names import Facing, find_facing
from understudy.character.rig import PosedRig, pose_all
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.render.camera import CameraTarget, target_of
from understudy.render.scene import Dots, Surface, linear_from_srgb
from understudy.render.stick_figure import stick_figure_surface
from understudy.render.surfaces import surfaces_of

BLOCK_VERTICES = 8_000_000  # computed at once: 96 MB, ten seconds of a detailed character
MARKER_COLOUR = "#2f9e91"
# Half of the 26 neighbours of a cell; the others are opposite. The faces of a cube give the exact box.
OUTLINE_DIRECTIONS = tuple((a - 1, b - 1, c - 1) for a, b, c in np.ndindex(3, 3, 3) if (a, b, c) > (1, 1, 1))


@dataclass(frozen=True)
class DrawList:
    """The arrays of one frame: vertices and normals for each surface, and dots."""

    vertices: list[Array]
    normals: list[Array | None]
    dots: tuple[Dots, ...] = ()


@dataclass(frozen=True)
class FramePlayer:
    """One character or marker set: `poses(start, stop)` gives the points (N, 3) of frames, `draw` their draw list.

    `character` is set if the points are its vertices; `rig` and `rows` (F, C) if there is a character.
    """

    surfaces: list[Surface]
    poses: Callable[[int, int], Sequence[Array]]
    draw: Callable[[Array], DrawList]
    character: Character | None = None
    rig: PosedRig | None = None
    rows: Array | None = None


class RenderTake:
    """F frames at `times` (F,), of an `animation` if there is one.

    `surfaces` are constant; `draw(f)` gives the rest of frame f.
    """

    def __init__(
        self,
        name: str,
        times: Array,
        rate: float,
        players: Sequence[FramePlayer],
        block: int,
        captions: Sequence[str] | None = None,
        animation: Clip | Curves | None = None,
    ) -> None:
        self.name, self.times, self.rate, self.players, self.animation = name, times, rate, players, animation
        self.captions = [f"{time:.2f} s" for time in times] if captions is None else list(captions)
        self.surfaces = [surface for player in players for surface in player.surfaces]
        self._block = max(1, block)
        self.turn: Array | None = None  # (3, 3) applied to all points: it makes characters stand that lie in the file
        self._start = -1
        self._ready: list[Sequence[Array]] = []

    def __len__(self) -> int:
        return len(self.times)

    def _poses(self, frame: int) -> list[Array]:
        """The points of each player; a block of frames around this one is computed at once."""
        start = frame - frame % self._block
        if start != self._start:
            stop = min(start + self._block, len(self))
            self._ready = [player.poses(start, stop) for player in self.players]
            self._start = start
        points = [poses[frame - start] for poses in self._ready]
        return points if self.turn is None else [cloud @ self.turn.T for cloud in points]

    def find_facing(self) -> Facing | None:
        """Which way the first character stands and looks; None where only markers are drawn."""
        rig = next((player.rig for player in self.players if player.rig is not None), None)
        return None if rig is None else find_facing(rig)

    def draw(self, frame: int) -> DrawList:
        """The draw list of one frame."""
        drawings = [player.draw(points) for player, points in zip(self.players, self._poses(frame))]
        return DrawList(
            [v for drawing in drawings for v in drawing.vertices],
            [n for drawing in drawings for n in drawing.normals],
            tuple(dots for drawing in drawings for dots in drawing.dots),
        )

    def outlines(self, target: str | None = None) -> Array:
        """(F, 26, 3) the outermost points of each frame in 26 directions, of everything or of a target, for the camera.

        `target` is a name in the first character that is drawn with its mesh.
        """
        chosen = None if target is None else self._target(target)
        result = np.full((len(self), 2 * len(OUTLINE_DIRECTIONS), 3), np.nan)
        for frame in range(len(self)):
            clouds = self._poses(frame)
            if chosen is not None:
                result[frame] = _outline_points(clouds[chosen[0]][chosen[1].vertices], chosen[1].radius)
                continue
            clouds = [points for points in clouds if len(points)]
            if clouds:
                result[frame] = _outline_points(np.concatenate(clouds) if len(clouds) > 1 else clouds[0])
        # an empty frame gets the outline of the first frame that is not
        empty = np.isnan(result[:, 0, 0])
        result[empty] = 0.0 if empty.all() else result[np.argmin(empty)]
        return result

    def _target(self, name: str) -> tuple[int, CameraTarget]:
        for number, player in enumerate(self.players):
            if player.character is not None:
                return number, target_of(player.character, name)
        raise InvalidInput(f"target {name!r} cannot be found: no character is drawn here with its mesh")

    @classmethod
    def from_asset(
        cls,
        asset: Asset,
        clip: str | None = None,
        rate: float | None = None,
        character: str | None = None,
        bones: bool = False,
    ) -> RenderTake:
        """The take of one animation of a file (the first by default), or of its rest pose if it has none."""
        animation = asset.animation(clip) if clip is not None or asset.animations else None
        times, own_rate = np.zeros(1), 24.0
        if animation is not None:
            times, own_rate = animation.frame_times(rate), rate or animation.rate
        cast = asset.characters if character is None else (asset.character(character),)
        if not cast:
            return _marker_take(animation, times, own_rate)
        name = cast[0].name if animation is None else animation.name
        players = [_player(rig, values, bones) for rig, values in pose_all(cast, animation, times)]
        heaviest = max(sum(c.vertex_count for c in cast), 1)
        return cls(name, times, own_rate, players, BLOCK_VERTICES // heaviest, animation=animation)

    @classmethod
    def from_rows(
        cls, rig: PosedRig, rows: ArrayLike, captions: Sequence[str] | None = None, rate: float = 24.0
    ) -> RenderTake:
        """A take of one character from the rows (F, C) of its rig: poses, or a computed clip.

        `captions` name the frames on a contact sheet, instead of their times.
        """
        values = checks.array(rows, "rows", ("F", len(rig.rest)))
        if not len(values):
            raise InvalidInput("a take needs at least one row")
        if captions is not None and len(captions) != len(values):
            raise InvalidInput(f"{len(values)} rows need as many captions, but {len(captions)} were given")
        times = np.arange(len(values)) / checks.positive(rate, "rate")
        block = BLOCK_VERTICES // max(rig.character.vertex_count, 1)
        return cls(rig.character.name, times, rate, [_player(rig, values, False)], block, captions)


def _outline_points(points: Array, radius: float = 0.0) -> Array:
    """(26, 3) the outermost points of balls around points (N, 3).

    Computed by sums of columns: a product of such thin matrices takes ten times as long.
    """
    columns = np.ascontiguousarray(points.T)
    outermost, directions = [], []
    for direction in OUTLINE_DIRECTIONS:
        along = sum(sign * column for sign, column in zip(direction, columns) if sign)
        outermost += [np.argmax(along), np.argmin(along)]
        unit = np.array(direction) / np.linalg.norm(direction)
        directions += [unit, -unit]
    return points[outermost] + radius * np.array(directions)


def _player(rig: PosedRig, values: Array, bones: bool) -> FramePlayer:
    if bones or not rig.character.parts:
        return _stick_player(rig, values)
    parts = surfaces_of(rig.character)

    def draw(vertices: Array) -> DrawList:
        points = [vertices[part.first : part.first + part.count][part.origin] for part in parts]
        normals = [part.normals(cloud) for part, cloud in zip(parts, points)]
        times = [len(part.surfaces) for part in parts]
        return DrawList(
            [cloud for cloud, n in zip(points, times) for _ in range(n)],
            [cloud for cloud, n in zip(normals, times) for _ in range(n)],
        )

    surfaces = [surface for part in parts for surface in part.surfaces]
    return FramePlayer(
        surfaces, lambda start, stop: list(rig.vertices(values[start:stop])), draw, rig.character, rig, values
    )


def _stick_player(rig: PosedRig, values: Array) -> FramePlayer:
    positions = rig.joints(values)[..., :3, 3]
    surface, vertices = stick_figure_surface(positions, rig.character.skeleton.parents)
    return FramePlayer(
        [surface],
        lambda start, stop: list(vertices[start:stop]),
        lambda points: DrawList([points], [None]),
        rig=rig,
        rows=values,
    )


def _marker_take(animation: Clip | Curves | None, times: Array, rate: float) -> RenderTake:
    columns = np.zeros(0, np.int64) if animation is None else animation.channels.columns_of("marker")
    if animation is None or not columns.size:
        raise InvalidInput("there is nothing to draw: the input has neither a character nor markers")
    positions = animation.sample(times)[:, columns].reshape(len(times), -1, 3)

    seen = [points[np.isfinite(points).all(axis=1)] for points in positions]

    def draw(points: Array) -> DrawList:
        return DrawList([], [], (Dots(points, linear_from_srgb(MARKER_COLOUR), diameter=9.0),))

    players = [FramePlayer([], lambda start, stop: seen[start:stop], draw)]
    return RenderTake(animation.name, times, rate, players, 64, animation=animation)
