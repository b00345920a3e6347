"""The 52 facial shapes of ARKit by name, and the spellings that files use for them."""

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
