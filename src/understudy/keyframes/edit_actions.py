"""What each kind of edit does to curves. Whoever solves is asked here; sentences and reports are made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from understudy.character import Curves
from understudy.errors import InvalidInput
from understudy.keyframes.edit_steps import Action, Gesture, Key, Pose, Sketch, Tangents, Timing
from understudy.keyframes.goals import Move, Quaternion, Triple
from understudy.keyframes.inserting import insert_key
from understudy.keyframes.keys import move_key, remove_key, set_key
from understudy.keyframes.offer import Offer
from understudy.keyframes.offers import offers
from understudy.keyframes.outcome import Outcome
from understudy.keyframes.posing import Posed, key_pose, pose
from understudy.keyframes.preparing import METHODS
from understudy.keyframes.selection import key_at
from understudy.keyframes.sketch import sketch
from understudy.keyframes.solve import PATIENT, Settings, solve
from understudy.keyframes.states import states_of
from understudy.keyframes.timing import retime, scale_timing, sigma_of
from understudy.maths import quaternion
from understudy.rig import PosedRig

Result = Outcome | Posed


class Done(NamedTuple):
    """The curves after one edit, what was done in words, and how it went where something had to be reached.

    Of a blocked edit also the `offers` that were asked for, or the one that was `accepted`.
    """

    curves: Curves
    what: str
    result: Result | None = None
    offers: tuple[Offer, ...] = ()
    accepted: Offer | None = None


def act(rig: PosedRig, curves: Curves, action: Action, settings: Settings | None = None, ask: bool = False) -> Done:
    """One edit; `ask` for offers where it is blocked."""
    match action:
        case Gesture():
            return _gesture(rig, curves, action, settings, ask)
        case Pose():
            return _posed(rig, curves, action)
        case Timing():
            return _timed(rig, curves, action, settings)
        case Sketch():
            outcome = _sketched(rig, curves, action, settings)
            return Done(outcome.curves, f"sketch {action.point.name}", outcome)
        case Key():
            return _key(curves, action)
        case Tangents():
            changed = METHODS[action.method](curves, action.targets, action.start, action.stop)
            ends = zip(("from", "to"), (action.start, action.stop))
            span = "".join(f" {word} {time:g} s" for word, time in ends if time is not None)
            return Done(changed, f"{action.method} tangents {_of(action)}{span}")


def _gesture(rig: PosedRig, curves: Curves, action: Gesture, settings: Settings | None, ask: bool) -> Done:
    what, settings = _moved(action), settings or PATIENT
    edit = replace(action.edit, moves=_turned(rig, curves, action.edit.moves, action.turns))
    outcome = solve(rig, curves, edit, settings)
    if outcome.reached:
        return Done(outcome.curves, what, outcome)
    for kind in action.accept:
        for offer in offers(rig, curves, edit, outcome, (kind,), settings):
            if offer.outcome.reached:
                return Done(offer.outcome.curves, what, offer.outcome, accepted=offer)
    made = offers(rig, curves, edit, outcome, settings=settings) if ask else ()
    return Done(outcome.curves, what, outcome, made)


def _posed(rig: PosedRig, curves: Curves, action: Pose) -> Done:
    if action.values:
        curves = _with_values(curves, action)
    if not action.moves:
        return Done(curves, f"set {len(action.values)} columns at {action.time:g} s")
    moves = _turned(rig, curves, action.moves, action.turns)
    posed = pose(
        rig,
        curves,
        moves,
        time=action.time,
        pins=action.pins,
        limits=action.limits,
        stiffness=action.stiffness,
        insert=action.insert,
    )
    names = ", ".join(dict.fromkeys(move.point.name for move in moves))
    keyed = key_pose(curves, action.time, posed, action.insert)
    return Done(keyed, f"pose {names} at {action.time:g} s", posed)


def _timed(rig: PosedRig, curves: Curves, action: Timing, settings: Settings | None) -> Done:
    what = f"{action.factor:g} times as fast at {action.time:g} s"
    if action.point is None:
        sigma = sigma_of(action.factor)
        changed = scale_timing(curves, action.time, sigma, action.targets, action.edges)
        return Done(changed, f"timing {_of(action)}: {what}")
    outcome = retime(
        rig,
        curves,
        action.point,
        action.time,
        action.factor,
        pins=action.pins,
        contacts=action.contacts,
        holds=action.holds,
        limits=action.limits,
        stiffness=action.stiffness,
        edges=action.edges,
        settings=settings,
    )
    return Done(outcome.curves, f"{action.point.name} {what}", outcome)


def _sketched(rig: PosedRig, curves: Curves, action: Sketch, settings: Settings | None) -> Outcome:
    return sketch(
        rig,
        curves,
        action.point,
        action.path,
        action.start,
        action.stop,
        times=action.times or None,
        pins=action.pins,
        contacts=action.contacts,
        holds=action.holds,
        limits=action.limits,
        stiffness=action.stiffness,
        edges=action.edges,
        settings=settings,
    )


def _with_values(curves: Curves, action: Pose) -> Curves:
    """Columns of keys set by name."""
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


def _key(curves: Curves, action: Key) -> Done:
    time, targets = action.time, action.targets
    if action.remove:
        return Done(remove_key(curves, time, targets), f"removed the key {_of(action)} at {time:g} s")
    if action.to_time is not None:
        moved = move_key(curves, time, action.to_time, targets)
        return Done(moved, f"moved the key {_of(action)} from {time:g} to {action.to_time:g} s")
    return Done(insert_key(curves, time, targets), f"inserted a key {_of(action)} at {time:g} s")


def _turned(rig: PosedRig, curves: Curves, moves: Sequence[Move], turns: Mapping[int, Triple]) -> tuple[Move, ...]:
    """The moves, with turns by an angle made turns to an orientation."""
    turned = (
        replace(move, turn_to=_orientation_after(rig, curves, move, turns[i])) if i in turns else move
        for i, move in enumerate(moves)
    )
    return tuple(turned)


def _orientation_after(rig: PosedRig, curves: Curves, move: Move, turn: Triple) -> Quaternion:
    states = states_of(rig, curves.channels, [move.point])
    values = curves.sample([move.time])[:, states.columns]
    first = np.zeros(1, np.int64)
    _, orientation, _ = states.evaluate(values, first, first, slopes=False)
    was = quaternion.from_matrix(orientation[0])
    x, y, z, w = quaternion.multiply(quaternion.from_rotation_vector(np.array(turn)), was).tolist()
    return x, y, z, w


def _moved(action: Gesture) -> str:
    """An edit's goals, in words."""
    moves = action.edit.moves
    if not moves and action.edit.contacts:
        return f"contact of {', '.join(dict.fromkeys(contact.point.name for contact in action.edit.contacts))}"
    if not moves:
        return " and ".join(f"{type(w).__name__.lower()} from {w.start:g} to {w.stop:g} s" for w in action.edit.wishes)
    verb = "turn" if all(m.to is None and m.by is None for m in moves) else "move"
    listed = [f"{move.point.name} at {move.time:g} s" for move in moves]
    return f"{verb} {', '.join(listed[:3])}" + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")


def _of(action: Key | Tangents | Timing) -> str:
    return "of all curves" if action.targets is None else f"of {', '.join(action.targets)}"
