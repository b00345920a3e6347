from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.express.acting import act, crowd, crowd_frames
from understudy.express.acting.synthesis import pad_performances
from understudy.express.graph.expression_graph import ExpressionGraph

LABELS = ["fear", "happiness"]


def test_a_face_of_a_crowd_can_be_had_alone(graph: ExpressionGraph) -> None:
    faces = list(crowd(graph, LABELS, 5, seed=7, coupling=0.3))
    assert np.array_equal(faces[3].points, act(graph, LABELS, seed=(7, 3), coupling=0.3).points)
    assert len({face.points.tobytes() for face in faces}) == 5


def test_frames_are_those_of_the_faces(graph: ExpressionGraph) -> None:
    faces = list(crowd(graph, LABELS, 4, seed=1))
    streamed = np.stack(list(crowd_frames(graph, LABELS, 4, seed=1)))
    points, lengths = pad_performances(faces)
    assert streamed.shape == (lengths.max(), 4, *graph.base.shape)
    assert np.array_equal(streamed.transpose(1, 0, 2, 3), points)


def test_a_stream_goes_on_and_does_not_repeat(graph: ExpressionGraph) -> None:
    length = len(act(graph, LABELS, seed=(2, 0)))
    shown = np.stack(list(islice(crowd_frames(graph, LABELS, 2, seed=2, again=True), 3 * length)))
    assert len(shown) == 3 * length
    assert not np.array_equal(shown[:length, 0], shown[length : 2 * length, 0])


def test_a_spread_crowd_does_not_start_together(graph: ExpressionGraph) -> None:
    shown = np.stack(list(crowd_frames(graph, LABELS, 12, seed=3, spread=1.0)))
    moved = np.abs(shown - shown[:1]).max(axis=(2, 3)) > 0.05
    assert len(set(moved.argmax(axis=0).tolist())) > 4


def test_an_empty_crowd_is_refused(graph: ExpressionGraph) -> None:
    with pytest.raises(InvalidInput, match="1 to 1,000,000 faces"):
        crowd(graph, LABELS, 0)
    with pytest.raises(InvalidInput, match="no label 'zest'"):
        crowd(graph, ["zest"], 3)
