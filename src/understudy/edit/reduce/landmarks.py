"""What a reduction must not lose: cuts, planted joints, peaks, poses, and the seam of a loop.

All are found in the source, before any key is placed. Samples are counted as in `source.SampledAnimation`, `frame` of
them in a frame.
"""

from __future__ import annotations

import numpy as np

from understudy.character import Channels
from understudy.checks import Array
from understudy.maths import euler, quaternion
from understudy.maths.resample import gaussian_smooth

CUT_ANGLE_RAD = np.radians(40.0)  # from frame to frame: 4,800 degrees a second at 120 fps, 960 at 24
CUT_TOLERANCES = 20.0  # tolerances by which a column that is no rotation jumps from frame to frame
CUT_NEIGHBOUR_FACTOR = 4.0  # multiple of the median of the steps around it: fast motion is no cut
CUT_NEIGHBOURS = 4  # steps on each side
MAX_CUT_BEND_RATIO = 0.01  # of the step: what is bent between two frames is motion
MIN_JUMP_RATIO = 0.01  # of CUT_ANGLE_RAD: a smaller step is no jump, however still the joint is otherwise

PEAK_PROMINENCE_TOLERANCES = 12.0
"""Prominence of a peak, in tolerances by which its column rises before and falls after it: clearly more than the error
of the fit on both sides (two), and not so few that a breath, a dozen millimetres, is forced into keys. Between two
poses some joint moves as far."""

PLANTED_SPEED_HEIGHTS_S = 0.07  # heights a second, 0.12 m/s of a person: feet on the floor stay below, swinging do not
PLANTED_HEIGHT_RATIO = 0.12  # of the height that the joints span: toes and ankles are below it, knees are not
MIN_PLANTED_SECONDS = 0.1  # a foot in a run stays for 0.15
PLANTED_POSITION_RATIO = 0.5  # of the tolerance that a planted joint may be off
PLANTED_SPEED_FACTOR = 1.2  # times its top speed in the source nearby, that a planted joint may have
MIN_PLANTED_SPEED_HEIGHTS_S = 0.01  # heights a second that it may always have: 2 cm/s of a person
PLANTED_SHARE_HEIGHTS = 0.0012
"""Error of planted joints at which the search begins, in heights: 2 mm of a person. Curves with ten keys a second turn
it into a few centimetres a second."""

SPEED_WINDOW_SECONDS = 0.04  # on each side, over which speed is averaged: jitter is not motion
MAX_POSE_GAP_SECONDS = 1.0
MIN_POSE_GAP_SECONDS = 0.1  # poses that are nearer to each other are one
POSE_SMOOTHING_SECONDS = 0.05  # deviation of the Gaussian over the speed of the body, whose minima are poses


def find_cuts(channels: Channels, values: Array, lever: Array, frame: int) -> Array:
    """(F - 1, N) bool: the frames after which each of N channels jumps; values (M, C), lever (C,), tolerances per unit.

    A jump is much larger than the steps around it, and straight. A channel is cut where it jumps far, and a rotation
    also where it jumps at all while another is cut, as after a T-pose in front of a capture.
    """
    frames = (len(values) - 1) // frame
    steps, bends = np.zeros((2, frames, len(channels)))
    turning = np.zeros(len(channels), bool)
    early = max(frame // 4, frame // 2 if frame < 4 else 0)  # a sample between frames: an ease is straight midway
    for i, channel in enumerate(channels):
        own = values[:, int(channels.offsets[i]) : int(channels.offsets[i + 1])]
        turning[i] = channel.kind in ("euler", "rotation")
        if channel.kind == "euler":
            own = euler.from_euler(own, "".join(channel.columns))
        one, other, between = own[:-1:frame], own[frame::frame], own[early::frame][:frames]
        share = early / frame
        straight = quaternion.slerp(one, other, share) if turning[i] else (1 - share) * one + share * other
        for result, before, after in ((steps, one, other), (bends, straight, between)):
            if turning[i]:
                result[:, i] = quaternion.angle_between(before, after) / CUT_ANGLE_RAD
            else:
                own_lever = lever[int(channels.offsets[i]) : int(channels.offsets[i + 1])]
                result[:, i] = np.abs((before - after) * own_lever).max(axis=1) / CUT_TOLERANCES
    cuts = np.zeros(steps.shape, bool)
    for f in np.flatnonzero((steps > 1).any(axis=1)):
        near = np.concatenate([steps[max(f - CUT_NEIGHBOURS, 0) : f], steps[f + 1 : f + 1 + CUT_NEIGHBOURS]])
        if len(near):
            jumps = steps[f] > np.maximum(CUT_NEIGHBOUR_FACTOR * np.median(near, axis=0), MIN_JUMP_RATIO)
            if frame > 1:  # else there is no sample between the frames
                jumps &= bends[f] <= MAX_CUT_BEND_RATIO * steps[f]
            cuts[f] = jumps & ((steps[f] > 1) | (turning & (jumps & turning & (steps[f] > 1)).any()))
    return cuts


def find_peaks(values: Array, lever: Array, frame: int) -> Array:
    """(M,) bool: the peaks of a column (M,), by PEAK_PROMINENCE_TOLERANCES and its lever (M,), tolerances per unit."""
    peaks = np.zeros(len(values), bool)
    frames = values[::frame].tolist()
    scale = (PEAK_PROMINENCE_TOLERANCES / np.maximum(lever[::frame], 1e-12)).tolist()
    high = low = 0
    direction = 0
    for f in range(1, len(frames)):
        if frames[f] > frames[high]:
            high = f
        if frames[f] < frames[low]:
            low = f
        if direction >= 0 and frames[high] - frames[f] > scale[high]:
            peaks[frame * high] = direction != 0
            direction, low = -1, f
        elif direction <= 0 and frames[f] - frames[low] > scale[low]:
            peaks[frame * low] = direction != 0
            direction, high = 1, f
    return peaks


def body_height(places: Array) -> float:
    """The height that joints (M, J, 3), Y up, span: the median over time, metres."""
    return float(np.median(np.ptp(places[..., 1], axis=1))) if places.size else 0.0


def find_planted(places: Array, sample_rate: float) -> Array:
    """(M, J) bool: joints that are slow and near the floor; positions (M, J, 3), Y up."""
    samples, joints = places.shape[:2]
    planted = np.zeros((samples, joints), bool)
    if samples < 9 or joints < 2:
        return planted
    height = places[..., 1]
    floor, span = np.percentile(height.min(axis=1), 5), body_height(places)
    planted = (joint_speeds(places, sample_rate) < PLANTED_SPEED_HEIGHTS_S * span) & (
        height < floor + PLANTED_HEIGHT_RATIO * span
    )
    shortest = round(MIN_PLANTED_SECONDS * sample_rate)
    for j in range(joints):
        for a, b in runs(planted[:, j]):
            planted[a:b, j] = b - a >= shortest
    return planted


def step_limits(places: Array, planted: Array, sample_rate: float) -> Array:
    """(M, J) metres that planted joints may move from the sample before, infinite for others.

    That is PLANTED_SPEED_FACTOR times their top speed in the source nearby, within MIN_PLANTED_SECONDS.
    """
    from scipy.ndimage import maximum_filter1d

    steps = np.zeros(places.shape[:2])
    steps[1:] = np.linalg.norm(np.diff(places, axis=0), axis=-1)
    both = planted.copy()
    both[0] = False
    both[1:] &= planted[:-1]
    steps[~both] = 0.0  # what a foot does in the air is no measure
    window = 2 * max(1, round(MIN_PLANTED_SECONDS * sample_rate)) + 1
    limits = PLANTED_SPEED_FACTOR * maximum_filter1d(steps, window, axis=0)
    limits = np.maximum(limits, MIN_PLANTED_SPEED_HEIGHTS_S * body_height(places) / sample_rate)
    return np.where(both, limits, np.inf)


def joint_speeds(places: Array, sample_rate: float) -> Array:
    """(M, J) metres a second over SPEED_WINDOW_SECONDS, the least of those before, after and around each sample."""
    samples = len(places)
    reach = min(max(1, round(SPEED_WINDOW_SECONDS * sample_rate)), samples - 1)
    ahead = np.linalg.norm(places[reach:] - places[:-reach], axis=-1) * (sample_rate / reach)  # (M - reach, J)
    before, after = (np.full(places.shape[:2], np.inf) for _ in range(2))
    after[: samples - reach], before[reach:] = ahead, ahead
    speed: Array = np.minimum(before, after)
    if samples > 2 * reach:
        around = np.linalg.norm(places[2 * reach :] - places[: -2 * reach], axis=-1) * (0.5 * sample_rate / reach)
        np.minimum(speed[reach:-reach], around, out=speed[reach:-reach])
    return speed


def find_poses(places: Array, planted: Array, tolerance: float, sample_rate: float, frame: int) -> Array:
    """(M,) bool: the frames that get a key of every channel, both ends included.

    These are the ends of contacts (of `planted` (M, J) joints), the moments at which the body moves least between two
    motions of a joint (positions (M, J, 3) about their centre) by PEAK_PROMINENCE_TOLERANCES, and as many between them
    as MAX_POSE_GAP_SECONDS asks for.
    """
    samples = len(places)
    ends = [0, samples - 1]
    gap = max(MIN_POSE_GAP_SECONDS * sample_rate, frame)

    def is_free(sample: int) -> bool:
        return all(abs(sample - other) >= gap for other in ends)

    contacts = np.unique(np.concatenate([np.zeros(0, int), *(runs(column).ravel() for column in planted.T)]))
    for sample in contacts.tolist():
        on_frame = min(round(sample / frame) * frame, samples - 1)
        if is_free(on_frame):
            ends.append(on_frame)
    if places.shape[1] and samples > 2 * frame:
        shape = places - places.mean(axis=1, keepdims=True)
        speed = np.linalg.norm(joint_speeds(shape, sample_rate), axis=1)
        speed = gaussian_smooth(speed[:, None], POSE_SMOOTHING_SECONDS * sample_rate)[::frame, 0]
        slow = frame * (1 + np.flatnonzero((speed[1:-1] <= speed[:-2]) & (speed[1:-1] < speed[2:])))
        last = shape[0]
        for sample in slow.tolist():
            moved = np.linalg.norm(shape[sample] - last, axis=-1).max()
            if moved > PEAK_PROMINENCE_TOLERANCES * tolerance and is_free(sample):
                ends.append(sample)
                last = shape[sample]
    poses = np.zeros(samples, bool)
    poses[ends] = True
    return fill_gaps(poses, round(MAX_POSE_GAP_SECONDS * sample_rate), frame)


def fill_gaps(pinned: Array, widest: int, frame: int) -> Array:
    """(M,) bool: the samples `pinned`, with frames between them so that no two neighbours are wider apart."""
    pinned = pinned.copy()
    at = np.flatnonzero(pinned)
    for a, b in zip(at[:-1].tolist(), at[1:].tolist()):
        parts = -(-(b - a) // max(widest // frame * frame, frame))
        pinned[a + np.arange(1, parts) * ((b - a) // frame) // parts * frame] = True
    return pinned


def is_loop(values: Array, lever: Array, travelling: Array, frame: int) -> bool:
    """Whether the values (M, C) are a loop: last and first sample agree in value and step, by levers (C, M).

    Steps may differ by as much as they change from frame to frame near the seam anyway. Columns that may be
    `travelling` (C,) (translations: a root walks away) may differ in value, if they agree in speed. An animation that
    does not move is no loop.
    """
    frames = values[::frame]
    if len(frames) < 5 or not np.any(np.ptp(values, axis=0) * lever.max(axis=1) > 1):
        return False
    first = lever[:, 0]
    gap = np.abs(frames[-1] - frames[0]) * first
    steps = np.concatenate([np.diff(frames[-4:], axis=0), np.diff(frames[:4], axis=0)])  # three frames on each side
    bends = np.abs(np.diff(steps, axis=0))
    usual = np.max(np.delete(bends, 2, axis=0), axis=0)
    return bool(np.all((bends[2] - 1.5 * usual) * first < 0.2) and np.all((gap <= 0.5) | travelling))


def loop_seam(column: Array, lever: float, frame: int) -> tuple[float, float, float]:
    """Value at the start, value at the end and common slope per sample, of a looping column (M,).

    The slope is that of the line through the frames on both sides of the seam.
    """
    gap = column[-1] - column[0]
    near = min(3 * frame, (len(column) - 1) // 2)
    if abs(gap) * lever <= 0.5:
        middle = 0.5 * (column[0] + column[-1])
        first = last = middle
    else:
        first, last = float(column[0]), float(column[-1])
    t = np.arange(-near, near + 1)
    around = np.concatenate([column[-near - 1 : -1] - gap, column[: near + 1]])
    return float(first), float(last), float(t @ (around - around.mean()) / (t @ t))


def runs(mask: Array) -> Array:
    """(S, 2) where runs of True in a mask (M,) begin and end."""
    return np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))).reshape(-1, 2)


def away_from(pinned: Array, others: Array, sample_rate: float) -> Array:
    """(M,) bool: those of the samples `others` (M,) that are not nearer than MIN_POSE_GAP_SECONDS to a pinned one."""
    at, near = np.flatnonzero(pinned), max(1, round(MIN_POSE_GAP_SECONDS * sample_rate))
    kept = others.copy()
    for sample in np.flatnonzero(others):
        kept[sample] = len(at) == 0 or np.abs(at - sample).min() >= near
    return kept
