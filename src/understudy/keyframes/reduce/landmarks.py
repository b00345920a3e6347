"""What a reduction must not lose: peaks of the columns, joints that stand still, the seam of a loop."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array

PROMINENT = 12.0
"""A peak counts where its column has risen and falls again by this many tolerances: clearly more than the fit may be
off on both sides (two), and few enough that a breath, a dozen millimetres, is not forced into keys."""

STILL = 0.12  # metres a second: walking feet on the floor measure below 0.1 in captures, swinging ones above 0.5
SHORTEST_CONTACT = 0.1  # seconds; a foot in a run stays for 0.15
LOW = 0.12  # of the height that the joints span: toes and ankles are within it, knees are not
PEAK = 0.25  # share of its tolerance that a column may be off at a peak, so that peaks are not cut off
CONTACT = 0.5  # share of the tolerance that a joint may be off while it stands


def peaks(values: Array, lever: Array) -> Array:
    """(M,) bool: frames at which a column (M,) turns around after more than PROMINENT tolerances, by its lever (M,)."""
    found = np.zeros(len(values), bool)
    frames = values[::2] * 1.0
    scale = PROMINENT / np.maximum(lever[::2], 1e-12)
    high = low = 0
    direction = 0
    for f in range(1, len(frames)):
        if frames[f] > frames[high]:
            high = f
        if frames[f] < frames[low]:
            low = f
        if direction >= 0 and frames[high] - frames[f] > scale[high]:
            found[2 * high] = direction != 0
            direction, low = -1, f
        elif direction <= 0 and frames[f] - frames[low] > scale[low]:
            found[2 * low] = direction != 0
            direction, high = 1, f
    return found


def contacts(places: Array, rate: float) -> Array:
    """(M, J) bool: joints near the floor that stand still, of positions (M, J, 3), Y up, two samples a frame."""
    samples, joints = places.shape[:2]
    still = np.zeros((samples, joints), bool)
    if samples < 9 or joints < 2:
        return still
    height = places[..., 1]
    floor = np.percentile(height.min(axis=1), 5)
    span = float(np.median(height.max(axis=1) - height.min(axis=1)))
    reach = max(2, round(0.04 * 2 * rate))  # samples over which speed is averaged: jitter is not motion
    ahead, behind = np.minimum(np.arange(samples) + reach, samples - 1), np.maximum(np.arange(samples) - reach, 0)
    speed = np.linalg.norm(places[ahead] - places[behind], axis=-1) / ((ahead - behind) / (2 * rate))[:, None]
    still = (speed < STILL) & (height < floor + LOW * span)
    shortest = round(SHORTEST_CONTACT * 2 * rate)
    for j in range(joints):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], still[:, j].astype(np.int8), [0]])))
        for a, b in edges.reshape(-1, 2):
            if b - a < shortest:
                still[a:b, j] = False
    return still


def is_loop(values: Array, lever: Array, travelling: Array) -> bool:
    """Whether the last sample of values (M, C) goes on as the first began: places and steps agree, by levers (C, M).

    Steps may differ by what they change within a frame near the seam anyway. Columns that may be `travelling` (C,)
    (translations: a root walks away) may differ in value, if they agree in speed. An animation that does not move is no
    loop.
    """
    if len(values) < 9 or not np.any(np.ptp(values, axis=0) * lever.max(axis=1) > 1):
        return False
    own = lever[:, 0]
    gap = np.abs(values[-1] - values[0]) * own
    steps = np.concatenate([np.diff(values[-7::2], axis=0), np.diff(values[:7:2], axis=0)])  # three frames on each side
    bends = np.abs(np.diff(steps, axis=0))
    usual = np.max(np.delete(bends, 2, axis=0), axis=0)
    return bool(np.all((bends[2] - 1.5 * usual) * own < 0.2) and np.all((gap <= 0.5) | travelling))


def seam(column: Array, lever: float, frames: int = 3) -> tuple[float, float, float]:
    """Value at the start, value at the end and common slope a sample, of a looping column (M,).

    The slope is that of the line through the frames on both sides of the seam.
    """
    gap = column[-1] - column[0]
    near = min(2 * frames, (len(column) - 1) // 2)
    if abs(gap) * lever <= 0.5:
        middle = 0.5 * (column[0] + column[-1])
        first = last = middle
    else:
        first, last = float(column[0]), float(column[-1])
    t = np.arange(-near, near + 1)
    around = np.concatenate([column[-near - 1 : -1] - gap, column[: near + 1]])
    return float(first), float(last), float(t @ (around - around.mean()) / (t @ t))
