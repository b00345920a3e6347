"""The OpenGL renderer, without a window and without a graphics card: EGL with Mesa's llvmpipe is enough.

Software rendering pays for every pixel, so a frame is composed of layers. Backdrop and grid are kept while the camera
stands still; the shadows darken only the part of the ground that they can reach; the figure is drawn over the rest
within its own rectangle of the screen.

Shadows. A depth map from the key light gives the figure's shadows on itself and, as a stencil, its shadow on the
ground; a map from straight below, of what is close to the ground, gives the contact shadow. The latter two are blurred
by tent filters into ever smaller textures, so that the ground needs one bilinear tap for each degree of softness.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.render.camera import Camera
from understudy.render.opengl.device import LIT_PROGRAMS, TEXTURE_SLOTS, GpuMesh, GpuMeshes, Programs
from understudy.render.opengl.figure import GlFigure
from understudy.render.renderer import RenderFrame, prepare_frame
from understudy.render.scene import GROUND_EXTENT, Dots, Floor, Lights, Lines, Surface, lights_for, scene_style

SHADOW_PIXELS, CAST_PIXELS, CONTACT_PIXELS = 1024, 256, 128
# Largest height that darkens the ground below, of the figure's size; the shader has the same number.
CONTACT_SHADOW_HEIGHT_RATIO = 0.2
LIGHT_RADIUS_RATIO = 0.07  # radius of the light over its distance: a softbox
NEAREST_FILTER, LINEAR_FILTER = (0x2600, 0x2600), (0x2601, 0x2601)
# Source, target, distance of the nine taps in pixels of the source.
BLUR_PASSES = (
    ("cast_map", "cast_soft", 2.0),
    ("cast_soft", "cast_softer", 2.4),
    ("contact_raw", "contact_half", 1.5),
    ("contact_half", "contact_map", 1.5),
)
MAX_SAMPLES_PER_SIDE = 8192  # drivers refuse larger targets


def open_context() -> Any:
    """A context of OpenGL 3.3 or later without a window; raises the driver's error if there is none."""
    import moderngl

    # moderngl's annotation of `backend` is wrong: it is a name.
    create: Any = moderngl.create_context
    if sys.platform.startswith("linux"):
        return create(standalone=True, backend="egl", require=330)
    return create(standalone=True, require=330)


class GlRenderer:
    """Draws frames of one size. Use it as a context manager, or call `close` to free the context's memory."""

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
        """Each pixel has `samples` squared samples, shaded where they differ; `supersample` shades all of them."""
        self.width, self.height, self.reason = width, height, reason
        self.look, self.supersample = scene_style(background), supersample
        self.pixels = (width * supersample, height * supersample)
        side = max(1, min(samples, MAX_SAMPLES_PER_SIDE // max(self.pixels)))
        self.context = open_context()
        self.owned: list[Any] = []
        try:
            self.programs = Programs(self.context, self.look, self.pixels, side, supersample % 2 == 0, self.owned)
            self.shadows = Shadows(self.context, self.programs, self.owned)
            self.meshes = GpuMeshes(self.context, self.programs)
            self.figure = GlFigure(self.context, self.programs, self.pixels, side, self.owned)
            behind, above = self.context.renderbuffer(self.pixels, 4), self.context.renderbuffer(self.pixels, 4)
            self.scenery, self.final = self.context.framebuffer([behind]), self.context.framebuffer([above])
            self.owned += [behind, above, self.scenery, self.final]
        except BaseException:
            self.context.release()
            raise
        self.scenery_of: tuple[Camera, Floor] | None = None
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
        stage: Floor | None = None,
    ) -> Array:
        """The picture (H, W, 3) uint8 of surfaces with vertices (V, 3) and, where known, unit normals (V, 3) each."""
        if self.context is None:
            raise RuntimeError("this renderer has been closed")
        frame = prepare_frame(camera, self.height, surfaces, vertices, normals, lines, dots, stage)
        self.seen_by = camera
        with self.context:  # makes it current: other renderers may be open
            return self._draw(camera, frame, lights_for(camera.azimuth))

    def distances(self, columns: Array, rows: Array) -> Array:
        """(N,) metres along the view to the nearest solid surface at pixels (N,), (N,) of the last picture, or inf."""
        if self.context is None or self.seen_by is None:
            raise RuntimeError("distances are known after the first `draw` and before `close`")
        if not len(columns):
            return np.zeros(0)
        k = self.supersample
        with self.context:
            depth = self.figure.depth_at(k * columns + k // 2, self.pixels[1] - 1 - (k * rows + k // 2))
        near, far = self.seen_by.near, self.seen_by.far
        distance = far * near / (far - depth * (far - near))
        return np.where(depth < 1.0, distance, np.inf)

    def _draw(self, camera: Camera, frame: RenderFrame, lights: Lights) -> Array:
        meshes = self.meshes.upload_parts(frame.parts)
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

    def _draw_scenery(self, camera: Camera, stage: Floor, on_ground: bool) -> None:
        """Draw backdrop and grid; they are kept until camera or floor change."""
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


class Shadows:
    """The shadow maps, drawn for each frame; they are bound to their texture units once."""

    def __init__(self, context: Any, programs: Programs, owned: list[Any]) -> None:
        self.context, self.programs, self.owned = context, programs, owned
        self.textures: dict[str, Any] = {}
        self.targets: dict[str, Any] = {}
        depth = self.textures["shadow_depth"] = self._keep(context.depth_texture((SHADOW_PIXELS, SHADOW_PIXELS)))
        depth.compare_func = ""
        self.targets["shadow_depth"] = self._keep(context.framebuffer(depth_attachment=depth))
        sizes = {"cast_map": CAST_PIXELS, "cast_soft": CAST_PIXELS // 4, "cast_softer": CAST_PIXELS // 8}
        sizes |= dict.fromkeys(("contact_raw", "contact_half", "contact_map"), CONTACT_PIXELS)
        for name, pixels in sizes.items():
            texture = self.textures[name] = self._keep(context.texture((pixels, pixels), 2))
            by_height = self._keep(context.depth_renderbuffer((pixels, pixels))) if name == "contact_raw" else None
            self.targets[name] = self._keep(context.framebuffer([texture], by_height))
        for name, texture in self.textures.items():
            texture.filter = NEAREST_FILTER if name == "shadow_depth" else LINEAR_FILTER
            texture.repeat_x = texture.repeat_y = False
            if name in TEXTURE_SLOTS:
                texture.use(TEXTURE_SLOTS[name])
        # The same depth map through a sampler that compares and averages over four texels.
        compared = self._keep(context.sampler(repeat_x=False, repeat_y=False, filter=LINEAR_FILTER, compare_func="<="))
        compared.use(TEXTURE_SLOTS["shadow_map"])
        depth.use(TEXTURE_SLOTS["shadow_map"])

    def _keep(self, thing: Any) -> Any:
        self.owned.append(thing)
        return thing

    def draw(self, frame: RenderFrame, lights: Lights, casters: list[GpuMesh]) -> None:
        """Draw all maps of one frame, and set the uniforms that read them."""
        import moderngl

        context, stage, put = self.context, frame.stage, self.programs.put
        context.disable(moderngl.BLEND)
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<"
        light, texel = light_from_world(lights.key, frame.centre, 1.05 * stage.reach)
        put("depth", light_from_world=light.T)
        # Offset along the normal by 1.5 texels: less gives shadow acne, more detaches a shadow from its caster.
        for name in LIT_PROGRAMS:
            put(name, light_from_world=light.T, normal_offset=1.5 * texel, shadow_texel=1.0 / SHADOW_PIXELS)
            put(name, penumbra=LIGHT_RADIUS_RATIO)
        self._render("depth", "shadow_depth", casters)
        if stage.ground is None:
            return
        self._cast(light, frame, lights)
        under, near = frame.centre[[0, 2]], 1.3 * stage.reach
        put("contact", centre=under, reach=near, ground=stage.ground, size=stage.size)
        put("ground_shadow", contact_centre=under, contact_reach=near)
        low = [mesh for mesh in casters if mesh.box[0, 1] < stage.ground + CONTACT_SHADOW_HEIGHT_RATIO * stage.size]
        self._render("contact", "contact_raw", low)
        context.disable(moderngl.DEPTH_TEST)
        for source, target, spacing in BLUR_PASSES:
            self._soften(source, target, spacing)

    def _cast(self, light: Array, frame: RenderFrame, lights: Lights) -> None:
        """Draw the stencil of the figure, and set the ground plane in the light's space."""
        import moderngl

        ground = frame.stage.ground
        assert ground is not None
        height = np.linalg.inv(light)[1]  # world height of a position in the light's clip space
        plane = np.array([-height[0], -height[1], ground - height[3]]) / height[2]
        self.programs.put("cast", ground_plane=plane, height_scale=-height[2] / frame.stage.size)
        slant = lights.key[[0, 2]] / lights.key[1]
        self.programs.put("ground_shadow", light_from_world=light.T, ground=ground)
        self.programs.put("ground_shadow", rectangle=_shadow_region(frame, ground, slant))
        self.context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        self.targets["cast_map"].use()
        self.programs.put("cast", resolution=(CAST_PIXELS, CAST_PIXELS))
        self.programs.fill("cast", 3)
        self.context.enable(moderngl.DEPTH_TEST)

    def _render(self, program: str, target: str, casters: list[GpuMesh]) -> None:
        import moderngl

        self.targets[target].use()
        self.targets[target].clear(0.0, 0.0, 0.0, 0.0, depth=1.0)
        for mesh in casters:
            # Back faces lie behind front faces, unless they can be seen through a hole.
            hidden = program == "depth" and not mesh.surface.double_sided
            (self.context.enable if hidden else self.context.disable)(moderngl.CULL_FACE)
            mesh.arrays[program].render()
        self.context.disable(moderngl.CULL_FACE)

    def _soften(self, source: str, target: str, spacing: float) -> None:
        self.targets[target].use()
        self.textures[source].use(TEXTURE_SLOTS["source"])
        step = spacing / self.textures[source].size[0]
        self.programs.put("tent", resolution=self.textures[target].size, spacing=(step, step))
        self.programs.fill("tent", 3)


def _shadow_region(frame: RenderFrame, ground: float, slant: Array) -> Array:
    """The part of the ground (x, z, x, z) that shadows reach: below the box and along the light, with their blur."""
    sides, heights = frame.solid[:, [0, 2]], np.maximum(frame.solid[:, 1] - ground, 0.0)
    pressed = np.concatenate([sides, *(sides - slant * height for height in heights)])
    blur = 0.2 * frame.stage.size
    return np.concatenate([pressed.min(axis=0) - blur, pressed.max(axis=0) + blur])


def light_from_world(key: Array, centre: Array, reach: float) -> tuple[Array, float]:
    """Orthographic clip space (4, 4) of the key light around a sphere, and the world length of one texel of its map.

    The sphere's centre is rounded to whole texels in the light's plane, so that shadow edges do not shimmer when the
    figure moves.
    """
    right = np.cross((0.0, 1.0, 0.0), key)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(key, right), key])
    texel = 2.0 * reach / SHADOW_PIXELS
    middle = axes @ centre
    middle[:2] = np.round(middle[:2] / texel) * texel
    result = np.eye(4)
    result[:3, :3] = axes / reach
    result[:3, 3] = -middle / reach
    result[2] *= -1.0  # the light looks along its own -Z, and clip space grows away from it
    return result, texel
