"""Graphs of a recorded face: landmarks, and the weights that it was recorded as."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from tests.data_folder import data_file

from understudy import formats
from understudy.express.graph import build, dead_ends, raw_bytes
from understudy.express.preprocessing import preprocess
from understudy.express.sequence import ExpressionSequence, landmark_names


def segments(points, names):
    """The first segments of the recording, named by what is strongest in them."""
    found = []
    with data_file("derived_face/alex_rom_3_events.csv").open(encoding="utf-8") as stream:
        for row in list(csv.DictReader(stream))[:8]:
            start, peak, end = (int(row[f"{name}_frame"]) for name in ("onset", "peak", "offset"))
            label = row["top_shapes"].split("=")[0]
            found.append(ExpressionSequence(row["peak_s"], label, points[start : end + 1], 30.0, peak - start, names))
    return found


@pytest.fixture(params=["landmarks", "weights"])
def recorded(request):
    if request.param == "landmarks":
        with np.load(data_file("derived_face/alex_rom_3_lm68_on_ICT.npz")) as file:
            return segments(file["landmarks"].astype(float), landmark_names())
    clip = formats.read(data_file("face_livelink/alex_rom_3.csv")).clips[0]
    columns = [i for i, name in enumerate(clip.channels.names) if name.startswith(".weights.")]
    names = [clip.channels.names[i].removeprefix(".weights.") for i in columns]
    return segments(np.asarray(clip.values)[:, columns, None], names)


def test_a_recorded_face(recorded):
    takes = preprocess(recorded, rate=15.0)
    graph = build(takes, compression=0.7, merge_compression=0.5)
    assert graph.labels == tuple(sorted({take.label for take in recorded}))
    for region in graph.regions:
        assert dead_ends(region).tolist() == []
        assert region.peaks.sum(axis=1).max() == 1
    assert graph.bytes < 0.8 * raw_bytes(takes)
