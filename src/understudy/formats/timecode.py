"""Timecodes HH:MM:SS:FF.fff, and rows at uneven times put onto a fixed rate."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile

TIMECODE = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})[:;](\d{1,3}(?:\.\d{0,12})?)")
BASE = 60  # frames a second that Live Link counts in, whatever the camera does
BASES = (24, 25, 30, 48, 50, 60, 120)
DAY = 86400.0
RATES = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 90.0, 100.0, 120.0)
# Filling a gap invents motion. Ten minutes at 60 fps is more than any pause within a take; more is a broken clock.
LONGEST_GAP = 36_000  # frames
MOST_FILLED = 10  # frames for each row, all gaps together


def seconds(cells: list[str], lines: list[int], path: str | Path) -> Array:
    """(F,) seconds from the first row on, increasing; also over midnight."""
    parts = np.empty((len(cells), 4))
    for number, cell in enumerate(cells):
        match = TIMECODE.fullmatch(cell.strip())
        if match is None:
            reason = f"a timecode such as 13:04:05:31.652 was expected, but {cell[:40]!r} was found"
            raise BadFile(path, reason, f"line {lines[number]}")
        parts[number] = [float(part) for part in match.groups()]
    times = parts[:, :3] @ [3600.0, 60.0, 1.0] + parts[:, 3] / _base(parts)
    steps = np.diff(times)
    midnight = steps < -0.5 * DAY
    times[1:] += DAY * np.cumsum(midnight)
    back = np.flatnonzero(np.diff(times) < 0)
    if back.size:
        raise BadFile(path, "the timecode goes back", f"line {lines[int(back[0]) + 1]}")
    return times - times[0]


def _base(parts: Array) -> int:
    """In which frames the last part counts: the base that makes the steps of (F, 4) parts most even.

    Nearly always 60. A take that never comes near 60, over a second and more, may count in something else.
    """
    highest, whole = parts[:, 3].max(), parts[:, :3] @ [3600.0, 60.0, 1.0]
    if highest >= 0.9 * BASE or len(parts) < 24:
        return BASE
    unevenness = {b: np.abs(np.diff(whole + parts[:, 3] / b, 2)).sum() for b in BASES if b > highest}
    best = min(unevenness, key=lambda base: unevenness[base])
    return best if unevenness[best] < 0.5 * unevenness[BASE] else BASE


def text(time: float, base: int = BASE) -> str:
    """The timecode of a time in seconds, to a thousandth of a frame."""
    count = round(time * base * 1000) % round(DAY * base * 1000)
    frames, thousandths = divmod(count, 1000)
    whole, frame = divmod(frames, base)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}:{frame:02d}.{thousandths:03d}"


def uniform(times: Array, values: Array, notes: list[str], clock: Array | None = None) -> tuple[Array, float]:
    """Rows at times (F,) increasing, values (F, C), as frames of a fixed rate, and the rate. `clock` (N,) are the times
    of all rows, also of those that have no values, from which the rate is taken.

    Where steps are whole multiples of the usual one, rows keep their values and only the gaps are filled in, linearly.
    Otherwise all frames are interpolated.
    """
    kept = np.concatenate([[True], np.diff(times) > 0])
    if not kept.all():
        notes.append(f"{int((~kept).sum())} rows repeat a time and were left out")
        times, values = times[kept], values[kept]
    if len(times) == 1:
        return values, 30.0
    steps = np.diff(times if clock is None else clock)
    step = float(np.median(steps[steps > 0]))
    rate = _tidy(1 / step)
    gaps = np.diff(times) * rate
    # a quarter of a frame: clocks of telephones wander by a hundredth, and half a frame could be either
    steady = np.abs(gaps - np.round(gaps)) < 0.25
    if gaps.max() > LONGEST_GAP or gaps.sum() > MOST_FILLED * len(times) + LONGEST_GAP:
        gap = min(float(gaps.max()), 1e12)
        notes.append(f"pauses of up to {gap / rate:.3g} s were cut out: rows follow each other at {rate:g} a second")
        return values, rate
    if steady.all() and np.round(gaps).min() >= 1:
        place = np.concatenate([[0], np.cumsum(np.round(gaps))]).astype(np.int64)
        missing = int(place[-1] + 1 - len(place))
        if missing:
            notes.append(
                f"{missing} of {place[-1] + 1} frames are missing: they were filled in between their neighbours"
            )
        return _between(np.arange(place[-1] + 1), place, values), rate
    frames = int(np.floor((times[-1] - times[0]) * rate + 1e-6)) + 1
    uneven = int((~steady).sum())
    notes.append(f"{uneven} of {len(gaps)} steps are uneven: all frames were resampled at {rate:g} a second")
    return _between(times[0] + np.arange(frames) / rate, times, values), rate


def _between(wanted: Array, known: Array, values: Array) -> Array:
    left = np.clip(np.searchsorted(known, wanted, side="right") - 1, 0, len(known) - 2)
    share = (wanted - known[left]) / (known[left + 1] - known[left])
    share = np.clip(share, 0, 1)[:, None]
    return (1 - share) * values[left] + share * values[left + 1]


def _tidy(rate: float) -> float:
    """A usual rate within 1 %, by which clocks of telephones and printed timecodes are off; else the rate itself."""
    near = min(RATES, key=lambda usual: abs(usual - rate))
    if abs(near / rate - 1) < 0.01:
        return near
    return float(round(rate)) if rate > 1 and abs(round(rate) / rate - 1) < 1e-3 else min(rate, 1e6)
