"""Solving with a sparse factor: columns taken together give what they give one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve
from tests.deform import tubes

from understudy.deform.fitting import gradient_mesh
from understudy.deform.methods import regression_kernels as kernels


@pytest.fixture(scope="module")
def problem():
    rest, triangles = tubes.rest_tube(30, 16)
    edges = gradient_mesh.edges_of(rest, triangles)
    matrix = gradient_mesh.poisson_matrix(edges, np.full(len(rest), 0.1))
    return matrix, gradient_mesh.factorise(matrix)


def test_panels_are_columns_of_the_same_rows(problem):
    factor = problem[1]
    first = kernels.panels(factor.start, factor.row)
    assert first[0] == 0 and first[-1] == len(factor.diagonal)
    assert set(np.diff(first)) == {1, kernels.COLUMNS_PER_PANEL}  # both kinds occur
    rows = [set(factor.row[a:b].tolist()) for a, b in pairwise(factor.start)]
    for j, after in pairwise(first):
        for k in range(j, after):
            assert rows[k] == rows[after - 1] | set(range(k + 1, after))


@pytest.mark.parametrize("width", [3, 6, 24])
def test_solves_the_problem(problem, width):
    matrix, factor = problem
    right = np.random.default_rng(0).normal(size=(len(factor.order), width))
    x = right[factor.order].astype(np.float32)
    first = kernels.panels(factor.start, factor.row)
    solve = kernels.solve_one if width == 3 else kernels.solve_several
    solve(first, factor.start, factor.row.view(np.uint32), factor.value, 1 / factor.diagonal, x)
    wanted = spsolve(matrix, right)[factor.order]
    assert np.abs(x - wanted).max() < 1e-4 * np.abs(wanted).max()
