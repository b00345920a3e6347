"""The squirrel from nothing: sculpted, painted and hung on its joints."""

from __future__ import annotations

import numpy as np

from understudy.cast.sculpting import eyes
from understudy.cast.sculpting.assembly import assemble
from understudy.cast.sculpting.coating import Coated, coat
from understudy.cast.sculpting.eyes import Edge, Eye
from understudy.cast.sculpting.fields import isosurface, unit_gradient
from understudy.cast.sculpting.lines import line
from understudy.cast.sculpting.materials import EYES, extra
from understudy.cast.sculpting.meshing import modelled, remesh, symmetric
from understudy.cast.sculpting.patches import Patch, facing_out, grid, held, pair, superellipsoid
from understudy.cast.sculpting.weights import hold
from understudy.cast.squirrel import paint, sculpture
from understudy.cast.squirrel.skeleton import skeleton
from understudy.character import Character, Material
from understudy.checks import Array

EYE = Eye(
    place=(0.088, 0.782, 0.128),
    radius=0.064,
    yaw=18.0,
    pitch=2.0,
    iris=54.0,
    pupil=33.0,
    upper=Edge(54.0, -2.0, -22.0),
    lower=Edge(-48.0, 0.0, 15.0),
    colours={"iris": "#6A3F22", "dark": "#20100C", "light": "#C98A45", "lid": "#CF9C74", "lash": "#2A1416"},
    toe_in=5.0,
)
MATERIALS = {
    "Skin": Material("fur", roughness=0.8, extra=extra(0.8, sheen={"sheenColorFactor": [0.12, 0.06, 0.03]})),
    "Mouth": Material("nose and mouth", roughness=0.3, double_sided=True, extra=extra(0.3)),
    **EYES,
}
NARROW = 0.035  # metres: the border of what moves by itself
WIDTHS = {
    "LeftHand": NARROW,
    "LeftFoot": NARROW,
    "LeftToe": NARROW,
    "LeftEar": NARROW,
    "Jaw": 0.022,
    "LeftUpLeg": 0.09,
    "Hips": 0.10,
}


def build() -> Character:
    """The squirrel."""
    skin, textures = coat("squirrel", [body(), fringe()], 1024)
    patches = {"Skin": skin, "Mouth": mouth(), **eyes.parts(EYE)}
    all_textures = {"Skin": textures, "Eyes": eyes.texture("squirrel_eye", EYE)}
    return assemble("squirrel", skeleton(), patches, MATERIALS, all_textures, eyes.shapes(EYE))


def body() -> Coated:
    """All of the fur but the fringe."""
    work = isosurface(sculpture.BODY, (0, -0.02, -0.80), (0.44, 1.20, 0.27), 0.009)
    remesh(work, 0.0110)
    remesh(work, 0.0165, _plain(work.current_mesh().vertex_matrix()))
    remesh(work, 0.0190, work.current_mesh().vertex_matrix()[:, 2] < -0.26)
    mesh = symmetric(work, sculpture.BODY)
    weights = hold(sculpture.BODY, mesh, 0.075, WIDTHS, rounds=8)
    patch = Patch("Body", mesh.vertices, mesh.triangles, np.ones((len(mesh.vertices), 3)), weights, mesh.mirror)
    return Coated(patch, sculpture.BODY, paint.body, sculpture.BODY, paint.fur, halves=True)


def _plain(points: Array) -> Array:
    """(V,) where edges may be long: not on the head, the hands and the toes."""
    x, y, z = points.T
    return (y < 0.58) & (x < 0.30) & ~((y < 0.07) & (z > 0.05))


def fringe() -> Coated:
    """The hair on the crown, which is not the same on both sides."""
    mesh = modelled(sculpture.FRINGE, (-0.12, 0.80, -0.02), (0.12, 1.0, 0.15), 0.005, 0.0085)
    patch = held("Fringe", (mesh.vertices, mesh.triangles), np.ones(3), "Head")
    return Coated(patch, sculpture.FRINGE, paint.fringe, sculpture.FRINGE, None)


def mouth() -> list[Patch]:
    """Nose, the line of the mouth, and two front teeth."""
    nose = held("Nose", superellipsoid((0, 0.716, 0.232), (0.027, 0.019, 0.018), 1.0), paint.PALETTE["nose"], "Head")
    curve = [(0.058, 0.674), (0.032, 0.648), (0.001, 0.656), (0.001, 0.692)]
    lip = held("Lip.L", line(sculpture.BODY, curve, 0.0042, 0.001), paint.PALETTE["mouth"], "Head")
    tooth = superellipsoid((0.0115, 0.634, 0.206), (0.0112, 0.017, 0.006), 0.55)
    return [nose, *pair(lip), *pair(held("Tooth.L", tooth, paint.PALETTE["tooth"], "Head")), _inside()]


def _inside() -> Patch:
    """The dark between muzzle and chin: a line at rest, held by the head above and by the jaw below."""
    s = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, 17))
    share = np.array([0.0, 0.05, 0.35, 0.65, 0.95, 1.0])  # of the jaw, from the upper row to the lower
    high = 0.0035 * np.sqrt(np.clip(1 - s * s, 0.01, 1.0))[:, None]
    y = 0.6455 + 0.010 * (s * s)[:, None] + high * (1 - 2 * share)
    xy = np.stack([np.broadcast_to(0.036 * s[:, None], y.shape), y], axis=-1).reshape(-1, 2)
    skin = sculpture.BODY.on_front(xy, 0.0, 0.4)
    places = skin + 0.0025 * unit_gradient(skin, sculpture.BODY)
    dark, tongue = paint.PALETTE["mouth"], paint.PALETTE["blush"]
    rows = np.stack([dark, 0.55 * dark, 0.45 * dark, 0.8 * tongue, 0.9 * tongue, dark])
    jaw = np.outer(np.sqrt(np.clip(1 - s * s, 0, 1)), share).ravel()  # less towards the corners: a lens
    surface = facing_out(places, grid(len(s), len(share)), (0.0, 0.65, 0.0))
    return held("Inside", surface, np.tile(rows, (len(s), 1)), {"Head": 1 - jaw, "Jaw": jaw})
