"""Surfaces on the graphics device: what never changes is uploaded once, vertices and normals every frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.render.frame import Part
from understudy.render.gl_programs import SLOTS, Programs
from understudy.render.scene import MAPS, Surface

UNITS = dict(zip(MAPS, (SLOTS["base_map"], SLOTS["normal_map"], SLOTS["detail_map"])))


class GpuMesh:
    """The buffers of one surface, and one vertex array for each program that draws it."""

    def __init__(
        self, context: Any, programs: Programs, surface: Surface, count: int, textures: Mapping[str, Any]
    ) -> None:
        self.surface, self.count, self.textures = surface, count, textures
        self.maps = sum(1 << bit for bit, name in enumerate(MAPS) if name in textures)
        self.box: Array = np.zeros((2, 3))  # of the vertices as last uploaded
        self.owned: list[Any] = []
        colours, uvs, occlusion = surface.per_vertex(count)
        self.painted = bool((colours != colours[0]).any() or (occlusion != 1).any())
        self.tint = tuple(float(x) for x in colours[0])  # of all, where it is not painted
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

    def upload(self, part: Part) -> None:
        """Send the vertices and normals of a frame."""
        self.box = part.box
        self.positions.write(part.vertices)
        self.normals.write(part.normals)

    def render(self) -> None:
        """Draw it as a surface, with its maps and settings."""
        for name, texture in self.textures.items():
            texture.use(UNITS[name])
        surface, program = self.surface, self.program
        settings: dict[str, Any] = {"alpha_cutoff": surface.alpha_cutoff, "normal_scale": surface.normal_scale}
        settings |= {} if self.painted else {"tint": self.tint}
        settings |= {"roughness": surface.finish.roughness, "metallic": surface.finish.metallic}
        for name, value in settings.items():
            if name in program:
                program[name].value = value
        self.arrays[self.pass_name].render()

    def release(self) -> None:
        """Give all buffers back."""
        for thing in reversed(self.owned):
            thing.release()


def _layout(layout: str, names: list[str], program: Any) -> list[str]:
    """A buffer's layout and names, with those that the compiler has removed from the program skipped over."""
    pieces = [piece if name in program else f"{4 * int(piece[:-1])}x" for piece, name in zip(layout.split(), names)]
    return [" ".join(pieces), *(name for name in names if name in program)]


class GpuMeshes:
    """Meshes of the surfaces that are on stage; those that left it are released after the next frame."""

    def __init__(self, context: Any, programs: Programs) -> None:
        self.context, self.programs = context, programs
        self.meshes: dict[tuple[int, int, int], GpuMesh] = {}
        self.textures: dict[int, tuple[Array, Any]] = {}

    def of(self, parts: list[Part]) -> list[GpuMesh]:
        """One mesh a part with its vertices uploaded; a surface that appears twice has two."""
        current: dict[tuple[int, int, int], GpuMesh] = {}
        seen: dict[int, int] = {}
        for part in parts:
            if not part.surface.triangles.size:
                continue
            identity = id(part.surface)  # the mesh keeps the surface alive, so an identity is never used again
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
            # Decoded in the shader, after filtering: as an sRGB texture it would be decoded at each of four taps.
            texture = self.context.texture((width, height), 4, image.tobytes())
            texture.build_mipmaps()
            # The nearest level only: on a processor every further tap of every pixel counts.
            texture.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
            self.textures[id(image)] = (image, texture)
        return self.textures[id(image)][1]

    def release(self) -> None:
        """Give everything back."""
        for mesh in self.meshes.values():
            mesh.release()
        for _, texture in self.textures.values():
            texture.release()
        self.meshes, self.textures = {}, {}
