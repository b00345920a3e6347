"""Algorithm 1 and eq. 3 as the paper has them, in plain Python: slow, obvious, and what the fast ones must equal."""

from __future__ import annotations

import math

import numpy as np


def unit(step, still):
    length = math.sqrt(sum(x * x for x in step))
    return [x / length for x in step] if length > still else [0.0] * len(step)


def influence(u, w):
    moving, other = any(u), any(w)
    if moving and other:
        return 1.0 - abs(sum(a * b for a, b in zip(u, w)))
    return 0.5 if moving or other else 0.0


def sim(a, u, b, w):
    """Eq. 3 of two poses with unit velocities."""
    return sum(math.dist(p, q) * (1.0 + influence(x, y)) for p, q, x, y in zip(a, b, u, w))


def incoming(edges, means, node, still):
    """Unit velocities of the edges into a node; one of nothing but zeros where there is none."""
    found = [
        [unit(q - p, still) for p, q in zip(means[source], means[node])]
        for source, target in sorted(edges)
        if target == node
    ]
    return found or [[[0.0] * len(p) for p in means[node]]]


def visited(poses, threshold, still, peak, home):
    """Algorithm 1: the node of every pose."""
    means, counts, edges, visits = [np.zeros_like(poses[0])], [1], set(), [0]
    for f in range(1, len(poses)):
        velocity = [unit(q - p, still) for p, q in zip(poses[f - 1], poses[f])]
        values = [
            min(sim(poses[f], velocity, means[n], w) for w in incoming(edges, means, n, still))
            for n in range(len(means))
        ]
        if f == peak:
            values[0] = math.inf
        best = int(np.argmin(values))
        if home and f == len(poses) - 1:
            best = 0
        elif values[best] >= threshold:
            best = len(means)
            means.append(poses[f].copy())
            counts.append(1)
        elif best > 0:
            counts[best] += 1
            means[best] = means[best] + (poses[f] - means[best]) / counts[best]
        if best != visits[-1]:
            edges.add((visits[-1], best))
        visits.append(best)
    return visits


def merged(sample, edges, peak, label, nodes, node_edges, peaks, threshold, still, share):
    """Where the nodes of a sample (n, L, D) with its edges go in a graph that stands still meanwhile, without aligning.

    `peaks` has the label of the peak that a node holds, or -1.
    """
    nodes, peaks = list(nodes), list(peaks)
    velocities = [incoming(node_edges, nodes, n, still) for n in range(len(nodes))]
    chosen = [0]
    for k in range(1, len(sample)):
        mine = incoming(edges, sample, k, still)
        values = []
        for n, pose in enumerate(nodes):
            value = min(sim(sample[k], u, pose, w) for u in mine for w in velocities[n])
            foreign = k == peak and (n == 0 or peaks[n] not in (-1, label))
            values.append(math.inf if foreign else value)
        best = int(np.argmin(values))
        if values[best] >= threshold * (share if k == peak else 1.0):
            best = len(nodes)
            nodes.append(sample[k])
            velocities.append(mine)
            peaks.append(-1)
        if k == peak:
            peaks[best] = label
        chosen.append(best)
    return chosen
