"""The compiled twin of `bezier_solve.newton`: one equation after the other, each with as many steps as it needs."""

from __future__ import annotations

from understudy.checks import Array
from understudy.maths.accelerate import compiled


@compiled(nogil=True)
def newton_one(p1: float, p2: float, u: float, steps: int, step_end: float, residual_end: float) -> float:
    """The solution of x(s) = u. The letters are those of `bezier_solve`."""
    c1, c2, c3 = 3.0 * p1, 3.0 * (p2 - 2.0 * p1), 1.0 + 3.0 * (p1 - p2)
    s, low, high, last = u, 0.0, 1.0, 1.0
    for _ in range(steps):
        residual = ((c3 * s + c2) * s + c1) * s - u
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
    return s


@compiled(nogil=True)
def newton(p1: Array, p2: Array, u: Array, out: Array, steps: int, step_end: float, residual_end: float) -> None:
    """Solve x(s) = u for each of p1, p2, u (N,) into out (N,)."""
    for i in range(u.size):
        out[i] = newton_one(p1[i], p2[i], u[i], steps, step_end, residual_end)
