"""Flatten: a character with layers as one that any format can hold, with joints, named shapes and frames.

Bones stay bones: local transforms at each frame. Shapes keep their name and their exact weights, so that a game can
drive them: all that bones or coarse controls drive, and of the fine ones those that some clip uses. The lattice, which
files do not have, is the residual of each frame: it is inverted through the skinning, and put into a few shapes
`Skin.lattice.01`, ... that approximate all frames within a tolerance (`Residual`). All weights lie in 0 to 1: Blender
and Unity clip them there. The error is measured on the vertices of the result, frame by frame, and noted.

Residual. A few shapes approximate very many frames of displacements, within a largest error. Frames of displacements r
(N,) come in blocks and are not kept. A block is projected on the orthonormal directions Q found so far; where a vertex
is still off by more than a quarter of the tolerance, the leading directions of the remainder are added to Q, until none
is. So r = w Q + e with |e| <= tolerance / 4 at every vertex of every frame, in one pass (an incremental SVD with a
bound on the largest error, not on the sum of squares).

Q has far more directions than are needed. The leading ones of all frames, by the SVD of their weights w, are kept until
they contain nearly all of the motion; then only frames that still break the tolerance are considered, and their leading
directions added, until none does. That takes half as many directions as the SVD alone needs for the same largest error:
a few odd frames no longer require all directions that precede them in the order of the whole.

The plain character of a layered one has the same joints and skins, with shapes on its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from understudy.character import Asset, Channel, Character, Clip, Curves, Mesh, Part, RigLayers, Shapes
from understudy.character.controls import SIDES
from understudy.character.rig.layered import LayeredRig
from understudy.character.rig.rig import DirectRig
from understudy.character.skinning import layered
from understudy.character.skinning.linear import vertex_normals
from understudy.checks import Array, positive
from understudy.maths import transform

MIN_NORMAL_CHANGE = 0.025  # of a unit normal, a degree and a half: smaller changes by a shape are left out


def vertices_by_name(character: Character) -> dict[str, Array]:
    """The vertices (n,) of each part among those of the whole; parts of one name share their shapes, and are one."""
    result: dict[str, Array] = {}
    start = 0
    for part in character.parts:
        numbers = np.arange(start, start + len(part.mesh.vertices))
        result[part.name] = np.concatenate([result.get(part.name, numbers[:0]), numbers])
        start += len(numbers)
    return result


class PlainShape(NamedTuple):
    """A shape of the plain character: `factor` times shape `shape` of the layers, at weight 1."""

    name: str
    shape: int
    factor: float


def plain_shapes(rig: LayeredRig, low: Array, high: Array) -> list[PlainShape]:
    """Shapes whose weights all lie in 0 to 1, for shapes of the layers with weights from `low` (S,) to `high` (S,).

    Blender and Unity clip weights there. A shape with weights below 0 has a second one for that side, as in
    `mouth.smile.minus.L`; one with weights above 1 is scaled up by the largest. NaN leaves a shape out.
    """
    pieces = []
    for shape, name in enumerate(rig.layers.shapes.names):
        if np.isnan(high[shape]) or rig.layers.shapes.first[shape] == rig.layers.shapes.first[shape + 1]:
            continue
        stem, side = (name[:-2], name[-2:]) if name[-2:] in SIDES else (name, "")
        pieces.append(PlainShape(name, shape, max(1.0, float(high[shape]))))
        if low[shape] < 0:
            pieces.append(PlainShape(f"{stem}.minus{side}", shape, min(-1.0, float(low[shape]))))
    return pieces


def lattice_shape_names(part: str, count: int) -> list[str]:
    """`Skin.lattice.01` and so on: names of the shapes that approximate the lattice on one part."""
    return [f"{part}.lattice.{number:02d}" for number in range(count)]


def normalise_weights(deltas: Array, weights: Array, seen: float) -> tuple[Array, Array]:
    """The same motion by shapes (k + 1, n, 3) whose weights (F, k + 1) lie in 0 to 1.

    w = low + (high - low) u, so that the first shape, at weight 1 in every frame, is the sum of all shapes at their
    lowest weights. Deltas below `seen`, metres, are left out, so that files can store them sparsely.
    """
    if not len(deltas):
        return deltas, weights
    low, high = weights.min(axis=0, initial=0), weights.max(axis=0, initial=0)
    span = (high - low)[:, None, None] * deltas
    small = np.abs(span).max(axis=2, keepdims=True) <= seen
    span[np.broadcast_to(small, span.shape)] = 0
    first = np.einsum("k,kvc->vc", low / (high - low), span)
    ones = np.ones((len(weights), 1), weights.dtype)
    return np.concatenate([first[None], span]), np.concatenate([ones, (weights - low) / (high - low)], axis=1)


def to_plain_character(rig: LayeredRig, pieces: Sequence[PlainShape], baked: Mapping[str, Array]) -> Character:
    """The character without layers: its shapes in `pieces`, and those `baked` for each name of parts.

    The latter are (k, n, 3) for the vertices of `vertices_by_name`, in the world at rest.
    """
    character, shapes = rig.character, rig.layers.shapes
    owners = vertices_by_name(character)
    named: dict[str, tuple[list[str], Array]] = {}
    for name, vertices in owners.items():
        dense = [(p.name, p.factor * shapes.dense(p.shape, character.vertex_count)[vertices]) for p in pieces]
        dense = [(shape, delta) for shape, delta in dense if delta.any()]
        deltas = np.concatenate([*(delta[None] for _, delta in dense), baked[name]])
        named[name] = ([*(shape for shape, _ in dense), *lattice_shape_names(name, len(baked[name]))], deltas)
    parts, start = [], dict.fromkeys(owners, 0)
    for part in character.parts:
        names, deltas = named[part.name]
        first, last = start[part.name], start[part.name] + len(part.mesh.vertices)
        parts.append(_add_part_shapes(rig, part, names, deltas[:, first:last], len(baked[part.name])))
        start[part.name] = last
    return replace(character, parts=tuple(parts), layers=None)


def _add_part_shapes(rig: LayeredRig, part: Part, names: list[str], deltas: Array, baked: int) -> Part:
    """The part with shapes, and with the normal deltas of the named ones where each vertex has one normal.

    The last `baked` of the deltas (s, v, 3) are in the world at rest, the others in the space of the mesh. They change
    no normals: large at their lowest weights, they cancel each other there, which normal deltas would not.
    """
    if not names:
        return part
    mesh, deltas = part.mesh, deltas.astype(np.float32)
    rest_from_mesh = rig.rest_from_mesh(part)
    if rest_from_mesh is not None and baked:
        deltas[-baked:] = transform.apply_direction(transform.invert(rest_from_mesh), deltas[-baked:])
    turns = None
    if mesh.normals is not None and mesh.normals.ndim == 2:
        turns = vertex_normals(mesh.vertices + deltas, mesh.triangles) - vertex_normals(mesh.vertices, mesh.triangles)
        turns[np.abs(turns).max(axis=2) < MIN_NORMAL_CHANGE] = 0
        turns[len(names) - baked :] = 0
    shaped = Mesh(
        *(mesh.name, mesh.vertices, mesh.triangles, mesh.normals, mesh.uvs, mesh.colours, mesh.materials),
        *(mesh.material_of, Shapes(names, deltas, turns), mesh.tangents, mesh.extra),
    )
    return Part(part.name, shaped, part.skin)


DIRECTIONS_PER_STEP = 4  # added before the error is computed again
FIRST_PASS_TOLERANCE_SHARE = 0.25  # of the tolerance, that the first pass may use
LEADING_ENERGY_RATIO = 0.99  # of all motion, in the leading directions of all frames
FRAME_BLOCK_SIZE = 64  # frames processed together
# Of the character's height: 0.7 mm on the dragon, half a pixel where it is drawn 500 pixels high.
DEFAULT_TOLERANCE_HEIGHT_RATIO = 1e-3
SHAPE_TOLERANCE_SHARE = 0.95  # of the tolerance, for the shapes: skinning may stretch their errors
MIN_DELTA_TOLERANCE_SHARE = 0.05  # of the tolerance: smaller deltas of lattice shapes are set to zero
MAX_FLATTEN_TRIES = 3  # each with a smaller tolerance
Progress = Callable[[int, int], None]  # frames done, frames in all


@dataclass(frozen=True)
class FlattenedCharacter:
    """A plain character, its clips, and how far its vertices are off, metres."""

    character: Character
    clips: list[Clip]
    named: int  # shapes that kept their name
    baked: int  # shapes that approximate the lattice
    largest: float
    mean: float
    frames: int


def flatten_asset(
    asset: Asset,
    tolerance: float = DEFAULT_TOLERANCE_HEIGHT_RATIO,
    shapes: bool = True,
    progress: Progress | None = None,
) -> Asset:
    """The asset with each layered character made plain, its clips sampled at their own rate, and notes on the error.

    `tolerance` is the largest error of a vertex, as a part of the character's height. Without `shapes` only the joints
    move, for files that cannot hold shapes. `progress` is called with the frames done and their number. An asset
    without layered characters is returned unchanged.
    """
    positive(tolerance, "tolerance")
    characters, animations, notes = list(asset.characters), list(asset.animations), list(asset.notes)
    for number, character in enumerate(characters):
        if character.layers is None:
            continue
        rig = LayeredRig(character)
        moved = [i for i, animation in enumerate(animations) if rig.is_moved_by(animation)]
        chosen = [animations[i] for i in moved]
        if shapes:
            flat = _flatten_character(rig, chosen, tolerance, progress or (lambda done, total: None))
        else:
            flat = _keep_joints_only(rig, chosen)
        for i, clip in zip(moved, flat.clips):
            animations[i] = clip
        characters[number] = flat.character
        notes += _notes(rig, flat) if shapes else []
    dense = [animation for animation in animations if isinstance(animation, Clip)]
    keyed = [animation for animation in animations if isinstance(animation, Curves)]
    return Asset(characters, dense, keyed, notes, asset.format)


def coarse_shapes(layers: RigLayers) -> Array:
    """(S,) bool, the shapes that any control other than a fine one drives."""
    fine = np.array([layer == "fine" for layer in layers.controls.layers], bool)
    pairs = (
        (layers.drive_parameter, layers.drive_control),
        (layers.corrective_parameter, layers.corrective_a),
        (layers.corrective_parameter, layers.corrective_b),
        (layers.toward_parameter, layers.toward_control),
    )
    driven = [parameters[~fine[controls]] for parameters, controls in pairs]
    return np.isin(np.arange(len(layers.shapes)) + len(layers.components), np.concatenate(driven))


def _flatten_character(
    rig: LayeredRig, animations: list[Clip | Curves], tolerance: float, progress: Progress
) -> FlattenedCharacter:
    rows = [rig.pose(animation) for animation in animations]
    frames = sum(map(len, rows))
    pieces = plain_shapes(rig, *_weight_ranges(rig, rows))
    limit = tolerance * _height(rig)
    seen = MIN_DELTA_TOLERANCE_SHARE * limit
    residuals = _collect_residuals(rig, rows, SHAPE_TOLERANCE_SHARE * limit, lambda done: progress(done, 2 * frames))
    for _ in range(MAX_FLATTEN_TRIES):
        baked = {part: normalise_weights(*residual.shapes(), seen) for part, residual in residuals.items()}
        character = to_plain_character(rig, pieces, {part: deltas for part, (deltas, _) in baked.items()})
        names = [name for part, (deltas, _) in baked.items() for name in lattice_shape_names(part, len(deltas))]
        weights = np.concatenate([np.zeros((frames, 0)), *(weights for _, weights in baked.values())], axis=1)
        clips = []
        for animation, poses, lattice in zip(animations, rows, np.split(weights, np.cumsum([*map(len, rows)])[:-1])):
            shapes = _weights(rig, poses, pieces) | dict(zip(names, lattice.T))
            clips.append(_clip(rig, animation, poses, shapes))
        worst, mean = _error(rig, rows, character, clips, lambda done: progress(frames + done, 2 * frames))
        if worst <= limit:
            break
        seen *= SHAPE_TOLERANCE_SHARE * limit / worst
        for residual in residuals.values():
            residual.tolerance *= SHAPE_TOLERANCE_SHARE * limit / worst
    return FlattenedCharacter(character, clips, len({piece.shape for piece in pieces}), len(names), worst, mean, frames)


def _weight_ranges(rig: LayeredRig, rows: list[Array]) -> tuple[Array, Array]:
    """(S,) the lowest and highest weight of each shape, 0 included; NaN for fine ones that no clip uses."""
    weights = [rig.frames(poses).weights for poses in rows]
    low = np.min([np.zeros(len(rig.layers.shapes)), *(block.min(axis=0) for block in weights)], axis=0)
    high = np.max([np.zeros(len(rig.layers.shapes)), *(block.max(axis=0) for block in weights)], axis=0)
    idle = (low == 0) & (high == 0) & ~coarse_shapes(rig.layers)
    return np.where(idle, np.nan, low), np.where(idle, np.nan, high)


def _keep_joints_only(rig: LayeredRig, animations: list[Clip | Curves]) -> FlattenedCharacter:
    none = {part: np.zeros((0, len(own), 3), np.float32) for part, own in vertices_by_name(rig.character).items()}
    character = to_plain_character(rig, [], none)
    clips = [_clip(rig, animation, rig.pose(animation), {}) for animation in animations]
    return FlattenedCharacter(character, clips, 0, 0, 0.0, 0.0, sum(map(len, clips)))


def _height(rig: LayeredRig) -> float:
    """Height of the character at rest, metres."""
    points = rig.vertices(rig.rest[None])[0]
    return float(np.ptp(points[:, 1])) if len(points) else 1.0


def _collect_residuals(
    rig: LayeredRig, rows: list[Array], tolerance: float, done: Callable[[int], None]
) -> dict[str, Residual]:
    """The displacements of the lattice before skinning, over all frames, for each name of parts."""
    owners = vertices_by_name(rig.character)
    residuals = {part: Residual(len(own), tolerance) for part, own in owners.items()}
    count = 0
    for block in _blocks(rows):
        frames = rig.frames(block)
        moves = np.zeros((len(block), rig.character.vertex_count, 3), np.float32)
        if frames.bend is not None:
            bent = layered.deform(rig.blocks, frames) - layered.deform(rig.blocks, frames._replace(bend=None))
            moves = layered.undo_skinning(rig.blocks, frames, bent)
        for part, own in owners.items():
            residuals[part].add(moves[:, own])
        count += len(block)
        done(count)
    return residuals


def _blocks(rows: list[Array]) -> list[Array]:
    return [poses[i : i + FRAME_BLOCK_SIZE] for poses in rows for i in range(0, len(poses), FRAME_BLOCK_SIZE)]


def _weights(rig: LayeredRig, rows: Array, pieces: list[PlainShape]) -> dict[str, Array]:
    """The weights (F,) of named shapes."""
    weights = rig.frames(rows).weights
    return {piece.name: np.maximum(weights[:, piece.shape] / piece.factor, 0) for piece in pieces}


def _clip(rig: LayeredRig, animation: Clip | Curves, rows: Array, shapes: dict[str, Array]) -> Clip:
    """The animation as frames of joints and shape weights, with its channels of other characters."""
    skeleton, times = rig.character.skeleton, animation.frame_times()
    channels, columns = [], []
    for kind, values in zip(("translation", "rotation", "scale"), rig.local_transforms(rows)):
        moved = dict.fromkeys(joint for joint, component in rig.layers.components if component[0] == kind[0])
        for joint in moved:
            channels.append(Channel(joint, kind))
            columns.append(values[:, skeleton.index(joint)])
    if shapes:
        channels.append(Channel("", "weights", tuple(shapes)))
        columns.append(np.stack(list(shapes.values()), axis=1))
    sampled = animation.sample(times)
    for channel in rig.unmatched_channels(animation.channels):
        channels.append(channel)
        columns.append(sampled[:, animation.channels.slice(channel.target, channel.kind)])
    about = (animation.labels, animation.about, animation.moments)
    return Clip(animation.name, channels, np.concatenate(columns, axis=1), animation.rate, float(times[0]), *about)


def _error(
    rig: LayeredRig, rows: list[Array], character: Character, clips: list[Clip], done: Callable[[int], None]
) -> tuple[float, float]:
    """The largest and the mean distance, metres, of the plain character's vertices from those of the rig."""
    direct = DirectRig(character)
    worst, total, count = 0.0, 0.0, 0
    for poses, clip in zip(rows, clips):
        flat = direct.pose(clip)
        for first in range(0, len(poses), FRAME_BLOCK_SIZE):
            part = slice(first, first + FRAME_BLOCK_SIZE)
            off = rig.vertices(poses[part]) - direct.vertices(flat[part])
            worst = max(worst, float(longest_displacements(off.reshape(len(off), -1)).max(initial=0)))
            total += float(np.sqrt(np.square(off, dtype=np.float64).sum(axis=2)).sum())
            count += len(off)
            done(count)
    return worst, total / max(1, count * rig.character.vertex_count)


def _notes(rig: LayeredRig, flat: FlattenedCharacter) -> list[str]:
    name, lattice = rig.character.name, rig.layers.lattice
    unused = len(rig.layers.shapes) - flat.named
    left_out = f"; {unused} fine shapes that no clip uses were left out" if unused else ""
    notes = [f"the {len(rig.controls)} controls of {name!r} became joints and {flat.named} named shapes{left_out}"]
    if lattice is None:
        return notes
    if not flat.frames:
        return [*notes, "the lattice was lost: there is no clip to bake it from"]
    share = 100 * flat.largest / _height(rig)
    return [
        *notes,
        f"the lattice was baked into {flat.baked} shapes; largest error {1e3 * flat.largest:.2g} mm "
        f"({share:.2g} % of the height), mean {1e3 * flat.mean:.2g} mm, over {flat.frames:,} frames",
    ]


class Residual:
    """Displacements of V vertices, added frame by frame; `shapes` gives the few that approximate them."""

    def __init__(self, vertices: int, tolerance: float) -> None:
        self.tolerance = tolerance
        self._directions = np.zeros((0, 3 * vertices), np.float32)  # Q, rows
        self._weights: list[Array] = []
        self._lost: list[Array] = []  # of each frame, the largest error of its weights

    def __len__(self) -> int:
        return len(self._directions)

    def add(self, moves: Array) -> None:
        """Add the next frames, displacements (F, V, 3)."""
        moved = np.flatnonzero(moves.reshape(len(moves), -1).any(axis=1))
        left = np.asarray(moves[moved], np.float32).reshape(len(moved), self._directions.shape[1])
        weights = [left @ self._directions.T]
        left -= weights[0] @ self._directions
        while True:
            off = longest_displacements(left) > FIRST_PASS_TOLERANCE_SHARE * self.tolerance
            if not off.any():
                break
            added = self._leading_directions(left[off])
            weights.append(left @ added.T)
            left -= weights[-1] @ added
            self._directions = np.concatenate([self._directions, added])
        all_weights = np.zeros((len(moves), len(self._directions)), np.float32)
        all_weights[moved] = np.concatenate(weights, axis=1)
        self._weights.append(all_weights)
        self._lost.append(np.zeros(len(moves), np.float32))
        self._lost[-1][moved] = longest_displacements(left)

    def _leading_directions(self, left: Array) -> Array:
        """Leading orthonormal directions (n, N) of rows (F, N), orthogonal to those that are known."""
        _, vectors = np.linalg.eigh((left @ left.T).astype(np.float64))
        return _orthonormalise(vectors[:, -DIRECTIONS_PER_STEP:].T.astype(np.float32) @ left, self._directions)

    def shapes(self) -> tuple[Array, Array]:
        """Shapes (k, V, 3) float32 and their weights (F, k) over all frames; the largest weight of each is 1."""
        known = len(self._directions)
        weights = np.zeros((sum(map(len, self._weights)), known), np.float32)
        start = 0
        for part in self._weights:
            weights[start : start + len(part), : part.shape[1]] = part
            start += len(part)
        if not known:
            return np.zeros((0, self._directions.shape[1] // 3, 3), np.float32), weights
        chosen = self._choose_combinations(weights.astype(np.float64)).astype(np.float32)
        weights, directions = weights @ chosen.T, chosen @ self._directions
        peak = np.take_along_axis(weights, np.abs(weights).argmax(axis=0)[None], axis=0)[0]
        return (directions * peak[:, None]).reshape(len(chosen), directions.shape[1] // 3, 3), weights / peak

    def _choose_combinations(self, weights: Array) -> Array:
        """(k, n) a few orthonormal combinations of the n directions that keep all `weights` (F, n) in tolerance."""
        allowed = self.tolerance - np.concatenate(self._lost)
        _, sizes, turn = np.linalg.svd(weights, full_matrices=False)
        count = int(np.searchsorted(np.cumsum(sizes**2), LEADING_ENERGY_RATIO * np.sum(sizes**2))) + 1
        chosen = turn[:count]
        left = weights - (weights @ chosen.T) @ chosen
        errors = self._errors(left)
        while (off := np.flatnonzero(errors > allowed)).size:
            _, _, turn = np.linalg.svd(left[off] * errors[off, None], full_matrices=False)
            added = _orthonormalise(turn[:DIRECTIONS_PER_STEP], chosen)
            if not len(added):
                break  # all directions are chosen
            chosen = np.concatenate([chosen, added])
            moved = left @ added.T
            left -= moved @ added
            # |w D| <= |w| |D| at each vertex: this bound clears most frames without evaluating them.
            reach = np.square(added @ self._directions).reshape(len(added), -1, 3).sum(axis=(0, 2)).max(initial=0)
            errors += np.sqrt(reach * np.square(moved).sum(axis=1))
            suspects = np.flatnonzero(errors > allowed)
            errors[suspects] = self._errors(left[suspects])
        return chosen

    def _errors(self, weights: Array) -> Array:
        """(F,) the longest displacement of frames with these weights (F, n)."""
        weights = weights.astype(np.float32)
        blocks = (weights[first : first + FRAME_BLOCK_SIZE] for first in range(0, len(weights), FRAME_BLOCK_SIZE))
        return np.concatenate(
            [np.zeros(0, np.float32), *(longest_displacements(block @ self._directions) for block in blocks)]
        )


def _orthonormalise(rows: Array, known: Array) -> Array:
    """Orthonormal rows (m, N) that span the part of `rows` outside the span of `known` (n, N), orthonormal too."""
    size = np.sqrt(np.square(rows).sum(axis=1)).max(initial=0)
    for _ in range(2):  # once leaves rounding, twice is enough (Kahan and Parlett)
        rows = rows - (rows @ known.T) @ known
    orthonormal, triangle = np.linalg.qr(rows.T.astype(np.float64))
    sound = np.abs(np.diag(triangle)) > 1e-5 * size
    return np.ascontiguousarray(orthonormal.T[sound], rows.dtype)


def longest_displacements(moves: Array) -> Array:
    """(F,) the longest displacement in each frame of (F, 3 V)."""
    squares = np.square(moves).reshape(len(moves), moves.shape[1] // 3, 3)
    total = squares[..., 0] + squares[..., 1] + squares[..., 2]
    return np.asarray(np.sqrt(total.max(axis=1, initial=0)))
