"""Landmarks of a film to weights: one projected fit a frame, each from the one before, then a moving average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import checks
from understudy.character import Channel, Clip
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.expression.capture.camera import Camera
from understudy.expression.capture.fit import ALPHA, Pose, Subject, fitted, made_neutral, start, trust_of
from understudy.expression.onto_model import Basis
from understudy.formats.arkit_names import ANGLES

WINDOW = 0.17  # seconds of the moving average: five frames at 30 a second
LOST = 0.08  # of the face's height: a fit that misses by more has run away, and the frame begins afresh


@dataclass(frozen=True, eq=False)
class Solution:
    """What a film shows, frame by frame."""

    names: tuple[str, ...]  # (S,) of the shapes
    weights: Array  # (F, S)
    rotations: Array  # (F, 3, 3) of the head in the camera's space: none where it looks into the camera
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
            channels.append(Channel("", "controls", ANGLES[:3]))
            columns.append(head_angles(self.rotations))
        return Clip(name, channels, np.concatenate(columns, axis=1), self.rate)


def solved(
    basis: Basis,
    pixels: Any,
    camera: Camera,
    rate: float,
    *,
    names: Sequence[str] | None = None,
    neutral: int | None = 0,
    window: float = WINDOW,
    alpha: float = ALPHA,
) -> Solution:
    """Weights and head of the landmarks pixels (F, L, 2), x right and y down as in the picture.

    `names` (L,), "lm00" to "lm67", tell the sliding outline of the cheeks, and the regions whose proportions may
    differ. The frame `neutral` shows the person's own neutral face; None says that person and model have the same
    proportions. `window` seconds of moving average, 0 for none.
    """
    pixels = checks.array(pixels, "pixels", ("F", len(basis.rest), 2))
    rate = checks.positive(rate, "rate")
    if not len(pixels):
        raise InvalidInput("pixels should have at least one frame, but have none")
    if not np.isfinite(window) or window < 0:
        raise InvalidInput(f"the window of the moving average should be 0 seconds or more, but is {window}")
    trust = np.ones(len(basis.rest)) if names is None else trust_of(tuple(names))
    subject = Subject(camera, basis.rest, basis.deltas, trust, checks.positive(alpha, "alpha"))
    pose = None
    if neutral is not None:
        if not 0 <= neutral < len(pixels):
            raise InvalidInput(f"the neutral frame should lie between 0 and {len(pixels) - 1}, but is {neutral}")
        subject, pose = made_neutral(subject, pixels[neutral], tuple(names or ()))
    poses = followed(subject, pixels, pose)
    weights = moving_average(np.stack([each.weights for each in poses]), round(window * rate))
    return Solution(
        basis.names,
        weights,
        np.stack([each.rotation for each in poses]),
        np.stack([each.shift for each in poses]),
        np.array([each.error for each in poses]),
        rate,
    )


def followed(subject: Subject, pixels: Array, pose: Pose | None = None) -> list[Pose]:
    """The pose of each frame of (F, L, 2), the first from `pose` or from nothing, the others from the one before."""
    poses: list[Pose] = []
    for frame in pixels:
        pose = step(subject, frame, pose)
        poses.append(pose)
    return poses


def step(subject: Subject, pixels: Array, pose: Pose | None) -> Pose:
    """The pose of one frame (L, 2) after that of the one before: live capture calls this as pictures come."""
    if pose is not None:
        pose = fitted(subject, pixels, pose)
        if pose.error <= LOST * float(np.ptp(pixels[:, 1])):
            return pose
    return fitted(subject, pixels, start(subject, pixels))


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
