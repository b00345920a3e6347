"""Changes of motion: where the new motion is entered, when the old one is left, and how long the blend takes.

A change enters the new motion at once and adds the difference that is left, which decays within T [Bollo 2018]. With
x0 and v0 the differences of pose and velocity, u = t / T,

    x0 h0(u) + v0 T h1(u),      h0 = (1 - u)^3 (1 + 3 u + 6 u^2),      h1 = (1 - u)^3 u (1 + 3 u).

Bollo shortens T where a velocity points home; without that the blend is linear in x0 and v0, and its acceleration is
predicted for all candidates at once. One cost chooses among entries, departures and durations:

    cost = seconds until it is over + HARSHNESS max(0, peak / budget - 1)^2.

The peak is that of the whole motion, in the space of looks (weighted features, reduced). The budget is a share of what
the two motions do themselves: a blow may be joined by a jerk, an idle may not. `urgency` raises the share, shortens the
blend and forbids to wait.

**Entries must show the label.** Clips of a face begin and end near neutral; the nearest frame would arrive at once and
show nothing for a second. So only frames count after which the poses are unlike all other labels for most of
`SHOWN_SECONDS`.

**Entries.** A cycle may be entered at any phase. An act may be joined in its first quarter, in the wind-up of a blow
and not after it, and left in its last. The clips of a label that is hovered in are entered where they show the label,
and lead to a rest: a calm frame that is like the label's home.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.maths import resample
from understudy.perform.behaviours import Behaviour
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_space import PoseSpace, Segment, view_distances_squared
from understudy.perform.runtime.cycles import Cycle

MAX_BLEND_SECONDS = 4.0  # that a command may ask for; a longer one is not a blend any more
DURATIONS_SECONDS = np.array([0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25])
HARSHNESS_SECONDS = 3.0  # that a peak of twice the budget is worth
LOOK_VARIANCE = 0.999  # of the clips that the space of looks keeps
MIN_LIBRARY_RATIO = 0.1  # of the library's accelerations: a budget that two motions at rest still have
POSE_SECONDS = (0.1, 0.3)  # that a difference of velocity counts as a difference of pose when candidates are ranked
CANDIDATES_PER_RANKING = 24
SHORTLIST = 6  # changes that are best by looks, among which joints decide
CALM_JOINT_RATIO = 0.25  # of the liveliest joint's acceleration, that any joint may reach
SHOWN_SECONDS = (0.2, 0.8)  # after an entry, in most of which the poses must be unlike other labels
SHOWN_QUANTILE = 0.5  # of a label's frames, by distance to the other labels, that are unlike them
SETTLED_FRAMES = 2  # after a blend whose accelerations still count
ACCELERATION_PERCENTILE = 99.0
DEFAULT_URGENCY = 0.5
# At urgency 0, the default and 1: share of the motions' own acceleration, shortest blend, longest wait.
URGENCIES = np.array([0.0, DEFAULT_URGENCY, 1.0])
BUDGET_RATIOS = np.array([0.16, 0.25, 0.5])
SHORTEST_SECONDS = np.array([0.5, 0.3, 0.2])
LONGEST_WAIT_SECONDS = np.array([0.5, 0.5, 0.0])
ACT_ENTRY_SHARE = 0.25  # of an act's frames at its beginning where it may be joined, and at its end where it is left
MIN_LEFT_SECONDS = 0.75  # of a clip after an entry, where the label is hovered in
MAX_REST_SECONDS = 3.0  # after an entry within which the clip comes to a rest
CALM_QUANTILE = 0.5  # of a label's frames, by speed, among which rests are
REST_QUANTILE = 0.5  # of the calm frames, by distance to the label's home, that are rests


def decay_shapes(u: Array) -> tuple[Array, Array]:
    """h0 and h1 at u; both are 0 from u = 1 on."""
    u = np.minimum(u, 1.0)
    rest = (1 - u) ** 3
    return rest * (1 + 3 * u + 6 * u * u), rest * u * (1 + 3 * u)


@dataclass(frozen=True, eq=False)
class LookSpace:
    """Weighted features, reduced: distances are differences in looks."""

    mean: Array  # (E,)
    basis: Array  # (E, D), with the weights
    rate: float  # frames a second of the clips
    usual: float  # acceleration that 1 % of the clips' frames exceed, a second squared

    @classmethod
    def from_model(cls, model: PerformanceModel) -> LookSpace:
        """The looks of all clips of a model."""
        every = np.concatenate([space.features for space in model.spaces.values()]).astype(np.float64)
        mean, weighted = every.mean(axis=0), (every - every.mean(axis=0)) * model.weights
        values, vectors = np.linalg.eigh(weighted.T @ weighted)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        kept = int(np.searchsorted(np.cumsum(values), LOOK_VARIANCE * values.sum())) + 1
        basis = np.ascontiguousarray(model.weights[:, None] * vectors[:, :kept])
        looks = cls(mean, basis, model.rate, 0.0)
        sizes = [
            looks.accelerations(looks.of(space.features[segment.start : segment.stop]))
            for space in model.spaces.values()
            for segment in space.segments
        ]
        every_size = np.concatenate(sizes) if sizes else np.zeros(1)
        usual = float(np.percentile(every_size, ACCELERATION_PERCENTILE)) if len(every_size) else 0.0
        return cls(mean, basis, model.rate, max(usual, 1e-9))

    def of(self, features: Array) -> Array:
        """(n, D) looks of features (n, E)."""
        return np.asarray((features - self.mean) @ self.basis)

    def rates_of(self, rates: Array) -> Array:
        """(n, D) rates of the looks where features change by rates (n, E)."""
        return np.asarray(rates @ self.basis)

    def accelerations(self, looks: Array) -> Array:
        """(n - 2,) sizes of the accelerations of consecutive looks (n, D), a second squared."""
        return np.asarray(np.linalg.norm(np.diff(looks, 2, axis=0), axis=1) * self.rate**2)

    def own_acceleration(self, looks: Array) -> float:
        """The acceleration that 1 % of a motion's frames (n, D) exceed, a second squared."""
        sizes = self.accelerations(looks)
        return float(np.percentile(sizes, ACCELERATION_PERCENTILE)) if len(sizes) else 0.0


@dataclass(frozen=True, eq=False)
class EnteredMotion:
    """A motion that may be entered: consecutive looks at the rate of the clips, and the frames where it may be."""

    looks: Array  # (n, D)
    entries: Array  # (m,) int, frames
    own_acceleration: float  # of `LookSpace.own_acceleration`

    @classmethod
    def from_pieces(
        cls, space: LookSpace, pieces: Sequence[Array], entries: Sequence[Array]
    ) -> tuple[EnteredMotion, Array]:
        """One motion of P pieces of features (n, E) with the frames of each where it may be entered.

        The last pose of each piece is held for the time of the longest blend. Also returns (P,) the first frame of
        each piece.
        """
        hold = round(MAX_BLEND_SECONDS * space.rate) + SETTLED_FRAMES + 3
        looks, frames, starts, first, own = [], [], [], 0, 0.0
        for piece, allowed in zip(pieces, entries):
            values = space.of(piece)
            own = max(own, space.own_acceleration(values))
            looks += [values, np.repeat(values[-1:], hold, axis=0)]
            frames.append(first + np.asarray(allowed, np.int64))
            starts.append(first)
            first += len(values) + hold
        return cls(np.concatenate(looks), np.concatenate(frames), own), np.array(starts)

    @cached_property
    def steps(self) -> Array:
        """(n, D) change from each frame to the next."""
        return np.diff(self.looks, axis=0, append=self.looks[-1:])

    @cached_property
    def turns(self) -> Array:
        """(n, D) second difference at each frame."""
        return np.diff(self.steps, axis=0, prepend=self.steps[:1])

    @cached_property
    def entry_looks(self) -> tuple[Array, Array]:
        """(m, D) the looks of the entries, and (m,) their squared sizes."""
        looks = self.looks[self.entries]
        return looks, np.square(looks).sum(axis=1)

    @cached_property
    def entry_steps(self) -> tuple[Array, Array]:
        """(m, D) the steps at the entries, and (m,) their squared sizes."""
        steps = self.steps[self.entries]
        return steps, np.square(steps).sum(axis=1)

    @cached_property
    def squares(self) -> Array:
        """(n,) squared sizes of `turns`."""
        return np.square(self.turns).sum(axis=1)


@dataclass(frozen=True)
class Change:
    """How to change: wait, then enter a frame of the motion and blend."""

    frame: int  # of the entered motion
    wait: float  # seconds
    seconds: float  # of the blend
    peak: float  # predicted acceleration over the budget; judged by joints, over their own
    cost: float  # seconds
    departure: int = 0  # the number of the departure


@dataclass(frozen=True)
class ChangeLimits:
    """What a change may do, by its urgency."""

    budget_ratio: float  # of the two motions' own acceleration
    durations: tuple[float, ...]  # seconds
    longest_wait: float  # seconds

    @classmethod
    def of_urgency(cls, urgency: float, seconds: float | None = None) -> ChangeLimits:
        """The limits at an urgency, 0 (calm) to 1; with `seconds` the blend takes exactly that long, from now on."""
        budget = float(np.interp(urgency, URGENCIES, BUDGET_RATIOS))
        if seconds is not None:
            return cls(budget, (min(seconds, MAX_BLEND_SECONDS),), 0.0)
        shortest = float(np.interp(urgency, URGENCIES, SHORTEST_SECONDS))
        durations = tuple(DURATIONS_SECONDS[shortest - 1e-9 <= DURATIONS_SECONDS].tolist())
        return cls(budget, durations, float(np.interp(urgency, URGENCIES, LONGEST_WAIT_SECONDS)))


def find_changes(
    space: LookSpace,
    poses: Array,
    rates: Array,
    waits: Array,
    own_acceleration: float,
    motion: EnteredMotion,
    limits: ChangeLimits,
) -> list[Change]:
    """The cheapest changes to a motion by looks, the best first.

    Args:
        space: The space of looks.
        poses: (S, D) looks of the motion that is left, at S departures.
        rates: (S, D) how fast they change, a second.
        waits: (S,) seconds until each departure; the first is 0.
        own_acceleration: Of the motion that is left, as `LookSpace.own_acceleration`.
        motion: The motion to enter.
        limits: Budget, durations and waits.

    Returns:
        At most `SHORTLIST` changes, each of another departure or frame.
    """
    from understudy.perform.runtime import particle_kernels

    usual = max(own_acceleration, motion.own_acceleration, MIN_LIBRARY_RATIO * space.usual)
    frame = 1 / space.rate
    allowed = waits <= limits.longest_wait + 1e-9
    poses, rates, waits = poses[allowed], rates[allowed], waits[allowed]
    departures = np.ascontiguousarray(np.stack([poses, rates * frame], axis=1))
    candidates = _rank(motion, departures, space.rate)
    shapes, lengths = _second_differences(limits.durations, frame)
    budget = limits.budget_ratio * usual * frame**2
    best = np.full((SHORTLIST, 5), np.inf)
    arrays = (motion.looks, motion.steps, motion.turns, motion.squares, candidates, shapes)
    durations = np.array(limits.durations)
    particle_kernels.search_changes(departures, waits, *arrays, durations, lengths, budget, HARSHNESS_SECONDS, best)
    return [
        Change(int(entry), float(waits[int(s)]), limits.durations[int(t)], peak / budget, cost, int(s))
        for cost, s, entry, t, peak in best[np.isfinite(best[:, 0])].tolist()
    ]


class JointJudge:
    """Judges changes by the joints of the character, exactly: features hide a lone arm, and chains add up.

    The peak of a change is the largest acceleration of any joint over that joint's own in the two motions, of which
    none counts as calmer than `CALM_JOINT_RATIO` of the liveliest.
    """

    def __init__(self, rig: DirectRig, model: PerformanceModel) -> None:
        self.rig, self.model = rig, model
        self._own: dict[int, tuple[Array, Array]] = {}

    def places(self, features: Array) -> Array:
        """(n, J, 3) joints of the skin of features (n, E), on the spot."""
        rows = self.model.encoder.place(features, np.zeros((len(features), 3)))
        return np.asarray(self.rig.joints(rows)[..., :3, 3][:, self.rig.character.joints])

    def own_accelerations(self, features: Array) -> Array:
        """(J,) the largest accelerations of the joints in consecutive features (n, E), a second squared."""
        key = id(features)
        if key not in self._own:
            turns = np.linalg.norm(np.diff(self.places(features.astype(np.float64)), 2, axis=0), axis=-1)
            self._own[key] = (features, turns.max(axis=0, initial=0.0) * self.model.rate**2)
        return self._own[key][1]

    def choose(
        self,
        changes: Sequence[Change],
        poses: Array,
        rates: Array,
        left: Array | None,
        entries: EntryPoints,
        limits: ChangeLimits,
    ) -> Change:
        """The best of some changes, each with its duration or one of the next two.

        `poses` and `rates` (S, E) are the features of the departures, `left` (n, E) those of the motion that is left.
        """
        rate = self.model.rate
        tried, motions = [], []
        for change in changes:
            first = limits.durations.index(change.seconds)
            piece, frame = entries.piece(change.frame)
            x0 = poses[change.departure] - piece[frame]
            following = piece[min(frame + 1, len(piece) - 1)]
            v0 = rates[change.departure] - (following - piece[frame]) * rate
            for seconds in limits.durations[first : first + 3]:
                length = int(np.ceil(seconds * rate)) + SETTLED_FRAMES
                h0, h1 = decay_shapes(np.arange(length) / (rate * seconds))
                target = piece[np.minimum(frame + np.arange(length), len(piece) - 1)]
                before = poses[change.departure] - rates[change.departure] / rate
                motions.append(np.concatenate([before[None], target + np.outer(h0, x0) + np.outer(h1 * seconds, v0)]))
                tried.append(replace(change, seconds=seconds, cost=change.cost + seconds - change.seconds))
        places = self.places(np.concatenate(motions))
        own = np.max([self.own_accelerations(piece) for piece in (*entries.pieces, *(() if left is None else (left,)))], 0)
        own = np.maximum(own, max(CALM_JOINT_RATIO * float(own.max()), 1e-9))
        best, first = None, 0
        for change, motion in zip(tried, motions):
            turns = np.diff(places[first : first + len(motion)], 2, axis=0)
            first += len(motion)
            peak = float((np.linalg.norm(turns, axis=-1).max(axis=0) * rate**2 / own).max())
            cost = change.cost + HARSHNESS_SECONDS * max(0.0, peak - 1.0) ** 2
            if best is None or cost < best.cost:
                best = replace(change, peak=peak, cost=cost)
        assert best is not None
        return best


def blend_seconds(space: LookSpace, offset: Array, rate: Array, usual: float, limits: ChangeLimits) -> float:
    """The duration of the cheapest blend of differences of looks (D,) and of their rates (D,) over a motion at rest.

    `usual` is the acceleration of the motions, a second squared.
    """
    frame = 1 / space.rate
    shapes, _ = _second_differences(limits.durations, frame)
    xx, xv, vv = (float(a @ b) for a, b in ((offset, offset), (offset, rate), (rate, rate)))
    a, b = shapes[:, 0], shapes[:, 1] * frame
    peaks = np.sqrt(np.maximum(a * a * xx + b * b * vv + 2 * a * b * xv, 0.0).max(axis=1))
    budget = limits.budget_ratio * max(usual, MIN_LIBRARY_RATIO * space.usual) * frame**2
    costs = np.array(limits.durations) + HARSHNESS_SECONDS * np.maximum(0.0, peaks / budget - 1) ** 2
    return limits.durations[int(np.argmin(costs))]


def _rank(motion: EnteredMotion, departures: Array, rate: float) -> Array:
    """(S, K) the entries that are most like each departure (S, 2, D), by two weights of the velocity."""
    entries = motion.entries
    away = motion.entry_looks[1] - 2 * departures[:, 0] @ motion.entry_looks[0].T
    faster = rate**2 * (motion.entry_steps[1] - 2 * departures[:, 1] @ motion.entry_steps[0].T)
    count = min(CANDIDATES_PER_RANKING, len(entries))
    chosen = [np.argpartition(away + tau**2 * faster, count - 1, axis=1)[:, :count] for tau in POSE_SECONDS]
    return entries[np.sort(np.concatenate(chosen, axis=1), axis=1)]


@lru_cache(maxsize=64)
def _second_differences(durations: tuple[float, ...], frame: float) -> tuple[Array, Array]:
    """(T, 2, J) second differences of both shapes of a blend, a frame apart, and (T,) how many count.

    The first is that of the change from the motion before: it has the pose and the step of the blend at its start.
    """
    lengths = np.array([int(np.ceil(seconds / frame)) + SETTLED_FRAMES for seconds in durations])
    shapes = np.zeros((len(durations), 2, int(lengths.max())))
    for t, seconds in enumerate(durations):
        u = np.arange(lengths[t] + 1) * frame / seconds
        h0, h1 = decay_shapes(u)
        h1 = h1 * (seconds / frame)  # of a step instead of a rate
        for row, (values, before) in zip(shapes[t], ((h0, 1.0), (h1, -1.0))):
            row[: lengths[t]] = np.diff(np.concatenate([[before], values]), 2)
    return shapes, lengths


def distinct_frames(looks: Mapping[str, Array], label: str, rate: float, starts: Sequence[int]) -> Array:
    """(n,) bool: the frames of a label (n, D) after which its poses are unlike those of all other labels.

    Args:
        looks: The looks of the frames of every label.
        label: The label.
        rate: Frames a second.
        starts: The first frame of each clip of the label.

    Returns:
        The frames that may be entered; all where there is no other label.
    """
    others = [values for name, values in looks.items() if name != label]
    count = len(looks[label])
    if not others:
        return np.ones(count, bool)
    alone = np.min([view_distances_squared(looks[label], values).min(axis=1) for values in others], axis=0)
    unlike = (alone >= np.quantile(alone, SHOWN_QUANTILE)).astype(float)
    first, last = (round(seconds * rate) for seconds in SHOWN_SECONDS)
    shown = np.zeros(count, bool)
    for start, stop in zip(starts, [*starts[1:], count]):
        total = np.concatenate([[0.0], np.cumsum(unlike[start:stop])])
        frames = np.arange(stop - start)
        begin, end = np.minimum(frames + first, stop - start - 1), np.minimum(frames + last, stop - start)
        shown[start:stop] = (total[end] - total[begin]) > 0.5 * (last - first)
    return shown


@dataclass(frozen=True, eq=False)
class EntryPoints:
    """The pieces of a motion that may be entered, one after the other in `motion`."""

    motion: EnteredMotion
    clips: tuple[str, ...]  # of each piece
    starts: Array  # (P,) int, first frame of each piece in `motion`
    pieces: tuple[Array, ...]  # P, their features (n, E)

    @classmethod
    def from_pieces(
        cls, looks: LookSpace, clips: tuple[str, ...], pieces: list[Array], entries: list[Array]
    ) -> EntryPoints:
        """Pieces of features (n, E) of some clips, with the frames of each where it may be entered."""
        motion, starts = EnteredMotion.from_pieces(looks, pieces, entries)
        return cls(motion, clips, starts, tuple(pieces))

    def piece(self, frame: int) -> tuple[Array, int]:
        """The features (n, E) of the piece that a frame of `motion` is in, and its number there."""
        piece = int(np.searchsorted(self.starts, frame, side="right")) - 1
        return self.pieces[piece], frame - int(self.starts[piece])

    def locate(self, frame: int) -> tuple[str, int]:
        """The clip of a frame of `motion`, and its number in the clip's piece."""
        piece = int(np.searchsorted(self.starts, frame, side="right")) - 1
        return self.clips[piece], frame - int(self.starts[piece])


class MotionEntries:
    """The entries of all motions of a model, each found once on first use."""

    def __init__(self, model: PerformanceModel) -> None:
        self.model = model
        self._points: dict[tuple[str, str, float], EntryPoints] = {}
        self._rests: dict[str, Array] = {}
        self._own_accelerations: dict[str, float] = {}
        self._clips: dict[str, Array] = {}

    @cached_property
    def looks(self) -> LookSpace:
        """The space in which motions are compared."""
        return LookSpace.from_model(self.model)

    @cached_property
    def label_looks(self) -> dict[str, Array]:
        """Label -> looks (N, D) of its frames."""
        return {label: self.looks.of(space.features) for label, space in self.model.spaces.items()}

    def own_acceleration(self, clip: str) -> float:
        """The acceleration that 1 % of a clip's frames exceed, a second squared."""
        if clip not in self._own_accelerations:
            label, segment = self.model.clip(clip)
            looks = self.label_looks[label][segment.start : segment.stop]
            self._own_accelerations[clip] = self.looks.own_acceleration(looks)
        return self._own_accelerations[clip]

    def clip_frames(self, clip: str) -> Array:
        """(n, E) the features of a clip; the same array each time."""
        if clip not in self._clips:
            label, segment = self.model.clip(clip)
            self._clips[clip] = self.model.space(label).features[segment.start : segment.stop]
        return self._clips[clip]

    def of_cycle(self, cycle: Cycle, speed: float = 1.0) -> EntryPoints:
        """Every frame of one period; `frame / (period rate)` is the phase."""
        key = ("cycle", cycle.clip, speed)
        if key not in self._points:
            step = speed * cycle.speed / (cycle.period * self.looks.rate)
            count = max(2, round(1 / step))
            beyond = round(float(DURATIONS_SECONDS[-1]) * self.looks.rate) + SETTLED_FRAMES + 1
            features = cycle.features_at(np.arange(count + beyond) * step)
            self._points[key] = EntryPoints.from_pieces(self.looks, (cycle.clip,), [features], [np.arange(count)])
        return self._points[key]

    def of_act(self, segment: Segment, features: Array) -> EntryPoints:
        """The first quarter of an act's features (n, E) at the rate of the clips."""
        count = max(1, round(ACT_ENTRY_SHARE * len(features)))
        return EntryPoints.from_pieces(self.looks, (segment.clip,), [features], [np.arange(count)])

    def of_pose(self, features: Array) -> EntryPoints:
        """One pose (E,), held."""
        return EntryPoints.from_pieces(self.looks, ("",), [features[None]], [np.zeros(1, np.int64)])

    def of_start(self, segment: Segment, features: Array) -> EntryPoints:
        """The first of features (n, E) alone."""
        return EntryPoints.from_pieces(self.looks, (segment.clip,), [features], [np.zeros(1, np.int64)])

    def of_label(self, label: str) -> EntryPoints:
        """The frames of all clips of a label that show it and are followed by a rest."""
        key = ("label", label, 1.0)
        if key not in self._points:
            space, rests = self.model.space(label), self.rests(label)
            starts = [segment.start for segment in space.segments]
            shown = distinct_frames(self.label_looks, label, space.rate, starts)
            number = np.arange(len(space))
            ends = np.repeat([segment.stop for segment in space.segments], [len(s) for s in space.segments])
            soon = (rests >= 0) & (rests - number <= MAX_REST_SECONDS * space.rate)
            left = ends - number >= MIN_LEFT_SECONDS * space.rate
            for allowed in (shown & soon & left, shown & soon, shown, np.ones(len(space), bool)):
                if allowed.any():
                    break
            pieces = [space.features[segment.start : segment.stop] for segment in space.segments]
            entries = [np.flatnonzero(allowed[segment.start : segment.stop]) for segment in space.segments]
            clips = tuple(segment.clip for segment in space.segments)
            self._points[key] = EntryPoints.from_pieces(self.looks, clips, pieces, entries)
        return self._points[key]

    def rests(self, label: str) -> Array:
        """(N,) int: for each frame of a label the next rest of its clip after a blend, -1 where there is none."""
        if label not in self._rests:
            self._rests[label] = _next_rests(self.model.space(label), self.label_looks[label])
        return self._rests[label]


def clip_features(space: PoseSpace, segment: Segment, behaviour: Behaviour, speed: float, rate: float) -> Array:
    """(n, E) features of a clip's range at `rate` frames a second, played at a speed."""
    return resample.sample(
        space.features[segment.start : segment.stop],
        space.rate,
        clip_times(space, segment, behaviour, speed, rate),
        "cubic",
    )


def clip_times(space: PoseSpace, segment: Segment, behaviour: Behaviour, speed: float, rate: float) -> Array:
    """(n,) the moments of a clip's range that are shown at `rate` frames a second, played at a speed."""
    last = (len(segment) - 1) / space.rate
    stop = last if behaviour.stop is None else min(behaviour.stop, last)
    start = round(behaviour.start * space.rate) / space.rate  # exactly on a frame, where the rates are the same
    count = max(1, round((stop - start) * rate / speed))
    return np.minimum(start + np.arange(count + 1) * speed / rate, last)


def _next_rests(space: PoseSpace, looks: Array) -> Array:
    speeds = np.concatenate(
        [
            np.linalg.norm(np.gradient(looks[s.start : s.stop], axis=0), axis=1) if len(s) > 1 else np.zeros(len(s))
            for s in space.segments
        ]
    )
    calm = speeds <= np.quantile(speeds, CALM_QUANTILE)
    away = np.linalg.norm(looks - looks[space.home], axis=1)
    rest = calm & (away <= np.quantile(away[calm], REST_QUANTILE))
    blend = round(float(SHOWN_SECONDS[1]) * space.rate)
    result = np.full(len(space), -1)
    for segment in space.segments:
        numbers = np.flatnonzero(rest[segment.start : segment.stop]) + segment.start
        frames = np.arange(segment.start, segment.stop)
        following = np.searchsorted(numbers, frames + blend)
        has = following < len(numbers)
        result[frames[has]] = numbers[following[has]]
    return result
