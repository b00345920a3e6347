"""The plain way to move a limb in keyed curves: pose it at the moment, and fade the offset out on both sides.

Inverse kinematics of the limb's own two bones gives new values at the moment, of the whole chain where those do not
reach. Each changed column gets a key there and at both ends of the window, and its keys within the window are raised by

    offset * phi(t),   phi(t) = (1 + cos(pi (t - t0) / R)) / 2

with slopes raised by offset * phi'(t). Pins and contacts are ignored, which is what it costs to be plain.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.real import instant_ik

from understudy.character import Curve, Curves
from understudy.character.curve import LINEAR, bezier_segments
from understudy.character.key_insertion import insert_curve_keys
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Edit, MovePoint

RADIUS_S = 0.5


def edit_by_falloff_key(rig: PosedRig, curves: Curves, edit: Edit, radius: float = RADIUS_S) -> Curves:
    """The curves with every move of an edit done on its limb alone, within `radius` seconds."""
    for move in edit.moves:
        offset = pose_offset(rig, curves, move)
        new = {}
        for number, (curve, first) in enumerate(zip(curves.curves, curves.channels.offsets[:-1])):
            own = offset[int(first) : int(first) + len(curve.channel)]
            if own.any():
                new[number] = add_bump(curve, move.time, own, radius)
        curves = curves.with_curves(new)
    return curves


def pose_offset(rig: PosedRig, curves: Curves, move: MovePoint) -> Array:
    """(C,) what the columns change by at the moment of a move: of the limb, or of the whole chain."""
    goals = instant_ik.goals_at(rig, curves, Edit((move,)), move.time)
    free = instant_ik.movable_columns(rig, curves)
    limb = free & instant_ik.limb_columns(rig, curves, move.point, move.time, move.turn_to is not None)
    chain = free & instant_ik.chain_columns(rig, curves, [move.point])
    pose = instant_ik.solve_instant(rig, curves, move.time, goals, limb) if limb.any() else None
    if pose is None or not pose.met:
        pose = instant_ik.solve_instant(rig, curves, move.time, goals, chain)
    return np.asarray(pose.values - curves.sample([move.time])[0])


def add_bump(curve: Curve, time: float, offset: Array, radius: float) -> Curve:
    """The curve (n columns) raised by `offset` (n,) at a time, fading out over `radius` seconds on both sides."""
    inside = (curve.times[:-1] < time + radius) & (curve.times[1:] > time - radius) & (curve.segments == LINEAR)
    curve = bezier_segments(curve, inside) if len(curve) > 1 else curve
    wanted = np.array([time - radius, time, time + radius])
    wanted = wanted[(wanted > curve.times[0]) & (wanted < curve.times[-1])]
    curve = insert_curve_keys(curve, wanted) if len(wanted) else curve
    share, slope = raised_cosine(curve.times - time, radius)
    before, after = np.array(curve.before), np.array(curve.after)
    for handle in (before, after):
        handle[..., 1] += handle[..., 0] * slope[:, None] * offset
    return replace(curve, values=curve.values + share[:, None] * offset, before=before, after=after)


def raised_cosine(away: Array, radius: float) -> tuple[Array, Array]:
    """phi (K,) and its slope (K,) at times `away` from the moment; both are zero from `radius` on."""
    inside = np.abs(away) < radius
    angle = np.pi * away / radius
    share = np.where(inside, 0.5 + 0.5 * np.cos(angle), 0.0)
    return share, np.where(inside, -0.5 * np.pi / radius * np.sin(angle), 0.0)
