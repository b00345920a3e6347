"""The shadow passes of the OpenGL renderer: small pictures of the figure from the light and from below.

Depth seen from the key light serves for shadows of the figure on itself and, as a stencil, for its shadow on the
ground; a picture from straight below, of what is close to the ground, for the contact. The latter two are softened by
tent filters into ever smaller textures, so the ground needs one bilinear tap for each degree of softness.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.render.frame import Frame
from understudy.render.gl_programs import LIT, SLOTS, Programs
from understudy.render.gpu_mesh import GpuMesh
from understudy.render.look import Lights

SHADOW_PIXELS, CAST_PIXELS, CONTACT_PIXELS = 1024, 256, 128
TOUCHING = 0.2  # of the figure's size: what is higher does not darken the ground below it; the shader knows it, too
PENUMBRA = 0.07  # the light's radius over its distance: a softbox, not a sun
NEAREST, LINEAR = (0x2600, 0x2600), (0x2601, 0x2601)
# Source, target, distance of the nine taps in the source's pixels.
SOFTENING = (
    ("cast_map", "cast_soft", 2.0),
    ("cast_soft", "cast_softer", 2.4),
    ("contact_raw", "contact_half", 1.5),
    ("contact_half", "contact_map", 1.5),
)


class Shadows:
    """Maps that are drawn anew for each frame; bound to their texture slots once."""

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
            texture.filter = NEAREST if name == "shadow_depth" else LINEAR
            texture.repeat_x = texture.repeat_y = False
            if name in SLOTS:
                texture.use(SLOTS[name])
        # The same depths once more, through a sampler that compares and averages over four texels.
        compared = self._keep(context.sampler(repeat_x=False, repeat_y=False, filter=LINEAR, compare_func="<="))
        compared.use(SLOTS["shadow_map"])
        depth.use(SLOTS["shadow_map"])

    def _keep(self, thing: Any) -> Any:
        self.owned.append(thing)
        return thing

    def draw(self, frame: Frame, lights: Lights, casters: list[GpuMesh]) -> None:
        """All maps of one frame, and the uniforms with which they are read."""
        import moderngl

        context, stage, put = self.context, frame.stage, self.programs.put
        context.disable(moderngl.BLEND)
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<"
        light, texel = light_from_world(lights.key, frame.centre, 1.05 * stage.reach)
        put("depth", light_from_world=light.T)
        # Moved out along the normal by a texel and a half: less leaves acne, more detaches a shadow from its caster.
        for name in LIT:
            put(name, light_from_world=light.T, normal_offset=1.5 * texel, shadow_texel=1.0 / SHADOW_PIXELS)
            put(name, penumbra=PENUMBRA)
        self._render("depth", "shadow_depth", casters)
        if stage.ground is None:
            return
        self._cast(light, frame, lights)
        under, near = frame.centre[[0, 2]], 1.3 * stage.reach
        put("contact", centre=under, reach=near, ground=stage.ground, size=stage.size)
        put("ground_shadow", contact_centre=under, contact_reach=near)
        low = [mesh for mesh in casters if mesh.box[0, 1] < stage.ground + TOUCHING * stage.size]
        self._render("contact", "contact_raw", low)
        context.disable(moderngl.DEPTH_TEST)
        for source, target, spacing in SOFTENING:
            self._soften(source, target, spacing)

    def _cast(self, light: Array, frame: Frame, lights: Lights) -> None:
        """The stencil of the figure, and where the ground is in the light's space."""
        import moderngl

        ground = frame.stage.ground
        assert ground is not None
        height = np.linalg.inv(light)[1]  # world height of a place in the light's clip space
        plane = np.array([-height[0], -height[1], ground - height[3]]) / height[2]
        self.programs.put("cast", ground_plane=plane, height_scale=-height[2] / frame.stage.size)
        slant = lights.key[[0, 2]] / lights.key[1]
        self.programs.put("ground_shadow", light_from_world=light.T, ground=ground)
        self.programs.put("ground_shadow", rectangle=_darkened(frame, ground, slant))
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
            # What faces away from the light lies behind what faces it, unless it can be seen through a hole.
            hidden = program == "depth" and not mesh.surface.double_sided
            (self.context.enable if hidden else self.context.disable)(moderngl.CULL_FACE)
            mesh.arrays[program].render()
        self.context.disable(moderngl.CULL_FACE)

    def _soften(self, source: str, target: str, spacing: float) -> None:
        self.targets[target].use()
        self.textures[source].use(SLOTS["source"])
        step = spacing / self.textures[source].size[0]
        self.programs.put("tent", resolution=self.textures[target].size, spacing=(step, step))
        self.programs.fill("tent", 3)


def _darkened(frame: Frame, ground: float, slant: Array) -> Array:
    """The part of the ground (x, z, x, z) that shadows reach: below the box, along the light, and their blur."""
    sides, heights = frame.solid[:, [0, 2]], np.maximum(frame.solid[:, 1] - ground, 0.0)
    pressed = np.concatenate([sides, *(sides - slant * height for height in heights)])
    blur = 0.2 * frame.stage.size
    return np.concatenate([pressed.min(axis=0) - blur, pressed.max(axis=0) + blur])


def light_from_world(key: Array, centre: Array, reach: float) -> tuple[Array, float]:
    """Orthographic clip space (4, 4) of the key light around a sphere, and the world length of one texel of its map.

    The sphere's centre is rounded to whole texels in the light's plane, so that shadow edges do not swim as a figure
    moves.
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
