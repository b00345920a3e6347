"""Offsets within a window: linear in their variables, as dear as the change of the path, and nothing else moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.edit import figure
from tests.reference import offsets

from understudy.character import Channel, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR
from understudy.checks import Array
from understudy.edit.handles import smooth_tangents
from understudy.edit.keys import is_broken
from understudy.edit.solver.offsets import (
    MIN_RADIUS,
    OffsetVariables,
    Window,
    is_dense,
    offset_variables,
    uses_window,
    window_radius,
)

WINDOW = Window(1.1, 1.1, 0.5)


def fitted_curves(seed: int = 0, keys: int = 12, kind: str = "euler", length: float = 3.0) -> Curves:
    """Random smooth curves with keys of a fitter, unevenly spaced, and handles of any length."""
    random = np.random.default_rng(seed)
    made = []
    for name in ("hip", "knee"):
        times = np.concatenate([[0.0], np.sort(random.uniform(0.05, length - 0.05, keys - 2)), [length]])
        times = times[np.append(True, np.diff(times) > 0.04)]
        times[-1] = length
        channel = Channel(name, kind, ("x", "y", "z") if kind == "euler" else ())
        values = random.normal(size=(len(times), len(channel)))
        curve = smooth_tangents(Curves("one", [Curve(channel, times, values)])).curves[0]
        gaps = np.diff(times)
        before, after = np.array(curve.before), np.array(curve.after)
        for handles, lengths, at in ((after, gaps, slice(None, -1)), (before, gaps, slice(1, None))):
            share = random.uniform(0.1, 0.6, (len(gaps), values.shape[1]))
            slope = handles[at, :, 1] / handles[at, :, 0]
            handles[at, :, 0] = share * lengths[:, None]
            handles[at, :, 1] = slope * handles[at, :, 0]
        made.append(replace(curve, before=before, after=after, fitted=True))
    return Curves("walk", made, rate=30.0)


def dense_curves(seed: int = 0, kind: str = "euler") -> Curves:
    """The same with a linear key on every frame."""
    source = fitted_curves(seed, kind="euler")
    times = np.arange(0, 3.0, 1 / 60)
    channel = Channel("hip", kind, ("x", "y", "z") if kind == "euler" else ())
    values = source.sample(times)[:, :3]
    if kind == "rotation":
        values = np.concatenate([0.2 * values, np.ones((len(values), 1))], axis=1)
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    return Curves("walk", [Curve(channel, times, values, LINEAR)], rate=60.0)


def variables_of(curves: Curves, window: Window = WINDOW, weight: Array | None = None) -> OffsetVariables:
    width = curves.channels.width
    weight = np.ones(width) if weight is None else weight
    return offset_variables(
        curves, np.arange(width), np.ones(width, bool), window, unit=np.full(width, 2.0), weight=weight
    )


def test_the_change_of_curves_is_linear_in_the_variables() -> None:
    for curves in (fitted_curves(1), dense_curves(1)):
        variables, random = variables_of(curves), np.random.default_rng(3)
        z = random.normal(size=variables.count)
        times = curves.curves[0].times if len(curves) == 1 else np.linspace(0, 3, 301)
        change = variables.apply_to_curves(z).sample(times) - curves.sample(times)
        grid = variables.grid(times)
        np.testing.assert_allclose(variables.sample(grid, z) - grid.fixed, change, atol=1e-9)
        np.testing.assert_allclose(
            variables.apply_to_curves(2 * z).sample(times) - curves.sample(times), 2 * change, atol=1e-9
        )


def test_the_squared_length_of_the_variables_is_the_energy_of_the_change() -> None:
    curves = fitted_curves(2)
    weight = np.linspace(1.0, 9.0, curves.channels.width)
    variables, random = variables_of(curves, weight=weight), np.random.default_rng(4)
    z = random.normal(size=variables.count)
    energy = offsets.energy_of_change(curves, variables.apply_to_curves(z), variables, weight, np.full(6, 2.0))
    assert float(z @ z) == pytest.approx(energy, rel=0.02)


def test_samples_of_the_basis_are_those_of_the_curves() -> None:
    for curves in (fitted_curves(3), dense_curves(3)):
        variables = variables_of(curves)
        times = np.concatenate([curves.curves[0].times, np.random.default_rng(5).uniform(0, 3, 50)])
        np.testing.assert_allclose(variables.basis(times), offsets.basis_of_variables(variables, times), atol=1e-9)


def test_rows_of_targets_are_the_chained_derivatives() -> None:
    variables, random = variables_of(fitted_curves(4)), np.random.default_rng(6)
    grid = variables.grid(np.linspace(0.8, 1.4, 5))
    sample, first_row = np.array([0, 3, 3, 4]), np.array([[0, 3], [6, -1], [-1, 9], [12, 15]])
    jacobian, rows = random.normal(size=(4, 6, 6)), np.zeros((18, variables.count))
    variables.chain_rows(jacobian, grid, sample, first_row, 1.7, rows)
    slow = offsets.rows_of_targets(jacobian, grid.phi, variables.column, sample, first_row, 1.7, 18)
    np.testing.assert_allclose(rows, slow, atol=1e-12)


def test_times_and_handle_lengths_stay_and_smooth_keys_stay_smooth() -> None:
    curves = fitted_curves(5)
    variables = variables_of(curves)
    after = variables.apply_to_curves(np.random.default_rng(0).normal(size=variables.count))
    for old, new in zip(curves.curves, after.curves):
        np.testing.assert_array_equal(old.times, new.times)
        np.testing.assert_allclose(old.before[..., 0], new.before[..., 0])
        np.testing.assert_allclose(old.after[..., 0], new.after[..., 0])
        np.testing.assert_array_equal(is_broken(old), is_broken(new))
        np.testing.assert_array_equal(old.fitted, new.fitted)


def test_values_outside_the_window_stay() -> None:
    curves = fitted_curves(6)
    variables = variables_of(curves)
    after = variables.apply_to_curves(np.random.default_rng(0).normal(size=variables.count))
    for old, new in zip(curves.curves, after.curves):
        outside = WINDOW.away(old.times) >= WINDOW.radius
        np.testing.assert_array_equal(old.values[outside], new.values[outside])
    low, high = variables.changeable_spans(np.ones(6, bool))[0]
    times = np.concatenate([np.linspace(0, low, 50), np.linspace(high, 3, 50)])
    np.testing.assert_allclose(after.sample(times), curves.sample(times), atol=1e-12)


def test_keys_of_a_person_keep_their_values() -> None:
    curves = fitted_curves(7)
    near = int(np.argmin(np.abs(curves.curves[0].times - 1.1)))
    posed = replace(curves.curves[0], fitted=np.arange(len(curves.curves[0])) != near)
    variables = variables_of(curves.with_curves({0: posed}))
    after = variables.apply_to_curves(np.random.default_rng(0).normal(size=variables.count)).curves[0]
    np.testing.assert_array_equal(after.values[near], posed.values[near])
    assert (after.values != posed.values).any()


def test_a_dense_clip_changes_within_the_window_alone_and_smoothly() -> None:
    for kind in ("euler", "rotation"):
        curves = dense_curves(8, kind)
        variables = variables_of(curves)
        z = 0.1 * np.random.default_rng(0).normal(size=variables.count)
        after = variables.apply_to_curves(z).curves[0]
        times = curves.curves[0].times
        outside = WINDOW.away(times) >= WINDOW.radius
        np.testing.assert_array_equal(after.values[outside], curves.curves[0].values[outside])
        assert (after.values[~outside] != curves.curves[0].values[~outside]).all()
        if kind == "rotation":
            np.testing.assert_allclose(np.linalg.norm(after.values, axis=1), 1.0)
        edge = np.flatnonzero(outside)[np.flatnonzero(np.diff(outside.astype(int)) == -1)[0]]
        change = np.abs(after.values - curves.curves[0].values).max(axis=1)
        assert change[edge + 1] < 0.25 * change.max()  # no step at the edge of the window


@pytest.mark.parametrize("gap", [0.0, 0.08])
def test_a_loop_is_as_closed_as_it_was(gap: float) -> None:
    times = np.array([0.0, 0.4, 0.9, 1.5, 2.0])
    values = np.array([[0.0], [0.5], [-0.2], [0.3], [gap]])
    turn = Curve(Channel("wheel", "translation"), times, values.repeat(3, 1), extrapolation=("cycle", "cycle"))
    curves = smooth_tangents(Curves("spin", [turn], rate=30.0))
    curves = curves.with_curves({0: replace(curves.curves[0], fitted=True)})
    variables = variables_of(curves, Window(1.95, 1.95, 0.5))
    after = variables.apply_to_curves(np.random.default_rng(1).normal(size=variables.count)).curves[0]
    np.testing.assert_allclose(after.values[0] + gap, after.values[-1])
    assert (after.values[0] != values[0]).all() and (after.values[1] != curves.curves[0].values[1]).all()
    leaving = after.after[0, :, 1] / after.after[0, :, 0]
    arriving = after.before[-1, :, 1] / after.before[-1, :, 0]
    was = curves.curves[0].after[0, :, 1] / curves.curves[0].after[0, :, 0]
    before = curves.curves[0].before[-1, :, 1] / curves.curves[0].before[-1, :, 0]
    np.testing.assert_allclose(leaving - was, arriving - before, atol=1e-9)


def test_the_window_is_as_wide_as_the_gaps_between_keys() -> None:
    for gap in (0.45, 0.6, 0.9):
        times = np.arange(0, 6, gap)
        channel = Channel("hip", "euler", ("x", "y", "z"))
        curve = Curve(channel, times, np.zeros((len(times), 3)), BEZIER, fitted=True)
        curves = Curves("walk", [curve], rate=30.0)
        radius = window_radius(curves, np.zeros(3, int), np.ones(3), times[3] + gap / 2, times[3] + gap / 2)
        assert MIN_RADIUS <= radius <= 1.3 * gap + 1e-9
    dense = dense_curves()
    assert is_dense(dense.curves[0], 1.0, 1.0) and uses_window(dense, np.array([0]), 1.0, 1.0)
    hand_made = figure.curves()
    assert not uses_window(hand_made, np.arange(len(hand_made)), 1.0, 1.0)
