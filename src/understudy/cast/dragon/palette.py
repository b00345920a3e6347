"""The dragon's colours, sRGB."""

from __future__ import annotations

from understudy.checks import Array
from understudy.maths.colour import from_hex

PALETTE: dict[str, Array] = {
    name: from_hex(code)
    for name, code in {
        "skin": "#D66F52",
        "shade": "#B9543F",
        "warm": "#E79A6A",
        "crown": "#A5402F",
        "nape": "#963A3A",
        "belly": "#E9C48E",
        "scute": "#B8674C",
        "dapple": "#F2B987",
        "blush": "#EE8D7C",
        "freckle": "#A6483A",
        "brow": "#7A2C20",
        "lip": "#8C3A38",
        "mouth": "#7C2739",
        "gum": "#B24A58",
        "socket": "#5E2424",
        "tongue": "#E27C7C",
        "tooth": "#FFF6E2",
        "horn_tip": "#E9C9A0",
        "spike_tip": "#C46A78",
        "membrane": "#E8907A",
        "plinth": "#4A2A44",
        "aubergine": "#5A2E52",
        "lash": "#43203A",
        "iris": "#2AA59A",
        "iris_dark": "#0E4A54",
        "iris_light": "#8FE0C4",
        "limbus": "#0B2A33",
        "pupil": "#140B16",
        "sclera": "#FFF4E0",
        "sclera_edge": "#C99A86",
    }.items()
}
