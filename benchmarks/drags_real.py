"""Drags of reduced clips of real characters, as an animator does them, measured on the finished curves.

400 possible drags (`real/drag_cases.py`) on ten captures with free and with shared keys and ten game characters. Each
is asked of `edit_curves`, and what comes back is measured by the rig alone (`measures/drag_motion.py`): whether the
goal is met and what is held stays, how far and how suddenly the point moves on its way, and what moves that nobody
asked to move. The same drags are done by a pointer, for times and for what the way of the pointer leaves behind. Beside
it: a key at the moment with a smooth falloff on the limb (`baselines/falloff_key.py`).

Further sets of 60 drags go through the same measures: loops, quaternions, limits, turns, several points, points of the
skin, the dragon, drags of 30 % of the size, clips that were not reduced; and 60 sketched strokes.

    python -m benchmarks.drags_real --quick            # 60 drags of 6 clips, with the seed for development
    python -m benchmarks.drags_real --set loops        # one set, with its worst cases
    python -m benchmarks.drags_real --strips FOLDER    # pictures of 30 drags before and after

Seed: `understudy bench drags_real` uses SEED, which nothing was tuned on; everything else DEVELOPMENT_SEED.
"""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import process_time

import numpy as np
import scipy.linalg  # noqa: F401  its threads are limited only if it is there by then
from benchmarks.baselines.falloff_key import RADIUS_S, edit_by_falloff_key
from benchmarks.measure import Row
from benchmarks.measures.drag_motion import (
    DragMeasure,
    Motion,
    largest_difference,
    measure_drag,
    point_frames,
    sample_motion,
)
from benchmarks.real import instant_ik, reduced_clips
from benchmarks.real.drag_cases import DragCase, Tally, draw_cases, draw_drag
from benchmarks.real.reduced_clips import BVH, GLTF, ReducedClip, reduced_clip
from threadpoolctl import threadpool_limits

import understudy as us
from understudy.character import Curves
from understudy.character.key_insertion import insert_curve_keys
from understudy.checks import Array
from understudy.edit.drag import DragSession
from understudy.edit.goals import Edit, MovePoint

PEERS = False  # nothing here needs the peers' environment
SEED, DEVELOPMENT_SEED = 20, 1
DRAGS, FURTHER_DRAGS = 400, 60
QUICK_DRAGS, QUICK_CLIPS = 60, 2  # of each kind of clip
GOAL_MM, BOTH_MM = 1.0, 2.0
EVENTS = 12  # of a pointer on its way to the goal
WILD_EVENTS = 10
DEFAULT_RADIUS_S = 0.5  # of a result that does not say its own
OFFER_BEYOND = 0.05  # of the asked way: beyond it keys are taken, which the window lacks
OFFERED_RADIUS_S = 0.5

BARS = {
    "goal": 98.0,
    "both": 92.0,
    "furthest": (1.05, 1.25, 1.7),
    "acceleration": (1.05, 1.6),
    "head": 0.12,
    "others": 0.15,
    "beyond": (0.02, 0.06),
    "warm": 0.04,
    "back": 0.001,
    "event": (3.0, 8.0),
    "press": 12.0,
}


@dataclass(frozen=True)
class Gesture:
    """One drag by a pointer."""

    press_ms: float
    event_ms: tuple[float, ...]
    warm: float  # of the asked way: how far a wild way of the pointer leaves any joint from a direct one
    back: float  # of the asked way: how far any joint is from where it was, with the pointer back at its start


@dataclass(frozen=True, eq=False)
class Verdict:
    """What became of one drag."""

    case: DragCase
    measure: DragMeasure
    beyond_with_keys: float  # beyond the window, with the keys that it lacks
    reached: bool  # what the solver says itself
    gesture: Gesture | None
    error: str = ""


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    reduced_clips.require_files()
    with threadpool_limits(1):
        yield from _main_rows(SEED)


# The main set ----------------------------------------------------------------------------------------------------


def main_clips(quick: bool = False, any_version: bool = False) -> list[ReducedClip]:
    """Captures with free keys, the same with shared ones, game characters with one or the other; in turn."""
    clip = partial(reduced_clip, any_version=any_version)
    count = QUICK_CLIPS if quick else len(BVH)
    kinds = [
        [clip(source, "free") for source in BVH[:count]],
        [clip(source, "shared") for source in BVH[:count]],
        [clip(source, ("free", "shared")[n % 2]) for n, source in enumerate(GLTF[:count])],
    ]
    return [each for turn in zip(*kinds) for each in turn]


def main_set(seed: int, quick: bool = False, any_version: bool = False) -> tuple[list[DragCase], Tally]:
    """The 400 drags, or 60 of them on six clips."""
    tally = Tally()
    clips = main_clips(quick, any_version)
    return draw_cases(clips, QUICK_DRAGS if quick else DRAGS, (seed, 0), tally, draw_drag), tally


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
        result = us.edit_curves(self.clip.rig, self.clip.curves, *goals_of(case.edit))
        radius = getattr(result, "radius", None) or DEFAULT_RADIUS_S
        measure = self.measure(case, result.curves, radius)
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
        result = us.edit_curves(self.clip.rig, curves, *goals_of(case.edit))
        radius = getattr(result, "radius", None) or DEFAULT_RADIUS_S
        return min(without, self.measure(case, result.curves, radius).beyond)

    def gesture(self, case: DragCase) -> Gesture:
        """The drag by a pointer: timed on the way out, then by a wild way, then out and back."""
        if self.session is None:
            self.session = DragSession(self.clip.rig, self.clip.curves)
            self._timed(case)
        press, events = self._timed(case)
        ways = [float(np.linalg.norm(move.by)) for move in case.edit.moves if move.by is not None]
        asked = max(ways, default=0.1 * self.clip.size)
        rng = np.random.default_rng(len(case.reproduction()))
        direct = self._end_of(case, [Pointer()])
        wild = self._end_of(case, [Pointer.wild(rng) for _ in range(WILD_EVENTS)] + [Pointer()])
        back = self._end_of(case, [Pointer(share) for share in (0.3, 0.7, 1.0, 0.6, 0.2)] + [Pointer(0.0)])
        start = self._end_of(case, [Pointer(0.0)]) if case.edit.contacts else self.before  # contacts end the creep
        return Gesture(
            press,
            tuple(events),
            largest_difference(direct, wild) / asked,
            largest_difference(start, back) / asked,
        )

    def _timed(self, case: DragCase) -> tuple[float, list[float]]:
        """Milliseconds of the press and of each event of a slightly bent way to the goal."""
        session = self.session
        assert session is not None
        start, milliseconds = process_time(), []
        session.begin(start_of(case.edit))
        press = 1e3 * (process_time() - start)
        for number in range(1, EVENTS + 1):
            share = number / EVENTS
            moves = Pointer(share, 0.15 * np.sin(np.pi * share)).moves(self.clip, case.edit)
            start = process_time()
            session.update(moves)
            milliseconds.append(1e3 * (process_time() - start))
        session.cancel()
        return press, milliseconds

    def _end_of(self, case: DragCase, pointers: Sequence[Pointer]) -> Motion:
        """The motion after a gesture and its release."""
        session = DragSession(self.clip.rig, self.clip.curves)
        session.begin(start_of(case.edit))
        for pointer in pointers:
            session.update(pointer.moves(self.clip, case.edit))
        return sample_motion(self.clip.rig, session.commit(), self.before.times)


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
    from understudy.maths import quaternion

    first = quaternion.from_matrix(start)
    between = quaternion.to_rotation_vector(
        quaternion.positive_hemisphere(quaternion.multiply(goal, quaternion.inverse(first)))
    )
    turned = quaternion.multiply(quaternion.from_rotation_vector(share * between), first)
    return tuple(turned.tolist())


def _last_lines() -> str:
    """The end of the trace of the exception at hand, in one line."""
    return " | ".join(line.strip() for line in traceback.format_exc().strip().splitlines()[-3:])


def goals_of(edit: Edit) -> list[us.MovePoint]:
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


# Tables ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """Figures over some drags; triples are median, 90th percentile and worst."""

    count: int
    goal: float  # % within a millimetre
    both: float  # % with the goal and what is held within two
    furthest: tuple[float, float, float]
    acceleration: tuple[float, float, float]
    head: float  # mean, where the limb reaches the goal
    others: float
    head_all: float
    beyond: tuple[float, float, float]
    beyond_with_keys: tuple[float, float, float]
    turned: int  # drags with an extra turn
    keys_changed: int


def summarise(cases: Sequence[DragCase], measures: Sequence[DragMeasure], with_keys: Sequence[float]) -> Summary:
    """The figures of some drags."""
    reach = [m for c, m in zip(cases, measures) if c.limb_reaches]
    return Summary(
        len(measures),
        100 * float(np.mean([m.goal_mm <= GOAL_MM for m in measures])),
        100 * float(np.mean([max(m.goal_mm, m.held_mm) <= BOTH_MM for m in measures])),
        spread([m.furthest for m in measures]),
        spread([m.acceleration for m in measures]),
        _mean([m.head for m in reach]),
        _mean([m.others for m in reach]),
        _mean([m.head for m in measures]),
        spread([m.beyond for m in measures]),
        spread(with_keys),
        sum(m.turns >= 1 for m in measures),
        sum(not m.keys_same for m in measures),
    )


def summary_of(verdicts: Sequence[Verdict]) -> Summary:
    return summarise([v.case for v in verdicts], [v.measure for v in verdicts], [v.beyond_with_keys for v in verdicts])


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, 90th percentile and worst."""
    return float(np.median(values)), float(np.percentile(values, 90)), float(np.max(values))


def _mean(values: Sequence[float]) -> float:
    """The mean of what is not nan; zero of nothing."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else 0.0


def table_line(name: str, s: Summary) -> str:
    """One line of the printed tables."""
    return (
        f"{name:<26} {s.count:4d}  {s.goal:5.1f} {s.both:5.1f}  {_triple(s.furthest)}  {_triple(s.acceleration)}  "
        f"{s.head:5.2f} {s.others:5.2f} {s.head_all:5.2f}  {_triple(s.beyond)}  {_triple(s.beyond_with_keys)}  "
        f"{s.turned:3d} {s.keys_changed:3d}"
    )


HEADER = (
    f"{'':<26} {'n':>4}  {'goal%':>5} {'both%':>5}  {'furthest':^17}  {'acceleration':^17}  {'head':>5} {'other':>5} "
    f"{'h.all':>5}  {'beyond':^17}  {'beyond, keys':^17}  trn key"
)


def _triple(values: tuple[float, float, float]) -> str:
    return " ".join(f"{value:5.2f}" if value < 99 else f"{value:5.0f}" for value in values)


GROUPS: dict[str, Callable[[DragCase], bool]] = {
    "BVH free": lambda case: case.clip.kind == "BVH free",
    "BVH shared": lambda case: case.clip.kind == "BVH shared",
    "glTF": lambda case: case.clip.kind == "glTF",
    "no pins": lambda case: case.held == "none",
    "1 pin": lambda case: case.held == "1 pin",
    "2 or 3 pins": lambda case: case.held in ("2 pins", "3 pins"),
    "both feet": lambda case: case.held == "both feet",
    "contacts": lambda case: case.held == "contacts",
    "near a key": lambda case: case.near_key,
    "elsewhere": lambda case: not case.near_key,
    "limb reaches": lambda case: case.limb_reaches,
    "limb does not reach": lambda case: not case.limb_reaches,
}


def print_report(title: str, verdicts: Sequence[Verdict], tally: Tally, worst: int = 5) -> None:
    """Tables of a set: all, by kind, times, and the worst cases with what reproduces them."""
    print(f"\n{title}: {len(verdicts)} drags; {tally.dropped} of {tally.drawn} drawn are not possible {tally.by_held}")
    print(HEADER)
    print(table_line("all", summary_of(verdicts)))
    for name, belongs in GROUPS.items():
        some = [v for v in verdicts if belongs(v.case)]
        if some and len(some) < len(verdicts):
            print(table_line(name, summary_of(some)))
    gestures = [v.gesture for v in verdicts if v.gesture is not None]
    if gestures:
        events = np.concatenate([g.event_ms for g in gestures])
        print(
            f"event {np.median(events):.2f} ms, 95th {np.percentile(events, 95):.2f}; "
            f"press {np.median([g.press_ms for g in gestures]):.1f} ms, 95th "
            f"{np.percentile([g.press_ms for g in gestures], 95):.1f}; "
            f"warm {_triple(spread([g.warm for g in gestures]))}; back {max(g.back for g in gestures):.4f}"
        )
    failed = [v for v in verdicts if v.error]
    if failed:
        print(f"{len(failed)} raised an error:")
        for v in failed[:worst]:
            print(f"  {v.error}\n    {v.case.reproduction()}")
    for what, key in WORST.items():
        ranked = sorted((v for v in verdicts if not np.isnan(key(v))), key=lambda v: -key(v))[:worst]
        print(f"worst {what}:")
        for v in ranked:
            print(f"  {key(v):9.3f}  {v.case.role}, {v.case.held}; {v.case.reproduction()}")


WORST: dict[str, Callable[[Verdict], float]] = {
    "goal, mm": lambda v: v.measure.goal_mm,
    "held, mm": lambda v: v.measure.held_mm,
    "furthest": lambda v: v.measure.furthest,
    "acceleration": lambda v: v.measure.acceleration,
    "head where the limb reaches": lambda v: v.measure.head if v.case.limb_reaches else np.nan,
    "beyond, with keys": lambda v: v.beyond_with_keys,
    "warm": lambda v: v.gesture.warm if v.gesture is not None else np.nan,
    "event, ms": lambda v: float(np.median(v.gesture.event_ms)) if v.gesture is not None else np.nan,
}


def _main_rows(seed: int) -> Iterator[Row]:
    cases, tally = main_set(seed)
    verdicts = judge_all(cases)
    s = summary_of(verdicts)
    plain = baseline_summary(cases)
    yield Row("drags", len(cases), "n", f"{tally.dropped} of {tally.drawn} drawn are not possible", None, None)
    yield _zero("drags that raised an error", sum(bool(v.error) for v in verdicts))
    yield from bar_rows("", s, plain)
    yield from gesture_rows("", [v.gesture for v in verdicts if v.gesture is not None])
    for name, belongs in GROUPS.items():
        some = [v for v in verdicts if belongs(v.case)]
        if some:
            part = summary_of(some)
            told = f"furthest {_triple(part.furthest)}, acceleration {_triple(part.acceleration)}, head {part.head:.2f}"
            yield Row(f"{name}: goal and held", part.both, "%", f"of {part.count}; {told}", None, None)


def baseline_summary(cases: Sequence[DragCase]) -> Summary:
    """The same drags by a key with a falloff."""
    judges = {id(clip): Judge(clip) for clip in dict.fromkeys(case.clip for case in cases)}
    measures = [judges[id(case.clip)].baseline(case) for case in cases]
    return summarise(cases, measures, [m.beyond for m in measures])


def bar_rows(prefix: str, s: Summary, plain: Summary | None = None) -> Iterator[Row]:
    """The rows with bars that every set has."""

    def row(name: str, unit: str, value: float, bar: float, other: Callable[[Summary], float], least: bool) -> Row:
        beside = "" if plain is None else f"; falloff key: {other(plain):.3g}"
        ratio = value / bar if least else bar / max(value, 1e-9)
        return Row(prefix + name, value, unit, f"asked for: {bar:g}{beside}", ratio, 1.0)

    yield row("goal within 1 mm", "%", s.goal, BARS["goal"], lambda x: x.goal, True)
    yield row("goal and held within 2 mm", "%", s.both, BARS["both"], lambda x: x.both, True)
    words = ("median", "90th", "worst")
    for k, bar in enumerate(BARS["furthest"]):
        yield row(f"furthest move, {words[k]}", "x", s.furthest[k], bar, lambda x, k=k: x.furthest[k], False)
    for k, bar in enumerate(BARS["acceleration"]):
        yield row(f"acceleration, {words[k]}", "x", s.acceleration[k], bar, lambda x, k=k: x.acceleration[k], False)
    yield row("head, limb reaches, mean", "x", s.head, BARS["head"], lambda x: x.head, False)
    yield row("others, limb reaches, mean", "x", s.others, BARS["others"], lambda x: x.others, False)
    for k, bar in enumerate(BARS["beyond"]):
        yield row(f"beyond the window, {words[k]}", "x", s.beyond_with_keys[k], bar, lambda x, k=k: x.beyond[k], False)
    told = f"keys as they are: {_triple(s.beyond)}"
    yield Row(f"{prefix}beyond the window, no keys added", s.beyond[1], "x", f"90th; {told}", None, None)
    yield _zero(f"{prefix}drags with an extra turn", s.turned)
    yield _zero(f"{prefix}drags that changed key times", s.keys_changed)


def gesture_rows(prefix: str, gestures: Sequence[Gesture]) -> Iterator[Row]:
    """Times of the pointer, and what its way leaves behind."""
    events = np.concatenate([g.event_ms for g in gestures])
    presses = [g.press_ms for g in gestures]
    for name, value, bar in (
        ("pointer event, median", float(np.median(events)), BARS["event"][0]),
        ("pointer event, 95th", float(np.percentile(events, 95)), BARS["event"][1]),
        ("press, median", float(np.median(presses)), BARS["press"]),
    ):
        yield Row(prefix + name, value, "ms", f"asked for: {bar:g}", bar / max(value, 1e-9), 1.0)
    warm, back = spread([g.warm for g in gestures]), max(g.back for g in gestures)
    told = f"asked for: {BARS['warm']:g}; median, 90th: {warm[0]:.3f} {warm[1]:.3f}"
    yield Row(f"{prefix}a wild way, worst", warm[2], "x", told, BARS["warm"] / max(warm[2], 1e-9), 1.0)
    yield Row(f"{prefix}out and back, worst", back, "x", "asked for: 0.001", BARS["back"] / max(back, 1e-9), 1.0)


def _zero(name: str, count: int) -> Row:
    return Row(name, count, "n", "asked for: 0", 1.0 if count == 0 else 0.0, 1.0)


def main() -> None:
    """The command line: see the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="60 drags of 6 clips instead of 400 of 30")
    parser.add_argument("--seed", type=int, default=DEVELOPMENT_SEED)
    parser.add_argument("--no-gestures", action="store_true", help="leave out what a pointer does")
    parser.add_argument("--baseline", action="store_true", help="the plain falloff key beside it")
    parser.add_argument("--worst", type=int, default=3, help="cases to print for each measure")
    parser.add_argument(
        "--any-reduction", action="store_true", help="take kept reductions of any version of the code, for quick runs"
    )
    given = parser.parse_args()
    with threadpool_limits(1):
        cases, tally = main_set(given.seed, given.quick, given.any_reduction)
        print_report("main set", judge_all(cases, not given.no_gestures), tally, given.worst)
        if given.baseline:
            print(table_line("falloff key", baseline_summary(cases)))


if __name__ == "__main__":
    main()
