"""Drags of reduced clips of real characters, as an animator does them, measured on the finished curves.

400 possible drags (`real/drag_cases.py`) on ten captures with free and with shared keys and ten game characters. Each
is asked of `edit_curves`, and the rig alone measures the result (`measures/drag_motion.py`): whether the goal is met
and pins and contacts stay, how far and how suddenly the point moves on its way, and what else moves. The same drags are
done by a pointer, for times and for what the way of the pointer leaves behind. Beside it: a key at the moment with a
smooth falloff on the limb (`baselines/falloff_key.py`).

Further sets of 60 drags go through the same measures: loops, quaternions, limits, turns, several points, points of the
skin, the dragon, drags of 30 % of the size, clips that were not reduced; and 60 sketched strokes.

    python -m benchmarks.drags_real --quick            # 60 drags of 6 clips, with the seed for development
    python -m benchmarks.drags_real --set loops        # one set, with its worst cases
    python -m benchmarks.drags_real --strips FOLDER    # pictures of 30 drags before and after

Seed: `understudy bench drags_real` uses SEED, which nothing was tuned on; everything else DEVELOPMENT_SEED.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy.linalg  # noqa: F401  its threads are limited only if it is there by then
from benchmarks.measure import Row
from benchmarks.measures.drag_motion import DragMeasure
from benchmarks.real import reduced_clips
from benchmarks.real.drag_cases import DragCase, Tally, draw_cases, draw_drag
from benchmarks.real.drag_judge import Gesture, Judge, StrokeVerdict, Verdict, judge_all, judge_stroke
from benchmarks.real.further_drags import SETS, draw_strokes, further_set
from benchmarks.real.reduced_clips import BVH, GLTF, ReducedClip, reduced_clip
from threadpoolctl import threadpool_limits

from understudy.checks import Array

PEERS = False  # nothing here needs the peers' environment
SEED, DEVELOPMENT_SEED = 20, 1
DRAGS, FURTHER_DRAGS, STROKES = 400, 60, 60
QUICK_DRAGS, QUICK_CLIPS = 60, 2  # of each kind of clip
GOAL_MM, BOTH_MM = 1.0, 2.0
MAX_LIMIT_EXCESS_RAD = 1e-3
MAX_SEAM = 0.01  # of the asked way: a loop's last pose is as near to its first as before
STRIPS = 30

BARS = {
    "goal": 98.0,
    "both": 92.0,
    "furthest": (1.05, 1.25, 1.7),
    "acceleration": (1.05, 1.6),
    "head": 0.12,
    "others": 0.15,
    "beyond": (0.02, 0.06),
    "jump": 0.04,
    "warm": 0.04,
    "back": 0.001,
    "event": (3.0, 8.0),
    "press": 12.0,
    "stroke": (0.04, 0.10),
    "stroke head": 0.4,
}


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    reduced_clips.require_files()
    with threadpool_limits(1):
        yield from _main_rows(SEED)
        for name in SETS:
            yield from _further_rows(name, SEED)
        yield from _stroke_rows(SEED)


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


# Tables ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """Figures over some drags; triples are median, 90th percentile and worst."""

    count: int
    goal: float  # % within a millimetre
    both: float  # % with the goal and what is held within two
    furthest: tuple[float, float, float]
    acceleration: tuple[float, float, float]
    local: tuple[float, float, float]  # acceleration within the window, over its own there and a plain bulge's
    head: float  # mean, where the limb reaches the goal
    others: float
    head_all: float
    beyond: tuple[float, float, float]
    beyond_with_keys: tuple[float, float, float]
    turned: int  # drags with an extra turn
    keys_changed: int
    limits_broken: int
    seams_open: int  # loops whose ends came apart


def summarise(cases: Sequence[DragCase], measures: Sequence[DragMeasure], with_keys: Sequence[float]) -> Summary:
    """The figures of some drags."""
    reach = [m for c, m in zip(cases, measures) if c.limb_reaches]
    return Summary(
        len(measures),
        100 * float(np.mean([m.goal_mm <= GOAL_MM for m in measures])),
        100 * float(np.mean([max(m.goal_mm, m.held_mm) <= BOTH_MM for m in measures])),
        spread([m.furthest for m in measures]),
        spread([m.acceleration for m in measures]),
        spread([m.local_acceleration for m in measures]),
        _mean([m.head for m in reach]),
        _mean([m.others for m in reach]),
        _mean([m.head for m in measures]),
        spread([m.beyond for m in measures]),
        spread(with_keys),
        sum(m.turns >= 1 for m in measures),
        sum(not m.keys_same for m in measures),
        sum(m.limit_excess > MAX_LIMIT_EXCESS_RAD for m in measures),
        sum(c.loops and m.seam > MAX_SEAM for c, m in zip(cases, measures)),
    )


def is_untrue(verdict: Verdict) -> bool:
    """Whether a drag is told to be reached although it missed, let go, overshot by its whole way, or spun."""
    m = verdict.measure
    return verdict.reached and (max(m.goal_mm, m.held_mm) > BOTH_MM or m.furthest > 2 or m.turns >= 1)


def summary_of(verdicts: Sequence[Verdict]) -> Summary:
    return summarise([v.case for v in verdicts], [v.measure for v in verdicts], [v.beyond_with_keys for v in verdicts])


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, 90th percentile and worst."""
    return float(np.median(values)), float(np.percentile(values, 90)), float(np.max(values))


def _mean(values: Sequence[float]) -> float:
    """The mean of what is not nan; nan of nothing."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan


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
        for word, events, presses in gesture_times(gestures):
            print(
                f"{word}: event {np.median(events):.2f} ms, 95th {np.percentile(events, 95):.2f}; "
                f"press {np.median(presses):.1f} ms, 95th {np.percentile(presses, 95):.1f}"
            )
        for name in ("jump", "wild_jump", "warm", "back"):
            print(f"{name:<10} {_triple(spread([getattr(g, name) for g in gestures]))}")
    s = summary_of(verdicts)
    print(
        f"reached told {sum(v.reached for v in verdicts)} times, {sum(is_untrue(v) for v in verdicts)} not true; "
        f"limits broken {s.limits_broken}; open seams {s.seams_open}; "
        f"acceleration within the window {_triple(s.local)}"
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
    "jump": lambda v: v.gesture.jump if v.gesture is not None else np.nan,
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
    yield Row("reached told, and not so", sum(map(is_untrue, verdicts)), "n", "missed, let go, overshot", None, None)
    yield from bar_rows("", s, plain)
    yield from gesture_rows("", [v.gesture for v in verdicts if v.gesture is not None])
    for name, belongs in GROUPS.items():
        some = [v for v in verdicts if belongs(v.case)]
        if some:
            part = summary_of(some)
            told = f"furthest {_triple(part.furthest)}, acceleration {_triple(part.acceleration)}, head {part.head:.2f}"
            yield Row(f"{name}: goal and held", part.both, "%", f"of {part.count}; {told}", None, None)


def _further_rows(name: str, seed: int) -> Iterator[Row]:
    """A set of 60 drags through the same measures."""
    cases, tally = further_set(name, FURTHER_DRAGS, seed)
    verdicts, plain = judge_all(cases), baseline_summary(cases)
    told = f"{tally.dropped} of {tally.drawn} drawn are not possible"
    yield Row(f"{name}: drags", len(cases), "n", told, None, None)
    yield _zero(f"{name}: drags that raised an error", sum(bool(v.error) for v in verdicts))
    s = summary_of(verdicts)
    yield from bar_rows(f"{name}: ", s, plain)
    yield from gesture_rows(f"{name}: ", [v.gesture for v in verdicts if v.gesture is not None])
    if name == "limits":
        yield _zero("limits: drags that broke one", s.limits_broken)
    if name == "loops":
        yield _zero("loops: drags that opened the seam", s.seams_open)


def _stroke_rows(seed: int) -> Iterator[Row]:
    """Sketched strokes of a second."""
    verdicts = stroke_verdicts(seed)
    off, beyond = spread([v.off for v in verdicts]), spread([v.beyond for v in verdicts])
    head = float(np.mean([v.head for v in verdicts]))
    yield _zero("strokes that raised an error", sum(bool(v.error) for v in verdicts))
    for word, value, bar in zip(("median", "90th"), off, BARS["stroke"]):
        yield Row(f"off the stroke, {word}", value, "x", f"rms; asked for: {bar:g}", bar / max(value, 1e-9), 1.0)
    bar = BARS["stroke head"]
    yield Row("stroke: head, mean", head, "x", f"asked for: {bar:g}", bar / max(head, 1e-9), 1.0)
    for word, value, bar in zip(("median", "90th"), beyond, BARS["beyond"]):
        yield Row(f"stroke: beyond its range, {word}", value, "x", f"asked for: {bar:g}", bar / max(value, 1e-9), 1.0)
    peak = spread([v.acceleration for v in verdicts])
    yield Row("stroke: acceleration, median", peak[0], "x", f"90th {peak[1]:.2f}, worst {peak[2]:.2f}", None, None)


def stroke_verdicts(seed: int, any_version: bool = False) -> list[StrokeVerdict]:
    """60 strokes on the clips of the main set."""
    return [judge_stroke(case) for case in draw_strokes(main_clips(any_version=any_version), STROKES, seed)]


def print_strokes(verdicts: Sequence[StrokeVerdict], worst: int) -> None:
    """Figures of strokes, and the worst of them."""
    print(f"\n{len(verdicts)} strokes; {sum(bool(v.error) for v in verdicts)} raised an error")
    for name in ("off", "head", "acceleration", "beyond"):
        values = [getattr(v, name) for v in verdicts]
        print(f"{name:<14} {_triple(spread(values))}  mean {np.mean(values):.3f}")
    for v in sorted(verdicts, key=lambda v: -v.off)[:worst]:
        print(f"  {v.off:.3f} off, head {v.head:.2f}; {v.case.reproduction()} {v.error}")


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
    told = f"over its own there and a plain bulge's; median, worst {s.local[0]:.2f} {s.local[2]:.2f}"
    yield Row(f"{prefix}acceleration in the window, 90th", s.local[1], "x", told, None, None)
    if not np.isnan(s.head):
        yield row("head, limb reaches, mean", "x", s.head, BARS["head"], lambda x: x.head, False)
    if not np.isnan(s.others):
        yield row("others, limb reaches, mean", "x", s.others, BARS["others"], lambda x: x.others, False)
    for k, bar in enumerate(BARS["beyond"]):
        yield row(f"beyond the window, {words[k]}", "x", s.beyond_with_keys[k], bar, lambda x, k=k: x.beyond[k], False)
    told = f"keys as they are: {_triple(s.beyond)}"
    yield Row(f"{prefix}beyond the window, no keys added", s.beyond[1], "x", f"90th; {told}", None, None)
    yield _zero(f"{prefix}drags with an extra turn", s.turned)
    yield _zero(f"{prefix}drags that changed key times", s.keys_changed)


def gesture_rows(prefix: str, gestures: Sequence[Gesture]) -> Iterator[Row]:
    """Times of the pointer, and what its way leaves behind."""
    (_, events, presses), (_, wall_events, wall_presses) = gesture_times(gestures)
    for name, value, wall, bar in (
        ("pointer event, median", np.median(events), np.median(wall_events), BARS["event"][0]),
        ("pointer event, 95th", np.percentile(events, 95), np.percentile(wall_events, 95), BARS["event"][1]),
        ("press, median", np.median(presses), np.median(wall_presses), BARS["press"]),
    ):
        told = f"of processor time; asked for: {bar:g}; on the wall {wall:.2f}"
        yield Row(prefix + name, float(value), "ms", told, bar / max(float(value), 1e-9), 1.0)
    for name, word, bar in (
        ("jump", "jump at the release", BARS["jump"]),
        ("wild_jump", "jump at the release after a wild way", None),
        ("warm", "released after a wild way and a direct one", BARS["warm"]),
        ("back", "out and back, as shown", BARS["back"]),
    ):
        median, high, worst = spread([getattr(g, name) for g in gestures])
        told = f"worst; median {median:.3f}, 90th {high:.3f}" + ("" if bar is None else f"; asked for: {bar:g}")
        ratio = None if bar is None else bar / max(worst, 1e-9)
        yield Row(prefix + word, worst, "x", told, ratio, None if bar is None else 1.0)


def gesture_times(gestures: Sequence[Gesture]) -> list[tuple[str, Array, Array]]:
    """Milliseconds of all events and presses: of processor time, and on the wall."""
    return [
        (word, np.concatenate([event(g) for g in gestures]), np.array([press(g) for g in gestures]))
        for word, event, press in (
            ("processor time", lambda g: g.event_ms, lambda g: g.press_ms),
            ("wall time", lambda g: g.event_wall_ms, lambda g: g.press_wall_ms),
        )
    ]


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
    parser.add_argument("--set", choices=["main", *SETS, "strokes"], default="main")
    parser.add_argument("--strips", type=Path, metavar="FOLDER", help="write pictures of 30 drags before and after")
    given = parser.parse_args()
    reduced_clips.require_files()
    with threadpool_limits(1):
        if given.set == "strokes":
            print_strokes(stroke_verdicts(given.seed, given.any_reduction), given.worst)
            return
        if given.set == "main":
            cases, tally = main_set(given.seed, given.quick, given.any_reduction)
        else:
            cases, tally = further_set(
                given.set, FURTHER_DRAGS // (4 if given.quick else 1), given.seed, given.any_reduction
            )
        if given.strips is not None:
            from benchmarks.real.drag_strips import write_strips

            write_strips(cases[:STRIPS], given.strips)
            return
        print_report(given.set, judge_all(cases, not given.no_gestures), tally, given.worst)
        if given.baseline:
            print(table_line("falloff key", baseline_summary(cases)))


if __name__ == "__main__":
    main()
