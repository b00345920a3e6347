"""The latent map as the page reads it: clips as curves, bridges, density, and where a latent is on the map.

One binary: u32 length of a JSON header, the header, padding to a multiple of 4, then float32 in this order:

    points (N, 3)      training frames of all labels, label after label, clip after clip
    bridges (B, 6)     both ends of each
    dust (P, 4)        places, and how likely the model finds the poses there: 1 as the clips' own, 0 hardly

The header names labels (with the matrix and the offset from a latent to the map), clips (with their first point, how
many they have) and pairs of labels (with their first bridge and how many). Dust is what shows the density:
points are thrown around the training frames, and those that the model finds likely stay.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.live.density import Density
from understudy.live.particle import prepared
from understudy.posespace import Model, PoseSpace
from understudy.studio.perform.map_layout import Placement, layout

THROWN, KEPT = 6_000, 1_400  # points of dust for each label, before and after
MOST_DUST = 40_000  # of all labels: what software GL draws in a few milliseconds
MOST_BRIDGES = 12  # drawn between two labels; all fifty would be a fog
ALL_BRIDGES = 1_500  # drawn in all, so that seventy labels are no fog either: fewer of each pair, then fewer pairs


def map_bytes(model: Model, densities: Mapping[str, Density] | None = None) -> bytes:
    """The whole map of a model; `densities` by label, where a performer has them ready."""
    header, arrays = map_parts(model, densities)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([struct.pack("<I", len(text)), text, *(np.ascontiguousarray(a, "<f4").tobytes() for a in arrays)])


def map_parts(
    model: Model, densities: Mapping[str, Density] | None = None
) -> tuple[dict[str, Any], tuple[Array, Array, Array]]:
    """The header, and points (N, 3), bridges (B, 6) and dust (P, 4)."""
    placed = layout(model)
    most = min(KEPT, MOST_DUST // len(placed))
    labels, clips, points, dust = [], [], [], []
    first = 0
    for number, (label, space) in enumerate(model.spaces.items()):
        place = placed[label]
        density = prepared(space.mapping) if densities is None else densities[label]
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


def _label(label: str, space: PoseSpace, place: Placement) -> dict[str, Any]:
    return {
        "label": label,
        "frames": len(space),
        "matrix": np.round(place.matrix, 6).tolist(),
        "offset": np.round(place.offset, 6).tolist(),
        "centre": np.round(place.centre, 5).tolist(),
        "radius": round(place.radius, 5),
    }


def _bridges(model: Model, placed: dict[str, Placement]) -> tuple[Array, list[dict[str, Any]]]:
    """(B, 6) the narrowest bridges of each pair of labels that are near anywhere, and what they join."""
    number = {label: i for i, label in enumerate(model.labels)}
    found, pairs, first = [np.empty((0, 6))], [], 0
    near = sorted((pair for pair in model.bridges if not pair.wide), key=lambda pair: float(pair.gaps.min()))
    most = int(np.clip(ALL_BRIDGES // max(len(near), 1), 1, MOST_BRIDGES))
    for pair in near[:ALL_BRIDGES]:
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


def _dust(space: PoseSpace, density: Density, place: Placement, most: int, seed: int) -> Array:
    """(P, 4) places around the training frames that the model finds likely, and how likely: 0 to 1."""
    random = np.random.default_rng([seed, 0xD57])
    latents = space.latents
    width = 0.5 * float(space.mapping.kernel.length)
    thrown = latents[random.integers(len(latents), size=THROWN)] + width * random.normal(
        size=(THROWN, latents.shape[1])
    )
    known = density.log_density_and_gradient(latents)[0]
    level = density.log_density_and_gradient(thrown)[0]
    # the clips' own poses are 1; as far below them as the furthest of what was thrown, 0
    top, bottom = float(np.median(known)), float(np.quantile(level, 0.05))
    likely = np.clip((level - bottom) / max(top - bottom, 1e-12), 0.0, 1.0)
    kept = np.flatnonzero(random.uniform(size=THROWN) < likely)[:most]
    return np.concatenate([place(thrown[kept]), likely[kept, None]], axis=1)
