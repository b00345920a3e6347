"""`edit_curves`: one edit of keyframed curves, from goals to the result, with suggestions where it is blocked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from understudy.character import Curves
from understudy.character.rig import PosedRig
from understudy.edit.goals import Edit, Goal, ObjectiveTerm, sort_goals
from understudy.edit.outcome import EditResult
from understudy.edit.solver.sqp import SolverSettings, solve
from understudy.edit.solver.suggestions import suggest as suggest_changes


def edit_curves(
    rig: PosedRig,
    curves: Curves,
    *goals: Goal,
    stiffness: Mapping[str, float] | None = None,
    span: tuple[float, float] | None = None,
    edges: str = "smooth",
    falloff: float | None = None,
    terms: Sequence[ObjectiveTerm] = (),
    suggest: bool = False,
    settings: SolverSettings | None = None,
) -> EditResult:
    """Change the tangents of an animation so that points reach their goals; no key is moved, added or removed.

    Args:
        rig: Rig of the character that the curves move.
        curves: The animation.
        goals: What to reach and what to keep: `MovePoint`, `Pin`, `Contact`, `Hold` and `Limit`, in any order.
        stiffness: Factors by joint (`"Spine"`) or column (`"Spine.euler.x"`) on the cost of changing its tangents;
            0 makes changes free.
        span: First and last time, in seconds, between which tangents may change; by default the segments of the moves.
        edges: What happens to unbroken tangents at the ends of the span: `"smooth"` turns both sides together,
            `"broken"` leaves the neighbouring segments alone.
        falloff: Radius, in seconds, around the moves within which keys that a fitter placed, and frames of a dense
            clip, may move; None takes it from the spacing of keys. Keys that a person set never move.
        terms: Objective terms about whole paths, such as `understudy.edit.sketches.Stroke`.
        suggest: Whether to look for ways on where the goals are not reached. Each of them is solved, which takes
            longer than the edit itself.
        settings: Weights and limits of the solver; the defaults are those of scripts.

    Returns:
        The new curves, whether the goals are `reached`, the remaining `distance` in metres and `angle` in radians,
        the `obstacles`, and the `suggestions` where they were asked for.

    Raises:
        InvalidInput: If the goals name no move, contact or term, a point that the character does not have, or a time
            outside the animation.

    Example:
        >>> lamp = us.load("lamp")
        >>> rig, curves = us.rig_of(lamp.character()), lamp.animation("curious")
        >>> result = us.edit_curves(rig, curves, us.MovePoint("Head", 3.7, by=(0, 0.08, 0)), us.Pin("Base"))
        >>> result.reached, result.curves.key_count == curves.key_count
        (True, True)
        >>> us.edit_curves(rig, curves, us.MovePoint("Head", 3.7, by=(0, 2, 0))).obstacles[0].kind
        'reach'

    Notes:
        [Ciccone 2019, section 3]; docs/edit.md explains what each goal costs.
    """
    start, stop = (None, None) if span is None else span
    edit = Edit(
        **sort_goals(rig.character, goals),
        stiffness=stiffness or {},
        start=start,
        stop=stop,
        edges=edges,
        falloff=falloff,
        terms=tuple(terms),
    )
    result = solve(rig, curves, edit, settings)
    if not suggest or result.reached:
        return result
    return replace(result, suggestions=suggest_changes(rig, curves, edit, result, settings=settings))
