"""Deformers for other programs: linear blend skinning with corrective shapes, keyed on every frame of every clip.

glTF and FBX have linear blending, shapes, and animation of joints and of shape weights; they cannot compute a weight
from a pose. The character keeps its skins, parts, materials and clips. In each frame the difference of the deformer
from the linear blend,

    d = (sum_k w_k M_k)^-1 (v_deformer - v_blend),      in the space of the rest mesh,

is written as a few shapes times their weights: the best few there are (singular value decomposition of at most
`MAX_BASIS_FRAMES` frames), with the least-squares weights in every frame. Shapes are added until the error falls below
a tolerance or there are enough of them. The error that is left is measured on every frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from understudy import formats
from understudy.character import (
    Asset,
    BoundDeformer,
    Channel,
    Character,
    Clip,
    Curves,
    Mesh,
    Part,
    Shapes,
    Skeleton,
    SkinBinding,
    kinematics,
)
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.deform.deformer import Deformer
from understudy.deform.examples import Examples
from understudy.deform.methods.linear import LinearSkin
from understudy.maths import transform, vector

MAX_SHAPES = 32  # corrective shapes of one character
RMS_SIZE_RATIO = 1e-4  # tolerance, of the size: a tenth of a pixel of a figure as high as the screen
MAX_BASIS_FRAMES = 256  # frames that the shapes are taken from
VERTICES_PER_CHUNK = 200_000  # vertices times frames that are computed at once
POSES_PER_SECOND = 24.0  # rate of the clip that examples become
MIN_BLEND_VOLUME = 0.35  # of a cube with the same edges: a bend of 145 degrees, half and half, flattens to that
MAX_SHEAR = 1e-4  # shear above which a note says that glTF's joints cannot have it
FORMATS_WITH_SHAPES = (".glb", ".gltf", ".vrm", ".fbx", ".usd", ".usda", ".usdc", ".usdz")


@dataclass(frozen=True, eq=False)
class PlayableAsset:
    """An asset that other programs play, and the distance of its playback from the deformers."""

    asset: Asset
    shapes: int  # corrective shapes, of the character with most
    frames: int  # over all clips of all characters with a deformer
    rms: float  # metres
    worst: float  # metres
    size: float  # metres, the diagonal of the largest character
    notes: tuple[str, ...]

    @property
    def loss(self) -> str:
        """The error in one sentence."""
        percent = 100 / max(self.size, 1e-9)
        return (
            f"{self.shapes} corrective shapes keyed on {self.frames} frames: rms {1000 * self.rms:.4g} mm "
            f"({self.rms * percent:.2g} %), worst {1000 * self.worst:.4g} mm ({self.worst * percent:.2g} %) "
            "from the deformer"
        )


def make_playable(
    asset: Asset,
    most: int = MAX_SHAPES,
    tolerance: float = RMS_SIZE_RATIO,
    progress: Callable[[int, int], None] | None = None,
) -> PlayableAsset:
    """The asset with its deformers as corrective shapes.

    At most `most` shapes a character; `tolerance` is the rms error, of the size, that needs no more of them. Animations
    of characters with a deformer become clips with a key on every frame.
    """
    characters = list(asset.characters)
    animations: dict[str, Clip | Curves] = {animation.name: animation for animation in asset.animations}
    notes: list[str] = []
    errors, worst, size, used = [np.zeros(0)], 0.0, 0.0, 0
    for number, character in enumerate(asset.characters):
        if character.deformer is None:
            continue
        moving = [name for name, animation in animations.items() if DirectRig(character).is_moved_by(animation)]
        clips = [_dense(animations[name]) for name in moving]
        fitted = _fit_shapes(character, clips, most, tolerance, progress)
        characters[number] = fitted.character
        animations.update({clip.name: clip for clip in fitted.clips})
        notes += fitted.notes
        errors.append(fitted.squared)
        worst, size, used = max(worst, fitted.worst), max(size, fitted.size), max(used, fitted.shapes)
    squared = np.concatenate(errors)
    clips = [animation for animation in animations.values() if isinstance(animation, Clip)]
    curves = [animation for animation in animations.values() if isinstance(animation, Curves)]
    rms = float(np.sqrt(squared.mean())) if squared.size else 0.0
    playable = Asset(characters, clips, curves, asset.notes, asset.format)
    return PlayableAsset(playable, used, len(squared), rms, worst, size, tuple(notes))


def write(asset: Asset, path: str | Path, progress: Callable[[int, int], None] | None = None) -> tuple[str, ...]:
    """Write an asset in any format; deformers become corrective shapes where the format cannot hold them.

    Returns notes on what was lost, the error of the shapes among them.
    """
    ending = formats.ending_of(path)
    notes: tuple[str, ...] = ()
    if ending in FORMATS_WITH_SHAPES and any(character.deformer for character in asset.characters):
        played = make_playable(asset, progress=progress)
        asset, notes = played.asset, (*played.notes, played.loss)
    return (*notes, *formats.write(asset, path))


def asset_of_examples(
    deformer: Deformer, examples: Examples, name: str, clip_name: str = "poses", rate: float = POSES_PER_SECOND
) -> tuple[Asset, tuple[str, ...]]:
    """Examples as a character with the deformer and one clip, and notes."""
    skeleton, clip, notes = _motion(examples, clip_name, rate)
    skin = deformer if isinstance(deformer, LinearSkin) else _linear_base(deformer, examples)
    binding = SkinBinding(np.arange(len(skeleton)), examples.inverse_binds, skin.joints, skin.weights)
    part = Part(name, Mesh(name, examples.rest, examples.triangles), binding)
    bound = BoundDeformer(deformer, np.arange(len(skeleton)), np.arange(len(examples.rest)))
    return Asset([Character(name, skeleton, [part], deformer=bound)], [clip]), tuple(notes)


@dataclass(frozen=True, eq=False)
class _FittedShapes:
    character: Character
    clips: list[Clip]
    shapes: int
    squared: Array  # (F,) mean squared error of each frame, square metres
    worst: float
    size: float
    notes: list[str]


def _fit_shapes(
    character: Character,
    clips: list[Clip],
    most: int,
    tolerance: float,
    progress: Callable[[int, int], None] | None,
) -> _FittedShapes:
    """The character without its deformer, with corrective shapes, and its clips with their weights."""
    bound = character.deformer
    assert bound is not None
    rig = DirectRig(replace(character, deformer=None, parts=tuple(_linear(part) for part in character.parts)))
    rows = [rig.pose(clip) for clip in clips]
    every = np.concatenate([rig.rest[None][:0], *rows])
    every[:, 10 * len(character.skeleton) :] = rig.rest[10 * len(character.skeleton) :]  # shapes are played on top
    size = float(np.linalg.norm(np.ptp(rig.vertices(rig.rest[None])[0], axis=0))) or 1.0
    basis_rows = every[np.unique(np.linspace(0, len(every) - 1, MAX_BASIS_FRAMES).astype(int))] if len(every) else every
    rig, stiff = _stiffen(rig, basis_rows)
    notes = [f"{stiff} vertices that blending would flatten hang on one joint, and on the shapes"] if stiff else []
    scale = _scales(rig)
    fields = [errors for _, errors in _residuals(rig, bound, basis_rows, scale)]
    flat = np.concatenate([np.zeros((0, character.vertex_count, 3)), *fields])
    basis = factor_shapes(flat, most, tolerance * size).reshape(-1, 3 * character.vertex_count)
    weights, squared, worst = [], [], 0.0
    done = 0
    for blended, errors in _residuals(rig, bound, every, scale):
        coefficients = errors.reshape(len(errors), 3 * character.vertex_count) @ basis.T
        left = errors - (coefficients @ basis).reshape(errors.shape)
        distance = vector.length(np.einsum("fvab,fvb->fva", blended, left / scale))
        weights.append(coefficients)
        squared.append((distance**2).mean(axis=1))
        worst = max(worst, float(distance.max(initial=0.0)))
        done += len(errors)
        if progress:
            progress(done, len(every))
    keyed = np.concatenate([np.zeros((0, len(basis))), *weights])
    largest = np.abs(keyed).max(axis=0, initial=0.0)
    largest[largest == 0] = 1.0
    deltas = (basis * largest[:, None]).reshape(len(basis), character.vertex_count, 3) / scale
    shaped = _with_shapes(rig.character, deltas, 0.1 * tolerance * size / scale)
    ends = np.cumsum([0, *(len(block) for block in rows)])[1:-1]
    played = [
        _with_weights(clip, rig, shaped, values, weight / largest)
        for clip, values, weight in zip(clips, rows, np.split(keyed, ends))
    ]
    return _FittedShapes(shaped, played, len(basis), np.concatenate([np.zeros(0), *squared]), worst, size, notes)


def _dense(animation: Clip | Curves) -> Clip:
    return animation if isinstance(animation, Clip) else animation.clip()


def _linear(part: Part) -> Part:
    """The part with linear blending, which every program has."""
    return part if part.skin.method == "linear" else replace(part, skin=replace(part.skin, method="linear"))


def _blends(rig: DirectRig, rows: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Rows in chunks, their joints (F, J, 4, 4), and the blended matrix (F, V, 3, 3) of each vertex."""
    count = max(1, VERTICES_PER_CHUNK // max(rig.character.vertex_count, 1))
    for first in range(0, len(rows), count):
        chunk = rows[first : first + count]
        world = rig.joints(chunk)
        blended = [np.zeros((len(chunk), 0, 3, 3))]
        for part in rig.character.parts:
            linear = (world[:, part.skin.joints] @ part.skin.inverse_binds)[..., :3, :3]
            total = np.zeros((len(chunk), len(part.mesh.vertices), 3, 3))
            for k in range(part.skin.weights.shape[1]):
                total += part.skin.weights[:, k, None, None] * linear[:, part.skin.influences[:, k]]
            blended.append(total)
        yield chunk, world, np.concatenate(blended, axis=1)


def _stiffen(rig: DirectRig, rows: Array) -> tuple[DirectRig, int]:
    """The rig with vertices whose blend is flattened in some row on their strongest joint alone, and their count.

    A twist of 180 degrees flattens a blend to a plane, and no shape can move a vertex out of it.
    """
    volume = np.full(rig.character.vertex_count, np.inf)
    for _, _, blended in _blends(rig, rows):
        edges = np.sqrt((blended**2).sum(axis=(2, 3)) / 3)
        ratio = np.abs(transform.determinant(blended)) / np.maximum(edges**3, 1e-30)
        volume = np.minimum(volume, ratio.min(axis=0, initial=np.inf))
    flat = volume < MIN_BLEND_VOLUME
    if not flat.any():
        return rig, 0
    parts, start = [], 0
    for part in rig.character.parts:
        own = flat[start : start + len(part.mesh.vertices)]
        start += len(own)
        weights = np.array(part.skin.weights)
        weights[own] = np.eye(weights.shape[1], dtype=weights.dtype)[weights[own].argmax(axis=1)]
        parts.append(replace(part, skin=replace(part.skin, weights=weights)))
    return DirectRig(replace(rig.character, parts=tuple(parts))), int(flat.sum())


def _scales(rig: DirectRig) -> Array:
    """(V, 1) metres for each unit of a vertex's mesh, at rest."""
    (_, _, blended), *_ = _blends(rig, rig.rest[None])
    return np.cbrt(np.maximum(np.abs(transform.determinant(blended[0])), 1e-30))[:, None]


def _residuals(rig: DirectRig, bound: BoundDeformer, rows: Array, scale: Array) -> Iterator[tuple[Array, Array]]:
    """Blended matrices (F, V, 3, 3), and the errors (F, V, 3) of the skin in the rest mesh, in metres."""
    for chunk, world, blended in _blends(rig, rows):
        error = bound.deform(world).astype(np.float64) - rig.vertices(chunk)
        yield blended, np.linalg.solve(blended, error[..., None])[..., 0] * scale


def factor_shapes(fields: Array, most: int, tolerance: float) -> Array:
    """The fewest orthonormal shapes (S, V, 3) that span fields (E, V, 3) within `tolerance` (rms of a vertex)."""
    count, vertices = fields.shape[:2]
    flat = fields.reshape(count, -1)
    values, vectors = np.linalg.eigh(flat @ flat.T)  # E is far below 3 V
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    left = np.sqrt(np.maximum(values.sum() - np.cumsum(values), 0) / max(count * vertices, 1))
    before = np.sqrt(values.sum() / max(count * vertices, 1))
    enough = np.flatnonzero(left <= tolerance)
    wanted = 0 if before <= tolerance else int(enough[0]) + 1 if enough.size else len(values)
    used = min(wanted, most, int((values > 1e-14 * values.max(initial=0.0)).sum()))
    shapes = (vectors[:, :used] / np.sqrt(np.maximum(values[:used], 1e-300))).T @ flat
    return shapes.reshape(used, vertices, 3)


def _with_shapes(character: Character, deltas: Array, least: Array) -> Character:
    """The character with corrective shapes (S, V, 3); parts whose vertices stay within `least` (V, 1) get none."""
    known = sum(name.startswith("corrective") for names in character.shapes.values() for name in names)
    names = [f"corrective{known + s:02d}" for s in range(len(deltas))]
    starts = np.cumsum([0, *(len(part.mesh.vertices) for part in character.parts)])
    moved = np.abs(deltas).max(axis=(0, 2), initial=0.0) > least[:, 0]
    needed = {p.name for p, a, b in zip(character.parts, starts[:-1], starts[1:]) if moved[a:b].any()}
    parts = []
    for part, first, last in zip(character.parts, starts[:-1], starts[1:]):
        if part.name not in needed:
            parts.append(part)
            continue
        own, new = part.mesh.shapes, deltas[:, first:last]
        if own is None:
            shapes = Shapes(names, new)
        else:
            normals = None if own.normals is None else np.concatenate([own.normals, np.zeros_like(new)])
            shapes = Shapes(
                [*own.names, *names],
                np.concatenate([own.deltas, new]),
                normals,
                np.concatenate([own.defaults, np.zeros(len(new))]),
                np.concatenate([own.shape_of, len(own.names) + np.arange(len(new))]),
                np.concatenate([own.stop_of, np.ones(len(new))]),
            )
        parts.append(replace(part, mesh=replace(part.mesh, shapes=shapes)))
    return replace(character, parts=tuple(parts))


def _with_weights(clip: Clip, rig: DirectRig, shaped: Character, rows: Array, weights: Array) -> Clip:
    """The clip with the weights (F, S) of the corrective shapes, beside those of the shapes that there were."""
    channels = [channel for channel in clip.channels if channel.kind != "weights"]
    blocks = [clip.values[:, clip.channels.slice(channel.target, channel.kind)] for channel in channels]
    for part, names in shaped.shapes.items():
        own = rig.channels.slice(part, "weights")
        before = rows[:, own] if own is not None else np.zeros((len(rows), 0))
        added = len(names) - before.shape[1]
        channels.append(Channel(part, "weights", names))
        blocks.append(np.concatenate([before, weights[:, :added]], axis=1))
    values = np.concatenate([np.zeros((len(clip), 0)), *blocks], axis=1)
    return Clip(clip.name, channels, values, clip.rate, clip.start, clip.labels, clip.about, clip.moments)


def _linear_base(deformer: Deformer, examples: Examples) -> LinearSkin:
    """Linear blending fitted to the deformer's own poses: what the corrective shapes correct."""
    return LinearSkin.fit(examples.with_vertices(deformer.deform(examples.transforms)))


def _motion(examples: Examples, name: str, rate: float) -> tuple[Skeleton, Clip, list[str]]:
    """The skeleton of the examples at rest, and their poses as a clip."""
    local = kinematics.local_transforms(examples.parents, examples.transforms)
    rest = kinematics.local_transforms(examples.parents, examples.rest_transforms)
    sheared = float(np.max(transform.shear_error(local), initial=0.0))
    notes = []
    if sheared > MAX_SHEAR:
        notes.append(f"joints are sheared by up to {sheared:.2g}, which glTF's cannot be")
    t, q, s = transform.decompose(rest)
    skeleton = Skeleton(examples.names, examples.parents, t, q, s)
    moved = transform.decompose(local)
    channels = [Channel(joint, kind) for joint in examples.names for kind in ("translation", "rotation", "scale")]
    values = np.concatenate(moved, axis=2).reshape(len(examples), -1)
    return skeleton, Clip(name, channels, values, rate), notes
