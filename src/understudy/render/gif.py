"""Animated GIFs with one good palette and the right speed.

The palette is chosen from pictures all over the clip, so frames wait in a temporary file until the last one is known.
Gradients are dithered with a fixed 8 x 8 pattern: unlike error diffusion it does not crawl from frame to frame, and
what stands still compresses away.

A GIF counts time in hundredths of a second, and browsers play delays under two of them at a tenth of the speed. Delays
are therefore shared out so that the total stays right (24 a second becomes 4, 4, 4, 5, ...), and above 50 frames a
second some are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from understudy.checks import Array

SAMPLED_FRAMES, SAMPLED_SIDE = 12, 320
SHORTEST_DELAY = 2  # hundredths of a second
DITHER = 10.0  # width of the pattern in 8-bit steps: about the distance of neighbours in a palette of 255 colours


class GifEncoder:
    """Collects pictures on the disk and writes the GIF at the end."""

    def __init__(self, path: Path, rate: Fraction) -> None:
        self.path, self.rate = path, rate
        self.store: Any = TemporaryFile()  # noqa: SIM115 - closed by finish or abandon
        self.shape: tuple[int, ...] = ()
        self.count = 0

    def add(self, picture: Array) -> None:
        """Keep one picture (H, W, 3) uint8."""
        self.shape = picture.shape
        self.store.write(np.ascontiguousarray(picture).tobytes())
        self.count += 1

    def finish(self) -> None:
        """Choose the palette and write all frames."""
        try:
            shown, delays = gif_timing(self.count, self.rate)
            palette = self._palette()
            frames = self._quantised(shown, palette)
            next(frames).save(
                self.path,
                format="GIF",
                save_all=True,
                append_images=frames,
                duration=[10 * delay for delay in delays],
                loop=0,
                disposal=1,
                optimize=False,
            )
        finally:
            self.store.close()

    def abandon(self) -> None:
        """Forget the pictures."""
        self.store.close()

    def _picture(self, index: int) -> Array:
        size = int(np.prod(self.shape))
        self.store.seek(index * size)
        return np.frombuffer(self.store.read(size), dtype=np.uint8).reshape(self.shape)

    def _palette(self) -> Any:
        from PIL import Image

        picks = np.unique(np.linspace(0, self.count - 1, SAMPLED_FRAMES).round().astype(int))
        step = max(1, ceil(max(self.shape[:2]) / SAMPLED_SIDE))
        mosaic = np.concatenate([self._picture(i)[::step, ::step] for i in picks])
        return Image.fromarray(np.ascontiguousarray(mosaic)).quantize(255, method=Image.Quantize.MEDIANCUT, kmeans=1)

    def _quantised(self, shown: list[int], palette: Any) -> Iterator[Any]:
        from PIL import Image

        pattern = np.tile(_bayer() * DITHER, [ceil(n / 8) for n in self.shape[:2]])[
            : self.shape[0], : self.shape[1], None
        ]
        for index in shown:
            dithered = np.clip(self._picture(index) + pattern, 0, 255).astype(np.uint8)
            yield Image.fromarray(dithered).quantize(palette=palette, dither=Image.Dither.NONE)


def gif_timing(count: int, rate: Fraction) -> tuple[list[int], list[int]]:
    """Which of `count` frames to show, and how long each, in hundredths of a second; the sum is right within one."""
    starts: list[int] = []
    shown: list[int] = []
    for index in range(count):
        start = round(100 * index / rate)
        if not starts or start - starts[-1] >= SHORTEST_DELAY:
            starts.append(start)
            shown.append(index)
    end = max(round(100 * count / rate), starts[-1] + SHORTEST_DELAY)
    return shown, [after - before for before, after in zip(starts, [*starts[1:], end])]


def _bayer() -> Array:
    """The 8 x 8 ordered dither pattern, in (-0.5, 0.5)."""
    pattern = np.zeros((1, 1))
    for _ in range(3):
        pattern = np.block([[4 * pattern, 4 * pattern + 2], [4 * pattern + 3, 4 * pattern + 1]])
    return (pattern + 0.5) / 64.0 - 0.5
