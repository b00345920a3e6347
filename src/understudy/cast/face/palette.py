"""The face's colours, sRGB. Light brightens a lot: they are a quarter darker than what is meant to be seen."""

from __future__ import annotations

from understudy.checks import Array
from understudy.maths.colour import from_hex

PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "skin": "#C98266",
        "shade": "#A75D45",
        "warm": "#D9986F",
        "light": "#E7B184",
        "blush": "#D9644F",
        "freckle": "#8C4A34",
        "lip": "#B2604F",
        "lip_light": "#DC9480",
        "lip_line": "#8A3A36",
        "lip_inside": "#8E3B3C",
        "mouth": "#6A2230",
        "gum": "#B5525A",
        "tongue": "#DE7C78",
        "tooth": "#FFF7E8",
        "tooth_back": "#E9C9B8",
        "nostril": "#4A1C20",
        "socket": "#8A4A38",
        "sclera": "#FFF6EA",
        "sclera_edge": "#D9B3A2",
        "iris": "#A8652E",
        "iris_dark": "#4A2412",
        "iris_light": "#E8B060",
        "limbus": "#2A1410",
        "pupil": "#150B10",
        "lash": "#3A1E2A",
        "brow": "#4A2836",
        "hair": "#40232F",
        "hair_light": "#733A46",
        "shirt": "#1F807E",
        "shirt_dark": "#155C63",
    }.items()
}
