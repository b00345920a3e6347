"""Feature weights: how much each feature counts, by how far it moves the mesh [Bailey 2016, section 4.1].

**Influence.** Controls come in degrees, metres and weights; a brow that moves the face by a millimetre and a neck that
moves it by a hand's breadth may vary by the same number. Scaled by its influence w, a unit of a control is a unit of
the mesh.

**Views.** Scaled by its influence on the whole mesh [eq. 3] a neck that carries the head by a hand's breadth weighs
thousands of times as much as a brow that rises by two millimetres, and 85 % of the variance is the neck alone. A viewer
looks at both. So the mesh is measured in several views: once where it is in the world, and, in the frame of the joint
that carries most of it (a head, a pelvis), once for each region that the character names, or once as a whole. Each view
gets the same total variance over the training frames:

    w_i^2 = (1 / G) sum_g  w_gi^2 / T_g,        T_g = sum_i w_gi^2 s_i^2

with w_gi the influence of feature i on view g and s_i its standard deviation. W stays diagonal, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.character import Character, Skeleton
from understudy.checks import Array
from understudy.maths import transform
from understudy.perform.features.encoder import TRAVEL_FEATURE_NAMES, PoseEncoder
from understudy.perform.features.reduction import MIN_COMPONENTS, FeaturePca

PROBE_DEVIATIONS = np.array([-2.0, -1.0, 1.0, 2.0])  # of the standard deviation; at 0 both sides of eq. 3 are zero
ROWS_PER_BLOCK = 64  # evaluated at once: 17 MB for a mesh of 22,000 vertices
# Share of the mesh that the carrier joint carries: 0.9 for the dragon's head, 1.0 for a pelvis, 0.5 for a spine.
MIN_CARRIER_MESH_SHARE = 0.6
# Variance of a view over the largest: regions below it move only by the rounding of single-precision vertices.
MIN_VIEW_VARIANCE_RATIO = 1e-9
MAX_SAMPLED_POINTS = 5000  # of a mesh: a denser one is sampled evenly, which is as good and cheaper
MAX_COMPONENTS = 100  # of a reduction: a label that needs more should be several labels

TRAVEL_SECONDS = 0.2
"""A velocity of the root moves nothing by itself: it counts by its effect on the mesh in this time, in which a step is
visible but not finished. At walking speed that is 0.25 m, as much as a foot swings from the hip."""


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """`weights` (E,) by which features are scaled; `metric` (E,) metres, root mean square over the points, a unit.

    `views` (G, E) are the influences on each view, the first of them on the mesh in the world.
    """

    weights: Array
    metric: Array
    views: Array

    def reduction(self, features: Array, share: float) -> FeaturePca:
        """The fewest components of features (N, E) of one label that explain `share` of every view's variance.

        The paper asks for 0.85 of all variance; a single view may then still miss half of its own.
        """
        whole = FeaturePca.fit(features, self.weights, 1.0, MAX_COMPONENTS)
        offsets = features - whole.mean
        reduced = whole.reduce(features)
        kept = np.zeros((len(self.views), whole.dimensions + 1))
        for number, view in enumerate(np.where(whole.scale > 0, self.views, 0.0)):
            # what d components leave of a view: |o|^2 - 2 o.(V y)_d + |(V y)_d|^2, summed up component by component
            back = (whole.basis / np.where(whole.scale > 0, whole.scale, np.inf)[:, None]).T * view
            total = np.square(offsets * view).sum()
            if total <= 0:
                kept[number] = 1.0
                continue
            scatter, gram = reduced.T @ reduced, back @ back.T
            mixed = np.diag(back @ (offsets * view).T @ reduced)
            grown = np.cumsum(np.cumsum(scatter * gram, axis=0), axis=1).diagonal()
            kept[number, 1:] = (2 * np.cumsum(mixed) - grown) / total
        enough = np.flatnonzero((kept >= share - 1e-9).all(axis=0))
        count = max(int(enough[0]), MIN_COMPONENTS) if len(enough) else whole.dimensions
        return FeaturePca(whole.mean, whole.scale, whole.basis[:, :count], whole.explained[:count])


def weigh_features(encoder: PoseEncoder, rig: Any, features: Array) -> FeatureWeights:
    """The weights of features (N, E) of all training frames; excluded features, or those that move nothing, get 0."""
    character: Character | None = getattr(rig, "character", None)
    points, joint = points_of(rig), None if character is None else carrier_joint(character)
    mean = features.mean(axis=0)

    def views(poses: Array) -> tuple[Array, Array]:
        rows = place_poses(encoder, poses, mean)
        world = points(rows)
        world = np.asarray(world[:, :: world.shape[1] // MAX_SAMPLED_POINTS + 1], np.float32)
        if joint is None:
            return world, world
        joint_from_world = transform.invert(rig.joints(rows)[:, joint]).astype(np.float32)
        return world, world @ np.swapaxes(joint_from_world[:, :3, :3], 1, 2) + joint_from_world[:, None, :3, 3]

    world, local = views(mean[None])
    regions = np.ones((1, world.shape[1])) if character is None else _regions(character, world.shape[1])

    def distances(poses: Array) -> Array:
        in_world, in_joint = views(poses)
        far, moved = np.square(in_world - world).sum(axis=(1, 2)), np.square(in_joint - local).sum(axis=-1)
        return np.sqrt(np.column_stack([far, moved @ regions.T]).astype(np.float64))

    deviation = np.where(encoder.learned, features.std(axis=0), 0.0)
    every = slopes(distances, mean, deviation)
    totals = np.square(every * deviation).sum(axis=1)
    seen = totals > MIN_VIEW_VARIANCE_RATIO * totals.max()
    weights = np.sqrt((np.square(every[seen]) / np.maximum(totals[seen, None], np.finfo(float).tiny)).sum(axis=0))
    return FeatureWeights(weights / np.sqrt(max(seen.sum(), 1)), every[0] / np.sqrt(world.shape[1]), every[seen])


def _regions(character: Character, count: int) -> Array:
    """(G, V) the weight of each vertex in the regions that a character names, or in one region of everything."""
    masks = {} if character.layers is None else character.layers.masks
    every = np.array(list(masks.values()) or [np.ones(count)], np.float32)
    return every[:, :: every.shape[1] // MAX_SAMPLED_POINTS + 1] if masks else every


def carrier_joint(character: Character) -> int | None:
    """The deepest joint that carries most of the mesh, or of the joints where there is none; None: several share it."""
    skeleton = character.skeleton
    load = np.zeros(len(skeleton))
    for part in character.parts:
        np.add.at(load, part.skin.joints[part.skin.influences], part.skin.weights)
    if not load.any():
        load += 1
    carried = load @ _descendant_matrix(skeleton)
    heavy = np.flatnonzero(carried >= MIN_CARRIER_MESH_SHARE * load.sum())
    if not len(heavy):
        return None
    depths = [len(skeleton.ancestors(int(joint))) for joint in heavy]
    return int(heavy[int(np.argmax(depths))])


def _descendant_matrix(skeleton: Skeleton) -> Array:
    """(J, J) 1 where the row's joint is the column's or one of its descendants."""
    result = np.zeros((len(skeleton), len(skeleton)))
    for joint in range(len(skeleton)):
        result[joint, skeleton.ancestors(joint)] = 1
    return result


def influence(vertices: Callable[[Array], Array], mean: Array, deviation: Array) -> Array:
    """(C,) the norm of the mesh's derivative with respect to each control, about the mean pose [Bailey 2016, eq. 3].

        w_i = argmin_w  sum_n ( |e(p) - e(p + n s_i)| - w |n s_i| )^2  =  sum_n |n| d_n / (s_i sum_n n^2)

    with d_n the distance of the two meshes and n = -2 ... 2. `vertices` maps rows (F, C) to meshes (F, V, 3), `mean`
    (C,) and `deviation` (C,) are those of the animation. A control that never moves has no influence, 0; the printed
    equation is 0 / 0 there.
    """
    centre = vertices(mean[None])[0]

    def distances(rows: Array) -> Array:
        # in the vertices' own precision: float32 is off by 3e-6 here, and float64 takes as long as the rig itself
        apart = (vertices(rows) - centre).reshape(len(rows), -1)
        return np.sqrt(np.einsum("fi,fi->f", apart, apart))[:, None]

    return slopes(distances, mean, deviation)[0]


def slopes(distances: Callable[[Array], Array], mean: Array, deviation: Array) -> Array:
    """(G, C) eq. 3 for several measures at once: `distances` gives (F, G) distances of rows (F, C) from the mean."""
    moving = np.flatnonzero(deviation > 0)
    controls = np.repeat(moving, len(PROBE_DEVIATIONS))
    offsets = np.tile(PROBE_DEVIATIONS, len(moving)) * deviation[controls]
    blocks = [np.zeros((0, distances(mean[None]).shape[1]))]
    for start in range(0, len(controls), ROWS_PER_BLOCK):
        chosen = slice(start, start + ROWS_PER_BLOCK)
        rows = np.tile(mean, (len(controls[chosen]), 1))
        rows[np.arange(len(rows)), controls[chosen]] += offsets[chosen]
        blocks.append(distances(rows))
    distance = np.concatenate(blocks).T
    weighted = (np.abs(PROBE_DEVIATIONS) * distance.reshape(len(distance), len(moving), len(PROBE_DEVIATIONS))).sum(
        axis=-1
    )
    result = np.zeros((len(distance), len(mean)))
    result[:, moving] = weighted / (deviation[moving] * np.square(PROBE_DEVIATIONS).sum())
    return result


def feature_influence(encoder: PoseEncoder, rig: Any, features: Array) -> tuple[Array, int]:
    """(E,) the influence of each feature on the mesh, 0 for excluded features, and the number of points.

    About the mean of features (N, E) of all labels at once: eq. 3 once a label would take eight times as long and
    differs little, since the mean and the deviations of eq. 3 only say where the slope is measured. `rig` is of a
    character or has `vertices`. Divided by the square root of the number of points the influence is metres of root mean
    square for each unit of a feature.
    """
    points, mean = points_of(rig), features.mean(axis=0)
    deviation = np.where(encoder.learned, features.std(axis=0), 0.0)

    def seen(poses: Array) -> Array:
        return points(place_poses(encoder, poses, mean))

    return influence(seen, mean, deviation), seen(mean[None]).shape[1]


def place_poses(encoder: PoseEncoder, features: Array, mean: Array) -> Array:
    """(M, C) rows of poses (M, E), carried by their velocities, less those of the mean (E,), for `TRAVEL_SECONDS`."""
    travel = [i for i, name in enumerate(encoder.names) if name in TRAVEL_FEATURE_NAMES]
    grounds = np.zeros((len(features), len(TRAVEL_FEATURE_NAMES)))
    grounds[:, [TRAVEL_FEATURE_NAMES.index(encoder.names[i]) for i in travel]] = (
        features[:, travel] - mean[travel]
    ) * TRAVEL_SECONDS
    return encoder.place(features, grounds)


def points_of(rig: Any) -> Callable[[Array], Array]:
    """The visible points of a rig: its vertices (F, V, 3), or without a mesh four points a joint (F, 4 J, 3).

    These are the joint's position and the tips of its axes, half as long as the median bone: so a turning hand counts
    though no joint hangs on it, and a forearm's twist though the hand stays where it is.
    """
    character = getattr(rig, "character", None)
    if character is None or character.vertex_count:
        vertices: Callable[[Array], Array] = rig.vertices
        return vertices
    places = np.asarray(rig.joints(rig.rest[None])[0, :, :3, 3])
    bones = np.linalg.norm(places - places[np.maximum(character.skeleton.parents, 0)], axis=1)
    reach = 0.5 * float(np.median(bones[bones > 0])) if bones.any() else 1.0

    def tips(rows: Array) -> Array:
        world = rig.joints(rows)
        axes = world[..., :3, :3] / np.maximum(np.linalg.norm(world[..., :3, :3], axis=-2, keepdims=True), 1e-12)
        points = np.concatenate([world[..., :3, 3:], world[..., :3, 3:] + reach * axes], axis=-1)
        return np.asarray(np.swapaxes(points, -1, -2).reshape(len(rows), -1, 3))

    return tips
