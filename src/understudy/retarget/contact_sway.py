"""A figure without legs: what it stands on is held, and the rest of it sways over that.

The lamp stands on its base, which is its root. Where the base stands still the head goes on along the way that the
actor's momentum asks for, as far as the arm lets it; before a jump it sinks, and after one it is caught. The joints
between, turned by t, minimise

    sum_p |p - p^|^2 / soft + |t|^2

for three points p of the heaviest link that stands far from the base, and p^ where they would be were the whole figure
moved without its base being held (`leg_reach`, with the base in place of the hips), but not below the floor.

Rigs as the lamp's hop by a joint between the root and the base, and what else hangs on the root, as a cord, stays on
the floor. There the root goes along the floor, and that joint does the rest.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Skeleton
from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.maths.smoothing import gaussian_smooth
from understudy.retarget import leg_reach
from understudy.retarget.body import Body
from understudy.retarget.freedom import Limits
from understudy.retarget.limbs import Limbs
from understudy.retarget.poses import Poses

HEAVY = 0.1  # of the weight: what is lighter does not sway for the sake of balance
MOVES = 1e-3  # of the size: a joint whose place changes by more is moved by the rig
SOFT = 1e-2  # of the squared length: by a tenth of it the head is drawn as much as by a radian of one joint
LEAN = 0.2  # of how far the rest's centre is from what stands: 11 degrees, or as much squash and stretch
SLOW = 0.15  # seconds: what leans too far comes back so slowly
TWIST = 0.5  # radians that the rest turns over what stands
ACROSS = 0.2  # of the length: how far apart the points are that hold the head's direction


def top_of(body: Body, limbs: Limbs, base: int) -> int:
    """The heavy link with the largest moment about the base, and hanging on it; the base itself where there is none."""
    skeleton = limbs.skeleton
    below = np.array([base in skeleton.ancestors(j)[1:] for j in range(len(skeleton))], bool)
    centres = transform.apply(limbs.world, body.centres)
    moments = body.masses * np.linalg.norm(centres - limbs.world[base, :3, 3], axis=1) * below
    top = int(moments.argmax())
    return top if below[top] and body.masses[top] > HEAVY * body.mass else base


def length_of(body: Body, limbs: Limbs, base: int) -> float:
    """Metres at rest from what a figure stands on to the centre of its top."""
    top = top_of(body, limbs, base)
    beside = _beside(limbs.skeleton, base)
    if top == base and body.masses[beside].sum() > HEAVY * body.mass:
        return float(np.linalg.norm(_centres(limbs.world[None], body, beside)[0] - limbs.world[base, :3, 3]))
    centre = transform.apply(limbs.world[top], body.centres[top])
    return float(np.linalg.norm(centre - limbs.world[base, :3, 3]))


def swayed(poses: Poses, wanted: Poses, body: Body, limbs: Limbs, base: int, limits: Limits | None) -> Poses:
    """Poses whose base stays, and whose top is drawn to where `wanted` has it; as they are without compiled code."""
    top = top_of(body, limbs, base)
    if top == base:
        return _leaning(poses, wanted, body, base)
    chain = [j for j in poses.skeleton.ancestors(top) if base in poses.skeleton.ancestors(j)[1:]]
    length = length_of(body, limbs, base)
    if not chain or length <= 0:
        return poses
    here, there = (_points(p, body, limbs, top, ACROSS * length) for p in (poses, wanted))
    lowest = np.minimum(here[:, 0, 1], _radius(body, limbs, top))
    there[..., 1] += np.maximum(lowest - there[:, 0, 1], 0.0)[:, None]
    carriers = np.full(here.shape[1], top)
    found = leg_reach.reach(poses, np.array(chain), carriers, here, there, limits, give=None, softness=(SOFT,))
    return poses if found is None else found


def _leaning(poses: Poses, wanted: Poses, body: Body, base: int) -> Poses:
    """Poses whose base stays, and all that hangs beside it leans over it to where `wanted` has it, and turns so.

    The lean is about p, midway between the base and the nearest joint of the rest: of its centre c, wanted at c + d,
    with d made shorter than a share of r = c - p, the level part is reached by a turn, the height by a shift.
    """
    skeleton, beside = poses.skeleton, _beside(poses.skeleton, base)
    if body.masses[beside].sum() <= HEAVY * body.mass:
        return poses
    here, there = (_centres(p.world, body, beside) for p in (poses, wanted))
    heavy = np.flatnonzero(beside & (body.masses > 0))
    away = poses.world[:, heavy][..., :3, 3] - poses.world[:, [base]][..., :3, 3]
    near = heavy[np.linalg.norm(away, axis=2).mean(axis=0).argmin()]
    foot = 0.5 * (poses.world[:, base, :3, 3] + poses.world[:, near, :3, 3])
    arm = here - foot
    far = np.linalg.norm(arm, axis=1, keepdims=True)
    lean = arm + _no_more(there - here, LEAN * far, poses.rate)
    reached = lean.copy()
    reached[:, 1] = np.sqrt(np.maximum(np.square(far[:, 0]) - np.square(lean[:, [0, 2]]).sum(axis=1), 0.0))
    root = skeleton.roots[0]
    turned = wanted.world[:, root, :3, :3] @ np.linalg.inv(poses.world[:, root, :3, :3])
    yaw = np.arctan2(turned[:, 0, 2] - turned[:, 2, 0], turned[:, 0, 0] + turned[:, 2, 2])[:, None]
    twist = quaternion.from_rotation_vector(_no_more(yaw, TWIST, poses.rate) * np.array([0.0, 1.0, 0.0]))
    turn = quaternion.multiply(quaternion.between(arm, reached), twist)
    moves = transform.compose(np.zeros(3), turn)
    moves[:, :3, 3] = foot + lean - transform.apply(moves, here)
    translations, rotations = np.array(poses.translations), np.array(poses.rotations)
    for joint in np.flatnonzero(beside):
        parent = int(skeleton.parents[joint])
        if parent >= 0 and not beside[parent]:
            local = transform.invert(poses.world[:, parent]) @ moves @ poses.world[:, joint]
            translations[:, joint], rotations[:, joint], _ = transform.decompose(local)
    return Poses(skeleton, translations, quaternion.unroll(rotations), poses.rate)


def _no_more(moves: Array, most: Array | float, rate: float) -> Array:
    """Moves (F, n) made shorter than `most`, small ones hardly. What is beyond is taken off smoothly: the weight goes
    along the wanted way beside something slow, else all that a pose trembles would have to be pushed by the floor.
    """
    far = np.linalg.norm(moves, axis=1, keepdims=True)
    beyond = moves - moves / np.sqrt(1 + np.square(far / most))
    return np.asarray(moves - gaussian_smooth(beyond, SLOW * rate))


def _beside(skeleton: Skeleton, base: int) -> Array:
    """(J,) whether a joint is neither the base, nor above it, nor below it."""
    above = skeleton.ancestors(base)
    return np.array([j not in above and base not in skeleton.ancestors(j) for j in range(len(skeleton))], bool)


def _centres(world: Array, body: Body, joints: Array) -> Array:
    """(F, 3) the centres of mass of some joints' links."""
    heavy = np.flatnonzero(joints & (body.masses > 0))
    share = body.masses[heavy] / body.masses[heavy].sum()
    return np.asarray(np.einsum("j,fja->fa", share, transform.apply(world[:, heavy], body.centres[heavy])))


def hopping(poses: Poses, limbs: Limbs, base: int) -> Poses:
    """The same poses, of which the root is level and as high as at rest, and a joint between it and the base moves."""
    chain = poses.skeleton.ancestors(base)
    moving = [j for j in chain[1:-1] if np.ptp(poses.translations[:, j], axis=0).max() > MOVES * limbs.size]
    if not moving:
        return poses
    root, lift = chain[-1], moving[-1]
    turn = poses.rotations[:, root]
    at_rest = quaternion.normalise(poses.skeleton.rotations[root])
    front = quaternion.rotate(quaternion.multiply(turn, quaternion.conjugate(at_rest)), limbs.front)
    yaw = np.arctan2(front[:, 0], front[:, 2]) - np.arctan2(limbs.front[0], limbs.front[2])
    level = quaternion.from_rotation_vector(yaw[:, None] * np.array([0.0, 1.0, 0.0]))
    translations, rotations = np.array(poses.translations), np.array(poses.rotations)
    translations[:, root, 1] = poses.skeleton.translations[root, 1]
    rotations[:, root] = quaternion.multiply(level, at_rest)
    eased = Poses(poses.skeleton, translations, rotations, poses.rate)
    parent = poses.skeleton.parents[lift]
    local = transform.invert(eased.world[:, parent]) @ poses.world[:, lift]
    moved, turned, _ = transform.decompose(local)
    translations[:, lift], rotations[:, lift] = moved, turned
    return Poses(poses.skeleton, translations, quaternion.unroll(rotations), poses.rate)


def _radius(body: Body, limbs: Limbs, joint: int) -> float:
    """Metres, of a ball with the weight and the inertia of a link: I = 2/5 m r^2 about each axis."""
    scale = np.linalg.norm(limbs.world[joint, :3, 0])
    return float(scale * np.sqrt(np.trace(body.inertias[joint]) / max(1.2 * body.masses[joint], 1e-12)))


def _points(poses: Poses, body: Body, limbs: Limbs, top: int, away: float) -> Array:
    """(F, 3, 3) the centre of the top, and points to its side and ahead of it at rest."""
    at_rest = limbs.world[top]
    centre = transform.apply(at_rest, body.centres[top])
    places = centre + away * np.stack([np.zeros(3), limbs.left, limbs.front])
    return np.asarray(transform.apply(poses.world[:, [top] * 3], transform.apply(np.linalg.inv(at_rest), places)))
