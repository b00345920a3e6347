"""A few shapes that stand for very many frames of displacements, within a largest error.

Frames of displacements r (N,) come in blocks and are not kept. A block is projected on the orthonormal directions Q
found so far; where a vertex is still off by more than a quarter of the tolerance, the leading directions of what is
left are added to Q, until none is. So r = w Q + e with |e| <= tolerance / 4 at every vertex of every frame, in one pass
(an incremental SVD with a bound on the largest error, not on the sum of squares). Then the weights of all frames give
the best directions within Q (their SVD), and the fewest are kept that stay within the tolerance.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array

AT_ONCE = 4  # directions added before the error is looked at again
GATHERED, CUT = 0.25, 0.75  # the shares of the tolerance of the two steps
BLOCK = 64  # frames looked at together


class Residual:
    """Displacements of V vertices, added frame by frame; `shapes` gives the few that stand for them."""

    def __init__(self, vertices: int, tolerance: float) -> None:
        self.tolerance = tolerance
        self._directions = np.zeros((0, 3 * vertices), np.float32)  # Q, rows
        self._weights: list[Array] = []

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

    def _leading(self, left: Array) -> Array:
        """Orthonormal directions (n, N) of rows (F, N), at right angles to those that are known."""
        _, vectors = np.linalg.eigh((left @ left.T).astype(np.float64))
        found = vectors[:, -AT_ONCE:].T.astype(np.float32) @ left
        for _ in range(2):  # once leaves single-precision rounding, twice is enough (Kahan and Parlett)
            found -= (found @ self._directions.T) @ self._directions
        orthonormal, triangle = np.linalg.qr(found.T.astype(np.float64))
        sound = np.abs(np.diag(triangle)) > 1e-6 * np.abs(triangle).max()
        return np.ascontiguousarray(orthonormal.T[sound], np.float32)

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
        _, _, turn = np.linalg.svd(weights.astype(np.float64), full_matrices=False)
        weights, directions = weights @ turn.T.astype(np.float32), turn.astype(np.float32) @ self._directions
        count = self._fewest(weights, directions)
        weights, directions = weights[:, :count], directions[:count]
        peak = np.take_along_axis(weights, np.abs(weights).argmax(axis=0)[None], axis=0)[0]
        return (directions * peak[:, None]).reshape(count, directions.shape[1] // 3, 3), weights / peak

    def _fewest(self, weights: Array, directions: Array) -> int:
        """The smallest number of leading directions whose absence from the others is within the tolerance."""
        low, high = 0, len(directions)
        while low < high:
            middle = (low + high) // 2
            if self._cut_error(weights[:, middle:], directions[middle:]) <= CUT * self.tolerance:
                high = middle
            else:
                low = middle + 1
        return low

    def _cut_error(self, weights: Array, directions: Array) -> float:
        """The largest displacement that is lost with these directions, or some value above what is allowed.

        |w D| <= |w| |D| at each vertex, so that most frames need not be looked at; those that may be worst come first.
        """
        allowed = CUT * self.tolerance
        reach = float(np.sqrt(np.square(directions).reshape(len(directions), -1, 3).sum(axis=(0, 2)).max(initial=0)))
        bound = reach * np.sqrt(np.square(weights).sum(axis=1))
        suspects = np.argsort(-bound)[: np.count_nonzero(bound > allowed)]
        worst = 0.0
        for first in range(0, len(suspects), BLOCK):
            worst = max(worst, float(largest(weights[suspects[first : first + BLOCK]] @ directions).max(initial=0)))
            if worst > allowed:
                break
        return worst


def largest(moves: Array) -> Array:
    """(F,) the longest displacement in each frame of (F, 3 V)."""
    squares = np.square(moves).reshape(len(moves), moves.shape[1] // 3, 3)
    total = squares[..., 0] + squares[..., 1] + squares[..., 2]
    return np.asarray(np.sqrt(total.max(axis=1, initial=0)))
