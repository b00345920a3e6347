"""Apply the steps of an edit list to curves, one kind of step after the other; reports are built in `edit_list`.

`key_dense_clip` prepares the curves: a dense animation stays as it is, or becomes few keys where that is asked for.
`apply_action` applies one step and says in words what was done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from understudy.character import Clip, Curve, Curves
from understudy.character.key_insertion import KEY_TIME_TOLERANCE_SECONDS, key_at
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit import handles
from understudy.edit.edit_curves import blend_edit
from understudy.edit.edit_list_steps import (
    Action,
    EditStep,
    KeyStep,
    PoseStep,
    Preparation,
    SketchStep,
    TangentStep,
    TimingStep,
)
from understudy.edit.goals import MovePoint, Pin, Point, Quaternion, Triple
from understudy.edit.keys import insert_key, move_key, remove_key, set_key
from understudy.edit.outcome import EditResult, Suggestion
from understudy.edit.points.states import states_of
from understudy.edit.posing import PoseResult, key_pose, pose_character
from understudy.edit.rotation_curves import to_euler
from understudy.edit.sketches import sketch_path
from understudy.edit.solver.sqp import SCRIPT_SETTINGS, SolverSettings, solve
from understudy.edit.solver.suggestions import suggest
from understudy.edit.stances import holds_feet_by_default, pin_standing_feet, window_around, with_standing_feet
from understudy.edit.timing import retime, scale_timing, sigma_of
from understudy.errors import InvalidInput
from understudy.maths import quaternion

STILL_CHANNEL_RANGE = 1e-6  # metres, radians or quaternion units: a channel with a smaller range does not move
DENSE_KEYS_PER_FRAME = 0.6  # a curve with more keys than this is edited by offsets over its frames
TANGENT_FUNCTIONS: dict[str, Callable[..., Curves]] = {
    "smooth": handles.smooth_tangents,
    "clamped": handles.clamp_tangents,
    "flat": handles.flatten_tangents,
    "linear": handles.straighten_tangents,
}


Result = EditResult | PoseResult


class ActionResult(NamedTuple):
    """The curves after one step, what was done in words, and the solver's result where one ran.

    A blocked step also has the suggestions that were asked for (`offers`), or the one that was `accepted`. `feet` are
    the pins of the feet that stand and were held, `weight` the share of the change that was kept.
    """

    curves: Curves
    what: str
    result: Result | None = None
    offers: tuple[Suggestion, ...] = ()
    accepted: Suggestion | None = None
    feet: tuple[Pin, ...] = ()
    weight: float = 1.0


def key_dense_clip(
    rig: PosedRig, animation: Clip | Curves, how: Preparation, progress: Callable[[int, int], None] | None = None
) -> tuple[Curves, tuple[str, ...]]:
    """The curves to edit, prepared as `how` asks, and notes about them, a line each."""
    notes: list[str] = []
    if how.keys:
        curves = key_at_times(animation, how.keys, how.tangents)
        off = describe_distance(rig, animation, curves)
        notes.append(f"{len(how.keys)} keys of {animation.name!r}: the motion between them is up to {off} off")
    elif how.reduce is not None:
        from understudy.edit.reduce import reduce_keys

        step = how.reduce
        angle: dict[str, Any] = {} if step.angle is None else {"angle": step.angle}
        reduced = reduce_keys(
            animation, rig, tolerance=step.tolerance, keys=step.keys, rotations="euler", progress=progress, **angle
        )
        curves = reduced.curves
        notes += [f"{animation.name!r}: {reduced.keys:,} keys, within {1000 * reduced.error_m:.3g} mm", *reduced.notes]
    else:
        curves = animation if isinstance(animation, Curves) else Curves.from_clip(animation)
        if is_dense(curves):
            notes.append(
                f"{animation.name!r} has a key on every frame; its frames are edited (`reduce` would give few keys)"
            )
    if how.orders:
        curves = to_euler(curves, how.orders[""] if set(how.orders) == {""} else how.orders)
    return curves, tuple(notes)


def key_at_times(animation: Clip | Curves, times: Sequence[float], method: str = "smooth") -> Curves:
    """The poses of an animation at `times` as keys of all its channels, with automatic tangents between them.

    A channel that does not move becomes a single key, without tangents, so no edit will use it.
    """
    start, stop = animation.start, animation.start + animation.duration
    for time in times:
        if not start - KEY_TIME_TOLERANCE_SECONDS <= time <= stop + KEY_TIME_TOLERANCE_SECONDS:
            raise InvalidInput(
                f"a key should lie within {animation.name!r}, {start:g} to {stop:g} s, but is at {time:g}"
            )
    at = np.asarray(times, np.float64)
    values, whole = animation.sample(at), animation.sample(animation.frame_times())
    outside = {curve.channel: curve.extrapolation for curve in getattr(animation, "curves", ())}
    curves = []
    for i, channel in enumerate(animation.channels):
        columns = slice(int(animation.channels.offsets[i]), int(animation.channels.offsets[i + 1]))
        if channel.kind == "marker":
            continue
        still = np.ptp(whole[:, columns], axis=0).max() < STILL_CHANNEL_RANGE
        keys = slice(0, 1) if still else slice(None)
        ends = outside.get(channel, ("hold", "hold"))
        curves.append(Curve(channel, at[keys], values[keys, columns], extrapolation=ends))
    rate, words = animation.rate, (animation.about, animation.moments)
    return TANGENT_FUNCTIONS[method](Curves(animation.name, curves, animation.labels, rate, *words))


def is_dense(curves: Curves) -> bool:
    """Whether most curves that move have so many keys that they look baked."""
    moving = [
        curve for curve in curves.curves if len(curve) > 1 and np.ptp(curve.values, axis=0).max() > STILL_CHANNEL_RANGE
    ]
    shares = [len(curve) / max(1.0, (curve.times[-1] - curve.times[0]) * curves.rate + 1) for curve in moving]
    return bool(shares) and curves.frame_count > 4 and float(np.median(shares)) > DENSE_KEYS_PER_FRAME


def describe_distance(rig: PosedRig, one: Clip | Curves, other: Curves) -> str:
    """The largest distance between the joints of two animations over the frames of the second, as text."""
    times = other.frame_times(one.rate)
    places: list[Array] = [rig.joints(rig.pose(animation, times))[..., :3, 3] for animation in (one, other)]
    return f"{1000 * float(np.linalg.norm(places[0] - places[1], axis=-1).max(initial=0.0)):.3g} mm"


def apply_action(
    rig: PosedRig, curves: Curves, action: Action, settings: SolverSettings | None = None, ask: bool = False
) -> ActionResult:
    """Apply one step; with `ask`, compute suggestions where it is blocked."""
    match action:
        case EditStep():
            return _apply_moves(rig, curves, action, settings, ask)
        case PoseStep():
            return _apply_pose(rig, curves, action)
        case TimingStep():
            return _apply_timing(rig, curves, action, settings)
        case SketchStep():
            return _apply_sketch(rig, curves, action, settings)
        case KeyStep():
            return _apply_key(curves, action)
        case TangentStep():
            changed = TANGENT_FUNCTIONS[action.method](curves, action.targets, action.start, action.stop)
            ends = zip(("from", "to"), (action.start, action.stop))
            span = "".join(f" {word} {time:g} s" for word, time in ends if time is not None)
            return ActionResult(changed, f"{action.method} tangents {_describe_targets(action)}{span}")


def _apply_moves(
    rig: PosedRig, curves: Curves, action: EditStep, settings: SolverSettings | None, ask: bool
) -> ActionResult:
    what, settings = _describe_moves(action), settings or SCRIPT_SETTINGS
    edit = replace(action.edit, moves=_resolve_turns(rig, curves, action.edit.moves, action.turns))
    given = len(edit.pins)
    edit = with_standing_feet(rig, curves, edit, action.hold_feet)
    outcome, accepted = solve(rig, curves, edit, settings), None
    for kind in () if outcome.reached else action.accept:
        reached = [one for one in suggest(rig, curves, edit, outcome, (kind,), settings) if one.outcome.reached]
        if reached:
            accepted = reached[0]
            edit, outcome = accepted.edit, accepted.outcome
            break
    offers = suggest(rig, curves, edit, outcome, settings=settings) if ask and not outcome.reached else ()
    kept = blend_edit(curves, outcome.curves, action.weight)
    return ActionResult(kept, what, outcome, offers, accepted, edit.pins[given:], action.weight)


def _standing_feet(
    rig: PosedRig, curves: Curves, action: SketchStep | TimingStep, point: Point, start: float, stop: float
) -> tuple[Pin, ...]:
    """The pins of the feet that stand while a point follows a stroke or another timing, where feet are held."""
    hold = holds_feet_by_default(curves, start, stop) if action.hold_feet is None else action.hold_feet
    if not hold:
        return ()
    falloff = action.falloff if isinstance(action, SketchStep) else None
    kept = [goal.point for goals in (action.pins, action.contacts, action.holds) for goal in goals]
    return pin_standing_feet(rig, curves, [point], *window_around(curves, start, stop, falloff), kept)


def _apply_pose(rig: PosedRig, curves: Curves, action: PoseStep) -> ActionResult:
    if is_dense(curves):
        raise InvalidInput(
            f"a pose at {action.time:g} s would last one frame, because {curves.name!r} has a key on every frame; "
            'move the points instead (`kind = "move"`), or reduce the clip first'
        )
    if action.values:
        curves = _with_values(curves, action)
    if not action.moves:
        return ActionResult(curves, f"set {len(action.values)} columns at {action.time:g} s")
    moves = _resolve_turns(rig, curves, action.moves, action.turns)
    posed = pose_character(
        rig,
        curves,
        *moves,
        *action.pins,
        *action.limits,
        time=action.time,
        stiffness=action.stiffness,
        insert=action.insert,
    )
    names = ", ".join(dict.fromkeys(move.point.name for move in moves))
    keyed = key_pose(curves, action.time, posed, action.insert)
    return ActionResult(keyed, f"pose {names} at {action.time:g} s", posed)


def _apply_timing(rig: PosedRig, curves: Curves, action: TimingStep, settings: SolverSettings | None) -> ActionResult:
    what = f"{action.factor:g} times as fast at {action.time:g} s"
    if action.point is None:
        sigma = sigma_of(action.factor)
        changed = scale_timing(curves, action.time, sigma, action.targets, action.edges)
        return ActionResult(changed, f"timing {_describe_targets(action)}: {what}")
    feet = _standing_feet(rig, curves, action, action.point, action.time, action.time)
    outcome = retime(
        rig,
        curves,
        action.point,
        action.time,
        action.factor,
        pins=(*action.pins, *feet),
        contacts=action.contacts,
        holds=action.holds,
        limits=action.limits,
        stiffness=action.stiffness,
        edges=action.edges,
        settings=settings,
    )
    return ActionResult(outcome.curves, f"{action.point.name} {what}", outcome, feet=feet)


def _apply_sketch(rig: PosedRig, curves: Curves, action: SketchStep, settings: SolverSettings | None) -> ActionResult:
    start, stop = (action.times[0], action.times[-1]) if action.times else (action.start or 0.0, action.stop or 0.0)
    feet = _standing_feet(rig, curves, action, action.point, start, stop)
    outcome = sketch_path(
        rig,
        curves,
        action.point,
        action.path,
        action.start,
        action.stop,
        *action.pins,
        *feet,
        *action.contacts,
        *action.holds,
        *action.limits,
        times=action.times or None,
        stiffness=action.stiffness,
        edges=action.edges,
        falloff=action.falloff,
        hold_feet=False,
        settings=settings,
    )
    kept = blend_edit(curves, outcome.curves, action.weight)
    return ActionResult(kept, f"sketch {action.point.name}", outcome, feet=feet, weight=action.weight)


def _apply_key(curves: Curves, action: KeyStep) -> ActionResult:
    time, targets = action.time, action.targets
    if action.remove:
        return ActionResult(
            remove_key(curves, time, targets), f"removed the key {_describe_targets(action)} at {time:g} s"
        )
    if action.to_time is not None:
        moved = move_key(curves, time, action.to_time, targets)
        return ActionResult(moved, f"moved the key {_describe_targets(action)} from {time:g} to {action.to_time:g} s")
    return ActionResult(insert_key(curves, time, targets), f"inserted a key {_describe_targets(action)} at {time:g} s")


def _with_values(curves: Curves, action: PoseStep) -> Curves:
    """The curves with columns of the keys at a time set by name."""
    for curve in curves.curves:
        prefix = f"{curve.channel.target}.{curve.channel.kind}."
        given = {
            i: action.values[prefix + c] for i, c in enumerate(curve.channel.columns) if prefix + c in action.values
        }
        if not given:
            continue
        if key_at(curve, action.time) is None and not action.insert:
            raise InvalidInput(
                f"there is no key of {curve.channel.target} ({curve.channel.kind}) at {action.time:g} s to set; "
                "`insert = true` asks for one"
            )
        value = np.array(curve.sample([action.time])[0])
        value[list(given)] = list(given.values())
        if curve.channel.kind == "rotation":
            value = quaternion.normalise(value)
        curves = set_key(curves, curve.channel.target, curve.channel.kind, action.time, value)
    return curves


def _resolve_turns(
    rig: PosedRig, curves: Curves, moves: Sequence[MovePoint], turns: Mapping[int, Triple]
) -> tuple[MovePoint, ...]:
    """The moves, with rotations by an angle replaced by target orientations."""
    turned = (
        replace(move, turn_to=_orientation_after(rig, curves, move, turns[i])) if i in turns else move
        for i, move in enumerate(moves)
    )
    return tuple(turned)


def _orientation_after(rig: PosedRig, curves: Curves, move: MovePoint, turn: Triple) -> Quaternion:
    states = states_of(rig, curves.channels, [move.point])
    values = curves.sample([move.time])[:, states.columns]
    first = np.zeros(1, np.int64)
    _, orientation, _ = states.evaluate(values, first, first, slopes=False)
    before = quaternion.from_matrix(orientation[0])
    x, y, z, w = quaternion.multiply(quaternion.from_rotation_vector(np.array(turn)), before).tolist()
    return x, y, z, w


def _describe_moves(action: EditStep) -> str:
    """The goals of an edit in words."""
    moves = action.edit.moves
    if not moves and action.edit.contacts:
        return f"contact of {', '.join(dict.fromkeys(contact.point.name for contact in action.edit.contacts))}"
    if not moves:
        terms = action.edit.terms
        return " and ".join(f"{type(term).__name__.lower()} from {term.start:g} to {term.stop:g} s" for term in terms)
    verb = "turn" if all(m.to is None and m.by is None for m in moves) else "move"
    listed = [f"{move.point.name} at {move.time:g} s" for move in moves]
    return f"{verb} {', '.join(listed[:3])}" + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")


def _describe_targets(action: KeyStep | TangentStep | TimingStep) -> str:
    return "of all curves" if action.targets is None else f"of {', '.join(action.targets)}"
