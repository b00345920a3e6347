"""The renderer in NumPy, for machines without OpenGL: the same scene, camera and light, slower and simpler.

It draws at twice the size and averages (its anti-aliasing), shades with the model of `shading.py`, and draws a soft
shadow on the ground. The figure casts no shadow on itself; a surface has one level of detail for all its maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

import numpy as np

from understudy.checks import Array
from understudy.maths.colour import to_srgb
from understudy.render.camera import Camera
from understudy.render.renderer import Overlays, RenderFrame, RenderPart, prepare_frame
from understudy.render.scene import Dots, Floor, Lights, Lines, Surface, lights_for, scene_style
from understudy.render.software.raster import (
    NO_TRIANGLE,
    VisibilityBuffer,
    barycentric_weights,
    clip_near,
    detail_level,
    normalise_rows,
    perturb_normals,
    rasterise,
    sample_map,
)
from understudy.render.software.shading import ShadingPoints, ground_depth, paint_scenery, shade, vignette

OVERSAMPLING_FACTOR = 2  # samples a pixel in each direction


class SoftwareRenderer:
    """Draws frames of one size without any device; the same interface as the OpenGL renderer."""

    backend = "software"

    def __init__(
        self, width: int, height: int, background: str = "warm", supersample: int = 1, reason: str = ""
    ) -> None:
        self.width, self.height, self.reason = width, height, reason
        self.look = scene_style(background)
        self.scale = OVERSAMPLING_FACTOR * supersample
        self.pixels = (width * self.scale, height * self.scale)
        self.nearest = np.full((height, width), np.inf)  # metres along the view, of the last picture

    def __enter__(self) -> SoftwareRenderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing to release."""

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
        """The picture (H, W, 3) uint8 of surfaces with vertices (V, 3) and, where known, unit normals (V, 3) each."""
        frame = prepare_frame(camera, self.height, surfaces, vertices, normals, lines, dots, stage)
        lights = lights_for(camera.azimuth)
        scenery = paint_scenery(self.look, lights, camera, frame, self.width, self.height)
        picture = scenery.repeat(self.scale, axis=0).repeat(self.scale, axis=1)
        ground = ground_depth(camera, frame.stage, *self.pixels)
        depth = ground.copy()
        towards = camera.view[2, :3]
        blended = [part for part in frame.parts if part.surface.alpha_mode == "blend"]
        for part in frame.parts:
            if part.surface.alpha_mode != "blend":
                self._draw_part(picture, depth, part, camera, frame, lights)
        k = self.scale
        self.nearest = _distances(depth[k // 2 :: k, k // 2 :: k], ground[k // 2 :: k, k // 2 :: k], camera)
        for mark in frame.marks:
            if not mark.in_front:
                self._draw_marks(picture, depth, mark, camera)
        for part in sorted(blended, key=lambda part: float(towards @ part.box.mean(axis=0))):
            self._draw_part(picture, depth, part, camera, frame, lights)
        for mark in frame.marks:
            if mark.in_front:
                self._draw_marks(picture, np.ones_like(depth), mark, camera)
        blocks = picture.reshape(self.height, k, self.width, k, 3).mean(axis=(1, 3))
        return np.round(255.0 * np.clip(blocks, 0.0, 1.0)).astype(np.uint8)

    def distances(self, columns: Array, rows: Array) -> Array:
        """(N,) metres along the view to the nearest solid surface at pixels (N,), (N,) of the last picture, or inf."""
        return self.nearest[rows, columns]

    def _project(self, camera: Camera, vertices: Array, triangles: Array) -> tuple[Array, Array, Array, Array]:
        """Screen corners (M, 3, 3), distances (M, 3), source triangle (M,), weights in it (M, 3, 3)."""
        width, height = self.pixels
        clip = vertices @ camera.clip_from_world[:, :3].T + camera.clip_from_world[:, 3]
        corners, source, weights = clip_near(clip, triangles)
        w = np.maximum(corners[..., 3], 1e-12)
        screen = corners[..., :3] / w[..., None]
        screen[..., 0] = (0.5 * screen[..., 0] + 0.5) * width
        screen[..., 1] = (0.5 - 0.5 * screen[..., 1]) * height
        return screen, w, source, weights

    def _visible_pixels(self, screen: Array, depth: Array) -> tuple[Array, Array, Array, Array]:
        """Pixels where triangles (M, 3, 3) are nearer than `depth` (H, W): rows, columns, triangle and its depth."""
        limit = np.array(self.pixels)
        flat = screen.reshape(-1, 3)[:, :2]
        if not len(flat):
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, nothing, np.zeros(0)
        x0, y0 = np.clip(np.floor(flat.min(axis=0)), 0, limit).astype(int)
        x1, y1 = np.clip(np.ceil(flat.max(axis=0)), 0, limit).astype(int)
        behind = VisibilityBuffer(depth[y0:y1, x0:x1].copy(), np.full((y1 - y0, x1 - x0), NO_TRIANGLE))
        seen = rasterise(screen - np.array([x0, y0, 0.0]), x1 - x0, y1 - y0, into=behind)
        rows, columns = np.nonzero(seen.triangle != NO_TRIANGLE)
        return rows + y0, columns + x0, seen.triangle[rows, columns], seen.depth[rows, columns]

    def _draw_part(
        self, picture: Array, depth: Array, part: RenderPart, camera: Camera, frame: RenderFrame, lights: Lights
    ) -> None:
        """Draw one surface where it is nearer than `depth` (H, W), and update `depth`."""
        surface = part.surface
        if not len(surface.triangles):
            return
        screen, w, source, weights = self._project(camera, part.vertices.astype(np.float64), surface.triangles)
        edge1, edge2 = screen[:, 1, :2] - screen[:, 0, :2], screen[:, 2, :2] - screen[:, 0, :2]
        front = edge1[:, 0] * edge2[:, 1] - edge1[:, 1] * edge2[:, 0] < 0.0  # counter-clockwise, seen with y down
        if not surface.double_sided:
            screen, w, source, weights = screen[front], w[front], source[front], weights[front]
            front = front[front]
        rows, columns, piece, z = self._visible_pixels(screen, depth)
        local = barycentric_weights(screen[piece], w[piece], columns, rows)
        bary = np.einsum("nk,nkj->nj", local, weights[piece])
        corner = surface.triangles[source[piece]]
        colours, uvs, occlusion = surface.per_vertex(len(part.vertices))

        def across(values: Array) -> Array:
            return np.einsum("nk,nk...->n...", bary, values[corner].astype(np.float64))

        base, details = across(colours), np.ones((len(rows), 4))
        if surface.uvs is not None:
            at = across(uvs)
            level = detail_level(screen, uvs[surface.triangles[source]])
            if surface.texture is not None:
                base = base * sample_map(surface.texture, at, level, from_srgb=True)
            if surface.detail_map is not None:
                details = sample_map(surface.detail_map, at, level)
        keep = base[:, 3] >= surface.alpha_cutoff if surface.alpha_mode == "mask" else np.ones(len(rows), dtype=bool)
        point, smooth = across(part.vertices), normalise_rows(across(part.normals))
        smooth = np.where(front[piece][:, None], smooth, -smooth)
        rough = surface.finish.roughness * details[:, 1]
        n = smooth
        if surface.normal_map is not None:
            m = 2.0 * sample_map(surface.normal_map, at, level)[:, :3] - 1.0
            n, rough = perturb_normals(smooth, m, part.vertices[corner], uvs[corner], surface.normal_scale, rough)
        count, stage = len(rows), frame.stage
        height = (point[:, 1] - stage.ground) / stage.size if stage.ground is not None else np.full(count, np.inf)
        metal, sky = surface.finish.metallic * details[:, 2], across(occlusion) * details[:, 0]
        points = ShadingPoints(
            n, smooth, normalise_rows(np.asarray(camera.eye) - point), base[:, :3], sky, rough, metal, height
        )
        colour = shade(self.look, lights, points, surface.finish)
        colour = colour * vignette(self.look, columns, rows, *self.pixels)[:, None]
        alpha = base[:, 3:] if surface.alpha_mode == "blend" else np.ones((count, 1))
        rows, columns, colour, alpha = rows[keep], columns[keep], colour[keep], np.clip(alpha[keep], 0.0, 1.0)
        picture[rows, columns] += alpha * (colour - picture[rows, columns])
        if surface.alpha_mode != "blend":
            depth[rows, columns] = z[keep]

    def _draw_marks(self, picture: Array, depth: Array, mark: Overlays, camera: Camera) -> None:
        screen, w, source, weights = self._project(camera, mark.vertices.astype(np.float64), mark.triangles)
        rows, columns, piece, z = self._visible_pixels(screen, depth)
        bary = np.einsum("nk,nkj->nj", barycentric_weights(screen[piece], w[piece], columns, rows), weights[piece])
        linear = np.einsum("nk,nkc->nc", bary, mark.colours[mark.triangles[source[piece]]].astype(np.float64))
        picture[rows, columns] = to_srgb(linear) * vignette(self.look, columns, rows, *self.pixels)[:, None]
        depth[rows, columns] = z


def _distances(depth: Array, ground: Array, camera: Camera) -> Array:
    """Metres along the view of depths (H, W) in [-1, 1]; infinite at the ground."""
    near, far = camera.near, camera.far
    distance = 2.0 * far * near / (far + near - depth * (far - near))
    return np.where(depth < ground, distance, np.inf)
