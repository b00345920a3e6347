"""`edit_curves`: one edit of keyframed curves, from goals to the result; and `blend_edit`: an edit as a layer.

Offsets of keys and handles are linear in the change that is made, so an edit can be kept at any weight: half of the
change of every value and handle is half of the motion's change, at all times where the handles in time stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from understudy.character import Clip, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, bezier_segments
from understudy.character.key_insertion import insert_curve_key
from understudy.character.rig import PosedRig
from understudy.edit.goals import Edit, Goal, ObjectiveTerm, sort_goals
from understudy.edit.outcome import EditResult
from understudy.edit.solver.sqp import SolverSettings, solve
from understudy.edit.solver.suggestions import suggest as suggest_changes
from understudy.edit.stances import with_standing_feet
from understudy.errors import InvalidInput
from understudy.maths import quaternion


def edit_curves(
    rig: PosedRig,
    curves: Curves | Clip,
    *goals: Goal,
    stiffness: Mapping[str, float] | None = None,
    span: tuple[float, float] | None = None,
    edges: str = "smooth",
    falloff: float | None = None,
    hold_feet: bool | None = None,
    terms: Sequence[ObjectiveTerm] = (),
    suggest: bool = False,
    settings: SolverSettings | None = None,
) -> EditResult:
    """Change an animation so that points reach their goals; no key is added, removed or moved in time.

    Keys that a person set keep their values, and the tangents between them change. Keys that a fitter placed, and the
    frames of a capture, may move within a window of time around the goals.

    Args:
        rig: Rig of the character that the curves move.
        curves: The animation; a clip is edited as curves with a key on every frame (`Curves.from_clip`).
        goals: What to reach and what to keep: `MovePoint`, `Pin`, `Contact`, `Hold` and `Limit`, in any order.
        stiffness: Factors by joint (`"Spine"`) or column (`"Spine.euler.x"`) on the cost of changing its tangents;
            0 makes changes free.
        span: First and last time, in seconds, between which tangents may change; by default the segments of the moves.
        edges: What happens to unbroken tangents at the ends of the span: `"smooth"` turns both sides together,
            `"broken"` leaves the neighbouring segments alone.
        falloff: Radius, in seconds, around the moves within which keys that a fitter placed, and frames of a dense
            clip, may move; None takes it from the spacing of keys. Keys that a person set never move.
        hold_feet: Whether feet that stand within the window keep their paths, as if they were pinned, except those of
            the limb that is moved. None holds them where keys come from a fitter or the clip is dense.
        terms: Objective terms about whole paths, such as `understudy.edit.sketches.Stroke`.
        suggest: Whether to look for ways on where the goals are not reached, or where keys are so far apart that the
            change spreads beyond its window. Each of them is solved, which takes longer than the edit itself.
        settings: Weights and limits of the solver; the defaults are those of scripts.

    Returns:
        The new curves, whether the goals are `reached`, the remaining `distance` in metres and `angle` in radians,
        the `obstacles`, the `change` of the motion as a whole, and the `suggestions` where they were asked for.

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
    curves = Curves.from_clip(curves) if isinstance(curves, Clip) else curves
    edit = Edit(
        **sort_goals(rig.character, goals),
        stiffness=stiffness or {},
        start=start,
        stop=stop,
        edges=edges,
        falloff=falloff,
        terms=tuple(terms),
    )
    edit = with_standing_feet(rig, curves, edit, hold_feet)
    result = solve(rig, curves, edit, settings)
    if not suggest:
        return result
    return replace(result, suggestions=suggest_changes(rig, curves, edit, result, settings=settings))


def blend_edit(before: Curves, after: Curves, weight: float) -> Curves:
    """An edit at a weight: the animation before it, and a share of what it changed.

    Args:
        before: The animation before the edit.
        after: The animation after it, on the same channels. It may have more keys than `before`, but no fewer.
        weight: Share of the change of every key and handle: 0 is `before`, 1 is `after`.

    Returns:
        The animation in between, with the keys of `after`.

    Raises:
        InvalidInput: If the weight is not between 0 and 1, the channels differ, or keys were removed or moved in time.

    Example:
        >>> lamp = us.load("lamp")
        >>> rig, curves = us.rig_of(lamp.character()), lamp.animation("curious")
        >>> edited = us.edit_curves(rig, curves, us.MovePoint("Head", 3.7, by=(0, 0.08, 0))).curves
        >>> half = us.blend_edit(curves, edited, 0.5)
        >>> us.blend_edit(curves, edited, 1.0) is edited, half.key_count == curves.key_count
        (True, True)
    """
    if not (np.isfinite(weight) and 0 <= weight <= 1):
        raise InvalidInput(f"the weight of an edit should be between 0 and 1, but is {weight}")
    if before.channels != after.channels:
        raise InvalidInput("an edit is blended with the animation before it, but the channels of the two differ")
    if weight in (0, 1):
        return after if weight else before
    pairs = zip(before.curves, after.curves)
    return after.with_curves({i: _blend_curve(a, b, weight) for i, (a, b) in enumerate(pairs) if a is not b})


def _blend_curve(before: Curve, after: Curve, weight: float) -> Curve:
    for time in np.setdiff1d(after.times, before.times):
        before = insert_curve_key(before, float(time))
    if not np.array_equal(before.times, after.times):
        name = f"{after.channel.target} ({after.channel.kind})"
        raise InvalidInput(f"keys of {name} were removed or moved in time, which has no weight")
    before = bezier_segments(before, (before.segments == LINEAR) & (after.segments == BEZIER))
    flipped = after.channel.kind == "rotation" and np.einsum("kn,kn->k", before.values, after.values) < 0
    sign = np.where(flipped, -1.0, 1.0)[..., None]  # q and -q are one rotation
    values = before.values * sign
    handles = [h * np.stack(np.broadcast_arrays(1.0, sign), axis=-1) for h in (before.before, before.after)]
    values = values + weight * (after.values - values)
    if after.channel.kind == "rotation" and not (after.segments == BEZIER).any():
        values = quaternion.normalise(values)
    arriving, leaving = (h + weight * (new - h) for h, new in zip(handles, (after.before, after.after)))
    return replace(after, values=values, before=arriving, after=leaving)
