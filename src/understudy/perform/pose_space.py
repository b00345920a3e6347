"""Pose spaces, and the bridges between them.

**A pose space** holds the poses of one label's clips, as a latent space of three dimensions. The chain of [Bailey 2016,
section 4], there and back:

    features --(mean, scale W, basis T)--> y --(GPLVM)--> latents x,        f(x) = m + W^-1 T y(x),  y(x) of eq. 8

The training frames stay with the space: paths follow their latents, and `play` shows their features unmodified.

**Bridges** are pairs of latents in two spaces that show nearly the same pose, where a performance may change its label.
For a pose z1 = f(x1; M1) of one space, the best match in the other is [Bailey 2016, eqs. 13 to 15]

    y1 = T2' W2 (z1 - m2),        x2 = argmin_x | y1 - K* K_x^-1 Y2 |^2,

searched from several training frames, the nearest poses and random ones. The paper searches the match of every frame,
then drops all pairs above a threshold that the user sets. Here the frames are first ranked by their distance to the
nearest frame of the other space, and only the most promising are refined: the others would be dropped.

Poses are compared by how different they look (`features.weights`), since plain rig parameters mix degrees with metres.
The threshold comes from the data: it is how far the clips of the two labels themselves move within the time of a blend,
so a blend across a bridge is no faster than the animation.

**Routes** lead from one label to another over bridges, through other labels where that is shorter. Two labels may share
no pose; then "a transition going from happy to grumpy might need to pass through neutral" [Bailey 2016, section 7]. A
hop costs one, plus its best gap over its threshold; a wide bridge, above the threshold, costs `WIDE_BRIDGE_HOPS` more,
so that it is taken only where nothing else leads there. To pass through a label costs how unlike the others it is: a
route from a nod to a wave does not lead through dying.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from understudy import checks, storage
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.mapping import LatentMapping
from understudy.perform.features.reduction import FeaturePca

SEARCH_STARTS = 4  # nearest training frames from which a pose is searched; more did not find better matches
BLEND_SECONDS = 0.5  # the paper's 12 frames at 24 frames a second
MAX_CANDIDATE_FRAMES = 120  # refined in each direction: more than twice what is kept
MIN_BRIDGES, MAX_BRIDGES = 10, 50  # bridges between two labels, as the paper found
MIN_SPACING_RATIO = 0.25  # of a space's typical latent distance: bridges nearer than this in both spaces are one
NEAREST_STARTS, RANDOM_STARTS = 2, 2  # training frames from which a match is searched
WIDE_BRIDGE_HOPS = 4.0  # extra cost of a wide bridge, in hops


@dataclass(frozen=True, slots=True)
class Segment:
    """The frames `start:stop` of a space come from one clip."""

    clip: str
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class PoseSpace:
    """One label: N training frames at `rate` frames a second, and the mapping from latents to features."""

    label: str
    reduction: FeaturePca
    mapping: LatentMapping
    latents: Array  # (N, Q)
    features: Array  # (N, E) float32, the training poses
    segments: tuple[Segment, ...]
    rate: float
    home: int = 0  # the most typical frame of the label
    idle_gain: float = 1.0  # of the random force while it hovers: the clips' calm quarter is as fast

    def __len__(self) -> int:
        return len(self.latents)

    def __repr__(self) -> str:
        return f"PoseSpace({self.label!r}, {len(self)} frames of {len(self.segments)} clips)"

    def features_of(self, x: Array) -> Array:
        """(M, E) the most likely pose at latents (M, Q)."""
        return self.reduction.restore(self.mapping.mean(x))

    def velocity_of(self, x: Array, velocity: Array) -> Array:
        """(M, E) the rate of the features where latents (M, Q) move with a velocity (M, Q)."""
        _, jacobian = self.mapping.mean_and_jacobian(x)
        rates = np.einsum("mdq,mq->md", jacobian, velocity)
        return self.reduction.restore(rates) - self.reduction.mean

    def latent_velocity_of(self, x: Array, velocity: Array) -> Array:
        """(Q,) the latent velocity at x (Q,) whose features change most nearly with `velocity` (E,).

        Damped least squares: a direction in which the pose hardly changes would else get any speed.
        """
        _, jacobian = self.mapping.mean_and_jacobian(x[None])
        wanted = self.reduction.reduce((self.reduction.mean + velocity)[None])[0]
        normal = jacobian[0].T @ jacobian[0]
        damping = 1e-2 * np.trace(normal) / len(normal) + np.finfo(float).tiny
        result: Array = np.linalg.solve(normal + damping * np.eye(len(normal)), jacobian[0].T @ wanted)
        return result

    def latent_of(self, features: Array, near: Array | None = None) -> tuple[Array, Array]:
        """Latents (M, Q) whose poses are most like the features (M, E), and the squared errors (M,) [eqs. 13 to 15].

        The search starts at the training frames with the nearest poses, or at `near` (M, S, Q).
        """
        y = self.reduction.reduce(features)
        if near is None:
            nearest = np.argsort(self._distances(y), axis=1, kind="stable")[:, :SEARCH_STARTS]
            near = self.latents[nearest]
        return self.mapping.find(y, near)

    def _distances(self, y: Array) -> Array:
        """(M, N) squared distances between reduced poses and the reconstructed training frames."""
        known = self.reconstruction
        return np.square(y).sum(axis=1)[:, None] + np.square(known).sum(axis=1) - 2 * y @ known.T

    @cached_property
    def reconstruction(self) -> Array:
        """(N, D) the reduced poses at the training frames' latents."""
        return self.mapping.mean(self.latents)

    def segment(self, clip: str) -> Segment | None:
        """The segment of a clip, None where it is of another label."""
        return next((segment for segment in self.segments if segment.clip == clip), None)

    def latent_at(self, segment: Segment, seconds: float) -> Array:
        """(Q,) the latent of a segment `seconds` after its first frame; `InvalidInput` outside the clip."""
        frame = seconds * self.rate
        # half a frame beyond either end is a rounded number, not a mistake
        if not -0.5 <= frame <= len(segment) - 0.5:
            end = (len(segment) - 1) / self.rate
            raise InvalidInput(f"clip {segment.clip!r} lasts {end:g} s, but its pose at {seconds:g} s is asked for")
        latents = self.latents[segment.start : segment.stop]
        return np.array([np.interp(frame, np.arange(len(latents)), column) for column in latents.T])

    @cached_property
    def speeds(self) -> Array:
        """(N - S,) latent speeds, per second, between neighbouring frames of the clips."""
        steps = [np.diff(self.latents[s.start : s.stop], axis=0) for s in self.segments]
        return np.asarray(np.linalg.norm(np.concatenate(steps), axis=1) * self.rate)

    def parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """The space for a file: a header of plain values, and arrays, in the precision that a file keeps."""
        header = {
            "label": self.label,
            "rate": self.rate,
            "home": self.home,
            "idle_gain": self.idle_gain,
            "segments": [[s.clip, s.start, s.stop] for s in self.segments],
        }
        arrays = {"latents": self.latents}
        arrays |= {f"features.{name}": array for name, array in storage.pack_frames(self.features).items()}
        arrays |= {f"reduction.{name}": array.astype(np.float32) for name, array in self.reduction.arrays().items()}
        arrays |= {f"mapping.{name}": array for name, array in self.mapping.arrays().items()}
        return header, arrays

    @classmethod
    def from_parts(cls, header: Dictionary[str, Any], arrays: Dictionary[str, Array]) -> PoseSpace:
        """The space of a header and arrays made by `parts`; checked, since they may come from a file."""

        def below(prefix: str) -> dict[str, Array]:
            return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}

        segments = tuple(Segment(str(clip), int(start), int(stop)) for clip, start, stop in header["segments"])
        latents = checks.array(arrays["latents"], "latents", ("N", "Q"))
        features = arrays["features"] if "features" in arrays else storage.unpack_frames(below("features."))
        ends = [0, *(segment.stop for segment in segments)]
        if [segment.start for segment in segments] != ends[:-1] or not ends[-1] == len(latents) == len(features):
            raise InvalidInput(f"the segments of label {header['label']!r} should cover its {len(latents)} frames")
        home = int(header["home"])
        if not 0 <= home < len(latents):
            raise InvalidInput(f"the home of label {header['label']!r} should be one of its frames, but is {home}")
        reduction = FeaturePca.from_arrays(below("reduction."))
        return cls(
            str(header["label"]),
            reduction,
            LatentMapping.from_arrays(below("mapping."), latents, reduction.reduce(features)),
            latents,
            features,
            segments,
            checks.positive(header["rate"], "rate"),
            home,
            checks.positive(header.get("idle_gain", 1.0), "idle gain"),  # files of version 0.1 have none
        )


@dataclass(frozen=True, eq=False)
class Bridges:
    """B pairs of latents between two labels, the nearest poses first; `wide` where none is below the threshold."""

    first: str
    second: str
    first_latents: Array  # (B, Q)
    second_latents: Array  # (B, Q)
    gaps: Array  # (B,) how different the two poses look, in the unit of the weights
    threshold: float  # in the same unit
    wide: bool = False

    def __len__(self) -> int:
        return len(self.gaps)

    def __repr__(self) -> str:
        return f"Bridges({self.first!r}, {self.second!r}, {len(self)} bridges)"

    def sides(self, label: str) -> tuple[Array, Array]:
        """(B, Q) the latents in `label`, and (B, Q) those in the other."""
        pair = self.first_latents, self.second_latents
        return pair if label == self.first else pair[::-1]

    def other(self, label: str) -> str:
        """The label at the other end."""
        return self.second if label == self.first else self.first


def find_bridges(
    first: PoseSpace, second: PoseSpace, weights: Array, apart: Array | None = None, seed: int = 0
) -> Bridges:
    """The bridges of two labels: matches of either one's frames in the other, below the threshold and spread out.

    Where none is below the threshold only the nearest is kept, and marked as wide: a route over other labels is better,
    but one must exist.
    """
    if apart is None:
        apart = view_distances_squared(*(space.features_of(space.latents) * weights for space in (first, second)))
    a1, b1, gaps1 = match(first, second, weights, apart, seed)
    b2, a2, gaps2 = match(second, first, weights, apart.T, seed)
    a, b, gaps = np.concatenate([a1, a2]), np.concatenate([b1, b2]), np.concatenate([gaps1, gaps2])
    limit = bridge_threshold((first, second), weights)
    order = np.argsort(gaps, kind="stable")
    near = order[gaps[order] <= limit]
    if not len(near):
        return Bridges(first.label, second.label, a[order[:1]], b[order[:1]], gaps[order[:1]], limit, wide=True)
    kept = select_distinct_pairs(a[near] / _size(first), b[near] / _size(second))
    chosen = near[kept]
    return Bridges(first.label, second.label, a[chosen], b[chosen], gaps[chosen], limit)


def match(
    source: PoseSpace, target: PoseSpace, weights: Array, apart: Array, seed: int = 0
) -> tuple[Array, Array, Array]:
    """Latents (B, Q) of `source`, their best matches (B, Q) in `target`, and the gaps (B,) between the poses.

    `apart` (N1, N2) are the squared distances of their training poses, as both spaces reconstruct them.
    """
    chosen = np.argsort(apart.min(axis=1), kind="stable")[:MAX_CANDIDATE_FRAMES]
    poses = source.features_of(source.latents[chosen])
    nearest = np.argsort(apart[chosen], axis=1, kind="stable")[:, :NEAREST_STARTS]
    random = np.random.default_rng(seed).integers(len(target), size=(len(chosen), RANDOM_STARTS))
    starts = target.latents[np.concatenate([nearest, random], axis=1)]
    matches, _ = target.mapping.find(target.reduction.reduce(poses), starts)
    gaps = np.linalg.norm((target.features_of(matches) - poses) * weights, axis=1)
    return source.latents[chosen], matches, gaps


def bridge_threshold(spaces: tuple[PoseSpace, ...], weights: Array) -> float:
    """Mean distance, by the weights (E,), that the clips of some labels move within a blend."""
    moved = []
    for space in spaces:
        frames = max(1, round(BLEND_SECONDS * space.rate))
        for segment in space.segments:
            rows = space.features[segment.start : segment.stop].astype(np.float64) * weights
            reach = min(frames, len(rows) - 1)
            moved.append(np.linalg.norm(rows[reach:] - rows[: len(rows) - reach], axis=1))
    return float(np.concatenate(moved).mean())


def view_distances_squared(first: Array, second: Array) -> Array:
    """(N1, N2) squared distances between two sets of weighted poses (N1, E) and (N2, E)."""
    squares = np.square(first).sum(axis=1)[:, None] + np.square(second).sum(axis=1)
    return np.maximum(squares - 2 * first @ second.T, 0.0)


def select_distinct_pairs(a: Array, b: Array) -> Array:
    """(B,) the pairs to keep of (n, Q) and (n, Q), the best first: no two alike in both spaces, at most `MAX_BRIDGES`.

    Where that leaves fewer than `MIN_BRIDGES`, the best of the others follow.
    """
    kept: list[int] = []
    for i in range(len(a)):
        apart = np.maximum(np.linalg.norm(a[kept] - a[i], axis=1), np.linalg.norm(b[kept] - b[i], axis=1))
        if len(kept) < MAX_BRIDGES and (not kept or apart.min() >= MIN_SPACING_RATIO):
            kept.append(i)
    others = [i for i in range(len(a)) if i not in kept][: max(0, MIN_BRIDGES - len(kept))]
    return np.array(sorted([*kept, *others]), np.int64)


def _size(space: PoseSpace) -> float:
    """Root mean square distance of the latents from their mean."""
    return float(np.sqrt(np.square(space.latents - space.latents.mean(axis=0)).sum(axis=1).mean()))


def route(bridges: Iterable[Bridges], start: str, goal: str) -> tuple[Bridges, ...]:
    """The bridges to cross, one after the other, from one label to another; none where they are the same."""
    routes = routes_from(bridges_by_label(bridges), start)
    if goal not in routes:
        raise InvalidInput(f"no bridges lead from label {start!r} to label {goal!r}")
    return routes[goal]


def routes_from(
    known: Mapping[str, Sequence[tuple[Bridges, float]]], start: str, through: Mapping[str, float] | None = None
) -> dict[str, tuple[Bridges, ...]]:
    """Goal -> the bridges to cross, one after the other, for every label that can be reached (Dijkstra).

    `through` is the cost of passing through a label.
    """
    queue: list[tuple[float, int, str, tuple[Bridges, ...]]] = [(0.0, 0, start, ())]
    routes: dict[str, tuple[Bridges, ...]] = {}
    pushed = 0
    while queue:
        spent, _, label, taken = heapq.heappop(queue)
        if label in routes:
            continue
        routes[label] = taken
        spent += (through or {}).get(label, 0.0) if label != start else 0.0
        for pair, price in known.get(label, ()):
            if (beyond := pair.other(label)) not in routes:
                pushed += 1
                heapq.heappush(queue, (spent + price, pushed, beyond, (*taken, pair)))
    return routes


def bridges_by_label(bridges: Iterable[Bridges]) -> dict[str, list[tuple[Bridges, float]]]:
    """Label -> the bridges that lead from it, with their costs."""
    by_label: dict[str, list[tuple[Bridges, float]]] = {}
    for pair in bridges:
        edge = pair, bridge_cost(pair)
        by_label.setdefault(pair.first, []).append(edge)
        by_label.setdefault(pair.second, []).append(edge)
    return by_label


def bridge_cost(bridges: Bridges) -> float:
    """The cost of crossing once, in hops."""
    share = float(bridges.gaps.min()) / max(bridges.threshold, 1e-12)
    return 1.0 + share + (WIDE_BRIDGE_HOPS if bridges.wide else 0.0)


def label_costs(looks: Mapping[str, Array]) -> dict[str, float]:
    """Label -> the cost of passing through it, 0 to 1, from its weighted frames (N, D).

    It is the mean distance of the label's frames from the median of all frames, over the largest of any label.
    """
    if not looks:
        return {}
    middle = np.median(np.concatenate(list(looks.values())), axis=0)
    away = {label: float(np.linalg.norm(look - middle, axis=1).mean()) for label, look in looks.items()}
    most = max(max(away.values()), 1e-12)
    return {label: distance / most for label, distance in away.items()}
