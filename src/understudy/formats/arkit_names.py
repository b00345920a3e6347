"""The 52 facial shapes of ARKit by name, the spellings that files use for them, and visemes in their terms."""

from __future__ import annotations

import re

# In the order of Live Link Face's columns.
SHAPE_NAMES = (
    *(f"eye{part}Left" for part in ("Blink", "LookDown", "LookIn", "LookOut", "LookUp", "Squint", "Wide")),
    *(f"eye{part}Right" for part in ("Blink", "LookDown", "LookIn", "LookOut", "LookUp", "Squint", "Wide")),
    *("jawForward", "jawRight", "jawLeft", "jawOpen"),
    *("mouthClose", "mouthFunnel", "mouthPucker", "mouthRight", "mouthLeft"),
    *(f"mouth{part}{side}" for part in ("Smile", "Frown", "Dimple", "Stretch") for side in ("Left", "Right")),
    *("mouthRollLower", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper"),
    *(f"mouth{part}{side}" for part in ("Press", "LowerDown", "UpperUp") for side in ("Left", "Right")),
    *("browDownLeft", "browDownRight", "browInnerUp", "browOuterUpLeft", "browOuterUpRight"),
    *("cheekPuff", "cheekSquintLeft", "cheekSquintRight", "noseSneerLeft", "noseSneerRight", "tongueOut"),
)

# Head and eyes, in radians, in the order of Live Link Face's columns.
ANGLE_NAMES = tuple(f"{part}{turn}" for part in ("Head", "LeftEye", "RightEye") for turn in ("Yaw", "Pitch", "Roll"))

# The fifteen visemes that lip-sync tools name, as ARKit weights.
VISEMES: dict[str, dict[str, float]] = {
    "sil": {},
    "PP": {"mouthPressLeft": 0.6, "mouthPressRight": 0.6, "mouthRollLower": 0.3},
    "FF": {"mouthRollLower": 0.55, "mouthUpperUpLeft": 0.25, "mouthUpperUpRight": 0.25, "jawOpen": 0.06},
    "TH": {"jawOpen": 0.16, "tongueOut": 0.25, "mouthLowerDownLeft": 0.15, "mouthLowerDownRight": 0.15},
    "DD": {"jawOpen": 0.16, "mouthLowerDownLeft": 0.2, "mouthLowerDownRight": 0.2},
    "kk": {"jawOpen": 0.2, "mouthUpperUpLeft": 0.1, "mouthUpperUpRight": 0.1},
    "CH": {"mouthFunnel": 0.55, "jawOpen": 0.1, "mouthPucker": 0.2},
    "SS": {"mouthStretchLeft": 0.3, "mouthStretchRight": 0.3, "jawOpen": 0.05},
    "nn": {"jawOpen": 0.12, "mouthLowerDownLeft": 0.1, "mouthLowerDownRight": 0.1},
    "RR": {"mouthFunnel": 0.35, "jawOpen": 0.12},
    "aa": {"jawOpen": 0.55, "mouthLowerDownLeft": 0.15, "mouthLowerDownRight": 0.15},
    "E": {"jawOpen": 0.3, "mouthStretchLeft": 0.25, "mouthStretchRight": 0.25},
    "ih": {"jawOpen": 0.2, "mouthStretchLeft": 0.2, "mouthStretchRight": 0.2},
    "oh": {"jawOpen": 0.4, "mouthFunnel": 0.45},
    "ou": {"mouthPucker": 0.7, "jawOpen": 0.12},
}


def _plain(name: str) -> str:
    """Lower case without separators and without a path before the name: `face.eyeBlink_L` is `eyeblinkl`."""
    return re.sub(r"[^a-z0-9]", "", re.split(r"[.:|/]", name.strip())[-1].lower())


_SPELLINGS = {_plain(name): name for name in (*SHAPE_NAMES, *ANGLE_NAMES)}
for _name in SHAPE_NAMES:
    if _name.endswith(("Left", "Right")):
        _SPELLINGS.setdefault(re.sub("left$", "l", re.sub("right$", "r", _plain(_name))), _name)


def canonical_name(name: str) -> str | None:
    """The name as ARKit (weights) or Live Link (angles) spells it, or None where it is neither."""
    return _SPELLINGS.get(_plain(name))
