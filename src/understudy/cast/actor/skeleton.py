"""The actor's joints: the 31 of Carnegie Mellon's motion library by name, so its rotations fit as they are.

Offsets are the means of the left and the right of that library in its own units (arms level, legs 20 degrees apart).
Zero-length joints (the hip joints, the finger bases) carry nothing.
"""

from __future__ import annotations

from understudy.cast.joints import Place, Table, both_sides, limits_of_both, skeleton_of
from understudy.character import Skeleton

UNIT = 0.07  # metres of this body for one unit of the library
HIPS = 1.186  # height of the hips, metres

# joint: parent and offset from it, in units
OFFSETS: dict[str, tuple[str, Place]] = {
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


def places() -> Table:
    """Joint -> parent and place in metres."""
    left: Table = {}
    for name, (parent, (x, y, z)) in OFFSETS.items():
        a, b, c = left[parent][1] if parent else (0.0, HIPS, 0.0)
        left[name] = (parent, (a + UNIT * x, b + UNIT * y, c + UNIT * z))
    return both_sides(left)


JOINTS = places()

# A left leg hangs straight at z = -20, a left elbow bends forwards about -y, a left knee about (cos 20, sin 20, 0):
# its hinge is square to a shin that stands 20 degrees off the vertical at rest.
LIMITS = limits_of_both(
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


def skeleton() -> Skeleton:
    """The 31 joints, each with the axes of the world."""
    return skeleton_of(JOINTS)
