"""Tangents that move what is held are spared: there is no need to bring back what does not move.

Where others can do it alone, the optimisation then finds a way that needs no correction, at any time; where they
cannot, it still may use all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.keyframes.goals import Point
from understudy.keyframes.problem import Problem

HELD_COST = 100.0
"""How much dearer those tangents are. A drag that needs them changes them a hundred times less than it would; squared,
that is far below what a goal weighs, so that a goal that needs them is reached all the same."""


def sparing(problem: Problem, point: Point) -> Problem:
    """The same problem with dear tangents wherever they move something that is held, other than `point` itself."""
    t = problem.tangents
    others = [goal for goal, kept in enumerate(problem.kept) if kept.point != point]
    held = problem.held.point[np.isin(problem.held.goal, others)]
    shared = np.asarray(problem.states.moved_by[held].any(axis=(0, 1)))
    dear = np.zeros(t.count, bool)
    used = t.variable[shared[t.column]]
    dear[used[used >= 0]] = True
    return replace(problem, tangents=replace(t, cost=t.cost * np.where(dear, HELD_COST, 1.0)))
