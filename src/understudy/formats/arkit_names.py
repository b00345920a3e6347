"""Faces by name: ARKit's 52 shapes and their spellings, visemes, VRM's expressions, and how one becomes another.

`face_weights` turns strengths under any of these names into the weights of a character's own shapes. A name is taken,
in this order, as an expression of its avatar, as a shape of the character, and as ARKit's shapes that it stands for
(VISEMES, PRESETS). ARKit's shapes that a character does not have are replaced by its expressions and visemes with
strengths s:

    min |P s - w|^2,  0 <= s <= 1,

with w the weights of those shapes and P those of each expression in ARKit's terms. A smile becomes `happy`, an open jaw
`aa`, and a frown of a character without `sad` is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from understudy import checks
from understudy.character import Channel, Character
from understudy.checks import Array

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
BOTH_SIDES: dict[str, dict[str, float]] = {  # weights of the left shape and of the right
    "happy": {"mouthSmile": 0.8, "cheekSquint": 0.5, "eyeSquint": 0.2},
    "angry": {"browDown": 1.0, "noseSneer": 0.4, "mouthPress": 0.3},
    "sad": {"mouthFrown": 0.7},
    "relaxed": {"mouthSmile": 0.3, "eyeBlink": 0.3},
    "surprised": {"browOuterUp": 0.8, "eyeWide": 0.8},
    "blink": {"eyeBlink": 1.0},
    "lookUp": {"eyeLookUp": 1.0},
    "lookDown": {"eyeLookDown": 1.0},
}
# VRM's preset expressions as ARKit weights; authors draw them as they like, so this is their common meaning.
PRESETS: dict[str, dict[str, float]] = {
    **{
        name: {f"{shape}{side}": weight for shape, weight in shapes.items() for side in ("Left", "Right")}
        for name, shapes in BOTH_SIDES.items()
    },
    "blinkLeft": {"eyeBlinkLeft": 1.0},
    "blinkRight": {"eyeBlinkRight": 1.0},
    "lookLeft": {"eyeLookOutLeft": 1.0, "eyeLookInRight": 1.0},
    "lookRight": {"eyeLookInLeft": 1.0, "eyeLookOutRight": 1.0},
    **{name: VISEMES[viseme] for name, viseme in {"aa": "aa", "ih": "ih", "ou": "ou", "ee": "E", "oh": "oh"}.items()},
}
PRESETS["sad"] |= {"browInnerUp": 0.9}
PRESETS["surprised"] |= {"browInnerUp": 0.8, "jawOpen": 0.3}


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


class FaceWeights(NamedTuple):
    """Weights of a character's shapes: channels, their values (F, S), and the names that move nothing here."""

    channels: tuple[Channel, ...]
    values: Array
    unused: tuple[str, ...]


def face_weights(character: Character, names: Sequence[str], strengths: Any) -> FaceWeights:
    """Strengths under names of ARKit, VRM or a lip-sync tool as the weights of a character's own shapes.

    Build a clip of the result with `Clip(name, channels, values, rate)`, or take `values` as columns of a row.

    Args:
        character: Of any file. An avatar (VRM) is moved through its expressions, with their overrides.
        names: N names in any spelling: shapes of the character, ARKit's (`jawOpen`, `eyeBlink_L`), VRM's expressions
            (`happy`, `aa`) or visemes (`PP`, `viseme_E`).
        strengths: (F, N) usually 0 to 1.

    Returns:
        The channels of the parts that have shapes, their values, and the names that nothing of the character answers.

    Raises:
        InvalidInput: If the strengths have another shape than (F, N).

    Example:
        >>> from understudy.formats.arkit_names import face_weights
        >>> face = us.load("face").character()
        >>> found = face_weights(face, ["happy", "sparkle"], [[1.0, 1.0]])
        >>> channel = found.channels[0]
        >>> round(float(found.values[0, channel.columns.index("mouthSmileLeft")]), 3), found.unused
        (0.8, ('sparkle',))
    """
    table = checks.array(strengths, "strengths of a face", (None, len(names)))
    shapes: dict[str, list[tuple[str, str]]] = {}
    for part, columns in character.shapes.items():
        for column in columns:
            shapes.setdefault(_key(column), []).append((part, column))
    expressions = {_key(e.name): e.name for e in character.avatar.expressions if e.shapes} if character.avatar else {}
    weights: dict[tuple[str, str], Array] = {}
    acted: dict[str, Array] = {}
    missing: dict[str, Array] = {}  # ARKit's shapes that the character does not have
    unused = []

    def move(name: str, strength: Array) -> bool:
        key = _key(name)
        if key in expressions:
            _add(acted, expressions[key], strength)
        else:
            for place in shapes.get(key, ()):
                _add(weights, place, strength)
        return key in expressions or key in shapes

    substitutes = {key: meaning for key in (*expressions, *shapes) if (meaning := _meaning(key))}
    for name, strength in zip(names, table.T):
        if move(name, strength):
            continue
        meaning = {key: 1.0} if (key := _key(name)) in SHAPE_NAMES else _meaning(name)
        answered = False
        for shape, weight in meaning.items():
            if move(shape, weight * strength):
                answered = True
            elif any(shape in substitute for substitute in substitutes.values()):
                _add(missing, shape, weight * strength)
                answered = True
        if not answered:
            unused.append(name)
    for key, strength in _fit(missing, substitutes).items() if missing else ():
        move(key, strength)
    if character.avatar is not None:
        for place, value in character.avatar.shape_weights(acted).items():
            _add(weights, place, value)
    channels = tuple(Channel(part, "weights", columns) for part, columns in character.shapes.items())
    still = np.zeros(len(table))
    moved = [weights.get((channel.target, column), still) for channel in channels for column in channel.columns]
    values = np.clip(np.stack(moved, axis=1), 0.0, 1.0) if moved else np.zeros((len(table), 0))
    return FaceWeights(channels, values, tuple(unused))


def _add(sums: dict[Any, Array], key: Any, value: Array) -> None:
    sums[key] = sums[key] + value if key in sums else value


def _key(name: str) -> str:
    """One spelling of a name: ARKit's where it is one, else lower case without separators."""
    return canonical_name(name) or _plain(name)


def _meaning(name: str) -> Mapping[str, float]:
    """The ARKit weights of a viseme or an expression of VRM; none for other names."""
    plain = _plain(name).removeprefix("viseme")
    return next((w for table in (PRESETS, VISEMES) for known, w in table.items() if known.lower() == plain), {})


def _fit(weights: Mapping[str, Array], substitutes: Mapping[str, Mapping[str, float]]) -> dict[str, Array]:
    """The strengths (F,) of the substitutes, which are given as ARKit weights, that come nearest to weights (F,)."""
    from scipy.optimize import lsq_linear, nnls

    names = sorted({*weights, *(shape for meaning in substitutes.values() for shape in meaning)})
    matrix = np.array([[meaning.get(name, 0.0) for meaning in substitutes.values()] for name in names])
    still = np.zeros(len(next(iter(weights.values()))))
    wanted = np.stack([weights.get(name, still) for name in names], axis=1)
    rows = [nnls(matrix, row)[0] for row in wanted]
    rows = [row if row.max() <= 1 else lsq_linear(matrix, b, (0, 1)).x for row, b in zip(rows, wanted)]
    return dict(zip(substitutes, np.array(rows).reshape(-1, len(substitutes)).T))
