"""Pictures with OpenGL, without a window and without a graphics card: EGL with Mesa's llvmpipe is enough.

On a processor every pixel counts, so a frame is put together from layers. Backdrop and grid are kept as long as the
camera stands still; the shadows darken only the part of the ground that they can reach; the figure is laid over the
rest within its own rectangle of the screen.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.render.camera import Camera
from understudy.render.frame import Frame, prepare
from understudy.render.gl_figure import Figure
from understudy.render.gl_programs import Programs
from understudy.render.gl_shadows import Shadows
from understudy.render.gpu_mesh import GpuMeshes
from understudy.render.look import GROUND_EXTENT, Lights, lights_for, look_of
from understudy.render.scene import Dots, Lines, Stage, Surface

LARGEST = 8192  # samples a side: beyond it drivers refuse the target


def open_context() -> Any:
    """A context of OpenGL 3.3 or later without a window. Raises whatever the driver raises where there is none."""
    import moderngl

    # The library's own annotation of `backend` is wrong: it is a name.
    create: Any = moderngl.create_context
    if sys.platform.startswith("linux"):
        return create(standalone=True, backend="egl", require=330)
    return create(standalone=True, require=330)


class GlRenderer:
    """Draws frames of one size. Use as a context manager, or call `close`: the context's memory is freed only then."""

    backend = "gl"

    def __init__(
        self,
        width: int,
        height: int,
        background: str = "warm",
        samples: int = 2,
        supersample: int = 1,
        reason: str = "",
    ) -> None:
        """`samples` squared are taken of each pixel, and shaded where they differ; `supersample` shades them all."""
        self.width, self.height, self.reason = width, height, reason
        self.look, self.supersample = look_of(background), supersample
        self.pixels = (width * supersample, height * supersample)
        side = max(1, min(samples, LARGEST // max(self.pixels)))
        self.context = open_context()
        self.owned: list[Any] = []
        try:
            self.programs = Programs(self.context, self.look, self.pixels, side, supersample % 2 == 0, self.owned)
            self.shadows = Shadows(self.context, self.programs, self.owned)
            self.meshes = GpuMeshes(self.context, self.programs)
            self.figure = Figure(self.context, self.programs, self.pixels, side, self.owned)
            behind, above = self.context.renderbuffer(self.pixels, 4), self.context.renderbuffer(self.pixels, 4)
            self.scenery, self.final = self.context.framebuffer([behind]), self.context.framebuffer([above])
            self.owned += [behind, above, self.scenery, self.final]
        except BaseException:
            self.context.release()
            raise
        self.scenery_of: tuple[Camera, Stage] | None = None
        self.seen_by: Camera | None = None

    def __enter__(self) -> GlRenderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release all buffers and the context; a second call does nothing."""
        if self.context is None:
            return
        with self.context:
            self.meshes.release()
            self.figure.release()
            for thing in reversed(self.owned):
                thing.release()
        self.context.release()
        self.context = None

    def draw(
        self,
        camera: Camera,
        surfaces: Sequence[Surface],
        vertices: Sequence[Array],
        normals: Sequence[Array | None] | None = None,
        lines: Sequence[Lines] = (),
        dots: Sequence[Dots] = (),
        stage: Stage | None = None,
    ) -> Array:
        """The picture (H, W, 3) uint8 of surfaces with vertices (V, 3) and, where known, unit normals (V, 3) each."""
        if self.context is None:
            raise RuntimeError("this renderer has been closed")
        frame = prepare(camera, self.height, surfaces, vertices, normals, lines, dots, stage)
        self.seen_by = camera
        with self.context:  # current while it draws: other renderers may be open
            return self._draw(camera, frame, lights_for(camera.azimuth))

    def distances(self, columns: Array, rows: Array) -> Array:
        """(N,) metres along the view to the nearest solid surface at pixels (N,), (N,) of the last picture, or inf."""
        if self.context is None or self.seen_by is None:
            raise RuntimeError("a renderer knows distances after it has drawn, and until it is closed")
        if not len(columns):
            return np.zeros(0)
        k = self.supersample
        with self.context:
            depth = self.figure.depth_at(k * columns + k // 2, self.pixels[1] - 1 - (k * rows + k // 2))
        near, far = self.seen_by.near, self.seen_by.far
        found = far * near / (far - depth * (far - near))
        return np.where(depth < 1.0, found, np.inf)

    def _draw(self, camera: Camera, frame: Frame, lights: Lights) -> Array:
        meshes = self.meshes.of(frame.parts)
        casters = [mesh for mesh in meshes if mesh.surface.shadows]
        self.shadows.draw(frame, lights, casters)
        on_ground = frame.stage.ground is not None and camera.eye[1] > frame.stage.ground
        self._draw_scenery(camera, frame.stage, on_ground)
        self.context.copy_framebuffer(self.final, self.scenery)
        if on_ground and casters:
            self._draw_ground_shadow(camera)
        self.figure.set_frame(camera, frame, lights, on_ground)
        self.figure.draw(self.final, meshes, frame, camera)
        return self._read()

    def _draw_scenery(self, camera: Camera, stage: Stage, on_ground: bool) -> None:
        """Backdrop and grid; kept until camera or stage change."""
        if self.scenery_of == (camera, stage):
            return
        import moderngl

        self.scenery.use()
        self.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        self.programs.fill("backdrop", 3)
        if on_ground:
            middle = (camera.target[0], camera.target[2])
            extent = GROUND_EXTENT * max(stage.size, stage.reach)
            rectangle = (middle[0] - extent, middle[1] - extent, middle[0] + extent, middle[1] + extent)
            self.programs.put(
                "grid", clip_from_world=camera.clip_from_world.T, ground=stage.ground, rectangle=rectangle
            )
            self.programs.put("grid", middle=middle, extent=extent, grid=stage.grid, size=stage.size)
            self.programs.fill("grid", 4)
        self.scenery_of = (camera, stage)

    def _draw_ground_shadow(self, camera: Camera) -> None:
        import moderngl

        self.final.use()
        self.context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        self.context.enable(moderngl.BLEND)
        self.context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        self.programs.put("ground_shadow", clip_from_world=camera.clip_from_world.T)
        self.programs.fill("ground_shadow", 4)
        self.context.disable(moderngl.BLEND)

    def _read(self) -> Array:
        width, height = self.pixels
        data = np.frombuffer(self.final.read(components=4, alignment=1), dtype=np.uint8).reshape(height, width, 4)
        picture = data[::-1, :, :3]  # OpenGL's first row is the lowest
        k = self.supersample
        if k > 1:
            blocks = picture.reshape(self.height, k, self.width, k, 3)
            return np.round(blocks.mean(axis=(1, 3), dtype=np.float32)).astype(np.uint8)
        return np.ascontiguousarray(picture)
