"""The penguin's joints in metres, and how far each turns: short legs, stiff trunk, flippers that beat as one blade."""

from __future__ import annotations

from understudy.cast.joints import both_sides, limits_of_both, skeleton_of
from understudy.character import Skeleton

JOINTS = both_sides(
    {
        "Hips": ("", (0.0, 0.20, 0.0)),
        "Spine": ("Hips", (0.0, 0.32, 0.0)),
        "Chest": ("Spine", (0.0, 0.47, 0.0)),
        "Neck": ("Chest", (0.0, 0.62, 0.0)),
        "Head": ("Neck", (0.0, 0.70, 0.01)),
        "Jaw": ("Head", (0.0, 0.755, 0.16)),
        "LeftFlipper": ("Chest", (0.215, 0.56, 0.0)),
        "LeftFlipperTip": ("LeftFlipper", (0.315, 0.39, 0.0)),
        "Tail": ("Hips", (0.0, 0.15, -0.18)),
        "LeftLeg": ("Hips", (0.11, 0.15, 0.0)),
        "LeftFoot": ("LeftLeg", (0.115, 0.05, 0.01)),
        "LeftToe": ("LeftFoot", (0.12, 0.025, 0.10)),
    }
)

# A flipper hangs 30 degrees off the vertical at rest, so that 110 raise it above the shoulder.
LIMITS = limits_of_both(
    {
        "Spine": {"x": (-20.0, 30.0), "y": (-20.0, 20.0), "z": (-20.0, 20.0)},
        "Chest": {"x": (-20.0, 30.0), "y": (-20.0, 20.0), "z": (-20.0, 20.0)},
        "Neck": {"x": (-25.0, 35.0), "y": (-35.0, 35.0), "z": (-20.0, 20.0)},
        "Head": {"x": (-40.0, 40.0), "y": (-55.0, 55.0), "z": (-35.0, 35.0)},
        "Jaw": {"x": (0.0, 35.0)},
        "LeftFlipper": {"x": (-75.0, 60.0), "y": (-45.0, 45.0), "z": (-22.0, 115.0)},
        "LeftFlipperTip": {"x": (-25.0, 25.0), "y": (-25.0, 25.0), "z": (-30.0, 40.0)},
        "Tail": {"x": (-35.0, 25.0), "y": (-35.0, 35.0), "z": (-15.0, 15.0)},
        "LeftLeg": {"x": (-45.0, 35.0), "y": (-25.0, 35.0), "z": (-20.0, 25.0)},
        "LeftFoot": {"x": (-40.0, 40.0), "y": (-25.0, 25.0), "z": (-25.0, 25.0)},
        "LeftToe": {"x": (-45.0, 25.0)},
    }
)


def skeleton() -> Skeleton:
    """The seventeen joints, each with the axes of the world."""
    return skeleton_of(JOINTS)
