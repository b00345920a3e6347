"""What joints do to the skin when a control of the mouth or jaw is at an end of its range, as displacements in HL.

The corners' joints go along with many shapes of the lips, and the jaw turns about its hinge; `unfold` needs to know.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.cast.dragon import drives
from understudy.cast.dragon.body import Body
from understudy.cast.dragon.measures import HINGE, SCALE
from understudy.character.controls import Controls
from understudy.checks import Array
from understudy.maths import euler, quaternion

AXES = ("x", "y", "z")


class Carried:
    """Displacements of the skin, for a unit of a control."""

    def __init__(self, body: Body, controls: Controls, shapes: Sequence[str]) -> None:
        skin, part = body.skin, body.character.parts[0].skin
        names = body.character.skeleton.names
        self._weights = {}
        for column, joint in enumerate(part.joints):
            if names[joint].startswith(("Jaw", "Corner")):
                own = np.where(part.influences == column, part.weights, 0.0)
                self._weights[names[joint]] = own.sum(axis=1).astype(float)
        self._points = skin.sealed
        self._gains: dict[str, dict[tuple[str, str], float]] = {}
        for rule in drives.rules(controls, shapes):
            joint, _, component = rule.target.rpartition(".")
            if rule.section == "drives" and joint in self._weights:
                self._gains.setdefault(rule.controls[0], {})[joint, component] = rule.amount

    def by(self, control: str) -> Array | None:
        """(v, 3) what the corners' joints do for one unit, by moving; None where they do not."""
        gains = self._gains.get(control, {})
        result = np.zeros_like(self._points)
        for (joint, component), gain in gains.items():
            if joint.startswith("Corner") and component[0] == "t":
                result[:, AXES.index(component[1])] += self._weights[joint] * gain / SCALE
        return result if result.any() else None

    def of_jaw(self, control: str, value: float) -> Array:
        """(v, 3) what jaw and corners do when one of the jaw's controls has a value."""
        gains = {target: gain * value for target, gain in self._gains[control].items()}
        turn = [gains.get(("Jaw", f"r{axis}"), 0.0) for axis in ("y", "x", "z")]
        slide = np.array([gains.get(("Jaw", f"t{axis}"), 0.0) for axis in AXES]) / SCALE
        arm = self._points - HINGE
        swung = quaternion.rotate(euler.from_euler(np.array(turn), "yxz"), arm) - arm + slide
        corners = self.by(control)
        result = self._weights["Jaw"][:, None] * swung
        return result if corners is None else result + value * corners
