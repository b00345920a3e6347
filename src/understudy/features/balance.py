"""Balance: how much each feature counts, so that all that is seen of a character is learned, not only what is large.

Scaled by its influence on the whole mesh [Bailey 2016, eq. 3] a neck that carries the head by a hand's breadth weighs
thousands of times as much as a brow that rises by two millimetres, and 85 % of the variance is the neck alone. A viewer
looks at both. So the mesh is looked at several times: once where it is in the world, and, in the frame of the joint
that carries most of it (a head, a pelvis), once for each region that the character names, or once as a whole. Each look
gets the same total variance over the training frames:

    w_i^2 = (1 / G) sum_g  w_gi^2 / T_g,        T_g = sum_i w_gi^2 s_i^2

with w_gi the influence of feature i on look g and s_i its standard deviation. W stays diagonal, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.character import Character, Skeleton
from understudy.checks import Array
from understudy.features.encoder import Encoder
from understudy.features.influence import placed, points_of, slopes
from understudy.features.reduction import FEWEST, Reduction
from understudy.maths import transform

# Of the mesh. The head carries 0.9 of the dragon and the pelvis 1.0 of a body; the spine of a body carries half.
CARRIES = 0.6
# Of the largest total: a region that no clip moves, but for rounding of single-precision vertices, has nothing to say.
SEEN = 1e-9
ENOUGH = 5000  # points of a mesh that are looked at: every so many-th of a denser one, which is as good and cheaper
MOST = (
    100  # components: a label that needs more is many labels, and they would cost more than the frames they tell apart
)


@dataclass(frozen=True, eq=False)
class Balance:
    """`weights` (E,) by which features are scaled; `metric` (E,) metres, root mean square over the points, a unit.

    `looks` (G, E) are the influences on each look, the first of them on the mesh in the world.
    """

    weights: Array
    metric: Array
    looks: Array

    def reduction(self, features: Array, share: float) -> Reduction:
        """Of the features (N, E) of one label: the fewest components that explain `share` of every look's variance.

        The paper asks for 0.85 of all variance; of what a viewer sees, one look may still miss half of its own then.
        """
        whole = Reduction.fit(features, self.weights, 1.0, MOST)
        offsets = features - whole.mean
        reduced = whole.reduce(features)
        kept = np.zeros((len(self.looks), whole.dimensions + 1))
        for number, look in enumerate(np.where(whole.scale > 0, self.looks, 0.0)):
            # what d components leave of a look: |o|^2 - 2 o.(V y)_d + |(V y)_d|^2, summed up component by component
            back = (whole.basis / np.where(whole.scale > 0, whole.scale, np.inf)[:, None]).T * look
            total = np.square(offsets * look).sum()
            if total <= 0:
                kept[number] = 1.0
                continue
            scatter, gram = reduced.T @ reduced, back @ back.T
            mixed = np.diag(back @ (offsets * look).T @ reduced)
            grown = np.cumsum(np.cumsum(scatter * gram, axis=0), axis=1).diagonal()
            kept[number, 1:] = (2 * np.cumsum(mixed) - grown) / total
        enough = np.flatnonzero((kept >= share - 1e-9).all(axis=0))
        count = max(int(enough[0]), FEWEST) if len(enough) else whole.dimensions
        return Reduction(whole.mean, whole.scale, whole.basis[:, :count], whole.explained[:count])


def balance(encoder: Encoder, rig: Any, features: Array) -> Balance:
    """Of the features (N, E) of all training frames; features that are kept apart, or move nothing, get zero."""
    character: Character | None = getattr(rig, "character", None)
    points, joint = points_of(rig), None if character is None else carrier(character)
    mean = features.mean(axis=0)

    def looks(poses: Array) -> tuple[Array, Array]:
        rows = placed(encoder, poses, mean)
        world = points(rows)
        world = np.asarray(world[:, :: world.shape[1] // ENOUGH + 1], np.float32)
        if joint is None:
            return world, world
        joint_from_world = transform.invert(rig.joints(rows)[:, joint]).astype(np.float32)
        return world, world @ np.swapaxes(joint_from_world[:, :3, :3], 1, 2) + joint_from_world[:, None, :3, 3]

    world, local = looks(mean[None])
    regions = np.ones((1, world.shape[1])) if character is None else _regions(character, world.shape[1])

    def distances(poses: Array) -> Array:
        here, there = looks(poses)
        far, moved = np.square(here - world).sum(axis=(1, 2)), np.square(there - local).sum(axis=-1)
        return np.sqrt(np.column_stack([far, moved @ regions.T]).astype(np.float64))

    deviation = np.where(encoder.learned, features.std(axis=0), 0.0)
    every = slopes(distances, mean, deviation)
    totals = np.square(every * deviation).sum(axis=1)
    seen = totals > SEEN * totals.max()
    weights = np.sqrt((np.square(every[seen]) / np.maximum(totals[seen, None], np.finfo(float).tiny)).sum(axis=0))
    return Balance(weights / np.sqrt(max(seen.sum(), 1)), every[0] / np.sqrt(world.shape[1]), every[seen])


def _regions(character: Character, count: int) -> Array:
    """(G, V) how much each vertex counts in the regions that a character names, or in one that is everything."""
    masks = {} if character.layers is None else character.layers.masks
    every = np.array(list(masks.values()) or [np.ones(count)], np.float32)
    return every[:, :: every.shape[1] // ENOUGH + 1] if masks else every


def carrier(character: Character) -> int:
    """The deepest joint that carries most of the mesh, or of the joints where there is none."""
    skeleton = character.skeleton
    load = np.zeros(len(skeleton))
    for part in character.parts:
        np.add.at(load, part.skin.joints[part.skin.influences], part.skin.weights)
    if not load.any():
        load += 1
    carried = load @ _below(skeleton)
    heavy = np.flatnonzero(carried >= CARRIES * load.sum())
    depths = [len(skeleton.ancestors(int(joint))) for joint in heavy]
    return int(heavy[int(np.argmax(depths))])


def _below(skeleton: Skeleton) -> Array:
    """(J, J) 1 where the row's joint is the column's or below it."""
    result = np.zeros((len(skeleton), len(skeleton)))
    for joint in range(len(skeleton)):
        result[joint, skeleton.ancestors(joint)] = 1
    return result
