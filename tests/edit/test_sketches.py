"""Sketch: paths made by turning tangents are drawn again; keys stay where they are, and strokes are pulled to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.edit import creature

from understudy.character import Curves
from understudy.edit.goals import Pin, Point
from understudy.edit.sketches import (
    Screen,
    Stroke,
    StrokeLine,
    pull_stroke,
    remove_tremor,
    resample_evenly,
    sketch_path,
)
from understudy.edit.solver.free_columns import character_size
from understudy.edit.solver.objective_terms import path_of
from understudy.errors import InvalidInput

TIP = Point("left tip")
CAMERA = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0.1, 0, -0.2, 4]])


def perturbed(curves: Curves, seed: int, a: float, b: float, only: str = "") -> Curves:
    """The same keys with other tangents in the segments from a to b, of some joints."""
    rng, changed = np.random.default_rng(seed), []
    for curve in curves.curves:
        before, after = np.array(curve.before), np.array(curve.after)
        for k in range(len(curve) - 1):
            if curve.times[k] < b and curve.times[k + 1] > a and curve.channel.target.startswith(only):
                after[k, :, 1] += rng.normal(size=after.shape[1]) * 0.12
                before[k + 1, :, 1] += rng.normal(size=after.shape[1]) * 0.12
        changed.append(replace(curve, before=before, after=after))
    return replace(curves, curves=tuple(changed))


def place(rig, curves: Curves, times) -> np.ndarray:
    return path_of(rig, curves, [TIP], np.asarray(times))[:, 0]


def away(path: np.ndarray, drawn: np.ndarray) -> float:
    """How far any place of a path is from a drawn one, at most."""
    return float(np.linalg.norm(path[:, None] - drawn, axis=2).min(axis=1).max())


@pytest.mark.parametrize("kind", ["euler", "rotation"])
@pytest.mark.parametrize("seed", range(3))
def test_a_path_is_found_again_from_its_shape_alone(kind: str, seed: int) -> None:
    rig, curves = creature.rig(), creature.curves(seed, kind)
    other, size = perturbed(curves, seed, 1, 2), character_size(rig)
    uneven = np.sort(np.concatenate([[1, 2], np.random.default_rng(seed).uniform(1, 2, 200)]))
    done = sketch_path(rig, curves, TIP, place(rig, other, uneven), 1.0, 2.0)
    drawn, fine = place(rig, other, np.linspace(1, 2, 3000)), np.linspace(1, 2, 100)
    assert done.reached and done.distance <= 1e-3 * size
    assert away(place(rig, done.curves, fine), drawn) < 1.5e-3 * size < away(place(rig, curves, fine), drawn)
    for one, two in zip(curves.curves, done.curves.curves):
        np.testing.assert_array_equal(one.times, two.times)
        np.testing.assert_array_equal(one.values, two.values)


def test_a_stroke_with_times_is_where_it_was_drawn_then() -> None:
    rig, curves = creature.rig(), creature.curves(1)
    other, times = perturbed(curves, 1, 1, 2), np.array([1.05, 1.2, 1.3, 1.45, 1.6, 1.7, 1.9])
    done = sketch_path(rig, curves, TIP, place(rig, other, times), times=times)
    assert done.reached
    off = np.linalg.norm(place(rig, done.curves, times) - place(rig, other, times), axis=1)
    assert off.max() <= 1e-3 * character_size(rig)


def test_a_stroke_on_a_screen_asks_for_what_is_seen() -> None:
    rig, curves = creature.rig(), creature.curves(0)
    other, times = perturbed(curves, 0, 1.2, 1.8), np.linspace(1.2, 1.8, 80)
    seen = Screen(CAMERA, 1.0)
    drawn = seen.project_points(place(rig, other, times)).place
    done = sketch_path(rig, curves, TIP, drawn, 1.2, 1.8, project=CAMERA)
    path = seen.project_points(place(rig, done.curves, times))
    assert done.reached
    assert away(path.place, seen.project_points(place(rig, other, np.linspace(1.2, 1.8, 2000))).place) < 2e-3


def test_pins_hold_under_a_sketch() -> None:
    rig, curves = creature.rig(), creature.curves(2, "rotation")
    other = perturbed(curves, 3, 1, 2, only="left")
    done = sketch_path(rig, curves, TIP, place(rig, other, np.linspace(1, 2, 100)), 1, 2, Pin(Point("right tip")))
    size = character_size(rig)
    assert done.drift <= 1e-3 * size and done.drift_angle <= 1e-3
    assert done.distance < 0.1 * done.start_distance
    times = np.linspace(1, 2, 50)
    kept = [path_of(rig, c, [Point("right tip")], times) for c in (curves, done.curves)]
    np.testing.assert_allclose(kept[0], kept[1], atol=1e-3 * size)


def test_a_stroke_is_pulled_to_keys_and_says_so() -> None:
    rig, curves = creature.rig(), creature.curves(0)
    drawn = place(rig, curves, np.linspace(1, 2, 60)) + np.array([0.0, 0.2, 0.0])
    done = sketch_path(rig, curves, TIP, drawn, 1.0, 2.0)
    assert [note for note in done.notes if "200 mm to the key at 1 s" in note]
    assert [note for note in done.notes if "200 mm to the key at 2 s" in note]
    free = sketch_path(
        rig, curves, TIP, place(rig, curves, np.linspace(1.2, 1.8, 60)) + np.array([0.0, 0.05, 0.0]), 1.2, 1.8
    )
    assert not free.notes and free.distance < 0.06 * free.start_distance
    moved = place(rig, free.curves, [1.2]) - place(rig, curves, [1.2])
    np.testing.assert_allclose(moved, [[0, 0.05, 0]], atol=3e-3)


def test_a_path_goes_to_the_far_end_of_a_stroke_and_back() -> None:
    """There and back on nearly the same way: a path that turned half way would be as near to it."""
    rig, curves, size = creature.rig(), creature.curves(0), character_size(creature.rig())
    path = place(rig, curves, np.linspace(1, 2, 41))
    far = np.sin(np.linspace(0, np.pi, 41))[:, None] * np.array([0.0, 0.25, 0.1])
    done = sketch_path(rig, curves, TIP, path + far, 1.0, 2.0)
    gone = place(rig, done.curves, np.linspace(1, 2, 200))
    assert np.linalg.norm(gone - (path + far)[20], axis=1).min() < 0.03 * size
    assert done.distance < 0.2 * done.start_distance


def test_the_order_in_which_points_were_drawn_is_even() -> None:
    rng = np.random.default_rng(0)
    turn = np.sort(np.concatenate([[0, np.pi], rng.uniform(0, np.pi, 30)]))
    circle = resample_evenly(np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1), 256)
    steps = np.linalg.norm(np.diff(circle, axis=0), axis=1)
    assert steps.max() < 1.01 * steps.min()
    np.testing.assert_allclose(np.linalg.norm(circle, axis=1), 1, atol=5e-3)  # few points are rounded off between
    twice = np.repeat(circle[::50], 2, axis=0)
    assert np.isfinite(resample_evenly(twice, 64)).all()


def test_trembling_is_steadied_and_a_steady_hand_left_alone() -> None:
    rng = np.random.default_rng(5)
    turn = np.linspace(0, np.pi, 90)
    arc = np.stack([np.cos(turn), np.sin(turn), 0.2 * turn], axis=1)
    assert remove_tremor(arc) is arc
    shaky = arc + rng.normal(size=arc.shape) * 0.02
    dense = np.linspace(0, np.pi, 2000)
    shape = np.stack([np.cos(dense), np.sin(dense), 0.2 * dense], axis=1)
    assert away(remove_tremor(shaky)[10:-10], shape) < 0.75 * away(shaky, shape)
    length = np.linalg.norm(np.diff(remove_tremor(shaky), axis=0), axis=1).sum()
    assert length == pytest.approx(np.linalg.norm(np.diff(arc, axis=0), axis=1).sum(), rel=0.05)


def test_keys_that_nearly_meet_the_ends_are_the_ends() -> None:
    rig, curves = creature.rig(), creature.curves(0)
    done = sketch_path(rig, curves, TIP, place(rig, curves, np.linspace(1, 2, 60)), 1.0 - 1e-7, 2.0 + 1e-7)
    assert not done.notes and done.reached


def test_the_nearest_place_of_a_line_is_nearest() -> None:
    rng = np.random.default_rng(1)
    line = StrokeLine(resample_evenly(np.cumsum(rng.normal(size=(12, 3)), axis=0), 256))
    places = rng.normal(size=(20, 3)) * 2
    found = line.points_at(line.nearest(places))
    best = np.linalg.norm(places[:, None] - line.points_at(np.linspace(0, 1, 20001)), axis=2).min(axis=1)
    np.testing.assert_allclose(np.linalg.norm(places - found, axis=1), best, atol=1e-3)


def test_a_pulled_stroke_passes_through_its_places() -> None:
    rng = np.random.default_rng(2)
    drawn = np.cumsum(rng.normal(size=(30, 3)), axis=0)
    places = rng.normal(size=(3, 3))
    line = StrokeLine(pull_stroke(drawn, [0.0, 0.4, 1.0], places))
    shares = np.linspace(0, 1, 256)
    for share, wanted in zip((0.0, 0.4, 1.0), places):
        assert np.linalg.norm(line.points - wanted, axis=1).min() < 0.1
        if share in (0.0, 1.0):
            np.testing.assert_allclose(line.points[int(share * 255)], wanted)
    assert len(line.points) == len(shares)
    half = pull_stroke(drawn, [0.0], [drawn[0] + 1.0])  # a free end stays
    np.testing.assert_allclose(half[-1], drawn[-1])


@pytest.mark.parametrize("project", [None, CAMERA[:2], CAMERA])
@pytest.mark.parametrize("timed", [False, True])
def test_a_stroke_answers_as_differences_say(project, timed: bool) -> None:
    """The gradient of the sum of squares: matches are nearest, so that their own change does not count."""
    rng = np.random.default_rng(4)
    t = np.linspace(0, 1, 9)
    path = np.stack([t, np.sin(2 * t), 0.3 * t], axis=1)[:, None]
    drawn = np.stack([t + 0.05, np.sin(2 * t) + 0.1, 0.3 * t**2], axis=1)
    flat = drawn if project is None else Screen(np.array(project), 1.3).project_points(drawn / 1.3).place
    matrix = None if project is None else tuple(map(tuple, project.tolist()))
    clock = tuple(t.tolist()) if timed else ()
    stroke = Stroke(TIP, tuple(map(tuple, flat.tolist())), 0.0, 1.0, clock, matrix, along=0.0)
    term = stroke.term_function(creature.rig(), path, stroke.times(4.0), 1.3)
    now = path + rng.normal(size=path.shape) * 0.01
    answer = term(now)
    gradient = -2 * np.einsum("q,qtpa->tpa", answer.residual, answer.slopes)
    for index in np.ndindex(now.shape):
        step = np.zeros_like(now)
        step[index] = 1e-6
        up, down = (float((term(now + s * step).residual ** 2).sum()) for s in (1, -1))
        assert gradient[index] == pytest.approx((up - down) / 2e-6, abs=4e-3 * np.abs(gradient).max())


def test_bad_strokes_are_one_sentence() -> None:
    rig, curves = creature.rig(), creature.curves()
    line = [[0, 1, 0], [1, 1, 0]]
    for text, call in {
        "start and a stop": lambda: sketch_path(rig, curves, TIP, line),
        "at least two": lambda: sketch_path(rig, curves, TIP, line[:1], 1, 2),
        "all its points are one": lambda: sketch_path(rig, curves, TIP, [line[0]] * 3, 1, 2),
        "last some time": lambda: sketch_path(rig, curves, TIP, line, 2, 1),
        "should increase": lambda: sketch_path(rig, curves, TIP, [*line, [2, 2, 2]], times=[1.0, 1.5, 1.2]),
        "within the clip": lambda: sketch_path(rig, curves, TIP, line, 1, 99),
        "stroke of 'left tip'": lambda: sketch_path(rig, curves, TIP, [[0, 0, np.nan], [1, 1, 1]], 1, 2),
        "two or three rows": lambda: sketch_path(rig, curves, TIP, [[0, 0], [1, 1]], 1, 2, project=np.ones((4, 4))),
        "behind the screen": lambda: sketch_path(rig, curves, TIP, [[0, 0], [1, 1]], 1, 2, project=-CAMERA),
    }.items():
        with pytest.raises(InvalidInput, match=text):
            call()
