"""Goals beyond the reach of a chain of bones: how long it is, and how far away the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.keyframes import pieces, skeletal
from understudy.keyframes.problem import Problem
from understudy.keyframes.skeletal import NONE
from understudy.keyframes.states import SkeletalStates

if TYPE_CHECKING:
    from understudy.keyframes.solve import Found


def chain_too_short(problem: Problem, states: SkeletalStates, found: Found) -> str | None:
    """Say so where the goal of the furthest move lies beyond the chain that its tangents move, else None.

    The chain begins at the uppermost joint that may turn; where one of its joints may shift, it has no length.
    """
    t, moves, bones = problem.tangents, problem.moves, states.bones
    r = int(np.argmax(np.linalg.norm(found.moves.gap[: len(moves), :3], axis=1)))
    if not moves.parts[r, 0]:
        return None
    values, _ = pieces.sample(t.pieces, t.handles(found.v), moves.grid)
    sample = int(moves.sample[r])
    at = skeletal.frames(bones, values[[sample]])
    place, _, _ = states.evaluate(values, moves.sample, moves.point, slopes=False)
    goal = place[r] + problem.size * found.moves.gap[r, :3]
    free = np.zeros(len(states.columns), bool)
    free[np.unique(t.column[(t.variable >= 0).any(axis=1)])] = True
    chain, top, length = int(states.anchors.main[moves.point[r]]), -1, 0.0
    last, reach = place[r], 0.0
    while chain >= 0:
        reach += float(np.linalg.norm(at.origin[0, chain] - last))
        last = at.origin[0, chain]
        shift, turn = int(bones.translation_column[chain]), int(bones.rotation_column[chain])
        if (shift >= 0 and free[shift : shift + 3].any()) or _scales(bones.scale_column[chain], free):
            return None
        if bones.rotation_kind[chain] != NONE and free[turn : turn + 3].any():
            top, length = chain, reach
        chain = int(bones.parents[chain])
    if top < 0 or length <= 0:
        return None
    away = float(np.linalg.norm(goal - at.origin[0, top]))
    if away <= length:
        return None
    name, root = problem.edit.moves[r].point.name, states.names[top]
    return f"the chain from {root!r} to {name} is {length:.3g} m long, and the goal is {away:.3g} m away"


def _scales(column: int, free: np.ndarray) -> bool:
    return column >= 0 and bool(free[column : column + 3].any())
