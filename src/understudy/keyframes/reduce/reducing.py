"""A dense animation to the fewest keys with free tangents, within a tolerance in the world.

1. Sample the source twice a frame; find what must stay (peaks, contacts, the seam of a loop).
2. Each group of columns gets keys until every column alone keeps a small share of the tolerance (`groups.begin`).
3. Keys are taken out while the world, every joint at every sample with the errors of all columns summed, stays within a
   growing share of the tolerance; keys move to better frames in between (`search_kernels`).
4. The result is measured exactly, through the curves and the rig as anyone would play them. Where second order took an
   error over the tolerance, keys are added until it is not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from understudy import checks
from understudy.character import Clip, Curves
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.keyframes.reduce import assembling, landmarks, search, source, world_kernels
from understudy.keyframes.reduce.groups import CONSTANT, Group, grouped
from understudy.keyframes.reduce.measure import Measure
from understudy.keyframes.reduce.result import Reduced
from understudy.keyframes.reduce.source import Source
from understudy.keyframes.reduce.world_kernels import World
from understudy.rig.posed import PosedRig

Progress = Callable[[int, int], None]

ANGLE = np.radians(2.0)
WEIGHT = 0.01
KEYS = ("free", "shared")
FILL = 0.35  # tolerances that a column alone may be off before keys are taken out
ROUNDS = (0.35, 0.5, 0.65, 0.8, 0.9, 0.985)  # tolerances; the last leaves room for second order
REPAIRS = 100  # rounds of added keys at the end; real clips take none to three
JOIN = 1  # the round from which broken keys are made smooth where they can be
POLISH = 3  # the round from which columns make up for each other's errors
LATE = 6  # how often the last round is repeated, keys moving in between


def reduce(
    animation: Clip | Curves,
    rig: PosedRig | None,
    tolerance: float,
    angle: float = ANGLE,
    weight: float = WEIGHT,
    keys: str = "free",
    rotations: str = "keep",
    loop: bool | None = None,
    extremes: bool = True,
    contacts: bool = True,
    progress: Progress | None = None,
) -> Reduced:
    """The fewest Bezier keys that keep every joint within `tolerance` (metres) and `angle` (radians) of the animation.

    Both are measured in the world at all frames and midway between them, without a `rig` each joint by itself; shape
    weights and other controls are kept within `weight`. Keys lie on frames; `keys` says whether all columns share them
    or each channel (and each shape weight) has its own. `rotations` turns quaternions into Euler angles or back.
    A `loop` (found, where None) stays seamless in value and slope. With `extremes`, clear peaks of columns keep their
    keys; with `contacts`, joints that stand still near the floor are held to half of the tolerance. `progress` is
    called with the steps done and their number.
    """
    checks.one_of(keys, "keys", KEYS)
    limits = tuple(
        checks.positive(value, name)
        for value, name in ((tolerance, "tolerance"), (angle, "angle"), (weight, "tolerance on weights"))
    )
    given = source.sampled(animation, rotations)
    return _Reduction(given, rig, *limits).run(keys == "shared", loop, extremes, contacts, progress or _silent)


def _silent(done: int, total: int) -> None:
    """Nobody listens."""


class _Reduction:
    """One run: the source, the model of the world, and the groups with their keys."""

    def __init__(self, given: Source, rig: PosedRig | None, tolerance: float, angle: float, weight: float) -> None:
        self.given, self.tolerance, self.angle, self.weight = given, tolerance, angle, weight
        self.measure = Measure(given, rig)
        self.bones = self.measure.bones
        self.notes = list(given.notes)

    def run(self, together: bool, loop: bool | None, extremes: bool, contacts: bool, progress: Progress) -> Reduced:
        """Every step in turn; see the top of this file."""
        total = len(ROUNDS) + LATE + 2
        self.world = self._world(contacts)
        lever = np.empty(self.world.error.shape)
        world_kernels.levers(self.world, lever)
        lever = np.maximum(lever, 1e-6)  # a column that moves nothing at a moment is still kept in bounds
        values, travelling = self.given.values, np.zeros(len(lever), bool)
        travelling[self.given.channels.columns_of("translation")] = True
        self.loop = landmarks.is_loop(values, lever, travelling) if loop is None else loop and len(values) > 2
        self.groups = self._begin(lever, together, extremes)
        progress(1, total)
        for number, limit in enumerate((*ROUNDS, *[ROUNDS[-1]] * LATE)):
            for group in self.groups:
                if number == 0:
                    search.estimate(group, self.world)
                if number >= JOIN:
                    search.join(group, self.world, limit)
                if number >= POLISH and group.count > 1:
                    group.polish(self.world, limit)
                if number >= len(ROUNDS) - 2:
                    search.shift(group, self.world, limit)
                search.thin(group, self.world, limit)
                if number >= len(ROUNDS) - 1:
                    search.merge(group, self.world, limit)
            self._renew()
            progress(number + 2, total)
        reduced = self._honour()
        progress(total, total)
        return reduced

    def _world(self, contacts: bool) -> World:
        samples, width = self.given.values.shape
        joints = len(self.bones.parents)
        reach = np.full((samples, joints), 1 / self.tolerance)
        if contacts and joints:
            reach[landmarks.contacts(self.measure.places, self.given.rate)] /= landmarks.CONTACT
        band = np.zeros((width, samples))
        band[:] = self.measure.bands(self.tolerance, self.weight)[:, None]
        return self.bones.world(self.given.values, reach, np.full(joints, 1 / self.angle), band)

    def _begin(self, lever: Array, together: bool, extremes: bool) -> list[Group]:
        values = np.ascontiguousarray(self.given.values.T)
        moving = np.ptp(values, axis=1) * lever.max(axis=1) > 2 * CONSTANT
        groups = []
        for columns in grouped(self.given.channels, moving, together):
            peaks = np.zeros(values.shape[1], bool)
            if extremes:
                for column in columns:
                    own = landmarks.peaks(values[column], lever[column])
                    peaks |= own
                    self.world.band[column, own] = lever[column, own] / landmarks.PEAK
            group = Group(columns, values[columns], lever[columns], peaks)
            group.begin(self.loop, FILL)
            world_kernels.apply(self.world, columns, 0, group.sampled() - group.source)
            groups.append(group)
        return groups

    def _renew(self) -> None:
        """The errors as they are, without the sums of first order."""
        values = self.given.values.copy()
        for group in self.groups:
            values[:, group.columns] = group.sampled().T
        offset, turn = self.measure.errors(values)
        self.world.offset[:], self.world.turn[:] = offset, turn
        self.world.error[:] = (values - self.given.values).T

    def _honour(self) -> Reduced:
        """Curves that keep the tolerance when played; keys are added where they do not."""
        for group in self.groups:
            group.target[:] = group.source  # whoever is fitted again comes nearer to the truth, not to making up
        for attempt in range(REPAIRS):
            curves = assembling.curves(self.given, self.groups, self.loop)
            sampled = curves.sample(self.given.times)[:, : self.given.values.shape[1]]
            offset, turn = self.measure.errors(sampled)
            self.world.offset[:], self.world.turn[:] = offset, turn
            self.world.error[:] = (sampled - self.given.values).T
            if not self._repair(attempt):
                return self._report(curves, offset, turn)
        raise InvalidInput(
            f"animation {self.given.animation.name!r} cannot be kept within {self.tolerance * 1e3:g} mm and "
            f"{np.degrees(self.angle):g} degrees with keys on its frames"
        )

    def _repair(self, attempt: int) -> bool:
        """Add keys at the worst moments of what is beyond its tolerance; False where nothing is."""
        world = self.world
        off = np.linalg.norm(world.offset, axis=-1) * world.reach
        turned = np.linalg.norm(world.turn, axis=-1) * world.reach_turn
        both, columns = np.maximum(off, turned), np.abs(world.error) * world.band
        wrong = [(int(np.argmax(columns[c])), -1, int(c)) for c in np.flatnonzero(columns.max(axis=1) > 1)]
        worst = both.max(axis=1, initial=0.0)
        for a, b in _stretches(worst > 1):
            moment = a + int(np.argmax(worst[a:b]))
            wrong.append((moment, int(np.argmax(both[moment])), -1))
        for moment, joint, column in wrong:
            self._tighten(moment, joint, column, everyone=attempt >= REPAIRS // 4)
        return bool(wrong)

    def _tighten(self, moment: int, joint: int, column: int, everyone: bool) -> None:
        """A key at a moment for the group whose error matters most there, or for all that move the joint."""
        shares = []
        for group in self.groups:
            if joint < 0:
                share = 1.0 if column in group.columns else 0.0
            else:
                above = [self._is_above(int(self.world.joint[c]), joint) for c in group.columns]
                share = float(np.sum(np.abs(self.world.error[group.columns, moment]) * group.weight[:, moment] * above))
            shares.append(share)
        order = sorted(range(len(shares)), key=lambda i: -shares[i])
        for i in order:
            if shares[i] <= 0:
                return
            if search.refine(self.groups[i], self.world, moment) and not everyone:
                return

    def _is_above(self, joint: int, other: int) -> bool:
        if joint < 0:
            return False
        below = self.world.below[self.world.first[joint] : self.world.first[joint + 1]]
        return bool(np.any(below == other))

    def _report(self, curves: Curves, offset: Array, turn: Array) -> Reduced:
        inside = [
            (group.broken[:, 1 : group.count - 1], len(group.columns)) for group in self.groups if group.count > 2
        ]
        total = sum(broken.size for broken, _ in inside)
        weights = self.world.error[self.world.joint < 0]
        return Reduced(
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


def _stretches(wrong: Array) -> Array:
    """(S, 2) where runs of True in (M,) begin and end."""
    return np.flatnonzero(np.diff(np.concatenate([[0], wrong.astype(np.int8), [0]]))).reshape(-1, 2)
