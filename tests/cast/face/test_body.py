"""The shipped face: a sound, symmetric skin, shapes that mirror each other, lids that never cut into the eye."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cast.face import shipped
from tests.cast.surfaces import is_closed

from assets.face import measures, parts
from assets.sculpting import geometry
from understudy import cast
from understudy.cast import FACE_LANDMARKS
from understudy.formats.arkit_names import SHAPE_NAMES


def _mirror(name: str) -> np.ndarray:
    """(n,) the vertex of the same mesh at the mirror image of each."""
    from scipy.spatial import cKDTree

    points = shipped.rest()[shipped.piece(name)]
    away, twin = cKDTree(points).query(points * [-1, 1, 1])
    assert away.max() < 1e-5
    return twin


def test_the_file_is_small() -> None:
    assert cast.arrays_file("face").stat().st_size < 4_000_000


def test_shapes_are_those_of_arkit_in_one_set() -> None:
    assert shipped.face().shapes == {"Face": SHAPE_NAMES}
    moved = np.abs(shipped.deltas()).max(axis=(1, 2))
    assert (moved > 0.004).all(), [SHAPE_NAMES[i] for i in np.flatnonzero(moved <= 0.004)]
    assert moved.max() < 0.35


def test_the_skin_is_one_closed_surface_that_faces_out() -> None:
    mesh = shipped.mesh("Skin")
    assert is_closed(mesh.vertices, mesh.triangles)
    assert geometry.signed_volume(mesh.vertices.astype(float), mesh.triangles) > 0


def test_counts() -> None:
    assert shipped.face().skeleton.names == ("Root", "Neck", "Head", "Jaw", "Eye.L", "Eye.R")
    assert 9_000 < len(shipped.mesh("Skin").vertices) < 16_000 and shipped.face().vertex_count < 34_000


@pytest.mark.parametrize("name", ["Skin", "Lids", "Eyes"])
def test_a_right_shape_is_the_mirror_image_of_its_left_one(name: str) -> None:
    twin, own = _mirror(name), shipped.piece(name)
    for number, shape in enumerate(SHAPE_NAMES):
        left = shape.replace("Right", "Left") if shape.endswith("Right") else shape
        image = shipped.deltas()[SHAPE_NAMES.index(left), own][twin] * [-1, 1, 1]
        if not shape.endswith("Left"):
            assert np.allclose(shipped.deltas()[number, own], image, atol=2e-5), shape


def test_left_shapes_stay_on_the_left() -> None:
    own = shipped.rest()[shipped.piece("Skin")]
    for number, shape in enumerate(SHAPE_NAMES):
        if shape.endswith("Left") and shape not in ("mouthLeft", "jawLeft"):
            moved = np.linalg.norm(shipped.deltas()[number, shipped.piece("Skin")], axis=1)
            assert moved[own[:, 0] < -measures.CORNER_X / 2].max(initial=0) < 1e-6, shape


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_lids_stay_outside_the_eye_on_their_whole_way(side: float) -> None:
    """Linear shapes take a chord; no lid may cut into the eyeball, but for the margin that is rolled in."""
    own = shipped.piece("Lids")
    rest = shipped.rest()[own]
    row = np.arange(len(rest)) % (parts.LID_ROWS + len(parts.LID_MARGIN))
    chosen = (rest[:, 0] * side > 0) & (row >= parts.LID_EDGE_ROW)
    eye = np.array(measures.EYE) * [side, 1, 1]
    name = "Left" if side > 0 else "Right"
    steps = {f"eyeBlink{name}": 1.0, f"eyeSquint{name}": 1.0, f"eyeLookDown{name}": 1.0, f"eyeWide{name}": 1.0}
    for shape, most in steps.items():
        for weight in np.linspace(0, most, 9):
            places = rest + weight * shipped.deltas()[SHAPE_NAMES.index(shape), own]
            assert np.linalg.norm(places[chosen] - eye, axis=1).min() > measures.EYE_RADIUS, (shape, weight)


def test_a_blink_closes_the_eye() -> None:
    a = np.linspace(-1, 1, 21)
    upper, lower = parts.LIDS_CLOSED["Upper"].at(a), parts.LIDS_CLOSED["Lower"].at(a)
    assert (upper - lower > 0).all() and (upper - lower < 4).all()
    assert (parts.LIDS_AT_REST["Upper"].at(a[8:13]) - parts.LIDS_AT_REST["Lower"].at(a[8:13]) > 50).all()


def test_turning_an_eye_keeps_it_a_sphere_at_the_end_of_its_way() -> None:
    own = shipped.piece("Eyes")
    rest = shipped.rest()[own]
    left = rest[:, 0] > 0
    for shape in ("eyeLookUpLeft", "eyeLookDownLeft", "eyeLookInLeft", "eyeLookOutLeft"):
        places = (rest + shipped.deltas()[SHAPE_NAMES.index(shape), own])[left]
        away = np.linalg.norm(places - measures.EYE, axis=1)
        assert np.allclose(away, measures.EYE_RADIUS, atol=1e-4)


def test_the_jaw_takes_lower_teeth_and_tongue_along_and_leaves_the_brows() -> None:
    opened = shipped.deltas()[SHAPE_NAMES.index("jawOpen")]
    assert np.linalg.norm(opened[shipped.piece("Tongue")], axis=1).min() > 0.03
    assert not opened[shipped.piece("Hairs")].any() and not opened[shipped.piece("Eyes")].any()


def test_mouth_close_brings_the_lips_of_an_open_jaw_together() -> None:
    opened = shipped.deltas()[SHAPE_NAMES.index("jawOpen")]
    closed = opened + shipped.deltas()[SHAPE_NAMES.index("mouthClose")]
    upper, lower = FACE_LANDMARKS[62], FACE_LANDMARKS[66]

    def gap(moved: np.ndarray) -> float:
        places = shipped.rest() + moved
        return float(places[upper, 1] - places[lower, 1])

    assert gap(opened) > 0.08 and gap(closed) < 0.25 * gap(opened)


def test_joints_turn_what_hangs_on_them() -> None:
    rig = shipped.rig()
    row = rig.rest.copy()
    place = rig.channels.slice("Jaw", "rotation")
    assert place is not None
    row[place] = [np.sin(0.1), 0, 0, np.cos(0.1)]
    moved = measures.units(rig.vertices(row[None])[0]) - shipped.rest()
    assert moved[FACE_LANDMARKS[8], 1] < -0.02
    assert np.abs(moved[shipped.piece("Hair")]).max() < 1e-5
