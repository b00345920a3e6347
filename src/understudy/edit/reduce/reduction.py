"""A dense animation to the fewest keys with free tangents, within a tolerance in the world.

1. Sample the source twice a frame; find what must stay (peaks, contacts, the seam of a loop).
2. Key each joint from the root down within a share of the tolerance, so that it compensates the errors of the joints
   above it (`search.key_from_root`). Where all columns share their keys, all are keyed together.
3. Remove keys while the world, every joint at every sample with the errors of all columns summed, stays within the
   tolerance; in between, columns compensate each other and keys move to better frames (`search`).
4. Measure the result exactly, through the curves and the rig as a player evaluates them. Where second-order effects
   exceed the tolerance, add keys until they do not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy import checks
from understudy.character import Clip, Curves
from understudy.character.rig.rig import PosedRig
from understudy.checks import Array
from understudy.edit.reduce import groups as key_groups
from understudy.edit.reduce import search, search_kernels, source
from understudy.edit.reduce.groups import CONSTANT_TOLERANCE_RATIO, KeyGroup, group_columns
from understudy.edit.reduce.search_kernels import WorldState
from understudy.edit.reduce.source import ReducedCurves, SampledAnimation
from understudy.edit.reduce.world_error import WorldError
from understudy.errors import InvalidInput

Progress = Callable[[int, int], None]

DEFAULT_TOLERANCE_M = 0.01
DEFAULT_ANGLE_RAD = float(np.radians(2.0))
DEFAULT_WEIGHT_TOLERANCE = 0.01  # of shape weights and other controls
KEY_MODES = ("free", "shared")
HANDLE_MODES = ("free", "thirds")
FILL_TOLERANCE_RATIO = 0.35  # tolerances, error of one column before keys are removed, where all share their keys
ROUND_LIMITS = (0.9, 0.985)  # tolerances; the last leaves room for second-order effects
SHARED_ROUND_LIMITS = (0.35, 0.5, 0.65, 0.8, 0.9, 0.985)  # tolerances, where keys were not removed joint by joint
LAST_ROUND_REPEATS = 4
MAX_DESCENTS = 2  # attempts at keying from the root down; most clips take one or two
MAX_DESCENT_ERROR_RATIO = 1.2  # tolerances, error that it may leave: the rounds lower it
# Of its lever: the pull of a quaternion column towards its source while it compensates others.
QUATERNION_BOUND_RATIO = 0.5
RESTORE_RADIUS_SAMPLES = 8  # around a moment at which the source is restored
MAX_REPAIR_ROUNDS = 12  # rounds of added keys at the end; most clips take none to three
JOINT_SHARE_RATIOS = (1.0, 0.6, 0.35, 0.2)  # of the first share of a joint, tried in turn if repairs do not end


def reduce_keys(
    animation: Clip | Curves,
    rig: PosedRig | None = None,
    *,
    tolerance: float = DEFAULT_TOLERANCE_M,
    angle: float = DEFAULT_ANGLE_RAD,
    weight: float = DEFAULT_WEIGHT_TOLERANCE,
    keys: str = "free",
    rotations: str = "keep",
    handles: str = "free",
    loop: bool | None = None,
    extremes: bool = True,
    contacts: bool = True,
    progress: Progress | None = None,
) -> ReducedCurves:
    """Fit the fewest Bezier keys that stay within a tolerance of an animation.

    Args:
        animation: The animation, dense or keyed.
        rig: Rig of the character; errors are then measured in the world. Without it each joint counts by itself.
        tolerance: Largest distance of any joint from the source, in metres, at frames and midway between them.
        angle: Largest turn of any joint from the source, in radians.
        weight: Largest difference of shape weights and other controls.
        keys: `"free"`: each channel has its own key times; `"shared"`: all channels share them.
        rotations: `"keep"`, `"euler"` or `"quaternion"`: what rotations become. Angles need fewer keys and less time.
        handles: `"free"`, or `"thirds"`: only slopes are free, which takes more keys, but glTF holds the curves as
            they are.
        loop: Whether the animation is a loop that has to stay seamless; None finds out.
        extremes: Whether clear peaks of columns keep a key.
        contacts: Whether joints that stand still near the floor are held to half of the tolerance.
        progress: Called with the steps done and their number.

    Returns:
        The `curves`, the number of `keys`, and the errors reached: `error_m` in metres, `error_angle` in radians and
        `error_weight`.

    Raises:
        InvalidInput: If a tolerance is not positive, an option is unknown, or the animation does not move the rig.

    Example:
        >>> lamp = us.load("lamp")
        >>> dense = lamp.clip("happy", rate=24)
        >>> reduced = us.reduce_keys(dense, us.rig_of(lamp.character()), tolerance=0.005)
        >>> reduced.error_m <= 0.005, reduced.keys < dense.values.size / 8
        (True, True)

    Notes:
        docs/reduce.md says what `keys`, `rotations` and `handles` cost.
    """
    checks.one_of(keys, "keys", KEY_MODES)
    tolerance = checks.positive(tolerance, "tolerance")
    angle = checks.positive(angle, "angle")
    weight = checks.positive(weight, "tolerance on weights")
    checks.one_of(rotations, "rotations", source.ROTATION_MODES)
    checks.one_of(handles, "handles", HANDLE_MODES)

    def one(part: Clip | Curves, kind: str) -> ReducedCurves:
        run = _Reduction(source.sample_source(part, kind), rig, tolerance, angle, weight, handles == "free").run
        return run(keys == "shared", loop, extremes, contacts, progress or _ignore_progress)

    if isinstance(animation, Clip) and not loop and len(source.split_at_cuts(animation)) > 1:
        clip = source.convert_rotations(animation, rotations)
        return source.stitch_cuts(clip, [one(piece, "keep") for piece in source.split_at_cuts(clip)])
    return one(animation, rotations)


def _ignore_progress(done: int, total: int) -> None:
    """The default `progress`: nothing."""


class _Reduction:
    """One run: the source, the model of the world, and the groups with their keys."""

    def __init__(
        self,
        given: SampledAnimation,
        rig: PosedRig | None,
        tolerance: float,
        angle: float,
        weight: float,
        free_lengths: bool,
    ) -> None:
        self.given, self.tolerance, self.angle, self.weight = given, tolerance, angle, weight
        self.free_lengths = free_lengths
        self.measure = WorldError(given, rig)
        self.bones = self.measure.bones
        self.notes = list(given.notes)

    def run(
        self, together: bool, loop: bool | None, extremes: bool, contacts: bool, progress: Progress
    ) -> ReducedCurves:
        """Run all steps; see the top of this file."""
        rounds = SHARED_ROUND_LIMITS if together else ROUND_LIMITS
        limits = (*rounds, *[rounds[-1]] * LAST_ROUND_REPEATS)
        total = len(limits) + 2
        self.world = self._world_model(contacts)
        lever = np.empty(self.world.error.shape)
        search_kernels.write_levers(self.world, lever)
        lever = np.maximum(lever, 1e-6)  # a column that moves nothing at a sample still has a bound
        values, travelling = self.given.values, np.zeros(len(lever), bool)
        travelling[self.given.channels.columns_of("translation")] = True
        self.loop = key_groups.is_loop(values, lever, travelling) if loop is None else loop and len(values) > 2
        for share in JOINT_SHARE_RATIOS:
            self.groups = self._first_keys(lever, together, extremes, share)
            self._remeasure(self.groups)
            progress(1, total)
            for number, limit in enumerate(limits):
                for group in self.groups:
                    self._round(group, limit, last=number >= len(limits) - LAST_ROUND_REPEATS - 1)
                self._remeasure(self.groups)
                progress(number + 2, total)
            reduced = self._meet_tolerance(restore=share == JOINT_SHARE_RATIOS[-1])
            if reduced is not None:
                progress(total, total)
                return reduced
            progress = _ignore_progress  # reported progress does not run backwards
        raise InvalidInput(
            f"animation {self.given.animation.name!r} cannot be kept within {self.tolerance * 1e3:g} mm and "
            f"{np.degrees(self.angle):g} degrees with keys on its frames"
        )

    def _round(self, group: KeyGroup, limit: float, last: bool) -> None:
        """One group within a limit (tolerances): smooth, compensate other columns, shift, remove and merge keys."""
        if not group.cost.any():
            search.estimate_costs(group, self.world)
        search.smooth_keys(group, self.world, limit)
        if group.count > 1:
            group.polish(self.world, limit)
        if last:
            search.shift_keys(group, self.world, limit)
        search.remove_keys(group, self.world, limit)
        if last:
            search.merge_keys(group, self.world, limit)

    def _world_model(self, contacts: bool) -> WorldState:
        samples, width = self.given.values.shape
        joints = len(self.bones.parents)
        reach = np.full((samples, joints), 1 / self.tolerance)
        if contacts and joints:
            reach[key_groups.find_still_joints(self.measure.places, self.given.rate)] /= (
                key_groups.CONTACT_TOLERANCE_RATIO
            )
        band = np.zeros((width, samples))
        band[:] = self.measure.bands(self.tolerance, self.weight)[:, None]
        return self.bones.world(self.given.values, reach, np.full(joints, 1 / self.angle), band)

    def _first_keys(self, lever: Array, together: bool, extremes: bool, share: float) -> list[KeyGroup]:
        """The groups with their first keys, each joint within `share` of its first share of the tolerance."""
        values = np.ascontiguousarray(self.given.values.T)
        moving = np.ptp(values, axis=1) * lever.max(axis=1) > 2 * CONSTANT_TOLERANCE_RATIO
        groups: list[KeyGroup] = []
        own_lever = lever if together else search.bone_levers(self.measure, self.world)
        bound = np.zeros(lever.shape)
        turns = self.given.channels.columns_of("rotation").reshape(-1, 4)
        # all four columns of a quaternion get the same lever, whichever turns the joint, or its length would drift
        own_lever[turns] = own_lever[turns].max(axis=1, keepdims=True)
        bound[turns] = QUATERNION_BOUND_RATIO * own_lever[turns]
        for columns in group_columns(self.given.channels, moving, together):
            peaks = np.zeros(values.shape[1], bool)
            if extremes:
                for column in columns:
                    found = key_groups.find_peaks(values[column], lever[column])
                    peaks |= found
                    if self.world.joint[column] < 0:
                        self.world.band[column, found] = lever[column, found] / key_groups.PEAK_TOLERANCE_RATIO
            groups.append(
                KeyGroup(columns, values[columns], own_lever[columns], bound[columns], peaks, self.free_lengths)
            )
        if together:
            for group in groups:
                group.begin(self.loop, share * FILL_TOLERANCE_RATIO)
        else:
            self._descend(groups, share)
        return groups

    def _descend(self, groups: list[KeyGroup], share: float) -> None:
        """First keys from the root down; where the errors of a chain add up to too much, again with smaller shares."""
        levers = [group.weight for group in groups]
        tight = np.full(self.world.error.shape, 1 / share)
        tight[self.world.joint < 0] = 1.0
        for _ in range(MAX_DESCENTS):
            for group, lever in zip(groups, levers):
                group.weight = lever * tight[group.columns]
            search.key_from_root(self.measure, groups, self.world, self.loop)
            self._remeasure(groups)
            worst = self._joint_errors()
            if worst.max(initial=0.0) <= MAX_DESCENT_ERROR_RATIO:
                break
            search.tighten(self.world, worst, tight)
        for group, lever in zip(groups, levers):
            group.weight = lever

    def _joint_errors(self) -> Array:
        """(M, J) the current errors of the joints, in tolerances."""
        off = np.linalg.norm(self.world.offset, axis=-1) * self.world.reach
        return np.maximum(off, np.linalg.norm(self.world.turn, axis=-1) * self.world.reach_turn)

    def _remeasure(self, groups: list[KeyGroup]) -> None:
        """Replace the first-order sums of the errors by measured ones."""
        values = self.given.values.copy()
        for group in groups:
            values[:, group.columns] = group.sample_columns().T
        offset, turn = self.measure.errors(values)
        self.world.offset[:], self.world.turn[:] = offset, turn
        self.world.error[:] = (values - self.given.values).T

    def _meet_tolerance(self, restore: bool) -> ReducedCurves | None:
        """Curves that are within the tolerance when sampled; keys are added where they are not.

        None where that takes too many rounds; with `restore`, parts of the source are put back then.
        """
        for attempt in range(2 * MAX_REPAIR_ROUNDS if restore else MAX_REPAIR_ROUNDS):
            curves = key_groups.build_curves(self.given, self.groups, self.loop)
            sampled = curves.sample(self.given.times)[:, : self.given.values.shape[1]]
            offset, turn = self.measure.errors(sampled)
            self.world.offset[:], self.world.turn[:] = offset, turn
            self.world.error[:] = (sampled - self.given.values).T
            if not self._repair(restoring=attempt >= MAX_REPAIR_ROUNDS):
                return self._report(curves, offset, turn)
        return None

    def _repair(self, restoring: bool) -> bool:
        """Add keys at the worst moments of joints and columns beyond their tolerance; False where there are none."""
        world = self.world
        both, columns = self._joint_errors(), np.abs(world.error) * world.band
        wrong = [(int(np.argmax(columns[c])), -1, int(c)) for c in np.flatnonzero(columns.max(axis=1) > 1)]
        worst = both.max(axis=1, initial=0.0)
        for a, b in _runs(worst > 1):
            moment = a + int(np.argmax(worst[a:b]))
            wrong.append((moment, int(np.argmax(both[moment])), -1))
        for moment, joint, column in wrong:
            if restoring:
                self._restore(moment, joint, column)
            else:
                self._tighten(moment, joint, column)
        return bool(wrong)

    def _groups_of(self, joint: int, column: int) -> list[KeyGroup]:
        """The groups that move a joint or, where it is negative, that have a column."""
        if joint < 0:
            return [group for group in self.groups if column in group.columns]
        moving = [self.world.below[self.world.first[j] : self.world.first[j + 1]] for j in self.world.joint]
        above = np.array([j >= 0 and joint in below for j, below in zip(self.world.joint, moving)])
        return [group for group in self.groups if above[group.columns].any()]

    def _tighten(self, moment: int, joint: int, column: int) -> None:
        """Add a key at a moment to the group that can reduce its errors most, aimed at that."""
        groups = [group for group in self._groups_of(joint, column) if not group.is_still]
        aims = [group.aims(self.world) for group in groups]
        gains = [
            float(
                np.sum(np.abs(aim[:, moment] - group.current_values(self.world)[:, moment]) * group.weight[:, moment])
            )
            for group, aim in zip(groups, aims)
        ]
        for i in np.argsort(gains)[::-1]:
            groups[i].target[:] = aims[i]
            if search.add_key(groups[i], self.world, moment):
                return

    def _restore(self, moment: int, joint: int, column: int) -> None:
        """The last resort: restore the source at all frames around a moment, for all groups that move a joint."""
        for group in self._groups_of(joint, column):
            group.restore(moment - RESTORE_RADIUS_SAMPLES, moment + RESTORE_RADIUS_SAMPLES)

    def _report(self, curves: Curves, offset: Array, turn: Array) -> ReducedCurves:
        inside = [
            (group.broken[:, 1 : group.count - 1], len(group.columns)) for group in self.groups if group.count > 2
        ]
        total = sum(broken.size for broken, _ in inside)
        weights = self.world.error[self.world.joint < 0]
        return ReducedCurves(
            curves,
            float(np.linalg.norm(offset, axis=-1).max(initial=0.0)),
            float(np.linalg.norm(turn, axis=-1).max(initial=0.0)),
            float(np.abs(weights).max(initial=0.0)),
            sum(len(curve) * len(curve.channel) for curve in curves.curves),
            self.given.frames,
            curves.channels.width,
            float(sum(int(broken.sum()) for broken, _ in inside) / total) if total else 0.0,
            bool(self.loop),
            tuple(self.notes),
        )


def _runs(wrong: Array) -> Array:
    """(S, 2) where runs of True in (M,) begin and end."""
    return np.flatnonzero(np.diff(np.concatenate([[0], wrong.astype(np.int8), [0]]))).reshape(-1, 2)
