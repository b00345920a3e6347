"""The landmark detector on a real photograph, which scikit-image ships: where a person sees eyes, nose and mouth."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from understudy import cast
from understudy.errors import MissingExtra
from understudy.express.face_capture import DlibDetector, available, capture, track_landmarks
from understudy.express.face_fit import PinholeCamera, solve_film
from understudy.express.landmark_solver import basis_of
from understudy.express.sequence import landmark_names

# Places in the photograph, by eye.
PLACES = {
    "right pupil": (range(36, 42), (204, 101)),
    "left pupil": (range(42, 48), (247, 103)),
    "tip of the nose": ([30], (225, 127)),
    "right corner of the mouth": ([48], (202.5, 139.5)),
    "left corner of the mouth": ([54], (247.5, 139.5)),
    "chin": ([8], (222, 178)),
}


@pytest.fixture(scope="module")
def photograph() -> np.ndarray:
    found = importlib.util.find_spec("skimage")
    path = Path(found.origin).parent / "data" / "astronaut.png" if found and found.origin else None
    if path is None or not path.is_file():
        pytest.skip("the photograph comes with scikit-image, which is not installed")
    from PIL import Image

    with Image.open(path) as picture:
        return np.array(picture.convert("RGB"))


@pytest.fixture(scope="module")
def detector() -> DlibDetector:
    if not available():
        pytest.skip("the extra 'capture' (dlib-bin, face_recognition_models) is not installed")
    return DlibDetector()


def test_landmarks_lie_where_a_person_sees_them(photograph: np.ndarray, detector: DlibDetector) -> None:
    found = detector.landmarks(photograph)
    assert found is not None and found.shape == (68, 2)
    for what, (rows, place) in PLACES.items():
        assert np.linalg.norm(found[list(rows)].mean(axis=0) - place) < 5, f"{what}, of a face 85 pixels wide"


def test_landmarks_follow_the_picture(photograph: np.ndarray, detector: DlibDetector) -> None:
    here = detector.landmarks(photograph)
    moved = detector.landmarks(np.roll(photograph, (16, 24), axis=(0, 1)))
    assert here is not None and moved is not None
    assert np.abs(moved - here - [24, 16]).mean() < 1
    mirrored = detector.landmarks(photograph[:, ::-1])
    assert mirrored is not None
    assert abs((511 - mirrored[27:31, 0]).mean() - here[27:31, 0].mean()) < 2


def test_a_picture_without_a_face(detector: DlibDetector) -> None:
    assert detector.landmarks(np.full((120, 160, 3), 90, np.uint8)) is None


def test_her_smile_is_a_smile(photograph: np.ndarray, detector: DlibDetector) -> None:
    """One picture, no neutral of hers, a face that is no likeness: she smiles, looks ahead, and has her eyes open."""
    found = detector.landmarks(photograph)
    assert found is not None
    basis = basis_of(cast.load("face").characters[0], cast.FACE_LANDMARKS)
    solution = solve_film(
        basis, found[None], PinholeCamera.of_picture(512, 512), 30.0, names=landmark_names(), neutral=None
    )
    weights = dict(zip(solution.names, solution.weights[0]))
    assert weights["mouthSmileLeft"] + weights["mouthSmileRight"] > 0.5
    assert (
        weights["mouthSmileLeft"] + weights["mouthSmileRight"] > weights["mouthFrownLeft"] + weights["mouthFrownRight"]
    )
    assert solution.errors[0] < 7, "pixels: the face of the cast has other proportions"
    assert np.abs(np.degrees(solution.clip().values[0, -3:])).max() < 20, "degrees"


def test_a_film_that_pans_over_the_photograph(photograph: np.ndarray, detector: DlibDetector, tmp_path: Path) -> None:
    """Her face does not change while the camera moves: the landmarks follow it, and the weights hardly move."""
    import av

    with av.open(str(tmp_path / "pan.mp4"), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 256, 256, "yuv420p", 4_000_000
        for number in range(10):
            piece = np.ascontiguousarray(photograph[4 * number : 4 * number + 256, 60 + 6 * number : 316 + 6 * number])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(piece, format="rgb24")))
        container.mux(stream.encode(None))
    recording, size = track_landmarks(tmp_path / "pan.mp4", detector)
    assert size == (256, 256) and len(recording) == 10 and not recording.notes
    panned = recording.points + np.arange(10)[:, None, None] * [6, 4]
    assert np.abs(panned - panned[0]).mean() < 1.5, "pixels"
    basis = basis_of(cast.load("face").characters[0], cast.FACE_LANDMARKS)
    solution = solve_film(
        basis, recording.points, PinholeCamera.of_picture(*size), recording.rate, names=recording.names
    )
    assert solution.weights.max() < 0.5 and solution.weights.mean() < 0.05, "the first picture is her neutral"


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dlib", None)
    with pytest.raises(
        MissingExtra, match=r"finding landmarks in pictures needs .* pip install 'understudy\[capture\]'"
    ):
        DlibDetector()


def test_a_photograph_as_the_command_takes_it(photograph: np.ndarray, detector: DlibDetector, tmp_path: Path) -> None:
    """One picture and no neutral: the character's own neutral face is used, and she smiles on both sides."""
    from PIL import Image

    Image.fromarray(photograph).save(tmp_path / "her.png")
    face = cast.load("face").characters[0]
    solution, notes = capture(tmp_path / "her.png", face, cast.FACE_LANDMARKS, finder=detector)
    weights = dict(zip(solution.names, solution.weights[0]))
    assert min(weights["mouthSmileLeft"], weights["mouthSmileRight"]) > 0.6
    assert 0.5 < solution.errors[0] < 7, "pixels, and not a fit of the picture to itself"
    assert any("the character's own" in note for note in notes)
