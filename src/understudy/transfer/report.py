"""The report of a transfer: inputs, certainty of the mapping, what each step changed, and what to pose next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from understudy.character.body.mass import Body
from understudy.checks import Array
from understudy.transfer.corrections import PoseCorrections
from understudy.transfer.measures import measure_motion
from understudy.transfer.physics.collisions import excess_depths
from understudy.transfer.pipeline import TransferResult, TransferTarget
from understudy.transfer.pose_suggestions import PoseSuggestion, suggest_poses
from understudy.transfer.source import SourceMotion

REPORTED_FRAMES = 5  # least certain frames, and suggested frames, in a report


def report_of(
    source: SourceMotion,
    stage: TransferTarget,
    done: TransferResult,
    source_body: Body | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """The report of one motion, as plain values for JSON. Lengths in millimetres, times in seconds."""
    deviation = np.sqrt(np.maximum(done.predictive_variance, 0.0))
    return {
        "motion": source.name,
        "character": stage.target.name,
        "frames": len(source),
        "rate": round(source.rate, 6),
        "duration": round(source.duration, 4),
        "seconds": {step: round(seconds, 4) for step, seconds in done.seconds.items()},
        "mapping": stage.mapping.name,
        "pairs": len(stage.pairs),
        "left_out_mm": {name: _mm(error) for name, error in stage.left_out.items()},
        "uncertainty_mm": {
            "at_key_poses": _mm(np.sqrt(max(stage.variance_at_pairs, 0.0))),
            "mean": _mm(float(deviation.mean())),
            "most": _mm(float(deviation.max())),
        },
        "least_certain": [_frame_report(source, f, float(deviation[f])) for f in _peaks(deviation, source.rate)],
        "suggested": [
            suggestion_to_json(suggestion)
            for suggestion in suggest_poses({source.name: source}, stage.pairs, REPORTED_FRAMES)
        ],
        "collisions_mm": collision_report(stage, done),
        "contacts": _contacts(source, done),
        "physics": physics_report(source, stage, done, source_body),
        "notes": [*source.notes, *notes],
    }


def correction_report(corrections: PoseCorrections, source: SourceMotion, variance: Array) -> dict[str, Any]:
    """What the report of a transfer by bones says about its pairs: certainty, error, and what to pose next."""
    pairs, deviation = corrections.pairs_, np.sqrt(np.maximum(variance, 0.0))
    errors = {name: _mm(error) for name, error in corrections.left_out_.items() if np.isfinite(error)}
    return {
        "mapping": "bones, corrected by pairs",
        "pairs": len(pairs),
        "left_out_mm": errors,
        "uncertainty_mm": {"mean": _mm(float(deviation.mean())), "most": _mm(float(deviation.max()))},
        "least_certain": [_frame_report(source, f, float(deviation[f])) for f in _peaks(deviation, source.rate)],
        "suggested": [
            suggestion_to_json(suggestion)
            for suggestion in suggest_poses({source.name: source}, pairs, REPORTED_FRAMES)
        ],
    }


def collision_report(stage: TransferTarget, done: TransferResult) -> dict[str, dict[str, float]]:
    """Depth in itself and in the floor beyond that of the pairs, before and after collisions are resolved."""
    if stage.capsules is None:
        return {}
    result = {}
    for step in ("mapped", "apart"):
        itself, floor = excess_depths(stage.capsules, done.intermediate[step].world)
        result[step] = {"itself": _mm(float(itself.max(initial=0.0))), "floor": _mm(float(floor.max(initial=0.0)))}
    return result


def physics_report(
    source: SourceMotion, stage: TransferTarget, done: TransferResult, source_body: Body | None
) -> dict[str, Any]:
    """The measures of each step from the path over the floor on; empty without physics."""
    if done.phases is None:
        return {}
    steps = [step for step in done.intermediate if step in ("placed", "solved", "final")]
    return {
        step: measure_motion(done.intermediate[step], stage.body, done.phases, source, source_body) for step in steps
    }


def suggestion_to_json(suggestion: PoseSuggestion) -> dict[str, Any]:
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


def _contacts(source: SourceMotion, done: TransferResult) -> dict[str, list[list[float]]]:
    if done.phases is None:
        return {}
    spans = done.phases.spans(source.rate, source.start)
    return {name: [[round(a, 4), round(b, 4)] for a, b in rows] for name, rows in spans.items()}


def _peaks(deviation: Array, rate: float) -> list[int]:
    """The least certain frames, none within half a second of another."""
    left = np.array(deviation)
    frames: list[int] = []
    reach = max(1, round(0.5 * rate))
    while len(frames) < REPORTED_FRAMES and np.isfinite(left).any():
        frame = int(np.nanargmax(np.where(np.isfinite(left), left, np.nan)))
        frames.append(frame)
        left[max(0, frame - reach) : frame + reach + 1] = -np.inf
    return frames


def _frame_report(source: SourceMotion, frame: int, deviation: float) -> dict[str, Any]:
    return {"frame": frame, "time": round(source.start + frame / source.rate, 4), "uncertainty_mm": _mm(deviation)}


def _mm(metres: float) -> float:
    return round(1000 * float(metres), 3)
