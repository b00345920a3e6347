"""Small characters with everything that a page has to skin: many influences, both methods, scales, in-betweens."""

from __future__ import annotations

import numpy as np

from understudy.character import Character, Material, Mesh, Part, Shapes, Skeleton, SkinBinding
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.maths import quaternion


def tube(rings: int = 9, sides: int = 7, radius: float = 0.2) -> tuple[Array, Array]:
    """Vertices and triangles of an open tube of height 2."""
    angle = 2 * np.pi * np.arange(sides) / sides
    height = np.linspace(0, 2, rings)
    vertices = np.stack(
        [
            np.tile(radius * np.cos(angle), rings),
            np.repeat(height, sides),
            np.tile(radius * np.sin(angle), rings),
        ],
        axis=1,
    )
    a = np.arange((rings - 1) * sides)
    b = a - a % sides + (a + 1) % sides
    return vertices, np.concatenate([np.stack([a, a + sides, b], 1), np.stack([b, a + sides, b + sides], 1)])


def puppet(influences: int = 7, method: str = "linear", shapes: bool = True, seed: int = 0) -> Character:
    """A tube on a chain of eight joints with that many influences a vertex, and a second part that hangs rigidly."""
    random = np.random.default_rng(seed)
    vertices, triangles = tube()
    count = len(vertices)
    joints = 8
    skeleton = Skeleton(
        [f"joint{j}" for j in range(joints)], np.arange(-1, joints - 1), [(0, 0, 0)] + [(0, 0.25, 0)] * (joints - 1)
    )
    binds = np.tile(np.eye(4), (joints, 1, 1))
    binds[:, 1, 3] = -0.25 * np.arange(joints)
    chosen = np.stack([random.permutation(joints)[:influences] for _ in range(count)])
    weights, _ = SkinBinding.normalise(random.uniform(0.05, 1, (count, influences)))
    targets = None
    if shapes:
        deltas = random.normal(0, 0.05, (4, count, 3))
        deltas[:, random.random(count) < 0.5] = 0
        targets = Shapes(["smile", "frown", "puff"], deltas, shape_of=[0, 0, 1, 2], stop_of=[0.5, 1, 1, 1])
    uvs = random.uniform(0, 1, (len(triangles), 3, 2))  # a seam at every corner
    body = Mesh(
        "body", vertices, triangles, uvs=[uvs], materials=[Material("red", (0.8, 0.1, 0.1, 1.0))], shapes=targets
    )
    hat = Mesh("hat", 0.5 * vertices[: 3 * 7], triangles[triangles.max(axis=1) < 21])
    skin = SkinBinding(np.arange(joints), binds, chosen, weights, method)
    return Character(
        f"puppet {method}", skeleton, [Part("body", body, skin), Part("hat", hat, SkinBinding.rigid(7, 21))]
    )


def random_rows(rig: DirectRig, count: int, seed: int = 1) -> Array:
    """(F, C) rows: turned, moved and scaled joints, and weights beyond 0 to 1."""
    random = np.random.default_rng(seed)
    rows = np.tile(rig.rest, (count, 1))
    joints = len(rig.character.skeleton)
    trs = rows[:, : 10 * joints].reshape(count, joints, 10)
    trs[..., :3] += random.normal(0, 0.03, trs[..., :3].shape)
    turn = random.normal(0, 0.35, trs[..., :3].shape)
    trs[..., 3:7] = quaternion.multiply(trs[..., 3:7], quaternion.from_rotation_vector(turn))
    trs[..., 7:] *= random.uniform(0.85, 1.2, trs[..., 7:].shape)
    rows[:, 10 * joints :] = random.uniform(-0.3, 1.3, rows[:, 10 * joints :].shape)
    return rows
