"""Arm and cylinder: volume kept, bones obeyed, nothing inside out, the same every time, and a muscle that bulges."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.deform.ground_truth import arm, cylinder
from understudy.errors import InvalidInput

COARSE = arm.Resolution(around=12, stations=25, steps=4, short=10, long=60, tolerance=1e-4)
ANGLES = np.radians([[0.0, 0.0], [60.0, 0.0], [125.0, 0.0], [0.0, 180.0], [90.0, 90.0]])


def surface_volume(vertices, faces):
    """(P,) enclosed by closed surfaces (P, V, 3): a sixth of the sum of a . (b x c)."""
    a, b, c = (vertices[:, faces[:, k]] for k in range(3))
    return np.einsum("pti,pti->p", a, np.cross(b, c)) / 6.0


@pytest.fixture(scope="module")
def bent():
    return arm.solve_arm(ANGLES, COARSE)


@pytest.fixture(scope="module")
def twisted():
    return cylinder.solve_cylinder(np.radians([[0.0, 0.0], [0.0, 90.0], [0.0, 180.0], [45.0, 0.0]]), COARSE)


def closed(examples):
    """Whether each edge is passed once in each direction."""
    t = examples.triangles
    edges = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    forth = {tuple(e) for e in edges.tolist()}
    return len(forth) == len(edges) and all((b, a) in forth for a, b in forth)


@pytest.mark.parametrize("limb", ["bent", "twisted"])
def test_rest_pose_and_closed_surface(limb, request):
    e = request.getfixturevalue(limb)
    np.testing.assert_allclose(e.vertices[0], e.rest, atol=1e-6)
    np.testing.assert_allclose(
        e.transforms[0] @ e.inverse_binds, np.broadcast_to(np.eye(4), (len(e.parents), 4, 4)), atol=1e-12
    )
    assert closed(e)
    assert surface_volume(e.rest[None], e.triangles)[0] > 0


@pytest.mark.parametrize("limb", ["bent", "twisted"])
def test_volume_is_kept(limb, request):
    e = request.getfixturevalue(limb)
    volume = surface_volume(e.vertices, e.triangles)
    np.testing.assert_allclose(volume, volume[0], rtol=0.02)


@pytest.mark.parametrize("limb", ["bent", "twisted"])
def test_ends_go_with_their_bones(limb, request):
    e = request.getfixturevalue(limb)
    for vertex, bone in ((0, 0), (-1, -1)):
        moved = np.einsum("pij,j->pi", e.matrices[:, bone], np.append(e.rest[vertex], 1.0))[:, :3]
        np.testing.assert_allclose(e.vertices[:, vertex], moved, atol=1e-9)


def test_biceps_bulges(bent):
    """Over the belly of the biceps the skin rises away from the bone as the elbow bends."""
    belly = (np.abs(bent.rest[:, 0] + 0.15) < 0.03) & (bent.rest[:, 1] > 0.9 * np.abs(bent.rest[:, 2]) + 0.03)
    height = bent.vertices[:, belly, 1].mean(axis=1)
    assert height[1] > height[0] + 1e-4
    assert height[2] > height[0] + 0.0015


def test_arm_is_symmetric_in_a_plain_bend(bent):
    mirrored = bent.vertices[2] * [1.0, 1.0, -1.0]
    distance = np.linalg.norm(mirrored[:, None, :] - bent.vertices[2][None], axis=-1).min(axis=1)
    assert distance.max() < 5e-4


def test_crease_keeps_upper_arm_and_forearm_apart(bent):
    half = 0.5 * ANGLES[2, 0]
    beyond = (bent.vertices[2] - arm.ELBOW_METRES) @ [np.cos(half), np.sin(half), 0.0]
    front = bent.rest[:, 1] > 0.5 * np.hypot(bent.rest[:, 1], bent.rest[:, 2])
    assert beyond[front & (bent.rest[:, 0] < -0.01)].max() < 0.002
    assert beyond[front & (bent.rest[:, 0] > 0.01)].min() > -0.002


def test_twist_spreads_and_does_not_collapse(twisted):
    middle = np.abs(twisted.rest[:, 0]) < 1e-6
    radius = np.hypot(*twisted.vertices[2][middle].T[1:])
    assert radius.min() > 0.85 * cylinder.RADIUS_METRES
    angle = np.arctan2(twisted.vertices[2][middle][:, 2], twisted.vertices[2][middle][:, 1])
    rest = np.arctan2(twisted.rest[middle][:, 2], twisted.rest[middle][:, 1])
    turned = np.degrees(np.mod(angle - rest, 2 * np.pi))
    np.testing.assert_allclose(turned, 90.0, atol=3.0)


def test_same_every_time(bent):
    again = arm.solve_arm(ANGLES[:3], COARSE)
    np.testing.assert_allclose(again.vertices, bent.vertices[:3], atol=5e-4)
    np.testing.assert_array_equal(
        arm.solve_arm(ANGLES[:2], COARSE).vertices, arm.solve_arm(ANGLES[:2], COARSE).vertices
    )


def test_bad_angles_are_refused():
    with pytest.raises(InvalidInput, match="angles of the arm"):
        arm.solve_arm(np.zeros((3, 3)))
