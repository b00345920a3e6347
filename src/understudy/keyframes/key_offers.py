"""Keys that would make a blocked edit reach its goal, as few as will do.

A key is inserted with the curve's shape kept, and its value is found by Gauss-Newton at that one time: the moved points
go to their goals, what is held stays,

    min |W (gap - J dx)|^2 + |dx / unit|^2,

over the columns of the channels that get the key. The tangents around it are then solved for as in any edit, with what
is held aimed at where it was before the key was moved. Channels are tried alone, then by twos, and so on: the next is
always the one that leaves least of the way in the linear picture. Among as many keys, those that move the rest of the
body least are offered. Where a channel has a key at that time already, that key is changed instead, and the offer says
so: no key is added for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from understudy.character import Curves
from understudy.checks import Array
from understudy.errors import InvalidInput, listed
from understudy.keyframes import pieces
from understudy.keyframes.goals import Contact, Edit, Hold, Limit
from understudy.keyframes.inserting import insert_key
from understudy.keyframes.offer import Offer, result
from understudy.keyframes.outcome import Outcome
from understudy.keyframes.problem import Problem, aimed, frozen_by, limits_of, parts_of, prepare
from understudy.keyframes.requests import Requests, gaps, requests, states_at
from understudy.keyframes.selection import changed, key_at
from understudy.keyframes.solve import Settings, search
from understudy.keyframes.solve import outcome as outcome_of
from understudy.keyframes.tangents import owners
from understudy.rig import PosedRig

MOST = 5  # keys, and then one for all channels at once
WIDTH = 2  # sets of as many channels that are solved
CLOSE = 1e-3  # of the character's size: tangents can do the rest
STEPS = 30  # of Gauss-Newton at most
HELD = 3.0  # how much more what is held weighs than the goals; where both can be met, neither is off in the end


class Aims(NamedTuple):
    """What is asked for at the time of the key, all of it at one sample."""

    asked: Requests
    weight: Array  # (R,)


def inserted(rig: PosedRig, curves: Curves, edit: Edit, before: Outcome, settings: Settings) -> Offer | None:
    """The offer with the fewest keys at the times of the moves that have furthest to go; None where no such helps."""
    if not edit.moves:
        return None
    problem = prepare(rig, curves, edit)
    channels, times = _channels(problem), _furthest(problem, before)
    for count in range(1, min(len(times), MOST) + 1):
        found = _at_times(rig, curves, edit, times[:count], problem, channels, settings)
        if found is not None:
            made, chosen = found
            made = replace(made, start_distance=before.start_distance, start_angle=before.start_angle)
            return _offer(curves, edit, sorted(times[:count]), chosen, made)
    return None


def _at_times(
    rig: PosedRig,
    curves: Curves,
    edit: Edit,
    times: Sequence[float],
    problem: Problem,
    channels: Sequence[int],
    settings: Settings,
) -> tuple[Outcome, tuple[int, ...]] | None:
    """The fewest channels with keys at these times that reach the goal, and what they give."""
    ranked = _sets(problem, times[0], [(number,) for number in channels])
    while ranked:
        tried = [(_with_keys(rig, curves, edit, times, chosen, settings), chosen) for chosen in ranked]
        reached = [(made, chosen) for made, chosen in tried if made is not None and made.reached]
        if reached:
            return min(reached, key=lambda pair: _moved(rig, curves, pair[0].curves, times[0]))
        grown = [tuple(sorted((*chosen, n))) for chosen in ranked for n in channels if n not in chosen]
        if MOST <= len(ranked[0]) < len(channels):
            grown = [tuple(channels)]  # a key for all of them, as a pose has
        ranked = _sets(problem, times[0], list(dict.fromkeys(grown)))
    return None


def _offer(curves: Curves, edit: Edit, times: Sequence[float], chosen: tuple[int, ...], made: Outcome) -> Offer:
    names = [f"{curves.curves[n].channel.target} ({curves.curves[n].channel.kind})" for n in chosen]
    new = sum(key_at(curves.curves[n], time) is None for n in chosen for time in times)
    count = {0: "with the key", 1: "with one key"}.get(new, f"with {new} keys")
    changes = "" if new == len(chosen) * len(times) else " changed"
    when = " and ".join(f"{time:.4g} s" for time in times)
    said = f"{count} at {when} of {listed(names)}{changes} {result(made)}"
    return Offer("insert", tuple(names), said, edit, made, new)


def _furthest(problem: Problem, before: Outcome) -> list[float]:
    """The times of the moves, those first that are furthest from their goals in what the edit came to."""
    moves = problem.moves
    value = before.curves.sample(moves.grid.times)[:, problem.states.columns]
    place, turn, _ = problem.states.evaluate(value, moves.sample, moves.point, slopes=False)
    far = (gaps(moves, place, turn, problem.size) ** 2).sum(axis=1)
    return list(dict.fromkeys(moves.time[np.argsort(-far)].tolist()))


def _channels(problem: Problem) -> list[int]:
    """The curves that move the points of the moves or of what is held, but for what a pin or a bone's length keeps."""
    moved = np.zeros(len(problem.states.columns), bool)
    for goal in (*problem.edit.moves, *problem.kept):
        moved |= problem.states.moved_by[problem.points.index(goal.point)][np.array(parts_of(goal))].any(axis=0)
    moved &= problem.loose
    for pin in problem.edit.pins:
        moved &= ~frozen_by(problem, pin)
    owner, _ = owners(problem.tangents.curves, problem.states.columns)
    return [int(n) for n in np.unique(owner[moved])]


def _aims(problem: Problem, time: float) -> Aims:
    """The moves at that time, and what is held there, with their goals."""
    rows = [(int(problem.moves.point[r]), parts_of(move), 1.0) for r, move in enumerate(problem.edit.moves)]
    goals = [r for r, move in enumerate(problem.edit.moves) if move.time == time]
    rows = [rows[r] for r in goals]
    held = []
    for g, goal in enumerate(problem.kept):
        low = goal.time if isinstance(goal, Hold) else -np.inf if goal.start is None else goal.start
        high = goal.time if isinstance(goal, Hold) else np.inf if goal.stop is None else goal.stop
        if low <= time <= high and (problem.held.goal == g).any():
            held.append(g)
            rows.append((problem.points.index(goal.point), parts_of(goal), HELD))
    point = np.array([row[0] for row in rows], np.int64)
    parts = np.array([row[1] for row in rows], bool).reshape(-1, 2)
    asked = requests(problem.tangents, point, np.full(len(rows), time), np.zeros(len(rows), np.int64), parts)
    place, turn = states_at(problem.states, problem.tangents, asked, np.zeros(problem.tangents.count))
    place[: len(goals)], turn[: len(goals)] = problem.moves.place[goals], problem.moves.turn[goals]
    for i, g in enumerate(held, start=len(goals)):
        if isinstance(problem.kept[g], Contact):
            first = int(np.flatnonzero(problem.held.goal == g)[0])
            place[i], turn[i] = problem.held.place[first], problem.held.turn[first]
    return Aims(replace(asked, place=place, turn=turn), np.array([row[2] for row in rows]))


def _sets(problem: Problem, time: float, sets: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The best sets of channels, those first that leave least of the way after a few steps at this one time.

    Of those that leave nothing to speak of the last come first: nearer to the point, they move less of the body.
    """
    aims = _aims(problem, time)
    scored = [(_pose(problem, aims, chosen, problem.edit.limits, 6)[1], chosen) for chosen in sets]
    ordered = sorted(scored, key=lambda pair: (max(pair[0], CLOSE), [-n for n in pair[1]]))
    return [chosen for _, chosen in ordered][:WIDTH]


def _pose(
    problem: Problem, aims: Aims, chosen: tuple[int, ...], limited: Sequence[Limit], steps: int = STEPS
) -> tuple[Array, float]:
    """The change (n,) of the columns of the chosen curves, and how far the aims are then, weighted."""
    t = problem.tangents
    start = pieces.sample(t.pieces, t.handles(np.zeros(t.count)), aims.asked.grid)[0][0]
    owner, _ = owners(problem.tangents.curves, problem.states.columns)
    free = np.isin(owner, chosen)
    unit = problem.unit[free]
    limits = limits_of(t.curves.channels, limited)
    ends = np.array([limits.get(int(c), (-np.inf, np.inf)) for c in problem.states.columns])
    scale = np.repeat([1 / problem.size, 1.0], 3)
    weight = (aims.weight[:, None] * np.repeat(aims.asked.parts, 3, axis=1)).reshape(-1)
    asked, values = aims.asked, start.copy()
    damping, best, far = 1e-6, values, np.inf
    for step in range(steps + 1):
        place, turn, slopes = problem.states.evaluate(values[None], asked.sample, asked.point)
        off = weight * gaps(asked, place, turn, problem.size).reshape(-1)
        if float(np.linalg.norm(off)) < far:
            best, far, damping = values, float(np.linalg.norm(off)), damping / 4
            j = weight[:, None] * (slopes * scale[:, None]).reshape(len(off), -1)[:, free] * unit
            last = off
        else:
            damping *= 16
        if step == steps or far < 1e-6:
            break
        normal = j.T @ j
        normal += max(damping, 1e-9) * (1.0 + float(np.trace(normal))) * np.eye(len(normal))
        moved = best.copy()
        moved[free] += unit * np.linalg.solve(normal, j.T @ last)
        moved[free] = np.clip(moved[free], ends[free, 0], ends[free, 1])
        values = moved
    return best - start, far


def _with_keys(
    rig: PosedRig, curves: Curves, edit: Edit, times: Sequence[float], chosen: tuple[int, ...], settings: Settings
) -> Outcome | None:
    """The edit solved with keys of the chosen curves at some times; None where such keys cannot be."""
    bare = curves
    try:
        for time in times:
            bare = insert_key(bare, time, [curves.curves[n].channel for n in chosen])
        first = prepare(rig, bare, replace(edit, limits=()))  # between keys a curve may be where no key may
        keyed = first.tangents.curves
        for time in times:
            change, _ = _pose(first, _aims(first, time), chosen, edit.limits)
            keyed = _keyed(first, keyed, time, chosen, change)
        second = prepare(rig, keyed, edit)
    except InvalidInput:  # a cycling curve beyond its keys, or a key that the limits of its column do not let be
        return None
    second = replace(
        second,
        held=replace(second.held, place=first.held.place, turn=first.held.turn),
        dense=replace(second.dense, place=first.dense.place, turn=first.dense.turn),
        moves=aimed(second.moves, edit.moves, first.origin),
        origin=first.origin,
    )
    found = search(second, second.moves, np.zeros(second.tangents.count), settings)
    return outcome_of(second, found)


def _keyed(problem: Problem, curves: Curves, time: float, chosen: tuple[int, ...], change: Array) -> Curves:
    """Curves with the values at a time changed by (n,) in a problem's columns of the chosen curves."""
    owner, within = owners(curves, problem.states.columns)

    def moved(curve_number: int) -> Array:
        curve = curves.curves[curve_number]
        values, k = np.array(curve.values), key_at(curve, time)
        own = owner == curve_number
        length = np.linalg.norm(values[k])
        values[k, within[own]] += change[own]
        if curve.channel.kind == "rotation":
            values[k] *= length / np.linalg.norm(values[k])
        return values

    table = {id(curves.curves[n]): moved(n) for n in chosen}
    which = np.isin(np.arange(len(curves)), chosen)
    return changed(curves, which, lambda curve: replace(curve, values=table[id(curve)]))


def _moved(rig: PosedRig, before: Curves, after: Curves, time: float) -> float:
    """Metres that the joints move at a time, on average."""
    places = [rig.joints(rig.pose(curves, [time]))[0, :, :3, 3] for curves in (before, after)]
    return float(np.linalg.norm(places[1] - places[0], axis=1).mean())
