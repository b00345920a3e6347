"""Flights fall as gravity says and arcs become circles, softly: goals are still reached, pins hold, keys stay."""

from __future__ import annotations

import numpy as np
import pytest
from tests.edit import creature, puppets

from understudy.character import Channel, Curve, Curves
from understudy.character.body.mass import area_masses
from understudy.edit.goals import Edit, Hold, MovePoint, Pin, Point
from understudy.edit.handles import smooth_tangents
from understudy.edit.solver.free_columns import character_size
from understudy.edit.solver.objective_terms import (
    Arc,
    Flight,
    arc_error,
    circle_residuals,
    flight_error,
    mass_points,
    path_of,
)
from understudy.edit.solver.sqp import solve
from understudy.errors import InvalidInput

TIP = Point("left tip")


def jump() -> Curves:
    """A hop of the creature: hips up and down again between three keys, arms swinging."""
    times = [0.0, 0.4, 0.8]
    hips = Curve(Channel("hips", "translation"), times, [[0, 1, 0], [0, 1.25, 0.4], [0, 1, 0.8]])
    swing = [[0, 0, 0], [0.3, 0.4, 0.2], [0, 0.1, 0.3]]
    arms = [Curve(Channel(name, "euler", ("x", "y", "z")), times, swing) for name in ("left arm", "spine", "right arm")]
    return smooth_tangents(Curves("jump", [hips, *arms], rate=24.0))


def same_keys(one: Curves, other: Curves) -> None:
    for a, b in zip(one.curves, other.curves):
        np.testing.assert_array_equal(a.times, b.times)
        np.testing.assert_array_equal(a.values, b.values)


def hop(height: float) -> Curves:
    """Only the ends are keyed, so that any parabola can be had."""
    hips = Curve(Channel("hips", "translation"), [0.0, 0.6], [[0, 1, 0], [0, 1 + height, 0.5]])
    arm = Curve(Channel("left arm", "euler", ("x", "y", "z")), [0.0, 0.6], [[0, 0, 0], [0.3, 0.4, 0.2]])
    return smooth_tangents(Curves("hop", [hips, arm], rate=24.0))


@pytest.mark.parametrize("point", [Point("hips"), None])
def test_a_flight_falls_with_gravity(point: Point | None) -> None:
    rig, curves = creature.rig(), hop(0.2)
    flight = Flight(point, 0.0, 0.6)
    done = solve(rig, curves, Edit((), terms=(flight,)))
    before, after = (flight_error(rig, c, flight) for c in (curves, done.curves))
    assert after < 0.1 * before and before > 5
    same_keys(curves, done.curves)


def test_pins_hold_and_moves_are_reached_in_flight() -> None:
    rig, curves = creature.rig(), jump()
    flight, size = Flight(Point("hips"), 0.0, 0.4), character_size(rig)
    edit = Edit((MovePoint(TIP, 0.2, by=(0.02, 0.03, 0)),), holds=(Hold(Point("right tip"), 0.3),), terms=(flight,))
    done = solve(rig, curves, edit)
    assert done.reached and done.drift <= 1e-3 * size
    assert flight_error(rig, done.curves, flight) < 0.5 * flight_error(rig, curves, flight)
    same_keys(curves, done.curves)


def test_off_by_default() -> None:
    assert Edit((MovePoint(TIP, 0.2, by=(0, 0.1, 0)),)).terms == ()


@pytest.mark.parametrize("kind", ["euler", "rotation"])
def test_an_arc_becomes_one(kind: str) -> None:
    rig, curves = creature.rig(), creature.curves(2, kind)
    arc = Arc(TIP, 1.0, 2.0)
    done = solve(rig, curves, Edit((), terms=(arc,)))
    assert arc_error(rig, done.curves, arc) < 0.2 * arc_error(rig, curves, arc)
    same_keys(curves, done.curves)


def test_weights_weigh() -> None:
    rig, curves = creature.rig(), creature.curves(2)
    errors = []
    for weight in (1e-4, 1e-2, 1.0):
        arc = Arc(TIP, 1.0, 2.0, weight)
        errors.append(arc_error(rig, solve(rig, curves, Edit((), terms=(arc,))).curves, arc))
    assert errors[0] > errors[1] > errors[2]


def circle(rng, count: int = 15, bulge: float = 1.0) -> np.ndarray:
    """(count, 3) places on part of a circle, anywhere."""
    angles = np.sort(rng.uniform(0, bulge, count))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1) @ turn.T * 0.7 + rng.normal(size=3)


@pytest.mark.parametrize("seed", range(5))
def test_a_circle_misses_nothing_of_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert np.abs(circle_residuals(circle(rng))[0]).max() < 1e-9
    line = np.outer(rng.uniform(0, 1, 9), rng.normal(size=3))
    assert np.abs(circle_residuals(line)[0]).max() < 1e-12


@pytest.mark.parametrize(("noise", "bulge"), [(0.02, 2.0), (0.02, 1.0), (1e-4, 1.0), (1e-6, 1e-3)])
def test_the_circle_answers_as_differences_say(noise: float, bulge: float) -> None:
    rng = np.random.default_rng(3)
    places = circle(rng, bulge=bulge) + rng.normal(size=(15, 3)) * noise
    residual, slopes = circle_residuals(places)
    gradient = -2 * np.einsum("q,qta->ta", residual, slopes)
    numeric = np.zeros_like(places)
    for index in np.ndindex(places.shape):
        step = np.zeros_like(places)
        step[index] = 1e-3 * noise
        up, down = (float((circle_residuals(places + s * step)[0] ** 2).sum()) for s in (1, -1))
        numeric[index] = (up - down) / (2e-3 * noise)
    np.testing.assert_allclose(gradient, numeric, atol=1e-4 * np.abs(numeric).max())


def test_a_flight_answers_as_differences_say() -> None:
    rig, rng = creature.rig(), np.random.default_rng(0)
    flight = Flight(None, 0.0, 0.5)
    points, times = flight.points(rig), flight.times(24.0)
    now = rng.normal(size=(len(times), len(points), 3))
    term = flight.term_function(rig, now, times, 1.3)
    answer, step = term(now), rng.normal(size=now.shape) * 1e-3
    change = term(now + step).residual - answer.residual
    np.testing.assert_allclose(-np.einsum("qtpa,tpa->q", answer.slopes, step), change, atol=1e-9)
    fall = np.array([0.1, 0.2, 0.3]) + times[:, None] * 0.5 + 0.5 * times[:, None] ** 2 * np.array(flight.gravity)
    assert np.abs(term(np.repeat(fall[:, None] / 1.3, len(points), axis=1)).residual).max() < 1e-9


def test_the_centre_of_mass_is_where_the_surface_is() -> None:
    rig = puppets.rig()
    points, mass = mass_points(rig), area_masses(rig)[2]
    assert mass.sum() == pytest.approx(1) and (mass > 0).all()
    still = Curves("still", [Curve(Channel("rig:stand", "rotation"), [0, 1], [[0, 0, 0, 1.0]] * 2)], rate=24.0)
    centre = mass @ path_of(rig, still, points, np.zeros(1))[0]
    np.testing.assert_allclose(centre, [0.6, 1.0, 0.0], atol=0.02)  # the strip goes from 0 to 1.2 at a height of 1


def test_a_skeleton_weighs_as_its_bones_are_long() -> None:
    from understudy.character import Character, Skeleton
    from understudy.character.rig import DirectRig

    rig = DirectRig(Character("stick", Skeleton(["a", "b", "c"], [-1, 0, 1], [[0, 0, 0], [0, 2, 0], [0, 1, 0]]), []))
    points, mass = mass_points(rig), area_masses(rig)[2]
    np.testing.assert_allclose(mass, [2 / 3, 1 / 3])
    assert [point.offset for point in points] == [(0, 1, 0), (0, 0.5, 0)]


def test_bad_terms_are_one_sentence() -> None:
    rig, curves = creature.rig(), creature.curves()
    for text, call in {
        "last some time": lambda: Flight(None, 1.0, 0.5),
        "above zero": lambda: Arc(TIP, 0.0, 0.5, -1.0),
        "gravity": lambda: Flight(None, 0.0, 1.0, gravity=(0, np.nan, 0)),
        "within the clip": lambda: solve(rig, curves, Edit((), terms=(Arc(TIP, 1, 9),))),
        "tail": lambda: solve(rig, curves, Edit((), terms=(Arc(Point("tail"), 1, 2),))),
        "move, contact or objective term": lambda: Edit(()),
    }.items():
        with pytest.raises(InvalidInput, match=text):
            call()


def test_a_pin_is_kept_by_wishes_alone() -> None:
    rig, curves = creature.rig(), creature.curves(1)
    arc = Arc(TIP, 1.0, 2.0)
    done = solve(rig, curves, Edit((), pins=(Pin(Point("spine")),), terms=(arc,)))
    times = np.linspace(1, 2, 30)
    kept = [path_of(rig, c, [Point("spine")], times) for c in (curves, done.curves)]
    np.testing.assert_allclose(kept[0], kept[1], atol=1e-3 * character_size(rig))
    assert arc_error(rig, done.curves, arc) < 0.7 * arc_error(rig, curves, arc)
