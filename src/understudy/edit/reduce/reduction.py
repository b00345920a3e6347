"""A dense animation to few keys with free tangents, within a tolerance in the world.

1. Sample the source; find what must stay (cuts, planted joints, peaks, poses, the seam of a loop).
2. Key each joint from the root down within a share of the tolerance, so that it compensates the errors of the joints
   above it (`search.key_from_root`). Where all columns share their keys, all are keyed together.
3. Remove keys while the world, every joint at every sample with the errors of all columns summed, stays within the
   tolerance; in between, columns compensate each other and keys move to better frames (`search`).
4. Measure the finished curves, through the rig as a player evaluates them, at the source's own frames and eight times
   as often. Where they exceed the tolerance, add keys until they do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Clip, Curves
from understudy.character.rig.rig import PosedRig
from understudy.checks import Array
from understudy.edit.reduce import groups as key_groups
from understudy.edit.reduce import landmarks, search, search_kernels, source
from understudy.edit.reduce.fit_kernels import MIN_FITTED_SAMPLES
from understudy.edit.reduce.groups import CONSTANT_TOLERANCE_RATIO, KeyGroup, group_columns
from understudy.edit.reduce.search import AIM_RADIUS_SAMPLES
from understudy.edit.reduce.search_kernels import WorldState
from understudy.edit.reduce.source import ReducedCurves
from understudy.edit.reduce.world_error import ROTATION_KINDS, WorldError
from understudy.maths import euler

Progress = Callable[[int, int], None]

DEFAULT_TOLERANCE_M = 0.01
DEFAULT_WEIGHT_TOLERANCE = 0.01  # of shape weights and other controls
KEY_MODES = ("poses", "fewest", "shared", "free")  # "free" is the name of "fewest" in version 0.1
HANDLE_MODES = ("free", "thirds")
SHARED_FILL_RATIO = 0.35  # tolerances, error of one column before keys are removed, where all share their keys
ROUND_LIMITS = (0.9, 0.985, 0.985)  # tolerances; the last leaves room for second-order effects
SHARED_ROUND_LIMITS = (0.5, 0.8, 0.985, 0.985)  # tolerances, where keys were not removed joint by joint
PEAK_TOLERANCE_RATIO = 0.25  # of its tolerance that a weight may be off at a peak, so that peaks are not cut off
# Of its lever: the pull of a quaternion column towards its source while it compensates others.
QUATERNION_BOUND_RATIO = 0.5
STRICTNESS = (1.0, 0.9, 0.75)  # shares of the tolerances that a search keeps, tried in turn where the result is beyond
MAX_DESCENTS = 2  # attempts at keying from the root down
MAX_LOOK_FACTOR = 2.0  # by which an error between samples makes the tolerance stricter at the samples around it
CUT_SLOPE_RATIO = 1e-3  # of a frame, over which slopes at a cut are measured
MAX_CHAIN_BEGINNINGS, MAX_CHAIN_KEYS = 3, 8  # tries to add several keys at once, and the keys of one try
RELEASED_SPEED_FACTOR = 4.0  # by which planted joints may be faster where the tolerance needs it, at each failure
MAX_REPAIR_ROUNDS = 16  # rounds of added keys before keys are removed, and at the end; most clips take a few


def reduce_keys(
    animation: Clip | Curves,
    rig: PosedRig | None = None,
    *,
    tolerance: float = DEFAULT_TOLERANCE_M,
    angle: float | None = None,
    weight: float = DEFAULT_WEIGHT_TOLERANCE,
    keys: str = "poses",
    rotations: str = "keep",
    handles: str = "free",
    loop: bool | None = None,
    extremes: bool = True,
    contacts: bool = True,
    rate: float | None = None,
    progress: Progress | None = None,
) -> ReducedCurves:
    """Fit few Bezier keys that stay within a tolerance of an animation.

    Args:
        animation: The animation, dense or keyed.
        rig: Rig of the character; errors are then measured in the world. Without it each joint counts by itself.
        tolerance: Largest distance of any joint from the source, in metres, at its frames and between them.
        angle: Largest turn of any joint from the source, in radians; None: the turn that moves the end of the joint's
            bone by `tolerance`.
        weight: Largest difference of shape weights and other controls.
        keys: `"poses"`, for editing: every channel has a key at the poses, extremes and contacts of the motion, at most
            a second apart, and keys of its own between them; `"fewest"`, for storage: each channel has its own key
            times; `"shared"`: all channels have the same key times.
        rotations: `"keep"`, `"euler"` or `"quaternion"`: what rotations become. Angles need fewer keys and less time.
        handles: `"free"`, or `"thirds"`: only slopes are free, which takes more keys, but glTF holds the curves as
            they are.
        loop: Whether the animation is a loop that has to stay seamless; None finds out.
        extremes: Whether clear peaks of columns stay: with a key of their own in `"poses"`.
        contacts: Whether joints that stand on the floor are held so closely that they do not slide.
        rate: Frames a second on which keys may be; None takes those of the animation. Errors are measured at the
            animation's own frames in either case.
        progress: Called with the steps done and their number.

    Returns:
        The `curves`, the number of `keys`, and the errors reached: `error_m` in metres, `error_angle` in radians and
        `error_weight`; `binding` names the tolerance that is used up most. Where keys on frames cannot keep the
        tolerance, `notes` say so.

    Raises:
        InvalidInput: If a tolerance is not positive, an option is unknown, or the animation does not move the rig.

    Example:
        >>> lamp = us.load("lamp")
        >>> dense = lamp.clip("happy", rate=24)
        >>> reduced = us.reduce_keys(dense, us.rig_of(lamp.character()), tolerance=0.005, keys="fewest")
        >>> reduced.error_m <= 0.005, reduced.keys < dense.values.size / 8
        (True, True)

    Notes:
        docs/reduce.md says what `keys`, `rotations` and `handles` cost.
    """
    checks.one_of(keys, "keys", KEY_MODES)
    tolerance = checks.positive(tolerance, "tolerance")
    angle = None if angle is None else checks.positive(angle, "angle")
    weight = checks.positive(weight, "tolerance on weights")
    checks.one_of(rotations, "rotations", source.ROTATION_MODES)
    checks.one_of(handles, "handles", HANDLE_MODES)
    measure = WorldError(source.sample_source(animation, rotations, rate), rig)
    best: ReducedCurves | None = None
    for strictness in STRICTNESS:
        tolerances = tolerance, angle, weight
        run = _Reduction(measure, *tolerances, handles == "free", strictness)
        reduced = run.run(keys, loop, extremes, contacts, progress or _ignore_progress)
        if best is None or reduced.used < best.used:
            best = reduced
        if best.used <= 1:
            return best
        progress = _ignore_progress  # reported progress does not run backwards
    assert best is not None
    note = f"keys on frames do not keep the {best.binding} tolerance: the error is {best.used:.3g} times as large"
    return replace(best, notes=(*best.notes, note))


def _ignore_progress(done: int, total: int) -> None:
    """The default `progress`: nothing."""


class _Reduction:
    """One run: the source, the model of the world, and the groups with their keys.

    The search keeps a share of the tolerances, `strictness`; the result is judged by the tolerances themselves.
    """

    def __init__(
        self,
        measure: WorldError,
        tolerance: float,
        angle: float | None,
        weight: float,
        free_lengths: bool,
        strictness: float,
    ) -> None:
        self.measure, self.given, self.bones = measure, measure.given, measure.bones
        self.free_lengths, self.strictness = free_lengths, strictness
        lengths = self.bones.bone_lengths()
        angles = tolerance / lengths if angle is None else np.full(len(lengths), angle)
        # the search keeps a share of the tolerances
        self.tolerance, self.weight, self.angles = tolerance * strictness, weight * strictness, angles * strictness
        self.notes = list(self.given.notes)

    def run(self, keys: str, loop: bool | None, extremes: bool, contacts: bool, progress: Progress) -> ReducedCurves:
        """Run all steps; see the top of this file."""
        together = keys == "shared"
        limits = SHARED_ROUND_LIMITS if together else ROUND_LIMITS
        total = len(limits) + 2
        self.world = self._world_model(contacts)
        lever = np.empty(self.world.error.shape)
        search_kernels.write_levers(self.world, lever)
        lever = np.maximum(lever, 1e-6)  # a column that moves nothing at a sample still has a bound
        values, travelling = self.given.values, np.zeros(len(lever), bool)
        travelling[self.given.channels.columns_of("translation")] = True
        self.loop = (
            landmarks.is_loop(values, lever, travelling, self.given.frame)
            if loop is None
            else loop and self.given.frames > 1
        )
        self.groups = self._make_groups(lever, keys, extremes)
        if together:
            for group in self.groups:
                group.begin(self.loop, SHARED_FILL_RATIO)
        else:
            self._descend()
        self._remeasure()
        self._cure()
        progress(1, total)
        for number, limit in enumerate(limits):
            for group in self.groups:
                self._round(group, limit, last=number > 0)
            self._remeasure()
            progress(number + 2, total)
        self._cure()
        reduced = self._meet_tolerance()
        progress(total, total)
        return reduced

    def _cure(self) -> None:
        """Add keys while joints or columns are beyond their limits, of which the speed of planted joints is one."""
        for _ in range(MAX_REPAIR_ROUNDS):
            if not self._repair(self._joint_errors(), np.abs(self.world.error) * self.world.band):
                break
            self._remeasure()

    def _round(self, group: KeyGroup, limit: float, last: bool) -> None:
        """One group within a limit (tolerances): smooth, compensate other columns, shift, remove and merge keys."""
        search.smooth_keys(group, self.world, limit)
        if group.count > 1:
            group.polish(self.world, limit)
        if last:
            search.shift_keys(group, self.world, limit)
        search.remove_keys(group, self.world, limit)
        if last:
            search.merge_keys(group, self.world, limit)

    def _descend(self) -> None:
        """First keys from the root down; where the errors of a chain add up to too much, again with smaller shares."""
        levers = [group.weight for group in self.groups]
        tight = np.ones(self.world.error.shape)
        for _ in range(MAX_DESCENTS):
            for group, lever in zip(self.groups, levers):
                group.weight = lever * tight[group.columns]
            search.key_from_root(self.measure, self.groups, self.world, self.loop)
            self._remeasure()
            worst = self._joint_errors()
            if worst.max(initial=0.0) <= 1:
                break
            search.tighten(self.world, worst, tight)
        for group, lever in zip(self.groups, levers):
            group.weight = lever

    def _world_model(self, contacts: bool) -> WorldState:
        samples, width = self.given.values.shape
        joints = len(self.bones.parents)
        reach, reach_turn = np.full((samples, joints), 1 / self.tolerance), np.tile(1 / self.angles, (samples, 1))
        places, reach_step = self.measure.places, np.zeros((samples, joints))
        self.planted = np.zeros((samples, joints), bool)
        if contacts and joints:
            self.planted = landmarks.find_planted(places, self.given.sample_rate)
            reach[self.planted] /= landmarks.PLANTED_POSITION_RATIO
            reach_step = 1 / landmarks.step_limits(places, self.planted, self.given.sample_rate)
        band = np.zeros((width, samples))
        band[:] = self.measure.bands(self.tolerance, self.weight)[:, None]
        return self.bones.world(self.given.values, reach, reach_turn, reach_step, band)

    def _make_groups(self, lever: Array, keys: str, extremes: bool) -> list[KeyGroup]:
        """The groups, without keys, with what each must keep."""
        given, world = self.given, self.world
        values = np.ascontiguousarray(given.values.T)
        moving = np.ptp(values, axis=1) * lever.max(axis=1) > 2 * CONSTANT_TOLERANCE_RATIO
        own_lever = lever.copy()
        if keys != "shared":
            closest = landmarks.PLANTED_SHARE_HEIGHTS * landmarks.body_height(self.measure.places)
            own_lever = search.bone_levers(self.measure, world, 1 / max(closest, 1e-9))
        bound = np.zeros(lever.shape)
        turns = given.channels.columns_of("rotation").reshape(-1, 4)
        # all four columns of a quaternion get the same lever, whichever turns the joint, or its length would drift
        own_lever[turns] = own_lever[turns].max(axis=1, keepdims=True)
        bound[turns] = QUATERNION_BOUND_RATIO * own_lever[turns]
        poses = np.zeros(len(given.values), bool)
        if keys == "poses":
            poses = landmarks.find_poses(
                self.measure.places, self.planted, self.tolerance, given.sample_rate, given.frame
            )
        groups: list[KeyGroup] = []
        cuts = self._find_cuts(lever)
        channel_of = np.searchsorted(given.channels.offsets, np.arange(len(lever)), side="right") - 1
        for columns in group_columns(given.channels, moving, keys == "shared"):
            cut: Array = np.any(cuts[np.unique(channel_of[columns])], axis=0)
            corners = cut | np.roll(cut, given.frame)
            pinned: Array = poses | corners
            if given.frame >= MIN_FITTED_SAMPLES:  # a frame has samples enough to be fitted, and need not be straight
                cut = np.zeros(len(cut), bool)
            slopes = {int(m): self._cut_slopes(int(m), columns, channel_of) for m in np.flatnonzero(cut)}
            for column in columns if extremes else ():
                peaks = landmarks.find_peaks(values[column], lever[column], given.frame)
                if world.joint[column] < 0:
                    world.band[column, peaks] = lever[column, peaks] / PEAK_TOLERANCE_RATIO
                if keys == "poses":
                    pinned |= landmarks.away_from(pinned, peaks, given.sample_rate)
            levers = own_lever[columns], bound[columns]
            groups.append(
                KeyGroup(
                    columns, values[columns], *levers, given.frame, cut, pinned, corners, slopes, self.free_lengths
                )
            )
        return groups

    def _find_cuts(self, lever: Array) -> Array:
        """(N, M) bool: the samples at which a cut of each channel begins; errors within it do not count."""
        given, world = self.given, self.world
        frames = landmarks.find_cuts(given.channels, given.values, lever.min(axis=1), given.frame)  # (F - 1, N)
        cuts = np.zeros((len(given.channels), len(given.values)), bool)
        cuts[:, : -1 : given.frame] = frames.T
        self.cut_joints = np.zeros((given.frames, len(self.bones.parents)), bool)
        self.cut_times = given.start + np.flatnonzero(frames.any(axis=1)) / given.rate
        for frame, number in np.argwhere(frames) if given.frame < MIN_FITTED_SAMPLES else ():
            joint = int(world.joint[given.channels.offsets[number]])
            if joint >= 0 and given.channels[number].kind in ROTATION_KINDS:  # others are straight in the source, too
                self.cut_joints[frame, world.below[world.first[joint] : world.first[joint + 1]]] = True
        inside = np.repeat(self.cut_joints, given.frame, axis=0)[: len(given.values)]
        inside[:: given.frame] = False
        world.reach[inside] = world.reach_turn[inside] = 0.0
        return cuts

    def _cut_slopes(self, sample: int, columns: Array, channel_of: Array) -> Array:
        """(n, 2) slopes of the source just after the frame before a cut and just before the frame after it.

        Units a second, of the columns (n,) of a group. With them curves of angles follow the source's own
        interpolation between the two frames, which is straight in quaternions.
        """
        given = self.given
        start, stop = given.seconds(np.array([sample, sample + given.frame]))
        short = CUT_SLOPE_RATIO * (stop - start)
        inside = source.sample_at(given.animation, np.array([start + short, stop - short]))
        slopes = np.empty((len(columns), 2))
        for number in np.unique(channel_of[columns]):
            channel = given.channels[number]
            own = slice(int(given.channels.offsets[number]), int(given.channels.offsets[number + 1]))
            ends = given.values[[sample, sample + given.frame], own]
            change = np.diff(ends, axis=0).repeat(2, axis=0) / (stop - start)
            turns = inside.get((channel.target, channel.kind))
            if channel.kind == "euler" and turns is None:
                turns = euler.to_euler(inside[channel.target, "rotation"], "".join(channel.columns))
                turns = search.nearest_angles(turns, ends)
                change = (turns - ends) / [[short], [-short]]
            ours = np.flatnonzero((columns >= own.start) & (columns < own.stop))
            slopes[ours] = change.T[columns[ours] - own.start]
        return slopes

    def _joint_errors(self, samples: slice = slice(0, None)) -> Array:
        """(M', J) the current errors of the joints in a span of samples, in tolerances."""
        world, start = self.world, samples.start
        errors = np.maximum(
            _lengths(world.offset[samples]) * world.reach[samples],
            _lengths(world.turn[samples]) * world.reach_turn[samples],
        )
        before = slice(max(start - 1, 0), samples.stop)
        steps = _lengths(np.diff(world.place[before] + world.offset[before], axis=0))
        own = errors[len(errors) - len(steps) :]
        np.maximum(own, steps * world.reach_step[samples][len(errors) - len(steps) :], out=own)
        return errors

    def _remeasure(self) -> None:
        """Replace the first-order sums of the errors by measured ones."""
        values = self.given.values.copy()
        for group in self.groups:
            values[:, group.columns] = group.values.T
        offset, turn = self.measure.errors(values)
        self.world.offset[:], self.world.turn[:] = offset, turn
        self.world.error[:] = (values - self.given.values).T

    def _meet_tolerance(self) -> ReducedCurves:
        """Curves that are within the tolerance when they are played; keys are added where they are not."""
        fine = self.measure.fine_source
        nearest = np.clip(np.round((fine.times - self.given.start) * self.given.sample_rate).astype(int), 0, None)
        nearest = np.minimum(nearest, len(self.given.values) - 1)
        counted = self._counted(fine.times)
        reach, reach_turn = counted / self.tolerance, counted / self.angles  # the same for planted joints
        best: tuple[float, Any] = (np.inf, None)
        for _ in range(MAX_REPAIR_ROUNDS):
            curves = key_groups.build_curves(self.given, self.groups, self.loop)
            off, turn, columns = self.measure.fine_errors(curves)
            worst = np.maximum(off * reach, turn * reach_turn)
            weights = np.abs(columns.T)  # of all columns, though only those with a band count
            columns = weights * self.world.band[:, nearest]
            most = max(worst.max(initial=0.0), columns.max(initial=0.0))
            if most < best[0]:
                weight = float(weights[self.world.joint < 0].max(initial=0.0))
                best = most, (curves, off, turn, columns, weight)
            if most * self.strictness <= 1:
                break
            beyond = nearest[(worst > 1).any(axis=1)]
            if not self._repair(worst, columns, nearest) and not self._release_planted(beyond):
                break
            self._remeasure()
        curves, off, turn, columns, weight = best[1]
        used = {
            "position": float((off * reach).max(initial=0.0)) * self.strictness,
            "angle": float((turn * reach_turn).max(initial=0.0)) * self.strictness,
            "weight": float(columns.max(initial=0.0)) * self.strictness,
        }
        inside = float(off[~counted].max(initial=0.0))
        if inside * self.strictness > self.tolerance:
            self.notes.append(f"between the two frames of a jump positions are up to {1e3 * inside:.3g} mm off")
        return self._report(curves, off, turn, weight, used)

    def _release_planted(self, samples: Array) -> bool:
        """Let planted joints be faster around samples beyond the tolerance, which goes first; False if there are none.

        Each call allows RELEASED_SPEED_FACTOR times the speed, so that feet lose no more than they have to.
        """
        near = np.zeros(len(self.given.values), bool)
        for sample in np.unique(samples):
            near[max(sample - AIM_RADIUS_SAMPLES, 0) : sample + AIM_RADIUS_SAMPLES] = True
        released = bool(self.world.reach_step[near].any())
        self.world.reach_step[near] /= RELEASED_SPEED_FACTOR
        self.world.reach[near] = np.minimum(self.world.reach[near], 1 / self.tolerance)
        return released

    def _counted(self, times: Array) -> Array:
        """(M', J) bool: whether the tolerance holds at these times; it need not between the two frames of a cut."""
        position = (times - self.given.start) * self.given.rate
        frame = np.clip(np.floor(position + 1e-6).astype(int), 0, self.given.frames - 1)
        between = np.abs(position - np.round(position)) > 1e-6
        return ~(self.cut_joints[frame] & between[:, None])

    def _repair(self, joints: Array, columns: Array, samples: Array | None = None) -> bool:
        """Add keys at the worst moments of joints and columns beyond their tolerance; False where none was added.

        Errors of joints (M', J) and columns (C, M') are in tolerances, at `samples` (M',). By default these are all,
        and only single keys are tried.
        """
        every = np.arange(len(joints)) if samples is None else samples
        wrong = [(int(np.argmax(columns[c])), -1, int(c)) for c in np.flatnonzero(columns.max(axis=1) > 1)]
        worst = joints.max(axis=1, initial=0.0)
        for a, b in landmarks.runs(worst > 1):
            moment = a + int(np.argmax(worst[a:b]))
            wrong.append((moment, int(np.argmax(joints[moment])), -1))
        errors = self._joint_errors()
        added, chains = False, samples is not None
        for moment, joint, column in wrong:
            near = int(every[moment])
            if joint >= 0 and errors[near, joint] < joints[moment, joint]:  # it lies between samples: look harder there
                scale = min(joints[moment, joint] / max(errors[near, joint], 1e-9), MAX_LOOK_FACTOR)
                around = slice(max(near - 1, 0), near + 2)
                self.world.reach[around, joint] *= scale
                self.world.reach_turn[around, joint] *= scale
            added |= self._tighten(near, joint, column) or (
                chains and joint >= 0 and self._tighten_chain(near, joint, column)
            )
        return added

    def _groups_of(self, joint: int, column: int) -> list[KeyGroup]:
        """The groups that move a joint or, where it is negative, that have a column."""
        if joint < 0:
            return [group for group in self.groups if column in group.columns]
        moving = [self.world.below[self.world.first[j] : self.world.first[j + 1]] for j in self.world.joint]
        above = np.array([j >= 0 and joint in below for j, below in zip(self.world.joint, moving)])
        return [group for group in self.groups if above[group.columns].any()]

    def _excess(self, samples: slice) -> float:
        """The sum of all errors beyond their tolerance within a span of samples, in tolerances."""
        columns = np.abs(self.world.error[:, samples]) * self.world.band[:, samples]
        return float(sum(np.maximum(errors - 1, 0.0).sum() for errors in (self._joint_errors(samples), columns)))

    def _tighten(self, moment: int, joint: int, column: int) -> bool:
        """Add a key at a moment to the first group that reduces the excess so, those with most to gain first."""
        for group, aim in self._candidates(moment, joint, column):
            saved = group.save()
            changed = search.add_key(group, self.world, moment, aim)
            if changed is not None:
                excess, now = self._excess(changed), group.save()
                group.load(saved, self.world)
                if excess < self._excess(changed):
                    group.load(now, self.world)
                    return True
            else:
                group.load(saved, self.world)
        return False

    def _tighten_chain(self, moment: int, joint: int, column: int) -> bool:
        """Add a key that makes errors elsewhere larger, as children no longer compensate, and keys that make up for it.

        All are taken back where the excess does not shrink.
        """
        near = slice(max(moment - 2 * AIM_RADIUS_SAMPLES, 0), moment + 2 * AIM_RADIUS_SAMPLES)
        excess = self._excess(near)
        for group, aim in self._candidates(moment, joint, column)[:MAX_CHAIN_BEGINNINGS]:
            saved = [other.save() for other in self.groups]
            added = search.add_key(group, self.world, moment, aim) is not None
            for _ in range(MAX_CHAIN_KEYS):
                errors = self._joint_errors(near)
                sample, worst = np.unravel_index(int(np.argmax(errors)), errors.shape)
                if not added or errors[sample, worst] <= 1:
                    break
                added = self._tighten(near.start + int(sample), int(worst), -1)
            if self._excess(near) < excess:
                return True
            for other, before in zip(self.groups, saved):
                other.load(before, self.world)
        return False

    def _candidates(self, moment: int, joint: int, column: int) -> list[tuple[KeyGroup, Array]]:
        """The groups that move a joint or have a column, and their aims (n, M), those with most to gain first."""
        start, stop = max(moment - AIM_RADIUS_SAMPLES, 0), min(moment + AIM_RADIUS_SAMPLES, len(self.given.values))
        groups = [group for group in self._groups_of(joint, column) if not group.is_still]
        aims = [group.aims(self.world, start, stop) for group in groups]
        gains = [
            float(np.sum(np.abs(aim[:, moment] - group.values[:, moment]) * group.weight[:, moment]))
            for group, aim in zip(groups, aims)
        ]
        return [(groups[i], aims[i]) for i in np.argsort(gains)[::-1]]

    def _report(self, curves: Curves, off: Array, turn: Array, weight: float, used: dict[str, float]) -> ReducedCurves:
        inside = [group.broken[:, 1 : group.count - 1] for group in self.groups if group.count > 2]
        total = sum(broken.size for broken in inside)
        binding = max(used, key=used.__getitem__)
        cuts = self.cut_times
        if len(cuts):
            times = ", ".join(f"{time:.3g}" for time in cuts[:5]) + (", ..." if len(cuts) > 5 else "")
            self.notes.append(f"channels jump from one frame to the next at {times} s; they have a key on both")
        return ReducedCurves(
            curves,
            float(off.max(initial=0.0)),
            float(turn.max(initial=0.0)),
            weight,
            sum(len(curve) * len(curve.channel) for curve in curves.curves),
            self.given.frames,
            curves.channels.width,
            float(sum(int(broken.sum()) for broken in inside) / total) if total else 0.0,
            bool(self.loop),
            binding,
            used[binding],
            tuple(cuts.tolist()),
            tuple(self.notes),
        )


def _lengths(vectors: Array) -> Array:
    """Lengths of vectors (..., 3), several times as fast as `np.linalg.norm`."""
    lengths: Array = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))
    return lengths
