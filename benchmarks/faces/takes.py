"""The takes that face graphs are measured on: the cast's face, and a recorded face."""

from __future__ import annotations

import csv
import os
import re
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.measure import HERE

from understudy import cast
from understudy.character.rig import rig_of
from understudy.express import ExpressionSequence
from understudy.express.from_clips import sequences_of
from understudy.express.preprocessing import preprocess
from understudy.express.sequence import landmark_names

DATA = Path(os.environ.get("UNDERSTUDY_TEST_DATA", HERE.parents[1] / "shared" / "data"))
WIDTH, HEIGHT = 270, 380  # pixels of the paper's faces
CALM = 0.15  # of a peak's displacement


@cache
def face_takes(rate: float) -> tuple[ExpressionSequence, ...]:
    """The face's 70 clips as prepared takes of 68 landmarks in the picture plane, in pixels."""
    asset = cast.load("face")
    clips = [*asset.clips, *asset.curves]
    takes = preprocess(sequences_of(rig_of(asset.characters[0]), clips, cast.FACE_LANDMARKS, rate=rate))
    return tuple(in_pixels(takes))


@cache
def weight_takes(rate: float) -> tuple[ExpressionSequence, ...]:
    """The same clips as takes of the ARKit weights that they move."""
    asset = cast.load("face")
    return tuple(preprocess(sequences_of(rig_of(asset.characters[0]), [*asset.clips, *asset.curves], rate=rate)))


def real_takes(rate: float | None = None) -> list[ExpressionSequence]:
    """The segments of a recorded take, named by their strongest shape; empty where the data is not at hand."""
    home = DATA / "derived_face"
    if not home.is_dir():
        return []
    with np.load(home / "alex_rom_3_lm68_on_ICT.npz") as file:
        points = file["landmarks"].astype(float)
    takes = []
    with (home / "alex_rom_3_events.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            start, peak, end = (int(row[f"{name}_frame"]) for name in ("onset", "peak", "offset"))
            label = re.sub("(Left|Right)?=.*", "", row["top_shapes"])
            start, end = _about(points, start, peak, end)
            name = f"{label} {row['peak_s']}"
            takes.append(ExpressionSequence(name, label, points[start : end + 1], 30.0, peak - start, landmark_names()))
    return in_pixels(preprocess(takes, rate=rate))


def _about(points: np.ndarray, start: int, peak: int, end: int) -> tuple[int, int]:
    """The piece of a segment that rises to its peak and falls from it, without what else the face does before or after.

    A range-of-motion take strings movements together; a take of a graph is one of them.
    """
    calm = points[start]
    active = np.linalg.norm(points[start : end + 1] - calm, axis=2).sum(axis=1)
    low = np.flatnonzero(active < CALM * active[peak - start]) + start
    return int(low[low < peak].max(initial=start)), int(low[low > peak].min(initial=end))


def in_pixels(takes: list[ExpressionSequence]) -> list[ExpressionSequence]:
    """Seen from the front, the mean neutral face as large as the paper's: of the same area."""
    base = np.mean([take.points[0] for take in takes], axis=0)[:, :2]
    scale = np.sqrt(WIDTH * HEIGHT / np.prod(np.ptp(base, axis=0)))
    return [take.with_fields(points=take.points[:, :, :2] * scale) for take in takes]
