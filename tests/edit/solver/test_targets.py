"""The compiled measurement of targets equals that of its separate steps."""

from __future__ import annotations

import numpy as np
import pytest
from tests.edit import creature

from understudy.edit.goals import Contact, Edit, MovePoint, Pin, Point
from understudy.edit.solver.problem import prepare_problem
from understudy.edit.solver.targets import measure_any_states, measure_targets


@pytest.mark.parametrize("slopes", [True, False])
@pytest.mark.parametrize("kind", ["euler", "rotation", "mixed"])
def test_measured_at_once_or_step_by_step_is_the_same(kind: str, slopes: bool) -> None:
    moves = [
        MovePoint(Point("left tip"), 1.4, by=(0.05, 0, 0), turn_to=(0, 0, 0, 1)),
        MovePoint(Point(vertex=5), 1.6, by=(0, 0.1, 0)),
    ]
    edit = Edit(
        moves, pins=[Pin(Point("right tip"), orientation=False)], contacts=[Contact(Point("left tip"), 1.6, 1.9)]
    )
    problem = prepare_problem(creature.rig(), creature.curves(4, kind), edit)
    v = 0.2 * np.random.default_rng(5).normal(size=problem.tangents.count)
    for asked in (
        problem.moves,
        problem.held,
        problem.dense,
        problem.held.merge_targets(problem.dense, np.array([3, 7])),
    ):
        fast, slow = (
            each(problem.states, problem.tangents, asked, v, problem.size, slopes)
            for each in (measure_targets, measure_any_states)
        )
        assert len(asked)
        for name in ("gap", "residual", "matrix"):
            np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), rtol=1e-12, atol=1e-12)
