"""Open a renderer: OpenGL if it is available, otherwise NumPy, with the reason; and one frame, prepared for both.

`prepare_frame` is called at the start of `draw`, so that neither renderer has to check anything: arrays are checked,
missing normals computed, lines and dots turned into triangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

import numpy as np

from understudy import checks
from understudy.character.skinning.linear import smooth_normals
from understudy.checks import Array
from understudy.errors import InvalidInput, UnderstudyError
from understudy.render.camera import Camera
from understudy.render.scene import Dots, Floor, Lines, Surface, floor_of, scene_style

BACKENDS = ("gl", "software")
MAX_PICTURE_PIXELS = 8192  # pixels a side, supersampling included: beyond it drivers refuse the target
DISC_SIDES = 16  # corners of the polygon that draws a dot


class Renderer(Protocol):
    """The interface of both renderers. `backend` is "gl" or "software".

    `reason` says why OpenGL was not used.
    """

    backend: str
    reason: str
    width: int
    height: int

    def draw(
        self,
        camera: Camera,
        surfaces: Sequence[Surface],
        vertices: Sequence[Array],
        normals: Sequence[Array | None] | None = None,
        lines: Sequence[Lines] = (),
        dots: Sequence[Dots] = (),
        stage: Floor | None = None,
    ) -> Array:
        """The picture (H, W, 3) uint8 of one frame: one array of vertices (V, 3), and of normals, for each surface."""

    def distances(self, columns: Array, rows: Array) -> Array:
        """(N,) metres along the view to the nearest solid surface at pixels (N,), (N,) of the picture drawn last.

        Infinite where there is none; the ground does not count.
        """

    def close(self) -> None:
        """Release all resources."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_renderer(
    width: int,
    height: int,
    background: str = "warm",
    prefer: str | None = None,
    supersample: int = 1,
    samples: int = 2,
) -> Renderer:
    """A renderer for pictures of width x height; use it in a `with` statement.

    background: "warm" or "studio". prefer: "gl" or "software" requires one; None takes OpenGL, or else the fallback.
    supersample: draw that many times larger and average, for single pictures.
    samples: number of samples in each direction of a pixel, of which those that differ are shaded (OpenGL only); 1
    leaves edges jagged and takes two thirds of the time, for a live view.
    """
    scene_style(background)
    given = {"width": width, "height": height, "supersample": supersample, "samples": samples}
    for name, value in given.items():
        if not isinstance(value, int) or value < 1:
            raise InvalidInput(f"{name} should be a whole number above zero, but is {value}")
    if max(width, height) * supersample > MAX_PICTURE_PIXELS:
        raise InvalidInput(
            f"a picture of {width} x {height}, supersampled {supersample} times, should have at most "
            f"{MAX_PICTURE_PIXELS} pixels a side"
        )
    if prefer is not None:
        checks.one_of(prefer, "renderer", BACKENDS)
    reason = "asked for"
    if prefer != "software":
        from understudy.render.opengl.renderer import GlRenderer

        try:
            return GlRenderer(width, height, background, samples, supersample)
        except Exception as error:  # drivers and loaders raise many types
            reason = f"no OpenGL here: {str(error).strip() or type(error).__name__}"
            if prefer == "gl":
                raise UnderstudyError(f"pictures with OpenGL are not available; {reason}") from error
    from understudy.render.software.renderer import SoftwareRenderer

    return SoftwareRenderer(width, height, background, supersample=supersample, reason=reason)


@dataclass(frozen=True)
class RenderPart:
    """A surface with the vertices (V, 3) and unit normals (V, 3) of a frame, float32, and their box (2, 3)."""

    surface: Surface
    vertices: Array
    normals: Array
    box: Array


@dataclass(frozen=True)
class Overlays:
    """Unlit triangles that face the camera: vertices (V, 3), linear colours (V, 3), triangles (T, 3)."""

    vertices: Array
    colours: Array
    triangles: Array
    in_front: bool


@dataclass(frozen=True)
class RenderFrame:
    """The content of one picture.

    `solid` (2, 3) is the bounding box of the surfaces, `centre` (3,) its middle; `box` (2, 3) includes the marks.
    """

    parts: list[RenderPart]
    marks: list[Overlays]
    stage: Floor
    solid: Array
    centre: Array
    box: Array


def prepare_frame(
    camera: Camera,
    height: int,
    surfaces: Sequence[Surface],
    vertices: Sequence[Array],
    normals: Sequence[Array | None] | None,
    lines: Sequence[Lines],
    dots: Sequence[Dots],
    stage: Floor | None,
) -> RenderFrame:
    """Check and complete one frame for a picture of `height` pixels."""
    if len(vertices) != len(surfaces):
        raise InvalidInput(f"{len(surfaces)} surfaces need as many vertex arrays, but {len(vertices)} were given")
    if normals is not None and len(normals) != len(surfaces):
        raise InvalidInput(f"{len(surfaces)} surfaces need as many normal arrays, but {len(normals)} were given")
    given = normals if normals is not None else [None] * len(surfaces)
    parts = [_part(i, *item) for i, item in enumerate(zip(surfaces, vertices, given))]
    marks = [_ribbons(item, camera, height) for item in lines if len(item.positions)]
    marks += [_discs(item, camera, height) for item in dots if len(item.positions)]
    solid = _enclosing_box([part.box for part in parts if len(part.vertices)])
    everything = _enclosing_box(
        [item.box for item in parts if len(item.vertices)] + [_box(item.vertices) for item in marks]
    )
    figure = everything if solid is None else solid
    figure = np.zeros((2, 3)) if figure is None else figure
    box = figure if everything is None else everything
    return RenderFrame(
        parts=parts,
        marks=marks,
        stage=stage if stage is not None else floor_of([figure]),
        solid=figure,
        centre=figure.mean(axis=0),
        box=box,
    )


def _box(cloud: Array) -> Array:
    """Lowest and highest corner (2, 3) of a cloud (N, 3); zeros if it is empty."""
    if not len(cloud):
        return np.zeros((2, 3))
    # NumPy is fast along long rows and slow along many short ones.
    whole = len(cloud) // 64 * 64
    if whole:
        rows = cloud[:whole].reshape(-1, 192)
        ends = [rows.min(axis=0).reshape(-1, 3), rows.max(axis=0).reshape(-1, 3)]
        cloud = np.concatenate([*ends, cloud[whole:]])
    return np.stack([cloud.min(axis=0), cloud.max(axis=0)]).astype(np.float64)


def _enclosing_box(boxes: list[Array]) -> Array | None:
    """The box (2, 3) around several boxes; None if there are none."""
    return np.stack([np.min(boxes, axis=0)[0], np.max(boxes, axis=0)[1]]) if boxes else None


def _part(index: int, surface: Surface, vertices: Array, normals: Array | None) -> RenderPart:
    name = f"vertices[{index}]"
    points = np.ascontiguousarray(vertices, dtype=np.float32)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InvalidInput(f"{name} should have shape (V, 3), but has shape {points.shape}")
    surface.check_count(len(points), name)
    box = _box(points)
    if not np.isfinite(box).all():
        raise InvalidInput(f"{name} should be finite, but vertex {np.argwhere(~np.isfinite(points))[0, 0]} is not")
    if normals is None:
        return RenderPart(surface, points, smooth_normals(points, surface.triangles), box)
    directions = np.ascontiguousarray(normals, dtype=np.float32)
    if directions.shape != points.shape:
        raise InvalidInput(f"normals[{index}] should have shape {points.shape}, but has shape {directions.shape}")
    return RenderPart(surface, points, directions, box)


def _pixel_size(points: Array, camera: Camera, height: int) -> Array:
    """World length of one pixel at each point (N, 3), as (N, 1)."""
    depth = np.maximum(-(points @ camera.view[2, :3] + camera.view[2, 3]), camera.near)
    return (2.0 * np.tan(0.5 * camera.fov) / height * depth)[:, None]


def _ribbons(lines: Lines, camera: Camera, height: int) -> Overlays:
    """Each segment as a strip of two triangles that faces the camera."""
    start, end = lines.positions[:, 0], lines.positions[:, 1]
    side = np.cross(end - start, 0.5 * (start + end) - np.asarray(camera.eye))
    side /= np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-30)
    half = [0.5 * lines.width * side * _pixel_size(p, camera, height) for p in (start, end)]
    corners = np.stack([start - half[0], start + half[0], end + half[1], end - half[1]], axis=1)  # (N, 4, 3)
    colours = lines.colours[:, (0, 0, 1, 1)]
    first = 4 * np.arange(len(start))[:, None, None]
    triangles = (first + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    return _marks(corners, colours, triangles, lines.in_front)


def _discs(dots: Dots, camera: Camera, height: int) -> Overlays:
    """Each dot as a regular polygon that faces the camera."""
    angle = np.linspace(0.0, 2.0 * np.pi, DISC_SIDES, endpoint=False)
    circle = np.cos(angle)[:, None] * camera.view[0, :3] + np.sin(angle)[:, None] * camera.view[1, :3]
    radius = 0.5 * dots.diameter * _pixel_size(dots.positions, camera, height)
    corners = dots.positions[:, None] + radius[:, None] * circle  # (N, sides, 3)
    fan = np.stack([np.zeros(DISC_SIDES - 2), np.arange(1, DISC_SIDES - 1), np.arange(2, DISC_SIDES)], axis=1)
    triangles = (DISC_SIDES * np.arange(len(radius))[:, None, None] + fan.astype(int)).reshape(-1, 3)
    return _marks(corners, np.repeat(dots.colours[:, None], DISC_SIDES, axis=1), triangles, dots.in_front)


def _marks(corners: Array, colours: Array, triangles: Array, in_front: bool) -> Overlays:
    flat = [np.ascontiguousarray(a.reshape(-1, 3), dtype=np.float32) for a in (corners, colours)]
    return Overlays(flat[0], flat[1], triangles.astype(np.int32), in_front)
