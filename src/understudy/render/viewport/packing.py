"""Packing: a row of a rig as the payload of one frame.

A character whose controls are its joints and shape weights is sent as those (form 1), and the page skins it: a few
kilobytes a frame. A rig with layers or a deformer is sent as vertices (form 2): a quarter of a megabyte a frame for the
dragon, which costs less than any compression would. The page computes the normals of the frames that it draws; the
triangles and seams for that are sent once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from understudy.character import Part
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.render.viewport.surface import SkinMatrices, drawable_character

JOINTS_FORM, VERTICES_FORM = 1, 2  # of a frame (see `studio.source`)


class FramePacker:
    """Packs rows of one rig; its data is prepared at the first frame."""

    def __init__(self, rig: PosedRig) -> None:
        self.rig = rig
        self.form = JOINTS_FORM if rig.is_skin else VERTICES_FORM

    def pack(self, row: Array) -> tuple[int, int, memoryview]:
        """a, b and the payload of a frame (see `studio.source`) for a row (C,)."""
        if self.form == VERTICES_FORM:
            points = np.ascontiguousarray(self.rig.vertices(np.asarray(row)[None])[0], np.float32)
            return len(points), 0, points.reshape(-1).data.cast("B")
        rows = self.poses(np.asarray(row)[None])
        return len(self.bones), self.weight_count, rows.reshape(-1).data.cast("B")

    def poses(self, rows: Array) -> Array:
        """(F, 12 B + W) float32: matrices (3 rows of 4) of the bones, then weights of the targets, for (F, C) rows."""
        matrices = self.bones.matrices(self.rig.joints(rows))
        weights = [matrices.reshape(len(rows), -1)]
        for part, offset in zip(self.parts, self.offsets):
            if offset >= 0 and offset == sum(block.shape[1] for block in weights[1:]):
                assert part.mesh.shapes is not None  # parts without shapes have no offset
                columns = self.rig.channels.slice(part.name, "weights")
                weights.append(part.mesh.shapes.target_weights(rows[:, columns]).astype(np.float32))
        return np.concatenate(weights, axis=1)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The drawn parts."""
        rig = self.rig
        return drawable_character(rig.character, rig.joints(rig.rest[None])[0]).parts

    @cached_property
    def bones(self) -> SkinMatrices:
        """The B matrices of a frame of form 1."""
        return SkinMatrices(self.parts)

    @cached_property
    def offsets(self) -> list[int]:
        """The first weight of each part's targets among all; -1 for a part without shapes."""
        return weight_offsets(self.parts)

    @cached_property
    def weight_count(self) -> int:
        """W, over all parts."""
        ends = [0]
        for part, offset in zip(self.parts, self.offsets):
            if offset >= 0 and part.mesh.shapes is not None:
                ends.append(offset + len(part.mesh.shapes.deltas))
        return max(ends)


def weight_offsets(parts: Sequence[Part]) -> list[int]:
    """The first weight of each part's targets; parts of one name share theirs, unless their in-betweens differ."""
    known: dict[tuple[str, bytes, bytes], int] = {}
    result, end = [], 0
    for part in parts:
        shapes = part.mesh.shapes
        if shapes is None:
            result.append(-1)
            continue
        key = part.name, shapes.shape_of.tobytes(), shapes.stop_of.tobytes()
        if key not in known:
            known[key] = end
            end += len(shapes.deltas)
        result.append(known[key])
    return result


def corners_and_seams(parts: Sequence[Part]) -> tuple[Array, Array]:
    """Triangles (T, 3) of the streamed vertices, and (V,) a group number: vertices of one group share their normal.

    A normal is the unit sum of the normals of the triangles around, weighted by area. Vertices with one position and
    one normal at rest are a seam, and share their normal in every frame.
    """
    triangles, places, start, welded = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)], 0, 0
    for part in parts:
        triangles.append(part.mesh.triangles + start)
        own = _seams(part)
        places.append(own + welded)
        start, welded = start + len(own), welded + int(own.max(initial=-1)) + 1
    return np.concatenate(triangles), np.concatenate(places)


def _seams(part: Part) -> Array:
    """(V,) a group number for each vertex, the same for equal position and normal.

    A mesh with attributes per corner needs no duplicate vertices, so each is its own group.
    """
    mesh = part.mesh
    if mesh.normals is None or mesh.normals.ndim == 3 or any(uv.ndim == 3 for uv in mesh.uvs):
        return np.arange(len(mesh.vertices))
    # 0.01 of a normal is half a degree; the two sides of a smooth seam agree far better
    key = np.concatenate([mesh.vertices, np.round(mesh.normals * 100)], axis=1)
    return np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)
