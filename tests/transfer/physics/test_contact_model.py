"""The floor: never pulls, friction opposes, all continuous, derivatives exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.transfer.physics.contact_model import contact_forces, contact_model_of, friction_direction, normal_force

MODEL = contact_model_of(500.0, 1.7, 4.0)
heights = st.floats(-0.02, 0.05)
speeds = st.floats(-3.0, 3.0)


@given(heights, speeds)
def test_the_normal_force_never_pulls(y: float, speed: float) -> None:
    force, _, by_speed = normal_force(np.array(y), np.array(speed), MODEL)
    assert force >= 0
    assert by_speed <= 0  # the damper works against the motion


def test_a_standing_body_sinks_in_by_what_it_is_said_to() -> None:
    y = np.array(-0.001 * 1.7)
    np.testing.assert_allclose(normal_force(y, np.array(0.0), MODEL)[0], 125.0, rtol=0.01)


def test_far_away_the_spring_is_the_usual_one() -> None:
    np.testing.assert_allclose(
        normal_force(np.array([-1.0, 5.0]), np.zeros(2), MODEL)[0] / MODEL.k_P, [1.0, 0.0], atol=1e-6
    )


@given(st.floats(-0.05, 0.05), st.floats(-0.05, 0.05), st.floats(-1, 1), st.floats(-1, 1), heights)
def test_friction_opposes_and_stays_within_its_cone(x: float, z: float, vx: float, vz: float, y: float) -> None:
    force, _, _ = contact_forces(np.array([x, y, z]), np.array([vx, 0.0, vz]), np.zeros(3), MODEL)
    assert np.hypot(force[0], force[2]) <= MODEL.mu * force[1] * (1 + 1e-12)
    sliding, _, _ = contact_forces(np.array([0.0, y, 0.0]), np.array([vx, 0.0, vz]), np.zeros(3), MODEL)
    assert sliding[0] * vx + sliding[2] * vz <= 0
    pulled, _, _ = contact_forces(np.array([x, y, z]), np.zeros(3), np.zeros(3), MODEL)
    assert pulled[0] * x + pulled[2] * z <= 0


def test_the_model_is_continuous() -> None:
    y = np.linspace(-0.02, 0.05, 20001)
    for speed in (-1.0, 0.0, 0.5):
        force = normal_force(y, np.full_like(y, speed), MODEL)[0]
        assert np.abs(np.diff(force)).max() < 1.5 * (MODEL.k_P + 1.0 * MODEL.k_D * MODEL.k) * (y[1] - y[0])
    u = np.stack([np.linspace(-1e-5, 1e-5, 2001), np.zeros(2001)], axis=1)  # through the change of cases at epsilon
    assert np.abs(np.diff(friction_direction(u, MODEL)[0][:, 0])).max() < 2 * MODEL.k_t * 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_derivatives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    place, speed = rng.normal(size=3) * [0.002, 0.003, 0.002], rng.normal(size=3) * [0.05, 0.1, 0.05]
    anchor = rng.normal(size=3) * 0.001
    force, by_place, by_speed = contact_forces(place, speed, anchor, MODEL)
    for i in range(3):
        for derivative, step, which in ((by_place, 1e-8, 0), (by_speed, 1e-6, 1)):
            ends = []
            for sign in (1, -1):
                moved = [place.copy(), speed.copy()]
                moved[which][i] += sign * step
                ends.append(contact_forces(moved[0], moved[1], anchor, MODEL)[0])
            numeric = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose(derivative[:, i], numeric, rtol=1e-4, atol=1e-5 * np.abs(derivative).max())
    assert np.isfinite(force).all()


def test_a_mouse_stands_as_an_elephant_does() -> None:
    small, large = contact_model_of(0.2, 0.08, 4.0), contact_model_of(40000.0, 3.0, 4.0)
    for height, model, weight in ((0.08, small, 0.2), (3.0, large, 40000.0)):
        y = np.array([-0.002, 0.0, 0.01]) * height
        np.testing.assert_allclose(
            normal_force(y, np.zeros(3), model)[0] / weight,
            normal_force(y / height, np.zeros(3), contact_model_of(1.0, 1.0, 4.0))[0],
        )
