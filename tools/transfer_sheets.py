"""Draw a motion and its transfer as a contact sheet: source and target at the same moments.

    tools/transfer_sheets.py dog.bvh husky.glb -o dog.png
    tools/transfer_sheets.py actor penguin.glb --clip happiness -o happiness.png --moments 24

SOURCE and TARGET are files or names of the cast; the target's first clip is the transferred one. Run it with the
environment's Python: .venv/bin/python tools/transfer_sheets.py ...
"""

from __future__ import annotations

from math import radians
from pathlib import Path

import click
import numpy as np

from understudy.checks import Array
from understudy.cli.options import open_input
from understudy.render import contact_sheet, open_renderer, write_png
from understudy.render.show import ViewSettings, cameras_of
from understudy.render.take import RenderTake


@click.command()
@click.argument("source")
@click.argument("target")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A PNG to write.")
@click.option("--clip", help="Which clip of SOURCE; the first by default.")
@click.option("--result", help="Which clip of TARGET; the first by default.")
@click.option("--moments", default=24, show_default=True, help="How many.")
@click.option("--columns", default=8, show_default=True, help="Moments in a row.")
@click.option("--size", default=170, show_default=True, help="Pixels a side of each picture.")
@click.option("--azimuth", default=50.0, show_default=True, help="Degrees; + looks from its left.")
@click.option("--centred", is_flag=True, help="Keep each figure in the middle.")
def main(
    source: str,
    target: str,
    output: Path,
    clip: str | None,
    result: str | None,
    moments: int,
    columns: int,
    size: int,
    azimuth: float,
    centred: bool,
) -> None:
    """Draw SOURCE above TARGET."""
    above = RenderTake.from_asset(open_input(source), clip, bones=not open_input(source).character().parts)
    below = RenderTake.from_asset(open_input(target), result)
    first, last = max(above.times[0], below.times[0]), min(above.times[-1], below.times[-1])
    times = np.linspace(first, last, moments)
    view = ViewSettings((size, size), radians(azimuth), supersample=2, centred=centred)
    rows = [_pictures(take, times, view) for take in (above, below)]
    pictures, captions = [], []
    for start in range(0, moments, columns):
        some = slice(start, start + columns)
        pictures += rows[0][some] + rows[1][some]
        captions += [f"{time:.2f} s" for time in times[some]] + ["" for _ in times[some]]
    title = f"{Path(source).stem}{f' {clip}' if clip else ''} and {Path(target).stem}"
    write_png(output, contact_sheet(pictures, captions, columns, title))


def _pictures(take: RenderTake, times: Array, view: ViewSettings) -> list[Array]:
    cameras, stage = cameras_of(take, view)
    found = []
    with open_renderer(*view.size, view.background, view.backend, view.supersample) as renderer:
        for time in times:
            frame = int(np.argmin(np.abs(take.times - time)))
            drawing = take.draw(frame)
            found.append(
                renderer.draw(
                    cameras[frame], take.surfaces, drawing.vertices, drawing.normals, dots=drawing.dots, stage=stage
                )
            )
    return found


if __name__ == "__main__":
    main()
