"""The actor's brows and mouth, which lie on the skin, and the shapes that make them act.

The mouth is a lens between two curves, y = c + l (x/w)^2 +- h sqrt(1 - (x/w)^2): a thin line at rest, with teeth and
dark that come out of the skin when it opens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from understudy.cast.actor.paint import PALETTE
from understudy.cast.actor.sculpture import BODY
from understudy.cast.sculpting.fields import unit_gradient
from understudy.cast.sculpting.lines import DEPTH, line
from understudy.cast.sculpting.patches import Patch, facing_out, grid, held, pair
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array
from understudy.maths.colour import from_hex

Curve = Sequence[tuple[float, float]]
FLIP = np.array([-1.0, 1.0, 1.0])

BROW: Curve = ((0.034, 1.886), (0.062, 1.910), (0.094, 1.908), (0.120, 1.882))
BROWS: dict[str, Curve] = {
    "browDown": ((0.028, 1.868), (0.058, 1.884), (0.094, 1.898), (0.120, 1.882)),
    "browOuterUp": ((0.034, 1.896), (0.062, 1.926), (0.096, 1.930), (0.122, 1.902)),
}
BROW_INNER_UP: Curve = ((0.032, 1.916), (0.060, 1.918), (0.094, 1.900), (0.120, 1.872))
BROAD = 0.0105  # metres: half a brow's breadth


class Mouth(NamedTuple):
    """Half its width, the height of its middle, how much higher its corners are; how far it opens up and down."""

    wide: float = 0.049
    middle: float = 1.708
    corners: float = 0.011
    up: float = 0.0
    down: float = 0.0


REST = Mouth()
SIDED = {
    "mouthSmile": Mouth(wide=0.066, middle=1.704, corners=0.032),
    "mouthFrown": Mouth(wide=0.048, middle=1.722, corners=-0.022),
}
WHOLE = {
    "jawOpen": Mouth(wide=0.045, middle=1.716, corners=0.008, up=0.010, down=0.046),
    "mouthFunnel": Mouth(wide=0.024, middle=1.712, corners=0.0, up=0.016, down=0.020),
    "mouthStretch": Mouth(wide=0.066, middle=1.712, corners=0.004, up=0.006, down=0.016),
}
COLUMNS = 25
LINE = 0.0048  # metres: half the thickness of the closed mouth
# Of the opening, from the upper rim to the lower: three rows a lip, two of teeth, the dark and the tongue between; and
# how far each is raised over the skin. Closed, all between the lips lies within.
OPEN = np.array([1.0, 0.90, 0.86, 0.84, 0.42, 0.34, -0.45, -0.86, -0.90, -1.0])
OPEN_RAISED = 1e-4 * np.array([4.0, 30.0, 12.0, 10.0, 10.0, 6.0, 6.0, 12.0, 26.0, 4.0])
CLOSED = np.array([1.0, 0.60, 0.03, 0.02, 0.01, 0.0, -0.01, -0.03, -0.60, -1.0])
CLOSED_RAISED = 1e-4 * np.array([4.0, 28.0, 14.0, -40.0, -40.0, -40.0, -40.0, 14.0, 28.0, 4.0])
TEETH, DARK, TONGUE = from_hex("#FFF7E8"), from_hex("#4A1520"), from_hex("#C4605C")


def brows() -> list[Patch]:
    """Both."""
    return list(pair(held("Brow.L", line(BODY, BROW, BROAD, 0.003), PALETTE["hair"], "Head")))


def mouth() -> Patch:
    """At rest."""
    lip = PALETTE["mouth"]
    rows = np.stack([lip, lip, lip, TEETH, TEETH, DARK, TONGUE, lip, lip, lip])
    colours = np.repeat(rows[None], COLUMNS, axis=0).reshape(-1, 3)
    surface = facing_out(_places(REST), grid(COLUMNS, len(OPEN)), (0.0, 1.72, 0.0))
    return held("Mouth", surface, colours, "Head")


def _places(own: Mouth) -> Array:
    """(COLUMNS rows, 3) column by column."""
    s = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, COLUMNS))  # x / w: more columns where it curves most
    round_off = np.sqrt(np.clip(1 - s * s, 0.0, 1.0))[:, None]
    shown = ramp(0.0, 0.008, own.up + own.down)
    rows, raised = CLOSED + shown * (OPEN - CLOSED), CLOSED_RAISED + shown * (OPEN_RAISED - CLOSED_RAISED)
    high = LINE * (0.35 + 0.65 * round_off) + round_off * np.where(OPEN > 0, own.up, own.down)
    y = own.middle + own.corners * (s * s)[:, None] + high * rows
    x = np.broadcast_to((own.wide * s)[:, None], y.shape)
    skin = BODY.on_front(np.stack([x, y], axis=-1).reshape(-1, 2), *DEPTH)
    return np.asarray(skin + np.tile(raised, COLUMNS)[:, None] * unit_gradient(skin, BODY))


def shapes() -> dict[str, dict[str, Array]]:
    """Shape, named as ARKit names it, -> patch -> (V, 3)."""
    brow = line(BODY, BROW, BROAD, 0.003)[0]
    result: dict[str, dict[str, Array]] = {}
    for name, curve in BROWS.items():
        moved = line(BODY, curve, BROAD, 0.003)[0] - brow
        result[f"{name}Left"], result[f"{name}Right"] = {"Brow.L": moved}, {"Brow.R": moved * FLIP}
    raised = line(BODY, BROW_INNER_UP, BROAD, 0.003)[0] - brow
    result["browInnerUp"] = {"Brow.L": raised, "Brow.R": raised * FLIP}
    rest = _places(REST)
    left = ramp(-0.02, 0.02, rest[:, 0])[:, None]
    for name, own in SIDED.items():
        moved = _places(own) - rest
        result[f"{name}Left"], result[f"{name}Right"] = {"Mouth": left * moved}, {"Mouth": (1 - left) * moved}
    return result | {name: {"Mouth": _places(own) - rest} for name, own in WHOLE.items()}
