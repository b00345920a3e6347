"""The place of each label on the map: spaces of their own, laid out side by side so that bridges are short.

Every label has a latent space of its own, whose axes and scale mean nothing to another. On the map each becomes a ball:

    place = turn @ (x - middle) * scale + centre

Labels that look alike are neighbours: the centres are those of classical scaling of the differences between the labels'
mean looks, flattened, then pushed apart until no ball hides another, seen from the front. The turns are found in
rounds: each ball is turned so that the ends of its bridges are nearest to where the other ends are (Kabsch 1976).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.posespace import Model

FLAT = 0.5  # of the depth that classical scaling gives is left, and at most
DEEPEST = 0.9  # radii: the map is looked at from the front, and has enough depth to be turned
APART = 1.12  # sums of radii between two centres, seen from the front: room for bridges to be seen
ROUNDS, PULLED = 200, 0.99  # of pushing apart, and how much all come nearer in each
TURNS = 8  # rounds of turning; the sum of squared bridge lengths changes by less than 1 % from then on
LEAST_RADIUS = 0.55  # of a label with few frames, of the largest


@dataclass(frozen=True, eq=False)
class Placement:
    """Where a label's latents (N, Q) are on the map: `matrix` (3, Q) @ x + `offset` (3,)."""

    matrix: Array
    offset: Array
    centre: Array  # (3,) of the label's ball
    radius: float

    def __call__(self, x: Array) -> Array:
        """(..., 3) places of latents (..., Q)."""
        return np.asarray(x @ self.matrix.T + self.offset)


def layout(model: Model) -> dict[str, Placement]:
    """A placement for each label."""
    labels = model.labels
    largest = max(len(space) for space in model.spaces.values())
    flat, radii = [], []
    for space in model.spaces.values():
        middle = space.latents.mean(axis=0)
        spread = float(np.quantile(np.linalg.norm(space.latents - middle, axis=1), 0.95)) or 1.0
        radius = max(LEAST_RADIUS, (len(space) / largest) ** (1 / 3))
        flat.append((middle, _first_axes(space.latents - middle) * (radius / spread)))
        radii.append(radius)
    centres = _centres(model, np.array(radii))
    turns = _turns(model, flat, centres)
    placed = {}
    for number, label in enumerate(labels):
        middle, axes = flat[number]
        matrix = turns[number] @ axes
        placed[label] = Placement(matrix, centres[number] - matrix @ middle, centres[number], radii[number])
    return placed


def _first_axes(x: Array) -> Array:
    """(3, Q) from latents (N, Q) about their mean to three axes: as they are, or the three that spread most."""
    dimensions = x.shape[1]
    if dimensions <= 3:
        return np.eye(3, dimensions)
    _, _, axes = np.linalg.svd(x, full_matrices=False)
    return np.asarray(axes[:3])


def _centres(model: Model, radii: Array) -> Array:
    """(L, 3) of the labels' balls, about the origin."""
    means = np.array(
        [space.features.astype(np.float64).mean(axis=0) * model.weights for space in model.spaces.values()]
    )
    count = len(means)
    if count == 1:
        return np.zeros((1, 3))
    found = means - means.mean(axis=0)
    u, s, _ = np.linalg.svd(found, full_matrices=False)
    places = np.zeros((count, 3))
    kept = min(3, len(s))
    places[:, :kept] = u[:, :kept] * s[:kept]
    # labels that look the same still need places of their own: a spiral, far smaller than any real difference
    angle = np.arange(count) * np.pi * (3 - np.sqrt(5))
    places[:, :2] += 1e-3 * max(float(s[0]), 1e-9) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    places *= np.array([1.0, 1.0, FLAT])
    apart = APART * (radii[:, None] + radii)
    off = ~np.eye(count, dtype=bool)
    distance = np.linalg.norm(places[:, None] - places, axis=-1)
    places *= np.median((apart / np.maximum(distance, 1e-12))[off])
    places[:, 2] = np.clip(places[:, 2], -DEEPEST, DEEPEST)
    flat = places[:, :2]
    for _ in range(ROUNDS):
        flat = flat * PULLED  # what is far from all others comes nearer
        away = flat[:, None] - flat
        distance = np.linalg.norm(away, axis=-1) + np.eye(count)
        short = np.where(off, np.maximum(apart - distance, 0.0), 0.0)
        flat = flat + 0.5 * ((short / distance)[..., None] * away).sum(axis=1)
    places[:, :2] = flat
    return np.asarray(places - places.mean(axis=0))


def _turns(model: Model, flat: list[tuple[Array, Array]], centres: Array) -> list[Array]:
    """(3, 3) a turn for each label, by which the ends of its bridges lie towards their other ends."""
    number = {label: i for i, label in enumerate(model.labels)}
    turns = [np.eye(3) for _ in flat]
    ends: list[list[tuple[Array, int, Array]]] = [[] for _ in flat]  # own places, the other label, places there
    for pair in model.bridges:
        i, j = number[pair.first], number[pair.second]
        first = (pair.first_latents - flat[i][0]) @ flat[i][1].T
        second = (pair.second_latents - flat[j][0]) @ flat[j][1].T
        ends[i].append((first, j, second))
        ends[j].append((second, i, first))
    for _ in range(TURNS):
        for i, own in enumerate(ends):
            if not own:
                continue
            here = np.concatenate([places for places, _, _ in own])
            there = np.concatenate([places @ turns[j].T + centres[j] - centres[i] for _, j, places in own])
            u, _, v = np.linalg.svd(there.T @ here)
            mirror = np.sign(np.linalg.det(u @ v)) or 1.0
            turns[i] = u @ np.diag([1.0, 1.0, mirror]) @ v
    return turns
