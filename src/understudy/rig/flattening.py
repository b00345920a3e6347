"""Flatten: a character with layers as one that any format can hold, with joints, named shapes and frames.

Bones stay bones: local transforms at each frame. Shapes stay shapes of their own name with their exact weights, so that
a game can drive them: all that bones or coarse controls drive, and of the fine ones those that some clip uses. The
lattice, which files do not have, is what is left of each frame: it is taken back before skinning, and put into a few
shapes `Skin.lattice.01`, ... that stand for all frames within a tolerance (`residual`). All weights lie in 0 to 1:
Blender and Unity cut them off there. What the lattice costs is measured on the vertices of the result, frame by
frame, and noted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from understudy.character import Asset, Channel, Character, Clip, Curves, Layers
from understudy.checks import Array, positive
from understudy.deform import layered
from understudy.rig.direct import DirectRig
from understudy.rig.layered import LayeredRig
from understudy.rig.plain import Piece, baked_names, pieces_of, plain_character, vertices_by_name, within_range
from understudy.rig.residual import BLOCK, Residual, largest

TOLERANCE = 1e-3  # of the character's height: 0.7 mm on the dragon, half a pixel where it is drawn 500 pixels high
MARGIN = 0.95  # of the tolerance is for the shapes: skinning may stretch what is added before it
SEEN = 0.05  # of the tolerance: a lattice shape that moves a vertex by less leaves it alone
TRIES = 3

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Flat:
    """A plain character, its clips, and how far its vertices are off, metres."""

    character: Character
    clips: list[Clip]
    named: int  # shapes that kept their name
    baked: int  # shapes that stand for the lattice
    largest: float
    mean: float
    frames: int


def flatten(asset: Asset, tolerance: float = TOLERANCE, shapes: bool = True, progress: Progress | None = None) -> Asset:
    """The asset with each layered character made plain, its clips sampled at their own rate, and notes of the error.

    `tolerance` is the largest error of a vertex, as a part of the character's height. Without `shapes` only the joints
    are kept moving, for files that hold no others. `progress` is called with the frames done and their number. An asset
    without layered characters comes back as it is.
    """
    positive(tolerance, "tolerance")
    characters, animations, notes = list(asset.characters), list(asset.animations), list(asset.notes)
    for number, character in enumerate(characters):
        if character.layers is None:
            continue
        rig = LayeredRig(character)
        moved = [i for i, animation in enumerate(animations) if rig.is_moved_by(animation)]
        mine = [animations[i] for i in moved]
        if shapes:
            flat = _flat(rig, mine, tolerance, progress or (lambda done, total: None))
        else:
            flat = _joints_only(rig, mine)
        for i, clip in zip(moved, flat.clips):
            animations[i] = clip
        characters[number] = flat.character
        notes += _notes(rig, flat) if shapes else []
    dense = [animation for animation in animations if isinstance(animation, Clip)]
    keyed = [animation for animation in animations if isinstance(animation, Curves)]
    return Asset(characters, dense, keyed, notes, asset.format)


def coarse_shapes(layers: Layers) -> Array:
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


def _flat(rig: LayeredRig, animations: list[Clip | Curves], tolerance: float, progress: Progress) -> Flat:
    rows = [rig.pose(animation) for animation in animations]
    frames = sum(map(len, rows))
    pieces = pieces_of(rig, *_weight_ranges(rig, rows))
    limit = tolerance * _height(rig)
    seen = SEEN * limit
    residuals = _gathered(rig, rows, MARGIN * limit, lambda done: progress(done, 2 * frames))
    for _ in range(TRIES):
        found = {part: within_range(*residual.shapes(), seen) for part, residual in residuals.items()}
        character = plain_character(rig, pieces, {part: deltas for part, (deltas, _) in found.items()})
        names = [name for part, (deltas, _) in found.items() for name in baked_names(part, len(deltas))]
        weights = np.concatenate([np.zeros((frames, 0)), *(weights for _, weights in found.values())], axis=1)
        clips = []
        for animation, each, own in zip(animations, rows, np.split(weights, np.cumsum([*map(len, rows)])[:-1])):
            shapes = _weights(rig, each, pieces) | dict(zip(names, own.T))
            clips.append(_clip(rig, animation, each, shapes))
        worst, mean = _error(rig, rows, character, clips, lambda done: progress(frames + done, 2 * frames))
        if worst <= limit:
            break
        seen *= MARGIN * limit / worst
        for residual in residuals.values():
            residual.tolerance *= MARGIN * limit / worst
    return Flat(character, clips, len({piece.shape for piece in pieces}), len(names), worst, mean, frames)


def _weight_ranges(rig: LayeredRig, rows: list[Array]) -> tuple[Array, Array]:
    """(S,) the lowest and highest weight of each shape, 0 included; NaN for fine ones that no clip uses."""
    weights = [rig.frames(each).weights for each in rows]
    low = np.min([np.zeros(len(rig.layers.shapes)), *(each.min(axis=0) for each in weights)], axis=0)
    high = np.max([np.zeros(len(rig.layers.shapes)), *(each.max(axis=0) for each in weights)], axis=0)
    idle = (low == 0) & (high == 0) & ~coarse_shapes(rig.layers)
    return np.where(idle, np.nan, low), np.where(idle, np.nan, high)


def _joints_only(rig: LayeredRig, animations: list[Clip | Curves]) -> Flat:
    none = {part: np.zeros((0, len(own), 3), np.float32) for part, own in vertices_by_name(rig.character).items()}
    character = plain_character(rig, [], none)
    clips = [_clip(rig, animation, rig.pose(animation), {}) for animation in animations]
    return Flat(character, clips, 0, 0, 0.0, 0.0, sum(map(len, clips)))


def _height(rig: LayeredRig) -> float:
    """Of the character at rest, metres."""
    points = rig.vertices(rig.rest[None])[0]
    return float(np.ptp(points[:, 1])) if len(points) else 1.0


def _gathered(rig: LayeredRig, rows: list[Array], tolerance: float, done: Callable[[int], None]) -> dict[str, Residual]:
    """What the lattice adds before skinning, over all frames, for each name of parts."""
    owners = vertices_by_name(rig.character)
    residuals = {part: Residual(len(own), tolerance) for part, own in owners.items()}
    count = 0
    for block in _blocks(rows):
        frames = rig.frames(block)
        moves = np.zeros((len(block), rig.character.vertex_count, 3), np.float32)
        if frames.bend is not None:
            bent = layered.deform(rig.blocks, frames) - layered.deform(rig.blocks, frames._replace(bend=None))
            moves = layered.before_skinning(rig.blocks, frames, bent)
        for part, own in owners.items():
            residuals[part].add(moves[:, own])
        count += len(block)
        done(count)
    return residuals


def _blocks(rows: list[Array]) -> list[Array]:
    return [each[first : first + BLOCK] for each in rows for first in range(0, len(each), BLOCK)]


def _weights(rig: LayeredRig, rows: Array, pieces: list[Piece]) -> dict[str, Array]:
    """The weights (F,) of named shapes."""
    weights = rig.frames(rows).weights
    return {piece.name: np.maximum(weights[:, piece.shape] / piece.factor, 0) for piece in pieces}


def _clip(rig: LayeredRig, animation: Clip | Curves, rows: Array, shapes: dict[str, Array]) -> Clip:
    """The animation as frames of joints and shape weights; channels of other characters come along."""
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
    for channel in rig.unmatched(animation.channels):
        channels.append(channel)
        columns.append(sampled[:, animation.channels.slice(channel.target, channel.kind)])
    told = (animation.labels, animation.about, animation.moments)
    return Clip(animation.name, channels, np.concatenate(columns, axis=1), animation.rate, float(times[0]), *told)


def _error(
    rig: LayeredRig, rows: list[Array], character: Character, clips: list[Clip], done: Callable[[int], None]
) -> tuple[float, float]:
    """The largest and the mean distance, metres, of the plain character's vertices from those of the rig."""
    direct = DirectRig(character)
    worst, total, count = 0.0, 0.0, 0
    for each, clip in zip(rows, clips):
        flat = direct.pose(clip)
        for first in range(0, len(each), BLOCK):
            part = slice(first, first + BLOCK)
            off = rig.vertices(each[part]) - direct.vertices(flat[part])
            worst = max(worst, float(largest(off.reshape(len(off), -1)).max(initial=0)))
            total += float(np.sqrt(np.square(off, dtype=np.float64).sum(axis=2)).sum())
            count += len(off)
            done(count)
    return worst, total / max(1, count * rig.character.vertex_count)


def _notes(rig: LayeredRig, flat: Flat) -> list[str]:
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
