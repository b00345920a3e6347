"""The actor's trunk, head and arms: from controls to rotations of joints.

At rest the arms are level and the legs 20 degrees apart, which is no way to stand; controls count from arms that hang.
An arm turns as Rx(-swing) Rz(raise - 90) Rx(twist) on the left, and as its mirror image on the right.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.checks import Array
from understudy.maths import quaternion
from understudy.maths.euler import from_euler

# joint: its share of bend, twist and side
SPINE = {"LowerBack": (0.40, 0.26, 0.38), "Spine": (0.32, 0.34, 0.32), "Spine1": (0.28, 0.40, 0.30)}
NECK = {"Neck": 0.30, "Neck1": 0.32}  # their share of the way from chest to head; the head goes the rest
BREATH = {"bend": -2.6, "lift": 4.0, "nod": -1.2}  # degrees of a full chest

Values = Mapping[str, Array]  # control -> (F,)


def hips(values: Values) -> Array:
    """(F, 4) the hips in the world."""
    return euler(values, "hips.turn", "hips.lean", "hips.roll")


def euler(values: Values, *names: str) -> Array:
    """(F, 4) turn, nod and roll of three controls, in degrees: Ry Rx Rz."""
    return from_euler(np.radians(np.stack([values[name] for name in names], axis=-1)), "yxz")


def spine(values: Values) -> dict[str, Array]:
    """Joint -> (F, 4), relative to its parent."""
    bend = values["spine.bend"] + BREATH["bend"] * values["neck.breath"]
    whole = np.radians(np.stack([values["spine.twist"], bend, values["spine.side"]], axis=-1))
    return {
        joint: from_euler(whole * np.array([twist, forward, side]), "yxz")
        for joint, (forward, twist, side) in SPINE.items()
    }


def head(values: Values, chest: Array) -> dict[str, Array]:
    """Joint -> (F, 4) of neck and head, for a chest (F, 4) in the world.

    The head faces where the hips and the twist of the spine lead, turned by its own controls; the neck bends evenly.
    """
    heading = values["hips.turn"] + values["spine.twist"]
    turn = np.radians(heading + values["head.turn"])
    nod = np.radians(values["head.nod"] + BREATH["nod"] * values["neck.breath"])
    world = from_euler(np.stack([turn, nod, np.radians(values["head.roll"])], axis=-1), "yxz")
    way = quaternion.to_rotation_vector(quaternion.upper(quaternion.multiply(quaternion.conjugate(chest), world)))
    result = {joint: quaternion.from_rotation_vector(share * way) for joint, share in NECK.items()}
    result["Head"] = quaternion.from_rotation_vector((1.0 - sum(NECK.values())) * way)
    return result


def arm(values: Values, side: str) -> dict[str, Array]:
    """Joint -> (F, 4) of one arm, side "L" or "R"."""
    s = 1.0 if side == "L" else -1.0
    v = {
        name.split(".")[1]: np.radians(value)
        for name, value in values.items()
        if name.startswith(("shoulders.", "arms.")) and name.endswith(f".{side}")
    }
    lift = v["lift"] + np.radians(BREATH["lift"]) * values["neck.breath"]
    about = _About(s)
    upper = about.product(("x", -v["swing"]), ("z", v["raise"] - np.pi / 2), ("x", v["twist"]))
    prefix, short = ("Left", "L") if side == "L" else ("Right", "R")
    return {
        f"{prefix}Shoulder": about.product(("z", lift), ("y", -v["fwd"])),
        f"{prefix}Arm": upper,
        f"{prefix}ForeArm": about.product(("y", -v["elbow"]), ("x", v["roll"])),
        f"{prefix}Hand": about.product(("z", -v["wrist"]), ("y", -v["fan"])),
        f"{prefix}HandIndex1": about.product(("z", -v["curl"])),
        f"{short}Thumb": about.product(("y", 0.25 * v["curl"]), ("z", -0.2 * v["curl"])),
    }


class _About:
    """Turns about the axes of a joint; the mirror image of one about y or z has the other sign."""

    def __init__(self, side: float) -> None:
        self.sign = {"x": 1.0, "y": side, "z": side}

    def product(self, *turns: tuple[str, Array]) -> Array:
        """(F, 4) the product of turns (axis, radians (F,)), outermost first."""
        result: Array | None = None
        for axis, angle in turns:
            direction = np.eye(3)["xyz".index(axis)]
            turn = quaternion.from_axis_angle(direction, self.sign[axis] * angle)
            result = turn if result is None else quaternion.multiply(result, turn)
        assert result is not None
        return result
