"""Feet stand where they were put, and legs reach them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assets.members.actor_motion import leg_of
from assets.members.actor_steps import HEEL_LENGTH, Leg, placed, reached, soft_least, solved
from assets.members.skeletons import actor_skeleton
from understudy.maths import quaternion, vector

LEFT = leg_of(actor_skeleton(), "Left")
angles = st.floats(-50.0, 70.0)


def column(value: float) -> np.ndarray:
    return np.array([value])


def foot_of(own: Leg, turn: float = 0.0, roll: float = 0.0, lift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Where the joint of the toes and the edge of the heel are."""
    foot = placed(own, column(0.1), column(-0.2), column(lift), column(turn), column(roll))
    toes = foot.ankle + quaternion.rotate(foot.foot, own.toes)
    heel = foot.ankle + quaternion.rotate(foot.foot, [0.0, -own.height, -HEEL_LENGTH])
    return toes[0], heel[0]


@given(turn=st.floats(-180.0, 180.0), roll=angles)
@settings(max_examples=40, deadline=None)
def test_a_foot_turns_about_its_toes_or_its_heel_and_this_stays(turn: float, roll: float) -> None:
    toes, heel = foot_of(LEFT, turn, roll)
    flat_toes, flat_heel = foot_of(LEFT, turn)
    if roll >= 0:
        assert np.allclose(toes, flat_toes, atol=1e-12)
    else:
        assert np.allclose(heel, flat_heel, atol=1e-12)
        assert abs(heel[1]) < 1e-12


def test_toes_stay_flat_while_the_heel_rises_and_go_along_in_the_air() -> None:
    flat = placed(LEFT, *(column(v) for v in (0.0, 0.0, 0.0, 20.0, 40.0)))
    up = quaternion.rotate(flat.toes, [0.0, 1.0, 0.0])
    assert np.allclose(up, [0.0, 1.0, 0.0], atol=1e-12)
    high = placed(LEFT, *(column(v) for v in (0.0, 0.0, 0.5, 20.0, 40.0)))
    assert quaternion.angle_between(high.toes, high.foot)[0] < np.radians(8)


@given(x=st.floats(-0.5, 0.5), y=st.floats(0.25, 0.85), z=st.floats(-0.5, 0.5), heading=st.floats(-3.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_a_leg_ends_at_the_ankle_and_its_knee_points_where_it_is_told(
    x: float, y: float, z: float, heading: float
) -> None:
    hip = np.zeros((1, 3))
    ankle = reached(LEFT, hip, np.array([[x, -y, z]]))
    pointing = np.array([[np.sin(heading), 0.1, np.cos(heading)]])
    thigh, shin = solved(LEFT, hip, ankle, pointing)
    knee = quaternion.rotate(thigh, LEFT.thigh)
    assert np.allclose(knee + quaternion.rotate(shin, LEFT.shin), ankle, atol=1e-9)
    along = vector.normalise(ankle)
    aside = knee - along * vector.dot(knee, along)[:, None]
    assert vector.dot(aside, pointing)[0] > -1e-9


def test_what_is_out_of_reach_comes_nearer_and_what_is_not_stays() -> None:
    hip = np.zeros((3, 3))
    ankle = np.array([[0.0, -0.6, 0.0], [0.0, -1.0, 0.2], [0.3, -1.4, 0.0]])
    found = reached(LEFT, hip, ankle)
    assert np.allclose(found[0], ankle[0], atol=1e-9)
    assert (np.linalg.norm(found, axis=1) < LEFT.length).all()
    assert np.allclose(np.cross(found[2], ankle[2]), 0, atol=1e-12)


def test_the_rounded_least_is_below_both_and_near_the_lesser() -> None:
    values = np.linspace(-1, 1, 101)
    found = soft_least(values, 0.2, 0.01)
    assert (found <= np.minimum(values, 0.2) + 1e-12).all()
    assert np.abs(found - np.minimum(values, 0.2)).max() < 0.01
    assert (np.diff(found) >= 0).all()
