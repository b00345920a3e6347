"""A few shapes that stand for very many frames of displacements, within a largest error.

Frames of displacements r (N,) come in blocks and are not kept. A block is projected on the orthonormal directions Q
found so far; where a vertex is still off by more than a quarter of the tolerance, the leading directions of what is
left are added to Q, until none is. So r = w Q + e with |e| <= tolerance / 4 at every vertex of every frame, in one pass
(an incremental SVD with a bound on the largest error, not on the sum of squares).

Q has far more directions than are needed. The leading ones of all frames, by the SVD of their weights w, are kept until
nearly all of the motion is in; then only frames that still break the tolerance are looked at, and their leading
directions added, until none does. That takes half of what the SVD alone takes to reach the same largest error: a few
odd frames no longer call for everything that lies before them in the order of the whole.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array

AT_ONCE = 4  # directions added before the error is looked at again
GATHERED = 0.25  # the share of the tolerance that the first step may take
ENERGY = 0.99  # of all motion is in the leading directions of all frames
BLOCK = 64  # frames looked at together


class Residual:
    """Displacements of V vertices, added frame by frame; `shapes` gives the few that stand for them."""

    def __init__(self, vertices: int, tolerance: float) -> None:
        self.tolerance = tolerance
        self._directions = np.zeros((0, 3 * vertices), np.float32)  # Q, rows
        self._weights: list[Array] = []
        self._lost: list[Array] = []  # of each frame, the largest error of its weights

    def __len__(self) -> int:
        return len(self._directions)

    def add(self, moves: Array) -> None:
        """The next frames, displacements (F, V, 3)."""
        moved = np.flatnonzero(moves.reshape(len(moves), -1).any(axis=1))
        left = np.asarray(moves[moved], np.float32).reshape(len(moved), self._directions.shape[1])
        weights = [left @ self._directions.T]
        left -= weights[0] @ self._directions
        while True:
            off = largest(left) > GATHERED * self.tolerance
            if not off.any():
                break
            found = self._leading(left[off])
            weights.append(left @ found.T)
            left -= weights[-1] @ found
            self._directions = np.concatenate([self._directions, found])
        all_weights = np.zeros((len(moves), len(self._directions)), np.float32)
        all_weights[moved] = np.concatenate(weights, axis=1)
        self._weights.append(all_weights)
        self._lost.append(np.zeros(len(moves), np.float32))
        self._lost[-1][moved] = largest(left)

    def _leading(self, left: Array) -> Array:
        """Orthonormal directions (n, N) of rows (F, N), at right angles to those that are known."""
        _, vectors = np.linalg.eigh((left @ left.T).astype(np.float64))
        return _orthonormal(vectors[:, -AT_ONCE:].T.astype(np.float32) @ left, self._directions)

    def shapes(self) -> tuple[Array, Array]:
        """Shapes (k, V, 3) float32 and their weights (F, k) over all frames; the largest weight of each is 1."""
        known = len(self._directions)
        weights = np.zeros((sum(map(len, self._weights)), known), np.float32)
        start = 0
        for part in self._weights:
            weights[start : start + len(part), : part.shape[1]] = part
            start += len(part)
        if not known:
            return np.zeros((0, self._directions.shape[1] // 3, 3), np.float32), weights
        chosen = self._fewest(weights.astype(np.float64)).astype(np.float32)
        weights, directions = weights @ chosen.T, chosen @ self._directions
        peak = np.take_along_axis(weights, np.abs(weights).argmax(axis=0)[None], axis=0)[0]
        return (directions * peak[:, None]).reshape(len(chosen), directions.shape[1] // 3, 3), weights / peak

    def _fewest(self, weights: Array) -> Array:
        """(k, n) orthonormal combinations of the n directions that leave no frame of `weights` (F, n) off too far."""
        allowed = self.tolerance - np.concatenate(self._lost)
        _, sizes, turn = np.linalg.svd(weights, full_matrices=False)
        count = int(np.searchsorted(np.cumsum(sizes**2), ENERGY * np.sum(sizes**2))) + 1
        chosen = turn[:count]
        left = weights - (weights @ chosen.T) @ chosen
        errors = self._errors(left)
        while (off := np.flatnonzero(errors > allowed)).size:
            _, _, turn = np.linalg.svd(left[off] * errors[off, None], full_matrices=False)
            found = _orthonormal(turn[:AT_ONCE], chosen)
            if not len(found):
                break  # all there is
            chosen = np.concatenate([chosen, found])
            moved = left @ found.T
            left -= moved @ found
            # |w D| <= |w| |D| at each vertex: most frames are seen to stay within without being looked at
            reach = np.square(found @ self._directions).reshape(len(found), -1, 3).sum(axis=(0, 2)).max(initial=0)
            errors += np.sqrt(reach * np.square(moved).sum(axis=1))
            suspects = np.flatnonzero(errors > allowed)
            errors[suspects] = self._errors(left[suspects])
        return chosen

    def _errors(self, weights: Array) -> Array:
        """(F,) the longest displacement of frames with these weights (F, n)."""
        weights = weights.astype(np.float32)
        blocks = (weights[first : first + BLOCK] for first in range(0, len(weights), BLOCK))
        return np.concatenate([np.zeros(0, np.float32), *(largest(block @ self._directions) for block in blocks)])


def _orthonormal(rows: Array, known: Array) -> Array:
    """Orthonormal rows (m, N) that span those given as far as `known` (n, N), orthonormal too, do not."""
    size = np.sqrt(np.square(rows).sum(axis=1)).max(initial=0)
    for _ in range(2):  # once leaves rounding, twice is enough (Kahan and Parlett)
        rows = rows - (rows @ known.T) @ known
    orthonormal, triangle = np.linalg.qr(rows.T.astype(np.float64))
    sound = np.abs(np.diag(triangle)) > 1e-5 * size
    return np.ascontiguousarray(orthonormal.T[sound], rows.dtype)


def largest(moves: Array) -> Array:
    """(F,) the longest displacement in each frame of (F, 3 V)."""
    squares = np.square(moves).reshape(len(moves), moves.shape[1] // 3, 3)
    total = squares[..., 0] + squares[..., 1] + squares[..., 2]
    return np.asarray(np.sqrt(total.max(axis=1, initial=0)))
