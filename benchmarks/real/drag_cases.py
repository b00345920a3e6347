"""Possible drags of real characters, drawn at random from a seed.

A drag takes a hand, foot, head, elbow or tail by 5 to 20 % of the character's size in any direction, at any time; a
third of them within 0.03 s of a key of the limb. Held are nothing, one to three points, both feet, or feet in contact
where they stand. A drag that no pose meets at its instant (`instant_ik`) cannot be asked of any solver: it is dropped
and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from benchmarks.measures import drag_motion
from benchmarks.real import instant_ik
from benchmarks.real.reduced_clips import HUMAN_HEIGHT_M, ReducedClip

from understudy.character.body.contacts import find_contact_phases
from understudy.checks import Array
from understudy.edit.goals import Contact, Edit, MovePoint, Pin, Point

ROLES = {"hands": 0.34, "feet": 0.26, "head": 0.12, "elbows": 0.16, "tails": 0.12}
HELD = {"none": 0.2, "1 pin": 0.18, "2 pins": 0.16, "3 pins": 0.12, "both feet": 0.18, "contacts": 0.16}
SMALLEST, LARGEST = 0.05, 0.2  # of the size
NEAR_KEY_SHARE, NEAR_KEY_SECONDS = 1 / 3, 0.03
HIPS_PINNED_SHARE = 0.6  # of drags with pins
TURN_PINNED_SHARE = 0.5  # of pins at the end of a limb; others keep their place only
MIN_CONTACT_SECONDS = 0.1
# Of a foot that counts as standing, for a character of 1.7 m. A contact holds the foot where it is at its start; with
# more than this an edit would have to change the clip wherever its feet creep, however far from the moment.
MAX_CONTACT_CREEP_M = 0.0015
CONTACT_SURROUNDINGS_SECONDS = 0.5  # around the moment, in which contacts are held
MAX_TRIES = 40  # for one drag


@dataclass(frozen=True, eq=False)
class DragCase:
    """One drag, and what it is for the tables."""

    clip: ReducedClip
    edit: Edit
    role: str
    held: str  # one of HELD
    near_key: bool
    limb_reaches: bool  # whether the limb's own two bones meet the goal, with what is held
    loops: bool = False

    @property
    def move(self) -> MovePoint:
        """The first move."""
        return self.edit.moves[0]

    def reproduction(self) -> str:
        """What one needs to ask for the same drag again."""
        words = []
        for move in self.edit.moves:
            by = None if move.by is None else tuple(round(x, 5) for x in move.by)
            turn = "" if move.turn_to is None else f", turn_to={tuple(round(x, 5) for x in move.turn_to)}"
            words.append(f"MovePoint({_name(move.point)}, {move.time:.5f}, by={by}{turn})")
        for pin in self.edit.pins:
            words.append(f"Pin({_name(pin.point)}{'' if pin.orientation else ', orientation=False'})")
        words += [f"Contact({_name(c.point)}, {c.start:.4f}, {c.stop:.4f})" for c in self.edit.contacts]
        words += [f"Limit({x.target!r}, {x.column!r}, {x.low:.4f}, {x.high:.4f})" for x in self.edit.limits]
        return f"{self.clip.name}: {', '.join(words)}"


@dataclass
class Tally:
    """How many drags were drawn, and how many of them were dropped because no pose meets them."""

    drawn: int = 0
    dropped: int = 0
    by_held: dict[str, int] = field(default_factory=dict)

    def drop(self, held: str) -> None:
        self.dropped += 1
        self.by_held[held] = self.by_held.get(held, 0) + 1


Draw = Callable[[ReducedClip, np.random.Generator, str], DragCase | None]


def draw_cases(
    clips: Sequence[ReducedClip], count: int, seed: Sequence[int], tally: Tally, draw: Draw
) -> list[DragCase]:
    """`count` possible drags, taken from the clips in turn. Each has a seed of its own: drags do not depend on others.

    What is held is drawn once for each and kept through its tries, so that drags with pins keep their share.
    """
    cases: list[DragCase] = []
    for number in range(count):
        rng = np.random.default_rng([*seed, number])
        clip = clips[number % len(clips)]
        held = str(rng.choice(list(HELD), p=list(HELD.values())))
        for _ in range(MAX_TRIES):
            tally.drawn += 1
            case = draw(clip, rng, held)
            if case is not None:
                cases.append(case)
                break
            tally.drop(held)
    return cases


def draw_drag(
    clip: ReducedClip,
    rng: np.random.Generator,
    held: str,
    shares: tuple[float, float] = (SMALLEST, LARGEST),
    point: Point | None = None,
    role: str = "",
) -> DragCase | None:
    """One drag by a share of the size within `shares`; None where no pose meets it."""
    if point is None:
        role, name = draw_role(clip, rng, without=("feet",) if held == "both feet" else ())
        point = Point(name)
    near = bool(rng.random() < NEAR_KEY_SHARE)
    time = draw_time(clip, point, near, rng)
    for _ in range(MAX_TRIES if held == "contacts" else 0):
        if standing_feet(clip, point, time):
            break
        time = draw_time(clip, point, near, rng)
    by = draw_direction(rng) * rng.uniform(*shares) * clip.size
    edit = Edit((MovePoint(point, time, by=tuple(by.tolist())),), **draw_held(clip, rng, held, point, time))
    return possible_case(clip, edit, role, held if edit.pins or edit.contacts else "none", near)


def possible_case(
    clip: ReducedClip, edit: Edit, role: str, held: str, near: bool, loops: bool = False
) -> DragCase | None:
    """The case of an edit, if a pose meets its goals and what is held at the time of every move."""
    rig, curves = clip.rig, clip.curves
    free = instant_ik.movable_columns(rig, curves)
    reaches = True
    for time in dict.fromkeys(move.time for move in edit.moves):
        goals = instant_ik.goals_at(rig, curves, edit, time)
        chained = free & instant_ik.chain_columns(rig, curves, [goal.point for goal in goals])
        if not chained.any():
            return None
        if not instant_ik.solve_instant(rig, curves, time, goals, chained, edit.limits).met:
            return None
        limbs = np.zeros(len(free), bool)
        for move in edit.moves:
            limbs |= instant_ik.limb_columns(rig, curves, move.point, time, move.turn_to is not None)
        limbs &= chained
        reaches &= bool(limbs.any()) and instant_ik.solve_instant(rig, curves, time, goals, limbs, edit.limits).met
    return DragCase(clip, edit, role, held, near, reaches, loops)


def draw_role(clip: ReducedClip, rng: np.random.Generator, without: Sequence[str] = ()) -> tuple[str, str]:
    """A role and one of its joints."""
    points = clip.source.points
    names = {"head": (points.head,), **{role: getattr(points, role) for role in ROLES if role != "head"}}
    roles = [role for role in ROLES if names[role] and role not in without]
    weights = np.array([ROLES[role] for role in roles])
    role = str(rng.choice(roles, p=weights / weights.sum()))
    return role, str(rng.choice(names[role]))


def draw_time(clip: ReducedClip, point: Point, near: bool, rng: np.random.Generator) -> float:
    """Any time of the clip, or one near a key of the limb."""
    if near:
        limb = instant_ik.limb_columns(clip.rig, clip.curves, point, clip.curves.start)
        starts = clip.curves.channels.offsets[:-1]
        keys = [c.times for c, a in zip(clip.curves.curves, starts) if limb[a] and len(c) > 1]
        if keys:
            time = rng.choice(np.unique(np.concatenate(keys))) + rng.uniform(-NEAR_KEY_SECONDS, NEAR_KEY_SECONDS)
            return float(np.clip(time, clip.curves.start, clip.curves.end))
    return float(rng.uniform(clip.curves.start, clip.curves.end))


def draw_direction(rng: np.random.Generator) -> Array:
    """(3,) of length one."""
    vector = rng.normal(size=3)
    return np.asarray(vector / np.linalg.norm(vector))


def draw_held(
    clip: ReducedClip, rng: np.random.Generator, held: str, point: Point, time: float
) -> dict[str, tuple[Pin, ...] | tuple[Contact, ...]]:
    """Pins and contacts of an edit that drags a point."""
    points = clip.source.points
    if held == "contacts":
        return {"contacts": standing_feet(clip, point, time)}
    if held == "both feet":
        feet = [name for name in points.feet if name != point.joint]
        return {"pins": tuple(Pin(name, orientation=bool(rng.random() < TURN_PINNED_SHARE)) for name in feet)}
    count = 0 if held == "none" else int(held[0])
    ends = [name for name in (points.head, *points.hands, *points.feet) if name != point.joint]
    chosen = [str(name) for name in rng.permutation(ends)[:count]]
    if count and rng.random() < HIPS_PINNED_SHARE:
        chosen[0] = points.hips
    return {
        "pins": tuple(
            Pin(name, orientation=name == points.hips or bool(rng.random() < TURN_PINNED_SHARE)) for name in chosen
        )
    }


def standing_feet(clip: ReducedClip, point: Point, time: float) -> tuple[Contact, ...]:
    """Contacts of feet other than the dragged one, wherever they stand near a time."""
    contacts = []
    for name, spans in standing_spans(clip).items():
        for start, stop in spans:
            near = start < time + CONTACT_SURROUNDINGS_SECONDS and stop > time - CONTACT_SURROUNDINGS_SECONDS
            if near and name != point.joint:
                contacts.append(Contact(name, start, stop))
    return tuple(contacts)


@cache
def standing_spans(clip: ReducedClip) -> dict[str, list[tuple[float, float]]]:
    """By foot, of each phase on the floor the longest span in which it hardly creeps: a contact holds it still."""
    motion = drag_motion.sample_motion(clip.rig, clip.curves)
    feet = clip.source.points.feet
    places = motion.places[:, [clip.rig.character.skeleton.index(name) for name in feet]]
    phases = find_contact_phases(places, drag_motion.RATE_HZ, clip.size, feet)
    creep = MAX_CONTACT_CREEP_M * clip.size / HUMAN_HEIGHT_M
    result: dict[str, list[tuple[float, float]]] = {}
    for number, name in enumerate(feet):
        spans = [longest_still_span(motion.times[a:b], places[a:b, number], creep) for a, b in phases.runs(number)]
        result[name] = [span for span in spans if span[1] - span[0] >= MIN_CONTACT_SECONDS]
    return result


def longest_still_span(times: Array, places: Array, creep: float) -> tuple[float, float]:
    """The longest span in which places (F, 3) stay within `creep` metres of where it begins."""
    best = float(times[0]), float(times[0])
    for first in range(len(times)):
        away = np.linalg.norm(places[first:] - places[first], axis=1) > creep
        stop = first + (int(np.argmax(away)) if away.any() else len(away)) - 1
        if times[stop] - times[first] > best[1] - best[0]:
            best = float(times[first]), float(times[stop])
    return best


def _name(point: Point) -> str:
    return repr(point.joint) if point.vertex is None else f"Point(vertex={point.vertex})"
