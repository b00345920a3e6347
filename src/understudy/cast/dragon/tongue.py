"""The tongue: a flattened sweep with a shallow groove, bent by four joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.cast.dragon.measures import JOINTS
from understudy.cast.dragon.palette import PALETTE
from understudy.cast.sculpting.patches import Patch, bezier, midline, mix, sweep
from understudy.cast.sculpting.ramps import ramp
from understudy.checks import Array

PATH = ((0, -0.235, -0.045), (0, -0.160, 0.13), (0, -0.205, 0.30), (0, -0.190, 0.425))
WIDTH, FLAT = 0.112, 0.28  # half the width, and the height as a share of it
WIDEST = 0.52  # along it
RINGS, SIDES = 22, 20


@dataclass(frozen=True, eq=False)
class Tongue:
    """The tongue and each vertex's place along it."""

    patch: Patch
    along: Array  # (V,) 0 at the root to 1 at the tip


def tongue() -> Tongue:
    """Made at rest in the closed mouth."""
    # rings crowd towards the tip, which is a half-ellipse: even steps would cut it off square
    t = 1 - (1 - np.linspace(0.0, 1.0, RINGS)) ** 1.7
    path = bezier(PATH, t)
    body = 0.55 + 0.45 * ramp(-0.1, WIDEST, t)
    tip = np.sqrt(np.clip(1 - (np.clip(t - WIDEST, 0, 1) / (1.0005 - WIDEST)) ** 2.3, 0.0, 1.0))
    radii = WIDTH * np.where(t < WIDEST, body, tip) + 0.0015
    vertices, triangles = sweep(path, radii, SIDES, half=True)
    columns = SIDES // 2 + 1
    along = np.append(np.repeat(t, columns), 1.0)
    middle = np.concatenate([np.repeat(path, columns, axis=0), vertices[-1:]])[:, 1]
    top = vertices[:, 1] > middle
    vertices[:, 1] = middle + FLAT * (vertices[:, 1] - middle)
    vertices[:, 1] -= 0.007 * np.exp(-((vertices[:, 0] / 0.022) ** 2)) * ramp(1.0, 0.6, along) * top
    groove = np.exp(-((vertices[:, 0] / 0.018) ** 2)) * top * ramp(1.0, 0.7, along)
    colours = mix(PALETTE["tongue"], 0.72 * PALETTE["tongue"], 0.5 * groove)
    colours = mix(colours, 0.7 * PALETTE["mouth"], ramp(0.50, 0.12, along))
    patch = midline("Tongue", (vertices, triangles), colours, _hold(vertices[:, 2]))
    mirrored_along = np.concatenate([along, along[patch.twin[len(along) :]]])
    return Tongue(patch, mirrored_along)


def _hold(z: Array) -> dict[str, Array]:
    """Partition of unity over Jaw, Tongue1 .. Tongue4: each takes over around its own place."""
    names = ("Tongue1", "Tongue2", "Tongue3", "Tongue4")
    taken = np.cumprod(
        [np.ones_like(z), *(ramp(JOINTS[n][1][2] - 0.05, JOINTS[n][1][2] + 0.05, z) for n in names), 0 * z], axis=0
    )
    return {name: taken[i] - taken[i + 1] for i, name in enumerate(("Jaw", *names))}
