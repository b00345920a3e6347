"""Region masks, named points and landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cast.dragon import shipped

from assets.dragon.places import REGIONS

LANDMARKS = [f"landmark_{i:02d}" for i in range(68)]


def at(*names: str) -> np.ndarray:
    return shipped.posed()[[shipped.point(name) for name in names]]


def test_masks_are_a_partition_of_every_vertex() -> None:
    masks = shipped.layers().masks
    assert set(masks) == set(REGIONS)
    total = sum(mask.astype(float) for mask in masks.values())
    np.testing.assert_allclose(total, 1.0, atol=2e-2)
    assert all(mask.min() >= 0 and mask.max() > 0.9 for mask in masks.values())


def test_masks_are_symmetric_and_smooth() -> None:
    skin = shipped.dragon().parts[0].mesh
    edges = skin.triangles[:, [0, 1]]
    for mask in shipped.layers().masks.values():
        on_skin = mask[: len(skin.vertices)]
        np.testing.assert_allclose(on_skin, mask[shipped.mirror()][: len(on_skin)], atol=1e-2)
        assert np.abs(on_skin[edges[:, 0]] - on_skin[edges[:, 1]]).max() < 0.55


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("brow_mid.L", "brows"),
        ("lid_upper.R", "eyes"),
        ("nose_tip", "nose"),
        ("lip_lower", "mouth"),
        ("chin", "jaw"),
        ("ear_tip.L", "ears"),
        ("throat", "neck"),
        ("head_top", "neck"),
    ],
)
def test_a_named_point_is_in_its_region(name: str, region: str) -> None:
    masks = shipped.layers().masks
    assert max(masks, key=lambda each: masks[each][shipped.point(name)]) == region


def test_points_have_images() -> None:
    points = shipped.layers().points
    left = {name for name in points if name.endswith(".L")}
    assert left and {name[:-1] + "R" for name in left} <= set(points)
    for name in left:
        np.testing.assert_allclose(at(name)[0], at(name[:-1] + "R")[0] * [-1, 1, 1], atol=1e-5)


def test_there_are_68_landmarks_from_its_right_to_its_left() -> None:
    assert set(LANDMARKS) <= set(shipped.layers().points)
    places = at(*LANDMARKS)
    assert (np.diff(places[:17, 0]) > 0).all()  # jaw line
    assert (np.diff(places[17:27, 0]) > 0).all()  # brows
    assert (np.diff(places[27:31, 1]) < 0).all() and (np.diff(places[27:31, 2]) > 0).all()  # bridge
    assert (np.diff(places[31:36, 0]) > 0).all()
    assert (np.diff(places[48:55, 0]) > 0).all() and (np.diff(places[54:60, 0]) < 0).all()  # outer lips
    assert len({shipped.point(name) for name in LANDMARKS}) == 68


def test_landmarks_mirror_each_other() -> None:
    order = [*range(16, -1, -1), *range(26, 16, -1), 27, 28, 29, 30, 35, 34, 33, 32, 31, 45, 44, 43, 42, 47, 46]
    order += [39, 38, 37, 36, 41, 40, 54, 53, 52, 51, 50, 49, 48, 59, 58, 57, 56, 55, 64, 63, 62, 61, 60, 67, 66, 65]
    places = at(*LANDMARKS)
    np.testing.assert_allclose(places, places[order] * [-1, 1, 1], atol=1e-5)


def test_eyelid_landmarks_see_a_blink() -> None:
    shut = shipped.posed(lids__blink__L=1.0)[[shipped.point(f"landmark_{i}") for i in (43, 44, 47, 46)]]
    assert np.abs(shut[:2, 1] - shut[2:, 1]).max() < 0.02
    assert (at("landmark_43", "landmark_44")[:, 1] - at("landmark_47", "landmark_46")[:, 1]).min() > 0.1
