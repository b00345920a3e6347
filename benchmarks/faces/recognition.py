"""Whether labels are still recognised: a classifier that never saw the takes behind a graph names what it acts.

Half of the takes of every label build the graph, the other half train the classifier, and then the halves change
places; all of it for several ways to halve them. The classifier is linear discriminants of the apex, the common
covariance shrunk towards a multiple of one, since there are fewer takes than numbers. It looks at ARKit weights: at the
sum of left and right and at how they differ, since a smirk is one on either side. How many of the takes in the graph it
names right is the measure of what can be asked of it. The same is asked of words that are acted one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass

import numpy as np

from understudy.express import ExpressionSequence
from understudy.express.acting.synthesis import crowd
from understudy.express.graph import ExpressionGraph, build

SHRINKING = 0.2
COMPONENTS = 20
SEEDS = 2  # ways to halve the takes
DIALS = (0.0, 0.5, 1.0)  # of the coupling
FINE = 60.0  # frames a second of what is acted, so that a frame is at the apex


@dataclass(frozen=True, eq=False)
class Recognition:
    """Shares named right: of the takes that built the graph, and of what the graph acts by the dial of its coupling,
    a word alone and words in a row."""

    shown: float
    acted: dict[float, float]
    rows: dict[float, float]

    @classmethod
    def of(cls, takes: Many[ExpressionSequence], faces: int, words: Many[str]) -> Recognition:
        """Over `faces` performances a dial, as many of each label, and as many of the words; takes are of weights."""
        look = Sides(takes[0].names)
        shown: list[bool] = []
        acted: dict[float, list[bool]] = {dial: [] for dial in DIALS}
        rows: dict[float, list[bool]] = {dial: [] for dial in DIALS}
        for inside, outside in _halves(takes):
            values = np.array([look(take.displacements[take.peak]) for take in outside])
            classifier = Discriminants(values, [take.label for take in outside])
            shown += [classifier.name(look(take.displacements[take.peak])) == take.label for take in inside]
            graph = build(inside, compression=0.85)
            each, whole = -(-faces // (2 * SEEDS * len(graph.labels))), -(-faces // (2 * SEEDS))
            for dial in DIALS:
                for label in graph.labels:
                    acted[dial] += _named(classifier, look, graph, [label], each, dial)
                rows[dial] += _named(classifier, look, graph, words, whole, dial)
        return cls(float(np.mean(shown)), _shares(acted), _shares(rows))


def _named(
    classifier: Discriminants, look: Sides, graph: ExpressionGraph, words: Many[str], faces: int, dial: float
) -> list[bool]:
    """Of every apex whether it is named as the word that it was acted for."""
    acted = crowd(graph, words, faces, coupling=dial, life=0.0, back=False, rate=FINE)
    return [
        classifier.name(look(face.displacements[int(peak)])) == word
        for face in acted
        for word, peak in zip(words, face.peaks)
    ]


def _shares(right: dict[float, list[bool]]) -> dict[float, float]:
    return {dial: float(np.mean(values)) for dial, values in right.items()}


class Sides:
    """What a pose of weights looks like, whichever side it is on: sums and differences of left and right."""

    def __init__(self, names: Many[str]) -> None:
        other = [name.replace("Left", "Right") for name in names]
        self.pairs = [(i, names.index(name)) for i, name in enumerate(other) if name != names[i] and name in names]
        self.single = [i for i, name in enumerate(names) if "Left" not in name and "Right" not in name]

    def __call__(self, pose: np.ndarray) -> np.ndarray:
        """(C,) of a pose (L, 1)."""
        left, right = pose[[i for i, _ in self.pairs], 0], pose[[j for _, j in self.pairs], 0]
        return np.concatenate([left + right, np.abs(left - right), np.abs(pose[self.single, 0])])


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


def _halves(takes: Many[ExpressionSequence]) -> Iterator[tuple[list[ExpressionSequence], list[ExpressionSequence]]]:
    labels = sorted({take.label for take in takes})
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        first: set[str] = set()
        for label in labels:
            names = sorted(take.name for take in takes if take.label == label)
            first |= set(rng.permutation(names)[: len(names) // 2].tolist())
        one = [take for take in takes if take.name in first]
        two = [take for take in takes if take.name not in first]
        yield one, two
        yield two, one
