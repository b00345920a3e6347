"""Speech: visemes on a layer of their own, with priority over the expression.

Lips that have to close for a `p` close, however wide the smile; what speech does not need stays with the expression. So
where a sound has a say (its strength m, 0 to 1) the expression of the mouth gives way by `priority`, and the sound is
laid over what is left:

    w = (1 - priority m) w_expression + w_sound
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.formats.arkit_names import canonical

# The fifteen visemes that lip-sync tools name, as ARKit weights.
VISEMES: dict[str, dict[str, float]] = {
    "sil": {},
    "PP": {"mouthClose": 0.05, "mouthPressLeft": 0.6, "mouthPressRight": 0.6, "mouthRollLower": 0.3},
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
FADE = 0.07  # seconds in which one sound becomes the next
MOUTH = ("mouth", "jaw", "tongue")


class Sound(NamedTuple):
    """A viseme from a time on, until the next; `strength` scales it."""

    time: float  # seconds
    viseme: str
    strength: float = 1.0


def weights_of(sounds: Iterable[Sound | tuple[float, str]], times: Array) -> tuple[dict[str, Array], Array]:
    """ARKit weights (F,) by name of sounds at `times` (F,) seconds, and (F,) how much they have a say."""
    said = sorted((Sound(*each) for each in sounds), key=lambda sound: sound.time)
    for sound in said:
        checks.one_of(sound.viseme, "viseme", VISEMES)
        if not np.isfinite(sound.time) or not 0.0 <= sound.strength <= 1.0:
            raise InvalidInput(f"a sound should have a time and a strength of 0 to 1, but is {sound}")
    weights: dict[str, Array] = {}
    say = np.zeros(len(times))
    for number, sound in enumerate(said):
        share = _fade(times - sound.time)
        if number + 1 < len(said):
            share = share * (1.0 - _fade(times - said[number + 1].time))
        if sound.viseme != "sil":
            say = np.maximum(say, share * sound.strength)
        for name, weight in VISEMES[sound.viseme].items():
            weights[name] = weights.get(name, np.zeros(len(times))) + share * weight * sound.strength
    return weights, say


def speaking(
    values: Array,
    names: Sequence[str],
    sounds: Iterable[Sound | tuple[float, str]],
    rate: float,
    priority: float = 0.85,
) -> Array:
    """(F, L) weights of an expression (F, L) with sounds laid over those of the mouth, held within 0 and 1."""
    if not 0.0 <= priority <= 1.0:
        raise InvalidInput(f"the priority of speech should be from 0 to 1, but is {priority:g}")
    weights, say = weights_of(sounds, np.arange(len(values)) / rate)
    known = [canonical(name) for name in names]
    if not set(weights) & set(known):
        raise InvalidInput("visemes need ARKit weights of the mouth (jawOpen, mouthFunnel, ...), but there are none")
    result = np.array(values, np.float64)
    for column, name in enumerate(known):
        if name is not None and name.startswith(MOUTH):
            result[:, column] *= 1.0 - priority * say
            result[:, column] = np.clip(result[:, column] + weights.get(name, 0.0), 0.0, 1.0)
    return result


def _fade(age: Array) -> Array:
    x = np.clip(age / FADE + 0.5, 0.0, 1.0)
    faded: Array = x * x * (3.0 - 2.0 * x)
    return faded
