"""The quadratic program against PIQP, an interior-point method by other people, and the conditions of a minimum."""

from __future__ import annotations

import numpy as np
import piqp
import pytest

from understudy.checks import Array
from understudy.edit.solver import qp


def random_program(seed: int, n: int = 40, wishes: int = 6, rows: int = 18, weight: float = 1e4) -> qp.Program:
    """A program as edits make them: rows that nearly repeat each other, met by some x within the bounds."""
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(max(rows // 2, 1), n))
    c = rng.normal(size=(rows, len(basis))) @ basis * 0.1
    inside = rng.uniform(-0.5, 0.5, n)
    a = rng.normal(size=(wishes, n))
    return qp.Program(
        rng.uniform(0.5, 2.0, n),
        rng.normal(size=n) * 0.1,
        inside - rng.uniform(0.01, 1.0, n),
        inside + rng.uniform(0.01, 1.0, n),
        a,
        a @ inside + rng.normal(size=wishes),
        np.full(wishes, weight),
        c,
        c @ inside - 1e-4,
        c @ inside + 1e-4,
    )


def by_piqp(program: qp.Program) -> Array:
    h, f = qp.dense_form(program)
    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    solver.settings.eps_abs = solver.settings.eps_duality_gap_abs = 1e-9
    solver.settings.eps_rel = solver.settings.eps_duality_gap_rel = 1e-12
    rows = (program.c, program.floor, program.ceiling) if len(program.c) else (None, None, None)
    solver.setup(h, f, None, None, *rows, program.low, program.high)
    assert solver.solve() == piqp.PIQP_SOLVED
    return np.array(solver.result.x)


def objective(program: qp.Program, x: Array) -> float:
    off = program.a @ x - program.b
    return float(program.d @ x**2 + program.g @ x + program.w @ off**2)


def broken(program: qp.Program, x: Array) -> float:
    rows = program.c @ x
    sides = (program.low - x, x - program.high, program.floor - rows, rows - program.ceiling)
    return max(float(side.max(initial=0.0)) for side in sides)


@pytest.mark.parametrize("rows", [0, 18, 60])
@pytest.mark.parametrize("seed", range(6))
def test_the_minimum_is_that_of_another_method(seed: int, rows: int) -> None:
    program = random_program(seed, rows=rows)
    found = qp.minimise(program)
    assert found is not None and found.exact
    assert broken(program, found.x) < 1e-7
    theirs = by_piqp(program)
    assert broken(program, theirs) < 1e-6
    gap = 1e-9 * float(program.w @ program.b**2)  # PIQP stops at a part of the largest numbers in its sums
    assert abs(objective(program, found.x) - objective(program, theirs)) < gap
    # The objective rises by d |x - x*|^2 at least, so that a gap bounds the distance.
    assert program.d @ (found.x - theirs) ** 2 < gap


@pytest.mark.parametrize("seed", range(4))
def test_forces_balance_the_pull(seed: int) -> None:
    program = random_program(seed)
    found = qp.minimise(program)
    assert found is not None
    h, f = qp.dense_form(program)
    pull = h @ found.x + f
    assert np.abs(pull + found.bound_forces + program.c.T @ found.row_forces).max() < 1e-5 * np.abs(f).max()


@pytest.mark.parametrize("seed", range(6))
def test_rows_as_wishes_are_the_same_program_by_another_method(seed: int) -> None:
    program, weight = random_program(seed, weight=1e3), 1e7
    found = qp.minimise_soft(program, weight)
    assert found is not None
    middle = (program.floor + program.ceiling) / 2
    soft = program._replace(
        a=np.concatenate([program.a, program.c]),
        b=np.concatenate([program.b, middle]),
        w=np.concatenate([program.w, np.full(len(middle), weight)]),
        c=program.c[:0],
        floor=middle[:0],
        ceiling=middle[:0],
    )
    theirs = by_piqp(soft)
    assert objective(soft, found.x) <= objective(soft, theirs) * (1 + 1e-6) + 1e-6
    assert ((found.x >= program.low - 1e-9) & (found.x <= program.high + 1e-9)).all()


def test_rows_that_contradict_each_other_are_met_as_nearly_as_they_can_be() -> None:
    program = random_program(0)
    contrary = program._replace(
        c=np.concatenate([program.c, program.c[:1]]),
        floor=np.append(program.floor, program.floor[0] + 0.2),
        ceiling=np.append(program.ceiling, program.ceiling[0] + 0.2),
    )
    found = qp.minimise(contrary)
    assert found is not None and not found.exact
    halfway = (contrary.c @ found.x)[0] - program.floor[0]
    assert 0.05 < halfway < 0.15


def test_great_weights_are_not_taken_for_singular() -> None:
    """Goals and pins whose weights differ by nine orders, as at the end of a search: answered at once and exactly."""
    rng = np.random.default_rng(3)
    program = random_program(3, n=120, rows=80, weight=1e6)
    program = program._replace(c=program.c * 30.0, d=np.full(120, 1.0), low=np.full(120, -9.0), high=np.full(120, 9.0))
    inside = rng.uniform(-0.1, 0.1, 120)
    program = program._replace(b=program.a @ inside, floor=program.c @ inside - 1e-4, ceiling=program.c @ inside + 1e-4)
    found = qp.minimise_soft(program, 1e7)
    assert found is not None
    assert np.abs(program.c @ found.x - program.c @ inside).max() < 1e-3


@pytest.mark.parametrize("seed", range(24))
def test_few_rows_are_the_same_as_many(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By as many equations as there are rows, in the kernel and by BLAS, or in all variables: place and forces."""
    random = np.random.default_rng(seed)
    n, s = 40, 3 + 4 * (seed % 8)
    rows, aims, weights = random.normal(size=(s, n)), random.normal(size=s), 10.0 ** random.uniform(0, 6, s)
    low = -random.uniform(0.01, 0.5, n)
    none = np.zeros((0, n))
    program = qp.Program(
        random.uniform(1, 20, n), random.normal(size=n), low, -low, rows, aims, weights, none, aims[:0], aims[:0]
    )
    wanted = qp.WeightedRows((rows, none), aims, weights)
    many = qp.solve_active_set(program, wanted)
    assert many is not None
    by_kernel = qp.solve_few_rows(program, wanted)
    monkeypatch.setattr(qp, "MAX_ROWS_DAQP", 0)
    for few in (by_kernel, qp.solve_few_rows(program, wanted)):
        assert few is not None, "whole steps alone would go round in circles, these must not"
        assert np.abs(few[0] - many[0]).max() < 1e-7
        assert np.abs(few[1] - many[1]).max() < 1e-5 * np.abs(many[1]).max(initial=1.0)


@pytest.mark.parametrize("seed", range(12))
def test_many_rows_are_the_same_by_newton_and_by_an_active_set(seed: int) -> None:
    """More rows than variables, most of them of great weight, whatever bounds are guessed at first."""
    program = random_program(seed, n=30, rows=50, weight=1e5)
    middle = (program.floor + program.ceiling) / 2
    weights = np.concatenate([program.w, np.full(len(middle), 1e7)])
    wanted = qp.WeightedRows((program.a, program.c), np.concatenate([program.b, middle]), weights)
    oracle = qp.solve_active_set(program, wanted)
    assert oracle is not None
    random = np.random.default_rng(seed)
    for side in (None, np.sign(oracle[1]).astype(np.int8), random.integers(-1, 2, 30).astype(np.int8)):
        found = qp.solve_many_rows(program, wanted, qp.RowGram(program.c, 1e7), side)
        assert found is not None
        assert np.abs(found[0] - oracle[0]).max() < 1e-6
        assert np.abs(found[1] - oracle[1]).max() < 1e-4 * np.abs(oracle[1]).max(initial=1.0)
