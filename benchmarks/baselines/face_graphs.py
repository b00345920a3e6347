"""Baselines of face graphs: one graph for the whole face, and the all-pairs graph of Zhang et al. 2004.

**Whole face** (`build_holistic`) [Serra 2018, section 4]. Regions never come apart, since every pose is one of the
data; but the brows of one take never meet the mouth of another, and poses are merged only where all of the face is
alike.

**All pairs** (`build_all_pairs`), from "Spacetime faces" [Zhang et al. 2004], as [Serra 2018, sections 2 and 6]
describes it: every pose is a node, joined to every other; nothing is merged, the path is the shortest by an L2 distance
of poses and velocities, and its poses are played as they are. As a path's cost the distance is squared,

    w(a, b) = sum_i |a_i - b_i|^2 + eta |a'_i - b'_i|^2,

since by the distance itself the direct jump would always be the shortest: squared, many small steps cost less than one
large one, and the path goes through poses between. All motion is kept, at the price of a matrix of P^2 numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.express.graph.graph_builder import BuildTrace, build_with_trace
from understudy.express.sequence import ExpressionSequence, check_alike

__all__ = ["AllPairsGraph", "build_all_pairs"]

WHOLE_FACE_REGION = "face"

VELOCITY_WEIGHT = 1.0  # weight of the velocities, which are displacements a frame


def build_holistic(sequences: Iterable[ExpressionSequence], **options: Any) -> ExpressionGraph:
    """A face graph with a single region that holds every landmark or weight."""
    return build_holistic_with_trace(sequences, **options).graph


def build_holistic_with_trace(sequences: Iterable[ExpressionSequence], **options: Any) -> BuildTrace:
    """The same with its trace (`graph_builder.build_with_trace`)."""
    takes = list(sequences)
    regions = {WHOLE_FACE_REGION: takes[0].names} if takes else None
    return build_with_trace(takes, regions=regions, **options)


@dataclass(frozen=True, eq=False)
class AllPairsGraph:
    """P poses of L landmarks, the neutral pose first, and the weights between all of them."""

    names: tuple[str, ...]  # (L,)
    base: Array  # (L, D) mean neutral
    labels: tuple[str, ...]  # (Q,) sorted
    rate: float  # frames a second
    poses: Array  # (P, L, D) displacements; pose 0 is neutral
    peaks: Array  # (K, 2) pose and number of the label of each peak
    weights: Array  # (P, P) float32

    @property
    def bytes(self) -> int:
        """Of its arrays."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def peaks_of(self, label: str) -> Array:
        """(n,) the poses that are peaks of a label."""
        number = self.labels.index(checks.one_of(label, "label", self.labels))
        return np.asarray(self.peaks[self.peaks[:, 1] == number, 0])

    def path(self, source: int, sink: int) -> Array:
        """(n,) the poses on the shortest path, both ends included: Dijkstra on a dense matrix, P^2 steps."""
        many = len(self.poses)
        for name, pose in (("source", source), ("sink", sink)):
            if not 0 <= pose < many:
                raise InvalidInput(f"{name} should lie between 0 and {many - 1}, but is {pose}")
        cost = np.full(many, np.inf)
        before = np.full(many, -1)
        waiting = np.zeros(many)  # infinity once a pose is settled
        cost[source] = 0.0
        while True:
            nearest = int(np.argmin(cost + waiting))
            if nearest == sink:
                break
            waiting[nearest] = np.inf
            through = cost[nearest] + self.weights[nearest]
            nearer = through < cost
            cost[nearer] = through[nearer]
            before[nearer] = nearest
        way = [sink]
        while way[-1] != source:
            way.append(int(before[way[-1]]))
        return np.array(way[::-1])

    def act_labels(self, labels: Sequence[str], seed: int = 0) -> tuple[Array, Array]:
        """(F, L, D) points from neutral to a peak of each label in turn, and (n,) the frames of these peaks."""
        rng = np.random.default_rng(seed)
        way, frames = np.zeros(1, np.int64), []
        for label in labels:
            way = np.append(way, self.path(int(way[-1]), int(rng.choice(self.peaks_of(label))))[1:])
            frames.append(len(way) - 1)
        return self.base + self.poses[way], np.array(frames)


def build_all_pairs(sequences: Iterable[ExpressionSequence], eta: float = VELOCITY_WEIGHT) -> AllPairsGraph:
    """The graph of labelled takes."""
    takes = check_alike(sequences)
    labels = tuple(sorted({take.label for take in takes}))
    # the first pose of every take is neutral, and is the node that all of them share
    parts = [np.zeros_like(takes[0].points[:1]), *(take.displacements[1:] for take in takes)]
    speeds = [np.zeros_like(parts[0]), *(np.diff(take.displacements, axis=0) for take in takes)]
    starts = 1 + np.cumsum([0, *(len(take) - 1 for take in takes)])
    peaks = [(start + take.peak - 1, labels.index(take.label)) for start, take in zip(starts, takes)]
    poses = np.concatenate(parts)
    features = np.concatenate([poses, np.sqrt(eta) * np.concatenate(speeds)], axis=1).reshape(len(poses), -1)
    return AllPairsGraph(
        names=takes[0].names,
        base=np.mean([take.points[0] for take in takes], axis=0),
        labels=labels,
        rate=takes[0].rate,
        poses=poses,
        peaks=np.array(peaks),
        weights=_squared_distances(features).astype(np.float32),
    )


def _squared_distances(rows: Array) -> Array:
    """(P, P) between all rows (P, C)."""
    squares = (rows**2).sum(axis=1)
    found = np.maximum(squares[:, None] + squares - 2.0 * rows @ rows.T, 0.0)
    np.fill_diagonal(found, 0.0)
    return found
