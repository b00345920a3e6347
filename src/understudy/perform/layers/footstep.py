"""Contacts: where in a label's space each foot stands on the ground, as its clips have it.

In a frame of a clip a foot stands if it is low and still for a while. A walk on the spot, as games have it, slides its
feet by design: there no foot stands, and nothing should hold it. Each training frame keeps whether each foot stands,
whether it slides, and how high it is; between frames the nearest ones of the latent space are averaged. How high the
ground is, only those frames tell in which the foot stands: a jump that is left in the air lands on it, not above.

Footsteps: a foot stands, steps, or goes as the performance has it; whichever, without a jump.

Where the clips have the foot standing it is held over the point where it came down (`DOWN`), however the pose above it
is blended. Once it is too far from where the pose wants it, it is lifted and put there (`UP`), one foot of a pair at a
time. Where the clips do not have it standing, it is left alone (`FREE`), and only kept out of the floor.

What is shown is a goal, the pose's own place or the held one, plus what is left of the difference at the last switch:

    s(t) = g(t) + x0 h0(u) + v0 T h1(u),      u = t / T,
    h0 = 1 - 10 u^3 + 15 u^4 - 6 u^5,      h1 = u - 6 u^3 + 8 u^4 - 3 u^5

so that place and velocity go on through any switch. A foot that comes down while it moves is held half a braking way
ahead, where x0 = -v T / 2 makes it slow down evenly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, hypot
from typing import NamedTuple

import numpy as np

from understudy.checks import Array

CLIP_CONTACT_HEIGHT_RATIO = 0.03  # of the height, above where it usually stands
GROUND_TOLERANCE_RATIO = 0.06  # of the height that a foot may stand higher or lower in a clip than in the others
STILL_SPEED_HEIGHTS_PER_S = 0.2  # heights a second over the ground
MIN_CONTACT_SECONDS = 0.12  # seconds that a foot stands at least
MIN_CONTACT_WEIGHT = 0.05  # of a frame in which the foot stands: where fewer speak, the ground is where it usually is
KERNEL_WIDTH_FRAMES = (
    1.5  # steps from frame to frame of a clip: how far in the latent space a frame speaks for its surroundings
)


@dataclass(frozen=True, eq=False)
class LabelContacts:
    """The training frames of a label."""

    latents: Array  # (N, Q)
    sharpness: float
    contact_features: (
        Array  # (N, 4 n) whether each of n feet stands, whether it slides, how high it is, and that if it stands
    )

    @classmethod
    def from_clips(cls, latents: Array, known: Array, bounds: Iterable[tuple[int, int]]) -> LabelContacts:
        """Latents (N, Q), what is known of them (N, 4 n), and the frames from and to of each clip."""
        steps = [np.linalg.norm(np.diff(latents[start:stop], axis=0), axis=1) for start, stop in bounds]
        usual = KERNEL_WIDTH_FRAMES * max(float(np.median(np.concatenate(steps))), 1e-9)
        return cls(np.array(latents, float), 0.5 / usual**2, np.array(known, float))

    def contacts_at_latent(self, x: Array) -> Array:
        """(4 n,) at a latent (Q,)."""
        away = np.square(self.latents - x).sum(axis=1)
        weights = np.exp(self.sharpness * (away.min() - away))
        return np.asarray(weights @ self.contact_features / weights.sum())


def blend_contacts(labels: Mapping[str, LabelContacts], places: Iterable[tuple[str, Array, float]]) -> Array:
    """(4 n,) of all voices: label, latent and weight of each."""
    total, sum_of_weights = np.zeros(0), 0.0
    for label, x, weight in places:
        known = weight * labels[label].contacts_at_latent(x)
        total = known if not sum_of_weights else total + known
        sum_of_weights += weight
    return total / max(sum_of_weights, 1e-12)


def stance_frames(places: Array, low: float, size: float, rate: float) -> Array:
    """(F,) bool: the frames in which a point (F, 3) of a clip stands, `low` being how high it may be."""
    if len(places) < 2:
        return np.asarray(places[:, 1] < low)
    speeds = np.linalg.norm(np.gradient(places[:, [0, 2]], axis=0), axis=1) * rate / size
    stands = (places[:, 1] < low) & (speeds < STILL_SPEED_HEIGHTS_PER_S)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], stands.astype(int), [0]])))
    for start, stop in zip(edges[::2], edges[1::2]):
        cut = start == 0 or stop == len(stands)  # a loop may go on where the clip ends
        if not cut and stop - start < MIN_CONTACT_SECONDS * rate:
            stands[start:stop] = False
    return np.asarray(stands)


def ground_height(stands: float, height: float, floor: float) -> float:
    """How high a foot stands where frames say so by `stands`, and by how much `height` in all; else at its floor."""
    return (height + MIN_CONTACT_WEIGHT * floor) / (stands + MIN_CONTACT_WEIGHT)


FOOT_FREE, FOOT_DOWN, FOOT_UP = 0, 1, 2

STAND_PROBABILITY_ON, STAND_PROBABILITY_OFF = (
    0.6,
    0.35,
)  # how sure the clips must be that a foot stands, and still stands
SLIDE_PROBABILITY = 0.2  # the same for a foot that slides: a foot that does neither is in the air
# Of the height, over the ground:
LANDING_HEIGHT_RATIO = 0.03  # what is lower than this above its floor can come to stand
MAX_ERROR_RATIO = 0.06  # from where the pose has it
FORCED_STEP_ERROR_RATIO = 0.15  # the same, even while the other foot is in the air
RESTING_ERROR_RATIO = 0.02  # the same, once the pose has come to rest
MAX_STRAIN_RATIO = 0.01  # that the leg does not reach
# Heights a second:
MOVING_SPEED_HEIGHTS_PER_S, LANDING_SPEED_HEIGHTS_PER_S, RESTING_SPEED_HEIGHTS_PER_S = 0.4, 0.15, 0.05
# Seconds:
BRAKE_SECONDS, RELEASE_SECONDS, LANDING_SECONDS = 0.12, 0.25, 0.12
MIN_MODE_SECONDS = 0.1  # for so long it stays free, or up, whatever the clips say
RELEASE_SECONDS_PER_SPEED, MAX_RELEASE_SECONDS = (
    0.1,
    0.8,
)  # a foot is let go over so much longer for each height a second, and at most
RESTING_ERROR_SECONDS = 0.25  # for so long before a small error is stepped away
MIN_STEP_SECONDS, MAX_STEP_SECONDS, MAX_HOVER_SECONDS = (
    0.28,
    0.45,
    0.8,
)  # a step; a foot that is kept up because it still moves
# Time constants with which a foot is lifted, comes to stand on the floor, and follows the height of the clips:
LIFT_TIME_CONSTANT_SECONDS, WEIGHT_TIME_CONSTANT_SECONDS, LEVEL_TIME_CONSTANT_SECONDS = 0.03, 0.04, 0.05
TOUCHDOWN_LIFT_RATIO = 0.05  # of its lift at which a foot is down again
SPRING_EPSILON = 1e-9
# Of the height: a step is lifted by the first, and by the second of its way, at most the third
MIN_LIFT_RATIO, LIFT_PER_DISTANCE, MAX_LIFT_RATIO = 0.03, 0.2, 0.06
FLOOR_SOFTNESS_RATIO = 0.006  # of the height, in which the floor stops a foot

GroundPoint = tuple[float, float]
"""x and z."""


class FootObservation(NamedTuple):
    """What a foot is told of a frame, metres."""

    place: GroundPoint  # where the pose has it
    lowest: float  # how high its lowest point is there
    stands: float  # 0 to 1, whether it stands in the clips
    slides: float  # 0 to 1, whether it slides there, as in a walk on the spot
    height: float  # how high its lowest point is in the clips
    ground: float  # the same where it stands
    may_stand: bool  # whether it may come to stand: a clip that is played has its own feet


class FootState(NamedTuple):
    """The state of a foot."""

    started: bool = False
    mode: int = FOOT_FREE
    since: float = 0.0  # when it was switched
    lasts: float = RELEASE_SECONDS  # seconds until it is where it should be
    offset: GroundPoint = (0.0, 0.0)  # x0
    drift: GroundPoint = (0.0, 0.0)  # v0
    anchor: GroundPoint = (0.0, 0.0)  # where it is held
    lift: float = 0.0  # metres by which it is lifted
    lift_rate: float = 0.0
    peak: float = 0.0  # metres to which
    landing: bool = False
    weight: float = 0.0  # 0 to 1, how much it stands on the floor
    weight_rate: float = 0.0
    swing: float = 0.0  # 0 to 1, how much it is raised because it moves and the clips have it off the floor
    swing_rate: float = 0.0
    level: float = 0.0  # metres, how high the clips have it, smoothed
    level_rate: float = 0.0
    ground: float = 0.0  # metres, how high it stands in the clips, smoothed
    ground_rate: float = 0.0
    stood: float = 0.0  # the ground while it stood last
    place: GroundPoint = (0.0, 0.0)  # in the pose, a frame ago
    shown: GroundPoint = (0.0, 0.0)
    lowest: float = 0.0  # of its lowest point in the pose
    height: float = 0.0  # the same as shown
    rest: float = 0.0  # seconds that the pose has been at rest
    strain: float = 0.0  # metres that its leg does not reach

    @property
    def error(self) -> float:
        """Metres between where it is shown and where the pose has it."""
        return hypot(self.shown[0] - self.place[0], self.shown[1] - self.place[1])

    def in_the_air(self, floor: float, size: float) -> bool:
        """Whether it carries nothing."""
        return self.mode == FOOT_UP or (
            self.mode == FOOT_FREE
            and self.height > _clamp_ground(self.ground, floor, size) + LANDING_HEIGHT_RATIO * size
        )


def step(
    foot: FootState, seen: FootObservation, floor: float, size: float, may_lift: bool, time: float, dt: float
) -> tuple[FootState, tuple[float, float, float]]:
    """The state a frame on, and by how much the foot is moved (x, y, z); `floor` is where it stands, metres."""
    if not foot.started:
        foot = _init_foot(seen, floor, size, time)
        return foot, (0.0, foot.weight * _rise_to_level(foot.stood, seen, size), 0.0)
    foot = foot._replace(rest=foot.rest + dt if _speed(foot, seen, dt) < RESTING_SPEED_HEIGHTS_PER_S * size else 0.0)
    age = time - foot.since
    goal = foot.anchor if foot.mode == FOOT_DOWN else seen.place
    left = _residual_offset(foot, age)
    shown = (goal[0] + left[0], goal[1] + left[1])
    foot, rise = _vertical(foot, seen, floor, size, dt)
    moved = (shown[0] - seen.place[0], rise, shown[1] - seen.place[1])
    foot = foot._replace(height=seen.lowest + rise)
    foot = _switch_mode(foot, seen, shown, floor, size, may_lift, time, dt)
    return foot._replace(place=seen.place, lowest=seen.lowest, shown=shown), moved


def _init_foot(seen: FootObservation, floor: float, size: float, time: float) -> FootState:
    stands = (
        seen.may_stand
        and seen.stands > STAND_PROBABILITY_ON
        and seen.lowest < _clamp_ground(seen.ground, floor, size) + LANDING_HEIGHT_RATIO * size
    )
    return FootState(
        started=True,
        mode=FOOT_DOWN if stands else FOOT_FREE,
        since=time - RELEASE_SECONDS,
        anchor=seen.place,
        level=seen.height,
        ground=seen.ground,
        stood=_clamp_ground(seen.ground, floor, size),
        weight=1.0 if stands else 0.0,
        place=seen.place,
        shown=seen.place,
        lowest=seen.lowest,
        height=seen.lowest,
    )


def _clamp_ground(ground: float, floor: float, size: float) -> float:
    """How high the ground is where the clips have a foot standing at `ground`."""
    return min(max(ground, floor - GROUND_TOLERANCE_RATIO * size), floor + GROUND_TOLERANCE_RATIO * size)


def _rise_to_level(level: float, seen: FootObservation, size: float) -> float:
    """Metres by which a foot is raised, or lowered a little, to stand at a level."""
    return max(level - seen.lowest, -LANDING_HEIGHT_RATIO * size)


def _residual_offset(foot: FootState, age: float) -> GroundPoint:
    """What is left of the difference at the switch."""
    u = age / foot.lasts
    if u >= 1.0:
        return (0.0, 0.0)
    a = 1.0 - u * u * u * (10.0 - u * (15.0 - 6.0 * u))
    b = foot.lasts * u * (1.0 - u * u * (6.0 - u * (8.0 - 3.0 * u)))
    return (a * foot.offset[0] + b * foot.drift[0], a * foot.offset[1] + b * foot.drift[1])


def _speed(foot: FootState, seen: FootObservation, dt: float) -> float:
    """Of the pose's foot over the ground."""
    return hypot(seen.place[0] - foot.place[0], seen.place[1] - foot.place[1]) / dt


def _vertical(foot: FootState, seen: FootObservation, floor: float, size: float, dt: float) -> tuple[FootState, float]:
    """The state with its heights a frame on, and metres by which the foot is raised."""
    level, level_rate = _spring_step(foot.level, foot.level_rate, seen.height, LEVEL_TIME_CONSTANT_SECONDS, dt)
    ground, ground_rate = _spring_step(foot.ground, foot.ground_rate, seen.ground, LEVEL_TIME_CONSTANT_SECONDS, dt)
    lifts, stands = foot.mode == FOOT_UP and not foot.landing, foot.mode == FOOT_DOWN
    lift, lift_rate = _spring_step(
        foot.lift, foot.lift_rate, foot.peak if lifts else 0.0, LIFT_TIME_CONSTANT_SECONDS, dt
    )
    weight, weight_rate = _spring_step(
        foot.weight, foot.weight_rate, 1.0 if stands and seen.may_stand else 0.0, WEIGHT_TIME_CONSTANT_SECONDS, dt
    )
    swings = (
        foot.mode == FOOT_FREE
        and seen.may_stand
        and seen.slides < SLIDE_PROBABILITY
        and _speed(foot, seen, dt) > LANDING_SPEED_HEIGHTS_PER_S * size
    )
    swing, swing_rate = _spring_step(
        foot.swing, foot.swing_rate, 1.0 if swings else 0.0, WEIGHT_TIME_CONSTANT_SECONDS, dt
    )
    falls = abs(seen.lowest - foot.lowest)  # within a frame: what comes fast is stopped over a longer way
    out = 0.0
    if seen.may_stand or foot.mode != FOOT_FREE:
        out = _soft_positive(
            min(floor, level) - seen.lowest, FLOOR_SOFTNESS_RATIO * size + min(2.0 * falls, LANDING_HEIGHT_RATIO * size)
        )
    stood = _clamp_ground(ground, floor, size) if stands else foot.stood
    base = out + weight * (_rise_to_level(stood, seen, size) - out)
    clear = min(level, floor + MAX_LIFT_RATIO * size) - seen.lowest - base - lift
    rise = base + lift + swing * _soft_positive(clear, FLOOR_SOFTNESS_RATIO * size)
    return foot._replace(
        level=level,
        level_rate=level_rate,
        ground=ground,
        ground_rate=ground_rate,
        lift=lift,
        lift_rate=lift_rate,
        weight=weight,
        weight_rate=weight_rate,
        swing=swing,
        swing_rate=swing_rate,
        stood=stood,
    ), rise


def _spring_step(value: float, rate: float, goal: float, tau: float, dt: float) -> tuple[float, float]:
    """A value and its rate a frame on, on their way to a goal: critically damped, exact over the frame."""
    if value == goal and rate == 0.0:
        return value, rate
    away, keep = value - goal, exp(-dt / tau)
    pull = rate + away / tau
    away, rate = keep * (away + pull * dt), keep * (rate - pull * dt / tau)
    return (goal, 0.0) if abs(away) < SPRING_EPSILON and abs(rate) < SPRING_EPSILON else (goal + away, rate)


def _soft_positive(x: float, width: float) -> float:
    """max(x, 0), rounded; 0 up to -width."""
    if x <= -width:
        return 0.0
    return x if x >= width else (x + width) ** 2 / (4.0 * width)


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
    """The state as it goes on from this frame."""
    speed = _speed(foot, seen, dt)
    velocity = ((shown[0] - foot.shown[0]) / dt, (shown[1] - foot.shown[1]) / dt)
    error = hypot(shown[0] - seen.place[0], shown[1] - seen.place[1])
    if foot.mode == FOOT_DOWN:
        if seen.stands < STAND_PROBABILITY_OFF:
            return _release_foot(
                foot,
                seen,
                shown,
                velocity,
                FOOT_FREE,
                _release_seconds(foot, seen, error, velocity, size, dt),
                time,
                dt,
            )
        far = error > MAX_ERROR_RATIO * size or (
            error > RESTING_ERROR_RATIO * size and foot.rest > RESTING_ERROR_SECONDS
        )
        if foot.strain > MAX_STRAIN_RATIO * size or error > FORCED_STEP_ERROR_RATIO * size or (far and may_lift):
            lasts = min(MIN_STEP_SECONDS + 0.5 * error / size, MAX_STEP_SECONDS)
            return _lift_foot(foot, seen, shown, velocity, error, lasts, size, time, dt)
        return foot
    if foot.mode == FOOT_UP:
        age = time - foot.since
        if seen.stands < STAND_PROBABILITY_OFF and age > MIN_MODE_SECONDS:
            return _release_foot(
                foot,
                seen,
                shown,
                velocity,
                FOOT_FREE,
                _release_seconds(foot, seen, error, velocity, size, dt),
                time,
                dt,
            )
        if not foot.landing:
            near = age >= foot.lasts - LANDING_SECONDS and speed < LANDING_SPEED_HEIGHTS_PER_S * size
            return foot._replace(landing=near or age >= MAX_HOVER_SECONDS)
        if foot.lift > TOUCHDOWN_LIFT_RATIO * foot.peak:  # on its way down, unless the pose moves on
            return foot._replace(landing=speed < MOVING_SPEED_HEIGHTS_PER_S * size or age >= MAX_HOVER_SECONDS)
        if not seen.may_stand:
            return _release_foot(foot, seen, shown, velocity, FOOT_FREE, RELEASE_SECONDS, time, dt)
        return _plant_foot(foot, shown, velocity, time)
    if (
        time - foot.since > MIN_MODE_SECONDS
        and seen.may_stand
        and seen.stands > STAND_PROBABILITY_ON
        and foot.height < _clamp_ground(foot.ground, floor, size) + LANDING_HEIGHT_RATIO * size
    ):
        if speed > MOVING_SPEED_HEIGHTS_PER_S * size and may_lift:
            return _lift_foot(foot, seen, shown, velocity, 0.3 * speed, MIN_STEP_SECONDS, size, time, dt)
        return _plant_foot(foot, shown, velocity, time)
    return foot


def _release_seconds(
    foot: FootState, seen: FootObservation, error: float, velocity: GroundPoint, size: float, dt: float
) -> float:
    """Seconds in which a foot is let go: the longer the further it has to go, and the faster the pose's own goes."""
    away = hypot(velocity[0] - (seen.place[0] - foot.place[0]) / dt, velocity[1] - (seen.place[1] - foot.place[1]) / dt)
    return min(RELEASE_SECONDS + (error + RELEASE_SECONDS_PER_SPEED * away) / size, MAX_RELEASE_SECONDS)


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
    """From here on to where the pose has it."""
    own = ((seen.place[0] - foot.place[0]) / dt, (seen.place[1] - foot.place[1]) / dt)
    return foot._replace(
        mode=mode,
        since=time,
        lasts=lasts,
        offset=(shown[0] - seen.place[0], shown[1] - seen.place[1]),
        drift=(velocity[0] - own[0], velocity[1] - own[1]),
        landing=False,
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
    """The same, off the ground."""
    peak = min(MIN_LIFT_RATIO * size + LIFT_PER_DISTANCE * way, MAX_LIFT_RATIO * size)
    lifted = _release_foot(foot, seen, shown, velocity, FOOT_UP, lasts, time, dt)
    return lifted._replace(peak=peak)


def _plant_foot(foot: FootState, shown: GroundPoint, velocity: GroundPoint, time: float) -> FootState:
    """From here on to a stop."""
    way = (0.5 * BRAKE_SECONDS * velocity[0], 0.5 * BRAKE_SECONDS * velocity[1])
    anchor = (shown[0] + way[0], shown[1] + way[1])
    back = (-way[0], -way[1])
    return foot._replace(
        mode=FOOT_DOWN, since=time, lasts=BRAKE_SECONDS, offset=back, drift=velocity, anchor=anchor, landing=False
    )
