"""Building a face graph from labelled takes: sample graphs, then all of them merged [Serra 2018, section 4].

Deterministic: the order in which takes are merged comes from the seed (the paper starts with a random one), and the
same takes with the same seed give the same bytes. `add_take` adds another take to a graph, without the takes that it
was built from.

The threshold that reaches a wanted compression is searched for each take [Serra 2018, section 4.3]. Too little
compression raises the threshold by the step, too much lowers it. Once the direction has turned, the step is halved each
time, and the search ends when the tolerance is met or the step is down to one unit. The paper's unit is the pixel; ours
is a part of the data's own spread, so that metres, pixels and weights are searched alike. Greedy merging is not
monotone in the threshold: the number of tries is capped, and the nearest compression that was reached is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.graph import sample_graph
from understudy.express.graph.coupling import Coupling
from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.express.graph.region_builder import RegionBuilder, merge_nodes
from understudy.express.graph.sample_graph import build_sample_graph, visit_poses
from understudy.express.sequence import ExpressionSequence, check_alike, regions_of

START_THRESHOLD_SPREADS = 0.125  # first threshold and step, in spreads: three to ten tries reach Table 1's values
THRESHOLD_STEP_SPREADS = 1 / 512  # smallest step, in spreads: a fortieth of the distance of neighbouring frames
MAX_THRESHOLD_TRIES = 48
MAX_THRESHOLD_SPREADS = 16.0  # in spreads: above it everything that may be merged is merged
MAX_SLOPE_TRIES = 4  # tries that extrapolate the share; later ones bisect, which always ends
TAKE_TOLERANCE_SHARE = 0.3  # of the tolerance, for each take: the errors of takes add up

# Of the peak's distance from neutral: a take returns to neutral where its last pose is nearer than this. Hand-made and
# preprocessed takes end within 0.02; recorded ones, cut where the face is calm, within 0.2; a take that stops at its
# peak is at 1.
MAX_RETURN_RATIO = 0.3

# How near to the wanted compression a graph is brought, in shares of the bytes and of the stages' compression.
COMPRESSION_TOLERANCE = 0.008


@dataclass(frozen=True, eq=False)
class BuildTrace:
    """A graph, and the nodes that each take passes."""

    graph: ExpressionGraph
    nodes: tuple[Array, ...]  # for each take (R, F): the node of each region and frame


@dataclass(frozen=True)
class CompressionTarget:
    """The share of nodes to be merged away, and its tolerance; 0.5 and 0.5 accept the first threshold."""

    compression: float
    tolerance: float

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0.0 <= float(value) <= 1.0:
                raise InvalidInput(f"{name} should lie between 0 and 1, but is {value}")

    def distance(self, reached: float) -> float:
        """Distance of a compression from the nearest one within the tolerance."""
        return max(abs(reached - self.compression) - self.tolerance, 0.0)


@dataclass(frozen=True, eq=False)
class _StageTargets:
    create: CompressionTarget
    merge: CompressionTarget
    align: bool


def build(
    sequences: Iterable[ExpressionSequence],
    *,
    compression: float = 0.85,
    tolerance: float = 0.1,
    merge_compression: float | None = None,
    merge_tolerance: float | None = None,
    regions: Mapping[str, Iterable[str]] | None = None,
    align: bool = False,
    seed: int = 0,
) -> ExpressionGraph:
    """The face graph of labelled takes.

    With `merge_compression` the two stages are searched as in the paper: `compression` is the share of a take's own
    poses that is merged away, `merge_compression` the share of its nodes that is then merged with nodes of other takes,
    each within its tolerance. Without it, `compression` is the share of the takes' bytes to be saved, or a little more.
    `regions` gives the members of each region by name or pattern, `align` aligns what is merged (see `region_builder`),
    `seed` is the order in which takes are merged.
    """
    return build_with_trace(
        sequences,
        compression=compression,
        tolerance=tolerance,
        merge_compression=merge_compression,
        merge_tolerance=merge_tolerance,
        regions=regions,
        align=align,
        seed=seed,
    ).graph


def build_with_trace(
    sequences: Iterable[ExpressionSequence],
    *,
    compression: float = 0.85,
    tolerance: float = 0.1,
    merge_compression: float | None = None,
    merge_tolerance: float | None = None,
    regions: Mapping[str, Iterable[str]] | None = None,
    align: bool = False,
    seed: int = 0,
) -> BuildTrace:
    """As `build`, with the node of every frame of every take."""
    takes = check_alike(sequences)
    members = regions_of(takes[0].names, None if regions is None else {k: list(v) for k, v in regions.items()})
    if merge_compression is None:
        return _build_for_bytes(takes, members, CompressionTarget(compression, tolerance), align, seed)
    late = tolerance if merge_tolerance is None else merge_tolerance
    goals = _StageTargets(CompressionTarget(compression, tolerance), CompressionTarget(merge_compression, late), align)
    return _build_graph(takes, members, goals, seed)


def add_take(graph: ExpressionGraph, sequence: ExpressionSequence, *, align: bool = False) -> ExpressionGraph:
    """The graph with one more take in it, merged as those before it were; its label may be new.

    The costs of all edges are computed again; everything else changes only where the take passes.
    """
    if sequence.names != graph.names or sequence.dimensions != graph.base.shape[1]:
        raise InvalidInput(
            f"sequence {sequence.name!r} should have the {len(graph.names)} points of the graph in "
            f"{graph.base.shape[1]} dimensions, in the same order, but has {len(sequence.names)} in "
            f"{sequence.dimensions}"
        )
    if abs(sequence.rate - graph.rate) > 1e-6 * graph.rate:
        raise InvalidInput(
            f"sequence {sequence.name!r} should have {graph.rate:g} frames a second, but has {sequence.rate:g}"
        )
    labels = tuple(sorted({*graph.labels, sequence.label}))
    columns = np.array([labels.index(label) for label in graph.labels])
    goals = _StageTargets(CompressionTarget(*graph.asked[:2]), CompressionTarget(*graph.asked[2:]), align)
    grown = []
    for region in graph.regions:
        growing = RegionBuilder.from_graph(region, graph.base[region.members], columns, len(labels))
        _merge_take(growing, sequence, labels.index(sequence.label), goals)
        grown.append(growing.to_graph())
    base = graph.base + (sequence.points[0] - graph.base) / (graph.takes + 1)
    members = {region.name: region.members for region in graph.regions}
    coupling = None if graph.coupling is None else graph.coupling.with_take(sequence, members)
    return replace(graph, base=base, labels=labels, regions=tuple(grown), coupling=coupling, takes=graph.takes + 1)


def raw_bytes(sequences: Iterable[ExpressionSequence]) -> int:
    """Bytes of the takes' points: what the data compression of a graph is measured against."""
    return sum(sequence.points.nbytes for sequence in sequences)


def _build_for_bytes(
    takes: list[ExpressionSequence], regions: Mapping[str, Array], goal: CompressionTarget, align: bool, seed: int
) -> BuildTrace:
    """The graph that keeps the most while it saves `goal.compression` of the bytes or a little more.

    Where none saves as much, as with takes of a few frames, it is the one that saves the most.
    """
    raw = raw_bytes(takes)
    low, high, share = 0.0, 1.0, goal.compression
    tries: list[tuple[float, BuildTrace]] = []
    while high - low > COMPRESSION_TOLERANCE:
        stages = (
            CompressionTarget(share, TAKE_TOLERANCE_SHARE * goal.tolerance),
            CompressionTarget(_merging_share(share), TAKE_TOLERANCE_SHARE * goal.tolerance),
        )
        trace = _build_graph(takes, regions, _StageTargets(*stages, align), seed)
        saved = 1.0 - trace.graph.bytes / raw
        tries.append((saved, trace))
        if 0.0 <= saved - goal.compression <= COMPRESSION_TOLERANCE:
            break
        low, high = (share, high) if saved < goal.compression else (low, share)
        # bytes are about proportional to the poses left of takes; outside of the known interval it is bisected
        share = 1.0 - (1.0 - share) * (1.0 - goal.compression - COMPRESSION_TOLERANCE / 2) / (1.0 - saved)
        share = share if low < share < high and len(tries) < MAX_SLOPE_TRIES else (low + high) / 2
    enough = [attempt for attempt in tries if attempt[0] >= goal.compression]
    if enough:
        return min(enough, key=lambda attempt: attempt[0])[1]
    return max(tries, key=lambda attempt: attempt[0])[1]


def _merging_share(share: float) -> float:
    """The compression of merging where takes lose `share` of their own poses.

    Half of it: a take's neighbouring poses are more alike than those of two takes. For the same 86 % of the bytes of
    the face's takes, the landmarks are 0.92 px off with 0.88 and 0.5, and 1.13 px with 0.7 and 0.8. Beyond nine tenths
    there is little left to merge within a take, and takes have to share nodes.
    """
    return share / 2 if share < 0.9 else 0.45 + 5.5 * (share - 0.9)


def _build_graph(
    takes: list[ExpressionSequence], regions: Mapping[str, Array], goals: _StageTargets, seed: int
) -> BuildTrace:
    labels = tuple(sorted({take.label for take in takes}))
    base = np.mean([take.points[0] for take in takes], axis=0)
    order = np.random.default_rng(seed).permutation(len(takes))
    growing = [
        RegionBuilder(name, members, base[members], len(labels), _threshold_unit(takes, members))
        for name, members in regions.items()
    ]
    nodes = [np.empty((0, 0))] * len(takes)
    for number in order:
        take = takes[number]
        label = labels.index(take.label)
        nodes[number] = np.stack([_merge_take(region, take, label, goals) for region in growing])
    graph = ExpressionGraph(
        names=takes[0].names,
        base=base,
        labels=labels,
        rate=takes[0].rate,
        regions=tuple(region.to_graph() for region in growing),
        coupling=Coupling.learn(takes, regions),
        takes=len(takes),
        asked=(goals.create.compression, goals.create.tolerance, goals.merge.compression, goals.merge.tolerance),
    )
    return BuildTrace(graph, tuple(nodes))


def _threshold_unit(takes: list[ExpressionSequence], members: Array) -> float:
    """The unit of thresholds: the mean over all poses of their summed distance from the base pose."""
    moved = [np.linalg.norm(take.displacements[:, members], axis=2).sum(axis=1) for take in takes]
    # a region that never moves still needs a unit; it has one node beside the peaks with any unit
    return max(float(np.concatenate(moved).mean()), 1e-12)


def _merge_take(region: RegionBuilder, take: ExpressionSequence, label: int, goals: _StageTargets) -> Array:
    """Merge one take into a region with thresholds searched for it: (F,) the node of each frame."""
    poses = np.ascontiguousarray(take.displacements[:, region.members])
    units = sample_graph.units_of(np.diff(poses, axis=0, prepend=poses[:1]), region.still)
    home = returns_to_neutral(take)

    def visits(threshold: float) -> Array:
        return visit_poses(poses, units, threshold, region.still, take.peak, home)

    create = search_threshold(lambda t: 1.0 - (visits(t).max() + 1) / len(poses), goals.create, region.spread)
    sample = build_sample_graph(poses, visits(create), take.peak, region.still)
    standing = region.snapshot()

    def reached(threshold: float) -> float:
        merging = merge_nodes(sample, label, standing, threshold, goals.align)
        return 1.0 - merging.new_node_count(standing) / len(sample.counts)

    threshold = search_threshold(reached, goals.merge, region.spread)
    spans = (take.peak, len(poses) - 1 - take.peak)
    return region.add_sample(sample, label, merge_nodes(sample, label, standing, threshold, goals.align), spans, home)


def returns_to_neutral(take: ExpressionSequence) -> bool:
    """Whether the take ends near neutral, so that its last node is node 0."""
    moved = np.linalg.norm(take.displacements, axis=2).sum(axis=1)
    return bool(moved[-1] <= MAX_RETURN_RATIO * moved[take.peak])


def search_threshold(reached_at: Callable[[float], float], goal: CompressionTarget, spread: float) -> float:
    """The threshold found for `reached_at(threshold) -> compression`; among equally near ones the first."""
    threshold = step = START_THRESHOLD_SPREADS * spread
    direction, turned = 0, False
    best, nearest = threshold, float("inf")
    for _ in range(MAX_THRESHOLD_TRIES):
        reached = reached_at(threshold)
        # the nearest to the wanted compression is kept, though anything within the tolerance ends the search
        if abs(reached - goal.compression) < nearest:
            best, nearest = threshold, abs(reached - goal.compression)
        if goal.distance(reached) <= 1e-12:
            return threshold
        sign = 1 if reached < goal.compression else -1
        turned = turned or sign == -direction
        direction = sign
        if turned:
            step /= 2
        while threshold + sign * step <= 0.0:  # thresholds are positive: a smaller step
            step, turned = step / 2, True
        if step < THRESHOLD_STEP_SPREADS * spread or threshold + sign * step > MAX_THRESHOLD_SPREADS * spread:
            break
        threshold += sign * step
    return best
