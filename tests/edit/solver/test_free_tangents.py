"""The cost of a change is that of all handles that it moves, whatever variables stand for them [eq. 4]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from understudy.character import Channel, Curve, Curves
from understudy.edit.handles import smooth_tangents
from understudy.edit.solver.free_tangents import TIME_HANDLE_COST, tangent_variables


def random_curves(seed: int, loops: bool, broken: bool) -> Curves:
    """Keys unevenly spaced, with handles of any ratio at each of them."""
    random = np.random.default_rng(seed)
    times = np.cumsum(random.uniform(0.05, 1.5, 7))
    values = random.normal(size=(7, 3))
    if loops:
        values[-1] = values[0]
    beyond = ("cycle", "cycle") if loops else ("hold", "hold")
    curve = smooth_tangents(
        Curves("one", [Curve(Channel("arm", "euler", ("x", "y", "z")), times, values, extrapolation=beyond)])
    ).curves[0]
    before, after, gaps = np.array(curve.before), np.array(curve.after), np.diff(times)
    for handles, at in ((after, slice(None, -1)), (before, slice(1, None))):
        share = random.uniform(0.05, 0.6, (6, 3)) * gaps[:, None] / handles[at, :, 0]
        handles[at] *= share[..., None]
    if broken:
        after[:, :, 1] += random.normal(size=(7, 3)) * (random.uniform(size=(7, 1)) < 0.5)
    return Curves("one", [replace(curve, before=before, after=after)])


@pytest.mark.parametrize("seed", range(6))
def test_the_cost_is_the_sum_over_all_handles(seed: int) -> None:
    curves = random_curves(seed, loops=seed % 2 == 0, broken=seed % 3 == 0)
    random = np.random.default_rng(seed)
    unit, stiffness = random.uniform(0.5, 2, 3), random.uniform(0.5, 3, 3)
    middle = float(curves.curves[0].times[:2].mean())
    tangents = tangent_variables(
        curves,
        np.arange(3),
        np.ones(3, bool),
        [(middle, middle + 2.0)],
        unit=unit,
        limits={},
        stiffness=stiffness,
        smooth_edges=True,
    )
    v = random.normal(size=tangents.count)
    change = tangents.handles(v) - tangents.start
    units = np.stack([tangents.pieces.d, unit[tangents.column]] * 2, axis=-1)
    stiff = stiffness[tangents.column][:, None] * np.array([TIME_HANDLE_COST, 1.0, TIME_HANDLE_COST, 1.0])
    assert tangents.count > 0
    assert float(tangents.cost**2 @ v**2) == pytest.approx(float(((stiff * change / units) ** 2).sum()))
