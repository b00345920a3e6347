"""From deltas on the skin, or on single pieces, to shapes of the whole dragon: riders, sides, mirror images.

Teeth ride on the lips they stand behind, horns and spikes on the skin at their base. A shape of a pair is the left half
of what both sides do; the right one is its mirror image to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.cast.dragon.body import Body
from understudy.cast.dragon.measures import SCALE
from understudy.cast.sculpting.ramps import ramp
from understudy.character.layers import SparseShapes
from understudy.checks import Array

FLIP = np.array([-1.0, 1.0, 1.0])
MIDDLE = 0.06  # HL to each side of the midline over which a sided shape fades out
LEAST = 1e-5  # metres; a hundredth of a millimetre on a dragon of 69 centimetres is not seen
HORN_BASE = (0.175, 0.40, -0.16)
RIDERS = 12  # skin vertices that lead a horn or spike


class Whole:
    """Makes (V, 3) deltas of the whole character, in HL, out of those of its skin or of some pieces."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._riders = {tooth.name: tooth.near for tooth in body.teeth}
        for spike in body.spikes:
            self._riders[spike.patch.name] = self._near(spike.base)
        for side, sign in (("L", 1.0), ("R", -1.0)):
            self._riders[f"Horn.{side}"] = self._near(np.array(HORN_BASE) * [sign, 1, 1])

    def _near(self, place: Array) -> Array:
        """The skin vertices nearest to a place, as many on one side as on the other where it lies in the middle."""
        away = np.linalg.norm(self.body.skin.sealed - place, axis=1)
        near = np.argsort(away, kind="stable")[:RIDERS]
        return np.union1d(near, self.body.skin.mirror[near]) if place[0] == 0 else near

    def skin(self, delta: Array, tuck: float = 0.0, bared: float = 0.0) -> Array:
        """(V, 3) of deltas (v, 3) of the skin.

        `tuck` HL draws the teeth in behind lips that close over them, as far as the lip itself moves; `bared` is the
        share of the lip's way up or down that they do not take, since teeth stand in bone.
        """
        result = np.zeros_like(self.body.points)
        result[self.body.pieces["Skin"]] = delta
        for name, near in self._riders.items():
            ride = delta[near].mean(axis=0)
            if name.startswith("Tooth"):
                share = tuck * min(1.0, float(np.linalg.norm(ride)) / 0.03)
                inwards = np.array([0.0, 0.8 if "Upper" in name else -0.8, -0.6])
                ride = ride * [1.0, 1.0 - bared, 1.0] + share * inwards
            result[self.body.pieces[name]] = ride
        return result

    def pieces(self, deltas: Mapping[str, Array]) -> Array:
        """(V, 3) of deltas of single pieces."""
        result = np.zeros_like(self.body.points)
        for name, delta in deltas.items():
            result[self.body.pieces[name]] = delta
        return result

    def mirrored(self, delta: Array) -> Array:
        """(V, 3) seen in a mirror."""
        return np.asarray(delta[self.body.mirror] * FLIP)

    def left(self, skin_delta: Array) -> Array:
        """(v, 3) the left half of a skin's delta; its mirror image adds up to the whole with it."""
        return skin_delta * ramp(-MIDDLE, MIDDLE, self.body.skin.sealed[:, 0])[:, None]

    def pair(self, name: str, left: Array) -> dict[str, Array]:
        """The left shape and its mirror image."""
        return {f"{name}.L": left, f"{name}.R": self.mirrored(left)}

    def centre(self, delta: Array, flips: bool) -> Array:
        """(V, 3) made its own mirror image, or its own negative mirror image, to the last bit."""
        image = self.mirrored(delta)
        return 0.5 * (delta - image) if flips else 0.5 * (delta + image)


def sparse(shapes: Mapping[str, Array]) -> SparseShapes:
    """Metres of deltas (V, 3) in HL, without those that nobody sees."""
    kept = {}
    for name, delta in shapes.items():
        metres = delta * SCALE
        moved = np.flatnonzero(np.linalg.norm(metres, axis=1) >= LEAST)
        kept[name] = (moved, metres[moved])
    return SparseShapes.gathered(kept)
