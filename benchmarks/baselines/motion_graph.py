"""Motion graphs: clips cut and rejoined where they are alike [Kovar, Gleicher and Pighin 2002, "Motion Graphs"; KGP02].

The baseline that [Bailey 2016, section 6] compares with: rig parameters, blends of 12 frames. Departures from KGP02 are
named below; besides, the threshold is found from the data, and a clip may have several labels and counts for each.

**Distance** of two windows of frames [section 3.1]. A window of poses includes their motion, so velocities and
accelerations count without being named. KGP02 compares clouds of points that hang on the skeleton, after rotating and
shifting one cloud onto the other on the floor. Here a pose is a row of numbers in comparable units by the choice of the
caller: rig parameters (the comparison of [Bailey 2016, section 6]), features scaled by their influence on the mesh, or
points of the mesh itself. Features hold no travel over the floor, so there is nothing to rotate.

**Candidates** for a transition from one clip to another are local minima of the window distance [section 3.2].

**Graph** of the frames, its strongly connected part, and the quickest paths through it [sections 3.3 and 4]. KGP02 has
clips as edges and choice points as nodes. With a frame a node, the frame that follows it one edge away and a transition
`window` edges away, the graph is the same, and scipy answers every question.

**Blend** of two windows [section 3.2], without a floor to align on:

    alpha(p) = 2 ((p + 1) / k)^3 - 3 ((p + 1) / k)^2 + 1,    -1 < p < k

is 1 at p = -1 (the last frame before the blend) and 0 at p = k - 1 (its last frame), flat at both, so the blend is C1.

**Reach**: the shares of labels and frames that can be reached, KGP02's two warnings as numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths import quaternion

__all__ = ["GraphPiece", "GraphReach", "MotionGraph", "blend_windows", "fade", "seams_of"]

BLEND_WINDOW_FRAMES = 12  # as in Bailey 2016; KGP02 has a third of a second

NO_NEXT_FRAME = -1  # after the last frame of a path


@dataclass(frozen=True, eq=False)
class Candidates:
    """T pairs of windows of `window` frames, frames counted through all clips: `first` begins in the clip left,
    `second` in the clip entered, at `distance` of each other. Each pair stands here in both directions."""

    first: Array  # (T,) int
    second: Array  # (T,) int
    distance: Array  # (T,) float

    def filter_by_threshold(self, threshold: float) -> Candidates:
        """Those at most `threshold` apart."""
        near = self.distance <= threshold
        return Candidates(self.first[near], self.second[near], self.distance[near])


@dataclass(frozen=True, slots=True)
class GraphPiece:
    """Frames `start` to `stop` (not included) of a clip; in a blend, faded into those of `onto` from `onto_start`."""

    clip: int
    start: int
    stop: int
    onto: int | None = None
    onto_start: int = 0

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class GraphReach:
    """Shares from 0 to 1; `missing` names the ordered pairs of labels without a path."""

    labels: float  # of ordered pairs of labels: from some kept frame of the first, a way to the second
    moments: float  # of frames and other labels: from this very frame, pruned or not, a way to that label
    frames: float  # of all frames: kept after pruning
    label_frames: Mapping[str, float]  # of each label's frames: kept
    transitions: int
    missing: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class MotionGraph:
    """Clips, the transitions between them, and the frames that are left after pruning.

    Frames are counted through all clips: frame f of clip c is `starts[c] + f`, N in all. A transition leaves after the
    frame `leave`, blends for `window` frames and is at the frame `enter` with the last of them.
    """

    clips: tuple[Array, ...]  # each (F, E)
    labels: tuple[tuple[str, ...], ...]  # of each clip
    rate: float  # frames a second
    window: int  # frames of a blend
    threshold: float  # in the units of the compared numbers
    leave: Array  # (T,) int
    enter: Array  # (T,) int
    distance: Array  # (T,) of each transition, at most `threshold`
    kept: Array  # (N,) bool
    rotations: Array  # (R,) columns at which quaternions begin

    @classmethod
    def fit(
        cls,
        clips: Sequence[ArrayLike],
        labels: Sequence[str | Iterable[str]],
        rate: float,
        scale: ArrayLike | None = None,
        threshold: float | None = None,
        quantile: float | None = None,
        window: int = BLEND_WINDOW_FRAMES,
        compared: Sequence[ArrayLike] | None = None,
        rotations: ArrayLike = (),
        prune: str = "labels",
        taper: bool = True,
    ) -> MotionGraph:
        """The graph of clips (F, E), each with a label or several.

        Compared are the columns as they are, or times `scale` (E,), such as their influence on the mesh, or `compared`
        (F, P) in their place, such as points of the mesh. Candidates are taken up to `threshold`, or up to the
        `quantile` of their distances. With neither, the threshold is the smallest at which every label can be reached
        from every other: KGP02 asks the user to raise it until that is so.

        `prune` is "labels", KGP02's own: the largest strongly connected component of each label by itself, so that
        motion of one label can go on for ever; or "whole", that of everything, in which a label may be passed through
        and not stayed in.
        """
        clips, labels = _check_clips(clips, labels, window)
        given = clips if compared is None else tuple(_rows(clip, "compared", None) for clip in compared)
        if [len(clip) for clip in given] != [len(clip) for clip in clips]:
            raise InvalidInput("compared should have the frames of the clips, clip by clip, but has others")
        if scale is not None:
            factor = checks.array(scale, "scale", (given[0].shape[1],))
            given = tuple(clip * factor for clip in given)
        checks.one_of(prune, "way to prune", ("whole", "labels"))
        found = find_candidates(given, window_weights(window, taper))
        ends = np.cumsum([len(clip) for clip in clips])
        usable = ~np.isin(found.first, np.concatenate([[0], ends[:-1]]))  # there is a frame to leave from
        found = Candidates(found.first[usable], found.second[usable], found.distance[usable])
        loose = cls(
            clips=clips,
            labels=labels,
            rate=checks.positive(rate, "rate"),
            window=window,
            threshold=np.inf,
            leave=found.first - 1,
            enter=found.second + window - 1,
            distance=found.distance,
            kept=np.zeros(ends[-1], bool),
            rotations=checks.array(rotations, "rotations", ("R",), np.int64),
        )
        if threshold is None and quantile is not None:
            threshold = float(np.quantile(found.distance, quantile)) if len(found.distance) else 0.0
        return loose.with_threshold(loose.threshold_for_reach(prune) if threshold is None else threshold, prune)

    def with_threshold(self, threshold: float, prune: str = "labels") -> MotionGraph:
        """The same graph with the transitions of at most `threshold` alone, pruned anew."""
        near = self.distance <= threshold
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields |= {name: checks.freeze(fields[name][near]) for name in ("leave", "enter", "distance")}
        cut = MotionGraph(**fields | {"threshold": float(threshold)})
        return MotionGraph(**fields | {"threshold": float(threshold), "kept": checks.freeze(cut.frames_to_keep(prune))})

    def threshold_for_reach(self, prune: str = "labels") -> float:
        """The smallest threshold at which every label is reached from every other; the largest distance if none is.

        By bisection: more transitions never take a way off, though the largest component may become another one.
        """
        levels = np.unique(self.distance)
        low, high = 0, len(levels) - 1
        while low < high:
            middle = (low + high) // 2
            if self.with_threshold(levels[middle], prune).reach().labels == 1.0:
                high = middle
            else:
                low = middle + 1
        return float(levels[low]) if len(levels) else 0.0

    def frames_to_keep(self, prune: str = "labels") -> Array:
        """(N,) bool, the frames from which motion never has to stop: see `fit` for the two ways."""
        if prune == "whole":
            return largest_component(self.graph, np.ones(len(self), bool))
        parts = [largest_component(self.graph, self.frames_of(label)) for label in self.all_labels]
        return np.asarray(np.any(parts, axis=0))

    def __len__(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def starts(self) -> Array:
        """(clips + 1,) the first frame of each clip, and N."""
        return np.cumsum([0, *(len(clip) for clip in self.clips)])

    @cached_property
    def all_labels(self) -> tuple[str, ...]:
        """Each label once, in the order of the clips."""
        return tuple(dict.fromkeys(label for labels in self.labels for label in labels))

    @cached_property
    def graph(self) -> Any:
        """(N, N) sparse: frames from one frame to another, along clips and transitions."""
        follows = np.ones(len(self), bool)
        follows[self.starts[1:] - 1] = False
        return adjacency(follows, self.leave, self.enter, self.window)

    def frames_of(self, label: str) -> Array:
        """(N,) true for the frames of clips that carry the label."""
        checks.one_of(label, "label", self.all_labels)
        return np.repeat([label in labels for labels in self.labels], np.diff(self.starts))

    @cached_property
    def _shortest_paths(self) -> dict[str, tuple[Array, Array]]:
        return {label: shortest_paths_to(self.graph, self.frames_of(label) & self.kept) for label in self.all_labels}

    def time_to(self, label: str) -> Array:
        """(N,) seconds from each frame to the nearest kept frame of the label, inf where there is no way."""
        checks.one_of(label, "label", self.all_labels)
        return self._shortest_paths[label][0] / self.rate

    def walk_to(self, frame: int, label: str) -> list[GraphPiece]:
        """The quickest walk from a frame to a kept frame of the label; empty where there is none.

        Frames that were pruned away may be where one starts or what one passes, as the walk ends where it can go on.
        KGP02 removes them; leaving them in shortens walks and lets more moments lead somewhere.
        """
        seconds, following = self.time_to(label), self._shortest_paths[label][1]
        checks.indices(np.array([frame]), "frame", len(self))
        if not np.isfinite(seconds[frame]):
            return []
        visited = [int(frame)]
        while following[visited[-1]] != NO_NEXT_FRAME:
            visited.append(int(following[visited[-1]]))
        return pieces_of(visited, self.starts, self.window)

    def random_walk(
        self, seconds: float, seed: int, start: int | None = None, label: str | None = None
    ) -> list[GraphPiece]:
        """At least that many seconds over kept frames (of the label alone, if given), every way on equally likely."""
        allowed = self.kept if label is None else self.kept & self.frames_of(label)
        inside = largest_component(self.graph, allowed)
        if not inside.any():
            raise InvalidInput(f"the graph has no endless walk {'' if label is None else f'within {label!r} '}to take")
        rng = np.random.default_rng(seed)
        visited = [int(rng.choice(np.flatnonzero(inside))) if start is None else int(start)]
        if not inside[visited[0]]:
            raise InvalidInput(f"frame {start} is not among those that an endless walk can use")
        graph, frames = self.graph, 1.0
        while frames < seconds * self.rate:
            row = slice(graph.indptr[visited[-1]], graph.indptr[visited[-1] + 1])
            ways = np.flatnonzero(inside[graph.indices[row]])
            way = rng.choice(ways)
            frames += graph.data[row][way]
            visited.append(int(graph.indices[row][way]))
        return pieces_of(visited, self.starts, self.window)

    def synthesise(self, pieces: Sequence[GraphPiece]) -> Array:
        """(F, E) the motion of a walk."""
        parts = [np.zeros((0, self.clips[0].shape[1]))]
        for piece in pieces:
            motion = self.clips[piece.clip][piece.start : piece.stop]
            if piece.onto is not None:
                entering = self.clips[piece.onto][piece.onto_start : piece.onto_start + self.window]
                motion = blend_windows(motion, entering, self.rotations)
            parts.append(motion)
        return np.concatenate(parts)

    def reach(self) -> GraphReach:
        """How much of the data is used, and what can be reached from where."""
        frames = {label: self.frames_of(label) for label in self.all_labels}
        times = {label: self.time_to(label) for label in self.all_labels}
        pairs = [(a, b) for a in frames for b in frames if a != b]
        met = [bool((np.isfinite(times[b]) & self.kept & frames[a]).any()) for a, b in pairs]
        moments = [np.isfinite(times[b][frames[a] & ~frames[b]]) for a, b in pairs]
        return GraphReach(
            labels=float(np.mean(met)) if met else 1.0,
            moments=float(np.mean(np.concatenate(moments))) if pairs else 1.0,
            frames=float(self.kept.mean()),
            label_frames={label: float(self.kept[chosen].mean()) for label, chosen in frames.items()},
            transitions=len(self.leave),
            missing=tuple(pair for pair, found in zip(pairs, met) if not found),
        )


def _rows(clip: ArrayLike, name: str, width: int | None) -> Array:
    return checks.array(clip, name, ("F", width))


def _check_clips(
    clips: Sequence[ArrayLike], labels: Sequence[str | Iterable[str]], window: int
) -> tuple[tuple[Array, ...], tuple[tuple[str, ...], ...]]:
    if not len(clips):
        raise InvalidInput("a motion graph needs at least one clip, but got none")
    if len(labels) != len(clips):
        raise InvalidInput(f"labels should be one entry a clip, but there are {len(labels)} for {len(clips)} clips")
    if window < 2:
        raise InvalidInput(f"window should be at least 2 frames, but is {window}")
    first = _rows(clips[0], "clip 0", None)
    rows = (first, *(_rows(clip, f"clip {i}", first.shape[1]) for i, clip in enumerate(clips[1:], 1)))
    named = tuple((label,) if isinstance(label, str) else tuple(label) for label in labels)
    return rows, named


def window_weights(window: int, taper: bool = True) -> Array:
    """(k,) weights of a window's frames, of sum 1; tapered ones are sin^2, least at the ends, as KGP02 suggests."""
    if not taper:
        return np.full(window, 1.0 / window)
    weights = np.square(np.sin(np.pi * (np.arange(window) + 0.5) / window))
    return np.asarray(weights / weights.sum())


def find_candidates(clips: Sequence[Array], weights: Array) -> Candidates:
    """The candidates between all clips (F, E), and within each clip where the windows do not overlap."""
    k = len(weights)
    starts = np.cumsum([0, *(len(clip) for clip in clips)])
    first, second, distance = [], [], []
    for a, b, apart in window_distances(clips, weights):
        i, j = local_minima(apart).T
        if a == b:
            distinct = j - i >= k
            i, j = i[distinct], j[distinct]
        first += [starts[a] + i, starts[b] + j]
        second += [starts[b] + j, starts[a] + i]
        distance += [apart[i, j]] * 2
    nothing: Array = np.zeros(0, np.int64)
    return Candidates(
        np.concatenate([nothing, *first]),
        np.concatenate([nothing, *second]),
        np.concatenate([np.zeros(0), *distance]),
    )


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


def local_minima(values: Array) -> Array:
    """(n, 2) places of an (M, N) array that no neighbour of eight undercuts; of a flat stretch the first in order.

    Beyond the borders nothing undercuts: the best match of a clip may well be its first window.
    """
    padded = np.pad(values, 1, constant_values=np.inf)
    rows, columns = values.shape
    lowest = np.ones(values.shape, bool)
    for down, right in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
        other = padded[1 + down : 1 + down + rows, 1 + right : 1 + right + columns]
        earlier = (down, right) < (0, 0)
        lowest &= (values < other) if earlier else (values <= other)
    return np.argwhere(lowest)


def adjacency(follows: Array, leave: Array, enter: Array, window: int) -> Any:
    """(N, N) sparse, entry [f, g] = frames from f to g: 1 along clips, `window` along transitions `leave` -> `enter`.

    `follows` (N,) is true where the frame f + 1 is of the same clip.
    """
    from scipy.sparse import csr_matrix

    along = np.flatnonzero(follows)
    size = len(follows)
    source, target = np.concatenate([along, leave]), np.concatenate([along + 1, enter])
    cost = np.concatenate([np.ones(len(along)), np.full(len(leave), float(window))])
    return csr_matrix((cost, (source, target)), shape=(size, size))


def largest_component(graph: Any, among: Array) -> Array:
    """(N,) true for the frames of the largest strongly connected component within `among` (N,); none if it is a point.

    Every frame of it can be reached from every other without leaving it; Tarjan's algorithm, by scipy. Of components
    of one size the one with the first frame is taken.
    """
    from scipy.sparse.csgraph import connected_components

    inside = np.flatnonzero(among)
    kept = np.zeros(len(among), bool)
    if not len(inside):
        return kept
    _, member = connected_components(graph[inside][:, inside], directed=True, connection="strong")
    _, begin, size = np.unique(member, return_index=True, return_counts=True)
    best = np.lexsort((begin, -size))[0]
    if size[best] > 1:
        kept[inside[member == member[begin[best]]]] = True
    return kept


def shortest_paths_to(graph: Any, targets: Array) -> tuple[Array, Array]:
    """Frames (N,) from each frame to the nearest of `targets` (N,) bool, inf where there is no path, and the frame (N,)
    that comes next on that path, NO_NEXT_FRAME at its end: Dijkstra backwards from all targets at once."""
    from scipy.sparse.csgraph import dijkstra

    ends = np.flatnonzero(targets)
    size = len(targets)
    if not len(ends):
        return np.full(size, np.inf), np.full(size, NO_NEXT_FRAME)
    cost, following, _ = dijkstra(graph.T.tocsr(), indices=ends, return_predecessors=True, min_only=True)
    return np.asarray(cost), np.where(following < 0, NO_NEXT_FRAME, following).astype(np.int64)


def pieces_of(visited: Sequence[int], starts: Array, window: int) -> list[GraphPiece]:
    """Pieces for the frames of a walk, counted through all clips whose first frames are `starts`.

    Where a frame is not followed by the next of its clip, a transition was taken: it blends the `window` frames after
    the one left with the `window` frames up to the one entered, which is thereby played.
    """
    clip = np.searchsorted(starts, visited, side="right") - 1
    local = np.asarray(visited) - starts[clip]
    jumps = [n for n in range(1, len(visited)) if clip[n] != clip[n - 1] or local[n] != local[n - 1] + 1]
    pieces: list[GraphPiece] = []
    begin = int(local[0])
    for n in jumps:
        left, entered = int(local[n - 1]), int(local[n])
        if left >= begin:
            pieces.append(GraphPiece(int(clip[n - 1]), begin, left + 1))
        pieces.append(GraphPiece(int(clip[n - 1]), left + 1, left + 1 + window, int(clip[n]), entered - window + 1))
        begin = entered + 1
    if local[-1] >= begin:
        pieces.append(GraphPiece(int(clip[-1]), begin, int(local[-1]) + 1))
    return pieces


def seams_of(pieces: Sequence[GraphPiece]) -> list[tuple[int, int]]:
    """(first frame, frame after the last) of each blend in the motion that the pieces make."""
    ends = np.cumsum([len(piece) for piece in pieces])
    return [(int(end) - len(piece), int(end)) for piece, end in zip(pieces, ends) if piece.onto is not None]


def blend_windows(leaving: Array, entering: Array, rotations: Array | None = None) -> Array:
    """(k, C) from `leaving` (k, C) to `entering` (k, C), frame by frame; the last frame is that of `entering`.

    `rotations` (R,) are the columns at which quaternions x, y, z, w begin; they are blended by slerp, the short way,
    and everything else linearly. KGP02 also turns the clip entered to face along the clip left; travel is no part of
    these columns.
    """
    alpha = fade(len(leaving))[:, None]
    result = alpha * leaving + (1.0 - alpha) * entering
    if rotations is not None and len(rotations):
        columns = np.asarray(rotations)[:, None] + np.arange(4)
        result[:, columns] = quaternion.slerp(leaving[:, columns], entering[:, columns], 1.0 - alpha)
    return result


def fade(window: int) -> Array:
    """(k,) alpha(p), the share of the motion that is left."""
    u = (np.arange(window) + 1.0) / window
    return 2.0 * u**3 - 3.0 * u**2 + 1.0
