"""The skin at rest: sealed lips, the jaw's and the neck's hold on it, and the places in which shapes are written.

The jaw takes hold below the lips' line, at once between the lips and softly beyond the corner. Along the lips it takes

    w = 1/2 + (low - 1/2) e,   e = (1 - (x / x_corner)^2)^0.45,

so that the open mouth is an ellipse and not a letterbox.
"""

from __future__ import annotations

import numpy as np

from understudy.cast.dragon.body import SkinSurface
from understudy.cast.dragon.places import Places
from understudy.cast.face import meshing, sculpt
from understudy.cast.face.measures import CORNER_X, EYE, LIP_Y, ramp
from understudy.cast.sculpting.smoothing import average, smoothed
from understudy.checks import Array

SEAL = 0.0066  # each lip goes so far to the line: a little beyond, or teeth flash in every one-sided shape
MIDDLE = 0.045  # to each side of the midline, over which a sided shape fades out
NECK = (-0.70, -0.40)  # y: from the neck's joint alone to the head's alone


class FacePlaces(Places):
    """The places of the face's skin: the coordinates of the dragon's that a face has too, and its own lips."""

    def __init__(self, skin: SkinSurface) -> None:
        super().__init__(skin)
        self.eye = np.linalg.norm(self.folded - EYE, axis=1)
        self.jaw = skin.jaw
        self.lower_half = _low(skin.unsealed, skin.sheet)
        x, z = self.folded[:, 0], self.folded[:, 2]
        band = ramp(0.045, 0.010, np.abs(self.height)) * ramp(0.20, 0.26, z)
        self.lips = band * ramp(CORNER_X + 0.03, CORNER_X - 0.02, x)
        # how far from the line in what is seen of a lip: at the line itself shapes that thin or swell must not move it
        self.fullness = np.sign(self.height) * np.maximum(np.abs(self.height) - 0.009, 0.0)
        self.arch = np.sqrt(np.clip(1 - (x / (CORNER_X + 0.002)) ** 2, 0, 1))
        self.left = ramp(-MIDDLE, MIDDLE, self.points[:, 0])


def surface() -> tuple[SkinSurface, dict[str, Array]]:
    """The skin, and its hold on the joints."""
    mesh = meshing.skin()
    p = mesh.vertices
    depth, line = sculpt.distance(p, "closed"), sculpt.lip_line(p)
    mean = average(mesh.triangles, len(p))
    jaw = _jaw(p, line, mean)
    jaw = 0.5 * (jaw + jaw[mesh.mirror])
    x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
    above = y - line
    close = SEAL * ramp(0.06, 0.012, np.abs(above)) * ramp(CORNER_X + 0.012, CORNER_X - 0.004, x) * ramp(0.20, 0.24, z)
    sealed = p.copy()
    sealed[:, 1] -= np.sign(above) * close
    head = ramp(*NECK, y)
    hold = {"Root": (1 - head) * ramp(-0.62, -0.80, y), "Neck": (1 - head) * ramp(-0.80, -0.62, y)}
    hold |= {"Head": head * (1 - jaw), "Jaw": head * jaw}
    return SkinSurface(p, sealed, mesh.triangles, mesh.mirror, depth, line, jaw, mean), hold


def _low(p: Array, line: Array) -> Array:
    """(V,) 0 above the lips' line, 1 below; sharp only along the slit."""
    x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
    width = 0.005 + 0.85 * np.clip(x - (CORNER_X - 0.004), 0, 1) + 0.35 * np.clip(0.21 - z, 0, 1)
    return ramp(-1.0, 1.0, (np.where(x > CORNER_X, LIP_Y + 0.016, line) - y) / width)


def _jaw(p: Array, line: Array, mean: object) -> Array:
    """(V,) how much each vertex follows the jaw."""
    x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
    low = _low(p, line)
    e = np.sqrt(np.clip(1 - (x / (CORNER_X + 0.003)) ** 2, 0, 1)) ** 0.9
    e = e + (1 - e) * ramp(0.02, 0.11, np.abs(y - line))
    share = np.where(x < CORNER_X + 0.003, 0.5 + (low - 0.5) * e, low)
    share = share * ramp(-0.13, 0.10, z) * ramp(-0.60, -0.40, y - 0.30 * np.clip(z, -0.2, 0.3))
    return smoothed(share, mean, 22, (np.abs(y - line) < 0.03) & (x < CORNER_X - 0.012) & (z > 0.22))
