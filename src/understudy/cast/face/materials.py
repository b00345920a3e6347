"""How the face's parts answer light, in glTF's terms; `render.surfaces` tells what our own renderer makes of it."""

from __future__ import annotations

from understudy.cast.sculpting.materials import extra
from understudy.character import Material

SKIN = extra(1.0, specular={"specularFactor": 0.55}, sheen={"sheenColorFactor": [0.14, 0.07, 0.05]})

MATERIALS = {
    "Skin": Material("skin", roughness=1.0, extra=SKIN),  # roughness itself is in the coat's map
    "Lids": Material("lids", roughness=0.6, double_sided=True, extra=SKIN),
    "Hairs": Material("brows and lashes", roughness=0.55, extra=extra(0.2, False)),
    "Eyes": Material(
        "eyes",
        roughness=0.5,
        # all shine is the tear film's, and the shadow that counts is the lid's own strip
        extra=extra(
            0.0,
            False,
            specular={"specularFactor": 0.2},
            clearcoat={"clearcoatFactor": 1.0, "clearcoatRoughnessFactor": 0.04},
        ),
    ),
    "LidShadow": Material("lid shadow", roughness=1.0, alpha_mode="BLEND", extra=extra(0.0, False, unlit={})),
    "Teeth": Material("teeth", roughness=0.3, emissive=(0.06, 0.056, 0.05), extra=extra(0.5, False)),
    "Tongue": Material("tongue", roughness=0.35, extra=extra(0.8, clearcoat={"clearcoatFactor": 0.4})),
    "Highlights": Material("highlights", extra=extra(0.0, False, unlit={})),
    "Hair": Material("hair", roughness=0.42, extra=extra(0.25)),
    "Shirt": Material("shirt", roughness=0.85, extra=extra(0.3, sheen={"sheenColorFactor": [0.05, 0.10, 0.10]})),
}
