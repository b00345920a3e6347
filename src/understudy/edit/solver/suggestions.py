"""Suggestions for a blocked edit, computed when asked for, each verified by solving it.

    for suggestion in suggest(rig, curves, edit, result):
        print(suggestion.sentence)                   # "without the pin of 'foot.L' it is reached"
    session.put(suggest(...)[0].outcome.curves)

There are three kinds: `release` one pin, contact or hold; `widen` the handles, by letting tangents break at the ends of
the segment, by including the time of the move, or by widening a limit as far as needed; and `insert` keys at the time
of the drag, as few as reach the goal. A suggestion that gains nothing is not made.

Keys (`suggest_keys`). A key is inserted with the shape of the curve kept, and its value is found by Gauss-Newton at
that one time: the moved points go to their goals, the constraints hold,

    min |W (gap - J dx)|^2 + |dx / unit|^2,

over the columns of the channels that get the key. The tangents around it are then solved for as in any edit, with the
constraints aimed at their positions before the key was moved. Channels are tried alone, then by twos, and so on: the
next is always the one that leaves the least distance in the linearisation. Among sets with as many keys, the one that
moves the rest of the body least is suggested. Where a channel has a key at that time already, that key is changed
instead, and the sentence says so: no key is added for it.

Edits within a window (`offsets`) are widened by a larger falloff. Keys of a fitter may be so far apart that no change
fits between them: then the suggestion is keys at the moment and at both ends of the window, which keep the shape of the
curves, also for an edit that is reached but spreads beyond its window (`with_window_keys`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from understudy.character import Curves
from understudy.character.key_insertion import insert_curve_key, key_at
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Contact, Edit, Hold, Limit
from understudy.edit.keys import insert_key, replace_curves
from understudy.edit.outcome import EditResult, Suggestion, describe_remaining, remaining_share
from understudy.edit.solver.diagnosis import name_obstacle
from understudy.edit.solver.free_tangents import owners
from understudy.edit.solver.offsets import is_dense
from understudy.edit.solver.problem import (
    Constraint,
    EditProblem,
    find_frozen_columns,
    limits_of,
    parts_of,
    prepare_problem,
    with_targets,
)
from understudy.edit.solver.sqp import SCRIPT_SETTINGS, SolverSettings, edit_result, search, solve
from understudy.edit.solver.targets import PointTargets, gaps, point_states, point_targets
from understudy.errors import InvalidInput, join_names

SUGGESTION_KINDS = ("release", "widen", "insert")

MAX_REMAINING_RATIO = 0.9  # of the remaining share before: a suggestion that leaves more is not made
MAX_INSERTED_KEYS = 5  # then one for all channels at once
BEAM_WIDTH = 2  # sets of the same number of channels that are solved
CLOSE_DISTANCE_RATIO = 1e-3  # of the character's size: tangents can close a smaller distance
MAX_GAUSS_NEWTON_STEPS = 30  # for the values of a key
FALLOFF_GROWTH = 1.7  # of the window that is suggested
NEAR_KEY_RADII = 0.4  # of the window: a key this near to a wanted time stands in for it
MAX_SPREAD_RADII = 0.25  # of the window: a change that reaches further beyond it has keys suggested
CONSTRAINT_WEIGHT = 3.0  # of constraints relative to goals; where both can be met, both are


class KeyTargets(NamedTuple):
    """The targets at the time of a key, all at one sample."""

    asked: PointTargets
    weight: Array  # (R,)


def suggest(
    rig: PosedRig,
    curves: Curves,
    edit: Edit,
    outcome: EditResult | None = None,
    kinds: Sequence[str] = SUGGESTION_KINDS,
    settings: SolverSettings | None = None,
) -> tuple[Suggestion, ...]:
    """The best suggestion of each kind for an edit of `curves` with the result `outcome`; none where it was reached."""
    for kind in kinds:
        if kind not in SUGGESTION_KINDS:
            raise InvalidInput(
                f"kinds of suggestions should be of {', '.join(SUGGESTION_KINDS)}, but {kind!r} is given"
            )
    settings = settings or SCRIPT_SETTINGS
    outcome = solve(rig, curves, edit, settings) if outcome is None else outcome
    if outcome.reached:
        spreads = "insert" in kinds and _spreads_beyond_window(edit, outcome)
        local = suggest_keys(rig, curves, edit, outcome, settings) if spreads else None
        return () if local is None else (local,)
    suggestions: list[Suggestion | None] = []
    if "release" in kinds:
        suggestions.append(best_suggestion(outcome, _release_constraints(rig, curves, edit, settings)))
    if "widen" in kinds:
        suggestions.append(best_suggestion(outcome, _widen_edit(rig, curves, edit, outcome, settings)))
    if "insert" in kinds:
        suggestions.append(suggest_keys(rig, curves, edit, outcome, settings))
    return tuple(suggestion for suggestion in suggestions if suggestion is not None)


def best_suggestion(before: EditResult, suggestions: Iterable[Suggestion]) -> Suggestion | None:
    """The suggestion that gets furthest, the first of equals; None where none gets much further than `before`."""
    ordered = sorted(suggestions, key=lambda one: (not one.outcome.reached, remaining_share(one.outcome)))
    useful = [
        one
        for one in ordered
        if one.outcome.reached or remaining_share(one.outcome) < MAX_REMAINING_RATIO * remaining_share(before)
    ]
    return useful[0] if useful else None


def _release_constraints(rig: PosedRig, curves: Curves, edit: Edit, settings: SolverSettings) -> Iterable[Suggestion]:
    """The edit without each of its constraints in turn."""
    constraints: list[Constraint] = [*edit.pins, *edit.contacts, *edit.holds]
    for goal in constraints:
        less = (
            replace(
                edit,
                pins=tuple(pin for pin in edit.pins if pin is not goal),
                contacts=tuple(contact for contact in edit.contacts if contact is not goal),
                holds=tuple(hold for hold in edit.holds if hold is not goal),
            )
            if edit.moves or edit.terms or len(edit.contacts) > 1 or goal not in edit.contacts
            else None
        )
        if less is None:
            continue
        outcome = solve(rig, curves, less, settings)
        sentence = f"without {name_obstacle(goal)} {describe_remaining(outcome)}"
        yield Suggestion("release", (goal.point.name,), sentence, less, outcome)


def _widen_edit(
    rig: PosedRig, curves: Curves, edit: Edit, outcome: EditResult, settings: SolverSettings
) -> Iterable[Suggestion]:
    """The edit with more room for the tangents, the smallest change first."""
    for what, words, wider in (
        *_widen_ranges(curves, edit, outcome),
        *_widen_limits(rig, curves, edit, outcome, settings),
    ):
        result = solve(rig, curves, wider, settings)
        yield Suggestion("widen", what, f"{words} {describe_remaining(result)}", wider, result)


def _widen_ranges(curves: Curves, edit: Edit, outcome: EditResult) -> Iterable[tuple[tuple[str, ...], str, Edit]]:
    if outcome.radius is not None:
        radius = FALLOFF_GROWTH * outcome.radius
        yield ("falloff",), f"with a falloff of {radius:.2g} s", replace(edit, falloff=radius)
        return
    times = [move.time for move in edit.moves]
    low, high = edit.start, edit.stop
    outside = [t for t in times if (low is not None and t < low) or (high is not None and t > high)]
    if outside:
        start = min(t for t in (*outside, curves.end if low is None else low))
        stop = max(t for t in (*outside, curves.start if high is None else high))
        wider = replace(edit, start=start, stop=stop) if start < stop else replace(edit, start=None, stop=None)
        yield ("range",), f"with the tangents around {outside[0]:.4g} s free as well", wider
    if edit.edges == "smooth":
        loose = replace(edit, edges="broken")
        yield ("edges",), "with tangents that may break at the ends of the segment", loose


def _widen_limits(
    rig: PosedRig, curves: Curves, edit: Edit, outcome: EditResult, settings: SolverSettings
) -> Iterable[tuple[tuple[str, ...], str, Edit]]:
    """Each limit that blocks the edit, then all of them, widened as far as the edit needs."""
    columns = [next(iter(limits_of(curves.channels, [limit]))) for limit in edit.limits]
    names = [curves.channels.names[column] for column in columns]
    blocking = [
        i for i, name in enumerate(names) if any(b.kind == "limit" and b.what == name for b in outcome.obstacles)
    ]
    groups = [[i] for i in blocking] + ([blocking] if len(blocking) > 1 else [])
    for group in groups:
        free = replace(edit, limits=tuple(limit for i, limit in enumerate(edit.limits) if i not in group))
        values = solve(rig, curves, free, settings).curves.sample(np.linspace(curves.start, curves.end, 400))
        limits, texts = list(edit.limits), []
        for i in group:
            used = values[:, columns[i]]
            # The bounds of handles keep a column inside its limits by up to a third of the room that its keys leave
            # [Ciccone 2019, eq. 9], so the limit has to be a little wider than the range that was used.
            keys = curves.sample(curves.curves[_curve_of_column(curves, columns[i])].times)[:, columns[i]]
            low = min(limits[i].low, keys.min() - 4 / 3 * max(keys.min() - used.min(), 0))
            high = max(limits[i].high, keys.max() + 4 / 3 * max(used.max() - keys.max(), 0))
            side = (
                f"up to {_format_limit(names[i], high)}"
                if high > limits[i].high
                else f"down to {_format_limit(names[i], low)}"
            )
            limits[i] = Limit(limits[i].target, limits[i].column, float(low), float(high))
            texts.append(f"{names[i]!r} {side}")
        wider = replace(edit, limits=tuple(limits))
        yield tuple(names[i] for i in group), f"with {' and '.join(texts)}", wider


def _curve_of_column(curves: Curves, column: int) -> int:
    return int(np.searchsorted(curves.channels.offsets, column, side="right") - 1)


def _format_limit(name: str, value: float) -> str:
    return f"{np.degrees(value):.4g} degrees" if ".euler." in name else f"{value:.4g}"


def suggest_keys(
    rig: PosedRig, curves: Curves, edit: Edit, before: EditResult, settings: SolverSettings
) -> Suggestion | None:
    """The suggestion with the fewest keys, at the times of the moves with the largest gaps; None where none helps."""
    if not edit.moves:
        return None
    problem = prepare_problem(rig, curves, edit)
    if problem.window is not None:
        return _suggest_window_keys(rig, curves, edit, problem, before, settings)
    channels, times = _movable_channels(problem), _furthest_times(problem, before)
    for count in range(1, min(len(times), MAX_INSERTED_KEYS) + 1):
        reached = _search_channels(rig, curves, edit, times[:count], problem, channels, settings)
        if reached is not None:
            result, chosen = reached
            result = replace(result, start_distance=before.start_distance, start_angle=before.start_angle)
            return _key_suggestion(curves, edit, sorted(times[:count]), chosen, result)
    return None


def with_window_keys(problem: EditProblem) -> tuple[Curves, int]:
    """The curves with keys at the moments and at both ends of the window, where a moving curve has none near.

    The shape of the curves stays. Returns the number of keys added, too.
    """
    variables, window = problem.offsets, problem.offsets.window
    curves, count, new = variables.curves, 0, {}
    owner, _ = owners(curves, variables.columns)
    for number in np.unique(owner[variables.moved]):
        curve = curves.curves[number]
        if is_dense(curve, window.start, window.stop):
            continue
        middle = (window.start + window.stop) / 2
        for time in (window.start - window.radius, middle, window.stop + window.radius):
            near = np.abs(curve.times - time).min() <= NEAR_KEY_RADII * window.radius
            if curve.times[0] < time < curve.times[-1] and not near:
                curve, count = insert_curve_key(curve, time), count + 1
        if curve is not curves.curves[number]:
            new[int(number)] = replace(curve, fitted=np.ones(len(curve), bool)) if curve.fitted.all() else curve
    return curves.with_curves(new) if new else curves, count


def _suggest_window_keys(
    rig: PosedRig, curves: Curves, edit: Edit, problem: EditProblem, before: EditResult, settings: SolverSettings
) -> Suggestion | None:
    assert problem.window is not None
    keyed, count = with_window_keys(problem)
    if not count:
        return None
    local = replace(edit, falloff=problem.window.radius)
    result = solve(rig, keyed, local, settings)
    better = result.reached or remaining_share(result) < MAX_REMAINING_RATIO * remaining_share(before)
    if not better or (before.reached and _spread(local, result) >= _spread(edit, before)):
        return None
    times = [problem.window.start - problem.window.radius, problem.window.stop + problem.window.radius]
    sentence = (
        f"with {count} more keys nothing before {max(times[0], curves.start):.3g} s or after "
        f"{min(times[1], curves.end):.3g} s changes, and {describe_remaining(result)}"
    )
    return Suggestion("insert", (), sentence, local, result, count)


def _spread(edit: Edit, outcome: EditResult) -> float:
    """Seconds by which the change reaches beyond its window, on both sides together."""
    if outcome.radius is None or outcome.change is None or not edit.moves:
        return 0.0
    low, high = min(move.time for move in edit.moves), max(move.time for move in edit.moves)
    before, after = low - outcome.radius - outcome.change.start, outcome.change.stop - high - outcome.radius
    return max(before, 0.0) + max(after, 0.0)


def _spreads_beyond_window(edit: Edit, outcome: EditResult) -> bool:
    return outcome.radius is not None and _spread(edit, outcome) > MAX_SPREAD_RADII * outcome.radius


def _search_channels(
    rig: PosedRig,
    curves: Curves,
    edit: Edit,
    times: Sequence[float],
    problem: EditProblem,
    channels: Sequence[int],
    settings: SolverSettings,
) -> tuple[EditResult, tuple[int, ...]] | None:
    """The result of the fewest channels with keys at these times that reach the goal, and these channels."""
    ranked = _rank_channel_sets(problem, times[0], [(number,) for number in channels])
    while ranked:
        tried = [(_solve_with_keys(rig, curves, edit, times, chosen, settings), chosen) for chosen in ranked]
        reached = [(result, chosen) for result, chosen in tried if result is not None and result.reached]
        if reached:
            return min(reached, key=lambda pair: _mean_joint_motion(rig, curves, pair[0].curves, times[0]))
        grown = [tuple(sorted((*chosen, n))) for chosen in ranked for n in channels if n not in chosen]
        if MAX_INSERTED_KEYS <= len(ranked[0]) < len(channels):
            grown = [tuple(channels)]  # a key for all of them, as for a pose
        ranked = _rank_channel_sets(problem, times[0], list(dict.fromkeys(grown)))
    return None


def _key_suggestion(
    curves: Curves, edit: Edit, times: Sequence[float], chosen: tuple[int, ...], result: EditResult
) -> Suggestion:
    names = [f"{curves.curves[n].channel.target} ({curves.curves[n].channel.kind})" for n in chosen]
    new = sum(key_at(curves.curves[n], time) is None for n in chosen for time in times)
    count = {0: "with the key", 1: "with one key"}.get(new, f"with {new} keys")
    changes = "" if new == len(chosen) * len(times) else " changed"
    when = " and ".join(f"{time:.4g} s" for time in times)
    sentence = f"{count} at {when} of {join_names(names)}{changes} {describe_remaining(result)}"
    return Suggestion("insert", tuple(names), sentence, edit, result, new)


def _furthest_times(problem: EditProblem, before: EditResult) -> list[float]:
    """The times of the moves, the furthest from their goals in the blocked result first."""
    moves = problem.moves
    value = before.curves.sample(moves.grid.times)[:, problem.states.columns]
    place, turn, _ = problem.states.evaluate(value, moves.sample, moves.point, slopes=False)
    far = (gaps(moves, place, turn, problem.size) ** 2).sum(axis=1)
    return list(dict.fromkeys(moves.time[np.argsort(-far)].tolist()))


def _movable_channels(problem: EditProblem) -> list[int]:
    """The curves that move the points of the moves and constraints, without those that a pin or bone lengths fix."""
    moved = np.zeros(len(problem.states.columns), bool)
    for goal in (*problem.edit.moves, *problem.kept):
        moved |= problem.states.influence_mask[problem.points.index(goal.point)][np.array(parts_of(goal))].any(axis=0)
    moved &= problem.loose
    for pin in problem.edit.pins:
        moved &= ~find_frozen_columns(problem, pin)
    owner, _ = owners(problem.variables.curves, problem.states.columns)
    return [int(n) for n in np.unique(owner[moved])]


def _rank_channel_sets(problem: EditProblem, time: float, sets: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The best sets of channels, those first that leave the least distance after a few steps at this one time.

    Of those that leave less than CLOSE_DISTANCE_RATIO the last channels come first: nearer to the point, they move less
    of the body.
    """
    aims = _key_targets(problem, time)
    scored = [(_solve_key_pose(problem, aims, chosen, problem.edit.limits, 6)[1], chosen) for chosen in sets]
    ordered = sorted(scored, key=lambda pair: (max(pair[0], CLOSE_DISTANCE_RATIO), [-n for n in pair[1]]))
    return [chosen for _, chosen in ordered][:BEAM_WIDTH]


def _key_targets(problem: EditProblem, time: float) -> KeyTargets:
    """The moves at a time, and the constraints there, with their goals."""
    rows = [(int(problem.moves.point[r]), parts_of(move), 1.0) for r, move in enumerate(problem.edit.moves)]
    goals = [r for r, move in enumerate(problem.edit.moves) if move.time == time]
    rows = [rows[r] for r in goals]
    held = []
    for g, goal in enumerate(problem.kept):
        low = goal.time if isinstance(goal, Hold) else -np.inf if goal.start is None else goal.start
        high = goal.time if isinstance(goal, Hold) else np.inf if goal.stop is None else goal.stop
        if low <= time <= high and (problem.held.goal == g).any():
            held.append(g)
            rows.append((problem.points.index(goal.point), parts_of(goal), CONSTRAINT_WEIGHT))
    point = np.array([row[0] for row in rows], np.int64)
    parts = np.array([row[1] for row in rows], bool).reshape(-1, 2)
    asked = point_targets(problem.variables, point, np.full(len(rows), time), np.zeros(len(rows), np.int64), parts)
    place, turn = point_states(problem.states, problem.variables, asked, np.zeros(problem.variables.count))
    place[: len(goals)], turn[: len(goals)] = problem.moves.place[goals], problem.moves.turn[goals]
    for i, g in enumerate(held, start=len(goals)):
        if isinstance(problem.kept[g], Contact):
            first = int(np.flatnonzero(problem.held.goal == g)[0])
            place[i], turn[i] = problem.held.place[first], problem.held.turn[first]
    return KeyTargets(replace(asked, place=place, turn=turn), np.array([row[2] for row in rows]))


def _solve_key_pose(
    problem: EditProblem,
    aims: KeyTargets,
    chosen: tuple[int, ...],
    limited: Sequence[Limit],
    steps: int = MAX_GAUSS_NEWTON_STEPS,
) -> tuple[Array, float]:
    """The change (n,) of the columns of the chosen curves, and the weighted remaining gap."""
    t = problem.variables
    start = t.sample(aims.asked.grid, np.zeros(t.count))[0]
    owner, _ = owners(problem.variables.curves, problem.states.columns)
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


def _solve_with_keys(
    rig: PosedRig, curves: Curves, edit: Edit, times: Sequence[float], chosen: tuple[int, ...], settings: SolverSettings
) -> EditResult | None:
    """Solve the edit with keys of the chosen curves at some times; None where such keys are not possible."""
    bare = curves
    try:
        for time in times:
            bare = insert_key(bare, time, [curves.curves[n].channel for n in chosen])
        first = prepare_problem(
            rig, bare, replace(edit, limits=())
        )  # between keys a curve may exceed the limits of keys
        keyed = first.variables.curves
        for time in times:
            change, _ = _solve_key_pose(first, _key_targets(first, time), chosen, edit.limits)
            keyed = _set_key_values(first, keyed, time, chosen, change)
        second = prepare_problem(rig, keyed, edit)
    except InvalidInput:  # a cycling curve beyond its keys, or a key outside of the limits of its column
        return None
    second = replace(
        second,
        held=replace(second.held, place=first.held.place, turn=first.held.turn),
        dense=replace(second.dense, place=first.dense.place, turn=first.dense.turn),
        moves=with_targets(second.moves, edit.moves, first.origin),
        origin=first.origin,
    )
    found = search(second, second.moves, np.zeros(second.variables.count), settings)
    return edit_result(second, found)


def _set_key_values(
    problem: EditProblem, curves: Curves, time: float, chosen: tuple[int, ...], change: Array
) -> Curves:
    """The curves with the key values at a time changed by `change` (n,), in the columns of the chosen curves."""
    owner, within = owners(curves, problem.states.columns)

    def new_values(curve_number: int) -> Array:
        curve = curves.curves[curve_number]
        values, k = np.array(curve.values), key_at(curve, time)
        own = owner == curve_number
        length = np.linalg.norm(values[k])
        values[k, within[own]] += change[own]
        if curve.channel.kind == "rotation":
            values[k] *= length / np.linalg.norm(values[k])
        return values

    table = {id(curves.curves[n]): new_values(n) for n in chosen}
    which = np.isin(np.arange(len(curves)), chosen)
    return replace_curves(curves, which, lambda curve: replace(curve, values=table[id(curve)]))


def _mean_joint_motion(rig: PosedRig, before: Curves, after: Curves, time: float) -> float:
    """Metres, the mean distance that the joints move at a time."""
    places = [rig.joints(rig.pose(curves, [time]))[0, :, :3, 3] for curves in (before, after)]
    return float(np.linalg.norm(places[1] - places[0], axis=1).mean())
