"""The page of a diagram: a title, one large view and smaller ones beside it, and a legend below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.render.picture import Theme, fitted, font

MARGIN, GAP, LINE, LETTERS = 26, 12, 25, 15  # pixels
FINE = 3  # marks are drawn so many times larger and made smaller, which rounds their edges


@dataclass(frozen=True)
class Entry:
    """A line of the legend: `mark` is "clip", "bead", "wire" or "shell", in a colour #rrggbb; a clip has a number."""

    mark: str
    colour: str
    text: str
    number: int = 0


def beside(size: tuple[int, int], count: int) -> tuple[int, int]:
    """The size of `count` smaller views, one below the other, beside a large one of `size`; of the same proportions."""
    height = (size[1] - GAP * (count - 1)) // max(count, 1)
    return round(height * size[0] / size[1]), height


def page(views: Sequence[Array], title: str, subtitle: str, entries: Sequence[Entry], theme: Theme) -> Array:
    """The finished page (H, W, 3) uint8: views[0] (H, W, 3) is the large one, the others are of one size."""
    from PIL import Image, ImageDraw

    large = views[0].shape
    side = views[1].shape[1] + GAP if len(views) > 1 else 0
    width = 2 * MARGIN + large[1] + side
    top = MARGIN + 58
    columns = max(1, (width - 2 * MARGIN) // 210)
    rows = -(-len(entries) // columns)
    height = top + large[0] + (18 + rows * LINE if rows else 0) + MARGIN
    sheet = Image.new("RGB", (width, height), theme.paper)
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, MARGIN + 2), fitted(pen, title, font(27), width - 2 * MARGIN), theme.title, font(27), anchor="lt")
    words = fitted(pen, subtitle, font(LETTERS), width - 2 * MARGIN)
    pen.text((MARGIN, MARGIN + 36), words, theme.caption, font(LETTERS), anchor="lt")
    sheet.paste(Image.fromarray(views[0]), (MARGIN, top))
    for i, view in enumerate(views[1:]):
        sheet.paste(Image.fromarray(view), (MARGIN + large[1] + GAP, top + i * (view.shape[0] + GAP)))
    column = (width - 2 * MARGIN) // columns
    for i, entry in enumerate(entries):
        x, y = MARGIN + (i // rows) * column, top + large[0] + 18 + (i % rows) * LINE
        sheet.paste(_mark(entry, theme), (x, y))
        text = fitted(pen, entry.text, font(LETTERS), column - 44)
        pen.text((x + 34, y + LINE // 2), text, theme.title, font(LETTERS), anchor="lm")
    return np.array(sheet)


def _mark(entry: Entry, theme: Theme) -> Any:
    """A small picture of what the entry stands for."""
    from PIL import Image, ImageDraw

    k = FINE
    mark = Image.new("RGB", (28 * k, LINE * k), theme.paper)
    pen = ImageDraw.Draw(mark)
    x, y = 14 * k, LINE * k // 2
    if entry.mark == "clip":
        pen.line([(x, y), (27 * k, y)], entry.colour, 4 * k)
        pen.ellipse([x - 9 * k, y - 9 * k, x + 9 * k, y + 9 * k], entry.colour)
    elif entry.mark == "bead":
        pen.polygon([(x, y - 8 * k), (x + 8 * k, y), (x, y + 8 * k), (x - 8 * k, y)], entry.colour)
    elif entry.mark == "wire":
        pen.line([(2 * k, y), (20 * k, y)], entry.colour, 3 * k)
        pen.ellipse([16 * k, y - 6 * k, 28 * k, y + 6 * k], entry.colour)
    else:
        pale = Image.blend(Image.new("RGB", (1, 1), theme.paper), Image.new("RGB", (1, 1), entry.colour), 0.25)
        box = [3 * k, y - 8 * k, 25 * k, y + 8 * k]
        pen.ellipse(box, pale.getpixel((0, 0)), entry.colour, k)
    mark = mark.resize((28, LINE), Image.Resampling.LANCZOS)
    if entry.number:
        ImageDraw.Draw(mark).text((14, LINE / 2), str(entry.number), "#FFFFFF", font(12), anchor="mm")
    return mark


def numbered(view: Array, places: Array, numbers: Sequence[int], size: int) -> Array:
    """The view with numbers at places (N, 2) in pixels, white with a dark rim, readable on any colour."""
    from PIL import Image, ImageDraw

    sheet = Image.fromarray(view)
    pen = ImageDraw.Draw(sheet)
    for (x, y), number in zip(places, numbers):
        pen.text((x, y), str(number), "#FFFFFF", font(size), anchor="mm", stroke_width=1, stroke_fill="#2B1B17")
    return np.array(sheet)
