/**
 * One cubic Bezier segment in time and value: the value at time t is y(s) with x(s) = t, as in `maths/bezier.py`.
 *
 *     x(s) = sum B_i(s) x_i,   y(s) = sum B_i(s) y_i,   B = ((1-s)^3, 3(1-s)^2 s, 3(1-s) s^2, s^3)
 */

const STEPS = 64; // bisection alone needs 53
const STEP_END = 1e-14; // smaller steps are rounding errors
const RESIDUAL_END = 2e-16;

/**
 * Solves x(s) = u for s in [0, 1], with x0 = 0, x1 = p1, x2 = p2, x3 = 1: Newton's method within a shrinking bracket.
 */
export function solveUnit(p1: number, p2: number, u: number): number {
  if (u <= 0) return 0;
  if (u >= 1) return 1;
  const c1 = 3 * p1;
  const c2 = 3 * (p2 - 2 * p1);
  const c3 = 1 + 3 * (p1 - p2);
  let low = 0;
  let high = 1;
  let s = u;
  let last = 1;
  for (let step = 0; step < STEPS; step++) {
    const residual = ((c3 * s + c2) * s + c1) * s - u;
    if (Math.abs(residual) <= RESIDUAL_END) return s;
    if (residual <= 0) low = s;
    if (residual >= 0) high = s;
    const rate = (3 * c3 * s + 2 * c2) * s + c1;
    const way = residual / (Math.abs(rate) < 1e-300 ? 1e-300 : rate);
    let next = s - way;
    // A step that leaves the bracket, or does not halve the one before it, becomes a bisection, so flat handles
    // converge too.
    if (next < low || next > high || Math.abs(2 * way) > Math.abs(last)) next = 0.5 * (low + high);
    last = s - next;
    s = next;
    if (Math.abs(last) <= STEP_END) return s;
  }
  return s;
}

/** y(s). */
export function bernstein(y0: number, y1: number, y2: number, y3: number, s: number): number {
  const m = 1 - s;
  return m * m * m * y0 + 3 * m * m * s * y1 + 3 * m * s * s * y2 + s * s * s * y3;
}

/** The minimum and maximum of y over s in [0, 1]: the ends, and where y'(s) = 0. */
export function extent(y0: number, y1: number, y2: number, y3: number): [number, number] {
  let low = Math.min(y0, y3);
  let high = Math.max(y0, y3);
  if (y1 >= low && y1 <= high && y2 >= low && y2 <= high) return [low, high]; // the control points lie between the ends
  const a = y1 - y0;
  const b = y2 - y1;
  const c = y3 - y2;
  // y'/3 = a (1-s)^2 + 2 b (1-s) s + c s^2 = (a - 2b + c) s^2 + 2 (b - a) s + a
  const second = a - 2 * b + c;
  const first = 2 * (b - a);
  const root = Math.sqrt(Math.max(0, first * first - 4 * second * a));
  const roots =
    Math.abs(second) < 1e-300 ? [-a / first] : [(-first + root) / (2 * second), (-first - root) / (2 * second)];
  for (const s of roots) {
    if (!(s > 0 && s < 1)) continue;
    const y = bernstein(y0, y1, y2, y3, s);
    low = Math.min(low, y);
    high = Math.max(high, y);
  }
  return [low, high];
}
