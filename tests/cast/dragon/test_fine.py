"""Fine shapes: local, smooth, one place each, on one lip only."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cast.dragon import shipped

from assets.dragon import measures
from assets.dragon.controls import fine_places

SKIN = "Skin"


def delta(name: str) -> np.ndarray:
    """(V, 3) head lengths."""
    shapes = shipped.layers().shapes
    return shapes.dense(shapes.names.index(name), len(shipped.rest())) / measures.SCALE


def names() -> list[str]:
    return [name + (".L" if place.sided else "") for place in fine_places() for name in place.controls]


def test_each_is_a_small_bump_near_its_place() -> None:
    rest = measures.head_lengths(shipped.rest())
    for place in fine_places():
        if place.where[0] in ("lip", "rim", "rib"):
            continue
        centre = np.array(place.where, float)
        for name in place.controls:
            moved = delta(name + (".L" if place.sided else ""))
            skin = shipped.part_of()[SKIN]
            far = np.linalg.norm(rest[skin] - centre, axis=1) > 3.0 * place.reach + 0.06
            largest = np.linalg.norm(moved[skin], axis=1).max()
            if not name.startswith("tongue"):
                assert 0.2 * place.height < largest < 1.4 * place.height, name
            assert not np.abs(moved[skin][far]).any(), name


def test_each_is_smooth() -> None:
    """No edge of the skin stretches or shrinks by more than nine tenths within the range -1 to 1."""
    skin = shipped.dragon().parts[0].mesh
    edges = skin.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    points = measures.head_lengths(skin.vertices)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    for name in names():
        moved = delta(name)[: len(points)]
        strain = np.linalg.norm(moved[edges[:, 0]] - moved[edges[:, 1]], axis=1) / length
        assert np.quantile(strain, 0.9999) < 0.9, name


@pytest.mark.parametrize("arc", range(6))
def test_a_bump_of_one_lip_leaves_the_other_alone(arc: int) -> None:
    side = ".L" if arc else ""
    upper, lower = delta(f"mouth.upper{arc}_up{side}"), delta(f"mouth.lower{arc}_up{side}")
    for points, own, other in (("lip_upper", upper, lower), ("lip_lower", lower, upper)):
        vertex = shipped.point(points)
        assert np.linalg.norm(other[vertex]) < 1e-6
        assert arc or np.linalg.norm(own[vertex]) > 0.01


def test_directions_are_what_they_say() -> None:
    for name in names():
        if name.startswith(("lids", "ears", "tongue", "head.horn")):
            continue
        moved = delta(name)
        largest = moved[np.argmax(np.linalg.norm(moved, axis=1))]
        way = name.removesuffix(".L").rpartition("_")[2]
        if way == "up":
            assert largest[1] > 0, name
        elif way == "in":
            assert largest[0] < 0, name


def test_right_is_left_in_a_mirror() -> None:
    mirror, kept = shipped.mirror(), shipped.has_image()
    skin = shipped.part_of()[SKIN]
    for name in names():
        if name.endswith(".L"):
            image = delta(name)[mirror] * [-1, 1, 1]
            np.testing.assert_allclose(delta(name[:-1] + "R")[kept][skin], image[kept][skin], atol=1e-6, err_msg=name)
