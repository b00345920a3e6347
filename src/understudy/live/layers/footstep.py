"""Footsteps: a foot stands, steps, or goes as the performance has it; whichever, without a jump.

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

from math import exp, hypot
from typing import NamedTuple

from understudy.live.layers.contacts import UNEVEN

FREE, DOWN, UP = 0, 1, 2

STANDS, LEAVES = 0.6, 0.35  # how sure the clips must be that a foot stands, and still stands
SLIDES = 0.2  # the same for a foot that slides: a foot that does neither is in the air
# Of the height, over the ground:
LOW = 0.03  # what is lower than this above its floor can come to stand
TOO_FAR = 0.06  # from where the pose has it
FAR_OFF = 0.15  # the same, even while the other foot is in the air
LITTLE = 0.02  # the same, once the pose has come to rest
STRAINED = 0.01  # that the leg does not reach
# Heights a second:
FAST, SLOW, RESTING = 0.4, 0.15, 0.05
# Seconds:
BRAKES, LEAVING, FALLS = 0.12, 0.25, 0.12
DWELLS = 0.1  # for so long it stays free, or up, whatever the clips say
CATCHES, SLOWEST = 0.1, 0.8  # a foot is let go over so much longer for each height a second, and at most
RESTS = 0.25  # for so long before a small error is stepped away
SHORTEST, LONGEST, HOVERS = 0.28, 0.45, 0.8  # a step; a foot that is kept up because it still moves
# Time constants with which a foot is lifted, comes to stand on the floor, and follows the height of the clips:
LIFTS, WEIGHS, SETTLES = 0.03, 0.04, 0.05
DOWN_AT = 0.05  # of its lift at which a foot is down again
NOTHING = 1e-9
# Of the height: a step is lifted by the first, and by the second of its way, at most the third
LIFT, OF_WAY, HIGHEST = 0.03, 0.2, 0.06
SOFT = 0.006  # of the height, in which the floor stops a foot

Flat = tuple[float, float]
"""x and z."""


class Seen(NamedTuple):
    """What a foot is told of a frame, metres."""

    place: Flat  # where the pose has it
    lowest: float  # how high its lowest point is there
    stands: float  # 0 to 1, whether it stands in the clips
    slides: float  # 0 to 1, whether it slides there, as in a walk on the spot
    height: float  # how high its lowest point is in the clips
    ground: float  # the same where it stands
    held: bool  # whether it may come to stand: a clip that is played has its own feet


class Foot(NamedTuple):
    """The state of a foot."""

    started: bool = False
    mode: int = FREE
    since: float = 0.0  # when it was switched
    lasts: float = LEAVING  # seconds until it is where it should be
    offset: Flat = (0.0, 0.0)  # x0
    drift: Flat = (0.0, 0.0)  # v0
    anchor: Flat = (0.0, 0.0)  # where it is held
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
    place: Flat = (0.0, 0.0)  # in the pose, a frame ago
    shown: Flat = (0.0, 0.0)
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
        return self.mode == UP or (self.mode == FREE and self.height > _ground(self.ground, floor, size) + LOW * size)


def step(
    foot: Foot, seen: Seen, floor: float, size: float, may_lift: bool, time: float, dt: float
) -> tuple[Foot, tuple[float, float, float]]:
    """The state a frame on, and by how much the foot is moved (x, y, z); `floor` is where it stands, metres."""
    if not foot.started:
        foot = _begun(seen, floor, size, time)
        return foot, (0.0, foot.weight * _settled(foot.stood, seen, size), 0.0)
    foot = foot._replace(rest=foot.rest + dt if _speed(foot, seen, dt) < RESTING * size else 0.0)
    age = time - foot.since
    goal = foot.anchor if foot.mode == DOWN else seen.place
    left = _left(foot, age)
    shown = (goal[0] + left[0], goal[1] + left[1])
    foot, rise = _vertical(foot, seen, floor, size, dt)
    moved = (shown[0] - seen.place[0], rise, shown[1] - seen.place[1])
    foot = foot._replace(height=seen.lowest + rise)
    foot = _switched(foot, seen, shown, floor, size, may_lift, time, dt)
    return foot._replace(place=seen.place, lowest=seen.lowest, shown=shown), moved


def _begun(seen: Seen, floor: float, size: float, time: float) -> Foot:
    stands = seen.held and seen.stands > STANDS and seen.lowest < _ground(seen.ground, floor, size) + LOW * size
    return Foot(
        started=True,
        mode=DOWN if stands else FREE,
        since=time - LEAVING,
        anchor=seen.place,
        level=seen.height,
        ground=seen.ground,
        stood=_ground(seen.ground, floor, size),
        weight=1.0 if stands else 0.0,
        place=seen.place,
        shown=seen.place,
        lowest=seen.lowest,
        height=seen.lowest,
    )


def _ground(ground: float, floor: float, size: float) -> float:
    """How high the ground is where the clips have a foot standing at `ground`."""
    return min(max(ground, floor - UNEVEN * size), floor + UNEVEN * size)


def _settled(level: float, seen: Seen, size: float) -> float:
    """Metres by which a foot is raised, or lowered a little, to stand at a level."""
    return max(level - seen.lowest, -LOW * size)


def _left(foot: Foot, age: float) -> Flat:
    """What is left of the difference at the switch."""
    u = age / foot.lasts
    if u >= 1.0:
        return (0.0, 0.0)
    a = 1.0 - u * u * u * (10.0 - u * (15.0 - 6.0 * u))
    b = foot.lasts * u * (1.0 - u * u * (6.0 - u * (8.0 - 3.0 * u)))
    return (a * foot.offset[0] + b * foot.drift[0], a * foot.offset[1] + b * foot.drift[1])


def _speed(foot: Foot, seen: Seen, dt: float) -> float:
    """Of the pose's foot over the ground."""
    return hypot(seen.place[0] - foot.place[0], seen.place[1] - foot.place[1]) / dt


def _vertical(foot: Foot, seen: Seen, floor: float, size: float, dt: float) -> tuple[Foot, float]:
    """The state with its heights a frame on, and metres by which the foot is raised."""
    level, level_rate = _sprung(foot.level, foot.level_rate, seen.height, SETTLES, dt)
    ground, ground_rate = _sprung(foot.ground, foot.ground_rate, seen.ground, SETTLES, dt)
    lifts, stands = foot.mode == UP and not foot.landing, foot.mode == DOWN
    lift, lift_rate = _sprung(foot.lift, foot.lift_rate, foot.peak if lifts else 0.0, LIFTS, dt)
    weight, weight_rate = _sprung(foot.weight, foot.weight_rate, 1.0 if stands and seen.held else 0.0, WEIGHS, dt)
    swings = foot.mode == FREE and seen.held and seen.slides < SLIDES and _speed(foot, seen, dt) > SLOW * size
    swing, swing_rate = _sprung(foot.swing, foot.swing_rate, 1.0 if swings else 0.0, WEIGHS, dt)
    falls = abs(seen.lowest - foot.lowest)  # within a frame: what comes fast is stopped over a longer way
    out = 0.0
    if seen.held or foot.mode != FREE:
        out = _soft(min(floor, level) - seen.lowest, SOFT * size + min(2.0 * falls, LOW * size))
    stood = _ground(ground, floor, size) if stands else foot.stood
    base = out + weight * (_settled(stood, seen, size) - out)
    clear = min(level, floor + HIGHEST * size) - seen.lowest - base - lift
    rise = base + lift + swing * _soft(clear, SOFT * size)
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


def _sprung(value: float, rate: float, goal: float, tau: float, dt: float) -> tuple[float, float]:
    """A value and its rate a frame on, on their way to a goal: critically damped, exact over the frame."""
    if value == goal and rate == 0.0:
        return value, rate
    away, keep = value - goal, exp(-dt / tau)
    pull = rate + away / tau
    away, rate = keep * (away + pull * dt), keep * (rate - pull * dt / tau)
    return (goal, 0.0) if abs(away) < NOTHING and abs(rate) < NOTHING else (goal + away, rate)


def _soft(x: float, width: float) -> float:
    """max(x, 0), rounded; 0 up to -width."""
    if x <= -width:
        return 0.0
    return x if x >= width else (x + width) ** 2 / (4.0 * width)


def _switched(
    foot: Foot, seen: Seen, shown: Flat, floor: float, size: float, may_lift: bool, time: float, dt: float
) -> Foot:
    """The state as it goes on from this frame."""
    speed = _speed(foot, seen, dt)
    velocity = ((shown[0] - foot.shown[0]) / dt, (shown[1] - foot.shown[1]) / dt)
    error = hypot(shown[0] - seen.place[0], shown[1] - seen.place[1])
    if foot.mode == DOWN:
        if seen.stands < LEAVES:
            return _follows(
                foot, seen, shown, velocity, FREE, _leaving(foot, seen, error, velocity, size, dt), time, dt
            )
        far = error > TOO_FAR * size or (error > LITTLE * size and foot.rest > RESTS)
        if foot.strain > STRAINED * size or error > FAR_OFF * size or (far and may_lift):
            lasts = min(SHORTEST + 0.5 * error / size, LONGEST)
            return _lifted(foot, seen, shown, velocity, error, lasts, size, time, dt)
        return foot
    if foot.mode == UP:
        age = time - foot.since
        if seen.stands < LEAVES and age > DWELLS:
            return _follows(
                foot, seen, shown, velocity, FREE, _leaving(foot, seen, error, velocity, size, dt), time, dt
            )
        if not foot.landing:
            near = age >= foot.lasts - FALLS and speed < SLOW * size
            return foot._replace(landing=near or age >= HOVERS)
        if foot.lift > DOWN_AT * foot.peak:  # on its way down, unless the pose moves on
            return foot._replace(landing=speed < FAST * size or age >= HOVERS)
        if not seen.held:
            return _follows(foot, seen, shown, velocity, FREE, LEAVING, time, dt)
        return _held(foot, shown, velocity, time)
    if (
        time - foot.since > DWELLS
        and seen.held
        and seen.stands > STANDS
        and foot.height < _ground(foot.ground, floor, size) + LOW * size
    ):
        if speed > FAST * size and may_lift:
            return _lifted(foot, seen, shown, velocity, 0.3 * speed, SHORTEST, size, time, dt)
        return _held(foot, shown, velocity, time)
    return foot


def _leaving(foot: Foot, seen: Seen, error: float, velocity: Flat, size: float, dt: float) -> float:
    """Seconds in which a foot is let go: the longer the further it has to go, and the faster the pose's own goes."""
    away = hypot(velocity[0] - (seen.place[0] - foot.place[0]) / dt, velocity[1] - (seen.place[1] - foot.place[1]) / dt)
    return min(LEAVING + (error + CATCHES * away) / size, SLOWEST)


def _follows(
    foot: Foot, seen: Seen, shown: Flat, velocity: Flat, mode: int, lasts: float, time: float, dt: float
) -> Foot:
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


def _lifted(
    foot: Foot, seen: Seen, shown: Flat, velocity: Flat, way: float, lasts: float, size: float, time: float, dt: float
) -> Foot:
    """The same, off the ground."""
    peak = min(LIFT * size + OF_WAY * way, HIGHEST * size)
    lifted = _follows(foot, seen, shown, velocity, UP, lasts, time, dt)
    return lifted._replace(peak=peak)


def _held(foot: Foot, shown: Flat, velocity: Flat, time: float) -> Foot:
    """From here on to a stop."""
    way = (0.5 * BRAKES * velocity[0], 0.5 * BRAKES * velocity[1])
    anchor = (shown[0] + way[0], shown[1] + way[1])
    back = (-way[0], -way[1])
    return foot._replace(mode=DOWN, since=time, lasts=BRAKES, offset=back, drift=velocity, anchor=anchor, landing=False)
