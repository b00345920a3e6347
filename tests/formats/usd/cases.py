"""Random characters and animations for the USD tests, and what they look like in motion."""

from __future__ import annotations

import numpy as np

from understudy.character import (
    Asset,
    Channel,
    Character,
    Curve,
    Curves,
    Image,
    Material,
    Mesh,
    Part,
    Shapes,
    Skeleton,
    SkinBinding,
    Texture,
)
from understudy.character.curve import LINEAR, STEP
from understudy.character.rig.rig import DirectRig
from understudy.maths import quaternion, transform

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c636800000082008177cd72b60000000049454e44ae426082"
)


def random_rotations(rng, *shape):
    """Unit quaternions (*shape, 4)."""
    return quaternion.normalise(rng.normal(size=(*shape, 4)))


def random_skeleton(rng, joints=5, scales=(1.0, 1.0)):
    """A tree with uniform scales drawn from the interval, since others shear."""
    parents = [-1, *(int(rng.integers(0, j)) for j in range(1, joints))]
    size = rng.uniform(*scales, size=(joints, 1)) * np.ones(3)
    names = [f"mixamorig:joint.{j}" for j in range(joints)]
    return Skeleton(names, parents, rng.normal(size=(joints, 3)), random_rotations(rng, joints), size)


def random_shapes(rng, vertices, betweens=True):
    """Two shapes, the second with in-betweens on both sides of its own stop and below zero."""
    if not betweens:
        return Shapes(("smile", "brow up"), rng.normal(size=(2, vertices, 3)))
    deltas = rng.normal(size=(5, vertices, 3))
    deltas[0, ::2] = 0  # sparse
    return Shapes(
        ("smile", "brow up"),
        deltas,
        rng.normal(size=deltas.shape),
        [0.25, 0.0],
        [0, 1, 1, 1, 1],
        [1, 1, 0.5, 1.5, -0.5],
    )


def random_mesh(rng, name, vertices=12, shapes=None, materials=()):
    """A mesh with corner normals and UVs, and vertex colours."""
    triangles = rng.integers(0, vertices, size=(9, 3))
    return Mesh(
        name,
        rng.normal(size=(vertices, 3)),
        triangles,
        rng.normal(size=(9, 3, 3)),
        [rng.uniform(size=(9, 3, 2)), rng.uniform(size=(vertices, 2))],
        rng.uniform(size=(vertices, 4)),
        materials,
        rng.integers(0, len(materials), size=9) if len(materials) > 1 else None,
        shapes,
    )


def random_skin(rng, skeleton, vertices=12, influences=3, method="linear"):
    """Random weights on some of the joints, bound anywhere."""
    joints = np.sort(rng.choice(len(skeleton), size=min(3, len(skeleton)), replace=False))
    binds = transform.compose(rng.normal(size=(len(joints), 3)), random_rotations(rng, len(joints)))
    weights = rng.uniform(size=(vertices, influences))
    which = rng.integers(0, len(joints), size=(vertices, influences))
    return SkinBinding(joints, transform.invert(binds), which, weights / weights.sum(axis=1, keepdims=True), method)


def random_materials():
    """Two materials, one of them with textures."""
    picture = Image("wood.png", "image/png", PIXEL)
    textures = {
        "colour": Texture(picture, 1, {"wrapS": 33071, "wrapT": 10497}),
        "metallic_roughness": Texture(picture),
        "normal": Texture(picture),
    }
    return (
        Material("dull", (0.5, 0.25, 0.125, 1.0), 0.25, 0.75, (0.5, 0.0, 0.0)),
        Material("wood: oak", (1.0, 0.5, 1.0, 0.5), 0.5, 0.25, alpha_mode="MASK", alpha_cutoff=0.25, textures=textures),
    )


def random_character(rng, name="hero", scales=(1.0, 1.0), method="linear"):
    """Two skins that bind the same joints differently, a rigid part, and shapes of the same names on two parts."""
    skeleton = random_skeleton(rng, scales=scales)
    parts = [
        Part(
            "body", random_mesh(rng, "body", 12, random_shapes(rng, 12), random_materials()), random_skin(rng, skeleton)
        ),
        Part("body", random_mesh(rng, "body", 8, random_shapes(rng, 8)), random_skin(rng, skeleton, 8, 2, method)),
        Part("left hand", random_mesh(rng, "left hand", 7, random_shapes(rng, 7, False)), SkinBinding.rigid(3, 7)),
    ]
    return Character(name, skeleton, parts)


def random_curves(rng, character, name="walk", scale=None, segments=LINEAR):
    """Some joints turn and move on keys of their own; weights reach below zero and above one."""
    curves = []
    names = character.skeleton.names
    for joint in (0, 1, 3):
        times = np.unique(rng.integers(0, 20, size=6)) / 24
        curves.append(Curve(Channel(names[joint], "rotation"), times, random_rotations(rng, len(times)), segments))
        times = np.unique(rng.integers(0, 20, size=4)) / 24
        curves.append(Curve(Channel(names[joint], "translation"), times, rng.normal(size=(len(times), 3)), segments))
        if scale is not None:
            curves.append(Curve(Channel(names[joint], "scale"), times, scale(len(times)), segments))
    for part, shapes in character.shapes.items():
        times = np.unique(rng.integers(0, 20, size=5)) / 24
        values = rng.uniform(-1.5, 2, size=(len(times), len(shapes)))
        curves.append(Curve(Channel(part, "weights", shapes), times, values, segments))
    return Curves(name, curves, ("happy", "slow"), 24.0)


def random_asset(rng, **options):
    """One character with two animations, the second of them stepped."""
    character = random_character(rng, **options)
    return Asset(
        [character], curves=[random_curves(rng, character), random_curves(rng, character, "jump", segments=STEP)]
    )


def posed(asset, animation, times, number=0):
    """Joints (F, J, 4, 4) and vertices (F, V, 3) of one character."""
    rig = DirectRig(asset.characters[number])
    values = rig.pose(animation, times)
    return rig.joints(values), rig.vertices(values)
