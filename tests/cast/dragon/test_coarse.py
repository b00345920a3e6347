"""Coarse shapes: a smile smiles, an O is round and shut at its sides, the lips keep apart, deltas are sparse."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cast.dragon import shipped
from tests.cast.dragon.shipped import point, posed


def moved(name: str, **values: float) -> np.ndarray:
    """(3,) by how much a named point moves, in head lengths."""
    return posed(**values)[point(name)] - posed()[point(name)]


def both(**values: float) -> dict[str, float]:
    return {f"{name}__{side}": value for name, value in values.items() for side in "LR"}


def test_smile_and_frown_move_the_corner_apart() -> None:
    up, down = moved("mouth_corner.L", **both(mouth__smile=1.0)), moved("mouth_corner.L", **both(mouth__frown=1.0))
    assert up[1] > 0.04 and up[2] < -0.02
    assert down[1] < -0.03


def test_a_sided_shape_leaves_the_other_side_alone() -> None:
    assert np.linalg.norm(moved("mouth_corner.R", mouth__smile__L=1.3)) < 1e-6
    assert np.linalg.norm(moved("brow_mid.R", brows__raise__L=1.4)) < 1e-6


def test_brows_go_far_enough_to_be_seen_at_128_pixels() -> None:
    # at 128 pixels a head length is about 40 of them: 0.05 are two
    assert moved("brow_mid.L", brows__raise__L=1.0)[1] > 0.06
    assert moved("brow_inner.L", brows__lower__L=1.0)[1] < -0.06
    assert moved("brow_inner.L", brows__sad__L=1.0)[1] > 0.05
    assert moved("brow_outer.L", brows__sad__L=1.0)[1] < -0.02


def outer_lips(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Seven landmarks of the upper and of the lower outer lip, from the right corner to the left."""
    upper = [48, 49, 50, 51, 52, 53, 54]
    lower = [48, 59, 58, 57, 56, 55, 54]
    return tuple(vertices[[point(f"landmark_{i:02d}") for i in line]] for line in (upper, lower))  # type: ignore[return-value]


def test_an_o_is_open_in_front_and_shut_at_the_sides() -> None:
    upper, lower = outer_lips(posed(mouth__o=1.0, jaw__open=18.0))
    plain_upper, plain_lower = outer_lips(posed(jaw__open=18.0))
    gap, plain = upper[:, 1] - lower[:, 1], plain_upper[:, 1] - plain_lower[:, 1]
    assert gap[3] > 0.15  # the middle is as open as the jaw makes it
    assert gap[1] < 0.35 * plain[1] and gap[5] < 0.35 * plain[5]  # the side is not


def test_an_o_undoes_the_resting_smile() -> None:
    """Seen from the front the line of the lips rises to the corner at rest; in the O it falls."""
    rest_upper, rest_lower = outer_lips(posed())
    upper, lower = outer_lips(posed(mouth__o=1.0, jaw__open=18.0))
    rest_middle, middle = 0.5 * (rest_upper + rest_lower), 0.5 * (upper + lower)
    assert rest_middle[1, 1] > rest_middle[3, 1] + 0.01
    assert middle[1, 0] > rest_middle[1, 0] + 0.03  # drawn in
    assert middle[6, 2] > rest_middle[6, 2] + 0.03  # and the corner forward


def test_upper_lip_shapes_leave_the_lower_lip_alone_and_bare_the_teeth() -> None:
    assert moved("lip_upper", **both(mouth__upper_up=1.0))[1] > 0.03
    assert np.linalg.norm(moved("lip_lower", **both(mouth__upper_up=1.0))) < 1e-3
    lip, fang = moved("lip_upper", **both(mouth__upper_up=1.0)), moved("fang_tip.L", **both(mouth__upper_up=1.0))
    assert 0 < fang[1] < 0.75 * lip[1]


def test_the_lids_edge_tilts_about_its_middle() -> None:
    inner, outer = moved("landmark_43", lids__tilt__L=20.0), moved("landmark_44", lids__tilt__L=20.0)
    assert outer[1] > 0.005 and inner[1] < -0.005
    assert abs(moved("lid_upper.L", lids__tilt__L=20.0)[1]) < 1e-3


def test_lids_never_cut_through_the_eye() -> None:
    eyes = shipped.part_of()["Eyes"]
    lids = shipped.part_of()["Lids"]
    for values in (
        {"lids__tilt__L": 25.0, "lids__upper__L": -30.0},
        {"lids__tilt__L": -25.0, "lids__curve__L": 16.0},
        {"lids__lower_curve__L": -20.0, "lids__lower__L": 40.0},
        {"lids__blink__L": 0.5},
    ):
        vertices = posed(**values)
        left = vertices[lids][:, 0] > 0
        ball = vertices[eyes][vertices[eyes][:, 0] > 0]
        centre = np.array([0.182, 0.040, 0.220])
        assert np.linalg.norm(vertices[lids][left] - centre, axis=1).min() > 0.99 * 0.145
        assert np.linalg.norm(ball - centre, axis=1).max() < 0.155


@pytest.mark.parametrize(("control", "grows"), [("eyes.pupil.L", True), ("eyes.iris.L", True)])
def test_pupil_and_iris_resize_on_the_eye(control: str, grows: bool) -> None:
    eyes = shipped.part_of()["Eyes"]
    small, large = (posed(**{control.replace(".", "__"): size})[eyes] for size in (0.85, 1.15))
    gaze = posed()[point("pupil.L")] - [0.182, 0.040, 0.220]
    away = [np.linalg.norm(np.cross(v - [0.182, 0.040, 0.220], gaze), axis=1).sum() for v in (small, large)]
    assert (away[1] > away[0]) == grows


def test_shapes_are_sparse_and_hold_nothing_that_is_not_seen() -> None:
    shapes = shipped.layers().shapes
    assert len(shapes.vertices) < 0.05 * len(shapes) * len(shipped.rest())
    # deltas are stored to a few micrometres: those just above the bound may come back just below it
    assert np.linalg.norm(shapes.deltas, axis=1).min() > 0.5e-5
