"""Sets of little scripts: which list of a set is played is drawn by chance, and the same seed draws the same.

For each mood a game keeps a set of scripts and picks one of them at random [Bailey 2016, section 6]. Here a set never
plays the same list twice running, where it has another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from understudy.live.script_steps import OneOf, Script, Step, Variant

STREAM = 0x5E7  # keeps the draws apart from other uses of the same seed


@dataclass(frozen=True)
class Cue:
    """A step as it will be played. `inside` steps of a set count their time from the call of the set.

    `choice` is the number, from 1, of the list that a call of a set has drawn.
    """

    step: Step
    inside: bool = False
    choice: int | None = None


def cues(script: Script, seed: int = 0) -> tuple[Cue, ...]:
    """All steps in their order, each call of a set followed by the steps of the list that was drawn."""
    return tuple(_cues(script, np.random.default_rng([seed, STREAM])))


def _cues(script: Script, random: np.random.Generator) -> Iterator[Cue]:
    last: dict[str, int] = {}
    for step in script.steps:
        if not isinstance(step.action, OneOf):
            yield Cue(step)
            continue
        name = step.action.set
        drawn = last[name] = draw(script.sets[name], last.get(name), random)
        yield Cue(step, choice=drawn + 1)
        for inner in script.sets[name][drawn].steps:
            yield Cue(inner, inside=True)


def draw(variants: tuple[Variant, ...], previous: int | None, random: np.random.Generator) -> int:
    """The number of a list, by the lists' weights; not the previous one where there is another."""
    weights = np.array([variant.weight for variant in variants])
    if previous is not None and len(variants) > 1:
        weights[previous] = 0.0
    return int(random.choice(len(variants), p=weights / weights.sum()))
