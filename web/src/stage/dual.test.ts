import { describe, expect, it } from "vitest";
import { DUAL_FLOATS, nearestRotation, quaternion, writeDual } from "./dual";

type Matrix = number[]; // nine numbers, by rows

const times = (a: Matrix, b: Matrix): Matrix =>
  Array.from({ length: 9 }, (_, i) =>
    [0, 1, 2].reduce((sum, k) => sum + a[3 * Math.floor(i / 3) + k] * b[3 * k + (i % 3)], 0),
  );
const transposed = (m: Matrix): Matrix => [0, 3, 6, 1, 4, 7, 2, 5, 8].map((i) => m[i]);

function rotation(x: number, y: number, z: number, w: number): Matrix {
  const n = Math.hypot(x, y, z, w);
  [x, y, z, w] = [x / n, y / n, z / n, w / n];
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y - z * w),
    2 * (x * z + y * w),
    2 * (x * y + z * w),
    1 - 2 * (x * x + z * z),
    2 * (y * z - x * w),
    2 * (x * z - y * w),
    2 * (y * z + x * w),
    1 - 2 * (x * x + y * y),
  ];
}

const close = (a: ArrayLike<number>, b: ArrayLike<number>, digits = 6): void => {
  for (const [i, value] of Array.from(a).entries()) expect(value).toBeCloseTo(b[i], digits);
};

describe("the rigid part of a matrix", () => {
  const turns = [
    rotation(0.3, -0.2, 0.5, 0.8),
    rotation(1, 0, 0, 0),
    rotation(0, 1, 0, 1e-3),
    rotation(0.1, 0.2, 1, 0),
  ];

  it("is recovered after any scale", () => {
    for (const turn of turns)
      for (const scale of [
        [1, 1, 1],
        [2, 0.5, 1.5],
        [0.01, 1, 3],
      ]) {
        const mix = rotation(0.4, 0.1, -0.2, 0.9);
        const symmetric = times(times(mix, [scale[0], 0, 0, 0, scale[1], 0, 0, 0, scale[2]]), transposed(mix));
        close(nearestRotation(times(turn, symmetric)), turn);
      }
  });

  it("stays a rotation where the matrix mirrors", () => {
    const mirrored = nearestRotation(times(turns[0], [-1, 0, 0, 0, -1, 0, 0, 0, -1]));
    close(times(mirrored, transposed(mirrored)), [1, 0, 0, 0, 1, 0, 0, 0, 1]);
    close(mirrored, turns[0]);
  });

  it("is the identity for a singular matrix", () => {
    expect(nearestRotation([0, 0, 0, 0, 0, 0, 0, 0, 0])).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 1]);
  });
});

describe("dual quaternions", () => {
  it("move points as their matrix does", () => {
    const turn = rotation(0.3, -0.2, 0.5, 0.8);
    const scale = [1.5, 0.2, 0, 0.2, 0.8, 0.1, 0, 0.1, 1.1];
    const linear = times(turn, scale);
    const move = [0.4, -1.2, 2.5];
    const matrix = Float32Array.from([0, 1, 2].flatMap((r) => [...linear.slice(3 * r, 3 * r + 3), move[r]]));
    const out = new Float32Array(DUAL_FLOATS);
    writeDual(matrix, 0, out, 0);
    const p = [0.7, -0.3, 0.9];
    const s = [0, 1, 2].map((r) => [0, 1, 2].reduce((sum, c) => sum + out[8 + 4 * r + c] * p[c], 0));
    const cross = (a: number[], b: number[]): number[] => [
      a[1] * b[2] - a[2] * b[1],
      a[2] * b[0] - a[0] * b[2],
      a[0] * b[1] - a[1] * b[0],
    ];
    const [a, w, b, v] = [[...out.slice(0, 3)], out[3], [...out.slice(4, 7)], out[7]];
    const inner = cross(a, s).map((x, i) => x + w * s[i]);
    const shift = cross(a, b);
    const moved = s.map((x, i) => x + 2 * (cross(a, inner)[i] + w * b[i] - v * a[i] + shift[i]));
    const expected = move.map((t, r) => t + [0, 1, 2].reduce((sum, c) => sum + linear[3 * r + c] * p[c], 0));
    close(moved, expected, 5);
  });

  it("have unit length", () => {
    for (const turn of [rotation(1, 0, 0, 0), rotation(0, 0, 1, 1e-6), rotation(1, 1, 1, 1)])
      expect(Math.hypot(...quaternion(turn))).toBeCloseTo(1, 9);
  });
});
