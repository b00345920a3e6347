"""Training a GPLVM: an evaluation beside its LAPACK calls and its peers, and the way to SCG's objective.

Processor time of one thread throughout, for ours and the peers: BLAS is held to one, and other work on the machine
counts as little as can be.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.measure import Row, assert_same, peer

from understudy import cast
from understudy.checks import Array
from understudy.gp.covariance import Kernel
from understudy.gp.gplvm import (
    GPLVM,
    INITIAL_KERNEL,
    OBJECTIVE_TOLERANCE_RATIO,
    SparseGPLVM,
    initial_latents,
    make_stages,
    pose_rms,
)
from understudy.gp.likelihood import Likelihood
from understudy.gp.priors import ConnectivityPrior, RandomWalk
from understudy.maths import lbfgs, scg, solvers
from understudy.maths.jit import one_blas_thread
from understudy.perform import features
from understudy.perform.features.encoder import PoseEncoder
from understudy.perform.features.weights import weigh_features
from understudy.perform.library import ClipLibrary

KERNEL = Kernel(variance=1.0, length=1.0, noise=0.1)
SCG_ITERATIONS = 600
REAL = ("roar", "neutral")  # the most and the least lively of the dragon's labels


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    with tempfile.TemporaryDirectory() as folder, one_blas_thread():
        yield from evaluation(Path(folder) / "gplvm.npz", 400)
        yield from evaluation(Path(folder) / "gplvm.npz", 800)
        yield from connectivity(400)
        for seed in (1, 2, 3):
            yield to_scg(f"to SCG's objective, made up, seed {seed}", *motion(200, seed))
        takes = DragonData()
        for label in REAL:
            # three clips: the reference takes minutes with all of them
            yield to_scg(f"to SCG's objective, dragon, {label}", *takes.reduced(label, 3))
        yield from sparse(takes)


def cpu_ms(function: Callable[[], Any], repeats: int = 25) -> float:
    """Median processor time of a call in milliseconds, after two that compile and warm the caches."""
    taken = []
    for _ in range(repeats + 2):
        begin = time.thread_time()
        function()
        taken.append(time.thread_time() - begin)
    return float(np.median(taken[2:]) * 1e3)


def motion(frames: int, seed: int, width: int = 742, controls: int = 6) -> tuple[Array, Array, Array]:
    """Poses (N, D) after a linear reduction to 85 % of the variance, segments (N,), times (N,) s: smooth motion."""
    rng = np.random.default_rng(seed)
    length = 44
    segments, times = np.arange(frames) // length, np.arange(frames) % length / 24.0
    paths = np.zeros((frames, controls))
    for segment in range(segments[-1] + 1):
        here = segments == segment
        for hertz in (0.3, 0.6, 1.0, 1.6):
            wave = np.sin(2 * np.pi * hertz * times[here] + rng.uniform(0, 2 * np.pi))
            paths[here] += np.outer(wave, rng.normal(size=controls)) * 0.5 / hertz**0.7
    hidden = np.cos(0.8 * paths @ rng.normal(size=(controls, 40)) + rng.uniform(0, 2 * np.pi, 40))
    values = hidden @ (rng.normal(size=(40, width)) * rng.lognormal(-1, 1, width))
    return reduced(values + 0.002 * rng.normal(size=values.shape), 0.85), segments, times


def reduced(values: Array, share: float) -> Array:
    """(N, D) the principal components of rows (N, C) that explain so much of their variance."""
    left, sizes, _ = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    return (left * sizes)[:, : features.components_for(values, share)]


class DragonData:
    """The dragon's clips as `learn` sees them."""

    def __init__(self) -> None:
        library = ClipLibrary.from_asset(cast.load("dragon"))
        rows = [take.rows for take in library.takes]
        encoder = PoseEncoder.fit(
            library.rig.channels, rows, library.rate, library.rig.rest, library.root, library.excluded_columns
        )
        self.library, self.features = library, [encoder.encode(each) for each in rows]
        self.seen = weigh_features(encoder, library.rig, np.concatenate(self.features))

    def reduced(self, label: str | None, most: int | None = None) -> tuple[Array, Array, Array]:
        """Poses (N, D), segments (N,) and times (N,) s of a label's first clips, or of all clips."""
        chosen = [values for values, take in zip(self.features, self.library.takes) if label in (None, take.label)][
            :most
        ]
        joined, lengths = np.concatenate(chosen), [len(values) for values in chosen]
        poses = self.seen.reduction(joined, 0.85).reduce(joined)
        times = np.concatenate([np.arange(length) / self.library.rate for length in lengths])
        return poses, np.repeat(np.arange(len(chosen)), lengths), times


def evaluation(path: Path, count: int, width: int = 20) -> Iterator[Row]:
    """Value and gradient by latents and kernel, without priors."""
    rng = np.random.default_rng(0)
    latents = rng.normal(size=(count, 3))
    observations = np.sin(latents @ rng.normal(size=(3, width))) + 0.1 * rng.normal(size=(count, width))
    np.savez(path, observations=observations, latents=latents)
    likelihood, matrix = Likelihood(observations), KERNEL.matrix(latents)
    work, taken = np.empty_like(matrix), np.empty((40, 2))
    for pair in taken:  # in turns, so that both see the same machine
        work[...] = matrix
        begin = time.thread_time()
        solvers.cholesky_in_place(work)
        solvers.inverse_in_place(work)
        middle = time.thread_time()
        likelihood(latents, KERNEL)
        pair[:] = middle - begin, time.thread_time() - middle
    least, ours = (float(each) * 1e3 for each in np.median(taken[3:], axis=0))
    name = f"evaluation, {count} frames"
    yield Row(name, ours, "ms", "potrf + potri (at most 1.5 times theirs)", least / ours, 0.67)
    value = likelihood(latents, KERNEL).value
    for script, title, bar in (("gplvm_gpy.py", "GPy", 2.5), ("gplvm_gpytorch.py", "GPyTorch", None)):
        theirs = peer(script, path)
        assert_same(value, theirs["value"], title, 1e-5)  # GPy adds 1e-8 to the diagonal
        yield Row(name, ours, "ms", f"{title} {theirs['version']}", theirs["ms"] / ours, bar if count == 400 else None)


def connectivity(count: int) -> Iterator[Row]:
    """The connectivity prior and its gradient, beside the eigenvectors and products that it cannot do without."""
    points = np.random.default_rng(0).normal(size=(count, 3))
    walk = RandomWalk(ConnectivityPrior(), count)
    ours = cpu_ms(lambda: walk.log_density(points), 9)
    matrix = KERNEL.matrix(points)
    out = np.empty_like(matrix)
    least = cpu_ms(lambda: np.linalg.eigh(matrix), 9) + 5 * cpu_ms(lambda: np.matmul(matrix, matrix, out=out), 9)
    yield Row(f"connectivity prior, {count} frames", ours, "ms", "eigh + 5 GEMM", least / ours, None)


def to_scg(name: str, poses: Array, segments: Array, times: Array) -> Row:
    """Time until our optimiser is where 600 iterations of the paper's are: same objective, same start."""
    observations = poses / pose_rms(poses)
    first = initial_latents(observations, times, 3)
    (reference,) = GPLVM(method="scg").objectives(observations, segments, times)
    reference(reference.pack(first, INITIAL_KERNEL))  # compiled by now
    begin = time.thread_time()
    state = scg.minimise(reference, reference.pack(first, INITIAL_KERNEL), SCG_ITERATIONS, 0.0)
    theirs = time.thread_time() - begin

    objectives = GPLVM().objectives(observations, segments, times)
    ours, vector = 0.0, objectives[0].pack(first, INITIAL_KERNEL)
    stages = make_stages(objectives, GPLVM().iterations)
    for number, stage in enumerate(stages):
        last = number == len(stages) - 1
        begin = time.thread_time()
        current = lbfgs.start(stage.function, vector)
        ours += time.thread_time() - begin
        while current.iteration < (SCG_ITERATIONS if last else stage.iterations):
            begin = time.thread_time()
            current = lbfgs.step(stage.function, current)
            ours += time.thread_time() - begin
            # the whole objective is looked at beside the clock in the stages that do without it
            if (current.value if last else objectives[-1](current.x)[0]) <= state.value:
                return Row(name, ours, "s", f"SCG, {SCG_ITERATIONS} iterations", theirs / ours, 8.0)
            if not last and lbfgs.has_converged(current, OBJECTIVE_TOLERANCE_RATIO):
                break
        vector = current.x
    return Row(name, ours, "s", f"SCG, {SCG_ITERATIONS} iterations: not reached", 0.0, 8.0)


def sparse(takes: DragonData, limit: float = 90.0) -> Iterator[Row]:
    """All of the dragon's frames as one model."""
    poses, segments, times = takes.reduced(None)
    begin = time.thread_time()
    SparseGPLVM().fit(poses, segments, times)
    taken = time.thread_time() - begin
    yield Row(
        f"sparse, {len(poses)} frames, {poses.shape[1]} columns",
        taken,
        "s",
        f"limit of {limit:g} s",
        limit / taken,
        1.0,
    )
