"""Shader programs and meshes on the graphics device.

`Programs` compiles the shaders and sets their uniforms. `GpuMesh` holds a surface: constant data is uploaded once,
vertices and normals every frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.render.opengl import shaders, shaders_figure
from understudy.render.renderer import RenderPart
from understudy.render.scene import MAP_NAMES, SceneStyle, Surface

# Texture units: fixed for the life of a context, so that maps are bound once. OpenGL 3.3 has sixteen for each shader.
TEXTURE_SLOTS = {
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
# Compiled for each combination of maps in use: a branch would slow all of them down.
VARIANT_PROGRAMS = ("note", "blend")
LIT_PROGRAMS = ("shade", "blend")  # use the lights
# Programs that generate their own vertices.
SELF_CONTAINED = ("over", "grid", "ground_shadow", "backdrop", "cast", "tent")
MAP_TEXTURE_UNITS = dict(
    zip(MAP_NAMES, (TEXTURE_SLOTS["base_map"], TEXTURE_SLOTS["normal_map"], TEXTURE_SLOTS["detail_map"]))
)


class Programs:
    """All programs of one context. Uniforms are stored, so that a variant that is compiled later gets them too.

    size: pixels of the picture; side: samples a pixel in each direction for surfaces and marks; fine: pixels will be
    averaged, so that neighbours may share work.
    """

    def __init__(
        self, context: Any, look: SceneStyle, size: tuple[int, int], side: int, fine: bool, owned: list[Any]
    ) -> None:
        self.context, self.owned = context, owned
        self.defines = f"#define SIDE {side}\n#define FINE {int(fine)}\n"
        self.by_name: dict[str, list[Any]] = {name: [] for name in SOURCES}
        self.variants: dict[tuple[str, int, bool, bool], Any] = {}
        self.values: dict[str, dict[str, Any]] = {name: {} for name in SOURCES}
        self.arrays: dict[str, Any] = {}
        for name in SOURCES.keys() - set(VARIANT_PROGRAMS):
            self._compile(name)
        for name in SELF_CONTAINED:
            self.arrays[name] = context.vertex_array(self[name], [])
            owned.append(self.arrays[name])
        for name in ("shade", "blend", "marks", "grid", "ground_shadow", "backdrop"):
            times = side if name in ("blend", "marks") else 1
            self.put(name, resolution=(times * size[0], times * size[1]), vignette=look.vignette)
            self.put(name, inner_colour=look.inner, outer_colour=look.outer)
        for name in VARIANT_PROGRAMS:
            self.put(name, samples=(side * size[0], side * size[1]))
        lights = {f"{name}_light": getattr(look, name) for name in ("key", "fill", "rim", "back", "sky", "bounce")}
        for name in LIT_PROGRAMS:
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
        for sampler, slot in TEXTURE_SLOTS.items():
            if sampler in program:
                program[sampler].value = slot
        for uniform, value in self.values[name].items():
            if uniform in program:
                program[uniform].write(value)
        return program

    def __getitem__(self, name: str) -> Any:
        return self.by_name[name][0]

    def variant(self, name: str, maps: int, cut: bool, painted: bool) -> Any:
        """The program for surfaces with these maps, with or without cut-outs, with vertex colours or one colour."""
        key = (name, maps, cut, painted)
        if key not in self.variants:
            defines = f"#define MAPS {maps}\n" + "#define CUT\n" * cut + "#define PAINTED\n" * painted
            self.variants[key] = self._compile(name, defines)
        return self.variants[key]

    def put(self, name: str, **values: Any) -> None:
        """Write uniforms as float32 to a program and its variants; those that the compiler removed are skipped."""
        for uniform, value in values.items():
            content = np.ascontiguousarray(value, dtype=np.float32).tobytes()
            if self.values[name].get(uniform) == content:
                continue
            self.values[name][uniform] = content
            for program in self.by_name[name]:
                if uniform in program:
                    program[uniform].write(content)

    def fill(self, name: str, corners: int) -> None:
        """Draw a program that generates its vertices: three for the whole picture, four for a rectangle."""
        import moderngl

        self.arrays[name].render(moderngl.TRIANGLE_STRIP, vertices=corners)


class GpuMesh:
    """The buffers of one surface, and one vertex array for each program that draws it."""

    def __init__(
        self, context: Any, programs: Programs, surface: Surface, count: int, textures: Mapping[str, Any]
    ) -> None:
        self.surface, self.count, self.textures = surface, count, textures
        self.maps = sum(1 << bit for bit, name in enumerate(MAP_NAMES) if name in textures)
        self.box: Array = np.zeros((2, 3))  # of the last uploaded vertices
        self.owned: list[Any] = []
        colours, uvs, occlusion = surface.per_vertex(count)
        self.painted = bool((colours != colours[0]).any() or (occlusion != 1).any())
        self.tint = tuple(float(x) for x in colours[0])  # of all vertices, if it is not painted
        static = np.concatenate([colours, uvs, occlusion[:, None]], axis=1).astype(np.float32)
        self.positions = self._keep(context.buffer(reserve=12 * count, dynamic=True))
        self.normals = self._keep(context.buffer(reserve=12 * count, dynamic=True))
        fixed = self._keep(context.buffer(static.tobytes()))
        index = self._keep(context.buffer(surface.triangles.astype("i4").tobytes()))
        whole = [
            (self.positions, "3f", "position"),
            (self.normals, "3f", "normal"),
            (fixed, "4f 2f 1f", "colour", "uv", "occlusion"),
        ]
        self.pass_name = "blend" if surface.alpha_mode == "blend" else "note"
        self.program = programs.variant(self.pass_name, self.maps, surface.alpha_mode == "mask", self.painted)
        used = [(buffer, *_layout(layout, names, self.program)) for buffer, layout, *names in whole]
        used = [content for content in used if len(content) > 2]
        self.arrays = {self.pass_name: self._keep(context.vertex_array(self.program, used, index))}
        for name in ("depth", "contact"):
            content = [(self.positions, "3f", "position")]
            self.arrays[name] = self._keep(context.vertex_array(programs[name], content, index))

    def _keep(self, thing: Any) -> Any:
        self.owned.append(thing)
        return thing

    def upload(self, part: RenderPart) -> None:
        """Send the vertices and normals of a frame."""
        self.box = part.box
        self.positions.write(part.vertices)
        self.normals.write(part.normals)

    def render(self) -> None:
        """Draw it as a surface, with its maps and settings."""
        for name, texture in self.textures.items():
            texture.use(MAP_TEXTURE_UNITS[name])
        surface, program = self.surface, self.program
        settings: dict[str, Any] = {"alpha_cutoff": surface.alpha_cutoff, "normal_scale": surface.normal_scale}
        settings |= {} if self.painted else {"tint": self.tint}
        settings |= {"roughness": surface.finish.roughness, "metallic": surface.finish.metallic}
        for name, value in settings.items():
            if name in program:
                program[name].value = value
        self.arrays[self.pass_name].render()

    def release(self) -> None:
        """Release all buffers."""
        for thing in reversed(self.owned):
            thing.release()


def _layout(layout: str, names: list[str], program: Any) -> list[str]:
    """A buffer's layout and names, without the attributes that the compiler has removed from the program."""
    pieces = [piece if name in program else f"{4 * int(piece[:-1])}x" for piece, name in zip(layout.split(), names)]
    return [" ".join(pieces), *(name for name in names if name in program)]


class GpuMeshes:
    """The meshes of the surfaces in use; unused ones are released after the next frame."""

    def __init__(self, context: Any, programs: Programs) -> None:
        self.context, self.programs = context, programs
        self.meshes: dict[tuple[int, int, int], GpuMesh] = {}
        self.textures: dict[int, tuple[Array, Any]] = {}

    def upload_parts(self, parts: list[RenderPart]) -> list[GpuMesh]:
        """A mesh for each part, with uploaded vertices; a surface that appears twice has two."""
        current: dict[tuple[int, int, int], GpuMesh] = {}
        seen: dict[int, int] = {}
        for part in parts:
            if not part.surface.triangles.size:
                continue
            identity = id(part.surface)  # the mesh keeps the surface alive, so that id() is unique
            nth = seen[identity] = seen.get(identity, -1) + 1
            key = (identity, nth, len(part.vertices))
            mesh = self.meshes.get(key)
            if mesh is None:
                textures = {name: self._texture(image) for name, image in part.surface.maps.items()}
                mesh = GpuMesh(self.context, self.programs, part.surface, len(part.vertices), textures)
            mesh.upload(part)
            current[key] = mesh
        for key in self.meshes.keys() - current.keys():
            self.meshes[key].release()
        self.meshes = current
        used = {id(image) for mesh in current.values() for image in mesh.surface.maps.values()}
        for identity in self.textures.keys() - used:
            self.textures.pop(identity)[1].release()
        return list(current.values())

    def _texture(self, image: Array) -> Any:
        if id(image) not in self.textures:
            import moderngl

            height, width = image.shape[:2]
            # Converted in the shader, after filtering: an sRGB texture would be converted at each of four taps.
            texture = self.context.texture((width, height), 4, image.tobytes())
            texture.build_mipmaps()
            # The nearest mipmap level only, since software rendering pays for every tap.
            texture.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
            self.textures[id(image)] = (image, texture)
        return self.textures[id(image)][1]

    def release(self) -> None:
        """Release everything."""
        for mesh in self.meshes.values():
            mesh.release()
        for _, texture in self.textures.values():
            texture.release()
        self.meshes, self.textures = {}, {}
