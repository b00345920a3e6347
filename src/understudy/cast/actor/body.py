"""The actor from nothing: sculpted, painted and hung on its joints."""

from __future__ import annotations

import numpy as np

from understudy.cast.actor import face, paint, sculpture
from understudy.cast.actor.skeleton import skeleton
from understudy.cast.sculpting import eyes
from understudy.cast.sculpting.assembly import assemble
from understudy.cast.sculpting.coating import Coated, coat
from understudy.cast.sculpting.eyes import Edge, Eye
from understudy.cast.sculpting.fields import isosurface
from understudy.cast.sculpting.materials import EYES, extra
from understudy.cast.sculpting.meshing import modelled, remesh, symmetric
from understudy.cast.sculpting.patches import Patch, held
from understudy.cast.sculpting.weights import hold
from understudy.character import Character, Material
from understudy.checks import Array

EYE = Eye(
    place=(0.069, 1.820, 0.146),
    radius=0.057,
    yaw=13.0,
    pitch=0.0,
    iris=48.0,
    pupil=25.0,
    upper=Edge(50.0, 0.0, -20.0),
    lower=Edge(-46.0, 0.0, 18.0),
    colours={"iris": "#A8652E", "dark": "#4A2412", "light": "#E8B060", "lid": "#BF7A5E", "lash": "#3A1E2A"},
    toe_in=4.0,
)
MATERIALS = {
    "Skin": Material("skin and cloth", roughness=0.72, extra=extra(0.8, specular={"specularFactor": 0.6})),
    "Brows": Material("brows", roughness=0.55, extra=extra(0.2, False)),
    "Mouth": Material("mouth", roughness=0.5, double_sided=True, extra=extra(0.2, False)),
    **EYES,
}
WIDTHS = {
    "LeftUpLeg": 0.15,
    "Hips": 0.15,
    "LeftShoulder": 0.14,
    "LeftHandIndex1": 0.03,
    "LThumb": 0.03,
    "Head": 0.03,
}


def build() -> Character:
    """The actor."""
    skin, textures = coat("actor", [body(), hair()], 1024)
    patches = {"Skin": skin, "Brows": face.brows(), "Mouth": [face.mouth()], **eyes.parts(EYE)}
    all_textures = {"Skin": textures, "Eyes": eyes.texture("actor_eye", EYE)}
    return assemble("actor", skeleton(), patches, MATERIALS, all_textures, eyes.shapes(EYE) | face.shapes())


def body() -> Coated:
    """Skin and clothes in one."""
    work = isosurface(sculpture.BODY, (0, -0.02, -0.25), (1.12, 2.10, 0.36), 0.011)
    remesh(work, 0.0135)
    remesh(work, 0.0240, _plain(work.current_mesh().vertex_matrix()))
    mesh = symmetric(work, sculpture.BODY)
    weights = hold(sculpture.BODY, mesh, 0.11, WIDTHS, rounds=12)
    patch = Patch("Body", mesh.vertices, mesh.triangles, np.ones((len(mesh.vertices), 3)), weights, mesh.mirror)
    return Coated(patch, sculpture.BODY, paint.body, sculpture.BODY, paint.woven, halves=True)


def _plain(points: Array) -> Array:
    """(V,) where edges may be long: not on the hands, the face and the shoes."""
    x, y, z = points.T
    return (x < 0.78) & (y > 0.14) & ~((y > 1.66) & (z > 0.0))


def hair() -> Coated:
    """The hair, which is not the same on both sides."""
    mesh = modelled(sculpture.HAIR, (-0.29, 1.58, -0.30), (0.29, 2.20, 0.30), 0.008, 0.0135)
    patch = held("Hair", (mesh.vertices, mesh.triangles), np.ones(3), "Head")
    return Coated(patch, sculpture.HAIR, paint.hair, sculpture.HAIR)
