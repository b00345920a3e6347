"""Transfer: every figure of [Yamane 2010, section 6] that can be had again, on the cast and on real pairs.

Errors are mean distances of markers, of a pair that was left out, in millimetres; averages over characters are in per
cent of their height, since a tyrannosaur's millimetres are not a penguin's. Times are of the processor, but for the
whole workload, which is a clock's: 6 emotions for each of three characters, with physics, in two processes.

    python -m benchmarks.transfer --quick      less of everything, nothing kept
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import cache, partial

import numpy as np
from benchmarks.measure import Row
from benchmarks.transfers.pairs import CHARACTERS, Case, actor, cases, cast_case

from understudy import batch
from understudy.retarget.baselines import LEARNERS, BoneNames
from understudy.retarget.leave_one_out import errors, learned_error, leave_one_out
from understudy.retarget.live import Live
from understudy.retarget.mapping import learn
from understudy.retarget.measures import measures
from understudy.retarget.suggest import choose
from understudy.retarget.transfer import Stage, transfer

PEERS = False  # nothing here needs the peers' environment
OURS = "shared GPLVM"
DRAWS = 20
PAPER_MINUTES = 70.0  # for 18 motions, 7 minutes in all


def rows(quick: bool = False) -> Iterator[Row]:
    """All of it."""
    yield from speed(quick)
    yield from left_out(quick)
    yield from suggested(quick)
    yield from dimensions(quick)
    yield from physics(quick)


def speed(quick: bool) -> Iterator[Row]:
    """Learning, mapping, live, and the whole workload."""
    for name in CHARACTERS[: 1 if quick else 3]:
        case = cast_case(name)
        learn(case.pairs)
        seconds = _seconds(lambda case=case: learn(case.pairs))
        yield Row(f"learning {name}", 1e3 * seconds, "ms", "asked 1000", 1.0 / seconds, 1.0)
        stage, source = case.stage(), case.motions["happiness"]
        stage.mapping.map(source.local)
        took = _seconds(lambda stage=stage, source=source: stage.mapping.map(source.local, 300.0))
        yield Row(f"mapping {name}", 1e6 * took / len(source), "us", "a frame", None, None)
        rate = _live(Live.of(stage), source, 120)
        yield Row(f"live {name}", rate, "fps", "asked 120", rate / 120, 1.0)
    if not quick:
        began = time.perf_counter()
        frames = sum(batch.run(whole, [(name, clip) for name in CHARACTERS for clip in actor()[0]], workers=2))
        took = time.perf_counter() - began
        said = f"{frames} frames; paper {PAPER_MINUTES:g} minutes"
        yield Row("18 motions with physics, clock", took, "s", said, 60 / took, 1.0)


def whole(job: tuple[str, str]) -> int:
    """One motion on one character, with everything; how many frames."""
    case = cast_case(job[0])
    return len(transfer(case.motions[job[1]], _stage(job[0]), source_body=case.source_body).poses)


@cache
def _stage(name: str) -> Stage:
    """A character made ready, once in each process."""
    return cast_case(name).stage()


def left_out(quick: bool) -> Iterator[Row]:
    """Errors of pairs that were left out, by every method."""
    shares: dict[str, list[float]] = {}
    for case in cases()[:: 3 if quick else 1]:
        found = {name: _mm(leave_one_out(case.pairs, learner)) for name, learner in LEARNERS.items()}
        found[OURS] = _mm(leave_one_out(case.pairs, learn))
        plain = BoneNames.between(next(iter(case.motions.values())), case.pairs.poses.skeleton, case.pairs.markers)
        found[plain.name] = _mm(errors(plain.map(case.pairs.source).points, case.pairs, range(len(case.pairs))))
        for method, value in found.items():
            shares.setdefault(method, []).append(0.1 * value / case.height)
            yield Row(f"{case.name} {method}", value, "mm", f"{len(case.pairs)} pairs", None, None)
    means = {method: float(np.mean(values)) for method, values in shares.items()}
    best = min(value for method, value in means.items() if method != OURS)
    for method, value in means.items():
        ratio = best / value if method == OURS else None
        yield Row(f"average {method}", value, "%", "of the height", ratio, None if ratio is None else 1.0)


def suggested(quick: bool) -> Iterator[Row]:
    """Half of the pairs, chosen by `suggest` and at random; for the lamp, the curve over their number."""
    gained = []
    for case in cases()[:: 3 if quick else 1]:
        half = len(case.pairs) // 2
        ours, drawn = _chosen(case, half, 5 if quick else DRAWS)
        gained.append(drawn / ours)
        yield Row(f"{case.name} half suggested", 1e3 * ours, "mm", f"at random {1e3 * drawn:.1f}", drawn / ours, None)
    yield Row("half suggested, average", float(np.mean(gained)), "x", "random over ours", float(np.mean(gained)), 1.0)
    case = cast_case("lamp")
    for count in (6, 12, 24, 48)[: 2 if quick else 4]:
        if count < len(case.pairs):
            ours, drawn = _chosen(case, count, 5)
            said = f"at random {1e3 * drawn:.1f}"
            yield Row(f"lamp {count} of {len(case.pairs)} suggested", 1e3 * ours, "mm", said, drawn / ours, None)


def dimensions(quick: bool) -> Iterator[Row]:
    """Figure 6 again: key poses missed, poses left out, and how the latent point jumps, by dimension."""
    case = cast_case("lamp")
    local = case.motions["happiness"].local
    for dimension in (2, 15, 30, "auto")[:: 2 if quick else 1]:
        mapping = learn(case.pairs, dimension=dimension)
        missed = errors(mapping.map(case.pairs.source).points, case.pairs, range(len(case.pairs))).mean()
        mapped = mapping.map(local)
        steps = np.linalg.norm(np.diff(mapped.points, axis=0), axis=-1).mean(axis=1)
        said = f"dimension {mapping.model.dimension_}"
        yield Row(f"lamp, {dimension}: key poses missed", 1e3 * missed, "mm", said, None, None)
        yield Row(
            f"lamp, {dimension}: largest step", 1e3 * steps.max(), "mm", "of a frame, without continuity", None, None
        )
        if dimension != "auto" and not quick:
            out = _mm(leave_one_out(case.pairs, partial(learn, dimension=dimension)))
            yield Row(f"lamp, {dimension}: left out", out, "mm", said, None, None)


def physics(quick: bool) -> Iterator[Row]:
    """Before and after: figures 8 and 9, feet, floor, smoothness, jumps."""
    kept = ("slide_cm_s", "penetration_percent", "force_mismatch", "momentum_error", "jerk_per_s3")
    for name in CHARACTERS[: 1 if quick else 3]:
        case = cast_case(name)
        stage = case.stage()
        for clip in ("happiness",) if quick else ("happiness", "anger"):
            done = transfer(case.motions[clip], stage, source_body=case.source_body)
            for step in ("placed", "standing", "realistic"):
                assert done.phases is not None  # with physics
                found = measures(done.stages[step], stage.body, done.phases, case.motions[clip], case.source_body)
                for key, value in found.items():
                    if any(key.startswith(word) for word in kept) and isinstance(value, float):
                        asked = (
                            {"slide_cm_s": 1.0, "penetration_percent": 1.0}.get(key) if step == "realistic" else None
                        )
                        ratio = None if asked is None else asked / max(value, 1e-9)
                        said = "" if asked is None else f"asked {asked:g}"
                        yield Row(f"{name} {clip} {step} {key}", value, "", said, ratio, None if asked is None else 1.0)


def _chosen(case: Case, count: int, draws: int) -> tuple[float, float]:
    """Metres: the error over all pairs of what is learned from `count`, suggested, and at random on the average."""
    rng = np.random.default_rng(0)
    number = len(case.pairs)
    drawn = [learned_error(case.pairs, sorted(rng.choice(number, count, replace=False)), learn) for _ in range(draws)]
    return learned_error(case.pairs, choose(case.pairs, count), learn), float(np.mean(drawn))


def _live(live: Live, source: object, frames: int) -> float:
    state = live.init()
    began = 0.0
    for f in range(frames):
        if f == 20:  # by then everything is compiled
            began = time.process_time()
        state, _ = live.step(state, f / source.rate, source.points[f], source.frames[f])  # type: ignore[attr-defined]
    return (frames - 20) / (time.process_time() - began)


def _seconds(function: object, repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        began = time.process_time()
        function()  # type: ignore[operator]
        times.append(time.process_time() - began)
    return float(np.median(times))


def _mm(metres: object) -> float:
    return float(1e3 * np.mean(metres))


if __name__ == "__main__":
    for row in rows(quick="--quick" in sys.argv):
        sys.stdout.write(f"{row.name:<44} {row.value:10.3f} {row.unit:<4} {row.peer}\n")
        sys.stdout.flush()
