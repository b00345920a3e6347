"""Footsteps: a foot is planted, steps, or moves freely, and every switch between the three is continuous.

**Contacts.** In a frame of a clip a foot is in contact if it is low and still for a while. A walk on the spot, as games
have it, slides its feet by design: no foot is in contact there, and none is held. Each training frame keeps whether
each foot is in contact, whether it slides, and how high it is; between frames the nearest frames of the latent space
are averaged. Only frames in contact say how high the ground is: a jump that is left in the air lands on the ground, not
above it.

**Modes.** Where the clips have the foot in contact it is held over the point where it came down (`FOOT_DOWN`), whatever
the blended pose above it does. Once it is too far from where the pose wants it, it is lifted and put there (`FOOT_UP`),
one foot of a pair at a time. Where the clips have no contact the foot is left alone (`FOOT_FREE`), and only kept out of
the floor.

**Blend.** The foot is shown at a goal, the pose's own position or the held one, plus what remains of the difference at
the last switch:

    s(t) = g(t) + x0 h0(u) + v0 T h1(u),      u = t / T,
    h0 = 1 - 10 u^3 + 15 u^4 - 6 u^5,      h1 = u - 6 u^3 + 8 u^4 - 3 u^5

so that position and velocity are continuous through any switch. A foot that comes down while it moves is held half a
braking distance ahead, where x0 = -v T / 2 makes it slow down evenly. The same law fades everything else (`Fade`): how
much a foot is planted, lifted, and kept out of the floor. T is the time that the body's own blend has left: a foot
that is put right faster than the body changes is seen to jerk.

**Lock.** Of a character that goes somewhere, a foot is shown at its plan (`gaits.FootPlan`) plus an offset o over the
ground, turned by an angle t about the vertical. While it stands, its contact must not move. The contact slides over the
sole as the foot rolls, so no single point is held: with the planned sole points q_p and weights w_p by how low they
are,

    o[f] = o[f-1] - sum_p w_p (q_p[f] - q_p[f-1]),      t[f] = t[f-1] - (heading[f] - heading[f-1])

For one point this is a lock exactly, and as the foot rolls it is handed over without a step. In the swing o and t
return, critically damped, to the lead of the plan: half of what the next stance will take from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import cos, hypot, sin
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.maths.springs import step_scalar
from understudy.perform.gaits import CONTACT_SOFTNESS_RATIO, FootPlan

FOOT_FREE, FOOT_DOWN, FOOT_UP = 0, 1, 2  # modes of a foot

MAX_OFFSET_RATIO, MAX_TURN_RAD = 0.25, 0.8  # of the height, and radians: a foot that is further from its plan lets go
SWING_RETURN_SHARE = 0.16  # of a swing: time constant of the return
ROUNDING_SHARE = 8.0 / 27.0  # of a rounding's half width, by which 2 s^2 - s^3 falls short of s at most
HALT_OFFSET_RATIO = 0.04  # of the height: a foot nearer to its plan needs no further step when the character halts


GroundPoint = tuple[float, float]
"""x and z, metres."""


@dataclass(frozen=True, slots=True)
class FootstepSettings:
    """Numbers of contacts and steps. Ratios are of the character's height, speeds are heights a second."""

    # contacts in the clips
    clip_contact_height_ratio: float = 0.03  # height of a foot in contact above its usual ground
    ground_tolerance_ratio: float = (
        0.06  # how much higher or lower than its usual ground a foot may be planted in a clip
    )
    still_speed_heights_per_s: float = 0.2  # speed over the ground below which a foot is still
    min_contact_seconds: float = 0.12  # shortest contact
    min_contact_weight: float = 0.05  # frames in contact; with less weight than this the usual ground counts more
    kernel_width_frames: float = 1.5  # width of the latent average, in steps from frame to frame of a clip

    # probability of contact, averaged from the training frames
    stand_probability_on: float = 0.6  # to plant a foot
    stand_probability_off: float = 0.35  # to keep it planted
    slide_probability: float = 0.2  # of sliding; a foot that neither slides nor is in contact is in the air

    # distances
    landing_height_ratio: float = 0.03  # height above its ground below which a foot can be planted
    max_error_ratio: float = 0.06  # distance from the pose at which a planted foot steps
    forced_step_error_ratio: float = 0.15  # the same while the other foot is in the air
    resting_error_ratio: float = 0.02  # the same once the pose has come to rest
    max_strain_ratio: float = 0.01  # distance by which the leg may fall short
    min_lift_ratio: float = 0.03  # lift of a step, plus
    lift_per_distance: float = 0.2  # this share of its length,
    max_lift_ratio: float = 0.06  # at most this
    floor_softness_ratio: float = 0.006  # distance over which the floor stops a foot

    # speeds of the pose's foot over the ground
    moving_speed_heights_per_s: float = 0.4  # a foot this fast is not put down
    landing_speed_heights_per_s: float = 0.15  # a foot slower than this may land
    resting_speed_heights_per_s: float = 0.05  # a pose slower than this is at rest

    # durations
    brake_seconds: float = 0.12  # from touchdown to standstill
    release_seconds: float = 0.25  # from the held position to the pose's, plus
    release_seconds_per_speed: float = 0.1  # this for each height a second of difference,
    max_release_seconds: float = 0.8  # at most this
    min_mode_seconds: float = 0.1  # shortest time free or up
    resting_error_seconds: float = 0.25  # at rest before a small error is stepped away
    min_step_seconds: float = 0.28
    max_step_seconds: float = 0.45
    max_hover_seconds: float = 0.8  # longest time up, for a foot that still moves


SETTINGS = FootstepSettings()


@dataclass(frozen=True, eq=False)
class LabelContacts:
    """The training frames of a label, with the contacts of n feet."""

    latents: Array  # (N, Q)
    sharpness: float  # 1 / (2 width^2) of the Gaussian average over latents
    contact_features: Array  # (N, 4 n) contact (0 or 1), sliding (0 or 1), height, and contact times height

    @classmethod
    def from_clips(cls, latents: Array, known: Array, bounds: Iterable[tuple[int, int]]) -> LabelContacts:
        """From latents (N, Q), their contact features (N, 4 n), and the frames `start:stop` of each clip."""
        steps = [np.linalg.norm(np.diff(latents[start:stop], axis=0), axis=1) for start, stop in bounds]
        usual = SETTINGS.kernel_width_frames * max(float(np.median(np.concatenate(steps))), 1e-9)
        return cls(np.array(latents, float), 0.5 / usual**2, np.array(known, float))

    def contacts_at_latent(self, x: Array) -> Array:
        """(4 n,) the contact features at a latent (Q,)."""
        away = np.square(self.latents - x).sum(axis=1)
        weights = np.exp(self.sharpness * (away.min() - away))
        return np.asarray(weights @ self.contact_features / weights.sum())


def blend_contacts(labels: Mapping[str, LabelContacts], places: Iterable[tuple[str, Array, float]]) -> Array:
    """(4 n,) the contact features of all blend sources: label, latent and weight of each."""
    total, sum_of_weights = np.zeros(0), 0.0
    for label, x, weight in places:
        known = weight * labels[label].contacts_at_latent(x)
        total = known if not sum_of_weights else total + known
        sum_of_weights += weight
    return total / max(sum_of_weights, 1e-12)


def stance_frames(places: Array, low: float, size: float, rate: float) -> Array:
    """(F,) bool: the frames in which a point (F, 3) of a clip is in contact, `low` metres being its greatest height."""
    if len(places) < 2:
        return np.asarray(places[:, 1] < low)
    speeds = np.linalg.norm(np.gradient(places[:, [0, 2]], axis=0), axis=1) * rate / size
    stands = (places[:, 1] < low) & (speeds < SETTINGS.still_speed_heights_per_s)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], stands.astype(int), [0]])))
    for start, stop in zip(edges[::2], edges[1::2]):
        cut = start == 0 or stop == len(stands)  # a loop may go on where the clip ends
        if not cut and stop - start < SETTINGS.min_contact_seconds * rate:
            stands[start:stop] = False
    return np.asarray(stands)


def ground_height(stands: float, height: float, floor: float) -> float:
    """Metres, the ground under a foot: `height` / `stands`, the mean over the frames in contact; else its `floor`."""
    return (height + SETTINGS.min_contact_weight * floor) / (stands + SETTINGS.min_contact_weight)


class FootObservation(NamedTuple):
    """What a foot knows of a frame, metres."""

    place: GroundPoint  # where the pose has it
    lowest: float  # how high its lowest point is there
    stands: float  # 0 to 1, probability of contact in the clips
    slides: float  # 0 to 1, probability of sliding there, as in a walk on the spot
    height: float  # how high its lowest point is in the clips
    ground: float  # the same where it is in contact
    may_stand: bool  # whether it may be planted: a clip that is played keeps its own feet
    seconds: float = SETTINGS.release_seconds  # that the blend of the body takes
    switched: bool = False  # whether that blend has just begun: the clips' heights are others than before


class Fade(NamedTuple):
    """A number on its way to a goal, by the law of a blend: value and velocity are continuous through any change."""

    goal: float = 0.0
    offset: float = 0.0  # x0
    drift: float = 0.0  # v0
    since: float = 0.0  # seconds
    lasts: float = 1.0  # T

    def at(self, time: float) -> float:
        """The value at a time in seconds."""
        a, b = _blend_shapes((time - self.since) / self.lasts)
        return self.goal + a * self.offset + b * self.lasts * self.drift

    def to(self, goal: float, time: float, lasts: float) -> Fade:
        """The same number on its way to another goal, from `time` on, for `lasts` seconds."""
        if goal == self.goal:
            return self
        u = min((time - self.since) / self.lasts, 1.0)
        slow, fast = -30.0 * (u * (1.0 - u)) ** 2 / self.lasts, 1.0 - u * u * (18.0 - u * (32.0 - 15.0 * u))
        rate = slow * self.offset + fast * self.drift
        return Fade(goal, self.at(time) - goal, rate, time, lasts)

    def shift(self, jump: float, time: float, lasts: float) -> Fade:
        """The same number where what it is added to jumps by the negative of `jump`: the sum goes on."""
        moved = self.to(self.goal + 1.0, time, lasts)
        return moved._replace(goal=self.goal, offset=moved.offset + 1.0 + jump)


def _blend_shapes(u: float) -> tuple[float, float]:
    """h0 and h1 at u."""
    if u >= 1.0:
        return 0.0, 0.0
    return 1.0 - u * u * u * (10.0 - u * (15.0 - 6.0 * u)), u * (1.0 - u * u * (6.0 - u * (8.0 - 3.0 * u)))


class FootState(NamedTuple):
    """The state of a foot."""

    started: bool = False
    mode: int = FOOT_FREE
    since: float = 0.0  # seconds, time of the last switch
    lasts: float = SETTINGS.release_seconds  # seconds until it is where it should be
    offset: GroundPoint = (0.0, 0.0)  # x0
    drift: GroundPoint = (0.0, 0.0)  # v0
    anchor: GroundPoint = (0.0, 0.0)  # where it is held
    lift: Fade = Fade()  # metres by which it is lifted
    peak: float = 0.0  # metres, of the lift of its step
    landing: bool = False
    weight: Fade = Fade()  # 0 to 1, how much it is planted
    guard: Fade = Fade()  # 0 to 1, how much it is kept out of the floor
    level: Fade = Fade()  # metres, what is left of a jump of the clips' height of it
    stands: Fade = Fade()  # metres, the same of its ground
    heights: tuple[float, float] = (0.0, 0.0)  # metres, of the foot and its ground in the clips, a frame ago
    height_in_clips: float = 0.0  # metres, a frame ago
    ground: float = 0.0  # metres, its ground
    stood: float = 0.0  # metres, the ground at its last contact
    place: GroundPoint = (0.0, 0.0)  # in the pose, a frame ago
    shown: GroundPoint = (0.0, 0.0)
    lowest: float = 0.0  # metres, height of its lowest point in the pose
    height: float = 0.0  # the same as shown
    rest: float = 0.0  # seconds that the pose has been at rest
    strain: float = 0.0  # metres by which its leg falls short

    @property
    def error(self) -> float:
        """Metres between where it is shown and where the pose has it."""
        return hypot(self.shown[0] - self.place[0], self.shown[1] - self.place[1])

    def in_the_air(self, floor: float, size: float) -> bool:
        """Whether it carries no weight."""
        return self.mode == FOOT_UP or (
            self.mode == FOOT_FREE
            and self.height > _clamp_ground(self.ground, floor, size) + SETTINGS.landing_height_ratio * size
        )


def step(
    foot: FootState, seen: FootObservation, floor: float, size: float, may_lift: bool, time: float, dt: float
) -> tuple[FootState, tuple[float, float, float]]:
    """The next state, and the shift of the foot (x, y, z) in metres.

    `floor` is its usual ground and `size` the character's height, both in metres; `may_lift` allows a step; `time` and
    `dt` are seconds.
    """
    if not foot.started:
        foot = _init_foot(seen, floor, size, time)
        return foot, (0.0, foot.weight.goal * _rise_to_level(foot.stood, seen, size), 0.0)
    foot = foot._replace(
        rest=foot.rest + dt if _speed(foot, seen, dt) < SETTINGS.resting_speed_heights_per_s * size else 0.0
    )
    goal = foot.anchor if foot.mode == FOOT_DOWN else seen.place
    left = _residual_offset(foot, time - foot.since)
    shown = (goal[0] + left[0], goal[1] + left[1])
    foot, rise = _vertical(foot, seen, floor, size, time, dt)
    moved = (shown[0] - seen.place[0], rise, shown[1] - seen.place[1])
    foot = foot._replace(height=seen.lowest + rise)
    foot = _switch_mode(foot, seen, shown, floor, size, may_lift, time, dt)
    return foot._replace(place=seen.place, lowest=seen.lowest, shown=shown), moved


def _init_foot(seen: FootObservation, floor: float, size: float, time: float) -> FootState:
    stands = (
        seen.may_stand
        and seen.stands > SETTINGS.stand_probability_on
        and seen.lowest < _clamp_ground(seen.ground, floor, size) + SETTINGS.landing_height_ratio * size
    )
    return FootState(
        started=True,
        mode=FOOT_DOWN if stands else FOOT_FREE,
        since=time - SETTINGS.release_seconds,
        anchor=seen.place,
        heights=(seen.height, seen.ground),
        height_in_clips=seen.height,
        ground=seen.ground,
        stood=_clamp_ground(seen.ground, floor, size),
        weight=Fade(1.0 if stands else 0.0),
        guard=Fade(1.0 if seen.may_stand else 0.0),
        place=seen.place,
        shown=seen.place,
        lowest=seen.lowest,
        height=seen.lowest,
    )


def _clamp_ground(ground: float, floor: float, size: float) -> float:
    """Metres, the ground of the clips, near the usual one."""
    return min(
        max(ground, floor - SETTINGS.ground_tolerance_ratio * size), floor + SETTINGS.ground_tolerance_ratio * size
    )


def _rise_to_level(level: float, seen: FootObservation, size: float) -> float:
    """Metres by which a foot is raised, or lowered a little, to touch a level."""
    return max(level - seen.lowest, -SETTINGS.landing_height_ratio * size)


def _residual_offset(foot: FootState, age: float) -> GroundPoint:
    """What remains of the difference at the switch."""
    a, b = _blend_shapes(age / foot.lasts)
    b *= foot.lasts
    return (a * foot.offset[0] + b * foot.drift[0], a * foot.offset[1] + b * foot.drift[1])


def _speed(foot: FootState, seen: FootObservation, dt: float) -> float:
    """Metres a second, of the pose's foot over the ground."""
    return hypot(seen.place[0] - foot.place[0], seen.place[1] - foot.place[1]) / dt


def _vertical(
    foot: FootState, seen: FootObservation, floor: float, size: float, time: float, dt: float
) -> tuple[FootState, float]:
    """The state with the next frame's heights, and metres by which the foot is raised."""
    begins, seconds = time - dt, seen.seconds
    planted = foot.mode == FOOT_DOWN
    level, stands = foot.level, foot.stands
    if seen.switched:
        level = level.shift(foot.heights[0] - seen.height, begins, seconds)
        stands = stands.shift(foot.heights[1] - seen.ground, begins, seconds)
    height, ground = seen.height + level.at(time), seen.ground + stands.at(time)
    weight = foot.weight.to(1.0 if planted and seen.may_stand else 0.0, begins, seconds)
    guard = foot.guard.to(1.0 if seen.may_stand or foot.mode != FOOT_FREE else 0.0, begins, seconds)
    # a foot that falls faster than in the clips is stopped over a longer distance
    falls = abs(seen.lowest - foot.lowest - (height - foot.height_in_clips))
    width = SETTINGS.floor_softness_ratio * size + min(2.0 * falls, SETTINGS.landing_height_ratio * size)
    out = guard.at(time) * _soft_positive(min(floor, height) - seen.lowest, width)
    stood = _clamp_ground(ground, floor, size) if planted else foot.stood
    base = out + weight.at(time) * (_rise_to_level(stood, seen, size) - out)
    return foot._replace(
        weight=weight,
        guard=guard,
        level=level,
        stands=stands,
        heights=(seen.height, seen.ground),
        height_in_clips=height,
        ground=ground,
        stood=stood,
    ), base + foot.lift.at(time)


def _soft_positive(x: float, width: float) -> float:
    """A rounded max(x, 0) that is never less than it, and nearly 0 at x = 0: a foot on its floor is not raised."""
    s = 0.5 * (x / width + ROUNDING_SHARE)
    if s <= 0.0:
        return 0.0
    return 2.0 * width * (s if s >= 1.0 else s * s * (2.0 - s))


def _switch_mode(
    foot: FootState,
    seen: FootObservation,
    shown: GroundPoint,
    floor: float,
    size: float,
    may_lift: bool,
    time: float,
    dt: float,
) -> FootState:
    """The state, in another mode where this frame calls for one."""
    speed = _speed(foot, seen, dt)
    velocity = ((shown[0] - foot.shown[0]) / dt, (shown[1] - foot.shown[1]) / dt)
    error = hypot(shown[0] - seen.place[0], shown[1] - seen.place[1])
    if foot.mode == FOOT_DOWN:
        if seen.stands < SETTINGS.stand_probability_off or not seen.may_stand:
            lasts = _release_seconds(foot, seen, error, velocity, size, dt)
            return _release_foot(foot, seen, shown, velocity, FOOT_FREE, lasts, time, dt)
        far = error > SETTINGS.max_error_ratio * size or (
            error > SETTINGS.resting_error_ratio * size and foot.rest > SETTINGS.resting_error_seconds
        )
        if (
            foot.strain > SETTINGS.max_strain_ratio * size
            or error > SETTINGS.forced_step_error_ratio * size
            or (far and may_lift)
        ):
            lasts = max(min(SETTINGS.min_step_seconds + 0.5 * error / size, SETTINGS.max_step_seconds), seen.seconds)
            return _lift_foot(foot, seen, shown, velocity, error, lasts, size, time, dt)
        return foot
    if foot.mode == FOOT_UP:
        age = time - foot.since
        if seen.stands < SETTINGS.stand_probability_off and age > SETTINGS.min_mode_seconds:
            lasts = _release_seconds(foot, seen, error, velocity, size, dt)
            return _release_foot(foot, seen, shown, velocity, FOOT_FREE, lasts, time, dt)
        seconds = 0.5 * foot.lasts
        if not foot.landing:
            near = age >= seconds and speed < SETTINGS.landing_speed_heights_per_s * size
            if near or age >= SETTINGS.max_hover_seconds:
                foot = foot._replace(landing=True, lift=foot.lift.to(0.0, time, seconds))
            return foot
        if time - foot.lift.since < foot.lift.lasts:  # on its way down, unless the pose moves on
            if speed >= SETTINGS.moving_speed_heights_per_s * size and age < SETTINGS.max_hover_seconds:
                foot = foot._replace(landing=False, lift=foot.lift.to(foot.peak, time, seconds))
            return foot
        if not seen.may_stand:
            return _release_foot(foot, seen, shown, velocity, FOOT_FREE, SETTINGS.release_seconds, time, dt)
        return _plant_foot(foot, shown, velocity, time)
    if (
        time - foot.since > SETTINGS.min_mode_seconds
        and seen.may_stand
        and seen.stands > SETTINGS.stand_probability_on
        and foot.height < _clamp_ground(foot.ground, floor, size) + SETTINGS.landing_height_ratio * size
    ):
        if speed > SETTINGS.moving_speed_heights_per_s * size and may_lift:
            return _lift_foot(foot, seen, shown, velocity, 0.3 * speed, SETTINGS.min_step_seconds, size, time, dt)
        return _plant_foot(foot, shown, velocity, time)
    return foot


def _release_seconds(
    foot: FootState, seen: FootObservation, error: float, velocity: GroundPoint, size: float, dt: float
) -> float:
    """Seconds of a release: longer with the distance to the pose's foot, and with the difference of velocity."""
    away = hypot(velocity[0] - (seen.place[0] - foot.place[0]) / dt, velocity[1] - (seen.place[1] - foot.place[1]) / dt)
    return min(
        SETTINGS.release_seconds + (error + SETTINGS.release_seconds_per_speed * away) / size,
        SETTINGS.max_release_seconds,
    )


def _release_foot(
    foot: FootState,
    seen: FootObservation,
    shown: GroundPoint,
    velocity: GroundPoint,
    mode: int,
    lasts: float,
    time: float,
    dt: float,
) -> FootState:
    """The state on its way to where the pose has the foot."""
    pose_velocity = ((seen.place[0] - foot.place[0]) / dt, (seen.place[1] - foot.place[1]) / dt)
    return foot._replace(
        mode=mode,
        since=time,
        lasts=lasts,
        offset=(shown[0] - seen.place[0], shown[1] - seen.place[1]),
        drift=(velocity[0] - pose_velocity[0], velocity[1] - pose_velocity[1]),
        landing=False,
        lift=foot.lift.to(0.0, time, lasts),
    )


def _lift_foot(
    foot: FootState,
    seen: FootObservation,
    shown: GroundPoint,
    velocity: GroundPoint,
    way: float,
    lasts: float,
    size: float,
    time: float,
    dt: float,
) -> FootState:
    """The same as a step off the ground; `way` is its length in metres."""
    most = SETTINGS.max_lift_ratio - SETTINGS.floor_softness_ratio
    peak = min(SETTINGS.min_lift_ratio * size + SETTINGS.lift_per_distance * way, most * size)
    lifted = _release_foot(foot, seen, shown, velocity, FOOT_UP, lasts, time, dt)
    return lifted._replace(peak=peak, lift=foot.lift.to(peak, time, 0.5 * lasts))


def _plant_foot(foot: FootState, shown: GroundPoint, velocity: GroundPoint, time: float) -> FootState:
    """The state of a foot that brakes to a stop."""
    way = (0.5 * SETTINGS.brake_seconds * velocity[0], 0.5 * SETTINGS.brake_seconds * velocity[1])
    anchor = (shown[0] + way[0], shown[1] + way[1])
    back = (-way[0], -way[1])
    return foot._replace(
        mode=FOOT_DOWN,
        since=time,
        lasts=SETTINGS.brake_seconds,
        offset=back,
        drift=velocity,
        anchor=anchor,
        landing=False,
    )


class LockState(NamedTuple):
    """One foot: its offset, its turn, and its planned sole points in the frame before."""

    offset: tuple[float, float] = (0.0, 0.0)  # x and z, metres
    rate: tuple[float, float] = (0.0, 0.0)
    turn: float = 0.0  # radians
    turn_rate: float = 0.0
    stands: bool = False
    halted: bool = False  # it stays where it stands until the character goes on
    sole: Array | None = None  # (P, 2) x and z
    heading: float = 0.0  # of the body


def step_lock(
    lock: LockState, plan: FootPlan, foot: int, joint: Array, sole: Array, size: float, dt: float
) -> tuple[LockState, tuple[float, float, float], float]:
    """The next state, and the shift (x, y, z) and the turn about the vertical of a foot.

    `joint` (3,) and `sole` (P, 3) are its joint and its sole points in the pose, `size` the character's height.
    """
    stands = bool(plan.contacts[foot])
    x, z = lock.offset
    halted = lock.halted and plan.halting
    if plan.halting and lock.stands and not stands:  # it would leave the ground, but need not
        halted = halted or hypot(x, z) < HALT_OFFSET_RATIO * size
    stands = stands or halted
    turn, turn_rate = lock.turn, 0.0
    if lock.sole is None:
        pass
    elif stands:
        change = (plan.heading - lock.heading + np.pi) % (2 * np.pi) - np.pi
        turn = min(max(turn - change, -MAX_TURN_RAD), MAX_TURN_RAD)
        turn_rate = -change / dt
    else:
        seconds = SWING_RETURN_SHARE * float(plan.swing_seconds[foot])
        turn, turn_rate = step_scalar(turn, lock.turn_rate, plan.lead_turn, seconds, dt)
    sine, cosine = sin(turn), cos(turn)
    away = sole - joint
    turned = np.stack([cosine * away[:, 0] + sine * away[:, 2], cosine * away[:, 2] - sine * away[:, 0]], axis=1)
    planned = plan.joints[foot] + turned
    lowest = float(sole[:, 1].min())
    if lock.sole is None:  # it starts where the pose has it
        rate = (0.0, 0.0)
        x, z = x + float(joint[0] - plan.joints[foot, 0]), z + float(joint[2] - plan.joints[foot, 1])
    elif stands:
        weights = np.exp((lowest - sole[:, 1]) / (CONTACT_SOFTNESS_RATIO * size))
        move = weights @ (planned - lock.sole) / weights.sum()
        x, z = x - float(move[0]), z - float(move[1])
        far = hypot(x, z) / (MAX_OFFSET_RATIO * size)
        if far > 1.0:
            x, z = x / far, z / far
        rate = ((x - lock.offset[0]) / dt, (z - lock.offset[1]) / dt)
    else:
        seconds = SWING_RETURN_SHARE * float(plan.swing_seconds[foot])
        x, vx = step_scalar(x, lock.rate[0], float(plan.leads[foot, 0]), seconds, dt)
        z, vz = step_scalar(z, lock.rate[1], float(plan.leads[foot, 1]), seconds, dt)
        rate = (vx, vz)
    shift = (
        float(plan.joints[foot, 0] - joint[0]) + x,
        (plan.floor if halted else float(plan.heights[foot])) - lowest,
        float(plan.joints[foot, 1] - joint[2]) + z,
    )
    return LockState((x, z), rate, turn, turn_rate, stands, halted, planned, plan.heading), shift, turn
