"""Face fit: the head's pose and the shape weights whose landmarks project onto those of a picture.

The camera is a pinhole that looks along -z with y up, as in glTF; its picture's x runs right and its y down, in pixels:

    u = c_x + f x / -z,    v = c_y - f y / -z

A frame is fitted by

    E = sum_l c_l |P(R (b_0 + sum_s w_s b_s)_l + t) - q_l|^2 + alpha |w|^2,   0 <= w <= 1     [Serra 2018, appendix A]

P is the camera, R and t the head's pose in its space, b_0 the neutral landmarks, b_s the displacement by shape s, q the
landmarks of the picture, c their weights. Gauss-Newton for R, t and w together: each step is least squares within
bounds, in which the pose is free. The paper has no alpha; shapes that undo each other would otherwise both grow. It is
a share of the mean of the weights' part of the normal matrix. Where takes of a face are known, their weights are a
prior instead: with the covariance C about neutral and the landmarks' noise sigma,

    E = sum_l c_l |...|^2 + sigma^2 w' C^-1 w

so that noise does not raise shapes that never move together. sigma is the median distance that a first fit leaves.

A film is fitted frame by frame, each from the one before; a moving average smooths the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Channel, Clip
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.landmark_filters import proportions
from understudy.express.landmark_solver import LandmarkBasis
from understudy.express.sequence import landmark_number
from understudy.formats.arkit_names import ANGLE_NAMES
from understudy.maths import quaternion, solvers

# Degrees across the longer side: between a webcam's 60 and a telephone's 45 at arm's length.
FIELD_OF_VIEW_DEGREES = 50.0
WEIGHT_REGULARISATION = 3e-3  # alpha
MAX_GAUSS_NEWTON_STEPS = 30  # of a first frame; one that follows another needs 3 to 5
FIRST_NOISE_RATIO = 0.003  # sigma, of the face's height, before what a fit leaves tells it
MIN_NOISE_RATIO = 3e-4  # sigma of landmarks that are exact but for rounding
UNKNOWN_FACE_NOISE_RATIO = 0.015  # where the proportions of the person are not known: faces differ by more than noise
UNSEEN_WEIGHT_DEVIATION = 0.05  # of a weight that the takes never move
FREE_WEIGHT_DEVIATION = 0.3  # of a weight that the takes do not have
CALM_RATIO = 0.25  # of the size of strong expressions in a film: a calmer frame counts as neutral
CONVERGENCE_PIXELS = 1e-3  # pixels, mean movement of the landmarks in a step
MAX_STEP_TURN_RAD = 0.3  # rotation in one step, radians

# Trackers let the outline of the cheeks slide along the silhouette as the head turns; only the chin is a fixed point.
OUTLINE_LANDMARK_WEIGHT = 0.2
SMOOTHING_SECONDS = 0.17  # seconds of the moving average: five frames at 30 a second
MAX_FIT_ERROR_RATIO = 0.08  # of the face's height: with a larger error a frame is fitted again from scratch


@dataclass(frozen=True)
class PinholeCamera:
    """Focal length and centre in pixels."""

    focal: float
    centre: tuple[float, float]

    @classmethod
    def of_picture(cls, width: int, height: int, field: float | None = None) -> PinholeCamera:
        """The camera of a picture that shows `field` degrees across its longer side, with the centre in its middle."""
        field = FIELD_OF_VIEW_DEGREES if field is None else field
        if not 1 <= field <= 170:
            raise InvalidInput(f"the field of view should lie between 1 and 170 degrees, but is {field}")
        checks.positive(min(width, height), "the size of the picture")
        focal = 0.5 * max(width, height) / np.tan(0.5 * np.radians(field))
        return cls(float(focal), (0.5 * width, 0.5 * height))

    def project(self, points: Array) -> Array:
        """(..., 2) pixels of points (..., 3) in the camera's space, all before it."""
        depth = -points[..., 2]
        return np.stack(
            [
                self.centre[0] + self.focal * points[..., 0] / depth,
                self.centre[1] - self.focal * points[..., 1] / depth,
            ],
            axis=-1,
        )

    def slopes(self, points: Array) -> Array:
        """(..., 2, 3) derivatives of the pixels by the points (..., 3)."""
        x, y, depth = points[..., 0], points[..., 1], -points[..., 2]
        result = np.zeros((*points.shape[:-1], 2, 3))
        result[..., 0, 0] = self.focal / depth
        result[..., 0, 2] = self.focal * x / depth**2
        result[..., 1, 1] = -self.focal / depth
        result[..., 1, 2] = -self.focal * y / depth**2
        return result

    def unproject(self, pixels: Array, depth: Array) -> Array:
        """(..., 3) the points in the camera's space at `depth` (...,) that project onto pixels (..., 2)."""
        x = (pixels[..., 0] - self.centre[0]) * depth / self.focal
        y = (self.centre[1] - pixels[..., 1]) * depth / self.focal
        return np.stack([x, y, -depth], axis=-1)


@dataclass(frozen=True, eq=False)
class FaceModel:
    """A face before a camera."""

    camera: PinholeCamera
    neutral: Array  # (L, 3) landmarks, metres
    deltas: Array  # (S, L, 3) displacements by the shapes at weight 1
    trust: Array  # (L,) c, the weight of each landmark
    alpha: float = WEIGHT_REGULARISATION
    prior: Array | None = None  # (S, S) C^-1, in place of alpha
    noise: float = FIRST_NOISE_RATIO  # sigma, of the face's height


@dataclass(frozen=True, eq=False)
class HeadPose:
    """Pose of the head and weights of the shapes: the state from which the next frame is fitted."""

    rotation: Array  # (3, 3) camera_from_head
    shift: Array  # (3,)
    weights: Array  # (S,)
    error: float = 0.0  # pixels, mean distance of the landmarks


@dataclass(frozen=True, eq=False)
class FaceSolution:
    """Weights and head of a film, frame by frame."""

    names: tuple[str, ...]  # (S,) of the shapes
    weights: Array  # (F, S)
    rotations: Array  # (F, 3, 3) of the head in the camera's space: identity where it looks into the camera
    shifts: Array  # (F, 3) metres
    errors: Array  # (F,) pixels, mean distance of the landmarks
    rate: float

    def clip(self, name: str = "capture", head: bool = True) -> Clip:
        """The weights, and with `head` its yaw, pitch and roll in radians as Live Link names them.

        The head turns by yaw about y, then pitch about its own x, then roll about its own z: R = Y P R.
        """
        channels = [Channel("", "weights", self.names)]
        columns = [self.weights]
        if head:
            channels.append(Channel("", "controls", ANGLE_NAMES[:3]))
            columns.append(head_angles(self.rotations))
        return Clip(name, channels, np.concatenate(columns, axis=1), self.rate)


def solve_film(
    basis: LandmarkBasis,
    pixels: Any,
    camera: PinholeCamera,
    rate: float,
    *,
    names: Sequence[str] | None = None,
    neutral: int | None = 0,
    window: float = SMOOTHING_SECONDS,
    alpha: float = WEIGHT_REGULARISATION,
    prior: Array | None = None,
) -> FaceSolution:
    """Weights and head of the landmarks pixels (F, L, 2), x right and y down as in the picture.

    `names` (L,), "lm00" to "lm67", identify the sliding outline of the cheeks, and the regions whose proportions may
    differ. `prior` (S, S) is the inverse covariance of a face's weights, as `weight_prior` gives it; without, `alpha`
    holds the weights back. The frame `neutral` shows the person's own neutral face; None says that person and model
    have the same proportions. `window` seconds of moving average, 0 for none.
    """
    pixels = checks.array(pixels, "pixels", ("F", len(basis.rest), 2))
    rate = checks.positive(rate, "rate")
    if not len(pixels):
        raise InvalidInput("pixels should have at least one frame, but have none")
    if not np.isfinite(window) or window < 0:
        raise InvalidInput(f"the window of the moving average should be 0 seconds or more, but is {window}")
    trust = np.ones(len(basis.rest)) if names is None else landmark_weights(tuple(names))
    if prior is not None:
        prior = checks.array(prior, "prior", (len(basis.names), len(basis.names)))
    subject = FaceModel(camera, basis.rest, basis.deltas, trust, checks.positive(alpha, "alpha"), prior)
    pose = None
    if neutral is not None:
        if not 0 <= neutral < len(pixels):
            raise InvalidInput(f"the neutral frame should lie between 0 and {len(pixels) - 1}, but is {neutral}")
        subject, pose = fit_neutral(subject, pixels[neutral], tuple(names or ()))
    elif prior is not None:
        subject = replace(subject, noise=UNKNOWN_FACE_NOISE_RATIO)
    poses = fit_frames(subject, pixels, pose)
    if prior is not None and neutral is not None:  # again, with the noise that the first fit has found
        heights = np.ptp(pixels[:, :, 1], axis=1)
        left = float(np.median([fitted.error for fitted in poses] / np.maximum(heights, 1e-9)))
        poses = fit_frames(replace(subject, noise=max(left, MIN_NOISE_RATIO)), pixels, pose)
    weights = moving_average(np.stack([fitted.weights for fitted in poses]), round(window * rate))
    return FaceSolution(
        basis.names,
        weights,
        np.stack([fitted.rotation for fitted in poses]),
        np.stack([fitted.shift for fitted in poses]),
        np.array([fitted.error for fitted in poses]),
        rate,
    )


def weight_prior(weights: Array, known: Array | None = None) -> Array:
    """(S, S) C^-1 of weights (F, S) seen before, about neutral: C = W'W / F + s^2 I.

    s is the deviation of a weight that is always 0 in them. Columns that are not `known` (S,) are free within 0 to 1.
    """
    count = weights.shape[1]
    covariance = weights.T @ weights / max(len(weights), 1) + UNSEEN_WEIGHT_DEVIATION**2 * np.eye(count)
    if known is not None:
        covariance[~known] = covariance[:, ~known] = 0.0
        covariance[~known, ~known] = FREE_WEIGHT_DEVIATION**2
    inverse: Array = np.linalg.inv(covariance)
    return inverse


def calm_frame(weights: Array, prior: Array) -> int | None:
    """The frame of weights (F, S) nearest to neutral; None where none stands out, as where a face always smiles."""
    sizes = np.einsum("fs,st,ft->f", weights, prior, weights)
    calm = int(np.argmin(sizes))
    return calm if sizes[calm] < CALM_RATIO * float(np.percentile(sizes, 95)) else None


def landmark_weights(names: tuple[str, ...]) -> Array:
    """(L,) how much each landmark counts: the outline of the cheeks less than the rest."""
    numbers = [landmark_number(name) for name in names]
    return np.array(
        [OUTLINE_LANDMARK_WEIGHT if n is not None and n <= 16 and not 6 <= n <= 10 else 1.0 for n in numbers]
    )


def fit_neutral(subject: FaceModel, pixels: Array, names: tuple[str, ...] = ()) -> tuple[FaceModel, HeadPose]:
    """The subject with its neutral landmarks moved to project onto those (L, 2) of a neutral picture, and its pose.

    The difference is the person's own proportions; their depth, which a picture does not show, stays the model's. With
    the `names` of the landmarks the shapes are brought to the same proportions, region by region.
    """
    pose = fit_frame(subject, pixels, initial_pose(subject, pixels), rigid=True)
    places = subject.neutral @ pose.rotation.T + pose.shift
    points = subject.camera.unproject(pixels, -places[:, 2])
    neutral = (points - pose.shift) @ pose.rotation
    deltas = subject.deltas * proportions(neutral, subject.neutral, names) if names else subject.deltas
    return replace(subject, neutral=neutral, deltas=deltas), pose


def fit_frames(subject: FaceModel, pixels: Array, pose: HeadPose | None = None) -> list[HeadPose]:
    """The pose of each frame of (F, L, 2), the first from `pose` or from scratch, the others from the one before."""
    poses: list[HeadPose] = []
    for frame in pixels:
        pose = fit_next_frame(subject, frame, pose)
        poses.append(pose)
    return poses


def fit_next_frame(subject: FaceModel, pixels: Array, pose: HeadPose | None) -> HeadPose:
    """The pose of one frame (L, 2) after that of the one before: live capture calls this as pictures come."""
    if pose is not None:
        pose = fit_frame(subject, pixels, pose)
        if pose.error <= MAX_FIT_ERROR_RATIO * float(np.ptp(pixels[:, 1])):
            return pose
    return fit_frame(subject, pixels, initial_pose(subject, pixels))


def initial_pose(subject: FaceModel, pixels: Array) -> HeadPose:
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
    shift = camera.unproject(centre, depth) - rotation @ middle
    return HeadPose(rotation, shift, np.zeros(len(subject.deltas)))


def fit_frame(
    subject: FaceModel, pixels: Array, pose: HeadPose, rigid: bool = False, rounds: int = MAX_GAUSS_NEWTON_STEPS
) -> HeadPose:
    """The pose nearest to landmarks (L, 2) in pixels, from a pose near it; with `rigid` the weights stay."""
    seen = landmarks_of(subject, pose)
    for _ in range(rounds):
        step = _step(subject, pixels, pose, seen, rigid)
        after = landmarks_of(subject, step)
        moved = float(np.linalg.norm(after - seen, axis=1).mean())
        pose, seen = step, after
        if moved < CONVERGENCE_PIXELS:
            break
    return replace(pose, error=float(np.linalg.norm(seen - pixels, axis=1).mean()))


def _step(subject: FaceModel, pixels: Array, pose: HeadPose, seen: Array, rigid: bool) -> HeadPose:
    count = 0 if rigid else len(pose.weights)
    shape = subject.neutral + np.tensordot(pose.weights, subject.deltas, 1)
    turned = shape @ pose.rotation.T
    slopes = subject.camera.slopes(turned + pose.shift)  # (L, 2, 3)
    jacobian = np.empty((len(pixels), 2, 6 + count))
    # a rotation w moves p by w x p: columns e_x x p, e_y x p, e_z x p
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
    if count and subject.prior is not None:
        h[6:, 6:] += (subject.noise * float(np.ptp(pixels[:, 1]))) ** 2 * subject.prior
    elif count:
        ridge[6:] = subject.alpha * np.diag(h)[6:].mean()
    h[np.diag_indices_from(h)] += ridge
    reach = 0.5 * float(np.linalg.norm(pose.shift))
    limit = np.concatenate([np.full(3, MAX_STEP_TURN_RAD), np.full(3, reach), np.ones(count)])
    low = np.concatenate([-limit[:6], np.zeros(count)])
    # rotations, shifts and weights have different units: each is scaled by its own diagonal
    unit = 1 / np.sqrt(np.diag(h))
    solution = (
        unit
        * solvers.solve_box_qp(
            h * np.outer(unit, unit), (j.T @ right * unit)[None], low / unit, limit / unit, now / unit
        )[0]
    )
    turn = quaternion.to_matrix(quaternion.exp(solution[:3]))
    weights = pose.weights if rigid else solution[6:]
    return HeadPose(turn @ pose.rotation, pose.shift + solution[3:6], weights)


def landmarks_of(subject: FaceModel, pose: HeadPose) -> Array:
    """(L, 2) pixels at which the landmarks of a pose are seen."""
    shape = subject.neutral + np.tensordot(pose.weights, subject.deltas, 1)
    return subject.camera.project(shape @ pose.rotation.T + pose.shift)


def moving_average(values: Array, window: int) -> Array:
    """(F, S) the mean of the `window` frames about each, made odd; near the ends of as many as both sides have."""
    half = min(window // 2, (len(values) - 1) // 2)
    if half < 1:
        return values
    total = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    frames = np.arange(len(values))
    reach = np.minimum(half, np.minimum(frames, len(values) - 1 - frames))
    means = (total[frames + reach + 1] - total[frames - reach]) / (2 * reach + 1)[:, None]
    return np.clip(means, values.min(axis=0), values.max(axis=0))  # sums of many frames leave their range by rounding


def head_angles(rotations: Array) -> Array:
    """(F, 3) yaw, pitch and roll in radians of R = Y P R (F, 3, 3), continuous from frame to frame."""
    r = rotations
    yaw = np.arctan2(r[:, 0, 2], r[:, 2, 2])
    pitch = np.arcsin(np.clip(-r[:, 1, 2], -1, 1))
    roll = np.arctan2(r[:, 1, 0], r[:, 1, 1])
    return np.unwrap(np.stack([yaw, pitch, roll], axis=1), axis=0)
