"""Which frame to pose next, and a pose to start from.

The next frame is the one whose pose reduces the variance of all frames most.

With S the covariance of the target's poses at the frames of the motions, given the pairs there are, and s^2 the noise,
a pose at frame c reduces the variance at frame f by

    S_fc^2 / (S_cc + s^2)

[Gaussian conditioning], so its gain is the mean of that over all frames. The frame with the greatest gain is taken, S
is conditioned on it, and so on. The first of them is in the middle of all frames, and gains little once its
surroundings are posed too; so each is then exchanged for the best one beside the others, until none is better [Fedorov
1972]. Listed best first, gains fall, and show when it is enough. A frame that is unlike all others gains little,
however uncertain; one that represents many gains much. Covariances are those of the source's poses (with a width
learned from the pairs where there are any): where the source repeats a pose, the target will too.

Contradictions between pairs count as noise, but a key pose is met (`gp.regression`), and so are the frames next
to it. So that noise is not white: it has a covariance over the poses as narrow as those residuals. With white noise,
which is averaged out by asking again, the same frame would be suggested again and again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character import Asset, Character, Clip
from understudy.character.body.ik import solve_ik
from understudy.character.body.joint_limits import Limits, find_free_joints
from understudy.character.body.markers import Markers, markers_of
from understudy.character.body.poses import PoseSequence, clip_of, concatenate_poses, squared_pose_distances
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.gp.regression import WHITE_NOISE_RATIO, GaussianProcess
from understudy.maths import quaternion, transform
from understudy.transfer.bone_map import BoneMap, bone_map
from understudy.transfer.corrections import PoseCorrections
from understudy.transfer.mapping import PoseMapping
from understudy.transfer.pairs import PosePairs, marker_name, sources_of
from understudy.transfer.physics.spring_limbs import start_poses
from understudy.transfer.retarget import retarget
from understudy.transfer.source import SourceMotion

MAX_CANDIDATE_FRAMES = 1500  # evenly spread: a tenth of a second apart in two and a half minutes
MAX_EXCHANGE_SWEEPS = 20  # five usually suffice
MIN_EXCHANGE_GAIN_RATIO = 1e-9  # of a gain: less is rounding, which could exchange to and fro
# Noise over the variance where there are no pairs to learn it from: two poses of one frame are never quite alike.
DEFAULT_NOISE_VARIANCE_RATIO = 0.01


@dataclass(frozen=True)
class PoseSuggestion:
    """A frame to pose. Errors are what the model expects of a marker's coordinate, metres root mean square."""

    motion: str
    frame: int
    time: float  # seconds of the file's clock
    uncertainty: float  # metres, at this frame, before any of the list is posed
    gain: float  # share of the variance over all frames that this pose removes, after those before it
    error_after: float  # metres, over all frames, with this and all before it posed


def suggest_poses(
    motions: Asset | Mapping[str, SourceMotion], pairs: PosePairs | None = None, count: int = 10
) -> list[PoseSuggestion]:
    """Which frames of the actor to pose next: those whose poses tell most about all the others.

    Args:
        motions: The motions to choose from: an `Asset` with all its animations, or `SourceMotion`s by name.
        pairs: The pairs that there are; None where there are none yet.
        count: Number of frames to suggest.

    Returns:
        The frames, best first: each with its `motion`, `frame`, `time` in seconds, the `gain` as a share of the
        variance of all frames, and the expected `uncertainty` and `error_after` in metres. They belong together: a
        shorter list may hold other frames.

    Raises:
        InvalidInput: If there is no motion, or the motions have other points than the pairs.

    Example:
        >>> actor = us.load("actor")
        >>> first, second = us.suggest_poses(actor, count=2)
        >>> first.gain > second.gain, first.motion in [clip.name for clip in actor.animations]
        (True, True)
    """
    sources = sources_of(motions, "motion") if isinstance(motions, Asset) else motions
    if not sources:
        raise InvalidInput("suggesting poses needs at least one motion, but none is given")
    names, frames, poses = _candidates(sources)
    known = None if pairs is None else pairs.source.reshape(len(pairs), -1)
    if known is not None and known.shape[1] != poses.shape[1]:
        raise InvalidInput(f"the motions have {poses.shape[1] // 3} points, but the pairs have {known.shape[1] // 3}")
    S, noise, scale = _covariance(poses, pairs)
    first = np.sqrt(np.maximum(np.diag(S), 0) + noise) * scale
    chosen, gains, after = order_by_gain(S, noise, exchange_search(S, noise, count))
    return [
        PoseSuggestion(
            names[c],
            int(frames[c]),
            sources[names[c]].start + float(frames[c]) / sources[names[c]].rate,
            float(first[c]),
            float(gain),
            float(np.sqrt(rest) * scale),
        )
        for c, gain, rest in zip(chosen, gains, after)
    ]


def find_starting_pose(
    source: SourceMotion,
    frame: int,
    target: Character,
    *,
    markers: Markers | None = None,
    pairs: PosePairs | None = None,
    mapping: PoseMapping | None = None,
    corrections: PoseCorrections | None = None,
    limits: Limits | None = None,
) -> PoseSequence:
    """One pose of the target to start from, for a frame of the source: where the actor is, with the same heading.

    With pairs, the mapping gives the pose. Without pairs, the bones of both bodies do where both have arms and legs,
    and otherwise it is the rest pose with the head turned alike: "the animator always started by matching the
    orientation of the character's root joint to that of the human. Another common operation was to match the direction
    of the faces" [Yamane 2010, section 7].
    """
    if not 0 <= frame < len(source):
        raise InvalidInput(
            f"a frame of motion {source.name!r} should lie between 0 and {len(source) - 1}, but is {frame}"
        )
    local = source.local[[frame]]
    if pairs is not None and mapping is not None:
        start = start_poses(pairs, local, (), source.rate)
        points = mapping.map(local).points
        freedom = find_free_joints(pairs.poses)
        pose = solve_ik(pairs.markers, target.skeleton, points, start=start, limits=limits, freedom=freedom)
        return pose.apply_transform(source.frames[[frame]])
    performer, own = None if source.character is None else bone_map(source.character), bone_map(target)
    if performer is not None and source.poses is not None and not (performer.missing or own.missing):
        pose = retarget(source.poses, performer, own).row(frame)
        return pose if corrections is None else corrections.apply(pose, local)[0]
    markers = markers_of(target) if markers is None else markers
    rest = PoseSequence.rest(target.skeleton, 1, source.rate)
    pose = rest.apply_transform(source.frames[[frame]] @ transform.invert_rigid(markers.frames(rest.world)))
    if performer is None or source.poses is None or not {"Head"} <= set(performer.bones) & set(own.bones):
        return pose
    return _turn_head(pose, own, performer, source.poses.row(frame))


def poses_to_edit(moments: Sequence[tuple[str, int]], poses: Sequence[PoseSequence], name: str) -> Clip:
    """Poses (one row each) as one clip, a second apart and at one place, each with a marker that names its frame.

    Args:
        moments: Motion and frame of each pose.
        poses: The poses.
        name: Name of the clip.
    """
    rows = concatenate_poses(list(poses))
    markers = markers_of(rows.skeleton)
    still = rows.apply_transform(transform.invert_rigid(markers.frames(rows.world)))
    clip = clip_of(PoseSequence(still.skeleton, still.translations, quaternion.unroll(still.rotations), 1.0), name)
    named = {marker_name(*moment): float(number) for number, moment in enumerate(moments)}
    return Clip(clip.name, clip.channels, clip.values, clip.rate, moments=named)


def _turn_head(pose: PoseSequence, own: BoneMap, performer: BoneMap, performed: PoseSequence) -> PoseSequence:
    """The pose (one row) with the head turned in the world as the performer's is."""
    head, theirs = own.bones["Head"], performer.bones["Head"]
    turned = performed.world[0, theirs, :3, :3] @ np.linalg.inv(performer.rest[theirs, :3, :3])
    wanted = turned @ performer.axes @ own.axes.T @ own.rest[head, :3, :3]
    above = int(pose.skeleton.parents[head])
    local = wanted if above < 0 else np.linalg.inv(pose.world[0, above, :3, :3]) @ wanted
    rotations = np.array(pose.rotations)
    rotations[0, head] = quaternion.from_matrix(local / np.linalg.norm(local, axis=0))
    return PoseSequence(pose.skeleton, pose.translations, rotations, pose.rate)


def choose_pairs(pairs: PosePairs, count: int) -> list[int]:
    """The numbers of the `count` pairs that would be suggested if all pairs were the motion."""
    S, noise, _ = _covariance(pairs.source.reshape(len(pairs), -1), None)
    return exchange_search(S, noise, count)


def exchange_search(S: Array, noise: float, count: int) -> list[int]:
    """The `count` frames of covariance S (n, n) that leave least variance: chosen greedily, exchanged while that helps.

    Without frame i of the set A, frame c would remove sum_f S'_fc^2 / (S'_cc + s^2) of the variance left, with S' given
    all others of A. S S is computed once, so that no S' is ever written out: with a = (S_AA + s^2)^-1 S_Ac,

        sum_f S'_fc^2 = Q_cc - 2 a.Q_Ac + a.Q_AA a,    S'_cc = S_cc - a.S_Ac,    Q = S S
    """
    S = np.asarray(S)
    Q = S @ S
    chosen: list[int] = []
    for _ in range(min(count, len(S))):
        chosen.append(int(_gains(S, Q, noise, chosen).argmax()))
    for _ in range(MAX_EXCHANGE_SWEEPS):
        before = list(chosen)
        for i in range(len(chosen)):
            others = chosen[:i] + chosen[i + 1 :]
            gain = _gains(S, Q, noise, others)
            best = int(gain.argmax())
            if gain[best] > gain[chosen[i]] * (1 + MIN_EXCHANGE_GAIN_RATIO):
                chosen[i] = best
        if chosen == before:
            break
    return chosen


def order_by_gain(S: Array, noise: float, chosen: Sequence[int]) -> tuple[list[int], list[float], list[float]]:
    """Chosen frames of covariance S (n, n), best first, the share of all variance each removes, and the mean left."""
    S = np.array(S)
    waiting, order = list(chosen), []
    gains, after = [], []
    whole = float(np.trace(S)) / len(S)
    while waiting:
        columns = S[:, waiting]
        variance = np.maximum(columns[waiting, np.arange(len(waiting))], 0.0) + noise
        gain = np.einsum("fc,fc->c", columns, columns) / variance / len(S)
        best = int(gain.argmax())
        S -= np.outer(columns[:, best], columns[:, best]) / variance[best]
        order.append(waiting.pop(best))
        gains.append(float(gain[best]) / whole if whole > 0 else 0.0)
        after.append(max(float(np.trace(S)) / len(S), 0.0))
    return order, gains, after


def _gains(S: Array, Q: Array, noise: float, given: list[int]) -> Array:
    """(n,) the variance that each frame would remove beside the `given` frames, -1 for the given ones themselves."""
    left, variance = np.diag(Q).copy(), np.diag(S).copy()
    if given:
        tied, squares = S[given], Q[given]
        a = np.linalg.solve(tied[:, given] + noise * np.eye(len(given)), tied)
        left += np.einsum("ac,ac->c", a, squares[:, given] @ a - 2 * squares)
        variance -= np.einsum("ac,ac->c", a, tied)
    gain = np.maximum(left, 0.0) / (np.maximum(variance, 0.0) + noise)
    gain[given] = -1.0
    return gain


def _candidates(sources: Mapping[str, SourceMotion]) -> tuple[list[str], Array, Array]:
    """Motions, frames (n,) and poses (n, D) to choose from, evenly spread over all motions."""
    total = sum(len(source) for source in sources.values())
    step = max(1, -(-total // MAX_CANDIDATE_FRAMES))
    motions, frames, poses = [], [], []
    width = next(iter(sources.values())).points.shape[1]
    for name, source in sources.items():
        if source.points.shape[1] != width:
            raise InvalidInput(
                f"motion {name!r} should have {width} points as the first has, but has {source.points.shape[1]}"
            )
        picked = np.arange(min(step // 2, len(source) - 1), len(source), step)
        motions += [name] * len(picked)
        frames.append(picked)
        poses.append(source.local[picked].reshape(len(picked), -1))
    return motions, np.concatenate(frames), np.concatenate(poses)


def _covariance(poses: Array, pairs: PosePairs | None) -> tuple[Array, float, float]:
    """(n, n) covariance of the target at poses (n, D) given the pairs, its noise, and metres to its unit."""
    if pairs is None:
        squares = squared_pose_distances(*(2 * [poses / _typical_distance(poses)]))
        return np.exp(-0.5 * squares), DEFAULT_NOISE_VARIANCE_RATIO, float("nan")
    model = GaussianProcess().fit(pairs.source.reshape(len(pairs), -1), pairs.target.reshape(len(pairs), -1))
    scale = max(model.noise_, 1e-18)
    return model.covariance(poses, poses) / scale, WHITE_NOISE_RATIO, float(np.sqrt(scale))


def _typical_distance(poses: Array) -> float:
    """The root mean square distance of poses from their mean: the width of the covariance without pairs."""
    spread = poses - poses.mean(axis=0)
    return max(float(np.sqrt((spread**2).sum(axis=1).mean())), 1e-12)
