"""A contact sheet of a transfer: the actor above, the character below, at the same moments.

.venv/bin/python tools/transfer_pictures.py MOTION TRANSFERRED SHEET.png [CLIP [PICTURES]]
"""

from __future__ import annotations

import sys
from math import radians
from pathlib import Path

import numpy as np

from understudy import formats
from understudy.character import Asset
from understudy.checks import Array
from understudy.cli.options import open_input
from understudy.render import show
from understudy.render.picture import contact_sheet, write_png
from understudy.render.renderer import open_renderer

SIZE = (240, 220)
COLUMNS = 8
RATE = 24.0  # frames a second that moments are rounded to


def pictures(asset: Asset, clip: str | None, moments: Array, azimuth: float = 35.0) -> list[Array]:
    """What an animation shows at some moments, shares of its length, each in the middle of its picture."""
    take = show.Take.of(asset, clip, rate=RATE)
    cameras, stage = show.cameras_of(take, show.View(SIZE, radians(azimuth), radians(10), "warm", follow=True))
    found = []
    with open_renderer(*SIZE, "warm", supersample=2) as renderer:
        for frame in np.rint(np.asarray(moments) * (len(take) - 1)).astype(int):
            drawn = take.draw(int(frame))
            found.append(
                renderer.draw(
                    cameras[frame], take.surfaces, drawn.vertices, drawn.normals, dots=drawn.dots, stage=stage
                )
            )
    return found


def sheet(motion: str, transferred: str, clip: str | None, count: int) -> Array:
    """Rows of the actor and, below each, of the character."""
    actor, character = open_input(motion), formats.read(transferred)
    # the first frame of a captured file is often no part of the motion
    moments = np.linspace(0.02, 1.0, count)
    above, below = pictures(actor, clip, moments), pictures(character, clip, moments)
    length = character.animation(clip).duration
    ordered, words = [], []
    for start in range(0, count, COLUMNS):
        row = slice(start, start + COLUMNS)
        ordered += above[row] + below[row]
        words += [f"{length * moment:.2f} s" for moment in moments[row]] + [""] * len(moments[row])
    return contact_sheet(ordered, words, COLUMNS, f"{Path(motion).stem} {clip or ''}: {Path(transferred).stem}")


def main() -> None:
    """Write one."""
    motion, transferred, output, *more = sys.argv[1:]
    clip = more[0] if more and more[0] else None
    write_png(output, sheet(motion, transferred, clip, int(more[1]) if len(more) > 1 else 2 * COLUMNS))


if __name__ == "__main__":
    main()
