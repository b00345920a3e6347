"""Actor: a face graph ready to act, with what is found once and used by every face of a crowd."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from understudy.checks import Array
from understudy.expression.acting.paths import Routes
from understudy.expression.graph.face_graph import FaceGraph

_KNOWN: WeakKeyDictionary[FaceGraph, Actor] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Actor:
    """A graph, its routes, and how alike the peaks of each region are."""

    graph: FaceGraph
    routes: tuple[Routes, ...]  # (R,)

    @cached_property
    def candidates(self) -> dict[str, tuple[Array, ...]]:
        """Label -> (R,) the nodes that hold a peak of it, in each region; neutral where a region has none."""
        found = {}
        for number, label in enumerate(self.graph.labels):
            nodes = (region.peaks_of(number) for region in self.graph.regions)
            found[label] = tuple(each if len(each) else np.zeros(1, np.int64) for each in nodes)
        return found

    @cached_property
    def codes(self) -> tuple[Array, ...]:
        """(R,) of (N, K): the code of every node."""
        coupling = self.graph.coupling
        if coupling is None:
            return tuple(np.zeros((region.nodes, 1)) for region in self.graph.regions)
        return tuple(coupling.code(r, region.displacements) for r, region in enumerate(self.graph.regions))

    @cached_property
    def spreads(self) -> Array:
        """(R,) the usual distance of two peaks' codes, the unit in which coupling measures likeness."""
        spreads = [codes[routes.sinks].std(axis=0) for codes, routes in zip(self.codes, self.routes)]
        return np.array([max(float(np.sqrt((each**2).sum())), 1e-12) for each in spreads])

    @cached_property
    def flat(self) -> tuple[tuple[Array, Array, Array, Array], ...]:
        """(R,) of displacements (N, n), velocities (N, n), runs (N,) and members, as the kernels take them."""
        regions = self.graph.regions
        return tuple(
            (r.displacements.reshape(r.nodes, -1), r.velocities.reshape(r.nodes, -1), r.runs, np.asarray(r.members))
            for r in regions
        )

    @cached_property
    def limits(self) -> tuple[Array, Array, Array]:
        """Range (L, D) of the data's displacements, lowest and highest, and (R,) the greatest speed of each region."""
        graph, coupling = self.graph, self.graph.coupling
        if coupling is not None:
            return coupling.lowest, coupling.highest, coupling.fastest
        lowest, highest = np.zeros(graph.base.shape), np.zeros(graph.base.shape)
        for region in graph.regions:
            lowest[region.members] = region.displacements.min(axis=0)
            highest[region.members] = region.displacements.max(axis=0)
        return lowest, highest, np.full(len(graph.regions), np.inf)

    def take(self, label: str | None, rng: np.random.Generator) -> int | None:
        """A take of the label to be like; None of neutral, or where nothing is known of takes."""
        draw = rng.random()
        coupling = self.graph.coupling
        takes = coupling.takes_of(label) if coupling is not None and label is not None else np.zeros(0, int)
        return int(takes[int(draw * len(takes))]) if len(takes) else None

    def sinks(
        self, label: str | None, take: int | None, coupling: float, here: Array, rng: np.random.Generator
    ) -> Array:
        """(R,) a peak of the label in each region, or neutral.

        A peak whose code lies d spreads from the take's is chosen with a weight exp(-d^2 / 2h^2), h = (1 - c) / c: any
        peak at coupling c = 0, the most alike at 1. The peak that a region is at (`here`) is left if there is another.
        """
        draws = rng.random(len(self.routes))
        if label is None:
            return np.zeros(len(self.routes), np.int64)
        result = np.zeros(len(self.routes), np.int64)
        learned = self.graph.coupling
        for r, nodes in enumerate(self.candidates[label]):
            others = nodes[nodes != here[r]]
            nodes = others if len(others) else nodes
            if len(nodes) == 1:
                result[r] = nodes[0]
                continue
            weights = np.ones(len(nodes))
            if take is not None and learned is not None and coupling > 0.0:
                d2 = ((self.codes[r][nodes] - learned.codes[take, r]) ** 2).sum(axis=1) / self.spreads[r] ** 2
                h = max((1.0 - coupling) / coupling, 1e-3)
                weights = np.exp(-(d2 - d2.min()) / (2.0 * h * h))
            chosen = np.searchsorted(np.cumsum(weights), draws[r] * weights.sum(), side="right")
            result[r] = nodes[min(int(chosen), len(nodes) - 1)]
        return result


def actor_of(graph: FaceGraph) -> Actor:
    """The actor of a graph, made once for as long as the graph lives."""
    found = _KNOWN.get(graph)
    if found is None:
        found = _KNOWN[graph] = Actor(graph, tuple(Routes(region) for region in graph.regions))
    return found
