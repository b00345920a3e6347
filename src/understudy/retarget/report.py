"""The report of a transfer: what was given, how sure the mapping was, what each step changed, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.retarget.baselines import LEARNERS, BoneNames, Learner
from understudy.retarget.body import Body
from understudy.retarget.collisions import excess
from understudy.retarget.leave_one_out import errors, leave_one_out
from understudy.retarget.pairs import Pairs
from understudy.retarget.source import Source
from understudy.retarget.suggest import Suggestion, suggest
from understudy.retarget.transfer import Stage, Transferred

WORST = 5  # frames that are named


def report_of(
    source: Source, stage: Stage, done: Transferred, source_body: Body | None = None, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """The report of one motion, as plain values for JSON. Lengths in millimetres, times in seconds."""
    sure = np.sqrt(np.maximum(done.doubt, 0.0))
    return {
        "motion": source.name,
        "character": stage.target.name,
        "frames": len(source),
        "rate": round(source.rate, 6),
        "duration": round(source.duration, 4),
        "seconds": {step: round(seconds, 4) for step, seconds in done.seconds.items()},
        "mapping": stage.mapping.name,
        "pairs": len(stage.pairs),
        "uncertainty_mm": {
            "at_key_poses": _mm(np.sqrt(max(stage.sure, 0.0))),
            "mean": _mm(float(sure.mean())),
            "most": _mm(float(sure.max())),
        },
        "least_certain": [_moment(source, int(f), float(sure[f])) for f in _peaks(sure, source.rate)],
        "suggested": [shown(each) for each in suggest({source.name: source}, stage.pairs, WORST)],
        "collisions_mm": collisions(stage, done),
        "contacts": _contacts(source, done),
        "physics": physics(source, stage, done, source_body),
        "notes": [*source.notes, *notes],
    }


def comparison(pairs: Pairs, learner: Learner, name: str, source: Source | None = None) -> dict[str, float]:
    """Millimetres of each method when every pair is left out in turn; bone names need no pairs, but a skeleton."""
    if len(pairs) < 3:
        return {}
    found = {other: _mm(float(leave_one_out(pairs, each).mean())) for other, each in LEARNERS.items()}
    found[name] = _mm(float(leave_one_out(pairs, learner).mean()))
    if source is not None:
        try:
            plain = BoneNames.between(source, pairs.poses.skeleton, pairs.markers)
            mapped = plain.map(pairs.source).points
            found[plain.name] = _mm(float(errors(mapped, pairs, range(len(pairs))).mean()))
        except InvalidInput:
            return found  # bare markers have no bones to name
    return found


def collisions(stage: Stage, done: Transferred) -> dict[str, dict[str, float]]:
    """How deep the body is in itself and in the floor beyond what the pairs show, before and after it was mended."""
    if stage.capsules is None:
        return {}
    result = {}
    for step in ("mapped", "apart"):
        itself, floor = excess(stage.capsules, done.stages[step].world)
        result[step] = {"itself": _mm(float(itself.max(initial=0.0))), "floor": _mm(float(floor.max(initial=0.0)))}
    return result


def physics(source: Source, stage: Stage, done: Transferred, source_body: Body | None) -> dict[str, Any]:
    """The measures of each step from the way over the floor on; empty without physics."""
    if done.phases is None:
        return {}
    from understudy.retarget.measures import measures

    steps = [step for step in done.stages if step in ("placed", "standing", "realistic", "final")]
    return {step: measures(done.stages[step], stage.body, done.phases, source, source_body) for step in steps}


def shown(suggestion: Suggestion) -> dict[str, Any]:
    """A suggestion for JSON; lengths are left out where there were no pairs to measure them by."""
    row: dict[str, Any] = {
        "motion": suggestion.motion,
        "frame": suggestion.frame,
        "time": round(suggestion.time, 4),
        "gain": round(suggestion.gain, 4),
    }
    if np.isfinite(suggestion.uncertainty):
        row |= {"uncertainty_mm": _mm(suggestion.uncertainty), "error_after_mm": _mm(suggestion.error_after)}
    return row


def _contacts(source: Source, done: Transferred) -> dict[str, list[list[float]]]:
    if done.phases is None:
        return {}
    spans = done.phases.spans(source.rate, source.start)
    return {name: [[round(a, 4), round(b, 4)] for a, b in each] for name, each in spans.items()}


def _peaks(sure: Array, rate: float) -> list[int]:
    """The least certain frames, none within half a second of another."""
    left = np.array(sure)
    found: list[int] = []
    reach = max(1, round(0.5 * rate))
    while len(found) < WORST and np.isfinite(left).any():
        frame = int(np.nanargmax(np.where(np.isfinite(left), left, np.nan)))
        found.append(frame)
        left[max(0, frame - reach) : frame + reach + 1] = -np.inf
    return found


def _moment(source: Source, frame: int, sure: float) -> dict[str, Any]:
    return {"frame": frame, "time": round(source.start + frame / source.rate, 4), "uncertainty_mm": _mm(sure)}


def _mm(metres: float) -> float:
    return round(1000 * float(metres), 3)
