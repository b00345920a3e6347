"""Whether labels are still recognised: a classifier that never saw the takes behind a graph names what it acts.

Half of the takes of every label build the graph, the other half train the classifier: linear discriminants of the
landmarks at the apex, the common covariance shrunk towards its diagonal, since there are fewer takes than numbers.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass

import numpy as np

from understudy.expression import Sequence
from understudy.expression.acting.crowd import crowd
from understudy.expression.graph import build

SHRINKING = 0.5
COMPONENTS = 20


@dataclass(frozen=True, eq=False)
class Recognition:
    """Shares named right: of the takes that built the graph, and of what the graph acts."""

    shown: float
    acted: float

    @classmethod
    def of(cls, takes: Many[Sequence], faces: int) -> Recognition:
        """With every other take of a label in the graph."""
        inside, outside = _halves(takes)
        classifier = Discriminants(np.array([apex(take) for take in outside]), [take.label for take in outside])
        graph = build(inside, compression=0.85)
        right = [classifier.name(apex(take)) == take.label for take in inside]
        each = -(-faces // len(graph.labels))
        acted = []
        for label in graph.labels:
            for face in crowd(graph, label, each, life=0.0, back=False):
                acted.append(classifier.name(face.displacements[int(face.peaks[0])].ravel()) == label)
        return cls(float(np.mean(right)), float(np.mean(acted)))

    def named(self) -> dict[str, float]:
        """By what they are of."""
        return {"takes unseen by it": self.shown, "acted": self.acted}


class Discriminants:
    """Linear discriminants of rows (N, C) with labels, on their principal components."""

    def __init__(self, values: np.ndarray, labels: Many[str]) -> None:
        self.labels = sorted(set(labels))
        self.mean = values.mean(axis=0)
        _, size, directions = np.linalg.svd(values - self.mean, full_matrices=False)
        self.directions = directions[: min(COMPONENTS, int((size > 1e-9 * size[0]).sum()))]
        codes = (values - self.mean) @ self.directions.T
        which = np.array([self.labels.index(label) for label in labels])
        self.centres = np.array([codes[which == k].mean(axis=0) for k in range(len(self.labels))])
        spread = np.cov((codes - self.centres[which]).T)
        spread = (1 - SHRINKING) * spread + SHRINKING * np.eye(len(spread)) * np.trace(spread) / len(spread)
        self.precision = np.linalg.inv(spread)

    def name(self, value: np.ndarray) -> str:
        """The label whose centre is nearest in units of the spread within labels."""
        off = (value - self.mean) @ self.directions.T - self.centres
        return self.labels[int(np.argmin(np.einsum("kc,cd,kd->k", off, self.precision, off)))]


def apex(take: Sequence) -> np.ndarray:
    """(L D,) displacements at the peak."""
    return np.asarray(take.displacements[take.peak].ravel())


def _halves(takes: Many[Sequence]) -> tuple[list[Sequence], list[Sequence]]:
    seen: dict[str, int] = {}
    halves: tuple[list[Sequence], list[Sequence]] = ([], [])
    for take in takes:
        seen[take.label] = seen.get(take.label, 0) + 1
        halves[seen[take.label] % 2].append(take)
    return halves
