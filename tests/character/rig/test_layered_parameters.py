"""The rules of the layers: drives add, correctives need both, towards win, limits come last."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.rig.layered_character import character

from understudy.character.rig import LayeredRig


def slow(rig: LayeredRig, row: np.ndarray) -> np.ndarray:
    """One frame, rule by rule."""
    layers, controls = rig.layers, rig.controls
    c = [min(max(v, low), high) for v, low, high in zip(row, controls.low, controls.high)]
    p = [0.0] * layers.parameter_count
    for i, n, gain in zip(layers.drive_parameter, layers.drive_control, layers.drive_gain):
        p[i] += gain * (c[n] - controls.rest[n])
    for i, a, b, gain in zip(
        layers.corrective_parameter, layers.corrective_a, layers.corrective_b, layers.corrective_gain
    ):
        ramps = [min(max((c[n] - controls.rest[n]) / (controls.high[n] - controls.rest[n]), 0), 1) for n in (a, b)]
        p[i] += gain * ramps[0] * ramps[1]
    for i, n, target in zip(layers.toward_parameter, layers.toward_control, layers.toward_target):
        p[i] += min(max(c[n], 0), 1) * (target - p[i])
    return np.clip(p, layers.low, layers.high)


def test_parameters_follow_the_rules() -> None:
    rig = LayeredRig(character())
    rng = np.random.default_rng(0)
    span = rig.controls.high - rig.controls.low
    rows = rig.controls.low + span * rng.uniform(-0.2, 1.2, (20, len(span)))
    np.testing.assert_allclose(rig.parameters(rows), [slow(rig, row) for row in rows], atol=1e-12)
    assert not rig.parameters(rig.rest[None]).any()


def test_a_corrective_needs_both_of_its_controls() -> None:
    rig = LayeredRig(character())
    layers = rig.layers
    a, b = int(layers.corrective_a[0]), int(layers.corrective_b[0])
    target = int(layers.corrective_parameter[0])
    rows = np.tile(rig.rest, (4, 1))
    rows[1, a] = rows[2, b] = rows[3, a] = rows[3, b] = 10  # beyond their ranges, which hold them
    np.testing.assert_allclose(rig.parameters(rows)[:, target], [0, 0, 0, layers.corrective_gain[0]])


@pytest.mark.parametrize("before", [-20.0, 0.0, 15.0])
def test_toward_ends_at_its_target_from_wherever_it_is(before: float) -> None:
    rig = LayeredRig(character())
    parameter, control = int(rig.layers.toward_parameter[0]), int(rig.layers.toward_control[0])
    rows = np.tile(rig.rest, (3, 1))
    rows[:, parameter] = before
    rows[:, control] = [0, 0.5, 1]
    start, half, end = rig.parameters(rows)[:, parameter]
    assert start == pytest.approx(np.radians(before))
    assert end == pytest.approx(rig.layers.toward_target[0])
    assert half == pytest.approx((start + end) / 2)


def test_limits_come_last() -> None:
    rig = LayeredRig(character())
    first = len(rig.layers.components)
    rows = np.tile(rig.rest, (1, 1))
    rows[0, [first, first + 1]] = [1, 1]  # both move the second shape: 0.75 * 0.5 + 1
    assert rig.parameters(rows)[0, first + 1] == pytest.approx(1.375)
    assert (rig.parameters(rows) <= rig.layers.high).all()
