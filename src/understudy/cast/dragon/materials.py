"""How the dragon's parts answer light, in glTF's terms; `render.surfaces` tells what our own renderer makes of it."""

from __future__ import annotations

from understudy.cast.sculpting.materials import extra
from understudy.character import Material

# skin is less shiny than plastic, and its down catches the light from behind; more of it turns the mouth grey
# roughness itself is in the coat's map, hence the factor 1
SKIN = extra(1.0, specular={"specularFactor": 0.6}, sheen={"sheenColorFactor": [0.2, 0.065, 0.03]})

MATERIALS = {
    "Skin": Material("skin", roughness=1.0, extra=SKIN),
    "Lids": Material("lids", roughness=1.0, double_sided=True, extra=SKIN),
    "Eyes": Material(
        "eyes",
        roughness=0.5,
        # all shine is the tear film's; deep in their sockets, and the shadow that counts is the lid's own strip
        extra=extra(
            0.0,
            False,
            specular={"specularFactor": 0.2},
            clearcoat={"clearcoatFactor": 1.0, "clearcoatRoughnessFactor": 0.04},
        ),
    ),
    "Highlights": Material("highlights", extra=extra(0.0, False, unlit={})),
    "LidShadow": Material("lid shadow", roughness=1.0, alpha_mode="BLEND", extra=extra(0.0, False, unlit={})),
    "Fins": Material(
        "fins",
        roughness=0.55,
        double_sided=True,
        extra=extra(1.0, diffuse_transmission={"diffuseTransmissionFactor": 0.4}),
    ),
    "Horns": Material("horns", roughness=0.42, extra=extra(0.3)),
    "Spikes": Material("spikes", roughness=0.5, extra=extra(0.4)),
    "Teeth": Material("teeth", roughness=0.3, extra=extra(0.3)),
    "Tongue": Material("tongue", roughness=0.35, extra=extra(0.8, clearcoat={"clearcoatFactor": 0.4})),
    "Plinth": Material("plinth", roughness=0.45, extra=extra(0.0)),
}
