"""How alike two moments of motion are: the distance of two windows of frames [Kovar 2002, section 3.1].

A pose says where things are, a window of poses also how they move, so velocities and accelerations count without
being named. KGP02 compares clouds of points that hang on the skeleton, after turning and shifting one cloud onto the
other on the floor. Here a pose is a row of numbers that a caller has brought to comparable units: rig parameters (the
comparison of [Bailey 2016, section 6]), features scaled by their influence on the mesh, or points of the mesh itself.
Travel over the floor is no part of features, so nothing is left to turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from understudy.checks import Array


def window_weights(window: int, taper: bool = True) -> Array:
    """(k,) weights of a window's frames, of sum 1; tapered ones are sin^2, least at the ends, as KGP02 suggests."""
    if not taper:
        return np.full(window, 1.0 / window)
    weights = np.square(np.sin(np.pi * (np.arange(window) + 0.5) / window))
    return np.asarray(weights / weights.sum())


def squared_distances(a: Array, b: Array) -> Array:
    """(M, N) squared distances of rows (M, E) and (N, E) by one matrix product, never below zero.

    |a - b|^2 = |a|^2 + |b|^2 - 2 a.b loses digits far from the origin: bring rows near it first.
    """
    result = a @ b.T
    result *= -2.0
    result += np.einsum("me,me->m", a, a)[:, None]
    result += np.einsum("ne,ne->n", b, b)
    return np.asarray(np.maximum(result, 0.0, out=result))


def along_diagonals(squared: Array, weights: Array) -> Array:
    """(M - k + 1, N - k + 1) the root of the weighted mean over windows.

    D^2[i, j] = sum_p w_p squared[i + p, j + p]
    """
    k = len(weights)
    rows, columns = (max(size - k + 1, 0) for size in squared.shape)
    total = np.zeros((rows, columns))
    for p, weight in enumerate(weights):
        total += weight * squared[p : p + rows, p : p + columns]
    return np.sqrt(total)


def window_distances(clips: Sequence[Array], weights: Array) -> Iterator[tuple[int, int, Array]]:
    """Clips a <= b and D (Fa - k + 1, Fb - k + 1): the distance of the windows that begin at frame i of a and j of b.

    D is symmetric in its clips, so that each pair comes once. One clip against all that follow is one matrix product,
    which bounds the memory by the longest clip: 1.1 million numbers at a time for 4,700 frames in clips of 120.
    """
    k = len(weights)
    everything = np.concatenate(clips)
    everything = everything - everything.mean(axis=0)
    ends = np.cumsum([len(clip) for clip in clips])
    starts = ends - [len(clip) for clip in clips]
    for a in range(len(clips)):
        rest = everything[starts[a] :]
        found = along_diagonals(squared_distances(rest[: ends[a] - starts[a]], rest), weights)
        for b in range(a, len(clips)):
            begin, count = starts[b] - starts[a], max(ends[b] - starts[b] - k + 1, 0)
            yield a, b, found[:, begin : begin + count]
