"""One drag judged: done by `edit_curves`, by a pointer and by the baseline, and measured on the finished curves."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter, thread_time

import numpy as np
from benchmarks.baselines.falloff_key import RADIUS_S, edit_by_falloff_key
from benchmarks.measures.drag_motion import (
    MIN_PEAK_SIZES_S2,
    DragMeasure,
    Motion,
    acceleration_ratio,
    largest_difference,
    measure_drag,
    point_frames,
    sample_motion,
)
from benchmarks.real import instant_ik
from benchmarks.real.drag_cases import DragCase
from benchmarks.real.further_drags import StrokeCase
from benchmarks.real.reduced_clips import ReducedClip

import understudy as us
from understudy.character import Curves
from understudy.character.key_insertion import insert_curve_keys
from understudy.checks import Array
from understudy.edit.drag import DragSession
from understudy.edit.goals import Edit, Goal, MovePoint
from understudy.edit.outcome import EditResult
from understudy.maths import quaternion

EVENTS = 12  # of a pointer on its way to the goal
WILD_EVENTS = 10
DEFAULT_RADIUS_S = 0.5  # of a result that does not say its own
OFFER_BEYOND = 0.05  # of the asked way: beyond it keys are taken, which the window lacks
OFFERED_RADIUS_S = 0.5


@dataclass(frozen=True)
class Gesture:
    """One drag by a pointer."""

    press_ms: float  # processor time
    event_ms: tuple[float, ...]
    press_wall_ms: float
    event_wall_ms: tuple[float, ...]
    # Of the asked way, the largest distance of any joint at any time:
    jump: float  # between the last picture before the release and the released motion
    wild_jump: float  # likewise, after a wild way of the pointer
    warm: float  # between what is released after a wild way and after a direct one
    back: float  # between the motion before and what is shown with the pointer back at its start


@dataclass(frozen=True, eq=False)
class Verdict:
    """What became of one drag."""

    case: DragCase
    measure: DragMeasure
    beyond_with_keys: float  # beyond the window, with the keys that it lacks
    reached: bool  # what the solver says itself
    gesture: Gesture | None
    error: str = ""


def judge_all(cases: Sequence[DragCase], gestures: bool = True) -> list[Verdict]:
    """Every case, those of one clip together: the first gesture on each warms up."""
    judges = {id(clip): Judge(clip) for clip in dict.fromkeys(case.clip for case in cases)}
    return [judges[id(case.clip)].judge(case, gestures) for case in cases]


class Judge:
    """Measures drags of one clip: its motion before is sampled once."""

    def __init__(self, clip: ReducedClip) -> None:
        self.clip = clip
        self.before = sample_motion(clip.rig, clip.curves)
        self.session: DragSession | None = None

    def judge(self, case: DragCase, gestures: bool) -> Verdict:
        """One drag by `edit_curves`, and by a pointer. An edit that raises counts as one that moved nothing."""
        errors: list[str] = []
        verdict = Verdict(case, self.measure(case, self.clip.curves, DEFAULT_RADIUS_S), 0.0, False, None)
        try:
            verdict = self._edit(case)
        except Exception:
            errors.append(_last_lines())
        try:
            verdict = replace(verdict, gesture=self.gesture(case) if gestures else None)
        except Exception:
            errors.append(_last_lines())
            self.session = None
        return replace(verdict, error="\n".join(errors))

    def _edit(self, case: DragCase) -> Verdict:
        """One drag by `edit_curves`."""
        result = us.edit_curves(self.clip.rig, self.clip.curves, *goals_of(case.edit), hold_feet=False)
        measure = self.measure(case, result.curves, radius_of(result))
        beyond = measure.beyond if measure.beyond <= OFFER_BEYOND else self._beyond_with_keys(case, measure.beyond)
        return Verdict(case, measure, beyond, result.reached, None)

    def measure(self, case: DragCase, after: Curves, radius: float) -> DragMeasure:
        """The measures of curves that should fulfil a case."""
        clip, points = self.clip, self.clip.source.points
        goals = [
            (instant_ik.goal_place(clip.rig, clip.curves, move), instant_ik.goal_turn(move)) for move in case.edit.moves
        ]
        motion = sample_motion(clip.rig, after, self.before.times)
        return measure_drag(
            self.before, motion, case.edit, goals, clip.size, points.head, points.extremities, radius, case.loops
        )

    def baseline(self, case: DragCase) -> DragMeasure:
        """The same drag by a key with a falloff."""
        return self.measure(case, edit_by_falloff_key(self.clip.rig, self.clip.curves, case.edit), RADIUS_S)

    def _beyond_with_keys(self, case: DragCase, without: float) -> float:
        """What moves beyond the window once the limb has keys at the moment and at both ends of the window."""
        curves = with_keys_in_window(case)
        result = us.edit_curves(self.clip.rig, curves, *goals_of(case.edit), hold_feet=False)
        return min(without, self.measure(case, result.curves, radius_of(result)).beyond)

    def gesture(self, case: DragCase) -> Gesture:
        """The drag by a pointer: timed on the way out, then by a wild way, then out and back."""
        if self.session is None:
            self.session = DragSession(self.clip.rig, self.clip.curves)
            self._timed(case)
        (press, press_wall), events = self._timed(case)
        ways = [float(np.linalg.norm(move.by)) for move in case.edit.moves if move.by is not None]
        asked = max(ways, default=0.1 * self.clip.size)
        rng = np.random.default_rng(len(case.reproduction()))
        shown, released = self._motions_of(case, [Pointer(n / EVENTS) for n in range(1, EVENTS + 1)])
        wild_shown, wild = self._motions_of(case, [Pointer.wild(rng) for _ in range(WILD_EVENTS)] + [Pointer()])
        back, _ = self._motions_of(case, [Pointer(share) for share in (0.3, 0.7, 1.0, 0.6, 0.2)] + [Pointer(0.0)])
        # Contacts ask for a change of their own: feet that creep stand still.
        start = self._motions_of(case, [Pointer(0.0)])[0] if case.edit.contacts else self.before
        return Gesture(
            press,
            tuple(own for own, _ in events),
            press_wall,
            tuple(wall for _, wall in events),
            largest_difference(shown, released) / asked,
            largest_difference(wild_shown, wild) / asked,
            largest_difference(released, wild) / asked,
            largest_difference(start, back) / asked,
        )

    def _timed(self, case: DragCase) -> tuple[tuple[float, float], list[tuple[float, float]]]:
        """Milliseconds, of this thread and on the wall, of the press and of each event of a bent way to the goal."""
        session = self.session
        assert session is not None
        with Stopwatch() as press:
            session.begin(start_of(case.edit))
        milliseconds = []
        for number in range(1, EVENTS + 1):
            share = number / EVENTS
            moves = Pointer(share, 0.15 * np.sin(np.pi * share)).moves(self.clip, case.edit)
            with Stopwatch() as event:
                session.update(moves)
            milliseconds.append(event.milliseconds)
        session.cancel()
        return press.milliseconds, milliseconds

    def _motions_of(self, case: DragCase, pointers: Sequence[Pointer]) -> tuple[Motion, Motion]:
        """The motion that a gesture shows at its end, and what its release gives."""
        session = DragSession(self.clip.rig, self.clip.curves)
        session.begin(start_of(case.edit))
        for pointer in pointers:
            session.update(pointer.moves(self.clip, case.edit))
        shown = sample_motion(self.clip.rig, session.curves, self.before.times)
        return shown, sample_motion(self.clip.rig, session.commit(), self.before.times)


class Stopwatch:
    """Milliseconds of a `with` block: of this thread, and on the wall."""

    def __enter__(self) -> Stopwatch:
        self._start = thread_time(), perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.milliseconds = 1e3 * (thread_time() - self._start[0]), 1e3 * (perf_counter() - self._start[1])


@dataclass(frozen=True)
class Pointer:
    """A position of the pointer: a share of the way, and an offset from it as a share of its length."""

    share: float = 1.0
    aside: float = 0.0
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @classmethod
    def wild(cls, rng: np.random.Generator) -> Pointer:
        """Anywhere within one and a half ways of the start."""
        return cls(float(rng.uniform(-0.5, 1.5)), 0.0, tuple(rng.uniform(-0.8, 0.8, 3).tolist()))

    def moves(self, clip: ReducedClip, edit: Edit) -> list[MovePoint]:
        """The goals of an edit for this position."""
        moves = []
        for move in edit.moves:
            place, turn = point_frames(clip.rig, clip.curves, move.point, [move.time])
            to, turn_to = None, move.turn_to
            if move.by is not None:
                way = np.array(move.by)
                length, side = np.linalg.norm(way), np.cross(way, [0.3, 0.9, 0.2])
                off = self.aside * side / max(float(np.linalg.norm(side)), 1e-9) + self.offset
                to = tuple((place[0] + self.share * way + length * off).tolist())
            if turn_to is not None:
                turn_to = _part_of_turn(turn[0], np.array(turn_to), self.share)
            moves.append(MovePoint(move.point, move.time, to=to, turn_to=turn_to))
        return moves


def _part_of_turn(start: Array, goal: Array, share: float) -> tuple[float, ...]:
    first = quaternion.from_matrix(start)
    between = quaternion.to_rotation_vector(
        quaternion.positive_hemisphere(quaternion.multiply(goal, quaternion.inverse(first)))
    )
    turned = quaternion.multiply(quaternion.from_rotation_vector(share * between), first)
    return tuple(turned.tolist())


def _last_lines() -> str:
    """The end of the trace of the exception at hand, in one line."""
    return " | ".join(line.strip() for line in traceback.format_exc().strip().splitlines()[-3:])


def goals_of(edit: Edit) -> list[Goal]:
    """The goals of an edit as `edit_curves` takes them."""
    return [*edit.moves, *edit.pins, *edit.contacts, *edit.holds, *edit.limits]


def start_of(edit: Edit) -> Edit:
    """The edit as a press has it: nothing has moved yet."""
    still = [
        MovePoint(move.point, move.time, by=None if move.by is None else (0.0, 0.0, 0.0), turn_to=move.turn_to)
        for move in edit.moves
    ]
    return replace(edit, moves=tuple(still))


def with_keys_in_window(case: DragCase) -> Curves:
    """The curves of a case with keys at the moment and at both ends of a window, where the chain has none near."""
    curves, new = case.clip.curves, {}
    chain = instant_ik.movable_columns(case.clip.rig, curves)
    for number, (curve, first) in enumerate(zip(curves.curves, curves.channels.offsets[:-1])):
        if not chain[int(first)]:
            continue
        wanted = [move.time + d for move in case.edit.moves for d in (-OFFERED_RADIUS_S, 0.0, OFFERED_RADIUS_S)]
        lacking = [
            time
            for time in wanted
            if curve.times[0] < time < curve.times[-1] and np.abs(curve.times - time).min() > 0.4 * OFFERED_RADIUS_S
        ]
        if lacking:
            new[number] = insert_curve_keys(curve, np.unique(lacking))
    return curves.with_curves(new)


@dataclass(frozen=True)
class StrokeVerdict:
    """What became of a sketched stroke; all over the asked way."""

    case: StrokeCase
    off: float  # root mean square of the distance from the stroke, at its own times
    head: float
    acceleration: float  # peak of the point over its own before
    beyond: float  # any joint, further than the falloff from the stroke's range
    error: str = ""


def judge_stroke(case: StrokeCase) -> StrokeVerdict:
    """A sketch by `sketch_path`, measured on the finished curves. One that raises counts as one that moved nothing."""
    clip, error, radius = case.clip, "", DEFAULT_RADIUS_S
    after = clip.curves
    try:
        result = us.sketch_path(
            clip.rig, clip.curves, case.point, case.stroke, None, None, case.pin, times=case.times, hold_feet=False
        )
        after, radius = result.curves, radius_of(result)
    except Exception:
        error = _last_lines()
    before = sample_motion(clip.rig, clip.curves)
    motion = sample_motion(clip.rig, after, before.times)
    inside = (before.times >= case.times[0]) & (before.times <= case.times[-1])
    wanted = np.stack([np.interp(before.times[inside], case.times, column) for column in case.stroke.T], axis=-1)
    off = np.linalg.norm(motion.path(case.point)[inside] - wanted, axis=1)
    shift = np.linalg.norm(motion.places - before.places, axis=2)
    outside = (before.times < case.times[0] - radius) | (before.times > case.times[-1] + radius)
    head = clip.rig.character.skeleton.index(clip.source.points.head)
    peak = acceleration_ratio(before.path(case.point), motion.path(case.point), MIN_PEAK_SIZES_S2 * clip.size)
    return StrokeVerdict(
        case,
        float(np.sqrt(np.mean(off**2))) / case.asked,
        float(shift[:, head].max()) / case.asked,
        peak,
        float(shift[outside].max(initial=0.0)) / case.asked,
        error,
    )


def radius_of(result: EditResult) -> float:
    """Seconds of the window of an edit."""
    return float(getattr(result, "radius", None) or DEFAULT_RADIUS_S)
