"""The squirrel's joints in metres, and how far each turns: it stands, and goes on four legs when the hips tip over."""

from __future__ import annotations

from understudy.cast.joints import both_sides, limits_of_both, skeleton_of
from understudy.character import Skeleton

JOINTS = both_sides(
    {
        "Hips": ("", (0.0, 0.27, 0.0)),
        "Spine": ("Hips", (0.0, 0.35, 0.0)),
        "Chest": ("Spine", (0.0, 0.45, 0.0)),
        "Neck": ("Chest", (0.0, 0.555, 0.005)),
        "Head": ("Neck", (0.0, 0.615, 0.015)),
        "Jaw": ("Head", (0.0, 0.665, 0.08)),
        "LeftEar": ("Head", (0.105, 0.865, 0.0)),
        "LeftShoulder": ("Chest", (0.045, 0.525, 0.0)),
        "LeftArm": ("LeftShoulder", (0.120, 0.515, 0.0)),
        "LeftForeArm": ("LeftArm", (0.232, 0.432, 0.010)),
        "LeftHand": ("LeftForeArm", (0.322, 0.366, 0.030)),
        "LeftUpLeg": ("Hips", (0.092, 0.255, 0.0)),
        "LeftLeg": ("LeftUpLeg", (0.128, 0.155, 0.035)),
        "LeftFoot": ("LeftLeg", (0.132, 0.052, -0.010)),
        "LeftToe": ("LeftFoot", (0.138, 0.026, 0.090)),
        "Tail1": ("Hips", (0.0, 0.190, -0.100)),
        "Tail2": ("Tail1", (0.0, 0.185, -0.240)),
        "Tail3": ("Tail2", (0.0, 0.275, -0.375)),
        "Tail4": ("Tail3", (0.0, 0.445, -0.440)),
        "Tail5": ("Tail4", (0.0, 0.635, -0.425)),
        "Tail6": ("Tail5", (0.0, 0.815, -0.430)),
    }
)

TAIL = {"x": (-40.0, 40.0), "y": (-30.0, 30.0), "z": (-30.0, 30.0)}

# An arm points 37 degrees below the horizontal at rest, and its elbow bends forwards about y. A knee bends about x.
LIMITS = limits_of_both(
    {
        "Spine": {"x": (-25.0, 40.0), "y": (-25.0, 25.0), "z": (-25.0, 25.0)},
        "Chest": {"x": (-25.0, 35.0), "y": (-30.0, 30.0), "z": (-25.0, 25.0)},
        "Neck": {"x": (-45.0, 35.0), "y": (-35.0, 35.0), "z": (-25.0, 25.0)},
        "Head": {"x": (-65.0, 45.0), "y": (-60.0, 60.0), "z": (-35.0, 35.0)},
        "Jaw": {"x": (0.0, 30.0)},
        "LeftEar": {"x": (-40.0, 40.0), "y": (-30.0, 30.0), "z": (-50.0, 30.0)},
        "LeftShoulder": {"x": (-15.0, 15.0), "y": (-25.0, 25.0), "z": (-15.0, 25.0)},
        "LeftArm": {"x": (-160.0, 70.0), "y": (-90.0, 90.0), "z": (-60.0, 115.0)},
        "LeftForeArm": {"x": (-90.0, 90.0), "y": (-140.0, 15.0), "z": (-60.0, 130.0)},
        "LeftHand": {"x": (-90.0, 90.0), "y": (-60.0, 60.0), "z": (-70.0, 70.0)},
        "LeftUpLeg": {"x": (-110.0, 70.0), "y": (-45.0, 45.0), "z": (-30.0, 55.0)},
        "LeftLeg": {"x": (-20.0, 110.0), "y": (-25.0, 25.0), "z": (-25.0, 25.0)},
        "LeftFoot": {"x": (-70.0, 60.0), "y": (-30.0, 30.0), "z": (-30.0, 30.0)},
        "LeftToe": {"x": (-60.0, 40.0)},
        "Tail1": {"x": (-80.0, 50.0), "y": (-45.0, 45.0), "z": (-30.0, 30.0)},
        "Tail2": TAIL,
        "Tail3": TAIL,
        "Tail4": TAIL,
        "Tail5": TAIL,
        "Tail6": {"x": (-50.0, 50.0), "y": (-40.0, 40.0), "z": (-40.0, 40.0)},
    }
)


def skeleton() -> Skeleton:
    """The thirty joints, each with the axes of the world."""
    return skeleton_of(JOINTS)
