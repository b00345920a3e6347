"""Contact schedule of a source motion: what stands when, when the whole body falls, and what its centre of mass does.

Contacts are found by height and speed (`character.body.contacts`). What that misses or invents is settled by the centre
of mass c of the source, because gravity cannot be missed:

    flight     nothing is down, no foot is at the floor, and c falls, at more than half of g in the middle of the gap.
               At its ends the floor still pushes where c does not fall: what was down stays down there
    footstep   nothing is down, and c does not fall: the foot that is lowest and slowest was missed, and is put down
    unknown    nothing is down, c does not fall and no foot is low: something else carries the body (a roll, a chair),
               and no force can be told

Hands and knees are in contact where they come down to the floor that the feet stand on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character.body.contacts import ContactPhases, find_contact_phases, hysteresis, runs
from understudy.character.body.mass import Body
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths.resample import gaussian_smooth
from understudy.transfer.physics.momentum import GRAVITY_M_S2, mass_motion

MIN_FLIGHT_SECONDS = 0.08
MIN_CLEARANCE_RATIO = 0.015  # of the height: both feet rise by more in a flight; dancers shuffle below it
MIN_FALL_G = 0.5  # of g: acceleration of the centre of mass downwards in the middle of a flight
MAX_FALL_G = 1.2  # of g: no flight falls faster, but for errors of the capture
PUSH_FALL_G = 0.6  # of g: at the ends of a flight the floor still pushes below this
# Of the height above a point's own floor: at the ends of a flight, and of a footstep that was missed.
MAX_PUSH_HEIGHT_RATIO, MAX_MISSED_HEIGHT_RATIO = 0.05, 0.1
MISSED_HEIGHT_RATIO, MISSED_SPEED_RATIO = 0.03, 0.3  # heights, heights a second: equally bad signs of a footstep
SMOOTHING_SECONDS = 0.02  # of what is differentiated
MISSED_SMOOTHING_SECONDS = 0.05
# Hands and knees: heights over the height of the body above the feet's floor, and heights a second.
MAX_HAND_FLOOR_RATIO = 0.06  # a hand or knee that never comes lower does not touch the floor
HAND_HEIGHT_RATIO_ON, HAND_HEIGHT_RATIO_OFF = 0.02, 0.04  # above its own lowest
HAND_SPEED_ON, HAND_SPEED_OFF = 0.25, 0.5


@dataclass(frozen=True, eq=False)
class CentreMotion:
    """The centre of mass over F frames, smoothed."""

    centres: Array  # (F, 3) metres
    velocities: Array  # (F, 3) m/s
    accelerations: Array  # (F, 3) m/s^2
    spins: Array  # (F, 3) m^2/s, angular momentum about it, a kilogram


@dataclass(frozen=True, eq=False)
class ContactSchedule:
    """When the contact points of a source are down, and when it is in flight."""

    phases: ContactPhases
    flight: Array  # (F,) bool
    known: Array  # (F,) bool: forces can be told
    falls: Array  # (F,) m/s^2: gravity, and in a flight the mean acceleration with which the centre of mass falls
    motion: CentreMotion


def centre_motion(poses: PoseSequence, body: Body) -> CentreMotion:
    """The motion of the centre of mass of a body."""
    motion, rate = mass_motion(poses.world, body, poses.rate), poses.rate
    centres = gaussian_smooth(motion.centres, SMOOTHING_SECONDS * rate)
    accelerations = np.zeros_like(centres)
    if len(centres) > 2:
        accelerations[1:-1] = np.diff(centres, 2, axis=0) * rate**2
        accelerations[[0, -1]] = accelerations[[1, -2]]
    velocities = np.gradient(centres, 1 / rate, axis=0) if len(centres) > 1 else np.zeros_like(centres)
    spins = gaussian_smooth(motion.spins / body.mass, SMOOTHING_SECONDS * rate)
    return CentreMotion(centres, velocities, accelerations, spins)


def find_schedule(
    points: Array,
    names: tuple[str, ...],
    is_foot: Array,
    motion: CentreMotion,
    rate: float,
    height: float,
    gravity: float = GRAVITY_M_S2,
) -> ContactSchedule:
    """The schedule of a source motion.

    Args:
        points: (F, K, 3) the points that may be in contact, metres.
        names: Their names.
        is_foot: (K,) bool; others are hands and knees.
        motion: The motion of the centre of mass.
        rate: Frames a second.
        height: Height of the body, metres.
        gravity: m/s^2 in the world of the source.

    Returns:
        The schedule.
    """
    is_foot = np.asarray(is_foot, bool)
    down = np.zeros(points.shape[:2], bool)
    if len(points) > 1:
        down[:, is_foot] = find_contact_phases(points[:, is_foot], rate, height).down
        down[:, ~is_foot] = _hands_down(points, is_foot, rate, height)
    floors = np.percentile(points[..., 1], 5, axis=0)
    flight, known = np.zeros(len(points), bool), np.ones(len(points), bool)
    costs = _missed_costs(points, floors, is_foot, rate, height)
    above, falls = points[..., 1] - floors, -motion.accelerations[:, 1] / gravity
    for a, b in runs(np.asarray(~down.any(axis=1))):
        quarter = (b - a) // 4
        middle = falls[a + quarter : max(b - quarter, a + 1)]
        clear = above[a:b, is_foot].min(axis=1, initial=np.inf).max() > MIN_CLEARANCE_RATIO * height
        if clear and b - a >= MIN_FLIGHT_SECONDS * rate and np.median(middle) > MIN_FALL_G:
            low = above < MAX_PUSH_HEIGHT_RATIO * height
            while 0 < a < b and falls[a] < PUSH_FALL_G:
                down[a] |= down[a - 1] & low[a]
                a += 1
            while a < b < len(falls) and falls[b - 1] < PUSH_FALL_G:
                down[b - 1] |= down[b] & low[b - 1]
                b -= 1
            flight[a:b] = True
            continue
        for f, k in zip(range(a, b), costs[a:b].argmin(axis=1)):
            if is_foot[k] and above[f, k] < MAX_MISSED_HEIGHT_RATIO * height:
                down[f, k] = True
            else:
                known[f] = False
    return ContactSchedule(
        ContactPhases(names, down), flight, known, fall_accelerations(motion, flight, rate, gravity), motion
    )


def fall_accelerations(motion: CentreMotion, flight: Array, rate: float, gravity: float) -> Array:
    """(F,) m/s^2: gravity, and in each flight the acceleration of the parabola nearest to the centre of mass.

    A capture's centre of mass is known to a few hundredths of the height, so that its flights are not quite as long as
    gravity makes them. With the source's own parabola jumps are as high as the source's.
    """
    falls = np.full(len(flight), gravity)
    for a, b in runs(flight):
        speeds, times = motion.velocities[a:b, 1], np.arange(b - a) / rate
        if b - a > 2:
            slope = -float(np.polyfit(times, speeds, 1)[0])
            falls[a:b] = np.clip(slope, MIN_FALL_G * gravity, MAX_FALL_G * gravity)
    return falls


def _hands_down(points: Array, is_foot: Array, rate: float, height: float) -> Array:
    """(F, H) bool of the points that are no feet."""
    hands = points[:, ~is_foot]
    if is_foot.all() or not is_foot.any():
        return np.zeros(hands.shape[:2], bool)
    floor = float(np.percentile(points[:, is_foot, 1].min(axis=1), 5))
    lowest = np.percentile(hands[..., 1], 1, axis=0)
    touches = lowest - floor < MAX_HAND_FLOOR_RATIO * height
    above = (hands[..., 1] - np.maximum(lowest, floor)) / height
    smooth = gaussian_smooth(hands.reshape(len(hands), -1), SMOOTHING_SECONDS * rate).reshape(hands.shape)
    speed = np.linalg.norm(np.gradient(smooth, 1 / rate, axis=0), axis=2) / height
    lands = (above < HAND_HEIGHT_RATIO_ON) & (speed < HAND_SPEED_ON) & touches
    return hysteresis(lands, (above > HAND_HEIGHT_RATIO_OFF) | (speed > HAND_SPEED_OFF) | ~touches)


def _missed_costs(points: Array, floors: Array, is_foot: Array, rate: float, height: float) -> Array:
    """(F, K) how unlikely it is that a point stands: its height and its speed, smooth in time; infinite for hands."""
    if len(points) < 2:
        return np.zeros(points.shape[:2])
    speeds = np.linalg.norm(np.gradient(points, 1 / rate, axis=0), axis=2)
    costs = (points[..., 1] - floors) / (MISSED_HEIGHT_RATIO * height) + speeds / (MISSED_SPEED_RATIO * height)
    costs = gaussian_smooth(costs, MISSED_SMOOTHING_SECONDS * rate)
    return np.where(is_foot, costs, np.inf)
