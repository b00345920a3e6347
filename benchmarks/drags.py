"""Random drags on ten real characters: what can be met is met in five steps, what cannot is told with a reason.

1,000 feasible drags, whose goals were made by moving tangents (see `real/drags.py`): joints and vertices, moves and
turns, Euler angles and quaternions, keys that differ from channel to channel, with pins, contacts, held moments and
limits. What comes back is measured on the rig itself, not by the solver's code: a drag is met within a thousandth of
the character's size and a thousandth of a radian; pins and contacts are looked at at a hundred times, and so
are limits.

200 infeasible drags: out of reach, held back on the same limb, within tight limits, at a key. None may end worse than
it began, each has a reason, and the search keeps up with a pointer. Times are of the search from the start, on one
core; `prepare` is done once when a drag begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

import numpy as np
import scipy.linalg  # noqa: F401  its threads are limited only if it is there by then
from benchmarks.measure import Row
from benchmarks.real.drags import CHARACTERS, Drag, feasible, infeasible, state
from threadpoolctl import threadpool_limits

from understudy.character import Curves
from understudy.checks import Array
from understudy.edit.goals import Contact, Hold, Pin
from understudy.edit.outcome import EditResult
from understudy.edit.solver import sqp
from understudy.edit.solver.problem import prepare_problem
from understudy.maths import quaternion

PEERS = False  # nothing here needs the peers' environment
FEASIBLE, INFEASIBLE = 100, 20  # of each character
STEPS, TIMES = 5, 100
NEAR = 1e-3  # of the size, and radians
ASKED_MET, ASKED_MS = 99.0, 20.0


@dataclass(frozen=True)
class Verdict:
    """What became of one drag, measured on the rig; distances in sizes."""

    kind: str
    distance: float
    angle: float
    drift: float  # of what is held, place and turn
    broken_limits: float  # radians beyond a limit at any time
    keys_same: bool
    iterations: int
    search_ms: float
    prepare_ms: float
    outcome: EditResult

    @property
    def met(self) -> bool:
        return self.distance <= NEAR and self.angle <= NEAR


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    with threadpool_limits(1):
        yield from _feasible()
        yield from _infeasible()


def _feasible() -> Iterator[Row]:
    verdicts: list[Verdict] = []
    for number, file in enumerate(CHARACTERS):
        drags = (feasible(file, np.random.default_rng([1, number, k])) for k in range(FEASIBLE))
        own = [judged(drag, sqp.SolverSettings(iterations=STEPS)) for drag in drags]
        met = 100 * float(np.mean([v.met for v in own]))
        ms = np.array([v.search_ms for v in own])
        note = f"{np.mean([v.iterations for v in own]):.1f} steps, {np.median(ms):.1f} ms, slowest {ms.max():.0f}"
        yield Row(f"met, {file.rsplit('/', 1)[1]}", met, "%", note, None, None)
        verdicts += own
    for kind in dict.fromkeys(v.kind for v in verdicts):
        own = [v for v in verdicts if v.kind == kind]
        yield Row(f"met, {kind}", 100 * float(np.mean([v.met for v in own])), "%", f"of {len(own)}", None, None)
    met = 100 * float(np.mean([v.met for v in verdicts]))
    yield Row("met in five steps", met, "%", f"of {len(verdicts)}; asked for: 99 %", met / ASKED_MET, 1.0)
    drift = max(v.drift for v in verdicts)
    yield Row("largest drift of what is held", 1e3 * drift, "1e-3 sizes", "asked for: 1", NEAR / max(drift, 1e-12), 1.0)
    beyond = max(v.broken_limits for v in verdicts)
    yield _zero("limits broken", float(np.sum([v.broken_limits > 1e-9 for v in verdicts])), f"at most {beyond:.1e} rad")
    yield _zero("drags that changed a key", float(np.sum([not v.keys_same for v in verdicts])), "asked for: 0")
    ms = np.array([v.search_ms for v in verdicts])
    yield Row("search, median", float(np.median(ms)), "ms", f"99 of 100 within {np.percentile(ms, 99):.1f}", None, None)
    prepares = np.array([v.prepare_ms for v in verdicts])
    yield Row("prepare, median", float(np.median(prepares)), "ms", f"slowest {prepares.max():.0f}", None, None)


def _infeasible() -> Iterator[Row]:
    drags = [
        infeasible(file, np.random.default_rng([2, number, k]))
        for number, file in enumerate(CHARACTERS)
        for k in range(INFEASIBLE)
    ]
    verdicts = [judged(drag, sqp.SolverSettings(), repeats=3) for drag in drags]
    outcomes = [v.outcome for v in verdicts]
    met = [v for v in verdicts if v.met]
    yield Row("infeasible drags", len(drags), "n", f"{len(met)} were met after all", None, None)
    worse = sum(o.distance > o.start_distance + 1e-9 and o.angle > o.start_angle - 1e-9 for o in outcomes)
    yield _zero("infeasible, worse than before", float(worse), "asked for: 0")
    silent = sum(not o.obstacles and not o.reached for o in outcomes)
    yield _zero("infeasible, without a reason", float(silent), "asked for: 0")
    gone = [100 * (1 - o.distance / o.start_distance) for o in outcomes if o.start_distance > 0]
    yield Row("infeasible, part of the way", float(np.median(gone)), "%", "median", None, None)
    drift = max(v.drift for v in verdicts)
    yield Row("infeasible, largest drift", 1e3 * drift, "1e-3 sizes", "asked for: 1", NEAR / max(drift, 1e-12), 1.0)
    ms = np.array([v.search_ms for v in verdicts])
    yield Row("infeasible, slowest", float(ms.max()), "ms", "asked for: 20 ms", ASKED_MS / float(ms.max()), 1.0)
    yield Row(
        "infeasible, median", float(np.median(ms)), "ms", f"95 of 100 within {np.percentile(ms, 95):.1f}", None, None
    )
    whole = ms + np.array([v.prepare_ms for v in verdicts])
    yield Row(
        "infeasible with prepare, slowest", float(whole.max()), "ms", f"median {np.median(whole):.1f}", None, None
    )


def _zero(name: str, count: float, note: str) -> Row:
    return Row(name, count, "n", note, 1.0 if count == 0 else 0.0, 1.0)


def judged(drag: Drag, settings: sqp.SolverSettings, repeats: int = 1) -> Verdict:
    """Search one drag, and look at the result on the rig."""
    start = process_time()
    problem = prepare_problem(drag.rig, drag.curves, drag.edit)
    prepare_ms = 1e3 * (process_time() - start)
    spent = []
    for _ in range(repeats):
        start = process_time()
        found = sqp.search(problem, problem.moves, np.zeros(problem.tangents.count), settings)
        outcome = sqp.edit_result(problem, found)
        spent.append(1e3 * (process_time() - start))
    move = drag.edit.moves[0]
    place, turn = state(drag.rig, outcome.curves, move.point, np.array([move.time]))
    distance = 0.0 if move.to is None else float(np.linalg.norm(place[0] - move.to)) / problem.size
    angle = 0.0 if move.turn_to is None else _angle(turn[0], quaternion.to_matrix(np.array(move.turn_to)))
    return Verdict(
        drag.kind,
        distance,
        angle,
        drift_of(drag, outcome.curves, problem.size),
        broken_limits(drag, outcome.curves),
        same_keys(drag.curves, outcome.curves),
        outcome.iterations,
        float(np.median(spent)),
        prepare_ms,
        outcome,
    )


def drift_of(drag: Drag, after: Curves, size: float) -> float:
    """How far pins, contacts and held moments are off at most, in sizes and radians, at TIMES times."""
    worst = 0.0
    low, high = drag.curves.start, drag.curves.end
    goals: list[Pin | Contact | Hold] = [*drag.edit.pins, *drag.edit.contacts, *drag.edit.holds]
    for goal in goals:
        if isinstance(goal, Hold):
            times = np.array([goal.time])
        else:
            times = np.linspace(
                low if goal.start is None else goal.start, high if goal.stop is None else goal.stop, TIMES
            )
        reference = np.full_like(times, goal.start) if isinstance(goal, Contact) else times
        places, turns = zip(*(state(drag.rig, c, goal.point, t) for c, t in ((drag.curves, reference), (after, times))))
        if goal.position:
            worst = max(worst, float(np.linalg.norm(places[1] - places[0], axis=1).max()) / size)
        if goal.orientation:
            worst = max(worst, max(_angle(a, b) for a, b in zip(*turns)))
    return worst


def _angle(one: Array, other: Array) -> float:
    """Radians between two orientations (3, 3); by the sine, which small angles need."""
    between = one.T @ other
    sine = np.linalg.norm([between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]])
    return float(np.arctan2(sine / 2, (np.trace(between) - 1) / 2))


def broken_limits(drag: Drag, after: Curves) -> float:
    """By how much any limited column is beyond its limit, at TIMES times between each two keys."""
    worst, limits = 0.0, {(limit.target, limit.column): limit for limit in drag.edit.limits}
    for curve in after.curves if limits else ():
        if curve.channel.kind != "euler" or len(curve) < 2:
            continue
        values = curve.sample(np.concatenate([np.linspace(a, b, TIMES) for a, b in zip(curve.times, curve.times[1:])]))
        for i, column in enumerate(curve.channel.columns):
            limit = limits.get((curve.channel.target, column))
            if limit is not None:
                worst = max(worst, float(limit.low - values[:, i].min()), float(values[:, i].max() - limit.high))
    return worst


def same_keys(before: Curves, after: Curves) -> bool:
    """Whether all keys are where they were, in time and value, and none was added."""
    return all(
        a.channel == b.channel and np.array_equal(a.times, b.times) and np.array_equal(a.values, b.values)
        for a, b in zip(before.curves, after.curves, strict=True)
    )
