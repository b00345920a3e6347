"""Patches, lids, eyes and weights: symmetry, inverses and sums."""

from __future__ import annotations

import numpy as np
import pytest

from assets.dragon import measures, paint, parts
from assets.sculpting import fields, geometry, meshing
from assets.sculpting.eyes import eye_uvs
from understudy.cast.archive import area_normals


def test_a_pair_is_mirrored_and_still_faces_out() -> None:
    left = parts.eyeball().patch
    one, other = meshing.pair(left)
    assert other.name == "Eyeball.R" and set(other.hold) == {"Eye.R"}
    assert np.array_equal(one.vertices * [-1, 1, 1], other.vertices)
    for patch, sign in ((one, 1), (other, -1)):
        normals = area_normals(patch.vertices, patch.triangles)
        outwards = patch.vertices - np.array(measures.EYE) * [sign, 1, 1]
        assert ((normals * outwards).sum(axis=1) > 0).all()


@pytest.mark.parametrize("half", [False, True])
def test_sweeps_face_out_and_halves_are_welded_exactly(half: bool) -> None:
    t = np.linspace(0, 1, 7)
    path = geometry.bezier([[0, 0, 0], [0, 1, 0.2], [0, 2, 0]], t)
    surface = geometry.sweep(path, 0.3 * np.sqrt(1 - 0.9 * t), 10, half=half)
    patch = (
        meshing.midline("Horn", surface, np.ones(3), "Head")
        if half
        else meshing.held("Horn", surface, np.ones(3), "Head")
    )
    assert len(patch.vertices) == 71
    edges = patch.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    forth = {tuple(e) for e in edges.tolist()}
    open_edges = [e for e in forth if e[::-1] not in forth]
    assert len(forth) == len(edges) and len(open_edges) == 10  # open at the beginning only
    if half:
        assert np.array_equal(patch.vertices[patch.twin] * [-1, 1, 1], patch.vertices)
    normals = area_normals(patch.vertices, patch.triangles)
    middle = path[np.argmin(np.linalg.norm(patch.vertices[:, None] - path, axis=2), axis=1)]
    assert ((normals * (patch.vertices - middle)).sum(axis=1) > 0).all()


def test_bezier_begins_and_ends_in_its_points() -> None:
    points = np.random.default_rng(0).normal(size=(4, 3))
    curve = geometry.bezier(points, np.array([0.0, 1.0]))
    assert np.allclose(curve, points[[0, 3]])


@pytest.mark.parametrize("which", ["Upper", "Lower"])
def test_places_on_lids_are_found_again(which: str) -> None:
    lid = parts.lid(which)
    a, beta, radius = parts.place_on_lid(lid.patch.vertices)
    assert np.allclose(radius, lid.radius) and np.allclose(a, lid.a)
    assert np.allclose((beta - lid.beta + 180) % 360, 180)


@pytest.mark.parametrize("which", ["Upper", "Lower"])
def test_lids_reach_from_their_edge_far_under_the_rim(which: str) -> None:
    lid = parts.lid(which)
    span = np.ptp(lid.beta.reshape(parts.LID_COLUMNS, -1), axis=1)
    assert (span >= 90).all()
    assert np.array_equal(
        lid.share.reshape(parts.LID_COLUMNS, -1)[:, [0, -1]], np.tile([1.0, 0.0], (parts.LID_COLUMNS, 1))
    )


def test_the_upper_lid_closes_over_the_lower_one_and_both_over_the_shadow_and_the_eye() -> None:
    cornea = 1 + parts.CORNEA_BULGE
    assert cornea < parts.SHADOW_HEIGHT < parts.LID_RADIUS["Lower"] < parts.LID_RADIUS["Upper"]


def test_pupil_and_iris_grow_without_moving_the_rest() -> None:
    ball = parts.eyeball()
    rest, wide = (parts.on_eye(ball.ring, ball.azimuth, pupil=size) for size in (1.0, 1.3))
    moved = np.linalg.norm(wide - rest, axis=1)
    edge = np.abs(ball.ring - paint.PUPIL) < 3
    assert moved[edge].min() > 0.05 and moved[ball.ring > 60].max() < 1e-12 and moved[ball.ring == 0].max() < 1e-12


def test_eye_picture_has_its_pupil_in_the_middle_and_the_white_outside() -> None:
    ring = np.array([0.0, 10.0, 34.0, 43.5, 60.0])
    colour = paint.eye_colours(ring, np.full(5, -np.pi / 2))
    assert colour[0].max() < 0.1 and colour[1].max() < 0.1 and colour[4].min() > 0.7
    assert colour[2][1] > 1.5 * colour[2][0]  # sea green
    uv = eye_uvs(ring, np.zeros(5))
    assert np.allclose(uv[0], 0.5) and (np.diff(uv[:, 0]) > 0).all() and uv.max() < 1


@pytest.mark.parametrize("patch", [parts.fin().patch, parts.tongue().patch], ids=["fin", "tongue"])
def test_soft_parts_hang_on_their_joints_with_weights_that_sum_to_one(patch: meshing.Patch) -> None:
    weights = np.stack(list(patch.hold.values()))
    assert weights.min() >= -1e-12 and np.allclose(weights.sum(axis=0), 1)
    assert (weights.max(axis=1) > 0.8).all()  # every joint has a stretch of its own


def test_smoothing_keeps_constants_and_what_is_held() -> None:
    triangles = geometry.grid(6, 6)
    mean = fields.average(triangles, 36)
    assert np.allclose(fields.smoothed(np.ones(36), mean, 5), 1)
    values = np.random.default_rng(1).normal(size=36)
    held = np.arange(36) < 6
    result = fields.smoothed(values, mean, 5, held)
    assert np.array_equal(result[held], values[held]) and np.ptp(result[~held]) < np.ptp(values)


def test_mirroring_welds_the_middle() -> None:
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    whole = meshing.mirrored(vertices, np.array([[0, 1, 2]]), vertices[:, 0] == 0)
    assert len(whole.vertices) == 4 and whole.triangles.tolist() == [[0, 1, 2], [2, 3, 0]]
    assert np.array_equal(whole.vertices[whole.mirror] * [-1, 1, 1], whole.vertices)


def test_metres_and_head_lengths_are_inverse() -> None:
    points = np.random.default_rng(5).normal(size=(7, 3))
    assert np.allclose(measures.head_lengths(measures.metres(points)), points)
    assert np.allclose(measures.metres([0, -measures.LIFT, 0]), 0)
    frame = measures.eye_frame()
    assert np.allclose(frame @ frame.T, np.eye(3)) and np.isclose(np.linalg.det(frame), 1)
