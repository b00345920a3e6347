"""The pictures of motion curves in docs/images: the lamp's hop, by past and future and by speed.

.venv/bin/python tools/trail_pictures.py
"""

from __future__ import annotations

from math import radians
from pathlib import Path

import numpy as np
from PIL import Image

from understudy import cast
from understudy.checks import Array
from understudy.files import write_atomically
from understudy.render import show
from understudy.render import trail as trails
from understudy.render.overlay import Overlay
from understudy.render.renderer import open_renderer
from understudy.render.trail_drawing import TrailStyle, draw_trails

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = (640, 560)
MOMENT = 3.1  # seconds: the lamp is in the air
LOOKS = (("warm", TrailStyle(around=1.3)), ("studio", TrailStyle("speed", around=1.3, axes=4, reach=0.05, keys=False)))


def pictures() -> list[Array]:
    """The same moment twice."""
    take = show.RenderTake.from_asset(cast.load("lamp"), "hop")
    trail = trails.trail_of_take(take, "Head")
    frame = int(np.argmin(np.abs(take.times - MOMENT)))
    found = []
    for background, style in LOOKS:
        view = show.ViewSettings(SIZE, radians(62), radians(8), background, follow=False, supersample=2)
        cameras, stage = show.cameras_of(take, view)
        with open_renderer(*SIZE, background, supersample=2) as renderer:
            drawing = take.draw(frame)
            shown = renderer.draw(cameras[frame], take.surfaces, drawing.vertices, drawing.normals, stage=stage)
            canvas = Overlay(shown)
            draw_trails(
                canvas, cameras[frame], [trail], float(take.times[frame]), style, background, renderer.distances
            )
            found.append(canvas.picture)
    return found


def main() -> None:
    """Write them side by side."""
    sheet = np.concatenate(pictures(), axis=1)
    with write_atomically(IMAGES / "trails.jpg") as temporary:
        Image.fromarray(sheet).save(temporary, format="JPEG", quality=88)


if __name__ == "__main__":
    main()
