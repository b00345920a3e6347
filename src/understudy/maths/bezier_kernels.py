"""The compiled twin of `bezier_solve.newton`: one equation after the other, each with as many steps as it needs."""

from __future__ import annotations

from understudy.checks import Array
from understudy.maths.accelerate import compiled


@compiled(nogil=True)
def newton(p1: Array, p2: Array, u: Array, out: Array, steps: int, step_end: float, residual_end: float) -> None:
    """Solve x(s) = u for each of p1, p2, u (N,) into out (N,). The letters are those of `bezier_solve`."""
    for i in range(u.size):
        c1, c2, c3 = 3.0 * p1[i], 3.0 * (p2[i] - 2.0 * p1[i]), 1.0 + 3.0 * (p1[i] - p2[i])
        s, low, high, last = u[i], 0.0, 1.0, 1.0
        for _ in range(steps):
            residual = ((c3 * s + c2) * s + c1) * s - u[i]
            if abs(residual) <= residual_end:
                break
            rate = (3.0 * c3 * s + 2.0 * c2) * s + c1
            if residual < 0:
                low = s
            else:
                high = s
            step = residual / (rate if abs(rate) >= 1e-300 else 1e-300)
            new = s - step
            if new < low or new > high or abs(2.0 * step) > abs(last):
                new = 0.5 * (low + high)
            last = s - new
            s = new
            if abs(last) <= step_end:
                break
        out[i] = s
