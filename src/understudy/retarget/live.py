"""Live: the actor's points come in, the character's pose goes out, a frame at a time and causal.

Nothing that looks ahead is possible here, so the steps are those of a transfer without physics: the one euro filter on
the points [Casiez 2012], the mapping, the joints from the pose before, and the way over the floor, which is the actor's
times the ratio of sizes. The filter's cutoff rises with speed,

    f_c = f_min + beta |x'|

so that held poses do not tremble and quick ones do not lag. What changes from frame to frame is the state, passed in
and handed back: a take replays exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.maths import quaternion
from understudy.retarget.freedom import Degrees, degrees_of
from understudy.retarget.ik import solve_ik
from understudy.retarget.limb_poses import start_poses
from understudy.retarget.mapping import SharedMapping
from understudy.retarget.poses import Poses
from understudy.retarget.transfer import Stage

SLOWEST = 6.0  # hertz, f_min: a lag of 27 ms where nothing moves, which nobody sees
EAGERNESS = 4.0  # hertz to a metre a second, beta: at 2 m/s a lag of 11 ms
OF_SPEED = 3.0  # hertz, cutoff of the speed itself
CONTINUITY = 30.0  # what a squared step of the latent point costs: a tenth of a transfer's, for it delays here
LONGEST = 0.25  # seconds: after a longer pause the filter begins anew


@dataclass(frozen=True, eq=False)
class LiveState:
    """Where a live take is."""

    time: float = -np.inf  # seconds, of the last frame
    points: Array | None = None  # (P, 3) filtered, local
    speeds: Array | None = None  # (P, 3) metres a second
    origin: Array | None = None  # (3,) where the actor began, on the floor
    poses: Poses | None = None  # the last pose, over the origin
    latent: Array | None = None  # (d,) of the last pose, where the mapping has such
    frame: int = 0


@dataclass(frozen=True, eq=False)
class Live:
    """A character that is ready to follow. `size` is how far it goes for a metre of the actor."""

    stage: Stage
    size: float
    degrees: Degrees
    slowest: float = SLOWEST
    eagerness: float = EAGERNESS

    @classmethod
    def of(cls, stage: Stage, slowest: float = SLOWEST, eagerness: float = EAGERNESS) -> Live:
        """The ratio of sizes is that of the heights in the pairs."""
        source = float(np.ptp(stage.pairs.source[..., 1]))
        degrees = degrees_of(stage.target.skeleton, stage.freedom, stage.limits)
        return cls(stage, stage.height / source if source > 0 else 1.0, degrees, slowest, eagerness)

    def init(self) -> LiveState:
        """Before the first frame."""
        return LiveState()

    def step(self, state: LiveState, time: float, points: Array, frame: Array) -> tuple[LiveState, Poses]:
        """The pose for points (P, 3) at a time; `frame` (4, 4) is the actor's world_from_local. Both as in `Source`."""
        given = checks.array(points, "points", (self.stage.pairs.source.shape[1], 3))
        frame = np.asarray(frame, np.float64)
        local = (given - frame[:3, 3]) @ frame[:3, :3]
        state = self._filtered(state, float(time), local)
        assert state.points is not None  # filtered just now
        wanted, latent = self._mapped(state)
        start = start_poses(self.stage.pairs, state.points[None], self.stage.limbs, 30.0)
        if state.poses is not None:
            start = _with_limbs(state.poses, start, self.stage)
        skeleton = self.stage.target.skeleton
        pose = solve_ik(self.stage.pairs.markers, skeleton, wanted, start=start, degrees=self.degrees)
        origin = frame[:3, 3] if state.origin is None else state.origin
        placed = np.array(frame)
        placed[:3, 3] = origin + self.size * (frame[:3, 3] - origin)
        state = replace(state, poses=pose, latent=latent, origin=origin, frame=state.frame + 1)
        return state, pose.moved(placed[None])

    def _mapped(self, state: LiveState) -> tuple[Array, Array | None]:
        """The target's markers (1, Q, 3) and the latent point (d,): of the shared model, near that of the frame before.

        Beginning there saves most of the search, and keeps the pose from jumping between two that explain the actor.
        """
        assert state.points is not None  # filtered before
        mapping = self.stage.mapping
        if not isinstance(mapping, SharedMapping):
            return mapping.map(state.points[None]).points, None
        flat = state.points.reshape(1, -1)
        if state.latent is None:
            latent = mapping.model.map(flat)
        else:
            latent = mapping.model.map(flat, CONTINUITY, start=state.latent[None], before=state.latent)
        return mapping.at(state.points[None], latent).points, latent[0]

    def _filtered(self, state: LiveState, time: float, local: Array) -> LiveState:
        """One step of the one euro filter."""
        passed = time - state.time
        if state.points is None or state.speeds is None or not 0 < passed < LONGEST:
            return replace(state, time=time, points=local, speeds=np.zeros_like(local))
        speeds = _toward(state.speeds, (local - state.points) / passed, OF_SPEED, passed)
        cutoff = self.slowest + self.eagerness * np.linalg.norm(speeds, axis=1, keepdims=True)
        return replace(state, time=time, points=_toward(state.points, local, cutoff, passed), speeds=speeds)


def _toward(value: Array, goal: Array, cutoff: Array | float, passed: float) -> Array:
    """A first-order low pass of a cutoff in hertz, after `passed` seconds."""
    share = 1 - np.exp(-2 * np.pi * np.asarray(cutoff) * passed)
    return np.asarray(value + share * (goal - value))


def _with_limbs(pose: Poses, held: Poses, stage: Stage) -> Poses:
    """The pose with the limbs that have no markers as they should be held now."""
    joints = [pose.skeleton.index(joint) for limb in stage.limbs for joint in limb.joints]
    if not joints:
        return pose
    rotations = np.array(pose.rotations)
    rotations[:, joints] = quaternion.normalise(held.rotations[:, joints])
    return Poses(pose.skeleton, pose.translations, rotations, pose.rate)
