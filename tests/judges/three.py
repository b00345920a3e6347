"""What three.js makes of glTF files: vertices and node matrices in the world, as arrays."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.judges.node import run_script

Floats = NDArray[np.float64]
Request = tuple[
    int | None, Sequence[float]
]  # clip number in the file (None: the rest pose), seconds of the file's clock


@dataclass(frozen=True)
class MeshPlace:
    """Where one run of vertices comes from: glTF numbers of node, mesh and primitive, and how many vertices it has."""

    node: int
    mesh: int
    primitive: int
    skinned: bool
    vertices: int


@dataclass(frozen=True)
class ThreeBake:
    """One file as three.js sees it; the requests are answered in their order."""

    node_names: tuple[str | None, ...]  # N, None where the file gives no name
    meshes: tuple[MeshPlace, ...]  # in the order of the vertices
    clip_names: tuple[str, ...]
    clip_ends: tuple[float, ...]  # seconds of the last key
    vertices: tuple[Floats, ...]  # each (M, V, 3)
    matrices: tuple[Floats, ...]  # each (M, N, 4, 4) world_from_node, NaN for a node outside the scene


def three_bake(jobs: Sequence[tuple[Path, Sequence[Request]]]) -> list[ThreeBake]:
    """Every file with its requests, in one Node process."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "numbers.bin"
        order = {
            "output": str(output),
            "jobs": [
                {
                    "path": str(path),
                    "requests": [{"clip": clip, "times": [float(t) for t in times]} for clip, times in requests],
                }
                for path, requests in jobs
            ],
        }
        answers = run_script("three_bake.mjs", order)
        numbers = np.fromfile(output, "<f8")
    return [_bake(answer, requests, numbers) for answer, (_, requests) in zip(answers, jobs, strict=True)]


def _bake(answer: Mapping, requests: Sequence[Request], numbers: Floats) -> ThreeBake:
    meshes = tuple(MeshPlace(**place) for place in answer["meshes"])
    vertex_count, node_count = sum(place.vertices for place in meshes), len(answer["nodes"])
    vertices, matrices = [], []
    for (clip, times), place in zip(requests, answer["requests"], strict=True):
        moments = 1 if clip is None else len(times)
        start, size = place["vertices"], moments * vertex_count * 3
        vertices.append(numbers[start : start + size].reshape(moments, vertex_count, 3))
        start, size = place["matrices"], moments * node_count * 16
        # three.js stores matrices column by column
        matrices.append(numbers[start : start + size].reshape(moments, node_count, 4, 4).swapaxes(-1, -2))
    return ThreeBake(
        tuple(node["name"] for node in answer["nodes"]),
        meshes,
        tuple(clip["name"] for clip in answer["clips"]),
        tuple(clip["end"] for clip in answer["clips"]),
        tuple(vertices),
        tuple(matrices),
    )
