"""The 68 landmarks: in the scheme's order, symmetric, and moved by the shapes of their own region only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cast.face import shipped

from assets.face import body, measures
from understudy import cast
from understudy.cast import FACE_LANDMARK_NAMES, FACE_LANDMARKS

# of the iBUG scheme, numbered from 0: the landmark on the other side
PARTNERS = [*range(16, -1, -1), *range(26, 16, -1), 27, 28, 29, 30, 35, 34, 33, 32, 31]
PARTNERS += [45, 44, 43, 42, 47, 46, 39, 38, 37, 36, 41, 40]
PARTNERS += [54, 53, 52, 51, 50, 49, 48, 59, 58, 57, 56, 55, 64, 63, 62, 61, 60, 67, 66, 65]


def _places() -> np.ndarray:
    return shipped.rest()[FACE_LANDMARKS]


def _named(numbers: np.ndarray) -> set[int]:
    return {int(n) for n in numbers}


def test_there_are_68_of_them() -> None:
    assert FACE_LANDMARKS.shape == (68,) and len(set(FACE_LANDMARKS.tolist())) == 68
    assert FACE_LANDMARK_NAMES[0] == "lm00" and FACE_LANDMARK_NAMES[67] == "lm67"
    assert not FACE_LANDMARKS.flags.writeable


def test_both_sides_are_mirror_images() -> None:
    assert np.allclose(_places()[PARTNERS] * [-1, 1, 1], _places(), atol=1e-5)


def test_they_run_from_its_right_to_its_left_and_down() -> None:
    p = _places()
    assert (np.diff(p[:17, 0]) > 0).all() and (np.diff(p[17:27, 0]) > 0).all() and (np.diff(p[31:36, 0]) > 0).all()
    assert p[8, 1] == p[:17, 1].min() and (np.diff(p[27:31, 1]) < 0).all()
    assert (np.diff(p[48:55, 0]) > 0).all() and (np.diff(p[54:60, 0]) < 0).all() and (np.diff(p[60:65, 0]) > 0).all()
    assert (p[[37, 38, 43, 44], 1] > p[[41, 40, 47, 46], 1]).all()


def test_a_blink_moves_the_landmarks_of_its_eye_only() -> None:
    moved = np.flatnonzero(shipped.marks_moved(eyeBlinkLeft=1.0) > 0.004)
    assert _named(moved) <= set(range(42, 48)) and {43, 44} <= _named(moved)


def test_a_smile_on_the_left_leaves_the_right_alone() -> None:
    moved = shipped.marks_moved(mouthSmileLeft=1.0)
    assert moved[54] > 0.03 and moved[48] < 1e-4 and moved[17:22].max() < 1e-4


def test_the_jaw_takes_the_chin_and_the_lower_lip() -> None:
    moved = shipped.marks_moved(jawOpen=1.0)
    assert moved[8] > 0.08 and moved[57] > 0.08 and moved[17:48].max() < 0.004


def test_brows_carry_their_landmarks() -> None:
    inner, outer = shipped.marks_moved(browInnerUp=1.0), shipped.marks_moved(browOuterUpLeft=1.0)
    assert inner[21] > 2 * inner[17] and inner[22] > 2 * inner[26]
    assert outer[24:26].min() > 0.02 and outer[17:22].max() < 0.004


def test_inner_lips_meet_at_rest() -> None:
    p = _places()
    assert np.abs(p[[61, 62, 63], 1] - p[[67, 66, 65], 1]).max() < 0.02 * measures.EYE_RADIUS / 0.13 + 0.004


def test_a_written_file_is_what_the_cast_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body.write_landmarks(np.arange(68) * 3, tmp_path / "marks.txt")
    monkeypatch.setattr(cast, "LANDMARKS_FILE", tmp_path / "marks.txt")
    names, vertices = cast._face_landmarks()
    assert names == body.LANDMARK_NAMES == FACE_LANDMARK_NAMES and np.array_equal(vertices, np.arange(68) * 3)
