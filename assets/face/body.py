"""The face from nothing: everything sculpted, joined into a character with ARKit's shapes, and its 68 landmarks.

Parts that shapes move are all named `Face`: they share their weights, and are one mesh of several materials in a file.
Materials are in glTF's terms; `render.surfaces` tells what our own renderer makes of them.

Landmarks are those of the iBUG scheme, as vertices of the face, so that they follow every shape. In the scheme's order,
numbered from 0: 0-16 the jaw from its right to its left, 17-26 brows, 27-35 nose, 36-47 eyes, 48-59 the outer lips,
60-67 the inner lips. Left and right are mirror images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assets.dragon.body import SkinSurface
from assets.face import coat, parts, sculpt, shapes
from assets.face.coat import PALETTE
from assets.face.measures import CORNER_X, JOINTS, LIP_Y, SCALE, metres
from assets.sculpting.coat import material_extra, mix, tinted
from assets.sculpting.eyes import eye_picture
from assets.sculpting.fields import ambient, ramp, smoothed
from assets.sculpting.joints import rest_transforms
from assets.sculpting.meshing import Patch, held, influences, joined, pair
from understudy.cast.archive import area_normals
from understudy.character import Character, Material, Mesh, Part, Shapes, Skeleton, SkinBinding, Texture
from understudy.checks import Array
from understudy.formats.arkit_names import SHAPE_NAMES
from understudy.maths.colour import to_linear

SKIN_FINISH = material_extra(1.0, specular={"specularFactor": 0.55}, sheen={"sheenColorFactor": [0.14, 0.07, 0.05]})

MATERIALS = {
    "Skin": Material("skin", roughness=1.0, extra=SKIN_FINISH),  # roughness itself is in the coat's map
    "Lids": Material("lids", roughness=0.6, double_sided=True, extra=SKIN_FINISH),
    "Hairs": Material("brows and lashes", roughness=0.55, extra=material_extra(0.2, False)),
    "Eyes": Material(
        "eyes",
        roughness=0.5,
        # all shine is the tear film's, and the shadow that counts is the lid's own strip
        extra=material_extra(
            0.0,
            False,
            specular={"specularFactor": 0.2},
            clearcoat={"clearcoatFactor": 1.0, "clearcoatRoughnessFactor": 0.04},
        ),
    ),
    "LidShadow": Material("lid shadow", roughness=1.0, alpha_mode="BLEND", extra=material_extra(0.0, False, unlit={})),
    "Teeth": Material("teeth", roughness=0.3, emissive=(0.06, 0.056, 0.05), extra=material_extra(0.5, False)),
    "Tongue": Material("tongue", roughness=0.35, extra=material_extra(0.8, clearcoat={"clearcoatFactor": 0.4})),
    "Highlights": Material("highlights", extra=material_extra(0.0, False, unlit={})),
    "Hair": Material("hair", roughness=0.42, extra=material_extra(0.25)),
    "Shirt": Material(
        "shirt", roughness=0.85, extra=material_extra(0.3, sheen={"sheenColorFactor": [0.05, 0.10, 0.10]})
    ),
}


LANDMARK_COUNT = 68
LANDMARK_NAMES = tuple(f"lm{number:02d}" for number in range(LANDMARK_COUNT))
NOSE_LINE = ((0.0, 0.015), (0.0, -0.028), (0.0, -0.070), (0.0, -0.108))
NOSTRILS = ((0.0, -0.163), (0.026, -0.160), (0.056, -0.146))  # x, y from the middle outwards
UPPER_LIP = ((0.0, -0.218), (0.026, -0.213), (0.072, -0.226), (CORNER_X, LIP_Y + 0.014))
LOWER_LIP = ((0.0, -0.305), (0.030, -0.303), (0.070, -0.290))
INNER_LIPS = (0.0, 0.055, CORNER_X - 0.012)
LANDMARK_BROW_RINGS = (2, 8, 15, 21, 28)  # of a brow, from the nose outwards
LANDMARK_LONGITUDES = (-52.0, -24.0, 24.0, 62.0)  # of the lids' edges: nearer the nose they are under the skin


def write_landmarks(vertices: Array, path: Path) -> None:
    """A line a landmark: its name and its vertex."""
    path.write_text("".join(f"{n} {int(v)}\n" for n, v in zip(LANDMARK_NAMES, vertices)), encoding="utf-8")


def find_landmarks(skin: SkinSurface, first: Mapping[str, int]) -> Array:
    """(68,) vertices of the whole face; `first` says where each piece begins, the skin is the first."""
    near = _NearestVertex(skin)
    jaw = [near.outside(p) for p in _jaw_line()]  # from the chin to the left ear
    nose, under = near.front(NOSE_LINE), near.front(NOSTRILS)
    upper, lower = near.front(UPPER_LIP), near.front(LOWER_LIP)
    inner_upper, inner_lower = ([near.inner(x, low) for x in INNER_LIPS] for low in (False, True))
    other = skin.mirror
    return np.array(
        [
            *[other[v] for v in jaw[:0:-1]],
            *jaw,
            *[_brow_vertex(first, "R", ring) for ring in LANDMARK_BROW_RINGS[::-1]],
            *[_brow_vertex(first, "L", ring) for ring in LANDMARK_BROW_RINGS],
            *nose,
            *[other[v] for v in under[:0:-1]],
            *under,
            *[_lid_vertex(first, "Upper", "R", a) for a in LANDMARK_LONGITUDES[::-1]],
            *[_lid_vertex(first, "Lower", "R", a) for a in LANDMARK_LONGITUDES[1:3]],
            *[_lid_vertex(first, "Upper", "L", a) for a in LANDMARK_LONGITUDES],
            *[_lid_vertex(first, "Lower", "L", a) for a in LANDMARK_LONGITUDES[2:0:-1]],
            *[other[v] for v in upper[:0:-1]],
            *upper,
            *lower[:0:-1],
            *[other[v] if v != lower[0] else v for v in lower],
            *[other[v] for v in inner_upper[:0:-1]],
            *inner_upper,
            inner_lower[1],
            inner_lower[0],
            other[inner_lower[1]],
        ]
    )


def _brow_vertex(first: Mapping[str, int], side: str, ring: int) -> int:
    from assets.face.parts import BROW_SIDES

    return first[f"Brow.{side}"] + ring * BROW_SIDES


def _lid_vertex(first: Mapping[str, int], which: str, side: str, longitude: float) -> int:
    from assets.face.parts import lid_edge_vertex

    return first[f"Lid{which}.{side}"] + lid_edge_vertex(longitude)


def _jaw_line() -> Array:
    """(9, 3) places from the chin to the left ear, where rays from inside the head leave it."""
    from assets.face.sculpt import along_rays

    t = np.radians(np.linspace(0.0, 88.0, 9))
    way = np.stack(
        [np.sin(t), 0.22 * np.sin(t) ** 8 - 0.04 - 0.98 * np.cos(t) ** 1.15, 0.02 + 0.78 * np.cos(t)], axis=1
    )
    return along_rays((0.0, -0.10, 0.02), way / np.linalg.norm(way, axis=1, keepdims=True), 0.1, 0.7)


class _NearestVertex:
    """Finds vertices on the left half or in the middle of the skin."""

    def __init__(self, skin: SkinSurface) -> None:
        self.points, self.depth = skin.sealed, skin.depth
        self.height = skin.unsealed[:, 1] - skin.sheet
        self.middle = skin.mirror == np.arange(len(skin.mirror))

    def outside(self, place: Array) -> int:
        """The vertex on the outside of the skin nearest to a place; at x = 0 one of the middle."""
        allowed = (self.depth > -0.004) & (self.middle if abs(place[0]) < 1e-9 else self.points[:, 0] >= 0)
        return int(np.argmin(np.where(allowed, np.linalg.norm(self.points - place, axis=1), np.inf)))

    def front(self, xy: tuple[tuple[float, float], ...]) -> list[int]:
        from assets.face.sculpt import on_front

        return [self.outside(place) for place in on_front(xy)]

    def inner(self, x: float, low: bool) -> int:
        """The vertex of the upper or lower lip where both meet, at x."""
        allowed = (self.depth < 0.004) & (self.depth > -0.020) & (np.abs(self.height) < 0.012)
        allowed &= (self.points[:, 2] > 0.24) & ((self.height < 0) == low)
        allowed &= self.middle if x == 0 else self.points[:, 0] > 0
        cost = np.abs(self.points[:, 0] - x) + 0.3 * np.abs(self.depth + 0.006)
        return int(np.argmin(np.where(allowed, cost, np.inf)))


FACE = "Face"
SHAPED = ("Skin", "Lids", "Hairs", "Eyes", "LidShadow", "Teeth", "Tongue")


@dataclass(frozen=True, eq=False)
class Body:
    """The character, and the vertices (68,) of its landmarks among all."""

    character: Character
    landmarks: Array


def build() -> Body:
    """The face: some 40 s, most of it spent on remeshing and paint."""
    surface, hold = sculpt.skin_surface()
    places = sculpt.FacePlaces(surface)
    light = tinted(smoothed(coat.occlusion(surface.unsealed), surface.mean, 4))
    dress = coat.coat(surface.unsealed, surface.triangles)
    brow, rings = parts.brow()
    patches: dict[str, list[Patch]] = {
        "Skin": [Patch("Skin", surface.sealed, surface.triangles, light, hold, surface.mirror, dress.uvs)],
        "Lids": [half for which in ("Upper", "Lower") for half in pair(parts.lid(which))],
        "Hairs": [*pair(brow), *pair(parts.lash_patch())],
        "Eyes": list(pair(parts.eyeball())),
        "LidShadow": list(pair(parts.lid_shadow_patch())),
        "Teeth": parts.teeth(),
        "Tongue": [parts.tongue()],
        "Highlights": parts.highlights(),
        "Hair": [parts.hair()],
        "Shirt": [shirt()],
    }
    everything = [patch for group in patches.values() for patch in group]
    at_rest = {patch.name: patch.vertices for patch in everything}
    middles = np.concatenate([np.repeat(rings, parts.BROW_SIDES, axis=0), rings[:1], rings[-1:]])
    moved = shapes.face_shapes(places, at_rest, {"Brow.L": middles, "Brow.R": middles * shapes.FLIP})
    textures = {"Skin": dress.textures, "Eyes": {"colour": Texture(eye_picture("face_eye", parts.eye_colours))}}
    starts = np.cumsum([0, *(len(patch.vertices) for patch in everything)])
    first = {patch.name: int(start) for patch, start in zip(everything, starts)}
    return Body(assemble(patches, textures, moved), find_landmarks(surface, first))


def skeleton() -> Skeleton:
    """The joints with their rest, in metres; all have the axes of the world."""
    names = tuple(JOINTS)
    parents = [names.index(parent) if parent else -1 for parent, _ in JOINTS.values()]
    world = metres([place for _, place in JOINTS.values()])
    return Skeleton(names, parents, world - np.where(np.array(parents)[:, None] < 0, 0.0, world[parents]))


def shirt() -> Patch:
    """The shirt, darker in the fold below its collar."""
    made = sculpt.shirt_mesh()
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
    rest = rest_transforms(joints)
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
            normals=area_normals(points, triangles),
            uvs=[] if uvs is None else [uvs],
            colours=colours,
            materials=[replace(MATERIALS[label], textures=textures.get(label, {}))],
            shapes=Shapes(SHAPE_NAMES, _deltas(group, moved)) if label in SHAPED else None,
        )
        name = FACE if label in SHAPED else label
        parts.append(Part(name, mesh, SkinBinding(np.arange(len(joints)), binds, *influences(group, column))))
    return Character("face", joints, parts)


def _deltas(group: Sequence[Patch], moved: Mapping[str, shapes.Deltas]) -> Array:
    """(52, V, 3) metres of the pieces of one part."""
    blocks = []
    for name in SHAPE_NAMES:
        own = [moved[name].get(patch.name, np.zeros_like(patch.vertices)) for patch in group]
        blocks.append(np.concatenate(own))
    deltas = SCALE * np.stack(blocks)
    deltas[np.linalg.norm(deltas, axis=2) < 1e-5] = 0.0  # a hundredth of a millimetre is not seen
    return deltas
