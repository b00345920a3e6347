"""What stands on one base and never leaves the floor in any of its pairs, as a snake: it glides.

It does not hop for each step of the actor, only where he is in the air himself. While he stands it stands, on a base
that is held in form and place; while he steps it glides from that place to the next, from a to b as in eq. 9,

    g(t) = (1 - w) a + w b,    w = h^2 (3 - 2 h),    h = (t - t0) / (t1 - t0)

as on a tread or on the foot of a snail: what touches the floor rests on it while the body goes on. So friction is
against how a contact slips beside this glide, not against the glide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.maths.smoothing import gaussian_smooth
from understudy.retarget.body import Body
from understudy.retarget.contact_goals import rigid_fit
from understudy.retarget.contacts import Phases, runs
from understudy.retarget.poses import Poses

SETTLES = 0.05  # seconds in which it comes to lie on the floor


@dataclass(frozen=True, eq=False)
class Glides:
    """When a figure stands, and how far it is from one place to the next."""

    stands: Array  # (F,) bool
    spans: list[tuple[int, int]]  # S, in which it stands
    before: Array  # (F,) the span in which it stood last, or stands; the first one before it
    after: Array  # (F,) the span in which it stands next, or stands; the last one after it
    share: Array  # (F,) w, 0 where it stands

    @classmethod
    def of(cls, phases: Phases) -> Glides | None:
        """None where nothing glides, or never stands."""
        if phases.gliding is None:
            return None
        stands = np.asarray(phases.down.any(axis=1) & ~phases.gliding)
        spans = runs(stands)
        if not spans:
            return None
        frames = np.arange(len(stands))
        starts, ends = (np.array(edge) for edge in zip(*spans))
        before = np.maximum(np.searchsorted(starts, frames, side="right") - 1, 0)
        after = np.minimum(np.searchsorted(ends, frames, side="right"), len(spans) - 1)
        gap = np.maximum(starts[after] - ends[before] + 1, 1)
        h = np.where(before < after, (frames - ends[before] + 1) / gap, 0.0)
        return cls(stands, spans, before, after, h * h * (3 - 2 * h))

    def way(self, places: Array) -> Array:
        """(F, K, 3) g of the places (S, K, 3) of K contacts."""
        w = self.share[:, None, None]
        return np.asarray((1 - w) * places[self.before] + w * places[self.after])

    def standing(self, names: tuple[str, ...]) -> Phases:
        """The phases of contacts that all stand together."""
        return Phases(names, np.repeat(self.stands[:, None], len(names), axis=1))


def stays_down(heights: Array, near: float) -> bool:
    """Whether some contact of each pose (N, K) is lower than `near`: a figure that was never posed in the air."""
    return bool(heights.size) and bool((heights.min(axis=1) < near).all())


def drift(points: Array, phases: Phases, rate: float) -> Array:
    """(F - 1, K, 3) metres a second along the floor that contacts (F, K, 3) are meant to go: g' where they glide."""
    level = points * np.array([1.0, 0.0, 1.0])
    steps = np.asarray(np.diff(level, axis=0) * rate)
    glides = Glides.of(phases)
    if glides is None:  # what never stands means all of its way, what never glides none
        return steps if phases.gliding is not None else np.zeros(steps.shape)
    starts, ends = (np.array(edge) for edge in zip(*glides.spans))
    before, after = glides.before[:-1], glides.after[1:]
    arrived = np.where(glides.stands[1:] & (before < after), 1.0, glides.share[1:])
    far = level[starts[after]] - level[ends[before] - 1]
    return (rate * (arrived - glides.share[:-1]))[:, None, None] * far


def firm(poses: Poses, body: Body, base: int, glides: Glides) -> Poses:
    """Poses whose base keeps its form while it stands: joints between it and its contacts turn only in a glide."""
    skeleton = poses.skeleton
    above = [skeleton.ancestors(contact.joint) for contact in body.contacts]
    joints = sorted({j for chain in above if base in chain for j in chain[: chain.index(base)]})
    if not joints:
        return poses
    turns = quaternion.unroll(poses.rotations[:, joints])
    mean = quaternion.normalise(np.array([turns[a:b].mean(axis=0) for a, b in glides.spans]))
    rotations = np.array(poses.rotations)
    rotations[:, joints] = quaternion.slerp(mean[glides.before], mean[glides.after], glides.share[:, None])
    return Poses(skeleton, poses.translations, rotations, poses.rate)


def flat(poses: Poses, body: Body, base: int) -> Poses:
    """Poses whose base lies as flat as its contacts can: turned for itself, about their middle."""
    points = body.contact_positions(poses.world)
    middle = points.mean(axis=1, keepdims=True)
    level = points * np.array([1.0, 0.0, 1.0]) + middle * np.array([0.0, 1.0, 0.0])
    moves = rigid_fit(points, level, np.ones(points.shape[:2]))
    parent = int(poses.skeleton.parents[base])
    if parent < 0:
        return poses.moved(moves)
    translations, rotations = np.array(poses.translations), np.array(poses.rotations)
    local = transform.invert(poses.world[:, parent]) @ moves @ poses.world[:, base]
    translations[:, base], rotations[:, base], _ = transform.decompose(local)
    return Poses(poses.skeleton, translations, quaternion.unroll(rotations), poses.rate)


def on_floor(poses: Poses, body: Body, phases: Phases) -> Poses:
    """Poses raised and lowered as a whole, so that the lowest contact is on the floor, and never below it."""
    used = np.flatnonzero(phases.down.any(axis=0))
    lowest = body.contact_positions(poses.world)[:, used, 1].min(axis=1)
    wanted = np.where(phases.down.any(axis=1), -lowest, np.maximum(-lowest, 0.0))
    shift = np.broadcast_to(np.eye(4), (len(poses), 4, 4)).copy()
    shift[:, 1, 3] = np.maximum(gaussian_smooth(wanted[:, None], SETTLES * poses.rate)[:, 0], -lowest)
    return poses.moved(shift)
