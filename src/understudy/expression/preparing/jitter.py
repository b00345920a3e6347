"""The jitter filter: single frames that jump are put back, and what trembles is smoothed without delay."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.expression.sequence import Sequence

WINDOW = 0.17  # seconds: five frames at 30 a second. A blink takes 0.3 s, and keeps nine tenths of its depth
ORDER = 2  # of the polynomial: a peak keeps its height
NEIGHBOURS = 2  # frames on each side whose median a frame is compared with
SPIKE = 6.0  # standard deviations of that difference; 3 would take quick but real frames for jumps
ALONE = 2.0  # times the steps beside it: how much larger those of a jump are
LEAST_SPIKE = 0.02  # of the curve's own range: less is no jump, however still the rest is


def filtered(sequence: Sequence, window: float = WINDOW) -> Sequence:
    """The sequence without jumps of single frames and, with `window` seconds above 0, smoothed by Savitzky-Golay.

    No curve leaves its own range.
    """
    if not np.isfinite(window) or window < 0:
        raise InvalidInput(f"the window of the jitter filter should be 0 seconds or more, but is {window}")
    curves = sequence.points.reshape(len(sequence), -1)  # (F, L D)
    steady, count = without_spikes(curves)
    smooth = savitzky_golay(steady, round(window * sequence.rate))
    smooth = np.clip(smooth, steady.min(axis=0), steady.max(axis=0))
    notes = sequence.notes
    if count:
        jumps = f"{count} jump{'s' if count > 1 else ''} of single frames"
        notes = (*notes, f"sequence {sequence.name!r} had {jumps}, which were put back")
    return sequence.changed(points=smooth.reshape(sequence.points.shape), notes=notes)


def without_spikes(curves: Array) -> tuple[Array, int]:
    """(F, C) the same with outliers replaced by the median about them, and how many there were (Hampel's filter).

    The spread of a curve's differences from their medians is taken as 1.4826 times their own median, which outliers do
    not move. The first and the last frames, of which only one side is seen, stay.
    """
    frames = len(curves)
    if frames < 2 * NEIGHBOURS + 1:
        return curves.copy(), 0
    windows = np.lib.stride_tricks.sliding_window_view(curves, 2 * NEIGHBOURS + 1, axis=0)
    middle = np.median(windows, axis=-1)  # (F - 4, C)
    inner = curves[NEIGHBOURS : frames - NEIGHBOURS]
    away = np.abs(inner - middle)
    spread = 1.4826 * np.median(away, axis=0)
    spike = away > np.maximum(SPIKE * spread, LEAST_SPIKE * np.ptp(curves, axis=0))
    # a jump goes there and back in steps that nothing beside it has; a quick peak rises and falls in the frames about
    steps = np.diff(curves, axis=0)
    there, back = steps[NEIGHBOURS - 1 : -NEIGHBOURS], steps[NEIGHBOURS : frames - NEIGHBOURS]
    beside = np.maximum(np.abs(steps[NEIGHBOURS - 2 : -NEIGHBOURS - 1]), np.abs(steps[NEIGHBOURS + 1 :][: len(inner)]))
    spike &= (there * back < 0) & (np.minimum(np.abs(there), np.abs(back)) > ALONE * beside)
    result = curves.copy()
    result[NEIGHBOURS : frames - NEIGHBOURS][spike] = middle[spike]
    return result, int(spike.any(axis=1).sum())


def savitzky_golay(curves: Array, window: int, order: int = ORDER) -> Array:
    """(F, C) each value replaced by that of the polynomial nearest to the `window` frames about it.

    The window is made odd; one that a polynomial passes through exactly, or longer than the curve, changes nothing or
    is cut. At the ends the polynomial of the first or last whole window is followed.
    """
    window = min(window | 1, len(curves) - (len(curves) + 1) % 2)
    if window <= order:
        return curves.copy()
    from scipy.signal import savgol_filter

    return np.asarray(savgol_filter(curves, window, order, axis=0, mode="interp"))
