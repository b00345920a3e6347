from __future__ import annotations

import numpy as np
import pytest
from tests.gp.test_shared_gplvm import motion

from understudy.gp.shared_gplvm import SharedGPLVM, choose_dimension, evaluate_dimension, roughness


def test_the_dimension_is_chosen_by_pairs_left_out() -> None:
    Y, Z = motion()
    path, Y, Z = Y[:30], Y[::14], Z[::14]
    model = SharedGPLVM(dimension="auto", iterations=15).fit(Y, Z)
    assert model.curve_ is not None
    assert [row.dimension for row in model.curve_] == [2, 3, 5, 8, 12]
    least = min(row.left_out for row in model.curve_)
    chosen = next(row for row in model.curve_ if row.dimension == model.dimension_)
    assert chosen.left_out <= 1.02 * least
    assert model.latents_.shape == (len(Y), model.dimension_)
    row = evaluate_dimension(Y, Z, 3, 15, 0, 1e-3, motion=path)
    assert row.shown < row.left_out and row.roughness is not None and row.roughness > 0


def test_few_pairs_leave_few_dimensions_to_choose_from() -> None:
    Y, Z = motion(3)
    dimension, curve = choose_dimension(Y, Z, 5, 0, 1e-3)
    assert dimension == 2 and len(curve) == 1
    assert curve[0].left_out == curve[0].shown  # too few to leave any out


def test_roughness_of_paths() -> None:
    line = np.outer(np.arange(9.0), [1.0, 2.0])
    zigzag = line + np.where(np.arange(9) % 2, 5.0, 0.0)[:, None]
    assert roughness(line) == pytest.approx(0.0, abs=1e-12)
    assert roughness(zigzag) > 1.5
    assert roughness(np.zeros((4, 2))) == 0.0
    assert roughness(np.zeros((1, 2))) == 0.0
