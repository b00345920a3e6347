"""Table 1 of [Serra 2018]: what was asked and what was measured, and the same columns measured on graphs of ours."""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass
from time import process_time
from typing import NamedTuple

import numpy as np
from benchmarks.measures.express import Fidelity, fidelity

from understudy.express import ExpressionSequence
from understudy.express.acting.synthesis import act
from understudy.express.graph import BuildTrace, build_with_trace, dead_ends, raw_bytes

SMOOTHING = 1.0  # sigmoids, as in the paper


class Paper(NamedTuple):
    """A row as printed: what was asked of the two stages, and the means of the columns."""

    create: tuple[float, float]
    merge: tuple[float, float]
    build: float  # seconds
    nodes: float  # per cent saved
    data: float  # per cent saved
    duration: float  # frames
    landmark: float  # pixels
    angle: float  # per cent
    synthesis: float  # seconds


PAPER = (
    Paper((0.1, 0.1), (0.2, 0.2), 3411.1, -54.07, 22.74, 0.0, 1.43, 14.49, 0.39),
    Paper((0.1, 0.1), (0.3, 0.2), 5560.3, -10.27, 44.22, 0.0, 1.67, 14.85, 0.49),
    Paper((0.1, 0.1), (0.4, 0.2), 4973.2, 8.37, 53.02, 0.0, 1.84, 15.06, 0.55),
    Paper((0.2, 0.1), (0.5, 0.3), 2859.6, 38.0, 66.8, 0.0, 2.09, 15.64, 0.72),
    Paper((0.2, 0.1), (0.6, 0.3), 1575.0, 56.36, 74.36, 0.03, 2.33, 16.75, 0.89),
    Paper((0.2, 0.1), (0.7, 0.3), 1280.4, 58.76, 75.66, 0.029, 2.39, 16.83, 0.90),
    Paper((0.2, 0.1), (0.7, 0.2), 1892.1, 57.59, 75.54, 0.014, 2.37, 16.61, 0.88),
    Paper((0.2, 0.1), (0.8, 0.2), 2253.8, 60.94, 77.66, 0.043, 2.46, 16.89, 0.91),
    Paper((0.3, 0.1), (0.6, 0.3), 1227.5, 57.92, 75.5, 0.029, 2.33, 17.07, 0.87),
    Paper((0.4, 0.1), (0.6, 0.3), 1038.2, 60.38, 77.0, 0.057, 2.30, 16.40, 0.84),
    Paper((0.5, 0.1), (0.6, 0.3), 887.5, 62.5, 78.2, 0.043, 2.12, 16.54, 0.88),
    Paper((0.5, 0.1), (0.8, 0.1), 1576.6, 65.0, 80.3, 0.057, 2.26, 16.63, 0.96),
    Paper((0.6, 0.1), (0.7, 0.2), 951.4, 67.5, 81.6, 0.014, 2.07, 16.25, 0.98),
    Paper((0.7, 0.1), (0.7, 0.2), 814.7, 73.8, 85.3, 0.014, 1.91, 16.16, 0.96),
    Paper((0.7, 0.1), (0.8, 0.1), 905.1, 75.1, 85.99, 0.11, 2.0, 16.42, 1.02),
)


@dataclass(frozen=True, eq=False)
class Measured:
    """The same columns of ours; times are of the processor."""

    traced: BuildTrace
    build: float  # seconds
    nodes: float  # per cent saved
    data: float  # per cent saved
    errors: Fidelity
    synthesis: float  # milliseconds

    @property
    def reachable(self) -> bool:
        """Whether every label can be reached from every node of every region."""
        return not any(len(dead_ends(region)) for region in self.traced.graph.regions)


def measured(takes: Many[ExpressionSequence], **options: float) -> Measured:
    """Build a graph of the takes and measure it."""
    start = process_time()
    made = build_with_trace(takes, **options)  # type: ignore[arg-type]
    build = process_time() - start
    graph = made.graph
    return Measured(
        traced=made,
        build=build,
        nodes=100 * (1 - graph.nodes / sum(map(len, takes))),
        data=100 * (1 - graph.bytes / raw_bytes(takes)),
        errors=fidelity(made, takes, SMOOTHING),
        synthesis=synthesis(made),
    )


def synthesis(made: BuildTrace, repeats: int = 3) -> float:
    """Milliseconds of a performance of one label, smoothed, from neutral and back: the median over labels and seeds."""
    graph = made.graph
    act(graph, graph.labels[0])
    times = []
    for seed in range(repeats):
        for label in graph.labels:
            start = process_time()
            act(graph, label, seed=seed, smoothing=SMOOTHING)
            times.append(process_time() - start)
    return float(1e3 * np.median(times))


def asked(row: Paper) -> dict[str, float]:
    """What `traced` is called with for a row of the paper."""
    names = ("compression", "tolerance", "merge_compression", "merge_tolerance")
    return dict(zip(names, (*row.create, *row.merge)))
