"""Why a pose does not reach its goal: the pins and limits that push back, by their share of the resistance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.character import Channels
from understudy.keyframes.goals import Move, Pin
from understudy.keyframes.outcome import Block, unit_for
from understudy.keyframes.pose_search import PoseFound, PoseTask

NOTICED = 0.05  # of the resistance; what has less is not worth a sentence


def blocks_of(
    task: PoseTask, found: PoseFound, channels: Channels, moves: Sequence[Move], pins: Sequence[Pin]
) -> tuple[Block, ...]:
    """What stands in the way, the strongest first, always at least one [see `blocked`]."""
    way = _way(task, found)
    forces: dict[tuple[str, str], float] = {}
    if found.solution is not None:
        rows = task.pins.row_goal
        for g, pin in enumerate(pins):
            push = found.pins.matrix[rows == g].T @ found.solution.row_forces[rows == g]
            forces["pin", pin.point.name] = forces.get(("pin", pin.point.name), 0.0) + float(np.linalg.norm(push))
        v = task.variables
        ended = (found.x <= v.low + 1e-9) | (found.x >= v.high - 1e-9)
        for n in np.flatnonzero(ended & (np.abs(found.solution.bound_forces) > 0)):
            name = channels.names[task.states.columns[v.column(int(n))]]
            forces["limit", name] = forces.get(("limit", name), 0.0) + abs(float(found.solution.bound_forces[n]))
    total = sum(forces.values())
    strong = sorted(((push / total, key) for key, push in forces.items() if total > 0), reverse=True)
    said = {"pin": "the pin of {} holds it back; {}", "limit": "the limit of {} is reached; {}"}
    blocks = [Block(kind, what, share, said[kind].format(what, way)) for share, (kind, what) in strong]
    blocks = [block for block in blocks if block.share > NOTICED]
    if blocks:
        return tuple(blocks)
    names = ", ".join(dict.fromkeys(move.point.name for move in moves))
    why = "is out of reach" if task.variables.count else "is moved by nothing that may change"
    return (Block("reach", names, 1.0, f"{names} {why}; {way}"),)


def _way(task: PoseTask, found: PoseFound) -> str:
    name, length = unit_for(task.size * found.start.distance)
    parts = []
    for now, start, unit, scale in (
        (found.moves.distance, found.start.distance, name, length * task.size),
        (found.moves.angle, found.start.angle, "degrees", 180 / np.pi),
    ):
        if start > 0:
            share = 100 * max(0.0, 1 - now / start)
            parts.append(f"{scale * now:.3g} {unit} remain of {scale * start:.3g} ({share:.0f} % of the way)")
    return " and ".join(parts) or f"pins drift by {1000 * task.size * found.pins.distance:.3g} mm"
