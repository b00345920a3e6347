"""From columns of an animation to what moves points of a layered rig: components of joints and weights of shapes.

    q = rest + gain clip(p(c), low, high)

p(c) are the rules of `character.layers`, only of the parameters that the points need. dq/dc follows them one by one:
drives are constant, correctives have the product rule, a toward reduces the derivatives before it by its weight; where
a control or a parameter is outside of its range, the derivative is zero. A control that the animation does not move
stays at rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from understudy.character import Channels
from understudy.character.rig import LayeredRig
from understudy.checks import Array


class Rules(NamedTuple):
    """The rules from n columns to P parameters, each of which is one of the Q numbers q.

    Entries (E,) are the pairs of a parameter and a column that influences it, those of a parameter together.
    """

    low: Array  # (n,) the range of each control
    high: Array  # (n,)
    rest: Array  # (n,)
    reach: Array  # (n,) from rest to the upper end
    first: Array  # (P + 1,) where the entries of each parameter begin
    column: Array  # (E,) int
    drive: Array  # (E,) gain of the drives
    corrective: Array  # (A, 3) int: parameter and the two entries
    corrective_gain: Array  # (A,)
    toward: Array  # (B, 2) int: parameter and entry, -1 where the control is not animated; in their order
    toward_rest: Array  # (B,) the control where it is not animated
    toward_target: Array  # (B,)
    least: Array  # (P,) the range of each parameter
    most: Array  # (P,)
    place: Array  # (P,) int, into q
    gain: Array  # (P,)
    start: Array  # (Q,) q at rest


def columns_of_controls(rig: LayeredRig, channels: Channels) -> dict[int, int]:
    """The column of an animation that moves each control, the last of several."""
    columns: dict[int, int] = {}
    for i, channel in enumerate(channels):
        if channel.kind != "controls":
            continue
        first = int(channels.offsets[i])
        if channel.target in rig.controls and len(channel) == 1:
            columns[rig.controls.index(channel.target)] = first
        elif channel.target in ("", rig.character.name):
            names = enumerate(channel.columns)
            columns.update({rig.controls.index(name): first + k for k, name in names if name in rig.controls})
    return columns


def controls_of(rig: LayeredRig, parameters: Array) -> Array:
    """The controls (N,) that influence parameters (P,), in order."""
    layers = rig.layers
    driving = np.isin(layers.drive_parameter, parameters)
    fixing = np.isin(layers.corrective_parameter, parameters)
    toward = np.isin(layers.toward_parameter, parameters)
    return np.unique(
        np.concatenate(
            [
                layers.drive_control[driving],
                layers.corrective_a[fixing],
                layers.corrective_b[fixing],
                layers.toward_control[toward],
            ]
        )
    )


def rules_of(
    rig: LayeredRig, controls: Sequence[int], parameters: Array, place: Array, gain: Array, start: Array
) -> Rules:
    """The rules of parameters (P,) for animated controls, each a column; parameters go to q[place] with a gain."""
    layers, known = rig.layers, rig.controls
    number = {control: i for i, control in enumerate(controls)}
    row = {int(p): i for i, p in enumerate(parameters)}

    def pairs(of: Array, *by: Array) -> list[tuple[int, ...]]:
        """The rules of the needed parameters: number, row, and the columns of the controls, -1 where not animated."""
        return [
            (k, row[int(p)], *(number.get(int(controls_of_rule[k]), -1) for controls_of_rule in by))
            for k, p in enumerate(of.tolist())
            if p in row
        ]

    # a drive or a corrective of a control that is not animated adds nothing
    drives = [rule for rule in pairs(layers.drive_parameter, layers.drive_control) if rule[2] >= 0]
    fixes = pairs(layers.corrective_parameter, layers.corrective_a, layers.corrective_b)
    fixes = [rule for rule in fixes if min(rule[2:]) >= 0]
    towards = pairs(layers.toward_parameter, layers.toward_control)
    used = [(rule[1], column) for rule in (*drives, *fixes, *towards) for column in rule[2:] if column >= 0]
    entries = {pair: e for e, pair in enumerate(sorted(set(used)))}
    owner = np.array([i for i, _ in entries], np.int64)
    drive = np.zeros(len(entries))
    for k, i, column in drives:
        drive[entries[i, column]] += layers.drive_gain[k]
    high, rest = known.high[list(controls)], known.rest[list(controls)]
    return Rules(
        known.low[list(controls)],
        high,
        rest,
        np.where(high > rest, high - rest, 1.0),
        np.searchsorted(owner, np.arange(len(parameters) + 1)).astype(np.int64),
        np.array([column for _, column in entries], np.int64),
        drive,
        np.array([(i, entries[i, a], entries[i, b]) for _, i, a, b in fixes], np.int64).reshape(-1, 3),
        layers.corrective_gain[[rule[0] for rule in fixes]],
        np.array([(i, _entry(entries, i, c)) for _, i, c in towards], np.int64).reshape(-1, 2),
        known.rest[layers.toward_control[[rule[0] for rule in towards]]],
        layers.toward_target[[rule[0] for rule in towards]],
        layers.low[parameters],
        layers.high[parameters],
        np.asarray(place, np.int64),
        np.asarray(gain, np.float64),
        start,
    )


def rule_dependencies(rules: Rules) -> Array:
    """(P, n) bool: which column influences which parameter."""
    result = np.zeros((len(rules.place), len(rules.low)), bool)
    result[np.repeat(np.arange(len(rules.place)), np.diff(rules.first)), rules.column] = True
    return result


def _entry(entries: Mapping[tuple[int, int], int], parameter: int, column: int) -> int:
    return entries[parameter, column] if column >= 0 else -1
