"""Gaits: what the walks and runs of a character's clips are, measured from the soles that touch the ground.

**Stance.** A foot stands while it is low and moves backwards under the body. Its contact slides over the sole as the
foot rolls, so its velocity is that of the sole points p, weighted by how low they are:

    u(phi) = sum_p w_p dp/dt,      w_p ~ exp(-(height_p - lowest height) / CONTACT_SOFTNESS_RATIO size)

The ground under a walk on the spot moves with u. The character moves the other way: the speed is the way of all
stances over their time, and its direction, of the walks that go forward, is where the character faces. Clips of games
ease their feet from key to key, so u is seldom constant, and may be different for fore and hind legs. The way over the
time is the speed at which each foot, on average, is where the clip has it.

**Foot paths.** While a foot stands, it has to move with -v exactly. X(phi) being the integral of u from touchdown a to
liftoff b, and L the metres that the character travels in a cycle, the position of the foot (its joint) in the frame
of the body becomes

    p(phi) + A(phi) + L B(phi),     in stance   A = X(b) / 2 - X(phi),     B = forward (a + b) / 2 - forward phi

and in the swing A and B fade from either end, with its slope and curvature, until the middle. So no foot slides at any
stride, and L = 0 steps on the spot. The height of the lowest sole point is that of the clip, not below the ground, and
clears it in the swing. Where legs are too short for their paths, the body is lowered.

**Phases** of a second gait are shifted so that its feet are where those of the first are (circular correlation of the
feet's way forward). Gaits whose feet agree are mixed at equal phase; of those that do not, as walk and gallop, one is
left for the other. The mixture is tabulated: `GaitTable` has the foot paths of a few places between two gaits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atan2, hypot
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from understudy.character.body.contacts import runs
from understudy.character.body.feet import Foot, find_feet
from understudy.character.rig import DirectRig, PosedRig
from understudy.checks import Array
from understudy.maths.resample import smoothstep

if TYPE_CHECKING:
    from understudy.perform.features.encoder import PoseEncoder
    from understudy.perform.model import PerformanceModel

PHASES = 96  # samples of a cycle
# Of the height. Sole points this much higher than the lowest share a third of the contact; a foot this much above its
# ground is still low; a foot in mid-swing is at least this high.
CONTACT_SOFTNESS_RATIO, LOW_FOOT_RATIO, SWING_CLEARANCE_RATIO = 0.004, 0.02, 0.03
# Of the height. A foot that rolls dips this far below its ground at most; the grounds of feet differ by this much.
ROLL_DEPTH_RATIO, GROUND_TOLERANCE_RATIO = 0.05, 0.015
# Of a leg's greatest length, at which it counts as straight; how often the body is low enough for that; of the height,
# by which it is lowered at most.
STRAIGHT_LEG_RATIO, DROP_QUANTILE, MAX_DROP_RATIO = 0.965, 1.0, 0.06
SWING_RISE_SHARE = 0.2  # of the swing, in which a foot reaches that clearance
MIN_GAIT_HEIGHTS_PER_S = 0.15  # a slower cycle stands
MIN_DIRECTION_RATIO = 0.25  # of their usual speed, that low feet go on average where they tell the direction
MIN_STANCE_SHARE, MAX_STANCE_SHARE = 0.08, 0.9  # of a cycle that a foot stands in a gait
MIN_STANCE_PART = 0.6  # of the time that a foot is low and goes backwards, in which it stands
MAX_GAP_SHARE = 0.06  # of a cycle: a shorter interruption of a stance is none
EDGE_PHASE = 0.02  # of a cycle, over which the acceleration of a foot is measured
MIN_MIX_CORRELATION = 0.8  # of the feet of two gaits, from which on they can be mixed
MIX_PLACES = 5  # of a table, from one gait to the next
FORWARD_RAD = np.pi / 4  # from the facing: a gait within goes forward
WALK_NAME, RUN_NAME = re.compile(r"walk|pace|amble", re.I), re.compile(r"run|jog|sprint|gallop|trot|canter", re.I)
IDLE_NAME = re.compile(r"idle|stand|breath|survey|rest", re.I)
# Gaits that are not the plain ones, unless there are no others.
SPECIAL_NAME = re.compile(
    r"back|strafe|left|right|sneak|crouch|crawl|jump|carry|hold|aim|attack|shoot|injur|limp|turn|hit|climb|swim|fly",
    re.I,
)


class PeriodicClip(Protocol):
    """A clip that repeats, as `runtime.cycles.Cycle`."""

    @property
    def label(self) -> str:
        """The label that it belongs to."""

    @property
    def period(self) -> float:
        """Seconds."""

    def features_at(self, phase: Array) -> Array:
        """(M, E) features at phases (M,)."""

    def latents_at(self, phase: Array) -> Array:
        """(M, Q) latents at phases (M,)."""


@dataclass(frozen=True, eq=False)
class FootPaths:
    """The feet of one gait, or of one mixture of gaits, at `PHASES` phases; n feet, in the frame of the body."""

    period: float  # seconds
    speed: float  # m/s at which the feet are, on average, where the clip has them
    touchdown: Array  # (n,) phase
    stance: Array  # (n,) share of the cycle
    joints: Array  # (n, PHASES, 2) x and z of the feet's joints in the clip
    correction: Array  # (n, PHASES, 2) A
    stride: Array  # (n, PHASES, 2) B, for each metre of travel in a cycle
    heights: Array  # (n, PHASES) of the lowest sole points above the ground
    contacts: Array  # (n, PHASES) 0 or 1
    centres: Array  # (n, 2) x and z of the joints at the middle of their stances
    drop: float  # metres by which the body has to be lower than in the clip for the legs to reach

    def blend(self, other: FootPaths, share: float) -> FootPaths:
        """The paths between two entries of a table."""
        values: dict[str, Any] = {
            name: (1 - share) * getattr(self, name) + share * getattr(other, name) for name in self.__dataclass_fields__
        }
        return FootPaths(**values)


class FootPlan(NamedTuple):
    """Where the n feet of a character that goes somewhere belong in a frame, in the world."""

    joints: Array  # (n, 2) x and z of their joints
    heights: Array  # (n,) metres, of their lowest sole points
    contacts: Array  # (n,) bool, which of them stand
    swing_seconds: Array  # (n,) of their swings
    leads: Array  # (n, 2) metres by which feet in the air should be ahead of that, because the body turns
    drop: float  # metres by which the body is lower than in the pose
    floor: float  # metres, height of the ground
    heading: float  # radians, of the body
    lead_turn: float  # radians by which feet in the air should be turned ahead of the body
    halting: bool  # whether feet that stand stay where they are


@dataclass(frozen=True, eq=False)
class Gait:
    """A cycle in which a character walks or runs."""

    clip: PeriodicClip
    speed: float  # m/s
    heading: float  # radians about +Y from +Z, of its travel in the frame of the clip
    touchdown: Array  # (n,) phases
    stance: Array  # (n,) shares of the cycle
    forward: Array  # (n, PHASES) metres of each foot along its travel
    shift: float = 0.0  # phase of the clip at phase 0 of the gaits

    @property
    def label(self) -> str:
        """The label of its clip."""
        return self.clip.label

    @property
    def stride(self) -> float:
        """Metres in a cycle."""
        return self.speed * self.clip.period

    def features_at(self, phase: Array) -> Array:
        """(M, E) features at phases (M,) of the gaits."""
        return self.clip.features_at(phase + self.shift)


@dataclass(frozen=True, eq=False)
class GaitTable:
    """Foot paths from one gait to the next."""

    places: tuple[FootPaths, ...]  # MIX_PLACES, from the first gait to the second
    continuous: bool  # whether the two can be mixed; else one is left for the other

    def at(self, share: float) -> FootPaths:
        """The paths at a share of the second gait."""
        place = min(max(share, 0.0), 1.0) * (len(self.places) - 1)
        first = min(int(place), len(self.places) - 2)
        return self.places[first].blend(self.places[first + 1], place - first)


@dataclass(frozen=True, eq=False)
class Gaits:
    """The gaits of a character: made by `find_gaits`."""

    size: float  # metres, the character's height
    floor: float  # metres, height of the soles in stance
    facing: float  # radians about +Y from +Z, where the character faces in its clips
    feet: tuple[Foot, ...]
    idle: PeriodicClip | None
    idle_joints: Array  # (n, 2) x and z of the feet's joints while it idles
    gaits: tuple[Gait, ...]  # that go forward, from slow to fast
    tables: tuple[GaitTable, ...]  # of neighbouring gaits; a single gait has one with itself
    others: tuple[Gait, ...]  # backwards and sideways

    def __repr__(self) -> str:
        known = ", ".join(f"{gait.label} {gait.speed:.2f} m/s" for gait in (*self.gaits, *self.others))
        return f"Gaits({known}; faces {np.degrees(self.facing):.0f} degrees)"


@dataclass(frozen=True, eq=False)
class SolePaths:
    """The soles of n feet over one cycle."""

    joints: Array  # (n, PHASES, 3) of the feet's joints
    hips: Array  # (n, PHASES, 3) of the first joints of their legs
    lowest: Array  # (n, PHASES) heights of their lowest points
    velocity: Array  # (n, PHASES, 2) u, metres a second

    @classmethod
    def from_rows(cls, rig: DirectRig, feet: Sequence[Foot], rows: Array, period: float, size: float) -> SolePaths:
        """The soles of rows (PHASES, C), one period."""
        worlds = rig.joints(rows)
        lowest, velocity = [], []
        for foot in feet:
            places = foot.sole(worlds)
            low = places[..., 1].min(axis=1)
            weights = np.exp((low[:, None] - places[..., 1]) / (CONTACT_SOFTNESS_RATIO * size))
            weights /= weights.sum(axis=1, keepdims=True)
            rates = (np.roll(places, -1, axis=0) - np.roll(places, 1, axis=0)) * (0.5 * len(rows) / period)
            lowest.append(low)
            velocity.append(np.einsum("fp,fpi->fi", weights, rates[..., [0, 2]]))
        joints = np.stack([worlds[:, foot.joint, :3, 3] for foot in feet])
        hips = np.stack([worlds[:, foot.leg[0], :3, 3] for foot in feet])
        return cls(joints, hips, np.stack(lowest), np.stack(velocity))

    @property
    def reach(self) -> Array:
        """(n,) the greatest distance of each foot from its hip."""
        return np.asarray(np.linalg.norm(self.joints - self.hips, axis=-1).max(axis=1))


@dataclass(frozen=True, eq=False)
class Stances:
    """When the feet of a cycle stand, and how far they move meanwhile."""

    touchdown: Array  # (n,) phase
    length: Array  # (n,) share of the cycle
    mask: Array  # (n, PHASES)
    velocity: Array  # (2,) of the character in the frame of its clip, m/s
    floor: float  # metres

    @property
    def speed(self) -> float:
        """Metres a second."""
        return hypot(*self.velocity)


def foot_grounds(lowest: Array, size: float) -> Array:
    """(n,) the usual heights of low feet (n, PHASES): a foot that rolls dips below its ground for a moment."""
    low = lowest < lowest.min(axis=1, keepdims=True) + ROLL_DEPTH_RATIO * size
    return np.array([np.median(heights[mask]) for heights, mask in zip(lowest, low)])


def find_stances(soles: SolePaths, ground: float, size: float) -> Stances | None:
    """The stances of a cycle; None where it is no gait: feet that do not move, or that do not touch the ground."""
    uneven = GROUND_TOLERANCE_RATIO * size
    own = np.clip(foot_grounds(soles.lowest, size), ground - uneven, ground + uneven)[:, None]
    low = soles.lowest < own + LOW_FOOT_RATIO * size
    if not low.any():
        return None
    velocity = -soles.velocity[low].mean(axis=0)
    if hypot(*velocity) < MIN_DIRECTION_RATIO * np.sqrt(np.square(soles.velocity[low]).sum(axis=1).mean()):
        # feet that are low all the time: those that swing are at least higher than those that stand
        velocity = np.einsum("nf,nfi->i", np.maximum(soles.lowest - own, 0.0), soles.velocity)
    for _ in range(2):  # the direction defines the stances, and the other way round
        back = -soles.velocity @ velocity
        mask = np.stack([_longest_run(row, speeds) for row, speeds in zip(low & (back > 0), back)])
        if not mask.any():
            return None
        velocity = -soles.velocity[mask].mean(axis=0)
    floor = float(np.median(soles.lowest[mask]))
    direction = velocity / max(hypot(*velocity), 1e-12)
    mask = np.stack([_brisk_part(row, -u @ direction, hypot(*velocity)) for row, u in zip(mask, soles.velocity)])
    length = mask.mean(axis=1)
    if length.min() < MIN_STANCE_SHARE or length.max() > MAX_STANCE_SHARE:
        return None
    if hypot(*velocity) < MIN_GAIT_HEIGHTS_PER_S * size:
        return None
    touchdown = np.array([np.flatnonzero(row & ~np.roll(row, 1))[0] for row in mask]) / mask.shape[1]
    return Stances(touchdown, length, mask, velocity, floor)


def _longest_run(mask: Array, weights: Array) -> Array:
    """The circular run of a mask (PHASES,) with the largest sum of weights; short gaps in it are closed."""
    if mask.all() or not mask.any():
        return np.asarray(mask)
    start = int(np.flatnonzero(mask & ~np.roll(mask, 1))[0])
    turned, heavy = np.roll(mask, -start), np.roll(np.maximum(weights, 0.0), -start)
    for first, last in runs(~turned):
        if last - first <= MAX_GAP_SHARE * len(mask) and last < len(mask):
            turned[first:last] = True
    best = max(runs(turned), key=lambda run: float(heavy[run[0] : run[1]].sum()))
    result = np.zeros(len(mask), bool)
    result[best[0] : best[1]] = True
    return np.roll(result, start)


def _brisk_part(mask: Array, speeds: Array, wanted: float) -> Array:
    """The longest part of a stance (PHASES,) whose mean speed is the wanted one, but not too little of it.

    A foot that is eased in and out of a long stance, slower than the others, would have to be dragged along.
    """
    if mask.all() or not mask.any():
        return mask
    start, count = int(np.flatnonzero(mask & ~np.roll(mask, 1))[0]), int(mask.sum())
    total = np.concatenate([[0.0], np.cumsum(np.roll(speeds, -start)[:count])])
    least = max(round(MIN_STANCE_PART * count), 1)
    for length in range(count, least - 1, -1):
        means = (total[length:] - total[:-length]) / length
        if means.max() >= wanted or length == least:
            first = start + int(means.argmax())
            return np.asarray(np.isin(np.arange(len(mask)), np.arange(first, first + length) % len(mask)))
    return mask


def foot_paths(
    soles: SolePaths,
    period: float,
    touchdown: Array,
    stance: Array,
    reach: Array,
    heading: float,
    floor: float,
    size: float,
) -> FootPaths:
    """The foot paths of a cycle whose feet stand for `stance` (n,) from the phases `touchdown` (n,) on.

    `reach` (n,) is the greatest length of the legs in metres, `heading` that of the travel.
    """
    count, samples = soles.lowest.shape
    phases = np.arange(samples) / samples
    forward = np.array([np.sin(heading), np.cos(heading)])
    correction, stride = np.zeros((count, samples, 2)), np.zeros((count, samples, 2))
    heights, contacts, centres = np.zeros((count, samples)), np.zeros((count, samples)), np.zeros((count, 2))
    way = time = 0.0
    for k in range(count):
        a, d = float(touchdown[k]), float(stance[k])
        velocity = _periodic(soles.velocity[k])
        fine = a + d * np.linspace(0.0, 1.0, 4 * samples + 1)
        moved = _cumulative(velocity(fine), d * period / (4 * samples))  # X
        way, time = way - float(moved[-1] @ forward), time + d * period
        since = np.mod(phases - a, 1.0)
        stands = since <= d
        inside = np.clip(since / d, 0.0, 1.0)
        steps = np.linspace(0.0, 1.0, 4 * samples + 1)
        here = np.stack([np.interp(inside, steps, moved[:, i]) for i in range(2)], axis=1)
        swing = np.clip((since - d) / (1.0 - d), 0.0, 1.0)
        edges = a + np.array([0.0, d])
        slopes = -velocity(edges) * (period * (1 - d))
        bends = -0.5 * (velocity(edges + EDGE_PHASE) - velocity(edges - EDGE_PHASE)) / EDGE_PHASE
        bends *= period * (1 - d) ** 2
        correction[k] = np.where(
            stands[:, None],
            0.5 * moved[-1] - here,
            _fade_ends(swing, (-0.5 * moved[-1], slopes[1], bends[1]), (0.5 * moved[-1], -slopes[0], bends[0])),
        )
        edge = 0.5 * d * forward
        stride[k] = np.where(
            stands[:, None],
            np.outer(0.5 * d - since, forward),
            _fade_ends(swing, (-edge, -forward * (1 - d), 0 * edge), (edge, forward * (1 - d), 0 * edge)),
        )
        rise = smoothstep(0.0, 1.0, swing / SWING_RISE_SHARE) * smoothstep(0.0, 1.0, (1 - swing) / SWING_RISE_SHARE)
        clear = SWING_CLEARANCE_RATIO * size * np.where(stands, 0.0, rise)
        above = soles.lowest[k] - floor
        above = 0.5 * (above + np.hypot(above, CONTACT_SOFTNESS_RATIO * size))  # its positive part, rounded
        heights[k] = np.maximum(above, clear)
        contacts[k] = stands
        middle = _periodic(soles.joints[k][:, [0, 2]])(np.array([a + 0.5 * d]))[0]
        mid_step = np.array([np.interp(0.5, steps, moved[:, i]) for i in range(2)])
        centres[k] = middle + 0.5 * moved[-1] - mid_step
    joints, speed = soles.joints[..., [0, 2]], max(way / time, 0.0)
    # the hips are this much too high for the legs to reach the planned feet
    aside = np.linalg.norm(joints + correction + speed * period * stride - soles.hips[..., [0, 2]], axis=-1)
    below = np.sqrt(np.maximum(np.square(STRAIGHT_LEG_RATIO * reach)[:, None] - np.square(aside), 0.0))
    ankles = soles.joints[..., 1] + heights + floor - soles.lowest
    high = (soles.hips[..., 1] - ankles - below)[contacts > 0]
    drop = min(max(float(np.quantile(high, DROP_QUANTILE)), 0.0), MAX_DROP_RATIO * size)
    return FootPaths(period, speed, touchdown, stance, joints, correction, stride, heights, contacts, centres, drop)


def _cumulative(values: Array, step: float) -> Array:
    """The integral of values (F, 2) from the first on, by trapezia."""
    return np.concatenate([np.zeros((1, 2)), np.cumsum(0.5 * step * (values[1:] + values[:-1]), axis=0)])


class _periodic:
    """Linear interpolation of samples (PHASES, D) of a cycle."""

    def __init__(self, values: Array) -> None:
        self.values = np.concatenate([values, values[:1]])

    def __call__(self, phases: Array) -> Array:
        place = np.mod(phases, 1.0) * (len(self.values) - 1)
        first = np.minimum(place.astype(int), len(self.values) - 2)
        share = (place - first)[:, None]
        return np.asarray((1 - share) * self.values[first] + share * self.values[first + 1])


def _fade_ends(u: Array, first: tuple[Array, Array, Array], last: tuple[Array, Array, Array]) -> Array:
    """(F, 2) at u (F,) in 0 to 1: two ends, each a value, a slope and a curvature (2,), that fade until the middle."""
    result = 0.0
    for x, (value, slope, curvature) in ((2 * u[:, None], first), (2 - 2 * u[:, None], last)):
        fade = np.maximum(1 - x, 0.0) ** 3
        result = result + fade * (
            (1 + 3 * x + 6 * x * x) * value + 0.5 * x * (1 + 3 * x) * slope + 0.125 * x * x * curvature
        )
    return np.asarray(result)


def find_gaits(
    rig: PosedRig, encoder: PoseEncoder, cycles: Sequence[PeriodicClip], feet: Sequence[Foot], size: float
) -> Gaits | None:
    """The gaits of a character.

    Args:
        rig: Its rig; only one of joints has gaits.
        encoder: Of the cycles' features.
        cycles: The clips that repeat.
        feet: Of `character.body.feet.find_feet`.
        size: The character's height in metres.

    Returns:
        The gaits, or None where no clip walks.
    """
    if not isinstance(rig, DirectRig) or len(feet) < 2:
        return None
    if not cycles:
        return None
    phases = np.arange(PHASES) / PHASES
    gaits: list[tuple[Gait, SolePaths, float]] = []
    still: list[tuple[PeriodicClip, SolePaths]] = []
    every = [
        SolePaths.from_rows(rig, feet, _rows(encoder, clip.features_at(phases)), clip.period, size) for clip in cycles
    ]
    ground = float(np.median([foot_grounds(soles.lowest, size) for soles in every]))
    for clip, soles in zip(cycles, every):
        stances = find_stances(soles, ground, size)
        if stances is None:
            still.append((clip, soles))
            continue
        heading = atan2(*stances.velocity)
        forward = soles.joints[..., [0, 2]] @ (stances.velocity / stances.speed)
        gaits.append(
            (
                Gait(clip, stances.speed, heading, stances.touchdown, stances.length, forward),
                soles,
                stances.floor,
            )
        )
    plain = [gait for gait in gaits if not SPECIAL_NAME.search(gait[0].label)] or gaits
    if not plain:
        return None
    facing = atan2(sum(np.sin(gait.heading) for gait, _, _ in plain), sum(np.cos(gait.heading) for gait, _, _ in plain))
    ahead = [entry for entry in plain if abs(_wrap(entry[0].heading - facing)) < FORWARD_RAD]
    chosen = _choose_gaits(ahead)
    floor = float(np.median([entry[2] for entry in chosen]))
    idle = _choose_idle(still, chosen[0][1], size)
    reach = np.max([soles.reach for soles in every], axis=0)
    aligned, tables = _align(rig, encoder, feet, chosen, reach, facing, floor, size)
    others = tuple(gait for gait, _, _ in gaits if abs(_wrap(gait.heading - facing)) >= FORWARD_RAD)
    if idle is None:
        standing, places = None, tables[0].places[0].centres
    else:
        standing, places = idle[0], idle[1].joints[..., [0, 2]].mean(axis=1)
    return Gaits(size, floor, facing, tuple(feet), standing, places, aligned, tables, others)


def gaits_of_model(rig: PosedRig, model: PerformanceModel, cycles: Sequence[PeriodicClip]) -> Gaits | None:
    """The gaits of a model's character, or None where no clip walks; `cycles` are its clips that repeat."""
    if not isinstance(rig, DirectRig):
        return None
    worlds, size = clip_worlds(rig, model)
    feet = find_feet(rig.character, worlds, size) if size > 0 else ()
    return find_gaits(rig, model.encoder, cycles, feet, size)


def clip_worlds(rig: DirectRig, model: PerformanceModel) -> tuple[list[Array], float]:
    """world_from_joint (F, J, 4, 4) of each clip of a model, and the character's height in metres."""
    worlds = [
        rig.joints(model.encoder.decode(space.features[segment.start : segment.stop]))
        for space in model.spaces.values()
        for segment in space.segments
    ]
    return worlds, float(np.median([np.ptp(w[:, rig.character.joints, 1, 3], axis=1).max() for w in worlds]))


def _rows(encoder: PoseEncoder, features: Array) -> Array:
    """(M, C) rows of features (M, E), all on the same ground."""
    return encoder.place(features, np.zeros((len(features), 3)))


def _wrap(angle: float) -> float:
    return (angle + np.pi) % (2 * np.pi) - np.pi


Candidate = tuple[Gait, SolePaths, float]


def _choose_gaits(candidates: Sequence[Candidate]) -> list[Candidate]:
    """A walk and a run, the slower first: by their names, or by whether each foot stands for more than half a cycle."""
    by_kind: dict[str, list[Candidate]] = {}
    for entry in candidates:
        label = entry[0].label
        if bool(WALK_NAME.search(label)) != bool(RUN_NAME.search(label)):
            kind = "walk" if WALK_NAME.search(label) else "run"
        else:
            kind = "walk" if entry[0].stance.mean() >= 0.5 else "run"
        by_kind.setdefault(kind, []).append(entry)
    chosen = [min(entries, key=lambda entry: len(entry[0].label)) for entries in by_kind.values()]
    return sorted(chosen, key=lambda entry: entry[0].speed)


def _choose_idle(
    still: Sequence[tuple[PeriodicClip, SolePaths]], walk: SolePaths, size: float
) -> tuple[PeriodicClip, SolePaths] | None:
    """The cycle in which a character stands: by its name, else that whose feet are most like those of its walk."""
    named = [entry for entry in still if IDLE_NAME.search(entry[0].label) and not SPECIAL_NAME.search(entry[0].label)]

    def distance(entry: tuple[PeriodicClip, SolePaths]) -> float:
        return float(np.linalg.norm(entry[1].joints.mean(axis=1) - walk.joints.mean(axis=1), axis=1).mean()) / size

    near = [entry for entry in named or still if distance(entry) < 0.3]
    if named and near:
        return min(near, key=lambda entry: len(entry[0].label))
    return min(near, key=distance, default=None)


def _align(
    rig: DirectRig,
    encoder: PoseEncoder,
    feet: Sequence[Foot],
    chosen: Sequence[Candidate],
    reach: Array,
    facing: float,
    floor: float,
    size: float,
) -> tuple[tuple[Gait, ...], tuple[GaitTable, ...]]:
    """The gaits with one phase for all, and the tables between neighbours."""
    aligned: list[Gait] = []
    correlations = []
    for number, (gait, _, _) in enumerate(chosen):
        shift, correlation = 0.0, 1.0
        if number:
            shift, correlation = _best_shift(aligned[-1].forward, gait.forward)
        turned = replace(
            gait,
            shift=shift,
            forward=np.roll(gait.forward, -round(shift * PHASES), axis=1),
            touchdown=np.mod(gait.touchdown - shift, 1.0),
        )
        aligned.append(turned)
        correlations.append(correlation)
    phases = np.arange(PHASES) / PHASES
    tables = []
    for first, second, correlation in zip(aligned, aligned[1:] or aligned, correlations[1:] or [1.0]):
        places = []
        begin, end = first.features_at(phases), second.features_at(phases)
        touchdown = first.touchdown + np.mod(second.touchdown - first.touchdown + 0.5, 1.0) - 0.5
        for share in np.linspace(0.0, 1.0, MIX_PLACES):
            period = 1.0 / ((1 - share) / first.clip.period + share / second.clip.period)
            rows = _rows(encoder, (1 - share) * begin + share * end)
            soles = SolePaths.from_rows(rig, feet, rows, period, size)
            down = (1 - share) * first.touchdown + share * touchdown
            stance = (1 - share) * first.stance + share * second.stance
            places.append(foot_paths(soles, period, down, stance, reach, facing, floor, size))
        tables.append(GaitTable(tuple(places), correlation >= MIN_MIX_CORRELATION))
    return tuple(aligned), tuple(tables)


def _best_shift(first: Array, second: Array) -> tuple[float, float]:
    """The shift of the phase at which the feet (n, PHASES) of two gaits agree best, and their correlation there."""
    a, b = (values - values.mean(axis=1, keepdims=True) for values in (first, second))
    spectrum = np.conj(np.fft.rfft(a, axis=1)) * np.fft.rfft(b, axis=1)
    products = np.fft.irfft(spectrum, a.shape[1], axis=1).sum(axis=0)
    best = int(products.argmax())
    return best / a.shape[1], float(products[best] / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-12))
