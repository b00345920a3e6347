"""Cues: what a face is asked to act, and the take that comes out.

A cue is a label, a weaker one, or several at once: `"fear"` is fear in full, `{"fear": 0.5}` half of it,
`{"fear": 0.5, "surprise": 0.5}` both at once, half of each. Shares that sum to more than one are scaled to one.
Synonyms are understood ("joy", "angry"). `"neutral"` is the base pose, unless the graph has a label of that name. On
the command line: `fear`, `fear:0.5`, `fear:0.5+surprise:0.5`, `fear+surprise`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.face_map import canonical_label
from understudy.express.graph.expression_graph import ExpressionGraph

NEUTRAL_LABEL = "neutral"  # cue of the base pose
CueArgument = str | Mapping[str, float]


class Cue(NamedTuple):
    """Labels and their shares, which are above 0 and sum to 1 at most; no label at all is the base pose."""

    labels: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def text(self) -> str:
        """As on the command line."""
        if not self.labels:
            return NEUTRAL_LABEL
        return "+".join(label if share == 1 else f"{label}:{share:g}" for label, share in zip(self.labels, self.shares))


@dataclass(frozen=True, eq=False)
class ExpressionTake:
    """F frames of L landmarks or weights in D dimensions, and blinks, gaze and head at the same frames."""

    points: Array  # (F, L, D)
    rate: float  # frames a second
    names: tuple[str, ...]  # (L,)
    cues: tuple[str, ...]  # (n,) what was asked for: "fear", "fear:0.5+surprise:0.5"
    peaks: Array  # (n,) int, the frame of the apex of each cue
    # (n + 1,) or (n + 2,) int, the first frame of the transition to each cue (and back), and the last frame of all
    legs: Array
    base: Array  # (L, D) the neutral pose
    blink: Array  # (F,) 0 open, 1 shut
    gaze: Array  # (F, 2) radians to the left and up
    head: Array  # (F, 3) radians: turn to the left, nod down, roll to the left
    intensity: float = 1.0  # factor on all displacements

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                checks.freeze(value)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def displacements(self) -> Array:
        """(F, L, D) from the neutral pose."""
        return self.points - self.base

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.rate

    @property
    def times(self) -> Array:
        """(F,) seconds."""
        return np.arange(len(self)) / self.rate

    @property
    def moments(self) -> dict[str, float]:
        """Time of the apex of each cue in seconds; the second `fear` is `fear 2`."""
        times: dict[str, float] = {}
        for cue, frame in zip(self.cues, self.peaks.tolist()):
            names = (cue if number == 1 else f"{cue} {number}" for number in range(1, len(self.cues) + 2))
            times[next(name for name in names if name not in times)] = frame / self.rate
        return times


def parse(text: str) -> CueArgument:
    """A cue of the command line."""
    if ":" not in text and "+" not in text:
        return text
    parts = [part.partition(":") for part in text.split("+")]
    mix: dict[str, float] = {}
    for name, colon, share in parts:
        try:
            mix[name.strip()] = float(share) if colon else 1.0 / len(parts)
        except ValueError:
            raise InvalidInput(f"a share in {text!r} should be a number, as in fear:0.5, but is {share!r}") from None
    return mix


def read_cues(graph: ExpressionGraph, asked: Sequence[CueArgument] | CueArgument) -> list[Cue]:
    """The cues of a performance; an unknown label is refused with a list of the known ones."""
    cues = [_read_cue(graph, cue) for cue in ([asked] if isinstance(asked, (str, Mapping)) else asked)]
    if not cues:
        raise InvalidInput(
            f"there should be at least one label to act; available: {', '.join(available_labels(graph))}"
        )
    return cues


def _read_cue(graph: ExpressionGraph, asked: CueArgument) -> Cue:
    known = available_labels(graph)
    mix: dict[str, float] = {}
    for word, share in ({asked: 1.0} if isinstance(asked, str) else dict(asked)).items():
        label = checks.one_of(canonical_label(word, known), "label", known)
        if not 0.0 <= share <= 1.0:
            raise InvalidInput(
                f"the share of {word!r} should be from 0 to 1, but is {share:g}; the setting intensity goes further"
            )
        mix[label] = mix.get(label, 0.0) + share
    mix = {label: float(share) for label, share in mix.items() if share > 0 and (label in graph.labels)}
    whole = max(sum(mix.values()), 1.0)
    return Cue(tuple(mix), tuple(share / whole for share in mix.values()))


def available_labels(graph: ExpressionGraph) -> tuple[str, ...]:
    """The labels that may be asked for."""
    return graph.labels if NEUTRAL_LABEL in graph.labels else (*graph.labels, NEUTRAL_LABEL)
