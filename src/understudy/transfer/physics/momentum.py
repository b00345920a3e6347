"""Momenta of a body, their scale from actor to character, and the path over the floor that they give [Yamane 2010,
5.1].

Momenta and forces of a whole body come from positions alone, all frames at once. With the pseudo-inertia M_j = int X
X^T dm of each link and its world transform W_j(f), all that is needed of a body are

    m c(f)    = sum_j W_j(f) M_j e_4                                the centre of mass c
    S(f)      = sum_j W_j(f) M_j W_j(f)^T - m c c^T                 second moments about it, inertia I = trace(S) 1 - S
    U(f)      = sum_j W_j(f+1) M_j W_j(f)^T - m c(f+1) c(f)^T       the same between a frame and the next

since sum m u x u' is the axial vector of sum m u' u^T. Between two frames the momentum is m (c(f+1) - c(f)) / h and the
spin (the angular momentum about the centre) is axial(U(f)) / h, h the time step; at a frame they are the means of the
two steps, which is the central difference; their differences are the rates of change. These sums are exact: a body on
which only gravity acts keeps its spin, and falls with m g, to rounding.

Scale: how large, heavy and inert a character is beside the actor.

    mass     s_m = m_c / m_h
    inertia  s_i = I_c / I_h, the diagonal in the local frame, frame by frame
    size     s_d = v_c / v_h, v the mean speed of feature points along each axis when every joint that carries something
             turns at one radian a second, one at a time, about each axis

The actor's momenta become P^ = s_m s_d P,  L^ = s_i L. Departures: inertia and angular momentum are about the centre of
mass, not the local origin, so that a figure that walks straight with its centre to one side is not turned; the mean
speed is over the points that a joint moves, else a body of many fingers would count as small.

Root motion: position and heading of a character whose momenta are the actor's, scaled. The static mapping gives poses
over the origin. Let the local frame move with velocity v and turn with rate w about the vertical. Momentum and spin of
the character, P_c and L_c in the local frame, become

    P = P_c + m v + m w x p        L = L_c + I w + m p x v   (about the local origin; p the centre of mass)

(eqs. 6 and 7; print loses the mass, and the last term). With L about the centre of mass the two decouple: w = (L^ -
L_c) / I about the vertical, and the centre of mass moves with P^ / m. Both are summed step by step. The spins of actor
and character differ in what their limbs do, and the difference would add up to a spurious rotation: of the heading,
only changes quicker than `anchor` seconds come from the momenta, the rest is the actor's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Skeleton
from understudy.character.body.markers import Markers
from understudy.character.body.mass import Body
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths import transform, vector
from understudy.maths.resample import gaussian_smooth
from understudy.transfer.source import SourceMotion

GRAVITY_M_S2 = 9.81
SCALE_SAMPLE_FRAMES = 32  # of a motion, over which sizes are averaged; more change nothing
# With 1.0 a spin deviates from the actor's by a third more, and the actor's momentum is followed less well.
HEADING_ANCHOR_SECONDS = 0.25


@dataclass(frozen=True, eq=False)
class MassMotion:
    """Centre and moments of a body's mass over F frames."""

    mass: float  # kg
    centres: Array  # (F, 3) centre of mass, metres
    second: Array  # (F, 3, 3) second moments about the centre, kg m^2
    lagged: Array  # (F - 1, 3, 3) sum m u(f+1) u(f)^T, u from the centre
    rate: float

    def __len__(self) -> int:
        return len(self.centres)

    @property
    def inertias(self) -> Array:
        """(F, 3, 3) moments of inertia about the centre of mass, axes of the world."""
        return np.asarray(np.trace(self.second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - self.second)

    @property
    def velocities(self) -> Array:
        """(F, 3) of the centre of mass."""
        return interpolate_to_frames(np.diff(self.centres, axis=0) * self.rate, len(self))

    @property
    def linear(self) -> Array:
        """(F, 3) linear momentum P."""
        return self.mass * self.velocities

    @property
    def step_spins(self) -> Array:
        """(F - 1, 3) angular momentum about the centre of mass between a frame and the next."""
        return axial(self.lagged) * self.rate

    @property
    def spins(self) -> Array:
        """(F, 3) angular momentum about the centre of mass."""
        return interpolate_to_frames(self.step_spins, len(self))

    def angular(self, about: Array) -> Array:
        """(F, 3) angular momentum L about fixed points (F, 3): spin + (c - o) x P."""
        return self.spins + vector.cross(self.centres - about, self.linear)

    def required_forces(self, gravity: float = GRAVITY_M_S2) -> tuple[Array, Array]:
        """(F, 3) force, and moment about the centre of mass, that the motion needs from the floor.

        F = dP/dt - m g, N = d spin/dt; the first and the last frame have those of their neighbours.
        """
        forces = np.zeros((len(self), 3))
        moments = np.zeros((len(self), 3))
        if len(self) > 2:
            forces[1:-1] = self.mass * self.rate**2 * np.diff(self.centres, 2, axis=0)
            moments[1:-1] = self.rate * np.diff(self.step_spins, axis=0)
            forces[[0, -1]], moments[[0, -1]] = forces[[1, -2]], moments[[1, -2]]
        forces[:, 1] += self.mass * gravity
        return forces, moments


@dataclass(frozen=True, eq=False)
class BodyScale:
    """Ratios, character over actor. Axes are those of the local frame: x left, y up, z ahead."""

    mass: float
    size: Array  # (3,)
    inertia: Array  # (F, 3)

    def linear(self, momenta: Array) -> Array:
        """(F, 3) P^ of the actor's P, in the local frame."""
        return self.mass * self.size * momenta

    def angular(self, momenta: Array) -> Array:
        """(F, 3) L^ of the actor's L, in the local frame."""
        return self.inertia * momenta


@dataclass(frozen=True, eq=False)
class RootMotion:
    """The path of a character over the floor, and the ratios and the actor's motion that it was computed from."""

    frames: Array  # (F, 4, 4) world_from_local of the character
    scales: BodyScale
    actor: MassMotion


def integrate_root_motion(
    source: SourceMotion,
    source_body: Body | None,
    target: PoseSequence,
    target_body: Body,
    markers: Markers | None = None,
    *,
    anchor: float | None = HEADING_ANCHOR_SECONDS,
    size: float | None = None,
) -> RootMotion:
    """The path over the floor of poses over the origin. `anchor` None: heading from momenta alone, as in print.

    `size` replaces the ratio of sizes. `source_body` None: all points weigh the same.
    """
    rate = source.rate
    actor = actor_motion(source, source_body)
    world = target.world
    if markers is not None:  # position and heading of the poses are removed
        world = transform.invert_rigid(markers.frames(world))[:, None] @ world
    character = mass_motion(world, target_body, rate)
    speeds = _actor_speeds(source, source_body)
    local_actor = to_local_motion(actor, source.frames)
    scales = body_scale(local_actor, character, speeds, unit_speeds(world, target.skeleton, target_body))
    if size is not None:
        scales = BodyScale(scales.mass, np.full(3, size), scales.inertia)
    heading = np.unwrap(np.arctan2(source.frames[:, 0, 2], source.frames[:, 2, 2]))
    turned = _heading(actor, character, heading, anchor)
    places = _centres(actor, heading, turned, scales.size, source.frames[0, :3, 3])
    frames = _yaw_frames(turned)
    level = np.array([1.0, 0.0, 1.0])
    frames[:, :3, 3] = (places - (frames[:, :3, :3] @ character.centres[..., None])[..., 0]) * level
    return RootMotion(frames, scales, actor)


def _actor_speeds(source: SourceMotion, body: Body | None) -> Array:
    local_from_world = transform.invert_rigid(source.frames)
    if body is None or source.poses is None:
        return cloud_speeds(source.local)
    return unit_speeds(local_from_world[:, None] @ source.poses.world, source.poses.skeleton, body)


def _heading(actor: MassMotion, character: MassMotion, heading: Array, anchor: float | None) -> Array:
    """(F,) radians: w = (L^ - L_c) / I_c summed, with L^ = (I_c / I_h) L_h."""
    turning = actor.step_spins[:, 1] / _vertical_inertia(actor) - character.step_spins[:, 1] / _vertical_inertia(
        character
    )
    turned = heading[0] + np.concatenate([[0.0], np.cumsum(turning / actor.rate)])
    if anchor is None or len(turned) < 2:
        return turned
    drift = gaussian_smooth((turned - heading)[:, None], anchor * actor.rate)[:, 0]
    return np.asarray(turned - drift)


def _vertical_inertia(motion: MassMotion) -> Array:
    """(F - 1,) moment of inertia about the vertical through the centre of mass, between frames."""
    inertia = motion.second[:, 0, 0] + motion.second[:, 2, 2]
    return np.maximum(0.5 * (inertia[1:] + inertia[:-1]), 1e-12)


def _centres(actor: MassMotion, heading: Array, turned: Array, size: Array, start: Array) -> Array:
    """(F, 3) the centre of mass: the actor's steps, scaled along the local axes and rotated with the character."""
    steps = np.diff(actor.centres, axis=0)
    local = _rotate_about_y(steps, -0.5 * (heading[1:] + heading[:-1])) * size
    steps = _rotate_about_y(local, 0.5 * (turned[1:] + turned[:-1]))
    level = np.sqrt(size[0] * size[2])
    first = (
        start * level + _rotate_about_y(_rotate_about_y(actor.centres[:1] - start, -heading[:1]) * size, turned[:1])[0]
    )
    return np.asarray(first + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)]))


def _rotate_about_y(vectors: Array, angles: Array) -> Array:
    """(F, 3) vectors rotated about +Y by angles (F,)."""
    sine, cosine = np.sin(angles), np.cos(angles)
    x, y, z = vectors.T
    return np.stack([cosine * x + sine * z, y, cosine * z - sine * x], axis=1)


def _yaw_frames(angles: Array) -> Array:
    """(F, 4, 4) rotations about +Y."""
    frames = np.zeros((len(angles), 4, 4))
    frames[:, 0, 0] = frames[:, 2, 2] = np.cos(angles)
    frames[:, 0, 2], frames[:, 2, 0] = np.sin(angles), -np.sin(angles)
    frames[:, 1, 1] = frames[:, 3, 3] = 1.0
    return frames


def actor_motion(source: SourceMotion, body: Body | None) -> MassMotion:
    """The motion of a source's mass in the world; bare markers weigh the same each."""
    if body is None or source.poses is None:
        return cloud_motion(source.points, source.rate)
    return mass_motion(source.poses.world, body, source.rate)


def mass_motion(world: Array, body: Body, rate: float) -> MassMotion:
    """The motion of a body's mass for world_from_joint (F, J, 4, 4)."""
    heavy = np.flatnonzero(body.masses > 0)
    frames = np.ascontiguousarray(world[:, heavy, :3, :])
    weighted = frames @ body.pseudo_inertias[heavy]
    return _mass_motion_from_sums(
        _concatenate_links(frames), _concatenate_links(weighted), weighted[..., 3].sum(axis=1), body.mass, rate
    )


def cloud_motion(points: Array, rate: float) -> MassMotion:
    """The motion of markers (F, P, 3) that weigh the same, one kilogram in all."""
    share = 1.0 / points.shape[1]
    flat = np.swapaxes(points, 1, 2)
    return _mass_motion_from_sums(flat, share * flat, share * points.sum(axis=1), 1.0, rate)


def to_local_motion(motion: MassMotion, frames: Array) -> MassMotion:
    """The motion with second moments in the axes of local frames (F, 4, 4); all else is unchanged."""
    axes = frames[:, :3, :3]
    second = np.swapaxes(axes, 1, 2) @ motion.second @ axes
    return MassMotion(motion.mass, motion.centres, second, motion.lagged, motion.rate)


def _concatenate_links(frames: Array) -> Array:
    """(F, 3, 4 J) from (F, J, 3, 4): side by side, so that a sum over joints is one matrix product."""
    count, joints = frames.shape[:2]
    return np.swapaxes(frames, 1, 2).reshape(count, 3, 4 * joints)


def _mass_motion_from_sums(places: Array, weighted: Array, first: Array, mass: float, rate: float) -> MassMotion:
    """From positions and weighted positions (F, 3, n), whose products are second moments about the origin."""
    centres = first / mass
    second = weighted @ np.swapaxes(places, 1, 2) - mass * centres[:, :, None] * centres[:, None, :]
    lagged = places[1:] @ np.swapaxes(weighted[:-1], 1, 2) - mass * centres[1:, :, None] * centres[:-1, None, :]
    return MassMotion(mass, centres, second, lagged, rate)


def axial(matrices: Array) -> Array:
    """(..., 3) sum a x b of matrices (..., 3, 3) sum b a^T."""
    return np.stack(
        [
            matrices[..., 2, 1] - matrices[..., 1, 2],
            matrices[..., 0, 2] - matrices[..., 2, 0],
            matrices[..., 1, 0] - matrices[..., 0, 1],
        ],
        axis=-1,
    )


def interpolate_to_frames(steps: Array, frames: int) -> Array:
    """(F, 3) values at frames of values (F - 1, 3) between them: means, and at the ends the line through two."""
    result = np.zeros((frames, 3))
    if frames > 1:
        result[1:-1] = 0.5 * (steps[1:] + steps[:-1])
        result[0], result[-1] = steps[0], steps[-1]
    if frames > 2:
        result[0] += 0.5 * (steps[0] - steps[1])
        result[-1] += 0.5 * (steps[-1] - steps[-2])
    return result


def body_scale(actor: MassMotion, character: MassMotion, actor_speeds: Array, character_speeds: Array) -> BodyScale:
    """The ratios of two motions given in their local frames, with their mean speeds (3,)."""
    inertia = _diagonal(character) / np.maximum(_diagonal(actor), 1e-12)
    return BodyScale(character.mass / actor.mass, character_speeds / np.maximum(actor_speeds, 1e-12), inertia)


def _diagonal(motion: MassMotion) -> Array:
    return np.diagonal(motion.inertias, axis1=1, axis2=2)


def unit_speeds(world: Array, skeleton: Skeleton, body: Body) -> Array:
    """(3,) mean speed along x, y, z of the links' centres when each joint turns at 1 rad/s; world (F, J, 4, 4).

    A joint turned about x moves a point at distance d by (0, -d_z, d_y), and so on for y and z.
    """
    picked = world[np.linspace(0, len(world) - 1, min(SCALE_SAMPLE_FRAMES, len(world))).astype(np.int64)]
    heavy = np.flatnonzero(body.masses > 0)
    points = transform.apply(picked[:, heavy], body.centres[heavy])
    carried = np.zeros((len(heavy), len(heavy)), bool)
    for column, joint in enumerate(heavy):
        carried[np.isin(heavy, skeleton.ancestors(int(joint))), column] = True
    turning, moved = np.nonzero(carried)
    away = points[:, moved] - picked[:, heavy[turning]][..., :3, 3]
    return _speeds(np.abs(away).mean(axis=(0, 1)))


def cloud_speeds(points: Array) -> Array:
    """`unit_speeds` of bare markers (F, P, 3), which have no joints: about their middle."""
    return _speeds(np.abs(points - points.mean(axis=1, keepdims=True)).mean(axis=(0, 1)))


def _speeds(d: Array) -> Array:
    """(3,) mean |v| along each axis over rotations about x, y and z, for mean distances d (3,)."""
    return np.array([d[1] + d[2], d[0] + d[2], d[0] + d[1]]) / 3
