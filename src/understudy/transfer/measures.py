"""Measures of a motion: slide, penetration, forces, momenta, smoothness, jumps [Yamane 2010, figures 8 and 9].

Lengths are over the height of the figure, so that a slide of 1 cm/s is that of a character of one metre.

What a solver imposes is no evidence: slide and depth are measured on the whole skin, whatever contact points were
pinned, and directions of limbs, jerk, jumps and missing forces on the poses alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from understudy.character import Character
from understudy.character.body.contacts import ContactPhases, runs
from understudy.character.body.mass import Body, body_height
from understudy.character.body.poses import PoseSequence
from understudy.character.body.volume import rest_vertices, skin_positions, vertex_owners
from understudy.checks import Array
from understudy.maths import transform
from understudy.transfer.physics.momentum import (
    GRAVITY_M_S2,
    MassMotion,
    actor_motion,
    cloud_speeds,
    mass_motion,
    unit_speeds,
)
from understudy.transfer.source import SourceMotion

MIN_JUMP_SECONDS = 0.1  # in the air; shorter flights are not counted
# Of the height: skin that is lower touches the floor; a figure without skin below the second is in the air.
TOUCH_HEIGHT_RATIO, AIR_HEIGHT_RATIO = 0.012, 0.015
SLIDE_PERCENTILE = 10  # of the speeds of all skin that touches the floor: a whole foot has to move to count
MIN_TOUCHING_VERTICES = 4
SKIN_BLOCK_FRAMES = 64  # posed at once
LIMB_SEGMENTS = (("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"), ("UpperArm", "LowerArm"), ("LowerArm", "Hand"))
FRICTION_COEFFICIENT = 0.8  # of the floor, as in `spacetime`


def measure_motion(
    poses: PoseSequence,
    body: Body,
    phases: ContactPhases,
    source: SourceMotion | None = None,
    source_body: Body | None = None,
    *,
    gravity: float | None = None,
) -> dict[str, Any]:
    """The measures of a motion; more of them where the source is given.

    `gravity` in m/s^2; None scales it with the size of the figure over the source, so that
    the source's jumps, scaled to this figure, are ballistic.
    """
    world, rate = poses.world, poses.rate
    height = body_height(body, poses)
    motion = mass_motion(world, body, rate)
    positions = body.contact_positions(world)
    size = None if source is None else size_ratio(poses, body, source, source_body)
    if gravity is None:
        gravity = GRAVITY_M_S2 * (1.0 if size is None else size)
    sliding = 100 * slide_speeds(positions, phases, rate) / height
    result: dict[str, Any] = {
        "height_m": height,
        "gravity_m_s2": gravity,
        "slide_cm_s": _mean(sliding),
        "slide_p95_cm_s": float(np.percentile(sliding, 95)) if sliding.size else 0.0,
        "slide_max_cm_s": float(sliding.max(initial=0.0)),
        "penetration_percent": 100 * penetration(positions) / height,
        "floating_percent": 100 * float(np.abs(positions[..., 1][phases.down]).max(initial=0.0)) / height,
        "jerk_per_s3": jerk(world, body, rate) / height,
        **missing_wrenches(motion, positions, np.asarray(phases.down), gravity, height),
        "jumps": jumps(motion, phases, None if source is None else actor_motion(source, source_body), size),
    }
    if source is not None and size is not None:
        result["size_ratio"] = size
        result |= momentum_tracking(motion, actor_motion(source, source_body), size)
    return result


def measure_skin(character: Character, poses: PoseSequence, without: Array | None = None) -> dict[str, Any]:
    """Slide, depth and height of the whole skin over the floor.

    Args:
        character: The character with its skin.
        poses: Its motion.
        without: (J,) bool, joints whose skin is left out (props, tails on springs); None leaves out none.

    Returns:
        `slide_cm_s` and `slide_p95_cm_s` for a figure of one metre, over the steps in which skin touches the floor;
        `depth_percent` and `depth_mean_percent` of the height below the floor; `lowest` (F,) the height of the lowest
        skin over the height of the figure.
    """
    owners = vertex_owners(character)
    kept = np.ones(len(owners), bool) if without is None else ~np.asarray(without, bool)[owners]
    height = float(np.ptp(rest_vertices(character)[kept, 1])) or 1.0
    lowest, speeds, last = np.empty(len(poses)), [], None
    for a in range(0, len(poses), SKIN_BLOCK_FRAMES):
        skin = skin_positions(character, poses.world[a : a + SKIN_BLOCK_FRAMES])[:, kept]
        lowest[a : a + len(skin)] = skin[..., 1].min(axis=1) / height
        path = skin if last is None else np.concatenate([last[None], skin])
        near = path[..., 1] < TOUCH_HEIGHT_RATIO * height
        for f in range(len(path) - 1):
            touching = near[f] & near[f + 1]
            if np.count_nonzero(touching) >= MIN_TOUCHING_VERTICES:
                steps = np.linalg.norm((path[f + 1] - path[f])[touching][:, [0, 2]], axis=1)
                speeds.append(float(np.percentile(steps, SLIDE_PERCENTILE)) * poses.rate)
        last = skin[-1]
    sliding = 100 * np.array(speeds) / height
    depth = 100 * np.maximum(-lowest, 0.0)
    return {
        "slide_cm_s": _mean(sliding),
        "slide_p95_cm_s": float(np.percentile(sliding, 95)) if sliding.size else 0.0,
        "depth_percent": float(depth.max(initial=0.0)),
        "depth_mean_percent": _mean(depth),
        "lowest": lowest,
    }


def limb_errors(
    poses: PoseSequence, bones: Mapping[str, int], source: PoseSequence, source_bones: Mapping[str, int]
) -> dict[str, float]:
    """Mean angle in degrees between bones of legs and arms and those of the source; joints by Unity's bone names."""
    result = {}
    for limb in ("Leg", "Arm"):
        angles = []
        for a, b in LIMB_SEGMENTS:
            for side in ("Left", "Right"):
                ends = (side + a, side + b)
                if limb in a and all(bone in table for bone in ends for table in (bones, source_bones)):
                    angles.append(_angles(_bone(poses, bones, ends), _bone(source, source_bones, ends)))
        result[f"{limb.lower()}s_degrees"] = float(np.mean(angles)) if angles else float("nan")
    return result


def _bone(poses: PoseSequence, bones: Mapping[str, int], ends: tuple[str, str]) -> Array:
    """(F, 3) unit direction of a bone."""
    start, end = (poses.world[:, bones[name], :3, 3] for name in ends)
    return np.asarray((end - start) / np.maximum(np.linalg.norm(end - start, axis=1, keepdims=True), 1e-12))


def _angles(a: Array, b: Array) -> Array:
    return np.asarray(np.degrees(np.arccos(np.clip((a * b).sum(axis=1), -1.0, 1.0))))


def foot_gaps(poses: PoseSequence, bones: Mapping[str, int]) -> float:
    """Largest change of the distance from knee to ankle, over that distance at rest: a foot that leaves its leg."""
    rest, worst = PoseSequence.rest(poses.skeleton), 0.0
    for side in ("Left", "Right"):
        ends = [bones.get(side + name) for name in ("LowerLeg", "Foot")]
        if None not in ends:
            far, usual = (
                np.linalg.norm(p.world[:, ends[0], :3, 3] - p.world[:, ends[1], :3, 3], axis=1) for p in (poses, rest)
            )
            worst = max(worst, float(np.abs(far / max(float(usual[0]), 1e-12) - 1).max(initial=0.0)))
    return worst


def flight_seconds(lowest: Array, wanted: Array, rate: float) -> dict[str, float]:
    """Seconds in the air by the skin although the source is not, and the other way round.

    `lowest` (F,) as of `measure_skin`, `wanted` (F,) bool, where the source's centre of mass falls freely.
    """
    air = np.asarray(lowest) > AIR_HEIGHT_RATIO
    return {
        "false_flight_s": float(np.count_nonzero(air & ~wanted) / rate),
        "missed_flight_s": float(np.count_nonzero(~air & wanted) / rate),
        "flights_made": float(sum(b - a >= MIN_JUMP_SECONDS * rate for a, b in runs(air))),
        "flights_wanted": float(sum(b - a >= MIN_JUMP_SECONDS * rate for a, b in runs(np.asarray(wanted)))),
    }


def jump_ratios(motion: MassMotion, actor: MassMotion, flight: Array, size: float) -> list[float]:
    """For each flight (F,) bool of the actor: how far the centre of mass rises, over the actor's rise times `size`."""
    result = []
    for a, b in runs(np.asarray(flight)):
        if a > 0 and b < len(flight) and b - a >= MIN_JUMP_SECONDS * motion.rate:
            span = slice(a - 1, b + 1)
            result.append(_rise(motion.centres[span, 1]) / max(size * _rise(actor.centres[span, 1]), 1e-9))
    return result


def missing_wrenches(motion: MassMotion, points: Array, down: Array, gravity: float, height: float) -> dict[str, float]:
    """Root mean square of the force, over weight, and moment, over weight and height, that the floor cannot give.

    The wrench that a motion needs is compared with the nearest one in the cone of the friction pyramids of the points
    (F, K, 3) that are down (F, K). `force_in_air` is that of the frames in which nothing is down.
    """
    from scipy.optimize import nnls

    force, moment = motion.required_forces(gravity)
    weight = motion.mass * gravity
    needed = np.concatenate([force / weight, moment / (weight * height)], axis=1)
    missing = needed.copy()
    sides = np.array(
        [
            [FRICTION_COEFFICIENT, 1, 0],
            [-FRICTION_COEFFICIENT, 1, 0],
            [0, 1, FRICTION_COEFFICIENT],
            [0, 1, -FRICTION_COEFFICIENT],
        ]
    )
    for f in np.flatnonzero(down.any(axis=1)):
        arms = np.repeat((points[f, down[f]] - motion.centres[f]) / height, 4, axis=0)
        edges = np.tile(sides, (len(arms) // 4, 1))
        cone = np.concatenate([edges, np.cross(arms, edges)], axis=1).T
        missing[f] -= cone @ nnls(cone, needed[f])[0]
    inner, air = missing[1:-1], ~np.asarray(down.any(axis=1))[1:-1]
    return {
        "missing_force": _root_mean_square(inner[:, :3]),
        "missing_moment": _root_mean_square(inner[:, 3:]),
        "force_in_air": _root_mean_square(inner[air, :3]),
    }


def slide_speeds(positions: Array, phases: ContactPhases, rate: float) -> Array:
    """(n,) metres a second along the floor, of every step with a contact point (F, K, 3) down at both ends.

    What glides counts only where it is planted.
    """
    speed = np.linalg.norm(np.diff(positions[..., [0, 2]], axis=0), axis=2) * rate
    down = phases.down if phases.gliding is None else phases.down & ~phases.gliding[:, None]
    return np.asarray(speed[down[1:] & down[:-1]])


def penetration(positions: Array) -> float:
    """Metres that the deepest contact point (F, K, 3) is below the floor."""
    return float(max(0.0, -positions[..., 1].min(initial=0.0)))


def jerk(world: Array, body: Body, rate: float) -> float:
    """Root mean square of the third derivative of the links' centres, by mass, m/s^3."""
    heavy = np.flatnonzero(body.masses > 0)
    centres = transform.apply(world[:, heavy], body.centres[heavy])
    if len(centres) < 4:
        return 0.0
    third = np.square(np.diff(centres, 3, axis=0) * rate**3).sum(axis=2).mean(axis=0)
    return float(np.sqrt((third * body.masses[heavy]).sum() / body.mass))


def size_ratio(poses: PoseSequence, body: Body, source: SourceMotion, source_body: Body | None) -> float:
    """Size of the figure over that of the source: s_d of `momentum`, summed over the axes."""
    speeds = unit_speeds(poses.world, poses.skeleton, body)
    if source_body is None or source.poses is None:
        source_speeds = cloud_speeds(source.points)
    else:
        source_speeds = unit_speeds(source.poses.world, source.poses.skeleton, source_body)
    return float(speeds.sum() / max(source_speeds.sum(), 1e-12))


def momentum_tracking(motion: MassMotion, actor: MassMotion, size: float) -> dict[str, float]:
    """How well the horizontal momentum follows the actor's, scaled (figure 8): correlation, and relative error."""
    wanted, actual = size * actor.velocities[:, [0, 2]], motion.velocities[:, [0, 2]]
    error = _root_mean_square(actual - wanted) / max(_root_mean_square(wanted), 1e-12)
    a, b = wanted - wanted.mean(axis=0), actual - actual.mean(axis=0)
    correlation = float((a * b).sum() / max(np.sqrt((a * a).sum() * (b * b).sum()), 1e-12))
    return {"momentum_correlation": correlation, "momentum_error": error}


def jumps(
    motion: MassMotion, phases: ContactPhases, actor: MassMotion | None, size: float | None
) -> list[dict[str, float]]:
    """Each flight: start, end, and how far the centre of mass rises above the line from take-off to landing.

    With the actor's motion also the rise of the actor's centre of mass, scaled by the ratio of sizes.
    """
    result = []
    for a, b in runs(~np.asarray(phases.down.any(axis=1))):
        if a == 0 or b == len(phases) or b - a < MIN_JUMP_SECONDS * motion.rate:
            continue
        jump = {
            "start_s": a / motion.rate,
            "end_s": b / motion.rate,
            "height_m": _rise(motion.centres[a - 1 : b + 1, 1]),
        }
        if actor is not None and size is not None:
            jump["wanted_m"] = size * _rise(actor.centres[a - 1 : b + 1, 1])
        result.append(jump)
    return result


def _rise(heights: Array) -> float:
    """The greatest height (n,) above the line from the first to the last."""
    return float((heights - np.linspace(heights[0], heights[-1], len(heights))).max())


def _mean(values: Array) -> float:
    return float(values.mean()) if values.size else 0.0


def _root_mean_square(rows: Array) -> float:
    """Of the lengths of rows (n, d)."""
    return float(np.sqrt(np.square(rows).sum(axis=1).mean())) if len(rows) else 0.0
