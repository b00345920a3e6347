"""`sigmoid.fit_sigmoids`: one Levenberg-Marquardt a curve, with min_energy allocated inside.

exp(-b_2 (x - b_3)) over frames one apart is a geometric series, so a whole sigmoid costs two exponentials. It is
evaluated in both directions from the frame nearest to the middle, where it is near 1: an overflow is a sigmoid of 0.
"""

from __future__ import annotations

import numpy as np

from understudy.checks import Array
from understudy.maths.jit import FASTMATH_FLAGS, compile_kernel

REASSOCIATED_SUM_FLAGS = FASTMATH_FLAGS | {
    "reassoc"
}  # sums in several lanes at once; NaN and infinity still reach the result


@compile_kernel()
def _unit_sigmoid(b_2: float, b_3: float, s: Array) -> None:
    """s (F,) = 1 / (1 + exp(-b_2 (x - b_3)))."""
    frames = len(s)
    middle = min(max(int(np.round(b_3)), 0), frames - 1)
    start = np.exp(-b_2 * (middle - b_3))
    ratio = np.exp(-b_2)
    e = start
    for x in range(middle, frames):
        s[x] = 1.0 / (1.0 + e)
        e *= ratio
    ratio = 1.0 / ratio
    e = start * ratio
    for x in range(middle - 1, -1, -1):
        s[x] = 1.0 / (1.0 + e)
        e *= ratio


@compile_kernel(fastmath=REASSOCIATED_SUM_FLAGS)
def _normal_equations(y: Array, b_1: float, b_2: float, b_3: float, s: Array, n: Array) -> None:
    """n (9,) = the upper half of J'J by rows, then J'(y - g); for b_1, b_1 b_2, b_1 b_3: free of the curve's scale."""
    for i in range(9):
        n[i] = 0.0
    for x in range(len(y)):
        g = s[x]
        along = g * (1.0 - g)
        j_2 = along * (x - b_3)
        j_3 = -along * b_2
        error = y[x] - b_1 * g
        n[0] += g * g
        n[1] += g * j_2
        n[2] += g * j_3
        n[3] += j_2 * j_2
        n[4] += j_2 * j_3
        n[5] += j_3 * j_3
        n[6] += g * error
        n[7] += j_2 * error
        n[8] += j_3 * error


@compile_kernel()
def _step(n: Array, damping: float) -> tuple[float, float]:
    """The last two of (J'J (1 + damping on its diagonal))^-1 J'(y - g), by Cholesky; b_1 has a closed form."""
    floor = 1e-12 * (max(n[0], n[3], n[5]) + 1e-300)
    l_11 = np.sqrt(n[0] * (1 + damping) + floor)
    l_21 = n[1] / l_11
    l_31 = n[2] / l_11
    l_22 = np.sqrt(max(n[3] * (1 + damping) + floor - l_21 * l_21, 1e-300))
    l_32 = (n[4] - l_21 * l_31) / l_22
    l_33 = np.sqrt(max(n[5] * (1 + damping) + floor - l_31 * l_31 - l_32 * l_32, 1e-300))
    z_1 = n[6] / l_11
    z_2 = (n[7] - l_21 * z_1) / l_22
    z_3 = (n[8] - l_31 * z_1 - l_32 * z_2) / l_33
    d_3 = z_3 / l_33
    return (z_2 - l_32 * d_3) / l_22, d_3


@compile_kernel(fastmath=REASSOCIATED_SUM_FLAGS)
def _start(y: Array, table: Array, squares: Array) -> int:
    """The row of the table with the largest (y's)^2 / s's, with s's = squares (N,)."""
    best, most = 0, -1.0
    for n in range(len(table)):
        along = 0.0
        for x in range(len(y)):
            along += y[x] * table[n, x]
        score = along * along / squares[n]
        if score > most:
            best, most = n, score
    return best


@compile_kernel(fastmath=REASSOCIATED_SUM_FLAGS)
def _level(y: Array, s: Array, min_energy: float) -> float:
    """b_1 = y's / s's."""
    along, square = 0.0, 0.0
    for x in range(len(y)):
        along += y[x] * s[x]
        square += s[x] * s[x]
    return along / square if square > min_energy else 0.0


@compile_kernel(fastmath=REASSOCIATED_SUM_FLAGS)
def _cost(y: Array, b_1: float, s: Array) -> float:
    total = 0.0
    for x in range(len(y)):
        error = y[x] - b_1 * s[x]
        total += error * error
    return total


@compile_kernel(nogil=True)
def fit(
    curves: Array,
    pairs: Array,
    table: Array,
    squares: Array,
    flattest: float,
    steepest: float,
    first: float,
    last: float,
    steps: int,
    convergence: float,
    exact: float,
    min_energy: float,
    parameters: Array,
    values: Array,
) -> None:
    """Fills parameters (M, 3) and values (M, F) for curves (M, F).

    They start from a table (N, F) of sigmoids s for b_1 = 1 with b_2 and b_3 `pairs` (N, 2); `squares` (N,) are s's.
    """
    frames = curves.shape[1]
    s, tried, n = np.empty(frames), np.empty(frames), np.empty(9)
    for m in range(len(curves)):
        y = curves[m]
        row = _start(y, table, squares)
        b_1 = _level(y, table[row], min_energy)
        b_2, b_3 = pairs[row, 0], pairs[row, 1]
        _unit_sigmoid(b_2, b_3, s)
        cost = _cost(y, b_1, s)
        enough = exact * _cost(y, 0.0, s)
        damping = 1e-3
        _normal_equations(y, b_1, b_2, b_3, s, n)
        for _ in range(steps):
            if cost <= enough or damping > 1e4 or b_1 == 0:
                break
            d_2, d_3 = _step(n, damping)
            side = 1.0 if b_2 > 0 else -1.0
            c_2 = side * min(max(side * (b_2 + d_2 / b_1), flattest), steepest)
            c_3 = min(max(b_3 + d_3 / b_1, first), last)
            _unit_sigmoid(c_2, c_3, tried)
            c_1 = _level(y, tried, min_energy)
            lower = _cost(y, c_1, tried)
            if lower < cost:
                saved = cost - lower
                b_1, b_2, b_3 = c_1, c_2, c_3
                s, tried = tried, s
                if saved <= convergence * cost:
                    break
                cost = lower
                damping *= 0.1
                _normal_equations(y, b_1, b_2, b_3, s, n)
            else:
                damping *= 10
        parameters[m, 0], parameters[m, 1], parameters[m, 2] = b_1, b_2, b_3
        for x in range(frames):
            values[m, x] = b_1 * s[x]
