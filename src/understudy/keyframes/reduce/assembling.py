"""Keys of groups as curves."""

from __future__ import annotations

import numpy as np

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER
from understudy.checks import Array
from understudy.keyframes.reduce.groups import OWN_COLUMNS, Group
from understudy.keyframes.reduce.source import Source


def curves(given: Source, groups: list[Group], loop: bool) -> Curves:
    """The animation that the keys of the groups make, its columns in the order of the source, then what only steps."""
    owner = {int(column): (group, row) for group in groups for row, column in enumerate(group.columns)}
    made = []
    for i, channel in enumerate(given.channels):
        columns = range(int(given.channels.offsets[i]), int(given.channels.offsets[i + 1]))
        first = owner[columns[0]][0]
        if all(owner[column][0] is first for column in columns):
            made.append(_curve(channel, first, [owner[column][1] for column in columns], given, loop))
        else:
            assert channel.kind in OWN_COLUMNS
            for name, column in zip(channel.columns, columns):
                group, row = owner[column]
                made.append(_curve(Channel(channel.target, channel.kind, (name,)), group, [row], given, loop))
    source = given.animation
    return Curves(source.name, [*made, *given.stepped], source.labels, given.rate, source.about, source.moments)


def _curve(channel: Channel, group: Group, rows: list[int], given: Source, loop: bool) -> Curve:
    count = group.count
    state = group.state[rows, :count].transpose(1, 0, 2)  # (K, n, 5)
    values = state[..., 0].copy()
    if not group.free_lengths and count > 1:
        thirds = np.diff(group.keys[:count])[:, None] / 3  # also of keys that were put in and not fitted since
        state = state.copy()
        state[1:, :, 2], state[:-1, :, 4] = thirds, thirds
    before, after = handles(state, 1 / (2 * given.rate))
    if channel.kind == "rotation":
        length = np.linalg.norm(values, axis=1)
        values /= length[:, None]
        before[..., 1] /= length[:, None]
        after[..., 1] /= length[:, None]
    if count > 1:
        before[0], after[-1] = 0.0, 0.0
    extrapolation = (
        ("cycle", "cycle") if loop and count > 1 and np.array_equal(values[0], values[-1]) else ("hold", "hold")
    )
    return Curve(channel, given.seconds(group.keys[:count]), values, BEZIER, before, after, extrapolation)


def handles(state: Array, sample: float) -> tuple[Array, Array]:
    """Tangents before and after (K, n, 2) of states (K, n, 5), whose times count samples of that many seconds."""
    before = np.stack([state[..., 2] * sample, state[..., 1] * state[..., 2]], axis=-1)
    after = np.stack([state[..., 4] * sample, state[..., 3] * state[..., 4]], axis=-1)
    return before, after
