"""How large, heavy and inert a character is beside the actor, and the actor's momenta as that character would have them
[Yamane 2010, 5.1].

    mass     s_m = m_c / m_h
    inertia  s_i = I_c / I_h, the diagonal in the local frame, frame by frame
    size     s_d = v_c / v_h, v the mean speed of feature points along each axis when every joint that carries something
             turns at one radian a second, one at a time, about each axis

and P^ = s_m s_d P,  L^ = s_i L. Departures: inertia and angular momentum are about the centre of mass, not the local
origin, so that whoever walks straight with the centre to one side is not turned; the mean speed is over the points that
a joint moves, else a body of many fingers would count as small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array
from understudy.maths import transform
from understudy.retarget.body import Body
from understudy.retarget.momentum import MassMotion

POSES = 32  # frames of a motion over which sizes are averaged; more change nothing


@dataclass(frozen=True, eq=False)
class Scales:
    """The ratios, character over actor. Axes are those of the local frame: x left, y up, z ahead."""

    mass: float
    size: Array  # (3,)
    inertia: Array  # (F, 3)

    def linear(self, momenta: Array) -> Array:
        """(F, 3) P^ of the actor's P, in the local frame."""
        return self.mass * self.size * momenta

    def angular(self, momenta: Array) -> Array:
        """(F, 3) L^ of the actor's L, in the local frame."""
        return self.inertia * momenta


def scales_of(actor: MassMotion, character: MassMotion, actor_speeds: Array, character_speeds: Array) -> Scales:
    """The ratios of two motions given in their local frames, with their mean speeds (3,)."""
    inertia = _diagonal(character) / np.maximum(_diagonal(actor), 1e-12)
    return Scales(character.mass / actor.mass, character_speeds / np.maximum(actor_speeds, 1e-12), inertia)


def _diagonal(motion: MassMotion) -> Array:
    return np.diagonal(motion.inertias, axis1=1, axis2=2)


def unit_speeds(world: Array, skeleton: Skeleton, body: Body) -> Array:
    """(3,) mean speed along x, y, z of the links' centres when each joint turns at 1 rad/s; world (F, J, 4, 4).

    A joint turned about x moves a point at distance d by (0, -d_z, d_y), and so on for y and z.
    """
    picked = world[np.linspace(0, len(world) - 1, min(POSES, len(world))).astype(np.int64)]
    heavy = np.flatnonzero(body.masses > 0)
    points = transform.apply(picked[:, heavy], body.centres[heavy])
    carried = np.zeros((len(heavy), len(heavy)), bool)
    for column, joint in enumerate(heavy):
        carried[np.isin(heavy, skeleton.ancestors(int(joint))), column] = True
    turning, moved = np.nonzero(carried)
    away = points[:, moved] - picked[:, heavy[turning]][..., :3, 3]
    return _speeds(np.abs(away).mean(axis=(0, 1)))


def cloud_speeds(points: Array) -> Array:
    """The same for bare markers (F, P, 3), which know no joints: about their middle."""
    return _speeds(np.abs(points - points.mean(axis=1, keepdims=True)).mean(axis=(0, 1)))


def _speeds(d: Array) -> Array:
    """Mean |v| along each axis over turns about x, y and z, of mean distances d (3,)."""
    return np.array([d[1] + d[2], d[0] + d[2], d[0] + d[1]]) / 3
