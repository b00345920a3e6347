"""The nouns of a script: steps, each a command with its time, and sets of little scripts of which one is chosen.

A step without a time follows when the one before it ends; a step with a time interrupts whatever runs then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from understudy.live.commands import Command

if TYPE_CHECKING:
    from understudy.live.script_check import Repertoire
    from understudy.posespace.model import Model

Place = tuple[float, float, float]  # metres of the world

RATE = 24.0  # frames a second of a script that does not say: film's, and that of the built-in clips
LONGEST = 3600.0  # seconds of one performance; an hour of the dragon is half a gigabyte of rows


@dataclass(frozen=True)
class OneOf:
    """Instead of a command: one list of steps out of a set, drawn by chance [Bailey 2016, section 6]."""

    set: str


@dataclass(frozen=True)
class Step:
    """One entry of a script. `place` is where it stands in the file (`do 3`), `at` seconds of the performance.

    Inside a set `at` counts from the moment at which the set was called.
    """

    place: str
    action: Command | OneOf
    at: float | None = None


@dataclass(frozen=True)
class Variant:
    """One list of a set; a list of weight 2 is drawn twice as often as one of weight 1."""

    steps: tuple[Step, ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Script:
    """What a character does. `label` and `pose` say where it begins (None: the model's own choice).

    `seconds` is the length of the whole, None where it ends with its last step. `points` are the places by name that
    its looks may mean; the looks themselves hold the places.
    """

    path: str
    steps: tuple[Step, ...]
    rate: float = RATE
    label: str | None = None
    pose: str | None = None
    seconds: float | None = None
    sets: Mapping[str, tuple[Variant, ...]] = field(default_factory=lambda: MappingProxyType({}))
    points: Mapping[str, Place] = field(default_factory=lambda: MappingProxyType({}))

    def check(self, model: Model | Repertoire) -> Script:
        """The script with every name as the model writes it; the first name that the model lacks is refused.

        `Walk` finds the clip `Armature|Walk` where only one clip ends so.
        """
        from understudy.live.script_check import checked

        return checked(self, model)

    def with_steps(self, steps: tuple[Step, ...], sets: Mapping[str, tuple[Variant, ...]]) -> Script:
        """The same script with other steps."""
        return replace(self, steps=steps, sets=MappingProxyType(dict(sets)))
