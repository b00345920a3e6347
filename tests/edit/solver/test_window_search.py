"""Drags of keys that a fitter placed, and of dense frames: local, smooth, and true about themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.edit import figure

from understudy.character import Curve, Curves
from understudy.character.curve import LINEAR
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.edit.drag import DragSession
from understudy.edit.edit_curves import edit_curves
from understudy.edit.goals import Edit, Limit, MovePoint, Pin, Point
from understudy.edit.sketches import sketch_path
from understudy.edit.solver.free_columns import character_size
from understudy.edit.solver.problem import prepare_problem
from understudy.edit.solver.suggestions import suggest
from understudy.edit.solver.window_search import WindowSearch
from understudy.edit.timing import retime

KEYS = tuple(np.arange(0, 4.01, 0.25).tolist())


def walk(seed: int = 3) -> Curves:
    """Smooth motion of the figure, with bent elbows, whose keys a fitter placed."""
    curves = figure.curves(keys=KEYS, seed=seed, amount=0.12)
    bends = {"L fore": (0.0, 0.4, 0.9), "R fore": (0.0, -0.4, -0.9)}
    fitted = {}
    for i, curve in enumerate(curves.curves):
        bend = np.array(bends.get(curve.channel.target, 0.0))
        fitted[i] = replace(curve, values=curve.values + bend, fitted=True)
    return curves.with_curves(fitted)


def dense_walk(seed: int = 3) -> Curves:
    source, times = walk(seed), np.arange(0, 4, 1 / 60)
    values, offsets = source.sample(times), source.channels.offsets
    dense = [
        Curve(c.channel, times, values[:, a:b], LINEAR) for c, a, b in zip(source.curves, offsets[:-1], offsets[1:])
    ]
    return Curves("walk", dense, rate=60.0)


def paths(rig: DirectRig, curves: Curves, times: Array) -> Array:
    """(T, J, 3) metres."""
    return rig.joints(rig.pose(curves, times))[..., :3, 3]


@pytest.mark.parametrize("make", [walk, dense_walk])
def test_a_dragged_hand_arrives_and_the_rest_stays(make: object) -> None:
    rig, curves = figure.rig(), make()  # type: ignore[operator]
    result = edit_curves(rig, curves, MovePoint("L hand", 2.1, by=(-0.05, 0.08, 0.04)))
    assert result.reached and result.distance < 1e-3 * character_size(rig)
    times = np.linspace(0, 4, 481)
    before, after = paths(rig, curves, times), paths(rig, result.curves, times)
    moved = np.linalg.norm(after - before, axis=-1)
    asked = float(np.linalg.norm((-0.05, 0.08, 0.04)))
    hand, other = figure.NAMES.index("L hand"), figure.NAMES.index("R hand")
    assert moved[:, hand].max() < 1.3 * asked
    assert moved[:, other].max() < 0.35 * asked
    assert result.radius is not None and result.change is not None
    far = np.abs(times - 2.1) > result.radius + 0.3
    assert moved[far].max() < 0.02 * asked
    assert result.change.furthest_m == pytest.approx(moved[:, hand].max(), rel=0.05)
    assert abs(result.change.start - 2.1) <= result.radius + 0.3
    for old, new in zip(curves.curves, result.curves.curves):
        np.testing.assert_array_equal(old.times, new.times)


@pytest.mark.parametrize("make", [walk, dense_walk])
def test_pins_hold_at_all_times(make: object) -> None:
    rig, curves = figure.rig(), make()  # type: ignore[operator]
    result = edit_curves(rig, curves, MovePoint("L hand", 2.1, by=(-0.05, 0.05, 0.02)), Pin("R hand"))
    times, hand = np.linspace(0, 4, 961), figure.NAMES.index("R hand")
    drift = np.linalg.norm(paths(rig, result.curves, times) - paths(rig, curves, times), axis=-1)[:, hand]
    assert result.reached and drift.max() < 2e-3 * character_size(rig)


def test_limits_are_kept() -> None:
    """Each column that the free drag takes beyond where it was gets half of that."""
    rig, curves = figure.rig(), walk()
    times, goal = np.linspace(0, 4, 961), MovePoint("L hand", 2.1, by=(-0.1, 0.05, 0.02))
    reach, was = edit_curves(rig, curves, goal).curves.sample(times), curves.sample(times)
    tried = 0
    for c, name in enumerate(curves.channels.names):
        low, high = (0.5 * (side(reach[:, c]) + side(was[:, c])) for side in (np.min, np.max))
        low, high = min(low, was[:, c].min()), max(high, was[:, c].max())
        if ".euler." not in name or (reach[:, c].min() > low - 5e-3 and reach[:, c].max() < high + 5e-3):
            continue
        joint, _, column = name.split(".")
        bound = edit_curves(rig, curves, goal, Limit(joint, column, float(low), float(high)))
        now = bound.curves.sample(times)[:, c]
        assert now.min() >= low - 1e-4 and now.max() <= high + 1e-4
        tried += 1
    assert tried


def test_a_drag_out_and_back_leaves_no_trace() -> None:
    rig, curves = figure.rig(), walk()
    session = DragSession(rig, curves)
    begun = session.begin(Edit([MovePoint(Point("L hand"), 2.1, by=(0, 0, 0))], [Pin(Point("R hand"))]))
    home = np.array(begun.places[0])
    for offset in ([0.05, 0.05, 0], [0.1, 0.1, 0.05], [-0.05, 0.1, 0.1], [0.0, 0.02, 0.0], [0.0, 0.0, 0.0]):
        session.update(to=home + offset)
    committed, times = session.commit(), np.linspace(0, 4, 241)
    assert np.abs(paths(rig, committed, times) - paths(rig, curves, times)).max() < 1e-4
    assert session.last_result is not None and session.last_result.change is not None


def test_the_way_of_the_pointer_does_not_matter() -> None:
    rig, curves = figure.rig(), walk()
    cold = edit_curves(rig, curves, MovePoint("L hand", 2.1, by=(-0.06, 0.06, 0.03)), Pin("R hand"))
    session = DragSession(rig, curves)
    begun = session.begin(Edit([MovePoint(Point("L hand"), 2.1, by=(0, 0, 0))], [Pin(Point("R hand"))]))
    for offset in ([0.1, 0, 0], [0, -0.1, 0.1], [-0.15, 0.1, 0], [-0.06, 0.06, 0.03]):
        session.update(to=np.array(begun.places[0]) + offset)
    times = np.linspace(0, 4, 241)
    difference = np.abs(paths(rig, session.commit(), times) - paths(rig, cold.curves, times)).max()
    assert difference < 0.04 * np.linalg.norm((-0.06, 0.06, 0.03))


def test_a_goal_out_of_reach_on_the_way_leaves_no_trace() -> None:
    rig, curves = figure.rig(), walk()
    times, goal = np.linspace(0, 4, 241), np.array([-0.06, 0.06, 0.03])
    shown = []
    for way in ([goal], [[2.0, -1.0, 0.5], [-1.5, 0.0, -2.0], goal]):
        session = DragSession(rig, curves)
        begun = session.begin(Edit([MovePoint(Point("L hand"), 2.1, by=(0, 0, 0))], [Pin(Point("R hand"))]))
        for offset in way:
            session.update(to=np.array(begun.places[0]) + offset)
        shown.append(paths(rig, session.curves, times))
    assert np.abs(shown[1] - shown[0]).max() < 0.04 * np.linalg.norm(goal)


def test_what_nothing_holds_fades_with_the_falloff() -> None:
    """Angles keep the shape of the window, as with a plain key that fades."""
    rig, curves = figure.rig(), walk()
    result = edit_curves(rig, curves, MovePoint("L hand", 2.0, by=(-0.03, 0.05, 0.02)), falloff=1.0, hold_feet=False)
    times = np.linspace(0, 4, 481)
    away = np.minimum(np.abs(times - 2.0), 1.0)
    change = result.curves.sample(times) - curves.sample(times)
    peak = result.curves.sample([2.0])[0] - curves.sample([2.0])[0]
    shape = change - (0.5 + 0.5 * np.cos(np.pi * away))[:, None] * peak
    # 0.15; without a cost of the shape itself, 0.24
    assert np.sqrt((shape**2).mean()) < 0.2 * np.sqrt((peak**2).mean())


def test_a_release_gives_what_the_pointer_saw_last() -> None:
    rig, curves, times = figure.rig(), walk(), np.linspace(0, 4, 241)
    way = np.array([-0.06, 0.06, 0.03])
    for held in ((), (Pin(Point("R hand")),)):
        session = DragSession(rig, curves)
        begun = session.begin(Edit([MovePoint(Point("L hand"), 2.1, by=(0, 0, 0))], held))
        for share in np.linspace(0.1, 1, 10):
            session.update(to=np.array(begun.places[0]) + share * way)
        shown = paths(rig, session.curves, times)
        assert np.abs(paths(rig, session.commit(), times) - shown).max() < 0.04 * np.linalg.norm(way)


def test_turning_a_hand_moves_the_other_hardly() -> None:
    rig, curves = figure.rig(), walk()
    j = figure.NAMES.index("L hand")
    world = rig.joints(rig.pose(curves, [2.1]))[0, j, :3, :3]
    from understudy.maths import quaternion

    turn = quaternion.multiply(
        quaternion.from_rotation_vector(np.array([0.0, 0.0, 0.5])), quaternion.from_matrix(world)
    )
    result = edit_curves(rig, curves, MovePoint("L hand", 2.1, turn_to=tuple(turn.tolist())))
    times = np.linspace(0, 4, 241)
    moved = np.linalg.norm(paths(rig, result.curves, times) - paths(rig, curves, times), axis=-1)
    assert result.reached and moved[:, figure.NAMES.index("R hand")].max() < 0.01


def test_a_sketch_is_followed_within_its_range() -> None:
    rig, curves = figure.rig(), walk()
    times, hand = np.linspace(1.5, 2.5, 15), figure.NAMES.index("L hand")
    bump = 0.08 * np.sin(np.pi * (times - 1.5))[:, None] * np.array([0.0, 1.0, 0.3])
    stroke = paths(rig, curves, times)[:, hand] + bump
    result = sketch_path(rig, curves, "L hand", stroke, times=times)
    off = np.linalg.norm(paths(rig, result.curves, times)[:, hand] - stroke, axis=-1)
    assert np.sqrt((off**2).mean()) < 0.1 * 0.08
    assert result.radius is not None
    outside = np.concatenate(
        [np.linspace(0, 1.5 - result.radius - 0.3, 50), np.linspace(2.5 + result.radius + 0.3, 4, 50)]
    )
    assert np.abs(paths(rig, result.curves, outside) - paths(rig, curves, outside)).max() < 2e-3


def test_retiming_a_hand_is_left_to_the_arm() -> None:
    rig, curves = figure.rig(), walk()
    result = retime(rig, curves, Point("L hand"), 2.1, 1.3)
    times = np.linspace(0, 4, 241)
    moved = np.linalg.norm(paths(rig, result.curves, times) - paths(rig, curves, times), axis=-1).max(axis=0)
    assert moved[figure.NAMES.index("root")] < 0.15 * moved[figure.NAMES.index("L hand")]
    assert moved[figure.NAMES.index("R hand")] < 0.75 * moved[figure.NAMES.index("L hand")]
    assert "times its speed" in result.notes[-1]


def test_keys_are_suggested_where_they_are_too_far_apart() -> None:
    curves = figure.curves(keys=(0, 2.0, 4.0), amount=0.25)
    curves = curves.with_curves({i: replace(curve, fitted=True) for i, curve in enumerate(curves.curves)})
    rig = figure.rig()
    edit = Edit([MovePoint(Point("L hand"), 1.0, by=(-0.05, 0.05, 0.0))], falloff=0.4)
    (offer,) = suggest(rig, curves, edit, kinds=("insert",))
    assert offer.kind == "insert" and offer.keys > 0 and offer.outcome.reached
    times = np.linspace(0, 4, 241)
    moved = np.abs(paths(rig, offer.outcome.curves, times) - paths(rig, curves, times)).max(axis=(1, 2))
    assert moved[np.abs(times - 1.0) > 0.45].max() < 0.02 * 0.07


@pytest.mark.parametrize("damped", [False, True])
def test_a_step_solves_the_normal_equations_of_all_variables(damped: bool) -> None:
    """The equations in the rows, built from covariances of columns, against those in the variables themselves."""
    edit = Edit((MovePoint("L hand", 2.1, by=(-0.05, 0.08, 0.04)),), (Pin("R hand"), Pin("chest", orientation=False)))
    problem = prepare_problem(figure.rig(), walk(), edit)
    rng = np.random.default_rng(4)
    search = WindowSearch(problem, problem.held)
    search.aim(problem.moves)
    z = rng.normal(size=problem.variables.count) * 0.01
    now, damping = search.rows(z), rng.uniform(0, 3, len(problem.variables.columns)) * damped
    step, force = search.solve_rows(now, z, damping)
    stiff, matrix = damping[problem.variables.column], np.empty((search.asked.rows, problem.variables.count))
    _, _, jacobian = problem.states.evaluate(
        problem.variables.sample(search.asked.grid, z), search.asked.sample, search.asked.point
    )
    problem.offsets.chain_rows(
        jacobian, search.asked.grid, search.asked.sample, search.asked.first_row, problem.size, matrix
    )
    hessian = np.diag(1 + stiff) + (matrix.T * now.weight) @ matrix
    expected = np.linalg.solve(hessian, stiff * z + matrix.T @ (now.weight * (now.residual + matrix @ z)))
    np.testing.assert_allclose(step, expected, atol=1e-5 * np.abs(expected).max())
    left = now.residual - matrix @ (step - z)
    np.testing.assert_allclose(force, now.weight * left, atol=1e-3 * np.abs(force).max())
