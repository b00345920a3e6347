"""Bridges: pairs of latents in two spaces that show nearly the same pose, where a performance may change its label.

For a pose z1 = f(x1; M1) of one space, the best match in the other is [Bailey 2016, eqs. 13 to 15]

    y1 = T2' W2 (z1 - m2),        x2 = argmin_x | y1 - K* K_x^-1 Y2 |^2,

searched from several training frames, the nearest poses and random ones. The paper searches the match of every frame,
then drops all pairs above a threshold that the user sets. Here the frames are first ranked by how near a frame of the
other space comes, and only the most promising are refined: the others would be dropped.

Poses are compared by how different they look (`features.balance`), since plain rig parameters mix degrees with metres.
The threshold comes from the data: it is how far the clips of the two labels themselves move within the time of a blend,
so a blend across a bridge is no faster than the animation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.posespace.space import PoseSpace

BLEND = 0.5  # seconds: the paper's 12 frames at 24 frames a second
CANDIDATES = 120  # frames refined in each direction: more than twice what is kept
FEWEST, MOST = 10, 50  # bridges between two labels, as the paper found
SPREAD = 0.25  # of a space's typical latent distance: bridges nearer than this in both spaces are the same one
NEAREST_STARTS, RANDOM_STARTS = 2, 2


@dataclass(frozen=True, eq=False)
class Bridges:
    """B pairs of latents between two labels, the nearest poses first. `wide` where none was below the threshold."""

    first: str
    second: str
    first_latents: Array  # (B, Q)
    second_latents: Array  # (B, Q)
    gaps: Array  # (B,) how different the two poses look, in the unit of the weights
    threshold: float  # in the same unit
    wide: bool = False

    def __len__(self) -> int:
        return len(self.gaps)

    def __repr__(self) -> str:
        return f"Bridges({self.first!r}, {self.second!r}, {len(self)} bridges)"

    def sides(self, label: str) -> tuple[Array, Array]:
        """(B, Q) the latents in `label`, and (B, Q) those in the other."""
        pair = self.first_latents, self.second_latents
        return pair if label == self.first else pair[::-1]

    def other(self, label: str) -> str:
        """The label at the other end."""
        return self.second if label == self.first else self.first


def threshold(spaces: tuple[PoseSpace, ...], weights: Array) -> float:
    """How far the clips of some labels move within a blend, on average, by the weights (E,)."""
    moved = []
    for space in spaces:
        frames = max(1, round(BLEND * space.rate))
        for segment in space.segments:
            own = space.features[segment.start : segment.stop].astype(np.float64) * weights
            reach = min(frames, len(own) - 1)
            moved.append(np.linalg.norm(own[reach:] - own[: len(own) - reach], axis=1))
    return float(np.concatenate(moved).mean())


def looks_apart(first: Array, second: Array) -> Array:
    """(N1, N2) squared differences of the looks of two sets of weighted poses (N1, E) and (N2, E)."""
    squares = np.square(first).sum(axis=1)[:, None] + np.square(second).sum(axis=1)
    return np.maximum(squares - 2 * first @ second.T, 0.0)


def match(
    source: PoseSpace, target: PoseSpace, weights: Array, apart: Array, seed: int = 0
) -> tuple[Array, Array, Array]:
    """Latents (B, Q) of `source`, their best matches (B, Q) in `target`, and the gaps (B,) between the poses.

    `apart` (N1, N2) are the squared differences of their training poses, as both spaces reconstruct them.
    """
    chosen = np.argsort(apart.min(axis=1), kind="stable")[:CANDIDATES]
    poses = source.features_of(source.latents[chosen])
    nearest = np.argsort(apart[chosen], axis=1, kind="stable")[:, :NEAREST_STARTS]
    random = np.random.default_rng(seed).integers(len(target), size=(len(chosen), RANDOM_STARTS))
    starts = target.latents[np.concatenate([nearest, random], axis=1)]
    found, _ = target.mapping.find(target.reduction.reduce(poses), starts)
    gaps = np.linalg.norm((target.features_of(found) - poses) * weights, axis=1)
    return source.latents[chosen], found, gaps


def between(first: PoseSpace, second: PoseSpace, weights: Array, apart: Array | None = None, seed: int = 0) -> Bridges:
    """The bridges of two labels: matches of either one's frames in the other, below the threshold and spread out.

    Where none is below the threshold only the nearest is kept, and said to be wide: a route over other labels is
    better, but one must exist.
    """
    if apart is None:
        apart = looks_apart(*(space.features_of(space.latents) * weights for space in (first, second)))
    a1, b1, gaps1 = match(first, second, weights, apart, seed)
    b2, a2, gaps2 = match(second, first, weights, apart.T, seed)
    a, b, gaps = np.concatenate([a1, a2]), np.concatenate([b1, b2]), np.concatenate([gaps1, gaps2])
    limit = threshold((first, second), weights)
    order = np.argsort(gaps, kind="stable")
    near = order[gaps[order] <= limit]
    if not len(near):
        return Bridges(first.label, second.label, a[order[:1]], b[order[:1]], gaps[order[:1]], limit, wide=True)
    kept = spread_out(a[near] / _size(first), b[near] / _size(second))
    chosen = near[kept]
    return Bridges(first.label, second.label, a[chosen], b[chosen], gaps[chosen], limit)


def spread_out(a: Array, b: Array) -> Array:
    """(B,) the pairs to keep of (n, Q) and (n, Q), the best first: no two alike in both spaces, at most `MOST`.

    Where that leaves fewer than `FEWEST`, the best of the others follow.
    """
    kept: list[int] = []
    for i in range(len(a)):
        apart = np.maximum(np.linalg.norm(a[kept] - a[i], axis=1), np.linalg.norm(b[kept] - b[i], axis=1))
        if len(kept) < MOST and (not kept or apart.min() >= SPREAD):
            kept.append(i)
    others = [i for i in range(len(a)) if i not in kept][: max(0, FEWEST - len(kept))]
    return np.array(sorted([*kept, *others]), np.int64)


def _size(space: PoseSpace) -> float:
    """The typical distance of latents from their middle."""
    return float(np.sqrt(np.square(space.latents - space.latents.mean(axis=0)).sum(axis=1).mean()))
