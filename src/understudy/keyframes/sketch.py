"""Sketch: the path of a point between two times follows a drawn stroke, by the same optimisation as all edits.

    outcome = sketch(rig, curves, Point("hand.R"), stroke, start=0.5, stop=1.5, pins=[Pin(Point("hips"))])

Keys are not touched. Where a key holds the point in place, the stroke cannot be followed as drawn: it is pulled to the
key there, less and less away from it, and the outcome's notes say by how much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Curves
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.goals import Contact, Edit, Hold, Limit, Pin, Point
from understudy.keyframes.outcome import Outcome, unit_for
from understudy.keyframes.problem import Problem, prepare
from understudy.keyframes.requests import measure, requests
from understudy.keyframes.selection import TOUCH
from understudy.keyframes.solve import Found, Settings, outcome, search
from understudy.keyframes.sparing import sparing
from understudy.keyframes.stroke import POINTS, Line, Screen, Stroke, even, pulled, steady
from understudy.keyframes.wishes import gap_of
from understudy.rig import PosedRig

SETTINGS = Settings(tolerance=1e-3, iterations=30, programs=120)
PHASES = ((1.0, 100.0), (0.1, 300.0), (0.02, 1000.0), (0.01, 3000.0))
"""How much the way along the stroke counts, and how much all of it, one after the other. A stroke has more points than
a path has freedom, so it is a soft wish: with these weights a path that tangents can draw is followed to less than a
thousandth of the character's size, and tangents are not twisted for what a hand trembles."""

SAID = 2e-3  # of the character's size: a pull to a key below that is not seen, and not said


def sketch(
    rig: PosedRig,
    curves: Curves,
    point: Point,
    stroke: Any,
    start: float | None = None,
    stop: float | None = None,
    *,
    times: Any = None,
    project: Any = None,
    pins: Sequence[Pin] = (),
    contacts: Sequence[Contact] = (),
    holds: Sequence[Hold] = (),
    limits: Sequence[Limit] = (),
    stiffness: Mapping[str, float] | None = None,
    edges: str = "smooth",
    settings: Settings | None = None,
) -> Outcome:
    """The animation in which `point` goes along the stroke (n, 3) from `start` to `stop`.

    The stroke has metres of the world, as many points as were drawn, and no times: the point goes along it as it went
    along its path. With `times` (n,) it is where it was drawn at each. With `project` (2 or 3, 4), a matrix from the
    world to a screen, the stroke is (n, 2), and only what is seen from there is asked for.
    """
    drawn = checks.array(stroke, f"stroke of {point.name}", ("N", 3 if project is None else 2))
    clock = () if times is None else tuple(checks.array(times, "times of the stroke", (len(drawn),)).tolist())
    if clock:
        start, stop = clock[0], clock[-1]
    if start is None or stop is None:
        raise InvalidInput("a stroke without times of its own needs a start and a stop")
    matrix = None if project is None else tuple(map(tuple, checks.array(project, "projection", ("M", 4)).tolist()))
    path = tuple(map(tuple, (drawn if clock else steady(drawn)).tolist()))
    wish = Stroke(point, path, start, stop, clock, matrix, soft=True)
    edit = Edit(
        (), tuple(pins), tuple(contacts), tuple(holds), tuple(limits), stiffness or {}, edges=edges, wishes=(wish,)
    )
    problem = prepare(rig, curves, edit)
    drawn_on, notes = (wish, ()) if clock else _to_keys(problem, wish)
    if drawn_on is not wish:
        problem = prepare(rig, curves, replace(edit, wishes=(drawn_on,)))
    problem = sparing(problem, point)
    zero = np.zeros(problem.tangents.count)
    found = _drawn(rig, problem, drawn_on, settings or SETTINGS)
    goal = problem.wishes[0].instead(replace(drawn_on, soft=False), rig, problem.size)
    before, after = (gap_of(goal, problem.states, problem.tangents, v, problem.size) for v in (zero, found.v))
    result = outcome(replace(problem, wishes=(goal,)), replace(found, start=before, moves=after))
    return replace(result, notes=(*result.notes, *notes))


def _drawn(rig: PosedRig, problem: Problem, wish: Stroke, settings: Settings) -> Found:
    """The search, first for the whole length of the stroke and then for its shape, as near as it takes."""
    v, held, iterations = np.zeros(problem.tangents.count), problem.held, 0
    for phase, (along, weight) in enumerate(PHASES):
        now = problem.wishes[0].instead(replace(wish, along=along, weight=weight), rig, problem.size)
        found = search(replace(problem, wishes=(now,)), problem.moves, v, settings, held)
        v, held, iterations = found.v, found.held, iterations + found.iterations
        if phase and gap_of(now, problem.states, problem.tangents, v, problem.size).distance < settings.tolerance / 2:
            break
    return replace(found, iterations=iterations)


def _said(metres: float) -> str:
    unit, scale = unit_for(metres)
    return f"{scale * metres:.3g} {unit}"


def _to_keys(problem: Problem, wish: Stroke) -> tuple[Stroke, tuple[str, ...]]:
    """The stroke pulled to where keys hold the point, and what to say about it."""
    times, places = _locked(problem, wish)
    if not len(times):
        return wish, ()
    screen = Screen(None if wish.project is None else np.array(wish.project), problem.size)
    seen = screen.see(places)
    drawn = np.array(wish.path)
    line = Line(even(drawn, POINTS))
    shares: list[float] = []
    for time, place in zip(times, seen.place):
        free = float(line.nearest(place[None])[0])
        shares.append(0.0 if time <= wish.start else 1.0 if time >= wish.stop else float(np.clip(free, 0.02, 0.98)))
    order = np.maximum.accumulate(shares)
    keep = np.concatenate([[True], np.diff(order) > 0.01])
    off = np.linalg.norm(seen.place - line.at(np.array(shares)), axis=1) / seen.unit
    notes = tuple(
        f"the stroke is pulled {_said(problem.size * away)} to the key at {time:.4g} s"
        for time, away in zip(times[keep], off[keep])
        if away > SAID
    )
    path = pulled(drawn, order[keep].tolist(), seen.place[keep])
    return replace(wish, path=tuple(map(tuple, path.tolist()))), notes


def _locked(problem: Problem, wish: Stroke) -> tuple[Array, Array]:
    """The times (K,) at which no tangent moves the point, as all its keys are there, and its places (K, 3), sizes."""
    t = problem.tangents
    keys = np.concatenate([t.pieces.t0, t.pieces.t0 + t.pieces.d])
    inner = keys[(keys > wish.start + TOUCH) & (keys < wish.stop - TOUCH)]
    near = np.concatenate([[wish.start], np.unique(np.round(inner, 5)), [wish.stop]])
    own = problem.wishes[0].asked.point[0]
    parts = np.tile([True, False], (len(near), 1))
    asked = requests(t, np.full(len(near), own), near, np.zeros(len(near), np.int64), parts)
    seen = measure(problem.states, t, asked, np.zeros(t.count), problem.size)
    still = np.abs(seen.matrix).reshape(len(near), -1).max(axis=1, initial=0.0) < 1e-6
    return near[still], -seen.gap[still, :3]
