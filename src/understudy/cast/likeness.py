"""Likeness of clips: whether one is another one mirrored or retimed.

Clips are compared as paths through the space of all controls, each divided by its range, whatever their timing: dynamic
time warping finds the pairing of their frames, monotonic in time, with the least mean distance. That distance is given
as a part of how far the clips stray from their own middle: near 0 for copies, about 1 for clips that have nothing in
common.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.cast.acting import Finding
from understudy.character import Curves
from understudy.character.controls import Controls
from understudy.checks import Array

SAMPLES = 64  # of a clip, whatever its length
ALIKE = 0.6
"""Below it one clip is a copy of the other. A clip at 80 % of its size is 0.3 away from itself, at 60 % 0.6; clips that
were keyed apart, of one label or of two, are 1.1 to 2 away from each other."""


def copies(clips: Sequence[Curves], controls: Controls) -> list[Finding]:
    """An error for each pair of clips that are nearly the same, one of them perhaps mirrored or retimed."""
    empty = np.zeros((0, SAMPLES, len(controls)))
    plain = np.array([path(clip, controls) for clip in clips] or empty)
    mirrored = np.array([path(clip, controls, mirrored=True) for clip in clips] or empty)
    found = []
    for i, clip in enumerate(clips[:-1]):
        for how, others in (("", plain), (", mirrored", mirrored)):
            for j, distance in enumerate(distances(plain[i], others[i + 1 :]), i + 1):
                if distance < ALIKE:
                    text = f"{clip.name} and {clips[j].name} are alike{how}: {distance:.2f} of their motion apart"
                    found.append(Finding("error", None, text))
    return found


def path(clip: Curves, controls: Controls, mirrored: bool = False) -> Array:
    """(SAMPLES, C) the controls over the clip, each divided by its range."""
    times = np.linspace(clip.start, clip.end, SAMPLES)
    values = np.tile(controls.rest, (SAMPLES, 1))
    values[:, [controls.index(channel.target) for channel in clip.channels]] = clip.sample(times)
    if mirrored:
        values = controls.mirrored(values)
    result: Array = (values - controls.rest) / (controls.high - controls.low)
    return result


def distances(one: Array, others: Array) -> Array:
    """(N,) the likeness of a path (S, C) to each of N others (N, S, C): dynamic time warping, all of them at once.

    D[a, b] = d[a, b] + min(D[a - 1, b], D[a, b - 1], D[a - 1, b - 1]), along antidiagonals, with the number of steps
    carried along so that the mean distance on the best way can be given.
    """
    count, samples = len(others), len(one)
    squares = (
        (one**2).sum(axis=1)[:, None] + (others**2).sum(axis=2)[:, None, :] - 2 * (one @ others.transpose(0, 2, 1))
    )
    d = np.sqrt(np.maximum(squares, 0.0))  # (N, S, S)
    total = np.full((count, samples + 1, samples + 1), np.inf)
    steps = np.zeros((count, samples + 1, samples + 1))
    total[:, 0, 0] = 0.0
    for diagonal in range(2, 2 * samples + 1):
        a = np.arange(max(1, diagonal - samples), min(samples, diagonal - 1) + 1)
        b = diagonal - a
        ways = np.stack([total[:, a - 1, b - 1], total[:, a - 1, b], total[:, a, b - 1]])
        best = ways.argmin(axis=0)[None]
        counts = np.stack([steps[:, a - 1, b - 1], steps[:, a - 1, b], steps[:, a, b - 1]])
        total[:, a, b] = d[:, a - 1, b - 1] + np.take_along_axis(ways, best, axis=0)[0]
        steps[:, a, b] = 1 + np.take_along_axis(counts, best, axis=0)[0]
    mean = total[:, -1, -1] / steps[:, -1, -1]
    result: Array = mean / np.maximum(np.sqrt(0.5 * (_spread(one) + _spread(others))), 1e-9)
    return result


def _spread(paths: Array) -> Array:
    """(...) mean squared distance of paths (..., S, C) from their own middle."""
    spread: Array = ((paths - paths.mean(axis=-2, keepdims=True)) ** 2).sum(axis=-1).mean(axis=-1)
    return spread
