"""Shape places: shapes without a telling name, recognised by where and how they move the mesh.

Each shape is a field of displacements over the face, seen from the front. It is spread onto a grid, once for the
character and once for a face whose shapes are known (the built-in one), and two shapes are as alike as the cosine of
their fields. The two faces are laid onto each other by the region that all shapes together move; width, height and
offset of that are then refined where the fields fit better. One-to-one pairs come from the assignment with the greatest
sum of cosines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from understudy.character import Character
from understudy.character.asset import ShapeBind
from understudy.character.body.bone_names import facing_axes
from understudy.character.rig import rig_of
from understudy.checks import Array
from understudy.express.face_map import FaceMap
from understudy.formats.arkit_names import canonical_name

GRID_CELLS = 14  # a side of the face; a mouth corner is then about two cells wide
MIN_COSINE = 0.3  # what remains after the assignment is below 0.15; most right pairs of two heads are above 0.4
REFINEMENT_STEPS = (0.15, 0.07, 0.03)  # of the face's size


class ShapeFields(NamedTuple):
    """How S shapes move the V vertices of a face."""

    names: tuple[str, ...]  # (S,)
    places: Array  # (V, 2) across and up, from -1 to 1 over the region that shapes move
    deltas: Array  # (S, V, 3) left, up and forward, in units of that region's half height


def match_by_place(character: Character, known: Character, taken: FaceMap) -> FaceMap:
    """The map `taken` with the character's other shapes as those of `known` that move a face alike."""
    used = {bind.shape for binds in taken.targets.values() for bind in binds}
    free = [name for names in character.shapes.values() for name in names if name not in used]
    if not free:
        return taken
    mine, theirs = shape_fields(character), shape_fields(known)
    sources = [canonical_name(name) or name for name in theirs.names]
    open_sources = [i for i, source in enumerate(sources) if source not in taken.targets]
    columns = [i for i, name in enumerate(mine.names) if name in free]
    if not open_sources or not columns:
        return taken
    pairs = best_pairs(mine, theirs, columns, open_sources)
    targets, reasons = dict(taken.targets), dict(taken.reasons)
    for mine_at, theirs_at, cosine in pairs:
        if cosine >= MIN_COSINE:
            source = sources[theirs_at]
            targets[source], reasons[source] = (ShapeBind("", mine.names[mine_at], 1.0),), "place"
    return FaceMap(targets, reasons)


def shape_fields(character: Character) -> ShapeFields:
    """The fields of all shapes of a character, in the axes of its face."""
    rig = rig_of(character)
    names: dict[str, list[int]] = {}
    for number, channel in enumerate(rig.channels):
        if channel.kind == "weights":
            for i, column in enumerate(channel.columns):
                names.setdefault(column, []).append(int(rig.channels.offsets[number]) + i)
    axes = facing_axes(rig)
    rest = rig.vertices(rig.rest[None])[0].astype(np.float64) @ axes
    deltas = []
    for columns in names.values():
        row = rig.rest.copy()
        row[columns] = 1.0
        deltas.append(rig.vertices(row[None])[0].astype(np.float64) @ axes - rest)
    moved = np.array(deltas)
    size = np.linalg.norm(moved, axis=2).max(axis=0)
    face = size > 0.1 * size.max() if size.max() > 0 else np.ones(len(size), bool)
    low, high = np.percentile(rest[face], [2, 98], axis=0)
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-9)
    return ShapeFields(tuple(names), ((rest - middle) / half)[face, :2], moved[:, face] / half[1])


def best_pairs(
    mine: ShapeFields, theirs: ShapeFields, columns: list[int], sources: list[int]
) -> list[tuple[int, int, float]]:
    """(shape, source, cosine) of the one-to-one assignment, with the faces laid onto each other as fits best."""
    from scipy.optimize import linear_sum_assignment

    reference = _on_grid(theirs, np.zeros(2), np.ones(2))[sources]

    def cosines(offset: Array, scale: Array) -> Array:
        result: Array = _on_grid(mine, offset, scale)[columns] @ reference.T
        return result

    offset, scale = np.zeros(2), np.ones(2)
    best = _assigned_sum(cosines(offset, scale))
    for step in REFINEMENT_STEPS:
        for change in ((0, 1), (0, -1)), ((1, 1), (1, -1)), ((2, 1), (2, -1)):
            for kind, sign in change:
                tried_offset, tried_scale = offset.copy(), scale.copy()
                if kind == 0:
                    tried_offset[1] += sign * step
                else:
                    tried_scale[kind - 1] *= 1.0 + sign * step
                score = _assigned_sum(cosines(tried_offset, tried_scale))
                if score > best:
                    best, offset, scale = score, tried_offset, tried_scale
    table = cosines(offset, scale)
    rows, places = linear_sum_assignment(-table)
    return [(columns[r], sources[p], float(table[r, p])) for r, p in zip(rows.tolist(), places.tolist())]


def _assigned_sum(table: Array) -> float:
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum())


def _on_grid(fields: ShapeFields, offset: Array, scale: Array) -> Array:
    """(S, G) unit fields: the mean displacement of each cell, which does not depend on how dense the mesh is."""
    places = fields.places * scale + offset
    at = (places + 1.0) * 0.5 * (GRID_CELLS - 1)
    corner = np.floor(at).astype(np.int64)
    part = at - corner
    table = np.zeros((GRID_CELLS * GRID_CELLS, len(fields.deltas) * 3))
    mass = np.zeros(GRID_CELLS * GRID_CELLS)
    flat = fields.deltas.transpose(1, 0, 2).reshape(len(places), -1)
    for dx in (0, 1):
        for dy in (0, 1):
            x, y = corner[:, 0] + dx, corner[:, 1] + dy
            inside = (x >= 0) & (x < GRID_CELLS) & (y >= 0) & (y < GRID_CELLS)
            share = np.abs(1 - dx - part[:, 0]) * np.abs(1 - dy - part[:, 1])
            cell = (y * GRID_CELLS + x)[inside]
            np.add.at(table, cell, share[inside, None] * flat[inside])
            np.add.at(mass, cell, share[inside])
    table /= np.maximum(mass, 1e-9)[:, None]
    fields_on_grid = table.reshape(GRID_CELLS * GRID_CELLS, -1, 3).transpose(1, 0, 2).reshape(len(fields.deltas), -1)
    unit: Array = fields_on_grid / np.maximum(np.linalg.norm(fields_on_grid, axis=1, keepdims=True), 1e-12)
    return unit
