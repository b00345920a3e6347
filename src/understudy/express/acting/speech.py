"""Speech: visemes over an expression, with coarticulation.

Every sound i claims the shapes of the mouth by a dominance function [Cohen and Massaro 1993], which is flat over the
middle of the sound and falls off around it,

    D_i(t) = exp(-(d_i(t) / s)^2),        d_i the time from the middle part of sound i, s its reach

The expression claims them too, all the time, by e = (1 - p) / p for the priority p of speech. With the weight a_ig of
sound i in the group g of a shape (jaw, lips apart, lips shut, rounding, spread, smile, tongue), its target T_i, and the
weight w of the expression, the face shows their mean

    (sum_i a_ig D_i T_i + e w) / (sum_i a_ig D_i + e)

So a vowel is coloured by its neighbours, sounds that need the lips (p, b, m, f, v) win them by a large a, whatever the
expression, rounded vowels take the smile away, and all others leave it. In silence the expression returns.

Departure from the paper: D is a Gaussian of the distance from the sound's middle part instead of an exponential of that
from its centre, so that a closure lasts for at least a frame.

Emphasis. At a stressed syllable the brows rise and the head nods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.face_map import VISEME_PREFIX
from understudy.formats.arkit_names import VISEMES

COARTICULATION_SECONDS = 0.055  # reach of a sound into its neighbours
CLOSURE_SECONDS = 0.022  # the same of p, b, m, f and v, whose large weight reaches twice as far: lips part at once
MIDDLE_RATIO = 0.5  # part of a sound in which it is fully itself
LAST_SOUND_SECONDS = 0.12  # length of a sound that no other follows
SHAPES_BY_GROUP = {
    "jaw": ("jawOpen",),
    "apart": ("mouthUpperUpLeft", "mouthUpperUpRight", "mouthLowerDownLeft", "mouthLowerDownRight", "mouthShrugUpper"),
    "shut": ("mouthClose", "mouthPressLeft", "mouthPressRight", "mouthRollLower", "mouthRollUpper", "mouthShrugLower"),
    "round": ("mouthFunnel", "mouthPucker"),
    "spread": ("mouthStretchLeft", "mouthStretchRight"),
    "smile": (
        *("mouthSmileLeft", "mouthSmileRight", "mouthDimpleLeft", "mouthDimpleRight"),
        *("mouthFrownLeft", "mouthFrownRight"),
    ),
    "tongue": ("tongueOut",),
}
# Weights a of a sound in each group. 1 wins against the expression by the priority; 40 wins against everything.
USUAL_WEIGHTS = {"jaw": 1.0, "apart": 1.0, "shut": 1.0, "round": 1.0, "spread": 0.3, "smile": 0.01, "tongue": 1.0}
CLOSURE_WEIGHTS = USUAL_WEIGHTS | {"jaw": 40.0, "apart": 40.0, "shut": 40.0, "round": 40.0}
ROUNDED_WEIGHTS = USUAL_WEIGHTS | {"smile": 0.35, "spread": 1.0}
CLOSURES = ("PP", "FF")
GROUP_WEIGHTS = {"PP": CLOSURE_WEIGHTS, "FF": CLOSURE_WEIGHTS, "ou": ROUNDED_WEIGHTS, "oh": ROUNDED_WEIGHTS}
ACCENT_WEIGHTS = {"browInnerUp": 0.25, "browOuterUpLeft": 0.18, "browOuterUpRight": 0.18}  # at the top of an accent
ACCENT_NOD_RAD = 0.045  # nod at an accent, downwards
ACCENT_SECONDS = 0.45  # from start to end of an accent, which is at its top when the vowel begins
MIN_ACCENT_INTERVAL_SECONDS = 0.8  # a nod on every stress looks like counting


class Viseme(NamedTuple):
    """A viseme from a time on, until the next; `strength` scales it."""

    time: float  # seconds
    viseme: str
    strength: float = 1.0


class SpokenFace(NamedTuple):
    """Sources of a face that speaks, for characters with ARKit's shapes and for those with visemes of their own."""

    shapes: dict[str, Array]  # expression and speech together, (F,) by name
    expression: dict[str, Array]  # the expression alone, as far as speech leaves it
    visemes: dict[str, Array]  # (F,) by viseme, as `viseme_aa`


def read_sounds(sounds: Iterable[Viseme | tuple[float, str]]) -> list[Viseme]:
    """Sounds in order of time, checked."""
    visemes = sorted((Viseme(*sound) for sound in sounds), key=lambda sound: sound.time)
    for sound in visemes:
        checks.one_of(sound.viseme, "viseme", VISEMES)
        if not np.isfinite(sound.time) or not 0.0 <= sound.strength <= 1.0:
            raise InvalidInput(f"a sound should have a time and a strength of 0 to 1, but is {sound}")
    return visemes


def dominances(sounds: Sequence[Viseme], times: Array, rate: float) -> Array:
    """(n, F) D_i of sounds at times (F,) seconds; silence has none. A middle part is never shorter than a frame."""
    starts = np.array([sound.time for sound in sounds])
    ends = np.append(starts[1:], starts[-1:] + LAST_SOUND_SECONDS)
    middle, half = (starts + ends) / 2, np.maximum(MIDDLE_RATIO * (ends - starts) / 2, 0.5 / rate)
    outside = np.maximum(np.abs(times - middle[:, None]) - half[:, None], 0.0)
    reach = [CLOSURE_SECONDS if sound.viseme in CLOSURES else COARTICULATION_SECONDS for sound in sounds]
    result: Array = np.exp(-((outside / np.array(reach)[:, None]) ** 2))
    result[[sound.viseme == "sil" for sound in sounds]] = 0.0
    return result


def add_speech(
    weights: Mapping[str, Array],
    sounds: Iterable[Viseme | tuple[float, str]],
    rate: float,
    priority: float = 0.85,
    accents: Sequence[float] = (),
) -> SpokenFace:
    """An expression, ARKit weights (F,) by name, with sounds over its mouth and accents (seconds) in its brows."""
    if not 0.0 <= priority <= 1.0:
        raise InvalidInput(f"the priority of speech should be from 0 to 1, but is {priority:g}")
    visemes = read_sounds(sounds)
    times = np.arange(len(next(iter(weights.values())))) / rate
    result, expression = dict(weights), dict(weights)
    bumps = accent_curve(accents, times)
    for name, height in ACCENT_WEIGHTS.items() if len(accents) else ():
        base = weights.get(name, np.zeros(len(times)))
        result[name] = expression[name] = base + (1.0 - base) * height * bumps
    if not visemes or priority == 0.0:
        return SpokenFace(result, expression, {})
    claims = dominances(visemes, times, rate)
    own = max((1.0 - priority) / priority, 1e-3)  # e
    for group, names in SHAPES_BY_GROUP.items():
        claim = np.array([GROUP_WEIGHTS.get(v.viseme, USUAL_WEIGHTS)[group] for v in visemes])[:, None] * claims
        share = 1.0 / (claim.sum(axis=0) + own)
        for name in names:
            targets = np.array([v.strength * VISEMES[v.viseme].get(name, 0.0) for v in visemes])
            spoken = (targets @ claim) * share
            kept = weights[name] * own * share if name in weights else np.zeros(len(times))
            if name in weights or np.any(targets):
                result[name], expression[name] = np.clip(spoken + kept, 0.0, 1.0), kept
    shares = claims / (claims.sum(axis=0) + own)
    by_name: dict[str, Array] = {}
    for sound, row in zip(visemes, shares):
        if sound.viseme != "sil":
            key = VISEME_PREFIX + sound.viseme
            by_name[key] = by_name.get(key, 0.0) + row * sound.strength
    return SpokenFace(result, expression, by_name)


def accent_curve(accents: Sequence[float], times: Array) -> Array:
    """(F,) 0 to 1, at its top at each accent."""
    curve = np.zeros(len(times))
    for accent in accents:
        phase = np.clip((times - accent) / (0.5 * ACCENT_SECONDS), -1.0, 1.0)
        curve = np.maximum(curve, 0.5 + 0.5 * np.cos(np.pi * phase))
    return curve


def choose_accents(stresses: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """Times of accents among stressed syllables (time, prominence): the most prominent first, none near another."""
    chosen: list[float] = []
    for time, _ in sorted(stresses, key=lambda stress: -stress[1]):
        if all(abs(time - other) >= MIN_ACCENT_INTERVAL_SECONDS for other in chosen):
            chosen.append(time)
    return tuple(sorted(chosen))
