"""What the face's sheets key: ARKit's weights under the names of a face's regions, and the turns of the head.

A sheet says `mouth: smile=.8/.6` where the shapes are `mouthSmileLeft` and `mouthSmileRight`. The head's turns, in
degrees, are shared out over the joints of head and neck.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from understudy.character.controls import Controls
from understudy.formats.arkit_names import WEIGHTS

# group -> name in a sheet -> ARKit's name, without a side where it has two
SHAPES: dict[str, dict[str, str]] = {
    "eyes": {"up": "eyeLookUp", "down": "eyeLookDown", "in": "eyeLookIn", "out": "eyeLookOut"},
    "lids": {"blink": "eyeBlink", "squint": "eyeSquint", "wide": "eyeWide"},
    "brows": {"down": "browDown", "inner": "browInnerUp", "outer": "browOuterUp"},
    "cheeks": {"puff": "cheekPuff", "squint": "cheekSquint"},
    "nose": {"sneer": "noseSneer"},
    "mouth": {
        "close": "mouthClose",
        "funnel": "mouthFunnel",
        "pucker": "mouthPucker",
        "left": "mouthLeft",
        "right": "mouthRight",
        "smile": "mouthSmile",
        "frown": "mouthFrown",
        "dimple": "mouthDimple",
        "stretch": "mouthStretch",
        "roll_lower": "mouthRollLower",
        "roll_upper": "mouthRollUpper",
        "shrug_lower": "mouthShrugLower",
        "shrug_upper": "mouthShrugUpper",
        "press": "mouthPress",
        "lower_down": "mouthLowerDown",
        "upper_up": "mouthUpperUp",
    },
    "jaw": {"open": "jawOpen", "forward": "jawForward", "left": "jawLeft", "right": "jawRight"},
    "tongue": {"out": "tongueOut"},
}
TURNS = {"nod": "x", "turn": "y", "roll": "z"}  # down, to its left, crown to its right
LIMIT = 25.0  # degrees
SHARES = {"Neck": 0.35, "Head": 0.65}  # of the head's turns


@lru_cache
def shape_of() -> dict[str, str]:
    """Control -> ARKit's shape, in the order of the controls: `mouth.smile.L` -> `mouthSmileLeft`."""
    result = {}
    for group, names in SHAPES.items():
        for name, shape in names.items():
            if shape in WEIGHTS:
                result[f"{group}.{name}"] = shape
            else:
                result |= {f"{group}.{name}.L": f"{shape}Left", f"{group}.{name}.R": f"{shape}Right"}
    return result


@lru_cache
def face_controls() -> Controls:
    """The 52 weights and the three turns of the head."""
    weights, turns = list(shape_of()), [f"head.{name}" for name in TURNS]
    names = [*weights, *turns]
    limit = np.array([1.0] * len(weights) + [LIMIT] * len(turns))
    return Controls(
        names,
        [name.partition(".")[0] for name in names],
        # weights stop at 1 where a pose or an overshoot would go on
        ["fine"] * len(weights) + ["bones"] * len(turns),
        ["weight"] * len(weights) + ["degrees"] * len(turns),
        np.where(limit == LIMIT, -LIMIT, 0.0),
        np.zeros(len(names)),
        limit,
        [name in ("head.turn", "head.roll") for name in names],
        [shape_of().get(name, "the head's turn") for name in names],
    )
