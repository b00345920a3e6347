"""Motion graphs: clips cut and rejoined where they are alike [Kovar, Gleicher and Pighin 2002, "Motion Graphs"].

The baseline that [Bailey 2016, section 6] compares with: rig parameters, blends of 12 frames. Departures from KGP02 are
named where they are made: `distance` (what is compared), `blend` (no floor to align on), `search` (a node a frame) and
here: the threshold is found from the data, and a clip may carry several labels and counts for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.motiongraph import candidates, search
from understudy.motiongraph.blend import blended
from understudy.motiongraph.candidates import Candidates
from understudy.motiongraph.distance import window_weights
from understudy.motiongraph.pieces import Piece, pieces_of
from understudy.motiongraph.reach import Reach

WINDOW = 12  # frames: Bailey's blends; KGP02 has a third of a second


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
        window: int = WINDOW,
        compared: Sequence[ArrayLike] | None = None,
        rotations: ArrayLike = (),
        prune: str = "labels",
        taper: bool = True,
    ) -> MotionGraph:
        """The graph of clips (F, E), each with a label or several.

        Compared are the columns as they are, or times `scale` (E,), such as their influence on the mesh, or `compared`
        (F, P) in their place, such as points of the mesh. Candidates are taken up to `threshold`, or up to the
        `quantile` of their distances. With neither, the threshold is the smallest at which every label can be reached
        from every other: KGP02 leaves it to the user, who is told to raise it until that is so.

        `prune` is "labels", KGP02's own: the largest strongly connected component of each label by itself, so that
        motion of one label can go on for ever; or "whole", that of everything, in which a label may be passed through
        and not stayed in.
        """
        clips, labels = _checked(clips, labels, window)
        given = clips if compared is None else tuple(_rows(clip, "compared", None) for clip in compared)
        if [len(clip) for clip in given] != [len(clip) for clip in clips]:
            raise InvalidInput("compared should have the frames of the clips, clip by clip, but has others")
        if scale is not None:
            factor = checks.array(scale, "scale", (given[0].shape[1],))
            given = tuple(clip * factor for clip in given)
        checks.one_of(prune, "way to prune", ("whole", "labels"))
        found = candidates.find(given, window_weights(window, taper))
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
        return loose.within(loose.threshold_for_reach(prune) if threshold is None else threshold, prune)

    def within(self, threshold: float, prune: str = "labels") -> MotionGraph:
        """The same graph with the transitions of at most `threshold` alone, pruned anew."""
        near = self.distance <= threshold
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields |= {name: checks.freeze(fields[name][near]) for name in ("leave", "enter", "distance")}
        cut = MotionGraph(**fields | {"threshold": float(threshold)})
        return MotionGraph(**fields | {"threshold": float(threshold), "kept": checks.freeze(cut.pruned(prune))})

    def threshold_for_reach(self, prune: str = "labels") -> float:
        """The smallest threshold at which every label is reached from every other; the largest distance if none is.

        By bisection: more transitions never take a way off, though the largest component may become another one.
        """
        levels = np.unique(self.distance)
        low, high = 0, len(levels) - 1
        while low < high:
            middle = (low + high) // 2
            if self.within(levels[middle], prune).reach().labels == 1.0:
                high = middle
            else:
                low = middle + 1
        return float(levels[low]) if len(levels) else 0.0

    def pruned(self, prune: str = "labels") -> Array:
        """(N,) bool, the frames from which motion never has to stop: see `fit` for the two ways."""
        if prune == "whole":
            return search.largest_component(self.graph, np.ones(len(self), bool))
        parts = [search.largest_component(self.graph, self.frames_of(label)) for label in self.all_labels]
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
        return search.adjacency(follows, self.leave, self.enter, self.window)

    def frames_of(self, label: str) -> Array:
        """(N,) true for the frames of clips that carry the label."""
        checks.one_of(label, "label", self.all_labels)
        return np.repeat([label in labels for labels in self.labels], np.diff(self.starts))

    @cached_property
    def _ways(self) -> dict[str, tuple[Array, Array]]:
        return {label: search.ways_to(self.graph, self.frames_of(label) & self.kept) for label in self.all_labels}

    def time_to(self, label: str) -> Array:
        """(N,) seconds from each frame to the nearest kept frame of the label, inf where there is no way."""
        checks.one_of(label, "label", self.all_labels)
        return self._ways[label][0] / self.rate

    def walk_to(self, frame: int, label: str) -> list[Piece]:
        """The quickest walk from a frame to a kept frame of the label; empty where there is none.

        Frames that were pruned away may be where one starts or what one passes, as the walk ends where it can go on.
        KGP02 removes them; leaving them in shortens walks and lets more moments lead somewhere.
        """
        seconds, following = self.time_to(label), self._ways[label][1]
        checks.indices(np.array([frame]), "frame", len(self))
        if not np.isfinite(seconds[frame]):
            return []
        visited = [int(frame)]
        while following[visited[-1]] != search.NOWHERE:
            visited.append(int(following[visited[-1]]))
        return pieces_of(visited, self.starts, self.window)

    def random_walk(self, seconds: float, seed: int, start: int | None = None, label: str | None = None) -> list[Piece]:
        """At least that many seconds over kept frames (of the label alone, if given), every way on equally likely."""
        allowed = self.kept if label is None else self.kept & self.frames_of(label)
        inside = search.largest_component(self.graph, allowed)
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

    def synthesise(self, pieces: Sequence[Piece]) -> Array:
        """(F, E) the motion of a walk."""
        parts = [np.zeros((0, self.clips[0].shape[1]))]
        for piece in pieces:
            motion = self.clips[piece.clip][piece.start : piece.stop]
            if piece.onto is not None:
                entering = self.clips[piece.onto][piece.onto_start : piece.onto_start + self.window]
                motion = blended(motion, entering, self.rotations)
            parts.append(motion)
        return np.concatenate(parts)

    def reach(self) -> Reach:
        """How much of the data is used, and what can be reached from where."""
        frames = {label: self.frames_of(label) for label in self.all_labels}
        times = {label: self.time_to(label) for label in self.all_labels}
        pairs = [(a, b) for a in frames for b in frames if a != b]
        met = [bool((np.isfinite(times[b]) & self.kept & frames[a]).any()) for a, b in pairs]
        moments = [np.isfinite(times[b][frames[a] & ~frames[b]]) for a, b in pairs]
        return Reach(
            labels=float(np.mean(met)) if met else 1.0,
            moments=float(np.mean(np.concatenate(moments))) if pairs else 1.0,
            frames=float(self.kept.mean()),
            label_frames={label: float(self.kept[chosen].mean()) for label, chosen in frames.items()},
            transitions=len(self.leave),
            missing=tuple(pair for pair, found in zip(pairs, met) if not found),
        )


def _rows(clip: ArrayLike, name: str, width: int | None) -> Array:
    return checks.array(clip, name, ("F", width))


def _checked(
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
