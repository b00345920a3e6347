"""The coarse layer: one shape for each coarse control that is not made by joints alone, and the correctives."""

from __future__ import annotations

from understudy.cast.dragon import coarse_face, coarse_mouth, coarse_parts
from understudy.cast.dragon.body import Body
from understudy.cast.dragon.carried import Carried
from understudy.cast.dragon.controls import dragon_controls
from understudy.cast.dragon.places import Places
from understudy.cast.dragon.unfold import unfolded
from understudy.cast.dragon.whole import Whole
from understudy.character.controls import Controls
from understudy.checks import Array

TUCKED = {
    "mouth.purse": 0.040,
    "mouth.pout": 0.030,
    "mouth.funnel": 0.030,
    "mouth.o": 0.045,
    "mouth.o_open": 0.020,
    "mouth.narrow": 0.012,
    "mouth.press": 0.010,
}
"""HL by which shapes draw the teeth in behind the lips."""
BARED = {"mouth.sneer": 0.45, "mouth.upper_up": 0.45, "mouth.lower_down": 0.4}
"""Shares of a lip's way that its teeth do not take: they are bared."""
CORRECTIVES = (  # shapes that no control is named after
    *(
        f"{name}.{side}"
        for name in ("mouth.o_open", "mouth.smile_open", "mouth.frown_open", "nose.snarl")
        for side in "LR"
    ),
    "neck.swallow_high",
)
MENDED = ("jaw.side", "jaw.roll", "jaw.forward")  # bones that would fold the mouth's lining


def shapes(body: Body, places: Places) -> dict[str, Array]:
    """Shape -> (V, 3) deltas of the whole character in HL; sides written out."""
    whole, controls = Whole(body), dragon_controls()
    carried = Carried(body, controls, (*controls.names, *CORRECTIVES))
    on_skin = {**coarse_mouth.shapes(places), **coarse_mouth.correctives(places), **coarse_face.shapes(places)}
    result: dict[str, Array] = {}
    for name, both_sides in on_skin.items():
        sided = f"{name}.L" in controls or f"{name}.L" in CORRECTIVES
        own = f"{name}.L" if sided else name
        delta = whole.left(both_sides) if sided else both_sides
        delta = unfolded(places, delta, _ends(controls, own), carried.by(own))
        moved = whole.skin(delta, TUCKED.get(name, 0.0), BARED.get(name, 0.0))
        result |= whole.pair(name, moved) if sided else {name: whole.centre(moved, _flips(controls, name))}
    for name in MENDED:
        result[name] = whole.centre(whole.skin(_mended(places, carried, controls, name)), _flips(controls, name))
    for name, pieces in coarse_parts.shapes(body).items():
        delta = whole.pieces(pieces)
        result |= {name: whole.centre(delta, False)} if name in controls else whole.pair(name, delta)
    return result


def _ends(controls: Controls, name: str) -> tuple[float, ...]:
    """How far from rest the control of a shape goes; a corrective is used as it was made."""
    if name not in controls:
        return (1.0,)
    number = controls.index(name)
    ends = (controls.low[number], controls.high[number])
    return tuple(float(end - controls.rest[number]) for end in ends if end != controls.rest[number])


def _flips(controls: Controls, name: str) -> bool:
    return name in controls and bool(controls.odd[controls.index(name)])


def _mended(places: Places, carried: Carried, controls: Controls, name: str) -> Array:
    """(v, 3) what has to be added to the jaw's motion at the end of its range so that nothing folds."""
    swung = carried.of_jaw(name, float(controls.high[controls.index(name)]))
    return unfolded(places, swung, (1.0, -1.0)) - swung
