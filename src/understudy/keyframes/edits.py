"""EDITS.toml: a list of edits that can be written, kept, repeated and tested.

    edits = read("reach.toml")
    rig, animation = ...
    curves, notes = prepared(rig, animation, edits.preparation)
    curves, reports = apply(rig, curves, check(edits, rig, curves).steps, path=edits.path)

Each step begins with the curves that the one before it left. A step that cannot reach its goal goes as far as it can,
and its report says what held it back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from understudy import files
from understudy.character import Curves
from understudy.errors import BadFile, InvalidInput
from understudy.keyframes import edit_check, edit_parser
from understudy.keyframes.edit_actions import Done, Result, act
from understudy.keyframes.edit_steps import Edits, Step
from understudy.keyframes.offer import Offer
from understudy.keyframes.preparing import prepared
from understudy.keyframes.solve import Settings
from understudy.rig import PosedRig

__all__ = ["Edits", "Report", "apply", "check", "parse", "prepared", "read"]

parse = edit_parser.parse
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Report:
    """What became of one step; `outcome` where a solver was asked, `offers` where it was blocked and they were."""

    place: str
    kind: str
    name: str
    reached: bool
    sentence: str
    outcome: Result | None = None
    offers: tuple[Offer, ...] = ()

    def facts(self) -> dict[str, Any]:
        """For JSON: millimetres and degrees."""
        told: dict[str, Any] = {
            "edit": self.place,
            "kind": self.kind,
            "name": self.name,
            "reached": self.reached,
            "sentence": self.sentence,
        }
        if self.outcome is None:
            return told
        o = self.outcome
        return told | {
            "distance_mm": round(1000 * o.distance, 6),
            "angle_degrees": round(float(np.degrees(o.angle)), 6),
            "start_distance_mm": round(1000 * o.start_distance, 6),
            "start_angle_degrees": round(float(np.degrees(o.start_angle)), 6),
            "drift_mm": round(1000 * o.drift, 6),
            "drift_degrees": round(float(np.degrees(o.drift_angle)), 6),
            "iterations": o.iterations,
            "notes": list(getattr(o, "notes", ())),
            "blocks": [asdict(block) for block in o.blocks],
            "offers": [
                {"kind": offer.kind, "what": offer.what, "sentence": offer.sentence, "reached": offer.outcome.reached}
                for offer in self.offers
            ],
        }


def read(path: str) -> Edits:
    """The edits of a file."""
    return parse(files.read_text(path, 4 * edit_parser.LARGEST), str(path))


def check(edits: Edits, rig: PosedRig, curves: Curves) -> Edits:
    """The same edits with joints by their full names; refused, with the place in the file, where they make no sense."""
    return edit_check.check(edits, rig, curves.channels, curves.start, curves.end)


def apply(
    rig: PosedRig,
    curves: Curves,
    steps: Sequence[Step],
    progress: Progress | None = None,
    settings: Settings | None = None,
    path: str = "edits",
    ask: bool = False,
) -> tuple[Curves, list[Report]]:
    """The curves after all steps, and what became of each; `progress(done, total)` is called after each.

    `path` is named in errors. `ask` computes offers for steps that are blocked.
    """
    reports = []
    for number, step in enumerate(steps, 1):
        try:
            done = act(rig, curves, step.action, settings, ask)
        except InvalidInput as error:
            raise BadFile(path, str(error), step.place) from error
        curves = done.curves
        reports.append(_report(step, done))
        if progress is not None:
            progress(number, len(steps))
    return curves, reports


def _report(step: Step, done: Done) -> Report:
    told, result = (step.place, step.action.kind, step.name), done.result
    if result is None:
        return Report(*told, True, done.what)
    if result.reached:
        off = f"{1000 * result.distance:.2g} mm off"
        if result.start_angle > 0:
            off += f", {np.degrees(result.angle):.2g} degrees"
        if result.drift > 0:
            off += f", what is held drifts {1000 * result.drift:.2g} mm"
        how = "" if done.accepted is None else f" as accepted: {done.accepted.sentence}"
        return Report(*told, True, f"{done.what}: reached ({off}){how}", result)
    why = result.blocks[0].sentence if result.blocks else "it cannot get nearer"
    also = ", ".join(f"the {block.kind} of {block.what}" for block in result.blocks[1:])
    sentence = f"{done.what}: blocked, {why}" + (f"; also {also}" if also else "")
    return Report(*told, False, sentence, result, done.offers)
