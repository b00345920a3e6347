"""Cues: what a face is asked to act, a label, a faint one, or several at once.

`"fear"` is fear in full, `{"fear": 0.5}` half of it, `{"fear": 0.5, "surprise": 0.5}` both at once, half of each.
Shares that sum to more than one are scaled to one. `"neutral"` is the base pose, unless the graph has a label of that
name. On the command line: `fear`, `fear:0.5`, `fear:0.5+surprise:0.5`, `fear+surprise`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from understudy import checks
from understudy.errors import InvalidInput
from understudy.expression.graph.face_graph import FaceGraph

NEUTRAL = "neutral"
Asked = str | Mapping[str, float]


class Cue(NamedTuple):
    """Labels and their shares, which are above 0 and sum to 1 at most; no label at all is the base pose."""

    labels: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def text(self) -> str:
        """As on the command line."""
        if not self.labels:
            return NEUTRAL
        return "+".join(label if share == 1 else f"{label}:{share:g}" for label, share in zip(self.labels, self.shares))


def read(graph: FaceGraph, asked: Sequence[Asked] | Asked) -> list[Cue]:
    """The cues of a performance; an unknown label is refused with the list of those that there are."""
    cues = [_cue(graph, each) for each in ([asked] if isinstance(asked, (str, Mapping)) else asked)]
    if not cues:
        raise InvalidInput(f"there should be at least one label to act; available: {', '.join(known(graph))}")
    return cues


def known(graph: FaceGraph) -> tuple[str, ...]:
    """The labels that may be asked for."""
    return graph.labels if NEUTRAL in graph.labels else (*graph.labels, NEUTRAL)


def parse(text: str) -> Asked:
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


def _cue(graph: FaceGraph, asked: Asked) -> Cue:
    mix = {asked: 1.0} if isinstance(asked, str) else dict(asked)
    for label, share in mix.items():
        checks.one_of(label, "label", known(graph))
        if not 0.0 <= share < float("inf"):
            raise InvalidInput(f"the share of {label!r} should be 0 or more, but is {share:g}")
    mix = {label: float(share) for label, share in mix.items() if share > 0 and (label in graph.labels)}
    whole = max(sum(mix.values()), 1.0)
    return Cue(tuple(mix), tuple(share / whole for share in mix.values()))
