"""Transfer: every figure of [Yamane 2010, section 6] that can be had again, on the cast and on real pairs.

Errors are mean distances of markers, of a pair that was left out, in millimetres; averages over characters are in per
cent of their height, since a tyrannosaur's millimetres are not a penguin's. Times are of the processor, but for the
whole workload, which is a clock's: 6 emotions for each of three characters, with physics, in two processes. The studies
of the mapping are at the pairs, and all jobs run in two processes, so that nothing needs to be left out.

    python -m benchmarks.transfer --quick      less of everything, nothing kept
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from benchmarks.measure import Row
from benchmarks.transfers.humanoids import jobs as capture_jobs
from benchmarks.transfers.humanoids import measure as measure_capture
from benchmarks.transfers.humanoids import styled_error
from benchmarks.transfers.humanoids import table as summarise
from benchmarks.transfers.pairs import CHARACTERS, actor, case_of, cast_case, names
from benchmarks.transfers.studies import OURS, dimension_curve, quick_suggested
from benchmarks.transfers.studies import dimensions as dimension_study
from benchmarks.transfers.studies import left_out as leaving_one_out
from benchmarks.transfers.studies import suggested as suggestion_study

from understudy import batch
from understudy.transfer.live import LiveRetargeter
from understudy.transfer.mapping import fit_mapping
from understudy.transfer.measures import measure_motion
from understudy.transfer.pipeline import TransferTarget, transfer
from understudy.transfer.source import SourceMotion

STYLED = (
    ("54_18 animal", "Barbarian"),
    ("02_01 walk", "RobotExpressive"),
    ("samba", "Character"),
    ("80_43 walk", "Leela"),
)
HUMANOID_BARS = (  # of `humanoids.measure`: its unit, and what was asked for
    ("slide_cm_s", "cm/s", 1.5),
    ("depth_percent", "%", 1.0),
    ("legs_degrees", "deg", 4.0),
    ("arms_degrees", "deg", 0.5),
    ("jerk_ratio", "x", 1.3),
    ("momentum_error", "x", None),
    ("false_flight_s", "s", None),
    ("missed_flight_s", "s", None),
    ("jump_percent", "%", None),
    ("foot_gap", "x", None),
    ("ms_a_frame", "ms", 3.0),
)
PEERS = False  # nothing here needs the peers' environment
PAPER_MINUTES = 70.0  # for 18 motions, 7 minutes in all
WORKERS = 2
A_JUMP = 0.03  # of the height: how far the centre of mass rises at least
MEASURED = {  # of `measures`: its unit, and what was asked for
    "slide_cm_s": ("cm/s", 1.0),
    "penetration_percent": ("%", 1.0),
    "missing_force": ("weights", None),
    "missing_moment": ("weight heights", None),
    "force_in_air": ("weights", None),
    "momentum_error": ("x", None),
    "momentum_correlation": ("x", None),
    "jerk_per_s3": ("/s3", None),
}


def rows(quick: bool = False) -> Iterator[Row]:
    """All of it."""
    yield from speed(quick)
    yield from humanoids(quick)
    yield from corrections(quick)
    yield from left_out(quick)
    yield from suggested(quick)
    yield from dimensions(quick)
    yield from physics(quick)


def speed(quick: bool) -> Iterator[Row]:
    """Learning, mapping, live, and the whole workload."""
    for name in CHARACTERS[: 1 if quick else 3]:
        case = cast_case(name)
        fit_mapping(case.pairs)
        seconds = _seconds(lambda case=case: fit_mapping(case.pairs))
        yield Row(f"learning {name}", 1e3 * seconds, "ms", "asked 1000", 1.0 / seconds, 1.0)
        stage, source = case.stage(), case.motions["happiness"]
        stage.mapping.map(source.local)
        took = _seconds(lambda stage=stage, source=source: stage.mapping.map(source.local, 300.0))
        yield Row(f"mapping {name}", 1e6 * took / len(source), "us", "a frame", None, None)
        rate = _live(LiveRetargeter.from_target(stage), source, 120)
        yield Row(f"live {name}", rate, "fps", "asked 120", rate / 120, 1.0)
    if not quick:
        began = time.perf_counter()
        frames = sum(_run(whole, [(name, clip) for name in CHARACTERS for clip in actor()[0]]))
        took = time.perf_counter() - began
        said = f"{frames} frames; paper {PAPER_MINUTES:g} minutes"
        yield Row("18 motions with physics, clock", took, "s", said, 60 / took, 1.0)


def whole(job: tuple[str, str]) -> int:
    """One motion on one character, with everything; how many frames."""
    case = cast_case(job[0])
    return len(transfer(case.motions[job[1]], _stage(job[0]), source_body=case.source_body).poses)


@cache
def _stage(name: str) -> TransferTarget:
    """A character made ready, once in each process."""
    return case_of(name).stage()


def humanoids(quick: bool) -> Iterator[Row]:
    """Captures on humanoids without pairs: the median over all, beside the plain retarget, with what was asked for."""
    jobs = capture_jobs(every=29 if quick else 1)
    found = dict(zip(jobs, _run(measure_capture, jobs)))
    refused = sum("refused" in each for each in found.values())
    yield Row("captures on humanoids", len(jobs) - refused, "jobs", f"{refused} refused", None, None)
    summary = summarise(found)
    for key, unit, asked in HUMANOID_BARS:
        if f"ours {key}" in summary:
            (median, worst), plain = summary[f"ours {key}"], summary.get(f"plain {key}", (float("nan"), 0.0))
            said = f"worst {worst:.3g}; plain {plain[0]:.3g}, worst {plain[1]:.3g}"
            ratio = None if asked is None else asked / max(median, 1e-3 * asked)
            yield Row(f"humanoids: {key}", median, unit, said, ratio, None if asked is None else 1.0)


def corrections(quick: bool) -> Iterator[Row]:
    """Pairs as corrections: the error over the number of pairs, beside that of the pairs alone."""
    for job in STYLED[: 1 if quick else None]:
        for count, error, alone in styled_error(job):
            ratio = alone / max(error, 1e-9) if count else None
            said = f"pairs alone {1e3 * alone:.1f}"
            yield Row(f"{job[1]}, {count} pairs", 1e3 * error, "mm", said, ratio, 1.0 if count else None)


def left_out(quick: bool) -> Iterator[Row]:
    """Errors of pairs that were left out, by every method."""
    chosen = names()[:: 3 if quick else 1]
    found = _run(leaving_one_out, chosen)
    for name, methods in zip(chosen, found):
        for method, (missed, spread) in methods.items():
            yield Row(f"{name} {method}", missed, "mm", f"{100 * spread:.0f} % as lively", None, None)
    heights = [case_of(name).height for name in chosen]
    means = {m: float(np.mean([0.1 * f[m][0] / h for f, h in zip(found, heights)])) for m in found[0]}
    best = min(value for method, value in means.items() if method != OURS)
    for method, value in means.items():
        ratio = best / value if method == OURS else None
        said = f"of the height; {100 * np.mean([f[method][1] for f in found]):.0f} % as lively"
        yield Row(f"average {method}", value, "%", said, ratio, None if ratio is None else 1.0)


def suggested(quick: bool) -> Iterator[Row]:
    """The curve over the number of pairs, chosen by `suggest` and at random; what was asked for is half of them."""
    chosen = names()[:: 3 if quick else 1]
    curves = _run(quick_suggested if quick else suggestion_study, chosen)
    for name, curve in zip(chosen, curves):
        total = len(case_of(name).pairs)
        for number, (count, ours, drawn) in enumerate(curve):
            bar = 1.0 if number == len(curve) // 2 else None
            said = f"at random {drawn:.1f}"
            yield Row(f"{name} {count} of {total} suggested", ours, "mm", said, drawn / ours, bar)
    gains = np.array([[drawn / ours for _, ours, drawn in curve] for curve in curves])
    half = float(gains[:, gains.shape[1] // 2].mean())
    yield Row("half suggested, average", half, "x", "random over ours", half, 1.0)
    yield Row("any number suggested, average", float(gains.mean()), "x", "random over ours", float(gains.mean()), 1.0)


def dimensions(quick: bool) -> Iterator[Row]:
    """Figure 6 again, on the actor's happiness: pairs shown and left out, and how the latent point jumps."""
    jobs = [(name, d) for name in CHARACTERS[: 1 if quick else 3] for d in (2, 15, 30, "auto")]
    for (name, dimension), found in zip(jobs, _run(dimension_study, jobs)):
        for key, value in found.items():
            if key != "dimension":
                unit = "mm" if key.endswith("mm") else "x"
                said = f"dimension {found['dimension']:g}"
                yield Row(f"{name}, {dimension}: {key.removesuffix(', mm')}", value, unit, said, None, None)
    chosen = names()[:: 3 if quick else 1]
    for name, (dimension, curve) in zip(chosen, _run(dimension_curve, chosen)):
        said = "left out, mm: " + ", ".join(f"{d} {missed:.0f}" for d, missed in curve)
        yield Row(f"{name}: dimension chosen", dimension, "n", said, None, None)


def physics(quick: bool) -> Iterator[Row]:
    """Before and after, means over the motions of each character: figures 8 and 9, feet, floor, smoothness, jumps."""
    chosen = ["lamp"] if quick else names()
    jobs = [(name, clip) for name in chosen for clip in list(case_of(name).motions)[: 1 if quick else None]]
    found = _run(moved, jobs)
    for name in chosen:
        own = [pair for job, pair in zip(jobs, found) if job[0] == name]
        for key, (unit, asked) in MEASURED.items():
            if key not in own[0][0]:
                continue
            before, after = (float(np.mean([pair[i][key] for pair in own])) for i in (0, 1))
            ratio = None if asked is None else asked / max(after, 1e-3 * asked)  # a thousand times is enough
            said = f"before {before:.3g}" + ("" if asked is None else f", asked {asked:g}")
            yield Row(f"{name}: {key}", after, unit, said, ratio, None if asked is None else 1.0)
        yield from _jumps(name, [jump for pair in own for jump in pair[1]["jumps"]])


def _jumps(name: str, flights: list[dict[str, float]]) -> Iterator[Row]:
    """How high those flights are that are jumps of the actor too; the lamp also hops where he only steps."""
    least = A_JUMP * case_of(name).height
    kept = [100 * each["height_m"] / each["wanted_m"] for each in flights if each["wanted_m"] > least]
    if kept:
        said = (
            f"of the actor's, scaled; {len(kept)} jumps of {len(flights)} flights, {min(kept):.0f} to {max(kept):.0f}"
        )
        yield Row(f"{name}: jump heights kept", float(np.median(kept)), "%", said, None, None)


def moved(job: tuple[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is measured of one motion on one character, before physics and after."""
    case, stage = case_of(job[0]), _stage(job[0])
    source = case.motions[job[1]]
    done = transfer(source, stage, source_body=case.source_body)
    assert done.phases is not None  # with physics
    before, after = (
        measure_motion(done.intermediate[step], stage.body, done.phases, source, case.source_body)
        for step in ("placed", "solved")
    )
    return before, after


def _run(function: Callable[[Any], Any], jobs: list[Any]) -> list[Any]:
    """In two processes, in order."""
    return list(batch.run(function, jobs, workers=WORKERS))


def _live(live: LiveRetargeter, source: SourceMotion, frames: int) -> float:
    state = live.init()
    began = 0.0
    for f in range(frames):
        if f == 20:  # by then everything is compiled
            began = time.process_time()
        state, _ = live.step(state, f / source.rate, source.points[f], source.frames[f])
    return (frames - 20) / (time.process_time() - began)


def _seconds(function: Callable[[], Any], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return float(np.median(times))


if __name__ == "__main__":
    for row in rows(quick="--quick" in sys.argv):
        sys.stdout.write(f"{row.name:<44} {row.value:10.3f} {row.unit:<7} {row.peer}\n")
        sys.stdout.flush()
