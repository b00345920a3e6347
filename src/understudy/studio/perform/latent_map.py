"""The latent map of a model, as the page draws it: clips as curves, bridges, and density.

Layout. Every label has its own latent space, whose axes and scale are not comparable with another's. On the map each
becomes a ball:

    position = rotation @ (x - mean) * scale + centre

Similar labels are neighbours: the centres come from classical scaling of the differences between the labels' mean
features, flattened, then pushed apart until no ball hides another, seen from the front. The rotations are found in
rounds: each ball is rotated so that the ends of its bridges are nearest to their other ends (Kabsch 1976).

Format. One binary: u32 length of a JSON header, the header, padding to a multiple of 4, then float32 in this order:

    points (N, 3)      training frames of all labels, label after label, clip after clip
    bridges (B, 6)     both ends of each
    dust (P, 4)        positions, and the likelihood of the poses there: 1 as the clips' own, 0 unlikely

The header lists labels (with the matrix and the offset from a latent to the map), clips (with their first point and
their number of points) and pairs of labels (with their first bridge and their number of bridges). Dust shows the
density: random points around the training frames, of which the likely ones stay.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_space import PoseSpace
from understudy.perform.runtime.forces import Density, prepare_density

DEPTH_SCALE = 0.5  # of the depth of classical scaling
MAX_DEPTH_RADII = 0.9  # largest depth: the map is seen from the front, and can be rotated
CENTRE_DISTANCE_RATIO = 1.12  # least distance of two centres, in sums of their radii: leaves room for bridges
SEPARATION_ROUNDS, PULL_PER_ROUND = 200, 0.99  # rounds of pushing apart, and the contraction in each
TURN_ROUNDS = 8  # rounds of rotation; then the sum of squared bridge lengths changes by less than 1 %
MIN_RADIUS_RATIO = 0.55  # smallest radius of a label, of the largest
DUST_CANDIDATES_PER_LABEL, DUST_POINTS_PER_LABEL = 6_000, 1_400  # dust of a label: candidates, and points at most
MAX_DUST_POINTS = 40_000  # of all labels: software GL draws them in a few milliseconds
MAX_BRIDGES_PER_PAIR = 12  # between two labels; all fifty would hide the map
MAX_BRIDGES = 1_500  # in all: with many labels fewer of each pair, then fewer pairs


@dataclass(frozen=True, eq=False)
class MapPlacement:
    """The map position of a label's latents (N, Q): `matrix` (3, Q) @ x + `offset` (3,)."""

    matrix: Array
    offset: Array
    centre: Array  # (3,) of the label's ball
    radius: float

    def __call__(self, x: Array) -> Array:
        """(..., 3) positions of latents (..., Q)."""
        return np.asarray(x @ self.matrix.T + self.offset)


def map_bytes(model: PerformanceModel, densities: Mapping[str, Density] | None = None) -> bytes:
    """The map of a model as bytes; `densities` by label, if a performer has them already."""
    header, arrays = map_parts(model, densities)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([struct.pack("<I", len(text)), text, *(np.ascontiguousarray(a, "<f4").tobytes() for a in arrays)])


def map_parts(
    model: PerformanceModel, densities: Mapping[str, Density] | None = None
) -> tuple[dict[str, Any], tuple[Array, Array, Array]]:
    """The header, and points (N, 3), bridges (B, 6) and dust (P, 4)."""
    placed = layout_labels(model)
    most = min(DUST_POINTS_PER_LABEL, MAX_DUST_POINTS // len(placed))
    labels, clips, points, dust = [], [], [], []
    first = 0
    for number, (label, space) in enumerate(model.spaces.items()):
        place = placed[label]
        density = prepare_density(space.mapping) if densities is None else densities[label]
        points.append(place(space.latents))
        for segment in space.segments:
            clips.append({"clip": segment.clip, "label": number, "first": first + segment.start, "count": len(segment)})
        cloud = _dust(space, density, place, most, number)
        dust.append(cloud)
        labels.append(_label(label, space, place) | {"home": first + space.home, "dust": len(cloud)})
        first += len(space)
    bridges, pairs = _bridges(model, placed)
    header = {
        "rate": model.rate,
        "labels": labels,
        "clips": clips,
        "pairs": pairs,
        "points": first,
        "bridges": len(bridges),
        "dust": sum(map(len, dust)),
    }
    return header, (np.concatenate(points), bridges, np.concatenate(dust))


def _label(label: str, space: PoseSpace, place: MapPlacement) -> dict[str, Any]:
    return {
        "label": label,
        "frames": len(space),
        "matrix": np.round(place.matrix, 6).tolist(),
        "offset": np.round(place.offset, 6).tolist(),
        "centre": np.round(place.centre, 5).tolist(),
        "radius": round(place.radius, 5),
    }


def _bridges(model: PerformanceModel, placed: dict[str, MapPlacement]) -> tuple[Array, list[dict[str, Any]]]:
    """(B, 6) the narrowest bridges of each pair of near labels, and the pairs for the header."""
    number = {label: i for i, label in enumerate(model.labels)}
    found, pairs, first = [np.empty((0, 6))], [], 0
    near = sorted((pair for pair in model.bridges if not pair.wide), key=lambda pair: float(pair.gaps.min()))
    most = int(np.clip(MAX_BRIDGES // max(len(near), 1), 1, MAX_BRIDGES_PER_PAIR))
    for pair in near[:MAX_BRIDGES]:
        kept = np.argsort(pair.gaps, kind="stable")[:most]
        ends = placed[pair.first](pair.first_latents[kept]), placed[pair.second](pair.second_latents[kept])
        found.append(np.concatenate(ends, axis=1))
        narrow = float(np.clip(1 - pair.gaps[kept].mean() / max(pair.threshold, 1e-12), 0, 1))
        pairs.append(
            {
                "first": number[pair.first],
                "second": number[pair.second],
                "begin": first,
                "count": len(kept),
                "near": round(narrow, 3),
            }
        )
        first += len(kept)
    return np.concatenate(found), pairs


def _dust(space: PoseSpace, density: Density, place: MapPlacement, most: int, seed: int) -> Array:
    """(P, 4) likely positions around the training frames, and their likelihood, 0 to 1."""
    random = np.random.default_rng([seed, 0xD57])
    latents = space.latents
    width = 0.5 * float(space.mapping.kernel.length)
    candidates = latents[random.integers(len(latents), size=DUST_CANDIDATES_PER_LABEL)] + width * random.normal(
        size=(DUST_CANDIDATES_PER_LABEL, latents.shape[1])
    )
    known = density.log_density_and_gradient(latents)[0]
    level = density.log_density_and_gradient(candidates)[0]
    # 1 at the density of the clips' own poses, 0 at that of the least likely candidates
    top, bottom = float(np.median(known)), float(np.quantile(level, 0.05))
    likely = np.clip((level - bottom) / max(top - bottom, 1e-12), 0.0, 1.0)
    kept = np.flatnonzero(random.uniform(size=DUST_CANDIDATES_PER_LABEL) < likely)[:most]
    return np.concatenate([place(candidates[kept]), likely[kept, None]], axis=1)


def layout_labels(model: PerformanceModel) -> dict[str, MapPlacement]:
    """A placement for each label."""
    labels = model.labels
    largest = max(len(space) for space in model.spaces.values())
    flat, radii = [], []
    for space in model.spaces.values():
        middle = space.latents.mean(axis=0)
        spread = float(np.quantile(np.linalg.norm(space.latents - middle, axis=1), 0.95)) or 1.0
        radius = max(MIN_RADIUS_RATIO, (len(space) / largest) ** (1 / 3))
        flat.append((middle, _first_axes(space.latents - middle) * (radius / spread)))
        radii.append(radius)
    centres = _centres(model, np.array(radii))
    turns = _turns(model, flat, centres)
    placed = {}
    for number, label in enumerate(labels):
        middle, axes = flat[number]
        matrix = turns[number] @ axes
        placed[label] = MapPlacement(matrix, centres[number] - matrix @ middle, centres[number], radii[number])
    return placed


def _first_axes(x: Array) -> Array:
    """(3, Q) from latents (N, Q) about their mean to three axes: as they are, or the three that spread most."""
    dimensions = x.shape[1]
    if dimensions <= 3:
        return np.eye(3, dimensions)
    _, _, axes = np.linalg.svd(x, full_matrices=False)
    return np.asarray(axes[:3])


def _centres(model: PerformanceModel, radii: Array) -> Array:
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
    # equal labels still need different positions: a spiral, far smaller than any real difference
    angle = np.arange(count) * np.pi * (3 - np.sqrt(5))
    places[:, :2] += 1e-3 * max(float(s[0]), 1e-9) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    places *= np.array([1.0, 1.0, DEPTH_SCALE])
    apart = CENTRE_DISTANCE_RATIO * (radii[:, None] + radii)
    off = ~np.eye(count, dtype=bool)
    distance = np.linalg.norm(places[:, None] - places, axis=-1)
    places *= np.median((apart / np.maximum(distance, 1e-12))[off])
    places[:, 2] = np.clip(places[:, 2], -MAX_DEPTH_RADII, MAX_DEPTH_RADII)
    flat = places[:, :2]
    for _ in range(SEPARATION_ROUNDS):
        flat = flat * PULL_PER_ROUND  # distant balls come nearer
        away = flat[:, None] - flat
        distance = np.linalg.norm(away, axis=-1) + np.eye(count)
        short = np.where(off, np.maximum(apart - distance, 0.0), 0.0)
        flat = flat + 0.5 * ((short / distance)[..., None] * away).sum(axis=1)
    places[:, :2] = flat
    return np.asarray(places - places.mean(axis=0))


def _turns(model: PerformanceModel, flat: list[tuple[Array, Array]], centres: Array) -> list[Array]:
    """A rotation (3, 3) for each label, which brings the ends of its bridges near to their other ends."""
    number = {label: i for i, label in enumerate(model.labels)}
    turns = [np.eye(3) for _ in flat]
    ends: list[list[tuple[Array, int, Array]]] = [[] for _ in flat]  # positions here, the other label, positions there
    for pair in model.bridges:
        i, j = number[pair.first], number[pair.second]
        first = (pair.first_latents - flat[i][0]) @ flat[i][1].T
        second = (pair.second_latents - flat[j][0]) @ flat[j][1].T
        ends[i].append((first, j, second))
        ends[j].append((second, i, first))
    for _ in range(TURN_ROUNDS):
        for i, own in enumerate(ends):
            if not own:
                continue
            ends_here = np.concatenate([places for places, _, _ in own])
            other_ends = np.concatenate([places @ turns[j].T + centres[j] - centres[i] for _, j, places in own])
            u, _, v = np.linalg.svd(other_ends.T @ ends_here)
            mirror = np.sign(np.linalg.det(u @ v)) or 1.0
            turns[i] = u @ np.diag([1.0, 1.0, mirror]) @ v
    return turns
