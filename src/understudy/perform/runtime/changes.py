"""Changes of motion: where the new motion is entered, when the old one is left, and how long the blend takes.

A change enters the new motion at once and adds the difference that is left, which decays within T [Bollo 2018]. With
x0 and v0 the differences of pose and velocity, u = t / T,

    x0 h0(u) + v0 T h1(u),      h0 = (1 - u)^3 (1 + 3 u + 6 u^2),      h1 = (1 - u)^3 u (1 + 3 u).

Bollo shortens T where a velocity points home; without that the blend is linear in x0 and v0, and its acceleration is
predicted for all candidates at once. One cost chooses among entries, departures and durations:

    cost = seconds until it is over + HARSHNESS max(0, peak / budget - 1)^2.

The peak is that of the whole motion, in the space of looks (weighted features, reduced). The budget is a share of what
the two motions do themselves: a blow may be joined by a jerk, an idle may not. `urgency` raises the share, shortens the
blend and forbids to wait. Of the changes that are best by looks, the joints of a body choose (`entries.JointJudge`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from understudy.checks import Array
from understudy.perform.model import PerformanceModel

MAX_BLEND_SECONDS = 4.0  # that a command may ask for; a longer one is not a blend any more
MIN_BLEND_SECONDS = 0.2
DURATIONS_SECONDS = np.array([MIN_BLEND_SECONDS, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25])
HARSHNESS_SECONDS = 3.0  # that a peak of twice the budget is worth
LOOK_VARIANCE = 0.999  # of the clips that the space of looks keeps
MIN_LIBRARY_RATIO = 0.1  # of the library's accelerations: a budget that two motions at rest still have
POSE_SECONDS = (0.1, 0.3)  # that a difference of velocity counts as a difference of pose when candidates are ranked
CANDIDATES_PER_RANKING = 24
SHORTLISTED_CHANGES = 4  # changes that are best by looks, among which joints decide
SETTLED_FRAMES = 2  # after a blend whose accelerations still count
ACCELERATION_PERCENTILE = 99.0
DEFAULT_URGENCY = 0.5
# At urgency 0, the default and 1: share of the motions' own acceleration, shortest blend, longest wait.
URGENCIES = np.array([0.0, DEFAULT_URGENCY, 1.0])
BUDGET_RATIOS = np.array([0.16, 0.25, 0.5])
SHORTEST_SECONDS = np.array([0.5, 0.3, 0.2])
LONGEST_WAIT_SECONDS = np.array([0.5, 0.5, 0.0])


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
        At most `SHORTLISTED_CHANGES` changes, each of another departure or frame.
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
    best = np.full((SHORTLISTED_CHANGES, 5), np.inf)
    arrays = (motion.looks, motion.steps, motion.turns, motion.squares, candidates, shapes)
    durations = np.array(limits.durations)
    particle_kernels.search_changes(departures, waits, *arrays, durations, lengths, budget, HARSHNESS_SECONDS, best)
    return [
        Change(int(entry), float(waits[int(s)]), limits.durations[int(t)], peak / budget, cost, int(s))
        for cost, s, entry, t, peak in best[np.isfinite(best[:, 0])].tolist()
    ]


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
