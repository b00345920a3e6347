"""The coarse layer: one shape for each coarse control that is not made by joints alone, and the correctives."""

from __future__ import annotations

from understudy.cast.dragon import coarse_face, coarse_mouth, coarse_parts
from understudy.cast.dragon.body import Body
from understudy.cast.dragon.controls import dragon_controls
from understudy.cast.dragon.places import Places
from understudy.cast.dragon.whole import Whole
from understudy.checks import Array

TUCKED = {
    "mouth.purse": 0.040,
    "mouth.pout": 0.030,
    "mouth.funnel": 0.014,
    "mouth.o": 0.012,
    "mouth.narrow": 0.012,
    "mouth.press": 0.010,
}
"""HL by which shapes draw the teeth in behind the lips."""
BARED = {"mouth.sneer": 0.45, "mouth.upper_up": 0.45, "mouth.lower_down": 0.4}
"""Shares of a lip's way that its teeth do not take: they are bared."""
MIDDLE = ("neck.swallow_high",)  # correctives, which no control is named after, that are not sided


def shapes(body: Body, places: Places) -> dict[str, Array]:
    """Shape -> (V, 3) deltas of the whole character in HL; sides written out."""
    whole, controls = Whole(body), dragon_controls()
    on_skin = {**coarse_mouth.shapes(places), **coarse_mouth.open_shapes(places), **coarse_face.shapes(places)}
    result: dict[str, Array] = {}
    for name, delta in on_skin.items():
        if name in controls or name in MIDDLE:
            flips = name in controls and bool(controls.odd[controls.index(name)])
            result[name] = whole.centre(whole.skin(delta, TUCKED.get(name, 0.0), BARED.get(name, 0.0)), flips)
        else:
            result |= whole.pair(name, whole.skin(whole.left(delta), TUCKED.get(name, 0.0), BARED.get(name, 0.0)))
    for name, pieces in coarse_parts.shapes(body).items():
        delta = whole.pieces(pieces)
        result |= {name: whole.centre(delta, False)} if name in controls else whole.pair(name, delta)
    return result
