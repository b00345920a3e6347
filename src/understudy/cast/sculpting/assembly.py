"""From patches to a character: one part a material, every skin on the same joints, places in steps of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from understudy.cast import geometry
from understudy.cast.sculpting.patches import Patch, influences, joined
from understudy.character import Character, Material, Mesh, Part, Shapes, Skeleton, Skin, Texture
from understudy.character.kinematics import world_transforms_numpy
from understudy.checks import Array
from understudy.maths.colour import to_linear

GRAIN = 1 / 32768  # metres: places are multiples of it, 30 micrometres, which keeps the file small
Deltas = Mapping[str, Mapping[str, Array]]  # shape -> patch -> (V, 3)


def assemble(
    name: str,
    joints: Skeleton,
    patches: Mapping[str, Sequence[Patch]],
    materials: Mapping[str, Material],
    textures: Mapping[str, Mapping[str, Texture]],
    shapes: Deltas,
) -> Character:
    """One part a label of `patches`. Colours of a part with a coat are factors, linear; all others are sRGB.

    Parts that shapes move are all named `Face`: they share their weights, and are one mesh of several materials.
    """
    held_by = sorted({joints.index(joint) for group in patches.values() for patch in group for joint in patch.hold})
    rest = world_transforms_numpy(joints.parents, joints.translations, joints.rotations, joints.scales)
    binds = np.linalg.inv(rest[held_by])
    column = {joints.names[joint]: number for number, joint in enumerate(held_by)}
    parts = []
    for label, group in patches.items():
        vertices, triangles, colours, uvs = joined(group)
        if "normal" not in textures.get(label, {}):
            colours[:, :3] = to_linear(colours[:, :3])
        places = GRAIN * np.round(vertices / GRAIN)
        moving = any(patch.name in moved for moved in shapes.values() for patch in group)
        mesh = Mesh(
            label,
            places,
            triangles,
            normals=geometry.normals(places, triangles),
            uvs=[] if uvs is None else [uvs],
            colours=colours,
            materials=[replace(materials[label], textures=textures.get(label, {}))],
            shapes=Shapes(tuple(shapes), _deltas(group, shapes)) if moving else None,
        )
        parts.append(Part("Face" if moving else label, mesh, Skin(held_by, binds, *influences(group, column))))
    return Character(name, joints, parts)


def _deltas(group: Sequence[Patch], shapes: Deltas) -> Array:
    """(S, V, 3) of the patches of one part."""
    rows = [[moved.get(patch.name, np.zeros_like(patch.vertices)) for patch in group] for moved in shapes.values()]
    return np.stack([np.concatenate(row) for row in rows])
