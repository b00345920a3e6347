"""A face with few controls, to try dope sheets on."""

from __future__ import annotations

import numpy as np

from understudy.character.controls import Controls

# name: low, rest, high, and whether a mirror turns its sign; * stands for both sides
TABLE = {
    "eyes.x": (-35, 0, 35, True),
    "eyes.y": (-25, 0, 25, False),
    "eyes.pupil*": (0.5, 1, 1.4, False),
    "lids.upper*": (-70, 0, 20, False),
    "lids.tilt*": (-25, 0, 25, False),
    "lids.blink*": (0, 0, 1, False),
    "brows.raise*": (0, 0, 1.4, False),
    "brows.lower*": (0, 0, 1.4, False),
    "head.nod": (-35, 0, 35, False),
    "head.turn": (-55, 0, 55, True),
    "head.roll": (-32, 0, 32, True),
    "neck.lean": (-22, 0, 22, False),
    "neck.breath": (-0.5, 0, 1.5, False),
    "mouth.smile*": (-0.6, 0, 1.3, False),
    "mouth.frown*": (0, 0, 1.5, False),
    "mouth.o": (0, 0, 1.2, False),
    "tongue.out": (0, 0, 1, False),
    "lattice.mouth_tip_in_y*": (-1, 0, 1, False),
}


def small_face() -> Controls:
    rows = [(name.replace("*", side), row) for name, row in TABLE.items() for side in _sides(name)]
    names = [name for name, _ in rows]
    low, rest, high, odd = (np.array([row[i] for _, row in rows]) for i in range(4))
    regions = [name.partition(".")[0] for name in names]
    layers = ["lattice" if region == "lattice" else "coarse" for region in regions]
    return Controls(names, regions, layers, ["weight"] * len(names), low, rest, high, odd.astype(bool))


def _sides(name: str) -> tuple[str, ...]:
    return (".L", ".R") if name.endswith("*") else ("",)
