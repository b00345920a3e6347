"""The laws of the dragon's rig: rest, mirror, no fold within any range, and what the great controls do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.cast.dragon import shipped
from tests.cast.dragon.shipped import point, posed

LEAST_AREA = 0.01  # of a triangle's area at rest
LEAST_MOVE = 0.5e-3  # metres


def facing(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = np.moveaxis(points[triangles].astype(float), 1, 0)
    return np.cross(b - a, c - a)


def ends() -> Iterator[tuple[list[tuple[str, float]], np.ndarray]]:
    """Each control alone at each end, 64 at a time: names and values, and rows."""
    controls = shipped.controls()
    found = [
        (i, end[i]) for end in (controls.low, controls.high) for i in range(len(controls)) if end[i] != controls.rest[i]
    ]
    for start in range(0, len(found), 64):
        part = found[start : start + 64]
        rows = np.tile(controls.rest, (len(part), 1))
        rows[np.arange(len(part)), [i for i, _ in part]] = [value for _, value in part]
        yield [(controls.names[i], value) for i, value in part], rows


def folds() -> list[tuple[str, float, float, float]]:
    """Of each control at each end: name, value, least area and least cosine over the skin.

    The cosine is between a triangle's normal and what its dominant joint makes of its normal at rest.
    """
    rig, controls = shipped.rig(), shipped.controls()
    skin = shipped.dragon().parts[0]
    triangles = skin.mesh.triangles
    share = np.zeros((len(skin.mesh.vertices), len(skin.skin.joints)))
    np.add.at(share, (np.arange(len(share))[:, None], skin.skin.influences), skin.skin.weights)
    dominant = skin.skin.joints[share[triangles].sum(axis=1).argmax(axis=1)]
    before = facing(skin.mesh.vertices, triangles)
    size = np.linalg.norm(before, axis=1)
    joint_from_rest = np.linalg.inv(rig.joints(controls.rest[None])[0])
    result = []
    for names, rows in ends():
        for (name, value), moved, world in zip(names, rig.vertices(rows), rig.joints(rows)):
            after = facing(moved, triangles)
            led = np.einsum("tij,tj->ti", (world @ joint_from_rest)[dominant, :3, :3], before)
            areas = np.linalg.norm(after, axis=1)
            cosine = np.einsum("ti,ti->t", after, led) / np.maximum(areas * np.linalg.norm(led, axis=1), 1e-30)
            result.append((name, value, float((areas / size).min()), float(cosine.min())))
    return result


def test_rest_controls_give_the_rest_mesh_to_the_last_bit() -> None:
    np.testing.assert_array_equal(shipped.rig().vertices(shipped.controls().rest[None])[0], shipped.rest())


@pytest.mark.long
def test_no_control_within_its_range_flips_or_crushes_a_triangle_of_the_skin() -> None:
    folded = [end for end in folds() if end[2] < LEAST_AREA or end[3] < 0]
    assert folded == []


def test_every_control_moves_something_that_is_seen() -> None:
    largest: dict[str, float] = {}
    for names, rows in ends():
        moved = np.linalg.norm(shipped.rig().vertices(rows) - shipped.rest(), axis=-1).max(axis=1)
        for (name, _), move in zip(names, moved.tolist()):
            largest[name] = max(move, largest.get(name, 0.0))
    assert len(largest) == 742
    assert [name for name, move in largest.items() if move < LEAST_MOVE] == []


def test_left_and_right_are_mirror_images() -> None:
    controls, rng = shipped.controls(), np.random.default_rng(0)
    rows = controls.clip(controls.rest + 0.15 * rng.normal(size=(4, len(controls))) * (controls.high - controls.low))
    own, image = shipped.rig().vertices(rows), shipped.rig().vertices(controls.mirror_pose(rows))
    expected = own[:, shipped.mirror()] * np.float32([-1, 1, 1])
    kept = shipped.has_image()
    # 1e-6 m: single precision at 0.7 m; vertices that share a place at rest (the lids' corners) may exchange images
    off = np.linalg.norm(image - expected, axis=-1)[:, kept]
    assert np.quantile(off, 0.99) < 1e-6 and off.max() < 2e-4


def test_it_is_continuous() -> None:
    controls, rng = shipped.controls(), np.random.default_rng(5)
    start = controls.clip(controls.rest + 0.2 * rng.normal(size=len(controls)) * (controls.high - controls.low))
    step = 1e-4 * rng.normal(size=len(controls)) * (controls.high - controls.low)
    a, b = shipped.rig().vertices(np.stack([start, controls.clip(start + step)]))
    assert np.abs(a - b).max() < 1e-3


@pytest.mark.parametrize("gaze", [-20.0, 0.0, 20.0])
@pytest.mark.parametrize("upper", [-30.0, 15.0])
def test_a_blink_shuts_the_eye_from_wherever_it_is(gaze: float, upper: float) -> None:
    moved = posed(eyes__y=gaze, lids__upper__L=upper, lids__tilt__L=15.0, lids__blink__L=1.0)
    shut = posed(lids__blink__L=1.0)
    for name in ("lid_upper.L", "lid_lower.L", "landmark_43", "landmark_47"):
        np.testing.assert_allclose(moved[point(name)], shut[point(name)], atol=2e-4)
    gap = shut[point("lid_upper.L")] - shut[point("lid_lower.L")]
    assert abs(gap[1]) < 0.012  # of a head length; at rest the eye is 0.2 open


def test_the_upper_lid_follows_the_gaze_by_sixty_per_cent_and_the_lower_by_a_quarter() -> None:
    layers = shipped.layers()
    index = {f"{joint}.{component}": i for i, (joint, component) in enumerate(layers.components)}
    moved = shipped.rig().parameters(shipped.row(eyes__y=10.0)[None])[0]
    for joint, share in (("Eye.L", 1.0), ("LidUpper.L", 0.6), ("LidLower.R", 0.25)):
        assert moved[index[f"{joint}.rx"]] == pytest.approx(-share * np.radians(10.0), rel=1e-5)


def test_signs_are_as_animators_know_them() -> None:
    rest = posed()
    nose, chin, ear = point("nose_tip"), point("chin"), point("ear_tip.L")
    assert posed(head__nod=10.0)[nose, 1] < rest[nose, 1]
    assert posed(head__turn=10.0)[nose, 0] > rest[nose, 0]
    assert posed(head__roll=10.0)[ear, 1] > rest[ear, 1]
    assert posed(neck__lean=10.0)[nose, 2] > rest[nose, 2]
    assert posed(neck__side=10.0)[nose, 0] > rest[nose, 0]
    assert posed(jaw__open=10.0)[chin, 1] < rest[chin, 1]
    assert posed(jaw__side=10.0)[chin, 0] > rest[chin, 0]
    assert posed(ears__flare__L=20.0)[ear, 2] > rest[ear, 2]
    assert posed(ears__droop__L=20.0)[ear, 1] < rest[ear, 1]
    assert posed(eyes__x=10.0)[point("pupil.R"), 0] > rest[point("pupil.R"), 0]
    assert posed(eyes__y=10.0)[point("pupil.R"), 1] > rest[point("pupil.R"), 1]
    assert posed(tongue__out=1.0)[point("tongue_tip"), 2] > rest[point("tongue_tip"), 2] + 0.15


def test_breath_moves_neck_ears_nostrils_and_throat() -> None:
    rest, full = posed(), posed(neck__breath=1.0)
    assert full[point("head_top"), 1] - rest[point("head_top"), 1] == pytest.approx(0.024, abs=0.01)
    layers = shipped.layers()
    moved = shipped.rig().parameters(shipped.row(neck__breath=1.0)[None])[0]
    index = {f"{joint}.{component}": i for i, (joint, component) in enumerate(layers.components)}
    lean = sum(moved[index[f"Neck{n}.rx"]] for n in (1, 2, 3))
    assert np.degrees(lean) == pytest.approx(-1.4, abs=1e-3)
    assert moved[len(layers.components) + layers.shapes.names.index("nose.flare.L")] == pytest.approx(0.3, abs=1e-6)
