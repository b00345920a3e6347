"""Stances: when the feet of a character stand in an animation, as pins that an edit of another part keeps.

    pins = pin_standing_feet(rig, curves, [Point("LeftHand")], 0.6, 1.4)
    result = edit_curves(rig, curves, MovePoint("LeftHand", 1.0, by=(0, 0.1, 0)), *pins)

A foot (or paw, or hand of a body on all fours) stands while any of its contact points is down, by the contact finder of
`character/body`. During a stance the foot keeps its own path and orientation, so the roll from heel to toe and the
creep of a capture stay as they are, and an edit that asks for nothing changes nothing. A foot with a single contact
point (a hoof, the tip of a spider's leg) keeps its place and may turn.

The search is done once for an animation: a click waits for its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from understudy.character import Curves
from understudy.character.body.contacts import find_contact_phases, runs
from understudy.character.body.feet import ContactLocation, find_contacts
from understudy.character.body.limbs import limbs_of
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.edit.goals import Edit, Pin, Point
from understudy.edit.points.states import main_joint
from understudy.edit.solver.offsets import MAX_RADIUS, MIN_RADIUS, is_dense, uses_window

MAX_SAMPLES_PER_S = 60.0  # of a stance: the finder drops those below 0.1 s
FRAMES_PER_BLOCK = 2048  # of joints at once: a block of a large skeleton takes a few tens of megabytes


class FootContacts(NamedTuple):
    """The contact points of one foot, and what of it is pinned while it stands."""

    contacts: tuple[ContactLocation, ...]
    point: Point
    orientation: bool


class CharacterFeet(NamedTuple):
    """The feet of a character, and the limb of each joint."""

    feet: tuple[FootContacts, ...]
    limb: Array  # (J,) int, the first joint of the limb that a joint is part of
    height: float  # metres, at rest


_feet: WeakKeyDictionary[PosedRig, CharacterFeet] = WeakKeyDictionary()
_stances: WeakKeyDictionary[Curves, tuple[PosedRig, tuple[Pin, ...]]] = WeakKeyDictionary()


def pin_standing_feet(
    rig: PosedRig,
    curves: Curves,
    moved: Sequence[Point],
    start: float,
    stop: float,
    kept: Sequence[Point] = (),
) -> tuple[Pin, ...]:
    """Pins of the feet that stand at any time from `start` to `stop` (seconds), each over its whole stance.

    A foot of a limb with a point of `moved` is left out: that limb is what the edit moves. So is one of a limb with a
    point of `kept`, which has constraints of its own.
    """
    near = [pin for pin in find_stances(rig, curves) if _overlaps(pin, start, stop)]
    joints = [main_joint(rig, point) for point in (*moved, *kept)]
    taken = {pin.point for pin in near if any(_shares_limb(rig, joint, pin.point) for joint in joints)}
    return tuple(pin for pin in near if pin.point not in taken)


def _overlaps(pin: Pin, start: float, stop: float) -> bool:
    return (pin.start is None or pin.start < stop) and (pin.stop is None or pin.stop > start)


def _shares_limb(rig: PosedRig, joint: int, foot: Point) -> bool:
    """Whether a joint is part of the limb of a foot; where the body stands on one limb alone, of what carries it."""
    feet, skeleton = _feet_of(rig), rig.character.skeleton
    own = skeleton.index(foot.joint)
    return bool(feet.limb[joint] == feet.limb[own]) if len(feet.feet) > 1 else joint in skeleton.ancestors(own)


def with_standing_feet(rig: PosedRig, curves: Curves, edit: Edit, hold: bool | None = None) -> Edit:
    """The edit with pins of the feet that stand within its window, where it does not move or hold them itself.

    `hold` says whether to hold them at all; None leaves it to `holds_feet_by_default`.
    """
    terms = [term for term in edit.terms if term.points(rig)]
    spans = [(move.time, move.time) for move in edit.moves] + [(term.start, term.stop) for term in terms]
    if not spans or hold is False:
        return edit
    start, stop = min(a for a, _ in spans), max(b for _, b in spans)
    if hold is None and not holds_feet_by_default(curves, start, stop):
        return edit
    low, high = window_around(curves, start, stop, edit.falloff)
    moved = [move.point for move in edit.moves] + [point for term in terms for point in term.points(rig)]
    kept = [goal.point for goals in (edit.pins, edit.contacts, edit.holds) for goal in goals]
    pins = pin_standing_feet(rig, curves, moved, low, high, kept)
    return replace(edit, pins=(*edit.pins, *pins)) if pins else edit


def holds_feet_by_default(curves: Curves, start: float, stop: float) -> bool:
    """Whether feet are held without being asked for: where keys from `start` to `stop` come from a fitter, or are
    frames of a dense clip. Between keys that a person set, the keys hold them."""
    return uses_window(curves, np.arange(len(curves)), start, stop)


def window_around(curves: Curves, start: float, stop: float, falloff: float | None) -> tuple[float, float]:
    """Seconds, the first and last time that an edit from `start` to `stop` can reach."""
    radius = falloff
    if radius is None:
        moving = [curve for curve in curves.curves if len(curve) > 1]
        radius = MIN_RADIUS if moving and all(is_dense(curve, start, stop) for curve in moving) else MAX_RADIUS
    return start - radius, stop + radius


def find_stances(rig: PosedRig, curves: Curves) -> tuple[Pin, ...]:
    """All stances of an animation, in the order of the feet and then of time."""
    known = _stances.get(curves)
    if known is None or known[0] is not rig:
        known = _stances[curves] = rig, _find_stances(rig, curves)
    return known[1]


def _find_stances(rig: PosedRig, curves: Curves) -> tuple[Pin, ...]:
    feet, rate = _feet_of(rig), min(curves.rate, MAX_SAMPLES_PER_S)
    times = curves.frame_times(rate)
    contacts = [contact for foot in feet.feet for contact in foot.contacts]
    if not contacts or len(times) < 3:
        return ()
    blocks = [times[i : i + FRAMES_PER_BLOCK] for i in range(0, len(times), FRAMES_PER_BLOCK)]
    places = np.concatenate([_contact_places(rig, curves, contacts, block) for block in blocks])
    down = find_contact_phases(places, rate, feet.height, [name for name, _, _ in contacts]).down
    pins, first = [], 0
    for foot in feet.feet:
        last = first + len(foot.contacts)
        for a, b in runs(np.asarray(down[:, first:last].any(axis=1))):
            if b - a > 1:
                span = float(times[a]), float(times[b - 1])
                pins.append(Pin(foot.point, *span, orientation=foot.orientation))
        first = last
    return tuple(pins)


def _contact_places(rig: PosedRig, curves: Curves, contacts: Sequence[ContactLocation], times: Array) -> Array:
    """(F, K, 3) metres in the world."""
    joints = rig.joints(rig.pose(curves, times))[:, [joint for _, joint, _ in contacts]]
    offsets = np.array([offset for _, _, offset in contacts])
    return np.einsum("fkab,kb->fka", joints[..., :3, :3], offsets) + joints[..., :3, 3]


def _feet_of(rig: PosedRig) -> CharacterFeet:
    feet = _feet.get(rig)
    if feet is None:
        feet = _feet[rig] = _find_feet(rig)
    return feet


def _find_feet(rig: PosedRig) -> CharacterFeet:
    skeleton = rig.character.skeleton
    limb = np.asarray(limbs_of(skeleton).top)
    groups: dict[int, list[ContactLocation]] = {}
    for contact in find_contacts(rig.character):
        groups.setdefault(int(limb[contact[1]]), []).append(contact)
    feet = []
    for contacts in groups.values():
        joint = min((joint for _, joint, _ in contacts), key=lambda j: len(skeleton.ancestors(j)))
        if len(contacts) > 1:
            feet.append(FootContacts(tuple(contacts), Point(skeleton.names[joint]), True))
        else:
            x, y, z = contacts[0][2].tolist()
            feet.append(FootContacts(tuple(contacts), Point(skeleton.names[joint], (x, y, z)), False))
    rest = rig.joints(rig.rest[None])[0]
    soles = [rest[joint, :3, :3] @ offset + rest[joint, :3, 3] for foot in feet for _, joint, offset in foot.contacts]
    heights = np.concatenate([rest[:, 1, 3], [sole[1] for sole in soles]])
    return CharacterFeet(tuple(feet), limb, float(np.ptp(heights)) or 1.0)
