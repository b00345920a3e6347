"""Entries: the frames of a motion where it may be entered, and the joints' judgement of such changes.

**Entries must show the label.** Clips of a face begin and end near neutral; the nearest frame would arrive at once and
show nothing for a second. So only frames count after which the poses are unlike all other labels for most of
`SHOWN_SECONDS`.

A cycle may be entered at any phase. An act may be joined in its first quarter, in the wind-up of a blow
and not after it, and left in its last. The clips of a label that is hovered in are entered where they show the label,
and lead to a rest: a calm frame that is like the label's home.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.maths import resample
from understudy.perform.behaviours import Behaviour
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_space import PoseSpace, Segment, view_distances_squared
from understudy.perform.runtime.changes import (
    DURATIONS_SECONDS,
    SETTLED_FRAMES,
    Change,
    ChangeLimits,
    EnteredMotion,
    LookSpace,
    decay_shapes,
)
from understudy.perform.runtime.cycles import Cycle

SHOWN_SECONDS = (0.2, 0.8)  # after an entry, in most of which the poses must be unlike other labels
SHOWN_QUANTILE = 0.5  # of a label's frames, by distance to the other labels, that are unlike them
JOINT_HARSHNESS_SECONDS = 30.0  # that a joint of twice its own acceleration is worth: a tenth more is 0.3 s
CALM_JOINT_RATIO = 0.25  # of the liveliest joint's acceleration, that any joint may reach
ACT_ENTRY_SHARE = 0.25  # of an act's frames at its beginning where it may be joined, and at its end where it is left
MIN_LEFT_SECONDS = 0.75  # of a clip after an entry, where the label is hovered in
MAX_REST_SECONDS = 3.0  # after an entry within which the clip comes to a rest
CALM_QUANTILE = 0.5  # of a label's frames, by speed, among which rests are
REST_QUANTILE = 0.5  # of the calm frames, by distance to the label's home, that are rests


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

    def of_clip(self, segment: Segment, behaviour: Behaviour, speed: float, joins: bool) -> EntryPoints:
        """A clip's range at a speed: its first frame alone, or with `joins` its first quarter."""
        key = (f"{segment.clip}@{behaviour.start}:{behaviour.stop}", str(joins), speed)
        if key not in self._points:
            label, _ = self.model.clip(segment.clip)
            features = clip_features(self.model.space(label), segment, behaviour, speed, self.model.rate)
            count = max(1, round(ACT_ENTRY_SHARE * len(features))) if joins else 1
            self._points[key] = EntryPoints.from_pieces(self.looks, (segment.clip,), [features], [np.arange(count)])
        return self._points[key]

    def of_pose(self, features: Array) -> EntryPoints:
        """One pose (E,), held."""
        return EntryPoints.from_pieces(self.looks, ("",), [features[None]], [np.zeros(1, np.int64)])

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


class JointJudge:
    """Judges changes by the joints of the character, exactly: features hide a lone arm, and chains add up.

    The peak of a change is the largest acceleration of any joint over that joint's own in the two motions, of which
    none counts as calmer than `CALM_JOINT_RATIO` of the liveliest.
    """

    def __init__(self, rig: DirectRig, model: PerformanceModel) -> None:
        self.rig, self.model = rig, model
        self._own: dict[int, tuple[Array, Array]] = {}  # of features that are kept by `MotionEntries` anyway

    def places(self, features: Array) -> Array:
        """(n, J, 3) joints of the skin of features (n, E), on the spot."""
        rows = self.model.encoder.place(features, np.zeros((len(features), 3)))
        return np.asarray(self.rig.joints(rows)[..., :3, 3][:, self.rig.character.joints])

    def own_accelerations(self, features: Array) -> Array:
        """(J,) the largest accelerations of the joints in consecutive features (n, E), a second squared."""
        key = id(features)
        if len(features) < 3:
            return np.zeros(len(self.rig.character.joints))
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
        A change costs at least what it does by looks, so most are not posed at all.
        """
        tried = []
        for change in changes:
            first = limits.durations.index(change.seconds)
            for seconds in limits.durations[first : first + 3]:
                tried.append(replace(change, seconds=seconds, cost=change.cost + seconds - change.seconds))
        own = np.max(
            [self.own_accelerations(piece) for piece in (*entries.pieces, *(() if left is None else (left,)))], 0
        )
        own = np.maximum(own, max(CALM_JOINT_RATIO * float(own.max()), 1e-9))
        best: Change | None = None
        for change in sorted(tried, key=lambda change: change.cost):
            if best is not None and change.cost >= best.cost:
                break
            motion = self._motion(change, poses[change.departure], rates[change.departure], entries)
            turns = np.diff(self.places(motion), 2, axis=0)
            peak = float((np.sqrt(np.square(turns).sum(axis=-1).max(axis=0)) * self.model.rate**2 / own).max())
            cost = change.cost + JOINT_HARSHNESS_SECONDS * max(0.0, peak - 1.0) ** 2
            if best is None or cost < best.cost:
                best = replace(change, peak=peak, cost=cost)
        assert best is not None
        return best

    def _motion(self, change: Change, pose: Array, velocity: Array, entries: EntryPoints) -> Array:
        """(n, E) the frame before a change from a pose (E,) with its velocity (E,), and all frames of its blend."""
        rate = self.model.rate
        piece, frame = entries.piece(change.frame)
        length = int(np.ceil(change.seconds * rate)) + SETTLED_FRAMES
        target = piece[np.minimum(frame + np.arange(max(length, 2)), len(piece) - 1)]
        h0, h1 = decay_shapes(np.arange(len(target)) / (rate * change.seconds))
        x0, v0 = pose - target[0], velocity - (target[1] - target[0]) * rate
        blend = target + h0[:, None] * x0 + (change.seconds * h1)[:, None] * v0
        return np.concatenate([(pose - velocity / rate)[None], blend])
