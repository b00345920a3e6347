"""A made-up character with layers, of any size: a ball on a chain of joints, with shapes and a lattice."""

from __future__ import annotations

import numpy as np

from understudy.character import (
    Character,
    Controls,
    Lattice,
    Mesh,
    Part,
    RigLayers,
    Skeleton,
    SkinBinding,
    SparseShapes,
)
from understudy.character.kinematics import world_transforms
from understudy.maths import quaternion, transform


def character(
    vertices: int = 90, joints: int = 5, coarse: int = 6, fine: int = 8, counts: tuple[int, int, int] = (3, 4, 2)
) -> Character:
    """Joints `root`, `j1`, `head` and others below it, some of them turned at rest; the parts `ball` and `nail`.

    Controls: three turns of each joint, one a shape, `blink` (toward), and one for each lattice point and axis.
    """
    rng = np.random.default_rng(vertices)
    skeleton = _skeleton(rng, joints)
    points = rng.normal(size=(vertices, 3)) * 0.1 + [0, 1.0, 0]
    parts = _parts(rng, skeleton, points.astype(np.float32))
    return Character("ball", skeleton, parts, layers=_layers(rng, skeleton, points, coarse, fine, counts))


def _skeleton(rng: np.random.Generator, joints: int) -> Skeleton:
    names = ["root", "j1", "head", *(f"j{j}" for j in range(3, joints))]
    parents = [-1, 0, 1, *(int(rng.integers(2, j)) for j in range(3, joints))]
    turns = quaternion.identity((joints,))
    turns[3:] = quaternion.normalise(rng.normal(size=(joints - 3, 4)))
    offsets = np.concatenate([[[0, 0, 0], [0, 0.5, 0], [0, 0.4, 0.02]], rng.normal(0, 0.05, (joints - 3, 3))])
    return Skeleton(names, parents, offsets, turns)


def _parts(rng: np.random.Generator, skeleton: Skeleton, points: np.ndarray) -> list[Part]:
    count, joints = len(points), len(skeleton)
    worlds = world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    width = min(4, joints)
    centre = np.interp(points[:, 1], [points[:, 1].min(), points[:, 1].max()], [0, joints - 1])
    near = np.argsort(np.abs(np.arange(joints) - centre[:, None]), axis=1)[:, :width]
    weights = rng.random((count, width))
    weights[rng.random(weights.shape) < 0.3] = 0
    weights[:, 0] += 0.1
    skin = SkinBinding(range(joints), transform.invert(worlds), near, weights / weights.sum(axis=1, keepdims=True))
    order = np.argsort(centre)
    triangles = np.stack([order[:-2], order[1:-1], order[2:]], axis=1)
    nail = SkinBinding.rigid(joints - 1, 4)  # in the joint's own space
    hard = rng.normal(0, 0.02, (4, 3))
    return [
        Part("ball", Mesh("ball", points, triangles), skin),
        Part("nail", Mesh("nail", hard, [[0, 1, 2], [0, 2, 3]]), nail),
    ]


def _layers(
    rng: np.random.Generator,
    skeleton: Skeleton,
    points: np.ndarray,
    coarse: int,
    fine: int,
    counts: tuple[int, int, int],
) -> RigLayers:
    count = len(points) + 4
    turns = [(joint, axis) for joint in skeleton.names for axis in ("rx", "ry", "rz")]
    components = [*turns, ("head", "tx"), ("head", "ty"), ("j3", "sx"), ("j3", "sz")]
    shapes = SparseShapes.from_named_deltas(
        {f"shape{s}": _bump(rng, points, count, 0.14 if s < coarse else 0.035) for s in range(coarse + fine)}
    )
    cells = int(np.prod(counts)) * 3
    bones, weights = len(components), coarse + fine
    names = [
        *(f"bones.{joint}_{component}" for joint, component in components),
        *(f"shapes.{name}" for name in shapes.names),
        "lids.blink.L",
        "lids.blink.R",
        *(f"lattice.{n}" for n in range(cells)),
    ]
    total = len(names)
    low = np.concatenate([np.full(bones, -30.0), np.full(weights, -1.0), [0, 0], np.full(cells, -1.0)])
    high = np.concatenate([np.full(bones, 30.0), np.full(weights, 1.0), [1, 1], np.full(cells, 1.0)])
    rest = np.zeros(total)
    rest[bones] = 0.25  # the first shape's control does not rest at zero
    gains = np.concatenate([np.full(len(turns), np.pi / 180), [0.001, 0.001, 0.01, 0.01], np.ones(weights)])
    layers = ["bones"] * bones + ["coarse"] * coarse + ["fine"] * fine + ["bones"] * 2 + ["lattice"] * cells
    controls = Controls(
        names,
        ["neck"] * bones + ["mouth"] * weights + ["eyes"] * 2 + ["lattice"] * cells,
        layers,
        ["degrees"] * bones + ["weight"] * (total - bones),
        low,
        rest,
        high,
        about=[f"moves {name}" for name in names],
    )
    blinks, first = bones + weights, bones + weights + 2
    return RigLayers(
        controls,
        components,
        shapes,
        drive_parameter=[*range(bones + weights), bones + 1],  # the first shape's control moves the second as well
        drive_control=[*range(bones + weights), bones],
        drive_gain=[*gains, 0.5],
        corrective_parameter=[bones + weights - 1],
        corrective_a=[bones + 1],
        corrective_b=[bones + 2],
        corrective_gain=[0.7],
        toward_parameter=[3, bones + 3],
        toward_control=[blinks, blinks + 1],
        toward_target=[-0.4, 0.9],
        low=np.full(bones + weights, -1.5),
        high=np.full(bones + weights, 1.5),
        lattice=Lattice(
            "head",
            [-0.3, -0.25, -0.3],
            [0.3, 0.35, 0.3],
            counts,
            np.arange(cells) // 3,
            np.arange(cells) % 3,
            first + np.arange(cells),
            np.full(cells, 0.03),
        ),
        masks={"head": np.linspace(0, 1, count)},
        points={"tip": 0},
    )


def _bump(rng: np.random.Generator, points: np.ndarray, count: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices near some point, pushed in one direction; the last shape of all moves the nail too."""
    everything = np.concatenate([points, points[rng.integers(len(points), size=count - len(points))]])
    centre = points[rng.integers(len(points))]
    distance = np.linalg.norm(everything - centre, axis=1)
    near = np.flatnonzero(distance < radius)
    fall = (1 - (distance[near] / radius) ** 2) ** 2
    return near, fall[:, None] * rng.normal(0, 0.01, 3)
