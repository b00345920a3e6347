"""Pose pairs as corrections: what is learnt is how the poses that were made differ from the plain retarget.

Where both bodies have arms and legs, the motion on the character needs no pairs (`retarget`). A pair then says what is
different about this character: a hunched back, short steps, arms that never hang. With R_j the rotation of joint j
relative to its parent in the plain retarget, R'_j the one that was made, and l_j the reach of the joint,

    x = (l_j log(R_j^-1 R'_j), t'_j - t_j),      x(y) by a Gaussian process with mean zero from the actor's pose y

Far from all pairs, and without any, the plain retarget stays as it is; one pair corrects what is like it; many make a
style. Lengths l_j make turns comparable to moves: x is in metres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.regression import GaussianProcess
from understudy.maths import quaternion, transform
from understudy.schema import Estimator
from understudy.transfer.actor import Actor
from understudy.transfer.bone_map import BoneMap, bone_map
from understudy.transfer.mapping import left_out_errors, pair_error
from understudy.transfer.pairs import PosePairs
from understudy.transfer.retarget import retarget

MIN_TURN_RAD, MIN_MOVE_RATIO = 1e-4, 1e-5  # less than this, the second over the height, is rounding
# Distance of two poses of a person over the height and the square root of the number of points, where pairs are too few
# to tell: that of the pairs of the cast is 0.22, of captures with little motion 0.05 to 0.1.
USUAL_POSE_DISTANCE_RATIO = 0.2
MIN_PAIRS_FOR_DISTANCE = 6
MIN_PAIRS_FOR_CHOICE = 2  # one says nothing about what a pair that is left out would be missed by


@dataclass(frozen=True, eq=False)
class PoseCoordinates:
    """The joints that corrections turn and move, and the reach of each."""

    turning: Array  # (n,) joints
    moving: Array  # (m,) joints
    reach: Array  # (n,) metres

    def difference(self, plain: PoseSequence, made: PoseSequence) -> Array:
        """(N, 3 n + 3 m) metres from plain poses to those that were made."""
        turns = quaternion.multiply(quaternion.conjugate(plain.rotations), made.rotations)[:, self.turning]
        vectors = quaternion.to_rotation_vector(quaternion.positive_hemisphere(turns)) * self.reach[:, None]
        moves = (made.translations - plain.translations)[:, self.moving]
        return np.concatenate([vectors.reshape(len(plain), -1), moves.reshape(len(plain), -1)], axis=1)

    def add(self, plain: PoseSequence, difference: Array) -> PoseSequence:
        """The poses that differ from the plain ones by (N, 3 n + 3 m) metres."""
        turns, moves = np.split(difference, [3 * len(self.turning)], axis=1)
        rotations, translations = np.array(plain.rotations), np.array(plain.translations)
        vectors = turns.reshape(len(plain), -1, 3) / self.reach[:, None]
        turned = quaternion.multiply(rotations[:, self.turning], quaternion.from_rotation_vector(vectors))
        rotations[:, self.turning] = quaternion.normalise(turned)
        translations[:, self.moving] += moves.reshape(len(plain), -1, 3)
        return PoseSequence(plain.skeleton, translations, rotations, plain.rate)


class PoseCorrections(Estimator):
    """Corrections of the plain retarget, learnt from one pair or more.

    After `fit`: `pairs_`, `model_`, `coordinates_`, and `left_out_`, the metres that markers of a pair that is left out
    are missed by, by method (NaN for a single pair).
    """

    pairs_: PosePairs
    model_: GaussianProcess
    coordinates_: PoseCoordinates
    left_out_: dict[str, float]

    def fit(self, pairs: PosePairs, target: BoneMap) -> PoseCorrections:
        """Learn from pairs.

        Args:
            pairs: The pairs, of an actor with a skeleton.
            target: The bones of the character.

        Returns:
            The corrections themselves.

        Raises:
            InvalidInput: If the actor or the character lacks arms or legs.
        """
        if pairs.actor is None or pairs.performed is None:
            raise InvalidInput("corrections need pairs of an actor with a skeleton, but these are of bare markers")
        plain = self._local(retarget(pairs.performed, bone_map(pairs.actor.character).require(), target), pairs)
        self.pairs_, self.coordinates_ = pairs, find_coordinates(plain, pairs)
        Y = pairs.source.reshape(len(pairs), -1)
        self.model_ = GaussianProcess(centred=False, unit=_pose_distance(pairs)).fit(
            Y, self.coordinates_.difference(plain, pairs.poses)
        )
        self.left_out_ = {"corrections": float("nan")}
        if len(pairs) > 1:
            predicted = self.coordinates_.add(plain, self.model_.predictions_)
            self.left_out_["corrections"] = pair_error(pairs.markers.local(predicted.world), pairs.target)
        return self

    @property
    def actor(self) -> Actor:
        """The actor of the pairs."""
        assert self.pairs_.actor is not None  # as `fit` checks
        return self.pairs_.actor

    def apply(self, plain: PoseSequence, local: Array) -> tuple[PoseSequence, Array]:
        """The plain retarget (F) corrected, and the variance (F,) of a coordinate, square metres.

        Args:
            plain: The plain retarget.
            local: Points (F, P, 3) of the actor in the local frame (`SourceMotion.local`).
        """
        frames = self.pairs_.markers.frames(plain.world)
        vectors, variance = self.model_.predict(local.reshape(len(local), -1))
        poses = self.coordinates_.add(self._local(plain, self.pairs_), vectors)
        return poses.apply_transform(frames), variance

    @staticmethod
    def _local(poses: PoseSequence, pairs: PosePairs) -> PoseSequence:
        """Poses over the origin, facing +Z, as those of pairs are."""
        return poses.apply_transform(transform.invert_rigid(pairs.markers.frames(poses.world)))


def fit_corrections(pairs: PosePairs, target: BoneMap) -> PoseCorrections | None:
    """Corrections where they predict left-out pairs better than the pairs alone do, and always for a single pair.

    None where the bodies have no bones in common, or the pairs alone are better: a penguin's poses have little to do
    with what a person's bones say.
    """
    if pairs.actor is None or target.missing or bone_map(pairs.actor.character).missing:
        return None
    corrections = PoseCorrections().fit(pairs, target)
    if len(pairs) < MIN_PAIRS_FOR_CHOICE:
        return corrections
    corrections.left_out_ |= left_out_errors(pairs)
    best = min(corrections.left_out_, key=corrections.left_out_.__getitem__)
    return corrections if best == "corrections" else None


def find_coordinates(plain: PoseSequence, pairs: PosePairs) -> PoseCoordinates:
    """The joints in which poses that were made differ from plain ones, and their reach: to the markers below them."""
    made, skeleton = pairs.poses, pairs.poses.skeleton
    angles = quaternion.angle_between(plain.rotations, made.rotations).max(axis=0)
    height = float(np.ptp(pairs.target[..., 1])) or 1.0
    moves = np.abs(made.translations - plain.translations).max(axis=(0, 2))
    places, points = made.world[0, :, :3, 3], pairs.markers.positions(made.world[:1])[0]
    squares = np.zeros(len(skeleton))
    for point, joint in zip(points, pairs.markers.joints):
        above = skeleton.ancestors(int(joint))
        squares[above] += ((point - places[above]) ** 2).sum(axis=1)
    reach = np.maximum(np.sqrt(squares / len(points)), 0.01 * height)
    turning = np.flatnonzero(angles > MIN_TURN_RAD)
    return PoseCoordinates(turning, np.flatnonzero(moves > MIN_MOVE_RATIO * height), reach[turning])


def _pose_distance(pairs: PosePairs) -> float | None:
    """Usual distance of two poses of the actor, metres; None where there are pairs enough to tell."""
    if len(pairs) >= MIN_PAIRS_FOR_DISTANCE:
        return None
    height = float(np.ptp(pairs.source[..., 1]))
    return USUAL_POSE_DISTANCE_RATIO * height * float(np.sqrt(pairs.source.shape[1]))
