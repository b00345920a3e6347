"""The pictures of docs/gaze.md: the dragon looks at points, and aside with a blink.

.venv/bin/python tools/gaze_pictures.py
"""

from __future__ import annotations

import numpy as np
from pictures import sheet

from understudy import cast
from understudy.character import rig
from understudy.checks import Array
from understudy.perform.layers.blinks import Blinks
from understudy.perform.layers.gaze import Gaze
from understudy.perform.layers.layer import Layer, LayerContext
from understudy.render import show

RATE = 24
FRONT = {"target": "Head", "zoom": 1.15, "azimuth": 0.0, "elevation": 0.05}
POINTS = {  # metres from between its eyes
    "camera, 2.9 m": (0.0, 0.0, 2.9),
    "to its left": (1.2, 0.0, 1.2),
    "to its right": (-1.2, 0.0, 1.2),
    "up": (0.0, 0.9, 1.2),
    "down": (0.0, -0.9, 1.2),
    "near its nose": (0.0, -0.05, 0.35),
    "behind it": (0.0, 0.0, -2.0),
    "happy, to its left": (1.2, 0.3, 1.2),
    "grumpy, camera": (0.0, 0.0, 2.9),
    "bored, down": (0.0, -0.9, 1.2),
}
ASIDE = (1.4, 0.1, 1.0)
SEED = 1  # whose first jump comes with a blink


def main() -> None:
    played = rig.rig_of(cast.load("dragon").character())
    gaze, blinks = Gaze.from_rig(played), Blinks.from_rig(played)
    assert gaze is not None and blinks is not None
    centre = np.array(gaze.eyes.centre(gaze.eyes.head.evaluate_row(played.rest)))
    faces = cast.poses("dragon", groups=True)
    rows = []
    for name, offset in POINTS.items():
        face = faces.get(name.partition(",")[0], played.rest)
        rows.append(over([gaze], np.tile(face, (2, 1)), [tuple(centre + offset)] * 2, stillness=1.0)[-1])
    sheet(show.RenderTake.from_rows(played, np.array(rows), list(POINTS)), "gaze_points", 150, 5, **FRONT)
    looks = ["camera"] * 30 + [tuple(centre + ASIDE)] * 30
    rows = over([gaze, blinks], np.tile(played.rest, (60, 1)), looks)[28:44]
    captions = [f"{1000 * frame / RATE:.0f} ms" for frame in range(-1, 15)]
    sheet(show.RenderTake.from_rows(played, np.array(rows), captions), "gaze_shift", 150, 8, **FRONT)


def over(layers: list[Layer], rows: Array, looks: list, **dials: float) -> list[Array]:
    """What the layers make of rows (F, C)."""
    states = [layer.init(SEED) for layer in layers]
    result = []
    for frame, (row, look) in enumerate(zip(rows, looks)):
        for number, layer in enumerate(layers):
            states[number], row = layer.step(states[number], row, LayerContext(frame / RATE, 1 / RATE, look, **dials))
        result.append(row)
    return result


if __name__ == "__main__":
    main()
