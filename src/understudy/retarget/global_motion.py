"""The way over the floor: place and heading of a character whose momenta are the actor's, scaled [Yamane 2010, 5.1].

Static mapping gives poses over the origin. Let the local frame move with velocity v and turn with rate w about the
vertical. Momentum and spin of the character, P_c and L_c in the local frame, become

    P = P_c + m v + m w x p        L = L_c + I w + m p x v   (about the local origin; p the centre of mass)

(eqs. 6 and 7; print loses the mass, and the last term). With L about the centre of mass the two fall apart: w = (L^ -
L_c) / I about the vertical, and the centre of mass moves with P^ / m. Both are summed step by step. The spins of actor
and character differ in what their limbs do, and the difference adds up to a turn that nobody made: of the heading,
only what is quicker than `anchor` seconds comes from the momenta, the rest is the actor's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths import transform
from understudy.maths.smoothing import gaussian_smooth
from understudy.retarget.body import Body
from understudy.retarget.markers import Markers
from understudy.retarget.momentum import MassMotion, cloud_motion, mass_motion
from understudy.retarget.poses import Poses
from understudy.retarget.scaling import Scales, cloud_speeds, scales_of, unit_speeds
from understudy.retarget.source import Source

ANCHOR = 0.25  # seconds; with 1.0 a spin is a third further beside the actor, and his momentum is followed less well


@dataclass(frozen=True, eq=False)
class Travel:
    """What the way was computed from, for reports: the ratios, and both motions in the world."""

    frames: Array  # (F, 4, 4) world_from_local of the character
    scales: Scales
    actor: MassMotion


def travel(
    source: Source,
    source_body: Body | None,
    target: Poses,
    target_body: Body,
    markers: Markers | None = None,
    *,
    anchor: float | None = ANCHOR,
    size: float | None = None,
) -> Travel:
    """The way over the floor of poses over the origin. `anchor` None: heading from momenta alone, as in print.

    `size` is the ratio of sizes where the one found is not wanted. `source_body` None: all points weigh the same.
    """
    rate = source.rate
    actor = actor_motion(source, source_body)
    world = target.world
    if markers is not None:  # whatever place and heading the poses have already is taken off
        world = transform.invert_rigid(markers.frames(world))[:, None] @ world
    character = mass_motion(world, target_body, rate)
    speeds = _actor_speeds(source, source_body)
    own = in_local(actor, source.frames)
    scales = scales_of(own, character, speeds, unit_speeds(world, target.skeleton, target_body))
    if size is not None:
        scales = Scales(scales.mass, np.full(3, size), scales.inertia)
    heading = np.unwrap(np.arctan2(source.frames[:, 0, 2], source.frames[:, 2, 2]))
    turned = _heading(actor, character, heading, anchor)
    places = _centres(actor, heading, turned, scales.size, source.frames[0, :3, 3])
    frames = _yaw_frames(turned)
    level = np.array([1.0, 0.0, 1.0])
    frames[:, :3, 3] = (places - (frames[:, :3, :3] @ character.centres[..., None])[..., 0]) * level
    return Travel(frames, scales, actor)


def actor_motion(source: Source, body: Body | None) -> MassMotion:
    """The mass of a source in the world; bare markers weigh the same each."""
    if body is None or source.poses is None:
        return cloud_motion(source.points, source.rate)
    return mass_motion(source.poses.world, body, source.rate)


def in_local(motion: MassMotion, frames: Array) -> MassMotion:
    """Second moments in the axes of local frames (F, 4, 4); all else as it was."""
    axes = frames[:, :3, :3]
    second = np.swapaxes(axes, 1, 2) @ motion.second @ axes
    return MassMotion(motion.mass, motion.centres, second, motion.lagged, motion.rate)


def _actor_speeds(source: Source, body: Body | None) -> Array:
    local_from_world = transform.invert_rigid(source.frames)
    if body is None or source.poses is None:
        return cloud_speeds(source.local)
    return unit_speeds(local_from_world[:, None] @ source.poses.world, source.poses.skeleton, body)


def _heading(actor: MassMotion, character: MassMotion, heading: Array, anchor: float | None) -> Array:
    """(F,) radians: w = (L^ - L_c) / I_c summed, with L^ = (I_c / I_h) L_h."""
    turning = actor.step_spins[:, 1] / _upright(actor) - character.step_spins[:, 1] / _upright(character)
    turned = heading[0] + np.concatenate([[0.0], np.cumsum(turning / actor.rate)])
    if anchor is None or len(turned) < 2:
        return turned
    astray = gaussian_smooth((turned - heading)[:, None], anchor * actor.rate)[:, 0]
    return np.asarray(turned - astray)


def _upright(motion: MassMotion) -> Array:
    """(F - 1,) moment of inertia about the vertical through the centre of mass, between frames."""
    inertia = motion.second[:, 0, 0] + motion.second[:, 2, 2]
    return np.maximum(0.5 * (inertia[1:] + inertia[:-1]), 1e-12)


def _centres(actor: MassMotion, heading: Array, turned: Array, size: Array, start: Array) -> Array:
    """(F, 3) the centre of mass: the actor's steps, scaled along the local axes and turned with the character."""
    steps = np.diff(actor.centres, axis=0)
    local = _turned(steps, -0.5 * (heading[1:] + heading[:-1])) * size
    steps = _turned(local, 0.5 * (turned[1:] + turned[:-1]))
    level = np.sqrt(size[0] * size[2])
    first = start * level + _turned(_turned(actor.centres[:1] - start, -heading[:1]) * size, turned[:1])[0]
    return np.asarray(first + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)]))


def _turned(vectors: Array, angles: Array) -> Array:
    """(F, 3) vectors turned about +Y."""
    sine, cosine = np.sin(angles), np.cos(angles)
    x, y, z = vectors.T
    return np.stack([cosine * x + sine * z, y, cosine * z - sine * x], axis=1)


def _yaw_frames(angles: Array) -> Array:
    """(F, 4, 4) turns about +Y."""
    frames = np.zeros((len(angles), 4, 4))
    frames[:, 0, 0] = frames[:, 2, 2] = np.cos(angles)
    frames[:, 0, 2], frames[:, 2, 0] = np.sin(angles), -np.sin(angles)
    frames[:, 1, 1] = frames[:, 3, 3] = 1.0
    return frames
