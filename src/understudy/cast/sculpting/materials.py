"""How the bodies' parts answer light, in glTF's terms; `render.surfaces` tells what our own renderer makes of it."""

from __future__ import annotations

from typing import Any

from understudy.character import Material


def extra(softness: float, casts_shadow: bool = True, **extensions: dict[str, Any]) -> dict[str, Any]:
    """Extensions by the end of their names, and what glTF has no extension for."""
    extras: dict[str, Any] = {"softness": softness}
    if not casts_shadow:
        extras["casts_shadow"] = False
    return {"extensions": {f"KHR_materials_{name}": value for name, value in extensions.items()}, "extras": extras}


WET = {"clearcoatFactor": 1.0, "clearcoatRoughnessFactor": 0.04}

# of the eyes of every body
EYES = {
    "Lids": Material("lids", roughness=0.6, double_sided=True, extra=extra(0.8)),
    "Eyes": Material(
        "eyes",
        roughness=0.5,
        # all shine is the tear film's, and the shadow that counts is the lid's own strip
        extra=extra(0.0, False, specular={"specularFactor": 0.2}, clearcoat=WET),
    ),
    "LidShadow": Material("lid shadow", roughness=1.0, alpha_mode="BLEND", extra=extra(0.0, False, unlit={})),
    "Highlights": Material("highlights", extra=extra(0.0, False, unlit={})),
}
