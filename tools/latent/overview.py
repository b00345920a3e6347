"""All label spaces of a model on one sheet: each a medallion on a ring, the bridges between them bands with counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tools.latent import picture as parts
from tools.latent.picture import LatentAxes, LatentSpaceView, LatentView, draw_items, label_colours, shades

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths.colour import from_hex
from understudy.render.picture import SHEET_THEMES, SheetTheme, fit_text, font, write_png
from understudy.render.renderer import open_renderer

RING_PIXELS, TITLE_PIXELS = 1000, 86  # pixels: the ring's square, and the title above it
BAND_SUPERSAMPLING = 2  # bands are drawn so many times larger and made smaller
MEDALLION_CELLS = 26  # cells of a medallion's density: it is small
BAND_STEPS = 48  # pieces of a band, each of one colour


def draw_overview(
    spaces: Mapping[str, LatentSpaceView],
    bridges: Sequence[Any],
    path: str | Path,
    title: str = "pose spaces",
    view: LatentView | None = None,
) -> str:
    """The sheet as PNG; returns what is shown, in words. `model.spaces` and `model.bridges` are what it takes.

    A band is as wide as its bridges are many; where there are none but the one that is wider than a blend should be, it
    is a thin broken line.
    """
    view = view or LatentView()
    if Path(path).suffix.lower() != ".png":
        raise InvalidInput(f"{path}: a picture of latent spaces should end in .png")
    if not spaces:
        raise InvalidInput("an overview needs at least one pose space")
    colours = label_colours(spaces)
    places, radius = _ring(len(spaces))
    where = dict(zip(spaces, places))
    theme = SHEET_THEMES["dark" if view.background == "studio" else "light"]
    shown = [found for found in bridges if found.first in where and found.second in where and len(found)]
    sheet = _bands(shown, where, radius, colours, theme)
    for label, medallion in zip(spaces, _medallions(spaces, colours, 2 * radius, view)):
        x, y = where[label]
        sheet.paste(medallion, (round(x - radius), round(y - radius)), _disc(2 * radius))
    frames = sum(len(space.latents) for space in spaces.values())
    said = f"{len(spaces)} labels, {frames:,} frames, {sum(map(len, shown)):,} bridges"
    _words(sheet, spaces, where, radius, colours, (title, said), theme)
    write_png(path, np.array(sheet))
    return said


def _ring(count: int) -> tuple[Array, int]:
    """Centres (count, 2) in pixels, the first at the top and on clockwise, and a radius that keeps them apart."""
    middle = np.array([0.5 * RING_PIXELS, TITLE_PIXELS + 0.5 * RING_PIXELS])
    if count == 1:
        return middle[None], round(0.3 * RING_PIXELS)
    angle = 2 * np.pi * np.arange(count) / count
    ring = 0.345 * RING_PIXELS
    places = middle + ring * np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    return places, int(min(0.1 * RING_PIXELS, 0.72 * ring * np.sin(np.pi / count)))


def _medallions(
    spaces: Mapping[str, LatentSpaceView], colours: Mapping[str, str], side: int, view: LatentView
) -> list[Any]:
    """A square picture of each space, its clips in shades of its label's colour."""
    from PIL import Image

    found = []
    with open_renderer(side, side, view.background, view.backend, view.supersample) as renderer:
        for label, space in spaces.items():
            axes = LatentAxes.from_latents(space.latents)
            own = shades(colours[label], len(space.segments))
            things, _ = parts.clip_items(space, axes, own, 1.6 * parts.CLIP_RADIUS_RATIO)
            shell = parts.density_shell(space, axes, colours[label], MEDALLION_CELLS) if view.density else None
            _, drawn = draw_items(renderer, things + ([] if shell is None else [shell]), *view.angles[0], 0.2)
            found.append(Image.fromarray(drawn))
    return found


def _disc(side: int) -> Any:
    """A mask that cuts a round picture out of a square one, with a soft edge."""
    from PIL import Image, ImageDraw

    mask = Image.new("L", (4 * side, 4 * side))
    ImageDraw.Draw(mask).ellipse([0, 0, 4 * side - 1, 4 * side - 1], 255)
    return mask.resize((side, side), Image.Resampling.LANCZOS)


def _bands(
    bridges: Sequence[Any], where: Mapping[str, Array], radius: int, colours: Mapping[str, str], theme: SheetTheme
) -> Any:
    """The paper with a band for each pair of labels, from the one's colour to the other's, and its count on it."""
    from PIL import Image, ImageDraw

    size = (RING_PIXELS, TITLE_PIXELS + RING_PIXELS)
    sheet = Image.new("RGB", (BAND_SUPERSAMPLING * size[0], BAND_SUPERSAMPLING * size[1]), theme.paper)
    pen = ImageDraw.Draw(sheet)
    middle = np.array([0.5 * RING_PIXELS, TITLE_PIXELS + 0.5 * RING_PIXELS])
    most = max((len(found) for found in bridges), default=1)
    curves = []
    for found in sorted(bridges, key=len):
        a, b = where[found.first], where[found.second]
        bend = 0.5 * (a + b) + 0.35 * (middle - 0.5 * (a + b))
        t = np.linspace(0.0, 1.0, BAND_STEPS + 1)[:, None]
        curve = (1 - t) ** 2 * a + 2 * t * (1 - t) * bend + t**2 * b
        curves.append(curve)
        mixed = 0.45 * (from_hex(colours[found.first]) * (1 - t) + from_hex(colours[found.second]) * t)
        tone = np.round(255 * mixed + 0.55 * np.array(theme.paper)).astype(int)
        width = 2 if found.wide else 2 + 8 * len(found) / most
        for i in range(BAND_STEPS):
            if not (found.wide and i % 3 == 2):
                ends = [tuple(BAND_SUPERSAMPLING * curve[i]), tuple(BAND_SUPERSAMPLING * curve[i + 1])]
                pen.line(ends, tuple(tone[i]), round(BAND_SUPERSAMPLING * width))
    sheet = sheet.resize(size, Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(sheet)
    for found, (x, y) in zip(sorted(bridges, key=len), _count_positions(curves, radius)):
        text = str(len(found))
        half = 0.5 * pen.textlength(text, font=font(13)) + 5
        pen.rounded_rectangle([x - half, y - 9, x + half, y + 9], 9, theme.paper)
        pen.text((x, y), text, theme.title, font(13), anchor="mm")
    return sheet


def _count_positions(curves: Sequence[Array], radius: int) -> list[tuple[float, float]]:
    """A place on each curve (STEPS + 1, 2) for its count: not below a medallion, and away from counts and other curves.

    Beyond 60 pixels no count is taken for its neighbour's, and beyond 14 it lies on no other curve; then the nearest to
    the middle is best.
    """
    found: list[tuple[float, float]] = []
    for i, curve in enumerate(curves):
        ends = np.minimum(np.linalg.norm(curve - curve[0], axis=1), np.linalg.norm(curve - curve[-1], axis=1))
        candidates = curve[(ends > radius + 20) | (ends == ends.max())]
        others = np.reshape([points for j, points in enumerate(curves) if j != i], (-1, 2))
        counts, crossings = (
            np.linalg.norm(candidates[:, None] - np.reshape(points, (-1, 2)), axis=-1).min(axis=1, initial=1e9)
            for points in (found, others)
        )
        middling = np.abs(np.arange(len(candidates)) - 0.5 * len(candidates)) / BAND_STEPS
        x, y = candidates[(np.minimum(counts, 60.0) + 3 * np.minimum(crossings, 14.0) - middling).argmax()]
        found.append((float(x), float(y)))
    return found


def _words(
    sheet: Any,
    spaces: Mapping[str, LatentSpaceView],
    where: Mapping[str, Array],
    radius: int,
    colours: Mapping[str, str],
    heading: tuple[str, str],
    theme: SheetTheme,
) -> None:
    """Title, and each label's ring, name and size."""
    from PIL import ImageDraw

    pen = ImageDraw.Draw(sheet)
    pen.text((26, 28), fit_text(pen, heading[0], font(27), RING_PIXELS - 52), theme.title, font(27), anchor="lt")
    pen.text((26, 62), fit_text(pen, heading[1], font(15), RING_PIXELS - 52), theme.caption, font(15), anchor="lt")
    for label, space in spaces.items():
        x, y = where[label]
        pen.ellipse([x - radius, y - radius, x + radius, y + radius], None, colours[label], 4)
        clips = len(space.segments)
        below = f"{len(space.latents)} frames, {clips} clip{'s' * (clips != 1)}"
        room = max(2.4 * radius, 120.0)
        above = (
            y < TITLE_PIXELS + 0.5 * RING_PIXELS - radius
        )  # the names of the upper half stand outside the ring as well
        name, size = (y - radius - 32, y - radius - 12) if above else (y + radius + 24, y + radius + 44)
        pen.text((x, name), fit_text(pen, label, font(19), room), theme.title, font(19), anchor="ms")
        pen.text((x, size), fit_text(pen, below, font(13), room), theme.caption, font(13), anchor="ms")
