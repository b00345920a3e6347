"""Quadratic programs by PIQP, OSQP, Clarabel and quadprog.

    minimise 1/2 x' H x + f' x   subject to   low <= x <= high, floor <= C x <= ceiling

Reads the programs of `benchmarks/edit.py`; prints for each solver the time of each (setting up and solving, the median
of three), its objective, and by how much bounds and rows are broken.
"""

import json
import os
import sys
import time
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded
warnings.filterwarnings("ignore")

import clarabel  # noqa: E402
import numpy as np  # noqa: E402
import osqp  # noqa: E402
import piqp  # noqa: E402
import quadprog  # noqa: E402
from scipy import sparse  # noqa: E402

ENDLESS = 1e20


def by_piqp(h, f, c, floor, ceiling, low, high):
    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    rows = (c, floor, ceiling) if len(c) else (None, None, None)
    solver.setup(h, f, None, None, *rows, low, high)
    solver.solve()
    return np.array(solver.result.x)


def by_osqp(h, f, c, floor, ceiling, low, high):
    solver = osqp.OSQP()
    rows = sparse.csc_matrix(np.vstack([c, np.eye(len(f))]))
    lower, upper = np.concatenate([floor, low]), np.concatenate([ceiling, high])
    settings = {"verbose": False, "eps_abs": 1e-6, "eps_rel": 1e-6, "max_iter": 20000, "polishing": True}
    solver.setup(sparse.triu(h, format="csc"), f, rows, lower, upper, **settings)
    return np.array(solver.solve().x)


def by_clarabel(h, f, c, floor, ceiling, low, high):
    below, above = np.flatnonzero(low > -ENDLESS), np.flatnonzero(high < ENDLESS)
    one = np.eye(len(f))
    rows = np.vstack([c, -c, one[above], -one[below]])
    limits = np.concatenate([ceiling, -floor, high[above], -low[below]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(len(limits))]
    solver = clarabel.DefaultSolver(sparse.triu(h, format="csc"), f, sparse.csc_matrix(rows), limits, cones, settings)
    return np.array(solver.solve().x)


def by_quadprog(h, f, c, floor, ceiling, low, high):
    below, above = np.flatnonzero(low > -ENDLESS), np.flatnonzero(high < ENDLESS)
    one = np.eye(len(f))
    rows = np.vstack([c, -c, one[below], -one[above]])
    limits = np.concatenate([floor, -ceiling, low[below], -high[above]])
    return quadprog.solve_qp(h, -f, rows.T, limits)[0]


def broken(x, c, floor, ceiling, low, high):
    off = [floor - c @ x, c @ x - ceiling, low - x, x - high]
    return max(float(each.max(initial=0.0)) for each in off)


def main():
    data = np.load(sys.argv[1])
    names = ("h", "f", "c", "floor", "ceiling", "low", "high")
    programs = [[data[f"{name}{i}"] for name in names] for i in range(int(data["count"]))]
    told = {}
    for name, solver in (("piqp", by_piqp), ("osqp", by_osqp), ("clarabel", by_clarabel), ("quadprog", by_quadprog)):
        result = {"ms": [], "objective": [], "violation": []}
        solver(*programs[0])
        for program in programs:
            spent = []
            for _ in range(3):
                start = time.process_time()
                try:
                    x = solver(*program)
                except ValueError:  # quadprog's word for rows that it finds inconsistent
                    x = np.full(len(program[1]), np.nan)
                spent.append(time.process_time() - start)
            h, f = program[:2]
            result["ms"].append(1e3 * float(np.median(spent)))
            result["objective"].append(float(0.5 * x @ h @ x + f @ x) if np.isfinite(x).all() else 1e30)
            result["violation"].append(broken(x, *program[2:]) if np.isfinite(x).all() else 1e30)
        told[name] = result
    print(json.dumps(told))


main()
