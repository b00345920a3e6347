"""Slow oracles of `understudy.edit.solver.offset_kernels`: by finished curves, and by sums over samples."""

from __future__ import annotations

import numpy as np

from understudy.character import Curves
from understudy.checks import Array
from understudy.edit.solver.offsets import FALLOFF_FLOOR, SHAPE_COST_RATIO, SMOOTHNESS, OffsetVariables

SAMPLES = 600_001


def energy_of_change(before: Curves, after: Curves, variables: OffsetVariables, weight: Array, unit: Array) -> float:
    """The energy E of `offsets`, by samples of both animations; `weight` and `unit` (C,) are those of the columns."""
    window, times = variables.window, np.linspace(before.start, before.end, SAMPLES)
    step = times[1] - times[0]
    phi, away = window.falloff(times), window.away(times)
    rho = 1 / (phi**2 + FALLOFF_FLOOR)
    fading = (away > 0) & (away < window.radius)
    phi_bend = np.where(fading, -0.5 * (np.pi / window.radius) ** 2 * np.cos(np.pi * away / window.radius), 0.0)
    bend = (SMOOTHNESS * window.radius / np.pi) ** 4
    energy, column = 0.0, 0
    for old, new in zip(before.curves, after.curves):
        kink = np.abs(times[:, None] - old.times).min(axis=1) < 3 * step  # a smooth key still turns its slope
        ends = np.array([window.start, window.stop])
        at_ends = new.sample(ends) - old.sample(ends)
        for offset, (first, last) in zip((new.sample(times) - old.sample(times)).T, at_ends.T):
            nearest = np.where(times < window.start, first, last)
            second = np.gradient(np.gradient(offset, step), step) - phi_bend * nearest
            second[kink] = 0.0
            shape = np.where(away > 0, offset - phi * nearest, 0.0)
            whole = np.sum(offset**2 / SHAPE_COST_RATIO + rho * (shape**2 + bend * second**2)) * step / window.radius
            energy += weight[column] / unit[column] ** 2 * float(whole)
            column += 1
    return energy


def basis_of_variables(variables: OffsetVariables, times: Array) -> Array:
    """(S, N) what each variable adds to its column, by the curves that it changes, one after the other."""
    before = variables.curves.sample(times)
    basis = np.empty((len(times), variables.count))
    for i, column in enumerate(variables.columns[variables.column]):
        z = np.zeros(variables.count)
        z[i] = 1.0
        basis[:, i] = (variables.apply_to_curves(z).sample(times) - before)[:, column]
    return basis


def rows_of_targets(
    jacobian: Array, phi: Array, column: Array, sample: Array, first_row: Array, size: float, rows: int
) -> Array:
    """(M, N) derivatives of targets by the variables, element by element."""
    out = np.zeros((rows, len(column)))
    for r, s in enumerate(sample):
        for i, c in enumerate(column):
            if first_row[r, 0] >= 0:
                out[first_row[r, 0] : first_row[r, 0] + 3, i] = jacobian[r, :3, c] * phi[s, i] / size
            if first_row[r, 1] >= 0:
                out[first_row[r, 1] : first_row[r, 1] + 3, i] = jacobian[r, 3:, c] * phi[s, i]
    return out
