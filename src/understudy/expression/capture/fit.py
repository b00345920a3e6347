"""The projected fit: pose of the head and weights of the shapes whose landmarks fall onto those of a picture.

    E = sum_l c_l |P(R (b_0 + sum_s w_s b_s)_l + t) - q_l|^2 + alpha |w|^2,   0 <= w <= 1     [Serra 2018, appendix A]

P is the camera, R and t the head's pose in its space, b_0 the neutral landmarks, b_s what shape s adds, q the landmarks
of the picture. Gauss-Newton for R, t and w together: each step is least squares within bounds, in which the pose is
free. The paper has no alpha; shapes that undo each other would otherwise both grow. It is a share of the mean of the
weights' part of the normal matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from understudy.checks import Array
from understudy.expression import bounded
from understudy.expression.capture.camera import Camera
from understudy.expression.proportions import proportions
from understudy.expression.regions import landmark_number
from understudy.maths import quaternion

ALPHA = 3e-3
ROUNDS = 30  # Gauss-Newton steps of a first frame; one that follows another needs 3 to 5
SETTLED = 1e-3  # pixels, mean movement of the landmarks in a step
FARTHEST_TURN = 0.3  # radians in one step
# Trackers let the outline of the cheeks slide along the silhouette as the head turns; only the chin is a place.
OUTLINE_TRUST = 0.2


@dataclass(frozen=True, eq=False)
class Subject:
    """A face before a camera: neutral landmarks (L, 3), what S shapes add (S, L, 3), trust in each landmark (L,)."""

    camera: Camera
    neutral: Array
    deltas: Array
    trust: Array
    alpha: float = ALPHA


@dataclass(frozen=True, eq=False)
class Pose:
    """Where the head is, and what the face does: the state that one frame hands to the next."""

    rotation: Array  # (3, 3) camera_from_head
    shift: Array  # (3,)
    weights: Array  # (S,)
    error: float = 0.0  # pixels, mean distance of the landmarks


def trust_of(names: tuple[str, ...]) -> Array:
    """(L,) how much each landmark counts: the outline of the cheeks less than the rest."""
    numbers = [landmark_number(name) for name in names]
    return np.array([OUTLINE_TRUST if n is not None and n <= 16 and not 6 <= n <= 10 else 1.0 for n in numbers])


def landmarks_of(subject: Subject, pose: Pose) -> Array:
    """(L, 2) pixels at which the landmarks of a pose are seen."""
    shape = subject.neutral + np.tensordot(pose.weights, subject.deltas, 1)
    return subject.camera.project(shape @ pose.rotation.T + pose.shift)


def start(subject: Subject, pixels: Array) -> Pose:
    """A pose near the landmarks (L, 2) in the picture, as if all of them were equally far away.

    q - mean(q) = A (p - mean(p)) by least squares; A's nearest rotation rows times its mean size give R and the depth.
    """
    camera = subject.camera
    middle, centre = subject.neutral.mean(axis=0), pixels.mean(axis=0)
    a = np.linalg.lstsq(subject.neutral - middle, (pixels - centre) * [1, -1], rcond=None)[0].T  # (2, 3)
    u, sizes, vt = np.linalg.svd(a, full_matrices=False)
    rows = u @ vt
    rotation = np.stack([rows[0], rows[1], np.cross(rows[0], rows[1])])
    depth = np.array(camera.focal / max(float(sizes.mean()), 1e-9))
    shift = camera.at_depth(centre, depth) - rotation @ middle
    return Pose(rotation, shift, np.zeros(len(subject.deltas)))


def fitted(subject: Subject, pixels: Array, pose: Pose, rigid: bool = False, rounds: int = ROUNDS) -> Pose:
    """The pose nearest to landmarks (L, 2) in pixels, from a pose near it; with `rigid` the weights stay."""
    seen = landmarks_of(subject, pose)
    for _ in range(rounds):
        step = _step(subject, pixels, pose, seen, rigid)
        after = landmarks_of(subject, step)
        moved = float(np.linalg.norm(after - seen, axis=1).mean())
        pose, seen = step, after
        if moved < SETTLED:
            break
    return replace(pose, error=float(np.linalg.norm(seen - pixels, axis=1).mean()))


def _step(subject: Subject, pixels: Array, pose: Pose, seen: Array, rigid: bool) -> Pose:
    count = 0 if rigid else len(pose.weights)
    shape = subject.neutral + np.tensordot(pose.weights, subject.deltas, 1)
    turned = shape @ pose.rotation.T
    slopes = subject.camera.slopes(turned + pose.shift)  # (L, 2, 3)
    jacobian = np.empty((len(pixels), 2, 6 + count))
    # a turn w moves p by w x p: columns e_x x p, e_y x p, e_z x p
    cross = np.cross(np.eye(3)[None], turned[:, None, :])  # (L, axis, 3)
    jacobian[:, :, :3] = np.einsum("lij,lkj->lik", slopes, cross)
    jacobian[:, :, 3:6] = slopes
    if count:
        moves = subject.deltas @ pose.rotation.T  # (S, L, 3)
        jacobian[:, :, 6:] = np.einsum("lij,slj->lis", slopes, moves)
    root = np.sqrt(subject.trust)
    j = (root[:, None, None] * jacobian).reshape(-1, 6 + count)
    now = np.concatenate([np.zeros(6), pose.weights[:count]])
    right = (root[:, None] * (pixels - seen)).reshape(-1) + j @ now
    h = j.T @ j
    ridge = np.zeros(6 + count)
    ridge[:6] = 1e-9 * np.diag(h)[:6]
    ridge[6:] = subject.alpha * np.diag(h)[6:].mean() if count else 0.0
    h[np.diag_indices_from(h)] += ridge
    reach = 0.5 * float(np.linalg.norm(pose.shift))
    limit = np.concatenate([np.full(3, FARTHEST_TURN), np.full(3, reach), np.ones(count)])
    low = np.concatenate([-limit[:6], np.zeros(count)])
    # turns, shifts and weights have units of their own: each is measured by its own diagonal
    unit = 1 / np.sqrt(np.diag(h))
    found = (
        unit
        * bounded.solved(h * np.outer(unit, unit), (j.T @ right * unit)[None], low / unit, limit / unit, now / unit)[0]
    )
    turn = quaternion.to_matrix(quaternion.exp(found[:3]))
    weights = pose.weights if rigid else found[6:]
    return Pose(turn @ pose.rotation, pose.shift + found[3:6], weights)


def made_neutral(subject: Subject, pixels: Array, names: tuple[str, ...] = ()) -> tuple[Subject, Pose]:
    """The subject with its neutral landmarks moved so that they fall onto those (L, 2) of a neutral picture, and the
    head's pose there: what differs is the person's own proportions, of which a picture does not tell the depth.

    With the `names` of the landmarks the shapes are brought to the same proportions, region by region.
    """
    pose = fitted(subject, pixels, start(subject, pixels), rigid=True)
    places = subject.neutral @ pose.rotation.T + pose.shift
    own = subject.camera.at_depth(pixels, -places[:, 2])
    neutral = (own - pose.shift) @ pose.rotation
    deltas = subject.deltas * proportions(neutral, subject.neutral, names) if names else subject.deltas
    return replace(subject, neutral=neutral, deltas=deltas), pose
