"""The penguin from nothing: sculpted, painted and hung on its joints."""

from __future__ import annotations

import numpy as np

from understudy.cast.penguin import paint, sculpture
from understudy.cast.penguin.skeleton import skeleton
from understudy.cast.sculpting import eyes, tubes
from understudy.cast.sculpting.assembly import assemble
from understudy.cast.sculpting.coating import Coated, coat
from understudy.cast.sculpting.eyes import Edge, Eye
from understudy.cast.sculpting.fields import isosurface
from understudy.cast.sculpting.materials import EYES, extra
from understudy.cast.sculpting.meshing import modelled, remesh, symmetric
from understudy.cast.sculpting.patches import Patch, bezier, facing_out, held, mix, superellipsoid
from understudy.cast.sculpting.ramps import ramp
from understudy.cast.sculpting.weights import hold
from understudy.character import Character, Material

EYE = Eye(
    place=(0.085, 0.806, 0.148),
    radius=0.066,
    yaw=15.0,
    pitch=2.0,
    iris=52.0,
    pupil=31.0,
    upper=Edge(52.0, -2.0, -20.0),
    lower=Edge(-50.0, 0.0, 16.0),
    colours={"iris": "#3E7FA0", "dark": "#102436", "light": "#8AD0DC", "lid": "#E2CDB8", "lash": "#20182A"},
    toe_in=4.0,
)

MATERIALS = {
    "Skin": Material("plumage", roughness=0.72, extra=extra(0.6, sheen={"sheenColorFactor": [0.05, 0.06, 0.09]})),
    "Beak": Material("beak", roughness=0.38, extra=extra(0.5)),
    **EYES,
}


def build() -> Character:
    """The penguin."""
    skin, textures = coat("penguin", [body(), flipper(), leg(), scarf()], 1024)
    patches = {
        "Skin": skin,
        "Beak": beak(),
        **eyes.parts(EYE),
    }
    all_textures = {"Skin": textures, "Eyes": eyes.texture("penguin_eye", EYE)}
    return assemble("penguin", skeleton(), patches, MATERIALS, all_textures, eyes.shapes(EYE))


def body() -> Coated:
    """The egg, the head and the tail."""
    work = isosurface(sculpture.BODY, (0, -0.02, -0.40), (0.34, 1.02, 0.32), 0.010)
    remesh(work, 0.017)
    mesh = symmetric(work, sculpture.BODY)
    weights = hold(sculpture.BODY, mesh, 0.12, {"Head": 0.07}, rounds=16)
    patch = Patch("Body", mesh.vertices, mesh.triangles, np.ones((len(mesh.vertices), 3)), weights, mesh.mirror)
    return Coated(patch, sculpture.BODY, paint.body, sculpture.DRESSED, paint.downy, halves=True)


def flipper() -> Coated:
    """The left one."""
    mesh = modelled(sculpture.FLIPPER, (0.14, 0.18, -0.12), (0.46, 0.64, 0.12), 0.007, 0.0125)
    weights = hold(sculpture.FLIPPER, mesh, 0.16, rounds=12)
    patch = held("Flipper.L", (mesh.vertices, mesh.triangles), np.ones(3), weights)
    return Coated(patch, sculpture.FLIPPER, paint.flipper, sculpture.FLIPPER, paint.downy, paired=True)


def leg() -> Coated:
    """The left one with its foot."""
    mesh = modelled(sculpture.LEG, (0.0, -0.02, -0.12), (0.26, 0.26, 0.26), 0.006, 0.0105)
    weights = hold(sculpture.LEG, mesh, 0.035, {"LeftToe": 0.03}, rounds=6)
    patch = held("Leg.L", (mesh.vertices, mesh.triangles), np.ones(3), weights)
    return Coated(patch, sculpture.LEG, paint.leg, sculpture.LEG, paired=True)


def scarf() -> Coated:
    """Round the neck, tied on one side; its ends lie on the chest."""
    mesh = modelled(sculpture.SCARF, (-0.3, 0.36, -0.3), (0.3, 0.75, 0.34), 0.008, 0.0135)
    neck = ramp(0.595, 0.66, mesh.vertices[:, 1])
    patch = held("Scarf", (mesh.vertices, mesh.triangles), np.ones(3), {"Neck": neck, "Chest": 1 - neck})
    return Coated(patch, sculpture.SCARF, paint.scarf, sculpture.DRESSED, paint.knitted)


def beak() -> list[Patch]:
    """The upper half on the head, the lower with the tongue on the jaw."""
    t = np.linspace(0.0, 1.0, 22)
    result = []
    for name, joint, path, wide, high, shade in (
        ("BeakUpper", "Head", [(0, 0.748, 0.10), (0, 0.782, 0.240), (0, 0.742, 0.322)], 0.064, 0.037, 0.0),
        ("BeakLower", "Jaw", [(0, 0.738, 0.10), (0, 0.730, 0.240), (0, 0.735, 0.290)], 0.054, 0.022, 0.55),
    ):
        base = 0.55 + 0.45 * ramp(0.0, 0.45, t)
        across = wide * base * np.sqrt(np.clip(1 - t**1.9, 0, 1)) + 0.003
        up = high * base * np.sqrt(np.clip(1 - t**2.2, 0, 1)) + 0.002
        vertices = tubes.tube(bezier(path, t), up, across, 28, (0, 1, 0))
        surface = facing_out(vertices, tubes.triangles(len(t), 28))
        colour = mix(paint.PALETTE["beak"], paint.PALETTE["beak_shade"], shade)
        dark = 1 - 0.28 * ramp(0.30, 0.15, vertices[:, 2])
        result.append(held(name, surface, colour * dark[:, None], joint))
    tongue = superellipsoid((0, 0.741, 0.195), (0.034, 0.008, 0.066), 1.0)
    return [*result, held("Tongue", tongue, paint.PALETTE["tongue"], "Jaw")]
