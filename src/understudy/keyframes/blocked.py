"""Why an edit does not reach its goal, in sentences: which pin, contact, hold, limit or handle, and how far it got.

`forces` says what pushes back and how hard; the share of each is its part of all. Where nothing pushes, the reason is
looked for in the point itself: keys stand at that time, nothing moves it, or it is stretched as far as it goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import listed
from understudy.keyframes.forces import Bound, Forces, forces
from understudy.keyframes.goals import Contact, Hold
from understudy.keyframes.outcome import Block, unit_for
from understudy.keyframes.problem import Constraint, Problem, could_move, limits_of, parts_of
from understudy.keyframes.requests import measure, requests
from understudy.keyframes.states import SkeletalStates
from understudy.keyframes.tangents import Range, owners
from understudy.keyframes.unreachable import chain_too_short

if TYPE_CHECKING:
    from understudy.keyframes.solve import Found

NOTICED = 0.05  # of the resistance; what has less is not worth a sentence
SLACK = 0.02  # of the strain: a pull below that is none
STILL = 1e-9  # what no tangent moves by more stands still


def blocks_of(problem: Problem, found: Found) -> tuple[Block, ...]:
    """What stands in the way, the strongest first, always at least one."""
    against = _keys_against(problem, found)
    far = found.moves.distance > found.settings.tolerance or found.moves.angle > found.settings.tolerance
    if not far:
        return tuple(against or _slipping(problem, found))
    way, now = _way(problem, found), forces(problem, found)
    if now.pull + sum(push for _, push in now.frozen) <= SLACK * now.strain:
        return (*against, _unmoved(problem, found, way))
    entries = _entries(problem, now, way)
    total = sum(push for push, _, _, _ in entries) or 1.0
    blocks = [Block(kind, what, push / total, said) for push, kind, what, said in entries if push >= NOTICED * total]
    blocks = sorted((block for block in blocks if block.share > 0), key=lambda block: -block.share)
    # What pushes less than is left unbalanced did not stop the search: it was cut off, or the way bends away.
    if not blocks or total < now.rest:
        blocks.append(_unmoved(problem, found, way))
    return (*against, *blocks)


def _entries(problem: Problem, now: Forces, way: str) -> list[tuple[float, str, str, str]]:
    """Push, kind, what and sentence of each thing that pushes back; handles of a joint count together."""
    moved, limits = _moved(problem), limits_of(problem.tangents.curves.channels, problem.edit.limits)
    found: dict[tuple[str, str], tuple[float, str]] = {}

    def add(push: float, kind: str, what: str, said: str) -> None:
        before = found.get((kind, what), (0.0, said))
        found[kind, what] = (before[0] + push, said)

    for goal, push in now.goals:
        add(push, _kind(goal), goal.point.name, f"{called(goal)} holds {moved} back: {way}")
    for pin, push in now.frozen:
        add(push, "pin", pin.point.name, f"{called(pin)} holds {moved} back: {way}")
    for bound, push in now.bounds:
        add(push, *_bound(problem, bound, limits, way))
    return [(push, kind, what, said) for (kind, what), (push, said) in found.items()]


def _bound(problem: Problem, bound: Bound, limits: dict[int, Range], way: str) -> tuple[str, str, str]:
    """Kind, what and sentence of a handle at its end."""
    t = problem.tangents
    number = int(t.columns[t.column[bound.piece]])
    channel = t.curves.curves[int(np.searchsorted(t.curves.channels.offsets, number, side="right")) - 1].channel
    joint, name = channel.target, t.curves.channels.names[number]
    t0, d = t.pieces.t0[bound.piece], t.pieces.d[bound.piece]
    span = f"between {t0:.4g} s and {t0 + d:.4g} s"
    if bound.handle % 2 == 0:
        how = "as long as they may be" if bound.high else "as short as they may be"
        return "handle", joint, f"the time handles of {joint!r} are {how} {span}: {way}"
    if number not in limits:
        return "handle", joint, f"the tangents of {joint!r} are as steep as they may be {span}: {way}"
    up = bound.high == (bound.handle == 1)  # the handle that arrives points backwards
    value, column = limits[number][1 if up else 0], name.removeprefix(f"{joint}.{channel.kind}.")
    said = f"{np.degrees(value):.4g} degrees" if channel.kind == "euler" else f"{value:.4g}"
    return "limit", name, f"{joint!r} reaches the limit of its {column}, {said}, {span}: {way}"


def _unmoved(problem: Problem, found: Found, way: str) -> Block:
    """Nothing pushes: the point itself cannot go on."""
    moved = _moved(problem)
    if problem.edit.moves:
        stuck = _stuck(problem, found)
        if stuck is not None:
            return Block("reach", moved, 1.0, f"{stuck}: {way}")
        if isinstance(problem.states, SkeletalStates):
            short = chain_too_short(problem, problem.states, found)
            if short is not None:
                return Block("reach", moved, 1.0, f"{short}: {way}")
    times = sorted({move.time for move in problem.edit.moves})
    if len(times) > 1:
        listing = " and ".join(f"{time:.4g} s" for time in times[:3])
        return Block("reach", moved, 1.0, f"the moves at {listing} pull the same tangents apart: {way}")
    return Block("reach", moved, 1.0, f"the tangents between these keys bring {moved} no nearer: {way}")


def _stuck(problem: Problem, found: Found) -> str | None:
    """Why no tangent moves the point that has furthest to go, if none does."""
    t, moves = problem.tangents, problem.moves
    ways = np.abs(found.moves.gap[: len(moves)]).max(axis=1)
    r = int(np.argmax(ways))
    rows = moves.first_row[r][moves.first_row[r] >= 0]
    matrix = measure(problem.states, t, moves, found.v, problem.size).matrix
    if any(np.abs(matrix[row : row + 3]).max(initial=0.0) > STILL for row in rows):
        return None
    name, time = problem.edit.moves[r].point.name, moves.time[r]
    concerned = problem.states.moved_by[moves.point[r]][np.array(parts_of(problem.edit.moves[r]))].any(axis=0)
    owner, _ = owners(t.curves, problem.states.columns)
    curves = [t.curves.curves[number] for number in np.unique(owner[concerned])]
    if all(len(curve) == 1 for curve in curves):
        return f"nothing that moves {name} is animated"
    if could_move(problem, concerned)[r][concerned].any():
        spans = [f"{a:.4g} s to {b:.4g} s" for a, b in t.changed(np.ones(len(owner), bool))]
        return f"the edit's range leaves the tangents around {time:.4g} s alone ({listed(spans) or 'none is free'})"
    keyed = [curve.channel.target for curve in curves if np.abs(curve.times - time).min() <= 1e-6]
    if keyed:
        return f"everything that moves {name} has a key at {time:.4g} s, and keys stay; move it at another time"
    return f"everything that moves {name} is stepped or still at {time:.4g} s"


def _keys_against(problem: Problem, found: Found) -> list[Block]:
    """Contacts whose point a key, which stays, puts somewhere else than where the contact begins."""
    t, blocks = problem.tangents, []
    owner, _ = owners(t.curves, problem.states.columns)
    for g, goal in enumerate(problem.kept):
        if not isinstance(goal, Contact) or not (problem.held.goal == g).any():
            continue
        point = problem.points.index(goal.point)
        curves = np.unique(owner[problem.states.moved_by[point].any(axis=0)])
        keys = np.unique(np.concatenate([t.curves.curves[number].times for number in curves]))
        keys = keys[(keys > goal.start) & (keys <= goal.stop)]
        count, first = len(keys), int(np.flatnonzero(problem.held.goal == g)[0])
        parts = np.tile(parts_of(goal), (count, 1))
        asked = requests(t, np.full(count, point), keys, np.full(count, g), parts)
        asked.place[:], asked.turn[:] = problem.held.place[first], problem.held.turn[first]
        seen = measure(problem.states, t, asked, found.v, problem.size)
        for r in range(count):
            rows = [row for row in asked.first_row[r] if row >= 0]
            still = all(np.abs(seen.matrix[row : row + 3]).max(initial=0.0) <= STILL for row in rows)
            far = np.linalg.norm(seen.gap[r].reshape(2, 3), axis=1)
            if still and far.max() > found.settings.drift:
                off = _amount(problem, *far)
                said = f"the key at {keys[r]:.4g} s puts {goal.point.name} {off} away from where its contact begins"
                blocks.append((float(far.max()), Block("contact", goal.point.name, 1.0, said)))
    worst: dict[str, Block] = {}
    for _, block in sorted(blocks, key=lambda pair: -pair[0]):
        worst.setdefault(block.what, block)
    return list(worst.values())


def _slipping(problem: Problem, found: Found) -> list[Block]:
    """Goals are reached, but what is held is not where it should be: the worst first."""
    off = np.linalg.norm(found.drift.gap.reshape(-1, 2, 3), axis=2)
    worst = off.max(axis=1)
    blocks = []
    for g, goal in enumerate(problem.kept):
        own = np.flatnonzero(problem.dense.goal == g)
        if own.size and worst[own].max() > found.settings.drift:
            r = own[np.argmax(worst[own])]
            said = f"{called(goal)} cannot be kept: {_amount(problem, *off[r])} off at {problem.dense.time[r]:.4g} s"
            blocks.append((worst[r], Block(_kind(goal), goal.point.name, 0.0, said)))
    total = sum(push for push, _ in blocks)
    ordered = sorted(blocks, key=lambda pair: -pair[0])
    return [Block(b.kind, b.what, float(push / total), b.sentence) for push, b in ordered]


def _kind(goal: Constraint) -> str:
    return "contact" if isinstance(goal, Contact) else "hold" if isinstance(goal, Hold) else "pin"


def called(goal: Constraint) -> str:
    """What is held, for a sentence."""
    if isinstance(goal, Hold):
        return f"the held moment of {goal.point.name} at {goal.time:.4g} s"
    if isinstance(goal, Contact):
        return f"the contact of {goal.point.name} from {goal.start:.4g} s to {goal.stop:.4g} s"
    return f"the pin of {goal.point.name}"


def _moved(problem: Problem) -> str:
    return ", ".join(dict.fromkeys(move.point.name for move in problem.edit.moves)) or "the path"


def _amount(problem: Problem, distance: float, angle: float) -> str:
    """A distance in sizes or an angle, whichever is there, in words."""
    metres = problem.size * distance
    unit, scale = unit_for(metres)
    parts = [f"{scale * metres:.3g} {unit}"] if distance > 0 else []
    parts += [f"{np.degrees(angle):.3g} degrees"] if angle > 0 else []
    return " and ".join(parts)


def _way(problem: Problem, found: Found) -> str:
    """How far it got."""
    unit, scale = unit_for(problem.size * found.start.distance)
    parts = []
    for now, start, name, factor in (
        (found.moves.distance, found.start.distance, unit, scale * problem.size),
        (found.moves.angle, found.start.angle, "degrees", 180 / np.pi),
    ):
        if start > 0:
            parts.append(f"{factor * now:.3g} of {factor * start:.3g} {name} remain")
    return " and ".join(parts)
