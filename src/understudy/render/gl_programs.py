"""The compiled shaders of the OpenGL renderer, and how their uniforms are set."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.render import shaders, shaders_figure
from understudy.render.look import Look

# Texture units: fixed for the life of a context, so that maps are bound once. OpenGL 3.3 has sixteen for each shader.
SLOTS = {
    "base_map": 0,
    "normal_map": 1,
    "detail_map": 2,
    "shadow_map": 3,
    "shadow_depth": 4,
    "cast_map": 5,
    "cast_soft": 6,
    "cast_softer": 7,
    "contact_map": 8,
    "source": 9,
    "note_colour": 10,
    "note_normals": 11,
    "note_details": 12,
    "note_depth": 13,
    "veil": 14,
    "finishes": 15,
}
SOURCES = {
    "note": (shaders_figure.SURFACE_VERTEX, shaders_figure.NOTE_FRAGMENT),
    "shade": (shaders_figure.SHADE_VERTEX, shaders_figure.SHADE_FRAGMENT),
    "blend": (shaders_figure.SURFACE_VERTEX, shaders_figure.BLEND_FRAGMENT),
    "over": (shaders.BACKDROP_VERTEX, shaders_figure.OVER_FRAGMENT),
    "marks": (shaders.MARKS_VERTEX, shaders.MARKS_FRAGMENT),
    "grid": (shaders.GROUND_VERTEX, shaders.GRID_FRAGMENT),
    "ground_shadow": (shaders.GROUND_VERTEX, shaders.GROUND_SHADOW_FRAGMENT),
    "backdrop": (shaders.BACKDROP_VERTEX, shaders.BACKDROP_FRAGMENT),
    "depth": (shaders.DEPTH_VERTEX, shaders.DEPTH_FRAGMENT),
    "cast": (shaders.BACKDROP_VERTEX, shaders.CAST_FRAGMENT),
    "contact": (shaders.CONTACT_VERTEX, shaders.CONTACT_FRAGMENT),
    "tent": (shaders.BACKDROP_VERTEX, shaders.TENT_FRAGMENT),
}
VARIANTS = ("note", "blend")  # compiled for each combination of maps that is met: a branch would cost all of them
LIT = ("shade", "blend")  # know the lights
# Programs that make their own vertices.
SELF_CONTAINED = ("over", "grid", "ground_shadow", "backdrop", "cast", "tent")


class Programs:
    """All programs of one context. Uniforms are remembered, so that a variant compiled later has them, too.

    size: of the picture; side: samples a pixel in each direction, at which surfaces and marks are drawn; fine: pixels
    will be averaged, so that neighbours may share work.
    """

    def __init__(
        self, context: Any, look: Look, size: tuple[int, int], side: int, fine: bool, owned: list[Any]
    ) -> None:
        self.context, self.owned = context, owned
        self.defines = f"#define SIDE {side}\n#define FINE {int(fine)}\n"
        self.by_name: dict[str, list[Any]] = {name: [] for name in SOURCES}
        self.variants: dict[tuple[str, int, bool, bool], Any] = {}
        self.values: dict[str, dict[str, Any]] = {name: {} for name in SOURCES}
        self.arrays: dict[str, Any] = {}
        for name in SOURCES.keys() - set(VARIANTS):
            self._compile(name)
        for name in SELF_CONTAINED:
            self.arrays[name] = context.vertex_array(self[name], [])
            owned.append(self.arrays[name])
        for name in ("shade", "blend", "marks", "grid", "ground_shadow", "backdrop"):
            times = side if name in ("blend", "marks") else 1
            self.put(name, resolution=(times * size[0], times * size[1]), vignette=look.vignette)
            self.put(name, inner_colour=look.inner, outer_colour=look.outer)
        for name in VARIANTS:
            self.put(name, samples=(side * size[0], side * size[1]))
        lights = {f"{name}_light": getattr(look, name) for name in ("key", "fill", "rim", "back", "sky", "bounce")}
        for name in LIT:
            self.put(name, exposure=look.exposure, **lights)
        self.put("grid", grid_colour=look.grid, grid_strength=look.grid_strength)
        self.put("ground_shadow", shadow_colour=look.shadow, shadow_strength=look.shadow_strength)
        self.put("ground_shadow", contact_strength=look.contact_strength)

    def _compile(self, name: str, defines: str = "") -> Any:
        head = f"#version 330\n{self.defines}{defines}"
        vertex, fragment = (source.replace("#version 330", head, 1) for source in SOURCES[name])
        program = self.context.program(vertex_shader=vertex, fragment_shader=fragment)
        self.owned.append(program)
        self.by_name[name].append(program)
        for sampler, slot in SLOTS.items():
            if sampler in program:
                program[sampler].value = slot
        for uniform, value in self.values[name].items():
            if uniform in program:
                program[uniform].write(value)
        return program

    def __getitem__(self, name: str) -> Any:
        return self.by_name[name][0]

    def variant(self, name: str, maps: int, cut: bool, painted: bool) -> Any:
        """The program for surfaces with some maps, with holes or without, painted at each vertex or in one colour."""
        key = (name, maps, cut, painted)
        if key not in self.variants:
            defines = f"#define MAPS {maps}\n" + "#define CUT\n" * cut + "#define PAINTED\n" * painted
            self.variants[key] = self._compile(name, defines)
        return self.variants[key]

    def put(self, name: str, **values: Any) -> None:
        """Write uniforms as float32 into a program and its variants; those that the compiler removed are skipped."""
        for uniform, value in values.items():
            content = np.ascontiguousarray(value, dtype=np.float32).tobytes()
            if self.values[name].get(uniform) == content:
                continue
            self.values[name][uniform] = content
            for program in self.by_name[name]:
                if uniform in program:
                    program[uniform].write(content)

    def fill(self, name: str, corners: int) -> None:
        """Draw a program that makes its own vertices: three for the whole picture, four for a rectangle."""
        import moderngl

        self.arrays[name].render(moderngl.TRIANGLE_STRIP, vertices=corners)
