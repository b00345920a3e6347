"""Pictures with OpenGL, without a window and without a graphics card: EGL with Mesa's llvmpipe is enough.

On a processor every pixel counts, so a frame is put together from layers. Backdrop and grid are kept as long as the
camera stands still; the shadows darken only the part of the ground that they can reach; the figure alone is drawn with
several samples a pixel, and laid over the rest within its own rectangle of the screen.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.render.camera import Camera
from understudy.render.frame import Frame, Marks, prepare
from understudy.render.gl_programs import LIT, SLOTS, Programs
from understudy.render.gl_shadows import Shadows
from understudy.render.gpu_mesh import GpuMesh, GpuMeshes
from understudy.render.look import GROUND_EXTENT, Lights, lights_for, look_of
from understudy.render.scene import ALPHA_MODES, Dots, Lines, Stage, Surface

CLIP_DISTANCE_0 = 0x3000
DENSE = 20.0  # pixels of a mesh's box for each triangle: about a third of it are covered, by front and back
FAR_BELOW = -1e30  # a ground that hides nothing


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
        samples: int = 4,
        supersample: int = 1,
        reason: str = "",
    ) -> None:
        self.width, self.height, self.reason = width, height, reason
        self.look, self.supersample = look_of(background), supersample
        self.pixels = (width * supersample, height * supersample)
        self.context = open_context()
        self.owned: list[Any] = []
        try:
            self.programs = Programs(self.context, self.look, *self.pixels, self.owned)
            self.shadows = Shadows(self.context, self.programs, self.owned)
            self.meshes = GpuMeshes(self.context, self.programs)
            self._make_targets(max(1, min(samples, self.context.max_samples)))
        except BaseException:
            self.context.release()
            raise
        self.scenery_of: tuple[Camera, Stage] | None = None

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
        with self.context:  # current while it draws: other renderers may be open
            return self._draw(camera, frame, lights_for(camera.azimuth))

    def _draw(self, camera: Camera, frame: Frame, lights: Lights) -> Array:
        meshes = self.meshes.of(frame.parts)
        solid = [mesh for mesh in meshes if mesh.surface.alpha_mode != "blend"]
        see_through = [mesh for mesh in meshes if mesh.surface.alpha_mode == "blend"]
        self.shadows.draw(frame, lights, solid)
        on_ground = frame.stage.ground is not None and camera.eye[1] > frame.stage.ground
        self._draw_scenery(camera, frame.stage, on_ground)
        self.context.copy_framebuffer(self.final, self.scenery)
        if on_ground and solid:
            self._draw_ground_shadow(camera)
        self._set_frame(camera, frame, lights, on_ground)
        self._draw_figure(camera, frame, solid, see_through)
        self._lay_over(camera, frame.box)
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

    def _draw_figure(self, camera: Camera, frame: Frame, solid: list[GpuMesh], see_through: list[GpuMesh]) -> None:
        """Surfaces and marks with several samples a pixel, on nothing; what the ground hides is cut off."""
        import moderngl

        self.figure.use()
        self.figure.clear(0.0, 0.0, 0.0, 0.0, depth=1.0)
        self.context.enable_direct(CLIP_DISTANCE_0)
        self.context.enable(moderngl.DEPTH_TEST)
        self.context.depth_func = "<"
        for mesh in _nearest_first(solid, camera):  # what they hide is not shaded
            self._draw_surface(mesh, camera)
        self.context.disable(moderngl.CULL_FACE)
        self._draw_marks(frame.marks, in_front=False)
        if see_through:
            self._draw_see_through(see_through, camera)
        self.context.disable(moderngl.DEPTH_TEST)
        self.context.disable_direct(CLIP_DISTANCE_0)
        self._draw_marks(frame.marks, in_front=True)

    def _draw_surface(self, mesh: GpuMesh, camera: Camera) -> None:
        """Front faces first: where they hide the back of a closed mesh, its shading is skipped by depth."""
        import moderngl

        surface = mesh.surface
        dense = self._triangle_pixels(mesh, camera) < DENSE
        name = "dense" if dense else "surface"
        program = self.programs[name]
        mesh.texture.use(SLOTS["base_map"])
        program["textured"].value = surface.texture is not None
        program["alpha_mode"].value = ALPHA_MODES.index(surface.alpha_mode)
        program["emissive"].value = tuple(surface.emissive.tolist())
        for setting in ("alpha_cutoff", "roughness", "metallic", "softness"):
            program[setting].value = float(getattr(surface, setting))
        self.context.enable(moderngl.CULL_FACE)
        sides = [("back", 1.0), ("front", -1.0)] if surface.double_sided else [("back", 1.0)]
        for hidden, facing in reversed(sides) if surface.alpha_mode == "blend" else sides:
            self.context.cull_face = hidden
            if dense:
                program["facing"].value = facing
            mesh.arrays[name].render()
        self.context.cull_face = "back"

    def _triangle_pixels(self, mesh: GpuMesh, camera: Camera) -> float:
        """Roughly how many pixels one triangle of a mesh covers: its box on the screen, by the number of triangles."""
        low, high = self._rectangle(camera, mesh.box)
        return float(np.prod(high - low)) / len(mesh.surface.triangles)

    def _draw_see_through(self, meshes: list[GpuMesh], camera: Camera) -> None:
        """Blended surfaces over the solid ones, the furthest first; they hide nothing by depth."""
        import moderngl

        over = (moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA)
        self.context.enable(moderngl.BLEND)
        self.context.blend_func = over
        self.figure.depth_mask = False
        for mesh in reversed(_nearest_first(meshes, camera)):
            self._draw_surface(mesh, camera)
        self.figure.depth_mask = True
        self.context.disable(moderngl.BLEND | moderngl.CULL_FACE)

    def _draw_marks(self, marks: list[Marks], in_front: bool) -> None:
        for mark in marks:
            if mark.in_front != in_front:
                continue
            content = np.concatenate([mark.vertices, mark.colours], axis=1)[mark.triangles.ravel()]
            buffer = self.context.buffer(content.tobytes())
            array = self.context.vertex_array(self.programs["marks"], [(buffer, "3f 3f", "position", "colour")])
            array.render()
            array.release()
            buffer.release()

    def _lay_over(self, camera: Camera, box: Array) -> None:
        """The figure, averaged over its samples, onto the picture, within the box's rectangle on the screen."""
        import moderngl

        low, high = self._rectangle(camera, box)
        rectangle = (int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1]))
        if rectangle[2] == 0 or rectangle[3] == 0:
            return
        self.final.use()
        self.final.scissor = rectangle
        self.context.enable(moderngl.BLEND)
        self.context.blend_func = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        self.programs.fill("over", 3)
        self.context.disable(moderngl.BLEND)
        self.final.scissor = None

    def _rectangle(self, camera: Camera, box: Array) -> tuple[Array, Array]:
        """Lower left and upper right pixel (2,) around a box (2, 3); the whole picture if it reaches behind the eye."""
        corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        projected = camera.project(corners)
        low, high = np.zeros(2), np.array(self.pixels)
        if projected[:, 2].min() <= camera.near:
            return low, high
        inside = high * (projected[:, :2] * 0.5 + 0.5)
        low, high = (
            np.clip(np.floor(inside.min(axis=0)) - 2, low, high),
            np.clip(np.ceil(inside.max(axis=0)) + 2, low, high),
        )
        return low, high

    def _set_frame(self, camera: Camera, frame: Frame, lights: Lights, on_ground: bool) -> None:
        """Uniforms that change with the camera and the stage."""
        stage, put = frame.stage, self.programs.put
        ground = FAR_BELOW if stage.ground is None else stage.ground
        # Soles that lie exactly on the ground, or a hair below it, are not torn.
        floor = ground - 1e-3 * stage.size if on_ground else FAR_BELOW
        for name in (*LIT, "marks"):
            put(name, clip_from_world=camera.clip_from_world.T, floor_height=floor)
        directions = {f"{name}_direction": getattr(lights, name) for name in ("key", "fill", "rim", "back")}
        for name in LIT:
            put(name, eye=camera.eye, ground=ground, size=stage.size, **directions)

    def _read(self) -> Array:
        width, height = self.pixels
        data = np.frombuffer(self.final.read(components=4, alignment=1), dtype=np.uint8).reshape(height, width, 4)
        picture = data[::-1, :, :3]  # OpenGL's first row is the lowest
        k = self.supersample
        if k > 1:
            blocks = picture.reshape(self.height, k, self.width, k, 3)
            return np.round(blocks.mean(axis=(1, 3), dtype=np.float32)).astype(np.uint8)
        return np.ascontiguousarray(picture)

    def _make_targets(self, samples: int) -> None:
        context, size = self.context, self.pixels
        colour = context.texture(size, 4, samples=samples)
        depth = context.depth_renderbuffer(size, samples=samples)
        self.figure = context.framebuffer([colour], depth)
        behind, above = context.renderbuffer(size, 4), context.renderbuffer(size, 4)
        self.scenery, self.final = context.framebuffer([behind]), context.framebuffer([above])
        self.owned += [colour, depth, behind, above, self.figure, self.scenery, self.final]
        colour.use(SLOTS["figure_map"])
        self.programs["over"]["samples"].value = samples


def _nearest_first(meshes: list[GpuMesh], camera: Camera) -> list[GpuMesh]:
    """Meshes in the order of their middle's distance from the camera."""
    towards = camera.view[2, :3]
    return sorted(meshes, key=lambda mesh: -float(towards @ mesh.box.mean(axis=0)))
