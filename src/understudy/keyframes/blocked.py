"""Why an edit does not reach its goal: which pin, contact, hold, limit or handle pushes back, and how hard.

At the closest solution the pull towards the goal is in balance with the forces of what is held and of the bounds,
g = sum A_j' lambda_j. The share of a goal is the part of the pull that its force takes: |A_j' lambda_j| over the sum of
all. Where nothing pushes back, the point is as far as the tangents can bring it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.keyframes.goals import Contact, Hold
from understudy.keyframes.outcome import Block
from understudy.keyframes.problem import Problem
from understudy.keyframes.requests import measure

if TYPE_CHECKING:
    from understudy.keyframes.solve import Found

NOTICED = 0.05  # of the resistance; what has less is not worth a sentence


def blocks_of(problem: Problem, found: Found) -> tuple[Block, ...]:
    """What stands in the way, the strongest first, always at least one."""
    way = _way(problem, found)
    forces: dict[tuple[str, str], float] = {}
    if found.solution is not None and len(found.solution.row_forces) == found.held.rows:
        matrix = measure(problem.states, problem.tangents, found.held, found.v, problem.size).matrix
        rows = found.held.row_goal
        for g, goal in enumerate(problem.kept):
            own = rows == g
            kind = "contact" if isinstance(goal, Contact) else "hold" if isinstance(goal, Hold) else "pin"
            push = float(np.linalg.norm(matrix[own].T @ found.solution.row_forces[own]))
            forces[kind, goal.point.name] = forces.get((kind, goal.point.name), 0.0) + push
        _bound_forces(problem, found, forces)
    total = sum(forces.values())
    strong = sorted(((push / total, key) for key, push in forces.items() if total > 0), reverse=True)
    blocks = [Block(kind, what, share, _sentence(kind, what, way)) for share, (kind, what) in strong if share > NOTICED]
    if blocks:
        return tuple(blocks)
    names = ", ".join(dict.fromkeys(move.point.name for move in problem.edit.moves)) or "the path"
    if not problem.tangents.count or not _matters(problem, found):
        return (
            Block(
                "reach",
                names,
                1.0,
                f"no tangent moves {names} at that time: every column has a key there or stays; {way}",
            ),
        )
    return (Block("reach", names, 1.0, f"{names} cannot get nearer with these keys; {way}"),)


def _matters(problem: Problem, found: Found) -> bool:
    matrix = measure(problem.states, problem.tangents, problem.moves, found.v, problem.size).matrix
    return bool(np.abs(matrix).max(initial=0.0) > 1e-9)


def _bound_forces(problem: Problem, found: Found, forces: dict[tuple[str, str], float]) -> None:
    """Add the forces of bounds: limits of columns, and handles that are as long or short as they may be."""
    t, solution = problem.tangents, found.solution
    assert solution is not None
    active = (solution.x <= t.low + 1e-9) | (solution.x >= t.high - 1e-9)
    for n in np.flatnonzero(active & (np.abs(solution.bound_forces) > 0)):
        g, c = (int(i[0]) for i in np.nonzero(t.variable == n))
        name = t.curves.channels.names[t.columns[t.column[g]]]
        key = ("handle", name.split(".")[0]) if c % 2 == 0 else ("limit", name)
        forces[key] = forces.get(key, 0.0) + abs(float(solution.bound_forces[n]))


def _way(problem: Problem, found: Found) -> str:
    """How far it got."""
    parts = []
    for now, start, unit, scale in (
        (found.moves.distance, found.start.distance, "mm", 1000 * problem.size),
        (found.moves.angle, found.start.angle, "degrees", 180 / np.pi),
    ):
        if start > 0:
            share = 100 * max(0.0, 1 - now / start)
            parts.append(f"{scale * now:.3g} {unit} remain of {scale * start:.3g} ({share:.0f} % of the way)")
    return " and ".join(parts) or f"what is held drifts by {1000 * problem.size * found.drift.distance:.3g} mm"


def _sentence(kind: str, what: str, way: str) -> str:
    reason = {
        "pin": f"the pin of {what} holds it back",
        "contact": f"the contact of {what} holds it back",
        "hold": f"the held moment of {what} holds it back",
        "limit": f"the limit of {what} is reached",
        "handle": f"the time handles of {what} are as long or as short as they may be",
    }[kind]
    return f"{reason}; {way}"
