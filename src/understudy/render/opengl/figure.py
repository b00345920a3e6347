"""The figure in OpenGL: a G-buffer at every sample, shading at every pixel, then blended surfaces and marks.

Only tiles of the picture that the figure can touch are shaded: a bounding rectangle is half empty, and software
rendering pays for empty pixels too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.render.camera import Camera
from understudy.render.opengl.device import LIT_PROGRAMS, TEXTURE_SLOTS, GpuMesh, Programs
from understudy.render.renderer import Overlays, RenderFrame, RenderPart
from understudy.render.scene import Lights, SurfaceFinish

TILE_PIXELS = 8  # a side; 16 would shade a twentieth more pixels
NO_GROUND_HEIGHT = -1e30  # height of a ground that hides nothing
OCCLUSION_SIZE_RATIO = 0.06  # radius of ambient occlusion, of the figure's size
MAX_PIXEL_SHADING_SLOPE = 6.0  # slope, depth over width, above which a pixel is shaded at every sample
PREMULTIPLIED_BLEND = (1, 0x0303)  # ONE, ONE_MINUS_SRC_ALPHA


class FinishTable:
    """The finishes in use as a texture of three texels each; row 0 is unused.

    Roughness and metallic vary over a surface and are in the G-buffer, so they are not part of the table. A number has
    to fit in a byte: in a scene with more than 255 finishes the rest are drawn like the last.
    """

    def __init__(self, context: Any) -> None:
        self.context, self.texture = context, None
        self.rows: tuple[tuple[float, ...], ...] = ()

    def numbers(self, finishes: list[SurfaceFinish]) -> list[int]:
        """The row of each finish; new ones are written first."""
        contents = [_row(finish) for finish in finishes]
        rows = tuple(dict.fromkeys(contents))
        if rows != self.rows:
            self.release()
            content = np.zeros((len(rows) + 1, 12), np.float32)
            content[1:] = np.reshape(rows, (-1, 12))
            self.texture = self.context.texture((3, len(content)), 4, content.tobytes(), dtype="f4")
            self.rows = rows
        at = {row: min(number, 255) for number, row in enumerate(rows, 1)}
        return [at[row] for row in contents]

    def bind(self) -> None:
        """Bind the table to its texture unit."""
        if self.texture is not None:
            self.texture.use(TEXTURE_SLOTS["finishes"])

    def release(self) -> None:
        """Release the texture."""
        if self.texture is not None:
            self.texture.release()
        self.texture, self.rows = None, ()


def _row(f: SurfaceFinish) -> tuple[float, ...]:
    """The twelve numbers that `finish_of` in the shaders reads."""
    coat = (f.clearcoat, f.clearcoat_roughness)
    return (f.softness, f.specular, *coat, *f.sheen, f.translucency, *f.emissive, float(f.unlit))


class GlFigure:
    """Draws surfaces and marks over a picture of `size` pixels, with side x side samples a pixel."""

    def __init__(self, context: Any, programs: Programs, size: tuple[int, int], side: int, owned: list[Any]) -> None:
        self.context, self.programs, self.size, self.side = context, programs, size, side
        self.finishes = FinishTable(context)
        fine = (side * size[0], side * size[1])
        textures = {
            "note_colour": context.texture(fine, 4),
            "note_normals": context.texture(fine, 4, dtype="f2"),
            "note_details": context.texture(fine, 4),
            "veil": context.texture(fine, 4),
        }
        depth = textures["note_depth"] = context.depth_texture(fine)
        depth.compare_func = ""
        self.notes = context.framebuffer([textures[f"note_{name}"] for name in ("colour", "normals", "details")], depth)
        self.veil = context.framebuffer([textures["veil"]], depth)
        for name, texture in textures.items():
            texture.filter = (0x2600, 0x2600)
            texture.use(TEXTURE_SLOTS[name])
        self.tiles = context.buffer(reserve=8, dynamic=True)
        self.tiles_array = context.vertex_array(programs["shade"], [(self.tiles, "2f", "centre")])
        owned += [*textures.values(), self.notes, self.veil, self.tiles, self.tiles_array]

    def set_frame(self, camera: Camera, frame: RenderFrame, lights: Lights, on_ground: bool) -> None:
        """Set the uniforms that change with the camera and the floor."""
        stage, put = frame.stage, self.programs.put
        ground = NO_GROUND_HEIGHT if stage.ground is None else stage.ground
        # Soles on the ground, or slightly below it, do not flicker.
        floor = ground - 1e-3 * stage.size if on_ground else NO_GROUND_HEIGHT
        for name in ("note", "blend", "marks"):
            put(name, clip_from_world=camera.clip_from_world.T)
        for name in ("note", "shade", "blend"):
            put(name, camera_from_world=camera.view[:3, :3].T)
        for name in ("shade", "blend", "marks"):
            put(name, floor_height=floor)
        near, far = camera.near, camera.far
        put("shade", world_from_clip=np.linalg.inv(camera.clip_from_world).T)
        put("shade", depth_scale=(1.0 / near, (near - far) / (near * far)))
        slope = np.tan(0.5 * camera.fov)
        put("shade", hollow=OCCLUSION_SIZE_RATIO * stage.size)
        for name in ("note", "shade", "blend"):
            put(name, view_slope=(slope * camera.aspect, slope))
        put("shade", pixel_slope=MAX_PIXEL_SHADING_SLOPE * 2.0 * slope / self.size[1])
        directions = {f"{name}_direction": getattr(lights, name) for name in ("key", "fill", "rim", "back")}
        for name in LIT_PROGRAMS:
            put(name, eye=camera.eye, ground=ground, size=stage.size, **directions)

    def draw(self, target: Any, meshes: list[GpuMesh], frame: RenderFrame, camera: Camera) -> None:
        """Draw surfaces and marks over `target`."""
        numbers = dict(zip(meshes, self.finishes.numbers([mesh.surface.finish for mesh in meshes])))
        self.finishes.bind()
        solid = [mesh for mesh in meshes if mesh.surface.alpha_mode != "blend"]
        see_through = [mesh for mesh in meshes if mesh.surface.alpha_mode == "blend"]
        self._note(sort_by_distance(solid, camera), numbers)
        if solid:
            self._shade(target, [part for part in frame.parts if part.surface.alpha_mode != "blend"], camera)
        if see_through or frame.marks:
            self._draw_veil(sort_by_distance(see_through, camera)[::-1], frame.marks, numbers)
            self._lay_over(target, rectangle_of(frame.box, camera, self.size))

    def _note(self, meshes: list[GpuMesh], numbers: dict[GpuMesh, int]) -> None:
        """Fill the G-buffer: what each sample sees of the solid surfaces."""
        import moderngl

        self.notes.use()
        self.notes.clear(0.0, 0.0, 0.0, 0.0, depth=1.0)
        self.context.disable(moderngl.BLEND)
        self.context.enable(moderngl.DEPTH_TEST)
        self.context.depth_func = "<"
        for mesh in meshes:
            mesh.program["finish_number"].value = numbers[mesh]
            (self.context.disable if mesh.surface.double_sided else self.context.enable)(moderngl.CULL_FACE)
            mesh.render()

    def _draw_veil(self, meshes: list[GpuMesh], marks: list[Overlays], numbers: dict[GpuMesh, int]) -> None:
        """Draw marks, and blended surfaces over the solid ones, the farthest first, without writing depth."""
        import moderngl

        self.veil.use()
        self.veil.color_mask = True, True, True, True
        # the depth of the solid surfaces is kept
        self.context.disable(moderngl.CULL_FACE | moderngl.BLEND)
        self._clear_veil()
        self.context.enable(moderngl.DEPTH_TEST)
        self._draw_marks(marks, in_front=False)
        self.context.enable(moderngl.BLEND | moderngl.CULL_FACE)
        self.context.blend_func = PREMULTIPLIED_BLEND
        self.veil.depth_mask = False
        for mesh in meshes:
            mesh.program["finish_number"].value = numbers[mesh]
            for hidden in ("front", "back") if mesh.surface.double_sided else ("back",):
                self.context.cull_face = hidden
                mesh.render()
        self.veil.depth_mask = True
        self.context.disable(moderngl.BLEND | moderngl.CULL_FACE | moderngl.DEPTH_TEST)
        self._draw_marks(marks, in_front=True)

    def _clear_veil(self) -> None:
        self.veil.depth_mask = False
        self.veil.clear(0.0, 0.0, 0.0, 0.0)
        self.veil.depth_mask = True

    def _draw_marks(self, marks: list[Overlays], in_front: bool) -> None:
        for mark in marks:
            if mark.in_front != in_front:
                continue
            content = np.concatenate([mark.vertices, mark.colours], axis=1)[mark.triangles.ravel()]
            buffer = self.context.buffer(content.tobytes())
            array = self.context.vertex_array(self.programs["marks"], [(buffer, "3f 3f", "position", "colour")])
            array.render()
            array.release()
            buffer.release()

    def _shade(self, target: Any, parts: list[RenderPart], camera: Camera) -> None:
        """Shade the G-buffer tile by tile; the tiles of the last row and column may extend beyond the picture."""
        import moderngl

        tiles = find_touched_tiles(parts, camera, self.size)
        if not len(tiles):
            return
        whole = TILE_PIXELS * -(-np.array(self.size) // TILE_PIXELS)
        self.tiles.orphan(8 * len(tiles))
        self.tiles.write(np.ascontiguousarray((2.0 * TILE_PIXELS * tiles + TILE_PIXELS) / whole - 1.0, np.float32))
        self._open(target)
        target.viewport = (0, 0, int(whole[0]), int(whole[1]))
        self.context.point_size = TILE_PIXELS
        self.tiles_array.render(moderngl.POINTS, vertices=len(tiles))
        self._close(target)

    def _lay_over(self, target: Any, rectangle: tuple[int, int, int, int]) -> None:
        if rectangle[2] and rectangle[3]:
            self._open(target)
            target.scissor = rectangle
            self.programs.fill("over", 3)
            self._close(target)

    def _open(self, target: Any) -> None:
        import moderngl

        target.use()
        self.context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        self.context.enable(moderngl.BLEND)
        self.context.blend_func = PREMULTIPLIED_BLEND

    def _close(self, target: Any) -> None:
        import moderngl

        self.context.disable(moderngl.BLEND)
        target.scissor = None
        target.viewport = (0, 0, *self.size)

    def depth_at(self, columns: Array, rows: Array) -> Array:
        """(N,) depth in [0, 1] of the nearest surface at pixels (N,), (N,) from the lower left; 1 for none.

        Only the rectangle around them is read.
        """
        low = self.side * np.array([columns.min(), rows.min()])
        width, height = (self.side * np.array([np.ptp(columns) + 1, np.ptp(rows) + 1])).tolist()
        viewport = (int(low[0]), int(low[1]), width, height)
        data = self.notes.read(viewport, components=1, attachment=-1, alignment=1, dtype="f4")
        depth = np.frombuffer(data, np.float32).reshape(height, width).astype(np.float64)
        return np.asarray(depth[self.side * rows - low[1], self.side * columns - low[0]])

    def release(self) -> None:
        """Release what the renderer does not own."""
        self.finishes.release()


def sort_by_distance(meshes: list[GpuMesh], camera: Camera) -> list[GpuMesh]:
    """Meshes by the distance of their centres from the camera, the nearest first."""
    towards = camera.view[2, :3]
    return sorted(meshes, key=lambda mesh: -float(towards @ mesh.box.mean(axis=0)))


def rectangle_of(box: Array, camera: Camera, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """The rectangle (x, y, width, height) around a box (2, 3); the whole picture if it reaches behind the eye."""
    corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    projected = camera.project(corners)
    low, high = np.zeros(2, int), np.array(size)
    if projected[:, 2].min() > camera.near:
        inside = high * (projected[:, :2] * 0.5 + 0.5)
        low, high = (
            np.clip(np.floor(inside.min(axis=0)) - 2, low, high).astype(int),
            np.clip(np.ceil(inside.max(axis=0)) + 2, low, high).astype(int),
        )
    return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])


def find_touched_tiles(parts: Iterable[RenderPart], camera: Camera, size: tuple[int, int]) -> Array:
    """(N, 2) column and row, from the lower left, of each tile that the screen box of a triangle touches.

    All tiles, if a triangle reaches behind the eye.
    """
    touched = np.zeros([-(-extent // TILE_PIXELS) for extent in size[::-1]], bool)
    matrix = camera.clip_from_world.astype(np.float32)[(0, 1, 3), :]
    half = 0.5 * np.array(size, np.float32)
    for part in parts:
        if not len(part.surface.triangles):
            continue
        homogeneous = part.vertices @ matrix[:, :3].T + matrix[:, 3]
        if homogeneous[:, 2].min() < camera.near:
            touched[:] = True
            break
        place = (homogeneous[:, :2] / homogeneous[:, 2:] + 1.0) * half
        # One more pixel on each side, since vertices are rounded to fractions of a pixel; far positions are clamped.
        place = np.clip(place, -1e6, 1e6)
        low, high = (
            np.floor((place + margin) * np.float32(1.0 / TILE_PIXELS)).astype(np.int32) for margin in (-1.0, 1.0)
        )
        mark_tiles(low, high, part.surface.triangles, touched)
    return np.argwhere(touched)[:, ::-1]


def mark_tiles(low: Array, high: Array, triangles: Array, touched: Array) -> None:
    """Set touched (rows, columns) where a triangle's box, from its corners' lowest to highest tile (V, 2), lies.

    A box adds one to its rectangle of tiles: its corners are written into a table of differences, and summing the table
    up along both axes gives the count for each tile.
    """
    rows, columns = touched.shape
    a, b, c = triangles.T
    x, y = (
        (
            np.clip(np.minimum(np.minimum(low[a, i], low[b, i]), low[c, i]), 0, extent),
            np.clip(np.maximum(np.maximum(high[a, i], high[b, i]), high[c, i]) + 1, 0, extent),
        )
        for i, extent in enumerate((columns, rows))
    )
    width, size = columns + 1, (rows + 1) * (columns + 1)
    table = np.zeros(size, np.int64)
    for first, second, sign in ((0, 0, 1), (1, 0, -1), (0, 1, -1), (1, 1, 1)):
        table += sign * np.bincount(y[second] * width + x[first], minlength=size)
    touched |= table.reshape(rows + 1, width).cumsum(axis=0).cumsum(axis=1)[:rows, :columns] > 0
