"""Still pictures: PNG files, and contact sheets that show a clip at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks, files
from understudy.checks import Array
from understudy.errors import InvalidInput

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class SheetTheme:
    """Colours of a contact sheet: paper, title and captions."""

    paper: Colour
    title: Colour
    caption: Colour


SHEET_THEMES = {
    "light": SheetTheme(paper=(250, 245, 238), title=(58, 42, 40), caption=(104, 84, 80)),
    "dark": SheetTheme(paper=(22, 24, 28), title=(217, 220, 225), caption=(139, 145, 155)),
}


def write_png(path: str | Path, picture: Array) -> None:
    """Write a picture (H, W, 3) or (H, W, 4) uint8 as PNG, atomically."""
    from PIL import Image

    check_picture(picture)
    with files.write_atomically(path) as temporary:
        Image.fromarray(np.ascontiguousarray(picture)).save(temporary, format="PNG")


def check_picture(picture: Array, channels: tuple[int, ...] = (3, 4)) -> None:
    """Raise unless `picture` is (H, W, channels) uint8 with at least one pixel."""
    ok = picture.ndim == 3 and picture.shape[2] in channels and picture.dtype == np.uint8 and picture.size > 0
    if not ok:
        listed = " or ".join(map(str, channels))
        raise InvalidInput(f"a picture should be (H, W, {listed}) uint8, but is {picture.shape} {picture.dtype}")


def contact_sheet(
    pictures: Sequence[Array],
    captions: Sequence[str] | None = None,
    columns: int | None = None,
    title: str = "",
    theme: str = "light",
) -> Array:
    """A grid of pictures (H, W, 3), all of one size, with a caption below each and a title above, as (H', W', 3) uint8.

    Without `columns` the sheet is about four thirds as wide as high. Captions that are wider than their picture are
    shortened with an ellipsis.
    """
    from PIL import Image, ImageDraw

    if not pictures:
        raise InvalidInput("a contact sheet needs at least one picture")
    for picture in pictures:
        check_picture(picture, (3,))
        if picture.shape != pictures[0].shape:
            raise InvalidInput(
                f"the pictures of a sheet should have one size, but some are {pictures[0].shape}, {picture.shape}"
            )
    if captions is not None and len(captions) != len(pictures):
        raise InvalidInput(f"{len(pictures)} pictures need as many captions, but {len(captions)} were given")
    colours = SHEET_THEMES[checks.one_of(theme, "theme", SHEET_THEMES)]
    height, width = pictures[0].shape[:2]
    if columns is None:
        columns = int(np.clip(round((len(pictures) * height / width * 4.0 / 3.0) ** 0.5), 1, len(pictures)))
    columns = max(1, min(int(columns), len(pictures)))
    rows = -(-len(pictures) // columns)

    size = int(np.clip(round(width / 24), 11, 22))
    words, title_words = font(size), font(round(1.5 * size))
    gap, margin = max(8, round(0.9 * size)), max(14, round(1.8 * size))
    caption_height = round(1.9 * size) if captions is not None else 0
    title_height = round(3.0 * size) if title else 0
    sheet_size = (
        2 * margin + columns * width + (columns - 1) * gap,
        2 * margin + title_height + rows * (height + caption_height) + (rows - 1) * gap,
    )
    sheet = Image.new("RGB", sheet_size, colours.paper)
    pen = ImageDraw.Draw(sheet)
    if title:
        text = fit_text(pen, title, title_words, sheet_size[0] - 2 * margin)
        pen.text((margin, margin + 0.75 * size), text, colours.title, title_words, anchor="lm")
    for i, picture in enumerate(pictures):
        x = margin + (i % columns) * (width + gap)
        y = margin + title_height + (i // columns) * (height + caption_height + gap)
        sheet.paste(Image.fromarray(np.ascontiguousarray(picture)), (x, y))
        if captions is not None:
            text = fit_text(pen, captions[i], words, width - 4)
            pen.text((x + 2, y + height + 0.5 * caption_height), text, colours.caption, words, anchor="lm")
    return np.array(sheet)


@lru_cache(maxsize=16)
def font(size: int) -> Any:
    """The font of all pictures, `size` pixels high."""
    from PIL import ImageFont

    return ImageFont.load_default(size=size)


def fit_text(pen: Any, text: str, letters: Any, width: float) -> str:
    """`text` on one line, shortened at its end to at most `width` pixels."""
    line = " ".join(text.split())
    if pen.textlength(line, font=letters) <= width:
        return line
    while line and pen.textlength(line + "...", font=letters) > width:
        line = line[:-1].rstrip()
    return line + "..."
