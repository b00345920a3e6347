/**
 * Matrices as dual quaternions, for dual quaternion skinning: M = (R S | t), R a rotation, S symmetric.
 *
 * As in `character/skinning/dual_quaternion.py`: the polar decomposition by Newton's iteration
 * X <- (g X + X^-T / g) / 2 (Higham 1986). If the matrix mirrors, S takes the sign.
 */

export const DUAL_FLOATS = 20; // real x y z w, dual x y z w, then three rows of S, each padded to four
const MAX_ITERATIONS = 40;
const MIN_DETERMINANT = 1e-13;

/** Writes the dual quaternion and the scale of one matrix (3 rows of 4 at `from`) to `out` at `to`. */
export function writeDual(matrices: Float32Array, from: number, out: Float32Array, to: number): void {
  const m = matrices;
  const linear = [
    m[from],
    m[from + 1],
    m[from + 2],
    m[from + 4],
    m[from + 5],
    m[from + 6],
    m[from + 8],
    m[from + 9],
    m[from + 10],
  ];
  const rotation = nearestRotation(linear);
  const [x, y, z, w] = quaternion(rotation);
  const [tx, ty, tz] = [m[from + 3], m[from + 7], m[from + 11]];
  out[to] = x;
  out[to + 1] = y;
  out[to + 2] = z;
  out[to + 3] = w;
  // b = t a / 2, where t is the translation as a pure quaternion
  out[to + 4] = 0.5 * (tx * w + ty * z - tz * y);
  out[to + 5] = 0.5 * (ty * w + tz * x - tx * z);
  out[to + 6] = 0.5 * (tz * w + tx * y - ty * x);
  out[to + 7] = -0.5 * (tx * x + ty * y + tz * z);
  for (let row = 0; row < 3; row++)
    for (let column = 0; column < 3; column++) {
      let sum = 0;
      for (let k = 0; k < 3; k++) sum += rotation[3 * k + row] * linear[3 * k + column];
      out[to + 8 + 4 * row + column] = sum;
    }
}

/** The rotation (nine numbers, by rows) nearest to a matrix; the identity if the matrix is singular. */
export function nearestRotation(linear: readonly number[]): number[] {
  let x = [...linear];
  let { cofactors, det } = inverse(x);
  const size = Math.hypot(...x);
  if (!(Math.abs(det) > MIN_DETERMINANT * size ** 3)) return [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const sign = det < 0 ? -1 : 1;
  for (let step = 0; step < MAX_ITERATIONS; step++) {
    const y = cofactors.map((c) => c / det);
    const g = Math.sqrt(Math.hypot(...y) / Math.hypot(...x));
    const next = x.map((value, i) => 0.5 * (g * value + y[i] / g));
    const moved = Math.max(...next.map((value, i) => Math.abs(value - x[i])));
    x = next;
    if (moved < 1e-13) break;
    ({ cofactors, det } = inverse(x));
  }
  return x.map((value) => sign * value);
}

function inverse(m: readonly number[]): { cofactors: number[]; det: number } {
  const [a, b, c, d, e, f, g, h, i] = m;
  const cofactors = [
    e * i - f * h,
    f * g - d * i,
    d * h - e * g,
    c * h - b * i,
    a * i - c * g,
    b * g - a * h,
    b * f - c * e,
    c * d - a * f,
    a * e - b * d,
  ];
  return { cofactors, det: a * cofactors[0] + b * cofactors[1] + c * cofactors[2] };
}

/** The quaternion x, y, z, w of a rotation matrix (by rows), computed from its largest component. */
export function quaternion(r: readonly number[]): [number, number, number, number] {
  const trace = r[0] + r[4] + r[8];
  if (trace > 0) {
    const s = 2 * Math.sqrt(trace + 1);
    return [(r[7] - r[5]) / s, (r[2] - r[6]) / s, (r[3] - r[1]) / s, s / 4];
  }
  if (r[0] >= r[4] && r[0] >= r[8]) {
    const s = 2 * Math.sqrt(1 + r[0] - r[4] - r[8]);
    return [s / 4, (r[1] + r[3]) / s, (r[2] + r[6]) / s, (r[7] - r[5]) / s];
  }
  if (r[4] >= r[8]) {
    const s = 2 * Math.sqrt(1 + r[4] - r[0] - r[8]);
    return [(r[1] + r[3]) / s, s / 4, (r[5] + r[7]) / s, (r[2] - r[6]) / s];
  }
  const s = 2 * Math.sqrt(1 + r[8] - r[0] - r[4]);
  return [(r[2] + r[6]) / s, (r[5] + r[7]) / s, s / 4, (r[3] - r[1]) / s];
}
