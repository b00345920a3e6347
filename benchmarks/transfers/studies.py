"""Studies of the mapping alone: pairs left out, pairs suggested, dimensions. Each function is one job for a process."""

from __future__ import annotations

from functools import partial

import numpy as np
from benchmarks.baselines.pose_mappings import LEARNERS, Learner, pair_errors, subset_error
from benchmarks.transfers.pairs import Case, case_of

from understudy.checks import Array
from understudy.gp.shared_gplvm import evaluate_dimension
from understudy.transfer.mapping import MIN_NOISE_VARIANCE_RATIO, fit_gplvm
from understudy.transfer.pose_suggestions import choose_pairs

OURS = "shared GPLVM"
DRAWS = 20
SHARES = (1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 7 / 8)  # of the pairs


def left_out(name: str) -> dict[str, tuple[float, float]]:
    """Of every method: millimetres that a left-out pose is missed by, and how lively it is beside what was posed."""
    case = case_of(name)
    methods: dict[str, Learner] = {OURS: fit_gplvm, **LEARNERS}
    return {method: _missed(case, _alone(case, learner)) for method, learner in methods.items()}


def _alone(case: Case, learner: Learner) -> Array:
    """(N, Q, 3) each pair's markers, mapped by what was learned from all others."""
    pairs = case.pairs
    return np.array([learner(pairs.leave_out(i)).map(pairs.source[[i]]).points[0] for i in range(len(pairs))])


def _missed(case: Case, points: Array) -> tuple[float, float]:
    """Millimetres, and the spread of the points about the mean pose over that of the pairs."""
    target = case.pairs.target
    spread = np.linalg.norm(points - target.mean(axis=0)) / np.linalg.norm(target - target.mean(axis=0))
    return 1e3 * float(pair_errors(points, case.pairs, range(len(case.pairs))).mean()), float(spread)


def suggested(name: str, draws: int = DRAWS) -> list[tuple[int, float, float]]:
    """How many pairs, and millimetres over all pairs when that many are suggested, and on the average of draws."""
    pairs = case_of(name).pairs
    rows = []
    for count in (max(2, round(share * len(pairs))) for share in SHARES):
        rng = np.random.default_rng(0)
        drawn = [
            subset_error(pairs, sorted(rng.choice(len(pairs), count, replace=False)), fit_gplvm) for _ in range(draws)
        ]
        rows.append(
            (count, 1e3 * subset_error(pairs, choose_pairs(pairs, count), fit_gplvm), 1e3 * float(np.mean(drawn)))
        )
    return rows


def dimensions(job: tuple[str, int | str]) -> dict[str, float]:
    """One row of figure 6: errors of shown and of left-out pairs, and how the latent point and the markers jump."""
    case, dimension = case_of(job[0]), job[1]
    Y, Z = (points.reshape(len(case.pairs), -1) for points in (case.pairs.source, case.pairs.target))
    mapping = fit_gplvm(case.pairs, dimension=dimension)
    local = case.motions["happiness"].local
    row = evaluate_dimension(
        Y, Z, mapping.model.dimension_, 70, 0, MIN_NOISE_VARIANCE_RATIO, local.reshape(len(local), -1)
    )
    mapped = mapping.map(local)
    steps = np.linalg.norm(np.diff(mapped.latent, axis=0), axis=1)
    moves = np.linalg.norm(np.diff(mapped.points, axis=0), axis=-1).mean(axis=1)
    return {
        "dimension": mapping.model.dimension_,
        "shown, mm": 1e3 * row.shown,
        "left out, mm": 1e3 * row.left_out,
        "largest step, mm": 1e3 * float(moves.max()),
        "roughness": float(row.roughness or 0.0),
        "largest latent step over median": float(steps.max() / max(float(np.median(steps)), 1e-12)),
    }


def dimension_curve(name: str) -> tuple[int, list[tuple[int, float]]]:
    """The dimension that is chosen, and millimetres over left-out pairs for each that was tried."""
    model = fit_gplvm(case_of(name).pairs, dimension="auto").model
    return model.dimension_, [(row.dimension, 1e3 * row.left_out) for row in model.curve_ or ()]


quick_suggested = partial(suggested, draws=5)
