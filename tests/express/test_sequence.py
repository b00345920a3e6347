"""Sequences: what is refused, and with which sentence; the peak that nobody named."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import InvalidInput
from understudy.express.sequence import ExpressionSequence, check_alike, farthest_frame

NAMES = ("lm00", "lm01", "lm02")


def rising(frames: int = 6, dimensions: int = 2) -> np.ndarray:
    """(F, 3, D) landmarks that move away from where they were, and back a little at the end."""
    way = np.sin(np.linspace(0, 2.2, frames))
    return np.arange(3 * dimensions).reshape(3, dimensions) + way[:, None, None]


def test_displacements_are_from_the_first_frame() -> None:
    sequence = ExpressionSequence("a", "joy", rising(), 30, 4, NAMES)
    assert np.all(sequence.displacements[0] == 0)
    np.testing.assert_allclose(sequence.displacements + sequence.points[0], sequence.points)
    assert (len(sequence), sequence.dimensions) == (6, 2)
    with pytest.raises(ValueError, match="read-only"):
        sequence.points[0] = 1


def test_a_peak_that_nobody_named_is_the_farthest_frame_and_is_noted() -> None:
    points = rising(40)
    sequence = ExpressionSequence("a", "joy", points, 30, None, NAMES)
    distance = [np.linalg.norm(frame - points[0], axis=1).sum() for frame in points]
    assert sequence.peak == int(np.argmax(distance)) == farthest_frame(points)
    assert "names no peak" in sequence.notes[0] and sequence.guessed
    assert sequence.with_fields(name="b").guessed
    assert ExpressionSequence("a", "joy", points, 30, 5, NAMES).notes == ()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"points": rising(1)}, "sequence 'a' should have at least two frames, neutral and peak, but has one"),
        ({"points": rising(0)}, "at least two frames, neutral and peak, but has none"),
        ({"points": np.zeros((4, 2, 2))}, "should have as many points as names, but has 2 points and 3 names"),
        ({"points": np.zeros((4, 3))}, r"points of sequence 'a' should have shape \(F, L, D\), but has shape \(4, 3\)"),
        ({"points": np.zeros((4, 3, 4))}, "should have 1, 2 or 3 dimensions, but have 4"),
        ({"points": np.where(rising() > 4, np.nan, rising())}, "should be finite, but 'lm02' is nan at frame 0"),
        ({"points": np.zeros((4, 3, 2)), "peak": None}, "has no peak: none is given, and nothing in it moves"),
        ({"points": np.zeros((4, 0, 2)), "names": ()}, "at least one landmark or weight, but has none"),
        ({"peak": 0}, "the peak of sequence 'a' should be a frame from 1 to 5, but is 0"),
        ({"peak": 6}, "should be a frame from 1 to 5, but is 6"),
        ({"peak": 2.5}, "should be a frame from 1 to 5, but is 2.5"),
        ({"label": ""}, "should have a label such as 'happiness', but has ''"),
        ({"rate": 0}, "rate of sequence 'a' should be a finite number above zero, but is 0"),
        ({"names": ("a", "a", "b")}, "names of sequence 'a' should be distinct, but 'a' appears twice"),
    ],
)
def test_what_is_refused(change: dict[str, object], sentence: str) -> None:
    sequence = ExpressionSequence("a", "joy", rising(), 30, 4, NAMES)
    with pytest.raises(InvalidInput, match=sentence):
        sequence.with_fields(**change)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"points": rising(6, 3)}, "sequence 'a' has 2 dimensions, but sequence 'b' has 3"),
        ({"names": ("lm00", "lm01", "lm05")}, "sequence 'b' lacks 'lm02', which sequence 'a' has"),
        ({"names": ("lm01", "lm00", "lm02")}, "should have their names in the same order"),
        ({"names": (*NAMES, "x"), "points": np.ones((5, 4, 2))}, "sequence 'a' lacks 'x', which sequence 'b' has"),
        ({"rate": 25}, "sequence 'a' has 30 frames a second, but sequence 'b' has 25"),
        ({"name": "a"}, "sequences should have distinct names, but 'a' appears twice"),
    ],
)
def test_sequences_that_contradict_each_other(change: dict[str, object], sentence: str) -> None:
    sequence = ExpressionSequence("a", "joy", rising(), 30, 4, NAMES)
    other = sequence.with_fields(name="b")
    assert check_alike([sequence, other]) == [sequence, other]
    with pytest.raises(InvalidInput, match=sentence):
        check_alike([sequence, other.with_fields(**change)])
    with pytest.raises(InvalidInput, match="at least one sequence"):
        check_alike([])
