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
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from understudy import files
from understudy.character import Curves
from understudy.errors import BadFile, InvalidInput
from understudy.keyframes import edit_check, edit_parser
from understudy.keyframes.edit_steps import Edits, Gesture, Key, Step, Tangents
from understudy.keyframes.goals import Move, Triple
from understudy.keyframes.inserting import insert_key
from understudy.keyframes.keys import move_key, remove_key
from understudy.keyframes.outcome import Outcome
from understudy.keyframes.preparing import METHODS, prepared
from understudy.keyframes.solve import Settings, solve
from understudy.keyframes.states import states_of
from understudy.maths import quaternion
from understudy.rig import PosedRig

__all__ = ["Edits", "Report", "apply", "check", "parse", "prepared", "read"]

parse = edit_parser.parse
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Report:
    """What became of one step; `outcome` where a solver was asked."""

    place: str
    kind: str
    name: str
    reached: bool
    sentence: str
    outcome: Outcome | None = None

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
            "blocks": [asdict(block) for block in o.blocks],
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
) -> tuple[Curves, list[Report]]:
    """The curves after all steps, and what became of each; `progress(done, total)` is called after each.

    `path` is named in errors.
    """
    reports = []
    for done, step in enumerate(steps, 1):
        try:
            curves, report = _applied(rig, curves, step, settings)
        except InvalidInput as error:
            raise BadFile(path, str(error), step.place) from error
        reports.append(report)
        if progress is not None:
            progress(done, len(steps))
    return curves, reports


def _applied(rig: PosedRig, curves: Curves, step: Step, settings: Settings | None) -> tuple[Curves, Report]:
    action = step.action
    match action:
        case Gesture():
            outcome = solve(rig, curves, replace(action.edit, moves=_turned(rig, curves, action)), settings)
            return outcome.curves, _report(step, _moved(action), outcome)
        case Key():
            changed, sentence = _key(curves, action)
        case Tangents():
            changed = METHODS[action.method](curves, action.targets, action.start, action.stop)
            sentence = f"{action.method} tangents {_of(action)}{_span(action.start, action.stop)}"
    return changed, Report(step.place, action.kind, step.name, True, sentence)


def _key(curves: Curves, action: Key) -> tuple[Curves, str]:
    if action.remove:
        return remove_key(curves, action.time, action.targets), f"removed the key {_of(action)} at {action.time:g} s"
    if action.to_time is not None:
        moved = move_key(curves, action.time, action.to_time, action.targets)
        return moved, f"moved the key {_of(action)} from {action.time:g} to {action.to_time:g} s"
    return insert_key(curves, action.time, action.targets), f"inserted a key {_of(action)} at {action.time:g} s"


def _turned(rig: PosedRig, curves: Curves, action: Gesture) -> tuple[Move, ...]:
    """The moves, with turns by an angle made turns to an orientation."""
    moves = list(action.edit.moves)
    for number, turn in action.turns.items():
        moves[number] = replace(moves[number], turn_to=_orientation_after(rig, curves, moves[number], turn))
    return tuple(moves)


def _orientation_after(rig: PosedRig, curves: Curves, move: Move, turn: Triple) -> tuple[float, float, float, float]:
    states = states_of(rig, curves.channels, [move.point])
    values = curves.sample([move.time])[:, states.columns]
    first = np.zeros(1, np.int64)
    _, orientation, _ = states.evaluate(values, first, first, slopes=False)
    was = quaternion.from_matrix(orientation[0])
    x, y, z, w = quaternion.multiply(quaternion.from_rotation_vector(np.array(turn)), was).tolist()
    return x, y, z, w


def _report(step: Step, what: str, outcome: Outcome) -> Report:
    if outcome.reached:
        held = f", what is held drifts {1000 * outcome.drift:.2g} mm" if outcome.drift > 0 else ""
        off = f"{1000 * outcome.distance:.2g} mm off" + (
            f", {np.degrees(outcome.angle):.2g} degrees" if outcome.start_angle > 0 else ""
        )
        sentence = f"{what}: reached ({off}{held})"
    else:
        why = "; ".join(block.sentence for block in outcome.blocks[:1]) or "it cannot get nearer"
        others = [f"{block.kind} of {block.what}" for block in outcome.blocks[1:]]
        sentence = f"{what}: blocked, {why}" + (f"; also {', '.join(others)}" if others else "")
    return Report(step.place, step.action.kind, step.name, outcome.reached, sentence, outcome)


def _moved(action: Gesture) -> str:
    """An edit's goals, in words."""
    moves = action.edit.moves
    if not moves:
        points = ", ".join(dict.fromkeys(contact.point.name for contact in action.edit.contacts))
        return f"contact of {points}"
    verbs = {(m.to is not None or m.by is not None, m.turn_to is not None) for m in moves}
    verb = "turn" if verbs == {(False, True)} else "move"
    listed = [f"{move.point.name} at {move.time:g} s" for move in moves]
    return f"{verb} {', '.join(listed[:3])}" + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")


def _of(action: Any) -> str:
    return "of all curves" if action.targets is None else f"of {', '.join(action.targets)}"


def _span(start: float | None, stop: float | None) -> str:
    return "".join(f" {word} {time:g} s" for word, time in (("from", start), ("to", stop)) if time is not None)
