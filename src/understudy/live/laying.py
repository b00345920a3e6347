"""Laying layers over a performance: what each layer is told of the frame, and the states and rows that come of it."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.checks import Array
from understudy.live.layers.layer import Layer, Moment, lay
from understudy.live.state import State, changed


def lay_over(layers: Sequence[Layer], states: Sequence[State], rows: Array, rate: float) -> list[State]:
    """The states with the layers on top, in their order; they are laid over the rows (M, C) in place."""
    moments = [moment_of(state, rate) for state in states]
    own = [state.layers for state in states]
    after = [lay(layer, [each[n] for each in own], rows, moments) for n, layer in enumerate(layers)]
    return [changed(state, layers=laid, look=moment.look) for state, moment, laid in zip(states, moments, zip(*after))]


def moment_of(state: State, rate: float) -> Moment:
    """What the layers of one character know of its frame."""
    frame, dials = state.frame, state.dials
    return Moment(
        time=frame / rate,
        dt=1 / rate,
        look=None if state.look_until is not None and frame >= state.look_until else state.look,
        liveliness=dials.liveliness,
        stillness=dials.stillness,
        played=state.voice.replaying,
        label=state.label,
        places=tuple((voice.label, voice.x, voice.weight(frame, rate)) for voice in state.voices),
        blending=state.blending,
    )
