"""From film to weights: whatever finds the landmarks, a synthetic film gives the weights that made it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.express.synthetic import CAMERA, MOVING, face_basis, take
from tests.express.test_face_capture_film import written

from understudy import cast
from understudy.errors import BadFile, InvalidInput
from understudy.express.face_capture import capture, track_landmarks
from understudy.express.face_fit import PinholeCamera


class Remembered:
    """Finds in each picture what it was told, and no face where that is missing."""

    def __init__(self, pixels: np.ndarray, lost: tuple[int, ...] = ()) -> None:
        self.pixels, self.lost, self.frame = pixels, lost, -1

    def landmarks(self, picture: np.ndarray) -> np.ndarray | None:
        self.frame += 1
        return None if self.frame in self.lost else self.pixels[self.frame]


def smaller() -> np.ndarray:
    """The synthetic take as the film of 64 by 48 pixels shows it."""
    small = PinholeCamera.of_picture(64, 48)
    return (take()[2] - CAMERA.centre) * small.focal / CAMERA.focal + small.centre


def test_a_film_gives_the_weights_that_made_it(tmp_path: Path) -> None:
    film = written(tmp_path / "a.mp4", frames=40, rate=30)
    told: list[int] = []
    finder = Remembered(smaller(), lost=(7, 8))
    character = cast.load("face").characters[0]
    solution, notes = capture(film, character, cast.FACE_LANDMARKS, finder=finder, window=0, progress=told.append)
    assert notes[:2] == ("no face is seen in 2 of 40 pictures", "2 frames were filled in between their neighbours")
    assert notes[2].startswith("the calmest frame, at 0.0"), "the take begins in neutral"
    assert told == [*range(1, 41)] and solution.rate == 30
    columns = [face_basis().names.index(name) for name in MOVING]
    assert np.abs(solution.weights - take()[0])[:, columns].mean() < 0.04


def test_no_longer_than_asked(tmp_path: Path) -> None:
    film = written(tmp_path / "a.mp4", frames=40, rate=30)
    recording, size = track_landmarks(film, Remembered(smaller()), seconds=0.5)
    assert len(recording) == 15 and size == (64, 48) and recording.names[8] == "lm08"


def test_what_is_refused(tmp_path: Path) -> None:
    film = written(tmp_path / "a.mp4")
    with pytest.raises(BadFile, match=r"a\.mp4: no face is seen in any of its 6 pictures"):
        track_landmarks(film, Remembered(smaller(), lost=tuple(range(6))))
    with pytest.raises(InvalidInput, match="a camera never ends: say for how many seconds"):
        track_landmarks("camera", Remembered(smaller()))
    with pytest.raises(InvalidInput, match="seconds should lie between 0 and 600, but are -1"):
        track_landmarks(film, Remembered(smaller()), seconds=-1)
    with pytest.raises(InvalidInput, match="neutral frame should lie between 0 and 5"):
        capture(film, cast.load("face").characters[0], cast.FACE_LANDMARKS, finder=Remembered(smaller()), neutral=9.0)
