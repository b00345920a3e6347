"""The dragon's body: everything sculpted, joined into a character, with what the makers of shapes need to know.

Sculpting happens in head lengths; `Body.points` keeps those places, `Body.character` is in metres
(`measures.metres`). Vertices of the whole are those of the parts in order, and `Body.pieces` says where each named
piece is among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assets.dragon import coat, measures, paint, parts, sculpt
from assets.dragon.measures import CORNER_Z, metres, skeleton
from assets.dragon.paint import MATERIALS
from assets.sculpting.coat import tinted
from assets.sculpting.eyes import eye_picture
from assets.sculpting.fields import average, ramp, smoothed
from assets.sculpting.joints import rest_transforms
from assets.sculpting.meshing import Patch, influences, joined, pair
from understudy.cast.archive import area_normals
from understudy.character import Character, Mesh, Part, Skeleton, SkinBinding, Texture
from understudy.checks import Array
from understudy.maths.colour import to_linear

SEAL = 0.0004  # HL that each lip stays away from the other at rest: the closed mouth is a thin line
NEAR_LIPS = 10  # lip vertices that lead a tooth


@dataclass(frozen=True, eq=False)
class SkinSurface:
    """The skin, in HL: what masks, shapes and weights are made from."""

    unsealed: Array  # (V, 3) with the mouth's slit open: where every mask is evaluated
    sealed: Array  # (V, 3) at rest
    triangles: Array  # (T, 3), the left half first
    mirror: Array  # (V,) the vertex on the other side
    depth: Array  # (V,) distance to the closed head before carving: 0 on the outside, negative in mouth and sockets
    sheet: Array  # (V,) height of the lips' sheet
    jaw: Array  # (V,) how much each vertex follows the jaw
    mean: Any  # (V, V) sparse: the mean over the neighbours, for `fields.smoothed`


@dataclass(frozen=True, eq=False)
class Tooth:
    """One tooth and the vertices of the skin, on the lip it stands behind, that lead it."""

    name: str
    piece: slice
    upper: bool
    near: Array  # (NEAR_LIPS,)


@dataclass(frozen=True, eq=False)
class Body:
    """The character without layers, and the sculptor's knowledge of it."""

    character: Character
    points: Array  # (V, 3) HL of the whole character at rest
    mirror: Array  # (V,) the vertex on the other side; highlights are not mirror images in place
    pieces: Mapping[str, slice]  # "Skin", "LidUpper.L", "Eyeball.R", "ToothUpper3.L", "Spike4" ... among all vertices
    skin: SkinSurface  # its vertices are the first of the whole
    eyeball: parts.Eyeball  # the left one; the right one has the same numbering, mirrored
    lids: Mapping[str, parts.Lid]  # "Upper", "Lower": the left ones
    fin: parts.Fin  # the left one
    tongue: parts.Tongue
    teeth: tuple[Tooth, ...]
    spikes: tuple[parts.Spike, ...]


def build() -> Body:
    """The dragon from nothing: some 15 s, most of it spent on remeshing."""
    surface, hold = skin_surface()
    eyeball, fin, flesh = parts.eyeball(), parts.fin(), parts.tongue()
    shells = {which: parts.lid(which) for which in ("Upper", "Lower")}
    spikes = tuple(parts.spikes())
    left_teeth = parts.teeth()
    light = tinted(smoothed(coat.occlusion(surface.unsealed), surface.mean, 4))
    dress = coat.coat(surface.unsealed, surface.triangles, shells)
    patches: dict[str, list[Patch]] = {
        "Skin": [Patch("Skin", surface.sealed, surface.triangles, light, hold, surface.mirror, dress.skin)],
        "Lids": [half for which, lid in shells.items() for half in pair(replace(lid.patch, uvs=dress.lids[which]))],
        "Eyes": list(pair(eyeball.patch)),
        "Highlights": parts.highlights(),
        "LidShadow": list(pair(parts.lid_shadow())),
        "Fins": list(pair(fin.patch)),
        "Horns": list(pair(parts.horn())),
        "Spikes": [_rooted(spike, surface, hold) for spike in spikes],
        "Teeth": [side for tooth in left_teeth for side in pair(tooth)],
        "Tongue": [flesh.patch],
        "Plinth": [parts.plinth()],
    }
    iris = {"colour": Texture(eye_picture("dragon_eye", paint.eye_colours))}
    textures = {"Skin": dress.textures, "Lids": dress.textures, "Eyes": iris}
    character = assemble(skeleton(), patches, textures)
    everything = [patch for group in patches.values() for patch in group]
    starts = np.cumsum([0, *(len(patch.vertices) for patch in everything)])
    pieces = {p.name: slice(int(a), int(b)) for p, a, b in zip(everything, starts, starts[1:])}
    return Body(
        character,
        np.concatenate([patch.vertices for patch in everything]),
        _mirror(everything, pieces),
        pieces,
        surface,
        eyeball,
        shells,
        fin,
        flesh,
        tuple(_tooth(patch, pieces[patch.name], surface) for patch in patches["Teeth"]),
        spikes,
    )


def skin_surface() -> tuple[SkinSurface, dict[str, Array]]:
    """The skin and its hold on the joints."""
    mesh = sculpt.skin_mesh()
    p = mesh.vertices
    depth, sheet = sculpt.distance(p, "closed"), sculpt.lip_sheet(p)
    mean = average(mesh.triangles, len(p))
    hold, jaw = measures.skin_weights(p, depth, sheet, mesh.mirror, mean)
    above = p[:, 1] - sheet
    close = (sculpt.slit_width(p) - SEAL) * ramp(0.075, 0.012, np.abs(above))
    close *= ramp(CORNER_Z - 0.03, CORNER_Z + 0.01, p[:, 2])
    sealed = p.copy()
    sealed[:, 1] -= np.sign(above) * close * ramp(-0.06, -0.03, depth)
    return SkinSurface(p, sealed, mesh.triangles, mesh.mirror, depth, sheet, jaw, mean), hold


def assemble(
    joints: Skeleton, patches: Mapping[str, Sequence[Patch]], textures: Mapping[str, Mapping[str, Texture]]
) -> Character:
    """One part a material, in the order of `patches`; every skin on the same list of joints."""
    held_by = sorted({joints.index(joint) for group in patches.values() for patch in group for joint in patch.hold})
    rest = rest_transforms(joints)
    binds = np.linalg.inv(rest[held_by])
    column = {joints.names[joint]: number for number, joint in enumerate(held_by)}
    parts = []
    for label, group in patches.items():
        vertices, triangles, colours, uvs = joined(group)
        if label != "Skin":
            colours[:, :3] = to_linear(colours[:, :3])
        places = metres(vertices)
        normals = area_normals(places, triangles)
        material = replace(MATERIALS[label], textures=textures.get(label, {}))
        painted = [] if uvs is None else [uvs]
        mesh = Mesh(label, places, triangles, normals=normals, uvs=painted, colours=colours, materials=[material])
        parts.append(Part(label, mesh, SkinBinding(held_by, binds, *influences(group, column))))
    return Character("dragon", joints, parts)


def _rooted(spike: parts.Spike, surface: SkinSurface, hold: Mapping[str, Array]) -> Patch:
    """A spike that follows the skin it stands on: the weights of the skin's nearest vertex, one side as the other."""
    nearest = int(np.argmin(np.linalg.norm(surface.sealed - spike.base, axis=1)))
    patch = spike.patch
    shares = {joint: 0.5 * (w[nearest] + w[surface.mirror[nearest]]) for joint, w in hold.items()}
    kept = {joint: np.full(len(patch.vertices), share) for joint, share in shares.items() if share > 0}
    return Patch(patch.name, patch.vertices, patch.triangles, patch.colours, kept, patch.twin)


def _mirror(patches: Sequence[Patch], pieces: Mapping[str, slice]) -> Array:
    other = {".L": ".R", ".R": ".L"}
    blocks = []
    for patch in patches:
        side = patch.name[-2:]
        twin = patch.name[:-2] + other[side] if side in other else patch.name
        blocks.append(pieces[twin].start + patch.twin)
    return np.concatenate(blocks)


def _tooth(patch: Patch, piece: slice, surface: SkinSurface) -> Tooth:
    upper = "Upper" in patch.name
    lip = np.flatnonzero(((surface.unsealed[:, 1] >= surface.sheet) == upper) & (surface.depth > -0.03))
    away = np.linalg.norm(surface.unsealed[lip] - patch.vertices.mean(axis=0), axis=1)
    return Tooth(patch.name, piece, upper, lip[np.argsort(away, kind="stable")[:NEAR_LIPS]])
