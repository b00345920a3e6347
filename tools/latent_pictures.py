"""The pictures of latent spaces in docs/images: one label with a path through it, its bridges, and all labels.

    .venv/bin/understudy learn dragon -o out/dragon.understudy
    .venv/bin/python tools/latent_pictures.py out/dragon.understudy [LABEL]

They are stored with few colours, which takes a third of the space and is hardly visible.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image
from tools.latent import picture
from tools.latent.overview import draw_overview

from understudy import cast
from understudy.character import rig
from understudy.checks import Array
from understudy.files import write_atomically
from understudy.perform.commands import GoTo, Idle
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.performer import Performer

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
VIEW = picture.LatentView(size=(680, 524))
SECONDS = 4.0  # for each thing that the performance does
COLOURS = 96  # of each kind
COLOURFUL = 50  # of 255, between the strongest and the weakest of red, green and blue


def way(model: PerformanceModel, label: str) -> Array:
    """(F, Q) a particle that goes from the middle of one clip to that of another, idles, and goes on to a third."""
    space = model.space(label)
    performer = Performer(model, rig.rig_of(cast.load(model.cast).character()), layers=False)
    middles = [f"{s.clip}@{0.5 * (len(s) - 1) / space.rate}" for s in space.segments[:3]]
    state = performer.init(label, middles[0])
    places = [state.sources[0].x]
    for command in (GoTo(middles[1]), Idle(), GoTo(middles[-1]), Idle()):
        state, _ = performer.step(state, command)
        places.append(state.sources[0].x)
        for _ in range(round(SECONDS * performer.rate)):
            if isinstance(command, GoTo) and performer.is_done(state):
                break
            state, _ = performer.step(state)
            places.append(state.sources[0].x)
    return np.array(places)


def shrink(path: Path) -> None:
    """The same picture with few colours, as many for what is colourful, a small part of it, as for all else."""
    with Image.open(path) as image:
        whole = image.convert("RGB")
    pixels = np.array(whole).reshape(-1, 3)
    colourful = np.ptp(pixels.astype(int), axis=1) > COLOURFUL
    chosen = []
    for own in (pixels[colourful], pixels[~colourful]):
        strip = Image.fromarray(own[None]).quantize(COLOURS, Image.Quantize.MEDIANCUT, kmeans=2)
        chosen += strip.getpalette()[: 3 * COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette(chosen)
    with write_atomically(path) as temporary:
        whole.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(temporary, format="PNG", optimize=True)


def main(source: str, label: str = "happy") -> None:
    model = PerformanceModel.load(source)
    space = model.space(label)
    pictures = {name: IMAGES / f"latent_{name}.png" for name in ("space", "bridges", "overview")}
    picture.draw_latent_space(space, pictures["space"], trails={"a performance": way(model, label)}, view=VIEW)
    picture.draw_latent_space(
        space, pictures["bridges"], model.bridges, view=VIEW, title=f"{label}, and the ways out of it"
    )
    draw_overview(model.spaces, model.bridges, pictures["overview"], f"the {model.cast or 'character'}")
    for path in pictures.values():
        shrink(path)
        sys.stdout.write(f"{path.name}: {path.stat().st_size / 1000:.0f} KB\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
