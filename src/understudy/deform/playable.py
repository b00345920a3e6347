"""Any deformer as linear blend skinning with corrective shapes, which glTF can play, with the error that is left.

glTF has linear blending and morph targets, and an animation of joints and of morph weights; it cannot compute a weight
from a pose. So a sequence of poses is exported. In each pose the difference of the deformer from the linear blend,

    d = (sum_k w_k M_k)^-1 (v_deformer - t),      in the space of the rest mesh,

is written as a few shapes times a weight a pose, the best few there are (singular value decomposition), and the
weights become animation. Shapes are added until the error falls below a tolerance or there are enough of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.character import Asset, Channel, Character, Clip, Mesh, Part, Shapes, Skeleton, SkinBinding, kinematics
from understudy.character.skinning.linear import linear_blend
from understudy.checks import Array
from understudy.deform.deformer import Deformer
from understudy.deform.examples import Examples
from understudy.deform.methods.linear import LinearSkin
from understudy.maths import transform, vector

MAX_SHAPES = 32  # corrective shapes of one export
RMS_SIZE_RATIO = 1e-4  # tolerance, of the size: a tenth of a pixel of a figure as high as the screen
POSES_PER_SECOND = 24.0  # rate of the exported clip
MIN_BLEND_AXIS_RATIO = 0.3  # of the longest axis of a blend: a bend of 145 degrees, half and half
MAX_SHEAR = 1e-4  # shear above which a note says that glTF's joints cannot have it


@dataclass(frozen=True, eq=False)
class PlayableSkin:
    """The asset, and the distance of its playback from the deformer."""

    asset: Asset
    shapes: int  # number of corrective shapes
    rms: float  # metres
    worst: float  # metres
    notes: tuple[str, ...]


def make_playable(
    deformer: Deformer,
    examples: Examples,
    name: str = "skin",
    most: int = MAX_SHAPES,
    tolerance: float = RMS_SIZE_RATIO,
) -> PlayableSkin:
    """The poses of `examples` deformed by `deformer`, as an asset for glTF.

    At most `most` corrective shapes; `tolerance` is the rms error, of the size, that needs no more of them.
    """
    wanted = deformer.deform(examples.transforms).astype(np.float64)
    skin = deformer if isinstance(deformer, LinearSkin) else LinearSkin.fit(_replace_vertices(examples, wanted))
    matrices = examples.matrices
    blend_weights, stiffened = skin.weights, 0
    if not isinstance(deformer, LinearSkin):
        blend_weights, stiffened = stiffen_flat_blends(skin, matrices)
    plain = linear_blend(examples.rest, skin.joints, blend_weights, matrices)
    shapes, weights = np.zeros((0, len(examples.rest), 3)), np.zeros((len(examples), 0))
    if not isinstance(deformer, LinearSkin):
        errors = _rest_space_errors(skin.joints, blend_weights, matrices, wanted - plain)
        shapes, weights = factor_shapes(errors, most, tolerance * examples.size)
    skeleton, clip, notes = _motion(examples, name)
    if stiffened:
        notes.append(f"{stiffened} vertices that blending would flatten hang on one joint, and on the shapes")
    played = plain
    if len(shapes):
        moved = examples.rest + np.einsum("es,svc->evc", weights, shapes)
        played = linear_blend(moved, skin.joints, blend_weights, matrices)
        clip = _with_weights(clip, name, weights)
    distance = vector.length(played - wanted)
    mesh = Mesh(
        name,
        examples.rest,
        examples.triangles,
        shapes=Shapes([f"corrective{s:02d}" for s in range(len(shapes))], shapes) if len(shapes) else None,
    )
    part = Part(name, mesh, SkinBinding(np.arange(len(skeleton)), examples.inverse_binds, skin.joints, blend_weights))
    asset = Asset([Character(name, skeleton, [part])], [clip])
    return PlayableSkin(asset, len(shapes), float(np.sqrt((distance**2).mean())), float(distance.max()), tuple(notes))


def _replace_vertices(examples: Examples, vertices: Array) -> Examples:
    """The same poses with other vertices."""
    return Examples(
        examples.rest,
        examples.triangles,
        examples.inverse_binds,
        examples.transforms,
        vertices,
        examples.parents,
        examples.weights,
        examples.joints,
        examples.names,
    )


def blend_linear_parts(joints: Array, weights: Array, matrices: Array) -> Array:
    """(V, 3, 3) the blended matrix of each vertex in one pose (B, 4, 4), without its translation."""
    return np.einsum("vk,vkab->vab", weights.astype(float), matrices[joints][..., :3, :3])


def stiffen_flat_blends(skin: LinearSkin, matrices: Array) -> tuple[Array, int]:
    """Weights (V, K), with vertices whose blend is flattened in some pose on one joint alone, and their count.

    A twist of 180 degrees flattens a blend to a plane, and no shape can move a vertex out of it.
    """
    least = np.full(len(skin.weights), np.inf)
    for m in matrices:
        values = np.linalg.svd(blend_linear_parts(skin.joints, skin.weights, m), compute_uv=False)
        least = np.minimum(least, values[:, -1] / np.maximum(values[:, 0], 1e-12))
    flat = least < MIN_BLEND_AXIS_RATIO
    weights = skin.weights.copy()
    strongest = skin.weights[flat].argmax(axis=1)
    weights[flat] = np.eye(skin.weights.shape[1], dtype=weights.dtype)[strongest]
    return weights, int(flat.sum())


def _rest_space_errors(joints: Array, weights: Array, matrices: Array, error: Array) -> Array:
    """(E, V, 3) the errors (E, V, 3) in the space of the rest mesh, by each vertex's own blended matrix."""
    result = np.empty(error.shape)
    for e, m in enumerate(matrices):
        result[e] = np.linalg.solve(blend_linear_parts(joints, weights, m), error[e][..., None])[..., 0]
    return result


def factor_shapes(fields: Array, most: int, tolerance: float) -> tuple[Array, Array]:
    """The fewest shapes (S, V, 3) and weights (E, S) whose products are within `tolerance` (rms) of fields (E, V, 3).

    Each shape is scaled so that its largest weight is 1.
    """
    count, vertices = fields.shape[:2]
    u, s, v = np.linalg.svd(fields.reshape(count, -1), full_matrices=False)
    left = np.sqrt(np.maximum((s**2).sum() - np.cumsum(s**2), 0) / max(count * vertices, 1))
    enough = np.flatnonzero(left <= tolerance)
    before = np.sqrt((s**2).sum() / max(count * vertices, 1))
    wanted = 0 if before <= tolerance else int(enough[0]) + 1 if enough.size else len(s)
    used = min(wanted, most)
    weights = u[:, :used] * s[:used]
    largest = np.abs(weights).max(axis=0, initial=0.0)
    largest[largest == 0] = 1.0
    return (v[:used] * largest[:, None]).reshape(used, vertices, 3), weights / largest


def _motion(examples: Examples, name: str) -> tuple[Skeleton, Clip, list[str]]:
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
    return skeleton, Clip("poses", channels, values, POSES_PER_SECOND), notes


def _with_weights(clip: Clip, part: str, weights: Array) -> Clip:
    """The clip with the weights (E, S) of the shapes."""
    channel = Channel(part, "weights", tuple(f"corrective{s:02d}" for s in range(weights.shape[1])))
    checks.array(weights, "weights of the corrective shapes", (len(clip), len(channel)))
    return Clip(clip.name, [*clip.channels, channel], np.concatenate([clip.values, weights], axis=1), clip.rate)
