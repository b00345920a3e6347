"""The compiled shaders of the OpenGL renderer, and how their uniforms are set."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.render import shaders
from understudy.render.look import Look

# Texture units: fixed for the life of a context, so that maps are bound once.
SLOTS = {
    "base_map": 0,
    "shadow_map": 1,
    "cast_map": 2,
    "cast_soft": 3,
    "cast_softer": 4,
    "contact_map": 5,
    "source": 6,
    "figure_map": 7,
}
SOURCES = {
    "surface": (shaders.SURFACE_VERTEX, shaders.SURFACE_FRAGMENT),
    "dense": (shaders.DENSE_VERTEX, shaders.DENSE_FRAGMENT),
    "grid": (shaders.GROUND_VERTEX, shaders.GRID_FRAGMENT),
    "ground_shadow": (shaders.GROUND_VERTEX, shaders.GROUND_SHADOW_FRAGMENT),
    "backdrop": (shaders.BACKDROP_VERTEX, shaders.BACKDROP_FRAGMENT),
    "over": (shaders.BACKDROP_VERTEX, shaders.OVER_FRAGMENT),
    "marks": (shaders.MARKS_VERTEX, shaders.MARKS_FRAGMENT),
    "depth": (shaders.DEPTH_VERTEX, shaders.DEPTH_FRAGMENT),
    "cast": (shaders.PRESSED_VERTEX, shaders.CAST_FRAGMENT),
    "contact": (shaders.PRESSED_VERTEX, shaders.CONTACT_FRAGMENT),
    "tent": (shaders.BACKDROP_VERTEX, shaders.TENT_FRAGMENT),
}
LIT = ("surface", "dense")  # the same light, gathered for each pixel or for each vertex
# Programs that make their own vertices.
SELF_CONTAINED = ("grid", "ground_shadow", "backdrop", "over", "tent")


class Programs:
    """All programs of one context, with the uniforms of a look already set."""

    def __init__(self, context: Any, look: Look, width: int, height: int, owned: list[Any]) -> None:
        self.by_name: dict[str, Any] = {}
        self.arrays: dict[str, Any] = {}
        for name, (vertex, fragment) in SOURCES.items():
            program = self.by_name[name] = context.program(vertex_shader=vertex, fragment_shader=fragment)
            owned.append(program)
            for sampler, slot in SLOTS.items():
                if sampler in program:
                    program[sampler].value = slot
        for name in SELF_CONTAINED:
            self.arrays[name] = context.vertex_array(self.by_name[name], [])
            owned.append(self.arrays[name])
        for name in (*LIT, "grid", "ground_shadow", "backdrop", "marks"):
            self.put(name, optional=True, resolution=(width, height), vignette=look.vignette)
            self.put(name, optional=True, inner_colour=look.inner, outer_colour=look.outer)
        lights = {f"{name}_light": getattr(look, name) for name in ("key", "fill", "rim", "back", "sky", "bounce")}
        for name in LIT:
            self.put(name, exposure=look.exposure, **lights)
        self.put("grid", grid_colour=look.grid, grid_strength=look.grid_strength)
        self.put("ground_shadow", shadow_colour=look.shadow, shadow_strength=look.shadow_strength)
        self.put("ground_shadow", contact_strength=look.contact_strength)

    def __getitem__(self, name: str) -> Any:
        return self.by_name[name]

    def put(self, program: str, optional: bool = False, **values: Any) -> None:
        """Write uniforms as float32; `optional` skips those that the compiler has removed."""
        known = self.by_name[program]
        for name, value in values.items():
            if not optional or name in known:
                known[name].write(np.ascontiguousarray(value, dtype=np.float32))

    def fill(self, name: str, corners: int) -> None:
        """Draw a program that makes its own vertices: three for the whole picture, four for a rectangle."""
        import moderngl

        self.arrays[name].render(moderngl.TRIANGLE_STRIP, vertices=corners)
