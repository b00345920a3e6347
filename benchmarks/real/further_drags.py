"""Sets of drags beside the main one: what else an edit can ask for, and other kinds of curves and rigs.

Each set draws possible cases as the main one does (`drag_cases`), from six clips or fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from benchmarks.measures import drag_motion
from benchmarks.real import instant_ik
from benchmarks.real.drag_cases import (
    DragCase,
    Draw,
    Tally,
    draw_cases,
    draw_direction,
    draw_drag,
    draw_held,
    draw_role,
    draw_time,
    possible_case,
)
from benchmarks.real.reduced_clips import (
    BVH,
    GLTF,
    PointNames,
    ReducedClip,
    Source,
    dense_clip,
    layered_clip,
    reduced_clip,
)

from understudy.checks import Array
from understudy.edit.goals import Edit, Limit, MovePoint, Pin, Point
from understudy.maths import quaternion

TURNS_RAD = (np.radians(10.0), np.radians(45.0))
LIMIT_ROOM_RAD = (0.02, 0.2)  # beyond what the clip and the new pose need
LARGE = 0.3  # of the size
APART_SECONDS = (0.15, 0.5)  # between two moves of one edit
DRAGON = PointNames("Neck1", "Head", ("EarTip.L", "EarTip.R"), (), (), ("Jaw", "Tongue4"))
DRAGON_VERTICES = ("nose_tip", "horn_tip.L", "horn_tip.R", "ear_tip.L", "ear_tip.R", "brow_mid.L", "brow_mid.R")
DRAGON_CLIPS = ("happy_greeting", "happy_laugh", "happy_proud", "grumpy_growl")
STROKE_SECONDS, STROKE_SHARE, STROKE_POINTS = 1.0, 0.07, 25


@dataclass(frozen=True, eq=False)
class StrokeCase:
    """A path of a hand, drawn in time, 7 % of the size off its own in the middle; the hips are pinned."""

    clip: ReducedClip
    point: Point
    times: Array  # (N,)
    stroke: Array  # (N, 3) metres
    pin: Pin
    asked: float  # metres

    def reproduction(self) -> str:
        middle = self.stroke[len(self.stroke) // 2]
        span = f"{self.times[0]:.4f} to {self.times[-1]:.4f} s"
        return f"{self.clip.name}: stroke of {self.point.name}, {span}, through {middle.round(4).tolist()}"


def loops(any_version: bool) -> list[ReducedClip]:
    """Walks that repeat."""
    sources = [source for source in GLTF if source.loops]
    return [reduced_clip(s, k, loop=True, any_version=any_version) for s in sources for k in ("free", "shared")]


def quaternions(any_version: bool) -> list[ReducedClip]:
    """Clips whose rotations are quaternions."""
    sources = (BVH[0], GLTF[0], GLTF[1], BVH[6], GLTF[3], GLTF[5])
    return [
        reduced_clip(s, ("free", "shared")[n % 2], rotations="quaternion", any_version=any_version)
        for n, s in enumerate(sources)
    ]


def angles(any_version: bool) -> list[ReducedClip]:
    """Clips of the main set."""
    chosen = ((BVH[0], "free"), (BVH[1], "shared"), (BVH[7], "free"), (GLTF[0], "free"), (GLTF[1], "shared"))
    return [reduced_clip(s, k, any_version=any_version) for s, k in (*chosen, (GLTF[5], "shared"))]


def skins(any_version: bool) -> list[ReducedClip]:
    """Clips of characters with a mesh."""
    chosen = ((GLTF[0], "free"), (GLTF[1], "shared"), (GLTF[2], "free"), (GLTF[5], "shared"), (GLTF[4], "free"))
    return [reduced_clip(s, k, any_version=any_version) for s, k in chosen]


def dragons(any_version: bool) -> list[ReducedClip]:
    """Reduced clips of the dragon, whose rig has layers."""
    return [layered_clip(Source("dragon", name, DRAGON), any_version) for name in DRAGON_CLIPS]


def dense(any_version: bool) -> list[ReducedClip]:
    """Clips that were not reduced."""
    return [dense_clip(source) for source in (BVH[0], GLTF[0], BVH[6], GLTF[1], BVH[7], GLTF[3])]


def draw_loop(clip: ReducedClip, rng: np.random.Generator, held: str) -> DragCase | None:
    """A drag of an animation that repeats."""
    case = draw_drag(clip, rng, held)
    return None if case is None else replace(case, loops=True)


def draw_limited(clip: ReducedClip, rng: np.random.Generator, held: str) -> DragCase | None:
    """A drag with limits on the angles of the limb, within which a pose is known to meet it."""
    case = draw_drag(clip, rng, held)
    if case is None:
        return None
    rig, curves, time = clip.rig, clip.curves, case.move.time
    goals = instant_ik.goals_at(rig, curves, case.edit, time)
    free = instant_ik.movable_columns(rig, curves)
    limb = free & instant_ik.limb_columns(rig, curves, case.move.point, time)
    columns = free & instant_ik.chain_columns(rig, curves, [goal.point for goal in goals])
    pose = instant_ik.solve_instant(rig, curves, time, goals, limb if case.limb_reaches else columns)
    samples = np.concatenate([curves.sample(np.linspace(curves.start, curves.end, 400)), pose.values[None]])
    limits = []
    for curve, first in zip(curves.curves, curves.channels.offsets[:-1]):
        if curve.channel.kind == "euler" and limb[int(first)]:
            for i, column in enumerate(curve.channel.columns):
                values, room = samples[:, int(first) + i], rng.uniform(*LIMIT_ROOM_RAD)
                limits.append(Limit(curve.channel.target, column, values.min() - room, values.max() + room))
    return replace(case, edit=replace(case.edit, limits=tuple(limits))) if limits else None


def draw_turn(clip: ReducedClip, rng: np.random.Generator, held: str) -> DragCase | None:
    """A hand, foot or head turned, half of the time moved as well."""
    role, name = draw_role(clip, rng, without=("elbows", "tails", *(("feet",) if held == "both feet" else ())))
    point, near = Point(name), bool(rng.random() < 1 / 3)
    time = draw_time(clip, point, near, rng)
    _, now = drag_motion.point_frames(clip.rig, clip.curves, point, [time])
    turn = quaternion.from_rotation_vector(draw_direction(rng) * rng.uniform(*TURNS_RAD))
    x, y, z, w = quaternion.multiply(turn, quaternion.from_matrix(now[0])).tolist()
    by = tuple((draw_direction(rng) * rng.uniform(0.03, 0.1) * clip.size).tolist()) if rng.random() < 0.5 else None
    edit = Edit((MovePoint(point, time, by=by, turn_to=(x, y, z, w)),), **draw_held(clip, rng, held, point, time))
    return possible_case(clip, edit, role, held if edit.pins or edit.contacts else "none", near)


def draw_several(clip: ReducedClip, rng: np.random.Generator, held: str) -> DragCase | None:
    """Two points at once, or one shortly after the other."""
    points = clip.source.points
    names = [str(n) for n in rng.permutation([points.head, *points.hands, *points.feet])[:2]]
    near = bool(rng.random() < 1 / 3)
    first = draw_time(clip, Point(names[0]), near, rng)
    second = first + (rng.uniform(*APART_SECONDS) if rng.random() < 0.5 else 0.0)
    if second > clip.curves.end:
        second = first
    moves = tuple(
        MovePoint(name, time, by=tuple((draw_direction(rng) * rng.uniform(0.04, 0.12) * clip.size).tolist()))
        for name, time in zip(names, (first, second))
    )
    given = draw_held(clip, rng, held if held in ("none", "contacts", "1 pin") else "1 pin", Point(names[0]), first)
    given = {kind: tuple(x for x in each if x.point.joint not in names) for kind, each in given.items()}
    edit = Edit(moves, **given)
    kind = "contacts" if edit.contacts else "1 pin" if edit.pins else "none"
    return possible_case(clip, edit, "two points", kind, near)


def draw_vertex(clip: ReducedClip, rng: np.random.Generator, held: str) -> DragCase | None:
    """A point of the skin at the end of a limb."""
    role, name = draw_role(clip, rng, without=("feet",) if held == "both feet" else ())
    point = Point(vertex=int(rng.choice(vertices_below(clip, name))))
    return draw_drag(clip, rng, held, point=point, role=role)


@cache
def vertices_below(clip: ReducedClip, name: str) -> Array:
    """Vertices of parts without shapes that a joint, or one below it, carries most; of the nearest joint with any."""
    character = clip.rig.character
    skeleton = character.skeleton
    for joint in skeleton.ancestors(skeleton.index(name)):
        below = [j for j in range(len(skeleton)) if joint in skeleton.ancestors(j)]
        chosen, first = [np.zeros(0, int)], 0
        for part in character.parts:
            skin, count = part.skin, len(part.mesh.vertices)
            main = skin.influences[np.arange(count), np.argmax(skin.weights, axis=1)]
            carried = np.isin(np.asarray(skin.joints)[main], below) & (part.mesh.shapes is None)
            chosen.append(first + np.flatnonzero(carried))
            first += count
        if any(map(len, chosen)):
            return np.concatenate(chosen)
    raise ValueError(f"no vertex of {clip.name} is without shapes")


def draw_dragon(clip: ReducedClip, rng: np.random.Generator, held: str) -> DragCase | None:
    """A named point of the dragon, or its head, with at most one pin."""
    points = clip.rig.character.layers.points
    named = [Point(vertex=int(points[name])) for name in DRAGON_VERTICES] + [Point("Head"), Point("Jaw")]
    point = named[int(rng.integers(len(named)))]
    return draw_drag(clip, rng, "none" if held != "1 pin" else held, point=point, role="dragon")


@dataclass(frozen=True)
class DragSet:
    """How the cases of a set are made."""

    clips: Callable[[bool], Sequence[ReducedClip]]
    draw: Draw


SETS = {
    "loops": DragSet(loops, draw_loop),
    "quaternions": DragSet(quaternions, draw_drag),
    "limits": DragSet(angles, draw_limited),
    "turns": DragSet(angles, draw_turn),
    "several points": DragSet(angles, draw_several),
    "skin": DragSet(skins, draw_vertex),
    "dragon": DragSet(dragons, draw_dragon),
    "30 % of the size": DragSet(angles, partial(draw_drag, shares=(LARGE, LARGE))),
    "dense": DragSet(dense, draw_drag),
}


def further_set(name: str, count: int, seed: int, any_version: bool = False) -> tuple[list[DragCase], Tally]:
    """The cases of one set."""
    tally, chosen = Tally(), SETS[name]
    number = 1 + list(SETS).index(name)
    return draw_cases(chosen.clips(any_version), count, (seed, number), tally, chosen.draw), tally


def draw_strokes(clips: Sequence[ReducedClip], count: int, seed: int) -> list[StrokeCase]:
    """Strokes of a second whose middle is a possible place of the hand."""
    cases: list[StrokeCase] = []
    long = [clip for clip in clips if clip.curves.duration > 1.2 * STROKE_SECONDS]
    number = 0
    while len(cases) < count:
        rng = np.random.default_rng([seed, 100, number])
        clip, number = long[number % len(long)], number + 1
        start = float(rng.uniform(clip.curves.start, clip.curves.end - STROKE_SECONDS))
        times = start + STROKE_SECONDS * np.linspace(0.0, 1.0, STROKE_POINTS)
        point = Point(str(rng.choice(clip.source.points.hands)))
        path = drag_motion.point_frames(clip.rig, clip.curves, point, times)[0]
        asked = STROKE_SHARE * clip.size
        bump = np.sin(np.linspace(0.0, np.pi, STROKE_POINTS)) ** 2
        stroke = path + asked * bump[:, None] * draw_direction(rng)
        pin, middle = Pin(clip.source.points.hips), STROKE_POINTS // 2
        edit = Edit((MovePoint(point, float(times[middle]), to=tuple(stroke[middle].tolist())),), pins=(pin,))
        if possible_case(clip, edit, "hands", "1 pin", False) is not None:
            cases.append(StrokeCase(clip, point, times, stroke, pin, asked))
    return cases
