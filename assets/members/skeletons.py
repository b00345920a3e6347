"""The joints of actor, penguin and squirrel in metres, and how far the joints of these and of the lamp turn.

`python -m assets.members.build limits` writes the limits to `cast/limits.json`, which the package ships.

The actor has the 31 joints of Carnegie Mellon's motion library by name, so the library's rotations fit as they are.
Its offsets are the means of left and right of that library in its own units (arms level, legs 20 degrees apart).
Joints of no length (the hip joints, the finger bases) carry nothing. The penguin has short legs, a stiff trunk and
flippers that beat as one blade. The squirrel stands, and goes on four legs when the hips tip over.
"""

from __future__ import annotations

from assets.sculpting.joints import Place, Table, both_sides, limits_of_both, skeleton_of
from understudy.character import Skeleton

ACTOR_UNIT = 0.07  # metres of this body for one unit of the library
ACTOR_HIPS = 1.186  # height of the hips, metres

# joint: parent and offset from it, in units
ACTOR_OFFSETS: dict[str, tuple[str, Place]] = {
    "Hips": ("", (0.0, 0.0, 0.0)),
    "LHipJoint": ("Hips", (0.0, 0.0, 0.0)),
    "LeftUpLeg": ("LHipJoint", (1.634, -1.803, 0.625)),
    "LeftLeg": ("LeftUpLeg", (2.596, -7.133, 0.0)),
    "LeftFoot": ("LeftLeg", (2.480, -6.814, 0.0)),
    "LeftToeBase": ("LeftFoot", (0.214, -0.587, 2.140)),
    "LowerBack": ("Hips", (0.0, 0.0, 0.0)),
    "Spine": ("LowerBack", (0.0, 2.055, -0.141)),
    "Spine1": ("Spine", (0.0, 2.064, -0.059)),
    "Neck": ("Spine1", (0.0, 0.0, 0.0)),
    "Neck1": ("Neck", (0.0, 1.567, 0.150)),
    "Head": ("Neck1", (0.0, 1.560, -0.100)),
    "LeftShoulder": ("Spine1", (0.0, 0.0, 0.0)),
    "LeftArm": ("LeftShoulder", (3.520, 0.832, -0.250)),
    "LeftForeArm": ("LeftArm", (4.946, 0.0, 0.0)),
    "LeftHand": ("LeftForeArm", (3.360, 0.0, 0.0)),
    "LeftFingerBase": ("LeftHand", (0.0, 0.0, 0.0)),
    "LeftHandIndex1": ("LeftFingerBase", (0.696, 0.0, 0.0)),
    "LThumb": ("LeftHand", (0.0, 0.0, 0.0)),
}


def actor_places() -> Table:
    """Joint -> parent and place in metres."""
    left: Table = {}
    for name, (parent, (x, y, z)) in ACTOR_OFFSETS.items():
        a, b, c = left[parent][1] if parent else (0.0, ACTOR_HIPS, 0.0)
        left[name] = (parent, (a + ACTOR_UNIT * x, b + ACTOR_UNIT * y, c + ACTOR_UNIT * z))
    return both_sides(left)


ACTOR_JOINTS = actor_places()

# A left leg hangs straight at z = -20, a left elbow bends forwards about -y, a left knee about (cos 20, sin 20, 0):
# its hinge is square to a shin that stands 20 degrees off the vertical at rest.
ACTOR_LIMITS = limits_of_both(
    {
        "LHipJoint": {},
        "LeftUpLeg": {"x": (-135.0, 45.0), "y": (-70.0, 70.0), "z": (-55.0, 45.0)},
        "LeftLeg": {"x": (-5.0, 158.0), "y": (-20.0, 65.0), "z": (-20.0, 20.0)},
        "LeftFoot": {"x": (-55.0, 60.0), "y": (-35.0, 35.0), "z": (-40.0, 40.0)},
        "LeftToeBase": {"x": (-60.0, 30.0)},
        "LowerBack": {"x": (-25.0, 45.0), "y": (-25.0, 25.0), "z": (-25.0, 25.0)},
        "Spine": {"x": (-20.0, 35.0), "y": (-25.0, 25.0), "z": (-20.0, 20.0)},
        "Spine1": {"x": (-20.0, 35.0), "y": (-25.0, 25.0), "z": (-20.0, 20.0)},
        "Neck": {"x": (-30.0, 30.0), "y": (-35.0, 35.0), "z": (-25.0, 25.0)},
        "Neck1": {"x": (-32.0, 30.0), "y": (-35.0, 35.0), "z": (-25.0, 25.0)},
        "Head": {"x": (-38.0, 35.0), "y": (-40.0, 40.0), "z": (-25.0, 25.0)},
        "LeftShoulder": {"x": (-10.0, 10.0), "y": (-30.0, 25.0), "z": (-15.0, 37.0)},
        "LeftArm": {"x": (-175.0, 85.0), "y": (-120.0, 95.0), "z": (-105.0, 95.0)},
        "LeftForeArm": {"x": (-90.0, 90.0), "y": (-155.0, 5.0), "z": (-55.0, 55.0)},
        "LeftHand": {"x": (-90.0, 90.0), "y": (-40.0, 40.0), "z": (-75.0, 75.0)},
        "LeftFingerBase": {},
        "LeftHandIndex1": {"z": (-100.0, 25.0)},
        "LThumb": {"x": (-30.0, 40.0), "y": (-45.0, 45.0), "z": (-50.0, 30.0)},
    }
)


def actor_skeleton() -> Skeleton:
    """The 31 joints, each with the axes of the world."""
    return skeleton_of(ACTOR_JOINTS)


PENGUIN_JOINTS = both_sides(
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
PENGUIN_LIMITS = limits_of_both(
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


def penguin_skeleton() -> Skeleton:
    """The seventeen joints, each with the axes of the world."""
    return skeleton_of(PENGUIN_JOINTS)


SQUIRREL_JOINTS = both_sides(
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

SQUIRREL_TAIL = {"x": (-40.0, 40.0), "y": (-30.0, 30.0), "z": (-30.0, 30.0)}

# An arm points 37 degrees below the horizontal at rest, and its elbow bends forwards about y. A knee bends about x.
SQUIRREL_LIMITS = limits_of_both(
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
        "Tail2": SQUIRREL_TAIL,
        "Tail3": SQUIRREL_TAIL,
        "Tail4": SQUIRREL_TAIL,
        "Tail5": SQUIRREL_TAIL,
        "Tail6": {"x": (-50.0, 50.0), "y": (-40.0, 40.0), "z": (-40.0, 40.0)},
    }
)


def squirrel_skeleton() -> Skeleton:
    """The thirty joints, each with the axes of the world."""
    return skeleton_of(SQUIRREL_JOINTS)


# Degrees about x, y, z in which the arms neither fold through each other nor bend their springs; Root turns freely.
LAMP_LIMITS: dict[str, dict[str, tuple[float, float]]] = {
    "RimFront": {"x": (0.0, 20.0)},
    "RimBack": {"x": (-20.0, 0.0)},
    "RimLeft": {"z": (-20.0, 0.0)},
    "RimRight": {"z": (0.0, 20.0)},
    "Lift": {"x": (-25.0, 25.0), "y": (-40.0, 40.0), "z": (-20.0, 20.0)},
    "Cord": {"y": (-35.0, 35.0)},
    "Swivel": {"y": (-90.0, 90.0)},
    "LowerArm": {"x": (-45.0, 45.0), "z": (-12.0, 12.0)},
    "UpperArm": {"x": (-75.0, 75.0), "z": (-20.0, 20.0)},
    "Neck": {"x": (-60.0, 60.0), "y": (-30.0, 30.0), "z": (-30.0, 30.0)},
    "Head": {"x": (-45.0, 50.0), "y": (-55.0, 55.0), "z": (-40.0, 40.0)},
    "Bulb": {"x": (-12.0, 12.0), "y": (-12.0, 12.0), "z": (-12.0, 12.0)},
}
