"""From keys as written to one column of a curve: departures, holds and overshoot become nodes, and slopes are found.

A node is a key of the finished curve. Its slope is automatic unless given by hand: zero where the value turns or rests,
otherwise the harmonic mean 2 a b / (a + b) of the chords' slopes a and b on both sides [Fritsch and Butland 1984], made
smaller where a long handle would carry the curve beyond the next key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.cast.keys import EASES, Key
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.maths import bezier

DRIFT = 0.05  # of the last move: what a hold goes on by
SHORTEST_HOLD = 3.0  # frames; a shorter one stays where it is, since nobody could see it drift


@dataclass(frozen=True)
class Node:
    """A key of the finished column. `handles` and `straight` describe the way that leads here."""

    frame: float
    value: float
    handles: tuple[float, float] = EASES["soft"]
    straight: bool = False
    broken: bool = False
    arriving: float | None = None
    leaving: float | None = None


@dataclass(frozen=True)
class Column:
    """K keys of one number over time: times (K,) seconds, values (K,), handles (K, 2) of (seconds, value) each."""

    times: Array
    values: Array
    before: Array
    after: Array
    broken: Array  # (K,) bool: a corner is meant

    def split(self, times: Array) -> Column:
        """The same column with its keys at `times` (M,), which include its own; its shape does not change.

        The part of a Bezier segment between parameters a and b has the control points B(a,a,a), B(a,a,b), B(a,b,b) and
        B(b,b,b), where B(u,v,w) is the blossom: de Casteljau's construction with another parameter at each step.
        """
        if len(times) == len(self.times):
            return self
        k = np.searchsorted(self.times, times[:-1], side="right") - 1
        points = np.stack([self.times, self.values], axis=1)
        x, y = bezier.control_points(points[k], points[k + 1], self.after[k], self.before[k + 1])
        a, b = bezier.parameter(x, times[:-1]), bezier.parameter(x, times[1:])
        parts = [
            np.stack([_blossom(p, a, a, a), _blossom(p, a, a, b), _blossom(p, a, b, b), _blossom(p, b, b, b)], axis=1)
            for p in (x, y)
        ]
        leaving, arriving = bezier.handles(*parts)
        end = np.zeros((1, 2))
        return Column(
            times,
            np.append(parts[1][:, 0], self.values[-1]),
            np.concatenate([end, arriving]),
            np.concatenate([leaving, end]),
            np.isin(times, self.times[self.broken]),
        )


def _blossom(p: Array, u: Array, v: Array, w: Array) -> Array:
    """(M,) B(u, v, w) of control points p (M, 4)."""
    for s in (u, v, w):
        p = p[:, :-1] + (p[:, 1:] - p[:, :-1]) * s[:, None]
    return p[:, 0]


def nodes(keys: Sequence[Key], frames: float, still: bool, path: str) -> list[Node]:
    """The keys of the finished column, from frame 0 to the last, in frames."""
    result: list[Node] = []
    move = 0.0
    drift = 0.0 if still else DRIFT
    if not keys or keys[0].frame > 0:
        result.append(Node(0.0, 0.0))
    for key in keys:
        if result:
            departure = result[-1].frame if key.departure is None else key.departure
            if key.frame <= result[-1].frame or departure < result[-1].frame:
                reason = f"leaves or arrives before the key before it has settled (frame {result[-1].frame:g})"
                raise BadFile(path, reason, key.place)
            result += _held(result[-1], departure, drift * move)
            move = key.value - result[-1].value
        result += _arrival(key, move)
    if result[-1].frame > frames:
        raise BadFile(path, f"settles at frame {result[-1].frame:g}, after the last frame ({frames:g})", keys[-1].place)
    return result + _held(result[-1], frames, drift * move)


def _held(last: Node, departure: float, drift: float) -> list[Node]:
    if departure <= last.frame:
        return []
    far = departure - last.frame >= SHORTEST_HOLD
    return [Node(departure, last.value + (drift if far else 0.0))]


def _arrival(key: Key, move: float) -> list[Node]:
    node = Node(key.frame, key.value, key.handles, key.straight, key.broken, key.arriving, key.leaving)
    if key.overshoot is None:
        return [node]
    part, step, swings = key.overshoot
    sizes = [part * move * (-0.5) ** swing for swing in range(swings)] + [0.0]
    result = [Node(key.frame + number * step, key.value + size) for number, size in enumerate(sizes)]
    return [replace(node, value=result[0].value, leaving=None), *result[1:]]


def column(found: Sequence[Node], rate: float) -> Column:
    """The finished column, times in seconds."""
    times = np.array([node.frame for node in found]) / rate
    values = np.array([node.value for node in found])
    length = np.diff(times)
    chord = np.diff(values) / length
    # handles of the way that begins and of the way that ends at each node, in seconds; none beyond the ends
    out = np.append(np.array([node.handles[0] for node in found[1:]]) * length, 0.0)
    into = np.append(0.0, np.array([node.handles[1] for node in found[1:]]) * length)
    straight = np.array([node.straight for node in found[1:]], dtype=bool)
    slope = _slopes(chord, length, out, into)
    arriving, leaving = slope.copy(), slope.copy()
    broken = np.zeros(len(found), dtype=bool)
    for k, node in enumerate(found):
        leaving_line, arriving_line = k < len(chord) and straight[k], k > 0 and straight[k - 1]
        broken[k] = node.broken or leaving_line or arriving_line
        if broken[k]:
            arriving[k] = leaving[k] = 0.0
        given = node.leaving if node.arriving is None else node.arriving
        if node.arriving is not None or (given is not None and not broken[k]):
            arriving[k] = given
        given = node.arriving if node.leaving is None else node.leaving
        if node.leaving is not None or (given is not None and not broken[k]):
            leaving[k] = given
        if arriving_line:
            arriving[k], into[k] = chord[k - 1], length[k - 1] / 3
        if leaving_line:
            leaving[k], out[k] = chord[k], length[k] / 3
    before = np.stack([into, into * arriving], axis=1)
    after = np.stack([out, out * leaving], axis=1)
    return Column(times, values, before, after, broken)


def _slopes(chord: Array, length: Array, out: Array, into: Array) -> Array:
    """(K,) automatic slopes: zero at both ends and at extremes, harmonic mean between, within reach of the handles."""
    a, b = chord[:-1], chord[1:]
    onward = a * b > 0
    inner = np.where(onward, 2 * a * b / np.where(onward, a + b, 1.0), 0.0)
    # the handle's rise, slope x handle, must not exceed that of the way it belongs to
    reach_a = np.abs(a) * length[:-1] / np.maximum(into[1:-1], 1e-9)
    reach_b = np.abs(b) * length[1:] / np.maximum(out[1:-1], 1e-9)
    inner = np.sign(inner) * np.minimum(np.abs(inner), np.minimum(reach_a, reach_b))
    return np.concatenate([[0.0], inner, [0.0]])
