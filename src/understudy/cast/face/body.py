"""The face from nothing: everything sculpted, joined into a character with ARKit's shapes, and its landmarks.

Parts that shapes move are all named `Face`: they share their weights, and are one mesh of several materials in a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.cast import geometry
from understudy.cast.face import coat, eyes, hair, landmarks, lids, meshing, mouth_parts, sculpt, shapes, skin
from understudy.cast.face import paint as face_paint
from understudy.cast.face.materials import MATERIALS
from understudy.cast.face.measures import JOINTS, SCALE, metres, ramp
from understudy.cast.face.palette import PALETTE
from understudy.cast.sculpting.eye_paint import picture
from understudy.cast.sculpting.fields import ambient
from understudy.cast.sculpting.paint import tinted
from understudy.cast.sculpting.patches import Patch, held, influences, joined, mix, pair
from understudy.cast.sculpting.smoothing import smoothed
from understudy.character import Character, Mesh, Part, Shapes, Skeleton, Skin, Texture
from understudy.character.kinematics import world_transforms_numpy
from understudy.checks import Array
from understudy.formats.arkit_names import WEIGHTS
from understudy.maths.colour import to_linear

FACE = "Face"
SHAPED = ("Skin", "Lids", "Hairs", "Eyes", "LidShadow", "Teeth", "Tongue")


@dataclass(frozen=True, eq=False)
class Body:
    """The character, and the vertices (68,) of its landmarks among all."""

    character: Character
    landmarks: Array


def build() -> Body:
    """The face: some 40 s, most of it spent on remeshing and paint."""
    surface, hold = skin.surface()
    places = skin.FacePlaces(surface)
    light = tinted(smoothed(face_paint.occlusion(surface.unsealed), surface.mean, 4))
    dress = coat.coat(surface.unsealed, surface.triangles)
    brow, rings = hair.brow()
    patches: dict[str, list[Patch]] = {
        "Skin": [Patch("Skin", surface.sealed, surface.triangles, light, hold, surface.mirror, dress.uvs)],
        "Lids": [half for which in ("Upper", "Lower") for half in pair(lids.lid(which))],
        "Hairs": [*pair(brow), *pair(lids.lash_patch())],
        "Eyes": list(pair(eyes.eyeball())),
        "LidShadow": list(pair(lids.shadow_patch())),
        "Teeth": mouth_parts.teeth(),
        "Tongue": [mouth_parts.tongue()],
        "Highlights": eyes.highlights(),
        "Hair": [hair.hair()],
        "Shirt": [shirt()],
    }
    everything = [patch for group in patches.values() for patch in group]
    at_rest = {patch.name: patch.vertices for patch in everything}
    middles = np.concatenate([np.repeat(rings, hair.BROW_SIDES, axis=0), rings[:1], rings[-1:]])
    moved = shapes.shapes(places, at_rest, {"Brow.L": middles, "Brow.R": middles * shapes.FLIP})
    textures = {"Skin": dress.textures, "Eyes": {"colour": Texture(picture("face_eye", eyes.colours))}}
    starts = np.cumsum([0, *(len(patch.vertices) for patch in everything)])
    first = {patch.name: int(start) for patch, start in zip(everything, starts)}
    return Body(assemble(patches, textures, moved), landmarks.found(surface, first))


def skeleton() -> Skeleton:
    """The joints with their rest, in metres; all have the axes of the world."""
    names = tuple(JOINTS)
    parents = [names.index(parent) if parent else -1 for parent, _ in JOINTS.values()]
    world = metres([place for _, place in JOINTS.values()])
    return Skeleton(names, parents, world - np.where(np.array(parents)[:, None] < 0, 0.0, world[parents]))


def shirt() -> Patch:
    """The shirt, darker in the fold below its collar."""
    made = meshing.shirt()
    p = made.vertices
    fold = ramp(0.02, 0.004, sculpt.piece("collar", np.abs(p) * [1, 0, 0] + p * [0, 1, 1]))
    light = ambient(p, sculpt.field("shirt"), 1.4)
    colours = mix(PALETTE["shirt"], PALETTE["shirt_dark"], 0.55 * fold) * light[:, None] ** 0.6
    neck = 0.35 * ramp(-0.75, -0.55, p[:, 1])  # the collar goes a little with the neck
    return held("Shirt", (p, made.triangles), colours, {"Root": 1 - neck, "Neck": neck})


def assemble(
    patches: Mapping[str, Sequence[Patch]],
    textures: Mapping[str, Mapping[str, Texture]],
    moved: Mapping[str, shapes.Deltas],
) -> Character:
    """One part a material, in the order of `patches`; every skin on all joints."""
    joints = skeleton()
    rest = world_transforms_numpy(joints.parents, joints.translations, joints.rotations, joints.scales)
    binds = np.linalg.inv(rest)
    column = {name: number for number, name in enumerate(joints.names)}
    parts = []
    for label, group in patches.items():
        vertices, triangles, colours, uvs = joined(group)
        if label != "Skin":
            colours[:, :3] = to_linear(colours[:, :3])
        points = metres(vertices)
        mesh = Mesh(
            label,
            points,
            triangles,
            normals=geometry.normals(points, triangles),
            uvs=[] if uvs is None else [uvs],
            colours=colours,
            materials=[replace(MATERIALS[label], textures=textures.get(label, {}))],
            shapes=Shapes(WEIGHTS, _deltas(group, moved)) if label in SHAPED else None,
        )
        name = FACE if label in SHAPED else label
        parts.append(Part(name, mesh, Skin(np.arange(len(joints)), binds, *influences(group, column))))
    return Character("face", joints, parts)


def _deltas(group: Sequence[Patch], moved: Mapping[str, shapes.Deltas]) -> Array:
    """(52, V, 3) metres of the pieces of one part."""
    blocks = []
    for name in WEIGHTS:
        own = [moved[name].get(patch.name, np.zeros_like(patch.vertices)) for patch in group]
        blocks.append(np.concatenate(own))
    deltas = SCALE * np.stack(blocks)
    deltas[np.linalg.norm(deltas, axis=2) < 1e-5] = 0.0  # a hundredth of a millimetre is not seen
    return deltas
