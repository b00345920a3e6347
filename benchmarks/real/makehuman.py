"""MakeHuman's base mesh with its own skeleton and weights, as a character: nothing here was tuned on it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from understudy import formats
from understudy.character import Asset, Character, Mesh, Part, Skeleton, SkinBinding, kinematics
from understudy.character.skeleton import depth_first
from understudy.maths import transform, vector

DECIMETRE = 0.1  # metres
MOST = 4  # influences of a vertex


def makehuman(folder: Path) -> Asset:
    """The body alone, without the helpers for clothes; Y along each bone, from head to tail."""
    mesh = formats.read(folder / "3dobjs" / "base.obj").character().parts[0].mesh
    points = DECIMETRE * mesh.vertices.astype(float)
    rig = json.loads((folder / "rigs" / "default.mhskel").read_text(encoding="utf-8"))
    painted = json.loads((folder / "rigs" / "default_weights.mhw").read_text(encoding="utf-8"))["weights"]
    given = list(rig["bones"])
    above = np.array(
        [given.index(rig["bones"][name]["parent"]) if rig["bones"][name]["parent"] else -1 for name in given]
    )
    order = depth_first(above)
    names = [given[j] for j in order]
    parents = np.where(above[order] < 0, -1, np.argsort(order)[above[order]])

    ends = [
        np.array([points[rig["joints"][rig["bones"][name][end]]].mean(axis=0) for name in names])
        for end in ("head", "tail")
    ]
    binds = np.tile(np.eye(4), (len(names), 1, 1))
    binds[:, :3, 1] = vector.normalise(ends[1] - ends[0], (0.0, 1.0, 0.0))
    binds[:, :3, 0] = vector.perpendicular(binds[:, :3, 1])
    binds[:, :3, 2] = vector.cross(binds[:, :3, 0], binds[:, :3, 1])
    binds[:, :3, 3] = ends[0]

    body = mesh.triangles[mesh.extra["group_of"] == mesh.extra["groups"].index("body")]
    used, triangles = np.unique(body, return_inverse=True)
    weights = np.zeros((len(points), len(names)))
    for bone, pairs in painted.items():
        for vertex, weight in pairs:
            weights[int(vertex), names.index(bone)] = weight
    influences = np.argsort(-weights[used], axis=1)[:, :MOST]
    kept, _ = SkinBinding.normalise(np.take_along_axis(weights[used], influences, axis=1))
    t, q, _ = transform.decompose(kinematics.local_transforms(parents, binds))
    skin = SkinBinding(np.arange(len(names)), transform.invert(binds), influences, kept)
    part = Part("body", Mesh("body", points[used], triangles.reshape(-1, 3)), skin)
    return Asset([Character("MakeHuman", Skeleton(names, parents, t, q), [part])])
